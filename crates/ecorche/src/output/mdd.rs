//! MDD point caches: big-endian; frames, points, the time of each frame in seconds, then f32 xyz.

use super::point_cache::PointCacheWriter;
use super::{Shot, WriteError};
use std::path::Path;

/// Starts one MDD file per mesh.
pub fn create(path: &Path, shot: &Shot) -> Result<PointCacheWriter, WriteError> {
    PointCacheWriter::create(path, shot, f32::to_be_bytes, |mesh| {
        let mut header = Vec::new();
        header.extend((shot.frame_count as i32).to_be_bytes());
        header.extend((mesh.positions.len() as i32).to_be_bytes());
        for frame in shot.first_frame..shot.first_frame + shot.frame_count {
            header.extend(((frame as f64 / f64::from(shot.fps)) as f32).to_be_bytes());
        }
        header
    })
}
