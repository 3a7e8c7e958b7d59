//! All skinned meshes of a character, welded, as one surface.

use super::partition::{Partition, PartitionSettings};
use crate::character::{Character, Influences, Pose};
use crate::frame::Frame;
use crate::geom::{Adjacency, TriMesh};
use glam::{Affine3A, Vec3};

/// The skinned surface of a character in bind space.
#[derive(Clone, Debug)]
pub struct Surface {
    /// All skinned meshes, welded, one after the other.
    pub mesh: TriMesh,
    /// Skeleton joints that hold each vertex.
    pub influences: Influences,
    /// The surface by bone; its joints are the skeleton's.
    pub partition: Partition,
    /// Mesh of the character and file vertex of each surface vertex.
    source: Vec<(u32, u32)>,
    /// Skeleton joint to its frame at bind time; identity for joints outside every skin.
    joint_from_bind: Vec<Affine3A>,
}

impl Surface {
    /// Collects the skinned meshes; `None` if the character has none.
    pub fn new(character: &Character) -> Option<Self> {
        let mut whole = TriMesh::default();
        let mut source = Vec::new();
        let mut lists: Vec<Vec<(u32, f32)>> = Vec::new();
        let mut joint_from_bind = vec![None; character.skeleton.len()];
        for (m, mesh) in character.meshes.iter().enumerate() {
            let Some(skin) = mesh.skin() else { continue };
            for (&joint, &map) in skin.joints.iter().zip(&skin.joint_from_bind) {
                joint_from_bind[joint].get_or_insert(map);
            }
            let first = whole.positions.len() as u32;
            let welded = mesh.surface();
            whole.positions.extend(welded.positions);
            whole.triangles.extend(welded.triangles.iter().map(|t| t.map(|v| v + first)));
            for &v in &mesh.weld.first_vertex {
                source.push((m as u32, v));
                lists.push(
                    skin.influences
                        .of(v as usize)
                        .map(|(j, w)| (skin.joints[j as usize] as u32, w))
                        .collect(),
                );
            }
        }
        if whole.triangles.is_empty() {
            return None;
        }
        let influences = Influences::new(lists);
        let strongest: Vec<u32> = (0..influences.len()).map(|v| influences.strongest(v)).collect();
        let partition = Partition::new(&Adjacency::new(&whole), &strongest, PartitionSettings::default());
        let joint_from_bind =
            joint_from_bind.into_iter().map(|map| map.unwrap_or(Affine3A::IDENTITY)).collect();
        Some(Self { mesh: whole, influences, partition, source, joint_from_bind })
    }

    /// Positions of the surface's vertices in `frame`.
    pub fn positions(&self, frame: &Frame) -> Vec<Vec3> {
        self.source.iter().map(|&(m, v)| frame.meshes[m as usize].positions[v as usize]).collect()
    }

    /// Map of every skeleton joint from bind space to its frame at bind time; identity for joints outside
    /// every skin.
    pub fn joint_from_bind(&self) -> &[Affine3A] {
        &self.joint_from_bind
    }

    /// Map of every skeleton joint from bind space to `pose`.
    pub fn posed_from_rest(&self, character: &Character, pose: &Pose) -> Vec<Affine3A> {
        let world = pose.world(&character.skeleton);
        world.iter().zip(&self.joint_from_bind).map(|(&world, &map)| world * map).collect()
    }

    /// Values per surface vertex as values per file vertex of mesh `m`; NaN for a mesh without skin.
    pub fn to_mesh(&self, character: &Character, m: usize, values: &[f32]) -> Vec<f32> {
        let mesh = &character.meshes[m];
        let Some(first) = self.source.iter().position(|&(mesh, _)| mesh as usize == m) else {
            return vec![f32::NAN; mesh.positions.len()];
        };
        mesh.weld.surface_of_vertex.iter().map(|&s| values[first + s as usize]).collect()
    }
}
