//! GLB chunks, addresses of buffers, versions, extensions.

use super::*;

fn sound() -> TinyFile {
    TinyFile::with_primitive(|file| json!({"attributes": {"POSITION": file.triangle()}}))
}

fn read_json(json: &Value) -> Result<RawCharacter, ReadError> {
    read_bytes(json.to_string().as_bytes(), None, Path::new("tiny.gltf"))
}

/// The triangle's 36 bytes: x of the second and y of the third corner are 1.0f32.
const BASE64: &str = "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA";

#[test]
fn a_data_uri_and_a_glb_chunk_give_the_same() {
    let mut json = sound().json;
    json["buffers"] = json!([{"byteLength": 36, "uri": BASE64}]);
    assert_eq!(read_json(&json).unwrap().meshes[0].positions, sound().read_sound().meshes[0].positions);
}

#[test]
fn a_byte_order_mark_is_skipped() {
    let mut json = sound().json;
    json["buffers"] = json!([{"byteLength": 36, "uri": BASE64}]);
    let text = format!("\u{feff}{json}");
    assert!(read_bytes(text.as_bytes(), None, Path::new("tiny.gltf")).is_ok());
}

#[test]
fn a_buffer_file_is_found_beside_the_gltf() {
    let folder = tempfile::tempdir().unwrap();
    let file = sound();
    std::fs::write(folder.path().join("my mesh.bin"), &file.binary).unwrap();
    let mut json = file.json.clone();
    json["buffers"] = json!([{"byteLength": 36, "uri": "my%20mesh.bin"}]);
    let path = folder.path().join("a.gltf");
    std::fs::write(&path, json.to_string()).unwrap();
    assert_eq!(crate::character::read(&path).unwrap().meshes[0].positions.len(), 3);

    json["buffers"][0]["uri"] = json!("gone.bin");
    std::fs::write(&path, json.to_string()).unwrap();
    let error = crate::character::read(&path).unwrap_err();
    assert!(matches!(&error, ReadError::Io { path, .. } if path.ends_with("gone.bin")), "{error}");

    json["buffers"][0]["uri"] = json!("../my mesh.bin");
    std::fs::write(&path, json.to_string()).unwrap();
    let error = crate::character::read(&path).unwrap_err().to_string();
    assert!(error.contains("not inside the file's folder"), "{error}");
}

#[test]
fn a_file_that_ends_early_is_read_as_far_as_it_goes() {
    let mut file = sound();
    // Something after the mesh, so that the mesh is still whole.
    file.view(&[0; 40]);
    let glb = file.to_glb();
    let raw = read_bytes(&glb[..glb.len() - 8], None, Path::new("cut.glb")).unwrap();
    assert_eq!(raw.meshes[0].positions.len(), 3);
    assert_eq!(raw.repairs.len(), 2, "{:?}", raw.repairs);
    let error = read_bytes(&glb[..200], None, Path::new("cut.glb")).unwrap_err().to_string();
    assert!(error.starts_with("cut.glb: JSON: EOF"), "{error}");
}

#[test]
fn versions_before_two_are_named() {
    let mut json = sound().json;
    json["asset"]["version"] = json!("1.0");
    assert!(read_json(&json).unwrap_err().to_string().contains("uses glTF 1.0"));
    json["meshes"] = json!({"mesh": {}});
    assert!(read_json(&json).unwrap_err().to_string().contains("uses glTF 1.0"));
    let mut glb = sound().to_glb();
    glb[4] = 1;
    assert!(read_bytes(&glb, None, Path::new("old.glb")).unwrap_err().to_string().contains("version 1"));
}

#[test]
fn oddities_outside_the_character_do_not_matter() {
    let mut file = sound();
    file.json["materials"] = json!([{"pbrMetallicRoughness": "shiny", "name": 3}, null]);
    file.json["images"] = json!([{"uri": "gone.png"}]);
    file.json["textures"] = json!("none");
    file.json["cameras"] = json!([{}]);
    file.json["extras"] = json!([1, 2]);
    file.json["meshes"][0]["extras"] = json!("by hand");
    file.json["nodes"][0]["camera"] = json!(7);
    file.read_sound();
}

#[test]
fn required_extensions_are_read_passed_over_or_mentioned() {
    let mut file = sound();
    file.json["extensionsRequired"] = json!(["KHR_texture_transform", "KHR_mesh_quantization"]);
    file.read_sound();
    file.json["extensionsRequired"] = json!(["VENDOR_hair"]);
    let (_, repairs) = file.read_mended();
    assert_eq!(repairs, ["the document: it requires VENDOR_hair; read without it"]);
}

#[test]
fn broken_draco_data_are_an_error_unless_the_file_keeps_plain_data_too() {
    let mut file = sound();
    file.json["meshes"][0]["primitives"][0]["extensions"] =
        json!({"KHR_draco_mesh_compression": {"bufferView": 0, "attributes": {"POSITION": 0}}});
    file.read_sound();
    file.json["accessors"][0].as_object_mut().unwrap().remove("bufferView");
    let error = file.read().unwrap_err().to_string();
    assert!(error.starts_with("tiny.glb: ") && error.contains("Draco data"), "{error}");
}
