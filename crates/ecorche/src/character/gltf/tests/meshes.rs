//! Primitives, faces, morphs, materials.

use super::*;
use glam::{Vec2, Vec3};

/// Five corners of a strip along x.
fn strip(file: &mut TinyFile) -> usize {
    file.list(
        F32,
        "VEC3",
        &[[0f32, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [1.0, 1.0, 0.0], [2.0, 0.0, 0.0]],
    )
}

fn corners(mode: u32) -> Vec<u32> {
    let file = TinyFile::with_primitive(|f| json!({"attributes": {"POSITION": strip(f)}, "mode": mode}));
    file.read_mended().0.meshes.remove(0).corners
}

#[test]
fn strips_and_fans_become_triangles_that_face_one_way() {
    assert_eq!(corners(4), [0, 1, 2]);
    assert_eq!(corners(5), [0, 1, 2, 2, 1, 3, 2, 3, 4]);
    assert_eq!(corners(6), [0, 1, 2, 0, 2, 3, 0, 3, 4]);
}

#[test]
fn points_and_lines_keep_their_vertices() {
    for mode in 0..4 {
        let file = TinyFile::with_primitive(|f| json!({"attributes": {"POSITION": strip(f)}, "mode": mode}));
        let (raw, repairs) = file.read_mended();
        assert_eq!((raw.meshes[0].positions.len(), raw.meshes[0].corners.len()), (5, 0));
        assert!(repairs[0].contains("points or lines"), "{repairs:?}");
    }
}

#[test]
fn primitives_follow_one_another_and_share_what_they_share() {
    let mut file = TinyFile::new();
    let (first, second) = (file.triangle(), file.triangle());
    let uvs = file.list(F32, "VEC2", &[[0f32, 0.25]; 3]);
    file.json["materials"] = json!([{"name": "skin"}, {}]);
    file.json["meshes"] = json!([{"primitives": [
        {"attributes": {"POSITION": first}, "material": 1},
        {"attributes": {"POSITION": second, "TEXCOORD_0": uvs}, "material": 0},
        {"attributes": {"POSITION": first}}
    ]}]);
    file.json["nodes"] = json!([{"name": "carrier", "mesh": 0}]);
    let mesh = &file.read_sound().meshes[0];
    assert_eq!(mesh.name, "carrier");
    assert_eq!(mesh.positions.len(), 6);
    assert_eq!(mesh.corners, [0, 1, 2, 3, 4, 5, 0, 1, 2]);
    assert_eq!(mesh.materials, ["material 1", "skin", "default"]);
    assert_eq!(mesh.material_of_face, [0, 1, 2]);
    let expected = [[Vec2::ZERO; 3], [Vec2::new(0.0, 0.75); 3], [Vec2::ZERO; 3]];
    assert_eq!(mesh.corner_uvs, expected.as_flattened());
}

#[test]
fn each_node_that_shows_a_mesh_has_its_own() {
    let mut file = TinyFile::with_primitive(|f| json!({"attributes": {"POSITION": f.triangle()}}));
    file.json["nodes"] = json!([{"mesh": 0}, {}, {"mesh": 0}, {"mesh": 5}]);
    let (raw, repairs) = file.read_mended();
    assert_eq!(raw.meshes.iter().map(|m| m.node).collect::<Vec<_>>(), [Some(0), Some(2)]);
    assert_eq!(repairs, ["node 3: mesh 5 does not exist; shown without it"]);
}

#[test]
fn faces_on_missing_vertices_do_not_reach_into_the_next_primitive() {
    let mut file = TinyFile::new();
    let (first, second) = (file.triangle(), file.triangle());
    let indices = file.list(U16, "SCALAR", &[0u16, 1, 2, 0, 1, 3, 0, 65535, 1, 2]);
    file.json["meshes"] = json!([{"name": "Body", "primitives": [
        {"attributes": {"POSITION": first}, "indices": indices}, {"attributes": {"POSITION": second}}
    ]}]);
    file.json["nodes"] = json!([{"mesh": 0}]);
    let (raw, repairs) = file.read_mended();
    assert_eq!(raw.meshes[0].corners, [0, 1, 2, 3, 4, 5]);
    assert_eq!(repairs.len(), 2, "{repairs:?}");
    assert!(repairs[1].contains("2 faces with vertices that do not exist"), "{repairs:?}");
}

#[test]
fn morphs_have_names_weights_and_only_what_moves() {
    let mut file = TinyFile::with_primitive(|file| {
        let positions = file.triangle();
        let smile = file.list(F32, "VEC3", &[[0f32; 3], [0.0, 0.0, 1.0], [0.0; 3]]);
        json!({"attributes": {"POSITION": positions}, "targets": [{"POSITION": smile}, {"NORMAL": 0}]})
    });
    file.json["meshes"][0]["weights"] = json!([0.5, 0.25]);
    file.json["meshes"][0]["extras"] = json!({"targetNames": ["smile", "frown"]});
    let raw = file.read_sound();
    let [smile, frown] = &raw.meshes[0].morphs[..] else { panic!("two morphs") };
    assert_eq!((smile.name.as_str(), smile.weight), ("smile", 0.5));
    assert_eq!(smile.offsets, [(1, Vec3::Z)]);
    assert_eq!((frown.name.as_str(), frown.weight, frown.offsets.len()), ("frown", 0.25, 0));
    file.json["nodes"][0]["weights"] = json!([1.0, 0.0]);
    assert_eq!(file.read_sound().meshes[0].morphs[0].weight, 1.0);
}

#[test]
fn a_morph_of_the_second_primitive_moves_its_vertices() {
    let mut file = TinyFile::new();
    let (first, second) = (file.triangle(), file.triangle());
    let offsets = file.list(F32, "VEC3", &[[1f32, 0.0, 0.0], [0.0; 3], [0.0; 3]]);
    file.json["meshes"] = json!([{"primitives": [
        {"attributes": {"POSITION": first}},
        {"attributes": {"POSITION": second}, "targets": [{"POSITION": offsets}]}
    ]}]);
    file.json["nodes"] = json!([{"mesh": 0}]);
    assert_eq!(file.read_sound().meshes[0].morphs[0].offsets, [(3, Vec3::X)]);
}

#[test]
fn broken_normals_and_uvs_cost_only_themselves() {
    let file = TinyFile::with_primitive(
        |file| json!({"attributes": {"POSITION": file.triangle(), "NORMAL": 77, "TEXCOORD_0": 0}}),
    );
    let (raw, repairs) = file.read_mended();
    assert_eq!(raw.meshes[0].corners.len(), 3);
    assert!(raw.meshes[0].corner_normals.is_empty() && raw.meshes[0].corner_uvs.is_empty());
    assert_eq!(repairs.len(), 2, "{repairs:?}");
}

#[test]
fn a_primitive_without_positions_is_left_out() {
    let file = TinyFile::with_primitive(|_| json!({"attributes": {}}));
    let (raw, repairs) = file.read_mended();
    assert!(raw.meshes[0].positions.is_empty());
    assert_eq!(repairs, ["mesh \"Body\": a primitive without positions; left out"]);
}
