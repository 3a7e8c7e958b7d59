//! A material under a given pressure, such as that of a patch of tetrahedra that keep their volume together.

use super::isotropic::{add_blocks, tangent_from};
use super::{
    Curvature, Element, Isotropic, Local, Material, Principal, Response, Tangent, cofactor, symmetric,
};
use crate::math::svd::svd;
use glam::{DMat3, DVec3};

/// An isotropic law and [`Local::pressure`]. Stress and tangent include the pressure; the energy is the law's alone, since
/// whoever sets the pressure adds its energy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pressed<L>(pub L);

impl<L: Isotropic> Pressed<L> {
    /// The law's principal stresses and eigenvalues, and those of the pressure times the volume.
    fn principal(&self, s: DVec3, local: &Local) -> Principal {
        let own = self.0.principal(s);
        let cross = s * local.pressure;
        let faces = DVec3::new(s.y * s.z, s.z * s.x, s.x * s.y) * local.pressure;
        Principal {
            stress: own.stress * local.stiffness + faces,
            scaling: own.scaling * local.stiffness + symmetric(DVec3::ZERO, cross),
            symmetric: own.symmetric * local.stiffness - cross,
            antisymmetric: own.antisymmetric * local.stiffness + cross,
        }
    }
}

impl<L: Isotropic> Material for Pressed<L> {
    fn name(&self) -> &'static str {
        self.0.name()
    }

    fn energy(&self, gradient: &DMat3, local: &Local) -> f64 {
        local.stiffness * self.0.energy_of(gradient)
    }

    fn stress(&self, gradient: &DMat3, local: &Local) -> DMat3 {
        self.0.stress_of(gradient) * local.stiffness + cofactor(gradient) * local.pressure
    }

    fn tangent(&self, gradient: &DMat3, local: &Local) -> Tangent {
        let d = svd(gradient);
        tangent_from(&d, &self.principal(d.sigma, local), 1.0)
    }

    fn add_response(&self, element: &Element, out: &mut Response) {
        let Element { gradient, local, shape, curvature } = element;
        let d = svd(gradient);
        let mut principal = self.principal(d.sigma, local);
        out.stress += d.u * DMat3::from_diagonal(principal.stress) * d.v.transpose();
        if *curvature == Curvature::Definite {
            principal = principal.clamped();
        }
        add_blocks(&d, &principal, shape.volume, shape, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tissue::material::{Lame, LogarithmicNeoHookean};

    #[test]
    fn the_tangent_is_the_slope_of_the_stress_under_a_pressure_that_does_not_change() {
        let law = Pressed(LogarithmicNeoHookean { lame: Lame::new(1.0, 0.3) });
        let gradient = DMat3::from_cols_array(&[0.7, 0.2, -0.1, 0.3, 0.9, 0.05, -0.2, 0.1, 1.3]);
        let local = Local { pressure: -0.8, stiffness: 1.5, ..Local::default() };
        let tangent = law.tangent(&gradient, &local);
        let h = 1e-6;
        for k in 0..9 {
            let moved = |step: f64| {
                let mut m = gradient;
                m.col_mut(k % 3)[k / 3] += step;
                law.stress(&m, &local)
            };
            let change = (moved(h) - moved(-h)) * (0.5 / h);
            for other in 0..9 {
                assert!((change.col(other % 3)[other / 3] - tangent[other][k]).abs() < 1e-7);
            }
        }
    }
}
