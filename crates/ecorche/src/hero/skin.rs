//! The skin on the flesh: which vertices follow it, where they lie in the tetrahedra, and which are tested for contact.

use super::filling::{BORDER, Grading};
use super::region::Region;
use crate::geom::{Adjacency, TriMesh};
use crate::tissue::boundary::Place;
use crate::tissue::embed::embed;
use crate::tissue::tet_mesh::TetMesh;
use glam::DVec3;

/// Least weight of a node in a vertex that follows the flesh. Where the skin is meshed well, vertices lie inside their
/// tetrahedron or a little beside it.
const OUTSIDE: f64 = -0.5;

/// Over how many edges inside a region skinning fades to flesh.
const FADE: f64 = 2.0;

/// The vertices of a skin in flesh.
#[derive(Debug)]
pub struct Embedded {
    /// Where every vertex is.
    pub place: Vec<Place>,
    /// Weight of the flesh at every vertex; the rest is skinned.
    pub share: Vec<f64>,
    /// Vertices on parts that are too thin for the tetrahedra.
    pub outside: usize,
    /// The part of the skin that is tested for contact, and its vertices in the whole.
    pub contact: (TriMesh, Vec<u32>),
}

impl Embedded {
    /// Embeds a surface in flesh. Contact is tested on the vertices of `piece`.
    pub fn new(
        surface: &TriMesh,
        piece: &[u32],
        mesh: &TetMesh,
        region: Option<&Region>,
        grading: &Grading,
    ) -> Self {
        let points: Vec<DVec3> = surface.positions.iter().map(|p| p.as_dvec3()).collect();
        let place = embed(mesh, &points);
        let lost: Vec<bool> = place.iter().map(|p| p.weights.iter().any(|&w| w < OUTSIDE)).collect();
        let depth: Vec<f64> =
            points.iter().map(|&p| region.map_or(f64::INFINITY, |r| r.depth(p) / grading.at(p))).collect();
        let share = lost.iter().zip(&depth).map(|(&lost, depth)| {
            let t = ((depth - BORDER) / FADE).clamp(0.0, 1.0);
            if lost { 0.0 } else { t * t * (3.0 - 2.0 * t) }
        });
        let mut touches = vec![false; points.len()];
        for &v in piece {
            touches[v as usize] = depth[v as usize] > 0.0 && !lost[v as usize];
        }
        Self {
            share: share.collect(),
            outside: lost.iter().zip(&depth).filter(|(lost, depth)| **lost && **depth > 0.0).count(),
            contact: part_of(surface, |v| touches[v as usize]),
            place,
        }
    }

    /// Places of the vertices that are tested for contact.
    pub fn contact_places(&self) -> Vec<Place> {
        self.contact.1.iter().map(|&v| self.place[v as usize]).collect()
    }

    /// Pairs of triangles of which at least one follows the flesh.
    pub fn count_in(&self, pairs: &[[u32; 2]], triangles: &[[u32; 3]]) -> usize {
        let follows = |t: u32| triangles[t as usize].iter().any(|&v| self.share[v as usize] > 0.0);
        pairs.iter().filter(|p| p.iter().any(|&t| follows(t))).count()
    }
}

/// The connected piece with the largest volume as a mesh of its own, and its vertices in the whole.
pub fn largest_piece(whole: &TriMesh) -> (TriMesh, Vec<u32>) {
    let (piece_of, count) = Adjacency::new(whole).components();
    let mut volumes = vec![0.0; count];
    for triangle in &whole.triangles {
        let [a, b, c] = triangle.map(|v| whole.positions[v as usize].as_dvec3());
        volumes[piece_of[triangle[0] as usize] as usize] += a.dot(b.cross(c)) / 6.0;
    }
    let largest = (0..count).max_by(|&a, &b| volumes[a].abs().total_cmp(&volumes[b].abs())).unwrap_or(0);
    part_of(whole, |v| piece_of[v as usize] as usize == largest)
}

/// The triangles all of whose vertices are kept, and their vertices in the whole.
pub(crate) fn part_of(whole: &TriMesh, keep: impl Fn(u32) -> bool) -> (TriMesh, Vec<u32>) {
    let mut renamed = vec![u32::MAX; whole.positions.len()];
    let mut vertex_of = Vec::new();
    let mut mesh = TriMesh::default();
    for triangle in whole.triangles.iter().filter(|t| t.iter().all(|&v| keep(v))) {
        mesh.triangles.push(triangle.map(|v| {
            if renamed[v as usize] == u32::MAX {
                renamed[v as usize] = vertex_of.len() as u32;
                vertex_of.push(v);
                mesh.positions.push(whole.positions[v as usize]);
            }
            renamed[v as usize]
        }));
    }
    (mesh, vertex_of)
}
