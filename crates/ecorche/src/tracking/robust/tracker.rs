//! One frame of the robust scheme.

use super::follow::Followers;
use super::level::{Bearing, Level};
use super::model::Model;
use super::pose::{Posed, marked, smoothstep};
use super::untangle::{Scratch, Start, Untangler};
use super::{RestLayers, Settings, ray, relax, start};
use crate::character::Character;
use crate::geom::SelfContact;
use crate::parts::Parts;
use crate::skinning::Surface;
use crate::tracking::{Layers, VertexReport};
use glam::{Affine3A, Mat3A, Vec3, Vec3A};
use rayon::prelude::*;

/// Vertices handled by a thread at a time.
pub(super) const TASK: usize = 256;
/// Weight of joints that move against the own part from which on a vertex is fully awake.
const FOREIGN_WEIGHT: f32 = 0.05;
/// Level at the start, in radii, from which on a vertex is fully awake.
const OFF_LEVEL: f32 = 0.03;
/// Rings that wake with a vertex, and what is left of its activity on each. With six rings and three quarters the resting
/// half of a twisted cylinder crept along, up to 27 times as far in a frame as the skeleton takes any skin near it.
const WAKING_RINGS: usize = 1;
const WAKING_SHARE: f32 = 0.5;
/// Activity below which a vertex sleeps.
const ASLEEP: f32 = 0.02;
/// In depths of the burial: how far contact may take skin from where skinning had it.
const PARTED: f32 = 1.5;
/// In radii: with the last frame's positions to start from, only vertices farther from their level are searched
/// by rays.
const LOST: f32 = 0.25;

/// A character made ready to be tracked. Immutable; may be shared between threads.
pub struct Tracker {
    model: Model,
    followers: Followers,
    untangler: Untangler,
    contact: SelfContact,
}

impl std::fmt::Debug for Tracker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tracker").field("vertices", &self.model.rest.len()).finish_non_exhaustive()
    }
}

/// What a running animation hands from frame to frame: where tracking left each vertex, seen from where skinning
/// takes it. Empty before the first frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    offsets: Vec<Vec3A>,
}

/// An awake vertex.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Awake {
    pub vertex: u32,
    /// 0 to 1: share of every step it takes.
    pub activity: f32,
    /// Where the leash is tied.
    pub anchor: Vec3A,
    /// Metres.
    pub leash: f32,
    /// Of its part in this pose, metres.
    pub radius: f32,
    pub relaxations: u32,
    pub bearing: Bearing,
}

/// Scratch of [`Tracker::track`], and its results.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// One per vertex of the surface, world.
    pub positions: Vec<Vec3A>,
    /// One per vertex of the surface.
    pub reports: Vec<VertexReport>,
    /// Per vertex: cosine between the gradients of the two parts in contact; 1 where there is none.
    pub cosines: Vec<f32>,
    /// Per vertex: the part it is in contact with, or `u32::MAX`.
    pub partners: Vec<u32>,
    /// New pairs of triangles that crossed before the last stage, and after it.
    pub pairs: [usize; 2],
    /// Rounds of the last stage.
    pub untangling: u32,
    /// Milliseconds of each stage, in order.
    pub stages: Vec<(&'static str, f64)>,
    /// The vertex whose way is written down, if any.
    pub traced: Option<u32>,
    /// Its way through the last frame: what moved it, and where to.
    pub path: Vec<(&'static str, Vec3A)>,
    skinned: Vec<(Vec3A, Mat3A)>,
    rest: Vec<Vec3A>,
    iso: Vec<f32>,
    /// How near skinning alone makes the skin cross itself, 0 to 1.
    pressed: Vec<f32>,
    /// How far skin may have to go to be parted, metres.
    room: Vec<f32>,
    near: Vec<u64>,
    rays: Vec<(Vec3A, u32, u32, f32)>,
    activity: Vec<f32>,
    woken: Vec<f32>,
    /// First those near a contact.
    awake: Vec<Awake>,
    busy: usize,
    awake_near: Vec<u64>,
    pulls: Vec<Vec3A>,
    levels: Vec<Level>,
    moved: Vec<Vec3A>,
    untangle: Scratch,
    contact: Option<SelfContact>,
}

impl Workspace {
    fn lap(&mut self, stage: &'static str, clock: &mut std::time::Instant) {
        let now = std::time::Instant::now();
        self.stages.push((stage, (now - *clock).as_secs_f64() * 1e3));
        *clock = now;
        self.note(stage);
    }

    /// Writes down where the traced vertex is, if it has moved.
    fn note(&mut self, what: &'static str) {
        let Some(&x) = self.traced.and_then(|v| self.positions.get(v as usize)) else { return };
        if self.path.last().is_none_or(|last| last.1 != x) {
            self.path.push((what, x));
        }
    }
}

impl Tracker {
    /// Prepares a character's surface with its parts; `under`: what lies under them at rest.
    pub fn new(
        character: &Character,
        surface: &Surface,
        parts: &Parts,
        settings: Settings,
        under: Option<RestLayers>,
    ) -> Self {
        let mut contact = SelfContact::new(&surface.mesh.positions, &surface.mesh.triangles);
        let model = Model::new(character, surface, parts, contact.bvh(), settings, under);
        let untangler = Untangler::new(&surface.mesh, &mut contact);
        Self { followers: Followers::new(&model), untangler, contact, model }
    }

    /// Number of vertices of the surface.
    pub fn len(&self) -> usize {
        self.model.rest.len()
    }

    /// Whether there is no vertex.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Vertices that have a part and lie outside every field; they stay where skinning takes them.
    pub fn outside(&self) -> usize {
        self.model.outside
    }

    /// Tracks the surface in one pose. `posed_from_bind` has one entry per skeleton joint, `rest` one position per vertex
    /// of the surface in bind space (its own, or morphed), `layers` what lies under the parts in this pose. With a `state` the search starts from the frame before and
    /// is shorter; the result then depends on that frame.
    ///
    /// Results are in the workspace. They are finite, and the same bits for any number of threads.
    pub fn track(
        &self,
        posed_from_bind: &[Affine3A],
        rest: &[Vec3],
        layers: Option<&dyn Layers>,
        state: Option<&mut State>,
        workspace: &mut Workspace,
    ) {
        let w = workspace;
        let mut clock = std::time::Instant::now();
        w.stages.clear();
        w.path.clear();
        let posed = Posed::new(&self.model, posed_from_bind, layers);
        let coherent = state.as_ref().is_some_and(|s| s.offsets.len() == self.len());
        self.start(&posed, rest, state.as_deref().filter(|_| coherent), w);
        w.lap("start", &mut clock);
        let contact = w.contact.get_or_insert_with(|| self.contact.clone());
        self.untangler.find_pressed(
            &self.model,
            contact,
            w.skinned.iter().map(|s| s.0),
            &mut w.pressed,
            &mut w.room,
            &mut w.untangle,
        );
        w.lap("cross", &mut clock);
        self.take_out(&posed, coherent, w);
        w.lap("ray", &mut clock);
        self.wake(&posed, w);
        w.lap("wake", &mut clock);
        self.relax_and_project(&posed, coherent, w);
        w.lap("track", &mut clock);
        let contact = w.contact.get_or_insert_with(|| self.contact.clone());
        let start = Start { skinned: &w.skinned, pressed: &w.pressed };
        let untangled =
            self.untangler.untangle(&self.model, contact, &start, &mut w.positions, &mut w.untangle);
        w.pairs = [untangled.pairs_before, untangled.pairs_after];
        w.untangling = untangled.rounds;
        w.lap("untangle", &mut clock);
        let (skinned, positions) = (&w.skinned, &mut w.positions);
        self.followers.carry(positions, |v| skinned[v].0);
        self.finish(w);
        if let Some(state) = state {
            state.offsets.clear();
            let offset = |(x, s): (&Vec3A, &(Vec3A, Mat3A))| s.1.inverse() * (*x - s.0);
            state.offsets.extend(w.positions.iter().zip(&w.skinned).map(offset));
        }
        w.lap("follow", &mut clock);
    }

    /// Skinned positions and motions, the values at rest, and the positions to start from.
    fn start(&self, posed: &Posed, rest: &[Vec3], state: Option<&State>, w: &mut Workspace) {
        let model = &self.model;
        w.rest.clear();
        if rest.len() == self.len() {
            w.rest.extend(rest.iter().map(|&p| Vec3A::from(p)));
        } else {
            w.rest.extend_from_slice(&model.rest);
        }
        let rest = &w.rest;
        let moved = |v: usize| rest[v] != model.rest[v];
        let iso = |v: usize| {
            if !moved(v) || model.iso[v] == 0.0 {
                return model.iso[v];
            }
            model.value_at_rest(rest[v].into())
        };
        (0..self.len()).into_par_iter().with_min_len(TASK).map(iso).collect_into_vec(&mut w.iso);
        let skinned = |v: usize| start::start(posed, v, rest[v]);
        (0..self.len()).into_par_iter().with_min_len(TASK).map(skinned).collect_into_vec(&mut w.skinned);
        w.positions.clear();
        match state {
            Some(state) => {
                let from = |(s, &offset): (&(Vec3A, Mat3A), &Vec3A)| s.0 + s.1 * offset;
                w.positions.extend(w.skinned.iter().zip(&state.offsets).map(from));
            }
            None => w.positions.extend(w.skinned.iter().map(|s| s.0)),
        }
    }

    /// Rays: skin inside other limbs goes back to its own side. Also finds the parts that reach each vertex and how
    /// far it is off its level.
    fn take_out(&self, posed: &Posed, coherent: bool, w: &mut Workspace) {
        let model = &self.model;
        let words = model.bones.len().div_ceil(64).max(1);
        w.near.clear();
        w.near.resize(words * model.tracked.len(), 0);
        w.rays.clear();
        w.rays.resize(model.tracked.len(), (Vec3A::ZERO, u32::MAX, 0, 0.0));
        let (positions, skinned, iso, pressed) = (&w.positions, &w.skinned, &w.iso, &w.pressed);
        let room = &w.room;
        let search = |i: usize, near: &mut [u64]| {
            let v = model.tracked[i] as usize;
            let own = &posed.parts[model.part[v] as usize];
            let x = positions[v];
            let reach = |x: Vec3A, margin: f32, near: &mut [u64]| match pressed[v] > 0.0 {
                true => posed.reachable(x, margin, near),
                false => posed.reachable_related(model.part[v], x, margin, near),
            };
            reach(x, own.radius, near);
            let foreign: f32 = model
                .influences_of(v)
                .iter()
                .filter(|(joint, _)| posed.group_of_joint[*joint as usize] != own.group)
                .map(|influence| influence.1)
                .sum();
            let still = foreign == 0.0 && marked(near).all(|k| posed.parts[k as usize].group == own.group);
            if still && !posed.feels_layer(model.part[v], x) {
                return (x, u32::MAX, 0, 0.0);
            }
            let mut bearing = bearing(model, v, &skinned[v].1, iso[v], pressed[v]);
            let mut samples = 0;
            let mut taken = (x, u32::MAX);
            let lost = coherent && {
                samples += 1;
                posed.level(v, &bearing, x, near).h.abs() > LOST * own.radius
            };
            if !coherent || lost {
                let from = if lost { skinned[v].0 } else { x };
                taken = ray::take_out(posed, v, &bearing, from, near, &mut samples);
                let most = model.leash[v] + PARTED * room[v];
                taken.0 = from + (taken.0 - from).clamp_length_max(most);
            }
            bearing.taken_from = taken.1;
            if taken.1 != u32::MAX {
                reach(taken.0, 0.5 * own.radius, near);
            }
            let h = match pressed[v] > 0.0 || posed.feels_layer(model.part[v], x) {
                true => posed.level(v, &bearing, taken.0, near).h,
                false => posed.free_level(v, iso[v], x, model.leash[v], near),
            };
            let off = h.abs() / (OFF_LEVEL * own.radius);
            let hit = if taken.1 == u32::MAX { 0.0 } else { 1.0 };
            let activity = smoothstep(off).max(hit).max((foreign / FOREIGN_WEIGHT).min(1.0));
            (taken.0, taken.1, samples + 1, activity)
        };
        w.rays
            .par_iter_mut()
            .zip(w.near.par_chunks_mut(words))
            .with_min_len(TASK)
            .enumerate()
            .for_each(|(i, (ray, near))| *ray = search(i, near));
    }

    /// Lists the vertices that take part: those off their level, and the skin around them less and less.
    fn wake(&self, posed: &Posed, w: &mut Workspace) {
        let model = &self.model;
        w.activity.clear();
        w.activity.resize(self.len(), 0.0);
        for (&v, ray) in model.tracked.iter().zip(&w.rays) {
            w.activity[v as usize] = ray.3;
            w.positions[v as usize] = ray.0;
        }
        for _ in 0..WAKING_RINGS {
            let before = &w.activity;
            let spread = |v: usize| {
                let around = model.mean.of(v).fold(0.0f32, |most, (k, _)| most.max(before[k as usize]));
                before[v].max(WAKING_SHARE * around)
            };
            (0..self.len()).into_par_iter().with_min_len(4 * TASK).map(spread).collect_into_vec(&mut w.woken);
            std::mem::swap(&mut w.activity, &mut w.woken);
        }
        let words = model.bones.len().div_ceil(64).max(1);
        w.awake.clear();
        w.awake_near.clear();
        let is_awake = |v: u32| w.activity[v as usize] >= ASLEEP;
        let is_busy = |v: u32| w.pressed[v as usize] > 0.0;
        let tracked = model.tracked.iter().enumerate().filter(|(_, v)| is_awake(**v));
        let busy = tracked.clone().filter(|(_, v)| is_busy(**v));
        w.busy = busy.clone().count();
        for (i, &v) in busy.chain(tracked.filter(|(_, v)| !is_busy(**v))) {
            let (index, activity) = (v as usize, w.activity[v as usize]);
            let part = model.part[index] as usize;
            let bearing = bearing(model, index, &w.skinned[index].1, w.iso[index], w.pressed[index]);
            w.awake.push(Awake {
                vertex: v,
                activity,
                anchor: w.positions[index],
                leash: model.leash[index] + posed.swell(index, w.positions[index]),
                radius: posed.parts[part].radius.min(PARTED * w.room[index]),
                relaxations: model.bones[part].relaxations,
                bearing: Bearing { taken_from: w.rays[i].1, ..bearing },
            });
            let near = i * words..(i + 1) * words;
            if w.near[near.clone()].iter().all(|&word| word == 0) {
                let mut here = vec![0; words];
                posed.reachable_related(
                    part as u32,
                    w.positions[index],
                    0.5 * posed.parts[part].radius,
                    &mut here,
                );
                w.awake_near.extend(here);
            } else {
                w.awake_near.extend_from_slice(&w.near[near]);
            }
        }
    }

    fn relax_and_project(&self, posed: &Posed, coherent: bool, w: &mut Workspace) {
        let model = &self.model;
        let settings = &model.settings;
        w.levels.clear();
        w.levels.resize(w.awake.len(), Level::default());
        w.moved.clear();
        w.moved.resize(w.awake.len(), Vec3A::ZERO);
        w.reports.clear();
        w.reports.resize(self.len(), VertexReport::default());
        for (&v, ray) in model.tracked.iter().zip(&w.rays) {
            w.reports[v as usize].evaluations = ray.2;
        }
        let motions: Vec<Mat3A> = w.skinned.iter().map(|s| s.1).collect();
        relax::pulls(&model.shape, &w.rest, &motions, &w.awake, &mut w.pulls);
        let most = w.awake.iter().map(|a| a.relaxations).max().unwrap_or(0);
        let rounds = if coherent { 1 } else { settings.rounds };
        let (busy, all) = (w.busy, w.awake.len());
        for round in 0..rounds {
            let some = if round == 0 { all } else { busy };
            self.project(posed, some, 1, w);
            for number in 0..most {
                self.relax(number, if number < FREE_RELAXATIONS { some } else { busy }, w);
            }
        }
        for _ in 0..LAST_ROUNDS {
            self.project(posed, busy, 1, w);
            (0..LAST_RELAXATIONS).for_each(|number| self.relax(number, busy, w));
        }
        self.project(posed, all, LAST_PROJECTIONS, w);
        for _ in 0..SPREADS {
            let (positions, rest) = (&w.positions, &w.rest);
            let apart = |a: &Awake| relax::apart(&model.mean, rest, a.vertex as usize, |k| positions[k]);
            w.awake.par_iter().with_min_len(TASK).map(apart).collect_into_vec(&mut w.moved);
            for (vertex, &moved) in w.awake.iter().zip(&w.moved) {
                w.positions[vertex.vertex as usize] = moved;
            }
        }
    }

    /// Projects the first `count` awake vertices so many times.
    fn project(&self, posed: &Posed, count: usize, times: u32, w: &mut Workspace) {
        let words = self.model.bones.len().div_ceil(64).max(1);
        let (awake, near, positions) = (&w.awake, &w.awake_near, &w.positions);
        let counts: Vec<u32> = w.moved[..count]
            .par_iter_mut()
            .zip(w.levels[..count].par_iter_mut())
            .with_min_len(TASK)
            .enumerate()
            .map(|(i, (moved, level))| {
                let vertex = &awake[i];
                let v = vertex.vertex as usize;
                let near = &near[i * words..(i + 1) * words];
                *moved = positions[v];
                let project = |sum: u32, _: u32| {
                    let (x, found, evaluations) = posed.project(v, &vertex.bearing, *moved, near);
                    *moved = vertex.hold(x, found.held);
                    *level = found;
                    sum + evaluations
                };
                (0..times).fold(0, project)
            })
            .collect();
        for ((vertex, &moved), evaluations) in w.awake.iter().zip(&w.moved).zip(counts) {
            w.positions[vertex.vertex as usize] = moved;
            let report = &mut w.reports[vertex.vertex as usize];
            report.iterations += times;
            report.evaluations += evaluations;
        }
        w.note("project");
    }

    /// Relaxation step `number` of the first `count` awake vertices.
    fn relax(&self, number: u32, count: usize, w: &mut Workspace) {
        let omega = self.model.settings.relaxation;
        relax::step(
            &self.model.shape,
            &w.awake,
            &w.pulls,
            &w.levels,
            &w.positions,
            omega,
            number,
            &mut w.moved[..count],
        );
        for (vertex, &moved) in w.awake.iter().zip(&w.moved[..count]) {
            w.positions[vertex.vertex as usize] = moved;
        }
        w.note("relax");
    }

    /// Puts what is not finite back to where skinning had it, and fills in the reports.
    fn finish(&self, w: &mut Workspace) {
        w.cosines.clear();
        w.cosines.resize(self.len(), 1.0);
        w.partners.clear();
        w.partners.resize(self.len(), u32::MAX);
        for (vertex, level) in w.awake.iter().zip(&w.levels) {
            let v = vertex.vertex as usize;
            let taken = vertex.bearing.taken_from != u32::MAX;
            w.reports[v].contact = if taken { 1.0 } else { level.held };
            w.reports[v].iso_error = (level.value - vertex.bearing.iso).abs();
            w.cosines[v] = if level.contact { level.cosine } else { 1.0 };
            w.partners[v] = if taken { vertex.bearing.taken_from } else { level.partner };
        }
        for &(v, share) in w.untangle.parted() {
            let contact = &mut w.reports[v as usize].contact;
            *contact = contact.max(share);
        }
        for (v, x) in w.positions.iter_mut().enumerate() {
            let outside = self.model.part[v] != crate::parts::FOLLOWS && self.model.iso[v] <= 0.0;
            if !x.is_finite() {
                *x = if w.skinned[v].0.is_finite() { w.skinned[v].0 } else { self.model.rest[v] };
            }
            w.reports[v].fell_back = outside;
        }
    }
}

/// After the rounds: projections with a few relaxation steps between them, then projections alone.
const LAST_ROUNDS: u32 = 2;
const LAST_RELAXATIONS: u32 = 3;
const LAST_PROJECTIONS: u32 = 2;
/// Skin far from any contact takes part in so many relaxation steps of the first round.
const FREE_RELAXATIONS: u32 = 4;
/// Steps that spread the shortest edges, after that.
const SPREADS: u32 = 8;

fn bearing(model: &Model, v: usize, motion: &Mat3A, iso: f32, pressed: f32) -> Bearing {
    Bearing { normal: (*motion * model.normals[v]).normalize_or_zero(), taken_from: u32::MAX, iso, pressed }
}
