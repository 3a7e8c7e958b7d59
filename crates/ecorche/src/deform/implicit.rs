//! The implicit method: the welded surface through tracking and back.

use super::papers::{self, Papers};
use super::{Settings, State, Tracking, field, morph_weights};
use crate::cache::Cache;
use crate::character::{Character, Pose};
use crate::field::tree::Tree;
use crate::frame::TrackingReport;
use crate::parts::{FOLLOWS, Parts};
use crate::skinning::Surface;
use crate::tracking::{VertexReport, robust};
use glam::{Affine3A, Vec3, Vec3A};
use std::sync::Arc;

/// What tracking needs of a character.
#[derive(Debug)]
pub(super) struct Implicit {
    pub surface: Surface,
    pub parts: Parts,
    /// How the parts' fields are joined.
    pub tree: Arc<Tree>,
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
    rest: Vec<Vec3>,
    posed_from_bind: Vec<Affine3A>,
    robust: robust::Workspace,
    papers: papers::Workspace,
}

impl Workspace {
    /// Before every frame.
    pub fn begin(&mut self, implicit: Option<&Implicit>) {
        self.quantities.reports.clear();
        self.quantities.cosines.clear();
        self.robust.stages.clear();
        self.robust.pairs = [0; 2];
        if implicit.is_none() {
            self.robust.positions.clear();
        }
    }

    /// Of the surface's vertices, world.
    pub fn positions(&self) -> &[Vec3A] {
        &self.robust.positions
    }

    pub fn stages(&self) -> &[(&'static str, f64)] {
        &self.robust.stages
    }
}

impl Implicit {
    pub fn new(character: &Character, surface: Surface, settings: &Settings, cache: Option<&Cache>) -> Self {
        let parts = Parts::build(&surface, character, &settings.parts, cache);
        let tree = field::tree(&parts, settings);
        let scheme = match settings.tracking {
            Tracking::Robust => {
                let tracker = robust::Tracker::new(character, &surface, &parts, settings.robust);
                Scheme::Robust(Box::new(tracker))
            }
            _ => Scheme::Papers(Box::new(Papers::new(character, &surface, &parts, &tree, settings))),
        };
        Self { surface, parts, tree, scheme }
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
        state: Option<&mut State>,
        w: &mut Workspace,
    ) {
        let binds = self.surface.joint_from_bind();
        w.posed_from_bind.clear();
        w.posed_from_bind.extend(world_from_joint.iter().zip(binds).map(|(&world, &bind)| world * bind));
        match &self.scheme {
            Scheme::Robust(tracker) => {
                tracker.track(&w.posed_from_bind, &w.rest, state.map(|s| &mut s.tracking), &mut w.robust);
                w.quantities.reports.extend_from_slice(&w.robust.reports);
                w.quantities.cosines.extend_from_slice(&w.robust.cosines);
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
                w.robust.positions.clear();
                w.robust.positions.extend(w.papers.positions.iter().map(|&p| Vec3A::from(p)));
                w.robust.stages.push(("track", started.elapsed().as_secs_f64() * 1e3));
            }
        }
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
            pairs: w.robust.pairs,
        });
        count(&|r| r.fell_back)
    }
}

/// Whether a vertex has a field.
pub(super) fn has_part(parts: &Parts, v: usize) -> bool {
    parts.part_of_vertex[v] != FOLLOWS
}
