//! The tracker of 2012: one shot from any skinning.
//!
//! | step | times | file |
//! |---|---|---|
//! | Newton steps; a vertex whose gradient turns stops for good: a contact | [`Settings::iterations`] | `project.rs` |
//! | mean value relaxation within the tangent plane | after every second Newton step | `mvc.rs` |
//! | smoothing around contacts | at the end | `smooth.rs` |
//!
//! Bends up to 90 degrees; at 120 sheets cross, at 150 vertices that start beyond the other bone land on the
//! far side of the other limb. Bends by less than [`Newton::largest_turn`](super::project::Newton) show no
//! contact.
//!
//! Based on: Vaillant et al. Implicit Skinning: Real-Time Skin Deformation with Contact Modeling. 2012.
//! Differs in: see the files named above. [`Settings::printed`] has the paper's numbers.

use super::mvc::{fading, mean_value_stencil};
use super::project::{Newton, Place, Progress};
use super::smooth::{NeighbourWeights, Smoothing, neighbour_stencil};
use super::{VERTICES_PER_TASK, Vertices};
use crate::field::{Field, Sample};
use crate::geom::{Adjacency, TriMesh};
use crate::tracking::VertexReport;
use crate::tracking::stencil::{Stencil, tangential};
use glam::Vec3;
use rayon::prelude::*;

/// How the tracker works.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// The steps of projection.
    pub newton: Newton,
    /// Newton steps at most; vertices that have arrived take none.
    pub iterations: u32,
    /// Newton steps between two relaxations; 0 never relaxes.
    pub relax_every: u32,
    /// Share of the way a relaxation goes; `None` fades it out as vertices arrive, as printed.
    pub relaxation: Option<f32>,
    /// Smoothing around contacts.
    pub smoothing: Smoothing,
    /// How neighbours count in the smoothing.
    pub neighbours: NeighbourWeights,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            newton: Newton::default(),
            iterations: 16,
            relax_every: 2,
            relaxation: None,
            smoothing: Smoothing::default(),
            neighbours: NeighbourWeights::Uniform,
        }
    }
}

impl Settings {
    /// The paper's numbers, its short steps with the 20 iterations they need.
    pub fn printed() -> Self {
        Self { newton: Newton::PRINTED, iterations: 20, ..Self::default() }
    }
}

/// Where a vertex stands in the loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    #[default]
    Moving,
    Contact,
    FellBack,
}

#[derive(Clone, Copy, Debug, Default)]
struct Walker {
    place: Place,
    state: State,
    iterations: u32,
    evaluations: u32,
}

/// Scratch of [`Tracker::track`].
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    start: Vec<Vec3>,
    walkers: Vec<Walker>,
    scratch: Vec<Vec3>,
    contact: Vec<f32>,
    contact_scratch: Vec<f32>,
}

/// A rest mesh ready to be tracked.
#[derive(Clone, Debug)]
pub struct Tracker {
    settings: Settings,
    mean_value: Stencil,
    neighbours: Stencil,
}

impl Tracker {
    /// Prepares the rest mesh.
    pub fn new(mesh: &TriMesh, adjacency: &Adjacency, settings: Settings) -> Self {
        Self {
            settings,
            mean_value: mean_value_stencil(mesh, adjacency),
            neighbours: neighbour_stencil(mesh, adjacency, settings.neighbours),
        }
    }

    /// Tracks the vertices from their skinned `positions` in the body's posed `field`. All slices have one
    /// entry per vertex of the mesh.
    pub fn track(
        &self,
        field: &dyn Field,
        vertices: &Vertices<'_>,
        positions: &mut [Vec3],
        reports: &mut [VertexReport],
        workspace: &mut Workspace,
    ) {
        let Workspace { start, walkers, scratch, contact, contact_scratch } = workspace;
        let count = positions.len();
        start.clear();
        start.extend_from_slice(positions);
        walkers.resize(count, Walker::default());
        scratch.resize(count, Vec3::ZERO);
        walkers.par_iter_mut().with_min_len(VERTICES_PER_TASK).enumerate().for_each(|(v, walker)| {
            let mut evaluations = 0;
            let place = Place::at(field, start[v], &mut evaluations);
            let lost = place.sample.value <= 0.0 || vertices.iso[v] <= 0.0 || !start[v].is_finite();
            let state = if lost { State::FellBack } else { State::Moving };
            *walker = Walker { place, state, iterations: 0, evaluations };
        });
        for iteration in 1..=self.settings.iterations {
            self.newton_steps(field, vertices, walkers);
            let last = iteration == self.settings.iterations;
            if self.settings.relax_every > 0 && iteration % self.settings.relax_every == 0 && !last {
                self.relax(field, vertices, walkers, scratch);
            }
        }
        for (position, walker) in positions.iter_mut().zip(&*walkers) {
            *position = walker.place.position;
        }
        contact.clear();
        contact.extend(walkers.iter().map(|w| f32::from(w.state == State::Contact)));
        contact_scratch.resize(count, 0.0);
        self.settings.smoothing.spread(&self.neighbours, contact, contact_scratch);
        for (weight, walker) in contact.iter_mut().zip(&*walkers) {
            if walker.state == State::FellBack {
                *weight = 0.0;
            }
        }
        self.settings.smoothing.smooth(&self.neighbours, contact, positions, scratch);
        let all = positions.par_iter_mut().zip(reports.par_iter_mut()).with_min_len(VERTICES_PER_TASK);
        all.enumerate().for_each(|(v, (position, report))| {
            let walker = walkers[v];
            let finite = position.is_finite();
            if !finite {
                *position = start[v];
            }
            let moved = *position != walker.place.position;
            let sample: Sample = if moved { field.sample(*position) } else { walker.place.sample };
            *report = VertexReport {
                iso_error: (sample.value - vertices.iso[v]).abs(),
                contact: contact[v],
                iterations: walker.iterations,
                evaluations: walker.evaluations + u32::from(moved),
                fell_back: walker.state == State::FellBack || !finite,
            };
        });
    }

    fn newton_steps(&self, field: &dyn Field, vertices: &Vertices<'_>, walkers: &mut [Walker]) {
        walkers.par_iter_mut().with_min_len(VERTICES_PER_TASK).enumerate().for_each(|(v, walker)| {
            if walker.state != State::Moving {
                return;
            }
            let Walker { place, evaluations, .. } = walker;
            let (iso, radius) = (vertices.iso[v], vertices.limb_radius[v]);
            match self.settings.newton.step(field, place, iso, radius, evaluations) {
                Progress::Arrived | Progress::Stuck => {}
                Progress::Moved => walker.iterations += 1,
                Progress::Contact => {
                    walker.iterations += 1;
                    walker.state = State::Contact;
                }
            }
        });
    }

    /// Moves every vertex on its way towards its place among its neighbours.
    fn relax(
        &self,
        field: &dyn Field,
        vertices: &Vertices<'_>,
        walkers: &mut [Walker],
        scratch: &mut [Vec3],
    ) {
        for (position, walker) in scratch.iter_mut().zip(&*walkers) {
            *position = walker.place.position;
        }
        let old: &[Vec3] = scratch;
        walkers.par_iter_mut().with_min_len(VERTICES_PER_TASK).enumerate().for_each(|(v, walker)| {
            if walker.state != State::Moving {
                return;
            }
            let error = (walker.place.sample.value - vertices.iso[v]).abs();
            let share = match self.settings.relaxation {
                Some(share) => share,
                // Arrived: what is left of it moves nothing.
                None if error < self.settings.newton.tolerance => return,
                None => fading(error),
            };
            if let Some(mean) = self.mean_value.mean(v, old) {
                let normal = walker.place.sample.gradient.normalize_or_zero();
                let step = share * tangential(mean - old[v], normal);
                walker.place = Place::at(field, old[v] + step, &mut walker.evaluations);
            }
        });
    }
}
