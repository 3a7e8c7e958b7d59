//! Penalty on volume change: `energy = K ln(J)^2`.
//!
//! Only defined for tetrahedra that are not flat or inverted; the stable neo-Hookean law keeps volume
//! without this limit, and is what [`super::muscle`] uses.

use super::{Local, Material, Tangent, cofactor, entry};
use glam::DMat3;

/// Logarithmic incompressibility term, added to a material that resists shear.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Incompressible {
    /// Penalty, pascals.
    pub bulk: f64,
}

impl Material for Incompressible {
    fn name(&self) -> &'static str {
        "incompressible"
    }

    fn energy(&self, gradient: &DMat3, local: &Local) -> f64 {
        let log = gradient.determinant().ln();
        local.stiffness * self.bulk * log * log
    }

    fn stress(&self, gradient: &DMat3, local: &Local) -> DMat3 {
        let volume = gradient.determinant();
        cofactor(gradient) * (2.0 * local.stiffness * self.bulk * volume.ln() / volume)
    }

    fn tangent(&self, gradient: &DMat3, local: &Local) -> Tangent {
        let volume = gradient.determinant();
        let g = cofactor(gradient) * (1.0 / volume);
        let (k, log) = (2.0 * local.stiffness * self.bulk, volume.ln());
        std::array::from_fn(|r| {
            std::array::from_fn(|c| {
                let (i, j, p, q) = (r / 3, r % 3, c / 3, c % 3);
                k * (entry(&g, i, j) * entry(&g, p, q) - log * entry(&g, i, q) * entry(&g, p, j))
            })
        })
    }

    fn needs_positive_volume(&self) -> bool {
        true
    }
}
