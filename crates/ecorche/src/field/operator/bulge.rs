//! Bulge in contact: a crease where two limbs meet and the flesh pushed up beside it.
//!
//! The [`openable`] family with the bulge silhouette, which lies outside the union by up to
//! 0.206 times the depth and returns to it on the diagonal.
//!
//! Based on: Gourmel et al. A Gradient-Based Implicit Blend. 2013.
//! Differs in: the profile is reconstructed, see [`profile`](openable::profile).

use super::openable::{self, Opening, Silhouette};
use super::{Composed, Controller, Operator};

/// See the [module](self). Opening: `tan theta`, 1 is the union.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bulge {
    /// m in `[0, 1)`. Higher makes a fatter bulge; at 1 the partials on the crease are infinite.
    pub depth: f64,
    /// How far the bulge reaches on each iso-line.
    pub border: Opening,
}

impl Default for Bulge {
    fn default() -> Self {
        Self { depth: 0.3, border: Opening::Diamond }
    }
}

impl Operator for Bulge {
    fn name(&self) -> &'static str {
        "bulge"
    }

    fn compose(&self, a: f64, b: f64, opening: f64) -> Composed {
        // 0.95: partials on the crease reach 20; beyond, projection would overshoot the limb.
        let silhouette = Silhouette::Bulge { depth: self.depth.clamp(0.0, 0.95) };
        openable::compose(self.border, silhouette, a, b, opening)
    }

    fn default_controller(&self) -> Controller {
        Controller::BULGE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fatter_than_the_union_beside_the_crease_and_equal_on_it() {
        let bulge = Bulge::default();
        assert!(bulge.compose(0.5, 0.35, 0.0).value > 0.51);
        assert!((bulge.compose(0.5, 0.5, 0.0).value - 0.5).abs() < 1e-9);
    }
}
