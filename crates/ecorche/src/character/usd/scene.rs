//! From a flattened scene to a raw character.

use super::layer::{Fault, Layer, ROOT, Value};
use super::mesh;
use super::skeleton::{AnimationReader, Skeleton};
use super::xform::XformStack;
use crate::character::raw::{RawChannel, RawCharacter, RawClip, RawNode, RawTrack};
use crate::character::transform_keys::transform_tracks;
use crate::character::{Repair, World};
use crate::math::Transform;
use std::collections::BTreeMap;

/// Shapes that are not meshes and that a character may hold.
const OTHER_SHAPES: [&str; 9] = [
    "BasisCurves",
    "Capsule",
    "Cone",
    "Cube",
    "Cylinder",
    "NurbsCurves",
    "PointInstancer",
    "Points",
    "Sphere",
];

/// Dropped shear above this, relative to the transform's size, is reported.
const SHEAR_TOLD: f32 = 1e-3;

/// Reads the character.
pub fn read(layer: &Layer) -> Result<RawCharacter, Fault> {
    let metres = layer.number("metersPerUnit").filter(|&m| m > 0.0).unwrap_or(0.01) as f32;
    let is_z_up = layer.metadata.get("upAxis").and_then(|v| v.text()) == Some("Z");
    let mut raw = RawCharacter {
        world: if is_z_up { World::z_up(metres) } else { World::y_up(metres) },
        ..RawCharacter::default()
    };
    let prims = active_prims(layer);
    let node_of_prim = add_nodes(layer, &prims, &mut raw);
    let of_type = |wanted: &str| {
        let is_wanted = |&prim: &usize| layer.prims[prim].type_name == wanted;
        prims.iter().copied().filter(is_wanted).collect::<Vec<usize>>()
    };
    let skeletons: BTreeMap<usize, Skeleton> = of_type("Skeleton")
        .into_iter()
        .filter_map(|prim| Some((prim, Skeleton::read(layer, prim, node_of_prim[prim]?, &mut raw.nodes))))
        .collect();
    let mut morphs_of_skeleton = MorphsOfSkeleton::new();
    for prim in of_type("Mesh") {
        add_mesh(layer, prim, &node_of_prim, &skeletons, &mut morphs_of_skeleton, &mut raw);
    }
    for shape in OTHER_SHAPES {
        let count = of_type(shape).len();
        if count > 0 {
            raw.repairs.push(Repair::new(format!("{count} {shape}"), "is not a mesh", "left out"));
        }
    }
    for (feature, count) in &layer.left_out {
        raw.repairs.push(Repair::new(format!("{count} times"), feature, "left out"));
    }
    let animations = of_type("SkelAnimation");
    add_clips(layer, &prims, &node_of_prim, &skeletons, &morphs_of_skeleton, &animations, &mut raw)?;
    Ok(raw)
}

/// `(mesh, morph)` by skeleton prim and name of the blend shape.
type MorphsOfSkeleton = BTreeMap<usize, BTreeMap<String, Vec<(usize, usize)>>>;

/// Prims that count, parents first, siblings in the file's order: active, defined, no classes.
fn active_prims(layer: &Layer) -> Vec<usize> {
    let mut prims = Vec::new();
    let mut pending = vec![ROOT];
    while let Some(prim) = pending.pop() {
        let entry = &layer.prims[prim];
        if entry.active == Some(false) || entry.is_class || !entry.is_defined {
            continue;
        }
        prims.push(prim);
        pending.extend(entry.children.iter().rev());
    }
    prims
}

/// A node for every prim that has a place in space, and for those above it.
fn add_nodes(layer: &Layer, prims: &[usize], raw: &mut RawCharacter) -> Vec<Option<usize>> {
    let mut wanted = vec![false; layer.prims.len()];
    for &prim in prims.iter().rev() {
        let entry = &layer.prims[prim];
        wanted[prim] |= ["Xform", "SkelRoot", "Mesh", "Skeleton", "Camera"]
            .contains(&entry.type_name.as_str())
            || entry.attributes.contains_key("xformOpOrder");
        if let Some(parent) = entry.parent.filter(|_| wanted[prim]) {
            wanted[parent] = true;
        }
    }
    let mut node_of_prim = vec![None; layer.prims.len()];
    for &prim in prims.iter().filter(|&&prim| prim != ROOT && wanted[prim]) {
        let stack = XformStack::of(layer, prim);
        let (local, shear) = Transform::from_matrix(stack.rest().as_mat4());
        let name = layer.prims[prim].name.clone();
        if shear > SHEAR_TOLD {
            raw.repairs.push(Repair::new(
                format!("node {name:?}"),
                "its transform is sheared",
                "dropped the shear",
            ));
        }
        let parent =
            layer.prims[prim].parent.filter(|_| !stack.resets).and_then(|parent| node_of_prim[parent]);
        node_of_prim[prim] = Some(raw.nodes.len());
        raw.nodes.push(RawNode { name, parent, local });
    }
    node_of_prim
}

fn add_mesh(
    layer: &Layer,
    prim: usize,
    node_of_prim: &[Option<usize>],
    skeletons: &BTreeMap<usize, Skeleton>,
    morphs_of_skeleton: &mut MorphsOfSkeleton,
    raw: &mut RawCharacter,
) {
    let Some(node) = node_of_prim[prim] else { return };
    let mut mesh = mesh::read(layer, prim, node, &mut raw.repairs);
    mesh.morphs = mesh::morphs(layer, prim, &mut raw.repairs);
    let bound = layer.nearest(prim, |prim| layer.targets(prim, "skel:skeleton").first().copied());
    // Some exporters forget the relationship; with one skeleton there is no doubt.
    let only = skeletons.keys().next().copied().filter(|_| skeletons.len() == 1);
    let skeleton_prim = bound.filter(|prim| skeletons.contains_key(prim)).or(only);
    if let Some(skeleton_prim) = skeleton_prim {
        mesh.skin = mesh::skin(layer, prim, &mesh, &skeletons[&skeleton_prim], &mut raw.repairs);
        let morphs_of_name = morphs_of_skeleton.entry(skeleton_prim).or_default();
        for (k, morph) in mesh.morphs.iter().enumerate() {
            morphs_of_name.entry(morph.name.clone()).or_default().push((raw.meshes.len(), k));
        }
    }
    if mesh.skin.is_some() && bound.is_none() {
        let problem = "is weighted but bound to no skeleton";
        raw.repairs.push(Repair::new(format!("mesh {:?}", mesh.name), problem, "bound to the only one"));
    }
    raw.meshes.push(mesh);
}

/// The scene's own animation is one clip; animations that no skeleton is bound to are one each.
fn add_clips(
    layer: &Layer,
    prims: &[usize],
    node_of_prim: &[Option<usize>],
    skeletons: &BTreeMap<usize, Skeleton>,
    morphs_of_skeleton: &MorphsOfSkeleton,
    animations: &[usize],
    raw: &mut RawCharacter,
) -> Result<(), Fault> {
    let stated = layer.number("timeCodesPerSecond").or_else(|| layer.number("framesPerSecond"));
    let rate = stated.filter(|&rate| rate > 0.0).unwrap_or(24.0);
    let mut reader = AnimationReader::new(layer, rate);
    let no_morphs = BTreeMap::new();
    let mut tracks_on = |animation: usize, skeleton_prim: usize| -> Result<Vec<RawTrack>, Fault> {
        let mut tracks = reader.joint_tracks(animation, &skeletons[&skeleton_prim])?;
        let morphs = morphs_of_skeleton.get(&skeleton_prim).unwrap_or(&no_morphs);
        tracks.extend(reader.morph_tracks(animation, morphs)?);
        Ok(tracks)
    };

    let mut scene = RawClip { fps: Some(rate as f32), ..RawClip::default() };
    let mut bound = Vec::new();
    for &skeleton_prim in skeletons.keys() {
        let source =
            layer.nearest(skeleton_prim, |prim| layer.targets(prim, "skel:animationSource").first().copied());
        let Some(source) = source.filter(|source| animations.contains(source)) else { continue };
        scene.tracks.extend(tracks_on(source, skeleton_prim)?);
        bound.push(source);
    }
    for &prim in prims {
        let Some(node) = node_of_prim[prim] else { continue };
        let stack = XformStack::of(layer, prim);
        let times: Vec<f64> = stack.times().iter().map(|time| time / rate).collect();
        if !times.is_empty() {
            scene.tracks.extend(transform_tracks(node, &times, false, |time| stack.at(time * rate)));
        }
    }
    if let (Some(start), Some(end)) = (layer.number("startTimeCode"), layer.number("endTimeCode")) {
        scene.range = Some(((start / rate) as f32, (end / rate) as f32));
        hold_still_tracks_at(&mut scene.tracks, (start / rate) as f32);
    }
    if !scene.tracks.is_empty() {
        scene.name = match bound.as_slice() {
            [only] => layer.prims[*only].name.clone(),
            _ => layer.metadata.get("defaultPrim").and_then(Value::text).unwrap_or("scene").to_owned(),
        };
        raw.clips.push(scene);
    }
    for &animation in animations.iter().filter(|animation| !bound.contains(animation)) {
        let joints = layer.still(animation, "joints").map_or(&[][..], Value::texts);
        let fit =
            |skeleton: &Skeleton| joints.iter().filter(|j| skeleton.joint_of_token.contains_key(*j)).count();
        let best =
            skeletons.iter().map(|(&prim, skeleton)| (fit(skeleton), prim)).max_by_key(|&(fit, _)| fit);
        let Some((_, skeleton_prim)) = best.filter(|&(fit, _)| fit > 0) else { continue };
        let tracks = tracks_on(animation, skeleton_prim)?;
        let name = layer.prims[animation].name.clone();
        raw.clips.push(RawClip { name, fps: Some(rate as f32), range: None, tracks });
    }
    Ok(())
}

/// Values that do not move count from the scene's start, so that they do not lengthen the clip.
fn hold_still_tracks_at(tracks: &mut [RawTrack], start: f32) {
    for track in tracks.iter_mut().filter(|track| track.times.len() == 1) {
        let is_transform = !matches!(track.channel, RawChannel::Morph(..));
        if is_transform || track.times[0] == 0.0 {
            track.times[0] = start;
        }
    }
}
