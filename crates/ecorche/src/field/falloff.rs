//! The compact transfer: turns a distance-like value into a field of limited support.
//!
//! | symbol | here | meaning | unit |
//! |---|---|---|---|
//! | r | `radius` | distance at which the field ends | m |
//! | d | `distance` | signed, negative inside | m |
//! | u | `u` | `d / r` | - |
//! | f | value | `1/2 - 15/16 u + 5/8 u^3 - 3/16 u^5` between -1 and 1; 1 inside, 0 outside | - |
//! | f' | slope | `-15/(16 r) (u^2 - 1)^2`, 0 beyond | 1/m |
//!
//! Value, slope and curvature meet the constant pieces at both ends.
//!
//! Based on: Vaillant et al. Implicit Skinning. 2012.

/// The transfer of one field. Scalars are `f64`: a few operations per sample, next to the sum over centres
/// that makes the distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Falloff {
    /// Distance from the surface at which the field reaches 0 outside and 1 inside, metres; above 0. A larger
    /// one lets vertices that start farther out find the surface, and flattens the field.
    pub radius: f64,
}

impl Falloff {
    /// Field value at a signed distance.
    #[inline]
    pub fn value(&self, distance: f64) -> f64 {
        let u = (distance / self.radius).clamp(-1.0, 1.0);
        let square = u * u;
        (0.5 - u * (0.9375 + square * (0.1875 * square - 0.625))).clamp(0.0, 1.0)
    }

    /// Derivative of [`Falloff::value`] by the distance; never positive.
    #[inline]
    pub fn slope(&self, distance: f64) -> f64 {
        let u = (distance / self.radius).clamp(-1.0, 1.0);
        let w = u * u - 1.0;
        -0.9375 / self.radius * w * w
    }

    /// The distance at which the field has the given value; values beyond `[0, 1]` are clamped.
    pub fn distance(&self, value: f64) -> f64 {
        let unit = Falloff { radius: 1.0 };
        let value = value.clamp(0.0, 1.0);
        let (mut low, mut high) = (-1.0, 1.0);
        let mut u = 1.0 - 2.0 * value;
        // Newton inside a shrinking bracket. The slope vanishes at both ends, where halving takes over.
        for _ in 0..80 {
            let error = unit.value(u) - value;
            if error == 0.0 {
                break;
            }
            if error > 0.0 {
                low = u;
            } else {
                high = u;
            }
            let newton = u - error / unit.slope(u);
            let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
            if next == u {
                break;
            }
            u = next;
        }
        u * self.radius
    }
}

/// Value lost per radius at the surface, where the falloff is steepest.
pub(crate) const STEEPNESS: f64 = 0.9375;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::conformance::{golden, numbers};

    #[test]
    fn reference_values() {
        let golden = &golden()["falloff"];
        let falloff = Falloff { radius: golden["r"].as_f64().unwrap() };
        let (f, slope) = (numbers(&golden["f"]), numbers(&golden["df"]));
        for (i, &x) in numbers(&golden["x"]).iter().enumerate() {
            assert!((falloff.value(x) - f[i]).abs() < 1e-12, "value at {x}");
            assert!((falloff.slope(x) - slope[i]).abs() < 1e-12, "slope at {x}");
        }
    }

    #[test]
    fn the_distance_gives_the_value_back() {
        let falloff = Falloff { radius: 0.07 };
        for i in 0..=1000 {
            let value = f64::from(i) / 1000.0;
            let distance = falloff.distance(value);
            assert!((falloff.value(distance) - value).abs() < 1e-12);
        }
        assert_eq!(falloff.distance(0.5), 0.0);
        assert!((falloff.distance(0.0) - 0.07).abs() < 1e-6 && (falloff.distance(1.0) + 0.07).abs() < 1e-6);
        assert_eq!(falloff.distance(2.0), falloff.distance(1.0));
    }

    #[test]
    fn falls_steadily_and_ends_smoothly() {
        let falloff = Falloff { radius: 1.0 };
        let mut last = 1.0;
        for i in -150..=150 {
            let value = falloff.value(f64::from(i) / 100.0);
            assert!(value <= last && (0.0..=1.0).contains(&value));
            last = value;
        }
        assert_eq!((falloff.slope(1.0), falloff.slope(-1.0), falloff.slope(3.0)), (0.0, 0.0, 0.0));
        let h = 1e-4;
        let bend_at_end = (falloff.slope(1.0) - falloff.slope(1.0 - h)) / h;
        assert!(bend_at_end.abs() < 1e-3, "curvature {bend_at_end} must vanish where the field ends");
    }
}
