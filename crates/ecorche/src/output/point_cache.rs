//! What PC2 and MDD share: one file per mesh, a header, then every frame's points back to back.

use super::file::PendingFile;
use super::{CacheWriter, Shot, WriteError, mesh_paths};
use crate::character::{Mesh, World};
use crate::frame::Frame;
use std::path::{Path, PathBuf};

/// Point caches of all meshes, being written in the file's own units and axes.
pub struct PointCacheWriter {
    world: World,
    to_bytes: fn(f32) -> [u8; 4],
    files: Vec<PendingFile>,
    bytes: Vec<u8>,
}

impl PointCacheWriter {
    /// Starts a file with its `header` for every mesh; `to_bytes` sets the byte order.
    pub fn create(
        path: &Path,
        shot: &Shot,
        to_bytes: fn(f32) -> [u8; 4],
        header: impl Fn(&Mesh) -> Vec<u8>,
    ) -> Result<Self, WriteError> {
        let mut files = Vec::new();
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
            let mut file = PendingFile::create(path)?;
            file.put(&header(mesh))?;
            files.push(file);
        }
        Ok(Self { world: shot.character.world, to_bytes, files, bytes: Vec::new() })
    }
}

impl CacheWriter for PointCacheWriter {
    fn write_frame(&mut self, frame: &Frame) -> Result<(), WriteError> {
        for (file, mesh) in self.files.iter_mut().zip(&frame.meshes) {
            self.bytes.clear();
            for &p in &mesh.positions {
                for number in self.world.to_user(p).to_array() {
                    self.bytes.extend((self.to_bytes)(number));
                }
            }
            file.put(&self.bytes)?;
        }
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<Vec<PathBuf>, WriteError> {
        self.files.into_iter().map(PendingFile::commit).collect()
    }
}
