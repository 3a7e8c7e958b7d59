//! Draco: a tube that Google's encoder compressed (`tools/check_draco.py` makes the file), whole and damaged.

use super::*;

const TUBE: &[u8] = include_bytes!("../../../../tests/data/draco.glb");

fn read(bytes: &[u8]) -> Result<RawCharacter, ReadError> {
    read_bytes(bytes, None, Path::new("draco.glb"))
}

#[test]
fn attributes_are_found_by_their_ids() {
    let raw = read(TUBE).unwrap();
    let mesh = &raw.meshes[0];
    assert_eq!((mesh.positions.len(), mesh.corners.len()), (45, 3 * 64));
    let skin = mesh.skin.as_ref().unwrap();
    for &(vertex, joint, weight) in &skin.influences {
        let share = mesh.positions[vertex as usize].y / 2.0;
        let expected = if joint == 1 { share } else { 1.0 - share };
        assert!((weight - expected).abs() < 1e-3, "vertex {vertex}: joint {joint} has {weight}");
    }
    for (corner, &vertex) in mesh.corners.iter().enumerate() {
        let p = mesh.positions[vertex as usize];
        let outwards = p.with_y(0.0);
        assert!((outwards.length() - 0.5).abs() < 1e-3, "{p} is not on the tube");
        assert!(mesh.corner_normals[corner].dot(outwards.normalize()) > 0.99);
        // The file's v runs down the picture.
        assert!((mesh.corner_uvs[corner].y - (1.0 - p.y / 2.0)).abs() < 1e-3);
    }
    let outwards = mesh.corners.as_chunks::<3>().0.iter().all(|t| {
        let [a, b, c] = t.map(|v| mesh.positions[v as usize]);
        (b - a).cross(c - a).dot(((a + b + c) / 3.0).with_y(0.0)) > 0.0
    });
    assert!(outwards, "triangles wind counter-clockwise from outside");
}

#[test]
fn whose_vertex_order_it_is_is_said() {
    let repairs = read(TUBE).unwrap().repairs;
    let said: Vec<String> = repairs.iter().map(Repair::to_string).collect();
    assert!(said.iter().any(|r| r.contains("mesh \"tube\"") && r.contains("decoder's order")), "{said:?}");
}

#[test]
fn damage_is_an_error_or_another_mesh_and_never_a_crash() {
    let start = TUBE.windows(5).position(|w| w == b"DRACO").unwrap();
    let mut refused = 0;
    // Every byte of the block in turn, by a bit that changes from place to place; and ends that are missing.
    for at in start..TUBE.len() - 128 {
        let mut damaged = TUBE.to_vec();
        damaged[at] ^= 1 << (at * 5 % 8);
        refused += usize::from(read(&damaged).is_err());
        if at % 8 == 0 {
            let mut cut = TUBE.to_vec();
            cut[at..].fill(0);
            refused += usize::from(read(&cut).is_err());
        }
    }
    assert!(refused > 100, "{refused} damaged files were refused");
}

#[test]
fn an_attribute_that_is_not_in_the_block_is_named() {
    let text = String::from_utf8_lossy(TUBE);
    assert!(text.contains("\"WEIGHTS_0\":21"));
    let mut other = TUBE.to_vec();
    let at = other.windows(14).position(|w| w == b"\"WEIGHTS_0\":21").unwrap();
    other[at + 12..at + 14].copy_from_slice(b"77");
    let error = read(&other).unwrap_err().to_string();
    assert!(error.contains("draco.glb") && error.contains("no attribute 77 for WEIGHTS_0"), "{error}");
}
