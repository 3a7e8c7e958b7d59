//! The implicit skin on the built-in characters in the poses it is made for: hands that close, knees and elbows
//! bent to their limits.

use ecorche::character::{Character, Pose};
use ecorche::deform::{Body, Stack, Workspace};
use ecorche::measure::{FrameFigures, FrameInput, Judge};
use ecorche::skinning::Surface;
use glam::{Quat, Vec3};
use std::sync::Arc;

/// Figures of a pose under dual quaternions and under the implicit skin.
fn judged(character: &Arc<Character>, poses: &[Pose]) -> Vec<[FrameFigures; 2]> {
    let surface = Surface::new(character).unwrap();
    let judge = Judge::of(&surface).unwrap();
    let bodies = [Stack::dual_quaternion(), Stack::implicit()]
        .map(|m| Body::bind(character.clone(), m, None).unwrap());
    let mut workspace = Workspace::default();
    let mut figures = Vec::new();
    for pose in poses {
        let frames = bodies.each_ref().map(|body| body.deform(pose, 0.0, &mut workspace));
        let in_contact: Vec<bool> =
            frames[1].found.reports.iter().map(|report| report.contact > 0.0).collect();
        let [plain, tracked] = frames.each_ref().map(|frame| surface.positions(frame));
        let input = FrameInput {
            reference: Some(&plain),
            in_contact: Some(&in_contact),
            ..FrameInput::new(0, &tracked)
        };
        figures.push([judge.frame(&FrameInput::new(0, &plain)).unwrap(), judge.frame(&input).unwrap()]);
    }
    figures
}

fn of_clip(character: &Character, clip: &str, times: &[f32]) -> Vec<Pose> {
    let sample = |&time: &f32| {
        let mut pose = Pose::rest(character);
        character.clip(clip).unwrap().sample(time, &mut pose);
        pose
    };
    times.iter().map(sample).collect()
}

/// At most one in twenty of the crossings that dual quaternions have is left, and no skin is thrown away.
fn parts_what_crosses(sample: &str, clip: &str, times: &[f32]) {
    let character = Arc::new(ecorche::samples::build(sample).unwrap());
    for (time, [plain, tracked]) in times.iter().zip(judged(&character, &of_clip(&character, clip, times))) {
        let what = format!("{sample} {clip} at {time} s: {} pairs, {} under dqs", tracked.pairs, plain.pairs);
        assert!(plain.pairs > 20, "{what}: nothing to part");
        assert!(tracked.pairs * 20 <= plain.pairs, "{what}");
        assert!(tracked.strayed.unwrap_or(0) <= 5, "{what}: {:?} strayed", tracked.strayed);
    }
}

#[test]
fn a_fist_closes_without_passing_through_itself() {
    parts_what_crosses("hand", "fist", &[0.9, 1.2]);
}

#[test]
fn a_pinch_touches() {
    parts_what_crosses("hand", "pinch", &[1.2]);
}

#[test]
fn a_deep_squat_and_a_full_curl_fold_into_contact() {
    parts_what_crosses("athlete", "squat", &[1.4]);
    parts_what_crosses("athlete", "curl", &[1.15]);
}

/// The index finger turned into the middle one is swallowed all around: it goes around it, and neither is worn down.
#[test]
fn a_finger_driven_into_another_steps_aside_whole() {
    let character = Arc::new(ecorche::samples::build("hand").unwrap());
    let mut pose = Pose::rest(&character);
    let finger = character.skeleton.find("leftIndexProximal").unwrap();
    let turn = Quat::from_axis_angle(Vec3::new(0.0, 1.0, -1.0).normalize(), 30.0f32.to_radians());
    pose.local[finger].rotation = turn * pose.local[finger].rotation;
    let [plain, tracked] = judged(&character, &[pose])[0].clone();
    assert!(plain.pairs > 200, "{plain:?}");
    assert!(tracked.pairs == 0 && tracked.filled >= 0.98, "{tracked:?}");
}

/// Bends far beyond what projection alone can do, and twisted ones: no crossing, edges within a tenth and three times
/// of their length.
#[test]
fn a_cylinder_bends_to_170_degrees_in_one_shot() {
    let character = Arc::new(ecorche::samples::build("cylinder").unwrap());
    let upper = character.skeleton.find("upper").unwrap();
    let turned = |(bend, twist): (f32, f32)| {
        let mut pose = Pose::rest(&character);
        let turn = Quat::from_axis_angle(Vec3::X, bend.to_radians())
            * Quat::from_axis_angle(Vec3::Y, twist.to_radians());
        pose.local[upper].rotation = turn * pose.local[upper].rotation;
        pose
    };
    let turns = [60.0, 90.0, 120.0, 150.0, 160.0, 170.0].map(|bend| (bend, 0.0));
    let turns = [&turns[..], &[(120.0, 80.0), (150.0, 80.0), (170.0, 80.0), (0.0, 180.0)]].concat();
    let poses: Vec<Pose> = turns.iter().copied().map(turned).collect();
    for (turn, [_, tracked]) in turns.iter().zip(judged(&character, &poses)) {
        let what = format!("{turn:?}: {tracked:?}");
        assert_eq!(tracked.pairs, 0, "{what}");
        assert!(tracked.stretch_min >= 0.1 && tracked.stretch_max <= 3.0, "{what}");
    }
}

/// What contact takes from the folds of hips, knees and armpits, the skin beside them is given.
#[test]
fn a_jump_costs_one_part_in_a_hundred_of_the_volume_at_most() {
    let character = Arc::new(ecorche::samples::build("athlete").unwrap());
    let times = [0.4, 0.6, 0.8, 1.0];
    for (time, [_, tracked]) in times.iter().zip(judged(&character, &of_clip(&character, "jump", &times))) {
        assert!(tracked.filled >= 0.99, "at {time} s: {}", tracked.filled);
    }
}

/// An arm driven right through the trunk cannot be parted from it. The trunk must not pay for the attempt.
#[test]
fn what_cannot_be_parted_is_not_worn_away() {
    let character = Arc::new(ecorche::samples::build("athlete").unwrap());
    let mut pose = Pose::rest(&character);
    let shoulder = character.skeleton.find("leftUpperArm").unwrap();
    let turn = Quat::from_axis_angle(Vec3::Z, -110.0f32.to_radians());
    pose.local[shoulder].rotation = turn * pose.local[shoulder].rotation;
    let [plain, tracked] = judged(&character, &[pose])[0].clone();
    println!("{plain:?}\n{tracked:?}");
    assert!(plain.pairs > 100, "{plain:?}");
    assert!(tracked.pairs <= plain.pairs && tracked.volume >= 0.95, "{tracked:?}");
}
