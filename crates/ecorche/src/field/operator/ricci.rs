//! Ricci's blend: the values' p-norm.
//!
//! | | formula |
//! |---|---|
//! | value | `g = (a^n + b^n)^(1/n)` |
//! | partials | `g_a = (a/g)^(n-1)`, `g_b = (b/g)^(n-1)` |
//!
//! Exceeds 1 inside and bulges where two fields run side by side; the larger n, the closer to the union.
//!
//! Based on: Ricci. A Constructive Geometry for Computer Graphics. 1973.
//! Differs in: divided by the larger value first, so that no power underflows.

use super::{Composed, Operator};

/// See the [module](self). Has no opening.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ricci {
    /// n, above 1. Higher makes a tighter blend.
    pub exponent: f64,
}

impl Default for Ricci {
    fn default() -> Self {
        Self { exponent: 4.0 }
    }
}

impl Operator for Ricci {
    fn name(&self) -> &'static str {
        "ricci"
    }

    fn compose(&self, a: f64, b: f64, _opening: f64) -> Composed {
        let (large, small) = if a >= b { (a, b) } else { (b, a) };
        if small <= 0.0 {
            return Composed::larger(a, b);
        }
        let n = self.exponent;
        let value = large * (1.0 + (small / large).powf(n)).powf(1.0 / n);
        Composed { value, da: (a / value).powf(n - 1.0), db: (b / value).powf(n - 1.0), dopening: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_high_exponent_is_nearly_the_union() {
        let sharp = Ricci { exponent: 200.0 };
        assert!((sharp.compose(0.5, 0.4, 0.0).value - 0.5).abs() < 1e-9);
        assert!(Ricci::default().compose(0.5, 0.4, 0.0).value > 0.54);
    }
}
