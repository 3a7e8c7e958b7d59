//! Flesh that cannot be turned inside out: the neo-Hookean law with a logarithm of the volume.
//!
//! Based on: Bonet, Wood. Nonlinear Continuum Mechanics for Finite Element Analysis. 2008, section 6.4.3.
//!
//! `energy = mu/2 (I - 3) - mu ln(J) + lambda/2 ln(J)^2`, `I = tr(F^T F)`, `J = det F`. The energy grows without
//! bound as a tetrahedron becomes flat and is not defined beyond, so it needs a solver whose steps keep every
//! volume positive. [`super::StableNeoHookean`] recovers from inversion, but does not prevent it.

use super::{Isotropic, Lame, Principal, cofactor, norm_squared, symmetric};
use glam::{DMat3, DVec3};

/// Neo-Hookean material with a logarithmic volume term.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LogarithmicNeoHookean {
    /// Lamé parameters under small strain.
    pub lame: Lame,
}

impl LogarithmicNeoHookean {
    fn value(&self, square: f64, volume: f64) -> f64 {
        if volume <= 0.0 {
            return f64::INFINITY;
        }
        let log = volume.ln();
        self.lame.mu * (0.5 * (square - 3.0) - log) + 0.5 * self.lame.lambda * log * log
    }

    /// First and second derivative of the volume term by the volume.
    fn pressure(&self, volume: f64) -> (f64, f64) {
        let Lame { mu, lambda } = self.lame;
        let log = volume.ln();
        ((lambda * log - mu) / volume, (lambda + mu - lambda * log) / (volume * volume))
    }
}

impl Isotropic for LogarithmicNeoHookean {
    fn name(&self) -> &'static str {
        "logarithmic neo-hookean"
    }

    fn principal_energy(&self, sigma: DVec3) -> f64 {
        self.value(sigma.length_squared(), sigma.element_product())
    }

    fn principal(&self, s: DVec3) -> Principal {
        let mu = self.lame.mu;
        let (slope, curve) = self.pressure(s.element_product());
        let c = DVec3::new(s.y * s.z, s.z * s.x, s.x * s.y);
        let cross = s * slope;
        let diagonal = DVec3::splat(mu) + c * c * curve;
        let off =
            DVec3::new(curve * c.y * c.z + cross.x, curve * c.z * c.x + cross.y, curve * c.x * c.y + cross.z);
        Principal {
            stress: s * mu + c * slope,
            scaling: symmetric(diagonal, off),
            symmetric: DVec3::splat(mu) - cross,
            antisymmetric: DVec3::splat(mu) + cross,
        }
    }

    fn energy_of(&self, gradient: &DMat3) -> f64 {
        self.value(norm_squared(gradient), gradient.determinant())
    }

    fn stress_of(&self, gradient: &DMat3) -> DMat3 {
        *gradient * self.lame.mu + cofactor(gradient) * self.pressure(gradient.determinant()).0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tissue::material::{Local, Material};

    #[test]
    fn stress_is_the_slope_of_the_energy_and_the_tangent_that_of_the_stress() {
        let law = LogarithmicNeoHookean { lame: Lame::new(1.0, 0.45) };
        let gradient = DMat3::from_cols_array(&[0.7, 0.2, -0.1, 0.3, 0.9, 0.05, -0.2, 0.1, 1.3]);
        let local = Local::default();
        let stress = law.stress(&gradient, &local);
        let tangent = law.tangent(&gradient, &local);
        let h = 1e-6;
        for k in 0..9 {
            let (row, column) = (k / 3, k % 3);
            let moved = |step: f64| {
                let mut m = gradient;
                m.col_mut(column)[row] += step;
                m
            };
            let slope = (law.energy_of(&moved(h)) - law.energy_of(&moved(-h))) / (2.0 * h);
            assert!((slope - stress.col(column)[row]).abs() < 1e-8, "{slope}");
            let change = (law.stress_of(&moved(h)) - law.stress_of(&moved(-h))) * (0.5 / h);
            for other in 0..9 {
                assert!((change.col(other % 3)[other / 3] - tangent[other][k]).abs() < 1e-7);
            }
        }
        assert!(law.stress_of(&DMat3::IDENTITY).abs_diff_eq(DMat3::ZERO, 1e-15), "nothing at rest");
    }

    #[test]
    fn flat_and_inverted_tetrahedra_cost_more_than_anything() {
        let law = LogarithmicNeoHookean { lame: Lame::new(1.0, 0.45) };
        assert_eq!(law.energy_of(&DMat3::from_diagonal(DVec3::new(1.0, 1.0, 0.0))), f64::INFINITY);
        assert_eq!(law.energy_of(&DMat3::from_diagonal(DVec3::new(1.0, 1.0, -1.0))), f64::INFINITY);
    }
}
