//! Alembic (`.abc`): every mesh of a character as polygons with their points at every frame.
//!
//! Frames are written as they arrive, and the tables follow at the end; memory holds a few megabytes and, with
//! velocities, two frames.
//!
//! Alembic states neither units nor axes. Units are the file's, or those the options ask for; axes are what every reader
//! of the format takes for granted: Y up, right-handed. Faces wind clockwise from outside, as the format requires, so each
//! polygon is reversed. Frame `n` is at `n / fps` seconds.

mod mesh;
mod ogawa;
mod property;

use super::file::PendingFiles;
use super::{CacheWriter, Meshes, Shot, WriteError, mesh_paths};
use crate::character::World;
use crate::frame::Frame;
use mesh::{Frames, MeshFrame, PolyMesh, object_name};
use ogawa::{Archive, Place};
use property::{Children, MetadataTable};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Version of the format that is written, in the numbering of its library.
const LIBRARY_VERSION: i32 = 10812;

/// An Alembic cache being written.
pub struct AlembicWriter<'a> {
    shot: Shot<'a>,
    world: World,
    files: PendingFiles,
    archives: Vec<Output>,
    frames: usize,
    /// With velocities: the frame before the pending one, and the pending one, which waits for the next.
    before: Option<Vec<MeshFrame>>,
    held: Option<Vec<MeshFrame>>,
    bytes: Vec<u8>,
}

/// One archive and the meshes in it.
struct Output {
    archive: Archive,
    meshes: Vec<PolyMesh>,
    first_frame_at: u64,
}

/// The files of a shot.
pub(super) fn paths(path: &Path, shot: &Shot) -> Vec<PathBuf> {
    match shot.options.meshes {
        Meshes::Files => mesh_paths(path, shot.character),
        Meshes::Objects | Meshes::Merged => vec![path.to_owned()],
    }
}

impl<'a> AlembicWriter<'a> {
    /// Starts the archives.
    pub fn create(path: &Path, shot: &Shot<'a>) -> Result<Self, WriteError> {
        let character = shot.character;
        let count = character.meshes.len();
        let corners: usize = character.meshes.iter().map(|mesh| mesh.faces.corners.len()).sum();
        let vertices: usize = character.meshes.iter().map(|mesh| mesh.positions.len()).sum();
        let counts = [("vertices", vertices), ("face corners", corners), ("frames", shot.frame_count)];
        for (what, number) in counts {
            if i32::try_from(number).is_err() {
                return Err(WriteError::DoesNotFit {
                    path: path.to_owned(),
                    problem: format!("{number} {what} do not fit the format's 32-bit count"),
                    remedy: "bake fewer frames or meshes at a time".into(),
                });
            }
        }
        let mut files = PendingFiles::create(path)?;
        let mut taken = BTreeSet::new();
        let mut named = |n: usize| (object_name(&character.meshes[n].name, &mut taken), n..n + 1);
        let contents: Vec<Vec<(String, std::ops::Range<usize>)>> = match shot.options.meshes {
            Meshes::Objects => vec![(0..count).map(&mut named).collect()],
            Meshes::Files => (0..count).map(|n| vec![named(n)]).collect(),
            Meshes::Merged => vec![vec![(object_name(&character.name, &mut taken), 0..count)]],
        };
        let options = shot.options;
        let mut archives = Vec::new();
        for (target, contents) in paths(path, shot).iter().zip(contents) {
            let mut archive = Archive::create(&mut files, target)?;
            let mut meshes = Vec::new();
            for (name, numbers) in contents {
                let (normals, velocities) = (!options.no_normals, options.velocities);
                meshes.push(PolyMesh::create(
                    &mut archive,
                    name,
                    numbers,
                    &character.meshes,
                    normals,
                    velocities,
                ));
                archive.write_out(&mut files)?;
            }
            archives.push(Output { first_frame_at: archive.length(), archive, meshes });
        }
        let unit = options.metres_per_unit.unwrap_or(character.world.metres_per_unit);
        Ok(Self {
            shot: shot.clone(),
            world: World::y_up(unit),
            files,
            archives,
            frames: 0,
            before: None,
            held: None,
            bytes: Vec::new(),
        })
    }

    /// Writes `now`, which `after` follows.
    fn put(&mut self, now: &[MeshFrame], after: Option<&[MeshFrame]>) -> Result<(), WriteError> {
        // Central differences; one-sided at both ends.
        let spans = usize::from(after.is_some()) + usize::from(self.before.is_some());
        let rate = self.shot.fps / spans.max(1) as f32;
        let (from, to) = (self.before.as_deref().unwrap_or(now), after.unwrap_or(now));
        let velocity = |m: usize, v: usize| (to[m].points[v] - from[m].points[v]) * rate;
        for output in &mut self.archives {
            for mesh in &mut output.meshes {
                mesh.write_frame(&mut output.archive, now, velocity, &mut self.bytes);
            }
        }
        if self.archives.iter().map(|output| output.archive.held()).sum::<usize>() > ogawa::HELD {
            for output in &mut self.archives {
                output.archive.write_out(&mut self.files)?;
            }
        }
        self.frames += 1;
        Ok(())
    }
}

impl CacheWriter for AlembicWriter<'_> {
    fn write_frame(&mut self, frame: &Frame) -> Result<(), WriteError> {
        let convert = |mesh: &crate::frame::FrameMesh| MeshFrame {
            points: mesh.positions.iter().map(|&p| self.world.to_user(p)).collect(),
            normals: mesh.normals.iter().map(|&n| self.world.direction_to_user(n)).collect(),
        };
        let next: Vec<MeshFrame> = frame.meshes.iter().map(convert).collect();
        if !self.shot.options.velocities {
            return self.put(&next, None);
        }
        if let Some(now) = self.held.take() {
            self.put(&now, Some(&next))?;
            self.before = Some(now);
        }
        self.held = Some(next);
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<PathBuf>, WriteError> {
        if let Some(last) = self.held.take() {
            self.put(&last, None)?;
        }
        let Self { shot, mut files, archives, frames, .. } = *self;
        for output in archives {
            output.finish(&mut files, &shot, frames)?;
        }
        files.commit()
    }
}

impl Output {
    /// Writes the tables.
    fn finish(self, files: &mut PendingFiles, shot: &Shot, count: usize) -> Result<(), WriteError> {
        let Self { mut archive, meshes, first_frame_at } = self;
        let stride = meshes.iter().map(PolyMesh::frame_size).sum();
        let frames = Frames { first_at: first_frame_at, stride, count };
        let mut metadata = MetadataTable::default();
        let mut top = Children::default();
        let mut before = 0;
        for mesh in meshes {
            let size = mesh.frame_size();
            mesh.finish(&mut archive, files, &mut metadata, frames, before, &mut top)?;
            archive.write_out(files)?;
            before += size;
        }
        let top = top.write(&mut archive, Place::EMPTY_GROUP, blake3::hash(b"top"));
        let about = format!(
            "_ai_AlembicVersion=Alembic 1.8.12;_ai_Application=ecorche {};_ai_DCC_FPS={}",
            env!("CARGO_PKG_VERSION"),
            shot.fps
        );
        let root = [
            archive.block(&0i32.to_le_bytes()),
            archive.block(&LIBRARY_VERSION.to_le_bytes()),
            top,
            archive.block(about.as_bytes()),
            archive.block(&time_samplings(shot, count)),
            archive.block(&metadata.bytes()),
        ];
        let root = archive.group(&root);
        archive.finish(files, root)
    }
}

/// The samplings by their numbers, see [`property::TIMELESS`] and [`property::FRAMES`]: most samples, seconds from one to
/// the next, number of times that are stored, the first of them.
fn time_samplings(shot: &Shot, count: usize) -> Vec<u8> {
    let fps = f64::from(shot.fps);
    let mut bytes = Vec::new();
    for (samples, step, first) in [(1, 1.0, 0.0), (count as u32, 1.0 / fps, shot.first_frame as f64 / fps)] {
        bytes.extend(samples.to_le_bytes());
        bytes.extend(f64::to_le_bytes(step));
        bytes.extend(1u32.to_le_bytes());
        bytes.extend(f64::to_le_bytes(first));
    }
    bytes
}

#[cfg(test)]
mod tests;
