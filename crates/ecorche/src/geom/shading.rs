//! Normals that keep the hard edges and seams a modeller made.

use super::Weld;
use super::adjacency::Lists;
use super::mesh::corner_normals;
use glam::Vec3;
use rayon::prelude::*;

/// Slots or triangles a thread takes at a time; fewer are not worth handing over.
const CHUNK: usize = 1024;

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
    /// The triangles by vertex.
    triangles: Vec<[u32; 3]>,
    /// For each slot the triangle corners on it, as 3 * triangle + corner, ascending.
    corners_of_slot: Lists,
}

impl Shading {
    /// Groups corners at the same surface point by their rest normal; all together when there are
    /// no `corner_normals`. `triangle_corners` are the triangles as corner numbers.
    pub fn new(weld: &Weld, corners: &[u32], corner_normals: &[Vec3], triangle_corners: &[[u32; 3]]) -> Self {
        let mut slots_of_point: Vec<Vec<u32>> = vec![Vec::new(); weld.surface_count()];
        let mut slot_normal = Vec::new();
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
                    slots.push(slot);
                    slot
                })
            })
            .collect();
        let triangles = triangle_corners.iter().map(|t| t.map(|c| corners[c as usize])).collect();
        let pairs: Vec<(u32, u32)> = triangle_corners
            .as_flattened()
            .iter()
            .enumerate()
            .map(|(i, &c)| (slot_of_corner[c as usize], i as u32))
            .collect();
        let corners_of_slot = Lists::group(slot_normal.len(), &pairs);
        Self { slot_of_corner, slots: slot_normal.len(), triangles, corners_of_slot }
    }

    /// The triangles by vertex.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The triangle corners that share the normal of a slot, as 3 * triangle + corner, ascending.
    pub fn corners_of(&self, slot: usize) -> &[u32] {
        self.corners_of_slot.get(slot)
    }

    /// Unit normal of every slot for deformed `positions` (per file vertex).
    pub fn normals(&self, positions: &[Vec3]) -> Vec<Vec3> {
        let mut normals = Vec::new();
        self.normals_into(positions, &mut Vec::new(), &mut normals, false);
        normals
    }

    /// As [`Shading::normals`], into a vector that is used again; `of_corner` is scratch. `alone`: on the calling thread.
    pub fn normals_into(
        &self,
        positions: &[Vec3],
        of_corner: &mut Vec<[Vec3; 3]>,
        normals: &mut Vec<Vec3>,
        alone: bool,
    ) {
        let of_triangle = |t: &[u32; 3]| corner_normals(t.map(|v| positions[v as usize]));
        if alone {
            of_corner.clear();
            of_corner.extend(self.triangles.iter().map(of_triangle));
        } else {
            self.triangles.par_iter().with_min_len(CHUNK).map(of_triangle).collect_into_vec(of_corner);
        }
        let of_corner = of_corner.as_flattened();
        let of_slot = |slot: usize| {
            let sum: Vec3 = self.corners_of_slot.get(slot).iter().map(|&c| of_corner[c as usize]).sum();
            sum.try_normalize().unwrap_or(Vec3::Y)
        };
        if alone {
            normals.clear();
            normals.extend((0..self.slots).map(of_slot));
            return;
        }
        (0..self.slots).into_par_iter().with_min_len(CHUNK).map(of_slot).collect_into_vec(normals);
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Two squares that meet at a right angle along an edge, as triangles with shared vertices.
    fn fold() -> (Vec<Vec3>, Vec<u32>) {
        let positions = vec![
            Vec3::ZERO,
            Vec3::Z,
            Vec3::new(1.0, 0.0, 1.0),
            Vec3::X,
            Vec3::NEG_Y,
            Vec3::new(0.0, -1.0, 1.0),
        ];
        (positions, vec![0, 1, 2, 0, 2, 3, 1, 0, 4, 1, 4, 5])
    }

    fn shade(corner_normals: &[Vec3]) -> (Shading, Vec<Vec3>) {
        let (positions, corners) = fold();
        let weld = Weld::new(&positions, 1e-6, |_, _| true);
        let triangles = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]];
        let shading = Shading::new(&weld, &corners, corner_normals, &triangles);
        let normals = shading.normals(&positions);
        (shading, normals)
    }

    #[test]
    fn a_hard_edge_stays_hard() {
        let per_corner: Vec<Vec3> = (0..12).map(|c| if c < 6 { Vec3::Y } else { Vec3::NEG_X }).collect();
        let (shading, normals) = shade(&per_corner);
        assert_eq!(shading.slots, 8);
        for (c, expected) in per_corner.iter().enumerate() {
            assert!(normals[shading.slot_of_corner[c] as usize].distance(*expected) < 1e-6);
        }
    }

    #[test]
    fn without_normals_the_edge_is_smooth() {
        let (shading, normals) = shade(&[]);
        assert_eq!(shading.slots, 6);
        let edge = normals[shading.slot_of_corner[0] as usize];
        assert!(edge.dot(Vec3::Y) > 0.3 && edge.dot(Vec3::NEG_X) > 0.3, "{edge}");
    }
}
