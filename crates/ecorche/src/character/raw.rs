//! What a file says, before anything is checked.
//!
//! A reader fills these in the file's own units and axes and sets [`RawCharacter::world`]; it need
//! not check indices, order, counts or numbers. Lists that a format stores per face corner stay per
//! corner.

use super::{Interpolation, Repair, World};
use crate::math::Transform;
use glam::{Mat4, Quat, Vec2, Vec3};

/// A character as found.
#[derive(Clone, Debug, Default)]
pub struct RawCharacter {
    /// Units and axes of everything below.
    pub world: World,
    /// The hierarchy, in any order.
    pub nodes: Vec<RawNode>,
    /// Meshes, in the file's order.
    pub meshes: Vec<RawMesh>,
    /// Animations, in the file's order.
    pub clips: Vec<RawClip>,
    /// What the reader itself had to repair.
    pub repairs: Vec<Repair>,
}

/// A joint or other node of the hierarchy.
#[derive(Clone, Debug, Default)]
pub struct RawNode {
    /// Name; may be empty or repeated.
    pub name: String,
    /// Index into [`RawCharacter::nodes`]; may be wrong.
    pub parent: Option<usize>,
    /// The node's transform when nothing is animated.
    pub local: Transform,
}

/// A mesh with all its attributes.
#[derive(Clone, Debug, Default)]
pub struct RawMesh {
    /// Name; may be empty or repeated.
    pub name: String,
    /// The node that carries it. An unskinned mesh moves with it; a skinned one is placed by its skin alone.
    pub node: Option<usize>,
    /// Vertices in the mesh's own space, the file's order.
    pub positions: Vec<Vec3>,
    /// Number of corners of each face.
    pub face_sizes: Vec<u32>,
    /// Vertex of each face corner, face by face.
    pub corners: Vec<u32>,
    /// Normal of each corner, or empty.
    pub corner_normals: Vec<Vec3>,
    /// Texture coordinate of each corner (v upward, as OBJ and FBX have it), or empty.
    pub corner_uvs: Vec<Vec2>,
    /// Material names.
    pub materials: Vec<String>,
    /// Material of each face, or empty when there is at most one.
    pub material_of_face: Vec<u32>,
    /// How joints move the vertices.
    pub skin: Option<RawSkin>,
    /// Shapes to blend in before skinning.
    pub morphs: Vec<RawMorph>,
}

/// Joints and weights of one mesh.
#[derive(Clone, Debug, Default)]
pub struct RawSkin {
    /// Nodes that act on the mesh.
    pub joints: Vec<usize>,
    /// From the mesh's own space to the joint's at bind time, one per joint; may be missing (empty) or singular.
    pub joint_from_mesh: Vec<Mat4>,
    /// `(vertex, index into joints, weight)`, any number and order.
    pub influences: Vec<(u32, u32, f32)>,
    /// Skinning method that the file names.
    pub dual_quaternion: bool,
}

/// A blend shape.
#[derive(Clone, Debug, Default)]
pub struct RawMorph {
    /// Name; may be empty.
    pub name: String,
    /// `(vertex, offset)`; vertices not listed do not move.
    pub offsets: Vec<(u32, Vec3)>,
    /// Weight when nothing is animated; 1 = fully applied.
    pub weight: f32,
}

/// An animation.
#[derive(Clone, Debug, Default)]
pub struct RawClip {
    /// Name; may be empty or repeated.
    pub name: String,
    /// Frames per second the file states, if it does.
    pub fps: Option<f32>,
    /// First and last moment the file states, seconds, if it does.
    pub range: Option<(f32, f32)>,
    /// Animated channels; may repeat or be empty.
    pub tracks: Vec<RawTrack>,
}

/// One animated channel.
#[derive(Clone, Debug)]
pub struct RawTrack {
    /// Key times, seconds.
    pub times: Vec<f32>,
    /// How to go from key to key.
    pub interpolation: Interpolation,
    /// What is animated, with its values: one per key, or three (in-tangent, value, out-tangent) for cubic splines.
    pub channel: RawChannel,
}

/// Target and values of a channel.
#[derive(Clone, Debug)]
pub enum RawChannel {
    /// A node's translation.
    Translation(usize, Vec<Vec3>),
    /// A node's rotation.
    Rotation(usize, Vec<Quat>),
    /// A node's scale.
    Scale(usize, Vec<Vec3>),
    /// Weight of morph `.1` of mesh `.0` (index into [`RawCharacter::meshes`]).
    Morph(usize, usize, Vec<f32>),
}
