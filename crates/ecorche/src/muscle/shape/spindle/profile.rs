//! How thick a muscle is along its axis: unit profiles and their blend by activation.
//!
//! | symbol | here | meaning |
//! |---|---|---|
//! | s | `s` | share of the length |
//! | phi | [`Profile::value`] | thickness relative to the mean radius; the integral of its square is 1 |
//! | a | `activation` | 0 slack, 1 tense |
//! | K | `overlap` | integral of the product of the two profiles |
//! | Phi | [`ActiveProfile::value`] | `((1-a) phi_0 + a phi_1) / sqrt((1-a)^2 + a^2 + 2 a (1-a) K)`, again of unit square |
//!
//! Based on: Roussellet. Doctoral thesis. 2018, sections 4.3 and 4.4.
//! Differs in: cubic and sine profiles have unit square; sine coefficients carry the factor `2/(n+1)`.

use crate::muscle::definition::{ProfileDef, ProfilesDef};
use std::f64::consts::PI;

/// Why a profile cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProfileError {
    /// Beta exponents out of range.
    #[error("profile [{0}, {1}]: both numbers must be from 2 to 9")]
    Beta(u8, u8),
    /// Peak not inside.
    #[error("profile peak {0}: must be above 0 and below 1")]
    Peak(f32),
    /// Number or values of sines.
    #[error("profile of {0} sines: give 1 to 32 finite numbers, not all zero")]
    Sines(usize),
    /// Sines that give a negative thickness.
    #[error("profile of sines is negative at {0:.2} of the length; a thickness cannot be")]
    Negative(f64),
}

/// A unit profile.
#[derive(Clone, Debug, PartialEq)]
pub enum Profile {
    /// `s^p (1-s)^q`, scaled.
    Beta {
        /// p and q, 1 to 8.
        powers: [i32; 2],
        /// What makes its square's integral 1.
        scale: f64,
    },
    /// Two cubic slopes meeting at a peak.
    Cubic {
        /// Share of the length.
        peak: f64,
    },
    /// `sum c_i sin(pi i s)`.
    Sines {
        /// c_1, c_2, ..., scaled.
        weights: Vec<f64>,
    },
}

/// sqrt(35/13): two cubic slopes have a square of integral 13/35.
const CUBIC_SCALE: f64 = 1.640_825_308_284_736_5;

/// `B(m, n)` for whole numbers, exact to rounding.
fn beta(m: i32, n: i32) -> f64 {
    // (m-1)! (n-1)! / (m+n-1)! as a product that never overflows.
    (1..n).fold(1.0 / f64::from(m), |b, k| b * f64::from(k) / f64::from(m + k))
}

impl Profile {
    /// `s^(a-1) (1-s)^(b-1)`, a and b from 2 to 9.
    pub(crate) fn beta(a: u8, b: u8) -> Result<Self, ProfileError> {
        if !(2..=9).contains(&a) || !(2..=9).contains(&b) {
            return Err(ProfileError::Beta(a, b));
        }
        let (a, b) = (i32::from(a), i32::from(b));
        Ok(Self::Beta { powers: [a - 1, b - 1], scale: beta(2 * a - 1, 2 * b - 1).sqrt().recip() })
    }

    /// Two cubic slopes that meet at `peak`.
    pub(crate) fn cubic(peak: f32) -> Result<Self, ProfileError> {
        if peak > 0.0 && peak < 1.0 {
            Ok(Self::Cubic { peak: f64::from(peak) })
        } else {
            Err(ProfileError::Peak(peak))
        }
    }

    /// A sum of sines, scaled.
    pub(crate) fn sines(weights: &[f64]) -> Result<Self, ProfileError> {
        let square = 0.5 * weights.iter().map(|c| c * c).sum::<f64>();
        if weights.len() > 32 || !(square.is_finite() && square > 0.0) {
            return Err(ProfileError::Sines(weights.len()));
        }
        let profile = Self::Sines { weights: weights.iter().map(|c| c / square.sqrt()).collect() };
        // A hundredth of the mean radius below zero is a rounding error, and is cut off.
        match (1..200).map(|i| f64::from(i) / 200.0).find(|&s| sum_of_sines(&profile, s).0 < -0.01) {
            Some(s) => Err(ProfileError::Negative(s)),
            None => Ok(profile),
        }
    }

    /// The profile a definition asks for.
    pub(crate) fn from_definition(definition: &ProfileDef) -> Result<Self, ProfileError> {
        match definition {
            ProfileDef::Beta([a, b]) => Self::beta(*a, *b),
            ProfileDef::Cubic(cubic) => Self::cubic(cubic.peak),
            ProfileDef::Sines(sines) => {
                Self::sines(&sines.sines.iter().map(|&c| f64::from(c)).collect::<Vec<_>>())
            }
        }
    }

    /// Thickness and its derivative at `s`; zero outside `[0, 1]`.
    #[inline]
    pub(crate) fn value(&self, s: f64) -> (f64, f64) {
        if !(0.0..=1.0).contains(&s) {
            return (0.0, 0.0);
        }
        match self {
            Self::Beta { powers: [p, q], scale } => {
                let r = 1.0 - s;
                let (low, high) = (s.powi(p - 1), r.powi(q - 1));
                let common = scale * low * high;
                (common * s * r, common * (f64::from(*p) * r - f64::from(*q) * s))
            }
            Self::Cubic { peak } => {
                let (x, slope) = if s <= *peak {
                    (s / peak, 1.0 / peak)
                } else {
                    ((1.0 - s) / (1.0 - peak), -1.0 / (1.0 - peak))
                };
                (CUBIC_SCALE * x * x * (3.0 - 2.0 * x), CUBIC_SCALE * 6.0 * x * (1.0 - x) * slope)
            }
            Self::Sines { .. } => {
                let (value, slope) = sum_of_sines(self, s);
                if value > 0.0 { (value, slope) } else { (0.0, 0.0) }
            }
        }
    }
}

/// Sum and derivative by angle addition: one sine and cosine for all terms.
fn sum_of_sines(profile: &Profile, s: f64) -> (f64, f64) {
    let Profile::Sines { weights } = profile else { return (0.0, 0.0) };
    let (sine, cosine) = (PI * s).sin_cos();
    let (mut si, mut co) = (sine, cosine);
    let (mut value, mut slope) = (0.0, 0.0);
    for (i, c) in weights.iter().enumerate() {
        value += c * si;
        slope += c * PI * (i + 1) as f64 * co;
        (si, co) = (si * cosine + co * sine, co * cosine - si * sine);
    }
    (value, slope)
}

/// Weights of the first `count` sines of half widths at `k / (n + 1)`, k = 1 to n.
pub(crate) fn sine_weights(radii: &[f64], count: usize) -> Vec<f64> {
    let spacing = 1.0 / (radii.len() + 1) as f64;
    let weight = |i: usize| {
        let angle = |k: usize| PI * (i * (k + 1)) as f64 * spacing;
        2.0 * spacing * radii.iter().enumerate().map(|(k, x)| x * angle(k).sin()).sum::<f64>()
    };
    (1..=count).map(weight).collect()
}

/// The integral over `[0, 1]` of `f`, by Gauss points of 32 pieces: exact to rounding for beta profiles.
fn integral(f: impl Fn(f64) -> f64) -> f64 {
    const NODES: [(f64, f64); 3] =
        [(0.5, 8.0 / 18.0), (0.112_701_665_379_258_3, 5.0 / 18.0), (0.887_298_334_620_741_7, 5.0 / 18.0)];
    let pieces = 32;
    (0..pieces)
        .map(|k| {
            NODES.iter().map(|(x, w)| w * f((f64::from(k) + x) / f64::from(pieces))).sum::<f64>()
                / f64::from(pieces)
        })
        .sum()
}

/// Two profiles between which activation moves.
#[derive(Clone, Debug, PartialEq)]
pub struct Profiles {
    rest: Profile,
    active: Profile,
    overlap: f64,
}

impl Profiles {
    /// A slack and a tense profile.
    pub(crate) fn new(rest: Profile, active: Profile) -> Self {
        let overlap = match (&rest, &active) {
            (Profile::Beta { powers: [p, q], scale }, Profile::Beta { powers: [m, n], scale: other }) => {
                scale * other * beta(p + m + 1, q + n + 1)
            }
            _ => integral(|s| rest.value(s).0 * active.value(s).0),
        };
        Self { rest, active, overlap }
    }

    /// The profiles a definition asks for.
    pub(crate) fn from_definition(definition: &ProfilesDef) -> Result<Self, ProfileError> {
        Ok(Self::new(
            Profile::from_definition(&definition.rest)?,
            Profile::from_definition(&definition.active)?,
        ))
    }

    /// The profile at an activation, clamped to `[0, 1]`.
    pub(crate) fn at(&self, activation: f64) -> ActiveProfile<'_> {
        let (tense, slack) = self.weights(activation);
        ActiveProfile { profiles: self, slack, tense }
    }

    fn weights(&self, activation: f64) -> (f64, f64) {
        let a = if activation.is_finite() { activation.clamp(0.0, 1.0) } else { 0.0 };
        let norm = ((1.0 - a) * (1.0 - a) + a * a + 2.0 * a * (1.0 - a) * self.overlap).sqrt();
        (a / norm, (1.0 - a) / norm)
    }
}

/// A profile between slack and tense.
#[derive(Clone, Copy, Debug)]
pub struct ActiveProfile<'a> {
    profiles: &'a Profiles,
    slack: f64,
    tense: f64,
}

impl ActiveProfile<'_> {
    /// Thickness relative to the mean radius and its derivative by `s`.
    #[inline]
    pub(crate) fn value(&self, s: f64) -> (f64, f64) {
        let (mut value, mut slope) = (0.0, 0.0);
        for (weight, profile) in [(self.slack, &self.profiles.rest), (self.tense, &self.profiles.active)] {
            if weight != 0.0 {
                let (v, d) = profile.value(s);
                value += weight * v;
                slope += weight * d;
            }
        }
        (value, slope)
    }

    /// The largest thickness relative to the mean radius, to 1e-4.
    pub(crate) fn peak(&self) -> f64 {
        let steps = 48;
        let at = |i: i32| self.value(f64::from(i) / f64::from(steps)).0;
        let top = (1..steps).max_by(|&a, &b| at(a).total_cmp(&at(b))).unwrap_or(1);
        // The parabola through the highest sample and its neighbours.
        let (l, m, r) = (at(top - 1), at(top), at(top + 1));
        let bend = l - 2.0 * m + r;
        if bend < 0.0 { m - (r - l) * (r - l) / (8.0 * bend) } else { m }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::conformance::numbers;
    use crate::muscle::golden;

    #[test]
    fn reference_values_of_beta_profiles() {
        for case in golden()["beta_profile"].as_array().unwrap() {
            let whole = |key: &str| case[key].as_u64().unwrap() as u8;
            let profiles = Profiles::new(
                Profile::beta(whole("a0"), whole("b0")).unwrap(),
                Profile::beta(whole("a1"), whole("b1")).unwrap(),
            );
            assert!((profiles.overlap - case["K"].as_f64().unwrap()).abs() < 1e-12);
            let s = numbers(&case["s"]);
            for blend in case["cases"].as_array().unwrap() {
                let at = profiles.at(blend["a"].as_f64().unwrap());
                let (value, slope) = (numbers(&blend["Phi"]), numbers(&blend["dPhi"]));
                for i in 0..s.len() {
                    let (v, d) = at.value(s[i]);
                    assert!((v - value[i]).abs() < 1e-9 && (d - slope[i]).abs() < 1e-7, "{v} {d}");
                }
            }
        }
    }

    #[test]
    fn reference_values_of_cubic_and_sine_profiles() {
        let golden = golden();
        for case in golden["cubic_profile"].as_array().unwrap() {
            let profile = Profile::Cubic { peak: case["a"].as_f64().unwrap() };
            let (value, slope) = (numbers(&case["Phi_unit"]), numbers(&case["dPhi_unit"]));
            for (i, s) in numbers(&case["s"]).into_iter().enumerate() {
                let (v, d) = profile.value(s);
                assert!((v - value[i]).abs() < 1e-9 && (d - slope[i]).abs() < 1e-7);
            }
        }
        let case = &golden["dst_profile"];
        let terms = case["nc"].as_u64().unwrap() as usize;
        let (width, profile) = from_widths(&numbers(&case["x"]), terms);
        assert!((width - case["w"].as_f64().unwrap()).abs() < 1e-9);
        let value = numbers(&case["Phi_unit"]);
        for (i, s) in numbers(&case["s"]).into_iter().enumerate() {
            assert!((profile.value(s).0 - value[i]).abs() < 1e-9);
        }
    }

    /// The profile with half-widths `widths` at `k / (n + 1)`, k = 1 to n, by its first `terms` sines, and its mean radius.
    fn from_widths(widths: &[f64], terms: usize) -> (f64, Profile) {
        let weights = sine_weights(widths, terms);
        let width = (0.5 * weights.iter().map(|c| c * c).sum::<f64>()).sqrt();
        (width, Profile::sines(&weights).unwrap())
    }

    #[test]
    fn every_blend_has_a_unit_square() {
        let kinds = [
            Profile::beta(3, 3).unwrap(),
            Profile::beta(4, 7).unwrap(),
            Profile::cubic(0.3).unwrap(),
            Profile::sines(&[1.0, 0.2, -0.05]).unwrap(),
        ];
        for rest in &kinds {
            for active in &kinds {
                let profiles = Profiles::new(rest.clone(), active.clone());
                for a in [0.0, 0.3, 1.0] {
                    let blend = profiles.at(a);
                    let square = integral(|s| blend.value(s).0.powi(2));
                    assert!((square - 1.0).abs() < 2e-5, "{rest:?} {active:?} {a}: {square}");
                    let h = 1e-6;
                    let s = 0.62;
                    let slope = (blend.value(s + h).0 - blend.value(s - h).0) / (2.0 * h);
                    assert!((blend.value(s).1 - slope).abs() < 1e-5);
                }
            }
        }
        let peak = Profiles::new(kinds[0].clone(), kinds[1].clone());
        assert!((peak.at(0.0).peak() - 1.56874).abs() < 1e-4 && (peak.at(1.0).peak() - 1.93108).abs() < 2e-4);
    }

    #[test]
    fn invalid_profiles_are_refused() {
        assert_eq!(Profile::beta(1, 3), Err(ProfileError::Beta(1, 3)));
        assert!(Profile::cubic(1.0).is_err() && Profile::sines(&[]).is_err());
        assert!(matches!(Profile::sines(&[0.1, 1.0]), Err(ProfileError::Negative(_))));
    }
}
