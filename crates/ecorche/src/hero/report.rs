//! Reports of a reference: how it was meshed, how well a pose was solved, why there is none.

use crate::deform::BindError;
use crate::geom::sdf::SdfError;
use crate::tissue::mesh::MeshError;
use crate::tissue::model::ModelError;
use crate::tissue::solve::SolveError;
use serde::Serialize;

/// Why there is no reference.
#[derive(Debug, thiserror::Error)]
pub enum ReferenceError {
    /// Nothing is skinned.
    #[error("\"{0}\" has no skinned mesh; give it weights")]
    NoSkin(String),
    /// The skin does not enclose a solid.
    #[error(
        "\"{name}\": the skin is not closed: {open} edges have one triangle, {non_manifold} more than two; close the holes, or \
         join the meshes into one"
    )]
    NotClosed {
        /// The character.
        name: String,
        /// Edges with one triangle.
        open: usize,
        /// Edges with three triangles or more.
        non_manifold: usize,
    },
    /// The skin bounds no solid.
    #[error("\"{name}\": {source}")]
    Skin {
        /// The character.
        name: String,
        /// Why.
        source: SdfError,
    },
    /// The solid could not be meshed.
    #[error("\"{name}\": {source}")]
    Mesh {
        /// The character.
        name: String,
        /// Why.
        source: MeshError,
    },
    /// The mesh cannot be simulated.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// No bone lies inside the flesh.
    #[error("\"{0}\": no bone lies inside the skin; check that the skeleton is bound to this mesh")]
    NoBones(String),
    /// The joint of the region has no bones.
    #[error(
        "joint \"{0}\" has no bone with flesh on both sides; choose a joint between two bones, such as an elbow"
    )]
    NoRegion(String),
    /// The caller stopped it.
    #[error("interrupted")]
    Interrupted,
    /// The linear systems cannot be solved.
    #[error(transparent)]
    Solve(#[from] SolveError),
    /// The rest of the skin.
    #[error(transparent)]
    Bind(#[from] BindError),
}

/// How the flesh was meshed.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Summary {
    /// Tetrahedra.
    pub tetrahedra: usize,
    /// Their nodes.
    pub nodes: usize,
    /// Nodes that follow bones.
    pub bone_nodes: usize,
    /// Edge of the lattice, metres.
    pub edge: f64,
    /// Largest distance that contact keeps, metres.
    pub contact_distance: f64,
    /// Vertices of the skin that follow the flesh.
    pub vertices: usize,
    /// Vertices on parts that are too thin for the tetrahedra; they are skinned with dual quaternions.
    pub outside: usize,
}

/// How well one pose was solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct PoseReport {
    /// Steps from the pose before.
    pub steps: usize,
    /// Linear systems solved.
    pub iterations: usize,
    /// Largest force that is left on a free node, over the largest on a bone.
    pub residual: f64,
    /// Whether every step converged.
    pub converged: bool,
    /// Tetrahedra without positive volume.
    pub inverted: usize,
    /// Smallest volume of a tetrahedron over its volume at rest.
    pub smallest_volume: f64,
    /// Pairs of triangles of the resulting skin that pass through each other, beyond those of the rest shape. Of a region
    /// only those with a triangle in it.
    pub pairs: usize,
    /// Relative change of the flesh's volume.
    pub volume_drift: f64,
    /// Relative change of the volume inside the whole skin; `None` for a region.
    pub skin_volume_drift: Option<f64>,
}
