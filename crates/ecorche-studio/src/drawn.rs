//! The character as a page draws it: vertices split where normals or texture coordinates differ.

use ecorche::character::Character;
use ecorche::frame::Frame;
use glam::Vec2;
use std::collections::BTreeMap;

/// All meshes of a character as one list of vertices and triangles.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawn {
    /// Mesh, file vertex and shading slot of each drawn vertex.
    sources: Vec<[u32; 3]>,
    /// Texture coordinates of each, two numbers (v upward), or empty.
    pub uvs: Vec<f32>,
    /// Triangles, three vertices each, material by material.
    pub triangles: Vec<u32>,
    /// The runs of triangles that share a material.
    pub groups: Vec<Group>,
}

/// Triangles of one mesh and material.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Group {
    /// The mesh's name.
    pub mesh: String,
    /// The material's name; empty without one.
    pub material: String,
    /// First index into [`Drawn::triangles`].
    pub start: usize,
    /// How many indices.
    pub count: usize,
}

impl Drawn {
    /// Splits the vertices of `character`.
    pub fn new(character: &Character) -> Self {
        let mut drawn = Self::default();
        let textured = character.meshes.iter().any(|m| !m.corner_uvs.is_empty());
        for (m, mesh) in character.meshes.iter().enumerate() {
            let mut known = BTreeMap::new();
            let mut of_corner = Vec::with_capacity(mesh.faces.corners.len());
            for (corner, &vertex) in mesh.faces.corners.iter().enumerate() {
                let slot = mesh.shading.slot_of_corner[corner];
                let uv = mesh.corner_uvs.get(corner).copied().unwrap_or(Vec2::ZERO);
                let next = drawn.sources.len() as u32;
                let drawn_vertex =
                    *known.entry((vertex, slot, uv.x.to_bits(), uv.y.to_bits())).or_insert(next);
                if drawn_vertex == next {
                    drawn.sources.push([m as u32, vertex, slot]);
                    if textured {
                        drawn.uvs.extend([uv.x, uv.y]);
                    }
                }
                of_corner.push(drawn_vertex);
            }
            let mut by_material: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
            for face in 0..mesh.faces.len() {
                let material = mesh.material_of_face.get(face).copied().unwrap_or(0);
                let range = mesh.faces.range(face);
                let list = by_material.entry(material).or_default();
                for corner in range.start + 1..range.end.saturating_sub(1) {
                    list.extend([range.start, corner, corner + 1].map(|c| of_corner[c]));
                }
            }
            for (material, list) in by_material {
                drawn.groups.push(Group {
                    mesh: mesh.name.clone(),
                    material: mesh.materials.get(material as usize).cloned().unwrap_or_default(),
                    start: drawn.triangles.len(),
                    count: list.len(),
                });
                drawn.triangles.extend(list);
            }
        }
        drawn
    }

    /// Number of drawn vertices.
    pub fn vertices(&self) -> usize {
        self.sources.len()
    }

    /// Mesh and file vertex of a drawn vertex.
    pub fn source(&self, vertex: u32) -> Option<[usize; 2]> {
        self.sources.get(vertex as usize).map(|&[mesh, vertex, _]| [mesh as usize, vertex as usize])
    }

    /// Three coordinates per drawn vertex.
    pub fn positions(&self, frame: &Frame, positions: &mut Vec<f32>) {
        positions.clear();
        positions.reserve(3 * self.sources.len());
        for &[mesh, vertex, _] in &self.sources {
            positions.extend(frame.meshes[mesh as usize].positions[vertex as usize].to_array());
        }
    }

    /// Four numbers per drawn vertex, of which three are the normal times 32767.
    pub fn normals(&self, frame: &Frame, normals: &mut Vec<i16>) {
        normals.clear();
        normals.reserve(4 * self.sources.len());
        for &[mesh, _, slot] in &self.sources {
            let normal = frame.meshes[mesh as usize].normals[slot as usize];
            let [x, y, z] = normal.to_array().map(|c| (c * 32767.0) as i16);
            normals.extend([x, y, z, 0]);
        }
    }

    /// One number per drawn vertex from one per file vertex of each mesh.
    pub fn values(&self, of_mesh: &[Vec<f32>], values: &mut Vec<f32>) {
        values.clear();
        values.extend(self.sources.iter().map(|&[mesh, vertex, _]| of_mesh[mesh as usize][vertex as usize]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecorche::deform::{Body, Method, Workspace};
    use std::sync::Arc;

    #[test]
    fn the_drawn_surface_is_the_file_s() {
        let character = Arc::new(ecorche::samples::build("cylinder").unwrap());
        let drawn = Drawn::new(&character);
        let body = Body::bind(character.clone(), Method::Linear, None);
        let frame = body.rest(&mut Workspace::default());
        let (mut positions, mut normals) = (Vec::new(), Vec::new());
        drawn.positions(&frame, &mut positions);
        drawn.normals(&frame, &mut normals);
        assert_eq!(positions.len(), 3 * drawn.vertices());
        assert_eq!(normals.len(), 4 * drawn.vertices());
        assert_eq!(drawn.triangles.len(), 3 * character.meshes[0].triangles.len());
        assert!(drawn.triangles.iter().all(|&v| (v as usize) < drawn.vertices()));
        let height = positions.chunks(3).map(|p| p[1]).fold(0.0, f32::max);
        assert_eq!(height, 1.0);
    }
}
