//! Every way a list of numbers can be stored.

use super::*;
use glam::Vec3;

/// Positions of a file whose only primitive has the accessor made by `make`.
fn positions(make: impl FnOnce(&mut TinyFile) -> usize) -> Vec<Vec3> {
    let file = TinyFile::with_primitive(|file| json!({"attributes": {"POSITION": make(file)}}));
    file.read_sound().meshes.remove(0).positions
}

const CORNERS: [Vec3; 3] = [Vec3::ZERO, Vec3::X, Vec3::Y];

#[test]
fn packed_floats() {
    assert_eq!(positions(TinyFile::triangle), CORNERS);
}

#[test]
fn quantised_positions_of_every_type() {
    let plain = |file: &mut TinyFile, accessor: usize| {
        file.json["extensionsRequired"] = json!(["KHR_mesh_quantization"]);
        accessor
    };
    let eight = [[0u8, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0]];
    let strided = |file: &mut TinyFile, component, bytes: &[u8], stride: usize| {
        let view = file.view(bytes);
        file.json["bufferViews"][view]["byteStride"] = json!(stride);
        let accessor = file.accessor(view, component, "VEC3", 3);
        plain(file, accessor)
    };
    for component in [I8, U8] {
        assert_eq!(positions(|f| strided(f, component, eight.as_flattened(), 4)), CORNERS);
    }
    let sixteen = eight.map(|e| e.map(i16::from));
    for component in [I16, U16] {
        assert_eq!(positions(|f| strided(f, component, bytemuck::cast_slice(&sixteen), 8)), CORNERS);
    }
}

#[test]
fn normalised_integers_reach_from_minus_one_to_one() {
    let normalised = |component: u32, bytes: &[u8]| {
        positions(|file| {
            let view = file.view(&bytes.repeat(3));
            let accessor = file.accessor(view, component, "VEC3", 3);
            file.json["accessors"][accessor]["normalized"] = json!(true);
            accessor
        })[0]
    };
    assert_eq!(normalised(I8, &[127, 0, 0x80]), Vec3::new(1.0, 0.0, -1.0));
    assert_eq!(normalised(U8, &[255, 51, 0]), Vec3::new(1.0, 0.2, 0.0));
    assert_eq!(normalised(I16, bytemuck::cast_slice(&[32767i16, 0, -32768])), Vec3::new(1.0, 0.0, -1.0));
    assert_eq!(normalised(U16, bytemuck::cast_slice(&[65535u16, 13107, 0])), Vec3::new(1.0, 0.2, 0.0));
}

#[test]
fn interleaved_attributes() {
    let file = TinyFile::with_primitive(|file| {
        let vertices: Vec<[f32; 6]> = CORNERS.iter().map(|p| [p.x, p.y, p.z, 0.0, 0.0, 1.0]).collect();
        let view = file.view(bytemuck::cast_slice(&vertices));
        file.json["bufferViews"][view]["byteStride"] = json!(24);
        let positions = file.accessor(view, F32, "VEC3", 3);
        let normals = file.accessor(view, F32, "VEC3", 3);
        file.json["accessors"][normals]["byteOffset"] = json!(12);
        json!({"attributes": {"POSITION": positions, "NORMAL": normals}})
    });
    let mesh = &file.read_sound().meshes[0];
    assert_eq!(mesh.positions, CORNERS);
    assert_eq!(mesh.corner_normals, [Vec3::Z; 3]);
}

/// A sparse accessor that moves element 1 to (7, 8, 9).
fn sparse(file: &mut TinyFile, base: Option<usize>, component: u32, index: &[u8]) -> usize {
    let indices = file.view(index);
    let values = file.view(bytemuck::cast_slice(&[7f32, 8.0, 9.0]));
    let mut accessor = json!({
        "componentType": F32, "type": "VEC3", "count": 3,
        "sparse": {
            "count": 1,
            "indices": {"bufferView": indices, "componentType": component},
            "values": {"bufferView": values}
        }
    });
    if let Some(view) = base {
        accessor["bufferView"] = json!(view);
    }
    file.push("accessors", accessor)
}

#[test]
fn sparse_over_stored_elements() {
    for (component, index) in [(U8, &[1u8][..]), (U16, &[1, 0]), (U32, &[1, 0, 0, 0])] {
        let found = positions(|file| {
            file.triangle();
            sparse(file, Some(0), component, index)
        });
        assert_eq!(found, [Vec3::ZERO, Vec3::new(7.0, 8.0, 9.0), Vec3::Y]);
    }
}

#[test]
fn sparse_over_zeros() {
    let found = positions(|file| sparse(file, None, U16, &[1, 0]));
    assert_eq!(found, [Vec3::ZERO, Vec3::new(7.0, 8.0, 9.0), Vec3::ZERO]);
}

#[test]
fn a_sparse_index_beyond_the_end_is_ignored_and_reported() {
    let file = TinyFile::with_primitive(|f| json!({"attributes": {"POSITION": sparse(f, None, U8, &[3])}}));
    let (raw, repairs) = file.read_mended();
    assert_eq!(raw.meshes[0].positions, [Vec3::ZERO; 3]);
    assert!(repairs[0].contains("sparse indices beyond its end"), "{repairs:?}");
}

#[test]
fn indices_of_every_type() {
    let corners = |make: &dyn Fn(&mut TinyFile) -> usize| {
        let file = TinyFile::with_primitive(
            |file| json!({"attributes": {"POSITION": file.triangle()}, "indices": make(file)}),
        );
        file.read_sound().meshes.remove(0).corners
    };
    assert_eq!(corners(&|f| f.list(U8, "SCALAR", &[2u8, 1, 0])), [2, 1, 0]);
    assert_eq!(corners(&|f| f.list(U16, "SCALAR", &[2u16, 1, 0])), [2, 1, 0]);
    assert_eq!(corners(&|f| f.list(U32, "SCALAR", &[2u32, 1, 0])), [2, 1, 0]);
}

/// The error of a file whose position accessor was spoilt.
fn error_of(spoil: impl FnOnce(&mut TinyFile)) -> String {
    let mut file = TinyFile::with_primitive(|file| json!({"attributes": {"POSITION": file.triangle()}}));
    spoil(&mut file);
    file.read().unwrap_err().to_string()
}

#[test]
fn a_list_longer_than_its_bytes_is_named() {
    let error = error_of(|file| file.json["accessors"][0]["count"] = json!(4));
    assert!(error.starts_with("tiny.glb: mesh \"Body\", accessor 0: 4 elements of 12 bytes"), "{error}");
}

#[test]
fn huge_counts_are_refused_before_anything_is_allocated() {
    for count in [json!(u64::MAX), json!(1u64 << 61), json!(1e300), json!(-1), json!(0.5)] {
        error_of(|file| file.json["accessors"][0]["count"] = count.clone());
        error_of(|file| {
            file.json["accessors"][0]["count"] = count.clone();
            file.json["accessors"][0].as_object_mut().unwrap().remove("bufferView");
        });
    }
}

#[test]
fn offsets_that_overflow_are_refused() {
    error_of(|file| file.json["accessors"][0]["byteOffset"] = json!(u64::MAX));
    error_of(|file| file.json["bufferViews"][0]["byteOffset"] = json!(u64::MAX - 1));
    error_of(|file| file.json["bufferViews"][0]["byteLength"] = json!(u64::MAX));
    error_of(|file| file.json["bufferViews"][0]["buffer"] = json!(9));
    error_of(|file| file.json["accessors"][0]["bufferView"] = json!(9));
}

#[test]
fn wrong_shapes_and_types_are_named() {
    assert!(error_of(|file| file.json["accessors"][0]["type"] = json!("MAT3")).contains("MAT3"));
    assert!(error_of(|file| file.json["accessors"][0]["componentType"] = json!(5130)).contains("5130"));
}

#[test]
fn many_readings_of_the_same_bytes_cannot_fill_the_memory() {
    // 3 MB of positions, read again for each of 1000 nodes.
    let file = TinyFile::with_primitive(
        |file| json!({"attributes": {"POSITION": file.list(F32, "VEC3", &vec![[1f32; 3]; 240_000])}}),
    );
    let mut crowd = TinyFile { json: file.json.clone(), binary: file.binary.clone() };
    crowd.json["nodes"] = (0..1000).map(|_| json!({"mesh": 0})).collect();
    let error = crowd.read().unwrap_err().to_string();
    assert!(error.contains("many times the file's size"), "{error}");
    file.read_sound();
}

/// A compressed view in place of the triangle's; `EXT_meshopt_compression` of the given kind.
fn compressed(packed: &[u8], count: usize, stride: usize, mode: &str, filter: &str) -> TinyFile {
    let mut file = TinyFile::new();
    let source = file.view(packed);
    let offset = file.json["bufferViews"][source]["byteOffset"].clone();
    file.push(
        "bufferViews",
        json!({"buffer": 1, "byteLength": count * stride, "byteStride": stride, "extensions": {
            "EXT_meshopt_compression": {"buffer": 0, "byteOffset": offset, "byteLength": packed.len(),
                "byteStride": stride, "count": count, "mode": mode, "filter": filter}
        }}),
    );
    file.json["meshes"] = json!([{"primitives": [{"attributes": {"POSITION": 0}}]}]);
    file.json["nodes"] = json!([{"mesh": 0}]);
    file.json["extensionsRequired"] = json!(["EXT_meshopt_compression"]);
    file
}

#[test]
fn meshopt_vertices_decompress() {
    let corners: Vec<[f32; 4]> = (0..501).map(|i| [i as f32, 0.5, -(i as f32), 0.0]).collect();
    let packed = meshopt::encode_vertex_buffer(&corners).unwrap();
    assert!(packed.len() < 16 * corners.len() / 2);
    let mut file = compressed(&packed, 501, 16, "ATTRIBUTES", "NONE");
    file.accessor(1, F32, "VEC3", 501);
    let mesh = &file.read_sound().meshes[0];
    assert!(mesh.positions.iter().zip(&corners).all(|(p, c)| p.to_array() == c[..3]));
}

#[test]
fn meshopt_triangles_and_sequences_decompress() {
    let triangles: Vec<u32> = (0..100).flat_map(|i| [i, i + 1, i + 2]).collect();
    let packed = [
        ("TRIANGLES", meshopt::encode_index_buffer(&triangles, 102).unwrap()),
        ("INDICES", meshopt::encode_index_sequence(&triangles, 102).unwrap()),
    ];
    for (mode, packed) in packed {
        let mut file = compressed(&packed, 300, 4, mode, "NONE");
        let indices = file.accessor(1, U32, "SCALAR", 300);
        let positions = file.list(F32, "VEC3", &[[0f32; 3]; 102]);
        file.json["meshes"][0]["primitives"][0] =
            json!({"attributes": {"POSITION": positions}, "indices": indices});
        let mut found = file.read_sound().meshes.remove(0).corners;
        // The codec may turn a triangle to start at another corner.
        for triangle in found.chunks_mut(3) {
            triangle.sort();
        }
        assert_eq!(found, triangles, "{mode}");
    }
}

#[test]
fn meshopt_filters_give_unit_vectors_back() {
    let direction = Vec3::new(0.6, 0.0, -0.8);
    let packed_oct = meshopt::encode_filter_oct::<i16>(&[[0.6, 0.0, -0.8, 0.0]; 9], 16);
    let packed = meshopt::encode_vertex_buffer(&packed_oct).unwrap();
    let mut file = compressed(&packed, 9, 8, "ATTRIBUTES", "OCTAHEDRAL");
    let accessor = file.accessor(1, I16, "VEC3", 9);
    file.json["accessors"][accessor]["normalized"] = json!(true);
    assert!(file.read_sound().meshes[0].positions[7].distance(direction) < 1e-3);
}

#[test]
fn meshopt_counts_are_checked_against_the_compressed_bytes() {
    let packed = meshopt::encode_vertex_buffer(&[[0f32; 4]; 16]).unwrap();
    for (count, stride) in [(1 << 40, 16), (usize::MAX, 256), (1 << 20, 16), (16, 0), (16, 3), (4, 512)] {
        for mode in ["ATTRIBUTES", "TRIANGLES", "INDICES", "?"] {
            let mut file = compressed(&packed, 16, 16, mode, "NONE");
            let extension = &mut file.json["bufferViews"][1]["extensions"]["EXT_meshopt_compression"];
            extension["count"] = json!(count);
            extension["byteStride"] = json!(stride);
            file.accessor(1, F32, "VEC3", 16);
            let error = file.read().unwrap_err().to_string();
            assert!(error.contains("bufferView 1"), "{count} {stride} {mode}: {error}");
        }
    }
}
