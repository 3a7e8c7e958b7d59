//! Sums of laws: how muscle and tendon are put together.

use super::{
    Fibre, FibreLaw, Lame, Local, Material, MuscleForce, StableNeoHookean, Stretch, Tangent, TendonForce,
    clamp_eigenvalues,
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

    // One term's negative eigenvalues are often made up for by another: the pull of a tense fibre carries the
    // matrix it compresses. So the sum is taken first and clamped only if it is not definite itself; clamping
    // term by term stiffens a shortening muscle so much that Newton needs four times the solves.
    fn definite_tangent(&self, gradient: &DMat3, local: &Local) -> Tangent {
        let sum = self.tangent(gradient, local);
        if is_definite(&sum) { sum } else { clamp_eigenvalues(&sum) }
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

/// Whether a symmetric matrix has no negative eigenvalue, by elimination.
fn is_definite(symmetric: &Tangent) -> bool {
    let mut a = *symmetric;
    let slack = 1e-12 * (0..9).map(|k| a[k][k].abs()).fold(0.0, f64::max);
    for k in 0..9 {
        let pivot = a[k][k] + slack;
        if pivot.is_nan() || pivot <= 0.0 {
            return false;
        }
        for r in k + 1..9 {
            let part = a[r][k] / pivot;
            for c in k + 1..=r {
                a[r][c] -= part * a[c][k];
            }
        }
    }
    true
}
