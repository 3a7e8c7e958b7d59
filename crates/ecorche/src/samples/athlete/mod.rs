//! The athlete: a man of 1.80 m, closed, one component, symmetric, rigged.

pub mod shape;
pub mod skeleton;
mod skin;

use crate::character::Character;
use crate::geom::TriMesh;
use crate::samples::clips;
use crate::samples::sculpt::Solid;
use glam::Vec3;

/// Vertices when nothing is asked for.
pub const DEFAULT_VERTICES: usize = 19_500;

/// Cell of the lattice on which the surface is first found, metres: the gaps between fingers and toes are
/// open at 3 and still at 5 mm.
const CELL: f32 = 0.0036;

/// The athlete with about `vertices` vertices.
pub fn build(vertices: usize) -> Character {
    let solid = shape::solid();
    let surface = surface(&solid, vertices);
    let rig = skeleton::rig();
    let weights = skin::weights(&surface, &solid, &rig);
    rig.character("athlete", surface, weights, clips::athlete::clips(&rig))
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
    scale(0.38, hand).min(scale(0.38, face)).min(scale(0.40, ear)).min(scale(0.50, toes))
}
