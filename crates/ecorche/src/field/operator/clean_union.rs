//! The clean union: the union's surface, smooth everywhere else.
//!
//! The closed end (`t = 1`) of the [`openable`] family with the border
//!
//! | C | k(C) |
//! |---|---|
//! | up to 0.5 | `2 C^2` |
//! | above, bounded | `1/2 + 1/2 (2 C - 1)^2` |
//! | above, open | `1/2` |
//!
//! which touches the diagonal only at C = 0.5 (and, bounded, at 1): there the joint is sharp, and the
//! iso-lines inside and outside are round.
//!
//! Based on: Gourmel et al. A Gradient-Based Implicit Blend. 2013, reconstructed.
//! Differs in: R-functions do not keep `g(a, 0) = a`, which compact fields need; the bounded border
//! is our own.

use super::openable::{self, Opening, Silhouette};
use super::{Composed, Operator};

/// See the [module](self). Has no opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CleanUnion {
    /// Keeps values at or below 1; without it the interior is rounder but exceeds 1.
    pub bounded: bool,
}

impl Default for CleanUnion {
    fn default() -> Self {
        Self { bounded: true }
    }
}

impl Operator for CleanUnion {
    fn name(&self) -> &'static str {
        if self.bounded { "clean-union" } else { "clean-open-union" }
    }

    fn compose(&self, a: f64, b: f64, _opening: f64) -> Composed {
        let border = if self.bounded { Opening::CleanBounded } else { Opening::CleanOpen };
        Composed { dopening: 0.0, ..openable::compose(border, Silhouette::Circle, a, b, 1.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_surface_is_the_unions() {
        for bounded in [true, false] {
            let clean = CleanUnion { bounded };
            for i in 0..=50 {
                let b = f64::from(i) / 100.0;
                assert!((clean.compose(0.5, b, 0.0).value - 0.5).abs() < 1e-9, "bounded {bounded}, b {b}");
            }
            assert!(clean.compose(0.3, 0.3, 0.0).value > 0.3, "round outside");
            assert!(clean.compose(0.7, 0.7, 0.0).value > 0.7, "round inside");
        }
    }
}
