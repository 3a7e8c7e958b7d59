use super::*;
use crate::deform::Stack;
use crate::recipe::{MuscleUse, Recipe};
use std::path::Path;
use std::sync::Arc;

fn arm(stack: Stack) -> Body {
    let ingredients =
        Recipe { muscles: MuscleUse::Still, ..Recipe::of("sample:arm?resolution=2000") }.read().unwrap();
    ingredients.bind(ingredients.settings(Some(stack)), None).unwrap()
}

fn curl(body: &Body) -> Option<usize> {
    body.character().clips.iter().position(|clip| clip.name == "curl")
}

fn at(x: f32) -> Affine3A {
    Affine3A::from_translation(Vec3::X * x)
}

#[test]
fn an_instance_is_the_body_alone_at_its_own_moment() {
    let body = arm(Stack::parametric());
    let clip = curl(&body);
    let instances = [0.0, 0.3].map(|offset| Instance { clip, offset, ..Instance::default() });
    let mut crowd = Crowd::new(vec![body.clone()], instances.to_vec(), Detail::default()).unwrap();
    crowd.frame(0.5, None);
    let mut pose = Pose::rest(body.character());
    for (member, time) in crowd.members().iter().zip([0.5, 0.8]) {
        body.character().clips[clip.unwrap()].sample(time, &mut pose);
        let alone = body.deform(&pose, time, &mut Workspace::default());
        assert_eq!(member.frame.meshes, alone.meshes, "to the bit");
    }
}

#[test]
fn a_clip_starts_again_at_its_end() {
    let body = arm(Stack::linear());
    let clip = curl(&body);
    let length = body.character().clips[clip.unwrap()].length();
    let mut crowd =
        Crowd::new(vec![body], vec![Instance { clip, ..Instance::default() }], Detail::default()).unwrap();
    crowd.frame(0.25, None);
    let first = crowd.members()[0].frame.meshes.clone();
    crowd.frame(0.25 + 4.0 * length, None);
    let again = &crowd.members()[0].frame.meshes[0].positions;
    let apart = first[0].positions.iter().zip(again).map(|(a, b)| a.distance(*b)).fold(0.0, f32::max);
    assert!(apart < 1e-4, "{apart} m");
}

#[test]
fn detail_falls_with_distance() {
    let (full, plain) = (arm(Stack::parametric()), arm(Stack::dual_quaternion()));
    let clip = curl(&full);
    let instances = [1.0, 5.0, 50.0].map(|x| Instance { clip, place: at(x), ..Instance::default() });
    let detail = Detail { full: 2.0, skinning: 10.0 };
    let mut crowd = Crowd::new(vec![full], instances.to_vec(), detail).unwrap();
    let report = crowd.frame(0.9, Some(Vec3::ZERO));
    assert_eq!(report.levels, [1, 1, 1]);
    let mut skinned =
        Crowd::new(vec![plain], vec![Instance { clip, ..Instance::default() }], Detail::default()).unwrap();
    skinned.frame(0.9, None);
    let meshes = |k: usize| crowd.members()[k].frame.meshes.clone();
    assert_eq!(meshes(1), skinned.members()[0].frame.meshes, "the second is skinned");
    assert_ne!(meshes(0), meshes(1), "the first has muscles");
    let far = meshes(2);
    crowd.frame(0.4, Some(Vec3::ZERO));
    assert_eq!(crowd.members()[2].frame.meshes, far, "the third stays");
}

#[test]
fn tension_thickens_without_motion() {
    let body = arm(Stack::parametric());
    let instances = [0.0, 1.0].map(|tension| Instance { tension, ..Instance::default() });
    let mut crowd = Crowd::new(vec![body], instances.to_vec(), Detail::default()).unwrap();
    crowd.frame(0.0, None);
    let [slack, tense] = [0, 1].map(|k| crowd.members()[k].frame.report.parametric.unwrap());
    assert!(slack.largest < 1e-5, "{slack:?}");
    assert!(tense.largest > 1e-3, "{tense:?}");
}

#[test]
fn the_bits_do_not_depend_on_the_number_of_threads() {
    let body = arm(Stack::parametric());
    let clip = curl(&body);
    let instances: Vec<Instance> =
        (0..9).map(|k| Instance { clip, offset: 0.1 * k as f32, ..Instance::default() }).collect();
    let run = |threads: usize| {
        let mut crowd = Crowd::new(vec![body.clone()], instances.clone(), Detail::default()).unwrap();
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| crowd.frame(0.7, None));
        crowd.members().iter().map(|member| member.frame.meshes.clone()).collect::<Vec<_>>()
    };
    assert_eq!(run(1), run(3));
}

#[test]
fn instances_that_cannot_be_are_refused() {
    let body = || vec![arm(Stack::linear())];
    let refused = |instance: Instance| {
        Crowd::new(body(), vec![Instance::default(), instance], Detail::default()).unwrap_err().to_string()
    };
    assert!(refused(Instance { body: 3, ..Instance::default() }).contains("instance 2: no body 3"));
    assert!(refused(Instance { clip: Some(99), ..Instance::default() }).contains("no clip 99"));
    assert!(refused(Instance { tension: 2.0, ..Instance::default() }).contains("from 0 to 1"));
    assert!(refused(Instance { place: at(f32::NAN), ..Instance::default() }).contains("finite"));
}

const SCENE: &str = r#"
    fps = 10
    frames = [0, 3]
    [[character]]
    name = "arm"
    file = "sample:arm?resolution=2000"
    [[instance]]
    character = "arm"
    clip = "curl"
    scale = 2.0
    repeat = { columns = 3, rows = 2, spacing = [1.0, 2.0], offset = 0.1 }
"#;

#[test]
fn a_scene_repeats_its_instances_in_rows() {
    let scene = Scene::parse(Path::new("arms.toml"), SCENE, None).unwrap();
    let places: Vec<Vec3> = scene.crowd.instances().iter().map(|i| i.place.translation.into()).collect();
    assert_eq!(places.len(), 6);
    assert_eq!((places[1], places[3]), (Vec3::X, 2.0 * Vec3::Z));
    assert_eq!(scene.crowd.instances()[5].offset, 0.5);
    assert_eq!(scene.crowd.body(0).stack(), &Stack::parametric());
}

#[test]
fn wrong_scenes_are_refused_with_the_thing_and_a_remedy() {
    let cases = [
        ("clip = \"curl\"", "clip = \"crawl\"", "no clip called \"crawl\""),
        ("character = \"arm\"", "character = \"leg\"", "instance 1: no character \"leg\"; there are arm"),
        ("scale = 2.0", "scale = 0.0", "scale 0 must be from"),
        ("scale = 2.0", "scale = nan", "scale NaN must be from"),
        ("scale = 2.0", "tension = -1.0", "tension -1 must be from 0 to 1"),
        ("scale = 2.0", "size = 2.0", "size"),
        ("fps = 10", "fps = 0", "fps 0 is not a rate"),
        ("frames = [0, 3]", "frames = [3, 0]", "frames [3, 0]"),
        ("columns = 3", "columns = 0", "repeat: 0 columns"),
        ("columns = 3", "columns = 3000000", "repeat: 3000000 columns"),
        ("sample:arm", "sample:leg", "character \"arm\""),
        ("fps = 10", "detail = { full = 9.0, skinning = 3.0 }", "the second at least the first"),
    ];
    for (right, mistaken, message) in cases {
        let text = SCENE.replacen(right, mistaken, 1);
        let error = Scene::parse(Path::new("arms.toml"), &text, None).unwrap_err().to_string();
        assert!(error.starts_with("arms.toml") && error.contains(message), "{mistaken}: {error}");
    }
}

#[test]
fn a_merged_cache_holds_every_vertex_of_every_instance() {
    let mut scene = Scene::parse(Path::new("arms.toml"), SCENE, None).unwrap();
    let rest = rest_mesh(&scene.crowd).unwrap();
    let one: usize = scene.crowd.body(0).character().meshes.iter().map(|m| m.positions.len()).sum();
    assert_eq!(rest.meshes[0].positions.len(), 6 * one);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("arms.pc2");
    let mut writer = Writer::merged(&rest, &path, scene.fps, &scene.frames).unwrap();
    for frame in scene.frames.clone() {
        let time = scene.time(frame);
        scene.crowd.frame(time, None);
        writer.write(&scene.crowd, time).unwrap();
    }
    let paths = writer.finish().unwrap();
    assert_eq!(paths, std::slice::from_ref(&path));
    let bytes = std::fs::metadata(path).unwrap().len() as usize;
    assert_eq!(bytes, 32 + 4 * 12 * 6 * one);
}

#[test]
fn an_instance_can_change_its_body_between_frames() {
    let cylinder = Arc::new(crate::samples::build("cylinder").unwrap());
    let cylinder = Body::bind(cylinder, Stack::linear(), None).unwrap();
    let mut crowd =
        Crowd::new(vec![arm(Stack::linear()), cylinder], vec![Instance::default()], Detail::default())
            .unwrap();
    crowd.frame(0.0, None);
    let first = crowd.members()[0].frame.meshes.clone();
    crowd.instances_mut()[0].body = 1;
    crowd.frame(0.0, None);
    assert_ne!(crowd.members()[0].frame.meshes[0].positions.len(), first[0].positions.len());
    // A body that is not there: the frame stays.
    let last = crowd.members()[0].frame.meshes.clone();
    crowd.instances_mut()[0].body = 7;
    crowd.frame(1.0, None);
    assert_eq!(crowd.members()[0].frame.meshes, last);
}
