//! Ranges of numbers.

use std::fmt;

/// Sizes beyond this overflow a single-precision square.
const LARGEST: f64 = 1e15;

/// The numbers from a lowest to a highest.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The lowest.
    pub low: f64,
    /// The highest, which is allowed.
    pub high: f64,
    /// Whether the lowest itself is allowed.
    pub with_low: bool,
}

impl Range {
    /// All numbers of a size that can be computed with.
    pub const ANY: Self = Self::within(-LARGEST, LARGEST);
    /// Above zero.
    pub const POSITIVE: Self = Self::positive_to(LARGEST);
    /// Zero or more.
    pub const NOT_NEGATIVE: Self = Self::within(0.0, LARGEST);
    /// From 0 to 1.
    pub const SHARE: Self = Self::within(0.0, 1.0);

    /// From `low` to `high`, both allowed.
    pub const fn within(low: f64, high: f64) -> Self {
        Self { low, high, with_low: true }
    }

    /// Above zero and at most `high`.
    pub const fn positive_to(high: f64) -> Self {
        Self { low: 0.0, high, with_low: false }
    }

    /// The rule that a number breaks, if it does: "must be ...".
    pub fn broken_by(&self, number: f64) -> Option<String> {
        if !number.is_finite() {
            return Some("must be a finite number".to_owned());
        }
        let low_kept = if self.with_low { number >= self.low } else { number > self.low };
        if low_kept && number <= self.high {
            return None;
        }
        let high = short(self.high);
        Some(match (self.with_low, self.low == 0.0, self.high == LARGEST) {
            (_, _, true) if number > self.high => format!("must be at most {high}"),
            (false, true, true) => "must be above zero".to_owned(),
            (true, true, true) => "must not be negative".to_owned(),
            (false, ..) => format!("must be above {} and at most {high}", short(self.low)),
            (true, ..) => format!("must be from {} to {high}", short(self.low)),
        })
    }
}

/// A number in few characters.
fn short(number: f64) -> String {
    if number.abs() >= 1e6 { format!("{number:e}") } else { number.to_string() }
}

impl fmt::Display for Range {
    /// As documentation says it: "above 0", "0 to 0.98"; empty when all numbers are allowed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = (short(self.low), short(self.high));
        match (self.with_low, self.high == LARGEST) {
            _ if *self == Self::ANY => Ok(()),
            (false, true) => write!(f, "above {low}"),
            (true, true) => write!(f, "{low} or more"),
            (false, false) => write!(f, "above {low}, at most {high}"),
            (true, false) => write!(f, "{low} to {high}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A message names a rule that the number breaks, and not one that it obeys.
    #[test]
    fn messages_are_true() {
        let said = |range: Range, number: f64| range.broken_by(number).unwrap();
        assert_eq!(said(Range::POSITIVE, 0.0), "must be above zero");
        assert_eq!(said(Range::POSITIVE, 1e20), "must be at most 1e15");
        assert_eq!(said(Range::NOT_NEGATIVE, -1.0), "must not be negative");
        assert_eq!(said(Range::within(0.0, 1e4), 1e9), "must be from 0 to 10000");
        assert_eq!(said(Range::positive_to(100.0), 150.0), "must be above 0 and at most 100");
        assert_eq!(said(Range::ANY, f64::NAN), "must be a finite number");
        for range in [Range::ANY, Range::POSITIVE, Range::SHARE] {
            assert_eq!(range.broken_by(1.0), None);
        }
    }
}
