//! The cotangent Laplacian of a triangle surface.
//!
//! Based on: Pinkall, Polthier. Computing discrete minimal surfaces and their conjugates. 1993.
//!
//! Differs in: edge weights are clamped to be positive, so that a diffusion never leaves the range of
//! its sources whatever the triangles look like. A sixth of a real character's edges have a negative
//! cotangent sum. Edges of one triangle or of more than two need no special care: each triangle adds
//! its own part.

use super::{Adjacency, TriMesh};

/// Least edge weight: 1e-3 still conducts across the needles of a fan, 0 would cut vertices off.
const LEAST_WEIGHT: f64 = 1e-3;
/// Largest edge weight. An angle of 1.4 degrees has it; thinner ones only spoil the conditioning.
const LARGEST_WEIGHT: f64 = 20.0;

/// Edge weights and vertex areas; `(L f)_i = sum over edges ij of weight_ij (f_j - f_i)`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Laplacian {
    /// For each edge of the adjacency half the sum of the cotangents opposite to it, clamped. No unit.
    pub edge_weights: Vec<f64>,
    /// For each vertex a third of the area around it, square metres; positive.
    pub vertex_areas: Vec<f64>,
}

impl Laplacian {
    /// Weights of `mesh` on the edges of its `adjacency`. Works for any triangles: those without area
    /// add nothing.
    pub fn new(mesh: &TriMesh, adjacency: &Adjacency) -> Self {
        let mut vertex_areas = vec![0.0; mesh.positions.len()];
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            let [a, b, c] = mesh.corners(t).map(|p| p.as_dvec3());
            let area = 0.5 * (b - a).cross(c - a).length();
            if area.is_finite() {
                for &v in triangle {
                    vertex_areas[v as usize] += area / 3.0;
                }
            }
        }
        // A vertex without area would have no mass to heat.
        let mean = vertex_areas.iter().sum::<f64>() / vertex_areas.len().max(1) as f64;
        let least = if mean > 0.0 { 1e-6 * mean } else { 1.0 };
        for area in &mut vertex_areas {
            *area = area.max(least);
        }
        let edge_weights = adjacency
            .edges
            .iter()
            .map(|edge| {
                let opposite = edge.triangles.iter().map(|&t| cotangent_opposite(mesh, t, edge.vertices));
                (0.5 * opposite.sum::<f64>()).clamp(LEAST_WEIGHT, LARGEST_WEIGHT)
            })
            .collect();
        Self { edge_weights, vertex_areas }
    }
}

/// Cotangent of the angle of triangle `t` opposite to `edge`; 0 if the triangle has no area.
fn cotangent_opposite(mesh: &TriMesh, t: u32, edge: [u32; 2]) -> f64 {
    let triangle = mesh.triangles[t as usize];
    let Some(&tip) = triangle.iter().find(|v| !edge.contains(v)) else { return 0.0 };
    let tip = mesh.positions[tip as usize].as_dvec3();
    let [u, v] = edge.map(|e| mesh.positions[e as usize].as_dvec3() - tip);
    let twice_area = u.cross(v).length();
    if twice_area > 1e-12 * (u.length_squared() + v.length_squared()) { u.dot(v) / twice_area } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    /// Two right triangles sharing the diagonal of a unit square, and a collapsed one.
    fn square() -> TriMesh {
        TriMesh {
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Y, Vec3::X * 0.5],
            triangles: vec![[0, 1, 2], [0, 2, 3], [0, 4, 1]],
        }
    }

    #[test]
    fn a_square_has_the_known_weights_and_areas() {
        let mesh = square();
        let adjacency = Adjacency::new(&mesh);
        let laplacian = Laplacian::new(&mesh, &adjacency);
        let weight = |a: u32, b: u32| {
            let edge = adjacency.edges.iter().position(|e| e.vertices == [a, b]).expect("an edge");
            laplacian.edge_weights[edge]
        };
        // The diagonal is opposite to two right angles, each side to one of 45 degrees.
        assert_eq!(weight(0, 2), LEAST_WEIGHT);
        assert!((weight(2, 3) - 0.5).abs() < 1e-12);
        assert!((weight(0, 1) - 0.5).abs() < 1e-12);
        assert!((laplacian.vertex_areas[..4].iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!(laplacian.vertex_areas[4] > 0.0);
    }

    #[test]
    fn a_linear_function_has_no_laplacian_inside_a_flat_sheet() {
        let side = 5;
        let positions: Vec<Vec3> =
            (0..side * side).map(|i| Vec3::new((i % side) as f32, (i / side) as f32 * 0.7, 0.0)).collect();
        let mut triangles = Vec::new();
        for y in 0..side - 1 {
            for x in 0..side - 1 {
                let a = (y * side + x) as u32;
                let (b, c, d) = (a + 1, a + side as u32, a + side as u32 + 1);
                triangles.extend([[a, b, d], [a, d, c]]);
            }
        }
        let mesh = TriMesh { positions, triangles };
        let adjacency = Adjacency::new(&mesh);
        let laplacian = Laplacian::new(&mesh, &adjacency);
        let middle = (2 * side + 2) as u32;
        let slope = |v: u32| {
            let p = mesh.positions[v as usize];
            f64::from(3.0 * p.x - 2.0 * p.y)
        };
        let mut sum = 0.0;
        for (edge, weight) in adjacency.edges.iter().zip(&laplacian.edge_weights) {
            let [a, b] = edge.vertices;
            if a == middle || b == middle {
                let other = if a == middle { b } else { a };
                sum += weight * (slope(other) - slope(middle));
            }
        }
        assert!(sum.abs() < 1e-6);
    }
}
