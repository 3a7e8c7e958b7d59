//! Muscles and fat of every part in one moment, joined to the parts' fields.
//!
//! Three of the sixty muscles under a trunk matter at a point. Bounding boxes around stretches of their axes, tested eight at a
//! time, tell which: a muscle farther away than the fillet is wide changes no bit of the result.
//!
//! Fat displaces the flesh instead of joining it. With o the offset of a pad and w its share at p, the part and its muscles
//! have at p the value they had at `p - w(p) o`, summed over pads: the space under the skin moves and smooth shapes stay smooth.
//! An ellipsoid joined like a muscle shows only where it stands out of the part, and skin over its rim creases when it moves.

use crate::anatomy::MuscleBlend;
use crate::field::falloff::FastFalloff;
use crate::field::operator::fillet::{self, without_core};
use crate::field::operator::{CleanUnion, Detail, Operator};
use crate::field::{Field, Sample, Support};
use crate::muscle::{FatPad, PosedFat, Table};
use crate::tracking::{Displaced, Layers};
use glam::{Mat3, Vec3};
use std::sync::Arc;

/// A fibre of one part in one moment.
pub(super) struct PosedMember {
    pub muscle: Arc<Table>,
    /// How far its field reaches outside its surface, metres.
    pub reach: f32,
    /// Share in the part at even stations.
    pub share: Arc<[f32]>,
}

/// A displaced fat pad.
#[derive(Clone, Copy, Debug)]
pub(super) struct PosedPad {
    field: FatPad,
    support: Support,
    offset: Vec3,
}

impl PosedPad {
    /// `None` for a pad in its place.
    pub fn new(fat: &PosedFat) -> Option<Self> {
        let offset = fat.offset.as_vec3();
        (offset != Vec3::ZERO).then(|| Self { field: fat.field, support: fat.field.support(), offset })
    }
}

impl PosedMember {
    /// Nearly the distance and its gradient; `None` farther than `most` from the surface.
    #[inline]
    fn distance(&self, point: Vec3, most: f32) -> Option<(f32, Vec3)> {
        let near = self.muscle.near(point, self.muscle.thickest() + most)?;
        let (share, slope) = on_stations(&self.share, near.s);
        let distance = near.distance + self.reach * (1.0 - share);
        let gradient = near.gradient - self.reach * slope * near.s_slope;
        (distance < most).then_some((distance, gradient))
    }

    #[inline]
    fn sample(&self, point: Vec3, most: f32, falloff: FastFalloff) -> Sample {
        let Some((distance, gradient)) = self.distance(point, most.min(self.reach)) else {
            return Sample::OUTSIDE;
        };
        let (mut value, mut slope) = (falloff.value(distance), falloff.slope(distance));
        // Fades to zero over the outer half of the reach.
        let t = 2.0 - 2.0 * distance / self.reach;
        if t < 1.0 {
            let (fade, by_t) = (t * t * (3.0 - 2.0 * t), 6.0 * t * (1.0 - t));
            slope = slope * fade - value * by_t * 2.0 / self.reach;
            value *= fade;
        }
        Sample { value, gradient: slope * gradient }
    }
}

/// Value and slope by `s` of a list over even stations, two at least.
#[inline]
pub(super) fn on_stations(list: &[f32], s: f32) -> (f32, f32) {
    let last = list.len() - 1;
    let at = s.clamp(0.0, 1.0) * last as f32;
    let k = (at as usize).min(last - 1);
    let step = list[k + 1] - list[k];
    (list[k] + (at - k as f32) * step, step * last as f32)
}

const LANES: usize = 8;

/// Eight boxes; the last ones may be empty.
struct Octet {
    low: [[f32; LANES]; 3],
    high: [[f32; LANES]; 3],
    /// From the box to the surface at most.
    thick: [f32; LANES],
    reach: [f32; LANES],
    member: [u16; LANES],
}

impl Octet {
    const EMPTY: Self = Self {
        low: [[f32::INFINITY; LANES]; 3],
        high: [[f32::INFINITY; LANES]; 3],
        thick: [0.0; LANES],
        reach: [0.0; LANES],
        member: [0; LANES],
    };

    /// Which of the surfaces may be nearer than `most`, a bit each.
    #[inline]
    fn within(&self, point: Vec3, most: f32) -> u32 {
        let mut beyond = [0.0f32; LANES];
        for (lane, beyond) in beyond.iter_mut().enumerate() {
            let mut square = 0.0;
            for axis in 0..3 {
                let outside =
                    (self.low[axis][lane] - point[axis]).max(point[axis] - self.high[axis][lane]).max(0.0);
                square += outside * outside;
            }
            let radius = (self.thick[lane] + self.reach[lane].min(most)).max(0.0);
            *beyond = square - radius * radius;
        }
        beyond.iter().enumerate().fold(0, |bits, (lane, beyond)| bits | u32::from(*beyond <= 0.0) << lane)
    }
}

/// What lies under one part.
pub(super) struct PartLayer {
    support: Support,
    falloff: FastFalloff,
    /// Width of the fillet, in values.
    fillet: f32,
    blend: MuscleBlend,
    members: Vec<PosedMember>,
    pads: Vec<PosedPad>,
    octets: Vec<Octet>,
}

impl PartLayer {
    pub fn new(
        members: Vec<PosedMember>,
        pads: Vec<PosedPad>,
        falloff: FastFalloff,
        blend: MuscleBlend,
    ) -> Self {
        let (mut support, mut octets, mut count) = (Support::EMPTY, Vec::new(), 0);
        let reaches: f32 = members.iter().map(|member| member.reach).sum();
        let fillet = falloff.values_over(FILLED * reaches / members.len().max(1) as f32);
        for (index, member) in members.iter().enumerate() {
            let thick = member.muscle.thickest();
            let margin = thick + member.reach;
            for [low, high] in member.muscle.stretches() {
                support = support.with(Support { low: low - margin, high: high + margin });
                let lane = count % LANES;
                if lane == 0 {
                    octets.push(Octet::EMPTY);
                }
                count += 1;
                let Some(octet) = octets.last_mut() else { continue };
                for axis in 0..3 {
                    octet.low[axis][lane] = low[axis];
                    octet.high[axis][lane] = high[axis];
                }
                octet.thick[lane] = thick;
                octet.reach[lane] = member.reach;
                octet.member[lane] = index as u16;
            }
        }
        support = pads.iter().fold(support, |support, pad| support.with(pad.support));
        Self { support, falloff, fillet: fillet.min(FILLET), blend, members, pads, octets }
    }
}

/// The layers of every part in one moment.
pub(super) struct PosedLayers {
    pub parts: Vec<PartLayer>,
}

/// Most muscles joined at one point of a part; more are ignored. The athlete's trunk has up to nine.
const MOST_FELT: usize = 16;

impl Layers for PosedLayers {
    fn support(&self, part: u32) -> Support {
        self.parts[part as usize].support
    }

    #[inline]
    fn displaced(&self, part: u32, point: Vec3) -> Option<Displaced> {
        let mut displaced: Option<Displaced> = None;
        for pad in self.parts[part as usize].pads.iter().filter(|pad| pad.support.contains(point)) {
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
    fn join(&self, part: u32, point: Vec3, own: Sample) -> Sample {
        let layer = &self.parts[part as usize];
        let mut felt = [Sample::OUTSIDE; MOST_FELT];
        let mut count = 0;
        // A muscle more than a fillet below the rest changes nothing; to a clean union all muscles count.
        let fillet = if layer.blend == MuscleBlend::Fillet { layer.fillet } else { 1.0 };
        let mut most = layer.falloff.farthest(own.value - fillet);
        let mut last = usize::MAX;
        for octet in &layer.octets {
            let mut bits = octet.within(point, most);
            while bits != 0 {
                let member = octet.member[bits.trailing_zeros() as usize] as usize;
                bits &= bits - 1;
                if member == last || count == MOST_FELT {
                    continue;
                }
                last = member;
                let mut next = layer.members[member].sample(point, most, layer.falloff);
                if next.value <= 0.0 {
                    continue;
                }
                if layer.blend == MuscleBlend::Fillet {
                    next = without_core(next);
                }
                let value = next.value;
                most = most.min(layer.falloff.farthest(value - fillet));
                // In the order of their values, not of the anatomy, so that left and right are the same.
                let at = felt[..count].partition_point(|s| s.value > value);
                felt[at..=count].rotate_right(1);
                felt[at] = next;
                count += 1;
            }
        }
        if layer.blend == MuscleBlend::Detail {
            let [union, detail]: [&dyn Operator; 2] = [&CleanUnion::default(), &Detail::default()];
            let joined = |a, b| union.join(a, b, 0.0);
            let muscles = felt[..count].iter().copied().fold(Sample::OUTSIDE, joined);
            return detail.join(own, muscles, 0.0);
        }
        let mut joined = Sample::OUTSIDE;
        let mut own = Some(own);
        for &next in &felt[..count] {
            if own.is_some_and(|own| own.value >= next.value) {
                joined = fillet::join(joined, own.take().unwrap_or_default(), fillet);
            }
            joined = fillet::join(joined, next, fillet);
        }
        own.map_or(joined, |own| fillet::join(joined, own, fillet))
    }
}

/// Width of the fillet between muscles, and between them and the part, in values: skin and fascia span grooves. Below
/// 0.5, or a field alone would change. At 0.1 the contracted biceps stands out like a ball; at 0.45 grooves are
/// gone.
const FILLET: f32 = 0.3;
/// The same in metres, in mean reaches of the muscles: a value of a thick part is many times as long as its muscles reach. Edges
/// of mh_base bent by 15 degrees more than without muscles, in the mean of its jump's frames: 365 with 0.3, 338 with 0.6, 339 with
/// this, 366 with 2 and 374 with [`FILLET`] alone, 0.06 m in a trunk whose muscles reach 0.02 m.
const FILLED: f32 = 1.0;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamics::Rigid;
    use crate::field::conformance::scatter;
    use crate::muscle::{Axis, Profile, Profiles, Shape, Spindle};
    use glam::DVec3;

    fn sample(value: f32, gradient: Vec3) -> Sample {
        Sample { value, gradient }
    }

    /// A straight fibre of 0.1 m along z.
    fn fibre(at: DVec3, width: f64) -> PosedMember {
        let profile = || Profile::beta(3, 3).unwrap();
        let points: Vec<DVec3> = (0..=8).map(|i| at + DVec3::Z * 0.1 * (f64::from(i) / 8.0 - 0.5)).collect();
        let axis = Axis::new(&points, [DVec3::X; 2], 0.0).unwrap();
        let profiles = Arc::new(Profiles::new(profile(), profile()));
        let muscle = Shape::from(Spindle::new(axis, profiles, 0.0, 0.3, width));
        PosedMember { muscle: Arc::new(muscle.table()), reach: 0.03, share: Arc::new([1.0; 2]) }
    }

    #[test]
    fn what_is_left_out_changes_nothing() {
        let fibre = |i: usize| {
            let at = DVec3::new((i % 5) as f64, (i / 5 % 5) as f64, (i / 25) as f64) * 0.04;
            fibre(at, 0.008 + 0.0004 * i as f64)
        };
        let falloff = FastFalloff::new(0.08);
        let layer = PartLayer::new((0..27).map(fibre).collect(), Vec::new(), falloff, MuscleBlend::Fillet);
        let layers = PosedLayers { parts: vec![layer] };
        let (mut felt, mut count) = (0, 0);
        for point in scatter(layers.support(0), 2000) {
            let own = sample(0.5 * (point.x * 9.0).sin().abs(), Vec3::X);
            let all = layers.parts[0].members.iter().map(|m| m.sample(point, f32::INFINITY, falloff));
            let mut all: Vec<Sample> = all.filter(|s| s.value > 0.0).map(without_core).chain([own]).collect();
            all.sort_by(|a, b| b.value.total_cmp(&a.value));
            let fillet = layers.parts[0].fillet;
            let joined = all.into_iter().fold(Sample::OUTSIDE, |a, b| fillet::join(a, b, fillet));
            assert_eq!(layers.join(0, point, own), joined, "at {point}");
            felt += usize::from(joined != own);
            count += 1;
        }
        assert!(felt > count / 10, "{felt} of {count} points feel anything");
    }

    /// Two fibres side by side over a flat part that ends below them.
    #[test]
    fn the_thesis_union_leaves_every_outline() {
        let layers = |blend| {
            let fibres = [-0.012, 0.012].map(|x| fibre(DVec3::X * x, 0.01));
            PosedLayers {
                parts: vec![PartLayer::new(fibres.into(), Vec::new(), FastFalloff::new(0.08), blend)],
            }
        };
        let [fillet, detail] = [MuscleBlend::Fillet, MuscleBlend::Detail].map(layers);
        let own = |p: Vec3| sample(0.3 - 2.0 * p.y, Vec3::NEG_Y * 2.0);
        // How high the flesh is between the two.
        let height = |layers: &PosedLayers| {
            let heights = (0..300).map(|i| Vec3::Y * (1e-4 * i as f32));
            heights.take_while(|&p| layers.join(0, p, own(p)).value > 0.5).count()
        };
        let (spanned, left) = (height(&fillet), height(&detail));
        assert!(spanned > left + 10, "the fillet spans the groove by a millimetre or more: {spanned} {left}");
        let mut inside = 0;
        for p in scatter(detail.support(0), 2000) {
            let joined = detail.join(0, p, own(p)).value;
            let members = detail.parts[0].members.iter();
            let muscles = members.map(|m| m.sample(p, f32::INFINITY, detail.parts[0].falloff).value);
            let largest = muscles.fold(own(p).value, f32::max);
            let is_clear = (largest - 0.5).abs() > 1e-3;
            assert!(!is_clear || (joined > 0.5) == (largest > 0.5), "at {p}: the surface is the union's");
            inside += usize::from(largest > 0.5 && own(p).value < 0.5);
        }
        assert!(inside > 20, "{inside}");
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
        let falloff = FastFalloff::new(0.08);
        let layers = PosedLayers {
            parts: vec![PartLayer::new(vec![fibre(DVec3::ZERO, 0.01)], pads, falloff, MuscleBlend::Fillet)],
        };
        let still = PartLayer::new(vec![fibre(DVec3::ZERO, 0.01)], Vec::new(), falloff, MuscleBlend::Fillet);
        let still = PosedLayers { parts: vec![still] };
        let own = |p: Vec3| sample(0.5 - 2.0 * p.y, Vec3::NEG_Y * 2.0);
        let joined = |p: Vec3| {
            let Some(displaced) = layers.displaced(0, p) else { return layers.join(0, p, own(p)) };
            let joined = layers.join(0, displaced.from, own(displaced.from));
            Sample { gradient: displaced.gradient_map * joined.gradient, ..joined }
        };
        let (middle, at_rest) = (joined(offset.as_vec3()), still.join(0, Vec3::ZERO, own(Vec3::ZERO)));
        assert!((middle.value - at_rest.value).abs() < 1e-5, "{middle:?} {at_rest:?}");
        let mut displaced = 0;
        for p in scatter(layers.support(0), 2000) {
            let Some(_) = layers.displaced(0, p) else {
                assert_eq!(joined(p), still.join(0, p, own(p)), "beside the pad, at {p}");
                continue;
            };
            displaced += 1;
            // The part alone: a table's gradient is not quite its slope.
            let part = |p: Vec3| layers.displaced(0, p).map_or(own(p).value, |d| own(d.from).value);
            let h = 1e-3;
            let steps = Vec3::AXES.map(|a| (part(p + h * a) - part(p - h * a)) / (2.0 * h));
            let gradient = layers.displaced(0, p).unwrap().gradient_map * own(p).gradient;
            assert!(gradient.distance(Vec3::from_array(steps)) < 0.02, "{p}: {gradient} {steps:?}");
            assert!(gradient.y < 0.0, "not turned over");
        }
        assert!(displaced > 200, "{displaced}");
    }
}
