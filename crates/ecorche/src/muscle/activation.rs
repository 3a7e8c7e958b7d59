//! From pose to activation.

use super::definition::{ActivationDef, ActivationSource};

/// What a pose says about one muscle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// Length over length at bind.
    pub ratio: f64,
    /// How far the bone at the insertion has turned against the one at the origin since bind, radians, not
    /// negative.
    pub angle: f64,
}

/// Shortening at which the angle counts fully: a joint that turns without shortening the muscle does not tense
/// it, and the change is smooth.
const SHORTER: f64 = 0.03;

/// Activation in `[0, 1]`.
pub(crate) fn activation(definition: &ActivationDef, stretch: Stretch) -> f64 {
    let shorter = (1.0 - stretch.ratio).max(0.0);
    let by_length = shorter / f64::from(definition.full_shortening).max(1e-3);
    let t = (shorter / SHORTER).clamp(0.0, 1.0);
    let by_angle = stretch.angle / f64::from(definition.full_angle).max(1e-3) * t * t * (3.0 - 2.0 * t);
    let raw = match definition.from {
        ActivationSource::Pose => by_length.max(by_angle),
        ActivationSource::Shortening => by_length,
        ActivationSource::Angle => by_angle,
        ActivationSource::Constant => 0.0,
    };
    let base = f64::from(definition.base).clamp(0.0, 1.0);
    let raw = (f64::from(definition.gain) * raw).clamp(0.0, 1.0);
    let input = base + (1.0 - base) * raw;
    let output =
        if definition.curve.is_empty() { input } else { on_curve(&definition.curve, input as f32).into() };
    if output.is_finite() { output.clamp(0.0, 1.0) } else { 0.0 }
}

/// Straight lines between pairs, held before the first and after the last; 0 without pairs.
pub(crate) fn on_curve(pairs: &[[f32; 2]], x: f32) -> f32 {
    let next = pairs.partition_point(|p| p[0] <= x);
    match (next.checked_sub(1).map(|i| pairs[i]), pairs.get(next)) {
        (Some([x0, y0]), Some([x1, y1])) => y0 + (y1 - y0) * (x - x0) / (x1 - x0),
        (Some([_, y]), None) => y,
        (None, Some([_, y])) => *y,
        (None, None) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_muscle_tenses_as_it_shortens_and_not_as_it_stretches() {
        let definition = ActivationDef::default();
        let at = |ratio: f64, angle: f64| activation(&definition, Stretch { ratio, angle });
        assert_eq!(at(1.0, 0.0), 0.0);
        assert_eq!(at(1.3, 2.0), 0.0, "stretched by the same angle");
        assert!((at(0.9, 0.0) - 0.4).abs() < 1e-6);
        assert!((at(0.95, 2.0) - 1.0).abs() < 1e-6, "the angle counts while it is shorter");
        assert_eq!(at(0.1, 9.0), 1.0);
    }

    #[test]
    fn gain_base_and_curve_shape_it() {
        let definition = ActivationDef {
            gain: 0.5,
            base: 0.2,
            from: ActivationSource::Shortening,
            curve: vec![[0.0, 0.0], [0.6, 1.0]],
            ..ActivationDef::default()
        };
        let at = |ratio: f64| activation(&definition, Stretch { ratio, angle: 0.0 });
        assert!((at(1.0) - 1.0 / 3.0).abs() < 1e-6);
        assert!((at(0.75) - 1.0).abs() < 1e-6);
        assert_eq!(on_curve(&[[1.0, 3.0], [2.0, 5.0]], 0.0), 3.0);
        assert_eq!(on_curve(&[[1.0, 3.0], [2.0, 5.0]], 1.5), 4.0);
    }
}
