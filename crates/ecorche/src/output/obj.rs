//! Wavefront OBJ: one file per frame, and the mesh a point cache sits on.
//!
//! All meshes of a character share a file, one `o` each, vertices in the file's order, so that the
//! n-th vertex of an object is the n-th point of its cache.

use super::file::{PendingFile, PendingFiles};
use super::{CacheWriter, Shot, WriteError, names};
use crate::character::{Character, Mesh, World};
use crate::frame::{Frame, FrameMesh};
use crate::geom::TriMesh;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Writes `name.0000.obj`, `name.0001.obj`, ...; just `name.obj` for a single frame.
pub(crate) struct ObjWriter<'a> {
    path: PathBuf,
    shot: Shot<'a>,
    files: PendingFiles,
    bytes: Vec<u8>,
}

impl<'a> ObjWriter<'a> {
    /// Starts a sequence.
    pub fn create(path: &Path, shot: &Shot<'a>) -> Result<Self, WriteError> {
        let files = PendingFiles::create(path)?;
        Ok(Self { path: path.to_owned(), shot: shot.clone(), files, bytes: Vec::new() })
    }
}

impl CacheWriter for ObjWriter<'_> {
    fn write_frame(&mut self, frame: &Frame) -> Result<(), WriteError> {
        let path = frame_path(&self.path, &self.shot, self.files.len());
        self.bytes.clear();
        write_meshes(&mut self.bytes, self.shot.character, &frame.meshes)
            .map_err(|source| WriteError::Io { path: path.clone(), source })?;
        self.files.add(&path, &self.bytes)?;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<PathBuf>, WriteError> {
        self.files.commit()
    }
}

/// The files of a sequence.
pub(super) fn paths(path: &Path, shot: &Shot) -> Vec<PathBuf> {
    (0..shot.frame_count).map(|frame| frame_path(path, shot, frame)).collect()
}

/// The file of the frame that is `frame` after the first.
fn frame_path(path: &Path, shot: &Shot, frame: usize) -> PathBuf {
    match shot.frame_count {
        1 => path.to_owned(),
        _ => names::numbered(path, shot.first_frame + frame),
    }
}

/// Writes one frame as an OBJ file.
pub fn write(path: &Path, character: &Character, frame: &Frame) -> Result<PathBuf, WriteError> {
    let mut file = PendingFile::create(path)?;
    write_meshes(&mut file, character, &frame.meshes)
        .map_err(|source| WriteError::Io { path: path.to_owned(), source })?;
    file.commit()
}

/// Writes a plain surface, in metres inside, in the units and axes of `world`.
pub fn write_surface(
    path: &Path,
    name: &str,
    surface: &TriMesh,
    world: &World,
) -> Result<PathBuf, WriteError> {
    let mut file = PendingFile::create(path)?;
    let mut write = || -> std::io::Result<()> {
        writeln!(file, "# ecorche {}\no {}", env!("CARGO_PKG_VERSION"), one_line(name))?;
        for &p in &surface.positions {
            let [x, y, z] = world.to_user(p).to_array();
            writeln!(file, "v {x} {y} {z}")?;
        }
        for triangle in &surface.triangles {
            let [a, b, c] = triangle.map(|v| v + 1);
            if world.is_mirrored() {
                writeln!(file, "f {c} {b} {a}")?
            } else {
                writeln!(file, "f {a} {b} {c}")?
            }
        }
        Ok(())
    };
    write().map_err(|source| WriteError::Io { path: path.to_owned(), source })?;
    file.commit()
}

fn write_meshes(out: &mut impl Write, character: &Character, meshes: &[FrameMesh]) -> std::io::Result<()> {
    writeln!(out, "# ecorche {}: {}", env!("CARGO_PKG_VERSION"), one_line(&character.name))?;
    // OBJ counts positions, texture coordinates and normals from 1 over the whole file.
    let mut first = [1; 3];
    for (mesh, posed) in character.meshes.iter().zip(meshes) {
        writeln!(out, "o {}", one_line(&mesh.name))?;
        for &p in &posed.positions {
            let [x, y, z] = character.world.to_user(p).to_array();
            writeln!(out, "v {x} {y} {z}")?;
        }
        for uv in &mesh.corner_uvs {
            writeln!(out, "vt {} {}", uv.x, uv.y)?;
        }
        for &n in &posed.normals {
            let [x, y, z] = character.world.direction_to_user(n).to_array();
            writeln!(out, "vn {x} {y} {z}")?;
        }
        write_faces(out, mesh, first, character.world.is_mirrored())?;
        first[0] += posed.positions.len();
        first[1] += mesh.corner_uvs.len();
        first[2] += posed.normals.len();
    }
    Ok(())
}

fn write_faces(out: &mut impl Write, mesh: &Mesh, first: [usize; 3], mirrored: bool) -> std::io::Result<()> {
    let mut material = None;
    for f in 0..mesh.faces.len() {
        let of_face = mesh.material_of_face.get(f).copied().unwrap_or(0);
        if material != Some(of_face) {
            material = Some(of_face);
            if let Some(name) = mesh.materials.get(of_face as usize) {
                writeln!(out, "usemtl {}", one_line(name))?;
            }
        }
        write!(out, "f")?;
        let mut corner = |c: usize| {
            let v = mesh.faces.corners[c] as usize + first[0];
            let n = mesh.shading.slot_of_corner[c] as usize + first[2];
            if mesh.corner_uvs.is_empty() {
                write!(out, " {v}//{n}")
            } else {
                write!(out, " {v}/{}/{n}", c + first[1])
            }
        };
        if mirrored {
            mesh.faces.range(f).rev().try_for_each(&mut corner)?;
        } else {
            mesh.faces.range(f).try_for_each(&mut corner)?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// Names may hold anything; a line break would end the statement.
fn one_line(name: &str) -> String {
    name.replace(['\n', '\r'], " ")
}
