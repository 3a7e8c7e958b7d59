//! A fat pad as a field: an ellipsoid. With r the half axes, `k = |p / r|` and m their geometric mean,
//! `f = m (k - 1)`: 0 on the surface, -m in the middle; the compact value ends where k is 2.
//!
//! A displaced pad displaces the flesh around it: by the whole offset in its middle, by 0.88 of it on its surface, and not at
//! all from k = 2 on.

use crate::dynamics::Rigid;
use crate::field::{Falloff, Field, Sample, Support};
use glam::{DVec3, Vec3};

/// A fat pad in one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FatPad {
    /// From the ellipsoid's own axes to the world.
    pub world_from_pad: Rigid,
    /// Half axes, metres, above zero.
    pub radii: DVec3,
}

impl FatPad {
    fn mean(&self) -> f64 {
        (self.radii.x * self.radii.y * self.radii.z).cbrt()
    }

    /// Share of the pad's offset by which the flesh at a point is displaced, `(1 - (k / 2)^4)^2`, and its gradient; `None` where
    /// it is 0. The slope is at most 1.22 over the shortest half axis: flesh does not fold while the offset is less than 0.8 of
    /// that half axis.
    #[inline]
    pub(crate) fn share(&self, point: DVec3) -> Option<(f64, DVec3)> {
        let scaled = self.world_from_pad.point_back(point) / self.radii;
        let square = 0.25 * scaled.length_squared();
        if square.is_nan() || square >= 1.0 {
            return None;
        }
        let left = 1.0 - square * square;
        let slope = -2.0 * left * square;
        Some((left * left, self.world_from_pad.vector(scaled / self.radii) * slope))
    }
}

impl Field for FatPad {
    fn sample(&self, point: Vec3) -> Sample {
        let local = self.world_from_pad.point_back(point.as_dvec3());
        let scaled = local / self.radii;
        let k = scaled.length();
        if k.is_nan() || k >= 2.0 {
            return Sample::OUTSIDE;
        }
        let mean = self.mean();
        let falloff = Falloff { radius: mean };
        let distance = mean * (k - 1.0);
        let slope = falloff.slope(distance) * mean / k.max(1e-12);
        Sample {
            value: falloff.value(distance) as f32,
            gradient: (self.world_from_pad.vector(scaled / self.radii) * slope).as_vec3(),
        }
    }

    fn support(&self) -> Support {
        let reach = (0..3).fold(DVec3::ZERO, |sum, k| {
            let mut axis = DVec3::ZERO;
            axis[k] = 2.0 * self.radii[k];
            let turned = self.world_from_pad.vector(axis);
            sum + turned * turned
        });
        let reach = DVec3::new(reach.x.sqrt(), reach.y.sqrt(), reach.z.sqrt()) * 1.0001;
        let centre = self.world_from_pad.translation;
        Support { low: (centre - reach).as_vec3(), high: (centre + reach).as_vec3() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::conformance::scatter;
    use crate::muscle::build::PAD_REACH;
    use glam::DQuat;

    #[test]
    fn gradient_surface_and_support() {
        let turn = Rigid {
            rotation: DQuat::from_axis_angle(DVec3::new(1.0, 2.0, 3.0).normalize(), 0.7),
            translation: DVec3::new(0.3, -0.1, 0.2),
        };
        let pad = FatPad { world_from_pad: turn, radii: DVec3::new(0.1, 0.06, 0.04) };
        let on = turn.point(DVec3::Y * 0.06).as_vec3();
        assert!((pad.sample(on).value - 0.5).abs() < 1e-5);
        let mut inside = 0;
        for p in scatter(pad.support(), 500) {
            let sample = pad.sample(p);
            inside += usize::from(sample.value > 0.5);
            let h = 1e-3;
            let slope = [Vec3::X, Vec3::Y, Vec3::Z]
                .map(|a| (pad.sample(p + a * h).value - pad.sample(p - a * h).value) / (2.0 * h));
            assert!(sample.gradient.distance(Vec3::from_array(slope)) < 0.1, "{p}");
        }
        assert!(inside > 10);
        let Support { low, high } = pad.support();
        let wide = Support { low: low - 0.1, high: high + 0.1 };
        for p in scatter(wide, 2000).filter(|p| !pad.support().contains(*p)) {
            assert_eq!(pad.sample(p), Sample::OUTSIDE);
        }
        assert_eq!(pad.sample(Vec3::NAN), Sample::OUTSIDE);
    }

    #[test]
    fn a_pad_displaces_the_flesh_around_it_without_folding_it() {
        let turn = Rigid {
            rotation: DQuat::from_axis_angle(DVec3::new(1.0, -2.0, 0.5).normalize(), 0.9),
            translation: DVec3::new(0.3, -0.1, 0.2),
        };
        let pad = FatPad { world_from_pad: turn, radii: DVec3::new(0.1, 0.06, 0.04) };
        assert_eq!(pad.share(turn.translation), Some((1.0, DVec3::ZERO)));
        assert!(pad.share(turn.point(DVec3::X * 0.1)).is_some_and(|s| s.0 > 0.87));
        assert_eq!(pad.share(DVec3::NAN), None);
        let Support { low, high } = pad.support();
        let reach = PAD_REACH * pad.radii.min_element();
        for p in scatter(Support { low: low - 0.1, high: high + 0.1 }, 2000).map(|p| p.as_dvec3()) {
            let Some((share, slope)) = pad.share(p) else { continue };
            assert!(pad.support().contains(p.as_vec3()) && share > 0.0 && share <= 1.0, "{p}: {share}");
            let near = |p: DVec3| pad.share(p).map_or(0.0, |s| s.0);
            let h = 1e-5;
            let steps = DVec3::AXES.map(|a| (near(p + h * a) - near(p - h * a)) / (2.0 * h));
            assert!(slope.distance(DVec3::from_array(steps)) < 1e-2, "{p}: {slope}");
            assert!(
                reach * slope.length() < 0.62,
                "displaced as far as possible, flesh keeps a third of its length: {p}"
            );
        }
    }
}
