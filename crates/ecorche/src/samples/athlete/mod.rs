//! The athlete: a man of 1.80 m, closed, one component, symmetric, rigged and animated. And how it is
//! made, for those who want to add a creature.
//!
//! 1. **Landmarks** ([`skeleton`]): the centres of the joints as plain points of the left side, from the
//!    usual shares of stature. Shape, bones and clips all refer to them, so moving a landmark moves all.
//! 2. **Masses** ([`shape`]): the body is a function of space put together with the words of
//!    [`sculpt`](super::sculpt). First a limb's silhouette as a loft through slices (this is what sets the
//!    circumferences), then muscles as flat spindles and ellipsoids that rise a few millimetres above it, then
//!    furrows that are carved. Each has its own blend radius: small (4 to 10 mm) keeps a crease, large (20 to
//!    36 mm) melts. What must not grow together is kept further apart than half the blend. Two surfaces
//!    that nearly coincide swell by a quarter of the blend radius along the whole overlap; let them cross
//!    at an angle, or let one dive under the other, and no ring shows. Parts that are posed apart (head,
//!    leg, foot, arm, hand) are groups.
//! 3. **Surface**: the left half is polygonised on a lattice fine enough for the gaps between the fingers,
//!    remeshed to the number of vertices asked for, and mirrored. Edges are even up to [`fineness`], which
//!    uses shorter ones on hands, face, ears and toes: at 19 500 vertices edges of the trunk are 13 mm,
//!    of the face 4.5 mm. Detail smaller than two edges does not survive; model nothing finer.
//! 4. **Bones** ([`skeleton::rig`]): from landmark to landmark, VRM names, Z towards flexion.
//! 5. **Weights**: each vertex goes to the nearest bone among those of its part; then the shares are spread
//!    along the skin ([`weights`](super::weights)). The right side copies the left.
//! 6. **Clips** ([`super::clips::athlete`]): joint angles over time in anatomical degrees;
//!    planted feet are solved from the hips.
//!
//! Look at every step from all sides, and compare the circumferences with the table in the tests.

pub(super) mod shape;
pub(super) mod skeleton;
mod skin;

use crate::character::Character;
use crate::geom::TriMesh;
use crate::samples::clips;
use crate::samples::rig::Rig;
use crate::samples::sculpt::Solid;
use glam::Vec3;

/// Vertices by default.
pub const DEFAULT_VERTICES: usize = 19_500;

/// Cell of the lattice on which the surface is first found, metres: the gaps between fingers and toes are
/// open at 3 and still at 5 mm.
const CELL: f32 = 0.0036;

/// The athlete with about `vertices` vertices.
pub fn build(vertices: usize) -> Character {
    let (rig, surface, weights) = body(vertices);
    rig.character("athlete", surface, weights, clips::athlete::clips(&rig))
}

/// Bones, skin and weights of the athlete, for those who dress it.
pub fn body(vertices: usize) -> (Rig, TriMesh, Vec<Vec<(u32, f32)>>) {
    let solid = shape::solid();
    let surface = surface(&solid, vertices);
    let rig = skeleton::rig();
    let weights = skin::weights(&surface, &solid, &rig);
    (rig, surface, weights)
}

/// Even triangles on the figure.
pub fn surface(solid: &Solid, vertices: usize) -> TriMesh {
    solid.mirrored_surface(vertices, CELL, fineness)
}

/// Wanted edge length relative to the trunk's: finer where form is small, hands, face and toes.
pub fn fineness(p: Vec3) -> f32 {
    let near = |centre: Vec3, inner: f32, outer: f32| {
        let t = ((p.distance(centre) - inner) / (outer - inner)).clamp(0.0, 1.0);
        t * t * (3.0 - 2.0 * t)
    };
    let left = Vec3::new(p.x.abs(), p.y, p.z);
    let hand = {
        let local = skeleton::world_from_hand().inverse().transform_point3(left);
        let beside = ((local.with_y(0.0).length() - 0.09) / 0.05).clamp(0.0, 1.0);
        let above = ((0.02 - local.y) / 0.07).clamp(0.0, 1.0);
        let t = above.max(beside);
        t * t * (3.0 - 2.0 * t)
    };
    let face = near(Vec3::new(0.0, 1.650, 0.105), 0.058, 0.120);
    let ear = near(Vec3::new(p.x.signum() * 0.082, 1.676, -0.008), 0.03, 0.07);
    let toes = {
        let t = ((0.11 - p.z) / 0.06).clamp(0.0, 1.0);
        let low = ((p.y - 0.06) / 0.06).clamp(0.0, 1.0);
        t.max(low)
    };
    let scale = |finest: f32, far: f32| finest + (1.0 - finest) * far;
    scale(0.38, hand).min(scale(0.34, face)).min(scale(0.40, ear)).min(scale(0.50, toes))
}
