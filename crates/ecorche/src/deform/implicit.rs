//! Takes the welded surface through tracking and back to the meshes.

use super::flesh::{Flesh, Moment};
use super::fleshed::UnderSkin;
use super::papers::{self, Papers};
use super::yielding::{self, Yielding};
use super::{BindError, MuscleSettings, Settings, State, Tracking, Under, field, morph_weights};
use crate::anatomy::{BindFrames, SamplesDef};
use crate::cache::Cache;
use crate::character::{Character, Pose};
use crate::field::SurfaceSample;
use crate::field::tree::Tree;
use crate::frame::{Found, FrameMesh, MuscleReport, TrackingReport};
use crate::muscle::definition::BodyDef;
use crate::muscle::{self, Motion, Musculature};
use crate::parts::{FOLLOWS, Parts, Retouch};
use crate::skinning::{Skinner, Surface};
use crate::tracking::{Layers, VertexReport, robust};
use crate::watch::Watch;
use glam::{Affine3A, Vec3, Vec3A};
use serde::{Deserialize, Serialize};
use std::path::Path;
use std::sync::Arc;

/// What tracking needs of a character.
#[derive(Debug)]
pub(super) struct Implicit {
    pub surface: Arc<Surface>,
    pub parts: Parts,
    /// How the parts' fields are joined.
    pub tree: Arc<Tree>,
    flesh: Option<Flesh>,
    yielding: Option<Yielding>,
    scheme: Scheme,
}

#[derive(Debug)]
enum Scheme {
    Robust(Box<robust::Tracker>),
    Papers(Box<Papers>),
}

/// What tracking hands from frame to frame: of the scheme that the body has.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct TrackingState {
    robust: robust::State,
    papers: papers::State,
}

impl TrackingState {
    /// As before the first frame.
    pub fn reset(&mut self) {
        self.robust.reset();
        self.papers.reset();
    }

    /// Whether it is empty or of a surface of `vertices` on `joints`.
    pub fn is_of(&self, vertices: usize, joints: usize) -> bool {
        self.robust.is_of(vertices) && self.papers.is_of(vertices, joints)
    }
}

/// Scratch; nothing is read from it after the frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    muscle: muscle::Workspace,
    rest: Vec<Vec3>,
    posed_from_bind: Vec<Affine3A>,
    robust: robust::Workspace,
    tracked: robust::Tracked,
    papers: papers::Workspace,
    yielding: yielding::Workspace,
}

impl Workspace {
    /// Positions of the surface's vertices, world.
    pub fn positions(&self) -> &[Vec3A] {
        &self.tracked.positions
    }
}

impl Implicit {
    /// `start`: skins the surface as tracking begins; `anatomy`: what lies under the skin, and the folder its files are
    /// relative to.
    pub fn new(
        character: &Character,
        surface: Arc<Surface>,
        start: Skinner,
        settings: &Settings,
        anatomy: (&BodyDef, &Path),
        cache: Option<&Cache>,
        watch: &Watch,
    ) -> Result<Self, BindError> {
        super::check_rest(&surface)?;
        let mut parts = Parts::build_watched(&surface, character, &settings.parts, cache, watch);
        if watch.is_stopped() {
            return Err(BindError::Stopped);
        }
        parts.retouch(&retouches(character, settings), &settings.parts);
        let tree = field::tree(&parts, settings);
        let definition = anatomy.0;
        let any = settings.stack.under == Under::Flesh && definition.has_flesh();
        let flesh = || Flesh::new(character, &surface, &parts, anatomy);
        if any {
            watch.begin("placing muscles", 0);
        }
        let flesh = any.then(flesh).transpose()?;
        if watch.is_stopped() {
            return Err(BindError::Stopped);
        }
        watch.begin("preparing contact", 0);
        let scheme = match settings.stack.tracking {
            Some(Tracking::Robust) => {
                let under = flesh.as_ref().map(|f| f.at_rest(settings.muscles.blend));
                let joins = field::joins(&parts, settings);
                let tracker =
                    robust::Tracker::new(character, &surface, &parts, settings.robust, joins, under);
                Scheme::Robust(Box::new(tracker.starting_from(start)))
            }
            _ => {
                let grooves = settings.muscles.blend;
                let under = flesh.as_ref().map(|f| f.under_skin(&f.musculature().at_bind(), grooves));
                Scheme::Papers(Box::new(Papers::new(
                    character, &surface, start, &parts, &tree, under, settings,
                )))
            }
        };
        let yielding = flesh.as_ref().map(|f| Yielding::new(&surface.mesh, f.musculature()));
        Ok(Self { surface, parts, tree, flesh, yielding, scheme })
    }

    /// The tracker of contact; `None` for the schemes of the papers.
    pub fn tracker(&self) -> Option<&robust::Tracker> {
        match &self.scheme {
            Scheme::Robust(tracker) => Some(tracker),
            Scheme::Papers(_) => None,
        }
    }

    pub fn musculature(&self) -> Option<&Musculature> {
        self.flesh.as_ref().map(Flesh::musculature)
    }

    /// What lies in the parts in a pose, independent of earlier frames; `None` where the fields have nothing in them.
    pub fn under_skin_in(&self, posed_from_bind: &[Affine3A], settings: &Settings) -> Option<UnderSkin> {
        let flesh = self.flesh.as_ref().filter(|_| matches!(self.scheme, Scheme::Papers(_)))?;
        Some(flesh.under_skin(&flesh.pose(posed_from_bind).flesh, settings.muscles.blend))
    }

    /// Where the joints take bind space.
    pub fn pose(&self, world_from_joint: &[Affine3A], w: &mut Workspace) {
        let binds = self.surface.joint_from_bind();
        w.posed_from_bind.clear();
        w.posed_from_bind.extend(world_from_joint.iter().zip(binds).map(|(&world, &bind)| world * bind));
    }

    /// Muscles and fat in the pose: continued from the state, or from the pose alone. `None` without any.
    pub fn move_muscles(
        &self,
        time: f32,
        state: Option<&mut State>,
        settings: &MuscleSettings,
        w: &mut Workspace,
    ) -> Option<(muscle::Flesh, MuscleReport)> {
        let own = self.flesh.as_ref()?;
        let Moment { flesh, report } = match state.filter(|_| settings.motion == Motion::Dynamic) {
            Some(state) => own.step(&w.posed_from_bind, time, settings, state, &mut w.muscle),
            None => own.pose(&w.posed_from_bind),
        };
        let report = MuscleReport {
            fibres: flesh.muscles.len(),
            pads: flesh.fat.len(),
            resets: report.resets,
            deepest: report.deepest as f32,
            ..MuscleReport::default()
        };
        Some((flesh, report))
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

    /// Tracks the surface; joints without a finite matrix are taken to be where they were at bind time. `trace`: the vertex
    /// whose path is recorded. Returns the counts and how many vertices fell back; pieces that follow the body have no
    /// field and are not counted.
    pub fn track(
        &self,
        (character, world_from_joint): (&Character, &[Affine3A]),
        settings: &Settings,
        state: Option<&mut TrackingState>,
        trace: Option<u32>,
        w: &mut Workspace,
        found: &mut Found,
    ) -> (TrackingReport, usize) {
        match &self.scheme {
            Scheme::Robust(tracker) => {
                let layers = self.flesh.as_ref().map(|f| f.layers(&found.flesh));
                let layers = layers.as_ref().map(|l| l as &dyn Layers);
                let (scratch, tracked) = (&mut w.robust, &mut w.tracked);
                let state = state.map(|s| &mut s.robust);
                tracker.track(&w.posed_from_bind, &w.rest, layers, state, trace, scratch, tracked);
                found.reports.extend_from_slice(&tracked.reports);
                found.cosines.extend_from_slice(&tracked.cosines);
                found.stages.extend_from_slice(&tracked.stages);
                found.path.extend_from_slice(&tracked.path);
                found.faded.extend_from_slice(&tracked.faded);
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
                    under: self.flesh.as_ref().map(|f| f.under_skin(&found.flesh, settings.muscles.blend)),
                };
                papers.track(&scene, state.map(|s| &mut s.papers), &mut w.papers, found);
                w.tracked.positions.clear();
                w.tracked.positions.extend(w.papers.positions.iter().map(|&p| Vec3A::from(p)));
                w.tracked.pairs = [0; 2];
                found.stages.push(("track", started.elapsed().as_secs_f64() * 1e3));
            }
        }
        found.pieces = Some(self.parts.pieces.clone());
        self.mark_bad_joints(&w.posed_from_bind, &mut found.reports);
        let reports = &found.reports;
        let count = |f: &dyn Fn(&VertexReport) -> bool| reports.iter().filter(|r| f(r)).count();
        let report = TrackingReport {
            vertices: reports.len(),
            tracked: count(&|r| r.iterations > 0 || r.contact > 0.0),
            contacts: count(&|r| r.contact > 0.0),
            evaluations: reports.iter().map(|r| r.evaluations as usize).sum(),
            pairs: w.tracked.pairs,
            faded: found.faded.iter().map(|f| f.1 as usize).sum(),
            faded_pieces: found.faded.len(),
        };
        (report, count(&|r| r.fell_back))
    }

    /// What lies under the skin yields to the skin of these meshes.
    pub fn yield_to_skin(
        &self,
        meshes: &[FrameMesh],
        flesh: &mut muscle::Flesh,
        w: &mut Workspace,
        report: &mut MuscleReport,
    ) {
        let Some(yielding) = &self.yielding else { return };
        let positions = w.yielding.positions();
        positions.clear();
        positions.extend(self.surface.source().map(|(m, v)| meshes[m].positions[v]));
        let found = yielding.apply(flesh, &mut w.yielding);
        report.yielded = found.farthest as f32;
        report.lost = found.lost as f32;
    }

    fn mark_bad_joints(&self, posed_from_bind: &[Affine3A], reports: &mut [VertexReport]) {
        if posed_from_bind.iter().all(Affine3A::is_finite) {
            return;
        }
        let bad = |(joint, _): (u32, f32)| !posed_from_bind[joint as usize].is_finite();
        for (v, report) in reports.iter_mut().enumerate() {
            report.fell_back |= self.surface.influences.of(v).any(bad);
        }
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
