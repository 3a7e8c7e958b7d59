//! The plain triangle surface every stage works on.

use glam::{DVec3, Vec3};

/// A triangle surface: shared vertices, counter-clockwise triangles seen from outside.
///
/// Where a surface must be closed or welded, the function that needs it says so.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TriMesh {
    /// Vertex positions, metres.
    pub positions: Vec<Vec3>,
    /// Three vertex indices each, all below `positions.len()`.
    pub triangles: Vec<[u32; 3]>,
}

impl TriMesh {
    /// Smallest and largest corner of the bounding box; both zero for an empty surface.
    pub fn bounds(&self) -> (Vec3, Vec3) {
        bounds(&self.positions)
    }

    /// Length of the bounding box's diagonal, the yardstick of relative tolerances.
    pub fn size(&self) -> f32 {
        let (low, high) = self.bounds();
        low.distance(high)
    }

    /// Tells surfaces apart by their content.
    pub(crate) fn content(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(self.positions.len() as u64).to_le_bytes());
        hasher.update(bytemuck::cast_slice(&self.positions));
        hasher.update(bytemuck::cast_slice(&self.triangles));
        hasher.finalize()
    }

    /// The corners of triangle `t`.
    pub fn corners(&self, t: usize) -> [Vec3; 3] {
        self.triangles[t].map(|v| self.positions[v as usize])
    }

    /// Signed volume enclosed; positive when the triangles face outward. Meaningful for closed surfaces.
    pub fn volume(&self) -> f64 {
        volume(&self.positions, &self.triangles)
    }

    /// Total area of the triangles.
    pub fn area(&self) -> f64 {
        area(&self.positions, &self.triangles)
    }

    /// Unit vertex normals by the weights of Max 1999, exact for vertices on a sphere. A vertex without a proper triangle gets `Vec3::Y`.
    pub fn normals(&self) -> Vec<Vec3> {
        let mut normals = vec![Vec3::ZERO; self.positions.len()];
        for (t, triangle) in self.triangles.iter().enumerate() {
            for (&v, normal) in triangle.iter().zip(corner_normals(self.corners(t))) {
                normals[v as usize] += normal;
            }
        }
        for normal in &mut normals {
            *normal = normal.try_normalize().unwrap_or(Vec3::Y);
        }
        normals
    }
}

/// Smallest and largest corner of the box around `points`; both zero when there are none.
pub fn bounds(points: &[Vec3]) -> (Vec3, Vec3) {
    if points.is_empty() {
        return (Vec3::ZERO, Vec3::ZERO);
    }
    points.iter().fold((Vec3::MAX, Vec3::MIN), |(low, high), &p| (low.min(p), high.max(p)))
}

/// Signed volume of the closed surface, summed in index order relative to its first vertex.
pub fn volume(positions: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    let origin = positions.first().map_or(DVec3::ZERO, |p| p.as_dvec3());
    let six_times: f64 = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|v| positions[v as usize].as_dvec3() - origin);
            a.dot(b.cross(c))
        })
        .sum();
    six_times / 6.0
}

/// Total area of the triangles, summed in index order.
pub fn area(positions: &[Vec3], triangles: &[[u32; 3]]) -> f64 {
    let twice: f64 = triangles
        .iter()
        .map(|t| {
            let [a, b, c] = t.map(|v| positions[v as usize].as_dvec3());
            (b - a).cross(c - a).length()
        })
        .sum();
    twice / 2.0
}

/// What a triangle adds to the normals of its three corners: its own normal, times the sine of the
/// angle at the corner, over the lengths of the two edges there. Exact for vertices on a sphere.
///
/// Based on: Max. Weights for computing vertex normals from facet normals. 1999.
pub(crate) fn corner_normals(corners: [Vec3; 3]) -> [Vec3; 3] {
    let edges = [corners[1] - corners[0], corners[2] - corners[1], corners[0] - corners[2]];
    let cross = edges[0].cross(edges[1]);
    let squared = edges.map(Vec3::length_squared);
    [0, 1, 2].map(|k| {
        let lengths = squared[k] * squared[(k + 2) % 3];
        let weighted = cross / lengths;
        if weighted.is_finite() { weighted } else { Vec3::ZERO }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tetrahedron() -> TriMesh {
        TriMesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
            triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
        }
    }

    #[test]
    fn a_unit_corner_tetrahedron_has_a_sixth_of_a_cube() {
        let mesh = tetrahedron();
        assert!((mesh.volume() - 1.0 / 6.0).abs() < 1e-12);
        assert!((mesh.area() - (1.5 + 3f64.sqrt() / 2.0)).abs() < 1e-6);
    }

    #[test]
    fn normals_of_an_uneven_sphere_are_its_radii() {
        // A fan of uneven triangles around a pole, all vertices on the unit sphere.
        let ring: Vec<Vec3> = [0.0f32, 0.4, 1.9, 2.2, 4.0, 5.5]
            .iter()
            .enumerate()
            .map(|(i, a)| Vec3::new(a.cos(), 1.0 + i as f32 * 0.3, -a.sin()).normalize())
            .collect();
        let positions: Vec<Vec3> = std::iter::once(Vec3::Y).chain(ring).collect();
        let triangles = (0..6).map(|i| [0, 1 + i, 1 + (i + 1) % 6]).collect();
        assert!(TriMesh { positions, triangles }.normals()[0].distance(Vec3::Y) < 1e-5);
    }

    #[test]
    fn normals_point_away_from_the_middle() {
        let mesh = tetrahedron();
        let middle = Vec3::splat(0.25);
        for (p, n) in mesh.positions.iter().zip(mesh.normals()) {
            assert!((*p - middle).dot(n) > 0.0);
            assert!((n.length() - 1.0).abs() < 1e-6);
        }
    }
}
