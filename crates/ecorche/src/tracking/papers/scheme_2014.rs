//! The tracker of 2014: positions carried on from pose to pose, in small steps.
//!
//! One substep, with the default settings:
//!
//! | step | file |
//! |---|---|
//! | own-side pass | `own_side.rs` |
//! | for lambda in 1, 0.7, 0.5: projection, a tangential step as rigid as possible | `project.rs`, `arap.rs` |
//! | 6 more such steps, projected after the fifth | |
//! | 3 projections, own-side pass | |
//!
//! and after the last substep smoothing around contacts (`smooth.rs`), own-side pass.
//!
//! Always starting from rest makes a pose's result independent of what came before, at the cost of one
//! substep for every 10 degrees of the largest turn.
//!
//! Based on: Vaillant et al. Robust Iso-Surface Tracking for Interactive Character Skinning. 2014;
//! Roussellet. Thesis. 2018, algorithms 3.1 to 3.3.
//! Differs in: the final relaxation is projected, or it drifts off by up to 0.1; the own-side pass and the
//! smoothing are additions. [`Settings::printed`] leaves all three out.

use super::arap::Arap;
use super::own_side::{OwnSide, PartFields};
use super::project::{Bracketed, Place, Progress};
use super::smooth::{NeighbourWeights, Smoothing, neighbour_stencil};
use super::{VERTICES_PER_TASK, Vertices};
use crate::field::operator::controller::angle;
use crate::geom::{Adjacency, TriMesh};
use crate::tracking::VertexReport;
use crate::tracking::stencil::{Stencil, tangential};
use glam::{Quat, Vec3};
use rayon::prelude::*;

/// How the tracker works.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The steps of projection.
    pub projection: Bracketed,
    /// Share of the way of each projection of the main loop.
    pub factors: Vec<f32>,
    /// Jacobi steps after each of them.
    pub relaxations: u32,
    /// Omega; below 1 for meshes of quads only, on which full steps oscillate.
    pub relaxation: f32,
    /// Jacobi steps after the main loop.
    pub final_relaxations: u32,
    /// Those are followed by a projection every so often; 0 never.
    pub project_every: u32,
    /// Projections at the end of a substep.
    pub final_projections: u32,
    /// Bringing vertices back to their own side; `None` leaves it to the operator.
    pub own_side: Option<OwnSide>,
    /// Smoothing around contacts after the last substep.
    pub smoothing: Option<Smoothing>,
    /// How neighbours count in the smoothing.
    pub neighbours: NeighbourWeights,
    /// A vertex is in contact if its own and another field are above 1/2, differ by less than this and oppose each
    /// other by [`OwnSide::least_angle`].
    pub contact_band: f32,
    /// Largest turn of a joint in one substep, radians: 10 degrees, enough for bends up to 150 on a plain limb
    /// ([`crate::tracking`]). Not tuned on characters.
    pub largest_turn: f32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            projection: Bracketed::default(),
            factors: vec![1.0, 0.7, 0.5],
            relaxations: 1,
            relaxation: 1.0,
            final_relaxations: 6,
            project_every: 5,
            final_projections: 3,
            own_side: Some(OwnSide::default()),
            smoothing: Some(Smoothing { strength: 0.7, ..Smoothing::default() }),
            neighbours: NeighbourWeights::Uniform,
            contact_band: 0.06,
            largest_turn: 10f32.to_radians(),
        }
    }
}

impl Settings {
    /// The thesis' algorithm: steps of any length, and nothing after the final relaxation.
    pub fn printed() -> Self {
        Self {
            projection: Bracketed { largest_step: f32::INFINITY, ..Bracketed::default() },
            project_every: 0,
            final_projections: 0,
            ..Self::tracked()
        }
    }

    /// The default without the own-side pass and the smoothing: what the fields alone give.
    pub fn tracked() -> Self {
        Self { own_side: None, smoothing: None, ..Self::default() }
    }
}

/// The poses between the start (0) and the wanted one (1).
pub trait Motion {
    /// Poses the body at `to`: carries `positions` there from `from` (by the joints' motion in between,
    /// blended as dual quaternions), fills in every vertex's rotation from rest, and makes [`Motion::fields`]
    /// those of `to`.
    fn advance(&mut self, from: f32, to: f32, positions: &mut [Vec3], rotations: &mut [Quat]);

    /// The body's field where it was last posed.
    fn fields(&self) -> &dyn PartFields;
}

/// Substeps so that no joint turns more than `largest` in one, both radians.
pub fn substeps(turn: f32, largest: f32) -> u32 {
    // The slack keeps 90 degrees in steps of 10 from becoming 10 steps by rounding.
    (turn.abs() / largest - 1e-3).ceil().clamp(1.0, 1000.0) as u32
}

#[derive(Clone, Copy, Debug, Default)]
struct Walker {
    place: Place,
    /// The sample is of an earlier position; its gradient still serves as normal.
    stale: bool,
    fell_back: bool,
    iterations: u32,
    evaluations: u32,
}

/// Scratch of the tracker.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    start: Vec<Vec3>,
    walkers: Vec<Walker>,
    rotations: Vec<Quat>,
    pull: Vec<Vec3>,
    old: Vec<Vec3>,
    new: Vec<Vec3>,
    contact: Vec<f32>,
    contact_scratch: Vec<f32>,
}

/// A rest mesh ready to be tracked.
#[derive(Clone, Debug)]
pub struct Tracker {
    settings: Settings,
    arap: Arap,
    neighbours: Stencil,
}

impl Tracker {
    /// How it works.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Prepares the rest mesh.
    pub fn new(mesh: &TriMesh, adjacency: &Adjacency, settings: Settings) -> Self {
        let neighbours = neighbour_stencil(mesh, adjacency, settings.neighbours);
        Self { settings, arap: Arap::new(mesh, adjacency), neighbours }
    }

    /// Tracks a motion from 0 to 1 in even substeps and finishes. All slices have one entry per vertex.
    pub fn track(
        &self,
        motion: &mut dyn Motion,
        substeps: u32,
        vertices: &Vertices<'_>,
        positions: &mut [Vec3],
        reports: &mut [VertexReport],
        workspace: &mut Workspace,
    ) {
        let at = |k: u32| k as f32 / substeps.max(1) as f32;
        reports.fill(VertexReport::default());
        let mut rotations = std::mem::take(&mut workspace.rotations);
        rotations.resize(positions.len(), Quat::IDENTITY);
        for k in 0..substeps.max(1) {
            motion.advance(at(k), at(k + 1), positions, &mut rotations);
            self.substep(motion.fields(), vertices, &rotations, positions, reports, workspace);
        }
        workspace.rotations = rotations;
        self.finish(motion.fields(), vertices, positions, reports, workspace);
    }

    /// One substep: `positions` are those of the last one, carried on by the skinning; `rotations` are from
    /// rest. Adds to the reports' counts.
    fn substep(
        &self,
        fields: &dyn PartFields,
        vertices: &Vertices<'_>,
        rotations: &[Quat],
        positions: &mut [Vec3],
        reports: &mut [VertexReport],
        workspace: &mut Workspace,
    ) {
        let count = positions.len();
        let Workspace { start, walkers, pull, old, new, .. } = workspace;
        start.clear();
        start.extend_from_slice(positions);
        pull.resize(count, Vec3::ZERO);
        old.resize(count, Vec3::ZERO);
        new.resize(count, Vec3::ZERO);
        walkers.resize(count, Walker::default());
        self.arap.pull(rotations, pull);
        walkers.par_iter_mut().with_min_len(VERTICES_PER_TASK).enumerate().for_each(|(v, walker)| {
            *walker = Walker { place: Place { position: start[v], ..Place::default() }, ..Walker::default() };
            self.back_to_own_side(fields, vertices, v, walker);
            walker.place = Place::at(fields, walker.place.position, &mut walker.evaluations);
            walker.fell_back =
                walker.place.sample.value <= 0.0 || vertices.iso[v] <= 0.0 || !start[v].is_finite();
            if walker.fell_back {
                walker.place.position = start[v];
            }
        });
        let settings = &self.settings;
        for &factor in &settings.factors {
            self.project(fields, vertices, walkers, factor);
            self.relax(settings.relaxations, walkers, pull, old, new);
        }
        for step in 1..=settings.final_relaxations {
            self.relax(1, walkers, pull, old, new);
            if settings.project_every > 0 && step % settings.project_every == 0 {
                self.project(fields, vertices, walkers, 1.0);
            }
        }
        for _ in 0..settings.final_projections {
            self.project(fields, vertices, walkers, 1.0);
        }
        let all = walkers.par_iter_mut().zip(positions.par_iter_mut()).zip(reports.par_iter_mut());
        all.with_min_len(VERTICES_PER_TASK).enumerate().for_each(|(v, ((walker, position), report))| {
            if !walker.fell_back {
                self.back_to_own_side(fields, vertices, v, walker);
            }
            *position = walker.place.position;
            if !position.is_finite() {
                *position = start[v];
                walker.fell_back = true;
            }
            report.iterations += walker.iterations;
            report.evaluations += walker.evaluations;
            report.fell_back = walker.fell_back;
        });
    }

    /// After the last substep: smooths around contacts and completes the reports.
    fn finish(
        &self,
        fields: &dyn PartFields,
        vertices: &Vertices<'_>,
        positions: &mut [Vec3],
        reports: &mut [VertexReport],
        workspace: &mut Workspace,
    ) {
        let count = positions.len();
        let Workspace { old, contact, contact_scratch, .. } = workspace;
        old.resize(count, Vec3::ZERO);
        contact.resize(count, 0.0);
        contact_scratch.resize(count, 0.0);
        let at: &[Vec3] = positions;
        let least_angle = self.settings.own_side.as_ref().map_or(0.0, |pass| f64::from(pass.least_angle));
        contact.par_iter_mut().with_min_len(VERTICES_PER_TASK).enumerate().for_each(|(v, contact)| {
            let (own, other) = fields.own_and_other(vertices.part[v], at[v]);
            let touching = own.value.min(other.value) > 0.5
                && (own.value - other.value).abs() < self.settings.contact_band
                && angle(own.gradient, other.gradient) >= least_angle;
            *contact = f32::from(touching);
        });
        if let Some(smoothing) = &self.settings.smoothing {
            smoothing.spread(&self.neighbours, contact, contact_scratch);
            for (weight, report) in contact.iter_mut().zip(&*reports) {
                if report.fell_back {
                    *weight = 0.0;
                }
            }
            smoothing.smooth(&self.neighbours, contact, positions, old);
        }
        let all = positions.par_iter_mut().zip(reports.par_iter_mut()).with_min_len(VERTICES_PER_TASK);
        all.enumerate().for_each(|(v, (position, report))| {
            let mut walker =
                Walker { place: Place { position: *position, ..Place::default() }, ..Walker::default() };
            if self.settings.smoothing.is_some() && !report.fell_back {
                self.back_to_own_side(fields, vertices, v, &mut walker);
                *position = walker.place.position;
            }
            let place = Place::at(fields, *position, &mut walker.evaluations);
            report.iso_error = (place.sample.value - vertices.iso[v]).abs();
            report.contact = contact[v];
            report.evaluations += walker.evaluations + 1;
        });
    }

    fn back_to_own_side(
        &self,
        fields: &dyn PartFields,
        vertices: &Vertices<'_>,
        v: usize,
        walker: &mut Walker,
    ) {
        if let Some(pass) = &self.settings.own_side {
            let (part, radius) = (vertices.part[v], vertices.limb_radius[v]);
            walker.evaluations += pass.apply(fields, part, radius, &mut walker.place.position);
        }
    }

    fn project(&self, fields: &dyn PartFields, vertices: &Vertices<'_>, walkers: &mut [Walker], factor: f32) {
        walkers.par_iter_mut().with_min_len(VERTICES_PER_TASK).enumerate().for_each(|(v, walker)| {
            if walker.fell_back {
                return;
            }
            let Walker { place, evaluations, stale, .. } = walker;
            if std::mem::replace(stale, false) {
                *place = Place::at(fields, place.position, evaluations);
            }
            let (iso, radius) = (vertices.iso[v], vertices.limb_radius[v]);
            let progress = self.settings.projection.step(fields, place, iso, factor, radius, evaluations);
            walker.iterations += u32::from(progress == Progress::Moved);
        });
    }

    /// Jacobi steps, of which what lies in the tangent plane is kept.
    fn relax(
        &self,
        steps: u32,
        walkers: &mut [Walker],
        pull: &[Vec3],
        old: &mut Vec<Vec3>,
        new: &mut Vec<Vec3>,
    ) {
        for (position, walker) in old.iter_mut().zip(&*walkers) {
            *position = walker.place.position;
        }
        for _ in 0..steps {
            let from: &[Vec3] = old;
            new.par_iter_mut().with_min_len(VERTICES_PER_TASK).enumerate().for_each(|(v, new)| {
                let target = self.arap.target(v, from, pull);
                *new = from[v] + self.settings.relaxation * (target - from[v]);
            });
            std::mem::swap(old, new);
        }
        for (walker, target) in walkers.iter_mut().zip(&*old).filter(|(w, _)| !w.fell_back) {
            let normal = walker.place.sample.gradient.normalize_or_zero();
            walker.place.position += tangential(*target - walker.place.position, normal);
            walker.stale = true;
        }
    }
}
