//! Putting a motion on a character: clips of another skeleton, joined by the names of the joints.
//!
//! Joints are matched by name, exactly, then ignoring case, then without namespace and prefix, then
//! as bones of a human. What is carried over depends on how
//! alike the skeletons are; [`Transfer`] says which way was taken. Bone lengths stay the
//! character's; the hips move along the motion's path, scaled by the ratio of the leg lengths. The floor is
//! at height 0 for both, or under the feet of whichever has its hips in the origin.

mod adopt;
mod matching;
mod range;
mod transfer;

pub use matching::{Match, MatchedBy};
pub(crate) use range::farthest_turns;
pub use range::{RANGE, range_of_motion};

use super::{Character, Clip};
use std::collections::BTreeSet;

/// Least number of joints that must match: a root and a limb of two.
pub(crate) const LEAST_MATCHES: usize = 3;

/// How the motion was carried over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// The skeletons are the same, or the motion's joints are placed nowhere: channels copied as they are.
    SameSkeleton,
    /// Bones point the same way in their joints' frames: orientations in the world copied,
    /// `world_from_joint(t) = motion_world_from_joint(t)`, whatever the two rest poses are.
    SameFrames,
    /// Frames differ: each joint turns in the world as the motion's turns away from rest,
    /// `R(t) = M(t) * M_rest^-1 * A * R_rest`. `A` turns the character's resting arms and legs into
    /// the direction the motion's have at rest, so that an A-pose can follow a T-pose; feet stay flat.
    RestDifferences,
    /// The character had no skeleton: it got the motion's, scaled to its height. Its meshes still
    /// need weights.
    AdoptedSkeleton,
}

/// What was joined.
#[derive(Clone, Debug)]
pub struct JoinReport {
    /// How the motion was carried over.
    pub transfer: Transfer,
    /// Matched joints, ascending by the character's joint.
    pub matches: Vec<Match>,
    /// The character's skin joints that the motion does not move on their own.
    pub unmatched_joints: Vec<String>,
    /// Animated joints of the motion that the character lacks.
    pub unmatched_motion: Vec<String>,
    /// Character's leg length over the motion's; scales the path of the hips.
    pub scale: f32,
    /// Names of the clips added.
    pub clips: Vec<String>,
}

/// Why a motion does not fit a character.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The motion file has no animation.
    #[error("{motion}: has no animation to put on {character}; give a file with motion")]
    NoClip {
        /// Name of the motion.
        motion: String,
        /// Name of the character.
        character: String,
    },
    /// Names and structure have too little in common.
    #[error(
        "{motion}: only {matched} of its joints are found in {character}, at least {LEAST_MATCHES} are needed; \
         rename joints to match (the motion has {motion_joints}; the character has {character_joints})"
    )]
    TooFewMatches {
        /// Name of the motion.
        motion: String,
        /// Name of the character.
        character: String,
        /// Joints found in both.
        matched: usize,
        /// Some of the motion's joints.
        motion_joints: String,
        /// Some of the character's joints.
        character_joints: String,
    },
}

/// Adds every clip of `motion` to `character`, carried over to its skeleton.
pub fn join(character: &mut Character, motion: &Character) -> Result<JoinReport, JoinError> {
    if motion.clips.is_empty() {
        let (motion, character) = (motion.name.clone(), character.name.clone());
        return Err(JoinError::NoClip { motion, character });
    }
    if adopt::has_no_skeleton(character) {
        return Ok(adopt::adopt(character, motion));
    }
    let pairing = matching::pair(character, motion);
    if pairing.matches.len() < LEAST_MATCHES {
        return Err(JoinError::TooFewMatches {
            motion: motion.name.clone(),
            character: character.name.clone(),
            matched: pairing.matches.len(),
            motion_joints: some_names(motion),
            character_joints: some_names(character),
        });
    }
    let (transfer, scale, clips) = transfer::carry_over(character, motion, &pairing);
    let clips = add_clips(character, clips);
    let matched: BTreeSet<usize> = pairing.matches.iter().map(|m| m.joint).collect();
    let joints = character.skeleton.joints.iter().enumerate();
    Ok(JoinReport {
        transfer,
        unmatched_joints: joints
            .filter(|(index, joint)| joint.in_skin && !matched.contains(index))
            .map(|(_, joint)| joint.name.clone())
            .collect(),
        unmatched_motion: pairing
            .unmatched_motion
            .iter()
            .map(|&j| motion.skeleton.joints[j].name.clone())
            .collect(),
        matches: pairing.matches,
        scale,
        clips,
    })
}

/// Adds clips under names of their own; returns the names.
fn add_clips(character: &mut Character, clips: Vec<Clip>) -> Vec<String> {
    let mut taken: BTreeSet<String> = character.clips.iter().map(|c| c.name.clone()).collect();
    let mut names = Vec::new();
    for mut clip in clips {
        let wanted = clip.name.clone();
        let mut number = 1;
        while !taken.insert(clip.name.clone()) {
            number += 1;
            clip.name = format!("{wanted} {number}");
        }
        names.push(clip.name.clone());
        character.clips.push(clip);
    }
    names
}

fn some_names(character: &Character) -> String {
    let joints = &character.skeleton.joints;
    let mut names: Vec<String> = joints.iter().take(5).map(|j| format!("\"{}\"", j.name)).collect();
    if joints.len() > names.len() {
        names.push("...".to_owned());
    }
    names.join(", ")
}

#[cfg(test)]
mod tests;
