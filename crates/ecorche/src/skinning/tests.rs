use super::fixture::{bind, limb, mesh, tube};
use super::*;
use crate::geom::mesh::volume;
use glam::{DAffine3, DVec3, Mat3, Quat};
use proptest::prelude::*;

fn skin(mesh: &Mesh, method: Skinning, world_from_joint: &[Affine3A]) -> Vec<Vec3> {
    let mut out = vec![Vec3::ZERO; mesh.positions.len()];
    let skinner = Skinner::new(mesh, method);
    let report = skinner.skin(world_from_joint, &mesh.positions, &mut out, &mut Workspace::default());
    assert_eq!(report, SkinReport::default());
    out
}

/// The limb's upper joint, at the origin, turned by `rotation`.
fn posed(mesh: &Mesh, rotation: Quat) -> [Affine3A; 2] {
    let bottom = mesh.positions.iter().map(|p| p.y).fold(0.0, f32::min);
    [Affine3A::from_translation(Vec3::Y * bottom), Affine3A::from_quat(rotation)]
}

fn radius(p: &Vec3) -> f32 {
    p.x.hypot(p.z)
}

#[test]
fn a_twisted_cylinder_thins_under_linear_blending_as_the_formula_says() {
    let limb = limb(1.0, 1.0, 100, 60);
    for degrees in [30f32, 90.0, 150.0, 180.0] {
        let t = degrees.to_radians();
        let twisted = skin(&limb, Skinning::Linear, &posed(&limb, Quat::from_rotation_y(t)));
        let wall = &twisted[..twisted.len() - 2];
        let least = wall.iter().map(radius).fold(f32::MAX, f32::min);
        assert!((least - (t / 2.0).cos()).abs() < 1e-5, "{degrees}: {least}");
        let kept = volume(&twisted, &limb.triangles) / volume(&limb.positions, &limb.triangles);
        let expected = 1.0 - (1.0 - f64::from(t).cos()) / 3.0;
        assert!((kept - expected).abs() < 2e-3, "{degrees}: {kept} {expected}");
    }
}

#[test]
fn dual_quaternions_and_centres_keep_the_radius_of_a_twist() {
    let limb = limb(1.0, 1.0, 40, 24);
    for method in [Skinning::DualQuaternion, Skinning::CentreOfRotation] {
        for degrees in [30f32, 90.0, 170.0] {
            let twisted = skin(&limb, method, &posed(&limb, Quat::from_rotation_y(degrees.to_radians())));
            for (p, rest) in twisted.iter().zip(&limb.positions) {
                assert!((radius(p) - radius(rest)).abs() < 1e-4, "{method} {degrees} {rest}");
                assert!((p.y - rest.y).abs() < 1e-5);
            }
        }
    }
}

#[test]
fn dual_quaternions_bulge_in_a_bend_where_linear_blending_collapses() {
    // Half way between the bones both turn a vertex about the joint: dual quaternions keep its
    // distance, linear blending multiplies it by cos(t/2). At the ramp's end the kept distance
    // sqrt(1 + ramp^2) is the bulge.
    let limb = limb(2.0, 0.5, 64, 32);
    let t = 100f32.to_radians();
    let pose = posed(&limb, Quat::from_rotation_z(t));
    let (linear, dual) = (skin(&limb, Skinning::Linear, &pose), skin(&limb, Skinning::DualQuaternion, &pose));
    for (v, rest) in limb.positions.iter().enumerate() {
        if rest.y.abs() <= 0.5 {
            assert!((dual[v].length() - rest.length()).abs() < 1e-5);
        }
        if rest.y == 0.0 && rest.z.abs() < 1e-6 {
            assert!((linear[v].length() - (t / 2.0).cos()).abs() < 1e-5);
        }
    }
}

#[test]
fn centres_keep_more_volume_in_a_bend_than_linear_blending() {
    let limb = limb(3.0, 1.0, 96, 32);
    let rest = volume(&limb.positions, &limb.triangles);
    for degrees in [45f32, 90.0, 120.0] {
        let pose = posed(&limb, Quat::from_rotation_z(degrees.to_radians()));
        let change = |method| (volume(&skin(&limb, method, &pose), &limb.triangles) / rest - 1.0).abs();
        let (linear, centres) = (change(Skinning::Linear), change(Skinning::CentreOfRotation));
        assert!(centres < 0.5 * linear, "{degrees}: centres {centres}, linear {linear}");
    }
}

#[test]
fn centres_lie_on_the_axis_of_a_limb() {
    let limb = limb(2.0, 1.0, 64, 32);
    let centres = CentresOfRotation::compute(&limb);
    for (centre, p) in centres.as_slice().iter().zip(&limb.positions) {
        if p.y.abs() < 0.95 {
            assert!(radius(centre) < 1e-3, "{p}: {centre}");
        }
    }
    // Half way the weights are alike on both sides.
    let half_way = limb.positions.iter().position(|p| p.y == 0.0).expect("a ring at height 0");
    assert!(centres.as_slice()[half_way].y.abs() < 1e-3);
}

/// Pairs of joints grow with the square of their number: a thousand triangles of 125,000 pairs each would fill 10 GB.
#[test]
fn centres_of_skin_held_by_500_joints_need_little_memory() {
    let mut limb = limb(1.0, 1.0, 24, 24);
    let (low, high) = crate::geom::mesh::bounds(&limb.positions);
    let held = |p: &Vec3| {
        let height = (p.y - low.y) / (high.y - low.y);
        (0..500).map(|j| (j, 1.0 + (j as f32 * 0.1 + height).sin())).collect::<Vec<(u32, f32)>>()
    };
    let Binding::Skin(skin) = &mut limb.binding else { panic!("the limb has a skin") };
    skin.influences = Influences::new(limb.positions.iter().map(held).collect::<Vec<_>>());
    let centres = CentresOfRotation::compute(&limb);
    for (centre, p) in centres.as_slice().iter().zip(&limb.positions) {
        assert!(centre.cmpge(low).all() && centre.cmple(high).all(), "{p}: {centre}");
        assert!(radius(centre) < 0.1, "{p}: {centre}");
    }
}

#[test]
fn cached_centres_give_the_same_result_and_foreign_ones_are_remade() {
    let limb = limb(2.0, 1.0, 16, 12);
    let fresh = Skinner::new(&limb, Skinning::CentreOfRotation);
    let cached = CentresOfRotation::from_parts(fresh.centres().as_slice().to_vec());
    assert_eq!(Skinner::with_centres(&limb, cached).centres(), fresh.centres());
    let foreign = CentresOfRotation::from_parts(vec![Vec3::ZERO; 3]);
    assert_eq!(Skinner::with_centres(&limb, foreign).centres(), fresh.centres());
}

#[test]
fn a_turn_by_359_degrees_equals_one_by_minus_1() {
    let limb = limb(2.0, 1.0, 32, 16);
    for method in Skinning::ALL {
        let by =
            |degrees: f32| skin(&limb, method, &posed(&limb, Quat::from_rotation_x(degrees.to_radians())));
        for (a, b) in by(359.0).iter().zip(by(-1.0)) {
            assert!(a.distance(b) < 1e-5, "{method}");
        }
    }
}

#[test]
fn one_joint_moves_rigidly_and_scaled_ones_as_under_linear_blending() {
    let (positions, triangles) = tube(0.0, 1.0, 4, 8);
    let mut mesh = mesh(positions, triangles);
    bind(&mut mesh, &[Vec3::ZERO, Vec3::Y], |p| vec![((p.y > 0.5).into(), 1.0)]);
    let sheared = Affine3A::from_mat3(Mat3::from_cols_array(&[1.0, 0.5, 0.0, 0.0, -2.0, 0.1, 0.0, 0.0, 0.7]));
    let pose = [Affine3A::from_rotation_translation(Quat::from_rotation_x(2.0), Vec3::X), sheared];
    let linear = skin(&mesh, Skinning::Linear, &pose);
    for method in [Skinning::DualQuaternion, Skinning::CentreOfRotation] {
        assert_eq!(skin(&mesh, method, &pose), linear);
    }
    for (p, rest) in linear.iter().zip(&mesh.positions).filter(|(_, rest)| rest.y <= 0.5) {
        assert!(p.distance(pose[0].transform_point3(*rest)) < 1e-6);
    }
}

#[test]
fn a_character_scaled_as_a_whole_deforms_like_the_unscaled_one() {
    let limb = limb(2.0, 1.0, 32, 16);
    let plain = posed(&limb, Quat::from_euler(glam::EulerRot::YXZ, 0.5, 0.8, -0.3));
    for scale in [0.01f32, 3.0] {
        let scaled = plain.map(|m| Affine3A::from_scale(Vec3::splat(scale)) * m);
        for method in Skinning::ALL {
            for (a, b) in skin(&limb, method, &scaled).iter().zip(skin(&limb, method, &plain)) {
                assert!(a.distance(b * scale) < 1e-5 * scale.max(1.0), "{method} {scale}");
            }
        }
    }
}

#[test]
fn a_mirrored_and_a_flattened_joint_stay_finite_and_meet_linear_blending_at_their_ends() {
    let limb = limb(2.0, 1.0, 32, 16);
    for scale in [Vec3::new(-1.0, 1.0, 1.0), Vec3::new(1.0, 0.0, 1.0), Vec3::ZERO] {
        let mut pose = posed(&limb, Quat::IDENTITY);
        pose[1] = Affine3A::from_scale(scale);
        let linear = skin(&limb, Skinning::Linear, &pose);
        for method in [Skinning::DualQuaternion, Skinning::CentreOfRotation] {
            let blended = skin(&limb, method, &pose);
            for (v, rest) in limb.positions.iter().enumerate() {
                assert!(blended[v].is_finite());
                assert!(rest.y.abs() < 1.0 || blended[v].distance(linear[v]) < 1e-5);
            }
        }
    }
}

#[test]
fn scaled_sheared_and_mirrored_joints_blend_as_in_openusd() {
    // Computed once with the Python package usd-core 26: skinning method dualQuaternion, the three
    // joints' skinning transforms below (as rows), three weights per point.
    let rows = [
        [[1.5, 0.0, 0.0], [0.0, 0.0, 0.5], [0.0, -1.0, 0.0], [0.25, 0.0, -0.5]],
        [[0.0, 2.0, 0.0], [-0.5, 0.0, 0.25], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]],
        [[-1.0, 0.25, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.25], [0.5, 0.5, 0.5]],
    ];
    let points = [[0.5, -0.25, 0.75], [-1.0, 0.5, 0.25], [0.125, 1.0, -0.5], [0.75, 0.75, 0.75]];
    let weights = [[0.5, 0.25, 0.25], [0.125, 0.625, 0.25], [0.25, 0.25, 0.5], [0.375, 0.5, 0.125]];
    let expected = [
        [0.936_211_5, 0.293_208_4, 0.029_353_732],
        [-0.313_280_17, -0.125_776_14, -0.181_448_4],
        [0.452_267_86, 0.724_128_5, -0.012_086_951],
        [1.098_365_7, 0.923_351_2, 0.973_873_1],
    ];
    let mut mesh = mesh(points.map(Vec3::from).to_vec(), Vec::new());
    bind(&mut mesh, &[Vec3::ZERO; 3], |p| {
        let v = points.iter().position(|&q| Vec3::from(q) == p).expect("one of the points");
        (0..3).map(|joint| (joint as u32, weights[v][joint])).collect()
    });
    let pose = rows.map(|[x, y, z, t]| {
        let matrix3 = Mat3::from_cols(x.into(), y.into(), z.into());
        Affine3A::from_mat3_translation(matrix3, t.into())
    });
    for (p, expected) in skin(&mesh, Skinning::DualQuaternion, &pose).iter().zip(expected) {
        assert!(p.distance(expected.into()) < 2e-6, "{p} {expected:?}");
    }
}

#[test]
fn joints_and_vertices_without_finite_numbers_stay_at_rest_and_are_counted() {
    let limb = limb(1.0, 1.0, 8, 8);
    let mut rest = limb.positions.clone();
    rest[3] = Vec3::splat(f32::INFINITY);
    let mut pose = posed(&limb, Quat::from_rotation_z(1.0));
    pose[1].translation.x = f32::NAN;
    let held = limb.skin().expect("bound").influences.clone();
    let held = (0..held.len()).filter(|&v| held.of(v).any(|(slot, _)| slot == 1)).count();
    for method in Skinning::ALL {
        let mut out = vec![Vec3::NAN; rest.len()];
        let skinner = Skinner::new(&limb, method);
        let report = skinner.skin(&pose, &rest, &mut out, &mut Workspace::default());
        assert_eq!(
            report,
            SkinReport { joints_at_rest: 1, vertices_of_joints_at_rest: held, vertices_at_rest: 1 }
        );
        for (v, p) in out.iter().enumerate().filter(|&(v, _)| v != 3) {
            assert!(p.distance(rest[v]) < 1e-6, "{method} {v}");
        }
        assert_eq!(out[3], Vec3::ZERO);
        // Too few joints are as good as joints without numbers; other lengths leave all at rest.
        let report = skinner.skin(&pose[..1], &rest, &mut out, &mut Workspace::default());
        assert_eq!(report.joints_at_rest, 1);
        let report = skinner.skin(&pose, &rest[1..], &mut out, &mut Workspace::default());
        assert_eq!(report.vertices_at_rest, rest.len());
    }
}

#[test]
fn an_unskinned_mesh_moves_with_its_joint() {
    let (positions, triangles) = tube(0.0, 1.0, 2, 5);
    let mut mesh = mesh(positions, triangles);
    mesh.joint = 1;
    let carrier =
        Affine3A::from_scale_rotation_translation(Vec3::splat(2.0), Quat::from_rotation_x(1.0), Vec3::X);
    for method in Skinning::ALL {
        let moved = skin(&mesh, method, &[Affine3A::IDENTITY, carrier]);
        for (p, rest) in moved.iter().zip(&mesh.positions) {
            assert!(p.distance(carrier.transform_point3(*rest)) < 1e-5);
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let limb = limb(3.0, 2.0, 128, 64);
    let pose = posed(&limb, Quat::from_euler(glam::EulerRot::YXZ, 1.5, 0.8, -0.3));
    for method in Skinning::ALL {
        let bits = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a thread pool");
            let points = pool.install(|| skin(&limb, method, &pose));
            points.iter().flat_map(|p| p.to_array().map(f32::to_bits)).collect::<Vec<u32>>()
        };
        let one = bits(1);
        assert_eq!(one, bits(2), "{method}");
        assert_eq!(one, bits(7), "{method}");
    }
}

#[test]
fn method_names_come_back() {
    for method in Skinning::ALL {
        assert_eq!(method.to_string().parse(), Ok(method));
    }
    assert_eq!("DQS".parse(), Ok(Skinning::DualQuaternion));
    let error = "dual".parse::<Skinning>().expect_err("no such method");
    assert_eq!(error.to_string(), "no skinning method \"dual\"; choose lbs, dqs or cor");
}

fn affine() -> impl Strategy<Value = Affine3A> {
    (
        prop::array::uniform3(-1.0f32..1.0),
        prop::array::uniform3(-3.0f32..3.0),
        prop::array::uniform3(0.3f32..1.5),
    )
        .prop_map(|(translation, turn, scale)| {
            let rotation = Quat::from_scaled_axis(Vec3::from(turn));
            Affine3A::from_scale_rotation_translation(scale.into(), rotation, translation.into())
        })
}

proptest! {
    #[test]
    fn linear_blending_equals_a_naive_double_precision_one(
        joints in prop::collection::vec((affine(), affine()), 1..9),
        vertices in prop::collection::vec(
            (prop::array::uniform3(-1.0f32..1.0), prop::collection::vec((0u32..9, 0.0f32..1.0), 0..10)),
            1..1200,
        ),
    ) {
        let count = joints.len();
        let (positions, weights): (Vec<Vec3>, Vec<_>) =
            vertices.into_iter().map(|(p, list)| (Vec3::from(p), list)).unzip();
        let mut mesh = mesh(positions, Vec::new());
        let lists = weights.iter().map(|l| l.iter().map(|&(j, w)| (j % count as u32, w)).collect());
        mesh.binding = Binding::Skin(crate::character::Skin {
            joints: (0..count).rev().collect(),
            joint_from_bind: joints.iter().map(|j| j.1).collect(),
            influences: Influences::new(lists),
            dual_quaternion: false,
        });
        let world: Vec<Affine3A> = joints.iter().map(|j| j.0).collect();
        let skinned = skin(&mesh, Skinning::Linear, &world);
        let bound = mesh.skin().expect("bound");
        let double = |m: &Affine3A| DAffine3::from_mat4(glam::Mat4::from(*m).as_dmat4());
        for (v, p) in mesh.positions.iter().enumerate() {
            let expected: DVec3 = bound.influences.of(v).map(|(slot, weight)| {
                let slot = slot as usize;
                let matrix = double(&world[bound.joints[slot]]) * double(&bound.joint_from_bind[slot]);
                matrix.transform_point3(p.as_dvec3()) * f64::from(weight)
            }).sum();
            // The points spread over some 8 units.
            prop_assert!((skinned[v].as_dvec3() - expected).length() < 8e-6);
        }
    }
}
