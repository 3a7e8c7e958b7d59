//! Splitting a 3x3 matrix into a rotation and a stretch.

use super::svd::svd;
use glam::{DMat3, DQuat};

/// `matrix = rotation * stretch`: the stretch is symmetric and comes first, the rotation is proper.
///
/// A mirroring matrix gets a negative definite stretch. A singular one gets the rotation of its
/// other axes, completed to a right-handed frame. Numbers must be finite.
pub fn polar(matrix: DMat3) -> (DQuat, DMat3) {
    let sign = if matrix.determinant() < 0.0 { -1.0 } else { 1.0 };
    let d = svd(&(matrix * sign));
    let stretch = d.v * DMat3::from_diagonal(d.sigma * sign) * d.v.transpose();
    (DQuat::from_mat3(&(d.u * d.v.transpose())).normalize(), stretch)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DVec3, EulerRot};

    fn turned(x: f64, y: f64, z: f64) -> DMat3 {
        DMat3::from_quat(DQuat::from_euler(EulerRot::XYZ, x, y, z))
    }

    #[test]
    fn rotation_times_stretch_is_the_matrix() {
        for diagonal in
            [DVec3::ONE, DVec3::new(2.0, 0.5, 1.0), DVec3::new(3.0, 3.0, -1.0), DVec3::splat(-1.0)]
        {
            let axes = turned(0.3, -1.0, 2.0);
            let matrix = turned(1.0, 0.2, -0.7) * axes * DMat3::from_diagonal(diagonal) * axes.transpose();
            let (rotation, stretch) = polar(matrix);
            assert!((DMat3::from_quat(rotation) * stretch).abs_diff_eq(matrix, 1e-12), "{diagonal}");
            assert!(stretch.abs_diff_eq(stretch.transpose(), 1e-12));
        }
    }

    #[test]
    fn a_rotation_has_no_stretch() {
        let (_, stretch) = polar(turned(3.0, 0.1, -2.0));
        assert!(stretch.abs_diff_eq(DMat3::IDENTITY, 1e-12));
    }

    #[test]
    fn a_flattened_matrix_still_has_a_rotation() {
        for diagonal in [DVec3::new(1.0, 0.0, 2.0), DVec3::new(0.0, 0.0, 1.0), DVec3::ZERO] {
            let matrix = turned(0.4, 0.5, 0.6) * DMat3::from_diagonal(diagonal);
            let (rotation, stretch) = polar(matrix);
            assert!((rotation.length() - 1.0).abs() < 1e-12);
            assert!((DMat3::from_quat(rotation) * stretch).abs_diff_eq(matrix, 1e-12), "{diagonal}");
        }
    }
}
