//! What the archive holds, read back by a small reader of the container. `tools/check_alembic.py` does the same with the
//! format's own library.

use super::*;
use crate::character::raw::{RawCharacter, RawMesh, RawNode};
use crate::character::{Character, check};
use crate::frame::FrameMesh;
use crate::output::CacheOptions;
use glam::Vec3;

/// A quad and a triangle, in a world of inches with Z up.
fn character() -> Character {
    let quad = RawMesh {
        name: "a/b".into(),
        node: Some(0),
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Z, Vec3::Z],
        face_sizes: vec![4],
        corners: vec![0, 1, 2, 3],
        materials: vec!["skin".into()],
        ..RawMesh::default()
    };
    let triangle = RawMesh {
        name: "a_b".into(),
        node: Some(0),
        positions: vec![Vec3::ZERO, Vec3::X, Vec3::Z],
        face_sizes: vec![3],
        corners: vec![0, 1, 2],
        ..RawMesh::default()
    };
    let node = RawNode { name: "root".into(), ..RawNode::default() };
    let world = World::z_up(0.0254);
    let raw =
        RawCharacter { world, nodes: vec![node], meshes: vec![quad, triangle], ..RawCharacter::default() };
    check::check(Path::new("two.x"), raw).unwrap()
}

/// Bakes frames in which everything moves up by one metre each, and gives the files back.
fn bake(character: &Character, frames: usize, options: CacheOptions) -> Vec<(String, Vec<u8>)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.abc");
    let shot =
        Shot { character, clip: String::new(), fps: 10.0, first_frame: 5, frame_count: frames, options };
    let mut writer = Box::new(AlembicWriter::create(&path, &shot).unwrap());
    for f in 0..frames {
        let pose = |mesh: &crate::character::Mesh| {
            let positions: Vec<Vec3> = mesh.positions.iter().map(|&p| p + Vec3::Y * f as f32).collect();
            FrameMesh { normals: mesh.shading.normals(&positions), positions }
        };
        let meshes = character.meshes.iter().map(pose).collect();
        writer.write_frame(&Frame { meshes, ..Frame::default() }).unwrap();
    }
    let files = writer.finish().unwrap();
    assert_eq!(files, paths(&path, &shot));
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    files.iter().map(|path| (name(path), std::fs::read(path).unwrap())).collect()
}

/// A group or block of a file.
#[derive(Clone, Copy)]
struct Thing<'a>(&'a [u8], u64);

impl<'a> Thing<'a> {
    fn root(file: &'a [u8]) -> Self {
        assert_eq!(&file[..8], b"Ogawa\xff\0\x01");
        Self(file, word(file, 8))
    }

    fn members(self) -> Vec<Self> {
        let count = if self.1 == 0 { 0 } else { word(self.0, self.1) };
        (0..count).map(|i| Self(self.0, word(self.0, self.1 + 8 + 8 * i))).collect()
    }

    fn bytes(self) -> &'a [u8] {
        let at = (self.1 & !(1 << 63)) as usize;
        if at == 0 { &[] } else { &self.0[at + 8..at + 8 + word(self.0, at as u64) as usize] }
    }

    /// Numbers of a sample, behind its key.
    fn floats(self) -> Vec<f32> {
        self.bytes()[16..].as_chunks().0.iter().map(|&b| f32::from_le_bytes(b)).collect()
    }
}

fn word(bytes: &[u8], at: u64) -> u64 {
    u64::from_le_bytes(bytes[at as usize..at as usize + 8].try_into().unwrap())
}

/// The property `number` of the polygon mesh `mesh` of a file.
fn property(file: &[u8], mesh: usize, number: usize) -> Thing<'_> {
    let top = Thing::root(file).members()[2].members();
    let shape = top[1 + mesh].members()[1];
    let geometry = shape.members()[0].members()[0];
    geometry.members()[number]
}

const POINTS: usize = 1;
const FACES: usize = 2;
const VELOCITIES: usize = 4;

#[test]
fn points_are_y_up_in_the_files_unit_and_faces_wind_clockwise() {
    let files = bake(&character(), 2, CacheOptions::default());
    let [(name, file)] = files.as_slice() else { panic!("{} files", files.len()) };
    assert_eq!(name, "out.abc");
    let samples = property(file, 0, POINTS).members();
    assert_eq!(samples.len(), 4, "two frames, each with empty dimensions");
    // One inch along Z of the file is up.
    assert!((samples[0].floats()[7] - 1.0).abs() < 1e-5, "{:?}", samples[0].floats());
    assert!((samples[2].floats()[7] - 1.0 - 1.0 / 0.0254).abs() < 1e-4);
    let corners = property(file, 0, FACES).members()[0].bytes()[16..].to_vec();
    assert_eq!(corners, [3u32, 2, 1, 0].map(u32::to_le_bytes).concat());
}

#[test]
fn names_are_kept_apart_and_hold_no_path() {
    let (_, file) = bake(&character(), 1, CacheOptions::default()).remove(0);
    let top = Thing::root(&file).members()[2].members();
    let table = String::from_utf8_lossy(top.last().unwrap().bytes()).into_owned();
    assert!(table.contains("a_b") && table.contains("a_b_2") && !table.contains('/'), "{table:?}");
}

#[test]
fn times_are_seconds() {
    let (_, file) = bake(&character(), 3, CacheOptions::default()).remove(0);
    let times = Thing::root(&file).members()[4].bytes().to_vec();
    let number = |at: usize| f64::from_le_bytes(times[at..at + 8].try_into().unwrap());
    // The second sampling: samples, step, number of times, first.
    assert_eq!(u32::from_le_bytes(times[24..28].try_into().unwrap()), 3);
    assert!((number(28) - 0.1).abs() < 1e-12 && (number(40) - 0.5).abs() < 1e-12);
}

#[test]
fn centimetres_velocities_and_merged_meshes_are_as_asked_for() {
    let options = CacheOptions {
        meshes: Meshes::Merged,
        velocities: true,
        no_normals: true,
        metres_per_unit: Some(0.01),
    };
    let files = bake(&character(), 3, options);
    assert_eq!(files.len(), 1);
    let file = &files[0].1;
    let points = property(file, 0, POINTS).members()[0].floats();
    assert_eq!(points.len(), 3 * 7);
    assert!((points[7] - 2.54).abs() < 1e-5, "{points:?}");
    for frame in 0..3 {
        let velocities = property(file, 0, VELOCITIES).members()[2 * frame].floats();
        // A metre a frame, ten frames a second.
        let right = velocities
            .as_chunks()
            .0
            .iter()
            .all(|[x, y, z]| *x == 0.0 && (y - 1000.0).abs() < 1e-2 && *z == 0.0);
        assert!(right, "{velocities:?}");
    }
}

#[test]
fn a_file_for_each_mesh_has_its_name() {
    let options = CacheOptions { meshes: Meshes::Files, ..CacheOptions::default() };
    let names: Vec<String> = bake(&character(), 1, options).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["out.a_b-2.abc", "out.a_b.abc"]);
}

#[test]
fn other_formats_refuse_what_they_do_not_do() {
    let options = CacheOptions { velocities: true, ..CacheOptions::default() };
    let error = options.check(Path::new("a.pc2"), crate::output::Format::Pc2).unwrap_err().to_string();
    assert!(error.contains("a.pc2") && error.contains("velocities") && error.contains(".abc"), "{error}");
    assert!(options.check(Path::new("a.abc"), crate::output::Format::Abc).is_ok());
}
