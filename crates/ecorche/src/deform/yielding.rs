//! The last stage of a frame: flesh yields to the final skin.
//!
//! Skin cannot follow every muscle, in armpits and folds least of all. What lies under it then gives way: the axis of each fibre
//! goes as deep under the skin as the section is thick across its short side, or as deep as it was at bind if that is less; the
//! displacement is smoothed along the fibre; what still stands out is cut off, and the fibre gets thicker elsewhere (`Shape::yielded`).
//!
//! Only what is drawn, measured and written changes. The dynamics go on with the shape they had, so that a frame still depends on
//! nothing but its pose and the motion before it.
//!
//! The nearest triangle decides what is inside: where an axis is centimetres outside between two limbs, it moves into the nearer one.

use crate::geom::TriMesh;
use crate::geom::bvh::Bvh;
use crate::geom::intersect::Ray;
use crate::muscle::{Flesh, Musculature, PosedMuscle, Room, Shape, Yielded};
use glam::{DVec3, Vec3};
use rayon::prelude::*;
use std::sync::Arc;

/// Rounds in which axes are moved in and their displacements smoothed. Not tuned: with 5 the arm's curl has nothing outside.
const ROUNDS: usize = 5;
/// Tries to move a point inside that lies between two folds of skin.
const HALVINGS: usize = 6;
/// Metres at human size: flesh stays this far under the skin's surface, so that it is not drawn on it.
const SKIN: f64 = 5e-4;

/// Made once for a body.
#[derive(Debug)]
pub(super) struct Yielding {
    bvh: Bvh,
    triangles: Arc<[[u32; 3]]>,
    /// Of each fibre, at each point of its axis: how deep it lies under the skin at bind, metres.
    clearances: Vec<Vec<f64>>,
    /// [`SKIN`] of this body.
    skin: f64,
}

/// Scratch.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    bvh: Option<Bvh>,
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
    lost: Vec<[f64; 2]>,
}

impl Workspace {
    /// Where the skin is, to be filled in before [`Yielding::apply`].
    pub fn positions(&mut self) -> &mut Vec<Vec3> {
        &mut self.positions
    }
}

/// What became of the flesh in a frame.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Report {
    /// Farthest that an axis was moved, metres.
    pub farthest: f64,
    /// Volume that was cut off and not regained elsewhere, cubic metres.
    pub lost: f64,
}

impl Yielding {
    pub fn new(mesh: &TriMesh, musculature: &Musculature) -> Self {
        let bvh = Bvh::over_triangles(&mesh.positions, &mesh.triangles);
        let normals = mesh.normals();
        let skin =
            Skin { bvh: &bvh, positions: &mesh.positions, triangles: &mesh.triangles, normals: &normals };
        let flesh = musculature.at_bind();
        let depths = |muscle: &PosedMuscle| {
            let depth = |&p: &DVec3| skin.nearest(p, &mut { f32::INFINITY }).map_or(0.0, |found| found.0);
            muscle.shape.axis_points().iter().map(depth).collect()
        };
        let clearances = flesh.muscles.par_iter().map(depths).collect();
        let skin = SKIN * musculature.scale();
        Self { clearances, skin, triangles: mesh.triangles.as_slice().into(), bvh }
    }

    /// Makes the flesh yield to the skin of the workspace.
    pub fn apply(&self, flesh: &mut Flesh, w: &mut Workspace) -> Report {
        let Workspace { bvh, positions, normals, lost } = w;
        if flesh.muscles.len() != self.clearances.len() || !positions.iter().all(|p| p.is_finite()) {
            return Report::default();
        }
        let bvh = bvh.get_or_insert_with(|| self.bvh.clone());
        bvh.refit_triangles(positions, &self.triangles);
        normals.clear();
        normals.resize(positions.len(), Vec3::ZERO);
        for t in self.triangles.iter() {
            let [a, b, c] = t.map(|v| positions[v as usize]);
            let normal = (b - a).cross(c - a);
            t.iter().for_each(|&v| normals[v as usize] += normal);
        }
        let skin = Skin { bvh, positions, triangles: &self.triangles, normals };
        let yielding = |(muscle, clearance): (&mut PosedMuscle, &Vec<f64>)| {
            let Some((Yielded { shape, lost }, farthest)) = self.yielded(&muscle.shape, clearance, &skin)
            else {
                return [0.0; 2];
            };
            muscle.shape = Arc::new(shape);
            [farthest, lost]
        };
        flesh.muscles.par_iter_mut().zip(&self.clearances).map(yielding).collect_into_vec(lost);
        lost.iter().fold(Report::default(), |sum, [farthest, lost]| Report {
            farthest: sum.farthest.max(*farthest),
            lost: sum.lost + lost,
        })
    }

    /// A fibre's shape inside the skin, and how far its axis was moved; `None` if it fits already.
    fn yielded(&self, shape: &Shape, clearance: &[f64], skin: &Skin) -> Option<(Yielded<Shape>, f64)> {
        let old = shape.axis_points();
        let count = old.len();
        let wanted = |i: usize| {
            let s = i as f64 / (count.max(2) - 1) as f64;
            let at_bind = clearance.get(i).copied().unwrap_or(0.0);
            // Rays start inside the skin, also where a tendon ended on it at bind.
            at_bind.min(shape.contact_radius(s) + self.skin).max(2.0 * self.skin)
        };
        let mut points = old.to_vec();
        let mut depths = vec![0.0; count];
        let mut moved = vec![DVec3::ZERO; count];
        let mut any = false;
        for round in 0..ROUNDS {
            let mut within = f32::INFINITY;
            let mut lacks = false;
            for i in 0..count {
                let here = points[i];
                let (depth, out, nearest) = skin.nearest(here, &mut within)?;
                depths[i] = depth;
                let lack = wanted(i) - depth;
                if lack > 0.0 {
                    points[i] = if depth > 0.0 { here - lack * out } else { nearest - wanted(i) * out };
                    depths[i] = wanted(i);
                    lacks = true;
                }
                // No farther from the next point than by way of this one; a little more for rounding.
                let step = points.get(i + 1).map_or(0.0, |next| next.distance(here)) as f32;
                within = 1.0001 * (within + step) + f32::MIN_POSITIVE;
            }
            any |= lacks;
            if !lacks || round + 1 == ROUNDS {
                break;
            }
            // Neighbours follow; what was moved itself stays.
            moved.iter_mut().enumerate().for_each(|(i, moved)| *moved = points[i] - old[i]);
            for i in 1..count.saturating_sub(1) {
                let around = 0.5 * (moved[i - 1] + moved[i + 1]);
                let (far, own) = (around.length(), moved[i].length());
                let share = ((far - own) / (0.25 * far).max(1e-12)).clamp(0.0, 1.0);
                points[i] = old[i] + moved[i].lerp(around, share);
            }
        }
        // Between two folds of skin the way in from one may lead out through the other: then half as deep, and so on.
        for i in (0..count).filter(|_| any) {
            let mut share = 1.0;
            for _ in 0..HALVINGS {
                let (depth, out, nearest) = skin.nearest(points[i], &mut { f32::INFINITY })?;
                depths[i] = depth;
                if depth >= self.skin {
                    break;
                }
                points[i] = nearest - (share * wanted(i)).max(2.0 * self.skin) * out;
                depths[i] = 0.0;
                share *= 0.5;
            }
        }
        let farthest = points.iter().zip(old).map(|(a, b)| a.distance(*b)).fold(0.0, f64::max);
        if !any && depths.iter().all(|&depth| depth > 1.5 * shape.thickest()) {
            return None;
        }
        let room = FibreRoom { skin, depths: &depths, margin: self.skin };
        Some((shape.yielded(&points, &room)?, farthest))
    }
}

/// The skin of a frame.
struct Skin<'a> {
    bvh: &'a Bvh,
    positions: &'a [Vec3],
    triangles: &'a [[u32; 3]],
    /// Of the vertices, of any length.
    normals: &'a [Vec3],
}

impl Skin<'_> {
    /// How deep a point lies under the skin, metres, negative outside, the direction outward, and the nearest place of the skin.
    /// `within`: no skin is farther; set to the distance found.
    fn nearest(&self, point: DVec3, within: &mut f32) -> Option<(f64, DVec3, DVec3)> {
        let p = point.as_vec3();
        let nearest = self.bvh.nearest(p, *within, self.positions, self.triangles, |_, _| true)?;
        *within = nearest.distance;
        let corners = self.triangles[nearest.triangle as usize].map(|v| v as usize);
        let [a, b, c] = corners.map(|v| self.positions[v]);
        let whole = (b - a).cross(c - a);
        let square = whole.length_squared().max(f32::MIN_POSITIVE);
        let share = |u: Vec3, v: Vec3| (u - nearest.point).cross(v - nearest.point).dot(whole) / square;
        let [x, y, z] = corners.map(|v| self.normals[v].normalize_or_zero());
        let normal = share(b, c) * x + share(c, a) * y + share(a, b) * z;
        let out = normal.normalize_or(whole.normalize_or_zero());
        let is_outside = (p - nearest.point).dot(out) > 0.0;
        let depth = if is_outside { -nearest.distance } else { nearest.distance };
        Some((depth.into(), out.as_dvec3(), nearest.point.as_dvec3()))
    }
}

struct FibreRoom<'a> {
    skin: &'a Skin<'a>,
    depths: &'a [f64],
    margin: f64,
}

impl Room for FibreRoom<'_> {
    fn free(&self, from: DVec3, direction: DVec3, most: f64) -> f64 {
        let Skin { bvh, positions, triangles, .. } = self.skin;
        let ray = Ray::new(from.as_vec3(), direction.as_vec3());
        let reach = most + self.margin;
        let hit = bvh.first_hit(&ray, reach as f32, positions, triangles, |hit| !hit.front);
        hit.map_or(most, |hit| (f64::from(hit.distance) - self.margin).clamp(0.0, most))
    }

    fn clear(&self, i: usize) -> f64 {
        self.depths.get(i).map_or(0.0, |depth| depth - self.margin)
    }
}
