//! Mutated files: any answer will do but a crash, a hang, or more memory than the file is worth.

use super::*;
use arbtest::arbitrary::{Result, Unstructured};

/// A file with a bit of everything: skin, morphs, sparse and interleaved data, all samplers.
fn rich() -> TinyFile {
    let mut file = TinyFile::with_primitive(|file| {
        let positions = file.triangle();
        let joints = file.list(U8, "VEC4", &[[0u8, 1, 0, 0]; 3]);
        let weights = file.list(F32, "VEC4", &[[0.5f32, 0.5, 0.0, 0.0]; 3]);
        let indices = file.list(U16, "SCALAR", &[0u16, 1, 2]);
        let sparse_at = file.view(&[1]);
        let sparse = json!({"componentType": F32, "type": "VEC3", "count": 3, "sparse": {
            "count": 1, "indices": {"bufferView": sparse_at, "componentType": U8},
            "values": {"bufferView": 0}}});
        let target = file.push("accessors", sparse);
        json!({"attributes": {"POSITION": positions, "JOINTS_0": joints, "WEIGHTS_0": weights,
            "NORMAL": positions}, "indices": indices, "targets": [{"POSITION": target}], "mode": 5})
    });
    let matrices = file.list(F32, "MAT4", &[glam::Mat4::IDENTITY.to_cols_array(); 2]);
    file.json["skins"] = json!([{"joints": [1, 2], "inverseBindMatrices": matrices}]);
    file.json["nodes"] = json!([{"mesh": 0, "skin": 0}, {"children": [2], "matrix": glam::Mat4::IDENTITY.to_cols_array()}, {}]);
    let times = file.list(F32, "SCALAR", &[0f32, 1.0]);
    let turns = file.list(I16, "VEC4", &[[0i16, 0, 0, 32767]; 2]);
    let amounts = file.list(F32, "SCALAR", &[0f32; 6]);
    file.json["animations"] = json!([{
        "channels": [{"sampler": 0, "target": {"node": 1, "path": "rotation"}},
            {"sampler": 1, "target": {"node": 0, "path": "weights"}}],
        "samplers": [{"input": times, "output": turns, "interpolation": "STEP"},
            {"input": times, "output": amounts, "interpolation": "CUBICSPLINE"}]
    }]);
    let packed = meshopt::encode_vertex_buffer(&[[1f32, 2.0, 3.0, 4.0]; 20]).unwrap();
    let source = file.view(&packed);
    let mut compressed = file.json["bufferViews"][source].clone();
    compressed["byteStride"] = json!(16);
    compressed["count"] = json!(20);
    compressed["mode"] = json!("ATTRIBUTES");
    file.push(
        "bufferViews",
        json!({"buffer": 0, "byteLength": 320, "byteStride": 16,
            "extensions": {"EXT_meshopt_compression": compressed}}),
    );
    let uvs = file.accessor(source + 1, F32, "VEC2", 20);
    file.json["meshes"][0]["primitives"][0]["attributes"]["TEXCOORD_0"] = json!(uvs);
    file
}

/// Reads and checks; panics are failures, errors are not.
fn survive(bytes: &[u8]) {
    let path = Path::new("mutated.glb");
    let Ok(raw) = read_bytes(bytes, None, path) else { return };
    let elements: usize = raw.meshes.iter().map(|m| m.positions.len() + m.corners.len()).sum::<usize>()
        + raw.clips.iter().flat_map(|c| &c.tracks).map(|t| t.times.len()).sum::<usize>();
    // The budget's free share in elements of at least four bytes.
    assert!(elements <= (1 << 26) + 16 * bytes.len(), "{elements} elements from {} bytes", bytes.len());
    let _ = crate::character::check::check(path, raw);
}

#[test]
fn the_file_to_be_mutated_is_sound() {
    rich().read_sound();
}

#[test]
fn changed_bytes() {
    let original = rich().to_glb();
    arbtest::arbtest(|u| {
        let mut bytes = original.clone();
        for _ in 0..u.int_in_range(1..=8)? {
            let at = u.choose_index(bytes.len())?;
            bytes[at] = u.arbitrary()?;
        }
        if u.ratio(1, 8)? {
            bytes.truncate(u.choose_index(bytes.len())?);
        }
        survive(&bytes);
        Ok(())
    })
    .budget_ms(1000);
}

#[test]
fn changed_numbers() {
    // Bytes rarely make another valid document; numbers put in on purpose always do.
    let original = rich();
    arbtest::arbtest(|u| {
        let mut file = TinyFile { json: original.json.clone(), binary: original.binary.clone() };
        for _ in 0..u.int_in_range(1..=4)? {
            change_a_value(&mut file.json, u)?;
        }
        survive(&file.to_glb());
        Ok(())
    })
    .budget_ms(1500);
}

/// Walks down to some value and replaces or removes it.
fn change_a_value(json: &mut Value, u: &mut Unstructured) -> Result<()> {
    match json {
        Value::Array(list) if !list.is_empty() => {
            let at = u.choose_index(list.len())?;
            match u.int_in_range(0..=15)? {
                0 => drop(list.remove(at)),
                1 => list.push(list[at].clone()),
                _ => return change_a_value(&mut list[at], u),
            }
        }
        Value::Object(map) if !map.is_empty() => {
            let at = u.choose_index(map.len())?;
            let key = map.keys().nth(at).cloned().unwrap_or_default();
            if u.ratio(1, 16)? {
                map.remove(&key);
            } else if let Some(value) = map.get_mut(&key) {
                return change_a_value(value, u);
            }
        }
        _ => {
            *json = match u.int_in_range(0..=7)? {
                0 => json!(u.arbitrary::<u64>()?),
                1 => json!(-1),
                2 => json!(1u64 << u.int_in_range(0..=63)?),
                3 => json!(u.arbitrary::<f32>()?),
                4 => json!(*u.choose(&[I8, U8, I16, U16, U32, F32])?),
                5 => json!(*u.choose(&["VEC2", "VEC3", "MAT4", "TRIANGLES", "EXPONENTIAL", "weights"])?),
                6 => Value::Null,
                _ => json!(u.int_in_range(0..=20)?),
            }
        }
    }
    Ok(())
}

#[test]
fn cut_anywhere() {
    let original = rich().to_glb();
    for length in 0..original.len() {
        survive(&original[..length]);
    }
}
