//! A mesh of a character, with the file's vertices in the file's order.

use super::Skin;
use crate::geom::{TriMesh, Weld, shading::Shading};
use glam::{Vec2, Vec3};

/// Polygons stored back to back.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faces {
    /// First corner of each face, and one past the last corner.
    pub starts: Vec<u32>,
    /// Vertex of each corner, counter-clockwise from outside.
    pub corners: Vec<u32>,
}

impl Faces {
    /// Plain triangles.
    pub fn triangles(triangles: &[[u32; 3]]) -> Self {
        Self {
            starts: (0..=triangles.len() as u32).map(|f| 3 * f).collect(),
            corners: triangles.iter().flatten().copied().collect(),
        }
    }

    /// Number of faces.
    pub fn len(&self) -> usize {
        self.starts.len().saturating_sub(1)
    }

    /// Whether there is no face.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Corner numbers of face `f`; index `corners` and per-corner lists with them.
    pub fn range(&self, f: usize) -> std::ops::Range<usize> {
        self.starts[f] as usize..self.starts[f + 1] as usize
    }

    /// Vertices of face `f`.
    pub fn get(&self, f: usize) -> &[u32] {
        &self.corners[self.range(f)]
    }

    /// Triangle fans as corner numbers, so that per-corner lists can follow.
    pub fn triangle_corners(&self) -> Vec<[u32; 3]> {
        (0..self.len())
            .flat_map(|f| {
                let first = self.starts[f];
                (first + 1..self.starts[f + 1].saturating_sub(1)).map(move |c| [first, c, c + 1])
            })
            .collect()
    }
}

/// What moves a mesh.
#[derive(Clone, Debug, PartialEq)]
pub enum Binding {
    /// Weighted joints; positions are in bind space (the world at bind time).
    Skin(Skin),
    /// [`Mesh::joint`] alone; positions are in that joint's space.
    Node,
}

/// A blend shape: offsets added to the positions before skinning.
#[derive(Clone, Debug, PartialEq)]
pub struct Morph {
    /// The file's name.
    pub name: String,
    /// Moved vertices, ascending, each once.
    pub vertices: Vec<u32>,
    /// Offset of each of them at weight 1.
    pub offsets: Vec<Vec3>,
    /// Weight when nothing is animated.
    pub weight: f32,
}

/// A mesh with its binding. Lists are per file vertex, per face or per face corner as said.
#[derive(Clone, Debug)]
pub struct Mesh {
    /// The file's name, made unique within the character.
    pub name: String,
    /// The joint that carries it.
    pub joint: usize,
    /// Rest positions, metres, in the space [`Binding`] says.
    pub positions: Vec<Vec3>,
    /// The file's polygons.
    pub faces: Faces,
    /// The polygons as triangles of vertices.
    pub triangles: Vec<[u32; 3]>,
    /// Which corners share a normal: hard edges and seams stay as the file has them.
    pub shading: Shading,
    /// Texture coordinate of each corner (v upward), or empty.
    pub corner_uvs: Vec<Vec2>,
    /// Material names.
    pub materials: Vec<String>,
    /// Material of each face, or empty when there is at most one.
    pub material_of_face: Vec<u32>,
    /// What moves it.
    pub binding: Binding,
    /// Shapes blended in before skinning.
    pub morphs: Vec<Morph>,
    /// Which vertices are one point of the surface.
    pub weld: Weld,
}

impl Mesh {
    /// Plain triangles with smooth normals, without texture coordinates, materials and morphs, on joint 0.
    pub fn of_triangles(name: &str, surface: TriMesh, weld: Weld, binding: Binding) -> Self {
        let TriMesh { positions, triangles } = surface;
        let faces = Faces::triangles(&triangles);
        let shading = Shading::new(&weld, &faces.corners, &[], &faces.triangle_corners());
        Self {
            name: name.into(),
            joint: 0,
            positions,
            faces,
            triangles,
            shading,
            corner_uvs: Vec::new(),
            materials: Vec::new(),
            material_of_face: Vec::new(),
            binding,
            morphs: Vec::new(),
            weld,
        }
    }

    /// The skin, if joints move the mesh.
    pub fn skin(&self) -> Option<&Skin> {
        match &self.binding {
            Binding::Skin(skin) => Some(skin),
            Binding::Node => None,
        }
    }

    /// The welded rest surface, in the space of `positions`.
    pub fn surface(&self) -> TriMesh {
        self.weld.surface(&self.positions, &self.triangles)
    }

    /// Positions with the morphs blended in by `weights`, one weight per morph.
    pub fn morphed(&self, weights: &[f32], positions: &mut Vec<Vec3>) {
        positions.clear();
        positions.extend_from_slice(&self.positions);
        for (morph, &weight) in self.morphs.iter().zip(weights) {
            if weight != 0.0 {
                for (&v, &offset) in morph.vertices.iter().zip(&morph.offsets) {
                    positions[v as usize] += offset * weight;
                }
            }
        }
    }
}
