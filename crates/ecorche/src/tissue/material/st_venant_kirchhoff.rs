//! Linear law in the Green strain: simple, soft under compression, collapses below stretch 0.58.
//!
//! `energy = mu E:E + lambda/2 tr(E)^2`, `E = (F^T F - 1) / 2`, `P = F (2 mu E + lambda tr(E))`.

use super::{Isotropic, Lame, Principal};
use glam::{DMat3, DVec3};

/// St. Venant-Kirchhoff material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StVenantKirchhoff {
    /// Stiffness, pascals.
    pub lame: Lame,
}

impl Isotropic for StVenantKirchhoff {
    fn name(&self) -> &'static str {
        "stvk"
    }

    fn principal_energy(&self, sigma: DVec3) -> f64 {
        let strain = (sigma * sigma - DVec3::ONE) * 0.5;
        let trace = strain.element_sum();
        self.lame.mu * strain.length_squared() + 0.5 * self.lame.lambda * trace * trace
    }

    fn principal(&self, s: DVec3) -> Principal {
        let Lame { mu, lambda } = self.lame;
        let square = s * s;
        let pressure = lambda * 0.5 * (square.element_sum() - 3.0) - mu;
        let outer = |scale: f64| DMat3::from_cols(s * (s.x * scale), s * (s.y * scale), s * (s.z * scale));
        let diagonal = square * (3.0 * mu) + DVec3::splat(pressure);
        let product = DVec3::new(s.y * s.z, s.z * s.x, s.x * s.y);
        let squares = DVec3::new(square.y + square.z, square.z + square.x, square.x + square.y);
        Principal {
            stress: s * (square * mu + DVec3::splat(pressure)),
            scaling: outer(lambda) + DMat3::from_diagonal(diagonal),
            symmetric: (squares + product) * mu + DVec3::splat(pressure),
            antisymmetric: (squares - product) * mu + DVec3::splat(pressure),
        }
    }

    fn energy_of(&self, gradient: &DMat3) -> f64 {
        let strain = (gradient.transpose() * *gradient - DMat3::IDENTITY) * 0.5;
        let trace = strain.x_axis.x + strain.y_axis.y + strain.z_axis.z;
        let square =
            strain.x_axis.length_squared() + strain.y_axis.length_squared() + strain.z_axis.length_squared();
        self.lame.mu * square + 0.5 * self.lame.lambda * trace * trace
    }

    fn stress_of(&self, gradient: &DMat3) -> DMat3 {
        let strain = (gradient.transpose() * *gradient - DMat3::IDENTITY) * 0.5;
        let trace = strain.x_axis.x + strain.y_axis.y + strain.z_axis.z;
        *gradient
            * (strain * (2.0 * self.lame.mu) + DMat3::from_diagonal(DVec3::splat(self.lame.lambda * trace)))
    }
}
