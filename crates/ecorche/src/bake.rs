//! A clip, frame by frame, into a cache.

pub mod piece;

use crate::character::Character;
use crate::deform::{BindError, Body, Playback, SavedState, Stack, StateError, Workspace};
use crate::frame::Frame;
use crate::output::{self, CacheOptions, Shot, WriteError, file};
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

/// Why a state cannot be loaded.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// The file could not be read.
    #[error("{}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        source: std::io::Error,
    },
    /// What the file holds cannot be used.
    #[error("{}: {source}", path.display())]
    State {
        /// The file.
        path: PathBuf,
        /// Why.
        source: StateError,
    },
}

/// Writes a state to `path`, see [`SavedState::to_bytes`].
pub fn save_state(path: &Path, saved: &SavedState, key: &[u8; 32]) -> Result<PathBuf, WriteError> {
    file::write(path, &saved.to_bytes(key))
}

/// Reads a state of `body` from `path`, see [`SavedState::from_bytes`].
pub fn load_state(path: &Path, key: &[u8; 32], body: &Body) -> Result<SavedState, LoadError> {
    let bytes = std::fs::read(path).map_err(|source| LoadError::Read { path: path.to_owned(), source })?;
    SavedState::from_bytes(&bytes, key, body)
        .map_err(|source| LoadError::State { path: path.to_owned(), source })
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
    /// Most parametric muscles of one frame that were clamped, see
    /// [`ParametricReport`](crate::frame::ParametricReport).
    pub clamped: usize,
    /// Pieces of the surface that were worse off than by skinning in some frame and faded back to it, by number.
    pub faded: Vec<Faded>,
}

/// A piece of the surface that faded back to skinning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Faded {
    /// Its number, see [`Pieces`](crate::pieces::Pieces).
    pub piece: u32,
    /// In how many frames.
    pub frames: usize,
    /// Most of its vertices in one frame.
    pub vertices: u32,
}

impl Baked {
    fn fade(&mut self, found: &[(u32, u32)]) {
        for &(piece, vertices) in found {
            match self.faded.iter_mut().find(|f| f.piece == piece) {
                Some(f) => (f.frames, f.vertices) = (f.frames + 1, f.vertices.max(vertices)),
                None => self.faded.push(Faded { piece, frames: 1, vertices }),
            }
        }
    }
}

/// Bakes `plan` to `path`, whose extension chooses the format. Frames are those of the whole clip played from its start,
/// also where only a range of it is baked. `progress` gets the number of finished frames after each and may stop the
/// bake, which then leaves nothing behind.
pub fn bake(
    body: &Body,
    plan: &Plan,
    path: &Path,
    progress: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<Baked, BakeError> {
    bake_as(CacheOptions::default(), &mut Playback::new(body, plan), body, plan, path, progress)
}

/// As [`bake`], with options of the format and a playback of `body` and `plan` that may have been resumed; afterwards it
/// stands behind the last frame.
pub fn bake_as(
    options: CacheOptions,
    playback: &mut Playback,
    body: &Body,
    plan: &Plan,
    path: &Path,
    mut progress: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<Baked, BakeError> {
    let character = body.character();
    let mut writer = output::create(path, &Shot::new(character, plan).with(options))?;
    let mut workspace = Workspace::default();
    let (mut baked, mut frame) = (Baked::default(), Frame::default());
    for frame_number in plan.frames.clone() {
        playback.frame_into(frame_number, &mut workspace, &mut frame);
        writer.write_frame(&frame)?;
        baked.fell_back += frame.report.fell_back;
        baked.clamped = baked.clamped.max(frame.report.parametric.map_or(0, |muscles| muscles.clamped));
        baked.fade(&frame.found.faded);
        baked.frames += 1;
        if progress(baked.frames).is_break() {
            return Err(BakeError::Stopped);
        }
    }
    baked.paths = writer.finish()?;
    Ok(baked)
}
