//! Bakes: what is in the files is what was deformed, for every format, thread count and piece.

use ecorche::bake::{BakeError, bake};
use ecorche::character::{Character, Pose, World, read};
use ecorche::deform::Stack;
use ecorche::deform::{Body, Workspace};
use ecorche::output::pc2::Pc2;
use ecorche::samples;
use ecorche::sampling::{Plan, Sampling};
use glam::Vec3;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

fn cylinder() -> Character {
    samples::build("cylinder").unwrap()
}

fn bind(character: Character) -> Body {
    Body::bind(Arc::new(character), Stack::dual_quaternion(), None).unwrap()
}

fn plan<'a>(body: &'a Body, frames: Option<std::ops::RangeInclusive<usize>>) -> Plan<'a> {
    Plan::new(body.character().clips.first(), &Sampling { fps: Some(10.0), frames }).unwrap()
}

fn write(body: &Body, plan: &Plan, path: &Path) {
    bake(body, plan, path, |_| ControlFlow::Continue(())).unwrap();
}

/// Every frame in the file's own units and axes, straight from the deformation.
fn expected(body: &Body, plan: &Plan) -> Vec<Vec<Vec3>> {
    let character = body.character();
    let mut workspace = Workspace::default();
    let mut pose = Pose::rest(character);
    plan.frames
        .clone()
        .map(|n| {
            plan.sample(n, &mut pose);
            let frame = body.deform(&pose, 0.0, &mut workspace);
            frame.meshes[0].positions.iter().map(|&p| character.world.to_user(p)).collect()
        })
        .collect()
}

#[test]
fn a_pc2_holds_the_deformed_points_in_the_files_units_and_axes() {
    let folder = tempfile::tempdir().unwrap();
    for world in [World::default(), World::z_up(0.01)] {
        let body = bind(Character { world, ..cylinder() });
        let plan = plan(&body, None);
        let path = folder.path().join("out.pc2");
        write(&body, &plan, &path);
        assert_eq!(Pc2::read(&path).unwrap().samples, expected(&body, &plan));
    }
}

#[test]
fn an_mdd_is_big_endian_with_its_times() {
    let folder = tempfile::tempdir().unwrap();
    let body = bind(cylinder());
    let plan = plan(&body, Some(2..=4));
    let path = folder.path().join("out.mdd");
    write(&body, &plan, &path);
    let bytes = std::fs::read(&path).unwrap();
    let word = |i: usize| <[u8; 4]>::try_from(&bytes[4 * i..4 * i + 4]).unwrap();
    let points = body.character().meshes[0].positions.len();
    assert_eq!(i32::from_be_bytes(word(0)), 3);
    assert_eq!(i32::from_be_bytes(word(1)), points as i32);
    assert_eq!([2, 3, 4].map(|i| f32::from_be_bytes(word(i))), [0.2, 0.3, 0.4]);
    let numbers: Vec<f32> = (5..bytes.len() / 4).map(|i| f32::from_be_bytes(word(i))).collect();
    let expected: Vec<f32> = expected(&body, &plan).iter().flatten().flat_map(|p| p.to_array()).collect();
    assert_eq!(numbers, expected);
}

#[test]
fn obj_and_glb_read_back_with_vertex_order_and_positions() {
    let folder = tempfile::tempdir().unwrap();
    let body = bind(cylinder());
    let plan = plan(&body, Some(3..=3));
    let expected = expected(&body, &plan);
    for ending in ["obj", "glb"] {
        let path = folder.path().join(format!("out.{ending}"));
        write(&body, &plan, &path);
        let found = read(&path).unwrap();
        assert_eq!(found.meshes[0].positions, expected[0], "{ending}");
        assert_eq!(found.meshes[0].triangles, body.character().meshes[0].triangles, "{ending}");
    }
}

#[test]
fn a_glb_animation_shows_each_frame_at_its_moment() {
    let folder = tempfile::tempdir().unwrap();
    let body = bind(cylinder());
    let plan = plan(&body, Some(0..=5));
    let path = folder.path().join("out.glb");
    write(&body, &plan, &path);
    let played = bind(read(&path).unwrap());
    let clip = played.character().clips.first().unwrap();
    let replay = Plan::new(Some(clip), &Sampling { fps: Some(10.0), frames: None }).unwrap();
    assert_eq!(replay.len(), plan.len());
    let size = body.character().size();
    for (a, b) in
        self::expected(&played, &replay).iter().flatten().zip(expected(&body, &plan).iter().flatten())
    {
        assert!(a.distance(*b) < 1e-5 * size);
    }
}

#[test]
fn pieces_of_a_bake_join_to_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let body = bind(cylinder());
    write(&body, &plan(&body, None), &at("whole.pc2"));
    let end = *plan(&body, None).frames.end();
    write(&body, &plan(&body, Some(0..=3)), &at("a.pc2"));
    write(&body, &plan(&body, Some(4..=end)), &at("b.pc2"));
    let joined = Pc2::join(&[at("b.pc2"), at("a.pc2")]).unwrap();
    assert_eq!(joined, Pc2::read(&at("whole.pc2")).unwrap());
    let error = Pc2::join(&[at("a.pc2"), at("a.pc2")]).unwrap_err();
    assert!(error.to_string().contains("frame 4 comes next"), "{error}");
}

#[test]
fn a_stopped_bake_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let body = bind(cylinder());
    for ending in ["abc", "pc2", "mdd", "obj", "glb", "usda"] {
        let path = folder.path().join(format!("out.{ending}"));
        let stop_at_two = |done| if done == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) };
        let result = bake(&body, &plan(&body, None), &path, stop_at_two);
        assert!(matches!(result, Err(BakeError::Stopped)), "{ending}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "{ending}");
    }
}

#[test]
fn every_format_has_the_same_bits_for_any_number_of_threads() {
    let folder = tempfile::tempdir().unwrap();
    let character = Arc::new(samples::build("arm").unwrap());
    for method in Stack::common() {
        for ending in ["abc", "pc2", "obj", "glb", "usda"] {
            let bytes = [1, 2, 7].map(|threads| {
                let path = folder.path().join(format!("out.{ending}"));
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| {
                    let body = Body::bind(character.clone(), method.clone(), None).unwrap();
                    let plan = plan(&body, Some(4..=4));
                    write(&body, &plan, &path);
                });
                std::fs::read(&path).unwrap()
            });
            assert!(bytes[0] == bytes[1] && bytes[0] == bytes[2], "{method} {ending}");
        }
    }
}
