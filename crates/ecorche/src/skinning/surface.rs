//! All skinned meshes of a character, welded, as one surface.
//!
//! Each mesh is welded by itself. Vertices of different meshes in the same place with the same weights are welded too: files
//! cut bodies by material, and hold copies of a skin. Vertices that a morph moves are left out, as the meshes need not share it.
//! A triangle that is then listed twice is one.

use super::regions::{RegionSettings, Regions};
use crate::character::{Character, Influences, Mesh, Pose};
use crate::geom::{Adjacency, TriMesh, Weld};
use glam::{Affine3A, Vec3, Vec3A};
use std::collections::HashSet;

/// The skinned surface of a character in bind space.
#[derive(Clone, Debug)]
pub struct Surface {
    /// All skinned meshes, welded, one after the other.
    pub mesh: TriMesh,
    /// Skeleton joints that influence each vertex, with their weights.
    pub influences: Influences,
    /// The surface by dominant bone; its joints are the skeleton's.
    pub regions: Regions,
    /// Mesh of the character and file vertex of each surface vertex.
    source: Vec<(u32, u32)>,
    /// Of each mesh of the character the surface vertices of its welded vertices; `None` for a mesh without skin.
    of_mesh: Vec<Option<Vec<u32>>>,
    /// Skeleton joint to its frame at bind time; identity for joints outside every skin.
    joint_from_bind: Vec<Affine3A>,
}

/// Vertices of two meshes closer than this share of the character's size are one, if their weights are.
const WELD_TOLERANCE: f32 = 1e-6;
/// Weights closer than this are those of one surface point.
const SAME_WEIGHT: f32 = 1e-3;

impl Surface {
    /// Collects the skinned meshes; `None` if the character has none.
    pub fn new(character: &Character) -> Option<Self> {
        let mut whole = TriMesh::default();
        let mut source = Vec::new();
        let mut lists: Vec<Vec<(u32, f32)>> = Vec::new();
        let mut joint_from_bind = vec![None; character.skeleton.len()];
        let mut of_mesh = vec![None; character.meshes.len()];
        let mut is_morphed: Vec<bool> = Vec::new();
        for (m, mesh) in character.meshes.iter().enumerate() {
            let Some(skin) = mesh.skin() else { continue };
            for (&joint, &map) in skin.joints.iter().zip(&skin.joint_from_bind) {
                joint_from_bind[joint].get_or_insert(map);
            }
            let first = whole.positions.len() as u32;
            let welded = mesh.surface();
            of_mesh[m] = Some((first..first + welded.positions.len() as u32).collect());
            is_morphed.extend(morphed(mesh));
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
        let mut influences = Influences::new(lists);
        if of_mesh.iter().flatten().count() > 1 {
            let same = |a: usize, b: usize| {
                source[a].0 != source[b].0
                    && !is_morphed[a]
                    && !is_morphed[b]
                    && have_same_weights(&influences, a, b)
            };
            let weld = Weld::new(&whole.positions, WELD_TOLERANCE * whole.size(), same);
            if weld.surface_count() < whole.positions.len() {
                whole = weld.surface(&whole.positions, &whole.triangles);
                source = weld.gather(&source);
                influences =
                    Influences::new(weld.first_vertex.iter().map(|&v| influences.of(v as usize).collect()));
                of_mesh
                    .iter_mut()
                    .flatten()
                    .flatten()
                    .for_each(|v: &mut u32| *v = weld.surface_of_vertex[*v as usize]);
            }
        }
        let mut listed = HashSet::with_capacity(whole.triangles.len());
        whole.triangles.retain(|&t| listed.insert(lowest_first(t)));
        let strongest: Vec<u32> = (0..influences.len()).map(|v| influences.strongest(v)).collect();
        let regions = Regions::new(&Adjacency::new(&whole), &strongest, RegionSettings::default());
        let joint_from_bind =
            joint_from_bind.into_iter().map(|map| map.unwrap_or(Affine3A::IDENTITY)).collect();
        Some(Self { mesh: whole, influences, regions, source, of_mesh, joint_from_bind })
    }

    /// Mesh of the character and file vertex of each surface vertex.
    pub(crate) fn source(&self) -> impl Iterator<Item = (usize, usize)> {
        self.source.iter().map(|&(m, v)| (m as usize, v as usize))
    }

    /// Mesh of the character that a surface vertex comes from.
    pub(crate) fn mesh_of(&self, v: usize) -> usize {
        self.source[v].0 as usize
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
        let of_mesh = self.of_mesh.get(m)?.as_ref()?;
        character.meshes[m].weld.surface_of_vertex.get(v).map(|&s| of_mesh[s as usize])
    }

    /// Takes what mesh `m` has per file vertex to the surface's vertices, of which others are left alone, and those welded to a
    /// mesh before it.
    pub fn gather<T: Copy>(&self, m: usize, of_mesh: &[T], of_surface: &mut [T]) {
        let first = self.source.partition_point(|&(mesh, _)| (mesh as usize) < m);
        let own = self.source.iter().zip(of_surface).skip(first);
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
        let Some(Some(surface_of)) = self.of_mesh.get(m) else { return false };
        for (value, &s) in of_mesh.iter_mut().zip(&character.meshes[m].weld.surface_of_vertex) {
            *value = of_surface[surface_of[s as usize] as usize].into();
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
        let Some(Some(surface_of)) = self.of_mesh.get(m) else { return };
        for (position, &s) in of_mesh.iter_mut().zip(&character.meshes[m].weld.surface_of_vertex) {
            *position += Vec3::from(of_surface[surface_of[s as usize] as usize]);
        }
    }

    /// Values per surface vertex as values per file vertex of mesh `m`; NaN for a mesh without skin.
    pub fn to_mesh(&self, character: &Character, m: usize, values: &[f32]) -> Vec<f32> {
        let mut of_mesh = vec![f32::NAN; character.meshes[m].positions.len()];
        self.scatter(character, m, values, &mut of_mesh);
        of_mesh
    }
}

/// The same triangle, facing the same way, from its lowest vertex on.
fn lowest_first([a, b, c]: [u32; 3]) -> [u32; 3] {
    if a <= b && a <= c {
        [a, b, c]
    } else if b <= c {
        [b, c, a]
    } else {
        [c, a, b]
    }
}

/// Of each welded vertex of a mesh, whether a morph moves it.
fn morphed(mesh: &Mesh) -> Vec<bool> {
    let mut morphed = vec![false; mesh.weld.surface_count()];
    for morph in &mesh.morphs {
        for (&v, offset) in morph.vertices.iter().zip(&morph.offsets) {
            if *offset != Vec3::ZERO {
                morphed[mesh.weld.surface_of_vertex[v as usize] as usize] = true;
            }
        }
    }
    morphed
}

fn have_same_weights(influences: &Influences, a: usize, b: usize) -> bool {
    let weight = |v: usize, joint: u32| influences.of(v).find(|i| i.0 == joint).map_or(0.0, |i| i.1);
    let holds = |v: usize, other: usize| {
        influences.of(v).all(|(joint, w)| (w - weight(other, joint)).abs() <= SAME_WEIGHT)
    };
    holds(a, b) && holds(b, a)
}
