//! The elliptic section: `r(c) = 1 / sqrt(u^2 c^2 + v^2 (1 - c^2))`, c the cosine of the angle to the wide axis,
//! e the eccentricity, `u = (1 - e^2)^(1/4)`, `v = 1 / u`. Half axes v and u: the area is pi for every e.
//!
//! Based on: Roussellet. Doctoral thesis. 2018, section 4.2.

/// A section of unit mean radius.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Section {
    short: f64,
    long: f64,
}

/// Beyond this a muscle would be a sheet: half axes 1 to 5.
const MAX_ECCENTRICITY: f64 = 0.98;

impl Section {
    /// Eccentricity is clamped to `[0, 0.98]`.
    pub(crate) fn new(eccentricity: f64) -> Self {
        let e = if eccentricity.is_finite() { eccentricity.clamp(0.0, MAX_ECCENTRICITY) } else { 0.0 };
        let short = (1.0 - e * e).sqrt().sqrt();
        Self { short, long: short.recip() }
    }

    /// Half axis across the wide axis.
    pub(crate) fn short(&self) -> f64 {
        self.short
    }

    /// Half axis along the wide axis.
    pub(crate) fn long(&self) -> f64 {
        self.long
    }

    /// Radius in the direction of cosine `c` to the wide axis, and its derivative by `c`.
    #[inline]
    pub(crate) fn radius(&self, c: f64) -> (f64, f64) {
        let (u2, v2) = (self.short * self.short, self.long * self.long);
        // Of two unit vectors the cosine may round to more than 1.
        let c = c.clamp(-1.0, 1.0);
        let r = (u2 * c * c + v2 * (1.0 - c * c)).sqrt().recip();
        (r, -(u2 - v2) * c * r * r * r)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::conformance::numbers;
    use crate::muscle::golden;

    #[test]
    fn reference_values() {
        for case in golden()["ellipse"].as_array().unwrap() {
            let section = Section::new(case["e"].as_f64().unwrap());
            assert!((section.short() - case["u"].as_f64().unwrap()).abs() < 1e-12);
            let r = numbers(&case["r"]);
            for (i, theta) in numbers(&case["theta"]).into_iter().enumerate() {
                assert!((section.radius(theta.cos()).0 - r[i]).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn the_area_does_not_depend_on_the_eccentricity() {
        for e in [0.0, 0.5, 0.9, 0.98] {
            let section = Section::new(e);
            let n = 2000;
            let area: f64 = (0..n)
                .map(|i| {
                    let a = 2.0 * std::f64::consts::PI * f64::from(i) / f64::from(n);
                    0.5 * section.radius(a.cos()).0.powi(2) * 2.0 * std::f64::consts::PI / f64::from(n)
                })
                .sum();
            assert!((area - std::f64::consts::PI).abs() < 1e-9, "{e}: {area}");
        }
    }
}
