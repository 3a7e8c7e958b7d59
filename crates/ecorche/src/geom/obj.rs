//! What an OBJ file says, statement by statement. Characters, bones and tissue scenes are read from it.

use super::TriMesh;
use glam::{Vec2, Vec3};
use std::collections::BTreeMap;
use std::ops::Range;
use thiserror::Error;

/// An index that leads nowhere: 0, before the first, or no number.
pub const NOWHERE: u32 = u32::MAX;

/// Why a file is not a surface.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum ObjError {
    /// A coordinate is not a finite number.
    #[error("vertex {0}: a coordinate is not a number")]
    Number(usize),
    /// A face names a missing vertex.
    #[error("face {0} names a vertex that does not exist")]
    NoSuchVertex(usize),
}

/// Reads a triangle surface; faces of more corners are fanned.
pub(crate) fn read(bytes: &[u8]) -> Result<TriMesh, ObjError> {
    Content::read(bytes).surface()
}

/// Vertex, texture and normal of a face corner, counted from 0.
#[derive(Clone, Copy)]
pub struct Corner {
    /// Position, or [`NOWHERE`].
    pub position: u32,
    /// Texture coordinate, if the corner names one.
    pub uv: Option<u32>,
    /// Normal, if the corner names one.
    pub normal: Option<u32>,
}

/// Where an object (`o`) of the file begins.
pub struct Object {
    /// Its name.
    pub name: String,
    /// The first position listed under it.
    pub first_position: usize,
    /// The first face listed under it.
    pub first_face: usize,
}

/// What the statements of a file say, in the file's order.
#[derive(Default)]
pub struct Content {
    /// Vertices; not-a-number where the file has none.
    pub positions: Vec<Vec3>,
    /// Texture coordinates.
    pub uvs: Vec<Vec2>,
    /// Normals.
    pub normals: Vec<Vec3>,
    /// Corners of all faces.
    pub corners: Vec<Corner>,
    /// First corner of each face.
    pub face_starts: Vec<usize>,
    /// Material of each face, as an index into `materials`.
    pub material_of_face: Vec<u32>,
    /// Materials by name, as they are first used.
    pub materials: Vec<String>,
    /// Files with the looks of the materials, as the file names them.
    pub material_libraries: Vec<String>,
    /// Objects.
    pub objects: Vec<Object>,
    /// Numbers that could not be read.
    pub unreadable_numbers: usize,
    /// What was skipped, and how often.
    pub left_out: BTreeMap<&'static str, usize>,
    material: u32,
}

impl Content {
    /// Reads the statements of a file. Nothing is refused: what cannot be read is marked as such.
    pub fn read(bytes: &[u8]) -> Self {
        let mut content = Self::default();
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
        content
    }

    /// The corners of a range of faces.
    pub fn corners_of(&self, faces: &Range<usize>) -> &[Corner] {
        let start = |face: usize| self.face_starts.get(face).copied().unwrap_or(self.corners.len());
        &self.corners[start(faces.start)..start(faces.end)]
    }

    /// All faces as one surface of triangles; polygons are fanned. Every vertex of the file is kept.
    pub(crate) fn surface(self) -> Result<TriMesh, ObjError> {
        if let Some(vertex) = self.positions.iter().position(|p| !p.is_finite()) {
            return Err(ObjError::Number(vertex));
        }
        let mut triangles = Vec::new();
        for face in 0..self.face_starts.len() {
            let corners = self.corners_of(&(face..face + 1));
            if corners.iter().any(|c| c.position as usize >= self.positions.len()) {
                return Err(ObjError::NoSuchVertex(face));
            }
            for pair in corners.windows(2).skip(1) {
                triangles.push([corners[0].position, pair[0].position, pair[1].position]);
            }
        }
        Ok(TriMesh { positions: self.positions, triangles })
    }

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
            "mtllib" => {
                self.material_libraries.push(statement.trim_start()["mtllib".len()..].trim().to_owned());
            }
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
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: &str = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n";

    #[test]
    fn polygons_are_fanned_and_indices_may_count_back() {
        let surface = read(format!("{SQUARE}o a\nf 1/1 2/2 \\\n3/3 -1\n").as_bytes()).unwrap();
        assert_eq!(surface.positions.len(), 4);
        assert_eq!(surface.triangles, [[0, 1, 2], [0, 2, 3]]);
    }

    #[test]
    fn a_surface_needs_its_vertices() {
        for face in ["f 1 2 9", "f 1 2 0", "f 1 2 x"] {
            let error = read(format!("{SQUARE}f 1 2 3\n{face}\n").as_bytes()).unwrap_err();
            assert_eq!(error.to_string(), "face 1 names a vertex that does not exist", "{face}");
        }
        assert_eq!(read(b"v 0 0 0\nv 1 zero 0\nf 1 2 1\n").unwrap_err(), ObjError::Number(1));
    }
}
