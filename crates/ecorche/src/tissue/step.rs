//! Moving bodies through time: implicit Euler, one linear solve or Newton to convergence, or statics.
//!
//! Based on: Baraff, Witkin. Large Steps in Cloth Simulation. 1998 (one solve a step), and minimisation of
//! the step's energy as in Gast et al. Optimization Integrator for Large Time Steps. 2015 (Newton).
//!
//! All three modes share one system for the change `dx` of the positions `x`, from `x_n`, `v_n`:
//! `(M/h^2 + D/h + K) dx = -(M (x - x_n - h v_n)/h^2 + D (x - x_n)/h + f_internal - f_external)`,
//! `D = alpha M + beta K`. Starting from `x = x_n`, one solve is the semi-implicit step; statics leaves `M` and
//! `D` out. Tolerances are relative to element edges and forces, so no unit is preferred.
//!
//! A step that gives numbers that are not finite, a matrix that is not definite or a line search without descent is
//! discarded and repeated as two steps of half the length. After [`Settings::halvings`] the step fails with [`StepError`]
//! and leaves the state of the last completed step.

use super::assemble::Assembler;
use super::boundary::Boundary;
use super::contact::{Contacts, Moment};
use super::material::Curvature;
use super::model::Model;
use super::sliding::Sliding;
use super::solve::{Factor, Gradients, SolveError, System};
use super::terms::Term;
use glam::DVec3;
use std::time::{Duration, Instant};
use thiserror::Error;

/// How a step is solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One linear solve: fast, for small steps or soft motion.
    SemiImplicit,
    /// Newton with line search until it converges: for large steps and strong activation.
    Newton,
    /// Balance of forces without inertia.
    QuasiStatic,
}

/// Which linear solver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Solver {
    /// Direct up to 2e8 entries of the factor, conjugate gradients beyond.
    Auto,
    /// A new factorisation for every solve.
    Direct,
    /// The last factorisation preconditions conjugate gradients, and is renewed when it is stale.
    KeptFactor,
    /// Conjugate gradients preconditioned by the diagonal blocks: least memory.
    ConjugateGradients,
}

/// Factor entries beyond which [`Solver::Auto`] turns to conjugate gradients: 1.6 GB.
const DIRECT_LIMIT: usize = 200_000_000;

/// Iterations after which a kept factor is stale. Below 8 it is renewed while still good, above 20 the products cost
/// more than a factorisation of the 48,000 element bar.
const STALE: usize = 14;

/// Newton uses the exact curvature where its last change was below this part of an edge, and the clamped one
/// where the exact one turns out not to be definite. In a tensing spindle it was refused, at the cost of a
/// factorisation, after changes of 0.065 edges and more, and accepted after 0.054 and less.
const EXACT_WITHIN: f64 = 0.05;

/// Settings of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Acceleration of free fall, metres per second squared.
    pub gravity: DVec3,
    /// How a step is solved.
    pub mode: Mode,
    /// Which linear solver.
    pub solver: Solver,
    /// Mass-proportional damping, per second: slows everything, also free fall.
    pub mass_damping: f64,
    /// Stiffness-proportional damping, seconds: stops fast jiggle first.
    pub stiffness_damping: f64,
    /// Newton stops when no node moves farther than this part of an element edge.
    pub tolerance: f64,
    /// Newton gives up refining after this many solves.
    pub most_iterations: usize,
    /// Relative residual of conjugate gradients.
    pub residual: f64,
    /// How many times a failing step may be halved.
    pub halvings: u32,
    /// Seconds over which the forces of the first state are faded in; 0 applies them at once.
    pub rest_blend: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            gravity: DVec3::new(0.0, -9.81, 0.0),
            mode: Mode::SemiImplicit,
            solver: Solver::Auto,
            mass_damping: 0.0,
            stiffness_damping: 0.0,
            tolerance: 1e-5,
            most_iterations: 60,
            residual: 1e-7,
            halvings: 6,
            rest_blend: 0.0,
        }
    }
}

/// What must be saved to continue a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Seconds since the start.
    pub time: f64,
    /// Node positions.
    pub positions: Vec<DVec3>,
    /// Node velocities.
    pub velocities: Vec<DVec3>,
}

/// Where the time of a step went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Timings {
    /// Element forces and stiffness.
    pub assembly: Duration,
    /// Numeric factorisation.
    pub factorisation: Duration,
    /// Triangular solves, conjugate gradients.
    pub solve: Duration,
    /// Contact and everything else.
    pub rest: Duration,
}

/// What a step did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StepReport {
    /// Substeps taken: 1 unless the step was halved.
    pub substeps: u32,
    /// Linear systems solved.
    pub solves: usize,
    /// Conjugate gradient iterations.
    pub gradient_iterations: usize,
    /// Whether Newton reached its tolerance in every substep.
    pub converged: bool,
    /// Deepest contact penetration at the end, metres; beyond what was there at the start where that is kept.
    pub penetration: f64,
    /// Where the time went.
    pub timings: Timings,
}

/// Why a step failed after every retry.
#[derive(Clone, Debug, Error, PartialEq)]
#[error(
    "time {time:.4} s: {reason} in body \"{part}\", tetrahedron {tet} (volume ratio {volume_ratio:.3}), \
     even with the step halved {halvings} times to {step:.2e} s; {advice}"
)]
pub struct StepError {
    /// When, seconds.
    pub time: f64,
    /// What went wrong.
    pub reason: Failure,
    /// The body.
    pub part: String,
    /// The tetrahedron, counted within its body.
    pub tet: usize,
    /// Its volume over its rest volume in the last good state.
    pub volume_ratio: f64,
    /// Halvings tried.
    pub halvings: u32,
    /// The smallest step tried, seconds.
    pub step: f64,
    /// What to try.
    pub advice: &'static str,
}

/// What can go wrong in one attempt.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum Failure {
    /// Not-a-number or infinity.
    #[error("numbers are no longer finite")]
    NotFinite,
    /// A node left the scene.
    #[error("node {0} leaves the scene")]
    Runaway(usize),
    /// No descent.
    #[error("the line search cannot lower the energy")]
    Stuck,
    /// The linear solver failed.
    #[error("{0}")]
    Linear(SolveError),
}

/// A running simulation: input, settings, state and workspace.
#[derive(Debug)]
pub struct Simulation {
    /// Bodies. Activation may be changed between steps.
    pub model: Model,
    /// Holds and bones.
    pub boundary: Boundary,
    /// Collisions.
    pub contacts: Contacts,
    /// Bodies that slide on each other.
    pub sliding: Sliding,
    /// Settings.
    pub settings: Settings,
    /// State.
    pub state: State,
    work: Workspace,
}

#[derive(Debug)]
struct Workspace {
    assembler: Assembler,
    factor: Option<Factor>,
    gradients: Gradients,
    stiffness: Vec<f64>,
    damping: Vec<f64>,
    system: Vec<f64>,
    preconditioner: Vec<f64>,
    forces: Vec<DVec3>,
    change: Vec<DVec3>,
    ordered: Vec<DVec3>,
    product: Vec<DVec3>,
    trial: Vec<DVec3>,
    terms: Vec<Term>,
    apart: Vec<Term>,
    scratch_terms: Vec<Term>,
    fixed: Vec<bool>,
    initial_forces: Option<Vec<DVec3>>,
    edge: f64,
    reach: f64,
}

impl Simulation {
    /// Starts at rest in the rest shape.
    pub fn new(model: Model, boundary: Boundary, settings: Settings) -> Result<Self, SolveError> {
        let count = model.rest.len();
        let state = State { time: 0.0, positions: model.rest.clone(), velocities: vec![DVec3::ZERO; count] };
        let assembler = Assembler::new(&model);
        let blocks = assembler.pattern.value_count();
        let mut factor = None;
        if settings.solver != Solver::ConjugateGradients {
            let found = Factor::new(&assembler.pattern)?;
            if settings.solver != Solver::Auto || found.len() <= DIRECT_LIMIT {
                factor = Some(found);
            }
        }
        let (low, high) =
            model.rest.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), &p| (l.min(p), h.max(p)));
        let edge = model.parts.iter().map(|p| p.edge).fold(f64::INFINITY, f64::min);
        let zero = vec![DVec3::ZERO; count];
        let work = Workspace {
            assembler,
            factor,
            gradients: Gradients::default(),
            stiffness: vec![0.0; blocks],
            damping: Vec::new(),
            system: vec![0.0; blocks],
            preconditioner: Vec::new(),
            forces: zero.clone(),
            change: zero.clone(),
            ordered: zero.clone(),
            product: zero.clone(),
            trial: zero,
            terms: Vec::new(),
            apart: Vec::new(),
            scratch_terms: Vec::new(),
            fixed: vec![false; count],
            initial_forces: None,
            edge,
            reach: low.distance(high),
        };
        Ok(Self {
            model,
            boundary,
            contacts: Contacts::default(),
            sliding: Sliding::default(),
            settings,
            state,
            work,
        })
    }

    /// Bytes of matrices, factor and buffers.
    pub fn bytes(&self) -> usize {
        let w = &self.work;
        w.assembler.bytes()
            + 8 * (w.stiffness.len()
                + w.preconditioner.len()
                + w.damping.len()
                + w.system.len()
                + w.factor.as_ref().map_or(0, Factor::len))
            + 24 * 10 * w.forces.len()
    }

    /// Entries of the Cholesky factor; 0 without one.
    pub fn factor_entries(&self) -> usize {
        self.work.factor.as_ref().map_or(0, Factor::len)
    }

    /// Kinetic, elastic and gravitational energy, joules.
    pub fn energy(&mut self) -> f64 {
        let elastic = self.work.assembler.energy(&self.model, &self.state.positions);
        let moving: f64 = (0..self.model.mass.len())
            .map(|i| {
                let (v, x) = (self.state.velocities[i], self.state.positions[i]);
                self.model.mass[i] * (0.5 * v.length_squared() - self.settings.gravity.dot(x))
            })
            .sum();
        elastic + moving
    }

    /// Internal elastic forces (`dE/dx`) at the present positions, in node order.
    pub fn internal_forces(&mut self) -> Vec<DVec3> {
        let w = &mut self.work;
        w.assembler.forces(&self.model, &self.state.positions, &mut w.forces);
        let mut out = vec![DVec3::ZERO; w.forces.len()];
        for (position, &node) in w.assembler.pattern.node_at.iter().enumerate() {
            out[node as usize] = w.forces[position];
        }
        out
    }

    /// Advances by `dt` seconds, in halves where it must. On error the state is as before the call.
    pub fn step(&mut self, dt: f64) -> Result<StepReport, StepError> {
        let saved = self.state.clone();
        let end = saved.time + dt;
        self.begin_blend();
        let mut report = StepReport { converged: true, ..StepReport::default() };
        let mut halved = 0;
        let mut part = 0u64;
        while part < 1 << halved {
            let h = dt / f64::from(1u32 << halved);
            let before = self.state.clone();
            match self.attempt(h, &mut report) {
                Ok(()) => {
                    report.substeps += 1;
                    part += 1;
                }
                Err(reason) => {
                    self.state = before;
                    if halved == self.settings.halvings {
                        let error = self.explain(reason, h);
                        self.state = saved;
                        return Err(error);
                    }
                    halved += 1;
                    part *= 2;
                }
            }
        }
        self.state.time = end;
        Ok(report)
    }

    /// The present state, as contact sees it.
    pub fn moment(&self) -> Moment<'_> {
        let Self { model, boundary, state, .. } = self;
        Moment { model, positions: &state.positions, boundary, time: state.time }
    }

    /// Takes the present state as the first one: [`Settings::rest_blend`] fades its forces in, and
    /// [`keep_overlap`](super::contact::ContactSettings::keep_overlap) keeps its overlaps. The first step does this itself;
    /// call it before a saved state is loaded, which is not the first one.
    pub(crate) fn begin_blend(&mut self) {
        let blends = self.settings.rest_blend > 0.0;
        if blends && self.work.initial_forces.is_none() {
            self.work.initial_forces = Some(self.internal_forces());
        }
        if blends || self.contacts.settings.keep_overlap {
            let Self { model, boundary, state, contacts, .. } = self;
            contacts.remember_initial(&Moment {
                model,
                positions: &state.positions,
                boundary,
                time: state.time,
            });
        }
    }

    fn explain(&self, reason: Failure, step: f64) -> StepError {
        let ratio = |t: usize| {
            super::element::volume(self.model.corners(t, &self.state.positions)) / self.model.shapes[t].volume
        };
        let worst = match reason {
            Failure::Runaway(node) => {
                self.model.tets.iter().position(|t| t.contains(&(node as u32))).unwrap_or(0)
            }
            _ => (0..self.model.tets.len()).min_by(|&a, &b| ratio(a).total_cmp(&ratio(b))).unwrap_or(0),
        };
        let part = &self.model.parts[self.model.part_of_tet(worst)];
        let fragile =
            self.model.tissues[self.model.tissue_of[worst] as usize].material.needs_positive_volume();
        let advice = match reason {
            _ if fragile => {
                "this material does not survive inversion: use neo-hookean with full fibre stretch"
            }
            Failure::Linear(SolveError::NotDefinite) => {
                "fix at least three nodes of every body or add mass damping"
            }
            _ if ratio(worst) < 0.3 => {
                "the tetrahedron is crushed: check the holds around it, or use a finer mesh"
            }
            _ => "try the newton mode, a shorter step, a softer hold or the neo-hookean material",
        };
        StepError {
            time: self.state.time,
            reason,
            part: part.name.clone(),
            tet: worst - part.tets.start,
            volume_ratio: ratio(worst),
            halvings: self.settings.halvings,
            step,
            advice,
        }
    }

    fn attempt(&mut self, h: f64, report: &mut StepReport) -> Result<(), Failure> {
        let clock = Instant::now();
        let before = report.timings;
        let time = self.state.time + h;
        let start = self.state.positions.clone();
        let mut positions = start.clone();
        self.work.fixed.fill(false);
        for (node, target) in self.boundary.fixed_at(time) {
            positions[node as usize] = target;
            self.work.fixed[node as usize] = true;
        }
        let static_mode = self.settings.mode == Mode::QuasiStatic;
        let most = if self.settings.mode == Mode::SemiImplicit { 1 } else { self.settings.most_iterations };
        let inertia = Inertia {
            weight: if static_mode { 0.0 } else { 1.0 / (h * h) },
            drag: if static_mode { 0.0 } else { self.settings.mass_damping / h },
            stiffness_drag: if static_mode { 0.0 } else { self.settings.stiffness_damping / h },
            h: if static_mode { 0.0 } else { h },
            time,
        };
        self.contacts.begin_step(&start, self.state.time);
        self.sliding.begin_step(&start);
        let held_back = blend(&self.settings, time);
        let newton = self.settings.mode != Mode::SemiImplicit;
        let mut settled;
        let mut first = true;
        // Rounds renew contact multipliers; without constraint contact there is one.
        loop {
            settled = false;
            let mut last_energy = None;
            let mut last_change = 0.0;
            for _ in 0..most {
                let keep_damping = first && newton && inertia.stiffness_drag > 0.0;
                let exact = newton && !keep_damping && last_change < EXACT_WITHIN * self.work.edge;
                let curvature = if exact { Curvature::Exact } else { Curvature::Definite };
                self.assemble(&positions, &start, &inertia, keep_damping, curvature, report);
                match self.solve(report) {
                    Err(Failure::Linear(SolveError::NotDefinite)) if exact => {
                        self.assemble(&positions, &start, &inertia, false, Curvature::Definite, report);
                        self.solve(report)?;
                    }
                    other => other?,
                }
                first = false;
                let w = &mut self.work;
                for (position, &node) in w.assembler.pattern.node_at.iter().enumerate() {
                    w.change[node as usize] = w.ordered[position];
                }
                let farthest = w.change.iter().fold(0.0f64, |m, d| m.max(d.length_squared())).sqrt();
                if !farthest.is_finite() || w.change.iter().any(|d| !d.is_finite()) {
                    return Err(Failure::NotFinite);
                }
                if let Some(node) = w.change.iter().position(|d| d.length() > 10.0 * w.reach) {
                    return Err(Failure::Runaway(node));
                }
                let part = if newton {
                    self.line_search(&positions, &start, &inertia, &mut last_energy)?
                } else {
                    1.0
                };
                last_change = farthest;
                for (x, d) in positions.iter_mut().zip(&self.work.change) {
                    *x += *d * part;
                }
                if farthest <= self.settings.tolerance * self.work.edge {
                    settled = true;
                    break;
                }
            }
            let moment = Moment { model: &self.model, positions: &positions, boundary: &self.boundary, time };
            if !self.contacts.renew(&moment, held_back) {
                break;
            }
        }
        if !positions.iter().all(|p| p.is_finite()) {
            return Err(Failure::NotFinite);
        }
        if !newton && self.breaks_material(&positions) {
            return Err(Failure::NotFinite);
        }
        report.converged &= settled || !newton;
        for i in 0..positions.len() {
            self.state.velocities[i] =
                if static_mode { DVec3::ZERO } else { (positions[i] - self.state.positions[i]) / h };
        }
        self.state.positions = positions;
        self.state.time = time;
        report.penetration = self.contacts.deepest(&self.moment());
        let t = &mut report.timings;
        let known = (t.assembly - before.assembly)
            + (t.factorisation - before.factorisation)
            + (t.solve - before.solve);
        t.rest += clock.elapsed().saturating_sub(known);
        Ok(())
    }

    fn breaks_material(&self, positions: &[DVec3]) -> bool {
        let fragile: Vec<bool> =
            self.model.tissues.iter().map(|t| t.material.needs_positive_volume()).collect();
        fragile.contains(&true)
            && (0..self.model.tets.len()).any(|t| {
                fragile[self.model.tissue_of[t] as usize]
                    && super::element::volume(self.model.corners(t, positions)) <= 0.0
            })
    }

    /// Fills the system matrix, and in `work.ordered` the negative gradient of the step's energy.
    fn assemble(
        &mut self,
        positions: &[DVec3],
        start: &[DVec3],
        inertia: &Inertia,
        keep_damping: bool,
        curvature: Curvature,
        report: &mut StepReport,
    ) {
        let clock = Instant::now();
        let w = &mut self.work;
        w.assembler.assemble(&self.model, positions, curvature, &mut w.forces, &mut w.stiffness);
        report.timings.assembly += clock.elapsed();
        if keep_damping {
            w.damping.clone_from(&w.stiffness);
        }
        w.terms.clear();
        self.boundary.add_terms(inertia.time, positions, &mut w.terms);
        let blend = blend(&self.settings, inertia.time);
        let moment = Moment { model: &self.model, positions, boundary: &self.boundary, time: inertia.time };
        self.contacts.detect(&moment, blend);
        self.contacts.add_terms(positions, &mut w.terms);
        self.sliding.detect(positions);
        self.sliding.add_terms(positions, &mut w.terms);

        let clock = Instant::now();
        let pattern = &w.assembler.pattern;
        let semi = self.settings.mode == Mode::SemiImplicit;
        let damping: &[f64] = if semi || inertia.stiffness_drag == 0.0 { &w.stiffness } else { &w.damping };
        if inertia.stiffness_drag > 0.0 {
            for (position, &node) in pattern.node_at.iter().enumerate() {
                w.change[position] = positions[node as usize] - start[node as usize];
            }
            pattern.multiply(damping, &w.change, &mut w.product);
        }
        for (position, &node) in pattern.node_at.iter().enumerate() {
            let i = node as usize;
            let m = self.model.mass[i];
            let moved = positions[i] - start[i];
            let mut g = w.forces[position] - self.settings.gravity * m
                + (moved - self.state.velocities[i] * inertia.h) * (m * inertia.weight)
                + moved * (m * inertia.drag);
            if inertia.stiffness_drag > 0.0 {
                g += w.product[position] * inertia.stiffness_drag;
            }
            if let Some(initial) = &w.initial_forces {
                g -= initial[i] * blend;
            }
            w.ordered[position] = -g;
        }
        // Scale the stiffness, then take out the rows and columns of fixed nodes.
        w.system.copy_from_slice(&w.stiffness);
        if inertia.stiffness_drag > 0.0 {
            for (s, d) in w.system.iter_mut().zip(damping) {
                *s += d * inertia.stiffness_drag;
            }
        }
        for column in 0..pattern.len() {
            let m = self.model.mass[pattern.node_at[column] as usize] * (inertia.weight + inertia.drag);
            let at = pattern.value_index(column, pattern.column(column).start);
            for k in 0..3 {
                w.system[at[k] + k] += m;
            }
        }
        w.apart.clear();
        for term in &w.terms {
            let mut inside = true;
            for (a, weight) in term.support() {
                let pa = pattern.position_of[a as usize];
                w.ordered[pa as usize] -= term.force * weight;
                for (b, _) in term.support() {
                    let pb = pattern.position_of[b as usize];
                    inside &= pa < pb || pattern.find(pa, pb).is_some();
                }
            }
            if !inside {
                w.apart.push(*term);
                continue;
            }
            for (a, wa) in term.support() {
                for (b, wb) in term.support() {
                    if a <= b {
                        pattern.add(&mut w.system, a, b, &(term.stiffness * (wa * wb)));
                    }
                }
            }
        }
        pattern.hold(&mut w.system, &mut w.ordered, &w.fixed);
        report.timings.solve += clock.elapsed();
    }

    /// Solves the assembled system in `work.ordered`.
    fn solve(&mut self, report: &mut StepReport) -> Result<(), Failure> {
        let w = &mut self.work;
        report.solves += 1;
        let system =
            System { pattern: &w.assembler.pattern, values: &w.system, apart: &w.apart, fixed: &w.fixed };
        let Some(factor) = &mut w.factor else {
            let clock = Instant::now();
            let most = 4 * w.ordered.len() + 200;
            let done = w.gradients.solve(&system, None, &mut w.ordered, self.settings.residual, most);
            report.timings.solve += clock.elapsed();
            report.gradient_iterations += done.map_err(Failure::Linear)?;
            return Ok(());
        };
        if self.settings.solver == Solver::KeptFactor && factor.is_ready() {
            let clock = Instant::now();
            w.product.copy_from_slice(&w.ordered);
            let done =
                w.gradients.solve(&system, Some(factor), &mut w.ordered, self.settings.residual, STALE);
            report.timings.solve += clock.elapsed();
            if let Ok(iterations) = done {
                report.gradient_iterations += iterations;
                return Ok(());
            }
            w.ordered.copy_from_slice(&w.product);
        }
        let clock = Instant::now();
        let mut matrix = &w.system;
        if !w.apart.is_empty() {
            // Terms outside the pattern that act within one body go into the preconditioner; only the coupling
            // between bodies is left to the iterations.
            w.preconditioner.clone_from(&w.system);
            for term in &w.apart {
                for (a, wa) in term.support() {
                    for (b, wb) in term.support() {
                        if a <= b && !w.fixed[a as usize] && !w.fixed[b as usize] {
                            let block = term.stiffness * (wa * wb);
                            w.assembler.pattern.add(&mut w.preconditioner, a, b, &block);
                        }
                    }
                }
            }
            matrix = &w.preconditioner;
        }
        let done = factor.factorise(&w.assembler.pattern, matrix);
        report.timings.factorisation += clock.elapsed();
        done.map_err(Failure::Linear)?;
        let clock = Instant::now();
        if w.apart.is_empty() {
            factor.solve(&mut w.ordered);
        } else {
            let most = 500 + w.apart.len();
            let residual = match self.settings.mode {
                Mode::SemiImplicit => self.settings.residual,
                // Newton corrects in its next solve what is left here.
                Mode::Newton | Mode::QuasiStatic => self.settings.residual.max(1e-3),
            };
            let done = w.gradients.solve(&system, Some(factor), &mut w.ordered, residual, most);
            report.gradient_iterations += done.map_err(Failure::Linear)?;
        }
        report.timings.solve += clock.elapsed();
        Ok(())
    }

    /// Energy whose minimum is the end of the step.
    fn step_energy(&mut self, positions: &[DVec3], start: &[DVec3], inertia: &Inertia) -> f64 {
        let w = &mut self.work;
        let mut energy = w.assembler.energy(&self.model, positions);
        w.scratch_terms.clear();
        energy += self.boundary.add_terms(inertia.time, positions, &mut w.scratch_terms);
        energy += self.contacts.add_terms(positions, &mut w.scratch_terms);
        energy += self.sliding.add_terms(positions, &mut w.scratch_terms);
        let blend = blend(&self.settings, inertia.time);
        for i in 0..positions.len() {
            let m = self.model.mass[i];
            let moved = positions[i] - start[i];
            let off = moved - self.state.velocities[i] * inertia.h;
            energy += m
                * (0.5 * inertia.weight * off.length_squared() + 0.5 * inertia.drag * moved.length_squared())
                - m * self.settings.gravity.dot(positions[i]);
            if let Some(initial) = &w.initial_forces {
                energy -= blend * initial[i].dot(positions[i]);
            }
        }
        if inertia.stiffness_drag > 0.0 {
            let pattern = &w.assembler.pattern;
            let moved: Vec<DVec3> =
                pattern.node_at.iter().map(|&n| positions[n as usize] - start[n as usize]).collect();
            pattern.multiply(&w.damping, &moved, &mut w.product);
            let square: f64 = moved.iter().zip(&w.product).map(|(a, b)| a.dot(*b)).sum();
            energy += 0.5 * inertia.stiffness_drag * square;
        }
        energy
    }

    /// Largest part of the change, by halves, that lowers the energy enough.
    fn line_search(
        &mut self,
        positions: &[DVec3],
        start: &[DVec3],
        inertia: &Inertia,
        last_energy: &mut Option<f64>,
    ) -> Result<f64, Failure> {
        // Contacts were searched again at these positions, which changes the energy of the last trial.
        let here = match *last_energy {
            Some(e) if self.contacts.is_empty() && self.sliding.is_empty() => e,
            _ => self.step_energy(positions, start, inertia),
        };
        // Directional slope: gradient times change. The right-hand side was overwritten by the solution, so
        // it comes from the matrix: slope = -dx . A dx.
        let slope = self.slope();
        let mut part = 1.0;
        let noise = 1e-12 * here.abs();
        for _ in 0..30 {
            let mut trial = std::mem::take(&mut self.work.trial);
            trial.clear();
            trial.extend(positions.iter().zip(&self.work.change).map(|(x, d)| *x + *d * part));
            let there = self.step_energy(&trial, start, inertia);
            self.work.trial = trial;
            if there.is_finite() && there <= here + 1e-4 * part * slope + noise {
                *last_energy = Some(there);
                return Ok(part);
            }
            part *= 0.5;
        }
        Err(Failure::Stuck)
    }

    fn slope(&mut self) -> f64 {
        let w = &mut self.work;
        let pattern = &w.assembler.pattern;
        pattern.multiply(&w.system, &w.ordered, &mut w.product);
        let mut square: f64 = w.ordered.iter().zip(&w.product).map(|(a, b)| a.dot(*b)).sum();
        for term in &w.apart {
            let point =
                term.support().filter(|s| !w.fixed[s.0 as usize]).fold(DVec3::ZERO, |sum, (n, weight)| {
                    sum + w.ordered[pattern.position_of[n as usize] as usize] * weight
                });
            square += point.dot(term.stiffness * point);
        }
        -square
    }
}

/// Coefficients of the inertial part of a step.
struct Inertia {
    weight: f64,
    drag: f64,
    stiffness_drag: f64,
    h: f64,
    time: f64,
}

/// How much of the first state's forces is still held back.
fn blend(settings: &Settings, time: f64) -> f64 {
    if settings.rest_blend > 0.0 { (1.0 - time / settings.rest_blend).max(0.0) } else { 0.0 }
}
