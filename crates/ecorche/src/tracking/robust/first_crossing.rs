//! The first crossing, seen from the own bone.
//!
//! For vertex x of part o and another part k, n is the direction from k's bone to o's. On the line through x along n the
//! search begins level with the own bone, where the skin is on its own side for certain, and goes outward. The first
//! point that belongs to k is as far as x may be.

use super::bone::Relation;
use super::level::{LevelInput, SLOPE};
use super::pose::{Posed, marked};
use super::search::MOST_CONTACT_OFFSET;
use glam::Vec3A;
use rayon::prelude::*;

/// Steps outward, and halvings of the step that crosses. In the prototype 4 and 4 did as well; not tried here.
const STEPS_OUT: u32 = 6;
const HALVINGS: u32 = 6;
/// If the point level with the own bone already belongs to k: steps beyond it that are tried, each a quarter of the own
/// radius.
const STEPS_BEYOND: u32 = 4;
/// In radii of k: lines farther from its bone are not searched.
const SEARCH_REACH: f32 = 1.35;
/// Cosine between skin normal and n above which the skin faces away from the other bone. Without it the fingers of the
/// athlete's fist dent the back of the hand; the value itself was not varied.
const LOOKS_AWAY: f32 = 0.2;
/// Contact, 0 to 1, below which no crossing is looked for.
const LEAST_CONTACT: f32 = 0.5;

/// How far along which direction vertex `v` has to go from `x` to be on its own side of part `k`; `None` if it is.
/// Counts samples of single fields.
pub(super) fn first_crossing(
    posed: &Posed,
    v: usize,
    input: &LevelInput,
    k: u32,
    x: Vec3A,
    samples: &mut u32,
) -> Option<(f32, Vec3A)> {
    let (o, iso) = (posed.model.part[v], input.iso);
    let foot_o = posed.foot(o, x);
    let n = (foot_o - posed.foot(k, x)).try_normalize()?;
    let level_with_bone = -(x - foot_o).dot(n);
    if level_with_bone <= 0.0 || input.normal.dot(n) > LOOKS_AWAY || posed.can_press(o, k, x) < LEAST_CONTACT
    {
        return None;
    }
    let (ro, rk) = (posed.parts[o as usize].radius, posed.parts[k as usize].radius);
    let middle = x + n * (0.5 * level_with_bone);
    if posed.foot(k, middle).distance(middle) > SEARCH_REACH * rk + 0.5 * level_with_bone {
        return None;
    }
    let threshold = posed.threshold(v, iso, k);
    let mut is_foreign = |distance: f32| {
        let p = x + n * distance;
        *samples += 1;
        let other = posed.sample(k, p);
        let inside = (other.value - threshold) * SLOPE * rk;
        if inside <= 0.0 {
            return inside;
        }
        *samples += 1;
        let own = posed.sample(o, p);
        inside.min(-posed.separation(iso, p, &own, &other).0)
    };
    let (mut good, mut bad);
    let at_bone = is_foreign(level_with_bone);
    if at_bone > 0.0 {
        let mut least = (at_bone, level_with_bone);
        bad = level_with_bone;
        good = f32::NAN;
        for i in 1..=STEPS_BEYOND {
            let distance = level_with_bone + 0.25 * i as f32 * ro;
            let foreign = is_foreign(distance);
            if foreign <= 0.0 {
                good = distance;
                break;
            }
            if foreign < least.0 {
                least = (foreign, distance);
            }
            bad = distance;
        }
        if good.is_nan() {
            return Some((least.1, n));
        }
    } else {
        good = level_with_bone;
        bad = f32::NAN;
        for i in 1..=STEPS_OUT {
            let distance = level_with_bone * (1.0 - i as f32 / STEPS_OUT as f32);
            if is_foreign(distance) > 0.0 {
                bad = distance;
                break;
            }
            good = distance;
        }
        if bad.is_nan() {
            return None;
        }
    }
    for _ in 0..HALVINGS {
        let distance = 0.5 * (good + bad);
        if is_foreign(distance) > 0.0 {
            bad = distance;
        } else {
            good = distance;
        }
    }
    Some((good, n))
}

/// The farthest crossing of vertex `v` at `x` with any part that moves against its own: the new position and the part.
pub(super) fn take_out(
    posed: &Posed,
    v: usize,
    input: &LevelInput,
    x: Vec3A,
    near: &[u64],
    samples: &mut u32,
) -> (Vec3A, u32) {
    if input.near_contact < LEAST_CONTACT {
        return (x, u32::MAX);
    }
    let own = posed.model.part[v];
    let group = posed.parts[own as usize].group;
    let mut farthest: Option<(f32, Vec3A, u32)> = None;
    for k in marked(near) {
        if k == own
            || posed.parts[k as usize].group == group
            || posed.model.occluded_at_rest.binary_search(&(v as u32, k)).is_ok()
        {
            continue;
        }
        let is_fold = posed.model.relation(own, k) == Relation::Joint;
        if is_fold && input.depth <= 0.0 {
            continue;
        }
        let Some((distance, direction)) = first_crossing(posed, v, input, k, x, samples) else { continue };
        // Fields do not fold as skin does. Without a limit they open folds that skinning keeps shut: behind the knee of the running
        // mh_base by 20 mm.
        let distance = if is_fold { distance.min(MOST_CONTACT_OFFSET * input.depth) } else { distance };
        if farthest.is_none_or(|f| distance > f.0) {
            farthest = Some((distance, direction, k));
        }
    }
    farthest.map_or((x, u32::MAX), |(distance, direction, k)| (x + direction * distance, k))
}

/// Pairs of vertex and part where the part lies between the vertex and its own bone at rest, ascending: the first
/// crossing says nothing about them.
pub(super) fn occluded_at_rest(at_rest: &Posed) -> Vec<(u32, u32)> {
    let model = at_rest.model;
    let words = model.bones.len().div_ceil(64);
    let lists: Vec<Vec<(u32, u32)>> = model
        .tracked
        .par_iter()
        .map(|&v| {
            let (index, x) = (v as usize, model.rest[v as usize]);
            let own = model.part[index];
            let mut near = vec![0u64; words];
            at_rest.reachable(x, at_rest.parts[own as usize].radius, &mut near);
            let input = LevelInput {
                normal: model.normals[index],
                taken_from: u32::MAX,
                iso: model.iso[index],
                near_contact: 1.0,
                depth: f32::INFINITY,
            };
            let hits = marked(&near)
                .filter(|&k| k != own && first_crossing(at_rest, index, &input, k, x, &mut 0).is_some());
            hits.map(|k| (v, k)).collect()
        })
        .collect();
    let mut occluded_at_rest: Vec<(u32, u32)> = lists.into_iter().flatten().collect();
    occluded_at_rest.sort_unstable();
    occluded_at_rest
}
