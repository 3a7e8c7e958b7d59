//! What PC2 and MDD share: one file per mesh, a header, then every frame's points back to back.

use super::file::PendingFiles;
use super::{CacheWriter, Shot, WriteError, mesh_paths};
use crate::character::{Mesh, World};
use crate::frame::Frame;
use std::path::{Path, PathBuf};

/// Bytes of all meshes kept in memory before they are appended to their files. A character may have more meshes
/// than a process may have open files, so files are opened one at a time, and seldom.
const HELD: usize = 16 << 20;

/// Point caches of all meshes, being written in the file's own units and axes.
pub struct PointCacheWriter {
    world: World,
    to_bytes: fn(f32) -> [u8; 4],
    files: PendingFiles,
    /// Per file, what is not written yet.
    held: Vec<Vec<u8>>,
}

impl PointCacheWriter {
    /// Starts a file with its `header` for every mesh; `to_bytes` sets the byte order.
    pub fn create(
        path: &Path,
        shot: &Shot,
        to_bytes: fn(f32) -> [u8; 4],
        header: impl Fn(&Mesh) -> Vec<u8>,
    ) -> Result<Self, WriteError> {
        let mut files = PendingFiles::create(path)?;
        for (path, mesh) in mesh_paths(path, shot.character).iter().zip(&shot.character.meshes) {
            for (what, count) in [("vertices", mesh.positions.len()), ("frames", shot.frame_count)] {
                if i32::try_from(count).is_err() {
                    return Err(WriteError::DoesNotFit {
                        path: path.clone(),
                        problem: format!("{count} {what} do not fit the format's 32-bit count"),
                        remedy: "bake fewer frames at a time, or to .usda".into(),
                    });
                }
            }
            files.add(path, &header(mesh))?;
        }
        let held = vec![Vec::new(); files.len()];
        Ok(Self { world: shot.character.world, to_bytes, files, held })
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        for (number, bytes) in self.held.iter_mut().enumerate().filter(|(_, bytes)| !bytes.is_empty()) {
            self.files.append(number, bytes)?;
            bytes.clear();
        }
        Ok(())
    }
}

impl CacheWriter for PointCacheWriter {
    fn write_frame(&mut self, frame: &Frame) -> Result<(), WriteError> {
        for (bytes, mesh) in self.held.iter_mut().zip(&frame.meshes) {
            for &p in &mesh.positions {
                for number in self.world.to_user(p).to_array() {
                    bytes.extend((self.to_bytes)(number));
                }
            }
        }
        if self.held.iter().map(Vec::len).sum::<usize>() < HELD { Ok(()) } else { self.flush() }
    }

    fn finish(mut self: Box<Self>) -> Result<Vec<PathBuf>, WriteError> {
        self.flush()?;
        self.files.commit()
    }
}
