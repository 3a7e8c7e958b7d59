//! Wavefront OBJ: polygons without skeleton or motion.
//!
//! The file's vertices stay in the file's order, all of them, also those no face uses: a cache
//! baked for the mesh must fit the mesh the user has. Objects (`o`) become meshes of their own only
//! when each uses no vertex but those listed under it; otherwise the file is one mesh. Groups (`g`)
//! never split.
//!
//! OBJ states neither unit nor axes: one unit is taken as a metre, Y as up. Smoothing groups,
//! vertex colours, materials' contents, lines and free-form surfaces are not read.

use super::raw::{RawCharacter, RawMesh, RawNode};
use super::{ReadError, Repair};
use glam::{Vec2, Vec3};
use std::collections::BTreeMap;
use std::path::Path;

/// An index that cannot be resolved; the check drops the face.
const NOWHERE: u32 = u32::MAX;

/// Reads a whole file held in memory. Material libraries are not opened, so `_base_dir` is not looked at.
pub fn read_bytes(
    bytes: &[u8],
    _base_dir: Option<&Path>,
    path_for_errors: &Path,
) -> Result<RawCharacter, ReadError> {
    let path = path_for_errors;
    let mut content = Content::default();
    let mut statement = String::new();
    for line in bytes.split(|&b| b == b'\n') {
        let line = String::from_utf8_lossy(line);
        let line = line.trim_end();
        match line.strip_suffix('\\') {
            Some(begun) => {
                statement.push_str(begun);
                statement.push(' ');
            }
            None => {
                statement.push_str(line);
                content.take(&statement);
                statement.clear();
            }
        }
    }
    content.take(&statement);
    if content.positions.is_empty() {
        return Err(ReadError::Malformed {
            path: path.to_owned(),
            thing: "file".to_owned(),
            problem: "it has no vertex (line starting with `v`)".to_owned(),
            remedy: "check that it is an OBJ file and was exported with its mesh".to_owned(),
        });
    }
    let stem = path.file_stem().map_or_else(|| "mesh".to_owned(), |s| s.to_string_lossy().into_owned());
    Ok(content.into_character(&stem))
}

/// Vertex, texture and normal index of a face corner, from 0.
#[derive(Clone, Copy)]
struct Corner {
    position: u32,
    uv: Option<u32>,
    normal: Option<u32>,
}

/// Where an object of the file begins.
struct Object {
    name: String,
    first_position: usize,
    first_face: usize,
}

#[derive(Default)]
struct Content {
    positions: Vec<Vec3>,
    uvs: Vec<Vec2>,
    normals: Vec<Vec3>,
    corners: Vec<Corner>,
    /// First corner of each face.
    face_starts: Vec<usize>,
    material_of_face: Vec<u32>,
    materials: Vec<String>,
    material: u32,
    objects: Vec<Object>,
    unreadable_numbers: usize,
    left_out: BTreeMap<&'static str, usize>,
}

impl Content {
    fn take(&mut self, statement: &str) {
        let mut words = statement.split_whitespace();
        let Some(keyword) = words.next() else { return };
        match keyword {
            "v" => {
                let p = self.numbers::<3>(words);
                self.positions.push(Vec3::from_array(p));
            }
            "vn" => {
                let n = self.numbers::<3>(words);
                self.normals.push(Vec3::from_array(n));
            }
            "vt" => {
                // The second coordinate may be missing.
                let mut given = [0.0; 2];
                for (value, word) in given.iter_mut().zip(words) {
                    *value = word.parse().unwrap_or(0.0);
                }
                self.uvs.push(Vec2::from_array(given));
            }
            "f" | "fo" => {
                let start = self.corners.len();
                for word in words {
                    if word.starts_with('#') {
                        break;
                    }
                    let corner = self.corner(word);
                    self.corners.push(corner);
                }
                self.face_starts.push(start);
                self.material_of_face.push(self.material);
            }
            "o" => self.objects.push(Object {
                name: statement.trim_start()[1..].trim().to_owned(),
                first_position: self.positions.len(),
                first_face: self.face_starts.len(),
            }),
            "usemtl" => self.use_material(words.next().unwrap_or_default()),
            "l" => *self.left_out.entry("lines").or_default() += 1,
            "p" => *self.left_out.entry("points").or_default() += 1,
            "curv" | "curv2" | "surf" => {
                *self.left_out.entry("free-form curves and surfaces").or_default() += 1
            }
            _ => {}
        }
    }

    /// The first `N` numbers; one that cannot be read is passed on as not-a-number.
    fn numbers<'a, const N: usize>(&mut self, mut words: impl Iterator<Item = &'a str>) -> [f32; N] {
        std::array::from_fn(|_| match words.next().map(str::parse) {
            Some(Ok(number)) => number,
            _ => {
                self.unreadable_numbers += 1;
                f32::NAN
            }
        })
    }

    /// `7`, `7/3`, `7//2`, `7/3/2`; negative counts back from the latest.
    fn corner(&self, word: &str) -> Corner {
        let mut parts = word.split('/').map(|part| part.parse::<i64>().ok());
        let mut index = |count: usize| {
            let number = parts.next().flatten()?;
            let from_zero = if number < 0 { number.checked_add(count as i64) } else { number.checked_sub(1) };
            Some(from_zero.and_then(|i| u32::try_from(i).ok()).unwrap_or(NOWHERE))
        };
        Corner {
            position: index(self.positions.len()).unwrap_or(NOWHERE),
            uv: index(self.uvs.len()),
            normal: index(self.normals.len()),
        }
    }

    fn use_material(&mut self, name: &str) {
        let known = self.materials.iter().position(|m| m == name);
        self.material = known.unwrap_or_else(|| {
            self.materials.push(name.to_owned());
            self.materials.len() - 1
        }) as u32;
    }

    fn into_character(mut self, stem: &str) -> RawCharacter {
        let mut raw = RawCharacter::default();
        if self.unreadable_numbers > 0 {
            raw.repairs.push(Repair::new(
                "file",
                format!("{} coordinates are missing or no numbers", self.unreadable_numbers),
                "treated as not given",
            ));
        }
        for (thing, count) in &self.left_out {
            raw.repairs.push(Repair::new("file", format!("{count} {thing}, which are not read"), "left out"));
        }
        // Vertices or faces ahead of the first object are an object without name.
        if self.objects.first().is_none_or(|o| o.first_position > 0 || o.first_face > 0) {
            self.objects.insert(0, Object { name: String::new(), first_position: 0, first_face: 0 });
        }
        if !self.objects_are_disjoint() {
            raw.repairs.push(Repair::new(
                "file",
                format!("its {} objects share vertices", self.objects.len()),
                "read as one mesh, so that the order of the vertices stays",
            ));
            self.objects.truncate(1);
            self.objects[0] = Object { name: String::new(), first_position: 0, first_face: 0 };
        }
        for object in 0..self.objects.len() {
            let mesh = self.mesh(object, stem, raw.meshes.len(), &mut raw.repairs);
            if mesh.positions.is_empty() && mesh.corners.is_empty() {
                continue;
            }
            raw.nodes.push(RawNode { name: mesh.name.clone(), ..RawNode::default() });
            raw.meshes.push(mesh);
        }
        raw
    }

    /// Range of positions and of faces that belong to an object.
    fn ranges(&self, object: usize) -> (std::ops::Range<usize>, std::ops::Range<usize>) {
        let Object { first_position, first_face, .. } = self.objects[object];
        let next = self.objects.get(object + 1);
        let positions = first_position..next.map_or(self.positions.len(), |o| o.first_position);
        (positions, first_face..next.map_or(self.face_starts.len(), |o| o.first_face))
    }

    fn corners_of(&self, faces: &std::ops::Range<usize>) -> &[Corner] {
        let start = |face: usize| self.face_starts.get(face).copied().unwrap_or(self.corners.len());
        &self.corners[start(faces.start)..start(faces.end)]
    }

    fn objects_are_disjoint(&self) -> bool {
        (0..self.objects.len()).all(|object| {
            let (positions, faces) = self.ranges(object);
            self.corners_of(&faces)
                .iter()
                .all(|c| c.position == NOWHERE || positions.contains(&(c.position as usize)))
        })
    }

    fn mesh(&self, object: usize, stem: &str, node: usize, repairs: &mut Vec<Repair>) -> RawMesh {
        let (positions, faces) = self.ranges(object);
        let corners = self.corners_of(&faces);
        let name = match self.objects[object].name.as_str() {
            "" => stem.to_owned(),
            name => name.to_owned(),
        };
        let normal = |c: &Corner| self.normals.get(c.normal? as usize).copied();
        let uv = |c: &Corner| self.uvs.get(c.uv? as usize).copied();
        let corner_normals: Vec<Vec3> = corners.iter().filter_map(normal).collect();
        let complete = corner_normals.len() == corners.len();
        if !complete && !corner_normals.is_empty() {
            let missing = corners.len() - corner_normals.len();
            repairs.push(Repair::new(
                format!("mesh \"{name}\""),
                format!("{missing} of {} face corners have no normal", corners.len()),
                "normals computed from the shape",
            ));
        }
        let has_uvs = corners.iter().any(|c| uv(c).is_some());
        let start = |face: usize| self.face_starts.get(face).copied().unwrap_or(self.corners.len());
        RawMesh {
            name,
            node: Some(node),
            face_sizes: faces.clone().map(|f| (start(f + 1) - start(f)) as u32).collect(),
            corners: corners
                .iter()
                .map(|c| c.position.checked_sub(positions.start as u32).unwrap_or(NOWHERE))
                .collect(),
            corner_normals: if complete { corner_normals } else { Vec::new() },
            corner_uvs: if has_uvs {
                corners.iter().map(|c| uv(c).unwrap_or_default()).collect()
            } else {
                Vec::new()
            },
            materials: self.materials.clone(),
            material_of_face: if self.materials.len() > 1 {
                self.material_of_face[faces].to_vec()
            } else {
                Vec::new()
            },
            positions: self.positions[positions].to_vec(),
            ..RawMesh::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> RawCharacter {
        read_bytes(text.as_bytes(), None, Path::new("test.obj")).unwrap()
    }

    const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 9 9 9\n";

    #[test]
    fn polygons_and_unused_vertices_stay_as_they_are() {
        let raw = parse(&format!("{SQUARE}f 4 3 2 1\nf 1 2 3\n"));
        assert_eq!(raw.meshes.len(), 1);
        assert_eq!(raw.meshes[0].positions.len(), 5);
        assert_eq!(raw.meshes[0].face_sizes, [4, 3]);
        assert_eq!(raw.meshes[0].corners, [3, 2, 1, 0, 0, 1, 2]);
        assert_eq!(raw.meshes[0].name, "test");
    }

    #[test]
    fn negative_indices_count_back() {
        let raw = parse(
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0 0\nvt 1 0\nvt 0 1\nvn 0 0 1\nf -3/-3/-1 -2/-2/-1 -1/-1/-1\n",
        );
        assert_eq!(raw.meshes[0].corners, [0, 1, 2]);
        assert_eq!(raw.meshes[0].corner_uvs, [Vec2::ZERO, Vec2::X, Vec2::Y]);
        assert_eq!(raw.meshes[0].corner_normals, [Vec3::Z; 3]);
    }

    #[test]
    fn a_backslash_continues_the_line() {
        let raw = parse(&format!("{SQUARE}f 1 2 \\\r\n3 4\r\n"));
        assert_eq!(raw.meshes[0].face_sizes, [4]);
    }

    #[test]
    fn objects_with_their_own_vertices_become_meshes() {
        let raw = parse(
            "o left arm\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\no b\nv 0 0 1\nv 1 0 1\nv 0 1 1\nf 4 5 6\n",
        );
        assert_eq!(raw.meshes.iter().map(|m| m.name.as_str()).collect::<Vec<_>>(), ["left arm", "b"]);
        assert_eq!(raw.meshes[1].corners, [0, 1, 2]);
        assert_eq!(raw.nodes.len(), 2);
    }

    #[test]
    fn objects_that_share_vertices_stay_one_mesh() {
        let raw = parse(&format!("{SQUARE}o a\nf 1 2 3\no b\nf 1 3 4\n"));
        assert_eq!(raw.meshes.len(), 1);
        assert_eq!(raw.meshes[0].face_sizes, [3, 3]);
        assert!(raw.repairs[0].problem.contains("share"));
    }

    #[test]
    fn faces_know_their_material() {
        let raw =
            parse(&format!("{SQUARE}usemtl skin\nf 1 2 3\nusemtl cloth\nf 1 3 4\nusemtl skin\nf 1 2 4\n"));
        assert_eq!(raw.meshes[0].materials, ["skin", "cloth"]);
        assert_eq!(raw.meshes[0].material_of_face, [0, 1, 0]);
    }

    #[test]
    fn half_given_normals_are_dropped_and_reported() {
        let raw = parse(&format!("{SQUARE}vn 0 0 1\nf 1//1 2//1 3//1\nf 1 3 4\n"));
        assert!(raw.meshes[0].corner_normals.is_empty());
        assert_eq!(raw.repairs.len(), 1);
    }

    #[test]
    fn a_file_without_vertices_is_an_error_that_says_so() {
        let error = read_bytes(b"solid cube\n", None, Path::new("cube.obj")).unwrap_err().to_string();
        assert!(error.starts_with("cube.obj") && error.contains("no vertex"), "{error}");
    }

    #[test]
    fn indices_beyond_all_numbers_do_not_wrap() {
        let raw =
            parse(&format!("{SQUARE}f 0 -99 99999999999999999999\nf -9223372036854775808 4294967297 2\n"));
        assert_eq!(raw.meshes[0].corners[..5], [NOWHERE; 5]);
    }

    #[test]
    fn damaged_files_never_panic() {
        let sound = format!(
            "o a\n{SQUARE}vn 0 0 1\nvt 0 1\nusemtl m\nf 1/1/1 2//1 3 \\\n4\no b\nv 1 2 3\nf -1 6 6\nl 1 2\n"
        );
        arbtest::arbtest(|u| {
            let mut bytes = sound.clone().into_bytes();
            for _ in 0..u.int_in_range(1..=6)? {
                let at = u.choose_index(bytes.len())?;
                match u.int_in_range(0..=2)? {
                    0 => bytes[at] = u.arbitrary()?,
                    1 => bytes.truncate(at.max(1)),
                    _ => bytes.insert(at, *u.choose(b"-/\\ \n0987o#")?),
                }
            }
            let _ = read_bytes(&bytes, None, Path::new("fuzz.obj"));
            Ok(())
        });
    }
}
