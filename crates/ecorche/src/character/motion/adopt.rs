//! A mesh without skeleton takes the motion's.

use super::{JoinReport, Match, MatchedBy, Transfer, add_clips};
use crate::character::{Binding, Character, Clip, Joint, Pose};
use glam::{Affine3A, Vec3};

/// Whether there is nothing but meshes and the nodes that carry them.
pub(super) fn has_no_skeleton(character: &Character) -> bool {
    let mut carries = vec![false; character.skeleton.len()];
    for mesh in &character.meshes {
        if matches!(mesh.binding, Binding::Skin(_)) {
            return false;
        }
        let mut joint = Some(mesh.joint);
        while let Some(j) = joint.filter(|&j| !carries[j]) {
            carries[j] = true;
            joint = character.skeleton.joints[j].parent;
        }
    }
    !character.meshes.is_empty() && carries.iter().all(|&c| c)
}

/// Appends the motion's joints, scaled to the meshes' height, standing where they stand.
///
/// The motion's rest pose should be the pose of the meshes; a skeleton that rests otherwise stays
/// beside the body.
pub(super) fn adopt(character: &mut Character, motion: &Character) -> JoinReport {
    let (low, high) = mesh_bounds(character);
    let (bone_low, bone_high) = joint_bounds(motion);
    let (height, bone_height) = (high.y - low.y, bone_high.y - bone_low.y);
    let scale = if height > 0.0 && bone_height > 0.0 { height / bone_height } else { 1.0 };
    let middle = |low: Vec3, high: Vec3| Vec3::new(0.5 * (low.x + high.x), low.y, 0.5 * (low.z + high.z));
    let shift = middle(low, high) - scale * middle(bone_low, bone_high);

    let first = character.skeleton.len();
    for joint in &motion.skeleton.joints {
        let mut rest = joint.rest;
        rest.translation *= scale;
        if joint.parent.is_none() {
            rest.translation += shift;
        }
        let parent = joint.parent.map(|p| p + first);
        character.skeleton.joints.push(Joint { name: joint.name.clone(), parent, rest, in_skin: false });
    }
    let clips = motion.clips.iter().map(|clip| moved_clip(clip, first, scale)).collect();
    let clips = add_clips(character, clips);
    JoinReport {
        transfer: Transfer::AdoptedSkeleton,
        matches: (0..motion.skeleton.len())
            .map(|motion| Match { joint: first + motion, motion, by: MatchedBy::Name })
            .collect(),
        unmatched_joints: Vec::new(),
        unmatched_motion: Vec::new(),
        scale,
        clips,
    }
}

fn moved_clip(clip: &Clip, first: usize, scale: f32) -> Clip {
    let mut clip = clip.clone();
    clip.morph_tracks.clear();
    for track in &mut clip.joint_tracks {
        track.joint += first;
        if let Some(translation) = &mut track.translation {
            for value in &mut translation.values {
                *value *= scale;
            }
        }
    }
    clip
}

fn mesh_bounds(character: &Character) -> (Vec3, Vec3) {
    let rest = Pose::rest(character).world(&character.skeleton);
    let points = character.meshes.iter().flat_map(|mesh| {
        let world_from_mesh = rest.get(mesh.joint).copied().unwrap_or(Affine3A::IDENTITY);
        mesh.positions.iter().map(move |&p| world_from_mesh.transform_point3(p))
    });
    bounds(points)
}

fn joint_bounds(motion: &Character) -> (Vec3, Vec3) {
    bounds(Pose::rest(motion).world(&motion.skeleton).into_iter().map(|w| w.translation.into()))
}

fn bounds(points: impl Iterator<Item = Vec3>) -> (Vec3, Vec3) {
    let (low, high) = points.fold((Vec3::MAX, Vec3::MIN), |(low, high), p| (low.min(p), high.max(p)));
    if low.x > high.x { (Vec3::ZERO, Vec3::ZERO) } else { (low, high) }
}
