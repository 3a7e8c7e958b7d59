//! Shape: is the skin as smooth as the skinning it starts from, and has a piece lost area?
//!
//! Skin bends at its edges. The *bend* of an edge between two triangles is the angle between their normals, positive
//! where the surface is concave; its change against rest is what a pose did to it. A method that is smooth changes
//! bends as little as the skinning it starts from; lumps, ridges and facets change them much.
//!
//! * *Contact skin* is within three edges of a triangle that newly crosses another, under the method or under its start.
//!   All other skin is *free*: it has no reason to differ from the start. An edge is free if both its ends are.
//! * *Roughness*: RMS of the change of bend, weighted by the edge's length at rest, degrees. Over the start's it is
//!   (ours + 0.5) / (start + 0.5), so that a skin which does not bend at all cannot make the ratio large.
//! * *Creases*: free edges whose bend changed by more than 30 degrees, above the start's number, per thousand edges of
//!   the surface.
//! * *Crush*: the share of its area under the start that the worst connected piece has lost. Pieces below 1e-4 of the
//!   whole area are left out.
//! * *Boil*: vertices whose step from frame to frame differs from the start's step by more than 0.5 % of the longest side
//!   of the rest pose's box, per thousand.

use crate::geom::TriMesh;
use crate::geom::adjacency::{Adjacency, Lists};
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// How many edges contact skin reaches from a new crossing.
const CONTACT_RINGS: usize = 3;
/// Change of bend from which an edge is a crease, degrees.
const CREASE: f32 = 30.0;
/// Roughness, degrees, added to both sides of a ratio.
const UNNOTICED: f64 = 0.5;
/// Pieces with less than this share of the whole area are too small to judge.
const TINY: f64 = 1e-4;
/// A step that differs by more than this share of the longest side of the rest pose's box is visible.
const BOIL: f32 = 0.005;

/// An edge between two triangles.
#[derive(Clone, Debug)]
struct Hinge {
    vertices: [u32; 2],
    triangles: [u32; 2],
    /// At rest, metres.
    length: f64,
    /// At rest, degrees.
    bend: f32,
}

/// Edges and pieces of a surface, prepared for many poses.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    hinges: Vec<Hinge>,
    triangles: Vec<[u32; 3]>,
    piece_of_vertex: Vec<u32>,
    /// The first vertex of each piece.
    first_vertex: Vec<u32>,
    longest_side: f32,
}

/// How a surface is bent in one pose.
#[derive(Clone, Debug, Default)]
pub(super) struct Bent {
    /// Change of bend of each hinge against rest, degrees, not negative.
    changes: Vec<f32>,
    /// Area of each piece, square metres.
    areas: Vec<f64>,
    /// Contact skin, by the surface's own crossings.
    in_contact: Vec<bool>,
}

/// Figures of shape of one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct ShapeFigures {
    /// Of free skin, degrees; `None` if no skin is free.
    pub roughness: Option<f64>,
    /// Of contact skin, degrees; `None` if there is none.
    pub roughness_contact: Option<f64>,
    pub roughness_ratio: Option<f64>,
    pub roughness_contact_ratio: Option<f64>,
    pub creases: Option<f64>,
    pub crush: Option<f64>,
}

impl Shape {
    pub fn new(rest: &TriMesh, adjacency: &Adjacency, piece_of_vertex: &[u32]) -> Self {
        let normals = triangle_normals(&rest.positions, &rest.triangles);
        let hinges = adjacency.edges.iter().filter_map(|edge| {
            let &[a, b] = edge.triangles.as_slice() else { return None };
            let [p, q] = edge.vertices.map(|v| rest.positions[v as usize].as_dvec3());
            let bend = bend(&rest.positions, &rest.triangles, &normals, [a, b]);
            Some(Hinge { vertices: edge.vertices, triangles: [a, b], length: p.distance(q), bend })
        });
        let (low, high) = rest.bounds();
        let mut first_vertex = Vec::new();
        for (v, &piece) in piece_of_vertex.iter().enumerate() {
            if piece as usize == first_vertex.len() {
                first_vertex.push(v as u32);
            }
        }
        Self {
            hinges: hinges.collect(),
            triangles: rest.triangles.clone(),
            piece_of_vertex: piece_of_vertex.to_vec(),
            first_vertex,
            longest_side: (high - low).max_element(),
        }
    }

    /// Longest side of the rest pose's box, metres.
    pub fn longest_side(&self) -> f32 {
        self.longest_side
    }

    /// How `positions` are bent; `crossing` are the pairs of triangles that newly cross.
    pub fn bent<'a>(
        &self,
        positions: &[Vec3],
        vertex_ring: &Lists,
        crossing: impl Iterator<Item = &'a [u32; 2]>,
    ) -> Bent {
        let normals = triangle_normals(positions, &self.triangles);
        let change =
            |hinge: &Hinge| (bend(positions, &self.triangles, &normals, hinge.triangles) - hinge.bend).abs();
        let mut areas = vec![0.0; self.first_vertex.len()];
        for (t, normal) in self.triangles.iter().zip(&normals) {
            areas[self.piece_of_vertex[t[0] as usize] as usize] += 0.5 * normal.1;
        }
        let mut in_contact = vec![false; positions.len()];
        let mut rim: Vec<u32> = crossing.flatten().flat_map(|&t| self.triangles[t as usize]).collect();
        for ring in 0..=CONTACT_RINGS {
            rim.retain(|&v| !std::mem::replace(&mut in_contact[v as usize], true));
            if ring < CONTACT_RINGS {
                rim = rim.iter().flat_map(|&v| vertex_ring.get(v as usize)).copied().collect();
            }
        }
        Bent { changes: self.hinges.par_iter().with_min_len(4096).map(change).collect(), areas, in_contact }
    }

    /// Compares a frame with its start. Without one, skin is free by its own crossings, and what needs a start is `None`.
    pub fn compare(&self, ours: &Bent, start: Option<&Bent>) -> ShapeFigures {
        let is_free = |hinge: &Hinge| {
            let near = |bent: &Bent| hinge.vertices.iter().any(|&v| bent.in_contact[v as usize]);
            !near(ours) && !start.is_some_and(near)
        };
        let free: Vec<bool> = self.hinges.iter().map(is_free).collect();
        let roughness = |bent: &Bent, wanted: bool| {
            let mut sum = [0.0; 2];
            for ((hinge, &change), _) in
                self.hinges.iter().zip(&bent.changes).zip(&free).filter(|&(_, &f)| f == wanted)
            {
                sum[0] += hinge.length * f64::from(change).powi(2);
                sum[1] += hinge.length;
            }
            (sum[1] > 0.0).then(|| (sum[0] / sum[1]).sqrt())
        };
        let [roughness_free, roughness_contact] = [true, false].map(|wanted| roughness(ours, wanted));
        let over = |ours: Option<f64>, wanted: bool| {
            Some((ours? + UNNOTICED) / (roughness(start?, wanted)? + UNNOTICED))
        };
        let creases = |bent: &Bent| {
            bent.changes.iter().zip(&free).filter(|&(&change, &free)| free && change > CREASE).count() as f64
        };
        let crush = |start: &Bent| self.crush_by_piece(ours, start).map(|(_, lost)| lost).fold(0.0, f64::max);
        ShapeFigures {
            roughness: roughness_free,
            roughness_contact,
            roughness_ratio: over(roughness_free, true),
            roughness_contact_ratio: over(roughness_contact, false),
            creases: start.map(|start| {
                let more = creases(ours) - creases(start);
                1000.0 * more.max(0.0) / self.hinges.len().max(1) as f64
            }),
            crush: start.map(crush),
        }
    }

    /// The first vertex of each piece that is not tiny, and the share of its area under the start that it has lost.
    pub fn crush_by_piece(&self, ours: &Bent, start: &Bent) -> impl Iterator<Item = (u32, f64)> {
        let least = TINY * start.areas.iter().sum::<f64>();
        let areas = start.areas.iter().zip(&ours.areas);
        let pieces = self.first_vertex.iter().zip(areas).filter(move |(_, (before, _))| **before > least);
        pieces.map(|(&first, (before, now))| (first, 1.0 - now / before))
    }

    /// Vertices, per thousand, whose step differs from the start's; each pair is before and now.
    pub fn boil(&self, ours: [&[Vec3]; 2], start: [&[Vec3]; 2]) -> f64 {
        let differs = |v: usize| {
            let [step, plain] = [ours, start].map(|[before, now]| now[v] - before[v]);
            step.distance(plain) > BOIL * self.longest_side
        };
        let count = ours[1].len();
        1000.0 * (0..count).filter(|&v| differs(v)).count() as f64 / count.max(1) as f64
    }
}

/// Unit normal of each triangle, and twice its area; zero for one without area.
fn triangle_normals(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<(DVec3, f64)> {
    let normal = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| positions[v as usize].as_dvec3());
        let normal = (b - a).cross(c - a);
        (normal.normalize_or_zero(), normal.length())
    };
    triangles.par_iter().with_min_len(4096).map(normal).collect()
}

/// Angle between the normals of two triangles, degrees, positive where the second lies in front of the first.
fn bend(positions: &[Vec3], triangles: &[[u32; 3]], normals: &[(DVec3, f64)], [a, b]: [u32; 2]) -> f32 {
    let [na, nb] = [a, b].map(|t| normals[t as usize].0);
    let middle =
        |t: u32| triangles[t as usize].map(|v| positions[v as usize].as_dvec3()).iter().sum::<DVec3>();
    let side = (middle(b) - middle(a)).dot(na);
    let angle = na.cross(nb).length().atan2(na.dot(nb)).to_degrees();
    if side == 0.0 { 0.0 } else { (angle * side.signum()) as f32 }
}
