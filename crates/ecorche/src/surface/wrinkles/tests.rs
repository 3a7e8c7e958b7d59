use super::*;
use crate::character::subdivide::subdivide;
use crate::deform::{BindError, Body, Stack, State, Workspace as Scratchpad};
use crate::frame::Frame;
use crate::geom::SelfContact;
use crate::surface::LayerDef;
use std::sync::Arc;

fn sample(name: &str) -> Arc<Character> {
    Arc::new(crate::samples::build(name).unwrap())
}

/// A limb fine enough for short waves.
fn limb() -> Arc<Character> {
    sample("cylinder?segments=96&rings=160")
}

fn with(stack: Stack, def: WrinkleDef) -> Stack {
    Stack { surface: vec![LayerDef::Wrinkles(def)], ..stack }
}

fn bind(character: &Arc<Character>, stack: Stack) -> Body {
    Body::bind(character.clone(), stack, None).unwrap()
}

/// The clip's first, a share of the way through.
fn pose(character: &Character, share: f32) -> Pose {
    let clip = &character.clips[0];
    let mut pose = Pose::rest(character);
    clip.sample(clip.start + share * (clip.end - clip.start), &mut pose);
    pose
}

fn deform(body: &Body, pose: &Pose) -> Frame {
    body.deform(pose, 0.0, &mut Scratchpad::default())
}

fn crossings(surface: &Surface, frame: &Frame) -> usize {
    let positions = surface.positions(frame);
    SelfContact::new(&surface.mesh.positions, &surface.mesh.triangles).find(&positions).pairs.len()
}

#[test]
fn a_bent_limb_wrinkles_where_it_is_compressed_and_nowhere_at_rest() {
    let character = limb();
    for stack in [Stack::linear(), Stack::dual_quaternion(), Stack::implicit()] {
        let (smooth, wrinkled) =
            (bind(&character, stack.clone()), bind(&character, with(stack, WrinkleDef::default())));
        let rest = Pose::rest(&character);
        assert_eq!(deform(&smooth, &rest).meshes, deform(&wrinkled, &rest).meshes, "exactly nothing at rest");
        let report = deform(&wrinkled, &pose(&character, 0.5)).report.surface.unwrap();
        assert!(report.displaced > 100 && report.largest > 1e-3, "{report:?}");
        let summary = wrinkled.wrinkles().unwrap();
        assert!(summary.spacing_kept > 0.9, "{summary:?}");
    }
}

#[test]
fn a_frame_alone_is_the_frame_of_the_clip_forward_and_backward_for_any_number_of_threads() {
    let character = limb();
    let body = bind(&character, with(Stack::dual_quaternion(), WrinkleDef::default()));
    let poses: Vec<Pose> = (0..6).map(|k| pose(&character, k as f32 / 6.0)).collect();
    let alone: Vec<Frame> = poses.iter().map(|pose| deform(&body, pose)).collect();
    let play = |order: &[usize]| {
        let (mut state, mut scratch) = (State::default(), Scratchpad::default());
        for &k in order {
            let frame = body.deform_next(&poses[k], 0.0, &mut state, &mut scratch);
            assert_eq!(frame.meshes, alone[k].meshes);
        }
    };
    play(&[0, 1, 2, 3, 4, 5]);
    play(&[5, 4, 3, 2, 1, 0]);
    play(&[0, 2, 4]);
    let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let again = one.install(|| {
        let body = bind(&character, with(Stack::dual_quaternion(), WrinkleDef::default()));
        deform(&body, &poses[3])
    });
    assert_eq!(again.meshes, alone[3].meshes);
}

#[test]
fn no_triangles_cross_that_did_not_without_wrinkles() {
    let character = limb();
    let surface = Surface::new(&character).unwrap();
    let strong = WrinkleDef { gain: 3.0, ..WrinkleDef::default() };
    let (smooth, wrinkled) =
        (bind(&character, Stack::implicit()), bind(&character, with(Stack::implicit(), strong)));
    for share in [0.25, 0.5] {
        let pose = pose(&character, share);
        let (before, after) = (deform(&smooth, &pose), deform(&wrinkled, &pose));
        assert!(after.report.surface.unwrap().displaced > 0);
        assert!(crossings(&surface, &after) <= crossings(&surface, &before));
    }
}

#[test]
fn height_grows_steadily_with_the_bend() {
    let character = limb();
    let body = bind(&character, with(Stack::dual_quaternion(), WrinkleDef::default()));
    let bend = |degrees: f32| {
        let mut pose = Pose::rest(&character);
        let joint =
            character.clips[0].joint_tracks.iter().find(|track| track.rotation.is_some()).unwrap().joint;
        let full = self::pose(&character, 0.5).local[joint].rotation;
        let rest = pose.local[joint].rotation;
        let share = degrees / rest.angle_between(full).to_degrees();
        pose.local[joint].rotation = rest.slerp(full, share);
        deform(&body, &pose).report.surface.unwrap().largest
    };
    let heights: Vec<f32> = (0..=60).map(|degrees| bend(degrees as f32)).collect();
    let full = heights.iter().copied().fold(0.0, f32::max);
    let step = heights.windows(2).map(|pair| (pair[1] - pair[0]).abs()).fold(0.0, f32::max);
    assert!(heights[0] == 0.0 && step <= 0.08 * full, "{step} of {full}");
}

#[test]
fn a_coarse_mesh_is_refused_with_the_number_of_subdivisions_that_help() {
    let mut character = crate::samples::build("cylinder?segments=16&rings=16").unwrap();
    let stack = with(Stack::linear(), WrinkleDef::default());
    let error = Body::bind(Arc::new(character.clone()), stack.clone(), None).unwrap_err();
    let BindError::Wrinkles(WrinkleError::Coarse { joint }) = &error else { panic!("{error}") };
    let words = error.to_string();
    assert!(words.contains(&joint.name) && words.contains("subdivide it"), "{words}");
    subdivide(&mut character, joint.subdivisions).unwrap();
    let body = Body::bind(Arc::new(character), stack, None).unwrap();
    assert!(body.wrinkles().unwrap().vertices > 0);
}

#[test]
fn wrong_settings_are_refused() {
    let character = sample("cylinder?segments=12&rings=12");
    let refused = |def: WrinkleDef| {
        Body::bind(character.clone(), with(Stack::linear(), def), None).unwrap_err().to_string()
    };
    let default = WrinkleDef::default;
    for def in [
        WrinkleDef { gain: f32::NAN, ..default() },
        WrinkleDef { wavelength: Some(f32::NAN), ..default() },
        WrinkleDef { wavelength: Some(-1.0), ..default() },
        WrinkleDef { ramp: 0.0, ..default() },
    ] {
        assert!(refused(def).contains("out of range; give"));
    }
    let unknown = WrinkleDef { joints: vec!["tail".to_owned()], ..default() };
    assert!(refused(unknown).contains("no joint \"tail\""));
    let root = character.skeleton.joints[0].name.clone();
    let unbent = WrinkleDef { joints: vec![root], ..default() };
    assert!(refused(unbent).contains("bends no skin"));
}

#[test]
fn a_character_of_one_bone_has_none() {
    let mut character = crate::samples::build("cylinder?segments=12&rings=12").unwrap();
    for joint in character.skeleton.joints.iter_mut().skip(1) {
        joint.in_skin = false;
    }
    let character = Arc::new(character);
    let body = bind(&character, with(Stack::linear(), WrinkleDef::default()));
    assert!(body.wrinkles().unwrap().joints.is_empty());
    let report = deform(&body, &pose(&character, 0.5)).report.surface.unwrap();
    assert_eq!((report.displaced, report.fell_back), (0, 0));
}

#[test]
fn joints_that_are_not_finite_wrinkle_nothing_they_hold() {
    let character = limb();
    let body = bind(&character, with(Stack::linear(), WrinkleDef::default()));
    let mut pose = pose(&character, 0.5);
    pose.local.iter_mut().for_each(|local| local.rotation = glam::Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0));
    let frame = deform(&body, &pose);
    assert!(frame.meshes[0].positions.iter().all(|p| p.is_finite()));
}
