//! Relaxation of awake vertices: as rigid as possible, along the level surface, within a largest offset.

use super::level::Level;
use super::tracker::VERTICES_PER_TASK;
use super::wake::Awake;
use crate::tracking::stencil::Stencil;
use glam::{Mat3A, Vec3A};
use rayon::prelude::*;

/// Where each awake vertex would be if only its ring's shape counted, less the mean of its ring.
pub(super) fn pulls(
    shape: &Stencil,
    rest: &[Vec3A],
    skinned: &[(Vec3A, Mat3A)],
    awake: &[Awake],
    pulls: &mut Vec<Vec3A>,
) {
    let pull = |awake: &Awake| {
        let v = awake.vertex as usize;
        let (mut own, mut others) = (Vec3A::ZERO, Vec3A::ZERO);
        for (k, weight) in shape.of(v) {
            let edge = (rest[v] - rest[k as usize]) * weight;
            own += edge;
            others += skinned[k as usize].1 * edge;
        }
        0.5 * (skinned[v].1 * own + others)
    };
    awake.par_iter().with_min_len(VERTICES_PER_TASK).map(pull).collect_into_vec(pulls);
}

impl Awake {
    /// Largest offset from the anchor where contact holds the skin so much, metres.
    #[inline]
    fn most(&self, held: f32) -> f32 {
        self.activity * (self.max_offset + held * self.radius)
    }

    /// A position no farther from the anchor than the largest offset.
    #[inline]
    pub fn limit(&self, x: Vec3A, held: f32) -> Vec3A {
        self.anchor + (x - self.anchor).clamp_length_max(self.most(held))
    }

    /// Moves a position back toward the anchor: hardly near it, and never leaves it beyond the largest offset.
    #[inline]
    pub fn hold(&self, x: Vec3A, held: f32) -> Vec3A {
        let most = self.most(held);
        if most <= 0.0 {
            return self.anchor;
        }
        let away = x - self.anchor;
        let share = away.length_squared() / (most * most);
        self.anchor + away / (1.0 + share * share).sqrt().sqrt()
    }
}

/// One Jacobi step of every awake vertex with steps left, written to `moved`.
pub(super) fn step(
    shape: &Stencil,
    awake: &[Awake],
    pulls: &[Vec3A],
    levels: &[Level],
    positions: &[Vec3A],
    omega: f32,
    number: u32,
    moved: &mut [Vec3A],
) {
    moved.par_iter_mut().with_min_len(VERTICES_PER_TASK).enumerate().for_each(|(i, moved)| {
        let vertex = &awake[i];
        let x = positions[vertex.vertex as usize];
        if number >= vertex.relaxations {
            *moved = x;
            return;
        }
        let mean =
            shape.of(vertex.vertex as usize).fold(pulls[i], |sum, (k, w)| sum + positions[k as usize] * w);
        let normal = levels[i].gradient.normalize_or_zero();
        let step = (mean - x) * (omega * vertex.activity);
        *moved = vertex.hold(x + step - normal * step.dot(normal), levels[i].held);
    });
}

/// Where vertex `v` goes so that its edges become neither shorter than [`SHORTEST`] nor longer than [`LONGEST`] times their
/// length at rest; each end goes half of the way.
#[inline]
pub(super) fn keep_lengths(
    ring: &Stencil,
    rest: &[Vec3A],
    v: usize,
    position: impl Fn(usize) -> Vec3A,
) -> Vec3A {
    let x = position(v);
    let (mut sum, mut count) = (Vec3A::ZERO, 0.0);
    for (k, _) in ring.of(v) {
        let edge = x - position(k as usize);
        let (square, rest_square) = (edge.length_squared(), rest[v].distance_squared(rest[k as usize]));
        let wanted = if square < SHORTEST * SHORTEST * rest_square {
            SHORTEST
        } else if square > LONGEST * LONGEST * rest_square {
            LONGEST
        } else {
            continue;
        };
        let length = square.sqrt();
        sum += edge * (0.5 * (wanted * rest_square.sqrt() - length) / length.max(f32::MIN_POSITIVE));
        count += 1.0;
    }
    if count > 0.0 { x + sum / count } else { x }
}

/// Of the length at rest. Projection moves both sides of a crease to its bottom, and smoothing shrinks what crosses
/// to a point; without this the cylinder bent by 90 degrees has edges of 0.05.
pub(super) const SHORTEST: f32 = 0.2;
/// Of the length at rest. Two limbs pushed apart stretch the skin between them; without this the cylinder bent by 120
/// degrees and twisted by 80 has edges of 3.5; smaller ones were not tried.
pub(super) const LONGEST: f32 = 2.8;
