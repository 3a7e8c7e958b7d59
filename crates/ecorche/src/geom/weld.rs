//! Joining the copies of a vertex that a file splits at texture and normal seams.

use super::TriMesh;
use glam::Vec3;

/// Which file vertices are one point of the surface.
///
/// The file's vertices keep their order and count; surface vertices are numbered in the order of
/// their first file vertex.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weld {
    /// For each file vertex its surface vertex.
    pub surface_of_vertex: Vec<u32>,
    /// For each surface vertex the first file vertex on it.
    pub first_vertex: Vec<u32>,
}

impl Weld {
    /// Joins vertices closer than `tolerance` (metres) for which `same` holds too; transitive.
    ///
    /// `same(a, b)` tells touching sheets apart: lips or eyelids that meet at rest have other
    /// weights or morphs and must not be sewn together.
    pub fn new(positions: &[Vec3], tolerance: f32, same: impl Fn(usize, usize) -> bool) -> Self {
        // Sorting along x makes every candidate pair near neighbours in `order`.
        let mut order: Vec<u32> = (0..positions.len() as u32).collect();
        order.sort_by(|&a, &b| positions[a as usize].x.total_cmp(&positions[b as usize].x).then(a.cmp(&b)));
        let mut root: Vec<u32> = (0..positions.len() as u32).collect();
        for (i, &a) in order.iter().enumerate() {
            let p = positions[a as usize];
            for &b in &order[i + 1..] {
                let q = positions[b as usize];
                if q.x - p.x > tolerance {
                    break;
                }
                if p.distance_squared(q) <= tolerance * tolerance && same(a as usize, b as usize) {
                    let (ra, rb) = (find(&mut root, a), find(&mut root, b));
                    root[ra.max(rb) as usize] = ra.min(rb);
                }
            }
        }
        let mut surface_of_vertex = vec![0; positions.len()];
        let mut first_vertex = Vec::new();
        for v in 0..positions.len() as u32 {
            let r = find(&mut root, v);
            if r == v {
                surface_of_vertex[v as usize] = first_vertex.len() as u32;
                first_vertex.push(v);
            } else {
                surface_of_vertex[v as usize] = surface_of_vertex[r as usize];
            }
        }
        Self { surface_of_vertex, first_vertex }
    }

    /// Number of surface vertices.
    pub fn surface_count(&self) -> usize {
        self.first_vertex.len()
    }

    /// One value per surface vertex, taken from its first file vertex.
    pub fn gather<T: Copy>(&self, per_vertex: &[T]) -> Vec<T> {
        self.first_vertex.iter().map(|&v| per_vertex[v as usize]).collect()
    }

    /// Hands each surface vertex's value back to all of its file vertices.
    pub fn scatter<T: Copy>(&self, per_surface_vertex: &[T]) -> Vec<T> {
        self.surface_of_vertex.iter().map(|&s| per_surface_vertex[s as usize]).collect()
    }

    /// The welded surface. Triangles that collapse are kept, so that triangle indices stay the file's.
    pub fn surface(&self, positions: &[Vec3], triangles: &[[u32; 3]]) -> TriMesh {
        TriMesh {
            positions: self.gather(positions),
            triangles: triangles.iter().map(|t| t.map(|v| self.surface_of_vertex[v as usize])).collect(),
        }
    }
}

fn find(root: &mut [u32], mut v: u32) -> u32 {
    while root[v as usize] != v {
        root[v as usize] = root[root[v as usize] as usize];
        v = root[v as usize];
    }
    v
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn split_copies_join_and_order_is_kept() {
        let positions = [Vec3::X, Vec3::Y, Vec3::X, Vec3::Z, Vec3::Y];
        let weld = Weld::new(&positions, 1e-6, |_, _| true);
        assert_eq!(weld.surface_of_vertex, vec![0, 1, 0, 2, 1]);
        assert_eq!(weld.scatter(&weld.gather(&positions)), positions);
    }

    #[test]
    fn touching_sheets_with_other_weights_stay_apart() {
        let positions = [Vec3::X, Vec3::X];
        assert_eq!(Weld::new(&positions, 1e-6, |_, _| false).surface_count(), 2);
    }
}
