//! The linear tetrahedron: rest shape, deformation gradient, forces.
//!
//! Sign convention: internal force is `+dE/dx` and stiffness `+d2E/dx2`; the equations of motion read
//! `M a + D v + f_internal = f_external`.

use glam::{DMat3, DVec3};

/// Rest shape of a tetrahedron: what turns corner positions into a deformation gradient.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Inverse of the matrix whose columns are the rest edges from corner 0; its rows are the shape
    /// gradients of corners 1 to 3.
    pub inverse_edges: DMat3,
    /// Rest volume, positive.
    pub volume: f64,
}

impl Shape {
    /// From four rest corners; `None` when the tetrahedron is flat or inverted. Flat means a volume below
    /// 1e-12 of the longest edge cubed, whatever the unit.
    pub fn new(corners: [DVec3; 4]) -> Option<Self> {
        let edges = edges(corners);
        let six_volumes = edges.determinant();
        let longest = longest_edge(corners);
        if six_volumes.is_nan() || six_volumes <= 6e-12 * longest.powi(3) {
            return None;
        }
        Some(Self { inverse_edges: edges.inverse(), volume: six_volumes / 6.0 })
    }

    /// Gradients of the four corners' shape functions.
    #[inline]
    pub fn gradients(&self) -> [DVec3; 4] {
        let rows = self.inverse_edges.transpose();
        let (a, b, c) = (rows.x_axis, rows.y_axis, rows.z_axis);
        [-(a + b + c), a, b, c]
    }

    /// Deformation gradient of the corners' present positions.
    #[inline]
    pub fn gradient(&self, corners: [DVec3; 4]) -> DMat3 {
        edges(corners) * self.inverse_edges
    }

    /// Internal forces on the four corners from the first Piola-Kirchhoff stress.
    #[inline]
    pub fn forces(&self, stress: &DMat3) -> [DVec3; 4] {
        let f = *stress * self.inverse_edges.transpose() * self.volume;
        [-(f.x_axis + f.y_axis + f.z_axis), f.x_axis, f.y_axis, f.z_axis]
    }
}

#[inline]
fn edges(corners: [DVec3; 4]) -> DMat3 {
    let [a, b, c, d] = corners;
    DMat3::from_cols(b - a, c - a, d - a)
}

/// Signed volume of a tetrahedron.
pub fn volume(corners: [DVec3; 4]) -> f64 {
    edges(corners).determinant() / 6.0
}

/// Longest of the six edges.
pub fn longest_edge(corners: [DVec3; 4]) -> f64 {
    let mut longest: f64 = 0.0;
    for i in 0..4 {
        for j in 0..i {
            longest = longest.max(corners[i].distance_squared(corners[j]));
        }
    }
    longest.sqrt()
}

/// The six dihedral angles, radians.
pub fn dihedral_angles(corners: [DVec3; 4]) -> [f64; 6] {
    let [a, b, c, d] = corners;
    // Unit outward normals of the faces opposite to each corner.
    let normal = |p: DVec3, q: DVec3, r: DVec3| (q - p).cross(r - p).normalize_or_zero();
    let n = [normal(b, c, d), normal(a, d, c), normal(a, b, d), normal(a, c, b)];
    let mut angles = [0.0; 6];
    let mut k = 0;
    for i in 0..4 {
        for j in 0..i {
            angles[k] = (-n[i].dot(n[j])).clamp(-1.0, 1.0).acos();
            k += 1;
        }
    }
    angles
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_regular_tetrahedron_has_one_dihedral_angle() {
        let corners = [
            DVec3::new(1.0, 1.0, 1.0),
            DVec3::new(1.0, -1.0, -1.0),
            DVec3::new(-1.0, 1.0, -1.0),
            DVec3::new(-1.0, -1.0, 1.0),
        ];
        for angle in dihedral_angles(corners) {
            assert!((angle - (1.0f64 / 3.0).acos()).abs() < 1e-12);
        }
    }

    #[test]
    fn flat_and_inverted_rest_shapes_are_refused_in_any_unit() {
        for unit in [1e-3, 1.0, 1e3] {
            let good = [DVec3::ZERO, DVec3::X * unit, DVec3::Y * unit, DVec3::Z * unit];
            assert!(Shape::new(good).is_some());
            assert!(Shape::new([good[0], good[2], good[1], good[3]]).is_none());
            assert!(Shape::new([good[0], good[1], good[2], good[1] + good[2]]).is_none());
        }
    }
}
