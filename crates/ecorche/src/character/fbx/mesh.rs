//! Meshes, skins and blend shapes of an FBX file.

use super::{matrix, owner_name, vec2, vec3};
use crate::character::Repair;
use crate::character::raw::{RawCharacter, RawMesh, RawMorph, RawSkin};
use glam::Mat4;
use std::collections::BTreeMap;

/// Where a blend channel of the file ended up.
pub(super) struct MorphSlot {
    /// Index into the character's meshes.
    pub mesh: usize,
    /// Index into that mesh's morphs.
    pub morph: usize,
    /// The channel's weight at which the shape is fully applied, usually 1.
    pub full_weight: f32,
}

/// Blend channels by element id; a channel has several slots when its mesh has several instances.
pub(super) type MorphSlots = BTreeMap<u32, Vec<MorphSlot>>;

/// Adds every mesh once per node that shows it, in the order of the file's meshes.
pub(super) fn add_meshes(
    scene: &ufbx::Scene,
    index_of_node: &[Option<usize>],
    raw: &mut RawCharacter,
) -> MorphSlots {
    let mut shown: Vec<(u32, Option<usize>, &ufbx::Node)> = scene
        .nodes
        .iter()
        .filter_map(|node| {
            let mesh = node.mesh.as_ref()?;
            Some((mesh.element.typed_id, index_of_node[node.element.typed_id as usize], node.as_ref()))
        })
        .collect();
    shown.sort_by_key(|&(mesh, node, _)| (mesh, node));

    let mut slots = MorphSlots::new();
    for (_, node_index, node) in shown {
        let Some(mesh) = node.mesh.as_ref() else { continue };
        let mut raw_mesh = geometry(node, node_index, mesh);
        let subject = format!("mesh \"{}\"", raw_mesh.name);
        raw_mesh.skin = skin(mesh, node_index, index_of_node, &subject, &mut raw.repairs);
        add_morphs(mesh, raw.meshes.len(), &mut raw_mesh, &mut slots, &subject, &mut raw.repairs);
        raw.meshes.push(raw_mesh);
    }
    slots
}

fn geometry(node: &ufbx::Node, node_index: Option<usize>, mesh: &ufbx::Mesh) -> RawMesh {
    // Names of meshes are often empty or generated; riggers know the node's.
    let name = match owner_name(node) {
        "" => mesh.element.name.to_string(),
        name => name.to_owned(),
    };
    let normals = &mesh.vertex_normal;
    let uvs = &mesh.vertex_uv;
    let at = |index: u32| index as usize;
    // Materials may differ between instances of a mesh: the node's list counts.
    let materials = if node.materials.count > 0 { &node.materials } else { &mesh.materials };
    let materials: Vec<String> = materials.iter().map(|m| m.element.name.to_string()).collect();
    let material_of_face =
        if materials.len() > 1 { mesh.face_material.iter().copied().collect() } else { Vec::new() };
    RawMesh {
        name,
        node: node_index,
        positions: mesh.vertices.iter().map(|&p| vec3(p)).collect(),
        face_sizes: mesh.faces.iter().map(|f| f.num_indices).collect(),
        corners: mesh
            .faces
            .iter()
            .flat_map(|f| mesh.vertex_indices.iter().skip(at(f.index_begin)).take(at(f.num_indices)).copied())
            .collect(),
        corner_normals: per_corner(mesh, normals.exists, &normals.indices, |i| {
            normals.values.get(i).map(|&n| vec3(n))
        }),
        corner_uvs: per_corner(mesh, uvs.exists, &uvs.indices, |i| uvs.values.get(i).map(|&uv| vec2(uv))),
        materials,
        material_of_face,
        ..RawMesh::default()
    }
}

/// An attribute of every face corner, or nothing if the file lacks it for some corner.
fn per_corner<T>(
    mesh: &ufbx::Mesh,
    exists: bool,
    indices: &[u32],
    value: impl Fn(usize) -> Option<T>,
) -> Vec<T> {
    if !exists {
        return Vec::new();
    }
    let of_face = |f: &ufbx::Face| f.index_begin as usize..f.index_begin as usize + f.num_indices as usize;
    mesh.faces
        .iter()
        .flat_map(of_face)
        .map(|corner| value(*indices.get(corner)? as usize))
        .collect::<Option<Vec<T>>>()
        .unwrap_or_default()
}

fn skin(
    mesh: &ufbx::Mesh,
    node_index: Option<usize>,
    index_of_node: &[Option<usize>],
    subject: &str,
    repairs: &mut Vec<Repair>,
) -> Option<RawSkin> {
    let deformer = mesh.skin_deformers.first()?;
    if mesh.skin_deformers.count > 1 {
        repairs.push(Repair::new(
            subject,
            format!("{} skins on top of each other", mesh.skin_deformers.count),
            "used the first",
        ));
    }
    let mut raw = RawSkin {
        dual_quaternion: wants_dual_quaternions(deformer, mesh.num_vertices, subject, repairs),
        ..RawSkin::default()
    };
    let mut weight_of_vertex = vec![0f64; mesh.num_vertices];
    for cluster in &deformer.clusters {
        let Some(joint) = cluster.bone_node.as_ref().and_then(|b| index_of_node[b.element.typed_id as usize])
        else {
            repairs.push(Repair::new(
                subject,
                format!("cluster \"{}\" belongs to no joint", cluster.element.name),
                "ignored its weights",
            ));
            continue;
        };
        let slot = raw.joints.len() as u32;
        raw.joints.push(joint);
        raw.joint_from_mesh.push(matrix(&cluster.geometry_to_bone));
        for (&vertex, &weight) in cluster.vertices.iter().zip(&cluster.weights) {
            raw.influences.push((vertex, slot, weight as f32));
            if let Some(sum) = weight_of_vertex.get_mut(vertex as usize) {
                *sum += weight;
            }
        }
    }
    if raw.joints.is_empty() {
        return None;
    }
    hold_loose_vertices(&weight_of_vertex, node_index, &mut raw, subject, repairs);
    Some(raw)
}

/// Vertices that no cluster holds move with the mesh's own node: an extra entry in the skin.
fn hold_loose_vertices(
    weight_of_vertex: &[f64],
    node_index: Option<usize>,
    skin: &mut RawSkin,
    subject: &str,
    repairs: &mut Vec<Repair>,
) {
    let loose: Vec<u32> =
        (0..weight_of_vertex.len()).filter(|&v| weight_of_vertex[v] <= 0.0).map(|v| v as u32).collect();
    let (Some(node), false) = (node_index, loose.is_empty()) else { return };
    repairs.push(Repair::new(
        subject,
        format!("{} of {} vertices have no weights", loose.len(), weight_of_vertex.len()),
        "they move with the mesh's own node",
    ));
    let slot = skin.joints.len() as u32;
    skin.joints.push(node);
    skin.joint_from_mesh.push(Mat4::IDENTITY);
    skin.influences.extend(loose.into_iter().map(|v| (v, slot, 1.0)));
}

/// A skin that mixes linear and dual quaternion skinning by vertex gets what most vertices have.
fn wants_dual_quaternions(
    deformer: &ufbx::SkinDeformer,
    vertices: usize,
    subject: &str,
    repairs: &mut Vec<Repair>,
) -> bool {
    match deformer.skinning_method {
        ufbx::SkinningMethod::DualQuaternion => true,
        ufbx::SkinningMethod::BlendedDqLinear => {
            let share = deformer.dq_weights.iter().sum::<f64>() / vertices.max(1) as f64;
            let dual = share > 0.5;
            repairs.push(Repair::new(
                subject,
                format!("mixes linear and dual quaternion skinning ({:.0} % dual)", 100.0 * share),
                if dual { "dual quaternions everywhere" } else { "linear everywhere" },
            ));
            dual
        }
        _ => false,
    }
}

fn add_morphs(
    mesh: &ufbx::Mesh,
    mesh_index: usize,
    raw: &mut RawMesh,
    slots: &mut MorphSlots,
    subject: &str,
    repairs: &mut Vec<Repair>,
) {
    for channel in mesh.blend_deformers.iter().flat_map(|d| d.channels.iter()) {
        let Some(target) = channel.keyframes.last() else { continue };
        let name = match &*channel.element.name {
            "" => target.shape.element.name.to_string(),
            name => name.to_owned(),
        };
        if channel.keyframes.count > 1 {
            repairs.push(Repair::new(
                subject,
                format!("morph \"{name}\" has {} in-between shapes", channel.keyframes.count - 1),
                "blended straight to its last shape",
            ));
        }
        let shape = &target.shape;
        let offsets = shape.offset_vertices.iter().zip(&shape.position_offsets).enumerate();
        let offsets = offsets
            .map(|(i, (&vertex, &offset))| {
                // Blender stores a vertex group's weights beside the offsets.
                let share = shape.offset_weights.get(i).map_or(1.0, |&w| w as f32);
                (vertex, vec3(offset) * share)
            })
            .collect();
        let full_weight = target.target_weight as f32;
        let full_weight = if full_weight.is_normal() { full_weight } else { 1.0 };
        slots.entry(channel.element.element_id).or_default().push(MorphSlot {
            mesh: mesh_index,
            morph: raw.morphs.len(),
            full_weight,
        });
        raw.morphs.push(RawMorph { name, offsets, weight: channel.weight as f32 / full_weight });
    }
}
