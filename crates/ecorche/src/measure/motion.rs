//! Popping: does a vertex jump where the skeleton moves smoothly?
//!
//! A vertex may move from one frame to the next as far as the skeleton carries skin near it: the largest
//! displacement, over the joints that influence a vertex, of its rest position moved rigidly with the joint, taken
//! over all vertices near it. Near is skin that touches it in either frame (within 2 % of the size): contact passes motion on
//! to skin whose own joints rest, both when a limb arrives and when it leaves. Skin within two edges of that is near, too:
//! a mesh cannot yield by less than the triangles around a vertex, and those of a cow of 400 vertices are wider than the
//! reach. *Popping* is how far it does move over that length. Linear skinning is an average of its joints'
//! motions and so never exceeds 1; a vertex that switches between two answers does.
//!
//! *Flicker* is the change of that motion from frame to frame (the second difference) over the longer of the two
//! lengths. It finds a vertex that trembles on a limb in fast motion, which popping hides. A smooth motion has a few
//! tenths at 30 frames a second, the onset of contact up to 1, linear skinning never more than 2, a vertex that
//! jumps back and forth any number.
//!
//! Where the skeleton stands still the length is 1e-5 of the size instead.

use crate::character::Influences;
use glam::{Affine3A, Vec3};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// How far contact passes motion on, of the size. Fingers of one hand are nearer than this, a hand and the
/// hip it swings past are not.
const REACH: f32 = 0.02;
/// Over how many edges skin passes motion on. At the clips' own rates popping of the dying cow is 1.15 with 1 and 1.01 with 2, of the
/// beagle that curls its legs through its trunk 2.2 and 1.3. More was not tried: it would start to hide real jumps.
const PASSED_ON: usize = 2;
/// Motion below this, of the size, is rounding.
const STILL: f32 = 1e-5;

/// For each vertex, how far its joints carry it rigidly from one pose to the next, metres: the largest of them.
/// Joints without a transform in both poses are taken to stand still.
pub(super) fn carried(
    rest: &[Vec3],
    influences: &Influences,
    before: &[Affine3A],
    after: &[Affine3A],
) -> Vec<f32> {
    (0..rest.len())
        .into_par_iter()
        .with_min_len(1024)
        .map(|v| {
            let of_joint =
                |(joint, _): (u32, f32)| match (before.get(joint as usize), after.get(joint as usize)) {
                    (Some(a), Some(b)) => a.transform_point3(rest[v]).distance(b.transform_point3(rest[v])),
                    _ => 0.0,
                };
            influences.of(v).map(of_joint).fold(0.0, f32::max)
        })
        .collect()
}

/// The largest `value` near each vertex, see above, in one or the other of two frames, and the vertex that has it.
pub(super) fn largest_nearby(
    [before, after]: [&[Vec3]; 2],
    values: &[f32],
    edges: &[([u32; 2], f32)],
    size: f32,
) -> Vec<(f32, u32)> {
    let mut near = within_reach(before, values, size);
    for (near, also) in near.iter_mut().zip(within_reach(after, values, size)) {
        *near = larger(*near, also);
    }
    for _ in 0..PASSED_ON {
        let from = near.clone();
        for &([a, b], _) in edges {
            let [a, b] = [a as usize, b as usize];
            near[a] = larger(near[a], from[b]);
            near[b] = larger(near[b], from[a]);
        }
    }
    near
}

/// The larger value with its vertex; ties go to the lower vertex.
fn larger(a: (f32, u32), b: (f32, u32)) -> (f32, u32) {
    if b.0 > a.0 || (b.0 == a.0 && b.1 < a.1) { b } else { a }
}

/// The largest `value` within reach of each vertex, found on a grid of cells as wide as the reach, and its vertex.
fn within_reach(positions: &[Vec3], values: &[f32], size: f32) -> Vec<(f32, u32)> {
    let cell_of = |p: Vec3| (p / (size * REACH).max(f32::MIN_POSITIVE)).floor().as_ivec3().to_array();
    let mut cells: BTreeMap<[i32; 3], (f32, u32)> = BTreeMap::new();
    for ((&p, &value), v) in positions.iter().zip(values).zip(0..) {
        let cell = cells.entry(cell_of(p)).or_insert((value, v));
        *cell = larger(*cell, (value, v));
    }
    let around = |c: [i32; 3]| {
        let mut largest = (0f32, u32::MAX);
        for x in -1..=1 {
            for y in -1..=1 {
                for z in -1..=1 {
                    let near = [c[0].saturating_add(x), c[1].saturating_add(y), c[2].saturating_add(z)];
                    if let Some(&found) = cells.get(&near) {
                        largest = larger(largest, found);
                    }
                }
            }
        }
        largest
    };
    let spread: BTreeMap<[i32; 3], (f32, u32)> = cells.keys().map(|&c| (c, around(c))).collect();
    positions.iter().map(|&p| spread[&cell_of(p)]).collect()
}

/// `moved / allowed` per vertex, where motion below rounding counts as none.
pub(super) fn ratios(moved: impl Iterator<Item = f32>, allowed: &[f32], size: f32) -> Vec<f32> {
    let still = size * STILL;
    moved.zip(allowed).map(|(m, &a)| if m <= still { 0.0 } else { m / limit(a, size) }).collect()
}

/// What motion is measured by, metres: how far the skeleton carries skin nearby, and never less than rounding.
pub(super) fn limit(allowed: f32, size: f32) -> f32 {
    allowed.max(size * STILL)
}

/// Counts of ratios on a logarithmic scale, so that a percentile over a whole clip needs no list of them all.
#[derive(Clone, Debug)]
pub(super) struct Histogram {
    counts: Vec<u64>,
    largest: f32,
}

/// Bins per doubling: a percentile is high by at most 1.1 %.
const BINS_PER_OCTAVE: f32 = 64.0;
const OCTAVES_BELOW_ONE: f32 = 10.0;
const OCTAVES: f32 = 26.0;

impl Histogram {
    pub fn new() -> Self {
        Self { counts: vec![0; (OCTAVES * BINS_PER_OCTAVE) as usize + 1], largest: 0.0 }
    }

    pub fn add(&mut self, ratios: &[f32]) {
        for &r in ratios {
            let bin =
                ((r.max(f32::MIN_POSITIVE).log2() + OCTAVES_BELOW_ONE) * BINS_PER_OCTAVE).max(0.0) as usize;
            let last = self.counts.len() - 1;
            self.counts[bin.min(last)] += 1;
            self.largest = self.largest.max(r);
        }
    }

    /// The upper end of the bin that holds the percentile; `None` if nothing was added.
    pub fn percentile(&self, share: f64) -> Option<f64> {
        let total: u64 = self.counts.iter().sum();
        let wanted = (total as f64 * share).ceil() as u64;
        let mut seen = 0;
        let bin = self.counts.iter().position(|&n| {
            seen += n;
            seen >= wanted && seen > 0
        })?;
        if bin == 0 {
            return Some(0.0);
        }
        let upper = ((bin + 1) as f32 / BINS_PER_OCTAVE - OCTAVES_BELOW_ONE).exp2();
        Some(f64::from(upper.min(self.largest)))
    }
}

/// The value below which `share` of the values lie; 0 for none. Reorders them.
pub(super) fn percentile(values: &mut [f32], share: f64) -> f32 {
    if values.is_empty() {
        return 0.0;
    }
    let at = ((values.len() as f64 * share).ceil() as usize).clamp(1, values.len()) - 1;
    *values.select_nth_unstable_by(at, f32::total_cmp).1
}
