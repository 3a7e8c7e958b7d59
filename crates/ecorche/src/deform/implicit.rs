//! Tracking: the welded surface through tracking and back.

use super::flesh::{self, Flesh};
use super::papers::{self, Papers};
use super::{MuscleSettings, Settings, State, Tracking, Under, field, morph_weights};
use crate::anatomy::{BindFrames, SamplesDef};
use crate::cache::Cache;
use crate::character::{Character, Pose};
use crate::field::SurfaceSample;
use crate::field::tree::Tree;
use crate::frame::{MuscleReport, TrackingReport};
use crate::muscle::definition::BodyDef;
use crate::muscle::{self, BuildError, Motion, Musculature};
use crate::parts::{FOLLOWS, Parts, Retouch};
use crate::skinning::Surface;
use crate::tracking::{Layers, VertexReport, robust};
use glam::{Affine3A, Vec3, Vec3A};
use std::path::Path;
use std::sync::Arc;

/// What tracking needs of a character.
#[derive(Debug)]
pub(super) struct Implicit {
    pub surface: Surface,
    pub parts: Parts,
    /// How the parts' fields are joined.
    pub tree: Arc<Tree>,
    flesh: Option<Flesh>,
    scheme: Scheme,
}

#[derive(Debug)]
enum Scheme {
    Robust(Box<robust::Tracker>),
    Papers(Box<Papers>),
}

/// What tracking made of each vertex of the welded surface in one frame; see [`crate::inspect`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Quantities {
    /// One per vertex of the surface.
    pub reports: Vec<VertexReport>,
    /// Cosine between the gradients of the vertex's part and of the one it meets; 1 where it meets none.
    pub cosines: Vec<f32>,
}

/// What became of a vertex.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VertexState {
    /// Left where skinning took it: nothing moves against it.
    Asleep,
    /// Brought to its own level.
    Free,
    /// Held by a contact.
    Contact,
    /// Outside every field, or of a joint without a finite matrix: left where skinning took it.
    FellBack,
}

impl Quantities {
    /// What became of surface vertex `v`.
    pub fn state(&self, v: usize) -> VertexState {
        match &self.reports[v] {
            report if report.fell_back => VertexState::FellBack,
            report if report.contact > 0.0 => VertexState::Contact,
            report if report.iterations > 0 => VertexState::Free,
            _ => VertexState::Asleep,
        }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    pub quantities: Quantities,
    pub flesh: flesh::Moment,
    muscle: muscle::Workspace,
    rest: Vec<Vec3>,
    posed_from_bind: Vec<Affine3A>,
    robust: robust::Workspace,
    tracked: robust::Tracked,
    /// The vertex whose path is recorded, if any.
    traced: Option<u32>,
    /// Milliseconds of what comes before tracking, and of everything.
    before_tracking: Vec<(&'static str, f64)>,
    stages: Vec<(&'static str, f64)>,
    papers: papers::Workspace,
}

impl Workspace {
    /// Before every frame.
    pub fn begin(&mut self, implicit: Option<&Implicit>) {
        self.quantities.reports.clear();
        self.quantities.cosines.clear();
        self.tracked.stages.clear();
        self.tracked.pairs = [0; 2];
        self.tracked.path.clear();
        self.before_tracking.clear();
        self.stages.clear();
        if implicit.is_none() {
            self.tracked.positions.clear();
        }
    }

    /// Of the surface's vertices, world.
    pub fn positions(&self) -> &[Vec3A] {
        &self.tracked.positions
    }

    pub fn stages(&self) -> &[(&'static str, f64)] {
        &self.stages
    }

    pub fn trace(&mut self, vertex: Option<u32>) {
        self.traced = vertex;
    }

    pub fn path(&self) -> &[(&'static str, Vec3A)] {
        &self.tracked.path
    }
}

impl Implicit {
    /// `anatomy`: what lies under the skin, and the folder its files are relative to.
    pub fn new(
        character: &Character,
        surface: Surface,
        settings: &Settings,
        anatomy: (&BodyDef, &Path),
        cache: Option<&Cache>,
    ) -> Result<Self, BuildError> {
        let mut parts = Parts::build(&surface, character, &settings.parts, cache);
        parts.retouch(&retouches(character, settings), &settings.parts);
        let tree = field::tree(&parts, settings);
        let definition = anatomy.0;
        let any = settings.stack.under == Under::Flesh
            && !(definition.muscle.is_empty() && definition.fat.is_empty());
        let flesh = || Flesh::new(character, &surface, &parts, anatomy, settings.muscles.blend);
        let flesh = any.then(flesh).transpose()?;
        let scheme = match settings.stack.tracking {
            Some(Tracking::Robust) => {
                let under = flesh.as_ref().map(|f| f.at_rest(&parts, &settings.muscles.thin));
                let joins = field::joins(&parts, settings);
                let tracker =
                    robust::Tracker::new(character, &surface, &parts, settings.robust, joins, under);
                Scheme::Robust(Box::new(tracker))
            }
            _ => Scheme::Papers(Box::new(Papers::new(character, &surface, &parts, &tree, settings))),
        };
        Ok(Self { surface, parts, tree, flesh, scheme })
    }

    pub fn musculature(&self) -> Option<&Musculature> {
        self.flesh.as_ref().map(Flesh::musculature)
    }

    /// Where the joints take bind space.
    pub fn pose(&self, world_from_joint: &[Affine3A], w: &mut Workspace) {
        let binds = self.surface.joint_from_bind();
        w.posed_from_bind.clear();
        w.posed_from_bind.extend(world_from_joint.iter().zip(binds).map(|(&world, &bind)| world * bind));
    }

    /// Muscles and fat in the pose: on from the state, or where the pose alone has them.
    pub fn move_muscles(
        &self,
        time: f32,
        state: Option<&mut State>,
        settings: &MuscleSettings,
        w: &mut Workspace,
    ) {
        let Some(flesh) = &self.flesh else { return };
        let started = std::time::Instant::now();
        w.flesh = match state.filter(|_| settings.motion == Motion::Dynamic) {
            Some(state) => flesh.step(&w.posed_from_bind, time, settings, state, &mut w.muscle),
            None => flesh.pose(&w.posed_from_bind),
        };
        w.before_tracking.push(("muscles", started.elapsed().as_secs_f64() * 1e3));
    }

    pub fn report_muscles(&self, w: &Workspace) -> Option<MuscleReport> {
        self.flesh.as_ref().map(|_| MuscleReport {
            fibres: w.flesh.flesh.muscles.len(),
            pads: w.flesh.flesh.fat.len(),
            resets: w.flesh.report.resets,
            deepest: w.flesh.report.deepest as f32,
        })
    }

    /// The surface in bind space, morphs blended in.
    pub fn gather(&self, character: &Character, pose: &Pose, morphed: &mut Vec<Vec3>, w: &mut Workspace) {
        w.rest.clear();
        w.rest.extend_from_slice(&self.surface.mesh.positions);
        for (m, mesh) in character.meshes.iter().enumerate() {
            let weights = morph_weights(pose, m);
            if weights.iter().any(|&weight| weight != 0.0) {
                mesh.morphed(weights, morphed);
                self.surface.gather(m, morphed, &mut w.rest);
            }
        }
    }

    /// Tracks the surface; joints without a finite matrix are taken to be where they were at bind time.
    pub fn track(
        &self,
        character: &Character,
        world_from_joint: &[Affine3A],
        state: Option<&mut robust::State>,
        w: &mut Workspace,
    ) {
        match &self.scheme {
            Scheme::Robust(tracker) => {
                let layers = self.flesh.as_ref().map(|f| f.layers(&w.flesh.flesh));
                let layers = layers.as_ref().map(|l| l as &dyn Layers);
                let (trace, scratch) = (w.traced, &mut w.robust);
                tracker.track(&w.posed_from_bind, &w.rest, layers, state, trace, scratch, &mut w.tracked);
                w.quantities.reports.extend_from_slice(&w.tracked.reports);
                w.quantities.cosines.extend_from_slice(&w.tracked.cosines);
            }
            Scheme::Papers(papers) => {
                let started = std::time::Instant::now();
                let scene = papers::Scene {
                    character,
                    surface: &self.surface,
                    parts: &self.parts,
                    tree: &self.tree,
                    world_from_joint,
                    posed_from_bind: &w.posed_from_bind,
                    rest: &w.rest,
                };
                papers.track(&scene, &mut w.papers, &mut w.quantities);
                w.tracked.positions.clear();
                w.tracked.positions.extend(w.papers.positions.iter().map(|&p| Vec3A::from(p)));
                w.tracked.stages.push(("track", started.elapsed().as_secs_f64() * 1e3));
            }
        }
        w.stages.append(&mut w.before_tracking);
        w.stages.extend_from_slice(&w.tracked.stages);
        self.mark_bad_joints(w);
    }

    fn mark_bad_joints(&self, w: &mut Workspace) {
        if w.posed_from_bind.iter().all(Affine3A::is_finite) {
            return;
        }
        let bad = |(joint, _): (u32, f32)| !w.posed_from_bind[joint as usize].is_finite();
        for (v, report) in w.quantities.reports.iter_mut().enumerate() {
            report.fell_back |= self.surface.influences.of(v).any(bad);
        }
    }

    /// Counts of the frame; returns how many vertices fell back. Pieces that follow the body have no field to fall
    /// from.
    pub fn report(&self, w: &mut Workspace, report: &mut Option<TrackingReport>) -> usize {
        let reports = &w.quantities.reports;
        let count = |f: &dyn Fn(&VertexReport) -> bool| reports.iter().filter(|r| f(r)).count();
        *report = Some(TrackingReport {
            vertices: reports.len(),
            tracked: count(&|r| r.iterations > 0),
            contacts: count(&|r| r.contact > 0.0),
            evaluations: reports.iter().map(|r| r.evaluations as usize).sum(),
            pairs: w.tracked.pairs,
        });
        count(&|r| r.fell_back)
    }
}

/// The samples changed by hand, in bind space.
fn retouches(character: &Character, settings: &Settings) -> Vec<Retouch> {
    if settings.joint_samples.is_empty() {
        return Vec::new();
    }
    let frames = BindFrames::of(character);
    let of_joint = |(joint, changes): &(usize, SamplesDef)| {
        let add = changes.add.iter().map(|&[x, y, z, nx, ny, nz]| SurfaceSample {
            position: frames.to_bind(*joint, Vec3::new(x, y, z)),
            normal: frames.bind_from_bone[*joint]
                .transform_vector3(Vec3::new(nx, ny, nz))
                .normalize_or_zero(),
        });
        let remove = changes.remove.iter().map(|&at| frames.to_bind(*joint, at.into()));
        Retouch { joint: *joint as u32, add: add.collect(), remove: remove.collect() }
    };
    settings.joint_samples.iter().map(of_joint).collect()
}

/// Whether a vertex has a field.
pub(super) fn has_part(parts: &Parts, v: usize) -> bool {
    parts.part_of_vertex[v] != FOLLOWS
}
