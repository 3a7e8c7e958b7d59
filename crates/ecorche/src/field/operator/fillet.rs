//! The union with a fillet: the larger of two values, rounded where they are nearly equal.
//!
//! | symbol | here | meaning |
//! |---|---|---|
//! | l, s | `large`, `small` | the larger and the smaller value |
//! | w | `width` | largest width of the fillet, in values; below 0.5 |
//! | m | `mean` | `(l + s) / 2` |
//! | k | `k` | `4 w m (1 - m)`: the fillet closes where both fields begin and where both are full |
//! | u | `inside` | `k - (l - s)`; the fillet ends where it is 0 |
//! | g | value | `l + u^2 / 4 k` within the fillet, `l` outside |
//!
//! For `w < 0.5` an absent field changes nothing. The skin spans the groove between two muscles that way.
//!
//! A frame joins muscles in single precision (`join`); the formula is written once for both.

use super::{Composed, Operator};

/// See the [module](self). Has no opening.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fillet {
    /// w, in `(0, 0.5)`. Wider fills more of the groove between two shapes.
    pub width: f64,
}

/// The value within the fillet and its derivatives by the larger and the smaller value; `None` outside, where the larger
/// value stays as it is.
#[inline]
fn fillet(large: f64, small: f64, width: f64) -> Option<(f64, f64, f64)> {
    let mean = 0.5 * (large + small);
    let k = width * 4.0 * mean * (1.0 - mean);
    let inside = k - (large - small);
    // Where k is less, its square is 0.
    if inside <= 0.0 || k <= 1e-150 {
        return None;
    }
    // Of u^2 / 4k: by u, and by k.
    let (by_u, by_k) = (inside / (2.0 * k), -inside * inside / (4.0 * k * k));
    let k_slope = width * 2.0 * (1.0 - 2.0 * mean);
    let through_k = (by_u + by_k) * k_slope;
    Some((large + inside * inside / (4.0 * k), 1.0 - by_u + through_k, by_u + through_k))
}

impl Operator for Fillet {
    fn name(&self) -> &'static str {
        "fillet"
    }

    fn compose(&self, a: f64, b: f64, _opening: f64) -> Composed {
        let (large, small) = if a >= b { (a, b) } else { (b, a) };
        let Some((value, by_large, by_small)) = fillet(large, small, self.width) else {
            return Composed::larger(a, b);
        };
        let (da, db) = if a >= b { (by_large, by_small) } else { (by_small, by_large) };
        Composed { value, da, db, dopening: 0.0 }
    }
}
