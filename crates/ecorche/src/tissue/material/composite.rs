//! Sums of laws: how muscle and tendon are put together.

use super::{
    Element, Fibre, FibreLaw, Lame, Local, Material, MuscleForce, Response, StableNeoHookean, Stretch,
    Tangent, TendonForce,
};
use glam::DMat3;

/// The sum of several laws.
#[derive(Debug)]
pub struct Composite {
    name: &'static str,
    terms: Vec<Box<dyn Material>>,
}

impl Composite {
    /// Adds up `terms` under one name.
    pub fn new(name: &'static str, terms: Vec<Box<dyn Material>>) -> Self {
        Self { name, terms }
    }
}

/// Muscle: a stable neo-Hookean matrix with active and passive fibres.
///
/// The matrix must be soft against the fibres' 3e5 Pa or the belly cannot bulge: 3e4 to 6e4 Pa with Poisson
/// ratio 0.49 lets it grow by a tenth, 9e6 Pa by half a per cent.
pub fn muscle(matrix: Lame, force: MuscleForce, stretch: Stretch) -> Composite {
    with_fibres("muscle", matrix, force, stretch)
}

/// Tendon: a stiff stable neo-Hookean matrix with exponential fibres.
pub fn tendon(matrix: Lame, force: TendonForce) -> Composite {
    with_fibres("tendon", matrix, force, Stretch::Full)
}

fn with_fibres<L: FibreLaw + 'static>(
    name: &'static str,
    matrix: Lame,
    law: L,
    stretch: Stretch,
) -> Composite {
    Composite::new(name, vec![Box::new(StableNeoHookean::new(matrix)), Box::new(Fibre { law, stretch })])
}

impl Material for Composite {
    fn name(&self) -> &'static str {
        self.name
    }

    fn energy(&self, gradient: &DMat3, local: &Local) -> f64 {
        self.terms.iter().map(|t| t.energy(gradient, local)).sum()
    }

    fn stress(&self, gradient: &DMat3, local: &Local) -> DMat3 {
        self.terms.iter().fold(DMat3::ZERO, |sum, t| sum + t.stress(gradient, local))
    }

    fn tangent(&self, gradient: &DMat3, local: &Local) -> Tangent {
        self.sum(|t| t.tangent(gradient, local))
    }

    fn definite_tangent(&self, gradient: &DMat3, local: &Local) -> Tangent {
        self.sum(|t| t.definite_tangent(gradient, local))
    }

    fn add_response(&self, element: &Element, out: &mut Response) {
        for term in &self.terms {
            term.add_response(element, out);
        }
    }

    fn needs_positive_volume(&self) -> bool {
        self.terms.iter().any(|t| t.needs_positive_volume())
    }
}

impl Composite {
    fn sum(&self, of: impl Fn(&dyn Material) -> Tangent) -> Tangent {
        let mut total = [[0.0; 9]; 9];
        for term in &self.terms {
            let part = of(term.as_ref());
            for (row, add) in total.iter_mut().zip(&part) {
                for (x, y) in row.iter_mut().zip(add) {
                    *x += y;
                }
            }
        }
        total
    }
}
