//! Linear law after taking the rotation out.
//!
//! `energy = mu |F - R|^2 + lambda/2 tr(S - 1)^2`, `F = R S`. In singular values the first derivative is
//! linear, so it is stiff under collapse without any extension.

use super::invertible::quotient;
use super::{Isotropic, Lame, Principal};
use glam::{DMat3, DVec3};

/// Corotational linear material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Corotational {
    /// Stiffness, pascals.
    pub lame: Lame,
}

impl Isotropic for Corotational {
    fn name(&self) -> &'static str {
        "corotational"
    }

    fn principal_energy(&self, sigma: DVec3) -> f64 {
        let strain = sigma - DVec3::ONE;
        let trace = strain.element_sum();
        self.lame.mu * strain.length_squared() + 0.5 * self.lame.lambda * trace * trace
    }

    fn principal(&self, s: DVec3) -> Principal {
        let Lame { mu, lambda } = self.lame;
        let trace = s.element_sum() - 3.0;
        let pair = |sum: f64| 2.0 * mu - quotient(4.0 * mu - 2.0 * lambda * trace, sum);
        Principal {
            stress: (s - DVec3::ONE) * (2.0 * mu) + DVec3::splat(lambda * trace),
            scaling: DMat3::from_cols_array(&[lambda; 9]) + DMat3::from_diagonal(DVec3::splat(2.0 * mu)),
            symmetric: DVec3::splat(2.0 * mu),
            antisymmetric: DVec3::new(pair(s.y + s.z), pair(s.z + s.x), pair(s.x + s.y)),
        }
    }
}
