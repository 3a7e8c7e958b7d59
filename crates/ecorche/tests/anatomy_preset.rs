//! The preset in built-in bodies: complete, inside the skin, mirrored, where anatomists put it.

use ecorche::anatomy::preset::place;
use ecorche::anatomy::{Anatomy, AnatomyFile, BindFrames, SkinDef, init};
use ecorche::character::{Binding, Character};
use ecorche::muscle::Musculature;
use ecorche::muscle::definition::{Attachment, BodyDef, MuscleDef, Side};
use ecorche::samples;
use glam::{Affine3A, Quat, Vec3};
use rayon::prelude::*;
use std::sync::LazyLock;

fn athlete() -> &'static Character {
    static ATHLETE: LazyLock<Character> =
        LazyLock::new(|| samples::build("athlete?resolution=6000").unwrap());
    &ATHLETE
}

fn in_full(character: &Character) -> BodyDef {
    Anatomy { body: place(character).body, ..Anatomy::default() }.in_full(character)
}

fn point(character: &Character, frames: &BindFrames, spot: &Attachment) -> Vec3 {
    frames.to_bind(character.skeleton.find(&spot.bone).unwrap(), spot.at)
}

/// Solid angle of the surface seen from `p` over a full sphere: 1 inside, 0 outside.
fn winding(p: Vec3, mesh: &ecorche::geom::TriMesh) -> f32 {
    let mut sum = 0.0;
    for triangle in &mesh.triangles {
        let [a, b, c] = triangle.map(|v| (mesh.positions[v as usize] - p).as_dvec3());
        let (la, lb, lc) = (a.length(), b.length(), c.length());
        let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
        sum += a.dot(b.cross(c)).atan2(below);
    }
    (sum / std::f64::consts::TAU) as f32
}

#[test]
fn the_athlete_gets_all_muscles_on_both_sides_inside_the_skin() {
    let character = athlete();
    let preset = place(character);
    assert_eq!(preset.skipped, []);
    assert!(preset.body.muscle.iter().all(|m| m.mirror));
    let full = in_full(character);
    assert!(full.muscle.len() >= 50, "{}", full.muscle.len());
    assert!(full.fat.len() >= 5);
    let skin = ecorche::skinning::Surface::new(character).unwrap().mesh;
    let frames = BindFrames::of(character);
    let bind = &frames.bind_from_bone;
    let musculature = Musculature::new(&full, &character.skeleton, bind, ".".as_ref(), Vec::new()).unwrap();
    musculature.at_bind().muscles.par_iter().for_each(|posed| {
        let title = full.muscle[posed.muscle].title();
        for v in &skin.positions {
            let out = posed.shape.near(v.as_dvec3(), 0.2).is_none_or(|near| near.distance > 0.0);
            assert!(out, "{title}: reaches through the skin at {v}");
        }
        // Few points: a winding number visits the whole skin.
        for p in posed.shape.rings().map(|ring| ring.centre).step_by(3) {
            assert!(winding(p.as_vec3(), &skin) > 0.5, "{title}: its axis is outside at {p}");
        }
    });
    for fat in &full.fat {
        let joint = character.skeleton.find(&fat.bone).unwrap();
        assert!(winding(frames.to_bind(joint, fat.at), &skin) > 0.5, "{}", fat.title());
    }
}

#[test]
fn mirrored_pairs_mirror_each_other() {
    let character = athlete();
    let frames = BindFrames::of(character);
    let full = in_full(character);
    for pair in full.muscle.chunks(2) {
        let [left, right] = pair else { panic!("a muscle without its pair") };
        assert_eq!((left.side, right.side), (Side::Left, Side::Right));
        let points = |m: &MuscleDef| -> Vec<Vec3> {
            let spots = m.origin.0.iter().chain(&m.via).chain(&m.insertion.0);
            spots.map(|spot| point(character, &frames, spot)).collect()
        };
        for (l, r) in points(left).into_iter().zip(points(right)) {
            assert!((l * Vec3::new(-1.0, 1.0, 1.0)).distance(r) < 1e-5, "{}: {l} {r}", left.title());
        }
    }
}

#[test]
fn muscles_lie_where_anatomists_put_them() {
    let character = athlete();
    let frames = BindFrames::of(character);
    let full = in_full(character);
    // The athlete faces +Z; a joint and a muscle of its left side, and on which side of the joint's bone it is.
    let belly = |name: &str| {
        let muscle = full.muscle.iter().find(|m| m.name == name && m.side == Side::Left).unwrap();
        let spots = muscle
            .via
            .iter()
            .chain(muscle.origin.0.iter().chain(&muscle.insertion.0).filter(|_| muscle.via.is_empty()));
        let points: Vec<Vec3> = spots.map(|spot| point(character, &frames, spot)).collect();
        points.iter().sum::<Vec3>() / points.len() as f32
    };
    let bone = |from: &str, to: &str, p: Vec3| {
        let [a, b] = [from, to].map(|name| frames.joint(character.skeleton.find(name).unwrap()));
        let along = (b - a).normalize();
        (p - a).reject_from_normalized(along)
    };
    let arm = |name| bone("leftUpperArm", "leftLowerArm", belly(name));
    let thigh = |name| bone("leftUpperLeg", "leftLowerLeg", belly(name));
    let shank = |name| bone("leftLowerLeg", "leftFoot", belly(name));
    let spine = |name| bone("spine", "upperChest", belly(name));
    for (name, place, ahead) in [
        ("biceps brachii caput longum", arm("biceps brachii caput longum"), true),
        ("brachialis", arm("brachialis"), true),
        ("triceps brachii caput laterale", arm("triceps brachii caput laterale"), false),
        ("rectus femoris", thigh("rectus femoris"), true),
        ("biceps femoris", thigh("biceps femoris"), false),
        ("gastrocnemius caput mediale", shank("gastrocnemius caput mediale"), false),
        ("tibialis anterior", shank("tibialis anterior"), true),
        ("pectoralis major pars sternocostalis", spine("pectoralis major pars sternocostalis"), true),
        ("rectus abdominis", spine("rectus abdominis"), true),
        ("erector spinae", spine("erector spinae"), false),
        ("trapezius pars ascendens", spine("trapezius pars ascendens"), false),
    ] {
        assert_eq!(place.z > 0.0, ahead, "{name}: {place}");
    }
    assert!(thigh("vastus lateralis").x > 0.0 && thigh("vastus medialis").x < 0.0);
    assert!(thigh("gracilis").x < 0.0);
}

#[test]
fn the_world_s_axes_do_not_matter() {
    let straight = athlete();
    let mut turned = straight.clone();
    let turn = Affine3A::from_rotation_translation(
        Quat::from_euler(glam::EulerRot::YXZ, 1.1, 0.4, -0.3),
        Vec3::new(1.0, 2.0, -3.0),
    );
    for joint in turned.skeleton.joints.iter_mut().filter(|j| j.parent.is_none()) {
        joint.rest = ecorche::math::Transform::from_affine(turn * joint.rest.to_affine()).0;
    }
    for mesh in &mut turned.meshes {
        mesh.positions.iter_mut().for_each(|p| *p = turn.transform_point3(*p));
        if let Binding::Skin(skin) = &mut mesh.binding {
            skin.joint_from_bind.iter_mut().for_each(|map| *map *= turn.inverse());
        }
    }
    let [a, b] = [place(straight), place(&turned)];
    assert_eq!(a.body.muscle.len(), b.body.muscle.len());
    for (a, b) in a.body.muscle.iter().zip(&b.body.muscle) {
        for (p, q) in a.origin.0.iter().zip(&b.origin.0) {
            assert!(p.at.distance(q.at) < 0.005, "{}: {} {}", a.title(), p.at, q.at);
        }
    }
}

#[test]
fn an_arm_alone_gets_its_muscles_and_is_told_what_is_missing() {
    let character = samples::build("arm").unwrap();
    let preset = place(&character);
    let names: Vec<&str> = preset.body.muscle.iter().map(|m| m.name.as_str()).collect();
    for name in
        ["biceps brachii caput longum", "brachialis", "triceps brachii caput laterale", "brachioradialis"]
    {
        assert!(names.contains(&name), "{names:?}");
    }
    assert!(preset.body.muscle.iter().all(|m| !m.mirror));
    assert!(preset.skipped.iter().any(|s| s.name.contains("leg")), "{:?}", preset.skipped);
}

#[test]
fn what_init_writes_is_read_and_fits() {
    let [arm, cylinder] = ["arm", "cylinder"].map(|name| samples::build(name).unwrap());
    for (character, muscles) in [(athlete(), 50), (&arm, 10), (&cylinder, 0)] {
        let preset = place(character);
        let file = AnatomyFile::parse("a.toml", init::write(character, &preset)).unwrap();
        assert_eq!(file.check(&character.skeleton), Ok(()));
        assert_eq!(file.anatomy().skin, SkinDef::default());
        assert_eq!(file.anatomy().body, preset.body);
        assert!(file.anatomy().in_full(character).muscle.len() >= muscles);
        // The example of a file without muscles is one when its # are taken away.
        if preset.body.muscle.is_empty() {
            let example = file.text().replace("# [[muscle]]\n# ", "[[muscle]]\n");
            assert_ne!(example, file.text());
        }
    }
}
