//! Edges that a correction has made much too short or too long.

use crate::tracking::stencil::Stencil;
use glam::Vec3A;

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
