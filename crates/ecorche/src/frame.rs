//! One deformed moment of a character.

use crate::muscle::Flesh;
use crate::muscle::parametric::{Parametric, Posed};
use crate::pieces::Pieces;
use crate::skinning::Surface;
use crate::surface::SurfaceReport;
use crate::tracking::VertexReport;
use glam::{Vec3, Vec3A};
use serde::Serialize;
use std::sync::Arc;

/// Every mesh of a character at one moment, in world space (metres, Y up). Frames are equal if they show and report the
/// same; what was found on the way does not count.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Moment in the clip, seconds.
    pub time: f32,
    /// One per mesh of the character, in its order.
    pub meshes: Vec<FrameMesh>,
    /// Counts of this frame.
    pub report: FrameReport,
    /// What the deformation found on the way, to be looked at.
    pub found: Found,
}

impl PartialEq for Frame {
    fn eq(&self, other: &Self) -> bool {
        (self.time, &self.meshes, &self.report) == (other.time, &other.meshes, &other.report)
    }
}

/// What a deformation found on its way to a frame. Vertices are those of the welded surface ([`Surface`]).
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// What tracking made of each vertex; empty without tracking.
    pub reports: Vec<VertexReport>,
    /// Of each vertex: cosine between the gradients of its part and of the one it meets; 1 where it meets none. Empty
    /// without tracking.
    pub cosines: Vec<f32>,
    /// The pieces of the surface and their roles; `None` without tracking.
    pub pieces: Option<Arc<Pieces>>,
    /// Pieces that were worse off than by skinning and faded back to it, and how many of their vertices.
    pub faded: Vec<(u32, u32)>,
    /// Muscles and fat, inside the skin; empty without.
    pub flesh: Flesh,
    /// The same before they yielded to the skin.
    pub free_flesh: Flesh,
    /// Parametric muscles; empty without.
    pub parametric: Vec<Posed>,
    /// What they are and which skin they move; `None` without.
    pub parametric_muscles: Option<Arc<Parametric>>,
    /// Name and milliseconds of each stage, in order, on this machine; empty without tracking.
    pub stages: Vec<(&'static str, f64)>,
    /// Positions of the traced vertex, each with the stage that moved it there; empty if none is traced, and for schemes
    /// other than the robust one.
    pub path: Vec<(&'static str, Vec3A)>,
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

impl Found {
    /// What became of surface vertex `v`; [`VertexState::Asleep`] without tracking.
    pub fn state(&self, v: usize) -> VertexState {
        match self.reports.get(v) {
            Some(report) if report.fell_back => VertexState::FellBack,
            Some(report) if report.contact > 0.0 => VertexState::Contact,
            Some(report) if report.iterations > 0 => VertexState::Free,
            _ => VertexState::Asleep,
        }
    }

    /// Empties everything and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.reports.clear();
        self.cosines.clear();
        self.stages.clear();
        self.path.clear();
        self.pieces = None;
        self.faded.clear();
        self.parametric.clear();
        self.parametric_muscles = None;
        for flesh in [&mut self.flesh, &mut self.free_flesh] {
            flesh.muscles.clear();
            flesh.fat.clear();
            flesh.frames.clear();
        }
    }
}

impl Surface {
    /// Positions of the surface's vertices in `frame`.
    pub fn positions(&self, frame: &Frame) -> Vec<Vec3> {
        self.source().map(|(m, v)| frame.meshes[m].positions[v]).collect()
    }
}

/// A deformed mesh.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FrameMesh {
    /// One per file vertex, in the file's order.
    pub positions: Vec<Vec3>,
    /// One unit vector per shading slot, see [`crate::geom::Shading`].
    pub normals: Vec<Vec3>,
}

/// Counts of one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct FrameReport {
    /// Vertices that could not be deformed as asked and fell back to a simpler position.
    pub fell_back: usize,
    /// What tracking did; `None` without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tracking: Option<TrackingReport>,
    /// What the muscles did; `None` without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub muscles: Option<MuscleReport>,
    /// What the parametric muscles did; `None` without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parametric: Option<ParametricReport>,
    /// What the layers on the surface did; `None` without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub surface: Option<SurfaceReport>,
}

/// What muscles did in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct MuscleReport {
    /// Fibres, several to a convergent muscle.
    pub fibres: usize,
    /// Fat pads.
    pub pads: usize,
    /// Fibres and pads put back to where their bones carry them because a number was not finite or absurd.
    pub resets: usize,
    /// How far the worst particle is inside a bone beyond its clearance, metres.
    pub deepest: f32,
    /// How far the axis of a fibre went at most to be inside the final skin, metres.
    pub yielded: f32,
    /// What the final skin cuts off the muscles and finds no other place along them, cubic metres.
    pub lost: f32,
}

/// What parametric muscles did in one frame. Vertices are those of the meshes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ParametricReport {
    /// Muscles.
    pub muscles: usize,
    /// Muscles whose length was clamped to 30 to 300 % of that at bind, or whose belly was to be thinner than half a tendon.
    pub clamped: usize,
    /// Vertices that were displaced.
    pub displaced: usize,
    /// The largest displacement, metres.
    pub largest: f32,
}

/// What tracking did in one frame. Vertices are those of the welded surface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TrackingReport {
    /// Vertices of the surface.
    pub vertices: usize,
    /// Vertices that took part; the others are where skinning took them.
    pub tracked: usize,
    /// Vertices in contact.
    pub contacts: usize,
    /// Samples taken of the fields.
    pub evaluations: usize,
    /// Pairs of triangles that cross and did not at rest, before they were untangled and after; zero for schemes
    /// that do not untangle.
    pub pairs: [usize; 2],
    /// Vertices that were worse off than by skinning and faded back to it.
    pub faded: usize,
    /// Pieces of the surface that have such vertices.
    pub faded_pieces: usize,
}
