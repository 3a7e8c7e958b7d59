//! Strands against each other: a particle and the nearest point of another strand keep apart by the sum of
//! their radii, less what they overlapped at bind.
//!
//! Flesh yields: what is pressed in pushes back like a spring. Each strand moves its own particles by their share,
//! reading the others from a copy, so both sides move and the order does not matter.

use super::friction;
use glam::DVec3;

/// Particles of a strand near another one in this step, and where on it.
#[derive(Clone, Copy, Debug)]
pub(in crate::dynamics) struct Near {
    /// Particle, counted within the strand.
    pub particle: usize,
    /// The other strand's first particle in the copy, and how many it has.
    pub other: (usize, usize),
    /// Segment of the other strand nearest to the particle so far.
    pub segment: usize,
    /// Overlap at bind, metres, not negative.
    pub overlap: f64,
}

/// Greatest closing speed expected at human size, m/s. A gap is not checked again before it could have closed.
pub(in crate::dynamics) const CLOSING: f64 = 2.0;

/// Substeps after which a gap of any size is checked again. With 10 the motion was the same; more were not tried.
const LONGEST_SLEEP: f64 = 20.0;

/// Number of substeps a gap need not be checked for, if it closes by at most `closing` metres in each.
#[inline]
pub(in crate::dynamics) fn sleep(gap: f64, closing: f64) -> u16 {
    // A gap that is not a number gives 0.
    (gap / closing).clamp(0.0, LONGEST_SLEEP) as u16
}

/// The nearest point on segment `segment` of a polyline: share along it, squared distance.
#[inline]
pub(in crate::dynamics) fn on_segment(line: &[DVec3], segment: usize, point: DVec3) -> (f64, f64) {
    let (a, b) = (line[segment], line[segment + 1]);
    let along = b - a;
    let square = along.length_squared();
    let t = if square > 0.0 { ((point - a).dot(along) / square).clamp(0.0, 1.0) } else { 0.0 };
    (t, (a + t * along - point).length_squared())
}

/// The nearest point of a polyline: segment, share along it, distance; the first of equals.
pub(in crate::dynamics) fn on_line(line: &[DVec3], point: DVec3) -> (usize, f64, f64) {
    let mut best = (0, 0.0, f64::INFINITY);
    for segment in 0..line.len().saturating_sub(1) {
        let (t, square) = on_segment(line, segment, point);
        if square < best.2 {
            best = (segment, t, square);
        }
    }
    (best.0, best.1, best.2.sqrt())
}

/// As [`on_line`], if that is closer than `reach`. `longest`: of the segments, metres.
pub(in crate::dynamics) fn on_line_within(
    line: &[DVec3],
    longest: f64,
    point: DVec3,
    reach: f64,
) -> Option<(usize, f64, f64)> {
    let mut best = (0, 0.0, reach);
    // Nothing is closer than a reach that is not above zero.
    let mut segment = if reach > 0.0 { 0 } else { line.len() };
    while segment + 1 < line.len() {
        // No segment is nearer than this particle less the way along the line.
        let skipped = ((line[segment].distance(point) - best.2) / longest) as usize;
        if skipped > 0 {
            segment = segment.saturating_add(skipped).min(line.len());
            continue;
        }
        let (t, square) = on_segment(line, segment, point);
        if square < best.2 * best.2 {
            best = (segment, t, square.sqrt());
        }
        segment += 1;
    }
    (best.2 < reach).then_some(best)
}

/// The copy of all strands that contacts read.
#[derive(Clone, Debug, Default)]
pub(in crate::dynamics) struct Copy {
    pub position: Vec<DVec3>,
    pub before: Vec<DVec3>,
    pub radius: Vec<f64>,
    pub inverse_mass: Vec<f64>,
}

impl Near {
    /// How the particle moves, or else by how much it is clear of contact, metres.
    pub(crate) fn push(
        &mut self,
        copy: &Copy,
        own: usize,
        (coefficient, flesh, h): (f64, f64, f64),
    ) -> Result<DVec3, f64> {
        let (first, count) = self.other;
        let line = &copy.position[first..first + count];
        let point = copy.position[own + self.particle];
        // Walk downhill: the nearest point moves little from one substep to the next.
        let (mut t, mut square) = on_segment(line, self.segment, point);
        for _ in 0..count {
            let before = self.segment;
            for next in [before.wrapping_sub(1), before + 1] {
                if next < count - 1 {
                    let (there, closer) = on_segment(line, next, point);
                    if closer < square {
                        (self.segment, t, square) = (next, there, closer);
                    }
                }
            }
            if self.segment == before {
                break;
            }
        }
        let (a, b) = (first + self.segment, first + self.segment + 1);
        let wanted =
            copy.radius[own + self.particle] + copy.radius[a] * (1.0 - t) + copy.radius[b] * t - self.overlap;
        // Written so that a NaN stays in its own strand.
        let touching = wanted > 0.0 && square < wanted * wanted && square > 1e-18;
        if !touching {
            return Err(square.sqrt() - wanted);
        }
        let distance = square.sqrt();
        let there = copy.position[a].lerp(copy.position[b], t);
        let normal = (point - there) / distance;
        let mass = copy.inverse_mass[own + self.particle];
        // Along two strands side by side every particle of both finds the other: each moves by its share, and together
        // they separate fully. Squared weights, as for a single particle, would move them apart by a third more: a bounce.
        let others = (1.0 - t) * copy.inverse_mass[a] + t * copy.inverse_mass[b];
        if mass <= 0.0 {
            return Err(0.0);
        }
        let depth = wanted - distance;
        let moved =
            (point - copy.before[own + self.particle]) - (there - copy.before[a].lerp(copy.before[b], t));
        Ok(friction::yielding(moved, normal, depth, [mass, mass + others], coefficient, flesh, h))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_place_is_found_without_looking_at_all_of_them() {
        let line: Vec<DVec3> =
            (0..30).map(|i| DVec3::new(0.01 * i as f64, 0.05 * (0.4 * i as f64).sin(), 0.0)).collect();
        let longest = line.windows(2).map(|p| p[0].distance(p[1])).fold(0.0, f64::max);
        for k in 0..200 {
            let k = f64::from(k);
            let p = DVec3::new(0.3 * (k * 0.37).sin() + 0.15, 0.1 * (k * 0.71).cos(), 0.05 * (k * 1.3).sin());
            let all = on_line(&line, p);
            match on_line_within(&line, longest, p, 0.08) {
                Some((segment, t, distance)) => {
                    // The end of a segment is the start of the next.
                    assert!((segment as f64 + t - (all.0 as f64 + all.1)).abs() < 1e-12);
                    assert!((distance - all.2).abs() < 1e-15 && distance < 0.08);
                }
                None => assert!(all.2 >= 0.08),
            }
        }
        assert!(on_line_within(&line, longest, line[3], f64::NEG_INFINITY).is_none());
    }
}
