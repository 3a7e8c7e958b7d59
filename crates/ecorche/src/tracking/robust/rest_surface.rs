//! What is known of the surface's triangles at rest: which cross, which are close, which are connected.

use super::nudge::LEAST_GAP;
use super::scratch::Scratch;
use crate::geom::adjacency::{Adjacency, Lists};
use crate::geom::burial::{Burial, Sheet};
use crate::geom::{SelfContact, TriMesh};
use crate::parts::FOLLOWS;
use crate::pieces::Pieces;
use glam::Vec3;
use std::sync::Arc;

/// Of the surface's size: triangles of pieces joined at rest whose middles were closer than this are left to cross. In the prototype a
/// mage kept 273 crossings instead of 33 without the limit, a soldier 67 instead of 12; other values were not tried. Whether a
/// pair is separated depends on rest alone, so a pair does not switch as the pose changes; but neighbours on either side of
/// the limit differ.
const MET_AT_REST: f32 = 0.1;

/// The surface at rest. Stages that move crossing triangles are its methods, one file each.
pub(super) struct RestSurface {
    pub(super) triangles: Vec<[u32; 3]>,
    /// Triangles around each vertex.
    pub(super) triangles_of_vertex: Lists,
    /// Pairs that cross at rest, ascending.
    at_rest: Vec<[u32; 2]>,
    /// Triangles of skin that follows other skin, such as eyes. It is moved last, so what crosses it before says nothing.
    pub(super) follows: Vec<bool>,
    /// Pairs that are closer at rest than [`LEAST_GAP`] and a half, ascending.
    close_at_rest: Vec<[u32; 2]>,
    pub(super) cover_at_rest: Vec<Option<i32>>,
    pub(super) vertex_ring: Lists,
    pub(super) component_of_vertex: Vec<u32>,
    pieces: Arc<Pieces>,
    /// Middle of each triangle at rest; empty if no pieces are joined.
    middles: Vec<Vec3>,
    /// Distance within which triangles of joined pieces met at rest, metres.
    met_within: f32,
}

impl RestSurface {
    /// Looks at the surface at rest.
    pub fn new(
        mesh: &TriMesh,
        part_of_vertex: &[u32],
        pieces: &Arc<Pieces>,
        contact: &mut SelfContact,
    ) -> Self {
        let adjacency = Adjacency::new(mesh);
        let (component_of_vertex, _) = adjacency.components();
        let crossings = contact.find(&mesh.positions);
        let sheet = Sheet {
            triangles: &mesh.triangles,
            vertex_ring: &adjacency.vertex_ring,
            triangles_of_vertex: &adjacency.triangles_of_vertex,
            component_of_vertex: &component_of_vertex,
            group_of_vertex: &component_of_vertex,
        };
        let (mut burial, mut close_at_rest) = (Burial::default(), Vec::new());
        burial.cover(&sheet, &mesh.positions, &crossings, contact.bvh());
        let all: Vec<u32> = (0..mesh.triangles.len() as u32).collect();
        contact.close_pairs_among(&mesh.positions, &all, 1.5 * LEAST_GAP * mesh.size(), &mut close_at_rest);
        let middle = |t: usize| mesh.corners(t).iter().sum::<Vec3>() / 3.0;
        let middles = if pieces.joined.is_empty() { 0 } else { mesh.triangles.len() };
        Self {
            pieces: pieces.clone(),
            middles: (0..middles).map(middle).collect(),
            met_within: MET_AT_REST * mesh.size(),
            triangles: mesh.triangles.clone(),
            at_rest: crossings.pairs,
            follows: mesh.triangles.iter().map(|t| part_of_vertex[t[0] as usize] == FOLLOWS).collect(),
            close_at_rest,
            cover_at_rest: burial.cover,
            triangles_of_vertex: adjacency.triangles_of_vertex,
            vertex_ring: adjacency.vertex_ring,
            component_of_vertex,
        }
    }

    /// Whether a pair that crosses is to be separated.
    pub(super) fn is_new(&self, pair: &[u32; 2]) -> bool {
        !pair.iter().any(|&t| self.follows[t as usize])
            && self.at_rest.binary_search(pair).is_err()
            && !self.met_at_rest(pair)
    }

    /// Whether the triangles are of two pieces that met at rest, and near there.
    fn met_at_rest(&self, pair: &[u32; 2]) -> bool {
        let [Some(a), Some(b)] = pair.map(|t| self.middles.get(t as usize)) else { return false };
        let [p, q] = pair.map(|t| self.component_of_vertex[self.triangles[t as usize][0] as usize]);
        p != q && a.distance_squared(*b) < self.met_within * self.met_within && self.pieces.are_joined(p, q)
    }

    /// Whether a pair that is close is to be nudged apart.
    pub(super) fn is_newly_close(&self, pair: &[u32; 2]) -> bool {
        !pair.iter().any(|&t| self.follows[t as usize])
            && self.close_at_rest.binary_search(pair).is_err()
            && !self.met_at_rest(pair)
    }

    /// Fills in the triangles around `vertices`, ascending.
    pub(super) fn list_triangles(&self, vertices: impl Iterator<Item = u32>, scratch: &mut Scratch) {
        scratch.triangles.clear();
        for &t in vertices.flat_map(|v| self.triangles_of_vertex.get(v as usize)) {
            if !std::mem::replace(&mut scratch.is_listed[t as usize], true) {
                scratch.triangles.push(t);
            }
        }
        scratch.triangles.sort_unstable();
        scratch.triangles.iter().for_each(|&t| scratch.is_listed[t as usize] = false);
    }
}
