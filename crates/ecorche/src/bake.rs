//! A clip, frame by frame, into a cache.

pub mod piece;

use crate::character::Character;
use crate::deform::{BindError, Body, Playback, Stack, Workspace};
use crate::frame::Frame;
use crate::output::{self, Shot, WriteError};
use crate::sampling::Plan;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Why a bake stopped.
#[derive(Debug, thiserror::Error)]
pub enum BakeError {
    /// The cache could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// The caller asked to stop; nothing was left on disk.
    #[error("stopped; nothing was written")]
    Stopped,
}

/// The mesh that point caches are put on: the character as its file shows it when nothing is animated, whatever the
/// method of the bake.
pub fn rest(character: &Arc<Character>) -> Result<Frame, BindError> {
    let body = Body::bind(character.clone(), Stack::linear(), None)?;
    Ok(body.rest(&mut Workspace::default()))
}

/// What a bake made.
#[derive(Clone, Debug, Default)]
pub struct Baked {
    /// The files.
    pub paths: Vec<PathBuf>,
    /// Number of frames.
    pub frames: usize,
    /// Vertices that fell back to a simpler position, summed over the frames.
    pub fell_back: usize,
}

/// Bakes `plan` to `path`, whose ending chooses the format. Frames are those of the whole clip, played from its start:
/// a part of it baked alone has the same. `progress` hears of every finished
/// frame and may stop the bake, which then leaves nothing behind.
pub fn bake(
    body: &Body,
    plan: &Plan,
    path: &Path,
    mut progress: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<Baked, BakeError> {
    let character = body.character();
    let mut writer = output::create(path, &Shot::new(character, plan))?;
    let (mut playback, mut workspace) = (Playback::new(body, plan), Workspace::default());
    let (mut baked, mut frame) = (Baked::default(), Frame::default());
    for frame_number in plan.frames.clone() {
        playback.frame_into(frame_number, &mut workspace, &mut frame);
        writer.write_frame(&frame)?;
        baked.fell_back += frame.report.fell_back;
        baked.frames += 1;
        if progress(baked.frames).is_break() {
            return Err(BakeError::Stopped);
        }
    }
    baked.paths = writer.finish()?;
    Ok(baked)
}
