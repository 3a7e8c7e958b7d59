//! What published files get wrong, one broken character each, and what becomes of it.

use ecorche::character::check::check;
use ecorche::character::raw::{RawCharacter, RawMesh, RawMorph, RawNode, RawSkin};
use ecorche::character::{Character, Pose};
use ecorche::deform::Stack;
use ecorche::deform::{Body, Workspace};
use ecorche::math::Transform;
use glam::{Mat4, Quat, Vec3};
use std::path::Path;
use std::sync::Arc;

/// A square on two joints, the second one unit above the first.
fn square() -> RawCharacter {
    let node = |name: &str, parent, translation| RawNode {
        name: name.into(),
        parent,
        local: Transform { translation, ..Transform::IDENTITY },
    };
    RawCharacter {
        nodes: vec![node("root", None, Vec3::ZERO), node("tip", Some(0), Vec3::Y)],
        meshes: vec![RawMesh {
            name: "square".into(),
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Y],
            face_sizes: vec![4],
            corners: vec![0, 1, 2, 3],
            skin: Some(RawSkin {
                joints: vec![0, 1],
                joint_from_mesh: vec![Mat4::IDENTITY, Mat4::from_translation(-Vec3::Y)],
                influences: vec![(0, 0, 1.0), (1, 0, 1.0), (2, 1, 1.0), (3, 1, 1.0)],
                ..RawSkin::default()
            }),
            ..RawMesh::default()
        }],
        ..RawCharacter::default()
    }
}

fn skin(raw: &mut RawCharacter) -> &mut RawSkin {
    raw.meshes[0].skin.as_mut().unwrap()
}

fn checked(raw: RawCharacter) -> Character {
    check(Path::new("test.glb"), raw).unwrap()
}

fn rest_positions(character: Character) -> Vec<Vec3> {
    let body = Body::bind(Arc::new(character), Stack::linear(), None).unwrap();
    body.rest(&mut Workspace::default()).meshes[0].positions.clone()
}

#[track_caller]
fn assert_close(found: &[Vec3], expected: &[Vec3]) {
    for (a, b) in found.iter().zip(expected) {
        assert!(a.distance(*b) < 1e-5, "{found:?}\n{expected:?}");
    }
}

#[track_caller]
fn assert_repaired(character: &Character, words: &str) {
    assert!(
        character.repairs.iter().any(|r| r.to_string().contains(words)),
        "{words}: {:?}",
        character.repairs
    );
}

#[test]
fn a_sound_character_needs_no_repair_and_rests_where_it_was_bound() {
    let positions = square().meshes[0].positions.clone();
    let character = checked(square());
    assert_eq!(character.repairs, []);
    assert_close(&rest_positions(character), &positions);
}

#[test]
fn weights_that_do_not_sum_to_one_are_normalised() {
    let mut raw = square();
    skin(&mut raw).influences = vec![(0, 0, 0.04), (1, 0, 4.7), (2, 0, 0.5), (2, 1, 0.5), (3, 1, 1.0)];
    let character = checked(raw);
    assert_repaired(&character, "sum to 0.040 to 4.700");
    let influences = &character.meshes[0].skin().unwrap().influences;
    for v in 0..4 {
        assert!((influences.of(v).map(|i| i.1).sum::<f32>() - 1.0).abs() < 1e-6);
    }
}

#[test]
fn missing_and_broken_weights_are_taken_from_neighbours() {
    let mut raw = square();
    skin(&mut raw).influences =
        vec![(0, 0, 1.0), (1, 0, f32::NAN), (2, 1, 1.0), (3, 7, 1.0), (9, 0, 1.0), (3, 1, -1.0)];
    let character = checked(raw);
    assert_repaired(&character, "no weight");
    assert_repaired(&character, "do not exist");
    assert_repaired(&character, "not finite");
    assert!(character.meshes[0].skin().unwrap().influences.of(1).len() > 0);
}

/// A hundred thousand loose triangles without weights beside as many with weights.
#[test]
fn pieces_without_weights_take_the_nearest_however_many_there_are() {
    let count = 100_000;
    let mut raw = square();
    let (mut positions, mut influences) = (Vec::new(), Vec::new());
    for t in 0..2 * count {
        let weighted = t < count;
        let (x, z) = ((t % count % 300) as f32, (t % count / 300) as f32);
        let y = if weighted { 0.0 } else { 0.2 };
        for corner in [Vec3::ZERO, 0.1 * Vec3::X, 0.1 * Vec3::Z] {
            if weighted {
                influences.push((positions.len() as u32, (t % 2) as u32, 1.0));
            }
            positions.push(Vec3::new(x, y, z) + corner);
        }
    }
    let mesh = &mut raw.meshes[0];
    (mesh.face_sizes, mesh.corners) = (vec![3; 2 * count], (0..6 * count as u32).collect());
    mesh.positions = positions;
    skin(&mut raw).influences = influences;
    // Every one against every other would take minutes.
    let character = checked(raw);
    let influences = &character.meshes[0].skin().unwrap().influences;
    assert!((0..3 * count).all(|v| influences.strongest(v) == influences.strongest(v + 3 * count)));
}

#[test]
fn a_skin_without_any_weight_moves_with_its_node() {
    let mut raw = square();
    skin(&mut raw).influences.clear();
    let character = checked(raw);
    assert_repaired(&character, "no usable weight");
    assert!(character.meshes[0].skin().is_none());
}

#[test]
fn missing_and_singular_bind_matrices_mean_bound_at_rest() {
    let positions = square().meshes[0].positions.clone();
    for matrices in [vec![], vec![Mat4::IDENTITY], vec![Mat4::IDENTITY, Mat4::ZERO], vec![Mat4::NAN; 2]] {
        let mut raw = square();
        skin(&mut raw).joint_from_mesh = matrices;
        let character = checked(raw);
        assert_repaired(&character, "bind matrices");
        assert_close(&rest_positions(character), &positions);
    }
}

#[test]
fn a_mesh_in_centimetres_under_a_scaled_root_is_bound_in_metres() {
    let mut raw = square();
    let expected = raw.meshes[0].positions.clone();
    raw.nodes[0].local.scale = Vec3::splat(0.01);
    raw.nodes[1].local.translation *= 100.0;
    for p in &mut raw.meshes[0].positions {
        *p *= 100.0;
    }
    skin(&mut raw).joint_from_mesh[1] = Mat4::from_translation(-100.0 * Vec3::Y);
    let character = checked(raw);
    assert_close(&character.meshes[0].positions, &expected);
    assert_close(&rest_positions(character), &expected);
}

#[test]
fn a_skinned_mesh_under_a_moved_node_stays_with_its_joints() {
    let mut raw = square();
    let expected = raw.meshes[0].positions.clone();
    let local =
        Transform { translation: Vec3::splat(5.0), rotation: Quat::from_rotation_x(1.0), scale: Vec3::ONE };
    raw.nodes.push(RawNode { name: "carrier".into(), parent: None, local });
    raw.meshes[0].node = Some(2);
    assert_close(&rest_positions(checked(raw)), &expected);
}

#[test]
fn an_unskinned_mesh_moves_with_its_node_and_morphs_blend_in() {
    let mut raw = square();
    raw.meshes[0].skin = None;
    raw.meshes[0].node = Some(1);
    raw.meshes[0].morphs =
        vec![RawMorph { name: "bulge".into(), offsets: vec![(0, Vec3::Z), (8, Vec3::Z)], weight: 0.5 }];
    let mut expected: Vec<Vec3> = raw.meshes[0].positions.iter().map(|p| *p + Vec3::Y).collect();
    expected[0] += 0.5 * Vec3::Z;
    let character = checked(raw);
    assert_repaired(&character, "morph offsets");
    assert_close(&rest_positions(character), &expected);
}

#[test]
fn broken_faces_and_vertices_are_dropped_or_mended() {
    let mut raw = square();
    raw.meshes[0].face_sizes = vec![4, 2, 3, 9];
    raw.meshes[0].corners = vec![0, 1, 2, 3, 0, 1, 0, 1, 77];
    raw.meshes[0].positions[2] = Vec3::NAN;
    let character = checked(raw);
    assert_eq!(character.meshes[0].faces.len(), 1);
    assert_eq!(character.meshes[0].positions.len(), 4);
    assert_repaired(&character, "faces");
    assert_repaired(&character, "not finite");
    assert!(rest_positions(character).iter().all(|p| p.is_finite()));
}

#[test]
fn a_hidden_joint_of_scale_zero_does_not_spread_infinities() {
    let character = Arc::new(checked(square()));
    let mut pose = Pose::rest(&character);
    pose.local[1].scale = Vec3::ZERO;
    pose.local[0].translation.x = f32::INFINITY;
    for method in Stack::common() {
        let body = Body::bind(character.clone(), method.clone(), None).unwrap();
        let frame = body.deform(&pose, 0.0, &mut Workspace::default());
        assert!(frame.meshes[0].positions.iter().all(|p| p.is_finite()), "{method}");
        assert!(frame.report.fell_back > 0, "{method}");
    }
}

#[test]
fn an_empty_file_is_refused_by_name() {
    let error = check(Path::new("empty.glb"), RawCharacter::default()).unwrap_err();
    assert!(error.to_string().contains("empty.glb"), "{error}");
}

#[test]
fn vertices_beyond_single_precision_are_moved_back_and_the_size_is_finite() {
    let mut raw = square();
    raw.meshes[0].positions[0] = Vec3::new(3e38, 0.0, -3e38);
    let character = checked(raw);
    assert_repaired(&character, "farther than");
    assert!(character.meshes[0].surface().size() < 100.0);
}

#[test]
fn a_face_that_passes_its_vertices_again_and_again_is_dropped() {
    let mut raw = square();
    let corners: Vec<u32> = (0..4000).map(|c| c % 4).collect();
    raw.meshes[0].face_sizes.push(corners.len() as u32);
    raw.meshes[0].corners.extend(corners);
    raw.meshes[0].corner_uvs.clear();
    let whole = checked(square()).meshes[0].faces.len();
    let character = checked(raw);
    assert_repaired(&character, "too many");
    assert_eq!(character.meshes[0].faces.len(), whole);
}
