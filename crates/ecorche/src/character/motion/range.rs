//! A range-of-motion exercise for a character that has no motion yet: what a rigger looks at before an animator does.
//!
//! First the joints of one level after the other, all of a level at once (both shoulders, all first knuckles), turn about
//! their own x, y and z axis, to one side, back, to the other and back. Then all joints of every unbranched limb curl up
//! together, about each axis in turn: fingers make a fist, legs fold.

use crate::character::{Character, Clip, Interpolation, JointTrack, Skeleton, Track};
use glam::{Quat, Vec3};
use std::f32::consts::TAU;

/// Name of the clip, and the word for it in place of a motion file.
pub const RANGE: &str = "range";
const FPS: f32 = 30.0;
/// Frames of a turn to both sides, and of curling up both ways.
const TURN: usize = 16;
const CURL: usize = 48;
/// Degrees that a joint turns to each side on its own, and with the rest of its limb.
const TURNED: f32 = 45.0;
const CURLED: f32 = 60.0;

/// The exercise for this character's skeleton; `None` if its skins have no joint below another.
pub fn range_of_motion(character: &Character) -> Option<Clip> {
    let skeleton = &character.skeleton;
    let levels = levels(skeleton);
    let deepest = levels.iter().flatten().copied().max().filter(|&deepest| deepest > 0)?;
    let is_limb = in_limbs(skeleton, &levels);
    let curls_from = deepest as usize * 3 * TURN;
    let frames = curls_from + 3 * CURL;
    let track = |(joint, level): (usize, &Option<u32>)| {
        let level = level.filter(|&level| level > 0)? as usize;
        let rest = skeleton.joints[joint].rest.rotation;
        let mut keys = vec![(0, rest)];
        let mut turn = |from: usize, length: usize, degrees: f32, axis: Vec3| {
            keys.extend((0..=length).map(|k| {
                let angle = degrees.to_radians() * (TAU * k as f32 / length as f32).sin();
                (from + k, rest * Quat::from_axis_angle(axis, angle))
            }));
        };
        for (i, axis) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().enumerate() {
            turn(((level - 1) * 3 + i) * TURN, TURN, TURNED, axis);
        }
        if is_limb[joint] {
            for (i, axis) in [Vec3::X, Vec3::Y, Vec3::Z].into_iter().enumerate() {
                turn(curls_from + i * CURL, CURL, CURLED, axis);
            }
        }
        keys.push((frames, rest));
        keys.dedup_by_key(|key| key.0);
        let (times, values) = keys.into_iter().map(|(frame, turned)| (frame as f32 / FPS, turned)).unzip();
        let rotation = Track { times, values, interpolation: Interpolation::Linear };
        Some(JointTrack { joint, rotation: Some(rotation), ..JointTrack::default() })
    };
    Some(Clip {
        name: RANGE.to_owned(),
        start: 0.0,
        end: frames as f32 / FPS,
        fps: Some(FPS),
        joint_tracks: levels.iter().enumerate().filter_map(track).collect(),
        morph_tracks: Vec::new(),
    })
}

/// The moments of the exercise, seconds, at which joints are turned farthest.
pub(crate) fn farthest_turns(exercise: &Clip) -> Vec<f32> {
    let frames = (exercise.end * FPS).round() as usize;
    let curls_from = frames.saturating_sub(3 * CURL);
    let turns = (0..curls_from).step_by(TURN).map(|from| (from, TURN));
    let curls = (curls_from..frames).step_by(CURL).map(|from| (from, CURL));
    let ends = turns.chain(curls).flat_map(|(from, length)| [from + length / 4, from + 3 * length / 4]);
    ends.map(|frame| frame as f32 / FPS).collect()
}

/// Of each joint that a skin uses: how many such joints lie above it.
fn levels(skeleton: &Skeleton) -> Vec<Option<u32>> {
    let mut above: Vec<u32> = Vec::with_capacity(skeleton.len());
    for joint in &skeleton.joints {
        above.push(joint.parent.map_or(0, |p| above[p] + u32::from(skeleton.joints[p].in_skin)));
    }
    skeleton.joints.iter().zip(above).map(|(joint, level)| joint.in_skin.then_some(level)).collect()
}

/// Whether no joint from this one down has more than one child that a skin uses.
fn in_limbs(skeleton: &Skeleton, levels: &[Option<u32>]) -> Vec<bool> {
    let mut is_limb = vec![true; skeleton.len()];
    let mut children = vec![0; skeleton.len()];
    for (j, joint) in skeleton.joints.iter().enumerate().rev() {
        is_limb[j] &= children[j] < 2;
        let Some(parent) = joint.parent else { continue };
        is_limb[parent] &= is_limb[j];
        children[parent] += u32::from(levels[j].is_some());
    }
    is_limb
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::Pose;
    use crate::samples;

    fn greatest_turn(character: &Character, clip: &Clip, name: &str, time: f32) -> f32 {
        let joint = character.skeleton.find(name).expect("a joint of the hand");
        let mut pose = Pose::rest(character);
        let rest = pose.local[joint].rotation;
        clip.sample(time, &mut pose);
        pose.local[joint].rotation.angle_between(rest).to_degrees()
    }

    #[test]
    fn a_hand_bends_each_knuckle_and_makes_a_fist() {
        let character = samples::build("hand").expect("the hand");
        let clip = range_of_motion(&character).expect("joints");
        let moving: Vec<&str> = clip
            .joint_tracks
            .iter()
            .map(|track| character.skeleton.joints[track.joint].name.as_str())
            .collect();
        let over_clip = |name: &str| {
            let times = (0..clip.frame_count(FPS)).map(|frame| clip.frame_time(frame, FPS));
            times.map(|time| greatest_turn(&character, &clip, name, time)).fold(0.0, f32::max)
        };
        assert!(moving.len() >= 14, "{moving:?}");
        for name in &moving {
            assert!((44.0..61.0).contains(&over_clip(name)), "{name} turns by {}", over_clip(name));
        }
        // A quarter into the first curl every joint of the fingers is fully bent.
        let fist = clip.end - (3 * CURL) as f32 / FPS + 0.25 * CURL as f32 / FPS;
        let bent = moving.iter().filter(|name| greatest_turn(&character, &clip, name, fist) > 59.0).count();
        assert!(bent >= 14, "{bent} of {moving:?}");
    }

    #[test]
    fn it_begins_and_ends_at_rest_and_nothing_jumps() {
        let character = samples::build("athlete").expect("the athlete");
        let clip = range_of_motion(&character).expect("joints");
        let rest = Pose::rest(&character);
        let at = |frame: usize| {
            let mut pose = rest.clone();
            clip.sample(clip.frame_time(frame, FPS), &mut pose);
            pose
        };
        let last = clip.frame_count(FPS) - 1;
        for frame in [0, last] {
            for (a, b) in at(frame).local.iter().zip(&rest.local) {
                assert!(a.rotation.angle_between(b.rotation) < 1e-3);
            }
        }
        let jump = |frame: usize| {
            let (a, b) = (at(frame), at(frame + 1));
            let angles = a.local.iter().zip(&b.local).map(|(a, b)| a.rotation.angle_between(b.rotation));
            angles.fold(0.0, f32::max).to_degrees()
        };
        let most = (0..last).map(jump).fold(0.0, f32::max);
        assert!(most < 20.0, "{most} degrees in a frame");
    }

    #[test]
    fn one_joint_alone_has_no_range() {
        let mut character = samples::build("hand").expect("the hand");
        character.skeleton.joints.iter_mut().for_each(|joint| joint.in_skin = false);
        assert!(range_of_motion(&character).is_none());
    }
}
