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
use crate::field::Sample;

/// See the [module](self). Has no opening.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Fillet {
    /// w, in `(0, 0.5)`. Wider fills more of the groove between two shapes.
    pub width: f64,
}

/// The value within the fillet and its derivatives by the larger and the smaller value; `None` outside, where the larger
/// value stays as it is.
macro_rules! formula {
    ($name:ident, $float:ident, $least:literal) => {
        #[inline]
        fn $name(large: $float, small: $float, width: $float) -> Option<($float, $float, $float)> {
            let mean = 0.5 * (large + small);
            let k = width * 4.0 * mean * (1.0 - mean);
            let inside = k - (large - small);
            if inside <= 0.0 || k <= $least {
                return None;
            }
            // Of u^2 / 4k: by u, and by k.
            let (by_u, by_k) = (inside / (2.0 * k), -inside * inside / (4.0 * k * k));
            let k_slope = width * 2.0 * (1.0 - 2.0 * mean);
            let through_k = (by_u + by_k) * k_slope;
            Some((large + inside * inside / (4.0 * k), 1.0 - by_u + through_k, by_u + through_k))
        }
    };
}

// Where k is less, its square is 0.
formula!(single, f32, 1e-19);
formula!(double, f64, 1e-150);

impl Operator for Fillet {
    fn name(&self) -> &'static str {
        "fillet"
    }

    fn compose(&self, a: f64, b: f64, _opening: f64) -> Composed {
        let (large, small) = if a >= b { (a, b) } else { (b, a) };
        let Some((value, by_large, by_small)) = double(large, small, self.width) else {
            return Composed::larger(a, b);
        };
        let (da, db) = if a >= b { (by_large, by_small) } else { (by_small, by_large) };
        Composed { value, da, db, dopening: 0.0 }
    }
}

/// Two samples of the same point joined with a fillet of `width`, in single precision.
#[inline]
pub(crate) fn join(a: Sample, b: Sample, width: f32) -> Sample {
    let (large, small) = if a.value >= b.value { (a, b) } else { (b, a) };
    match single(large.value, small.value, width) {
        None => large,
        Some((value, by_large, by_small)) => {
            Sample { value, gradient: by_large * large.gradient + by_small * small.gradient }
        }
    }
}

/// How far above 0.5 a field without its core rises.
const CORE: f32 = 0.1;

/// A sample with the core of its field cut off: above 0.5 the value flattens out and stays below 0.6. What lies around
/// a muscle is then above it everywhere inside, and a vertex lost in there is led out of the body part and not to the
/// muscle's axis.
#[inline]
pub(crate) fn without_core(sample: Sample) -> Sample {
    if sample.value <= 0.5 {
        return sample;
    }
    let rest = (-(sample.value - 0.5) / CORE).exp();
    Sample { value: 0.5 + CORE * (1.0 - rest), gradient: rest * sample.gradient }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    fn sample(value: f32, gradient: Vec3) -> Sample {
        Sample { value, gradient }
    }

    #[test]
    fn single_precision_is_close_to_double() {
        let fillet = Fillet { width: f64::from(0.3f32) };
        for (i, j) in (0..=100).flat_map(|i| (0..=100).map(move |j| (i, j))) {
            let (a, b) = (i as f32 / 100.0, j as f32 / 100.0);
            let joined = join(sample(a, Vec3::X), sample(b, Vec3::Y), 0.3);
            let exact = fillet.compose(a.into(), b.into(), 0.0);
            assert!((f64::from(joined.value) - exact.value).abs() < 1e-6, "{a} {b}: {joined:?} {exact:?}");
            // Where both begin or both are full the fillet is as narrow as rounding.
            let clear = (0.01..0.99).contains(&(0.5 * (a + b)));
            let off = joined.gradient.distance(Vec3::new(exact.da as f32, exact.db as f32, 0.0));
            assert!(!clear || off < 1e-4, "{a} {b}: {joined:?} {exact:?}");
        }
    }

    #[test]
    fn tiny_values_give_finite_gradients() {
        for exponent in 1..45 {
            let tiny = 10f32.powi(-exponent);
            let joined = join(sample(tiny, Vec3::X), sample(tiny, Vec3::Y), 0.3);
            assert!(joined.gradient.is_finite() && joined.value >= tiny, "{tiny}: {joined:?}");
        }
    }

    #[test]
    fn a_core_stays_below_what_lies_around_it() {
        let cut = |value| without_core(sample(value, Vec3::X));
        assert_eq!(cut(0.4), sample(0.4, Vec3::X));
        assert!(cut(1.0).value < 0.5 + CORE && cut(0.55).value > 0.53);
        let h = 1e-3;
        let slope = (cut(0.6 + h).value - cut(0.6 - h).value) / (2.0 * h);
        assert!((cut(0.6).gradient.x - slope).abs() < 1e-3);
    }
}
