//! Strands do not bend more sharply than they are thick.
//!
//! A particle lies at most `h = a c / 2 R` beside the line between its neighbours: a and c are its distances from them, R is
//! the least radius of curvature. Flesh around an axis that bends more sharply would overlap itself on the inside of the bend. A
//! bend of the bind pose stays.

use super::system::Strand;
use glam::DVec3;

/// Least radius of curvature over the radius of the strand. At 1 the sections of a round muscle touch on the inside of
/// the bend; contacts that push single particles add to it.
const STOUT: f64 = 1.25;

/// How far a particle lies beside the line between its neighbours: where on it, and the way there.
fn beside(p: &[DVec3], i: usize) -> (f64, DVec3) {
    let (before, after) = (p[i - 1], p[i + 1]);
    let along = after - before;
    let square = along.length_squared();
    let t = if square > 0.0 { ((p[i] - before).dot(along) / square).clamp(0.0, 1.0) } else { 0.5 };
    (t, before + t * along - p[i])
}

/// How far each particle lies beside the line between its neighbours, metres; 0 at the ends.
pub(super) fn bends(position: &[DVec3]) -> Vec<f64> {
    let inner = 1..position.len().saturating_sub(1);
    (0..position.len())
        .map(|i| if inner.contains(&i) { beside(position, i).1.length() } else { 0.0 })
        .collect()
}

/// Straightens what is bent too sharply, once along the strand and back. `radius`: of the strand at a particle. `moved`
/// is called for every particle that moves, with its displacement and the share of it that corrects an error of `before`,
/// the positions at the start of the substep.
pub(super) fn unbend(
    strand: &Strand,
    position: &mut [DVec3],
    radius: impl Fn(usize) -> f64,
    before: Option<&[DVec3]>,
    mut moved: impl FnMut(usize, DVec3, f64),
) -> bool {
    let count = position.len();
    let weight = &strand.inverse_mass;
    let mut any = false;
    let mut at = |i: usize| {
        if is_straight(position, &radius, i) {
            return;
        }
        let (t, out) = beside(position, i);
        let height = out.length();
        let (a, c) = (position[i].distance(position[i - 1]), position[i].distance(position[i + 1]));
        let least_radius = (STOUT * radius(i)).max(0.5 * (a + c)).max(1e-9);
        let most = (0.5 * a * c / least_radius).max(strand.bend[i]);
        let excess = height - most;
        if excess.is_nan() || excess <= 1e-9 {
            return;
        }
        let shares = [(i - 1, -(1.0 - t)), (i, 1.0), (i + 1, -t)];
        let sum: f64 = shares.iter().map(|&(k, share)| weight[k] * share * share).sum();
        if sum <= 0.0 {
            return;
        }
        any = true;
        let old = before.map_or(1.0, |b| ((beside(b, i).1.length() - most) / excess).clamp(0.0, 1.0));
        let push = out * (excess / (height * sum));
        for (k, share) in shares {
            let by = push * (weight[k] * share);
            position[k] += by;
            moved(k, by, old);
        }
    };
    (1..count.saturating_sub(1)).for_each(&mut at);
    (1..count.saturating_sub(1)).rev().for_each(&mut at);
    any
}

/// Whether [`unbend`] has nothing to do.
pub(super) fn all_straight(position: &[DVec3], radius: impl Fn(usize) -> f64) -> bool {
    (1..position.len().saturating_sub(1)).all(|i| is_straight(position, &radius, i))
}

/// Whether the strand is straight enough at a particle. Compares height^2 chord^2 with (a c / 2 R)^2 chord^2, which needs no
/// square root.
#[inline]
fn is_straight(position: &[DVec3], radius: impl Fn(usize) -> f64, i: usize) -> bool {
    let (u, v) = (position[i] - position[i - 1], position[i + 1] - position[i]);
    let (a2, c2) = (u.length_squared(), v.length_squared());
    let radius2 = (STOUT * radius(i)).powi(2).max(0.5 * (a2 + c2));
    u.cross(v).length_squared() * 4.0 * radius2 <= a2 * c2 * (u + v).length_squared() && u.dot(v) > 0.0
}
