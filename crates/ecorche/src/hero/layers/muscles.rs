//! The first stage: muscles on moving bones, through the whole shot.

use super::bodies::{Bodies, MuscleBody};
use super::timeline::Timeline;
use crate::character::Skeleton;
use crate::geom::TriMesh;
use crate::muscle::{self, Musculature};
use crate::tissue::boundary::{BoneTrack, Boundary, Condition, Hold};
use crate::tissue::contact::{Against, CollisionSurface, ContactSettings, Obstacle, Resolve};
use crate::tissue::element::volume;
use crate::tissue::material::{Lame, Local, MuscleForce, Stretch, TendonForce, muscle, tendon};
use crate::tissue::model::{Body, Model, ModelError, Tissue};
use crate::tissue::sliding::{self, Sliding};
use crate::tissue::solve::SolveError;
use crate::tissue::step::{self, Mode, Simulation, StepError, StepReport};
use glam::{Affine3A, DAffine3, DVec3};
use serde::{Deserialize, Serialize};

/// What muscles are like, and how they are stepped.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Young's modulus of a muscle's matrix, pascals.
    pub young: f64,
    /// Largest active stress of fibres, pascals.
    pub peak: f64,
    /// Steps between two moments, at least 1.
    pub substeps: u32,
    /// Without inertia: no jiggle, and a moment depends less on those before it.
    pub still: bool,
    /// Pressure of contact for a penetration of one edge, pascals.
    pub contact: f64,
    /// How muscles of a group hold on to each other.
    pub sliding: sliding::Settings,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            young: 2.5e4,
            peak: 3e5,
            substeps: 2,
            still: false,
            contact: 1e6,
            sliding: sliding::Settings::default(),
        }
    }
}

/// How a moment was solved.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Serialize)]
pub struct Report {
    /// Steps taken.
    pub steps: u32,
    /// Linear systems solved.
    pub solves: usize,
    /// Steps that did not converge.
    pub unconverged: u32,
    /// Tetrahedra without positive volume.
    pub inverted: usize,
    /// Relative change of volume that is largest, and whose it is.
    pub volume: f64,
    /// The muscle it belongs to.
    pub volume_of: String,
    /// Deepest penetration beyond that of the first state, metres.
    pub penetration: f64,
    /// Vertices that slide on another muscle and are torn off.
    pub torn: usize,
    /// Seconds.
    pub seconds: f64,
}

/// Why muscles cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum MuscleError {
    /// The tetrahedra.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The linear systems.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// A step.
    #[error("muscles: {0}")]
    Step(#[from] StepError),
}

/// Part of the fibre at each end that is tendon.
const TENDON: f64 = 0.12;
/// A muscle's bulk modulus over its fibres' peak stress, as in scenes: the pull of a fibre then costs a quarter of a per cent of
/// the volume.
const FIRMNESS: f64 = 10.0;

/// Muscles in some moment.
#[derive(Debug)]
pub struct Muscles {
    simulation: Simulation,
    surfaces: Vec<CollisionSurface>,
    bones: Vec<(usize, TriMesh)>,
    /// Activation of every muscle at every moment.
    activation: Vec<Vec<f64>>,
    names: Vec<String>,
    settings: Settings,
    moment: usize,
}

/// Activation of every body at every moment: from the pose, and from keys.
fn activations(
    bodies: &[MuscleBody],
    musculature: &Musculature,
    skeleton: &Skeleton,
    clip: &str,
    timeline: &Timeline,
    bind: &[Affine3A],
) -> Vec<Vec<f64>> {
    let mut state = musculature.at_rest(bind);
    let mut workspace = muscle::Workspace::default();
    let settings = muscle::Settings { motion: muscle::Motion::Kinematic, ..muscle::Settings::default() };
    timeline
        .moments
        .iter()
        .enumerate()
        .map(|(k, moment)| {
            let world = moment.pose.world(skeleton);
            let controls = if k == 0 { Vec::new() } else { musculature.controls(clip, moment.time) };
            musculature.step(&mut state, &world, &controls, timeline.step as f32, &settings, &mut workspace);
            let flesh = musculature.pose(&state);
            let of = |body: &MuscleBody| {
                let sum: f64 = body.strands.iter().map(|&f| flesh.muscles[f].shape.activation()).sum();
                sum / body.strands.len().max(1) as f64
            };
            bodies.iter().map(of).collect()
        })
        .collect()
}

/// Rotation and shift about a centre.
fn key(time: f64, map: DAffine3, centre: DVec3) -> (f64, glam::DQuat, DVec3) {
    let (_, turn, _) = map.to_scale_rotation_translation();
    (time, turn.normalize(), map.transform_point3(centre) - centre)
}

impl Muscles {
    /// Muscles at bind, at the first moment.
    pub fn new(
        bodies: &Bodies,
        musculature: &Musculature,
        skeleton: &Skeleton,
        clip: &str,
        timeline: &Timeline,
        bind: &[Affine3A],
        settings: &Settings,
    ) -> Result<Self, MuscleError> {
        let activation = activations(&bodies.muscles, musculature, skeleton, clip, timeline, bind);
        let tracks: Vec<BoneTrack> = (0..bodies.carriers.len())
            .map(|c| {
                let carrier = &bodies.carriers[c];
                let keys = timeline.moments.iter().enumerate().map(|(k, moment)| {
                    key(timeline.time(k), moment.world * carrier.map(&moment.maps), carrier.centre)
                });
                BoneTrack { name: format!("bone {c}"), keys: keys.collect(), pivot: carrier.centre }
            })
            .collect();
        let (mut list, mut conditions, mut first) = (Vec::new(), Vec::new(), 0u32);
        for muscle in &bodies.muscles {
            for &(node, bone) in muscle.held.iter().flatten() {
                let at = muscle.mesh.nodes[node as usize];
                conditions.push(Condition::always(Hold::Fix { node: first + node, bone, at }));
            }
            first += muscle.mesh.nodes.len() as u32;
            list.push(body_of(muscle, settings));
        }
        let model = Model::new(list)?;
        let boundary = Boundary { bones: tracks, conditions };
        let step_settings = step::Settings {
            gravity: DVec3::ZERO,
            mode: Mode::QuasiStatic,
            mass_damping: 1.0,
            stiffness_damping: 0.004,
            tolerance: 1e-3,
            most_iterations: 30,
            halvings: 4,
            ..step::Settings::default()
        };
        let mut simulation = Simulation::new(model, boundary, step_settings)?;
        let count = bodies.muscles.len();
        let same_group = |a: usize, b: usize| bodies.muscles[a].ends == bodies.muscles[b].ends;
        let groups: Vec<[usize; 2]> = (0..count)
            .flat_map(|a| (a + 1..count).map(move |b| [a, b]))
            .filter(|&[a, b]| same_group(a, b))
            .collect();
        simulation.sliding = Sliding::new(&simulation.model, &groups, settings.sliding);
        // Those of a group that do not lie on each other may meet later.
        let slides = |a: usize, b: usize| same_group(a, b) && simulation.sliding.joins(a, b);
        let slides: Vec<Vec<bool>> = (0..count).map(|a| (0..count).map(|b| slides(a, b)).collect()).collect();
        let contacts = &mut simulation.contacts;
        contacts.settings = ContactSettings {
            resolve: Resolve::Penalty,
            modulus: settings.contact,
            keep_overlap: true,
            ..ContactSettings::default()
        };
        contacts.surfaces = (0..count).map(|m| CollisionSurface::boundary(&simulation.model, m)).collect();
        for bone in &bodies.bones {
            contacts.obstacles.push(Obstacle {
                name: skeleton.joints[bone.joint].name.clone(),
                bone: bone.carrier,
                shape: bone.shape.clone(),
            });
        }
        contacts.test_everything(false);
        contacts.tests.retain(|&(s, against)| match against {
            Against::Surface(other) => !slides[s][other],
            Against::Obstacle(_) => true,
        });
        let start = timeline.moments[0].world;
        simulation.state.time = timeline.time(0);
        simulation.state.positions.iter_mut().for_each(|p| *p = start.transform_point3(*p));
        simulation.begin_blend();
        let surfaces = (0..count).map(|m| CollisionSurface::boundary(&simulation.model, m)).collect();
        let bones = bodies.bones.iter().map(|b| (b.carrier, b.surface.clone())).collect();
        let names = bodies.muscles.iter().map(|m| m.name.clone()).collect();
        Ok(Self { simulation, surfaces, bones, activation, names, settings: *settings, moment: 0 })
    }

    /// The moment it is in.
    pub fn moment(&self) -> usize {
        self.moment
    }

    /// Bytes of matrices and buffers.
    pub fn bytes(&self) -> usize {
        self.simulation.bytes()
    }

    /// Pairs of muscles that slide, and vertices that do.
    pub fn sliding(&self) -> usize {
        self.simulation.sliding.counts()[0]
    }

    /// Activation of every muscle at every moment.
    pub fn activation(&self) -> &[Vec<f64>] {
        &self.activation
    }

    /// Moves to the next moment.
    pub fn advance(&mut self, timeline: &Timeline) -> Result<Report, MuscleError> {
        let clock = std::time::Instant::now();
        let next = self.moment + 1;
        if !self.settings.still && self.moment == timeline.lead_in {
            self.start_moving(timeline);
        }
        let (from, to) = (timeline.time(self.moment), timeline.time(next));
        let substeps = self.settings.substeps.max(1);
        let mut report = Report::default();
        self.simulation.contacts.forget();
        for k in 1..=substeps {
            let part = f64::from(k) / f64::from(substeps);
            for m in 0..self.names.len() {
                let (a, b) = (self.activation[self.moment][m], self.activation[next][m]);
                self.simulation.model.set_activation(m, a + (b - a) * part);
            }
            let done = self.step((to - from) / f64::from(substeps))?;
            report.steps += done.substeps;
            report.solves += done.solves;
            report.unconverged += u32::from(!done.converged);
            report.penetration = done.penetration;
        }
        self.simulation.state.time = to;
        self.moment = next;
        self.measure(&mut report);
        report.seconds = clock.elapsed().as_secs_f64();
        Ok(report)
    }

    /// One step; what Newton cannot solve is solved once and counted.
    fn step(&mut self, h: f64) -> Result<StepReport, StepError> {
        let mode = self.simulation.settings.mode;
        match self.simulation.step(h) {
            Ok(done) => Ok(done),
            Err(_) => {
                self.simulation.settings.mode = Mode::SemiImplicit;
                let done = self.simulation.step(h);
                self.simulation.settings.mode = mode;
                done.map(|report| StepReport { converged: false, ..report })
            }
        }
    }

    /// From rest into motion: inertia counts from the first frame on, and everything moves as the anchor does.
    fn start_moving(&mut self, timeline: &Timeline) {
        self.simulation.settings.mode = Mode::Newton;
        let [now, next] = [0, 1].map(|k| timeline.moments.get(timeline.lead_in + k).map(|m| m.world));
        if let (Some(now), Some(next)) = (now, next) {
            let motion = next * now.inverse();
            let state = &mut self.simulation.state;
            for (v, x) in state.velocities.iter_mut().zip(&state.positions) {
                *v = (motion.transform_point3(*x) - *x) / timeline.step;
            }
        }
    }

    fn measure(&self, report: &mut Report) {
        let (model, x) = (&self.simulation.model, &self.simulation.state.positions);
        report.inverted = (0..model.tets.len()).filter(|&t| volume(model.corners(t, x)) <= 0.0).count();
        for (m, name) in self.names.iter().enumerate() {
            let change = model.volume(m, x) / model.volume(m, &model.rest) - 1.0;
            if change.abs() >= report.volume.abs() {
                report.volume = change;
                report.volume_of.clone_from(name);
            }
        }
        report.torn = self.simulation.sliding.counts()[1];
    }

    /// What must be saved to go on, as bytes, with the report.
    pub fn save(&self, report: &Report) -> Vec<u8> {
        let state = &self.simulation.state;
        super::join(report, state.positions.iter().chain(&state.velocities).copied())
    }

    /// Takes up what [`Muscles::save`] gave for a moment; `None` if it does not fit.
    pub fn load(&mut self, bytes: &[u8], moment: usize, timeline: &Timeline) -> Option<Report> {
        let (report, numbers) = super::split::<Report>(bytes)?;
        let count = self.simulation.model.rest.len();
        if numbers.len() != 2 * count {
            return None;
        }
        let state = &mut self.simulation.state;
        state.positions.copy_from_slice(&numbers[..count]);
        state.velocities.copy_from_slice(&numbers[count..]);
        state.time = timeline.time(moment);
        self.moment = moment;
        if !self.settings.still && moment > timeline.lead_in {
            self.simulation.settings.mode = Mode::Newton;
        }
        Some(report)
    }

    /// Surfaces of muscles in the present moment, then of bones, in the world of the shot.
    pub fn surfaces(&self) -> (Vec<TriMesh>, Vec<TriMesh>) {
        let x = &self.simulation.state.positions;
        let time = self.simulation.state.time;
        let muscles = self.surfaces.iter().map(|s| s.mesh(x)).collect();
        let bones = self.bones.iter().map(|(carrier, surface)| {
            let map = self.simulation.boundary.bones[*carrier].at(time);
            let points = surface.positions.iter().map(|p| map.transform_point3(p.as_dvec3()).as_vec3());
            TriMesh { positions: points.collect(), triangles: surface.triangles.clone() }
        });
        (muscles, bones.collect())
    }
}

fn body_of(muscle_body: &MuscleBody, settings: &Settings) -> Body {
    let force = MuscleForce { peak: settings.peak, optimal: 1.0, ..MuscleForce::default() };
    let lame = Lame::from_bulk(settings.young, FIRMNESS * settings.peak);
    let cord = tendon(Lame::new(2e6, 0.45), TendonForce::default());
    let flesh = muscle(lame, force, Stretch::Full);
    let MuscleBody { name, mesh, field, .. } = muscle_body;
    let tissue_of = mesh.tets.iter().map(|tet| {
        let u = tet.iter().map(|&n| field.potential[n as usize]).sum::<f64>() / 4.0;
        u32::from(!(TENDON..=1.0 - TENDON).contains(&u))
    });
    let local = field.direction.iter().map(|&fibre| Local { fibre, ..Local::default() });
    Body {
        name: name.clone(),
        mesh: mesh.clone(),
        tissues: vec![
            Tissue { material: Box::new(flesh), density: 1060.0 },
            Tissue { material: Box::new(cord), density: 1100.0 },
        ],
        tissue_of: tissue_of.collect(),
        local: local.collect(),
    }
}
