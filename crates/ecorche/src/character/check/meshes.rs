//! Faces, attributes, morphs and seams of the meshes.

use super::{TakenNames, unique_name};
use crate::character::raw::{RawCharacter, RawMesh, RawMorph, RawNode};
use crate::character::{Binding, Faces, Mesh, Morph, Pose, Repair, Skeleton, World};
use crate::geom::{Shading, Weld, mesh::bounds};
use glam::{Vec2, Vec3};
use std::collections::BTreeMap;

/// File vertices closer than this share of the mesh's size are copies of one (seams are written
/// from the same number, so only rounding of quantised or re-exported files lies between them).
const WELD_TOLERANCE: f32 = 1e-6;

/// Weights and morphs closer than this are those of one surface point.
const SAME_WEIGHT: f32 = 1e-3;

/// A mesh on no node, or on one that does not exist, gets a root node of its own.
pub fn give_every_mesh_a_node(raw: &mut RawCharacter) {
    for mesh in &mut raw.meshes {
        if mesh.node.is_none_or(|n| n >= raw.nodes.len()) {
            mesh.node = Some(raw.nodes.len());
            raw.nodes.push(RawNode { name: mesh.name.clone(), ..RawNode::default() });
        }
    }
}

/// Brings every mesh into shape, still unskinned, in metres and Y up but in the mesh's own space.
/// Seams and shading follow in [`weld`], when weights are known.
pub fn check(raw: &RawCharacter, joint_of_node: &[usize], repairs: &mut Vec<Repair>) -> Vec<Mesh> {
    let mut taken = TakenNames::new();
    raw.meshes
        .iter()
        .enumerate()
        .map(|(i, mesh)| {
            let name = unique_name(&mesh.name, &format!("mesh_{i}"), &mut taken);
            let subject = format!("mesh \"{name}\"");
            let faces = check_faces(mesh, &subject, repairs);
            let positions = check_positions(mesh, &raw.world, &subject, repairs);
            let mut checked = Mesh {
                joint: mesh.node.map_or(0, |n| joint_of_node[n]),
                positions,
                triangles: Vec::new(),
                faces: faces.faces,
                shading: Shading::default(),
                corner_uvs: faces.uvs,
                materials: mesh.materials.clone(),
                material_of_face: faces.materials,
                binding: Binding::Node,
                morphs: check_morphs(mesh, raw, &subject, repairs),
                weld: Weld::default(),
                name,
            };
            if raw.world.is_mirrored() {
                turn_faces(&mut checked);
            }
            checked
        })
        .collect()
}

/// Reverses every face, keeping its first corner.
pub fn turn_faces(mesh: &mut Mesh) {
    for f in 0..mesh.faces.len() {
        let range = mesh.faces.range(f);
        mesh.faces.corners[range.start + 1..range.end].reverse();
        if !mesh.corner_uvs.is_empty() {
            mesh.corner_uvs[range.start + 1..range.end].reverse();
        }
    }
}

struct CheckedFaces {
    faces: Faces,
    uvs: Vec<Vec2>,
    materials: Vec<u32>,
}

/// Keeps the faces with at least three corners, all on existing vertices, no more than twice as many as there are
/// vertices: a face with a hole passes its seam twice, nothing passes a vertex more often.
fn check_faces(mesh: &RawMesh, subject: &str, repairs: &mut Vec<Repair>) -> CheckedFaces {
    let has_uvs = mesh.corner_uvs.len() == mesh.corners.len();
    if !has_uvs && !mesh.corner_uvs.is_empty() {
        repairs.push(Repair::new(subject, "its texture coordinates do not match its corners", "dropped"));
    }
    let mut checked = CheckedFaces {
        faces: Faces { starts: vec![0], corners: Vec::new() },
        uvs: Vec::new(),
        materials: Vec::new(),
    };
    let mut dropped = 0;
    for (f, range) in face_ranges(mesh).enumerate() {
        if !is_sound(mesh, range.clone()) {
            dropped += 1;
            continue;
        }
        checked.faces.corners.extend(&mesh.corners[range.clone()]);
        checked.faces.starts.push(checked.faces.corners.len() as u32);
        if has_uvs {
            checked.uvs.extend(
                mesh.corner_uvs[range].iter().map(|uv| if uv.is_finite() { *uv } else { Vec2::ZERO }),
            );
        }
        if let Some(&material) = mesh.material_of_face.get(f) {
            checked.materials.push(material.min(mesh.materials.len().saturating_sub(1) as u32));
        }
    }
    if checked.materials.len() != checked.faces.len() {
        checked.materials.clear();
    }
    if dropped > 0 {
        repairs.push(Repair::new(
            subject,
            format!("{dropped} faces have fewer than three corners, too many, or name missing vertices"),
            "dropped",
        ));
    }
    checked
}

/// Corner ranges of the faces as far as the corners reach.
fn face_ranges(mesh: &RawMesh) -> impl Iterator<Item = std::ops::Range<usize>> {
    let mut start = 0usize;
    mesh.face_sizes.iter().map_while(move |&size| {
        let end = start.checked_add(size as usize)?;
        let range = start..end;
        start = end;
        (end <= mesh.corners.len()).then_some(range)
    })
}

fn is_sound(mesh: &RawMesh, face: std::ops::Range<usize>) -> bool {
    let vertices = mesh.positions.len();
    (3..=2 * vertices).contains(&face.len()) && mesh.corners[face].iter().all(|&v| (v as usize) < vertices)
}

/// The farthest a vertex may be from the origin, metres: beyond, lengths and volumes leave single precision.
const FARTHEST: f32 = 1e9;

/// The positions in metres and Y up.
fn check_positions(mesh: &RawMesh, world: &World, subject: &str, repairs: &mut Vec<Repair>) -> Vec<Vec3> {
    let mut positions: Vec<Vec3> = mesh.positions.iter().map(|&p| world.to_internal(p)).collect();
    let is_sound = |p: &Vec3| p.is_finite() && p.abs().max_element() <= FARTHEST;
    let not_finite = mesh.positions.iter().filter(|p| !p.is_finite()).count();
    let bad = positions.iter().filter(|p| !is_sound(p)).count();
    if bad == 0 {
        return positions;
    }
    let sound: Vec<Vec3> = positions.iter().copied().filter(is_sound).collect();
    let (low, high) = bounds(&sound);
    for (count, what) in [
        (not_finite, "not finite".to_owned()),
        (bad - not_finite, format!("farther than {FARTHEST:e} m from the origin")),
    ] {
        if count > 0 {
            repairs.push(Repair::new(
                subject,
                format!("{count} vertices are {what}"),
                "moved to the mesh's middle",
            ));
        }
    }
    for p in positions.iter_mut().filter(|p| !is_sound(p)) {
        *p = (low + high) / 2.0;
    }
    positions
}

fn check_morphs(mesh: &RawMesh, raw: &RawCharacter, subject: &str, repairs: &mut Vec<Repair>) -> Vec<Morph> {
    let mut taken = TakenNames::new();
    let mut dropped = 0;
    let mut check_one = |i: usize, morph: &RawMorph| {
        let mut offsets: BTreeMap<u32, Vec3> = BTreeMap::new();
        for &(vertex, offset) in &morph.offsets {
            if (vertex as usize) < mesh.positions.len() && offset.is_finite() {
                if offset != Vec3::ZERO {
                    *offsets.entry(vertex).or_default() += raw.world.to_internal(offset);
                }
            } else {
                dropped += 1;
            }
        }
        Morph {
            name: unique_name(&morph.name, &format!("morph_{i}"), &mut taken),
            vertices: offsets.keys().copied().collect(),
            offsets: offsets.into_values().collect(),
            weight: if morph.weight.is_finite() { morph.weight } else { 0.0 },
        }
    };
    let morphs = mesh.morphs.iter().enumerate().map(|(i, m)| check_one(i, m)).collect();
    if dropped > 0 {
        repairs.push(Repair::new(
            subject,
            format!("{dropped} morph offsets are not finite or name missing vertices"),
            "dropped",
        ));
    }
    morphs
}

/// Finds the seams, triangulates, and groups corners by normal. A mesh that its transform turns
/// inside out gets its faces turned over first.
pub fn weld(raw: &RawCharacter, meshes: &mut [Mesh], skeleton: &Skeleton, repairs: &mut Vec<Repair>) {
    let local = skeleton.joints.iter().map(|j| j.rest).collect();
    let rest = Pose { local, morph_weights: Vec::new() }.world(skeleton);
    for (mesh, raw_mesh) in meshes.iter_mut().zip(&raw.meshes) {
        if matches!(mesh.binding, Binding::Node) && rest[mesh.joint].matrix3.determinant() < 0.0 {
            turn_faces(mesh);
            repairs.push(Repair::new(
                format!("mesh \"{}\"", mesh.name),
                "is mirrored by its node",
                "faces turned over",
            ));
        }
        let (low, high) = bounds(&mesh.positions);
        mesh.weld =
            Weld::new(&mesh.positions, WELD_TOLERANCE * low.distance(high), |a, b| same_point(mesh, a, b));
        let triangle_corners = mesh.faces.triangle_corners();
        mesh.triangles = triangle_corners.iter().map(|t| t.map(|c| mesh.faces.corners[c as usize])).collect();
        let normals = corner_normals(raw, raw_mesh, mesh);
        mesh.shading = Shading::new(&mesh.weld, &mesh.faces.corners, &normals, &triangle_corners);
    }
}

/// The file's normals of the kept faces, corner by corner, or none if it has none that fit.
/// They are only compared with each other, never used as directions, so the mesh's own space is good enough.
fn corner_normals(raw: &RawCharacter, raw_mesh: &RawMesh, mesh: &Mesh) -> Vec<Vec3> {
    if raw_mesh.corner_normals.len() != raw_mesh.corners.len() {
        return Vec::new();
    }
    // A face that was turned over has its corners in another order: look the normal up by vertex.
    let mut normals = Vec::with_capacity(mesh.faces.corners.len());
    for (f, range) in face_ranges(raw_mesh).filter(|r| is_sound(raw_mesh, r.clone())).enumerate() {
        let of_vertex: Vec<(u32, Vec3)> = range
            .map(|c| (raw_mesh.corners[c], raw.world.direction_to_internal(raw_mesh.corner_normals[c])))
            .collect();
        for &v in mesh.faces.get(f) {
            normals.push(of_vertex.iter().find(|(w, _)| *w == v).map_or(Vec3::ZERO, |&(_, n)| n));
        }
    }
    normals
}

/// Whether two vertices at one place also move alike.
fn same_point(mesh: &Mesh, a: usize, b: usize) -> bool {
    let same_weights = mesh.skin().is_none_or(|skin| {
        let weight_in =
            |v: usize, joint: u32| skin.influences.of(v).find(|&(j, _)| j == joint).map_or(0.0, |(_, w)| w);
        let covers = |v: usize, w: usize| {
            skin.influences.of(v).all(|(joint, weight)| (weight - weight_in(w, joint)).abs() < SAME_WEIGHT)
        };
        covers(a, b) && covers(b, a)
    });
    let offset = |morph: &Morph, v: usize| {
        morph.vertices.binary_search(&(v as u32)).map_or(Vec3::ZERO, |i| morph.offsets[i])
    };
    same_weights
        && mesh.morphs.iter().all(|m| {
            let (x, y) = (offset(m, a), offset(m, b));
            x.distance(y) <= SAME_WEIGHT * x.length().max(y.length())
        })
}
