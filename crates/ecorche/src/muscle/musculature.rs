//! Muscles and fat of a character, ready to move.

use super::activation::{Stretch, activation, on_curve};
use super::definition::{BodyDef, Parameter};
use super::fat::FatPad;
use super::shape::{Form, Shape, ShapeState};
use crate::dynamics::{self, Drive, Report, Rigid, System};
use crate::geom::TriMesh;
use glam::{Affine3A, DQuat, DVec3};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::sync::Arc;

/// A fibre without its strand.
#[derive(Clone, Debug)]
pub(super) struct FibreData {
    /// Index of its definition.
    pub muscle: usize,
    /// Which fibre of it.
    pub number: usize,
    /// What its shape is made from.
    pub form: Form,
    /// Joints of origin and insertion.
    pub ends: [usize; 2],
    /// Insertion's rotation seen from the origin at bind.
    pub bind_turn: DQuat,
    /// Its shape at bind.
    pub rest: Shape,
}

#[derive(Clone, Debug)]
pub(super) struct FatData {
    pub pad: usize,
    pub joint: usize,
    /// Its place, in the joint's coordinates.
    pub at: DVec3,
    pub joint_from_pad: DQuat,
    pub radii: DVec3,
}

/// Muscles and fat of a character. Made by [`Musculature::new`]; does not change while they move.
#[derive(Clone, Debug)]
pub struct Musculature {
    pub(super) definition: BodyDef,
    pub(super) system: System,
    /// One per strand, muscle by muscle.
    pub(super) fibres: Vec<FibreData>,
    /// One per strand after the fibres'.
    pub(super) fat: Vec<FatData>,
    /// Of each bone of the definition: see [`Musculature::bone_surfaces`].
    pub(super) bone_surfaces: Vec<Option<(usize, TriMesh)>>,
}

/// Whether muscles have inertia.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Motion {
    /// Yes: they swing, and a frame depends on those before it.
    #[default]
    Dynamic,
    /// No: they follow the pose directly, kept out of bones.
    Kinematic,
}

/// How a step is made.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Settings {
    /// With or without inertia.
    pub motion: Motion,
    /// Substeps and solver.
    pub dynamics: dynamics::Settings,
}

/// Keyed values of one muscle at one time; the definition's or the pose's where absent.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Controls {
    /// In `[0, 1]`.
    pub activation: Option<f32>,
    /// Artist's factor on the width.
    pub gain: Option<f32>,
    /// Of the section.
    pub eccentricity: Option<f32>,
    /// Factor on tone, strength and stiffness.
    pub stiffness: Option<f32>,
}

/// How tense a fibre is, and how that changes its shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Tension {
    shape: ShapeState,
    /// Factor on the tone.
    pull: f64,
    /// Factor on the stiffness.
    stiffness: f64,
}

/// Everything that changes; a clone is a save.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct State {
    particles: dynamics::State,
    fibres: Vec<Tension>,
}

impl State {
    /// Whether the other has the same numbers of fibres, frames, strands and particles.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let counts = |state: &Self| {
            let strands = state.particles.strands.iter().map(|s| [s.position.len(), s.velocity.len()]);
            (state.fibres.len(), state.particles.frames.len(), strands.collect::<Vec<_>>())
        };
        counts(self) == counts(other)
    }
}

/// Scratch; can be dropped between steps.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    dynamics: dynamics::Workspace,
    drives: Vec<Drive>,
}

/// A fibre in one moment.
#[derive(Clone, Debug)]
pub struct PosedMuscle {
    /// Index of its definition.
    pub muscle: usize,
    /// Which fibre of it.
    pub fibre: usize,
    /// Its shape, in the world.
    pub shape: Arc<Shape>,
    /// Mean tension along it, newtons.
    pub tension: f64,
}

/// A fat pad in one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PosedFat {
    /// Index of its definition.
    pub pad: usize,
    /// Its field.
    pub field: FatPad,
    /// Its displacement from its place, in the world, metres.
    pub offset: DVec3,
}

/// Muscles and fat in one moment.
#[derive(Clone, Debug, Default)]
pub struct Flesh {
    /// Fibres, muscle by muscle.
    pub muscles: Vec<PosedMuscle>,
    /// Fat pads.
    pub fat: Vec<PosedFat>,
    /// World from the coordinates of each bone.
    pub frames: Vec<Rigid>,
}

impl Musculature {
    /// What it was made from.
    pub fn definition(&self) -> &BodyDef {
        &self.definition
    }

    /// Bones that are surfaces from files: the joint of each, and the surface in its coordinates, metres.
    pub fn bone_surfaces(&self) -> impl Iterator<Item = &(usize, TriMesh)> {
        self.bone_surfaces.iter().flatten()
    }

    /// Its size relative to a human. It moves as a human-sized one would: masses grow with the cube of it, gravity with it.
    pub fn scale(&self) -> f64 {
        self.system.unit()
    }

    /// Joints of origin and insertion of every fibre, in the order of [`Flesh::muscles`].
    pub fn ends(&self) -> impl ExactSizeIterator<Item = [usize; 2]> + '_ {
        self.fibres.iter().map(|f| f.ends)
    }

    /// The particles, frames and obstacles.
    pub fn system(&self) -> &System {
        &self.system
    }

    /// Every muscle's keyed values at a time of a clip, in the order of the definition.
    pub fn controls(&self, clip: &str, time: f32) -> Vec<Controls> {
        let mut controls = vec![Controls::default(); self.definition.muscle.len()];
        for keys in self.definition.keys.iter().filter(|k| k.clip == clip && !k.values.is_empty()) {
            let of = |m: &super::definition::MuscleDef| m.name == keys.muscle && m.side == keys.side;
            if let Some(index) = self.definition.muscle.iter().position(of) {
                let value = Some(on_curve(&keys.values, time));
                match keys.parameter {
                    Parameter::Activation => controls[index].activation = value,
                    Parameter::Gain => controls[index].gain = value,
                    Parameter::Eccentricity => controls[index].eccentricity = value,
                    Parameter::Stiffness => controls[index].stiffness = value,
                }
            }
        }
        controls
    }

    /// The state at rest in a pose (world-from-joint of every joint): where an animation starts.
    pub fn at_rest(&self, world_from_joint: &[Affine3A]) -> State {
        let frames: Vec<Rigid> = world_from_joint.iter().map(|&w| Rigid::from_affine(w)).collect();
        let mut state = State {
            particles: self.system.at_rest(&frames),
            fibres: vec![Tension::default(); self.fibres.len()],
        };
        let mut drives = Vec::new();
        self.drive(&mut state, &frames, &[], Motion::Kinematic, &mut drives);
        self.system.settle(&mut state.particles, &frames, &drives);
        self.turn_sections(&mut state);
        state
    }

    /// Moves muscles and fat to the next pose, `dt` seconds later. `controls`: one per muscle, or none.
    ///
    /// # Panics
    /// If pose or state are not this musculature's.
    pub fn step(
        &self,
        state: &mut State,
        world_from_joint: &[Affine3A],
        controls: &[Controls],
        dt: f32,
        settings: &Settings,
        workspace: &mut Workspace,
    ) -> Report {
        let frames: Vec<Rigid> = world_from_joint.iter().map(|&w| Rigid::from_affine(w)).collect();
        if !frames.iter().all(Rigid::is_finite) {
            return Report::default();
        }
        self.drive(state, &frames, controls, settings.motion, &mut workspace.drives);
        let report = match settings.motion {
            Motion::Dynamic => self.system.step(
                &mut state.particles,
                &frames,
                &workspace.drives,
                f64::from(dt),
                &settings.dynamics,
                &mut workspace.dynamics,
            ),
            Motion::Kinematic => self.system.settle(&mut state.particles, &frames, &workspace.drives),
        };
        self.turn_sections(state);
        report
    }

    /// Activations and radii for a pose.
    fn drive(
        &self,
        state: &mut State,
        frames: &[Rigid],
        controls: &[Controls],
        motion: Motion,
        drives: &mut Vec<Drive>,
    ) {
        drives.clear();
        let mut carried = Vec::new();
        for (index, fibre) in self.fibres.iter().enumerate() {
            let definition = &self.definition.muscle[fibre.muscle];
            let keyed = controls.get(fibre.muscle).copied().unwrap_or_default();
            let strand = &self.system.strands()[index];
            carried.resize(strand.len(), DVec3::ZERO);
            strand.carry(frames, &mut carried);
            let turn = frames[fibre.ends[0]].rotation.conjugate() * frames[fibre.ends[1]].rotation;
            let stretch = Stretch {
                ratio: length(&carried) / fibre.form.length(),
                angle: turn.angle_between(fibre.bind_turn),
            };
            let tension = &mut state.fibres[index];
            let own = activation(&definition.activation, stretch);
            tension.shape.activation = keyed.activation.map_or(own, |a| f64::from(a.clamp(0.0, 1.0)));
            tension.shape.gain = f64::from(keyed.gain.unwrap_or(definition.gain)).max(0.0);
            tension.shape.eccentricity = f64::from(keyed.eccentricity.unwrap_or(definition.eccentricity));
            tension.stiffness = f64::from(keyed.stiffness.unwrap_or(1.0)).clamp(1e-3, 1e3);
            tension.pull = 1.0 + f64::from(definition.strength / definition.tone) * tension.shape.activation;
            let points = match motion {
                Motion::Dynamic => &state.particles.strands[index].position,
                Motion::Kinematic => &carried,
            };
            drives.push(Drive {
                radius: fibre.form.contact_radii(length(points), carried.len(), &tension.shape),
                pull: tension.pull,
                stiffness: tension.stiffness,
            });
        }
        drives.extend(self.fat.iter().map(|_| Drive { radius: vec![0.0], pull: 1.0, stiffness: 1.0 }));
    }

    /// Keeps the twist of every shape, so that sections do not flip.
    fn turn_sections(&self, state: &mut State) {
        let twist = |index: usize| {
            let (fibre, points) = (&self.fibres[index], &state.particles.strands[index].position);
            fibre.form.twist(points, fibre.end_frames(state), state.fibres[index].shape.twist)
        };
        let twists: Vec<Option<f64>> = (0..self.fibres.len()).into_par_iter().map(twist).collect();
        for (fibre, twist) in state.fibres.iter_mut().zip(twists) {
            fibre.shape.twist = twist.unwrap_or(fibre.shape.twist);
        }
    }

    /// The fields of a state.
    pub fn pose(&self, state: &State) -> Flesh {
        let muscles = (0..self.fibres.len())
            .into_par_iter()
            .map(|index| {
                let (fibre, tension) = (&self.fibres[index], &state.fibres[index]);
                let position = &state.particles.strands[index].position;
                // All points coincide: nothing is visible, so the rest shape will do.
                let shape = fibre.form.pose(position, fibre.end_frames(state), &tension.shape);
                let shape = shape.unwrap_or_else(|| fibre.rest.clone());
                let links = &self.system.strands()[index].spec().links;
                let sum: f64 = links
                    .iter()
                    .map(|l| {
                        l.tension(position, tension.stiffness * if l.pulled { tension.pull } else { 1.0 })
                    })
                    .sum();
                PosedMuscle {
                    muscle: fibre.muscle,
                    fibre: fibre.number,
                    shape: Arc::new(shape),
                    tension: sum / links.len().max(1) as f64,
                }
            })
            .collect();
        let fat = self
            .fat
            .iter()
            .enumerate()
            .map(|(k, data)| {
                let frame = &state.particles.frames[data.joint];
                let world_from_pad = Rigid {
                    rotation: frame.rotation * data.joint_from_pad,
                    translation: state.particles.strands[self.fibres.len() + k].position[0],
                };
                let offset = world_from_pad.translation - frame.point(data.at);
                PosedFat { pad: data.pad, field: FatPad { world_from_pad, radii: data.radii }, offset }
            })
            .collect();
        Flesh { muscles, fat, frames: state.particles.frames.clone() }
    }

    /// The fields at bind.
    pub fn at_bind(&self) -> Flesh {
        let particles = self.system.at_rest(self.system.bind());
        let mut state = State { particles, fibres: vec![Tension::default(); self.fibres.len()] };
        let frames = self.system.bind().to_vec();
        self.drive(&mut state, &frames, &[], Motion::Kinematic, &mut Vec::new());
        self.turn_sections(&mut state);
        self.pose(&state)
    }
}

impl FibreData {
    /// World from the bones of origin and insertion.
    fn end_frames(&self, state: &State) -> [Rigid; 2] {
        self.ends.map(|end| state.particles.frames[end])
    }
}

impl State {
    /// Positions and speeds of the particles.
    pub fn particles(&self) -> &dynamics::State {
        &self.particles
    }

    /// Whether every particle is within `distance` metres of its place in another state of the same muscles.
    pub fn is_within(&self, other: &Self, distance: f64) -> bool {
        let both = self.particles.strands.iter().zip(&other.particles.strands);
        let mut pairs = both.flat_map(|(a, b)| a.position.iter().zip(&b.position));
        pairs.all(|(a, b)| a.distance(*b) <= distance)
    }

    /// Sets all speeds to zero: the next step starts from rest.
    pub fn calm(&mut self) {
        self.particles.calm();
    }
}

fn length(points: &[DVec3]) -> f64 {
    points.windows(2).map(|p| p[0].distance(p[1])).sum()
}

#[cfg(test)]
mod tests;
