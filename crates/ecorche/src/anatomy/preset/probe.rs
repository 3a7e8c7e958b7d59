//! Queries of the skin: its distance, the distance in a direction, whether a point is inside.

use crate::character::{Character, Influences};
use crate::geom::intersect::Ray;
use crate::geom::{Bvh, TriMesh};
use crate::skinning::Surface;
use glam::Vec3;

/// The skin at bind time, ready for queries.
pub struct Probe {
    mesh: TriMesh,
    influences: Influences,
    bvh: Bvh,
}

/// Directions of the inside test: oblique, so that edges of boxes and of mirrored bodies are missed.
const OBLIQUE: [Vec3; 5] = [
    Vec3::new(0.93, 0.31, 0.17),
    Vec3::new(-0.23, 0.94, 0.27),
    Vec3::new(-0.19, -0.29, -0.94),
    Vec3::new(-0.88, 0.11, -0.46),
    Vec3::new(0.37, -0.83, 0.41),
];

impl Probe {
    /// `None` for a character without skinned surface.
    pub fn new(character: &Character) -> Option<Self> {
        let Surface { mesh, influences, .. } = Surface::new(character)?;
        let bvh = Bvh::over_triangles(&mesh.positions, &mesh.triangles);
        Some(Self { mesh, influences, bvh })
    }

    /// The skin's vertices and the middles of its triangles, which are large on some.
    pub fn points(&self) -> impl Iterator<Item = Vec3> + '_ {
        let corners = |t: &[u32; 3]| t.map(|v| self.mesh.positions[v as usize]);
        let middles = self.mesh.triangles.iter().map(move |t| corners(t).iter().sum::<Vec3>() / 3.0);
        self.mesh.positions.iter().copied().chain(middles)
    }

    /// How far a ray from inside goes until it leaves the skin; `None` if it does not within `reach`.
    pub fn exit(&self, from: Vec3, direction: Vec3, reach: f32) -> Option<f32> {
        let ray = Ray::new(from, direction);
        let (positions, triangles) = (&self.mesh.positions, &self.mesh.triangles);
        self.bvh.first_hit(&ray, reach, positions, triangles, |hit| !hit.front).map(|hit| hit.distance)
    }

    /// How far a ray goes until it leaves the skin for the last time within `reach`.
    pub fn outermost(&self, from: Vec3, direction: Vec3, reach: f32) -> Option<f32> {
        let hits =
            self.bvh.all_hits(&Ray::new(from, direction), reach, &self.mesh.positions, &self.mesh.triangles);
        hits.iter().rev().find(|hit| !hit.front).map(|hit| hit.distance)
    }

    /// Whether most of five rays leave more often than they enter.
    pub fn inside(&self, p: Vec3) -> bool {
        let leaves = |direction: &&Vec3| {
            let hits = self.bvh.all_hits(
                &Ray::new(p, **direction),
                f32::MAX,
                &self.mesh.positions,
                &self.mesh.triangles,
            );
            hits.iter().map(|hit| if hit.front { -1 } else { 1 }).sum::<i32>() > 0
        };
        OBLIQUE.iter().filter(leaves).count() >= 3
    }

    /// Distance to the skin, negative outside, and the nearest point of it.
    pub fn clearance(&self, p: Vec3) -> (f32, Vec3) {
        let nearest = self.bvh.nearest(p, f32::MAX, &self.mesh.positions, &self.mesh.triangles, |_, _| true);
        match nearest {
            Some(nearest) if self.inside(p) => (nearest.distance, nearest.point),
            Some(nearest) => (-nearest.distance, nearest.point),
            None => (f32::MAX, p),
        }
    }

    /// The joint, among those that `may` allows, that carries most of the skin nearest to a point; `None` if none does.
    pub fn carrier(&self, p: Vec3, may: impl Fn(usize) -> bool) -> Option<usize> {
        let (positions, triangles) = (&self.mesh.positions, &self.mesh.triangles);
        let nearest = self.bvh.nearest(p, f32::MAX, positions, triangles, |_, _| true)?;
        let mut weights: Vec<(usize, f32)> = Vec::new();
        for vertex in triangles[nearest.triangle as usize] {
            for (joint, weight) in self.influences.of(vertex as usize).filter(|i| may(i.0 as usize)) {
                match weights.iter_mut().find(|w| w.0 == joint as usize) {
                    Some(sum) => sum.1 += weight,
                    None => weights.push((joint as usize, weight)),
                }
            }
        }
        weights.into_iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|w| w.0)
    }

    /// Moves a point straight away from the nearest skin, by `farthest` at most, until it is `depth` under it
    /// or as deep as the limb there allows.
    pub fn settle(&self, p: Vec3, depth: f32, farthest: f32) -> Vec3 {
        let mut best = p;
        let (mut best_clearance, mut nearest) = self.clearance(p);
        for _ in 0..6 {
            if best_clearance >= depth {
                break;
            }
            let away = if best_clearance < 0.0 { nearest - best } else { best - nearest };
            let Some(inward) = away.try_normalize() else { break };
            let next = best + inward * (depth - best_clearance);
            let next = p + (next - p).clamp_length_max(farthest);
            let (clearance, point) = self.clearance(next);
            if clearance <= best_clearance + 1e-3 * depth {
                break;
            }
            (best, best_clearance, nearest) = (next, clearance, point);
        }
        best
    }
}
