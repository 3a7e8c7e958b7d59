//! Joints, weights, inverse bind matrices.

use super::*;
use glam::{Mat4, Vec3};

/// A triangle with two sets of joints and weights, a skin of two joints and `matrices`.
fn skinned(matrices: Option<&[[f32; 16]]>) -> TinyFile {
    let mut file = TinyFile::with_primitive(|file| {
        let positions = file.triangle();
        let joints = file.list(U8, "VEC4", &[[0u8, 1, 0, 0]; 3]);
        let weights = file.list(U8, "VEC4", &[[51u8, 102, 0, 0]; 3]);
        file.json["accessors"][weights]["normalized"] = json!(true);
        let more_joints = file.list(U16, "VEC4", &[[1u16, 300, 0, 0]; 3]);
        let more_weights = file.list(F32, "VEC4", &[[0.4f32, f32::NAN, 0.0, 0.0]; 3]);
        json!({"attributes": {"POSITION": positions, "JOINTS_0": joints, "WEIGHTS_0": weights,
            "JOINTS_1": more_joints, "WEIGHTS_1": more_weights}})
    });
    file.json["nodes"] = json!([{"mesh": 0, "skin": 0, "translation": [5, 0, 0]}, {"children": [2]}, {}]);
    file.json["skins"] = json!([{"joints": [1, 2]}]);
    if let Some(matrices) = matrices {
        let accessor = file.list(F32, "MAT4", matrices);
        file.json["skins"][0]["inverseBindMatrices"] = json!(accessor);
    }
    file
}

fn moved(x: f32) -> [f32; 16] {
    Mat4::from_translation(Vec3::X * x).to_cols_array()
}

#[test]
fn every_set_of_influences_is_read() {
    let raw = skinned(None).read_sound();
    let skin = raw.meshes[0].skin.as_ref().unwrap();
    let of_second: Vec<_> = skin.influences.iter().filter(|i| i.0 == 1).map(|i| (i.1, i.2)).collect();
    assert_eq!(of_second[..3], [(0, 0.2), (1, 0.4), (1, 0.4)]);
    // Broken values are for the check to see.
    assert!(of_second[3].0 == 300 && of_second[3].1.is_nan());
    assert_eq!(skin.joints, [1, 2]);
}

#[test]
fn a_skin_without_matrices_has_identities() {
    let raw = skinned(None).read_sound();
    assert_eq!(raw.meshes[0].skin.as_ref().unwrap().joint_from_mesh, [Mat4::IDENTITY; 2]);
}

#[test]
fn matrices_are_read_by_columns() {
    let raw = skinned(Some(&[moved(1.0), moved(2.0)])).read_sound();
    let matrices = &raw.meshes[0].skin.as_ref().unwrap().joint_from_mesh;
    assert_eq!(matrices[1].transform_point3(Vec3::ZERO), Vec3::X * 2.0);
}

#[test]
fn too_few_matrices_leave_singular_ones() {
    let (raw, repairs) = skinned(Some(&[moved(1.0)])).read_mended();
    let matrices = &raw.meshes[0].skin.as_ref().unwrap().joint_from_mesh;
    assert_eq!(*matrices, [Mat4::from_translation(Vec3::X), Mat4::ZERO]);
    assert!(repairs[0].contains("1 inverse bind matrices for 2 joints"), "{repairs:?}");
}

#[test]
fn matrices_beyond_the_bytes_are_missing_ones() {
    let mut file = skinned(Some(&[moved(1.0)]));
    let accessor = file.json["skins"][0]["inverseBindMatrices"].as_u64().unwrap() as usize;
    file.json["accessors"][accessor]["count"] = json!(2);
    let (raw, repairs) = file.read_mended();
    let matrices = &raw.meshes[0].skin.as_ref().unwrap().joint_from_mesh;
    assert_eq!(*matrices, [Mat4::from_translation(Vec3::X), Mat4::ZERO]);
    assert_eq!(repairs.len(), 1, "{repairs:?}");
}

#[test]
fn a_stride_too_small_for_matrices_is_ignored() {
    let mut file = skinned(Some(&[moved(1.0), moved(2.0)]));
    let view = file.json["bufferViews"].as_array().unwrap().len() - 1;
    for stride in [16, 128] {
        file.json["bufferViews"][view]["byteStride"] = json!(stride);
        let (raw, repairs) = file.read_mended();
        let matrices = &raw.meshes[0].skin.as_ref().unwrap().joint_from_mesh;
        assert_eq!(matrices[1], Mat4::from_translation(Vec3::X * 2.0));
        assert!(repairs[0].contains("read as packed"), "{repairs:?}");
    }
}

#[test]
fn half_a_skin_is_none() {
    let mut file = skinned(None);
    file.json["nodes"][0].as_object_mut().unwrap().remove("skin");
    assert!(file.read_sound().meshes[0].skin.is_none());
    file.json["nodes"][0]["skin"] = json!(3);
    let (raw, repairs) = file.read_mended();
    assert!(raw.meshes[0].skin.is_none());
    assert!(repairs[0].contains("skin 3 does not exist"), "{repairs:?}");

    let mut file = skinned(None);
    let attributes = file.json["meshes"][0]["primitives"][0]["attributes"].as_object_mut().unwrap();
    attributes.remove("WEIGHTS_0");
    attributes.remove("JOINTS_1");
    let (raw, repairs) = file.read_mended();
    assert!(raw.meshes[0].skin.is_none());
    assert_eq!(repairs.len(), 2, "{repairs:?}");
}

#[test]
fn weights_for_only_some_vertices_are_used_for_those() {
    let mut file = skinned(None);
    let weights = file.json["meshes"][0]["primitives"][0]["attributes"]["WEIGHTS_0"].as_u64().unwrap();
    file.json["accessors"][weights as usize]["count"] = json!(1);
    let (raw, repairs) = file.read_mended();
    let influences = &raw.meshes[0].skin.as_ref().unwrap().influences;
    assert_eq!(influences.iter().filter(|i| i.1 == 0).count(), 1);
    assert!(repairs[0].contains("3 vertices, but 3 joints and 1 weights"), "{repairs:?}");
}
