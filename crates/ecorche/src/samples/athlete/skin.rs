//! The athlete's weights.

use crate::geom::TriMesh;
use crate::samples::rig::{Bone, MIRROR, Rig};
use crate::samples::sculpt::Solid;
use crate::samples::weights::{soften, tidy};
use glam::Vec3;
use rayon::prelude::*;

/// Below this height the heel belongs to the foot, although the shin bone ends nearer to it.
const HEEL_TOP: f32 = 0.07;

/// `(bone, weight)` lists, one per vertex, exactly symmetric.
pub fn weights(surface: &TriMesh, solid: &Solid, rig: &Rig) -> Vec<Vec<(u32, f32)>> {
    let mirror_vertex = mirror_vertices(surface);
    let mirror_bone = rig.mirror_of();
    let owner: Vec<usize> = surface
        .positions
        .par_iter()
        .map(|&p| {
            if p.x < 0.0 {
                mirror_bone[owner_on_left(p * MIRROR, solid, rig)]
            } else {
                owner_on_left(p, solid, rig)
            }
        })
        .collect();
    // Right shares are the mirror images of left ones: half the work, and exact symmetry.
    let is_right = |b: usize| rig.bones[b].name.starts_with("right");
    let spread = soften(surface, rig, &owner, |b| !is_right(b));
    let left_of = |v: usize| {
        let mut list = Vec::new();
        for &(b, share) in &spread[v] {
            if mirror_bone[b as usize] != b as usize {
                list.push((b, share));
            }
        }
        list
    };
    let middle_of =
        |v: usize| spread[v].iter().copied().filter(|&(b, _)| mirror_bone[b as usize] == b as usize);
    let mut lists: Vec<Vec<(u32, f32)>> = vec![Vec::new(); surface.positions.len()];
    for v in 0..lists.len() {
        if surface.positions[v].x < 0.0 {
            continue;
        }
        let mut list = left_of(v);
        list.extend(left_of(mirror_vertex[v]).iter().map(|&(b, w)| (mirror_bone[b as usize] as u32, w)));
        list.extend(middle_of(v));
        tidy(&mut list);
        if mirror_vertex[v] != v {
            let mirrored = list.iter().map(|&(b, w)| (mirror_bone[b as usize] as u32, w)).collect();
            lists[mirror_vertex[v]] = mirrored;
        }
        lists[v] = list;
    }
    lists
}

/// For each vertex its mirror image. The surface lists the left half and the rim first, then the mirror
/// images of the left half in the same order.
fn mirror_vertices(surface: &TriMesh) -> Vec<usize> {
    let half = surface.positions.iter().take_while(|p| p.x >= 0.0).count();
    let mut mirror: Vec<usize> = (0..surface.positions.len()).collect();
    let mut next = half;
    for v in 0..half {
        if surface.positions[v].x > 0.0 {
            mirror[v] = next;
            mirror[next] = v;
            next += 1;
        }
    }
    mirror
}

/// The bone that owns a point of the left half, among those of the part of the body it belongs to.
fn owner_on_left(p: Vec3, solid: &Solid, rig: &Rig) -> usize {
    let part = solid
        .group_distances(p)
        .into_iter()
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map_or("body", |nearest| nearest.0);
    let in_trunk = |name: &str| matches!(name, "hips" | "spine" | "chest" | "upperChest");
    let allowed = |bone: &Bone| {
        let name = bone.name.as_str();
        match part {
            "hand" => name.starts_with("left") && is_hand(name) || name == "leftLowerArm",
            "arm" => {
                matches!(name, "leftShoulder" | "leftUpperArm" | "leftLowerArm" | "leftHand" | "upperChest")
            }
            "foot" if p.y < HEEL_TOP => matches!(name, "leftFoot" | "leftToes"),
            "foot" => matches!(name, "leftLowerLeg" | "leftFoot" | "leftToes"),
            "leg" if p.y < HEEL_TOP => name == "leftFoot",
            "leg" => matches!(name, "leftUpperLeg" | "leftLowerLeg" | "leftFoot" | "hips" | "spine"),
            "head" => matches!(name, "head" | "neck"),
            _ => {
                in_trunk(name)
                    || matches!(name, "neck" | "head" | "leftShoulder" | "leftUpperArm" | "leftUpperLeg")
            }
        }
    };
    rig.nearest(p, allowed)
}

fn is_hand(name: &str) -> bool {
    ["Hand", "Thumb", "Index", "Middle", "Ring", "Little"].iter().any(|part| name.contains(part))
}
