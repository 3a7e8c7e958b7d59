use super::*;
use crate::anatomy::BindFrames;
use crate::character::{Character, Pose};
use crate::muscle::definition::{Attachment, BodyDef, Side};
use crate::samples;
use crate::skinning::Surface;
use glam::{Affine3A, Quat, Vec3};

/// Shapes that differ in everything: numbers in `[0, 1)` from a fixed sequence.
fn shapes() -> impl Iterator<Item = (Curve, f64)> {
    let mut seed = 12345u32;
    let mut next = move || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        f64::from(seed >> 8) / f64::from(1 << 24)
    };
    let shape = move |_| {
        let belly = 0.01 + 0.03 * next();
        let numbers =
            [0.3 * next(), 0.3 + 0.5 * next(), 0.8 + 0.4 * next(), 1.0, 0.3 + 0.5 * next(), 0.3 * next()];
        (Curve::new(0.25 + 0.5 * next(), numbers.map(|x| belly * x)), 0.4 + next())
    };
    (0..300).map(shape)
}

#[test]
fn the_exact_rule_keeps_the_volume_and_two_cones_do_not() {
    let mut worst = [0f64; 2];
    for (curve, flatness) in shapes() {
        let volume = curve.volume(0.2, flatness);
        let cones = curve.cone_volume(0.2, flatness);
        for length in [0.1, 0.15, 0.25, 0.3] {
            let drift = |target: f64, rule: Rule| {
                let solved = curve.with_volume(target, length, flatness, rule);
                assert!(!solved.clamped);
                (solved.curve.volume(length, flatness) / volume - 1.0).abs()
            };
            worst[0] = worst[0].max(drift(volume, Rule::Exact));
            worst[1] = worst[1].max(drift(cones, Rule::TwoCones));
        }
    }
    assert!(worst[0] < 1e-10, "exact drifts by {}", worst[0]);
    assert!(worst[1] > 0.01 && worst[1] < 0.2, "two cones drift by {}", worst[1]);
}

#[test]
fn a_curve_is_smooth_at_its_centre_also_when_its_belly_moves() {
    for (curve, flatness) in shapes() {
        let moved = curve.with_volume(curve.volume(0.2, flatness), 0.14, flatness, Rule::Exact).curve;
        for curve in [curve, moved] {
            let slope = |a: f64, b: f64| (curve.at(b) - curve.at(a)) / (b - a);
            let (c, h) = (curve.centre, 1e-6);
            let scale = curve.extremes()[1] / c.min(1.0 - c);
            assert!((slope(c - h, c) - slope(c, c + h)).abs() < 1e-3 * scale);
        }
    }
}

#[test]
fn a_belly_that_cannot_hold_its_volume_is_clamped() {
    let curve = Curve::new(0.5, [0.02, 0.02, 0.02, 0.02, 0.02, 0.02]);
    let solved = curve.with_volume(0.1 * curve.volume(0.1, 1.0), 0.1, 1.0, Rule::Exact);
    assert!(solved.clamped);
    assert!((solved.curve.origin[3] - 0.01).abs() < 1e-12, "half of the tendons");
}

fn arm() -> (Character, Surface, Vec<Affine3A>) {
    let arm = samples::build("arm?resolution=2000").unwrap();
    let surface = Surface::new(&arm).unwrap();
    let bind = BindFrames::of(&arm).bind_from_bone;
    (arm, surface, bind)
}

/// A muscle in front of the arm sample's bones.
fn biceps() -> ParametricDef {
    let at = |bone: &str, at: Vec3| Attachment { bone: bone.to_owned(), at };
    ParametricDef {
        name: "biceps".to_owned(),
        side: Side::Left,
        origin: at("leftUpperArm", Vec3::new(0.0, 0.02, 0.015)),
        insertion: at("leftLowerArm", Vec3::new(0.0, 0.04, 0.01)),
        bulge: Vec3::Z,
        thickness: [0.004, 0.012, 0.02, 0.02, 0.012, 0.004],
        ..ParametricDef::default()
    }
}

fn world(arm: &Character, degrees: f32) -> Vec<Affine3A> {
    let mut pose = Pose::rest(arm);
    let elbow = arm.skeleton.find("leftLowerArm").unwrap();
    pose.local[elbow].rotation *= Quat::from_rotation_x(degrees.to_radians());
    pose.world(&arm.skeleton)
}

#[test]
fn one_muscle_is_160_bytes_a_frame() {
    assert_eq!(size_of::<Posed>(), 160);
}

#[test]
fn the_surface_that_is_drawn_keeps_the_volume_at_every_length_and_tension() {
    let (arm, surface, bind) = arm();
    let muscles = Parametric::new(&[biceps()], &arm, &surface, &bind).unwrap();
    let mut workspace = Workspace::default();
    let mut ratios = Vec::new();
    for degrees in [-60.0, 0.0, 60.0, 110.0] {
        for tension in [0.0, 0.5, 1.0] {
            muscles.pose(&world(&arm, degrees), tension, &mut workspace);
            let volume = workspace.posed[0].surface(256, 64).volume();
            ratios.push(volume / muscles.volume(0));
        }
    }
    assert!(ratios.iter().all(|r| (r - 1.0).abs() < 0.005), "{ratios:?}");
}

#[test]
fn at_bind_nothing_moves_for_any_template_and_weights() {
    let (arm, surface, bind) = arm();
    let size = surface.mesh.size();
    for template in [Template::Radial, Template::HalfSpace, Template::Fitted] {
        for weights in [Weighting::Binary, Weighting::Spline] {
            let definition = ParametricDef { template, weights, radius: 0.08, ..biceps() };
            let muscles = Parametric::new(&[definition], &arm, &surface, &bind).unwrap();
            let mut workspace = Workspace::default();
            muscles.pose(&Pose::rest(&arm).world(&arm.skeleton), 0.0, &mut workspace);
            let mut positions = arm.meshes[0].positions.clone();
            let moved = muscles.displace(&workspace.posed, 0, &mut positions, false);
            assert!(muscles.influence(0).vertices() > 20, "{template:?}");
            assert!(moved.largest < 1e-6 * size, "{template:?} {weights:?}: {} m", moved.largest);
        }
    }
}

#[test]
fn templates_hold_less_and_less_skin() {
    let (arm, surface, bind) = arm();
    let vertices = |template: Template| {
        let definition = ParametricDef { template, radius: 0.2, ..biceps() };
        Parametric::new(&[definition], &arm, &surface, &bind).unwrap().influence(0).vertices()
    };
    assert!(vertices(Template::Radial) > vertices(Template::HalfSpace));
    assert!(vertices(Template::HalfSpace) > vertices(Template::Fitted));
}

#[test]
fn a_tense_muscle_lifts_the_skin_above_it_and_none_elsewhere() {
    let (arm, surface, bind) = arm();
    let muscles = Parametric::new(&[biceps()], &arm, &surface, &bind).unwrap();
    let mut workspace = Workspace::default();
    let rest = Pose::rest(&arm).world(&arm.skeleton);
    muscles.pose(&rest, 1.0, &mut workspace);
    let mut positions = arm.meshes[0].positions.clone();
    muscles.displace(&workspace.posed, 0, &mut positions, false);
    let upper = arm.skeleton.find("leftUpperArm").unwrap();
    let back = bind[upper].inverse();
    let (mut most, mut least) = (0f32, 0f32);
    for (after, before) in positions.iter().zip(&arm.meshes[0].positions) {
        let lifted = back.transform_vector3(*after - *before).z;
        if lifted > 1e-5 {
            assert!(back.transform_point3(*before).z > 0.0, "only the front moves");
        }
        (most, least) = (most.max(lifted), least.min(lifted));
    }
    assert!(least > -1e-6, "no skin sinks, at the sides neither: {least} m");
    // Thickness times tension, less what the weights take: 30 % of 20 mm.
    assert!(most > 0.003 && most < 0.0065, "{most} m");
}

#[test]
fn a_muscle_that_thins_leaves_skin_where_skinning_has_it() {
    let (arm, surface, bind) = arm();
    let muscles = Parametric::new(&[biceps()], &arm, &surface, &bind).unwrap();
    let mut workspace = Workspace::default();
    let rest = Pose::rest(&arm).world(&arm.skeleton);
    muscles.pose(&rest, 0.0, &mut workspace);
    let [origin, line] = [workspace.posed[0].origin, workspace.posed[0].line].map(|row| row.truncate());
    let over_belly = |point: Vec3| (0.3..0.7).contains(&((point - origin).dot(line) / line.length_squared()));
    let elbow = arm.skeleton.find("leftLowerArm").unwrap();
    for (share, rises) in [(0.7, true), (1.6, false)] {
        let mut pulled = rest.clone();
        pulled[elbow].translation += (share - 1.0) * glam::Vec3A::from(line);
        muscles.pose(&pulled, 0.0, &mut workspace);
        let posed = &workspace.posed[0];
        let belly = posed.thickness_at(posed.side.w);
        assert_eq!(belly > 0.02, rises, "{belly} m thick at {share} of its length");
        let mut positions = arm.meshes[0].positions.clone();
        muscles.displace(&workspace.posed, 0, &mut positions, false);
        let out = posed.bulge.truncate();
        let skin = positions.iter().zip(&arm.meshes[0].positions).filter(|(_, before)| over_belly(**before));
        let moved = skin.map(|(after, before)| (*after - *before).dot(out));
        let [least, most] = moved.fold([0f32; 2], |[least, most], x| [least.min(x), most.max(x)]);
        assert!(least > -1e-6, "at {share} of the length skin sinks by {least} m");
        assert_eq!(most > 1e-3, rises, "at {share} of the length skin rises by {most} m");
    }
}

#[test]
fn an_alone_thread_gives_the_same_bits() {
    let (arm, surface, bind) = arm();
    let muscles = Parametric::new(&[biceps()], &arm, &surface, &bind).unwrap();
    let mut workspace = Workspace::default();
    muscles.pose(&world(&arm, 80.0), 0.3, &mut workspace);
    let moved = [true, false].map(|alone| {
        let mut positions = arm.meshes[0].positions.clone();
        muscles.displace(&workspace.posed, 0, &mut positions, alone);
        positions
    });
    assert_eq!(moved[0], moved[1]);
}

#[test]
fn absurd_lengths_and_broken_poses_are_clamped_and_counted() {
    let (arm, surface, bind) = arm();
    let muscles = Parametric::new(&[biceps()], &arm, &surface, &bind).unwrap();
    let mut workspace = Workspace::default();
    let rest = Pose::rest(&arm).world(&arm.skeleton);
    assert_eq!(muscles.pose(&rest, 0.0, &mut workspace), 0);
    let elbow = arm.skeleton.find("leftLowerArm").unwrap();
    for place in [rest[elbow].translation * 50.0, workspace.posed[0].origin.truncate().into()] {
        let mut torn = rest.clone();
        torn[elbow].translation = place;
        assert_eq!(muscles.pose(&torn, 0.0, &mut workspace), 1, "{place}");
        let mut positions = arm.meshes[0].positions.clone();
        muscles.displace(&workspace.posed, 0, &mut positions, false);
        assert!(positions.iter().all(|p| p.is_finite()));
    }
    let mut broken = rest.clone();
    broken[elbow] = Affine3A::from_translation(Vec3::NAN);
    muscles.pose(&broken, 0.0, &mut workspace);
    let mut positions = arm.meshes[0].positions.clone();
    muscles.displace(&workspace.posed, 0, &mut positions, false);
    assert!(positions.iter().all(|p| p.is_finite()));
}

#[test]
fn the_volume_is_kept_from_30_to_300_percent_of_the_length_and_counted_beyond() {
    let (arm, surface, bind) = arm();
    let muscles = Parametric::new(&[biceps()], &arm, &surface, &bind).unwrap();
    let mut workspace = Workspace::default();
    let elbow = arm.skeleton.find("leftLowerArm").unwrap();
    let rest = Pose::rest(&arm).world(&arm.skeleton);
    muscles.pose(&rest, 0.0, &mut workspace);
    let line = workspace.posed[0].line.truncate();
    for (share, counted) in [(0.25, 1), (0.9, 0), (1.5, 0), (2.9, 0), (3.2, 1)] {
        let mut pulled = rest.clone();
        pulled[elbow].translation += (share - 1.0) * glam::Vec3A::from(line);
        assert_eq!(muscles.pose(&pulled, 0.0, &mut workspace), counted, "{share} of its length");
        let volume = workspace.posed[0].surface(256, 64).volume() / muscles.volume(0);
        assert!((volume - 1.0).abs() < 0.01, "{share} of its length: {volume} of its volume");
    }
}

#[test]
fn keys_replace_the_activation_of_the_pose() {
    use crate::muscle::definition::{KeysDef, Parameter};
    let (arm, surface, bind) = arm();
    let keyed = |muscle: &str| KeysDef {
        clip: "curl".to_owned(),
        muscle: muscle.to_owned(),
        side: Side::Left,
        parameter: Parameter::Activation,
        values: vec![[0.0, 0.0], [1.0, 1.0]],
    };
    let fibre = ParametricDef { name: "triceps 2".to_owned(), ..biceps() };
    let muscles = Parametric::new(&[biceps(), fibre], &arm, &surface, &bind).unwrap();
    let muscles = muscles.with_keys(&[keyed("biceps"), keyed("triceps")]);
    let mut workspace = Workspace::default();
    let rest = Pose::rest(&arm).world(&arm.skeleton);
    let mut tension = |clip: &str, time: f32| {
        muscles.pose_at(&rest, 0.0, Some((clip, time)), &mut workspace);
        [0, 1].map(|k| workspace.posed[k].origin.w)
    };
    let slack = tension("walk", 0.5);
    assert_eq!(tension("curl", 0.0), [1.0; 2]);
    assert_eq!(tension("curl", 0.5), [1.15; 2], "half of 30 percent, a fibre of a fan too");
    assert_eq!(tension("curl", 9.0), [1.3; 2]);
    assert_eq!(slack, [1.0; 2], "another clip is not keyed");
}

#[test]
fn wrong_muscles_are_refused_by_name_and_key() {
    let (arm, surface, bind) = arm();
    let line = {
        let mut workspace = Workspace::default();
        Parametric::new(&[biceps()], &arm, &surface, &bind).unwrap().pose(&bind, 0.0, &mut workspace);
        let upper = arm.skeleton.find("leftUpperArm").unwrap();
        bind[upper].inverse().transform_vector3(workspace.posed[0].line.truncate())
    };
    let cases = [
        (ParametricDef { bulge: line, ..biceps() }, "bulge", "5 degrees"),
        (ParametricDef { bulge: Vec3::ZERO, ..biceps() }, "bulge", "direction"),
        (ParametricDef { insertion: biceps().origin, ..biceps() }, "insertion", "same point"),
        (ParametricDef { centre: 0.01, ..biceps() }, "centre", "0.05"),
        (ParametricDef { centre: f32::NAN, ..biceps() }, "centre", "finite"),
        (ParametricDef { thickness: [0.0, 0.0, -0.01, 0.0, 0.0, 0.0], ..biceps() }, "thickness", "negative"),
        (ParametricDef { thickness: [0.0; 6], ..biceps() }, "thickness", "zero everywhere"),
        (
            ParametricDef { thickness: [0.0, 0.0, 0.09, 0.01, 0.0, 0.0], ..biceps() },
            "thickness",
            "below zero",
        ),
        (ParametricDef { template: Template::Radial, ..biceps() }, "radius", "needs a radius"),
        (ParametricDef { flatness: 0.0, ..biceps() }, "flatness", "0.05"),
        (ParametricDef { tension: 2.0, ..biceps() }, "tension", "from 0 to 1"),
        (ParametricDef { parts: vec!["tail".to_owned()], ..biceps() }, "parts", "no joint \"tail\""),
    ];
    for (definition, key, message) in cases {
        let error = Parametric::new(&[definition], &arm, &surface, &bind).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("biceps, left: ") && text.contains(message), "{text}");
        assert_eq!(error.key, key, "{text}");
    }
    let twice = Parametric::new(&[biceps(), biceps()], &arm, &surface, &bind).unwrap_err();
    assert!(twice.to_string().contains("defined twice"));
}

#[test]
fn a_muscle_that_touches_nothing_is_named() {
    let (arm, surface, bind) = arm();
    let far = Attachment { at: Vec3::new(0.0, 0.02, 9.0), ..biceps().origin };
    let end = Attachment { at: Vec3::new(0.0, 0.04, 9.0), ..biceps().insertion };
    let idle = ParametricDef { name: "cloud".to_owned(), origin: far, insertion: end, ..biceps() };
    let muscles = Parametric::new(&[biceps(), idle], &arm, &surface, &bind).unwrap();
    assert_eq!(muscles.idle(), [1]);
    assert_eq!(muscles.title(1), "cloud, left");
}

#[test]
fn spindles_become_parametric_muscles_of_about_their_volume() {
    let (arm, surface, bind) = arm();
    let body: BodyDef = samples::anatomy("arm", &arm).unwrap().in_full(&arm);
    let made = convert(&body, &arm, &surface, &bind).unwrap();
    assert!(made.len() >= body.muscle.len());
    let muscles = Parametric::new(&made, &arm, &surface, &bind).unwrap();
    let spindles =
        crate::muscle::Musculature::new(&body, &arm.skeleton, &bind, ".".as_ref(), Vec::new()).unwrap();
    let whole: f64 = spindles.at_bind().muscles.iter().map(|m| m.shape.volume()).sum();
    let ours: f64 = (0..muscles.len()).map(|k| muscles.volume(k)).sum();
    assert!(ours > 0.75 * whole && ours < 1.1 * whole, "{ours} of {whole}");
}
