//! The own-side pass: vertices that ended in another part are brought back to their own.
//!
//! | symbol | here | meaning |
//! |---|---|---|
//! | a, b | `own`, `other` | value of the vertex's part, largest value of another |
//! | c | `excess` | `a - b - gap clamp((min(a, b) - 1/2) / fade, 0, 1)` |
//!
//! While c is negative and b above 1/2 the vertex moves along the gradient of c. The gap keeps two sheets of
//! skin apart; it fades out towards the surface, where the sheets part.
//!
//! It cannot tell two fields that overlap because a joint bends from two that overlap at rest; where they do
//! at rest, [`OwnSide::least_angle`] keeps it from acting, or the vertex is given no part.
//!
//! Based on: none; the contact operator of 2014 alone leaves a tenth of the limb radius of penetration.

use crate::field::operator::controller::angle;
use crate::field::{Field, PosedTree, Sample};
use glam::Vec3;

/// The field of a body that also knows its parts.
pub trait PartFields: Field {
    /// The field of a part, and the strongest other part's; nothing for a part that does not exist.
    fn own_and_other(&self, part: u32, point: Vec3) -> (Sample, Sample);
}

impl<F: Field> PartFields for PosedTree<F> {
    fn own_and_other(&self, part: u32, point: Vec3) -> (Sample, Sample) {
        if part as usize >= self.parts().len() {
            return (Sample::OUTSIDE, Sample::OUTSIDE);
        }
        let other = self.strongest_other(part, point).map_or(Sample::OUTSIDE, |other| other.1);
        (self.sample_part(part, point), other)
    }
}

/// Settings of the [pass](self).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OwnSide {
    /// How much stronger than another the vertex's own field has to be. Higher leaves a wider gap and loses volume:
    /// 0.03 costs 1.3 points at a bend of 150 degrees, without it sheets cross.
    pub gap: f32,
    /// Depth over which the gap opens.
    pub fade: f32,
    /// Largest step, limb radii.
    pub largest_step: f32,
    /// Steps at most.
    pub iterations: u32,
    /// Angle between the two gradients, radians, below which fields count as neighbours, not as opponents.
    pub least_angle: f32,
}

impl Default for OwnSide {
    fn default() -> Self {
        Self { gap: 0.03, fade: 0.05, largest_step: 0.1, iterations: 4, least_angle: 0.0 }
    }
}

impl OwnSide {
    /// Brings one vertex back; returns how many samples of the parts it took.
    pub fn apply(&self, fields: &dyn PartFields, part: u32, limb_radius: f32, position: &mut Vec3) -> u32 {
        for iteration in 0..self.iterations {
            let (own, other) = fields.own_and_other(part, *position);
            if other.value <= 0.5 {
                return iteration + 1;
            }
            let (excess, gradient) = self.excess(own, other);
            let opposed = angle(own.gradient, other.gradient) >= f64::from(self.least_angle);
            let squared = gradient.length_squared();
            // False for NaN too.
            let steep = squared * limb_radius * limb_radius > 1e-8;
            if excess >= 0.0 || !opposed || !steep {
                return iteration + 1;
            }
            let step = -excess / squared * gradient;
            *position += step.clamp_length_max(self.largest_step * limb_radius);
        }
        self.iterations
    }

    /// c and its gradient.
    fn excess(&self, own: Sample, other: Sample) -> (f32, Vec3) {
        let smaller = if own.value < other.value { own } else { other };
        let depth = (smaller.value - 0.5) / self.fade;
        let excess = own.value - other.value - self.gap * depth.clamp(0.0, 1.0);
        let mut gradient = own.gradient - other.gradient;
        if depth > 0.0 && depth < 1.0 {
            gradient -= self.gap / self.fade * smaller.gradient;
        }
        (excess, gradient)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Support;

    /// Two half-spaces of slope 1 that overlap by 0.4 around x = 0: part 0 lies to the left.
    struct Overlap;

    impl Field for Overlap {
        fn sample(&self, point: Vec3) -> Sample {
            let (own, other) = self.own_and_other(0, point);
            if own.value > other.value { own } else { other }
        }

        fn support(&self) -> Support {
            Support { low: Vec3::splat(-1.0), high: Vec3::splat(1.0) }
        }
    }

    impl PartFields for Overlap {
        fn own_and_other(&self, part: u32, point: Vec3) -> (Sample, Sample) {
            let left = Sample { value: 0.7 - point.x, gradient: -Vec3::X };
            let right = Sample { value: 0.7 + point.x, gradient: Vec3::X };
            if part == 0 { (left, right) } else { (right, left) }
        }
    }

    #[test]
    fn a_vertex_returns_to_its_side_and_keeps_the_gap() {
        let pass = OwnSide { largest_step: 1.0, ..OwnSide::default() };
        let (mut left, mut right) = (Vec3::X * 0.12, Vec3::X * 0.12);
        pass.apply(&Overlap, 0, 1.0, &mut left);
        pass.apply(&Overlap, 1, 1.0, &mut right);
        assert!((left.x + 0.015).abs() < 1e-5, "half the gap on each side: {}", left.x);
        assert_eq!(right.x, 0.12, "on its own side already");
    }

    #[test]
    fn outside_the_other_and_without_gradients_nothing_moves() {
        let mut outside = Vec3::X * -0.3;
        assert_eq!(OwnSide::default().apply(&Overlap, 1, 1.0, &mut outside), 4, "deep in the wrong part");
        let mut alone = Vec3::X * 0.3;
        assert_eq!(OwnSide::default().apply(&Overlap, 1, 1.0, &mut alone), 1);
        assert_eq!(alone.x, 0.3);
        let gated = OwnSide { least_angle: 3.2, ..OwnSide::default() };
        let mut wrong = Vec3::X * 0.1;
        assert_eq!((gated.apply(&Overlap, 0, 1.0, &mut wrong), wrong.x), (1, 0.1));
    }

    #[test]
    fn the_gradient_is_the_slope() {
        let pass = OwnSide::default();
        let at = |x: f32| {
            let (own, other) = Overlap.own_and_other(0, Vec3::X * x);
            pass.excess(own, other)
        };
        for x in [-0.18, -0.17, 0.0, 0.16, 0.19] {
            let slope = (at(x + 1e-3).0 - at(x - 1e-3).0) / 2e-3;
            assert!((at(x).1.x - slope).abs() < 1e-3, "{x}");
        }
    }
}
