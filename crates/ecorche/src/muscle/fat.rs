//! A fat pad as a field: an ellipsoid. With r the half axes, `k = |p / r|` and m their geometric mean,
//! `f = m (k - 1)`: 0 on the surface, -m in the middle; the compact value ends where k is 2.

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

    /// Nearly the distance to the surface, metres, negative inside, and nearly its gradient, a unit vector: `k (k - 1)`
    /// over the slope of `k^2 / 2`.
    pub fn distance(&self, point: DVec3) -> (f64, DVec3) {
        let local = self.world_from_pad.point_back(point);
        let scaled = local / self.radii;
        let (k, across) = (scaled.length(), scaled / self.radii);
        match across.try_normalize() {
            Some(out) => (k * (k - 1.0) / across.length(), self.world_from_pad.vector(out)),
            None => (-self.radii.min_element(), DVec3::ZERO),
        }
    }

    /// Cubic metres.
    pub fn volume(&self) -> f64 {
        4.0 / 3.0 * std::f64::consts::PI * self.radii.x * self.radii.y * self.radii.z
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
}
