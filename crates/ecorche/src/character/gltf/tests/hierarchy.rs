//! Nodes: transforms, parents, depth.

use super::*;
use crate::math::Transform;
use glam::{Mat4, Quat, Vec3};

fn nodes(nodes: Value) -> TinyFile {
    let mut file = TinyFile::new();
    file.json["nodes"] = nodes;
    file
}

#[test]
fn a_matrix_and_its_parts_are_the_same_node() {
    let parts = Transform {
        translation: Vec3::new(1.0, 2.0, 3.0),
        rotation: Quat::from_rotation_z(0.5),
        scale: Vec3::new(1.0, 2.0, 0.5),
    };
    let matrix = Mat4::from(parts.to_affine()).to_cols_array();
    let raw = nodes(json!([
        {"matrix": matrix},
        {"translation": parts.translation.to_array(), "rotation": parts.rotation.to_array(),
         "scale": parts.scale.to_array()}
    ]))
    .read_sound();
    let [a, b] = [0, 1].map(|n| raw.nodes[n].local.to_affine());
    assert!(a.abs_diff_eq(b, 1e-6));
}

#[test]
fn shear_in_a_matrix_is_reported() {
    let mut sheared = Mat4::IDENTITY;
    sheared.y_axis.x = 0.5;
    let (raw, repairs) = nodes(json!([{"name": "bent", "matrix": sheared.to_cols_array()}])).read_mended();
    assert!(raw.nodes[0].local.is_finite());
    assert!(repairs[0].starts_with("node \"bent\": its matrix has a shear"), "{repairs:?}");
}

#[test]
fn sixty_thousand_nested_nodes() {
    let last = 59_999;
    let chain = (0..=last).map(|n| if n < last { json!({"children": [n + 1]}) } else { json!({}) });
    let raw = nodes(chain.collect()).read_sound();
    assert_eq!(raw.nodes[last].parent, Some(last - 1));
}

#[test]
fn missing_children_and_second_parents_are_reported() {
    let (raw, repairs) =
        nodes(json!([{"children": [2, 9]}, {"children": [2, -1]}, {"children": [0]}])).read_mended();
    assert_eq!([0, 1, 2].map(|n| raw.nodes[n].parent), [Some(2), None, Some(0)]);
    assert_eq!(repairs.len(), 2, "{repairs:?}");
    assert!(repairs[0].contains("2 children do not exist"));
}

#[test]
fn a_cycle_of_children_comes_out_as_a_character() {
    let raw = nodes(json!([{"name": "a", "children": [1]}, {"name": "b", "children": [0]}])).read_sound();
    let character = crate::character::check::check(Path::new("loop.glb"), raw).unwrap();
    assert_eq!(character.skeleton.len(), 2);
}
