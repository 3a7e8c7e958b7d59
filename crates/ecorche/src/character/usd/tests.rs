//! Whole small files. `arm.usdc` is `arm.usda` as the USD library writes it.

use super::*;
use crate::character::damage::damaged;
use crate::character::raw::RawChannel;
use glam::{Mat4, Quat, Vec2, Vec3};

const TEXT: &[u8] = include_bytes!("arm.usda");
const BINARY: &[u8] = include_bytes!("arm.usdc");

fn read_arm(bytes: &[u8]) -> RawCharacter {
    read_bytes(bytes, None, Path::new("arm.usd")).unwrap()
}

/// A package of stored members.
fn package(members: &[(&str, &[u8])]) -> Vec<u8> {
    let (mut body, mut directory) = (Vec::new(), Vec::new());
    for (name, content) in members {
        let start = body.len() as u32;
        let size = content.len() as u32;
        let mut fields = Vec::new();
        fields.extend([0u8; 14]); // version, flags, method, time, checksum
        fields.extend([size.to_le_bytes(), size.to_le_bytes()].concat());
        fields.extend((name.len() as u16).to_le_bytes());
        fields.extend([0, 0]);
        body.extend([b"PK\x03\x04", &fields[..], name.as_bytes(), content].concat());
        directory.extend(b"PK\x01\x02\0\0");
        directory.extend([&fields[..], &[0; 10], &start.to_le_bytes(), name.as_bytes()].concat());
    }
    let counts = [[0, 0, 0, 0], [members.len() as u8, 0, members.len() as u8, 0]].concat();
    let place = [(directory.len() as u32).to_le_bytes(), (body.len() as u32).to_le_bytes()].concat();
    [&body, &directory, &b"PK\x05\x06"[..], &counts, &place, &[0, 0]].concat()
}

#[test]
fn text_binary_and_package_say_the_same() {
    let text = format!("{:?}", read_arm(TEXT));
    assert_eq!(text, format!("{:?}", read_arm(BINARY)));
    assert_eq!(text, format!("{:?}", read_arm(&package(&[("arm.usda", TEXT)]))));
    assert_eq!(text, format!("{:?}", read_arm(&package(&[("a.png", b"x"), ("arm.usdc", BINARY)]))));
}

#[test]
fn a_skinned_mesh_keeps_everything() {
    let raw = read_arm(BINARY);
    assert_eq!((raw.world.up_name(), raw.world.metres_per_unit), ("Z", 0.01));
    let mesh = &raw.meshes[0];
    assert_eq!(mesh.name, "Skin");
    // Left-handed faces turn over, with their corners' attributes.
    assert_eq!(mesh.corners, [2, 3, 1, 0, 4, 5, 3, 2]);
    assert_eq!(mesh.corner_uvs[..2], [Vec2::ZERO, Vec2::new(1.0, 0.25)]);
    assert_eq!(
        (mesh.materials.as_slice(), &mesh.material_of_face[..]),
        (&[String::new(), "Red".into()][..], &[0, 1][..])
    );
    let skin = mesh.skin.as_ref().unwrap();
    let names: Vec<&str> = skin.joints.iter().map(|&n| raw.nodes[n].name.as_str()).collect();
    assert_eq!(names, ["upper", "lower"]);
    assert_eq!(raw.nodes[skin.joints[1]].parent, Some(skin.joints[0]));
    // The mesh lists the joints the other way round; zero weights are not listed.
    assert_eq!(skin.influences[..3], [(0, 0, 1.0), (1, 0, 1.0), (2, 0, 0.5)]);
    assert_eq!(skin.influences[7], (5, 1, 1.0));
    assert_eq!(skin.influences.len(), 8);
    assert_eq!(skin.joint_from_mesh[1], Mat4::from_translation(Vec3::new(3.0, 0.0, -2.0)));
    assert!(skin.dual_quaternion, "inherited from a class");
    assert_eq!(mesh.morphs[0].offsets, [(3, Vec3::Y)]);
    assert!(raw.repairs.iter().any(|r| r.subject == "1 Sphere"));
    assert!(!raw.nodes.iter().any(|n| ["Off", "Library"].contains(&n.name.as_str())));
}

#[test]
fn the_scene_is_one_clip_and_loose_animations_are_others() {
    let raw = read_arm(TEXT);
    let names: Vec<&str> = raw.clips.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names, ["Bend", "Still"]);
    let bend = &raw.clips[0];
    assert_eq!((bend.fps, bend.range), (Some(10.0), Some((1.0, 2.0))));
    let node = |name: &str| raw.nodes.iter().position(|n| n.name == name).unwrap();
    let (lower, root) = (node("lower"), node("Arm"));
    let mut seen = 0;
    for track in &bend.tracks {
        match &track.channel {
            RawChannel::Rotation(n, values) if *n == lower => {
                let quarter = Quat::from_rotation_x(std::f32::consts::FRAC_PI_2);
                assert!(values[1].dot(quarter).abs() > 1.0 - 1e-6);
            }
            RawChannel::Scale(n, values) if *n == lower => assert_eq!(values, &[Vec3::new(1.0, 1.0, 0.5)]),
            RawChannel::Translation(n, values) if *n == root => assert_eq!(values[1], Vec3::Z * 5.0),
            RawChannel::Morph(0, 0, values) => assert_eq!(values, &[0.0, 1.0]),
            _ => continue,
        }
        seen += 1;
    }
    assert_eq!(seen, 4);
}

#[test]
fn references_and_variants_are_followed() {
    let raw = read_arm(TEXT);
    let copy = raw.nodes.iter().find(|n| n.name == "Copy").unwrap();
    assert_eq!(copy.local.scale, Vec3::splat(7.0), "the chosen variant counts");
    let square = raw.meshes.iter().find(|m| m.name == "Square").unwrap();
    assert_eq!(square.corner_normals, [Vec3::Z; 4]);
    // The binding's path follows the reference.
    assert_eq!(square.materials, ["Paint"]);
}

#[test]
fn other_layers_come_from_the_package_or_the_folder() {
    let root = b"#usda 1.0\n(subLayers = [@./over.usda@])\n\
        def Xform \"A\" (references = @parts/b.usda@</B> (offset = 10; scale = 2)) {}";
    let over = b"#usda 1.0\nover \"A\" { token kept = \"yes\" }";
    let b = b"#usda 1.0\n(timeCodesPerSecond = 24)\ndef Xform \"B\" { def Mesh \"M\" { point3f[] points = [(1, 2, 3)] }\n\
        double3 xformOp:translate.timeSamples = { 1: (0, 0, 0), 7: (24, 0, 0) }\n\
        uniform token[] xformOpOrder = [\"xformOp:translate\"] }";
    let packed = package(&[("root.usda", root), ("over.usda", over), ("parts/b.usda", b)]);
    let from_package = read_arm(&packed);
    assert_eq!(from_package.meshes[0].positions, [Vec3::new(1.0, 2.0, 3.0)]);
    // Samples at 1 and 7 stand at 12 and 24 in the scene.
    assert_eq!(from_package.clips[0].tracks[0].times, [0.5, 1.0]);

    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("parts")).unwrap();
    for (name, content) in [("root.usda", &root[..]), ("over.usda", over), ("parts/b.usda", b)] {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    let from_folder = read_bytes(root, Some(folder.path()), Path::new("root.usda")).unwrap();
    assert_eq!(format!("{from_folder:?}"), format!("{from_package:?}"));

    let alone = read_arm(root);
    assert!(alone.repairs.iter().any(|r| r.problem.contains("parts/b.usda")), "{:?}", alone.repairs);
}

#[test]
fn a_scene_made_of_itself_is_refused() {
    for text in ["def \"A\" (references = </A>) {}", "def \"A\" { def \"B\" (references = </A>) {} }"] {
        let error =
            read_bytes(format!("#usda 1.0\n{text}").as_bytes(), None, Path::new("loop.usda")).unwrap_err();
        assert!(error.to_string().contains("itself"), "{error}");
    }
}

#[test]
fn old_crate_versions_are_named() {
    let mut bytes = BINARY.to_vec();
    bytes[9] = 1;
    let error = read_bytes(&bytes, None, Path::new("old.usdc")).unwrap_err();
    assert!(error.to_string().contains("crate version 0.1.0"), "{error}");
}

#[test]
fn every_truncation_is_an_error_or_a_character() {
    for bytes in [TEXT, BINARY, &package(&[("arm.usdc", BINARY)])] {
        for end in (0..bytes.len()).step_by(7) {
            let _ = read_bytes(&bytes[..end], None, Path::new("cut.usd"));
        }
    }
}

#[test]
fn damaged_files_never_panic() {
    let packed = package(&[("arm.usdc", BINARY)]);
    arbtest::arbtest(|u| {
        let sound = *u.choose(&[TEXT, BINARY, &packed])?;
        let words = ["-1", "99999999999", "nan", "[", "(", "{", "}", "None", "\""];
        let bytes = damaged(u, sound, &words)?;
        let _ = read_bytes(&bytes, None, Path::new("damaged.usd"));
        Ok(())
    })
    .budget_ms(1200);
}
