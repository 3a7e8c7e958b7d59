//! The rotation nearest to a 3x3 matrix.

use super::svd::svd;
use glam::DMat3;

/// Splits `matrix = rotation * stretch` with `det rotation = 1` and a symmetric stretch; the stretch of a
/// mirrored matrix has one negative eigenvalue.
pub fn polar(matrix: &DMat3) -> (DMat3, DMat3) {
    let d = svd(matrix);
    let rotation = d.u * d.v.transpose();
    (rotation, d.v * DMat3::from_diagonal(d.sigma) * d.v.transpose())
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{DQuat, DVec3};

    #[test]
    fn a_stretched_rotation_comes_apart() {
        let rotation = DMat3::from_quat(DQuat::from_axis_angle(DVec3::new(0.6, 0.0, 0.8), 2.1));
        let stretch = DMat3::from_cols_array(&[1.3, 0.1, 0.0, 0.1, 0.8, -0.05, 0.0, -0.05, 1.1]);
        let (r, s) = polar(&(rotation * stretch));
        assert!(r.abs_diff_eq(rotation, 1e-13));
        assert!(s.abs_diff_eq(stretch, 1e-13));
    }
}
