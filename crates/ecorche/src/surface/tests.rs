use super::smooth::{Kind, Settings};
use super::*;
use crate::character::{Character, Pose};
use crate::deform::{Body, Stack, Workspace as Scratchpad};
use crate::frame::Frame;
use crate::geom::adjacency::Edge;
use crate::skinning::Surface;
use glam::{Quat, Vec3};
use std::sync::Arc;

fn sample(name: &str) -> Arc<Character> {
    Arc::new(crate::samples::build(name).unwrap())
}

fn smoothed(stack: Stack, settings: Settings) -> Stack {
    Stack { surface: vec![LayerDef::Smooth(settings)], ..stack }
}

fn deform(character: &Arc<Character>, stack: Stack, pose: &Pose) -> Frame {
    Body::bind(character.clone(), stack, None).unwrap().deform(pose, 0.0, &mut Scratchpad::default())
}

/// The moment of a clip's deepest bend.
fn bent(character: &Character) -> Pose {
    let clip = &character.clips[0];
    let mut pose = Pose::rest(character);
    clip.sample(0.5 * (clip.start + clip.end), &mut pose);
    pose
}

fn farthest(a: &Frame, b: &Frame) -> f32 {
    let pairs = a.meshes.iter().zip(&b.meshes).flat_map(|(a, b)| a.positions.iter().zip(&b.positions));
    pairs.map(|(a, b)| a.distance(*b)).fold(0.0, f32::max)
}

/// Sharpest crease of a frame, degrees: the largest angle between the normals of two triangles that share an edge and are
/// almost level at rest. And the enclosed volume.
fn crease_and_volume(surface: &Surface, frame: &Frame) -> (f32, f64) {
    let posed = TriMesh { positions: surface.positions(frame), triangles: surface.mesh.triangles.clone() };
    let crease = |mesh: &TriMesh, edge: &Edge| {
        let normal = |t: u32| {
            let [a, b, c] = mesh.triangles[t as usize].map(|v| mesh.positions[v as usize]);
            (b - a).cross(c - a).normalize_or_zero()
        };
        normal(edge.triangles[0]).angle_between(normal(edge.triangles[1])).to_degrees()
    };
    let edges = Adjacency::new(&posed).edges;
    let level = edges.iter().filter(|e| e.triangles.len() == 2 && crease(&surface.mesh, e) < 45.0);
    (level.map(|edge| crease(&posed, edge)).fold(0.0, f32::max), posed.volume())
}

#[test]
fn smoothing_leaves_the_rest_pose_alone() {
    for name in ["cylinder", "hand?resolution=2000"] {
        let character = sample(name);
        let rest = Pose::rest(&character);
        for kind in [Kind::Simple, Kind::LengthWeighted] {
            for stack in [Stack::linear(), Stack::dual_quaternion(), Stack::implicit()] {
                let plain = deform(&character, stack.clone(), &rest);
                let smooth =
                    deform(&character, smoothed(stack, Settings { kind, ..Settings::default() }), &rest);
                assert!(farthest(&plain, &smooth) < 2e-6, "{name} {kind}: {}", farthest(&plain, &smooth));
            }
        }
    }
}

#[test]
fn a_rigid_motion_of_the_whole_body_is_followed() {
    let character = sample("cylinder");
    let mut pose = bent(&character);
    let settings = Settings { iterations: 20, ..Settings::default() };
    let body = Body::bind(character.clone(), smoothed(Stack::linear(), settings), None).unwrap();
    let there = body.deform(&pose, 0.0, &mut Scratchpad::default());
    let (turn, shift) = (Quat::from_euler(glam::EulerRot::XYZ, 0.4, -1.0, 2.0), Vec3::new(0.3, -0.2, 0.5));
    for (joint, local) in character.skeleton.joints.iter().zip(&mut pose.local) {
        if joint.parent.is_none() {
            local.translation = turn * local.translation + shift;
            local.rotation = turn * local.rotation;
        }
    }
    let moved = body.deform(&pose, 0.0, &mut Scratchpad::default());
    for (a, b) in there.meshes[0].positions.iter().zip(&moved.meshes[0].positions) {
        assert!((turn * *a + shift).distance(*b) < 1e-5);
    }
}

#[test]
fn a_bend_between_rigid_halves_gets_smooth_and_keeps_its_volume() {
    let character = sample("cylinder?ramp=0");
    let surface = Surface::new(&character).unwrap();
    let mut pose = Pose::rest(&character);
    character.clip("bend").unwrap().sample(1.0 / 3.0, &mut pose);
    let plain = deform(&character, Stack::linear(), &pose);
    let smooth = deform(&character, smoothed(Stack::linear(), Settings::default()), &pose);
    let (plain_crease, plain_volume) = crease_and_volume(&surface, &plain);
    let (smooth_crease, smooth_volume) = crease_and_volume(&surface, &smooth);
    assert!(smooth_crease < 0.25 * plain_crease, "crease {smooth_crease} degrees, {plain_crease} without");
    let lost = 1.0 - smooth_volume / surface.mesh.volume();
    assert!(lost.abs() < 1e-3, "volume {smooth_volume}, {plain_volume} without");
    let report = smooth.report.surface.unwrap();
    assert!(report.displaced > 0 && report.largest > 1e-3 && report.fell_back == 0, "{report:?}");
}

#[test]
fn the_same_bits_for_any_number_of_threads() {
    let character = sample("arm?resolution=4000");
    let pose = bent(&character);
    let frames = [1, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| deform(&character, smoothed(Stack::dual_quaternion(), Settings::default()), &pose))
    });
    assert_eq!(frames[0], frames[1]);
}

#[test]
fn skin_held_by_a_contact_stays() {
    let character = sample("cylinder");
    let pose = bent(&character);
    let plain = deform(&character, Stack::implicit(), &pose);
    let smooth = deform(&character, smoothed(Stack::implicit(), Settings::default()), &pose);
    let surface = Surface::new(&character).unwrap();
    let (plain_at, smooth_at) = (surface.positions(&plain), surface.positions(&smooth));
    let held: Vec<usize> = (0..plain_at.len()).filter(|&v| plain.found.reports[v].contact >= 1.0).collect();
    assert!(!held.is_empty());
    assert!(held.iter().all(|&v| plain_at[v] == smooth_at[v]));
    assert!(farthest(&plain, &smooth) > 1e-4, "free skin is smoothed");
}

#[test]
fn settings_out_of_range_are_refused() {
    let character = sample("cylinder?segments=12&rings=12");
    for settings in [
        Settings { factor: f32::NAN, ..Settings::default() },
        Settings { iterations: 5000, ..Settings::default() },
        Settings { scale: f32::INFINITY, ..Settings::default() },
    ] {
        let error = Body::bind(character.clone(), smoothed(Stack::linear(), settings), None).unwrap_err();
        assert!(error.to_string().contains("out of range; give"), "{error}");
    }
}
