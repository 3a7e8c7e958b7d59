//! `visual_scene`: the node hierarchy and what its nodes carry.

use super::controller::{Chain, read_morphs, read_skin};
use super::document::{Document, child, children, is, name_of};
use super::geometry;
use super::node_transform::TransformStack;
use crate::character::Repair;
use crate::character::raw::{RawCharacter, RawMesh, RawNode};
use crate::math::Transform;
use roxmltree::Node;
use std::collections::{BTreeMap, HashMap};

/// Nodes after instances are written out. The deepest file seen has 60,000.
const MOST_NODES: usize = 1_000_000;
/// Corners of all instances together, so that a small file cannot ask for all memory.
const MOST_CORNERS: usize = 100_000_000;
/// Dropped shear above this, relative to the transform's size, is reported.
const SHEAR_TOLD: f32 = 1e-3;

/// The nodes of the scene by the names the rest of the file uses for them.
#[derive(Default)]
pub struct Scene {
    /// Transforms of each node.
    pub stacks: Vec<TransformStack>,
    /// First node with an id.
    pub node_of_id: HashMap<String, usize>,
    nodes_of_sid: HashMap<String, Vec<usize>>,
    node_of_name: HashMap<String, usize>,
    /// Meshes made from each morph controller's id.
    pub meshes_of_morph: BTreeMap<String, Vec<usize>>,
}

impl Scene {
    /// The node a skin calls `name`: by sid below one of `skeletons`, else anywhere by sid, id or name.
    pub fn joint(&self, name: &str, skeletons: &[usize], nodes: &[RawNode]) -> Option<usize> {
        let of_sid = self.nodes_of_sid.get(name).map_or(&[][..], Vec::as_slice);
        let is_below = |&&node: &&usize| {
            let mut at = Some(node);
            while let Some(node) = at {
                if skeletons.contains(&node) {
                    return true;
                }
                at = nodes.get(node).and_then(|n| n.parent);
            }
            false
        };
        let below = if of_sid.len() > 1 { of_sid.iter().take(64).find(is_below) } else { None };
        let known = below.or(of_sid.first()).or(self.node_of_id.get(name)).or(self.node_of_name.get(name));
        known.copied()
    }
}

/// A mesh still to be made once all nodes are known.
struct Instance<'a> {
    node: usize,
    element: Node<'a, 'a>,
}

/// Reads nodes and meshes into `raw`. The error says what is wrong.
pub fn read<'a>(document: &Document<'a>, raw: &mut RawCharacter) -> Result<Scene, String> {
    let mut scene = Scene::default();
    let mut instances = Vec::new();
    let mut pending: Vec<(Node<'a, 'a>, Option<usize>)> = Vec::new();
    for root in scene_roots(document).into_iter().rev() {
        pending.push((root, None));
    }
    while let Some((element, parent)) = pending.pop() {
        if raw.nodes.len() == MOST_NODES {
            return Err("has more than a million nodes; an instance_node may lead back to itself".into());
        }
        let node = raw.nodes.len();
        let stack = TransformStack::of(element);
        let (local, shear) = Transform::from_matrix(stack.matrix().as_mat4());
        let name = name_of(element);
        if shear > SHEAR_TOLD {
            raw.repairs.push(Repair::new(
                format!("node {name:?}"),
                "its transform is sheared",
                "dropped the shear",
            ));
        }
        if let Some(id) = element.attribute("id") {
            scene.node_of_id.entry(id.to_owned()).or_insert(node);
        }
        if let Some(sid) = element.attribute("sid") {
            scene.nodes_of_sid.entry(sid.to_owned()).or_default().push(node);
        }
        scene.node_of_name.entry(name.clone()).or_insert(node);
        scene.stacks.push(stack);
        raw.nodes.push(RawNode { name, parent, local });
        let mut below = Vec::new();
        for inner in element.children().filter(|c| c.is_element()) {
            match inner.tag_name().name() {
                "node" => below.push((inner, Some(node))),
                "instance_node" => {
                    let target = document.referred(inner, "url").filter(|target| is(*target, "node"));
                    below.extend(target.map(|target| (target, Some(node))));
                }
                "instance_geometry" | "instance_controller" => {
                    instances.push(Instance { node, element: inner })
                }
                _ => {}
            }
        }
        pending.extend(below.into_iter().rev());
    }
    let mut corners_left = MOST_CORNERS;
    for instance in instances {
        add_mesh(document, &instance, &mut scene, raw, &mut corners_left);
    }
    Ok(scene)
}

/// The topmost nodes of the scene in use, else of the first scene, else of the node library.
fn scene_roots<'a>(document: &Document<'a>) -> Vec<Node<'a, 'a>> {
    let root = document.root();
    let used = child(root, "scene").and_then(|s| child(s, "instance_visual_scene"));
    let used = used.and_then(|instance| document.referred(instance, "url"));
    let library = |tag: &str| root.children().find(|c| is(*c, tag));
    let scene = used.or_else(|| child(library("library_visual_scenes")?, "visual_scene"));
    let parent = scene.or_else(|| library("library_nodes"));
    parent.map_or(Vec::new(), |parent| children(parent, "node").collect())
}

fn add_mesh<'a>(
    document: &Document<'a>,
    instance: &Instance<'a>,
    scene: &mut Scene,
    raw: &mut RawCharacter,
    corners_left: &mut usize,
) {
    let Some(target) = document.referred(instance.element, "url") else {
        let url = instance.element.attribute("url").unwrap_or_default();
        raw.repairs.push(Repair::new(
            format!("instance of {url:?}"),
            "the file does not have it",
            "left out",
        ));
        return;
    };
    let chain = Chain::follow(document, target);
    let Some(geometry) = chain.geometry else {
        let subject = format!("controller {:?}", name_of(target));
        raw.repairs.push(Repair::new(subject, "leads to no geometry", "left out"));
        return;
    };
    let mut mesh = geometry::read(document, geometry);
    let subject = format!("mesh {:?}", mesh.name);
    let size = mesh.corners.len().max(mesh.positions.len());
    let Some(left) = corners_left.checked_sub(size) else {
        raw.repairs.push(Repair::new(subject, "is instanced too many times", "left out"));
        return;
    };
    *corners_left = left;
    mesh.node = Some(instance.node);
    name_materials(document, instance.element, &mut mesh);
    if let Some(morph) = chain.morph {
        mesh.morphs = read_morphs(document, morph, &mesh);
        let id = morph.parent().and_then(|controller| controller.attribute("id")).unwrap_or_default();
        scene.meshes_of_morph.entry(id.to_owned()).or_default().push(raw.meshes.len());
    }
    if let Some(skin) = chain.skin {
        let skeletons: Vec<usize> = children(instance.element, "skeleton")
            .filter_map(|s| s.text())
            .filter_map(|url| scene.node_of_id.get(url.trim().trim_start_matches('#')).copied())
            .collect();
        let nodes = &mut raw.nodes;
        mesh.skin = Some(read_skin(document, skin, &skeletons, scene, nodes, &subject, &mut raw.repairs));
    }
    raw.meshes.push(mesh);
}

/// Replaces material symbols by the names of the materials bound to them.
fn name_materials<'a>(document: &Document<'a>, instance: Node<'a, 'a>, mesh: &mut RawMesh) {
    let technique = child(instance, "bind_material").and_then(|b| child(b, "technique_common"));
    for binding in technique.into_iter().flat_map(|t| children(t, "instance_material")) {
        let material = document.referred(binding, "target").map(name_of);
        for name in mesh.materials.iter_mut().filter(|name| binding.attribute("symbol") == Some(name)) {
            if let Some(material) = &material {
                name.clone_from(material);
            }
        }
    }
}
