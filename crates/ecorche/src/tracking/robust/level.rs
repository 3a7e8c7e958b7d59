//! The level function: zero where a vertex belongs, positive inside, in metres.
//!
//! For a vertex of part o with value `iso` at rest, f the fields, r their radii and S = 16/15 (so that value
//! differences times S r are lengths near the surface):
//!
//! | symbol | meaning |
//! |---|---|
//! | h1 | `(max f - iso) S r_o`: on the union's surface, over the own part and those that touch it |
//! | sep | above 0 on the own side of part k: difference of the depths in both, and deep inside both the plane between their bones |
//! | slack | `(theta_k - f_k) S r_k`: what part k may still come closer |
//! | h2 | `max(sep - gap, slack)` for each part k: not in k, or on the own side of it |
//! | h | the least of h1 and all h2 |

use super::bone::Relation;
use super::pose::{Posed, Sampled, marked, smoothstep};
use crate::field::Sample;
use glam::Vec3A;

/// One over the slope of the falloff at the surface.
pub(super) const SLOPE: f32 = 16.0 / 15.0;
/// Most other parts looked at; 99 of 100 vertices are reached by eight or fewer.
const MOST_OTHERS: usize = 16;
/// Share of h1 - h2 over radius within which skin goes from free to held by contact.
pub(super) const CONTACT_TRANSITION: f32 = 0.1;
/// Cosine between skin normal and the other part's gradient from which on contact counts, and at which it counts in full:
/// skin that faces out of a part is not in front of it but part of its cover.
pub(super) const FACING_RANGE: [f32; 2] = [-0.3, 0.1];

/// In radii: depth from which on buried skin is in contact in full in the fold of a joint. At 0.1 the boil of the crouching Rocketbox man
/// triples, at 0.3 the arm's curl flickers a quarter more; both were measured while all limbs had this rule. Limbs that are no neighbours are in contact wherever fields say so: if skin had to be buried
/// there too, Geno's walk would keep 626 crossings instead of 122, most of them between fingers.
pub(super) const FULL_FOLD_DEPTH: f32 = 0.02;

/// Share of its depth that a part keeps around its bone when it lies inside a thicker one.
pub(super) const KEPT_DEPTH: f32 = 0.6;

/// The level function at a point.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Level {
    pub h: f32,
    pub gradient: Vec3A,
    /// Contact decides.
    pub contact: bool,
    /// 0 for free skin, 1 where contact holds it.
    pub held: f32,
    /// Value of the union.
    pub value: f32,
    /// Cosine between the gradients of the own part and the one in contact; 1 for free skin.
    pub cosine: f32,
    /// The part in contact, if any.
    pub partner: u32,
}

impl Level {
    /// On the union's surface, of which `top` is the strongest part.
    #[inline]
    fn free(top: &Sampled, iso: f32, radius: f32) -> Self {
        Self {
            h: (top.value - iso) * SLOPE * radius,
            gradient: top.gradient * (SLOPE * radius),
            contact: false,
            held: 0.0,
            value: top.value,
            cosine: 1.0,
            partner: u32::MAX,
        }
    }
}

/// What the level function needs to know of a vertex besides where it is.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LevelInput {
    /// Normal of its skin, unit.
    pub normal: Vec3A,
    /// The part that the first crossing took it out of, or `u32::MAX`.
    pub taken_from: u32,
    /// Value at rest.
    pub iso: f32,
    /// How near skinning alone makes the skin cross itself, 0 to 1: at 0 there is nothing to separate.
    pub near_contact: f32,
    /// How deep skinning alone buries it in other skin, metres. In the fold of a joint skin that is not buried is not in contact: fields do
    /// not fold as skin does.
    pub depth: f32,
}

impl Posed<'_> {
    /// Value of part `other` above which it counts as contact for vertex `v`. What overlaps at rest is discounted.
    #[inline]
    pub fn threshold(&self, v: usize, iso: f32, other: u32) -> f32 {
        let tolerance = self.model.settings.tolerance;
        match self.model.relation(self.model.part[v], other) {
            Relation::Far => (self.model.foreign(v, other) + tolerance).max(iso - tolerance),
            _ => iso + tolerance,
        }
    }

    /// Above zero on the own side; metres. The gradient leaves out how the plane turns.
    #[inline]
    pub fn separation(&self, iso: f32, x: Vec3A, own: &Sampled, other: &Sampled) -> (f32, Vec3A) {
        let settings = &self.model.settings;
        let (ro, rk) = (self.parts[own.part as usize].radius, self.parts[other.part as usize].radius);
        let (so, sk) = self.scales(own.part, other.part);
        let mut value = (own.value - iso) * so - (other.value - iso) * sk;
        let mut gradient = own.gradient * so - other.gradient * sk;
        if self.model.relation(own.part, other.part) == Relation::Joint {
            let depth = (own.value.min(other.value) - iso) * SLOPE;
            let pull = settings.plane * smoothstep(depth / settings.depth);
            if pull > 0.0 {
                let (foot_o, foot_k) = (self.foot(own.part, x), self.foot(other.part, x));
                let normal = (foot_o - foot_k).normalize_or_zero();
                let middle = foot_k + (foot_o - foot_k) * (rk / (ro + rk));
                value += pull * (x - middle).dot(normal);
                gradient += pull * normal;
            }
        } else {
            value += self.lack(iso, own.part, other.part, x) - self.lack(iso, other.part, own.part, x);
        }
        (value, gradient)
    }

    /// How much depth `own` lacks, metres, to own its bone beside `x` where the bone lies inside `other`.
    #[inline]
    fn lack(&self, iso: f32, own: u32, other: u32, x: Vec3A) -> f32 {
        let at = self.foot(own, x);
        let there = self.sample(other, at).value;
        if there <= iso {
            return 0.0;
        }
        let (so, sk) = self.scales(own, other);
        let depth = (self.sample(own, at).value - iso) * so;
        ((there - iso) * sk - (1.0 - KEPT_DEPTH) * depth).max(0.0)
    }

    /// Metres per value of two parts that are compared.
    #[inline]
    fn scales(&self, own: u32, other: u32) -> (f32, f32) {
        // Halfway between comparing values and comparing depths: values let a thick part swallow a thin one,
        // depths fold the sheet between limbs of elliptic section.
        let (ro, rk) = (self.parts[own as usize].radius, self.parts[other as usize].radius);
        (SLOPE * (0.75 * ro + 0.25 * rk), SLOPE * (0.75 * rk + 0.25 * ro))
    }

    /// The level function of vertex `v` at `x`; `near` marks the parts that may reach it.
    #[inline]
    pub fn level(&self, v: usize, input: &LevelInput, x: Vec3A, near: &[u64]) -> Level {
        let model = self.model;
        let (own_part, iso) = (model.part[v], input.iso);
        let own = self.sample(own_part, x);
        let mut top = own;
        let mut others = [Sampled::default(); MOST_OTHERS];
        let mut count = 0;
        for k in marked(near) {
            if k == own_part {
                continue;
            }
            let sampled = self.sample(k, x);
            if sampled.value <= 0.0 {
                continue;
            }
            if sampled.value > top.value && model.relation(own_part, k) != Relation::Far {
                top = sampled;
            }
            if count < MOST_OTHERS {
                others[count] = sampled;
                count += 1;
            }
        }
        self.crease(&own, &others[..count], &mut top);
        if !model.joins.is_empty() {
            self.join(&own, &others[..count], &mut top);
        }
        let r = self.parts[own_part as usize].radius;
        let mut level = Level::free(&top, iso, r);
        let free = level.h;
        for other in &others[..count] {
            let rk = self.parts[other.part as usize].radius;
            let slack = (self.threshold(v, iso, other.part) - other.value) * SLOPE * rk;
            if slack >= level.h + CONTACT_TRANSITION * r {
                continue;
            }
            let mut can_press = input.near_contact * self.can_press(own_part, other.part, x);
            if model.relation(own_part, other.part) == Relation::Joint {
                can_press *= smoothstep(input.depth / (FULL_FOLD_DEPTH * r));
            }
            if can_press <= 0.0 {
                continue;
            }
            let (side, toward) = self.separation(iso, x, &own, other);
            let clear = side - model.settings.gap * model.gap[v] * r * toward.length();
            let (mut h2, gradient) =
                if clear > slack { (clear, toward) } else { (slack, other.gradient * (-SLOPE * rk)) };
            h2 += (1.0 - can_press) * r;
            if input.taken_from != other.part {
                let cosine = input.normal.dot(other.gradient.normalize_or_zero());
                h2 +=
                    (1.0 - smoothstep((cosine - FACING_RANGE[0]) / (FACING_RANGE[1] - FACING_RANGE[0]))) * r;
            }
            level.held = level.held.max(smoothstep(0.5 + (free - h2) / (CONTACT_TRANSITION * r)));
            if h2 < level.h {
                level.h = h2;
                level.gradient = gradient;
                level.contact = true;
                level.partner = other.part;
                level.cosine = own.gradient.normalize_or_zero().dot(other.gradient.normalize_or_zero());
            }
        }
        level
    }

    /// In the crease between parts that are nearly as strong as each other, turns the gradient of `top` to the middle.
    #[inline]
    fn crease(&self, own: &Sampled, others: &[Sampled], top: &mut Sampled) {
        let (mut sum, mut total) = (Vec3A::ZERO, 0.0);
        let related = |s: &&Sampled| self.model.relation(own.part, s.part) != Relation::Far;
        for sampled in std::iter::once(own).chain(others.iter().filter(related)) {
            let share = 1.0 - (top.value - sampled.value) / CREASE_WIDTH;
            if share > 0.0 {
                sum += sampled.gradient * share;
                total += share;
            }
        }
        if total > 1.0 {
            top.gradient = sum / total;
        }
    }

    /// Raises `top` to what the joins of these parts make of them.
    #[cold]
    fn join(&self, own: &Sampled, others: &[Sampled], top: &mut Sampled) {
        let all = || std::iter::once(own).chain(others);
        let find = |part: u32| {
            let found = all().find(|s| s.part == part && s.value > 0.0)?;
            Some(Sample { value: found.value, gradient: found.gradient.into() })
        };
        for join in &self.model.joins {
            let [Some(a), Some(b)] = join.parts.map(find) else { continue };
            let joined = join.composition.join(a, b);
            if joined.value > top.value {
                let gradient = Vec3A::from(joined.gradient);
                *top = Sampled { value: joined.value, gradient, ..*top };
            }
        }
    }

    /// One bracketed step from `x`, where the level is `here`, toward the zero of the level function. Never ends farther
    /// from it. Also returns the number of evaluations.
    #[inline]
    pub fn project(
        &self,
        v: usize,
        input: &LevelInput,
        x: Vec3A,
        here: &Level,
        near: &[u64],
    ) -> (Vec3A, Level, u32) {
        let r = self.parts[self.model.part[v] as usize].radius;
        let steepness = here.gradient.length_squared();
        if here.h.abs() < NEAR_ENOUGH * r || steepness < LEAST_STEEPNESS {
            return (x, *here, 0);
        }
        let step = (here.gradient * (-here.h / steepness)).clamp_length_max(self.model.settings.step * r);
        let there = self.level(v, input, x + step, near);
        let second = if there.h * here.h < 0.0 {
            here.h / (here.h - there.h)
        } else if there.h.abs() > here.h.abs() {
            0.25
        } else {
            return (x + step, there, 1);
        };
        let between = self.level(v, input, x + second * step, near);
        if between.h.abs() < there.h.abs().min(here.h.abs()) {
            (x + second * step, between, 2)
        } else if there.h.abs() < here.h.abs() {
            (x + step, there, 2)
        } else {
            (x, *here, 2)
        }
    }
}

/// Difference of two values from which on the smaller does not count in the gradient. With none a vertex in the middle of
/// the athlete's crotch goes to the left thigh, 5 mm off its plane; with 0.1 the
/// athlete's curl keeps eight crossings instead of three.
pub(super) const CREASE_WIDTH: f32 = 0.03;
/// In radii: skin this near its level is on it.
pub(super) const NEAR_ENOUGH: f32 = 1e-4;
/// Squared; the level function has slope 1 near the surface and none on the bone.
pub(super) const LEAST_STEEPNESS: f32 = 1e-6;
