//! The default: rubber-like, keeps its volume, recovers from any inversion.
//!
//! Based on: Smith et al. Stable Neo-Hookean Flesh Simulation. 2018.
//!
//! `energy = mu/2 (I - 3) + lambda/2 (J - alpha)^2 - mu/2 ln(I + 1)`, `I = tr(F^T F)`, `J = det F`, with the
//! parameters changed so that small strains behave as the given Lamé parameters say:
//! `mu' = 4/3 mu`, `lambda' = lambda + 5/6 mu`, `alpha = 1 + mu'/lambda' - mu'/(4 lambda')`.

use super::{Isotropic, Lame, Principal, cofactor, norm_squared, symmetric};
use glam::{DMat3, DVec3};

/// Stable neo-Hookean material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StableNeoHookean {
    mu: f64,
    lambda: f64,
    alpha: f64,
    rest: f64,
}

impl StableNeoHookean {
    /// Behaves as `lame` under small strain.
    pub fn new(lame: Lame) -> Self {
        let mu = 4.0 / 3.0 * lame.mu;
        let lambda = lame.lambda + 5.0 / 6.0 * lame.mu;
        let alpha = 1.0 + mu / lambda - mu / (4.0 * lambda);
        let rest = 0.5 * lambda * (1.0 - alpha) * (1.0 - alpha) - 0.5 * mu * 4f64.ln();
        Self { mu, lambda, alpha, rest }
    }

    fn value(&self, square: f64, volume: f64) -> f64 {
        let off = volume - self.alpha;
        0.5 * self.mu * (square - 3.0 - (square + 1.0).ln()) + 0.5 * self.lambda * off * off - self.rest
    }
}

impl Isotropic for StableNeoHookean {
    fn name(&self) -> &'static str {
        "neo-hookean"
    }

    fn principal_energy(&self, sigma: DVec3) -> f64 {
        self.value(sigma.length_squared(), sigma.element_product())
    }

    fn principal(&self, s: DVec3) -> Principal {
        let square = s.length_squared() + 1.0;
        let shear = self.mu * (1.0 - 1.0 / square);
        let curve = 2.0 * self.mu / (square * square);
        let cofactor = DVec3::new(s.y * s.z, s.z * s.x, s.x * s.y);
        let pressure = self.lambda * (s.x * cofactor.x - self.alpha);
        let cross = s * pressure;
        let diagonal = DVec3::splat(shear) + s * s * curve + cofactor * cofactor * self.lambda;
        let (c, l) = (cofactor, self.lambda);
        let off = DVec3::new(
            curve * s.y * s.z + l * c.y * c.z + cross.x,
            curve * s.z * s.x + l * c.z * c.x + cross.y,
            curve * s.x * s.y + l * c.x * c.y + cross.z,
        );
        Principal {
            stress: s * shear + cofactor * pressure,
            scaling: symmetric(diagonal, off),
            symmetric: DVec3::splat(shear) - cross,
            antisymmetric: DVec3::splat(shear) + cross,
        }
    }

    fn energy_of(&self, gradient: &DMat3) -> f64 {
        self.value(norm_squared(gradient), gradient.determinant())
    }

    fn stress_of(&self, gradient: &DMat3) -> DMat3 {
        let shear = self.mu * (1.0 - 1.0 / (norm_squared(gradient) + 1.0));
        let pressure = self.lambda * (gradient.determinant() - self.alpha);
        *gradient * shear + cofactor(gradient) * pressure
    }
}
