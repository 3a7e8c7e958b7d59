//! Muscles and fat of every part at one moment.
//!
//! Muscles are asked for their distance. Fat displaces the flesh: with o the offset of a pad and w its share at p, the part has at
//! p the value it had at `p - w(p) o`, summed over pads: the space under the skin moves and smooth shapes stay smooth.
//! An ellipsoid joined to the part shows only where it stands out of it, and skin over its rim creases when it moves.

use crate::field::{Falloff, Field, Sample, Support};
use crate::muscle::{FatPad, PosedFat, Table};
use crate::tracking::{Displaced, Layers};
use glam::{Mat3, Vec3};
use std::sync::Arc;

/// A fibre in one moment.
#[derive(Debug)]
pub(super) struct PosedFibre {
    pub table: Table,
    /// How much of it is belly and not tendon, 0 to 1, at even stations.
    pub belly: Arc<[f32]>,
}

impl PosedFibre {
    /// From a point to the belly, metres, negative inside; `None` if it is `most` away or more. Tendons count as farther away by
    /// the thickness of the fibre.
    #[inline]
    fn distance(&self, point: Vec3, most: f32) -> Option<f32> {
        let thickest = self.table.thickest();
        let near = self.table.near(point, thickest + most)?;
        let distance = near.distance + thickest * (1.0 - on_stations(&self.belly, near.s));
        (distance < most).then_some(distance)
    }

    /// As a field that ends where `falloff` does, times the share of the belly that `shares` gives to a part; nothing outside.
    pub fn field_in(&self, shares: &[f32], falloff: &Falloff, point: Vec3) -> Option<Sample> {
        let near = self.table.near(point, self.table.thickest() + falloff.radius as f32)?;
        let (belly, share) = (on_stations(&self.belly, near.s), on_stations(shares, near.s));
        let weight = belly * share;
        let value = falloff.value(f64::from(near.distance)) as f32;
        if weight * value <= 0.0 {
            return None;
        }
        let weight_slope =
            slope_on_stations(&self.belly, near.s) * share + belly * slope_on_stations(shares, near.s);
        let slope = falloff.slope(f64::from(near.distance)) as f32;
        let gradient = weight * slope * near.gradient + value * weight_slope * near.s_slope;
        Some(Sample { value: weight * value, gradient })
    }
}

/// A displaced fat pad.
#[derive(Clone, Copy, Debug)]
pub(super) struct PosedPad {
    field: FatPad,
    support: Support,
    offset: Vec3,
}

impl PosedPad {
    /// `None` for a pad that is not displaced.
    pub fn new(fat: &PosedFat) -> Option<Self> {
        let offset = fat.offset.as_vec3();
        (offset != Vec3::ZERO).then(|| Self { field: fat.field, support: fat.field.support(), offset })
    }
}

/// Interpolates a list of at least two even stations at `s`.
#[inline]
pub(super) fn on_stations(list: &[f32], s: f32) -> f32 {
    let last = list.len() - 1;
    let at = s.clamp(0.0, 1.0) * last as f32;
    let k = (at as usize).min(last - 1);
    list[k] + (at - k as f32) * (list[k + 1] - list[k])
}

/// The derivative of [`on_stations`] by `s`.
#[inline]
fn slope_on_stations(list: &[f32], s: f32) -> f32 {
    let last = list.len() - 1;
    let k = ((s.clamp(0.0, 1.0) * last as f32) as usize).min(last - 1);
    (list[k + 1] - list[k]) * last as f32
}

/// The displaced pads of one part.
#[derive(Debug, Default)]
pub(super) struct PartPads {
    support: Option<Support>,
    pads: Vec<PosedPad>,
}

impl PartPads {
    pub fn new(pads: Vec<PosedPad>) -> Self {
        let support = pads.iter().map(|pad| pad.support).reduce(Support::with);
        Self { support, pads }
    }
}

/// What lies under the skin in one moment.
#[derive(Debug, Default)]
pub(super) struct PosedLayers {
    pub fibres: Vec<PosedFibre>,
    /// Of each part.
    pub pads: Vec<PartPads>,
}

impl Layers for PosedLayers {
    fn support(&self, part: u32) -> Support {
        self.pads[part as usize].support.unwrap_or(Support::EMPTY)
    }

    #[inline]
    fn displaced(&self, part: u32, point: Vec3) -> Option<Displaced> {
        let mut displaced: Option<Displaced> = None;
        for pad in self.pads[part as usize].pads.iter().filter(|pad| pad.support.contains(point)) {
            let Some((share, slope)) = pad.field.share(point.as_dvec3()) else { continue };
            let sum = displaced.get_or_insert(Displaced { from: point, gradient_map: Mat3::IDENTITY });
            sum.from -= share as f32 * pad.offset;
            // The transposed derivative of the share times the offset.
            let slope = slope.as_vec3();
            sum.gradient_map -=
                Mat3::from_cols(slope * pad.offset.x, slope * pad.offset.y, slope * pad.offset.z);
        }
        displaced
    }

    #[inline]
    fn distance(&self, fibre: u32, point: Vec3, most: f32) -> Option<f32> {
        self.fibres[fibre as usize].distance(point, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamics::Rigid;
    use crate::field::conformance::scatter;
    use crate::muscle::{Axis, Profile, Profiles, Shape, Spindle};
    use glam::DVec3;

    /// A straight fibre of 0.1 m along z.
    fn fibre(width: f64, belly: &[f32]) -> PosedFibre {
        let profile = || Profile::beta(3, 3).unwrap();
        let points: Vec<DVec3> = (0..=8).map(|i| DVec3::Z * 0.1 * (f64::from(i) / 8.0 - 0.5)).collect();
        let axis = Axis::new(&points, [DVec3::X; 2], 0.0).unwrap();
        let profiles = Arc::new(Profiles::new(profile(), profile()));
        let muscle = Shape::from(Spindle::new(axis, profiles, 0.0, 0.0, width));
        PosedFibre { table: muscle.table(), belly: belly.into() }
    }

    #[test]
    fn a_thicker_muscle_is_nearer_and_a_tendon_farther() {
        let above = Vec3::Y * 0.05;
        let distance = |width: f64, belly: &[f32]| fibre(width, belly).distance(above, 0.1).unwrap();
        let (thin, thick) = (distance(0.008, &[1.0; 3]), distance(0.01, &[1.0; 3]));
        assert!(thin > thick + 1e-3 && thick > 0.02, "{thin} {thick}");
        assert!(distance(0.01, &[1.0, 0.0, 1.0]) > thick + 0.005, "tendon in the middle");
        assert!(fibre(0.01, &[1.0; 2]).distance(above, 0.02).is_none(), "too far away");
    }

    #[test]
    fn a_pad_displaces_the_flesh_around_it() {
        let radii = DVec3::new(0.06, 0.05, 0.03);
        let pad = |offset: DVec3| {
            let world_from_pad = Rigid { translation: offset, ..Rigid::IDENTITY };
            PosedFat { pad: 0, field: FatPad { world_from_pad, radii }, offset }
        };
        assert!(PosedPad::new(&pad(DVec3::ZERO)).is_none(), "in its place it moves nothing");
        let offset = DVec3::new(0.005, -0.006, 0.012);
        let pads = vec![PosedPad::new(&pad(offset)).unwrap()];
        let layers = PosedLayers { fibres: Vec::new(), pads: vec![PartPads::new(pads)] };
        let middle = layers.displaced(0, offset.as_vec3()).unwrap();
        assert!(middle.from.length() < 1e-6, "{middle:?}");
        let own = |p: Vec3| 0.5 - 2.0 * p.y;
        let mut displaced = 0;
        for p in scatter(layers.support(0), 2000) {
            let Some(found) = layers.displaced(0, p) else { continue };
            displaced += 1;
            let part = |p: Vec3| own(layers.displaced(0, p).map_or(p, |d| d.from));
            let h = 1e-3;
            let steps = Vec3::AXES.map(|a| (part(p + h * a) - part(p - h * a)) / (2.0 * h));
            let gradient = found.gradient_map * (Vec3::NEG_Y * 2.0);
            assert!(gradient.distance(Vec3::from_array(steps)) < 0.02, "{p}: {gradient} {steps:?}");
            assert!(gradient.y < 0.0, "not turned over");
        }
        assert!(displaced > 200, "{displaced}");
    }
}
