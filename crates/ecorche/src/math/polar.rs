//! Splitting a 3x3 matrix into a rotation and a stretch.

use glam::{DMat3, DQuat, DVec3};

/// `matrix = rotation * stretch`: the stretch is symmetric and comes first, the rotation is proper.
///
/// A mirroring matrix gets a negative definite stretch. A singular one gets the rotation of its
/// other axes, completed to a right-handed frame. Numbers must be finite.
pub fn polar(matrix: DMat3) -> (DQuat, DMat3) {
    let (squares, axes) = symmetric_eigen(matrix.transpose() * matrix);
    let sign = if matrix.determinant() < 0.0 { -1.0 } else { 1.0 };
    let lengths = squares.max(DVec3::ZERO).map(f64::sqrt) * sign;
    let longest = lengths.abs().max_element();
    if longest <= 0.0 {
        return (DQuat::IDENTITY, DMat3::ZERO);
    }
    // Where the eigenvectors go; the ones flattened away are completed from the others.
    let mut images = [DVec3::ZERO; 3];
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| lengths[b].abs().total_cmp(&lengths[a].abs()));
    let [first, second, third] = order;
    images[first] = (matrix * axes.col(first) / lengths[first]).normalize();
    let image = matrix * axes.col(second);
    let sideways = image - images[first] * images[first].dot(image);
    images[second] = if lengths[second].abs() > 1e-12 * longest {
        (sideways * sign).normalize()
    } else {
        images[first].any_orthonormal_vector()
    };
    // A proper rotation keeps the handedness of the eigenvector frame in this order.
    let handed = axes.col(first).cross(axes.col(second)).dot(axes.col(third)).signum();
    images[third] = images[first].cross(images[second]) * handed;
    let rotation = DMat3::from_cols(images[0], images[1], images[2]) * axes.transpose();
    let stretch = axes * DMat3::from_diagonal(lengths) * axes.transpose();
    (DQuat::from_mat3(&rotation).normalize(), stretch)
}

/// Eigenvalues and orthonormal eigenvectors (columns, in the same order) of a symmetric matrix, by
/// cyclic Jacobi rotations.
pub fn symmetric_eigen(matrix: DMat3) -> (DVec3, DMat3) {
    let mut a = matrix.to_cols_array_2d();
    let mut axes = DMat3::IDENTITY.to_cols_array_2d();
    // Convergence is quadratic: six sweeps reach the last bit, the rest is a margin.
    for _ in 0..12 {
        let off = a[0][1].abs() + a[0][2].abs() + a[1][2].abs();
        if off <= 1e-300 || off <= 1e-17 * (a[0][0].abs() + a[1][1].abs() + a[2][2].abs()) {
            break;
        }
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            if a[p][q] == 0.0 {
                continue;
            }
            let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
            let tangent = theta.signum() / (theta.abs() + (theta * theta + 1.0).sqrt());
            let cosine = 1.0 / (tangent * tangent + 1.0).sqrt();
            let sine = tangent * cosine;
            for k in 0..3 {
                let (kp, kq) = (a[k][p], a[k][q]);
                (a[k][p], a[k][q]) = (cosine * kp - sine * kq, sine * kp + cosine * kq);
            }
            for k in 0..3 {
                let (pk, qk) = (a[p][k], a[q][k]);
                (a[p][k], a[q][k]) = (cosine * pk - sine * qk, sine * pk + cosine * qk);
            }
            for k in 0..3 {
                let (pk, qk) = (axes[p][k], axes[q][k]);
                (axes[p][k], axes[q][k]) = (cosine * pk - sine * qk, sine * pk + cosine * qk);
            }
        }
    }
    (DVec3::new(a[0][0], a[1][1], a[2][2]), DMat3::from_cols_array_2d(&axes))
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::EulerRot;

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
