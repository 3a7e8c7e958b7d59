//! Corrective smoothing ("delta mush"), as Blender's modifier of that name does it.
//!
//! The skin is smoothed, which takes away creases and bulges of skinning, and then gets its detail back: what smoothing
//! takes away from the rest surface, turned with the smoothed skin. At rest and under rigid motions nothing changes, to
//! rounding. It rounds the hard edges that rigid or rough weights leave at a joint. It does not bring back volume, and skin
//! that skinning has folded through itself stays folded. A vertex held by a contact is displaced less, or not at
//! all. Edges are those of the triangulated skin: a quad's diagonal counts, as it does in Blender for a triangulated mesh.

use super::{Layer, LayerError, Scene, Scratch, SurfaceReport};
use crate::geom::{Adjacency, TriMesh};
use glam::{Mat3A, Vec3A};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Vertices handled by a thread at a time.
const VERTICES_PER_TASK: usize = 512;

/// Settings of corrective smoothing; the defaults are Blender's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// How far a vertex moves towards its neighbours in one iteration, 0 to 1.
    pub factor: f32,
    /// How often, 0 to 1000: more reach farther.
    pub iterations: u32,
    /// Scale of the detail that is put back, -100 to 100; 1 restores it.
    pub scale: f32,
    /// How neighbours are weighted.
    pub kind: Kind,
    /// Vertices on an open edge do not move.
    pub pin_boundary: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { factor: 0.5, iterations: 5, scale: 1.0, kind: Kind::Simple, pin_boundary: false }
    }
}

/// How neighbours are weighted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Equally.
    #[default]
    Simple,
    /// By the length of the edge to them; gentler.
    LengthWeighted,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Simple => "simple",
            Self::LengthWeighted => "length-weighted",
        })
    }
}

impl Settings {
    pub(super) fn check(&self) -> Result<(), LayerError> {
        let wrong = |setting, value, range| Err(LayerError { layer: "smooth", setting, value, range });
        if !(0.0..=1.0).contains(&self.factor) {
            return wrong("factor", self.factor, "0 to 1");
        }
        if self.iterations > 1000 {
            return wrong("iterations", self.iterations as f32, "0 to 1000");
        }
        if !(-100.0..=100.0).contains(&self.scale) {
            return wrong("scale", self.scale, "-100 to 100");
        }
        Ok(())
    }
}

/// Corrective smoothing of one surface.
#[derive(Clone, Debug)]
pub(super) struct Smooth {
    settings: Settings,
    /// First corner of each vertex; corners are those of the triangles around it, in order.
    first_corner: Vec<u32>,
    /// What smoothing takes away from the vertex at rest, in the frame of each corner; `None` for a corner without one.
    details: Vec<Option<Vec3A>>,
    /// Empty if none is.
    pinned: Vec<bool>,
}

impl Smooth {
    pub fn new(rest: &TriMesh, adjacency: &Adjacency, settings: Settings) -> Self {
        let mut pinned = Vec::new();
        if settings.pin_boundary {
            pinned.resize(rest.positions.len(), false);
            for edge in adjacency.edges.iter().filter(|edge| edge.triangles.len() == 1) {
                edge.vertices.iter().for_each(|&v| pinned[v as usize] = true);
            }
        }
        let mut smooth = Self { settings, first_corner: Vec::new(), details: Vec::new(), pinned };
        let mut points = [rest.positions.iter().map(|&p| Vec3A::from(p)).collect(), Vec::new()];
        smooth.run(adjacency, &mut points);
        let smoothed = &points[0];
        for (v, &p) in rest.positions.iter().enumerate() {
            smooth.first_corner.push(smooth.details.len() as u32);
            for &t in adjacency.triangles_of_vertex.get(v) {
                let corner = corner(smoothed, rest.triangles[t as usize], v);
                let detail = Vec3A::from(p) - smoothed[v];
                smooth.details.push(corner.map(|(frame, _)| frame.transpose() * detail));
            }
        }
        smooth
    }

    /// Smooths the first list; the second is scratch.
    fn run(&self, adjacency: &Adjacency, points: &mut [Vec<Vec3A>; 2]) {
        let [from, to] = points;
        to.clear();
        to.resize(from.len(), Vec3A::ZERO);
        for _ in 0..self.settings.iterations {
            let at = &*from;
            to.par_iter_mut().with_min_len(VERTICES_PER_TASK).enumerate().for_each(|(v, to)| {
                let free = self.pinned.get(v).is_none_or(|pinned| !pinned);
                let step = if free { self.step(adjacency.vertex_ring.get(v), at, v) } else { Vec3A::ZERO };
                *to = at[v] + self.settings.factor * step;
            });
            std::mem::swap(from, to);
        }
    }

    /// From a vertex to the mean of its neighbours.
    fn step(&self, ring: &[u32], at: &[Vec3A], v: usize) -> Vec3A {
        let edges = ring.iter().map(|&w| at[w as usize] - at[v]);
        let (sum, weight) = match self.settings.kind {
            Kind::Simple => (edges.sum::<Vec3A>(), ring.len() as f32),
            Kind::LengthWeighted => {
                let (sum, lengths) = edges.fold((Vec3A::ZERO, 0.0), |(sum, lengths), edge| {
                    let length = edge.length();
                    (sum + length * edge, lengths + length)
                });
                (sum, lengths * ring.len() as f32)
            }
        };
        if weight > 0.0 { sum / weight } else { Vec3A::ZERO }
    }

    /// Where vertex `v` is when its detail is put back on the smoothed surface; `None` if no corner has a frame.
    fn restored(&self, scene: &Scene, smoothed: &[Vec3A], v: usize) -> Option<Vec3A> {
        let triangles = scene.adjacency.triangles_of_vertex.get(v);
        if triangles.is_empty() {
            return Some(scene.positions[v]);
        }
        let details = &self.details[self.first_corner[v] as usize..];
        let (mut sum, mut weights) = (Vec3A::ZERO, 0.0);
        for (&t, detail) in triangles.iter().zip(details) {
            let corner = corner(smoothed, scene.rest.triangles[t as usize], v);
            if let (Some((frame, weight)), Some(detail)) = (corner, detail) {
                sum += weight * (frame * *detail);
                weights += weight;
            }
        }
        (weights > 0.0).then(|| smoothed[v] + self.settings.scale / weights * sum)
    }
}

/// Right-handed frame of a triangle at its corner `v`, and the angle there; `None` without an area.
fn corner(points: &[Vec3A], triangle: [u32; 3], v: usize) -> Option<(Mat3A, f32)> {
    let k = triangle.iter().position(|&w| w as usize == v)?;
    let at = |i: usize| points[triangle[i % 3] as usize];
    let (a, b) = ((at(k + 1) - at(k)).try_normalize()?, (at(k + 2) - at(k)).try_normalize()?);
    let normal = a.cross(b).try_normalize()?;
    let along = (a + b).try_normalize()?;
    Some((Mat3A::from_cols(along, normal.cross(along), normal), a.dot(b).clamp(-1.0, 1.0).acos()))
}

impl Layer for Smooth {
    fn displace(
        &self,
        scene: &Scene,
        _state: &mut Vec<f32>,
        scratch: &mut Scratch,
        displacements: &mut [Vec3A],
    ) -> SurfaceReport {
        let [from, _] = &mut scratch.points;
        from.clear();
        from.extend_from_slice(scene.positions);
        self.run(scene.adjacency, &mut scratch.points);
        let smoothed = &scratch.points[0];
        let fell_back = displacements
            .par_iter_mut()
            .with_min_len(VERTICES_PER_TASK)
            .enumerate()
            .map(|(v, displacement)| {
                let restored = self.restored(scene, smoothed, v);
                let free = 1.0 - scene.contact[v].clamp(0.0, 1.0);
                *displacement = restored.map_or(Vec3A::ZERO, |p| free * (p - scene.positions[v]));
                usize::from(restored.is_none())
            })
            .sum();
        SurfaceReport { fell_back, ..SurfaceReport::default() }
    }
}
