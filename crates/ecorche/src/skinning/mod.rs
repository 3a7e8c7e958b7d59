//! Geometric skinning: where the joints alone take each vertex.
//!
//! A [`Skinner`] is built once per mesh and kind of skinning and then moves the mesh for any pose:
//!
//! ```text
//! Mesh + Skinning --Skinner::new--> Skinner (immutable, shared)
//! Skinner + world_from_joint + morphed positions --skin--> positions in the world
//! ```
//!
//! | skinning | rule | twist | bend |
//! |---|---|---|---|
//! | [`Skinning::Linear`] | mean of matrices | loses its radius | loses volume inside |
//! | [`Skinning::DualQuaternion`] | mean of rigid motions | keeps its radius | bulges outside |
//! | [`Skinning::CentreOfRotation`] | mean rotation about a precomputed centre | keeps its radius | neither |
//!
//! All of them are local: none knows that skin can touch skin.

mod centre_of_rotation;
mod dual_quaternion;
#[cfg(test)]
mod fixture;
pub(crate) mod heat_weights;
mod layout;
mod linear;
pub(crate) mod regions;
mod surface;

pub use centre_of_rotation::CentresOfRotation;
pub use heat_weights::{HeatSettings, HeatWeights, heat_weights};
pub use regions::{RegionSettings, Regions};
pub use surface::Surface;

use crate::character::{Binding, Influences, Mesh};
use centre_of_rotation::CentreOfRotation;
use dual_quaternion::{RigidDualQuaternion, Split, StretchedDualQuaternion};
use glam::{Affine3A, Mat3A, Vec3, Vec4};
use layout::Layout;
use linear::{Linear, Rigid};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How the motions of several joints are blended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Skinning {
    /// Linear blending of matrices.
    #[default]
    #[serde(rename = "lbs")]
    Linear,
    /// Blending of dual quaternions.
    #[serde(rename = "dqs")]
    DualQuaternion,
    /// Rotation about optimised centres.
    #[serde(rename = "cor")]
    CentreOfRotation,
}

impl Skinning {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Self; 3] = [Self::Linear, Self::DualQuaternion, Self::CentreOfRotation];
}

impl fmt::Display for Skinning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Linear => "lbs",
            Self::DualQuaternion => "dqs",
            Self::CentreOfRotation => "cor",
        })
    }
}

/// A name that no skinning method has.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no skinning method \"{0}\"; choose lbs, dqs or cor")]
pub struct UnknownSkinning(pub String);

impl FromStr for Skinning {
    type Err = UnknownSkinning;

    fn from_str(name: &str) -> Result<Self, UnknownSkinning> {
        let known = Self::ALL.into_iter().find(|skinning| skinning.to_string().eq_ignore_ascii_case(name));
        known.ok_or_else(|| UnknownSkinning(name.to_owned()))
    }
}

/// What went wrong in one frame; all zero when nothing did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkinReport {
    /// Joints without a finite matrix. They were taken to be where they were at bind time.
    pub joints_at_rest: usize,
    /// Vertices that such a joint holds.
    pub vertices_of_joints_at_rest: usize,
    /// Vertices whose result was not finite. They keep their rest position.
    pub vertices_at_rest: usize,
}

/// Scratch of [`Skinner::skin`]; may be shared by skinners that run one after the other.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// World-from-bind of each slot; the last one does not move.
    matrices: Vec<Affine3A>,
    splits: Vec<Split>,
    /// Stay on the calling thread.
    pub(crate) alone: bool,
}

/// The motion of a slot, as a whole and as a stretch followed by a rigid motion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// World-from-bind.
    pub matrix: Affine3A,
    /// Its rigid part as a dual quaternion, x y z w: the rotation. That of no motion for linear blending, which does not ask.
    pub real: Vec4,
    /// Half the translation times the rotation.
    pub dual: Vec4,
    /// The part that comes first; identity for rigid matrices.
    pub stretch: Mat3A,
}

/// A mesh's weights, laid out to be skinned many times.
#[derive(Clone, Debug)]
pub struct Skinner {
    skinning: Skinning,
    /// Skeleton joint of each slot.
    joints: Vec<usize>,
    joint_from_bind: Vec<Affine3A>,
    layout: Layout,
    centres: CentresOfRotation,
}

impl Skinner {
    /// Prepares `mesh` for `skinning`. An unskinned mesh moves with its joint for every kind.
    /// Centres of rotation are computed here, which takes a second for 20,000 vertices: see
    /// [`Skinner::with_centres`].
    pub fn new(mesh: &Mesh, skinning: Skinning) -> Self {
        let centres = match skinning {
            Skinning::CentreOfRotation => CentresOfRotation::compute(mesh),
            _ => CentresOfRotation::default(),
        };
        Self::prepare(mesh, skinning, centres)
    }

    /// Prepares `mesh` for [`Skinning::CentreOfRotation`] with centres computed before. Centres that
    /// are not one finite point per vertex are not trusted but computed again.
    pub fn with_centres(mesh: &Mesh, centres: CentresOfRotation) -> Self {
        let slice = centres.as_slice();
        if slice.len() == mesh.positions.len() && slice.iter().all(|c| c.is_finite()) {
            Self::prepare(mesh, Skinning::CentreOfRotation, centres)
        } else {
            Self::new(mesh, Skinning::CentreOfRotation)
        }
    }

    /// Prepares a character's welded surface in the way its meshes were prepared for `skinning`. [`Skinner::skin`] then takes
    /// the joints' motions from bind space ([`Surface::posed_from_rest`]).
    pub(crate) fn of_surface(surface: &Surface, skinning: Skinning, of_meshes: &[Self]) -> Self {
        let joints = surface.joint_from_bind().len();
        let mut centres = Vec::new();
        if skinning == Skinning::CentreOfRotation {
            centres.extend_from_slice(&surface.mesh.positions);
            for (m, mesh) in of_meshes.iter().enumerate() {
                surface.gather(m, mesh.centres.as_slice(), &mut centres);
            }
        }
        Self {
            skinning,
            joints: (0..joints).collect(),
            joint_from_bind: vec![Affine3A::IDENTITY; joints],
            layout: Layout::new(&surface.influences, surface.mesh.positions.len(), joints),
            centres: CentresOfRotation::from_parts(centres),
        }
    }

    fn prepare(mesh: &Mesh, skinning: Skinning, centres: CentresOfRotation) -> Self {
        let vertex_count = mesh.positions.len();
        match &mesh.binding {
            Binding::Skin(skin) => {
                let slots = skin.joints.len().min(skin.joint_from_bind.len());
                Self {
                    skinning,
                    joints: skin.joints[..slots].to_vec(),
                    joint_from_bind: skin.joint_from_bind[..slots].to_vec(),
                    layout: Layout::new(&skin.influences, vertex_count, slots),
                    centres,
                }
            }
            Binding::Node => {
                let influences = Influences::new((0..vertex_count).map(|_| vec![(0, 1.0)]));
                Self {
                    skinning,
                    joints: vec![mesh.joint],
                    joint_from_bind: vec![Affine3A::IDENTITY],
                    layout: Layout::new(&influences, vertex_count, 1),
                    centres,
                }
            }
        }
    }

    /// What it was prepared for.
    pub fn skinning(&self) -> Skinning {
        self.skinning
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.layout.vertex_count()
    }

    /// The centres of rotation; empty for other kinds.
    pub fn centres(&self) -> &CentresOfRotation {
        &self.centres
    }

    /// Moves the vertices at `rest` (the mesh's positions, morphs blended in) to where the joints
    /// take them, in the world. `world_from_joint` has one entry per joint of the skeleton.
    ///
    /// Gives the same bits for any number of threads and never a number that is not finite: a joint
    /// without a finite matrix is taken to be where it was at bind time, a vertex without a finite
    /// result keeps its rest position, and both are counted. If `rest` or `out` have another length
    /// than the mesh has vertices, nothing is skinned: `out` gets what there is of `rest`, and every
    /// vertex counts as left at rest.
    pub fn skin(
        &self,
        world_from_joint: &[Affine3A],
        rest: &[Vec3],
        out: &mut [Vec3],
        workspace: &mut Workspace,
    ) -> SkinReport {
        if rest.len() != self.vertex_count() || out.len() != self.vertex_count() {
            for (out, &rest) in out.iter_mut().zip(rest) {
                *out = rest;
            }
            return SkinReport { vertices_at_rest: self.vertex_count(), ..SkinReport::default() };
        }
        let bad_slots = self.pose_matrices(world_from_joint, &mut workspace.matrices);
        let mut report = SkinReport { joints_at_rest: bad_slots.len(), ..SkinReport::default() };
        if !bad_slots.is_empty() {
            report.vertices_of_joints_at_rest = self.layout.count_vertices(|slot| bad_slots.contains(&slot));
        }
        let blends_rotations = self.skinning != Skinning::Linear && self.layout.blends();
        workspace.splits.clear();
        if blends_rotations {
            workspace.splits.extend(workspace.matrices.iter().map(Split::new));
        }
        let (matrices, splits) = (workspace.matrices.as_slice(), workspace.splits.as_slice());
        let stretched = splits.iter().any(Split::stretches);
        let rigid = Rigid { matrices };
        let centres = self.centres.as_slice();
        let layout = &self.layout;
        let alone = workspace.alone;
        report.vertices_at_rest = match (self.skinning, blends_rotations, stretched) {
            (Skinning::Linear, ..) | (_, false, _) => {
                layout.run(&rigid, &Linear { matrices }, rest, out, alone)
            }
            (Skinning::DualQuaternion, _, false) => {
                layout.run(&rigid, &RigidDualQuaternion { splits }, rest, out, alone)
            }
            (Skinning::DualQuaternion, _, true) => {
                layout.run(&rigid, &StretchedDualQuaternion { splits }, rest, out, alone)
            }
            (Skinning::CentreOfRotation, _, false) => {
                layout.run(&rigid, &CentreOfRotation::<false> { matrices, splits, centres }, rest, out, alone)
            }
            (Skinning::CentreOfRotation, _, true) => {
                layout.run(&rigid, &CentreOfRotation::<true> { matrices, splits, centres }, rest, out, alone)
            }
        };
        report
    }

    /// What [`Skinner::skin`] knows of every slot in a pose, for who skins elsewhere; the last one does not move. Returns how
    /// many joints have no finite matrix: they are taken to be where they were at bind time.
    pub fn motions(&self, world_from_joint: &[Affine3A], motions: &mut Vec<Motion>) -> usize {
        let mut matrices = Vec::new();
        let bad = self.pose_matrices(world_from_joint, &mut matrices).len();
        let blends_rotations = self.skinning != Skinning::Linear;
        motions.extend(matrices.into_iter().map(|matrix| {
            let split = if blends_rotations { Split::new(&matrix) } else { Split::STILL };
            Motion { matrix, real: split.rigid.real, dual: split.rigid.dual, stretch: split.stretch }
        }));
        bad
    }

    /// Fills in world-from-bind of every slot and returns the slots for which there is none.
    fn pose_matrices(&self, world_from_joint: &[Affine3A], matrices: &mut Vec<Affine3A>) -> Vec<u32> {
        let mut bad_slots = Vec::new();
        matrices.clear();
        for (slot, (&joint, joint_from_bind)) in self.joints.iter().zip(&self.joint_from_bind).enumerate() {
            let matrix = world_from_joint.get(joint).map(|world| *world * *joint_from_bind);
            matrices.push(matrix.filter(Affine3A::is_finite).unwrap_or_else(|| {
                bad_slots.push(slot as u32);
                Affine3A::IDENTITY
            }));
        }
        matrices.push(Affine3A::IDENTITY);
        bad_slots
    }
}

#[cfg(test)]
mod tests;
