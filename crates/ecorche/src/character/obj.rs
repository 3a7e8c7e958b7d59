//! Wavefront OBJ: polygons without skeleton or motion.
//!
//! The file's vertices stay in the file's order, all of them, also those no face uses: a cache
//! baked for the mesh must fit the mesh the user has. Objects (`o`) become meshes of their own only
//! when each uses no vertex but those listed under it; otherwise the file is one mesh. Groups (`g`)
//! never split.
//!
//! OBJ states neither unit nor axes: one unit is taken as a metre, Y as up. Smoothing groups,
//! vertex colours, lines and free-form surfaces are not read.

use super::raw::{RawCharacter, RawMesh, RawNode};
use super::textures::{MaterialLook, Place, read_beside};
use super::{ReadError, Repair};
use crate::geom::obj::{Content, Corner, NOWHERE, Object};
use glam::Vec3;
use std::ops::Range;
use std::path::Path;

/// Reads a whole file held in memory. It needs no other files, so `_base_dir` is unused.
pub fn read_bytes(
    bytes: &[u8],
    _base_dir: Option<&Path>,
    path_for_errors: &Path,
) -> Result<RawCharacter, ReadError> {
    let path = path_for_errors;
    let content = Content::read(bytes);
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

/// The looks of the materials, from the libraries that the file names.
pub(super) fn looks(bytes: &[u8], folder: &Path) -> Option<Vec<MaterialLook>> {
    let mut looks: Vec<MaterialLook> = Vec::new();
    for library in Content::read(bytes).material_libraries {
        let Some(bytes) = read_beside(folder, &library) else { continue };
        for line in String::from_utf8_lossy(&bytes).lines().map(str::trim) {
            let (key, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
            let rest = rest.trim();
            match (key, looks.last_mut()) {
                ("newmtl", _) => {
                    looks.push(MaterialLook { name: rest.to_owned(), colour: None, texture: None });
                }
                ("Kd", Some(look)) => {
                    let mut list = rest.split_whitespace().map_while(|word| word.parse::<f32>().ok());
                    if let (Some(r), Some(g), Some(b)) = (list.next(), list.next(), list.next()) {
                        look.colour = Some([r, g, b]);
                    }
                }
                // The name comes last, after options; or it has spaces and there are none.
                ("map_Kd", Some(look)) => {
                    let last = rest.rsplit(char::is_whitespace).next().unwrap_or_default();
                    look.texture = Some(Place::Beside(vec![rest.to_owned(), last.to_owned()]));
                }
                _ => {}
            }
        }
    }
    Some(looks)
}

impl Content {
    fn into_character(mut self, stem: &str) -> RawCharacter {
        let mut raw = RawCharacter::default();
        if self.unreadable_numbers > 0 {
            raw.repairs.push(Repair::new(
                "file",
                format!("{} coordinates are missing or not numbers", self.unreadable_numbers),
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
    fn ranges(&self, object: usize) -> (Range<usize>, Range<usize>) {
        let Object { first_position, first_face, .. } = self.objects[object];
        let next = self.objects.get(object + 1);
        let positions = first_position..next.map_or(self.positions.len(), |o| o.first_position);
        (positions, first_face..next.map_or(self.face_starts.len(), |o| o.first_face))
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
    use crate::character::damage::damaged;
    use glam::Vec2;

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

    /// One face or one name of 8 MB.
    #[test]
    fn a_line_without_end_is_read_once() {
        let corners = format!("{SQUARE}f 1 2 3\nf {}\n", "1 2 ".repeat(2_000_000));
        let raw = read_bytes(corners.as_bytes(), None, Path::new("long.obj")).unwrap();
        let character = crate::character::check::check(Path::new("long.obj"), raw).unwrap();
        assert_eq!(character.meshes[0].faces.len(), 1);
        assert!(character.repairs[0].to_string().contains("too many"), "{:?}", character.repairs);
        let name = format!("o {}\n{SQUARE}f 1 2 3\n", "x".repeat(8_000_000));
        assert_eq!(parse(&name).meshes[0].corners, [0, 1, 2]);
    }

    #[test]
    fn damaged_files_never_panic() {
        let sound = format!(
            "o a\n{SQUARE}vn 0 0 1\nvt 0 1\nusemtl m\nf 1/1/1 2//1 3 \\\n4\no b\nv 1 2 3\nf -1 6 6\nl 1 2\n"
        );
        arbtest::arbtest(|u| {
            let bytes = damaged(u, sound.as_bytes(), &["-", "/", "\\", " ", "\n", "0", "98", "o", "#"])?;
            let _ = read_bytes(&bytes, None, Path::new("fuzz.obj"));
            Ok(())
        });
    }
}
