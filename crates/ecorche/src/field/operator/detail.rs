//! The detail operator: a small shape on a main one, without disturbing the main one's inside.
//!
//! With a the main field, b the detail, `u = 2 (b - 1/2)`, `e = eps (2 u - u^2)`, `e' = 4 eps (1 - u)`,
//!
//! | case | value | by a | by b |
//! |---|---|---|---|
//! | b <= 1/2 | `max(a, b)` | | |
//! | b > 1/2, a <= 1/2 | `1/2 + e (1/2 + a)` | `e` | `(1/2 + a) e'` |
//! | b > 1/2, a > 1/2 | `1/2 + e + (a - 1/2)(1 - 2 e)` | `1 - 2 e` | `(2 - 2 a) e'` |
//!
//! The surface is the union's. Inside the detail the gradient still leads towards the main shape, so a vertex
//! of a wart or a nail does not move to the detail's own core.
//!
//! Based on: Roussellet. Doctoral thesis. 2018, for what it must do; the form is our own.

use super::{Composed, Operator};

/// See the [module](self). Has no opening; the first value is the main shape's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Detail {
    /// eps in `(0, 0.25]`: how much a detail raises the field. 0.05 to 0.25 leave no gradient on the wrong
    /// side; smaller flattens the detail's inside.
    pub strength: f64,
}

impl Default for Detail {
    fn default() -> Self {
        Self { strength: 0.1 }
    }
}

impl Operator for Detail {
    fn name(&self) -> &'static str {
        "detail"
    }

    fn compose(&self, a: f64, b: f64, _opening: f64) -> Composed {
        if b <= 0.5 {
            return Composed::larger(a, b);
        }
        let u = 2.0 * (b - 0.5);
        let (e, slope) = (self.strength * (2.0 * u - u * u), 4.0 * self.strength * (1.0 - u));
        let (value, da, db) = if a <= 0.5 {
            (0.5 + e * (0.5 + a), e, (0.5 + a) * slope)
        } else {
            (0.5 + e + (a - 0.5) * (1.0 - 2.0 * e), 1.0 - 2.0 * e, (2.0 - 2.0 * a) * slope)
        };
        Composed { value, da, db, dopening: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inside_the_detail_the_main_shape_still_counts() {
        let detail = Detail::default();
        assert!(detail.compose(0.3, 1.0, 0.0).da > 0.0);
        assert_eq!(detail.compose(0.3, 1.0, 0.0).db, 0.0, "no pull to the core");
        assert!(detail.compose(0.1, 0.6, 0.0).value > 0.5);
    }

    #[test]
    fn the_halves_meet_on_the_main_surface() {
        let detail = Detail::default();
        let (out, inside) = (detail.compose(0.5, 0.8, 0.0), detail.compose(0.5 + 1e-12, 0.8, 0.0));
        assert!((out.value - inside.value).abs() < 1e-9 && (out.db - inside.db).abs() < 1e-9);
    }
}
