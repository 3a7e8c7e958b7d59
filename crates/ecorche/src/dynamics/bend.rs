//! Strands do not bend sharper than they are thick.
//!
//! A particle lies at most `h = a c / 2 R` beside the line between its neighbours, a and c its distances from them, R the
//! least radius of curvature. What lies around an axis that bends sharper would overlap itself on the inside. A bend that
//! was there at bind stays.

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

/// Straightens what is bent too sharply, once along the strand and back. `radius`: of the strand at a particle. `moved` hears
/// of every particle that moves, by how much, and which share of that was wrong in `before`, where the particles were
/// when the substep began.
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

/// Whether no particle needs a closer look by [`unbend`].
pub(super) fn all_straight(position: &[DVec3], radius: impl Fn(usize) -> f64) -> bool {
    (1..position.len().saturating_sub(1)).all(|i| is_straight(position, &radius, i))
}

/// Whether the strand is straight enough at a particle; told without a root: height^2 chord^2 against (a c / 2 R)^2 chord^2.
#[inline]
fn is_straight(position: &[DVec3], radius: impl Fn(usize) -> f64, i: usize) -> bool {
    let (u, v) = (position[i] - position[i - 1], position[i + 1] - position[i]);
    let (a2, c2) = (u.length_squared(), v.length_squared());
    let radius2 = (STOUT * radius(i)).powi(2).max(0.5 * (a2 + c2));
    u.cross(v).length_squared() * 4.0 * radius2 <= a2 * c2 * (u + v).length_squared() && u.dot(v) > 0.0
}
