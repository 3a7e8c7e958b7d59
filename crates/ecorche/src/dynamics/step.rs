//! One step of time, by substeps.

use super::bend;
use super::chain::Chain;
use super::constraint::collide::{Keep, press_out, push_out};
use super::constraint::contact::{CLOSING, Copy, Near, on_line_within, sleep};
use super::constraint::distance::Distance;
use super::rigid::Rigid;
use super::system::{Strand, System};
use glam::{DQuat, DVec3};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// How links are solved.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Solver {
    /// Compliances in m/N, all links of a strand together: stiff tendons beside a soft body cost nothing. Strands
    /// with links between others than neighbours are solved link by link.
    #[default]
    Direct,
    /// Compliances in m/N, link by link: the same motion once substeps and iterations are many enough.
    Xpbd,
    /// As in the thesis, for comparison: stiffness, damping and therefore the motion depend on the substep and
    /// the iterations; speeds are damped against the world; nothing is held at bind.
    Pbd {
        /// Share of a link's error corrected per iteration, in `(0, 1]`. The thesis: 0.1.
        stiffness: f64,
        /// Speed kept per substep. The thesis: 0.9.
        kept: f64,
    },
}

/// How time is cut and links are solved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Substeps in a step. More damp the swing less. At 24 frames a second a strand shaken at 3 Hz is off by 11 % of
    /// its swing with 20, 6 % with 40 and 3 % with 80.
    pub substeps: usize,
    /// Passes over the links in a substep, where they are solved one by one.
    pub iterations: usize,
    /// How links are solved.
    pub solver: Solver,
    /// Whether strands that creep while the frames around them stand still are stopped. Without it they move on until forces
    /// and contacts balance.
    pub sleeps: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self { substeps: 40, iterations: 2, solver: Solver::Direct, sleeps: true }
    }
}

/// Where the particles of a strand are and how fast.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StrandState {
    /// Metres.
    pub position: Vec<DVec3>,
    /// m/s.
    pub velocity: Vec<DVec3>,
    /// For how long the frames around it have stood still, seconds.
    pub rested: f64,
}

/// Everything that changes; a clone is a save.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    /// As many as the system has.
    pub strands: Vec<StrandState>,
    /// The frames the state belongs to.
    pub frames: Vec<Rigid>,
}

impl State {
    /// Sets all speeds to zero, as after a long rest.
    pub(crate) fn calm(&mut self) {
        for strand in &mut self.strands {
            strand.velocity.fill(DVec3::ZERO);
            strand.rested = SETTLED;
        }
    }
}

/// What drives a strand in one step.
#[derive(Clone, Debug, PartialEq)]
pub struct Drive {
    /// One radius per particle, metres.
    pub radius: Vec<f64>,
    /// Multiplies the stiffness of pulled links.
    pub pull: f64,
    /// Multiplies the stiffness of all links and ties.
    pub stiffness: f64,
}

/// What happened in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Strands put back to where the frames carry them because a number was not finite or absurd.
    pub resets: usize,
    /// How far the worst particle is inside an obstacle beyond its clearance after the step, metres.
    pub deepest: f64,
}

/// Scratch; can be dropped between steps.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    then: Vec<Rigid>,
    now: Vec<Rigid>,
    /// By how much each frame turns in a substep.
    turns: Vec<DQuat>,
    copy: Copy,
    strands: Vec<StrandScratch>,
}

#[derive(Clone, Debug, Default)]
struct StrandScratch {
    /// Index of the first particle in the copy.
    first: usize,
    carried: Vec<DVec3>,
    before: Vec<DVec3>,
    /// A copy of it.
    began: Vec<DVec3>,
    /// Where the particles were when the step began, from where the frames carried them.
    start: Vec<DVec3>,
    link_lambda: Vec<f64>,
    tie_lambda: Vec<DVec3>,
    obstacles: Vec<usize>,
    /// For each particle and obstacle, the substep in which it is looked at again.
    wake: Vec<u16>,
    /// For each particle the same for the skin.
    skin_wake: Vec<u16>,
    /// For each particle the first of all these.
    particle_wake: Vec<u16>,
    /// Obstacles close to a particle at the end of the step.
    close: Vec<usize>,
    near: Vec<Near>,
    /// For each of these as for obstacles.
    near_wake: Vec<u16>,
    chain: Chain,
    push: Vec<(DVec3, u32)>,
    deepest: f64,
    reset: bool,
}

/// Strands and obstacles closer than this beyond their radii are watched during a step, units. A particle of a human
/// would have to move 4 cm against what it is close to within a frame: 1 m/s at 24 frames a second.
const WATCH: f64 = 0.04;

/// Up to this many pushes of other strands add up. Beyond, each counts less: together they would throw the particle.
const MOST_TOGETHER: f64 = 3.0;

/// Fewer strands than this are stepped on one thread: handing them out costs more.
const PARALLEL: usize = 8;

/// Passes over the obstacles at the end of a step.
const LAST_PASSES: usize = 3;
/// Obstacles farther from a particle than this are left out of them unless it moves as far, units. Only the cost depends on
/// it, and only a little: with 0.1 mm and with 10 cm the athlete's jump is neither deeper in bones nor slower.
const CLOSE: f64 = 0.01;

/// A strand is reset when its particles are this many times its size away from where they belong.
const LOST: f64 = 10.0;

/// What is given for the time between two poses.
struct Span<'a> {
    next: &'a [Rigid],
    drives: &'a [Drive],
    /// Seconds.
    dt: f64,
    settings: &'a Settings,
}

impl System {
    /// Moves the state to the pose `next`, `dt` seconds later. With `dt` zero or a pose that is not finite
    /// nothing moves.
    ///
    /// # Panics
    /// If state, pose or drives are not this system's.
    pub fn step(
        &self,
        state: &mut State,
        next: &[Rigid],
        drives: &[Drive],
        dt: f64,
        settings: &Settings,
        workspace: &mut Workspace,
    ) -> Report {
        assert!(state.strands.len() == self.strands.len() && drives.len() == self.strands.len());
        assert!(next.len() == self.bind.len() && state.frames.len() == self.bind.len());
        if !(dt > 0.0 && dt.is_finite() && next.iter().all(Rigid::is_finite)) {
            return Report::default();
        }
        let span = Span { next, drives, dt, settings };
        if self.strands.len() < PARALLEL {
            return self.substeps(state, &span, workspace, false);
        }
        // On a thread of the pool, where each substep's loops are handed out without waking it.
        rayon::scope(|_| self.substeps(state, &span, workspace, true))
    }

    fn substeps(&self, state: &mut State, span: &Span, workspace: &mut Workspace, parallel: bool) -> Report {
        let &Span { next, drives, dt, settings } = span;
        self.prepare(state, next, drives, workspace);
        let substeps = settings.substeps.max(1);
        let h = dt / substeps as f64;
        let Workspace { then, now, turns, copy, strands: scratches } = workspace;
        turns.clear();
        turns.extend(state.frames.iter().zip(next).map(|(from, to)| {
            from.rotation.conjugate() * from.rotation.slerp(to.rotation, 1.0 / substeps as f64)
        }));
        let contacts = scratches.iter().any(|s| !s.near.is_empty());
        for substep in 1..=substeps {
            then.clone_from(now);
            let t = substep as f64 / substeps as f64;
            for ((now, turn), (from, to)) in now.iter_mut().zip(&*turns).zip(state.frames.iter().zip(next)) {
                let rotation = (now.rotation * *turn).normalize();
                *now = if substep == substeps {
                    *to
                } else {
                    Rigid { rotation, translation: from.translation.lerp(to.translation, t) }
                };
            }
            let frames = (&then[..], &now[..]);
            let advance =
                |strand: &Strand, state: &mut StrandState, scratch: &mut StrandScratch, drive: &Drive| {
                    move_strand(strand, state, scratch, drive, frames.1, self.gravity, h, settings);
                    // Before contacts, which come last: after them it would let strands sink in, deeper with longer
                    // substeps.
                    straighten(strand, state, scratch, h);
                    unbend(strand, state, scratch, drive);
                };
            each_strand(parallel, &self.strands, &mut state.strands, scratches, drives, advance);
            if contacts {
                for (state, scratch) in state.strands.iter().zip(scratches.iter()) {
                    let place = scratch.first..scratch.first + state.position.len();
                    copy.position[place.clone()].copy_from_slice(&state.position);
                    copy.before[place].copy_from_slice(&scratch.before);
                }
            }
            let copy = &*copy;
            let moment = Moment { h, number: substep.min(u16::MAX.into()) as u16, last: substep == substeps };
            let settle =
                |strand: &Strand, state: &mut StrandState, scratch: &mut StrandScratch, drive: &Drive| {
                    self.keep_apart(strand, state, scratch, drive, frames, copy, moment);
                    finish(strand, state, scratch, h);
                };
            each_strand(parallel, &self.strands, &mut state.strands, scratches, drives, settle);
        }
        let motion: Vec<f64> = state.frames.iter().zip(next).map(|(a, b)| motion(a, b, self.unit)).collect();
        for ((strand, state), scratch) in self.strands.iter().zip(&mut state.strands).zip(scratches.iter()) {
            // Springs come to rest by themselves; strands that contacts or bending limits move creep.
            let creeps = strand.spec.stout || !scratch.near.is_empty() || !scratch.obstacles.is_empty();
            if settings.sleeps && creeps {
                let around = scratch.obstacles.iter().chain(&strand.spec.inside_of);
                let frames = around.map(|&o| self.obstacles[o].frame);
                let frames = frames.chain(strand.spec.controls.iter().map(|control| control.frame));
                rest(strand, state, scratch, frames.map(|f| motion[f]).fold(0.0, f64::max), dt);
            }
        }
        state.frames.copy_from_slice(next);
        let mut report = Report::default();
        for scratch in scratches.iter() {
            report.resets += usize::from(scratch.reset);
            report.deepest = report.deepest.max(scratch.deepest);
        }
        report
    }

    /// Which obstacles and strands may meet in this step; where the strands stand in the copy.
    fn prepare(&self, state: &State, next: &[Rigid], drives: &[Drive], workspace: &mut Workspace) {
        workspace.then.clone_from(&state.frames);
        workspace.now.clone_from(&state.frames);
        workspace.strands.resize_with(self.strands.len(), StrandScratch::default);
        let copy = &mut workspace.copy;
        copy.radius.clear();
        copy.inverse_mass.clear();
        let watch = WATCH * self.unit;
        let (mut boxes, mut longest) = (Vec::with_capacity(self.strands.len()), Vec::new());
        for (((strand, state), scratch), drive) in
            self.strands.iter().zip(&state.strands).zip(&mut workspace.strands).zip(drives)
        {
            assert_eq!(drive.radius.len(), strand.len(), "one radius per particle");
            scratch.first = copy.radius.len();
            scratch.reset = false;
            scratch.carried.resize(strand.len(), DVec3::ZERO);
            scratch.before.resize(strand.len(), DVec3::ZERO);
            scratch.push.resize(strand.len(), (DVec3::ZERO, 0));
            copy.radius.extend(&drive.radius);
            copy.inverse_mass.extend(&strand.inverse_mass);
            strand.carry(next, &mut scratch.carried);
            let widest = drive.radius.iter().fold(0.0f64, |a, &b| a.max(b)) + watch;
            let (low, high) = state
                .position
                .iter()
                .chain(&scratch.carried)
                .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), &p| (l.min(p), h.max(p)));
            boxes.push((low - widest, high + widest));
            let lengths = state.position.windows(2).map(|p| p[0].distance_squared(p[1]));
            longest.push((lengths.fold(1e-12f64, f64::max).sqrt(), widest));
            strand.carry(&workspace.then, &mut scratch.carried);
            scratch.start.clear();
            scratch.start.extend(state.position.iter().zip(&scratch.carried).map(|(p, c)| p - c));
        }
        copy.position.resize(copy.radius.len(), DVec3::ZERO);
        copy.before.resize(copy.radius.len(), DVec3::ZERO);
        let balls: Vec<(DVec3, DVec3)> = self
            .obstacles
            .iter()
            .map(|obstacle| {
                let (centre, radius) = obstacle.reach;
                let (a, b) = (state.frames[obstacle.frame].point(centre), next[obstacle.frame].point(centre));
                (a.min(b) - radius, a.max(b) + radius)
            })
            .collect();
        let firsts: Vec<usize> = workspace.strands.iter().map(|s| s.first).collect();
        let meets = |a: &(DVec3, DVec3), b: &(DVec3, DVec3)| a.0.cmple(b.1).all() && b.0.cmple(a.1).all();
        workspace.strands.par_iter_mut().enumerate().for_each(|(own, scratch)| {
            let strand = &self.strands[own];
            scratch.obstacles.clear();
            let may = |&o: &usize| self.obstacles[o].keep == Keep::Outside && meets(&boxes[own], &balls[o]);
            if strand.spec.avoids_obstacles {
                scratch.obstacles.extend((0..self.obstacles.len()).rev().filter(may));
            }
            for (list, count) in [
                (&mut scratch.skin_wake, strand.len()),
                (&mut scratch.particle_wake, strand.len()),
                (&mut scratch.wake, scratch.obstacles.len() * strand.len()),
            ] {
                list.clear();
                list.resize(count, 0);
            }
            scratch.near.clear();
            for (other, there) in self.strands.iter().enumerate() {
                let may = other != own && strand.meets(there) && there.len() > 1;
                if !may || !meets(&boxes[own], &boxes[other]) {
                    continue;
                }
                for (particle, &p) in state.strands[own].position.iter().enumerate() {
                    let reach = drives[own].radius[particle];
                    let (low, high) = (boxes[other].0 - reach, boxes[other].1 + reach);
                    let far = p.cmplt(low).any() || p.cmpgt(high).any();
                    if far || strand.inverse_mass[particle] == 0.0 {
                        continue;
                    }
                    let overlap = strand.overlap[other].get(particle).copied().unwrap_or(0.0);
                    let (longest, widest) = longest[other];
                    let line = &state.strands[other].position;
                    let Some((segment, t, distance)) =
                        on_line_within(line, longest, p, reach + widest - overlap)
                    else {
                        continue;
                    };
                    let radii = &drives[other].radius;
                    let radius = radii[segment] * (1.0 - t) + radii[segment + 1] * t;
                    if distance < reach + radius - overlap + watch {
                        let other = (firsts[other], there.len());
                        scratch.near.push(Near { particle, other, segment, overlap });
                    }
                }
            }
            scratch.near_wake.clear();
            scratch.near_wake.resize(scratch.near.len(), 0);
        });
    }

    /// Contacts with strands, then with obstacles, which win.
    fn keep_apart(
        &self,
        strand: &Strand,
        state: &mut StrandState,
        scratch: &mut StrandScratch,
        drive: &Drive,
        (then, now): (&[Rigid], &[Rigid]),
        copy: &Copy,
        Moment { h, number, last }: Moment,
    ) {
        let StrandScratch { wake, skin_wake, particle_wake, close, near, near_wake, push, before, .. } =
            scratch;
        let (flesh, closing) = (self.flesh(), CLOSING * self.unit * h);
        let mut pushed = false;
        for (near, wake) in near.iter_mut().zip(near_wake).filter(|(_, wake)| **wake <= number) {
            match near.push(copy, scratch.first, (strand.spec.friction, flesh, h)) {
                Ok(by) => {
                    let push = &mut push[near.particle];
                    *push = (push.0 + by, push.1 + 1);
                    pushed = true;
                }
                Err(gap) => *wake = number + 1 + sleep(gap, closing),
            }
        }
        if pushed {
            for (i, (push, count)) in push.iter_mut().map(std::mem::take).enumerate() {
                if count > 0 {
                    state.position[i] += push * (MOST_TOGETHER / f64::from(count)).min(1.0);
                }
            }
        }
        scratch.deepest = 0.0;
        for (i, p) in state.position.iter_mut().enumerate() {
            if strand.inverse_mass[i] == 0.0 || (particle_wake[i] > number && !last) {
                continue;
            }
            let mut first = u16::MAX;
            // The skin first, bones last: bones win.
            if strand.in_skin[i] {
                if skin_wake[i] <= number
                    && let Some((o, depth)) = self.skin_around(strand, now, *p)
                {
                    if depth < 0.0 {
                        let obstacle = &self.obstacles[o];
                        let frames = (&then[obstacle.frame], &now[obstacle.frame]);
                        press_out(
                            p,
                            before[i],
                            obstacle,
                            frames,
                            (strand.inverse_mass[i], strand.spec.friction, flesh, h),
                        );
                    }
                    skin_wake[i] = number + 1 + sleep(depth, closing);
                }
                first = skin_wake[i];
            }
            let clearance = |o: usize| strand.clearance(o, i, drive.radius[i]);
            let mut push_out = |p: &mut DVec3, o: usize| {
                let obstacle = &self.obstacles[o];
                let frames = (&then[obstacle.frame], &now[obstacle.frame]);
                push_out(p, &mut before[i], obstacle, frames, clearance(o), strand.spec.friction)
            };
            let start = *p;
            close.clear();
            let wakes = &mut wake[i * scratch.obstacles.len()..][..scratch.obstacles.len()];
            for (&o, wake) in scratch.obstacles.iter().zip(wakes) {
                if *wake <= number || last {
                    let gap = push_out(p, o);
                    *wake = number + 1 + sleep(gap, closing);
                    if gap < CLOSE * self.unit {
                        close.push(o);
                    }
                }
                first = first.min(*wake);
            }
            particle_wake[i] = first;
            if !last {
                continue;
            }
            // Moving out of one may lead into the next; the result is clear of all.
            for _ in 0..LAST_PASSES {
                close.iter().for_each(|&o| {
                    push_out(p, o);
                });
            }
            if p.distance(start) > CLOSE * self.unit {
                close.clone_from(&scratch.obstacles);
                for _ in 0..LAST_PASSES {
                    close.iter().for_each(|&o| {
                        push_out(p, o);
                    });
                }
            }
            for &o in &*close {
                let obstacle = &self.obstacles[o];
                if let Ok(meeting) = obstacle.meet(&now[obstacle.frame], *p, clearance(o)) {
                    scratch.deepest = scratch.deepest.max(meeting.depth);
                }
            }
        }
    }
}

/// A substep.
#[derive(Clone, Copy)]
struct Moment {
    /// Its length, seconds.
    h: f64,
    /// Counted from 1.
    number: u16,
    /// Whether it is the step's last.
    last: bool,
}

/// Calls `work` for every strand, on one thread or on all.
fn each_strand(
    parallel: bool,
    strands: &[Strand],
    states: &mut [StrandState],
    scratches: &mut [StrandScratch],
    drives: &[Drive],
    work: impl Fn(&Strand, &mut StrandState, &mut StrandScratch, &Drive) + Sync,
) {
    if parallel {
        strands
            .par_iter()
            .zip(states)
            .zip(scratches)
            .zip(drives)
            .with_min_len(2)
            .for_each(|(((strand, state), scratch), drive)| work(strand, state, scratch, drive));
    } else {
        for (((strand, state), scratch), drive) in strands.iter().zip(states).zip(scratches).zip(drives) {
            work(strand, state, scratch, drive);
        }
    }
}

/// Inertia, weight, links and ties of one strand for one substep.
fn move_strand(
    strand: &Strand,
    state: &mut StrandState,
    scratch: &mut StrandScratch,
    drive: &Drive,
    now: &[Rigid],
    gravity: DVec3,
    h: f64,
    settings: &Settings,
) {
    let count = strand.len();
    let StrandScratch { carried, before, link_lambda, tie_lambda, chain, .. } = scratch;
    // `before` holds for a moment where the particles were carried.
    before.copy_from_slice(carried);
    strand.carry(now, carried);
    let kept = (-strand.spec.damping * h).exp();
    let (turns, rate) = (strand.turns(now), h.recip());
    for i in 0..count {
        let carried_velocity = (carried[i] - before[i]) * rate;
        before[i] = state.position[i];
        if strand.inverse_mass[i] == 0.0 {
            state.position[i] = carried[i];
            continue;
        }
        let velocity = match settings.solver {
            Solver::Direct | Solver::Xpbd => {
                let hold = strand.blended(i, strand.hold[i], &turns);
                carried_velocity + (state.velocity[i] - carried_velocity) * kept + (gravity + hold) * h
            }
            Solver::Pbd { kept, .. } => state.velocity[i] * kept + gravity * h,
        };
        state.position[i] += velocity * h;
    }
    let (position, weights) = (&mut state.position[..], &strand.inverse_mass[..]);
    match settings.solver {
        Solver::Direct if strand.chain => {
            let stiffness = drive.stiffness.max(1e-6);
            let stiffer = |link: &Distance| stiffness * if link.pulled { drive.pull.max(1e-6) } else { 1.0 };
            let ties = strand.spec.ties.iter().map(|tie| {
                let target = carried[tie.particle];
                let stiffer = tie.stiffer(before[tie.particle].distance(target));
                (tie.particle, stiffness * stiffer / tie.compliance.max(1e-12), target)
            });
            chain.solve(position, weights, &strand.spec.links, stiffer, ties, h);
        }
        Solver::Direct | Solver::Xpbd => {
            link_lambda.clear();
            link_lambda.resize(strand.spec.links.len(), 0.0);
            tie_lambda.clear();
            tie_lambda.resize(strand.spec.ties.len(), DVec3::ZERO);
            let stiffness = drive.stiffness.max(1e-6) * h * h;
            let pulled = stiffness * drive.pull.max(1e-6);
            for iteration in 0..settings.iterations.max(1) {
                let mut solve = |k: usize| {
                    let link = &strand.spec.links[k];
                    let scaled = link.compliance / if link.pulled { pulled } else { stiffness };
                    link.solve(position, weights, scaled, &mut link_lambda[k]);
                };
                // Back and forth, so that neither end is favoured.
                if iteration % 2 == 0 {
                    (0..strand.spec.links.len()).for_each(&mut solve);
                } else {
                    (0..strand.spec.links.len()).rev().for_each(&mut solve);
                }
                for (tie, lambda) in strand.spec.ties.iter().zip(&mut *tie_lambda) {
                    let target = carried[tie.particle];
                    let stiffer = tie.stiffer(before[tie.particle].distance(target));
                    tie.solve(position, weights, tie.compliance / (stiffness * stiffer), target, lambda);
                }
            }
        }
        Solver::Pbd { stiffness, .. } => {
            for _ in 0..settings.iterations.max(1) {
                strand.spec.links.iter().for_each(|link| link.project(position, weights, stiffness));
                for tie in &strand.spec.ties {
                    let target = carried[tie.particle];
                    position[tie.particle] += stiffness * (target - position[tie.particle]);
                }
            }
        }
    }
    for tie in &strand.spec.ties {
        tie.hold(position, carried[tie.particle]);
    }
}

/// Units in a step, and half the sine of an angle. Frames that move less than the first count as still; frames that move
/// more than the second do not.
const STILL: [f64; 2] = [1e-5, 1e-4];
/// Of a strand's size: a strand that moves less in a step while the frames around it are still is stopped.
/// Contacts that hold a strand from several sides let it creep by a thousandth; the slowest swing that can be seen moves by
/// ten times as much.
const AT_REST: f64 = 2e-3;
/// Seconds of stillness after which twice as much counts as creeping; the limit grows with the square of the time. The swing of
/// a muscle has decayed to 4 % after 0.27 s, when it is eight times as much; the end of the athlete's latissimus, held
/// between triceps and pectoralis, would otherwise bounce by 3 mm a frame for ever.
const SETTLES: f64 = 0.1;
/// Seconds after which the limit grows no further.
const SETTLED: f64 = 0.5;

/// How far a frame moves, in units, or turns in a step.
fn motion(from: &Rigid, to: &Rigid, unit: f64) -> f64 {
    let turned = (from.rotation.conjugate() * to.rotation).xyz().length();
    (from.translation.distance(to.translation) / unit).max(turned)
}

/// Stops a strand that creeps while the frames around it move by `motion` in the step. Larger motions are reduced by the
/// same amount, so that strands at the limit do not jump.
fn rest(strand: &Strand, state: &mut StrandState, scratch: &StrandScratch, motion: f64, dt: f64) {
    let [still, moves] = STILL;
    state.rested = if motion < still { (state.rested + dt).min(SETTLED) } else { 0.0 };
    let share = ((moves - motion) / (moves - still)).clamp(0.0, 1.0);
    if share == 0.0 {
        return;
    }
    let limit = AT_REST * strand.size * share * (1.0 + (state.rested / SETTLES).powi(2));
    let begun = |i: usize| scratch.carried[i] + scratch.start[i];
    let moved = (0..strand.len()).map(|i| state.position[i].distance(begun(i))).fold(0.0f64, f64::max);
    let kept = (1.0 - limit / moved.max(f64::MIN_POSITIVE)).max(0.0);
    // The ends stay where the frames hold them.
    for i in (0..strand.len()).filter(|&i| strand.inverse_mass[i] > 0.0) {
        state.position[i] = begun(i).lerp(state.position[i], kept);
    }
    for velocity in &mut state.velocity {
        *velocity *= kept;
    }
}

/// Moves every particle towards the middle of its neighbours, relative to where the frames carry them.
fn straighten(strand: &Strand, state: &mut StrandState, scratch: &mut StrandScratch, h: f64) {
    let count = strand.len();
    if strand.spec.straightens <= 0.0 || count < 3 {
        return;
    }
    // Half would mirror a zigzag.
    let share = (1.0 - (-strand.spec.straightens * (count * count) as f64 * h).exp()).min(0.4);
    let carried = &scratch.carried;
    let mut before = state.position[0] - carried[0];
    for i in 1..count - 1 {
        let own = state.position[i] - carried[i];
        let after = state.position[i + 1] - carried[i + 1];
        if strand.inverse_mass[i] > 0.0 {
            // Without a change of speed: otherwise it would be a spring that stiffens with shorter substeps.
            let moved = share * (0.5 * (before + after) - own);
            state.position[i] += moved;
            scratch.before[i] += moved;
        }
        before = own;
    }
}

/// Keeps the strand from bending more sharply than it is thick; correcting a bend that was too sharp before adds no speed.
fn unbend(strand: &Strand, state: &mut StrandState, scratch: &mut StrandScratch, drive: &Drive) {
    if !strand.spec.stout || bend::all_straight(&state.position, |i| drive.radius[i]) {
        return;
    }
    let StrandScratch { before, began, .. } = scratch;
    began.clear();
    began.extend_from_slice(before);
    let radius = |i: usize| drive.radius[i];
    bend::unbend(strand, &mut state.position, radius, Some(began), |i, by, old| before[i] += by * old);
}

/// Speeds from displacements; a broken strand is reset.
fn finish(strand: &Strand, state: &mut StrandState, scratch: &mut StrandScratch, h: f64) {
    let (rate, most) = (h.recip(), (LOST * strand.size).powi(2));
    let mut sound = true;
    for i in 0..strand.len() {
        state.velocity[i] = (state.position[i] - scratch.before[i]) * rate;
        // False for a NaN as well.
        sound &= state.position[i].distance_squared(scratch.carried[i]) < most
            && state.velocity[i].length_squared() < f64::INFINITY;
    }
    if !sound {
        state.position.copy_from_slice(&scratch.carried);
        state.velocity.fill(DVec3::ZERO);
        scratch.reset = true;
        scratch.deepest = 0.0;
    }
}
