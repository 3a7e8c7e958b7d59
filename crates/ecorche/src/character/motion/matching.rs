//! Which joint of the motion moves which joint of the character.

use crate::character::humanoid::{self, HumanoidBone, Naming, Side};
use crate::character::{Character, Skeleton};
use std::collections::BTreeMap;

/// How two joints were found to be the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum MatchedBy {
    /// Same name.
    Name,
    /// Same name but for capital letters.
    NameIgnoringCase,
    /// Same name without namespace, prefix and separators.
    BareName,
    /// Same bone of a human.
    Bone,
}

/// A joint of the character and the one of the motion that moves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// Joint of the character.
    pub joint: usize,
    /// Joint of the motion.
    pub motion: usize,
    /// What they have in common.
    pub by: MatchedBy,
}

/// All matches and what is needed to carry motion over them.
pub(super) struct Pairing {
    /// Ascending by the character's joint, each joint of either side at most once.
    pub matches: Vec<Match>,
    /// Animated joints of the motion without match.
    pub unmatched_motion: Vec<usize>,
    /// Bones of the character's joints.
    pub bones: Vec<Option<HumanoidBone>>,
    /// Bones of the motion's joints.
    pub motion_bones: Vec<Option<HumanoidBone>>,
}

pub(super) fn pair(character: &Character, motion: &Character) -> Pairing {
    let (skeleton, moving) = (&character.skeleton, &motion.skeleton);
    let bones = humanoid::recognise(skeleton);
    let motion_bones = humanoid::recognise(moving);
    let targets = body_joints(character, &bones);
    let sources = animated_joints(motion);
    let (naming, motion_naming) = (Naming::of(skeleton), Naming::of(moving));

    let mut found: BTreeMap<usize, Match> = BTreeMap::new();
    let mut used = vec![false; moving.len()];
    let mut pass = |by: MatchedBy,
                    key: &dyn Fn(usize) -> Option<String>,
                    motion_key: &dyn Fn(usize) -> Option<String>| {
        let mut by_key: BTreeMap<String, usize> = BTreeMap::new();
        for &source in sources.iter().rev().filter(|&&s| !used[s]) {
            if let Some(key) = motion_key(source) {
                by_key.insert(key, source);
            }
        }
        for &joint in &targets {
            if found.contains_key(&joint) {
                continue;
            }
            if let Some(source) = key(joint).and_then(|key| by_key.remove(&key)) {
                used[source] = true;
                found.insert(joint, Match { joint, motion: source, by });
            }
        }
    };
    let name = |skeleton: &Skeleton, j: usize| Some(skeleton.joints[j].name.clone());
    let lower = |skeleton: &Skeleton, j: usize| Some(skeleton.joints[j].name.to_lowercase());
    pass(MatchedBy::Name, &|j| name(skeleton, j), &|j| name(moving, j));
    pass(MatchedBy::NameIgnoringCase, &|j| lower(skeleton, j), &|j| lower(moving, j));
    // `Leg` is a thigh in one rig and a shin in another: limbs must also be the same bone.
    let bare = |naming: &Naming, skeleton: &Skeleton, bones: &[Option<HumanoidBone>], j: usize| {
        let limb = bones[j].filter(|b| b.side != Side::Centre).map(HumanoidBone::name);
        Some(naming.bare(&skeleton.joints[j].name) + &limb.unwrap_or_default())
    };
    pass(MatchedBy::BareName, &|j| bare(&naming, skeleton, &bones, j), &|j| {
        bare(&motion_naming, moving, &motion_bones, j)
    });
    let bone_name = |bones: &[Option<HumanoidBone>], j: usize| bones[j].map(HumanoidBone::name);
    pass(MatchedBy::Bone, &|j| bone_name(&bones, j), &|j| bone_name(&motion_bones, j));

    Pairing {
        matches: found.into_values().collect(),
        unmatched_motion: sources.into_iter().filter(|&s| !used[s]).collect(),
        bones,
        motion_bones,
    }
}

/// Joints that may be moved: those of skins and bones of a human, and whatever hangs on them but
/// carries no mesh. Nodes above (an armature's, the scene's) place the character and are left alone.
fn body_joints(character: &Character, bones: &[Option<HumanoidBone>]) -> Vec<usize> {
    let joints = &character.skeleton.joints;
    let mut carries_mesh = vec![false; joints.len()];
    for mesh in &character.meshes {
        carries_mesh[mesh.joint] = true;
    }
    let mut body = vec![false; joints.len()];
    for (index, joint) in joints.iter().enumerate() {
        let hangs_on_body = joint.parent.is_some_and(|p| body[p]);
        body[index] = joint.in_skin || bones[index].is_some() || (hangs_on_body && !carries_mesh[index]);
    }
    if !body.contains(&true) {
        return (0..joints.len()).collect();
    }
    (0..joints.len()).filter(|&j| body[j]).collect()
}

fn animated_joints(motion: &Character) -> Vec<usize> {
    let mut animated: Vec<usize> =
        motion.clips.iter().flat_map(|c| c.joint_tracks.iter().map(|t| t.joint)).collect();
    animated.sort_unstable();
    animated.dedup();
    animated
}
