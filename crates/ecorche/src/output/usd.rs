//! USD text (`.usda`): every mesh of a character with its points at every frame.
//!
//! Time samples are grouped by attribute, not by frame, so frames first go to a nameless temporary
//! file of plain numbers and become text mesh by mesh at the end; memory holds one frame of one mesh.

use super::file::PendingFile;
use super::{CacheWriter, Shot, WriteError};
use crate::character::{Mesh, World};
use crate::frame::Frame;
use crate::geom::mesh::bounds;
use glam::Vec3;
use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::fs::File;
use std::io::{BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

/// A `.usda` cache being written.
pub struct UsdWriter<'a> {
    path: PathBuf,
    shot: Shot<'a>,
    world: World,
    /// Frames as 32-bit numbers: per mesh its points, then its normals.
    spool: BufWriter<File>,
    frames: usize,
    bytes: Vec<u8>,
}

impl<'a> UsdWriter<'a> {
    /// Starts a cache.
    pub fn create(path: &Path, shot: &Shot<'a>) -> Result<Self, WriteError> {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let spool = tempfile::tempfile_in(folder)
            .map_err(|source| WriteError::Io { path: path.to_owned(), source })?;
        Ok(Self {
            path: path.to_owned(),
            shot: shot.clone(),
            world: stage_world(shot.character.world),
            spool: BufWriter::with_capacity(1 << 18, spool),
            frames: 0,
            bytes: Vec::new(),
        })
    }
}

/// The user's world if USD can state it: right-handed with Y or Z up. Others come out Y up.
fn stage_world(user: World) -> World {
    if !user.is_mirrored() && ["Y", "Z"].contains(&user.up_name()) {
        return user;
    }
    World::y_up(user.metres_per_unit)
}

impl CacheWriter for UsdWriter<'_> {
    fn write_frame(&mut self, frame: &Frame) -> Result<(), WriteError> {
        for mesh in &frame.meshes {
            self.bytes.clear();
            let points = mesh.positions.iter().map(|&p| self.world.to_user(p));
            let normals = mesh.normals.iter().map(|&n| self.world.direction_to_user(n));
            for number in points.chain(normals).flat_map(|v| v.to_array()) {
                self.bytes.extend(number.to_le_bytes());
            }
            let written = self.spool.write_all(&self.bytes);
            written.map_err(|source| WriteError::Io { path: self.path.clone(), source })?;
        }
        self.frames += 1;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<PathBuf>, WriteError> {
        let Self { path, shot, world, spool, frames, .. } = *self;
        let to_error = |source| WriteError::Io { path: path.clone(), source };
        let mut file = PendingFile::create(&path)?;
        let spool = spool.into_inner().map_err(|error| to_error(error.into_error()))?;
        let mut stage = Stage { out: &mut file, spool, shot: &shot, world, frames };
        stage.write().map_err(to_error)?;
        Ok(vec![file.commit()?])
    }
}

/// Turns the spooled numbers into text.
struct Stage<'s, 'a> {
    out: &'s mut PendingFile,
    spool: File,
    shot: &'s Shot<'a>,
    world: World,
    frames: usize,
}

impl Stage<'_, '_> {
    fn write(&mut self) -> std::io::Result<()> {
        let character = self.shot.character;
        let mut taken = BTreeMap::new();
        let root = identifier(&character.name, &mut BTreeMap::new());
        self.header(&root)?;
        writeln!(self.out, "\ndef Xform \"{root}\" (")?;
        self.display_name(&root, &character.name, "    ")?;
        writeln!(self.out, "    kind = \"component\"\n)\n{{")?;
        let frame_size: u64 = character.meshes.iter().map(spooled_bytes).sum();
        let mut start = 0;
        for mesh in &character.meshes {
            let name = identifier(&mesh.name, &mut taken);
            self.mesh(mesh, &name, start, frame_size)?;
            start += spooled_bytes(mesh);
        }
        writeln!(self.out, "}}")
    }

    fn header(&mut self, root: &str) -> std::io::Result<()> {
        let Shot { fps, first_frame, .. } = *self.shot;
        let last_frame = first_frame + self.frames.saturating_sub(1);
        let up = self.world.up_name();
        let metres = self.world.metres_per_unit;
        writeln!(self.out, "#usda 1.0\n(\n    defaultPrim = \"{root}\"")?;
        writeln!(self.out, "    doc = \"ecorche {}\"", env!("CARGO_PKG_VERSION"))?;
        writeln!(self.out, "    endTimeCode = {last_frame}\n    framesPerSecond = {fps}")?;
        writeln!(self.out, "    metersPerUnit = {metres}\n    startTimeCode = {first_frame}")?;
        writeln!(self.out, "    timeCodesPerSecond = {fps}\n    upAxis = \"{up}\"\n)")
    }

    /// The user's own name where it could not be kept.
    fn display_name(&mut self, identifier: &str, name: &str, indent: &str) -> std::io::Result<()> {
        if identifier == name {
            return Ok(());
        }
        writeln!(self.out, "{indent}displayName = {}", quoted(name))
    }

    fn mesh(&mut self, mesh: &Mesh, name: &str, start: u64, frame_size: u64) -> std::io::Result<()> {
        writeln!(self.out, "    def Mesh \"{name}\" (")?;
        self.display_name(name, &mesh.name, "        ")?;
        writeln!(self.out, "    )\n    {{")?;
        let sizes = mesh.faces.starts.windows(2).map(|pair| pair[1] - pair[0]);
        self.list("int[] faceVertexCounts", sizes, "")?;
        self.list("int[] faceVertexIndices", mesh.faces.corners.iter().copied(), "")?;
        if !mesh.corner_uvs.is_empty() {
            let uvs = mesh.corner_uvs.iter().map(|uv| format!("({}, {})", uv.x, uv.y));
            self.list("texCoord2f[] primvars:st", uvs, " (interpolation = \"faceVarying\")")?;
        }
        writeln!(self.out, "        uniform token subdivisionScheme = \"none\"")?;

        let points = (start, mesh.positions.len());
        let normals = (start + 12 * mesh.positions.len() as u64, mesh.shading.slots);
        self.samples("float3[] extent", points, frame_size, "", |points| {
            let (low, high) = bounds(points);
            vec![low, high]
        })?;
        self.samples("point3f[] points", points, frame_size, "", <[Vec3]>::to_vec)?;
        match slot_of_vertex(mesh) {
            Some(slots) => {
                let of_vertex = |normals: &[Vec3]| slots.iter().map(|&s| normals[s as usize]).collect();
                let meaning = " (interpolation = \"vertex\")";
                self.samples("normal3f[] normals", normals, frame_size, meaning, of_vertex)?;
            }
            None => {
                // Hard edges: each normal once, and which of them every corner has.
                let meaning = " (interpolation = \"faceVarying\")";
                self.samples("normal3f[] primvars:normals", normals, frame_size, meaning, <[Vec3]>::to_vec)?;
                let slots = mesh.shading.slot_of_corner.iter().copied();
                self.list("int[] primvars:normals:indices", slots, "")?;
            }
        }
        self.materials(mesh)?;
        writeln!(self.out, "    }}")
    }

    fn list(
        &mut self,
        name: &str,
        items: impl Iterator<Item = impl Display>,
        metadata: &str,
    ) -> std::io::Result<()> {
        write!(self.out, "        {name} = [")?;
        for (i, item) in items.enumerate() {
            write!(self.out, "{}{item}", if i == 0 { "" } else { ", " })?;
        }
        writeln!(self.out, "]{metadata}")
    }

    /// An attribute over all frames, made by `values` from `count` spooled vectors at `start` of each.
    fn samples(
        &mut self,
        name: &str,
        (start, count): (u64, usize),
        frame_size: u64,
        metadata: &str,
        values: impl Fn(&[Vec3]) -> Vec<Vec3>,
    ) -> std::io::Result<()> {
        // A single frame needs no time.
        let is_still = self.frames == 1;
        if !is_still {
            if !metadata.is_empty() {
                // Samples themselves carry no metadata.
                writeln!(self.out, "        {name}{metadata}")?;
            }
            writeln!(self.out, "        {name}.timeSamples = {{")?;
        }
        let mut bytes = vec![0; 12 * count];
        let mut text = String::new();
        for frame in 0..self.frames {
            self.spool.seek(SeekFrom::Start(frame as u64 * frame_size + start))?;
            self.spool.read_exact(&mut bytes)?;
            let number = |b: &[u8; 4]| f32::from_le_bytes(*b);
            let numbers: Vec<f32> = bytes.as_chunks().0.iter().map(number).collect();
            let vectors: Vec<Vec3> = numbers.as_chunks().0.iter().map(|&v| Vec3::from_array(v)).collect();
            text.clear();
            for (i, v) in values(&vectors).into_iter().enumerate() {
                let comma = if i == 0 { "" } else { ", " };
                // Writing to a String does not fail.
                let _ = write!(text, "{comma}({}, {}, {})", v.x, v.y, v.z);
            }
            if is_still {
                return writeln!(self.out, "        {name} = [{text}]{metadata}");
            }
            writeln!(self.out, "            {}: [{text}],", self.shot.first_frame + frame)?;
        }
        writeln!(self.out, "        }}")
    }

    /// Faces by material, so that a look can be assigned again.
    fn materials(&mut self, mesh: &Mesh) -> std::io::Result<()> {
        if mesh.materials.len() < 2 || mesh.material_of_face.is_empty() {
            return Ok(());
        }
        let family = "uniform token subsetFamily:materialBind:familyType = \"partition\"";
        writeln!(self.out, "        {family}")?;
        let mut taken = BTreeMap::new();
        let mut faces_of = vec![Vec::new(); mesh.materials.len()];
        for (face, &material) in mesh.material_of_face.iter().enumerate().take(mesh.faces.len()) {
            if let Some(faces) = faces_of.get_mut(material as usize) {
                faces.push(face);
            }
        }
        for (material, faces) in mesh.materials.iter().zip(faces_of) {
            if faces.is_empty() {
                continue;
            }
            let name = identifier(material, &mut taken);
            writeln!(self.out, "        def GeomSubset \"{name}\" (")?;
            self.display_name(&name, material, "            ")?;
            writeln!(self.out, "        )\n        {{\n            uniform token elementType = \"face\"")?;
            writeln!(self.out, "            uniform token familyName = \"materialBind\"")?;
            self.list("    int[] indices", faces.into_iter(), "")?;
            writeln!(self.out, "        }}")?;
        }
        Ok(())
    }
}

/// Bytes one mesh takes in a spooled frame.
fn spooled_bytes(mesh: &Mesh) -> u64 {
    12 * (mesh.positions.len() + mesh.shading.slots) as u64
}

/// The shading slot of every vertex, if no vertex has two.
fn slot_of_vertex(mesh: &Mesh) -> Option<Vec<u32>> {
    const NONE: u32 = u32::MAX;
    let mut slots = vec![NONE; mesh.positions.len()];
    for (&v, &slot) in mesh.faces.corners.iter().zip(&mesh.shading.slot_of_corner) {
        let known = &mut slots[v as usize];
        if *known != NONE && *known != slot {
            return None;
        }
        *known = slot;
    }
    // A vertex of no face has no normal to give.
    (!slots.contains(&NONE)).then_some(slots)
}

/// A name USD accepts: letters, digits and `_`, no digit first, unused so far. `taken`: names with the last number given to each.
fn identifier(name: &str, taken: &mut BTreeMap<String, usize>) -> String {
    let mut base: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    if base.is_empty() || base.starts_with(|c: char| c.is_ascii_digit()) {
        base.insert(0, '_');
    }
    let mut unique = base.clone();
    while taken.contains_key(&unique) {
        let number = taken.entry(base.clone()).or_default();
        *number += 1;
        unique = format!("{base}_{number}");
    }
    taken.insert(unique.clone(), 0);
    unique
}

/// A string with what would end it escaped.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n").replace('\r', "\\r");
    format!("\"{escaped}\"")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::raw::{RawCharacter, RawMesh, RawNode};
    use crate::character::{Character, check, usd};
    use crate::frame::FrameMesh;

    /// Two meshes of one name: a quad with smooth normals, a corner with hard edges.
    fn character(world: World) -> Character {
        let quad = RawMesh {
            name: "Körper \"1\"".into(),
            node: Some(0),
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::X + Vec3::Y, Vec3::Y],
            face_sizes: vec![4],
            corners: vec![0, 1, 2, 3],
            corner_uvs: [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]].map(Into::into).to_vec(),
            ..RawMesh::default()
        };
        let corner = RawMesh {
            name: "2 sides".into(),
            node: Some(0),
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
            face_sizes: vec![3, 3],
            corners: vec![0, 1, 2, 0, 3, 1],
            corner_normals: [[Vec3::Z; 3], [Vec3::Y; 3]].concat(),
            materials: vec!["a".into(), "b".into()],
            material_of_face: vec![0, 1],
            ..RawMesh::default()
        };
        let node = RawNode { name: "root".into(), ..RawNode::default() };
        let raw =
            RawCharacter { world, nodes: vec![node], meshes: vec![quad, corner], ..RawCharacter::default() };
        check::check(Path::new("two meshes.x"), raw).unwrap()
    }

    fn bake(character: &Character, frames: usize) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("out.usda");
        let shot = Shot {
            character,
            clip: String::new(),
            fps: 30.0,
            first_frame: 5,
            frame_count: frames,
            options: Default::default(),
        };
        let mut writer = Box::new(UsdWriter::create(&path, &shot).unwrap());
        for f in 0..frames {
            let pose = |mesh: &Mesh| {
                let positions: Vec<Vec3> = mesh.positions.iter().map(|&p| p + Vec3::Y * f as f32).collect();
                FrameMesh { normals: mesh.shading.normals(&positions), positions }
            };
            let meshes = character.meshes.iter().map(pose).collect();
            writer.write_frame(&Frame { time: f as f32 / 30.0, meshes, ..Frame::default() }).unwrap();
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0, "nothing shows before the end");
        assert_eq!(writer.finish().unwrap(), std::slice::from_ref(&path));
        std::fs::read_to_string(path).unwrap()
    }

    #[test]
    fn our_own_reader_gives_the_meshes_back() {
        for world in [World::y_up(0.01), World::z_up(1.0)] {
            let character = character(world);
            let text = bake(&character, 1);
            let raw = usd::read_bytes(text.as_bytes(), None, Path::new("out.usda")).unwrap();
            assert_eq!(raw.world, world);
            assert_eq!(raw.meshes.len(), 2);
            for (read, written) in raw.meshes.iter().zip(&character.meshes) {
                let expected: Vec<Vec3> = written.positions.iter().map(|&p| world.to_user(p)).collect();
                assert_eq!((&read.positions, &read.corners), (&expected, &written.faces.corners));
                assert_eq!(read.corner_uvs, written.corner_uvs);
                assert_eq!(read.corner_normals.len(), read.corners.len());
            }
        }
    }

    #[test]
    fn frames_keep_their_numbers_and_names_their_letters() {
        let text = bake(&character(World::y_up(1.0)), 3);
        for part in ["startTimeCode = 5", "endTimeCode = 7", "timeCodesPerSecond = 30", "            6: ["] {
            assert!(text.contains(part), "{part} in\n{text}");
        }
        assert!(
            text.contains("def Mesh \"K_rper__1_\"") && text.contains("displayName = \"Körper \\\"1\\\"\"")
        );
        assert!(text.contains("def Mesh \"_2_sides\""));
        assert!(text.contains("int[] primvars:normals:indices") && text.contains("def GeomSubset \"b\""));
    }

    #[test]
    fn a_left_handed_world_comes_out_y_up() {
        let axes = glam::Mat3::from_cols(Vec3::X, Vec3::Y, Vec3::NEG_Z);
        let text = bake(&character(World { metres_per_unit: 1.0, axes }), 1);
        assert!(text.contains("upAxis = \"Y\""));
    }
}
