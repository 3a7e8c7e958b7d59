//! One deformed moment of a character.

use glam::Vec3;
use serde::Serialize;

/// Every mesh of a character at one moment, in world space (metres, Y up).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Moment in the clip, seconds.
    pub time: f32,
    /// One per mesh of the character, in its order.
    pub meshes: Vec<FrameMesh>,
    /// What the deformation has to say about this frame.
    pub report: FrameReport,
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
    /// What tracking did; `None` for methods without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tracking: Option<TrackingReport>,
    /// What the muscles did; `None` without.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub muscles: Option<MuscleReport>,
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
}
