//! Baked animation as one GLB file, for programs without point caches: browsers, game engines,
//! viewers.
//!
//! Every mesh of the character is a glTF mesh on a node of its own, vertices in the file's order.
//! The first frame is the mesh itself; every later one is a morph target holding the differences
//! to it. A `LINEAR` animation of the weights shows exactly frame `n` at `n / fps` seconds and mixes
//! neighbours in between. A single frame is simply a mesh.
//!
//! Space is glTF's, metres and Y up, whatever the character's file used. Each material is a plain
//! one of the same name and each gets a primitive; the primitives share their vertices. A vertex has
//! one normal (the mean, where a hard edge did not split it) and one texture coordinate; texture
//! coordinates that differ between the corners of a vertex are left out.
//!
//! Size: 24 bytes per vertex and frame (positions and normals), and 4 bytes per frame squared
//! (weights). 10 000 vertices and 250 frames take 60 MB; the format ends at 4 GB. Readers hold all
//! targets in memory: for long shots a point cache is the better choice.

use super::file::PendingFile;
use super::{CacheWriter, Shot, WriteError};
use crate::character::Mesh;
use crate::frame::{Frame, FrameMesh};
use glam::{Vec2, Vec3};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufWriter, Seek, Write};
use std::path::{Path, PathBuf};

const FLOAT: u32 = 5126;
const UNSIGNED_INT: u32 = 5125;
const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;
const MODE_POINTS: u32 = 0;
const MODE_TRIANGLES: u32 = 4;

/// Writes one `.glb` file.
pub struct GltfWriter<'a> {
    path: PathBuf,
    shot: Shot<'a>,
    binary: Binary,
    /// The first frame, one entry per mesh.
    first: Vec<Vertices>,
    /// Accessors of every frame, for each mesh.
    frames: Vec<Vec<VertexAccessors>>,
}

/// Positions and normals per file vertex.
struct Vertices {
    positions: Vec<Vec3>,
    normals: Vec<Vec3>,
}

#[derive(Clone, Copy)]
struct VertexAccessors {
    positions: usize,
    normals: usize,
}

impl VertexAccessors {
    fn attributes(self) -> Value {
        json!({"POSITION": self.positions, "NORMAL": self.normals})
    }
}

impl<'a> GltfWriter<'a> {
    /// Starts a file.
    pub fn create(path: &Path, shot: &Shot<'a>) -> Result<Self, WriteError> {
        let bytes = stated_size(shot);
        if bytes > u64::from(u32::MAX) {
            return Err(WriteError::DoesNotFit {
                path: path.to_owned(),
                problem: format!(
                    "{} frames take {bytes} bytes, more than a GLB file can hold",
                    shot.frame_count
                ),
                remedy: "bake fewer frames at a time, or bake to .pc2 or .usda".into(),
            });
        }
        Ok(Self {
            path: path.to_owned(),
            shot: shot.clone(),
            binary: Binary::create(path)?,
            first: Vec::new(),
            frames: Vec::new(),
        })
    }

    fn document(&mut self) -> Result<Value, WriteError> {
        let character = self.shot.character;
        let mut materials = Vec::new();
        let mut meshes = Vec::new();
        let mut nodes = Vec::new();
        let mut animated_nodes = Vec::new();
        for (m, mesh) in character.meshes.iter().enumerate() {
            let mut node = json!({"name": mesh.name});
            // The format knows no empty mesh.
            if !mesh.positions.is_empty() && !self.frames.is_empty() {
                node["mesh"] = json!(meshes.len());
                animated_nodes.push(nodes.len());
                meshes.push(self.mesh(m, mesh, &mut materials)?);
            }
            nodes.push(node);
        }
        let mut document = json!({
            "asset": {"version": "2.0", "generator": concat!("ecorche ", env!("CARGO_PKG_VERSION"))},
            "scene": 0,
            "scenes": [{"name": character.name}],
        });
        if self.frames.len() > 1 && !animated_nodes.is_empty() {
            document["animations"] = json!([self.animation(&animated_nodes)?]);
        }
        if !nodes.is_empty() {
            document["scenes"][0]["nodes"] = (0..nodes.len()).collect();
        }
        let lists = [
            ("nodes", nodes),
            ("meshes", meshes),
            ("materials", materials),
            ("accessors", std::mem::take(&mut self.binary.accessors)),
            ("bufferViews", std::mem::take(&mut self.binary.views)),
        ];
        // Lists may be missing, but not empty.
        for (name, list) in lists {
            if !list.is_empty() {
                document[name] = json!(list);
            }
        }
        if self.binary.length > 0 {
            document["buffers"] = json!([{"byteLength": self.binary.length}]);
        }
        Ok(document)
    }

    fn mesh(&mut self, m: usize, mesh: &Mesh, materials: &mut Vec<Value>) -> Result<Value, WriteError> {
        let mut attributes = self.frames[0][m].attributes();
        if let Some(uvs) = vertex_uvs(mesh) {
            // glTF's v runs down the picture, ours up.
            let uvs: Vec<[f32; 2]> = uvs.iter().map(|uv| [uv.x, 1.0 - uv.y]).collect();
            attributes["TEXCOORD_0"] =
                json!(self.binary.list("VEC2", FLOAT, Some(ARRAY_BUFFER), uvs.as_flattened(), uvs.len())?);
        }
        let mut template = json!({"attributes": attributes});
        let mut weights = Vec::new();
        if self.frames.len() > 1 {
            template["targets"] = self.frames[1..].iter().map(|of_mesh| of_mesh[m].attributes()).collect();
            weights = vec![0.0; self.frames.len() - 1];
        }
        let mut primitives = Vec::new();
        for (material, triangles) in triangles_by_material(mesh) {
            let mut primitive = template.clone();
            let corners = triangles.as_flattened();
            primitive["mode"] = json!(MODE_TRIANGLES);
            primitive["indices"] = json!(self.binary.list(
                "SCALAR",
                UNSIGNED_INT,
                Some(ELEMENT_ARRAY_BUFFER),
                corners,
                corners.len()
            )?);
            if let Some(name) = mesh.materials.get(material) {
                primitive["material"] = json!(material_called(name, materials));
            }
            primitives.push(primitive);
        }
        if primitives.is_empty() {
            template["mode"] = json!(MODE_POINTS);
            primitives.push(template);
        }
        let mut value = json!({"name": mesh.name, "primitives": primitives});
        if !weights.is_empty() {
            let first = self.shot.first_frame;
            let names: Vec<String> = (1..self.frames.len()).map(|k| format!("frame {}", first + k)).collect();
            value["weights"] = json!(weights);
            value["extras"] = json!({"targetNames": names});
        }
        Ok(value)
    }

    /// One sampler for all meshes: they all have one target per frame after the first.
    fn animation(&mut self, nodes: &[usize]) -> Result<Value, WriteError> {
        let (frames, targets) = (self.frames.len(), self.frames.len() - 1);
        let fps = f64::from(self.shot.fps);
        let times: Vec<f32> =
            (0..frames).map(|k| ((self.shot.first_frame + k) as f64 / fps) as f32).collect();
        let mut weights = vec![0f32; frames * targets];
        for k in 1..frames {
            weights[k * targets + k - 1] = 1.0;
        }
        let input = self.binary.list("SCALAR", FLOAT, None, &times, times.len())?;
        self.binary.state_bounds(input, &[times[0]], &[times[frames - 1]]);
        let output = self.binary.list("SCALAR", FLOAT, None, &weights, weights.len())?;
        let channels: Vec<Value> = nodes
            .iter()
            .map(|node| json!({"sampler": 0, "target": {"node": node, "path": "weights"}}))
            .collect();
        let mut animation = json!({
            "channels": channels,
            "samplers": [{"input": input, "output": output, "interpolation": "LINEAR"}],
            "extras": {"fps": self.shot.fps},
        });
        if !self.shot.clip.is_empty() {
            animation["name"] = json!(self.shot.clip);
        }
        Ok(animation)
    }
}

impl CacheWriter for GltfWriter<'_> {
    fn write_frame(&mut self, frame: &Frame) -> Result<(), WriteError> {
        let meshes = &self.shot.character.meshes;
        let fits = frame.meshes.len() == meshes.len()
            && frame.meshes.iter().zip(meshes).all(|(f, m)| f.positions.len() == m.positions.len());
        if !fits {
            return Err(WriteError::DoesNotFit {
                path: self.path.clone(),
                problem: format!("frame {} has other meshes than the character", self.frames.len()),
                remedy: "write frames of the character the file was started with".into(),
            });
        }
        let vertices: Vec<Vertices> =
            frame.meshes.iter().zip(meshes).map(|(posed, mesh)| per_vertex(posed, mesh)).collect();
        let mut accessors = Vec::with_capacity(vertices.len());
        for (m, now) in vertices.iter().enumerate() {
            accessors.push(match self.first.get(m) {
                None => self.binary.vertices(now)?,
                Some(first) => self.binary.vertices(&now.minus(first))?,
            });
        }
        if self.frames.is_empty() {
            self.first = vertices;
        }
        self.frames.push(accessors);
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<PathBuf>, WriteError> {
        let document = self.document()?;
        let mut json = document.to_string().into_bytes();
        json.resize(json.len().next_multiple_of(4), b' ');
        let io = |source| WriteError::Io { path: self.path.clone(), source };
        let mut file = PendingFile::create(&self.path)?;
        self.binary.data.rewind().map_err(io)?;
        let chunk_header = if self.binary.length > 0 { 8 } else { 0 };
        let total = 12 + 8 + json.len() as u64 + chunk_header + self.binary.length;
        let Ok(total) = u32::try_from(total) else {
            return Err(WriteError::DoesNotFit {
                path: self.path.clone(),
                problem: "the animation takes more than the 4 GB a GLB file can hold".into(),
                remedy: "bake fewer frames at a time, or bake to .pc2 or .usda".into(),
            });
        };
        file.put(b"glTF")?;
        file.put(&2u32.to_le_bytes())?;
        file.put(&total.to_le_bytes())?;
        file.put(&(json.len() as u32).to_le_bytes())?;
        file.put(b"JSON")?;
        file.put(&json)?;
        if self.binary.length > 0 {
            file.put(&(self.binary.length as u32).to_le_bytes())?;
            file.put(b"BIN\0")?;
            std::io::copy(self.binary.data.get_mut(), &mut file).map_err(io)?;
        }
        Ok(vec![file.commit()?])
    }
}

/// Bytes of vertices and weights the shot will take.
fn stated_size(shot: &Shot) -> u64 {
    let vertices: u64 = shot.character.meshes.iter().map(|m| m.positions.len() as u64).sum();
    let frames = shot.frame_count as u64;
    vertices
        .saturating_mul(24)
        .saturating_mul(frames)
        .saturating_add(frames.saturating_mul(frames).saturating_mul(4))
}

fn per_vertex(posed: &FrameMesh, mesh: &Mesh) -> Vertices {
    let normals = mesh.shading.vertex_normals(&mesh.faces.corners, &posed.normals, mesh.positions.len());
    Vertices { positions: posed.positions.clone(), normals }
}

impl Vertices {
    fn minus(&self, first: &Self) -> Self {
        let difference = |a: &[Vec3], b: &[Vec3]| a.iter().zip(b).map(|(a, b)| a - b).collect();
        Self {
            positions: difference(&self.positions, &first.positions),
            normals: difference(&self.normals, &first.normals),
        }
    }
}

/// Triangles of each material in use, ascending by material.
fn triangles_by_material(mesh: &Mesh) -> Vec<(usize, Vec<[u32; 3]>)> {
    let count = mesh.materials.len().max(1);
    let mut by_material = vec![Vec::new(); count];
    let mut next = 0;
    for f in 0..mesh.faces.len() {
        let material = mesh.material_of_face.get(f).map_or(0, |&m| m as usize).min(count - 1);
        let of_face = mesh.faces.range(f).len().saturating_sub(2);
        by_material[material].extend_from_slice(&mesh.triangles[next..next + of_face]);
        next += of_face;
    }
    by_material.into_iter().enumerate().filter(|(_, triangles)| !triangles.is_empty()).collect()
}

/// The texture coordinate of each vertex, if all its corners agree.
fn vertex_uvs(mesh: &Mesh) -> Option<Vec<Vec2>> {
    if mesh.corner_uvs.is_empty() {
        return None;
    }
    let mut uvs = vec![None; mesh.positions.len()];
    for (&v, &uv) in mesh.faces.corners.iter().zip(&mesh.corner_uvs) {
        if *uvs[v as usize].get_or_insert(uv) != uv {
            return None;
        }
    }
    Some(uvs.into_iter().map(Option::unwrap_or_default).collect())
}

/// Index of the material called `name`, made when new.
fn material_called(name: &str, materials: &mut Vec<Value>) -> usize {
    materials.iter().position(|m| m["name"] == name).unwrap_or_else(|| {
        materials.push(json!({"name": name}));
        materials.len() - 1
    })
}

/// The binary chunk, kept in an unnamed file until the JSON before it is known.
struct Binary {
    path: PathBuf,
    data: BufWriter<File>,
    length: u64,
    views: Vec<Value>,
    accessors: Vec<Value>,
}

impl Binary {
    fn create(path: &Path) -> Result<Self, WriteError> {
        let folder = path.parent().filter(|f| !f.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let file = tempfile::tempfile_in(folder)
            .map_err(|source| WriteError::Io { path: path.to_owned(), source })?;
        Ok(Self {
            path: path.to_owned(),
            data: BufWriter::with_capacity(1 << 18, file),
            length: 0,
            views: Vec::new(),
            accessors: Vec::new(),
        })
    }

    /// Appends `count` elements made of four-byte numbers and gives their accessor.
    fn list<T: bytemuck::Pod>(
        &mut self,
        shape: &str,
        component: u32,
        target: Option<u32>,
        numbers: &[T],
        count: usize,
    ) -> Result<usize, WriteError> {
        const { assert!(size_of::<T>() == 4) };
        // The format is little-endian.
        #[cfg(target_endian = "big")]
        compile_error!("numbers must be turned to little-endian here");
        let bytes: &[u8] = bytemuck::cast_slice(numbers);
        self.data.write_all(bytes).map_err(|source| WriteError::Io { path: self.path.clone(), source })?;
        let mut view = json!({"buffer": 0, "byteOffset": self.length, "byteLength": bytes.len()});
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.length += bytes.len() as u64;
        self.views.push(view);
        self.accessors.push(json!({
            "bufferView": self.views.len() - 1, "componentType": component, "type": shape, "count": count
        }));
        Ok(self.accessors.len() - 1)
    }

    fn vertices(&mut self, vertices: &Vertices) -> Result<VertexAccessors, WriteError> {
        let mut vectors = |list: &[Vec3]| {
            let numbers: Vec<[f32; 3]> = list.iter().map(|v| v.to_array()).collect();
            self.list("VEC3", FLOAT, Some(ARRAY_BUFFER), numbers.as_flattened(), list.len())
        };
        let positions = vectors(&vertices.positions)?;
        let normals = vectors(&vertices.normals)?;
        let (low, high) = crate::geom::mesh::bounds(&vertices.positions);
        self.state_bounds(positions, &low.to_array(), &high.to_array());
        Ok(VertexAccessors { positions, normals })
    }

    fn state_bounds(&mut self, accessor: usize, low: &[f32], high: &[f32]) {
        self.accessors[accessor]["min"] = json!(low);
        self.accessors[accessor]["max"] = json!(high);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::raw::{RawChannel, RawCharacter, RawMesh};
    use crate::character::{Character, check, gltf as reader};

    /// Two triangles of two materials, a hard edge between them, and a lone point.
    fn character() -> Character {
        let folded = RawMesh {
            name: "Fold".into(),
            positions: vec![Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z],
            face_sizes: vec![3, 3],
            corners: vec![0, 1, 2, 0, 2, 3],
            corner_uvs: [0.0, 0.1, 0.2, 0.0, 0.2, 0.3].map(|u| Vec2::new(u, 0.25)).to_vec(),
            materials: vec!["unused".into(), "skin".into(), "cloth".into()],
            material_of_face: vec![2, 1],
            ..RawMesh::default()
        };
        let point = RawMesh { name: "Dot".into(), positions: vec![Vec3::ONE], ..RawMesh::default() };
        let empty = RawMesh { name: "Nothing".into(), ..RawMesh::default() };
        let raw = RawCharacter { meshes: vec![folded, point, empty], ..RawCharacter::default() };
        check::check(Path::new("fold.obj"), raw).unwrap()
    }

    /// The character lifted and stretched over time.
    fn frame(character: &Character, k: usize) -> Frame {
        let meshes = character.meshes.iter().map(|mesh| {
            let moved = |p: &Vec3| *p * (1.0 + 0.37 * k as f32) + Vec3::new(0.0, 0.1 * k as f32, 0.0);
            let positions: Vec<Vec3> = mesh.positions.iter().map(moved).collect();
            let normals = mesh.shading.normals(&positions);
            FrameMesh { positions, normals }
        });
        Frame { meshes: meshes.collect(), ..Frame::default() }
    }

    fn bake(character: &Character, frame_count: usize, first_frame: usize) -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bake.glb");
        let shot = Shot { first_frame, ..shot_of(character, frame_count) };
        let mut writer = Box::new(GltfWriter::create(&path, &shot).unwrap());
        for k in 0..frame_count {
            writer.write_frame(&frame(character, first_frame + k)).unwrap();
        }
        assert_eq!(writer.finish().unwrap(), std::slice::from_ref(&path));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        std::fs::read(path).unwrap()
    }

    fn shot_of(character: &Character, frame_count: usize) -> Shot<'_> {
        Shot {
            character,
            clip: "wave".into(),
            fps: 24.0,
            first_frame: 0,
            frame_count,
            options: Default::default(),
        }
    }

    #[test]
    fn our_reader_gives_every_frame_back_at_its_time() {
        let character = character();
        let bytes = bake(&character, 4, 2);
        let raw = reader::read_bytes(&bytes, None, Path::new("bake.glb")).unwrap();
        // The lone point is the only thing to mention.
        assert_eq!(raw.repairs.len(), 1, "{:?}", raw.repairs);
        let back = check::check(Path::new("bake.glb"), raw).unwrap();
        let clip = back.clip("wave").unwrap();
        assert_eq!(clip.fps, Some(24.0));
        for k in 2..6 {
            let mut pose = crate::character::Pose::rest(&back);
            clip.sample(k as f32 / 24.0, &mut pose);
            let expected = frame(&character, k);
            for (m, mesh) in back.meshes.iter().enumerate() {
                let mut positions = Vec::new();
                mesh.morphed(&pose.morph_weights[m], &mut positions);
                assert_eq!(positions.len(), expected.meshes[m].positions.len());
                for (p, q) in positions.iter().zip(&expected.meshes[m].positions) {
                    assert!(p.distance(*q) < 1e-6, "frame {k}: {p} is not {q}");
                }
            }
        }
    }

    #[test]
    fn names_materials_and_texture_coordinates_survive() {
        let bytes = bake(&character(), 2, 0);
        let raw = reader::read_bytes(&bytes, None, Path::new("bake.glb")).unwrap();
        let fold = &raw.meshes[0];
        assert_eq!((fold.name.as_str(), &fold.materials[..]), ("Fold", &["skin".into(), "cloth".into()][..]));
        assert_eq!(fold.corners, [0, 2, 3, 0, 1, 2]);
        let uvs = [0.0, 0.2, 0.3, 0.0, 0.1, 0.2].map(|u| Vec2::new(u, 0.25));
        assert_eq!(fold.corner_uvs, uvs);
        assert!(raw.clips[0].tracks.iter().all(|t| matches!(t.channel, RawChannel::Morph(..))));
        assert_eq!(raw.nodes.iter().map(|n| n.name.as_str()).collect::<Vec<_>>(), ["Fold", "Dot", "Nothing"]);
    }

    #[test]
    fn an_independent_validator_finds_nothing() {
        for frame_count in [1, 3] {
            let bytes = bake(&character(), frame_count, 0);
            let file = gltf::Gltf::from_slice(&bytes).unwrap();
            assert_eq!(file.meshes().len(), 2);
            assert_eq!(file.animations().len(), usize::from(frame_count > 1));
            let blob = file.blob.as_deref().unwrap();
            let mesh = file.meshes().next().unwrap();
            let primitive = mesh.primitives().next().unwrap();
            let reader = primitive.reader(|_| Some(blob));
            assert_eq!(reader.read_positions().unwrap().nth(3), Some([0.0, 0.0, 1.0]));
            assert_eq!(reader.read_morph_targets().len(), frame_count - 1);
            assert!(reader.read_normals().unwrap().all(|n| (Vec3::from(n).length() - 1.0).abs() < 1e-6));
            assert_eq!(primitive.bounding_box().max, [1.0; 3]);
        }
    }

    #[test]
    fn texture_coordinates_that_differ_at_a_vertex_are_left_out() {
        let mut character = character();
        character.meshes[0].corner_uvs[3].x = 0.9;
        let raw = reader::read_bytes(&bake(&character, 1, 0), None, Path::new("bake.glb")).unwrap();
        assert!(raw.meshes[0].corner_uvs.is_empty());
    }

    #[test]
    fn a_shot_too_long_for_the_format_is_refused_at_once() {
        let character = character();
        let shot = shot_of(&character, 1 << 20);
        let folder = tempfile::tempdir().unwrap();
        let refused = GltfWriter::create(&folder.path().join("long.glb"), &shot);
        assert!(matches!(refused, Err(WriteError::DoesNotFit { .. })));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_frame_of_another_character_is_refused() {
        let character = character();
        let shot = shot_of(&character, 1);
        let folder = tempfile::tempdir().unwrap();
        let mut writer = GltfWriter::create(&folder.path().join("a.glb"), &shot).unwrap();
        assert!(writer.write_frame(&Frame::default()).is_err());
        drop(writer);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_single_frame_is_a_plain_mesh() {
        let character = character();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("still.glb");
        let shot = Shot { clip: String::new(), ..shot_of(&character, 1) };
        let mut writer = Box::new(GltfWriter::create(&path, &shot).unwrap());
        writer.write_frame(&frame(&character, 1)).unwrap();
        writer.finish().unwrap();
        let raw = reader::read_bytes(&std::fs::read(&path).unwrap(), None, &path).unwrap();
        assert!(raw.clips.is_empty() && raw.meshes[0].morphs.is_empty());
        assert_eq!(raw.meshes[0].positions, frame(&character, 1).meshes[0].positions);
    }
}
