//! The gradient-based blend: smooth where the controller opens it, the union where it closes it.
//!
//! The [`openable`] family with the circle. Two borders are in use:
//!
//! | name | border | |
//! |---|---|---|
//! | `blend` | diamond | the union again above 0.7, so that the inside of a limb is left alone |
//! | `gradient-blend` | line | rounder inside, values exceed 1 |
//!
//! Based on: Vaillant et al. Implicit Skinning. 2012 (diamond); Gourmel et al. A Gradient-Based Implicit
//! Blend. 2013 (line).

use super::openable::{self, Opening, Silhouette};
use super::{Composed, Controller, Operator};

/// See the [module](self). Opening: `tan theta`, 1 is the union.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blend {
    /// How far the blend reaches on each iso-line.
    pub border: Opening,
}

impl Blend {
    /// The straight border.
    pub(crate) const GRADIENT: Self = Self { border: Opening::Line };
}

impl Default for Blend {
    fn default() -> Self {
        Self { border: Opening::Diamond }
    }
}

impl Operator for Blend {
    fn name(&self) -> &'static str {
        match self.border {
            Opening::Line => "gradient-blend",
            _ => "blend",
        }
    }

    fn compose(&self, a: f64, b: f64, opening: f64) -> Composed {
        openable::compose(self.border, Silhouette::Circle, a, b, opening)
    }

    fn default_controller(&self) -> Controller {
        Controller::ELBOW
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn within_the_table_error_of_the_authors_program() {
        // Their program reads the operator from a table with an error up to 0.004.
        let theirs = [
            (0.5, 0.5, 0.0, 0.5846),
            (0.5, 0.4, 0.0, 0.5586),
            (0.4, 0.4, 0.0, 0.5268),
            (0.6, 0.5, 0.0, 0.6186),
            (0.5, 0.5, 0.5, 0.5496),
            (0.5, 0.4, 0.5, 0.5212),
            (0.4, 0.4, 0.5, 0.4686),
            (0.6, 0.5, 0.5, 0.6001),
        ];
        for (a, b, t, expected) in theirs {
            let value = Blend::default().compose(a, b, t).value;
            assert!((value - expected).abs() < 4e-3, "{a} {b} {t}: {value}, theirs {expected}");
        }
    }

    #[test]
    fn deep_inside_it_is_the_union() {
        assert_eq!(Blend::default().compose(0.8, 0.75, 0.0), Composed::first(0.8));
        assert!(Blend::GRADIENT.compose(0.8, 0.75, 0.0).value > 1.0);
    }
}
