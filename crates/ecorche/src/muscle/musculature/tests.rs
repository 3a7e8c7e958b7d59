use super::*;
use crate::character::{Joint, Skeleton};
use crate::math::Transform;
use crate::muscle::build::BuildError;
use crate::muscle::definition::*;
use glam::{Quat, Vec3};
use std::path::Path;

/// Two hanging arms: upper arm, lower arm, hand; left, then right.
fn arms() -> Skeleton {
    let joint = |name: &str, parent: Option<usize>, at: Vec3| Joint {
        name: name.into(),
        parent,
        rest: Transform { translation: at, ..Transform::IDENTITY },
        in_skin: parent.is_some(),
    };
    let mut joints = vec![joint("root", None, Vec3::ZERO)];
    for (side, x) in [("left", 0.2), ("right", -0.2)] {
        let first = joints.len();
        joints.push(joint(&format!("{side}UpperArm"), Some(0), Vec3::new(x, 1.4, 0.0)));
        joints.push(joint(&format!("{side}LowerArm"), Some(first), Vec3::new(0.0, -0.3, 0.0)));
        joints.push(joint(&format!("{side}Hand"), Some(first + 1), Vec3::new(0.0, -0.25, 0.0)));
    }
    Skeleton { joints }
}

fn muscles(side: Side) -> Vec<MuscleDef> {
    let mirror = if side == Side::Left { 1.0 } else { -1.0 };
    let at = |part: &str, x: f32, y: f32, z: f32| -> Footprint {
        let bone = format!("{}{part}Arm", side.name());
        Attachment { bone, at: Vec3::new(mirror * x, y, z) }.into()
    };
    let list = [
        ("biceps", at("Upper", 0.004, 0.0, 0.03), at("Lower", 0.004, -0.045, 0.012), 0.018),
        ("triceps", at("Upper", 0.0, -0.02, -0.03), at("Lower", 0.0, 0.015, -0.025), 0.020),
        ("brachialis", at("Upper", 0.006, -0.13, 0.018), at("Lower", 0.0, -0.03, 0.008), 0.012),
        ("brachioradialis", at("Upper", 0.022, -0.2, 0.005), at("Lower", 0.012, -0.22, 0.01), 0.010),
    ];
    list.into_iter()
        .map(|(name, origin, insertion, width)| {
            let mut muscle = MuscleDef::new(name, side, origin, insertion, width);
            muscle.particles = 30;
            muscle.eccentricity = 0.3;
            muscle
        })
        .collect()
}

fn body() -> BodyDef {
    BodyDef {
        muscle: [muscles(Side::Left), muscles(Side::Right)].concat(),
        fat: vec![FatDef::new(
            "belly",
            Side::Middle,
            "root",
            Vec3::new(0.0, 1.0, 0.1),
            Vec3::new(0.1, 0.08, 0.06),
        )],
        ..BodyDef::default()
    }
}

/// Elbows bent by `bend` radians forward, shoulders moved by `shift`.
fn pose(skeleton: &Skeleton, bend: f32, shift: Vec3) -> Vec<Affine3A> {
    let mut world: Vec<Affine3A> = Vec::new();
    for joint in &skeleton.joints {
        let mut local = joint.rest;
        if joint.name.ends_with("LowerArm") {
            local.rotation = Quat::from_rotation_x(-bend);
        }
        if joint.parent.is_none() {
            local.translation += shift;
        }
        let parent = joint.parent.map_or(Affine3A::IDENTITY, |p| world[p]);
        world.push(parent * local.to_affine());
    }
    world
}

fn make(body: &BodyDef) -> (Musculature, Skeleton, Vec<Affine3A>) {
    let skeleton = arms();
    let bind = pose(&skeleton, 0.0, Vec3::ZERO);
    let musculature = Musculature::new(body, &skeleton, &bind, Path::new("."), Vec::new()).unwrap();
    (musculature, skeleton, bind)
}

/// A second of curling to 130 degrees with a shake, then half a second still.
fn curl(skeleton: &Skeleton, time: f32) -> Vec<Affine3A> {
    let t = time.min(1.0);
    let bend = 2.27 * t * t * (3.0 - 2.0 * t);
    let shake = if time < 1.0 { 0.03 * (time * 20.0).sin() } else { 0.03 * 20f32.sin() };
    pose(skeleton, bend, Vec3::Y * shake)
}

fn run(
    musculature: &Musculature,
    skeleton: &Skeleton,
    state: &mut State,
    frames: std::ops::Range<usize>,
) -> Report {
    let mut workspace = Workspace::default();
    let mut worst = Report::default();
    for frame in frames {
        let world = curl(skeleton, (frame + 1) as f32 / 24.0);
        let report = musculature.step(state, &world, &[], 1.0 / 24.0, &Settings::default(), &mut workspace);
        worst = Report { resets: worst.resets + report.resets, deepest: worst.deepest.max(report.deepest) };
    }
    worst
}

#[test]
fn nothing_moves_at_bind() {
    let (musculature, _, bind) = make(&body());
    let mut state = musculature.at_rest(&bind);
    let start = state.clone();
    for (a, b) in musculature.at_bind().muscles.iter().zip(musculature.pose(&start).muscles) {
        assert!((a.shape.width() - b.shape.width()).abs() < 1e-9);
    }
    let mut workspace = Workspace::default();
    for _ in 0..24 {
        musculature.step(&mut state, &bind, &[], 1.0 / 24.0, &Settings::default(), &mut workspace);
    }
    let particles =
        |s: &State| s.particles.strands.iter().flat_map(|s| s.position.clone()).collect::<Vec<_>>();
    let moved =
        particles(&start).iter().zip(particles(&state)).fold(0.0f64, |a, (p, q)| a.max(p.distance(q)));
    assert!(moved < 1e-5, "{moved:.2e} m");
}

#[test]
fn a_curl_thickens_the_biceps_thins_the_triceps_and_keeps_volumes() {
    let (musculature, skeleton, bind) = make(&body());
    let mut state = musculature.at_rest(&bind);
    let before = musculature.pose(&state);
    let report = run(&musculature, &skeleton, &mut state, 0..36);
    let after = musculature.pose(&state);
    assert_eq!(report.resets, 0);
    assert!(report.deepest < 1e-3, "{} m through a bone", report.deepest);
    let ratio = |m: usize| after.muscles[m].shape.width() / before.muscles[m].shape.width();
    assert!(ratio(0) > 1.1, "biceps {}", ratio(0));
    assert!(ratio(1) < 0.97, "triceps {}", ratio(1));
    assert!(after.muscles[0].shape.activation() > 0.8 && after.muscles[1].shape.activation() == 0.0);
    assert!(after.muscles[0].tension > before.muscles[0].tension);
    for (a, b) in before.muscles.iter().zip(&after.muscles) {
        assert!((a.shape.volume() / b.shape.volume() - 1.0).abs() < 1e-6);
    }
}

#[test]
fn mirrored_motion_gives_mirrored_muscles() {
    let (musculature, skeleton, bind) = make(&body());
    let mut state = musculature.at_rest(&bind);
    run(&musculature, &skeleton, &mut state, 0..30);
    for m in 0..4 {
        let [left, right] = [m, m + 4].map(|m| &state.particles.strands[m].position);
        for (l, r) in left.iter().zip(right) {
            assert!(l.distance(DVec3::new(-r.x, r.y, r.z)) < 1e-5, "{l} {r}");
        }
    }
}

#[test]
fn the_same_bits_for_any_number_of_threads_and_from_a_save() {
    let (musculature, skeleton, bind) = make(&body());
    let result = |threads: usize, pause: bool| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let mut state = musculature.at_rest(&bind);
            run(&musculature, &skeleton, &mut state, 0..8);
            if pause {
                state = state.clone();
            }
            run(&musculature, &skeleton, &mut state, 8..12);
            state
        })
    };
    let once = result(1, false);
    assert!(once == result(4, false) && once == result(2, true));
}

#[test]
fn without_inertia_only_the_pose_counts() {
    let (musculature, skeleton, bind) = make(&body());
    let settings = Settings { motion: Motion::Kinematic, ..Settings::default() };
    let mut workspace = Workspace::default();
    let target = curl(&skeleton, 0.8);
    let mut direct = musculature.at_rest(&bind);
    let report = musculature.step(&mut direct, &target, &[], 0.0, &settings, &mut workspace);
    assert!(report.deepest < 1e-3, "{}", report.deepest);
    let mut detour = musculature.at_rest(&bind);
    musculature.step(&mut detour, &curl(&skeleton, 0.3), &[], 0.1, &settings, &mut workspace);
    musculature.step(&mut detour, &target, &[], 0.1, &settings, &mut workspace);
    assert!(direct.particles == detour.particles);
}

#[test]
fn fat_swings_and_settles() {
    let (musculature, skeleton, bind) = make(&body());
    let mut state = musculature.at_rest(&bind);
    let mut away = Vec::new();
    let mut workspace = Workspace::default();
    for frame in 1..=72 {
        let shake = if frame < 24 { 0.04 * (frame as f32 / 24.0 * 20.0).sin() } else { 0.0 };
        let world = pose(&skeleton, 0.0, Vec3::Y * shake);
        musculature.step(&mut state, &world, &[], 1.0 / 24.0, &Settings::default(), &mut workspace);
        let pad = musculature.pose(&state).fat[0].field;
        let home = world[0].transform_point3(Vec3::new(0.0, 1.0, 0.1)).as_dvec3();
        away.push(pad.world_from_pad.translation.distance(home));
    }
    let most = |range: std::ops::Range<usize>| away[range].iter().copied().fold(0.0f64, f64::max);
    assert!(most(0..24) > 0.01, "{}", most(0..24));
    assert!(most(64..72) < 0.1 * most(0..24), "{}", most(64..72));
}

#[test]
fn keyed_values_replace_those_of_the_pose() {
    let mut body = body();
    body.keys = vec![
        KeysDef {
            clip: "flex".into(),
            muscle: "biceps".into(),
            side: Side::Left,
            parameter: Parameter::Activation,
            values: vec![[0.0, 0.0], [1.0, 1.0]],
        },
        KeysDef {
            clip: "flex".into(),
            muscle: "biceps".into(),
            side: Side::Left,
            parameter: Parameter::Gain,
            values: vec![[0.0, 1.2]],
        },
    ];
    let (musculature, _, bind) = make(&body);
    let controls = musculature.controls("flex", 0.5);
    assert_eq!(controls[0].activation, Some(0.5));
    assert_eq!(musculature.controls("other", 0.5)[0], Controls::default());
    let mut state = musculature.at_rest(&bind);
    musculature.step(
        &mut state,
        &bind,
        &controls,
        1.0 / 24.0,
        &Settings::default(),
        &mut Workspace::default(),
    );
    let flesh = musculature.pose(&state);
    assert!(
        (flesh.muscles[0].shape.activation() - 0.5).abs() < 1e-6
            && flesh.muscles[4].shape.activation() == 0.0
    );
    let ratio = flesh.muscles[0].shape.width() / flesh.muscles[4].shape.width();
    assert!((ratio - 1.2).abs() < 0.01, "{ratio}");
}

#[test]
fn what_cannot_be_built_is_named() {
    let skeleton = arms();
    let bind = pose(&skeleton, 0.0, Vec3::ZERO);
    let build = |body: &BodyDef| Musculature::new(body, &skeleton, &bind, Path::new("."), Vec::new());
    let fails = |change: &dyn Fn(&mut BodyDef)| {
        let mut wrong = body();
        change(&mut wrong);
        build(&wrong).unwrap_err()
    };
    let error = fails(&|b| b.muscle[1].insertion.0[0].bone = "tail".into());
    assert_eq!(
        error.to_string(),
        "triceps, left: no joint \"tail\" in the skeleton; use one of its joints' names"
    );
    let width = fails(&|b| b.muscle[0].width = 0.0).to_string();
    assert!(width.ends_with("width: 0 must be above zero"), "{width}");
    assert!(matches!(fails(&|b| b.muscle[0].width = 0.2), BuildError::TooWide { .. }));
    assert!(matches!(fails(&|b| b.muscle[2].name = "biceps".into()), BuildError::Duplicate(_)));
    assert!(matches!(fails(&|b| b.muscle[0].particles = 3), BuildError::Value { .. }));
    assert!(matches!(
        fails(&|b| b.muscle[0].insertion = b.muscle[0].origin.clone()),
        BuildError::NoLength(_)
    ));
    assert!(matches!(
        fails(&|b| b.muscle[0].profile.rest = ProfileDef::Beta([1, 3])),
        BuildError::Value { .. }
    ));
    assert!(matches!(fails(&|b| b.fat[0].radii.x = -1.0), BuildError::Value { .. }));
    let missing = BoneDef {
        bone: "leftUpperArm".into(),
        mesh: Some("none.ply".into()),
        mesh_scale: 1.0,
        ..BoneDef::default()
    };
    assert!(matches!(fails(&|b| b.bone = vec![missing.clone()]), BuildError::Surface { .. }));
}
