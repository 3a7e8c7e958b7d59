//! Wrinkles on whole bodies: where skin creases, when, and what is refused.

use ecorche::anatomy::{AnatomyFile, Edit, Target, Value};
use ecorche::character::subdivide::subdivide;
use ecorche::character::{Character, Pose};
use ecorche::deform::{BindError, Body, Stack, State, Workspace as Scratchpad};
use ecorche::frame::Frame;
use ecorche::geom::{SelfContact, TriMesh};
use ecorche::skinning::Surface;
use ecorche::surface::LayerDef;
use ecorche::surface::wrinkles::{
    Curves, Dab, MapError, Stroke, System, ThesisDef, WrinkleDef, WrinkleError,
};
use glam::{Quat, Vec2, Vec3};
use std::sync::Arc;

fn sample(name: &str) -> Arc<Character> {
    Arc::new(ecorche::samples::build(name).unwrap())
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
    let mut character = ecorche::samples::build("cylinder?segments=16&rings=16").unwrap();
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
    let mut character = ecorche::samples::build("cylinder?segments=12&rings=12").unwrap();
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
    pose.local.iter_mut().for_each(|local| local.rotation = Quat::from_xyzw(f32::NAN, 0.0, 0.0, 1.0));
    let frame = deform(&body, &pose);
    assert!(frame.meshes[0].positions.iter().all(|p| p.is_finite()));
}

/// How far each vertex stands out of the smooth skin, in the order of the file.
fn offsets(character: &Arc<Character>, def: WrinkleDef, pose: &Pose) -> Vec<f32> {
    let smooth = deform(&bind(character, Stack::dual_quaternion()), pose);
    let wrinkled = deform(&bind(character, with(Stack::dual_quaternion(), def)), pose);
    let [before, after] = [&smooth, &wrinkled].map(|frame| frame.meshes[0].positions.clone());
    let triangles = character.meshes[0].triangles.clone();
    let normals = TriMesh { positions: before.clone(), triangles }.normals();
    before.iter().zip(&after).zip(&normals).map(|((p, q), &n)| (*q - *p).dot(n)).collect()
}

/// Mean change of the offsets over edges along the limb and around it.
fn steepness(character: &Character, offsets: &[f32]) -> [f32; 2] {
    let mesh = &character.meshes[0];
    let mut sums = [[0.0; 2]; 2];
    for triangle in &mesh.triangles {
        for (a, b) in [(0, 1), (1, 2), (2, 0)].map(|(i, j)| (triangle[i] as usize, triangle[j] as usize)) {
            let edge = mesh.positions[b] - mesh.positions[a];
            let along = (edge.y / edge.length()).abs();
            let of = if along > 0.99 {
                0
            } else if along < 0.01 {
                1
            } else {
                continue;
            };
            sums[of][0] += (offsets[b] - offsets[a]).abs();
            sums[of][1] += edge.length();
        }
    }
    sums.map(|[change, length]| change / length)
}

#[test]
fn bending_and_twisting_crease_the_same_skin_along_different_lines() {
    let character = limb();
    let clip = |name: &str, share: f32| {
        let clip = character.clip(name).unwrap();
        let mut pose = Pose::rest(&character);
        clip.sample(clip.start + share * (clip.end - clip.start), &mut pose);
        pose
    };
    // Half of the bend: folded to the end, skin meets skin, which limits wrinkles in places of its own.
    let bend = clip("bend", 0.25);
    // Half a turn is more than the range of motion has.
    let several =
        WrinkleDef { patterns: 3, creases: 0.5, clips: vec!["twist".to_owned()], ..WrinkleDef::default() };
    let body = bind(&character, with(Stack::dual_quaternion(), several.clone()));
    assert!(body.wrinkles().unwrap().patterns > 1);
    let bent = offsets(&character, several.clone(), &bend);
    let [along_bent, around_bent] = steepness(&character, &bent);
    let [along_twisted, around_twisted] =
        steepness(&character, &offsets(&character, several, &clip("twist", 0.5)));
    assert!(around_twisted > 0.0, "twist folds the skin");
    let ratios = [along_bent / around_bent, along_twisted / around_twisted];
    assert!(ratios[0] > 1.5 * ratios[1], "bends fold along the limb, twist across: {ratios:?}");
    let smooth = deform(&bind(&character, Stack::dual_quaternion()), &bend);
    let lengths = body.lengths_across_creases(&smooth, &deform(&body, &bend));
    let lost: f32 = lengths.iter().map(|(_, [short, _])| (1.0 - short).max(0.0)).sum();
    let back: f32 = lengths.iter().map(|(_, [short, long])| long - short).sum();
    assert!(lost > 0.0 && back > 0.0 && back < lost, "a fold counts once: {back} of {lost}");
}

#[test]
fn a_joint_has_a_valley_where_it_folds_and_a_stroke_where_it_is_drawn() {
    let character = limb();
    let bent = pose(&character, 0.5);
    let frames = Surface::new(&character).unwrap();
    let joint = (0..character.skeleton.len()).rev().find(|&j| character.skeleton.joints[j].in_skin).unwrap();
    let at = frames.joint_from_bind()[joint].inverse().translation;
    let rest = bind(&character, Stack::dual_quaternion()).rest(&mut Scratchpad::default());
    let positions = &rest.meshes[0].positions;
    let along = {
        let root = frames.joint_from_bind()[0].inverse().translation;
        Vec3::from(at - root).normalize()
    };
    let mean_near = |offsets: &[f32], offset: f32| {
        let near: Vec<f32> = (0..positions.len())
            .filter(|&v| ((positions[v] - Vec3::from(at)).dot(along) - offset).abs() < 0.002)
            .map(|v| offsets[v])
            .filter(|&x| x != 0.0)
            .collect();
        near.iter().sum::<f32>() / near.len().max(1) as f32
    };
    let at_joint = WrinkleDef { creases: 0.5, ..WrinkleDef::default() };
    let valley = mean_near(&offsets(&character, at_joint, &bent), 0.0);
    assert!(valley < -2e-4, "{valley}");
    // The same skin, with a crease drawn around the limb a bit further along.
    let shift = 0.017;
    let radius =
        positions.iter().map(|p| (*p - Vec3::from(at)).reject_from(along).length()).fold(0.0, f32::max);
    let (x, y) = along.any_orthonormal_pair();
    let points = (0..=24).map(|k| {
        let (sin, cos) = (k as f32 * std::f32::consts::TAU / 24.0).sin_cos();
        Vec3::from(at) + along * shift + (x * cos + y * sin) * radius
    });
    let stroke = Stroke { points: points.collect(), ..Stroke::default() };
    let drawn = WrinkleDef { creases: 0.0, stroke: vec![stroke], ..WrinkleDef::default() };
    let valley = mean_near(&offsets(&character, drawn, &bent), shift);
    assert!(valley < -2e-4, "{valley}");
}

#[test]
fn a_dab_keeps_skin_smooth() {
    let character = limb();
    let bent = pose(&character, 0.5);
    let frames = Surface::new(&character).unwrap();
    let middle = frames.joint_from_bind().last().unwrap().inverse().translation;
    let dab = Dab { at: middle.into(), radius: 10.0, mask: Some(0.0), ..Dab::default() };
    let def = WrinkleDef { dab: vec![dab], ..WrinkleDef::default() };
    assert!(offsets(&character, def, &bent).iter().all(|&x| x == 0.0));
}

#[test]
fn strokes_and_clips_that_are_nowhere_are_refused_by_name() {
    let character = sample("cylinder?segments=48&rings=80");
    let refused = |def: WrinkleDef| {
        Body::bind(character.clone(), with(Stack::linear(), def), None).unwrap_err().to_string()
    };
    let stroke = |points: Vec<Vec3>, bone: Option<&str>| WrinkleDef {
        stroke: vec![Stroke { points, bone: bone.map(str::to_owned), ..Stroke::default() }],
        ..WrinkleDef::default()
    };
    let far = vec![Vec3::splat(50.0), Vec3::splat(51.0)];
    assert!(refused(stroke(far.clone(), None)).contains("stroke 1 lies on no skin"));
    assert!(refused(stroke(far, Some("tail"))).contains("no joint \"tail\""));
    assert!(refused(stroke(vec![Vec3::ZERO], None)).contains("two or more"));
    assert!(refused(stroke(vec![Vec3::NAN; 2], None)).contains("finite"));
    let clips = WrinkleDef { clips: vec!["dance".to_owned()], ..WrinkleDef::default() };
    let words = refused(clips);
    assert!(words.contains("no clip \"dance\"") && words.contains("bend"), "{words}");
}

#[test]
fn a_clip_of_the_character_teaches_where_skin_folds() {
    let character = limb();
    let def = WrinkleDef { clips: vec!["bend".to_owned()], ..WrinkleDef::default() };
    let body = bind(&character, with(Stack::dual_quaternion(), def));
    assert!(deform(&body, &pose(&character, 0.5)).report.surface.unwrap().displaced > 100);
}

#[test]
fn maps_hold_the_pattern_of_the_mesh_in_its_texture_coordinates() {
    let mut character = ecorche::samples::build("cylinder?segments=96&rings=160").unwrap();
    let stack = with(Stack::dual_quaternion(), WrinkleDef::default());
    let unwrapped = |character: &mut Character| {
        let mesh = &mut character.meshes[0];
        let high = mesh.positions.iter().map(|p| p.max_element()).fold(0.0, f32::max);
        let low = mesh.positions.iter().map(|p| p.min_element()).fold(0.0, f32::min);
        // Seen from the side: two corners of the limb share a place, which is enough to draw.
        mesh.corner_uvs = mesh
            .faces
            .corners
            .iter()
            .map(|&v| {
                let p = mesh.positions[v as usize];
                Vec2::new((p.x - low) / (high - low), (p.y - low) / (high - low))
            })
            .collect();
    };
    character.meshes[0].corner_uvs.clear();
    let without = Body::bind(Arc::new(character.clone()), stack.clone(), None).unwrap();
    let error = without.wrinkle_maps(64).unwrap_err();
    assert!(matches!(error, MapError::NoTextureCoordinates { .. }), "{error}");
    unwrapped(&mut character);
    let character = Arc::new(character);
    let body = Body::bind(character.clone(), stack, None).unwrap();
    assert!(matches!(body.wrinkle_maps(1), Err(MapError::Size(1))));
    let maps = body.wrinkle_maps(512).unwrap();
    let drawn: Vec<_> = maps[0].texels.iter().filter(|texel| texel.mask > 0.5).collect();
    assert!(drawn.len() > 500, "{}", drawn.len());
    let (low, high) = drawn.iter().fold((1.0f32, -1.0f32), |(l, h), t| (l.min(t.cos), h.max(t.cos)));
    assert!(low < -0.95 && high > 0.95, "ridges and valleys: {low} to {high}");
    let mut scratch = Scratchpad::default();
    body.deform(&pose(&character, 0.5), 0.0, &mut scratch);
    let folds = body.folds(0, &scratch);
    assert!(folds.iter().any(|fold| fold[0] > 0.1));
    body.rest(&mut scratch);
    assert!(body.folds(0, &scratch).iter().all(|fold| *fold == [0.0; 3]));
    let smooth = bind(&character, Stack::linear());
    assert!(matches!(smooth.wrinkle_maps(64), Err(MapError::Smooth)));
}

#[test]
fn the_thesis_curves_stand_out_of_bent_skin_and_lie_in_it_at_rest() {
    let character = limb();
    for curves in [Curves::Grown, Curves::Stripes] {
        let thesis = ThesisDef { curves, ..ThesisDef::default() };
        let def = WrinkleDef { system: System::Thesis, thesis, ..WrinkleDef::default() };
        let body = bind(&character, with(Stack::dual_quaternion(), def.clone()));
        assert!(body.wrinkles().unwrap().segments > 10, "{curves:?}");
        assert!(offsets(&character, def.clone(), &Pose::rest(&character)).iter().all(|&x| x == 0.0));
        let out = offsets(&character, def.clone(), &pose(&character, 0.5));
        let most = out.iter().copied().fold(0.0, f32::max);
        assert!((1e-3..0.03).contains(&most), "{curves:?}: {most}");
        // Before and after other frames it is the same.
        let (mut state, mut scratch) = (State::default(), Scratchpad::default());
        let alone = deform(&body, &pose(&character, 0.5));
        body.deform_next(&Pose::rest(&character), 0.0, &mut state, &mut scratch);
        let later = body.deform_next(&pose(&character, 0.5), 0.1, &mut state, &mut scratch);
        assert_eq!(alone.meshes, later.meshes);
    }
    let wrong = ThesisDef { ramp: [60.0, 10.0], ..ThesisDef::default() };
    let def = WrinkleDef { thesis: wrong, ..WrinkleDef::default() };
    let refused = Body::bind(character, with(Stack::linear(), def), None).unwrap_err().to_string();
    assert!(refused.contains("an end above its start"), "{refused}");
}

#[test]
fn settings_of_an_anatomy_file_are_edited_and_undone() {
    let text = "version = 1\n";
    let mut file = AnatomyFile::parse("a.toml", text.to_owned()).unwrap();
    let set = Edit::Set { target: Target::Wrinkles, field: "gain".to_owned(), value: Value::from(0.5f32) };
    let back = file.apply(&set).unwrap();
    assert_eq!(file.anatomy().wrinkles.as_ref().unwrap().gain, 0.5);
    file.apply(&back).unwrap();
    assert_eq!(file.text(), text);
    assert_eq!(file.anatomy().wrinkles, None);
}
