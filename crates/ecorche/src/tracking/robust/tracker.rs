//! One frame of the robust scheme.

use super::blend::Blend;
use super::follow::{self, Followers};
use super::level::Level;
use super::lift::Lift;
use super::model::Model;
use super::net::{self, Net};
use super::offload::{self, Projector};
use super::plate::Plate;
use super::pose::{PoseMemory, Posed};
use super::rest_surface::RestSurface;
use super::scratch::Scratch;
use super::search::Searched;
use super::swell::Swell;
use super::untangle::{Start, Untangled};
use super::wake::Awake;
use super::{Join, RestLayers, Settings, lift, skin, smooth, swell};
use crate::character::Character;
use crate::geom::{Adjacency, SelfContact};
use crate::parts::Parts;
use crate::skinning::{Skinner, Surface};
use crate::tracking::{Layers, VertexReport};
use glam::{Affine3A, Mat3A, Vec3, Vec3A};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

/// Vertices whose fields are asked for before the first of them is looked at: memory answers the requests of a block
/// together. What they need fits the innermost cache.
pub(super) const PREFETCH_BLOCK: usize = 64;
/// Vertices handled by a thread at a time.
pub(super) const VERTICES_PER_TASK: usize = 256;

/// A character made ready to be tracked. Immutable; may be shared between threads.
pub struct Tracker {
    /// Tells it from every other tracker of the process; never 0.
    id: u64,
    pub(super) model: Model,
    pub(super) plate: Plate,
    pub(super) swell: Swell,
    pub(super) lift: Lift,
    pub(super) blend: Blend,
    /// The skinning to start from, if not dual quaternions.
    pub(super) start: Option<Skinner>,
    followers: Followers,
    pub(super) net: Net,
    pub(super) rest_surface: RestSurface,
    pub(super) contact: SelfContact,
    /// Where awake vertices are projected, if not here.
    pub(super) projector: OnceLock<Arc<dyn Projector>>,
}

impl std::fmt::Debug for Tracker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tracker").field("vertices", &self.model.rest.len()).finish_non_exhaustive()
    }
}

/// What a running animation hands from frame to frame: where tracking left each vertex, seen from where skinning
/// takes it. Empty before the first frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct State {
    pub(super) offsets: Vec<Vec3A>,
}

impl State {
    /// As before the first frame.
    pub fn reset(&mut self) {
        self.offsets.clear();
    }

    /// Whether it is empty or of a surface of `vertices`.
    pub(crate) fn is_of(&self, vertices: usize) -> bool {
        self.offsets.is_empty() || self.offsets.len() == vertices
    }
}

/// What [`Tracker::track`] found in one pose. Keeps its memory from frame to frame.
#[derive(Clone, Debug, Default)]
pub struct Tracked {
    /// One per vertex of the surface, world, metres. Finite.
    pub positions: Vec<Vec3A>,
    /// One per vertex of the surface.
    pub reports: Vec<VertexReport>,
    /// Per vertex: cosine between the gradients of the two parts in contact; 1 where there is none.
    pub cosines: Vec<f32>,
    /// Per vertex: the part it is in contact with, or `u32::MAX`.
    pub partners: Vec<u32>,
    /// Pairs of triangles that cross and do not at rest: before untangling, and after it.
    pub pairs: [usize; 2],
    /// Rounds of untangling.
    pub rounds: u32,
    /// Pieces that faded back to skinning, and how many of their vertices.
    pub faded: Vec<(u32, u32)>,
    /// Name and milliseconds of each stage, in order.
    pub stages: Vec<(&'static str, f64)>,
    /// Positions of the traced vertex, each with the stage that moved it there; empty if none is traced.
    pub path: Vec<(&'static str, Vec3A)>,
    traced: Option<u32>,
}

impl Tracked {
    fn begin(&mut self, traced: Option<u32>) {
        self.stages.clear();
        self.path.clear();
        self.traced = traced;
    }

    fn lap(&mut self, stage: &'static str, clock: &mut std::time::Instant) {
        let now = std::time::Instant::now();
        self.stages.push((stage, (now - *clock).as_secs_f64() * 1e3));
        *clock = now;
        self.note(stage);
    }

    /// Adds the position of the traced vertex to its path if it has moved.
    pub(super) fn note(&mut self, stage: &'static str) {
        let x = self.traced.and_then(|v| self.positions.get(v as usize)).copied();
        self.note_position(stage, x);
    }

    /// The same, while it is not among the results yet.
    pub(super) fn note_at(&mut self, stage: &'static str, skinned: &[(Vec3A, Mat3A)]) {
        let x = self.traced.and_then(|v| skinned.get(v as usize)).map(|s| s.0);
        self.note_position(stage, x);
    }

    fn note_position(&mut self, stage: &'static str, x: Option<Vec3A>) {
        let Some(x) = x else { return };
        if self.path.last().is_none_or(|last| last.1 != x) {
            self.path.push((stage, x));
        }
    }
}

/// Scratch of [`Tracker::track`]. Holds nothing to read. One that another tracker has used is emptied first.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// The tracker that used it last, or 0.
    tracker: u64,
    /// Where skinning alone has the skin, and where tracking starts.
    pub(super) plain: Vec<(Vec3A, Mat3A)>,
    pub(super) skinned: Vec<(Vec3A, Mat3A)>,
    pub(super) rest: Vec<Vec3A>,
    pub(super) iso: Vec<f32>,
    /// How near skinning alone makes the skin cross itself, 0 to 1.
    pub(super) near_contact: Vec<f32>,
    /// How far skin may have to go to be separated, metres.
    pub(super) room: Vec<f32>,
    /// How deep skinning alone buries each vertex in other skin, metres.
    pub(super) depth: Vec<f32>,
    /// Whether skinning makes skin cross itself nearly everywhere; it then stays where skinning has it.
    pub(super) is_heap: bool,
    /// How much of its way a vertex that was swallowed has been moved out, 0 to 1.
    pub(super) sidestepped: Vec<f32>,
    pub(super) near: Vec<u64>,
    pub(super) searched: Vec<Searched>,
    pub(super) activity: Vec<f32>,
    pub(super) woken: Vec<f32>,
    /// Places in the model's list of the awake.
    pub(super) order: Vec<u32>,
    pub(super) awake: Vec<Awake>,
    /// Of each vertex its place among the awake, or `u32::MAX`.
    pub(super) place: Vec<u32>,
    pub(super) awake_near: Vec<u64>,
    pub(super) levels: Vec<Level>,
    pub(super) evaluations: Vec<u32>,
    pub(super) moved: Vec<Vec3A>,
    pub(super) short: Vec<u32>,
    /// How much contact holds each vertex, 0 to 1.
    pub(super) held: Vec<f32>,
    /// Where the first untangling left the skin.
    untangled: Vec<Vec3A>,
    pub(super) untangle: Scratch,
    pub(super) smooth: smooth::Scratch,
    pub(super) swell: swell::Scratch,
    pub(super) lift: lift::Scratch,
    pub(super) blend: Vec<f32>,
    pub(super) pose: PoseMemory,
    pub(super) contact: Option<SelfContact>,
    pub(super) start: skin::Scratch,
    pub(super) offload: offload::Scratch,
    follow: follow::Scratch,
    net: net::Scratch,
}

impl Workspace {
    /// Empties scratch that another tracker has used: its buffers have that tracker's sizes.
    fn belong_to(&mut self, tracker: u64) {
        if self.tracker != tracker {
            *self = Self { tracker, ..Self::default() };
        }
    }
}

impl Tracker {
    /// Prepares a character's surface with its parts; `joins`: how some of them are joined, the others are united;
    /// `under`: what lies under them at rest.
    pub fn new(
        character: &Character,
        surface: &Surface,
        parts: &Parts,
        settings: Settings,
        joins: Vec<Join>,
        under: Option<RestLayers>,
    ) -> Self {
        let mut contact = SelfContact::new(&surface.mesh.positions, &surface.mesh.triangles);
        let model = Model::new(character, surface, parts, contact.bvh(), settings, joins);
        let plate = Plate::new(surface, &Adjacency::new(&surface.mesh), &model);
        let swell = Swell::new(character, surface, &model, &plate);
        let lift = Lift::new(&model, &plate, under);
        let blend = Blend::new(&model);
        let rest_surface =
            RestSurface::new(&surface.mesh, &parts.part_of_vertex, &parts.pieces, &mut contact);
        let followers = Followers::new(&model, &parts.pieces, &surface.mesh.triangles);
        let net = Net::new(&model, &parts.pieces, &surface.mesh);
        Self {
            id: next_id(),
            followers,
            net,
            rest_surface,
            contact,
            model,
            plate,
            swell,
            lift,
            blend,
            start: None,
            projector: OnceLock::new(),
        }
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

    /// Tracks the surface in one pose; the results are the same bits for any number of threads.
    ///
    /// - `posed_from_bind`: one transform per skeleton joint.
    /// - `rest`: one position per vertex of the surface in bind space, its own or morphed.
    /// - `layers`: what lies under the parts in this pose.
    /// - `state`: with one, the search starts from the frame before and is shorter; the result then depends on that
    ///   frame.
    /// - `trace`: a vertex of the surface whose path through the stages is recorded.
    #[expect(clippy::too_many_arguments, reason = "inputs, state, scratch and results are different things")]
    pub fn track(
        &self,
        posed_from_bind: &[Affine3A],
        rest: &[Vec3],
        layers: Option<&dyn Layers>,
        state: Option<&mut State>,
        trace: Option<u32>,
        workspace: &mut Workspace,
        tracked: &mut Tracked,
    ) {
        let w = workspace;
        let mut clock = std::time::Instant::now();
        w.belong_to(self.id);
        tracked.begin(trace);
        let mut pose = std::mem::take(&mut w.pose);
        let posed = Posed::new(&self.model, posed_from_bind, layers, &mut pose);
        let coherent = state.as_ref().is_some_and(|s| s.offsets.len() == self.len());
        self.skin(&posed, posed_from_bind, rest, state.as_deref().filter(|_| coherent), w, tracked);
        tracked.lap("skin", &mut clock);
        self.find_contact(false, w);
        tracked.lap("find_contact", &mut clock);
        self.sidestep(coherent, w, tracked);
        tracked.lap("sidestep", &mut clock);
        self.search(&posed, coherent, w, tracked);
        tracked.lap("search", &mut clock);
        self.wake(&posed, w, tracked);
        tracked.lap("wake", &mut clock);
        self.project(&posed, w, tracked);
        w.pose = pose;
        tracked.lap("project", &mut clock);
        self.resolve(w, tracked, &mut clock);
        let (plain, positions) = (&w.plain, &mut tracked.positions);
        self.followers.carry(
            positions,
            |v| plain[v].0,
            |v| plain[v].1 * self.model.normals[v],
            &mut w.follow,
        );
        self.finish(w, tracked);
        tracked.lap("follow", &mut clock);
        self.catch(w, tracked);
        tracked.lap("net", &mut clock);
        if let Some(state) = state {
            let offset = |(x, s): (&Vec3A, &(Vec3A, Mat3A))| s.1.inverse() * (*x - s.0);
            let offsets =
                tracked.positions.par_iter().zip(&w.skinned).with_min_len(4 * VERTICES_PER_TASK).map(offset);
            offsets.collect_into_vec(&mut state.offsets);
        }
    }

    /// Fades what got worse than skinning back to it: the skin, then what follows it.
    fn catch(&self, w: &mut Workspace, tracked: &mut Tracked) {
        let (plain, positions) = (&w.plain, &mut tracked.positions);
        w.net.faded.clear();
        if self.net.fade(&self.model, true, plain, positions, &tracked.reports, &mut w.net) {
            self.followers.carry(
                positions,
                |v| plain[v].0,
                |v| plain[v].1 * self.model.normals[v],
                &mut w.follow,
            );
        }
        self.net.fade(&self.model, false, plain, positions, &tracked.reports, &mut w.net);
        tracked.faded.clone_from(&w.net.faded);
    }

    /// Makes what contact asks for smooth and untangles what still crosses; then the same for the sum of both. Whatever crosses less stays.
    fn resolve(&self, w: &mut Workspace, tracked: &mut Tracked, clock: &mut std::time::Instant) {
        w.untangle.separated.clear();
        (tracked.rounds, tracked.pairs) = (0, [0; 2]);
        if w.is_heap {
            return;
        }
        self.find_held(w);
        self.smooth(w, tracked);
        tracked.lap("smooth", clock);
        let first = self.untangle(w, tracked);
        w.untangled.clone_from(&tracked.positions);
        tracked.lap("untangle", clock);
        self.find_held(w);
        self.smooth(w, tracked);
        tracked.lap("smooth", clock);
        let last = self.untangle(w, tracked);
        if last.pairs_after > first.pairs_after {
            tracked.positions.clone_from(&w.untangled);
        }
        tracked.pairs = [first.pairs_before, last.pairs_after.min(first.pairs_after)];
        tracked.lap("untangle", clock);
    }

    fn untangle(&self, w: &mut Workspace, tracked: &mut Tracked) -> Untangled {
        let contact = w.contact.get_or_insert_with(|| self.contact.clone());
        let start = Start { skinned: &w.plain, near_contact: &w.near_contact };
        let untangled =
            self.rest_surface.untangle(&self.model, contact, &start, &mut tracked.positions, &mut w.untangle);
        tracked.rounds += untangled.rounds;
        untangled
    }

    /// Fills in how much contact holds each vertex.
    fn find_held(&self, w: &mut Workspace) {
        w.held.clear();
        w.held.resize(self.len(), 0.0);
        for (vertex, level) in w.awake.iter().zip(&w.levels) {
            let taken = vertex.input.taken_from != u32::MAX;
            w.held[vertex.vertex as usize] = if taken { 1.0 } else { level.held };
        }
        for &(v, share) in w.untangle.separated() {
            let held = &mut w.held[v as usize];
            *held = held.max(share);
        }
        for (held, &sidestepped) in w.held.iter_mut().zip(&w.sidestepped) {
            *held = held.max(sidestepped);
        }
    }

    /// Puts what is not finite back to where skinning had it, and fills in the reports.
    fn finish(&self, w: &mut Workspace, tracked: &mut Tracked) {
        tracked.cosines.clear();
        tracked.cosines.resize(self.len(), 1.0);
        tracked.partners.clear();
        tracked.partners.resize(self.len(), u32::MAX);
        for (vertex, level) in w.awake.iter().zip(&w.levels) {
            let v = vertex.vertex as usize;
            let taken = vertex.input.taken_from != u32::MAX;
            tracked.reports[v].contact = if taken { 1.0 } else { level.held };
            tracked.reports[v].iso_error = (level.value - vertex.input.iso).abs();
            tracked.cosines[v] = if level.contact { level.cosine } else { 1.0 };
            tracked.partners[v] = if taken { vertex.input.taken_from } else { level.partner };
        }
        for &(v, share) in w.untangle.separated() {
            let contact = &mut tracked.reports[v as usize].contact;
            *contact = contact.max(share);
        }
        for (report, &sidestepped) in tracked.reports.iter_mut().zip(&w.sidestepped) {
            report.contact = report.contact.max(sidestepped);
        }
        self.followers.take_contact(&mut tracked.reports);
        for (v, x) in tracked.positions.iter_mut().enumerate() {
            let outside = self.model.part[v] != crate::parts::FOLLOWS && self.model.iso[v] <= 0.0;
            if !x.is_finite() {
                *x = if w.skinned[v].0.is_finite() { w.skinned[v].0 } else { self.model.rest[v] };
            }
            tracked.reports[v].fell_back = outside || w.is_heap;
        }
    }
}

/// A number that no other tracker of this process has.
fn next_id() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}
