//! A fine surface that follows coarse tetrahedra.
//!
//! Every vertex is a fixed weighted sum of the four nodes of the tetrahedron that holds it in the rest shape;
//! vertices outside all tetrahedra take the nearest one, with weights that may be negative.

use super::boundary::Place;
use super::tet_mesh::TetMesh;
use crate::geom::bvh::{Aabb, Bvh};
use crate::geom::intersect::closest_with_weights;
use glam::{DMat3, DVec3};

/// Weights of a point in a tetrahedron; they sum to 1 and are all positive inside. `None` if it is flat.
pub fn barycentric(corners: [DVec3; 4], point: DVec3) -> Option<[f64; 4]> {
    let [a, b, c, d] = corners;
    let edges = DMat3::from_cols(b - a, c - a, d - a);
    let determinant = edges.determinant();
    if determinant == 0.0 || !determinant.is_finite() {
        return None;
    }
    let w = edges.inverse() * (point - a);
    Some([1.0 - w.x - w.y - w.z, w.x, w.y, w.z])
}

/// Finds which tetrahedron a point is in, for tetrahedra that move.
#[derive(Clone, Debug)]
pub struct Locator {
    tree: Bvh,
}

impl Locator {
    /// Over all tetrahedra at the given positions.
    pub fn new(positions: &[DVec3], tets: &[[u32; 4]]) -> Self {
        let boxes: Vec<Aabb> = tets.iter().map(|t| box_of(positions, t)).collect();
        Self { tree: Bvh::new(&boxes) }
    }

    /// The tetrahedron that holds a point, and its weights; `accept` may refuse some. Of several the one
    /// the point is deepest in.
    pub fn find(
        &self,
        positions: &[DVec3],
        tets: &[[u32; 4]],
        point: DVec3,
        accept: impl Fn(usize) -> bool,
    ) -> Option<(usize, [f64; 4])> {
        let at = point.as_vec3();
        let mut best: Option<(f64, usize, [f64; 4])> = None;
        self.tree.overlapping(&Aabb { low: at, high: at }, |t| {
            let t = t as usize;
            if let Some(w) = barycentric(tets[t].map(|n| positions[n as usize]), point) {
                let least = w.iter().copied().fold(f64::INFINITY, f64::min);
                let better = best.is_none_or(|(b, u, _)| least > b || (least == b && t < u));
                if least >= -1e-9 && better && accept(t) {
                    best = Some((least, t, w));
                }
            }
        });
        best.map(|(_, t, w)| (t, w))
    }

    /// The tetrahedron that holds a point, or the nearest one.
    pub fn nearest(&self, positions: &[DVec3], tets: &[[u32; 4]], point: DVec3) -> Option<(usize, [f64; 4])> {
        if let Some(found) = self.find(positions, tets, point, |_| true) {
            return Some(found);
        }
        let tree_point = point.as_vec3();
        let nearest = self.tree.nearest_item(tree_point, f32::INFINITY, |t| {
            let corners = tets[t as usize].map(|n| positions[n as usize]);
            Some((closest_in(corners, point) - point).length_squared() as f32)
        });
        let (t, _) = nearest?;
        let corners = tets[t as usize].map(|n| positions[n as usize]);
        barycentric(corners, point).map(|w| (t as usize, w))
    }
}

/// Slightly enlarged, so that rounding to single precision loses nothing.
fn box_of(positions: &[DVec3], tet: &[u32; 4]) -> Aabb {
    let corners = tet.map(|n| positions[n as usize]);
    let low = corners.iter().copied().fold(DVec3::INFINITY, DVec3::min);
    let high = corners.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
    let slack =
        DVec3::splat((high - low).max_element() * 1e-5 + low.abs().max(high.abs()).max_element() * 3e-7);
    Aabb { low: (low - slack).as_vec3(), high: (high + slack).as_vec3() }
}

/// Closest point of a tetrahedron, by its faces.
fn closest_in(corners: [DVec3; 4], point: DVec3) -> DVec3 {
    if barycentric(corners, point).is_some_and(|w| w.iter().all(|&x| x >= 0.0)) {
        return point;
    }
    super::tet_mesh::FACES
        .iter()
        .map(|f| closest_with_weights(f.map(|k| corners[k]), point).0)
        .min_by(|a, b| a.distance_squared(point).total_cmp(&b.distance_squared(point)))
        .unwrap_or(corners[0])
}

/// Ties every point to the tetrahedron that holds it in the rest shape, or the nearest one.
pub fn embed(mesh: &TetMesh, points: &[DVec3]) -> Vec<Place> {
    let locator = Locator::new(&mesh.nodes, &mesh.tets);
    points
        .iter()
        .map(|&p| match locator.nearest(&mesh.nodes, &mesh.tets, p) {
            Some((t, weights)) => Place { nodes: mesh.tets[t], weights },
            None => Place::node(0),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn embedded_points_follow_any_affine_motion_exactly() {
        let mesh = TetMesh::brick(DVec3::ZERO, DVec3::new(2.0, 1.0, 1.0), [4, 2, 2]);
        let points: Vec<DVec3> = (0..50)
            .map(|i| {
                let t = i as f64;
                // Some lie a little outside.
                DVec3::new(1.0 + 1.1 * t.sin(), 0.5 + 0.55 * (2.0 * t).cos(), 0.5 + 0.55 * (0.7 * t).sin())
            })
            .collect();
        let places = embed(&mesh, &points);
        let moved = |p: DVec3| DVec3::new(1.1 * p.x - 0.2 * p.y, p.y + 0.3 * p.z, 0.9 * p.z + 2.0);
        let nodes: Vec<DVec3> = mesh.nodes.iter().map(|&p| moved(p)).collect();
        for (place, &p) in places.iter().zip(&points) {
            assert!((place.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(place.at(&nodes).distance(moved(p)) < 1e-9);
            assert!(place.weights.iter().all(|w| w.abs() < 2.0), "tied to a tetrahedron far away");
        }
    }
}
