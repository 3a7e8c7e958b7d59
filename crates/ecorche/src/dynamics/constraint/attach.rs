//! Particles that follow frames: exactly ([`Anchor`]) or by a spring ([`Tie`]).

use super::super::Rigid;
use glam::DVec3;

/// A point fixed to a frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Anchor {
    /// Which frame.
    pub frame: usize,
    /// Where, in the frame's coordinates, metres.
    pub at: DVec3,
}

impl Anchor {
    /// Where it is in the world.
    #[inline]
    pub(crate) fn position(&self, frames: &[Rigid]) -> DVec3 {
        frames[self.frame].point(self.at)
    }
}

/// A spring of rest length zero from a particle to the point that carries it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tie {
    /// The particle, counted within the strand.
    pub particle: usize,
    /// Inverse stiffness, m/N; 0 is rigid.
    pub compliance: f64,
    /// How far the particle can move from the point, metres; infinite for no limit.
    pub reach: f64,
}

/// How many times stiffer a tie is at the end of its reach. With 24 the athlete's pads are at the end of their reach
/// in two frames of the jump's landing (with 6 in seven, with 1 in 36) and change their step by 18 mm from one frame to the
/// next, twice what they do with this; with 400 they hardly move in a squat, 1.2 mm.
const STIFFENS: f64 = 100.0;

impl Tie {
    /// Factor on the stiffness when the particle is `off` metres away.
    #[inline]
    pub(crate) fn stiffer(&self, off: f64) -> f64 {
        let share = (off / self.reach).min(1.0);
        1.0 + (STIFFENS - 1.0) * share * share
    }

    /// Keeps the particle within reach of `target`.
    #[inline]
    pub(crate) fn hold(&self, position: &mut [DVec3], target: DVec3) {
        let off = position[self.particle] - target;
        if off.length_squared() > self.reach * self.reach {
            position[self.particle] = target + off.clamp_length_max(self.reach);
        }
    }

    /// One XPBD correction towards `target`; `scaled` is compliance / h^2.
    #[inline]
    pub(crate) fn solve(
        &self,
        position: &mut [DVec3],
        inverse_mass: &[f64],
        scaled: f64,
        target: DVec3,
        lambda: &mut DVec3,
    ) {
        let (p, weight) = (&mut position[self.particle], inverse_mass[self.particle]);
        if weight > 0.0 {
            let change = (target - *p - scaled * *lambda) / (weight + scaled);
            *lambda += change;
            *p += weight * change;
        }
    }
}
