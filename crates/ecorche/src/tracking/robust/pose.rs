//! The parts in one pose.

use super::bend::{self, Bend};
use super::bone::Relation;
use super::model::Model;
use crate::math::DualQuat;
use crate::math::polar::polar;
use crate::tracking::Layers;
use glam::{Affine3A, Mat3A, Vec3A, Vec4Swizzles};

/// A part in the world.
#[derive(Clone, Debug, Default)]
pub(super) struct PosedPart {
    pub bind_from_world: Affine3A,
    pub world_from_bind: Affine3A,
    /// Takes gradients to the world.
    gradient_map: Mat3A,
    /// Support radius, scaled with the joint.
    pub radius: f32,
    /// Box around the displaced flesh of the part; empty without any.
    layer: [Vec3A; 2],
    segments: Vec<[Vec3A; 2]>,
    /// Parts of one group move as one.
    pub group: u32,
}

/// A part's field at a point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sampled {
    pub part: u32,
    pub value: f32,
    /// Per metre, inward.
    pub gradient: Vec3A,
}

/// Steps to where skin is displaced. What is left of a pad's offset of 20 mm is 0.2 mm at worst, and projection brings the skin to its level.
const DISPLACE_STEPS: usize = 9;
/// Motions that differ less count as one: of the size for translations, of a matrix entry for the rest.
const SAME_MOTION: f32 = 1e-6;

impl PosedPart {
    /// Ends of its bone's segments, world.
    pub fn segments(&self) -> &[[Vec3A; 2]] {
        &self.segments
    }

    #[inline]
    fn feels_layer(&self, x: Vec3A) -> bool {
        x.cmpge(self.layer[0]).all() && x.cmple(self.layer[1]).all()
    }
}

/// Memory of a [`Posed`], to be used again for the next.
#[derive(Clone, Debug, Default)]
pub(super) struct PoseMemory {
    motions: Vec<Affine3A>,
    /// The first motion of each group.
    groups: Vec<Affine3A>,
    parts: Vec<PosedPart>,
    boxes: Vec<[Vec3A; 2]>,
    rigid: Vec<DualQuat>,
    stretch: Vec<Mat3A>,
    group_of_joint: Vec<u32>,
    bends: Vec<Vec<Bend>>,
}

pub(super) struct Posed<'a> {
    pub model: &'a Model,
    pub layers: Option<&'a dyn Layers>,
    pub parts: &'a [PosedPart],
    /// Box around the support of each part, displaced flesh included.
    boxes: &'a [[Vec3A; 2]],
    /// Of each skeleton joint: its motion from bind, split into a stretch and a rigid motion after it.
    pub rigid: &'a [DualQuat],
    pub stretch: &'a [Mat3A],
    pub stretched: bool,
    pub group_of_joint: &'a [u32],
    /// The bent joints of each part.
    pub bends: &'a [Vec<Bend>],
}

impl<'a> Posed<'a> {
    pub fn new(
        model: &'a Model,
        posed_from_bind: &[Affine3A],
        layers: Option<&'a dyn Layers>,
        memory: &'a mut PoseMemory,
    ) -> Self {
        let PoseMemory { motions, groups, parts, boxes, rigid, stretch, group_of_joint, bends } = memory;
        let finite = |m: &Affine3A| if m.is_finite() { *m } else { Affine3A::IDENTITY };
        motions.clear();
        motions.extend(posed_from_bind.iter().map(finite));
        group(motions, model.size, groups, group_of_joint);
        parts.resize_with(model.bones.len(), PosedPart::default);
        boxes.clear();
        for (k, (part, bone)) in parts.iter_mut().zip(&model.bones).enumerate() {
            let world_from_bind = motions[bone.joint as usize];
            let bind_from_world = world_from_bind.inverse();
            let scale = world_from_bind.matrix3.determinant().abs().cbrt();
            let (mut low, mut high) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
            for corner in 0..8 {
                let side = |axis: usize| {
                    if corner >> axis & 1 == 0 { bone.support.low[axis] } else { bone.support.high[axis] }
                };
                let point = world_from_bind.transform_point3a(Vec3A::new(side(0), side(1), side(2)));
                low = low.min(point);
                high = high.max(point);
            }
            let layer = layers.map_or(crate::field::Support::EMPTY, |l| l.support(k as u32));
            let layer = [Vec3A::from(layer.low), Vec3A::from(layer.high)];
            boxes.push([low.min(layer[0]), high.max(layer[1])]);
            let mut segments = std::mem::take(&mut part.segments);
            segments.clear();
            segments.extend(bone.segments.iter().map(|s| s.map(|p| world_from_bind.transform_point3a(p))));
            *part = PosedPart {
                bind_from_world,
                world_from_bind,
                gradient_map: bind_from_world.matrix3.transpose(),
                radius: bone.radius * scale,
                layer,
                segments,
                group: group_of_joint[bone.joint as usize],
            };
        }
        rigid.clear();
        stretch.clear();
        let mut stretched = false;
        for motion in motions.iter() {
            let (rotation, first) = polar(glam::Mat3::from(motion.matrix3).as_dmat3());
            rigid.push(DualQuat::new(rotation.as_quat(), motion.translation.into()));
            let first = Mat3A::from(first.as_mat3());
            stretched |= largest_entry(first - Mat3A::IDENTITY) > 1e-5;
            stretch.push(first);
        }
        bend::find_bends(model, parts, bends);
        Self { model, layers, parts, boxes, rigid, stretch, stretched, group_of_joint, bends }
    }

    #[inline]
    pub fn sample(&self, part: u32, x: Vec3A) -> Sampled {
        let posed = &self.parts[part as usize];
        let displaced = match self.layers {
            Some(layers) if posed.feels_layer(x) => layers.displaced(part, x.into()),
            _ => None,
        };
        let from = displaced.map_or(x, |displaced| displaced.from.into());
        let own = self.model.fields[part as usize].at(posed.bind_from_world.transform_point3a(from));
        let gradient = posed.gradient_map * Vec3A::from_vec4(own.yzww());
        let gradient = displaced.map_or(gradient, |displaced| displaced.gradient_map * gradient);
        Sampled { part, value: own.x, gradient }
    }

    /// Where skin of a part goes that would be at `x` if no flesh were displaced.
    pub fn displace(&self, part: u32, x: Vec3A) -> Vec3A {
        let feels = |part: &PosedPart| part.feels_layer(x);
        let Some(layers) = self.layers.filter(|_| self.parts.get(part as usize).is_some_and(feels)) else {
            return x;
        };
        // Each time nearer, by more than a third at least.
        (0..DISPLACE_STEPS)
            .fold(x, |to, _| layers.displaced(part, to.into()).map_or(x, |d| to + x - Vec3A::from(d.from)))
    }

    /// Prefetches what the fields of the marked parts hold at `x`.
    #[inline]
    pub fn prefetch(&self, x: Vec3A, near: &[u64]) {
        for k in marked(near) {
            let point = self.parts[k as usize].bind_from_world.transform_point3a(x);
            self.model.fields[k as usize].prefetch(point);
        }
    }

    /// Closest point on the part's bone. Between several segments a mean that leans strongly to the closest, so
    /// that it does not jump from one to the next.
    #[inline]
    pub fn foot(&self, part: u32, x: Vec3A) -> Vec3A {
        let segments = &self.parts[part as usize].segments;
        if let [segment] = segments.as_slice() {
            return closest(segment, x);
        }
        let least = (1e-6 * self.model.size).powi(2).max(f32::MIN_POSITIVE);
        let (mut sum, mut total) = (Vec3A::ZERO, 0.0);
        for segment in segments {
            let point = closest(segment, x);
            let ratio = least / point.distance_squared(x).max(least);
            let weight = ratio * ratio;
            sum += point * weight;
            total += weight;
        }
        if total > 0.0 { sum / total } else { x }
    }

    /// Whether skin of part `own` at `x` can press on part `other` at all, 0 to 1: neighbours only on the inside of a
    /// bent joint.
    #[inline]
    pub fn can_press(&self, own: u32, other: u32, x: Vec3A) -> f32 {
        if self.model.relation(own, other) != Relation::Joint {
            return 1.0;
        }
        let part = &self.parts[own as usize];
        let bend = self.bends[own as usize].iter().find(|bend| bend.other == other);
        let point = part.bind_from_world.transform_point3a(x);
        bend.map_or(0.0, |bend| bend.folds(point, self.model.bones[own as usize].radius))
    }

    /// Marks the parts whose support may hold points within `margin` of `x`, 64 to a word.
    pub fn reachable(&self, x: Vec3A, margin: f32, words: &mut [u64]) {
        self.reachable_of(0..self.parts.len() as u32, x, margin, words);
    }

    #[inline]
    fn reachable_of(&self, parts: impl Iterator<Item = u32>, x: Vec3A, margin: f32, words: &mut [u64]) {
        words.fill(0);
        let margin = Vec3A::splat(margin);
        for k in parts {
            let [low, high] = self.boxes[k as usize];
            if (x + margin).cmpge(low).all() & (x - margin).cmple(high).all() {
                words[k as usize / 64] |= 1 << (k % 64);
            }
        }
    }
}

/// The parts marked by [`Posed::reachable`], ascending.
#[inline]
pub(super) fn marked(words: &[u64]) -> impl Iterator<Item = u32> + '_ {
    words.iter().enumerate().flat_map(|(w, &word)| {
        let mut bits = word;
        std::iter::from_fn(move || {
            (bits != 0).then(|| {
                let bit = bits.trailing_zeros();
                bits &= bits - 1;
                w as u32 * 64 + bit
            })
        })
    })
}

/// Gives joints that move alike one number; `groups` gets the motions that differ.
fn group(motions: &[Affine3A], size: f32, groups: &mut Vec<Affine3A>, group_of_joint: &mut Vec<u32>) {
    let same = |a: &Affine3A, b: &Affine3A| {
        largest_entry(a.matrix3 - b.matrix3) < SAME_MOTION
            && (a.translation - b.translation).abs().max_element() < SAME_MOTION * size
    };
    groups.clear();
    group_of_joint.clear();
    for motion in motions {
        let known = groups.iter().position(|group| same(group, motion));
        if known.is_none() {
            groups.push(*motion);
        }
        group_of_joint.push(known.unwrap_or(groups.len() - 1) as u32);
    }
}

fn largest_entry(m: Mat3A) -> f32 {
    m.x_axis.abs().max(m.y_axis.abs()).max(m.z_axis.abs()).max_element()
}

#[inline]
fn closest([a, b]: &[Vec3A; 2], x: Vec3A) -> Vec3A {
    let along = *b - *a;
    let length = along.length_squared();
    if length > 0.0 { *a + along * ((x - *a).dot(along) / length).clamp(0.0, 1.0) } else { *a }
}

#[inline]
pub(super) fn smoothstep(x: f32) -> f32 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}
