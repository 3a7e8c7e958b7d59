//! A pose without inertia: particles move with the frames, out of obstacles, and are smoothed.

use super::Keep;
use super::bend::unbend;
use super::rigid::Rigid;
use super::step::{Drive, Report, State};
use super::system::{Strand, System};
use glam::DVec3;
use rayon::prelude::*;

/// Rounds of moving out and smoothing. All are always done: otherwise strands that just touch and strands that just do not
/// would differ.
/// After 4 a strand bent over a capsule still has a corner; 16 look the same as 8.
const ROUNDS: usize = 8;
/// Passes in which sharp bends are straightened: those of the carried strand, and those that a round makes.
const FIRST_UNBENDING: usize = 60;
const UNBENDING: usize = 8;

impl System {
    /// Puts the state into a pose without inertia. The result depends on the pose and the drives alone.
    ///
    /// # Panics
    /// If state, pose or drives are not this system's.
    pub(crate) fn settle(&self, state: &mut State, frames: &[Rigid], drives: &[Drive]) -> Report {
        assert!(state.strands.len() == self.strands.len() && drives.len() == self.strands.len());
        if !frames.iter().all(Rigid::is_finite) {
            return Report::default();
        }
        state.frames.clear();
        state.frames.extend_from_slice(frames);
        let deepest: Vec<f64> = self
            .strands
            .par_iter()
            .zip(&mut state.strands)
            .zip(drives)
            .map(|((strand, state), drive)| {
                strand.carry(frames, &mut state.position);
                state.velocity.fill(DVec3::ZERO);
                state.rested = 0.0;
                let round_off = |position: &mut [DVec3], passes: usize| {
                    let again = |_: &usize| {
                        strand.spec.stout && unbend(strand, position, |i| drive.radius[i], None, |_, _, _| ())
                    };
                    (0..passes).take_while(again).count()
                };
                round_off(&mut state.position, FIRST_UNBENDING);
                let carried = state.position.clone();
                for _ in 0..ROUNDS {
                    self.move_out(strand, &mut state.position, frames, drive);
                    smooth(strand, &mut state.position, &carried);
                    round_off(&mut state.position, UNBENDING);
                }
                self.move_out(strand, &mut state.position, frames, drive);
                self.depth(strand, &state.position, frames, drive)
            })
            .collect();
        Report { resets: 0, deepest: deepest.into_iter().fold(0.0, f64::max) }
    }

    fn obstacles_of<'a>(&'a self, strand: &'a Strand) -> impl Iterator<Item = usize> + 'a {
        let may = |&o: &usize| strand.spec.avoids_obstacles && self.obstacles[o].keep == Keep::Outside;
        (0..self.obstacles.len()).rev().filter(may)
    }

    fn move_out(&self, strand: &Strand, position: &mut [DVec3], frames: &[Rigid], drive: &Drive) {
        // The skin first, bones last: bones win.
        for (i, p) in position.iter_mut().enumerate().filter(|(i, _)| strand.in_skin[*i]) {
            let skin = self.skin_around(strand, frames, *p).filter(|_| strand.inverse_mass[i] > 0.0);
            if let Some(skin) = skin.map(|(o, _)| &self.obstacles[o])
                && let Ok(meeting) = skin.meet(&frames[skin.frame], *p, 0.0)
            {
                *p += meeting.depth * meeting.normal;
            }
        }
        for o in self.obstacles_of(strand) {
            let obstacle = &self.obstacles[o];
            let frame = &frames[obstacle.frame];
            let moves = |i: &usize| strand.inverse_mass[*i] > 0.0;
            for (i, p) in position.iter_mut().enumerate().filter(|(i, _)| moves(i)) {
                let clearance = strand.clearance(o, i, drive.radius[i]);
                if let Ok(meeting) = obstacle.meet(frame, *p, clearance) {
                    *p += meeting.depth * meeting.normal;
                }
            }
        }
    }

    /// How far the worst particle of a strand is inside an obstacle beyond its clearance, metres.
    pub(super) fn depth(&self, strand: &Strand, position: &[DVec3], frames: &[Rigid], drive: &Drive) -> f64 {
        let mut deepest = 0.0f64;
        for o in self.obstacles_of(strand) {
            let obstacle = &self.obstacles[o];
            for (i, &p) in position.iter().enumerate().filter(|(i, _)| strand.inverse_mass[*i] > 0.0) {
                let clearance = strand.clearance(o, i, drive.radius[i]);
                if let Ok(meeting) = obstacle.meet(&frames[obstacle.frame], p, clearance) {
                    deepest = deepest.max(meeting.depth);
                }
            }
        }
        deepest
    }
}

/// Spreads how far particles were moved to their neighbours, so that the strand has no corner.
fn smooth(strand: &Strand, position: &mut [DVec3], carried: &[DVec3]) {
    let moved: Vec<DVec3> = position.iter().zip(carried).map(|(p, c)| p - c).collect();
    for i in 1..position.len().saturating_sub(1) {
        if strand.inverse_mass[i] > 0.0 {
            let around = 0.5 * (moved[i - 1] + moved[i + 1]);
            // Outward only: a particle that is clear may follow its neighbours; none moves back in.
            let (far, own) = (around.length(), moved[i].length());
            let share = ((far - own) / (0.25 * far).max(1e-12)).clamp(0.0, 1.0);
            position[i] = carried[i] + moved[i].lerp(around, share);
        }
    }
}
