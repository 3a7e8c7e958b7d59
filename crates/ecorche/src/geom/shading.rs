//! Normals that keep the hard edges and seams a modeller made.

use super::Weld;
use crate::geom::mesh::accumulate_normals;
use glam::Vec3;

/// Corners whose rest normals differ by less than this share a normal (cosine of 2 degrees: below
/// it rounding in quantised files splits smooth surfaces, above it soft bevels lose their edge).
const SAME_NORMAL: f32 = 0.9994;

/// Groups the corners of a mesh into slots that share one normal.
///
/// A smooth surface point has one slot, however often the file split it for textures; a point on a
/// hard edge has one for each side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shading {
    /// Slot of every face corner.
    pub slot_of_corner: Vec<u32>,
    /// Number of slots.
    pub slots: usize,
    /// The triangles by slot instead of by vertex.
    slot_triangles: Vec<[u32; 3]>,
    /// A vertex of each slot.
    vertex_of_slot: Vec<u32>,
}

impl Shading {
    /// Groups corners at the same surface point by their rest normal; all together when there are
    /// no `corner_normals`. `triangle_corners` are the triangles as corner numbers.
    pub fn new(weld: &Weld, corners: &[u32], corner_normals: &[Vec3], triangle_corners: &[[u32; 3]]) -> Self {
        let mut slots_of_point: Vec<Vec<u32>> = vec![Vec::new(); weld.surface_count()];
        let mut slot_normal = Vec::new();
        let mut vertex_of_slot = Vec::new();
        let slot_of_corner: Vec<u32> = corners
            .iter()
            .enumerate()
            .map(|(c, &v)| {
                let normal = corner_normals.get(c).and_then(|n| n.try_normalize());
                let slots = &mut slots_of_point[weld.surface_of_vertex[v as usize] as usize];
                let known = slots.iter().copied().find(|&s| match (normal, slot_normal[s as usize]) {
                    (Some(n), Some(of_slot)) => n.dot(of_slot) > SAME_NORMAL,
                    _ => true,
                });
                known.unwrap_or_else(|| {
                    let slot = slot_normal.len() as u32;
                    slot_normal.push(normal);
                    vertex_of_slot.push(v);
                    slots.push(slot);
                    slot
                })
            })
            .collect();
        let slot_triangles = triangle_corners.iter().map(|t| t.map(|c| slot_of_corner[c as usize])).collect();
        Self { slot_of_corner, slots: slot_normal.len(), slot_triangles, vertex_of_slot }
    }

    /// Unit normal of every slot for deformed `positions` (per file vertex).
    pub fn normals(&self, positions: &[Vec3]) -> Vec<Vec3> {
        let corners: Vec<Vec3> = self.vertex_of_slot.iter().map(|&v| positions[v as usize]).collect();
        let mut normals = vec![Vec3::ZERO; self.slots];
        accumulate_normals(&corners, &self.slot_triangles, &mut normals);
        for normal in &mut normals {
            *normal = normal.try_normalize().unwrap_or(Vec3::Y);
        }
        normals
    }

    /// One normal per file vertex from slot normals: the mean over the vertex's corners.
    /// Exact unless the file keeps a hard edge without splitting its vertices.
    pub fn vertex_normals(&self, corners: &[u32], slot_normals: &[Vec3], vertex_count: usize) -> Vec<Vec3> {
        let mut normals = vec![Vec3::ZERO; vertex_count];
        for (&v, &slot) in corners.iter().zip(&self.slot_of_corner) {
            normals[v as usize] += slot_normals[slot as usize];
        }
        for normal in &mut normals {
            *normal = normal.try_normalize().unwrap_or(Vec3::Y);
        }
        normals
    }
}
