//! `geometry`: polygons of every kind, with indices of their own for each attribute.

use super::document::{Document, Source, attribute_number, child, inputs, integers, is, name_of};
use crate::character::raw::RawMesh;
use glam::{Vec2, Vec3};
use roxmltree::Node;

/// Indices a corner may have. Files have one for each attribute; sixteen colour sets were seen.
const MOST_INDICES: usize = 64;

fn vector(tuple: &[f64]) -> Vec3 {
    let at = |i: usize| tuple.get(i).copied().unwrap_or(0.0) as f32;
    Vec3::new(at(0), at(1), at(2))
}

/// Positions alone, for morph targets.
pub fn positions(document: &Document, geometry: Node<'_, '_>) -> Vec<Vec3> {
    let Some(geometry) = geometry.attribute("id").and_then(|id| document.by_id(id)) else {
        return Vec::new();
    };
    let vertices = child(geometry, "mesh").and_then(|mesh| child(mesh, "vertices"));
    let position = vertices.and_then(|v| inputs(document, v).into_iter().find(|i| i.semantic == "POSITION"));
    let source = position.map(|input| Source::read(document, input.source)).unwrap_or_default();
    (0..source.len()).filter_map(|i| source.get(i).map(vector)).collect()
}

/// The mesh, with material symbols for names.
pub fn read<'a>(document: &Document<'a>, geometry: Node<'a, 'a>) -> RawMesh {
    let mut mesh =
        RawMesh { name: name_of(geometry), positions: positions(document, geometry), ..RawMesh::default() };
    let Some(element) = child(geometry, "mesh") else { return mesh };
    let vertex_inputs = child(element, "vertices").map_or(Vec::new(), |v| inputs(document, v));
    for group in element.children().filter(|c| c.is_element()) {
        let kind = group.tag_name().name();
        if !matches!(kind, "polylist" | "triangles" | "polygons" | "tristrips" | "trifans") {
            continue;
        }
        let own = inputs(document, group);
        let Some(vertex) = own.iter().find(|i| i.semantic == "VERTEX") else { continue };
        let stride = 1 + own.iter().map(|i| i.offset).max().unwrap_or(0);
        if stride > MOST_INDICES {
            continue;
        }
        // An attribute of the vertices shares their index.
        let attribute = |semantic: &str| {
            let of_corner = own.iter().filter(|i| i.semantic == semantic).min_by_key(|i| i.set);
            let of_vertex = vertex_inputs.iter().find(|i| i.semantic == semantic);
            let found = of_corner.map(|i| (i.source, i.offset));
            found.or(of_vertex.map(|i| (i.source, vertex.offset)))
        };
        let faces = Faces::read(group, kind, stride);
        let normals = attribute("NORMAL").map(|(s, offset)| (Source::read(document, s), offset));
        let uvs = attribute("TEXCOORD").map(|(s, offset)| (Source::read(document, s), offset));
        let before = mesh.corners.len();
        let face_count = faces.sizes.len();
        mesh.face_sizes.extend(&faces.sizes);
        let index = |corner: &[i64], offset: usize| u32::try_from(corner[offset]).unwrap_or(u32::MAX);
        for corner in faces.indices.chunks_exact(stride) {
            mesh.corners.push(index(corner, vertex.offset));
            // Groups may differ in what they have; a list that one group has is filled with zeros for the others.
            if let Some((source, offset)) = &normals {
                mesh.corner_normals.resize(mesh.corners.len() - 1, Vec3::ZERO);
                let normal = source.get(index(corner, *offset) as usize).map_or(Vec3::ZERO, vector);
                mesh.corner_normals.push(normal);
            }
            if let Some((source, offset)) = &uvs {
                mesh.corner_uvs.resize(mesh.corners.len() - 1, Vec2::ZERO);
                let uv = source.get(index(corner, *offset) as usize).map_or(Vec3::ZERO, vector);
                mesh.corner_uvs.push(uv.truncate());
            }
        }
        if mesh.corners.len() > before {
            let symbol = group.attribute("material").unwrap_or_default();
            let material = mesh.materials.iter().position(|m| m == symbol).unwrap_or_else(|| {
                mesh.materials.push(symbol.to_owned());
                mesh.materials.len() - 1
            });
            mesh.material_of_face.extend(std::iter::repeat_n(material as u32, face_count));
        } else {
            mesh.face_sizes.truncate(mesh.face_sizes.len() - face_count);
        }
    }
    if !mesh.corner_normals.is_empty() {
        mesh.corner_normals.resize(mesh.corners.len(), Vec3::ZERO);
    }
    if !mesh.corner_uvs.is_empty() {
        mesh.corner_uvs.resize(mesh.corners.len(), Vec2::ZERO);
    }
    mesh
}

/// Polygons of a group and the indices of their corners, `stride` each.
struct Faces {
    sizes: Vec<u32>,
    indices: Vec<i64>,
}

impl Faces {
    fn read(group: Node<'_, '_>, kind: &str, stride: usize) -> Self {
        let lists = || group.children().filter(|c| is(*c, "p")).map(|p| integers(p));
        let mut faces = Self { sizes: Vec::new(), indices: Vec::new() };
        match kind {
            "triangles" => {
                faces.indices = lists().flatten().collect();
                let count = faces.indices.len() / stride / 3;
                let stated = attribute_number(group, "count").unwrap_or(count);
                faces.sizes = vec![3; count.min(stated.max(count))];
                faces.indices.truncate(count * 3 * stride);
            }
            "polylist" => {
                faces.indices = lists().flatten().collect();
                let sizes = group.children().find(|c| is(*c, "vcount")).map_or(Vec::new(), |v| integers(v));
                let mut left = faces.indices.len() / stride;
                for size in sizes {
                    let size = usize::try_from(size).unwrap_or(usize::MAX);
                    let Some(rest) = left.checked_sub(size) else { break };
                    faces.sizes.push(size as u32);
                    left = rest;
                }
                let used = faces.indices.len() / stride - left;
                faces.indices.truncate(used * stride);
            }
            "polygons" => {
                // A polygon with holes keeps its outline.
                let outlines = group
                    .children()
                    .filter(|c| is(*c, "ph"))
                    .filter_map(|ph| ph.children().find(|c| is(*c, "p")));
                for list in lists().chain(outlines.map(|p| integers(p))) {
                    let size = list.len() / stride;
                    faces.sizes.push(size as u32);
                    faces.indices.extend(&list[..size * stride]);
                }
            }
            _ => {
                for list in lists() {
                    let corners: Vec<&[i64]> = list.chunks_exact(stride).collect();
                    for t in 2..corners.len() {
                        // Every other triangle of a strip is wound the other way.
                        let triangle = match kind {
                            "trifans" => [0, t - 1, t],
                            _ if t % 2 == 0 => [t - 2, t - 1, t],
                            _ => [t - 1, t - 2, t],
                        };
                        faces.sizes.push(3);
                        triangle.iter().for_each(|&c| faces.indices.extend(corners[c]));
                    }
                }
            }
        }
        faces
    }
}
