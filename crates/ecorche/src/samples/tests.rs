use super::*;
use crate::character::Pose;
use crate::geom::{Adjacency, TriMesh};
use glam::{Quat, Vec3};
use std::collections::HashMap;
use std::sync::OnceLock;

/// Built once for all tests; coarse, to be quick.
fn athlete() -> &'static Character {
    static ATHLETE: OnceLock<Character> = OnceLock::new();
    ATHLETE.get_or_init(|| build("athlete?resolution=6000").unwrap())
}

fn hand() -> &'static Character {
    static HAND: OnceLock<Character> = OnceLock::new();
    HAND.get_or_init(|| build("hand").unwrap())
}

fn surface(character: &Character) -> TriMesh {
    character.meshes[0].surface()
}

fn lengths(mesh: &TriMesh) -> Vec<(f32, Vec3)> {
    let at = |v: u32| mesh.positions[v as usize];
    let edge = |e: &crate::geom::adjacency::Edge| {
        let [a, b] = e.vertices.map(at);
        (a.distance(b), (a + b) * 0.5)
    };
    Adjacency::new(mesh).edges.iter().map(edge).collect()
}

/// Standard deviation over mean.
fn variation(values: &[f32]) -> f32 {
    let mean = values.iter().sum::<f32>() / values.len() as f32;
    (values.iter().map(|v| (v - mean).powi(2)).sum::<f32>() / values.len() as f32).sqrt() / mean
}

fn assert_closed_ball(mesh: &TriMesh) {
    let adjacency = Adjacency::new(mesh);
    assert_eq!((adjacency.open_edges(), adjacency.non_manifold_edges()), (0, 0));
    assert_eq!(adjacency.components().1, 1);
    let euler = mesh.positions.len() as i64 - adjacency.edges.len() as i64 + mesh.triangles.len() as i64;
    assert_eq!(euler, 2, "genus 0 has Euler characteristic 2");
    assert!(mesh.volume() > 0.0, "triangles face outward");
}

fn assert_sound_weights(character: &Character) {
    let skin = character.meshes[0].skin().unwrap();
    assert_eq!(skin.influences.len(), character.meshes[0].positions.len());
    assert!(skin.influences.counts().0 <= weights::MOST_INFLUENCES);
    for v in 0..skin.influences.len() {
        let sum: f32 = skin.influences.of(v).map(|i| i.1).sum();
        assert!((sum - 1.0).abs() < 1e-5);
    }
    for j in 0..skin.joints.len() as u32 {
        let held = (0..skin.influences.len()).any(|v| skin.influences.of(v).any(|i| i.0 == j && i.1 > 0.5));
        assert!(held, "{} holds no vertex", character.skeleton.joints[skin.joints[j as usize]].name);
    }
}

fn pose_at(character: &Character, clip: &str, time: f32) -> Pose {
    let mut pose = Pose::rest(character);
    character.clip(clip).unwrap().sample(time, &mut pose);
    pose
}

#[test]
fn every_sample_is_closed_in_one_piece_without_handles() {
    for character in [athlete(), hand(), &build("arm").unwrap(), &build("cylinder").unwrap()] {
        assert_closed_ball(&surface(character));
        assert_sound_weights(character);
    }
}

#[test]
fn samples_have_the_promised_sizes() {
    assert_eq!(athlete().meshes[0].positions.len(), 6000);
    assert_eq!(athlete().meshes[0].skin().unwrap().joints.len(), 52);
    assert_eq!(hand().meshes[0].positions.len(), 7700);
    assert_eq!(hand().meshes[0].skin().unwrap().joints.len(), 21);
    let arm = build("arm").unwrap();
    assert_eq!(arm.meshes[0].positions.len(), 2172);
    assert_eq!(arm.meshes[0].skin().unwrap().joints.len(), 3);
    assert!((19_000..=20_000).contains(&athlete::DEFAULT_VERTICES));
}

#[test]
fn the_athlete_has_the_stature_and_volume_of_a_man() {
    let mesh = surface(athlete());
    let (low, high) = mesh.bounds();
    assert!((high.y - low.y - athlete::skeleton::STATURE).abs() < 0.01, "stature {}", high.y - low.y);
    assert!(low.y.abs() < 0.003);
    let litres = mesh.volume() * 1000.0;
    assert!((60.0..90.0).contains(&litres), "{litres} litres");
}

#[test]
fn the_athletes_girths_are_an_athletes() {
    let mesh = surface(athlete());
    // Length of the outline in the horizontal plane at `y`, within |x| <= `reach`, centimetres.
    let girth = |y: f32, reach: [f32; 2]| {
        let mut length = 0.0;
        for t in 0..mesh.triangles.len() {
            let c = mesh.corners(t);
            let cut: Vec<Vec3> = (0..3)
                .filter(|&k| (c[k].y < y) != (c[(k + 1) % 3].y < y))
                .map(|k| c[k].lerp(c[(k + 1) % 3], (y - c[k].y) / (c[(k + 1) % 3].y - c[k].y)))
                .collect();
            if let [a, b] = cut[..]
                && cut.iter().all(|p| (reach[0]..=reach[1]).contains(&p.x))
            {
                length += a.distance(b);
            }
        }
        length * 100.0
    };
    for (part, y, reach, wanted) in [
        ("chest", 1.34, [-0.185, 0.185], 102.0),
        ("waist", 1.10, [-0.3, 0.3], 82.0),
        ("hip", 0.93, [-0.3, 0.3], 98.0),
        ("thigh", 0.80, [0.0, 0.3], 58.0),
        ("calf", 0.36, [0.0, 0.3], 39.0),
        ("ankle", 0.115, [0.0, 0.3], 23.0),
    ] {
        let found = girth(y, reach);
        assert!((found / wanted - 1.0).abs() < 0.07, "{part}: {found} cm, wanted {wanted}");
    }
}

#[test]
fn edges_are_even_relative_to_the_wanted_fineness() {
    let relative: Vec<f32> =
        lengths(&surface(athlete())).iter().map(|&(l, middle)| l / athlete::fineness(middle)).collect();
    assert!(variation(&relative) < 0.16, "athlete {}", variation(&relative));
    let plain: Vec<f32> = lengths(&surface(hand())).iter().map(|e| e.0).collect();
    assert!(variation(&plain) < 0.16, "hand {}", variation(&plain));
}

#[test]
fn the_athlete_is_its_own_mirror_image_weights_included() {
    let character = athlete();
    let mesh = &character.meshes[0];
    let skin = mesh.skin().unwrap();
    let key = |p: Vec3| (p + 0.0).to_array().map(f32::to_bits);
    let vertex_at: HashMap<[u32; 3], usize> =
        mesh.positions.iter().enumerate().map(|(v, &p)| (key(p), v)).collect();
    let name = |j: u32| character.skeleton.joints[skin.joints[j as usize]].name.clone();
    let other = |name: String| match name.strip_prefix("left") {
        Some(rest) => format!("right{rest}"),
        None => name.strip_prefix("right").map_or(name.clone(), |rest| format!("left{rest}")),
    };
    for (v, &p) in mesh.positions.iter().enumerate() {
        let w = vertex_at[&key(p * rig::MIRROR)];
        let mut here: Vec<(String, u32)> =
            skin.influences.of(v).map(|(j, s)| (name(j), s.to_bits())).collect();
        let mut there: Vec<(String, u32)> =
            skin.influences.of(w).map(|(j, s)| (other(name(j)), s.to_bits())).collect();
        here.sort();
        there.sort();
        if p.x != 0.0 {
            assert_eq!(here, there);
        }
    }
}

#[test]
fn weights_stay_on_their_own_limb() {
    let character = athlete();
    let mesh = &character.meshes[0];
    let skin = mesh.skin().unwrap();
    for (v, p) in mesh.positions.iter().enumerate() {
        for (j, weight) in skin.influences.of(v) {
            let name = &character.skeleton.joints[skin.joints[j as usize]].name;
            let right = name.starts_with("right");
            let left = name.starts_with("left");
            assert!(weight < 0.02 || !(right && p.x > 0.06 || left && p.x < -0.06), "{name} {weight} at {p}");
            if name.contains("LowerLeg") {
                assert!(p.y < 0.65, "{name} {weight} at {p}");
            }
        }
    }
}

#[test]
fn clips_come_back_to_where_they_began() {
    for character in [athlete(), hand(), &build("arm").unwrap(), &build("cylinder").unwrap()] {
        for clip in &character.clips {
            let (first, last) =
                (pose_at(character, &clip.name, clip.start), pose_at(character, &clip.name, clip.end));
            for (a, b) in first.local.iter().zip(&last.local) {
                assert!(a.rotation.angle_between(b.rotation) < 2e-3, "{}", clip.name);
                assert!(a.translation.distance(b.translation) < 1e-4, "{}", clip.name);
            }
        }
    }
}

/// Angle of a joint about its X axis against rest, degrees, plus the flexion it has at rest.
fn flexion(character: &Character, pose: &Pose, name: &str, at_rest: f32) -> f32 {
    let joint = character.skeleton.find(name).unwrap();
    let turn: Quat = character.skeleton.joints[joint].rest.rotation.inverse() * pose.local[joint].rotation;
    let turn = if turn.w < 0.0 { -turn } else { turn };
    at_rest + (2.0 * turn.x.atan2(turn.w)).to_degrees()
}

#[test]
fn joints_stay_within_human_ranges() {
    let character = athlete();
    for clip in &character.clips {
        for frame in 0..clip.frame_count(30.0) {
            let pose = pose_at(character, &clip.name, clip.frame_time(frame, 30.0));
            for side in ["left", "right"] {
                let knee = flexion(character, &pose, &format!("{side}LowerLeg"), 6.0);
                assert!((-2.0..140.0).contains(&knee), "{} frame {frame}: knee {knee}", clip.name);
                let elbow = flexion(character, &pose, &format!("{side}LowerArm"), 13.0);
                assert!((0.0..150.0).contains(&elbow), "{} frame {frame}: elbow {elbow}", clip.name);
                let ankle = flexion(character, &pose, &format!("{side}Foot"), 0.0);
                assert!((-55.0..42.0).contains(&ankle), "{} frame {frame}: ankle {ankle}", clip.name);
            }
        }
    }
}

/// Direction of the bone from `joint` to `child` as seen from `trunk`, turned back to the rest pose's axes.
fn direction_from(character: &Character, pose: &Pose, trunk: &str, joint: &str, child: &str) -> Vec3 {
    let find = |name: &str| character.skeleton.find(name).unwrap();
    let world = pose.world(&character.skeleton);
    let rest = Pose::rest(character).world(&character.skeleton);
    let bone = world[find(child)].translation - world[find(joint)].translation;
    let trunk = find(trunk);
    let in_trunk = world[trunk].matrix3.inverse() * bone;
    Vec3::from(rest[trunk].matrix3 * in_trunk).normalize()
}

#[test]
fn hips_and_shoulders_stay_within_human_ranges() {
    let character = athlete();
    for clip in &character.clips {
        for frame in 0..clip.frame_count(30.0) {
            let pose = pose_at(character, &clip.name, clip.frame_time(frame, 30.0));
            for (side, outward) in [("left", 1.0), ("right", -1.0)] {
                let bone = |trunk, joint: &str, child: &str| {
                    direction_from(
                        character,
                        &pose,
                        trunk,
                        &format!("{side}{joint}"),
                        &format!("{side}{child}"),
                    )
                };
                let thigh = bone("hips", "UpperLeg", "LowerLeg");
                let flexion = thigh.z.atan2(-thigh.y).to_degrees();
                let abduction = (outward * thigh.x).asin().to_degrees();
                assert!((-30.0..125.0).contains(&flexion), "{} frame {frame}: hip {flexion}", clip.name);
                assert!((-25.0..45.0).contains(&abduction), "{} frame {frame}: hip {abduction}", clip.name);
                let arm = bone("upperChest", "UpperArm", "LowerArm");
                let backward = (-arm.z).asin().to_degrees();
                let across = (-outward * arm.x).asin().to_degrees();
                assert!(backward < 65.0, "{} frame {frame}: arm {backward} degrees behind", clip.name);
                assert!(across < 50.0, "{} frame {frame}: arm {across} degrees across", clip.name);
            }
        }
    }
}

#[test]
fn the_squat_is_deep_and_the_curl_is_full() {
    let character = athlete();
    let bottom = pose_at(character, "squat", 1.4);
    let knee = flexion(character, &bottom, "leftLowerLeg", 6.0);
    let ankle = flexion(character, &bottom, "leftFoot", 0.0);
    assert!((122.0..136.0).contains(&knee), "knee {knee}");
    assert!((22.0..38.0).contains(&ankle), "ankle {ankle}");
    let top = pose_at(character, "curl", 1.15);
    let elbow = flexion(character, &top, "leftLowerArm", 13.0);
    assert!((135.0..150.0).contains(&elbow), "elbow {elbow}");
}

#[test]
fn feet_stay_on_the_ground_except_in_flight() {
    let character = athlete();
    let rig = athlete::skeleton::rig();
    let puppet = clips::puppet::Puppet::new(&rig);
    for (clip, highest) in
        [("run", 0.09), ("squat", 0.002), ("curl", 0.002), ("wave", 0.002), ("twist", 0.002)]
    {
        let clip = character.clip(clip).unwrap();
        for frame in 0..clip.frame_count(30.0) {
            let pose = pose_at(character, &clip.name, clip.frame_time(frame, 30.0));
            let moment = clips::Moment {
                rotation: pose.local.iter().map(|l| l.rotation).collect(),
                translation: pose.local[1].translation,
            };
            let lowest = puppet.lowest_sole(&moment, "left").min(puppet.lowest_sole(&moment, "right"));
            assert!((-0.003..highest).contains(&lowest), "{} frame {frame}: sole at {lowest}", clip.name);
        }
    }
}

#[test]
fn a_fist_closes_by_the_angles_of_a_fist() {
    let character = hand();
    let closed = pose_at(character, "fist", 1.2);
    for (part, wanted, rest) in
        [("Proximal", 90.0, 10.0), ("Intermediate", 105.0, 16.0), ("Distal", 70.0, 9.0)]
    {
        let found = flexion(character, &closed, &format!("leftMiddle{part}"), rest);
        assert!((found - wanted).abs() < 2.0, "{part} {found}");
    }
}

#[test]
fn the_same_sample_has_the_same_bits() {
    let again = build("athlete?resolution=6000").unwrap();
    assert_eq!(athlete().meshes[0].positions, again.meshes[0].positions);
    assert_eq!(athlete().meshes[0].triangles, again.meshes[0].triangles);
    assert_eq!(athlete().meshes[0].binding, again.meshes[0].binding);
    let one_thread = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let arm = one_thread.install(|| build("arm").unwrap());
    assert_eq!(arm.meshes[0].positions, build("arm").unwrap().meshes[0].positions);
}

#[test]
fn wrong_specs_are_answered_with_what_there_is() {
    let message = |spec: &str| build(spec).unwrap_err().to_string();
    assert!(message("horse").contains("athlete, hand, arm, cylinder"));
    assert!(message("athlete?size=3").contains("resolution (a whole number from 5000 to 200000"));
    assert!(message("athlete?resolution=12").contains("from 5000 to 200000"));
    assert!(message("cylinder?segments=4.5").contains("whole number"));
    assert!(message("cylinder?length=nan").contains("a number from 0.01 to 100"));
    assert!(message("cylinder?length").contains("length="));
    assert!(list().iter().all(|s| !s.summary.is_empty()));
}

/// The dressed samples, coarse.
fn worn(name: &str) -> Character {
    build(&format!("{name}?resolution=5000")).unwrap()
}

fn mesh_called<'a>(character: &'a Character, name: &str) -> &'a crate::character::Mesh {
    character.meshes.iter().find(|m| m.name == name).unwrap_or_else(|| panic!("no mesh {name}"))
}

/// Connected pieces, and how many edges are open.
fn pieces(mesh: &crate::character::Mesh) -> (usize, usize) {
    let adjacency = Adjacency::new(&mesh.surface());
    assert_eq!(adjacency.non_manifold_edges(), 0, "{}", mesh.name);
    (adjacency.components().1, adjacency.open_edges())
}

/// Weights sum to one, every mesh has a colour, the clips are the athlete's, and plain skinning at rest changes nothing.
fn assert_sound_clothes(character: &Character) {
    use crate::deform::{Body, Stack, Workspace};
    for mesh in &character.meshes {
        let influences = &mesh.skin().unwrap().influences;
        assert_eq!(influences.len(), mesh.positions.len());
        for v in 0..influences.len() {
            let sum: f32 = influences.of(v).map(|i| i.1).sum();
            assert!((sum - 1.0).abs() < 1e-5, "{}", mesh.name);
        }
        assert!(character.colour(mesh).is_some(), "{} has no colour", mesh.name);
        assert!(mesh.positions.iter().all(|p| p.is_finite()));
    }
    let names = |c: &Character| c.clips.iter().map(|clip| clip.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(character), names(athlete()));
    let body = Body::bind(character.clone().into(), Stack::dual_quaternion(), None).unwrap();
    let mut workspace = Workspace::default();
    let area = |frame: &crate::frame::Frame, m: usize| {
        crate::geom::mesh::area(&frame.meshes[m].positions, &character.meshes[m].triangles)
    };
    let rest = body.rest(&mut workspace);
    for (m, mesh) in character.meshes.iter().enumerate() {
        let kept = area(&rest, m) / mesh.surface().area();
        assert!((kept - 1.0).abs() < 1e-4, "{} has {kept} of its area at rest", mesh.name);
    }
    for name in ["squat", "curl"] {
        let pose = pose_at(character, name, 0.8);
        let frame = body.deform(&pose, 0.8, &mut workspace);
        for m in 0..character.meshes.len() {
            assert!(frame.meshes[m].positions.iter().all(|p| p.is_finite()));
            assert!(area(&frame, m) > 0.5 * area(&rest, m), "{} in {name}", character.meshes[m].name);
        }
    }
}

#[test]
fn the_dressed_athlete_wears_open_and_closed_pieces() {
    let character = worn("dressed");
    assert_sound_clothes(&character);
    for (name, count, closed) in [
        ("skin", 1, true),
        ("shirt", 1, false),
        ("trousers", 1, false),
        ("belt", 1, true),
        ("buckle", 1, true),
        ("boots", 2, true),
        ("hair", 2, true),
    ] {
        let (found, open) = pieces(mesh_called(&character, name));
        assert_eq!((found, open == 0), (count, closed), "{name}: {open} open edges");
    }
}

#[test]
fn the_mannequin_is_made_of_closed_rigid_pieces() {
    let character = worn("mannequin");
    assert_sound_clothes(&character);
    // Head, neck, chest, belly, pelvis; per side two of arm and leg each, palm, foot, toes, and 15 of the fingers.
    assert_eq!(pieces(mesh_called(&character, "limbs")), (5 + 2 * (7 + 15), 0));
    assert_eq!(pieces(mesh_called(&character, "balls")), (3 + 2 * 6, 0));
    for mesh in &character.meshes {
        assert_eq!(mesh.skin().unwrap().influences.counts().0, 1, "one bone holds each vertex");
        assert!(mesh.surface().volume() > 0.0);
    }
}

#[test]
fn the_knights_plates_are_closed_rigid_and_overlap_at_rest() {
    let character = worn("knight");
    assert_sound_clothes(&character);
    for (name, count) in [
        ("helmet", 1),
        ("gorget", 1),
        ("breastplate", 2),
        ("faulds", 3),
        ("pauldrons", 6),
        ("rerebraces", 2),
        ("vambraces", 2),
        ("gauntlets", 2),
        ("cuisses", 2),
        ("greaves", 2),
        ("sabatons", 2),
        ("cups", 4),
    ] {
        let mesh = mesh_called(&character, name);
        assert_eq!(pieces(mesh), (count, 0), "{name}");
        assert_eq!(mesh.skin().unwrap().influences.counts().0, 1, "{name} is rigid");
        assert!(mesh.surface().volume() > 0.0, "{name} faces outward");
    }
    // Seen from the front, plates lie over each other in height.
    let range = |name: &str| {
        let (low, high) = mesh_called(&character, name).surface().bounds();
        [low.y, high.y]
    };
    let ([breast, _], [_, fauld]) = (range("breastplate"), range("faulds"));
    assert!(breast < fauld - 0.01, "breastplate from {breast}, faulds up to {fauld}");
}
