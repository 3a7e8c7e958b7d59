//! Joining the copies of a vertex that a file splits at texture and normal seams.

use super::TriMesh;
use glam::{DVec3, I64Vec3, Vec3};
use std::collections::HashMap;

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
    /// Joins each vertex to the first one within `tolerance` (metres) for which `same` holds too.
    ///
    /// `same(a, b)` tells touching sheets apart: lips or eyelids that meet at rest have other
    /// weights or morphs and must not be sewn together.
    pub fn new(positions: &[Vec3], tolerance: f32, same: impl Fn(usize, usize) -> bool) -> Self {
        // Cells of twice the tolerance: a ball around a point reaches two of them along each axis.
        let cell_size = if tolerance > 0.0 { 2.0 * f64::from(tolerance) } else { 1.0 };
        let cell = |p: DVec3| (p / cell_size).floor().as_i64vec3();
        let mut surface_in_cell: HashMap<I64Vec3, Vec<u32>> = HashMap::new();
        let mut weld = Self::default();
        for (v, &position) in positions.iter().enumerate() {
            let p = position.as_dvec3();
            let reach = DVec3::splat(f64::from(tolerance));
            let (low, high) = (cell(p - reach), cell(p + reach));
            let is_copy = |s: &u32| {
                let first = weld.first_vertex[*s as usize] as usize;
                positions[first].distance_squared(position) <= tolerance * tolerance && same(first, v)
            };
            let cells = (low.x..=high.x).flat_map(|x| {
                (low.y..=high.y).flat_map(move |y| (low.z..=high.z).map(move |z| I64Vec3::new(x, y, z)))
            });
            let known =
                cells.filter_map(|c| surface_in_cell.get(&c)).flatten().copied().filter(is_copy).min();
            let surface = known.unwrap_or_else(|| {
                let new = weld.first_vertex.len() as u32;
                weld.first_vertex.push(v as u32);
                surface_in_cell.entry(cell(p)).or_default().push(new);
                new
            });
            weld.surface_of_vertex.push(surface);
        }
        weld
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
    fn copies_join_across_cell_borders() {
        let tolerance = 1e-3;
        let positions: Vec<Vec3> = (0..100)
            .flat_map(|i| [i as f32 * 0.01, i as f32 * 0.01 + 0.9e-3])
            .map(|x| Vec3::new(x, -x, x))
            .collect();
        let weld = Weld::new(&positions, 2.0 * tolerance, |_, _| true);
        assert_eq!(weld.surface_count(), 100);
    }

    #[test]
    fn touching_sheets_with_other_weights_stay_apart() {
        let positions = [Vec3::X, Vec3::X];
        assert_eq!(Weld::new(&positions, 1e-6, |_, _| false).surface_count(), 2);
    }
}
