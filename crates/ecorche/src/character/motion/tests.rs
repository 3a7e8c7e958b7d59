use super::*;
use crate::character::humanoid::{HumanoidBone, Part, Side, joint_of, recognise};
use crate::character::{Faces, Interpolation, Joint, JointTrack, Mesh, Pose, Skeleton, Track};
use crate::geom::{Shading, Weld};
use crate::math::Transform;
use glam::{Quat, Vec3};

/// Name, parent, position in the world.
type Spot = (&'static str, &'static str, [f32; 3]);

const FIGURE: [Spot; 10] = [
    ("Hips", "", [0.0, 1.0, 0.0]),
    ("Spine", "Hips", [0.0, 1.3, 0.0]),
    ("LeftArm", "Spine", [0.2, 1.4, 0.0]),
    ("LeftForeArm", "LeftArm", [0.5, 1.4, 0.0]),
    ("LeftHand", "LeftForeArm", [0.8, 1.4, 0.0]),
    ("LeftUpLeg", "Hips", [0.1, 1.0, 0.0]),
    ("LeftLeg", "LeftUpLeg", [0.1, 0.5, 0.0]),
    ("LeftFoot", "LeftLeg", [0.1, 0.1, 0.0]),
    ("RightUpLeg", "Hips", [-0.1, 1.0, 0.0]),
    ("RightLeg", "RightUpLeg", [-0.1, 0.5, 0.0]),
];

/// A character whose joint `i` rests with world orientation `frame(i)`.
fn character(name: &str, spots: &[Spot], frame: impl Fn(usize) -> Quat) -> Character {
    let index = |name: &str| spots.iter().position(|s| s.0 == name);
    let joints = spots.iter().enumerate().map(|(i, &(name, parent, at))| {
        let parent = index(parent);
        let (origin, turned) =
            parent.map_or((Vec3::ZERO, Quat::IDENTITY), |p| (Vec3::from(spots[p].2), frame(p)));
        let rest = Transform {
            translation: turned.inverse() * (Vec3::from(at) - origin),
            rotation: turned.inverse() * frame(i),
            scale: Vec3::ONE,
        };
        Joint { name: name.to_owned(), parent, rest, in_skin: true }
    });
    Character {
        name: name.to_owned(),
        skeleton: Skeleton { joints: joints.collect() },
        ..Character::default()
    }
}

fn upright(_: usize) -> Quat {
    Quat::IDENTITY
}

/// Frames that no two joints share.
fn rolled(i: usize) -> Quat {
    Quat::from_euler(glam::EulerRot::XYZ, 0.5 * i as f32, 1.0 - i as f32, 0.3 * i as f32)
}

/// One second in which the left arm swings to the front, the forearm up, the hips walk 2 m.
fn with_clip(mut motion: Character) -> Character {
    let turn = |motion: &Character, name: &str, axis: Vec3| {
        let joint = motion.skeleton.find(name).unwrap();
        let rest = motion.skeleton.joints[joint].rest.rotation;
        let world = Pose::rest(motion).world(&motion.skeleton);
        let parent = motion.skeleton.joints[joint]
            .parent
            .map_or(Quat::IDENTITY, |p| Quat::from_mat3a(&world[p].matrix3));
        let turned = parent.inverse() * Quat::from_axis_angle(axis, 1.2) * parent * rest;
        let rotation = Some(Track {
            times: vec![0.0, 1.0],
            values: vec![rest, turned],
            interpolation: Interpolation::Linear,
        });
        JointTrack { joint, rotation, ..JointTrack::default() }
    };
    let mut joint_tracks: Vec<JointTrack> = FIGURE.map(|s| turn(&motion, s.0, Vec3::Y * 1e-3)).to_vec();
    joint_tracks = joint_tracks
        .into_iter()
        .map(|track| match motion.skeleton.joints[track.joint].name.as_str() {
            "LeftArm" => turn(&motion, "LeftArm", Vec3::NEG_Y),
            "LeftForeArm" => turn(&motion, "LeftForeArm", Vec3::Z),
            "LeftUpLeg" => turn(&motion, "LeftUpLeg", Vec3::NEG_X),
            _ => JointTrack { rotation: None, ..track },
        })
        .collect();
    let hips = motion.skeleton.joints[0].rest.translation;
    joint_tracks[0].translation = Some(Track {
        times: vec![0.0, 1.0],
        values: vec![hips, hips + Vec3::Z * 2.0],
        interpolation: Interpolation::Linear,
    });
    motion.clips = vec![Clip {
        name: "walk".into(),
        start: 0.0,
        end: 1.0,
        fps: Some(10.0),
        joint_tracks,
        morph_tracks: Vec::new(),
    }];
    motion
}

fn world_at(character: &Character, clip: &str, time: f32) -> Vec<glam::Affine3A> {
    let mut pose = Pose::rest(character);
    character.clip(clip).unwrap().sample(time, &mut pose);
    pose.world(&character.skeleton)
}

/// Direction of the bone from `part` to `next` on the left.
fn direction(character: &Character, time: f32, part: Part, next: Part) -> Vec3 {
    let bones = recognise(&character.skeleton);
    let world = world_at(character, "walk", time);
    let point = |part| {
        Vec3::from(world[joint_of(&bones, HumanoidBone { part, side: Side::Left }).unwrap()].translation)
    };
    (point(next) - point(part)).normalize()
}

fn assert_limbs_agree(character: &Character, motion: &Character) {
    for time in [0.0, 0.5, 1.0] {
        for (part, next) in [
            (Part::UpperArm, Part::LowerArm),
            (Part::LowerArm, Part::Hand),
            (Part::UpperLeg, Part::LowerLeg),
            (Part::LowerLeg, Part::Foot),
        ] {
            let (ours, theirs) =
                (direction(character, time, part, next), direction(motion, time, part, next));
            assert!(ours.angle_between(theirs) < 1e-3, "{part:?} at {time}: {ours} {theirs}");
        }
    }
}

#[test]
fn the_same_skeleton_gets_the_same_channels() {
    let motion = with_clip(character("motion", &FIGURE, upright));
    let mut target = character("target", &FIGURE, upright);
    let report = join(&mut target, &motion).unwrap();
    assert_eq!(report.transfer, Transfer::SameSkeleton);
    assert_eq!(target.clips[0].joint_tracks.len(), 4);
    let (ours, theirs) = (world_at(&target, "walk", 0.7), world_at(&motion, "walk", 0.7));
    assert!(ours.iter().zip(&theirs).all(|(a, b)| a.abs_diff_eq(*b, 1e-6)));
}

#[test]
fn joints_with_other_frames_turn_alike_in_the_world() {
    let motion = with_clip(character("motion", &FIGURE, upright));
    let mut target = character("target", &FIGURE, rolled);
    let report = join(&mut target, &motion).unwrap();
    assert_eq!(report.transfer, Transfer::RestDifferences);
    assert_limbs_agree(&target, &motion);
}

#[test]
fn another_rest_pose_of_the_same_frames_copies_orientations() {
    let mut motion = character("motion", &FIGURE, upright);
    // The motion rests with a bent arm; the frames along the bones are the same. Longer hips make it another rig.
    motion.skeleton.joints[2].rest.rotation = Quat::from_rotation_z(-1.0);
    motion.skeleton.joints[5].rest.translation *= 1.5;
    let motion = with_clip(motion);
    let mut target = character("target", &FIGURE, upright);
    let report = join(&mut target, &motion).unwrap();
    assert_eq!(report.transfer, Transfer::SameFrames);
    assert_limbs_agree(&target, &motion);
}

#[test]
fn an_a_pose_follows_a_t_pose() {
    let mut spots = FIGURE;
    spots[3].2 = [0.4, 1.2, 0.0];
    spots[4].2 = [0.6, 1.0, 0.0];
    let motion = with_clip(character("motion", &FIGURE, upright));
    for frame in [upright as fn(usize) -> Quat, rolled] {
        let mut target = character("target", &spots, frame);
        assert_eq!(join(&mut target, &motion).unwrap().transfer, Transfer::RestDifferences);
        assert_limbs_agree(&target, &motion);
    }
}

#[test]
fn the_hips_of_a_giant_go_farther() {
    let mut spots = FIGURE;
    for spot in &mut spots {
        spot.2 = spot.2.map(|x| 2.0 * x);
    }
    let motion = with_clip(character("motion", &FIGURE, upright));
    let mut target = character("target", &spots, rolled);
    let report = join(&mut target, &motion).unwrap();
    assert!((report.scale - 2.0).abs() < 1e-4);
    let hips = Vec3::from(world_at(&target, "walk", 1.0)[0].translation);
    assert!(hips.distance(Vec3::new(0.0, 2.0, 4.0)) < 1e-3, "{hips}");
}

#[test]
fn a_motion_with_its_hips_in_the_origin_stands_on_the_floor() {
    let mut lowered = FIGURE;
    for spot in &mut lowered {
        spot.2[1] -= 1.0;
    }
    let motion = with_clip(character("motion", &lowered, upright));
    let mut target = character("target", &FIGURE, rolled);
    join(&mut target, &motion).unwrap();
    let hips = world_at(&target, "walk", 0.0)[0].translation.y;
    assert!((hips - 0.9).abs() < 0.11, "{hips}");
}

#[test]
fn a_motion_that_faces_elsewhere_is_turned() {
    let mut sideways = FIGURE;
    for spot in &mut sideways {
        let [x, y, z] = spot.2;
        spot.2 = [z, y, -x];
    }
    // Facing +X now: the walk along +Z of the clip is to its right.
    let motion = with_clip(character("motion", &sideways, upright));
    let mut target = character("target", &FIGURE, rolled);
    join(&mut target, &motion).unwrap();
    let hips = Vec3::from(world_at(&target, "walk", 1.0)[0].translation);
    assert!(hips.distance(Vec3::new(-2.0, 1.0, 0.0)) < 1e-3, "{hips}");
}

#[test]
fn names_match_through_prefixes_and_as_bones() {
    let motion = with_clip(character("motion", &FIGURE, upright));
    let mut target = character("target", &FIGURE, upright);
    let renamed = ["mixamorig:Hips", "spine", "upperarm_l", "lowerarm_l", "hand_l"];
    for (joint, name) in target.skeleton.joints.iter_mut().zip(renamed) {
        joint.name = name.into();
    }
    target.skeleton.joints.push(Joint {
        name: "Tail".into(),
        parent: Some(0),
        rest: Transform::IDENTITY,
        in_skin: true,
    });
    let report = join(&mut target, &motion).unwrap();
    let by: Vec<MatchedBy> = report.matches.iter().map(|m| m.by).collect();
    assert_eq!(by[..4], [MatchedBy::BareName, MatchedBy::NameIgnoringCase, MatchedBy::Bone, MatchedBy::Bone]);
    assert_eq!(report.unmatched_joints, ["Tail"]);
    assert_limbs_agree(&target, &motion);
}

#[test]
fn strangers_are_refused_with_both_names() {
    let motion = with_clip(character("run.bvh", &FIGURE, upright));
    let spots: [Spot; 2] = [("bottom", "", [0.0; 3]), ("top", "bottom", [0.0, 1.0, 0.0])];
    let mut slime = character("slime.glb", &spots, upright);
    let error = join(&mut slime, &motion).unwrap_err().to_string();
    assert!(
        error.contains("run.bvh") && error.contains("slime.glb") && error.contains("\"bottom\""),
        "{error}"
    );
    let mut still = character("still", &FIGURE, upright);
    assert!(matches!(join(&mut still, &slime), Err(JoinError::NoClip { .. })));
}

#[test]
fn a_bare_mesh_adopts_the_skeleton_at_its_size() {
    let positions = vec![Vec3::ZERO, Vec3::new(1.0, 2.6, 0.0), Vec3::new(-1.0, 0.0, 0.0)];
    let triangles = vec![[0, 1, 2]];
    let mesh = Mesh {
        name: "statue".into(),
        joint: 0,
        faces: Faces::triangles(&triangles),
        triangles,
        shading: Shading::default(),
        corner_uvs: Vec::new(),
        materials: Vec::new(),
        material_of_face: Vec::new(),
        binding: crate::character::Binding::Node,
        morphs: Vec::new(),
        weld: Weld::default(),
        positions,
    };
    let spots: [Spot; 1] = [("statue", "", [0.0; 3])];
    let mut statue = Character { meshes: vec![mesh], ..character("statue", &spots, upright) };
    let motion = with_clip(character("motion", &FIGURE, upright));
    let report = join(&mut statue, &motion).unwrap();
    assert_eq!(report.transfer, Transfer::AdoptedSkeleton);
    assert_eq!(statue.skeleton.len(), 11);
    assert!((report.scale - 2.0).abs() < 1e-5);
    let points: Vec<f32> =
        Pose::rest(&statue).world(&statue.skeleton)[1..].iter().map(|w| w.translation.y).collect();
    assert!(points.iter().all(|&y| (-1e-4..2.61).contains(&y)), "{points:?}");
    assert_eq!(statue.clips[0].joint_tracks[0].joint, 1);
}

#[test]
fn clips_of_the_same_name_are_kept_apart() {
    let motion = with_clip(character("motion", &FIGURE, upright));
    let mut target = character("target", &FIGURE, upright);
    join(&mut target, &motion).unwrap();
    assert_eq!(join(&mut target, &motion).unwrap().clips, ["walk 2"]);
}

#[test]
fn channels_of_a_file_that_places_no_joint_are_copied_as_they_are() {
    let whole = with_clip(character("whole", &FIGURE, rolled));
    let mut channels = whole.clone();
    for joint in &mut channels.skeleton.joints {
        joint.rest = Transform::IDENTITY;
    }
    let mut still = whole.clone();
    still.clips.clear();
    let report = join(&mut still, &channels).unwrap();
    assert_eq!(report.transfer, Transfer::SameSkeleton);
    let (mut expected, mut found) = (Pose::rest(&whole), Pose::rest(&still));
    for time in [0.0, 0.4, 1.0] {
        whole.clips[0].sample(time, &mut expected);
        still.clips[0].sample(time, &mut found);
        for (a, b) in expected.world(&whole.skeleton).iter().zip(found.world(&still.skeleton)) {
            assert!(a.abs_diff_eq(b, 1e-5), "{time}");
        }
    }
}
