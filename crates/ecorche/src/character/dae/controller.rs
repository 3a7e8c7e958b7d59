//! `controller`: skins and morphs, and the chain from an instance to its geometry.

use super::document::{Document, Source, child, inputs, integers, numbers};
use super::geometry;
use super::scene::Scene;
use crate::character::Repair;
use crate::character::raw::{RawMesh, RawMorph, RawNode, RawSkin};
use glam::{DMat4, Mat4};
use roxmltree::Node;

/// Controllers stacked on each other. A morph under a skin makes two.
const LONGEST_CHAIN: usize = 8;

/// What an `instance_controller` leads to.
#[derive(Default)]
pub struct Chain<'a> {
    /// The outermost skin.
    pub skin: Option<Node<'a, 'a>>,
    /// The outermost morph.
    pub morph: Option<Node<'a, 'a>>,
    /// The shape they deform.
    pub geometry: Option<Node<'a, 'a>>,
}

impl<'a> Chain<'a> {
    /// Follows a `controller` or `geometry` element down.
    pub fn follow(document: &Document<'a>, element: Node<'a, 'a>) -> Self {
        let mut chain = Self::default();
        let mut at = Some(element);
        for _ in 0..LONGEST_CHAIN {
            let Some(element) = at else { break };
            if element.tag_name().name() == "geometry" {
                chain.geometry = Some(element);
                break;
            }
            let (skin, morph) = (child(element, "skin"), child(element, "morph"));
            chain.skin = chain.skin.or(skin);
            chain.morph = chain.morph.or(morph);
            at = skin.or(morph).and_then(|inner| document.referred(inner, "source"));
        }
        chain
    }
}

/// The matrix of a `bind_shape_matrix`, or identity.
fn bind_shape(skin: Node) -> DMat4 {
    let element = skin.children().find(|c| c.tag_name().name() == "bind_shape_matrix");
    let values = element.map_or(Vec::new(), numbers);
    if values.len() == 16 { DMat4::from_cols_slice(&values).transpose() } else { DMat4::IDENTITY }
}

/// The skin on joints of `scene`, searched for below `skeletons` first.
pub fn read_skin<'a>(
    document: &Document<'a>,
    skin: Node<'a, 'a>,
    skeletons: &[usize],
    scene: &Scene,
    nodes: &mut Vec<RawNode>,
    subject: &str,
    repairs: &mut Vec<Repair>,
) -> RawSkin {
    let shape = bind_shape(skin);
    let joint_inputs = child(skin, "joints").map_or(Vec::new(), |j| inputs(document, j));
    let source = |semantic: &str| joint_inputs.iter().find(|i| i.semantic == semantic).map(|i| i.source);
    let inverse_binds = source("INV_BIND_MATRIX").map(|s| Source::read(document, s)).unwrap_or_default();
    let weight_element = child(skin, "vertex_weights");
    let weight_inputs = weight_element.map_or(Vec::new(), |w| inputs(document, w));
    let joint_input = weight_inputs.iter().find(|i| i.semantic == "JOINT");
    let names = source("JOINT").or(joint_input.map(|i| i.source)).map(|s| Source::read(document, s));
    let names = names.unwrap_or_default().names;

    let mut skin = RawSkin::default();
    let found: Vec<Option<usize>> = names.iter().map(|name| scene.joint(name, skeletons, nodes)).collect();
    let missing: Vec<&str> = names
        .iter()
        .zip(&found)
        .filter(|(_, f)| f.is_none())
        .map(|(name, _)| name.as_str())
        .take(4)
        .collect();
    if !missing.is_empty() {
        let problem = format!("its joints {} are not nodes of the scene", missing.join(", "));
        repairs.push(Repair::new(subject, problem, "left their weights out"));
    }
    // Joint of the skin for each joint of the file.
    let mut slot_of_joint = Vec::new();
    for (j, node) in found.iter().enumerate() {
        slot_of_joint.push(node.map(|_| skin.joints.len() as u32));
        let Some(node) = node else { continue };
        let inverse_bind = inverse_binds.get(j).filter(|m| m.len() == 16);
        // NaN tells the check that the file has no matrix here.
        let matrix =
            inverse_bind.map_or(Mat4::NAN, |m| (DMat4::from_cols_slice(m).transpose() * shape).as_mat4());
        skin.joints.push(*node);
        skin.joint_from_mesh.push(matrix);
    }
    if inverse_binds.len() == 0 {
        skin.joint_from_mesh.clear();
    }

    let (Some(element), Some(joint_input)) = (weight_element, joint_input) else { return skin };
    let weight_input = weight_inputs.iter().find(|i| i.semantic == "WEIGHT");
    let weights = weight_input.map(|i| Source::read(document, i.source)).unwrap_or_default();
    let stride = 1 + weight_inputs.iter().map(|i| i.offset).max().unwrap_or(0);
    let counts = child(element, "vcount").map_or(Vec::new(), |v| integers(v));
    let indices = child(element, "v").map_or(Vec::new(), |v| integers(v));
    let mut entries = indices.chunks_exact(stride.clamp(1, indices.len().max(1)));
    let mut still_slot = None;
    'vertices: for (vertex, &count) in counts.iter().enumerate() {
        for _ in 0..count {
            let Some(entry) = entries.next() else { break 'vertices };
            let joint = entry.get(joint_input.offset).copied().unwrap_or(i64::MIN);
            let weight =
                weight_input.and_then(|i| entry.get(i.offset)).and_then(|&i| usize::try_from(i).ok());
            let weight = weight.and_then(|i| weights.get(i)).map_or(0.0, |w| w[0] as f32);
            let slot = match usize::try_from(joint) {
                Ok(joint) => match slot_of_joint.get(joint) {
                    Some(Some(slot)) => *slot,
                    Some(None) => continue,
                    None => u32::MAX,
                },
                // -1 is the bind shape itself, which nothing moves.
                Err(_) if joint == -1 => *still_slot.get_or_insert_with(|| {
                    nodes.push(RawNode { name: "bind shape".into(), ..RawNode::default() });
                    skin.joints.push(nodes.len() - 1);
                    skin.joint_from_mesh.push(shape.as_mat4());
                    skin.joints.len() as u32 - 1
                }),
                Err(_) => u32::MAX,
            };
            skin.influences.push((vertex as u32, slot, weight));
        }
    }
    skin
}

/// The morph's shapes as offsets from `mesh`.
pub fn read_morphs(document: &Document<'_>, morph: Node<'_, '_>, mesh: &RawMesh) -> Vec<RawMorph> {
    let id = morph.parent().and_then(|controller| controller.attribute("id"));
    let Some(morph) = id.and_then(|id| document.by_id(id)).and_then(|c| child(c, "morph")) else {
        return Vec::new();
    };
    let is_relative = morph.attribute("method") == Some("RELATIVE");
    let target_inputs = child(morph, "targets").map_or(Vec::new(), |t| inputs(document, t));
    let source = |semantic: &str| {
        let input = target_inputs.iter().find(|i| i.semantic == semantic);
        input.map(|i| Source::read(document, i.source)).unwrap_or_default()
    };
    let (targets, weights) = (source("MORPH_TARGET").names, source("MORPH_WEIGHT"));
    targets
        .iter()
        .enumerate()
        .map(|(k, target)| {
            let geometry = document.by_id(target);
            let positions = geometry.map_or(Vec::new(), |g| geometry::positions(document, g));
            let moved = positions.iter().zip(&mesh.positions).enumerate();
            let offsets = moved.map(|(v, (&p, &base))| (v as u32, if is_relative { p } else { p - base }));
            RawMorph {
                name: geometry.map_or(target.clone(), super::document::name_of),
                offsets: offsets.filter(|(_, offset)| *offset != glam::Vec3::ZERO).collect(),
                weight: weights.get(k).map_or(0.0, |w| w[0] as f32),
            }
        })
        .collect()
}
