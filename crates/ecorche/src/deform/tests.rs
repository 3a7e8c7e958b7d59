use super::*;
use crate::frame::{Frame, TrackingReport, VertexState};
use crate::math::Transform;
use crate::samples;
use crate::surface::LayerDef;
use glam::{Quat, Vec3};

fn sample(name: &str) -> Arc<Character> {
    Arc::new(samples::build(name).unwrap())
}

fn arm() -> Arc<Character> {
    sample("arm?resolution=2000")
}

fn bind(character: &Arc<Character>, tracking: Tracking) -> Body {
    Body::bind(character.clone(), Settings::from(Stack::implicit().with_tracking(tracking)), None).unwrap()
}

/// Every scheme on one character, whose parts are made once.
fn bind_all(character: &Arc<Character>) -> [(Tracking, Body); 3] {
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path(), crate::cache::DEFAULT_LIMIT);
    Tracking::ALL.map(|tracking| {
        let settings = Settings::from(Stack::implicit().with_tracking(tracking));
        (tracking, Body::bind(character.clone(), settings, Some(&cache)).unwrap())
    })
}

/// The pose in the middle of the first clip, a deep bend.
fn bent(character: &Character) -> Pose {
    let mut pose = Pose::rest(character);
    let clip = &character.clips[0];
    clip.sample(0.5 * (clip.start + clip.end), &mut pose);
    pose
}

fn farthest(a: &Frame, b: &Frame) -> f32 {
    let pairs = a.meshes.iter().zip(&b.meshes).flat_map(|(a, b)| a.positions.iter().zip(&b.positions));
    pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

#[test]
fn names_read_as_written_and_unknown_ones_list_the_known() {
    for method in Stack::common() {
        assert_eq!(method.to_string().parse(), Ok(method));
    }
    for tracking in Tracking::ALL {
        assert_eq!(tracking.to_string().parse(), Ok(tracking));
    }
    let error = "melt".parse::<Stack>().unwrap_err().to_string();
    assert!(error.contains("melt") && error.contains("lbs, dqs, cor, implicit"), "{error}");
    assert!("2013".parse::<Tracking>().unwrap_err().to_string().contains("robust, 2012, 2014"));
}

#[test]
fn a_stack_without_a_name_is_described_by_its_layers_and_goes_to_json_and_back() {
    let papers = Stack::implicit().with_tracking(Tracking::Scheme2014);
    assert_eq!(papers.to_string(), "dqs + 2014 tracking");
    let smooth = Stack { surface: vec![LayerDef::Smooth(Default::default())], ..Stack::dual_quaternion() };
    assert_eq!(smooth.to_string(), "dqs + smooth");
    assert_eq!(serde_json::from_str::<Stack>(&serde_json::to_string(&smooth).unwrap()).unwrap(), smooth);
    assert_eq!(Stack::linear().with_tracking(Tracking::Robust), Stack::linear());
    let json = serde_json::to_string(&papers).unwrap();
    assert!(json.contains(r#""skinning":"dqs","tracking":"2014","under":"nothing""#), "{json}");
    assert_eq!(serde_json::from_str::<Stack>(&json).unwrap(), papers);
    assert_eq!(serde_json::to_string(&Stack::muscles()).unwrap(), r#""muscles""#);
    assert_eq!(serde_json::from_str::<Stack>(r#""Muscles""#).unwrap(), Stack::muscles());
    assert!(serde_json::from_str::<Stack>(r#""melt""#).unwrap_err().to_string().contains("implicit"));
}

#[test]
fn layers_that_do_not_fit_together_are_refused_with_a_remedy() {
    let character = sample("cylinder?segments=12&rings=12");
    let refused = |stack: Stack| Body::bind(character.clone(), stack, None).unwrap_err().to_string();
    let carried = Stack::implicit().with_tracking(Tracking::Scheme2014);
    let start = refused(carried.with_start(Skinning::CentreOfRotation));
    assert!(start.contains("cor + 2014 tracking") && start.contains("start from dqs"), "{start}");
    let under = refused(Stack { under: Under::Flesh, ..Stack::dual_quaternion() });
    assert!(under.contains("muscles") && under.contains("choose"), "{under}");
}

/// The arm over its muscles under every scheme.
fn muscled(tracking: Tracking, change: impl FnOnce(&mut Settings)) -> Body {
    let mut settings = Settings::from(Stack::muscles().with_tracking(tracking));
    change(&mut settings);
    Body::bind_with(arm(), settings, &samples::arm::muscles(), Path::new("."), None).unwrap()
}

#[test]
fn muscles_raise_the_skin_in_the_schemes_of_the_papers_too() {
    for tracking in [Tracking::Scheme2012, Tracking::Scheme2014] {
        let (with, without) = (muscled(tracking, |_| ()), bind(&arm(), tracking));
        let mut workspace = Workspace::default();
        let skinned = Body::bind(arm(), Stack::dual_quaternion(), None).unwrap().rest(&mut workspace);
        let rest = with.rest(&mut workspace);
        assert!(farthest(&rest, &skinned) < 1e-3, "{tracking}: at rest muscles move nothing");
        let pose = bent(with.character());
        let frames = [&with, &without].map(|body| body.deform(&pose, 0.0, &mut workspace));
        let raised = farthest(&frames[0], &frames[1]);
        assert!(raised > 2e-3 && raised < 0.03, "{tracking}: {raised}");
        assert!(
            frames[0].report.muscles.is_some() && frames[0].report.fell_back == frames[1].report.fell_back
        );
    }
}

#[test]
fn the_scheme_of_2014_goes_on_from_the_frame_before() {
    let change = |settings: &mut Settings| {
        settings.coherent = true;
        settings.muscles.motion = crate::muscle::Motion::Kinematic;
    };
    let (coherent, free) = (muscled(Tracking::Scheme2014, change), muscled(Tracking::Scheme2014, |_| ()));
    let clip = coherent.character().clips[0].clone();
    let (mut state, mut workspace) = (State::default(), Workspace::default());
    let mut pose = Pose::rest(coherent.character());
    let mut differ = 0.0f32;
    for frame in 0..=12 {
        clip.sample(clip.start + (clip.end - clip.start) * frame as f32 / 24.0, &mut pose);
        let next = coherent.deform_next(&pose, frame as f32 / 24.0, &mut state, &mut workspace);
        let alone = free.deform(&pose, 0.0, &mut workspace);
        differ = differ.max(farthest(&next, &alone));
        // The same limb by another way: near, but not the same.
        assert!(farthest(&next, &alone) < 0.03, "frame {frame}");
    }
    assert!(differ > 0.0, "the way matters");
    resumes(&muscled(Tracking::Scheme2014, |s| s.coherent = true), "shake");
}

#[test]
fn settings_of_the_papers_schemes_come_from_the_file() {
    let of = |text: &str| {
        let file = crate::anatomy::AnatomyFile::parse("a.toml", format!("version = 1\n{text}")).unwrap();
        Settings::of_skin(&file.anatomy().skin, &arm().skeleton, Tracking::Scheme2014)
    };
    let plain = of("");
    assert_eq!(plain.scheme_2014.largest_turn, 10f32.to_radians());
    assert!(plain.scheme_2014.smoothing.is_some() && plain.scheme_2014.own_side.is_some());
    let own = of("[skin.scheme]\nstep = 0.05\ncontact_angle = 0.7\niterations = 3\nsmoothing = false\n");
    assert_eq!((own.scheme_2014.largest_turn, own.scheme_2014.final_relaxations), (0.05, 3));
    assert_eq!((own.scheme_2012.newton.largest_turn, own.scheme_2012.iterations), (0.7, 3));
    assert!(own.scheme_2014.smoothing.is_none() && own.scheme_2012.smoothing.iterations == 0);
    let printed = of("[skin.scheme]\nprinted = true\n");
    assert_eq!(printed.scheme_2014, crate::tracking::papers::scheme_2014::Settings::printed());
}

/// Plays frames 0 to 20 whole, and again from a state saved after frame 10.
fn resumes(body: &Body, clip: &str) {
    let sampling = crate::sampling::Sampling { frames: Some(0..=20), ..Default::default() };
    let plan = crate::sampling::Plan::new(body.character().clip(clip), &sampling).unwrap();
    let (mut playback, mut workspace) = (Playback::new(body, &plan), Workspace::default());
    let mut bytes = Vec::new();
    let mut whole = Vec::new();
    for number in 0..=20 {
        whole.push(playback.frame(number, &mut workspace));
        if number == 10 {
            bytes = playback.state().to_bytes(&[7; 32]);
        }
    }
    let saved = SavedState::from_bytes(&bytes, &[7; 32], body).unwrap();
    assert_eq!(saved.next, 11);
    assert_ne!(saved.state, State::of_clip(clip), "there is something to save");
    let mut resumed = Playback::resume(body, &plan, saved);
    let mut workspace = Workspace::default();
    for (number, frame) in whole.iter().enumerate().skip(11) {
        assert!(resumed.frame(number, &mut workspace) == *frame, "frame {number}");
    }
    assert_eq!(playback.state(), resumed.state());
}

fn arm_with_muscles() -> Body {
    Body::bind_with(arm(), Stack::muscles(), &samples::arm::muscles(), ".".as_ref(), None).unwrap()
}

#[test]
fn muscles_swing_on_from_a_saved_state() {
    resumes(&arm_with_muscles(), "shake");
}

#[test]
fn coherent_tracking_goes_on_from_a_saved_state() {
    let settings = Settings { coherent: true, ..Settings::default() };
    let body = Body::bind(sample("cylinder"), settings, None).unwrap();
    resumes(&body, "bend");
}

#[test]
fn a_saved_state_is_refused_when_damaged_or_of_something_else() {
    let body = arm_with_muscles();
    let plan = crate::sampling::Plan::new(body.character().clip("shake"), &Default::default()).unwrap();
    let mut playback = Playback::new(&body, &plan);
    playback.advance(2, &mut Workspace::default());
    let key = [3; 32];
    let bytes = playback.state().to_bytes(&key);
    let load = |bytes: &[u8]| SavedState::from_bytes(bytes, &key, &body);
    assert_eq!(load(&bytes).unwrap(), playback.state());
    for place in 0..200 {
        let mut damaged = bytes.clone();
        let byte = place * (bytes.len() - 1) / 199;
        damaged[byte] ^= 1 << (place % 8);
        assert!(load(&damaged).is_err(), "bit {} of byte {byte}", place % 8);
    }
    for length in [0, 7, 8, 60, bytes.len() - 1] {
        assert!(load(&bytes[..length]).is_err(), "{length} bytes");
    }
    assert_eq!(load(b"v 0 0 0"), Err(StateError::NotAState));
    assert_eq!(SavedState::from_bytes(&bytes, &[4; 32], &body), Err(StateError::OtherRecipe));
    let other = Body::bind(body.character().clone(), Stack::implicit(), None).unwrap();
    assert_eq!(SavedState::from_bytes(&bytes, &key, &other), Err(StateError::OtherBody));
}

#[test]
fn tracking_starts_from_the_chosen_skinning() {
    let character = sample("cylinder?segments=24&rings=32");
    let mut pose = Pose::rest(&character);
    let clip = &character.clips[0];
    // A shallow bend: nothing touches, so the skin stays near its start.
    clip.sample(clip.start + 0.15 * (clip.end - clip.start), &mut pose);
    let unmoved = Body::bind(character.clone(), Stack::linear(), None).unwrap();
    let unmoved = unmoved.rest(&mut Workspace::default());
    let deformed = |stack: Stack| {
        let body = Body::bind(character.clone(), stack, None).unwrap();
        let rest = farthest(&body.rest(&mut Workspace::default()), &unmoved);
        assert!(rest < 1e-6 * character.size(), "{}: {rest}", body.stack());
        body.deform(&pose, 0.0, &mut Workspace::default())
    };
    let plain = Skinning::ALL.map(|skinning| deformed(Stack { skinning, ..Stack::linear() }));
    let tracked = Skinning::ALL.map(|skinning| deformed(Stack::implicit().with_start(skinning)));
    for (k, (plain, skinning)) in plain.iter().zip(Skinning::ALL).enumerate() {
        let distances = tracked.each_ref().map(|tracked| farthest(tracked, plain));
        let nearest = (0..3).min_by(|&a, &b| distances[a].total_cmp(&distances[b]));
        assert_eq!(nearest, Some(k), "the skin that starts from {skinning} is nearest to it: {distances:?}");
    }
    assert_eq!(Stack::implicit().with_start(Skinning::DualQuaternion), Stack::implicit());
    assert_eq!(Stack::linear().with_start(Skinning::DualQuaternion), Stack::linear(), "nothing starts there");
}

#[test]
fn the_papers_start_from_the_chosen_skinning() {
    let character = sample("cylinder?segments=24&rings=32");
    let pose = bent(&character);
    for tracking in [Tracking::Scheme2012, Tracking::Scheme2014] {
        let papers = Stack::implicit().with_tracking(tracking);
        let deformed = |start: Skinning| {
            let body = Body::bind(character.clone(), papers.clone().with_start(start), None).unwrap();
            body.deform(&pose, 0.0, &mut Workspace::default())
        };
        let apart = farthest(&deformed(Skinning::Linear), &deformed(Skinning::DualQuaternion));
        assert!(apart > 1e-4 * character.size() && apart < 0.3 * character.size(), "{tracking}: {apart}");
    }
}

fn rest_stays(name: &str) {
    let character = sample(name);
    let plain = Body::bind(character.clone(), Stack::dual_quaternion(), None).unwrap();
    let plain = plain.rest(&mut Workspace::default());
    for (tracking, body) in bind_all(&character) {
        let rest = body.rest(&mut Workspace::default());
        let moved = farthest(&rest, &plain) / character.size();
        assert!(moved < 1e-6, "{name}, {tracking}: {moved}");
    }
}

#[test]
fn rest_is_where_dual_quaternions_have_it() {
    rest_stays("cylinder");
    rest_stays("arm?resolution=2000");
}

#[test]
fn a_hand_at_rest_is_where_dual_quaternions_have_it() {
    rest_stays("hand?resolution=2000");
}

#[test]
fn moving_the_whole_character_changes_nothing() {
    let character = arm();
    let pose = bent(&character);
    let turn = Quat::from_rotation_y(2.0) * Quat::from_rotation_x(0.7);
    let shift = Vec3::new(3.0, -1.0, 2.0);
    let whole = Transform { translation: shift, rotation: turn, scale: Vec3::ONE }.to_affine();
    let mut moved = pose.clone();
    for (local, joint) in moved.local.iter_mut().zip(&character.skeleton.joints) {
        if joint.parent.is_none() {
            *local = Transform::from_affine(whole * local.to_affine()).0;
        }
    }
    let body = bind(&character, Tracking::Robust);
    let mut workspace = Workspace::default();
    let mut here = body.deform(&pose, 0.0, &mut workspace);
    let there = body.deform(&moved, 0.0, &mut workspace);
    for mesh in &mut here.meshes {
        mesh.positions.iter_mut().for_each(|p| *p = whole.transform_point3(*p));
    }
    // Rounding decides anew at the fold; a hair of the character's size is nothing.
    let apart = farthest(&here, &there) / character.size();
    assert!(apart < 1e-3, "{apart}");
}

#[test]
fn the_same_bits_on_one_thread_and_on_two() {
    let character = arm();
    let pose = bent(&character);
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let frame = |(_, body): (Tracking, Body)| body.deform(&pose, 0.0, &mut Workspace::default());
        pool.install(|| bind_all(&character).map(frame))
    };
    assert!(run(1) == run(2));
}

#[test]
fn what_a_frame_did_is_in_its_report() {
    let character = sample("cylinder");
    let pose = bent(&character);
    for (tracking, body) in bind_all(&character) {
        let mut workspace = Workspace::default();
        let frame = body.deform(&pose, 0.0, &mut workspace);
        let TrackingReport { vertices, tracked, contacts, evaluations, .. } = frame.report.tracking.unwrap();
        assert!(
            contacts > 0 && tracked >= contacts && vertices >= tracked,
            "{tracking}: {contacts} {tracked}"
        );
        assert!(evaluations > tracked);
        assert!(!frame.found.stages.is_empty());
        let contact = |v: &usize| frame.found.state(*v) == VertexState::Contact;
        assert_eq!((0..vertices).filter(contact).count(), contacts);
    }
    let (mut workspace, mut frame) = (Workspace::default(), Frame::default());
    bind(&character, Tracking::Robust).deform_into(&pose, 0.0, None, &mut workspace, &mut frame);
    let plain = Body::bind(character, Stack::linear(), None).unwrap();
    plain.deform_into(&pose, 0.0, None, &mut workspace, &mut frame);
    assert_eq!(frame.report.tracking, None);
    assert!(
        frame.found.reports.is_empty() && frame.found.stages.is_empty(),
        "left over from the frame before"
    );
}

#[test]
fn one_workspace_serves_bodies_of_different_sizes_in_any_order() {
    let mut bodies = vec![arm_with_muscles()];
    for name in ["cylinder?segments=12&rings=16", "hand?resolution=2000", "arm?resolution=2000"] {
        let character = sample(name);
        bodies.extend(Tracking::ALL.map(|tracking| bind(&character, tracking)));
    }
    let deform =
        |body: &Body, workspace: &mut Workspace| body.deform(&bent(body.character()), 0.0, workspace);
    let alone: Vec<Frame> = bodies.iter().map(|body| deform(body, &mut Workspace::default())).collect();
    let mut workspace = Workspace::default();
    let count = bodies.len();
    // Strides that are coprime to ten visit every body, each time after another one.
    for k in [1, 3, 7, 9].iter().flat_map(|stride| (0..count).map(move |i| i * stride % count)) {
        assert_eq!(deform(&bodies[k], &mut workspace), alone[k], "body {k}");
    }
}

#[test]
fn a_joint_without_a_finite_matrix_is_counted_and_nothing_else_happens() {
    let character = sample("cylinder");
    let mut pose = bent(&character);
    let last = pose.local.len() - 1;
    pose.local[last].rotation = Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0);
    for (tracking, body) in bind_all(&character) {
        let frame = body.deform(&pose, 0.0, &mut Workspace::default());
        assert!(frame.meshes[0].positions.iter().all(|p| p.is_finite()), "{tracking}");
        assert!(frame.report.fell_back > 0, "{tracking}");
    }
}

#[test]
fn a_character_of_which_all_follows_is_skinned() {
    // A single triangle encloses nothing.
    let mut character = samples::build("cylinder").unwrap();
    let mesh = &mut character.meshes[0];
    mesh.triangles.truncate(1);
    let character = Arc::new(character);
    let pose = bent(&character);
    let plain = Body::bind(character.clone(), Stack::dual_quaternion(), None).unwrap();
    let plain = plain.deform(&pose, 0.0, &mut Workspace::default());
    for (tracking, body) in bind_all(&character) {
        assert!(body.parts().unwrap().parts.is_empty());
        let frame = body.deform(&pose, 0.0, &mut Workspace::default());
        assert!(farthest(&frame, &plain) < 1e-5 * character.size(), "{tracking}");
        assert_eq!(frame.report.fell_back, 0);
    }
}

#[test]
fn meshes_without_skin_move_with_their_joint() {
    let mut character = samples::build("cylinder").unwrap();
    let mut hat = character.meshes[0].clone();
    hat.binding = crate::character::Binding::Node;
    hat.joint = character.skeleton.len() - 1;
    character.meshes.insert(0, hat);
    let character = Arc::new(character);
    let mut pose = bent(&character);
    pose.morph_weights = vec![Vec::new(); 2];
    let plain = Body::bind(character.clone(), Stack::dual_quaternion(), None).unwrap();
    let plain = plain.deform(&pose, 0.0, &mut Workspace::default());
    let frame = bind(&character, Tracking::Robust).deform(&pose, 0.0, &mut Workspace::default());
    assert_eq!(frame.meshes[0], plain.meshes[0]);
    assert_ne!(frame.meshes[1], plain.meshes[1]);
}

#[test]
fn morphs_are_tracked_in_their_shape() {
    let mut character = samples::build("cylinder").unwrap();
    let mesh = &mut character.meshes[0];
    let offset = 0.002 * character.skeleton.joints.len() as f32;
    mesh.morphs = vec![crate::character::Morph {
        name: "shift".into(),
        vertices: (0..mesh.positions.len() as u32).collect(),
        offsets: vec![Vec3::Y * offset; mesh.positions.len()],
        weight: 0.0,
    }];
    let character = Arc::new(character);
    let body = bind(&character, Tracking::Robust);
    let mut pose = Pose::rest(&character);
    let mut workspace = Workspace::default();
    let rest = body.deform(&pose, 0.0, &mut workspace);
    pose.morph_weights[0][0] = 1.0;
    let shifted = body.deform(&pose, 0.0, &mut workspace);
    for (a, b) in rest.meshes[0].positions.iter().zip(&shifted.meshes[0].positions) {
        assert!((*b - *a - Vec3::Y * offset).length() < 1e-5, "{a} {b}");
    }
}

#[test]
fn a_coherent_animation_goes_on_from_its_state_and_any_other_does_not() {
    let character = sample("cylinder");
    let clip = &character.clips[0];
    let coherent =
        Body::bind(character.clone(), Settings { coherent: true, ..Settings::default() }, None).unwrap();
    let free = bind(&character, Tracking::Robust);
    let (mut state, mut workspace) = (State::default(), Workspace::default());
    let mut pose = Pose::rest(&character);
    let mut last = None;
    for k in 0..=6 {
        clip.sample(clip.start + 0.5 * (clip.end - clip.start) * k as f32 / 6.0, &mut pose);
        last = Some(coherent.deform_next(&pose, 0.0, &mut state, &mut workspace));
    }
    let alone = free.deform(&pose, 0.0, &mut workspace);
    let mut untouched = State::default();
    assert_eq!(free.deform_next(&pose, 0.0, &mut untouched, &mut workspace), alone);
    assert_eq!(untouched, State::default());
    assert_ne!(state, State::default());
    let apart = farthest(&last.unwrap(), &alone) / character.size();
    assert!(apart < 0.05, "{apart}");
}

#[test]
fn the_papers_join_parts_as_the_settings_say() {
    let character = sample("cylinder");
    let pose = bent(&character);
    let folder = tempfile::tempdir().unwrap();
    let cache = Cache::new(folder.path(), crate::cache::DEFAULT_LIMIT);
    let with = |settings: Settings| {
        let settings = Settings { stack: Stack::implicit().with_tracking(Tracking::Scheme2012), ..settings };
        Body::bind(character.clone(), settings, Some(&cache)).unwrap().deform(
            &pose,
            0.0,
            &mut Workspace::default(),
        )
    };
    let composition = |name: &str| crate::field::Composition::by_name(name).unwrap();
    let plain = with(Settings::default());
    let union = with(Settings { composition: Some(composition("union")), ..Settings::default() });
    assert!(farthest(&plain, &union) > 0.0);
    let joints = (0..character.skeleton.len()).map(|joint| (joint, composition("union"))).collect();
    let everywhere = with(Settings { joint_compositions: joints, ..Settings::default() });
    assert_eq!(everywhere, union);
}

#[test]
fn an_operator_of_a_joint_rounds_its_skin_and_no_other() {
    let character = sample("cylinder");
    let joint = character.skeleton.len() - 1;
    let blended = |name: &str| {
        let composition = crate::field::Composition::by_name(name).unwrap();
        let settings = Settings { joint_compositions: vec![(joint, composition)], ..Settings::default() };
        Body::bind(character.clone(), settings, None).unwrap()
    };
    let plain = bind(&character, Tracking::Robust);
    let pose = Pose::rest(&character);
    let mut pose_60 = pose.clone();
    pose_60.local[joint].rotation *= Quat::from_rotation_x(60f32.to_radians());
    let (mut w, time) = (Workspace::default(), 0.0);
    let [rest, bent] = [&pose, &pose_60].map(|pose| plain.deform(pose, time, &mut w));
    for (name, moves) in [("union", 0.0), ("contact", 0.0), ("ricci", 1e-3), ("gradient-blend", 1e-3)] {
        let body = blended(name);
        let moved = farthest(&body.deform(&pose, time, &mut w), &rest) / character.size();
        assert!(moved < 1e-6, "{name} moves the skin at rest by {moved}");
        let moved = farthest(&body.deform(&pose_60, time, &mut w), &bent) / character.size();
        assert!(if moves == 0.0 { moved < 1e-5 } else { moved > moves }, "{name}: {moved}");
    }
}
