//! The union: the larger of two values.
//!
//! `g = max(a, b)`; the partial of the larger is 1, of equals the first.
//!
//! Sharp everywhere the values meet, not only on the surface: gradients jump inside and outside too.

use super::{Composed, Operator};

/// See the [module](self). Has no opening.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Union;

impl Operator for Union {
    fn name(&self) -> &'static str {
        "union"
    }

    #[inline]
    fn compose(&self, a: f64, b: f64, _opening: f64) -> Composed {
        Composed::larger(a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_wins_and_the_first_of_equals() {
        assert_eq!(Union.compose(0.2, 0.6, 0.5), Composed { value: 0.6, da: 0.0, db: 1.0, dopening: 0.0 });
        assert_eq!(Union.compose(0.4, 0.4, 0.5).da, 1.0);
    }
}
