//! All skinned meshes of a character, welded, as one surface.

use super::regions::{RegionSettings, Regions};
use crate::character::{Character, Influences, Pose};
use crate::geom::{Adjacency, TriMesh};
use glam::{Affine3A, Vec3, Vec3A};

/// The skinned surface of a character in bind space.
#[derive(Clone, Debug)]
pub struct Surface {
    /// All skinned meshes, welded, one after the other.
    pub mesh: TriMesh,
    /// Skeleton joints that hold each vertex.
    pub influences: Influences,
    /// The surface by dominant bone; its joints are the skeleton's.
    pub regions: Regions,
    /// Mesh of the character and file vertex of each surface vertex.
    source: Vec<(u32, u32)>,
    /// First surface vertex of each mesh of the character; `None` for a mesh without skin.
    first_of_mesh: Vec<Option<u32>>,
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
        let mut first_of_mesh = vec![None; character.meshes.len()];
        for (m, mesh) in character.meshes.iter().enumerate() {
            let Some(skin) = mesh.skin() else { continue };
            first_of_mesh[m] = Some(whole.positions.len() as u32);
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
        let regions = Regions::new(&Adjacency::new(&whole), &strongest, RegionSettings::default());
        let joint_from_bind =
            joint_from_bind.into_iter().map(|map| map.unwrap_or(Affine3A::IDENTITY)).collect();
        Some(Self { mesh: whole, influences, regions, source, first_of_mesh, joint_from_bind })
    }

    /// Mesh of the character and file vertex of each surface vertex.
    pub(crate) fn source(&self) -> impl Iterator<Item = (usize, usize)> {
        self.source.iter().map(|&(m, v)| (m as usize, v as usize))
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

    /// The surface's vertex that file vertex `v` of mesh `m` is welded into; `None` without skin or vertex.
    pub fn vertex_of(&self, character: &Character, m: usize, v: usize) -> Option<u32> {
        let first = self.first_of_mesh.get(m).copied().flatten()?;
        character.meshes[m].weld.surface_of_vertex.get(v).map(|s| first + s)
    }

    /// Takes what mesh `m` has per file vertex to the surface's vertices, of which others are left alone.
    pub fn gather<T: Copy>(&self, m: usize, of_mesh: &[T], of_surface: &mut [T]) {
        let Some(first) = self.first_of_mesh.get(m).copied().flatten() else { return };
        let own = self.source.iter().zip(of_surface).skip(first as usize);
        for (&(_, vertex), value) in own.take_while(|((mesh, _), _)| *mesh as usize == m) {
            *value = of_mesh[vertex as usize];
        }
    }

    /// Takes what the surface has per vertex to the file vertices of mesh `m`; false for a mesh without skin,
    /// which is left alone.
    pub fn scatter<T: Copy, U: From<T>>(
        &self,
        character: &Character,
        m: usize,
        of_surface: &[T],
        of_mesh: &mut [U],
    ) -> bool {
        let Some(first) = self.first_of_mesh.get(m).copied().flatten() else { return false };
        let of_surface = &of_surface[first as usize..];
        for (value, &s) in of_mesh.iter_mut().zip(&character.meshes[m].weld.surface_of_vertex) {
            *value = of_surface[s as usize].into();
        }
        true
    }

    /// Displaces the file vertices of mesh `m` by what the surface's vertices are displaced; a mesh without skin is left
    /// alone.
    pub(crate) fn displace(
        &self,
        character: &Character,
        m: usize,
        of_surface: &[Vec3A],
        of_mesh: &mut [Vec3],
    ) {
        let Some(first) = self.first_of_mesh.get(m).copied().flatten() else { return };
        let of_surface = &of_surface[first as usize..];
        for (position, &s) in of_mesh.iter_mut().zip(&character.meshes[m].weld.surface_of_vertex) {
            *position += Vec3::from(of_surface[s as usize]);
        }
    }

    /// Values per surface vertex as values per file vertex of mesh `m`; NaN for a mesh without skin.
    pub fn to_mesh(&self, character: &Character, m: usize, values: &[f32]) -> Vec<f32> {
        let mut of_mesh = vec![f32::NAN; character.meshes[m].positions.len()];
        self.scatter(character, m, values, &mut of_mesh);
        of_mesh
    }
}
