//! The character as a page draws it: vertices split where normals or texture coordinates differ.

use crate::wire::wire;
use ecorche::character::Character;
use ecorche::frame::Frame;
use glam::{Vec2, Vec3};
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
#[derive(Clone, Debug, PartialEq)]
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

    /// Mesh, file vertex and shading slot of each drawn vertex.
    pub fn sources(&self) -> &[[u32; 3]] {
        &self.sources
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

    /// Four numbers of 16 bits per drawn vertex: the place in a cube around the frame, and the normal folded onto an
    /// octahedron, eight bits for each of its two numbers.
    pub fn rounded(&self, frame: &Frame, numbers: &mut Vec<u16>) -> Cube {
        let cube = Cube::around(frame.meshes.iter().flat_map(|mesh| &mesh.positions).copied());
        numbers.clear();
        numbers.reserve(4 * self.sources.len());
        for &[mesh, vertex, slot] in &self.sources {
            let mesh = &frame.meshes[mesh as usize];
            let [x, y, z] = cube.round(mesh.positions[vertex as usize]);
            let [a, b] = folded(mesh.normals[slot as usize]).map(|c| (128.5 + 127.0 * c) as u16);
            numbers.extend([x, y, z, a << 8 | b]);
        }
        cube
    }

    /// Two numbers per drawn vertex: the normal folded onto an octahedron.
    pub fn normals(&self, frame: &Frame, normals: &mut Vec<i16>) {
        normals.clear();
        normals.reserve(2 * self.sources.len());
        for &[mesh, _, slot] in &self.sources {
            let [x, y] = folded(frame.meshes[mesh as usize].normals[slot as usize]);
            normals.extend([x, y].map(|c| (c * 32767.0).round() as i16));
        }
    }

    /// One number per drawn vertex from one per file vertex of each mesh: from 1 at the low end of `range` to 65535 at the
    /// high end; 0 where there is none.
    pub fn values(&self, of_mesh: &[Vec<f32>], range: [f32; 2], values: &mut Vec<u16>) {
        let scale = 65534.0 / (range[1] - range[0]).max(1e-12);
        values.clear();
        values.extend(self.sources.iter().map(|&[mesh, vertex, _]| {
            let value = of_mesh[mesh as usize][vertex as usize];
            if value.is_nan() { 0 } else { (((value - range[0]) * scale).clamp(0.0, 65534.0) + 1.5) as u16 }
        }));
    }
}

wire! {
    /// What rounded places are relative to.
    #[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize)]
    pub struct Cube {
        /// Where all three are 0.
        pub corner: Vec3,
        /// Metres from 0 to 65535.
        pub side: f32,
    }
}

impl Cube {
    /// The smallest one around `places`.
    pub fn around(places: impl Iterator<Item = Vec3>) -> Self {
        let (low, high) = places.fold((Vec3::MAX, Vec3::MIN), |(low, high), p| (low.min(p), high.max(p)));
        Self { corner: low, side: (high - low).max_element().max(f32::MIN_POSITIVE) }
    }

    /// A place in it.
    pub fn round(&self, place: Vec3) -> [u16; 3] {
        ((place - self.corner) * (f32::from(u16::MAX) / self.side)).to_array().map(|c| (c + 0.5) as u16)
    }
}

/// A direction as two numbers from -1 to 1: the octahedron's upper half seen from above, its lower half folded outward.
///
/// Based on: Cigolle et al. A survey of efficient representations for independent unit vectors. 2014.
pub(crate) fn folded(normal: Vec3) -> [f32; 2] {
    let sum = normal.abs().element_sum();
    let Vec3 { x, y, z } = if sum > 0.0 { normal / sum } else { Vec3::ZERO };
    if z < 0.0 { [(1.0 - y.abs()) * x.signum(), (1.0 - x.abs()) * y.signum()] } else { [x, y] }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecorche::deform::{Body, Stack, Workspace};
    use std::sync::Arc;

    #[test]
    fn the_drawn_surface_is_the_file_s() {
        let character = Arc::new(ecorche::samples::build("cylinder").unwrap());
        let drawn = Drawn::new(&character);
        let body = Body::bind(character.clone(), Stack::linear(), None).unwrap();
        let frame = body.rest(&mut Workspace::default());
        let (mut positions, mut normals) = (Vec::new(), Vec::new());
        drawn.positions(&frame, &mut positions);
        drawn.normals(&frame, &mut normals);
        assert_eq!(positions.len(), 3 * drawn.vertices());
        assert_eq!(normals.len(), 2 * drawn.vertices());
        assert_eq!(drawn.triangles.len(), 3 * character.meshes[0].triangles.len());
        assert!(drawn.triangles.iter().all(|&v| (v as usize) < drawn.vertices()));
        let height = positions.chunks(3).map(|p| p[1]).fold(0.0, f32::max);
        assert_eq!(height, 1.0);
        let mut rounded = Vec::new();
        let Cube { corner, side } = drawn.rounded(&frame, &mut rounded);
        let of_slot = |k: usize| frame.meshes[0].normals[drawn.sources[k][2] as usize];
        for (k, (place, exact)) in rounded.chunks(4).zip(positions.chunks(3)).enumerate() {
            let normal = unfolded([place[3] >> 8, place[3] & 255].map(|c| (f32::from(c) - 128.0) / 127.0));
            assert!(normal.dot(of_slot(k)) > 0.9998, "{normal} is more than a degree from {}", of_slot(k));
            let place = corner + Vec3::from_array([0, 1, 2].map(|k| f32::from(place[k]))) * (side / 65535.0);
            assert!((place - Vec3::from_slice(exact)).abs().max_element() < 0.8e-5 * side);
        }
    }

    /// As the page's shader has it.
    fn unfolded([x, y]: [f32; 2]) -> Vec3 {
        let mut normal = Vec3::new(x, y, 1.0 - x.abs() - y.abs());
        let over = (-normal.z).max(0.0);
        normal.x -= over * normal.x.signum();
        normal.y -= over * normal.y.signum();
        normal.normalize()
    }

    #[test]
    fn a_folded_normal_unfolds() {
        for k in 0..500 {
            let (a, b) = (k as f32 * 0.7, k as f32 * 0.31);
            let normal = Vec3::new(a.sin() * b.cos(), a.sin() * b.sin(), a.cos());
            let again = unfolded(folded(normal));
            assert!(again.dot(normal) > 0.999_999, "{normal} became {again}");
        }
    }

    #[test]
    fn what_a_vertex_has_no_value_for_is_told_apart() {
        let character = ecorche::samples::build("cylinder").unwrap();
        let drawn = Drawn::new(&character);
        let mut of_mesh = vec![vec![f32::NAN; character.meshes[0].positions.len()]];
        let (mut values, first) = (Vec::new(), drawn.sources[0][1] as usize);
        of_mesh[0][first] = -3.0;
        drawn.values(&of_mesh, [-1.0, 1.0], &mut values);
        assert_eq!((values[0], values.iter().filter(|v| **v == 0).count() > 0), (1, true));
        of_mesh[0][first] = 9.0;
        drawn.values(&of_mesh, [-1.0, 1.0], &mut values);
        assert_eq!(values[0], 65535);
    }
}
