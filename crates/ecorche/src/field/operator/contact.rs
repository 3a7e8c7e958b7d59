//! The contact operator: a wall where two limbs press on each other.
//!
//! With A the larger and B the smaller value, `q = B/A`, c the contact amount and n the exponent,
//!
//! | | A <= 1/2 | A > 1/2 |
//! |---|---|---|
//! | value | `A` | `1/2 + (A - 1/2)(1 - c q^n)` |
//! | by A | 1 | `1 - c q^n + c n (A - 1/2) q^n / A` |
//! | by B | 0 | `-c n (A - 1/2) q^(n-1) / A` |
//! | by c | 0 | `-(A - 1/2) q^n` |
//!
//! At c = 1 the value is 1/2 on the diagonal inside both limbs: the surface consists of the union's outline
//! and of the sheet between them. The crease of the field on that sheet is real; vertices stop there.
//!
//! Based on: Vaillant et al. Robust Iso-Surface Tracking for Interactive Character Skinning. 2014, for what
//! it must do.
//! Differs in: a closed form of our own instead of a thin-plate table, which is not monotone at half contact.

use super::{Composed, Controller, Operator};

/// See the [module](self). Opening: the contact amount c; 0 is the union, 1 full contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// n, at least 1. Higher keeps the wall thinner.
    pub exponent: f64,
}

impl Default for Contact {
    fn default() -> Self {
        Self { exponent: 4.0 }
    }
}

impl Operator for Contact {
    fn name(&self) -> &'static str {
        "contact"
    }

    #[inline]
    fn compose(&self, a: f64, b: f64, opening: f64) -> Composed {
        let first = a >= b;
        let (large, small) = if first { (a, b) } else { (b, a) };
        if large <= 0.5 || small <= 0.0 {
            return Composed::larger(a, b);
        }
        let (n, c) = (self.exponent, opening.clamp(0.0, 1.0));
        let q = small / large;
        let before = if n == 4.0 { q * q * q } else { q.powf(n - 1.0) };
        let power = before * q;
        let depth = large - 0.5;
        let by_large = 1.0 - c * power + c * n * depth * power / large;
        let by_small = -c * n * depth * before / large;
        let (da, db) = if first { (by_large, by_small) } else { (by_small, by_large) };
        Composed { value: 0.5 + depth * (1.0 - c * power), da, db, dopening: -depth * power }
    }

    fn separates(&self) -> bool {
        true
    }

    fn default_controller(&self) -> Controller {
        Controller::CONTACT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_contact_puts_a_surface_between_the_limbs() {
        let contact = Contact::default();
        for i in 50..=100 {
            let inside_both = f64::from(i) / 100.0;
            assert!((contact.compose(inside_both, inside_both, 1.0).value - 0.5).abs() < 1e-12);
        }
        let closed = contact.compose(0.8, 0.75, 0.0);
        assert_eq!((closed.value, closed.da, closed.db), (0.8, 1.0, 0.0));
        assert!(contact.compose(0.8, 0.1, 1.0).value > 0.79, "far from the other limb nothing changes");
    }

    #[test]
    fn the_value_never_falls_below_the_surface_inside() {
        for (exponent, c) in [(1.0, 1.0), (4.0, 0.5), (8.0, 1.0)] {
            let value = Contact { exponent }.compose(0.9, 0.89, c).value;
            assert!((0.5..=0.9).contains(&value));
        }
    }
}
