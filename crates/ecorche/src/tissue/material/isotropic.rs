//! Materials without a preferred direction, written in the singular values of the deformation gradient.
//!
//! Based on: Stomakhin et al. Energetically Consistent Invertible Elasticity. 2012, and Smith et al. Analytic
//! Eigensystems for Isotropic Distortion Energies. 2019.
//!
//! With `F = U diag(s) V^T` the nine eigen-directions of the stress derivative are known: three scalings
//! `u_i v_i^T` mixed by the 3x3 matrix `d2 energy / ds ds`, and for each pair of axes a symmetric and an
//! antisymmetric one. Clamping their eigenvalues gives the nearest positive semi-definite tangent without
//! an iterative 9x9 solve.

use super::{Curvature, Element, Local, Material, PAIRS, Response, Tangent, entry};
use crate::math::svd::{Svd, svd};
use crate::tissue::element::Shape;
use glam::{DMat3, DVec3};

/// First and second derivatives of an isotropic energy by the singular values `s`.
#[derive(Clone, Copy, Debug)]
pub struct Principal {
    /// `d energy / d s_i`: the principal stresses.
    pub stress: DVec3,
    /// `d2 energy / d s_i d s_j`, symmetric.
    pub scaling: DMat3,
    /// `(p_i - p_j) / (s_i - s_j)` for the pairs (y,z), (z,x), (x,y): eigenvalues of the symmetric directions.
    pub symmetric: DVec3,
    /// `(p_i + p_j) / (s_i + s_j)` for the same pairs: eigenvalues of the antisymmetric directions.
    pub antisymmetric: DVec3,
}

impl Principal {
    /// Clamps every eigenvalue at zero.
    pub fn clamped(mut self) -> Self {
        self.symmetric = self.symmetric.max(DVec3::ZERO);
        self.antisymmetric = self.antisymmetric.max(DVec3::ZERO);
        self.scaling = clamp3(&self.scaling);
        self
    }
}

/// An isotropic hyperelastic law, defined for singular values of any sign.
pub trait Isotropic: std::fmt::Debug + Send + Sync {
    /// Name as written in scene files and messages.
    fn name(&self) -> &'static str;

    /// Energy per rest volume.
    fn principal_energy(&self, sigma: DVec3) -> f64;

    /// Principal stresses and eigenvalues.
    fn principal(&self, sigma: DVec3) -> Principal;

    /// Energy from the gradient; laws with a closed form in the gradient skip the decomposition.
    fn energy_of(&self, gradient: &DMat3) -> f64 {
        self.principal_energy(svd(gradient).sigma)
    }

    /// Stress from the gradient; laws with a closed form in the gradient skip the decomposition.
    fn stress_of(&self, gradient: &DMat3) -> DMat3 {
        let d = svd(gradient);
        d.u * DMat3::from_diagonal(self.principal(d.sigma).stress) * d.v.transpose()
    }
}

impl<T: Isotropic> Material for T {
    fn name(&self) -> &'static str {
        Isotropic::name(self)
    }

    fn energy(&self, gradient: &DMat3, local: &Local) -> f64 {
        local.stiffness * self.energy_of(gradient)
    }

    fn stress(&self, gradient: &DMat3, local: &Local) -> DMat3 {
        self.stress_of(gradient) * local.stiffness
    }

    fn tangent(&self, gradient: &DMat3, local: &Local) -> Tangent {
        let d = svd(gradient);
        tangent_from(&d, &self.principal(d.sigma), local.stiffness)
    }

    fn definite_tangent(&self, gradient: &DMat3, local: &Local) -> Tangent {
        let d = svd(gradient);
        tangent_from(&d, &self.principal(d.sigma).clamped(), local.stiffness)
    }

    fn add_response(&self, element: &Element, out: &mut Response) {
        let Element { gradient, local, shape, curvature } = element;
        let d = svd(gradient);
        let principal = self.principal(d.sigma);
        let scale = local.stiffness;
        out.stress += d.u * DMat3::from_diagonal(principal.stress * scale) * d.v.transpose();
        let principal = match curvature {
            Curvature::Exact => principal,
            Curvature::Definite => principal.clamped(),
        };
        add_blocks(&d, &principal, scale * shape.volume, shape, out);
    }
}

/// The two axes other than `k`, in order.
const OTHERS: [(usize, usize); 3] = [(1, 2), (2, 0), (0, 1)];

pub(super) fn tangent_from(d: &Svd, principal: &Principal, scale: f64) -> Tangent {
    let mut out = [[0.0; 9]; 9];
    // Direction `u_i v_j^T` as a row-major 9-vector.
    let direction =
        |i: usize, j: usize| -> [f64; 9] { std::array::from_fn(|k| d.u.col(i)[k / 3] * d.v.col(j)[k % 3]) };
    let mut add = |weight: f64, left: &[f64; 9], right: &[f64; 9]| {
        for r in 0..9 {
            for c in 0..9 {
                out[r][c] += scale * weight * left[r] * right[c];
            }
        }
    };
    for i in 0..3 {
        for j in 0..3 {
            add(entry(&principal.scaling, i, j), &direction(i, i), &direction(j, j));
        }
    }
    for (k, (i, j)) in OTHERS.into_iter().enumerate() {
        let (ij, ji) = (direction(i, j), direction(j, i));
        let sum: [f64; 9] = std::array::from_fn(|r| ij[r] + ji[r]);
        let difference: [f64; 9] = std::array::from_fn(|r| ij[r] - ji[r]);
        add(0.5 * principal.symmetric[k], &sum, &sum);
        add(0.5 * principal.antisymmetric[k], &difference, &difference);
    }
    out
}

/// Adds the ten stiffness blocks. In the frame of `u`, with gradients turned into the frame of `v`, a block
/// has only the nine products below; turning it back costs less than forming the 9x9 tangent.
pub(super) fn add_blocks(d: &Svd, principal: &Principal, volume: f64, shape: &Shape, out: &mut Response) {
    let inverse = d.v.transpose();
    let turned = shape.gradients().map(|g| inverse * g);
    let even = (principal.symmetric + principal.antisymmetric) * (0.5 * volume);
    let odd = (principal.symmetric - principal.antisymmetric) * (0.5 * volume);
    let s = principal.scaling * volume;
    let (sx, sy, sz) = (s.x_axis, s.y_axis, s.z_axis);
    for (block, &(a, b)) in out.stiffness.iter_mut().zip(&PAIRS) {
        let (w, t) = (turned[a], turned[b]);
        let (xx, yy, zz) = (w.x * t.x, w.y * t.y, w.z * t.z);
        let (xy, yx, xz, zx, yz, zy) = (w.x * t.y, w.y * t.x, w.x * t.z, w.z * t.x, w.y * t.z, w.z * t.y);
        let middle = DMat3::from_cols(
            DVec3::new(sx.x * xx + even.z * yy + even.y * zz, sx.y * yx + odd.z * xy, sx.z * zx + odd.y * xz),
            DVec3::new(sy.x * xy + odd.z * yx, sy.y * yy + even.z * xx + even.x * zz, sy.z * zy + odd.x * yz),
            DVec3::new(sz.x * xz + odd.y * zx, sz.y * yz + odd.x * zy, sz.z * zz + even.y * xx + even.x * yy),
        );
        let m = d.u * middle * d.u.transpose();
        let (c0, c1, c2) = (m.x_axis, m.y_axis, m.z_axis);
        let rows = [c0.x, c1.x, c2.x, c0.y, c1.y, c2.y, c0.z, c1.z, c2.z];
        for k in 0..9 {
            block[k] += rows[k];
        }
    }
}

/// Nearest positive semi-definite matrix to a symmetric 3x3 one.
fn clamp3(m: &DMat3) -> DMat3 {
    let (a, b, c) = (m.x_axis.x, m.y_axis.y, m.z_axis.z);
    let (d, e, f) = (m.x_axis.y, m.x_axis.z, m.y_axis.z);
    let minor = a * b - d * d;
    if a >= 0.0 && minor >= 0.0 && minor * c - a * f * f - b * e * e + 2.0 * d * e * f >= 0.0 && c >= 0.0 {
        return *m;
    }
    let mut values = [a, b, c];
    let mut off = [f, e, d];
    let mut v = DMat3::IDENTITY;
    for _ in 0..12 {
        if off.iter().map(|x| x * x).sum::<f64>() <= 1e-32 * values.iter().map(|x| x * x).sum::<f64>() {
            break;
        }
        for k in 0..3 {
            let (p, q) = OTHERS[k];
            if off[k] == 0.0 {
                continue;
            }
            let theta = (values[q] - values[p]) / (2.0 * off[k]);
            let t = theta.signum() / (theta.abs() + (1.0 + theta * theta).sqrt());
            let (cos, sin) = (1.0 / (1.0 + t * t).sqrt(), t / (1.0 + t * t).sqrt());
            values[p] -= t * off[k];
            values[q] += t * off[k];
            off[k] = 0.0;
            (off[q], off[p]) = (cos * off[q] - sin * off[p], sin * off[q] + cos * off[p]);
            let (x, y) = (v.col(p), v.col(q));
            *v.col_mut(p) = x * cos - y * sin;
            *v.col_mut(q) = x * sin + y * cos;
        }
    }
    let kept = DVec3::from_array(values).max(DVec3::ZERO);
    v * DMat3::from_diagonal(kept) * v.transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clamping_keeps_definite_matrices_and_lifts_the_others() {
        let definite = DMat3::from_cols_array(&[4.0, 1.0, 0.5, 1.0, 3.0, 0.2, 0.5, 0.2, 2.0]);
        assert_eq!(clamp3(&definite), definite);
        let saddle = DMat3::from_cols_array(&[1.0, 4.0, -2.0, 4.0, -3.0, 0.7, -2.0, 0.7, 0.3]);
        let lifted = clamp3(&saddle);
        // The removed part is itself negative semi-definite and orthogonal to what is kept.
        let removed = saddle - lifted;
        let product = lifted * removed;
        assert!(product.to_cols_array().iter().all(|x| x.abs() < 1e-12));
        for direction in [DVec3::X, DVec3::Y, DVec3::Z, DVec3::new(1.0, -2.0, 0.5), DVec3::new(0.3, 0.9, 1.0)]
        {
            assert!(direction.dot(lifted * direction) >= -1e-12);
            assert!(direction.dot(removed * direction) <= 1e-12);
        }
    }
}
