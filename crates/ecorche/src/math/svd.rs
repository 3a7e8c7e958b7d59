//! Singular values of a 3x3 matrix with rotations on both sides.
//!
//! Based on: Hestenes. Inversion of Matrices by Biorthogonalization and Related Results. 1958 (one-sided
//! Jacobi), with the sign convention of Irving et al. Invertible Finite Elements. 2004: both factors are
//! rotations, so a mirrored matrix shows as a negative smallest singular value.

use glam::{DMat3, DVec3};

/// `matrix = u * diag(sigma) * v^T`, `det u = det v = 1`, `sigma.x >= sigma.y >= |sigma.z|`.
#[derive(Clone, Copy, Debug)]
pub struct Svd {
    /// Left rotation.
    pub u: DMat3,
    /// Singular values, largest first; the last one carries the sign of the determinant.
    pub sigma: DVec3,
    /// Right rotation.
    pub v: DMat3,
}

/// Decomposes any finite matrix, singular ones included, to a few units in the last place of its norm.
pub fn svd(matrix: &DMat3) -> Svd {
    let mut b = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
    let mut v = [DVec3::X, DVec3::Y, DVec3::Z];
    // Each rotation makes two columns orthogonal; convergence is quadratic, five sweeps is the most seen.
    for _ in 0..12 {
        let mut largest: f64 = 0.0;
        for (p, q) in [(0, 1), (0, 2), (1, 2)] {
            let (alpha, beta, gamma) = (b[p].length_squared(), b[q].length_squared(), b[p].dot(b[q]));
            if gamma * gamma <= 1e-32 * alpha * beta || gamma == 0.0 {
                continue;
            }
            largest = largest.max(gamma * gamma / (alpha * beta));
            let zeta = (beta - alpha) / (2.0 * gamma);
            let t = zeta.signum() / (zeta.abs() + (1.0 + zeta * zeta).sqrt());
            let c = 1.0 / (1.0 + t * t).sqrt();
            let s = c * t;
            (b[p], b[q]) = (b[p] * c - b[q] * s, b[p] * s + b[q] * c);
            (v[p], v[q]) = (v[p] * c - v[q] * s, v[p] * s + v[q] * c);
        }
        if largest <= 1e-30 {
            break;
        }
    }
    // Every exchange flips one column so that `v` stays a rotation.
    for (p, q) in [(0, 1), (1, 2), (0, 1)] {
        if b[p].length_squared() < b[q].length_squared() {
            (b[p], b[q]) = (b[q], -b[p]);
            (v[p], v[q]) = (v[q], -v[p]);
        }
    }
    let first = b[0].length();
    let u0 = if first > 0.0 { b[0] / first } else { DVec3::X };
    let rest = b[1] - u0 * u0.dot(b[1]);
    let second = rest.length();
    let u1 =
        if second > 1e-300 && second > 1e-15 * first { rest / second } else { u0.any_orthonormal_vector() };
    let u2 = u0.cross(u1);
    let sigma = DVec3::new(first, b[1].dot(u1), b[2].dot(u2));
    Svd { u: DMat3::from_cols(u0, u1, u2), sigma, v: DMat3::from_cols(v[0], v[1], v[2]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fixed spread of matrices: general, mirrored, flat, a line, equal values, zero, tiny, large.
    fn samples() -> Vec<DMat3> {
        let mut state = 7u64;
        let mut random = || {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 11) as f64 / (1u64 << 53) as f64 * 2.0 - 1.0
        };
        let mut list = vec![DMat3::IDENTITY, DMat3::ZERO, -DMat3::IDENTITY];
        for k in 0..200 {
            let m = DMat3::from_cols_array(&std::array::from_fn(|_| random()));
            list.push(match k % 5 {
                0 => m,
                1 => m * 1e-9,
                2 => DMat3::from_cols(m.x_axis, m.x_axis * 2.0, m.z_axis),
                3 => DMat3::from_cols(m.x_axis, m.x_axis * -0.5, m.x_axis * 3.0),
                _ => m * 1e7,
            });
        }
        list
    }

    #[test]
    fn factors_are_rotations_and_give_the_matrix_back() {
        for m in samples() {
            let d = svd(&m);
            let size = m.to_cols_array().iter().fold(0.0f64, |a, x| a.max(x.abs()));
            for rotation in [d.u, d.v] {
                assert!((rotation.determinant() - 1.0).abs() < 1e-13);
                let off = rotation.transpose() * rotation - DMat3::IDENTITY;
                assert!(off.to_cols_array().iter().all(|x| x.abs() < 1e-13));
            }
            let off = d.u * DMat3::from_diagonal(d.sigma) * d.v.transpose() - m;
            assert!(off.to_cols_array().iter().all(|x| x.abs() <= 4e-14 * size), "{m} {d:?}");
            assert!(d.sigma.x >= d.sigma.y - 1e-15 * size && d.sigma.y >= d.sigma.z.abs() - 1e-14 * size);
        }
    }

    #[test]
    fn a_mirrored_matrix_has_one_negative_value() {
        let mirrored = DMat3::from_diagonal(DVec3::new(-3.0, 2.0, 1.0));
        assert!(svd(&mirrored).sigma.abs_diff_eq(DVec3::new(3.0, 2.0, -1.0), 1e-15));
    }
}
