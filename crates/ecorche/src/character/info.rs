//! What is in a character, counted and named the way riggers do.

use super::{Binding, Character, Repair, humanoid};
use crate::geom::Adjacency;
use serde::Serialize;

/// A summary of a character, for people and, serialised, for machines.
#[derive(Clone, Debug, Serialize)]
pub struct Info {
    /// The character's name.
    pub name: String,
    /// Length of the file's unit in metres.
    pub metres_per_unit: f32,
    /// The file's up axis.
    pub up: &'static str,
    /// Whether the file's axes are left-handed.
    pub left_handed: bool,
    /// Diagonal of the rest pose's box, metres.
    pub size: f32,
    /// The meshes.
    pub meshes: Vec<MeshInfo>,
    /// The joints, parents first.
    pub joints: Vec<JointInfo>,
    /// The clips.
    pub clips: Vec<ClipInfo>,
    /// Oddities and what was done about them.
    pub repairs: Vec<Repair>,
}

/// A mesh in numbers.
#[derive(Clone, Debug, Serialize)]
pub struct MeshInfo {
    /// Its name.
    pub name: String,
    /// Vertices as the file has them.
    pub vertices: usize,
    /// Vertices once seams are welded.
    pub welded_vertices: usize,
    /// Polygons.
    pub faces: usize,
    /// The polygons as triangles.
    pub triangles: usize,
    /// Edges with one triangle.
    pub open_edges: usize,
    /// Edges with more than two triangles.
    pub non_manifold_edges: usize,
    /// Connected pieces.
    pub components: usize,
    /// Joints that influence it; 0 when it moves with its node.
    pub joints: usize,
    /// Most joints on one vertex.
    pub most_influences: usize,
    /// Mean number of joints on a vertex.
    pub mean_influences: f32,
    /// Whether the file says that the mesh is skinned by dual quaternions.
    pub dual_quaternion: bool,
    /// Blend shapes.
    pub morphs: usize,
    /// Materials by name.
    pub materials: Vec<String>,
    /// The node that carries it.
    pub node: String,
}

/// A joint by name.
#[derive(Clone, Debug, Serialize)]
pub struct JointInfo {
    /// Its name.
    pub name: String,
    /// Its parent's name.
    pub parent: Option<String>,
    /// Whether a skin refers to it.
    pub in_skin: bool,
    /// The humanoid bone it was recognised as, in VRM's words.
    pub humanoid: Option<String>,
}

/// A clip in numbers.
#[derive(Clone, Debug, Serialize)]
pub struct ClipInfo {
    /// Its name.
    pub name: String,
    /// First moment, seconds.
    pub start: f32,
    /// Seconds from first to last moment.
    pub length: f32,
    /// Frames per second, where known.
    pub fps: Option<f32>,
    /// Animated joints.
    pub joints: usize,
    /// Animated morphs.
    pub morphs: usize,
}

impl Info {
    /// Summarises a character.
    pub fn of(character: &Character) -> Self {
        let joints = &character.skeleton.joints;
        let bones = humanoid::recognise(&character.skeleton);
        let mesh_info = |mesh: &super::Mesh| {
            let adjacency = Adjacency::new(&mesh.surface());
            let (most, mean) = mesh.skin().map_or((0, 0.0), |s| s.influences.counts());
            MeshInfo {
                name: mesh.name.clone(),
                vertices: mesh.positions.len(),
                welded_vertices: mesh.weld.surface_count(),
                faces: mesh.faces.len(),
                triangles: mesh.triangles.len(),
                open_edges: adjacency.open_edges(),
                non_manifold_edges: adjacency.non_manifold_edges(),
                components: adjacency.components().1,
                joints: mesh.skin().map_or(0, |s| s.joints.len()),
                most_influences: most,
                mean_influences: mean,
                dual_quaternion: matches!(&mesh.binding, Binding::Skin(s) if s.dual_quaternion),
                morphs: mesh.morphs.len(),
                materials: mesh.materials.clone(),
                node: joints.get(mesh.joint).map_or_else(String::new, |j| j.name.clone()),
            }
        };
        Self {
            name: character.name.clone(),
            metres_per_unit: character.world.metres_per_unit,
            up: character.world.up_name(),
            left_handed: character.world.is_mirrored(),
            size: character.size(),
            meshes: character.meshes.iter().map(mesh_info).collect(),
            joints: joints
                .iter()
                .zip(bones)
                .map(|(joint, bone)| JointInfo {
                    name: joint.name.clone(),
                    parent: joint.parent.map(|p| joints[p].name.clone()),
                    in_skin: joint.in_skin,
                    humanoid: bone.map(|b| b.name()),
                })
                .collect(),
            clips: character
                .clips
                .iter()
                .map(|clip| ClipInfo {
                    name: clip.name.clone(),
                    start: clip.start,
                    length: clip.length(),
                    fps: clip.fps,
                    joints: clip.joint_tracks.len(),
                    morphs: clip.morph_tracks.len(),
                })
                .collect(),
            repairs: character.repairs.clone(),
        }
    }
}
