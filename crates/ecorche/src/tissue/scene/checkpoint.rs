//! Saving a running scene and going on from the save with the same bits.
//!
//! A checkpoint belongs to one scene: its header carries the hash of the scene file's text and of every file
//! the scene names, and one that does not match is refused. It also carries a hash of its own bytes and one
//! of what the run had written by then, so damage to any of them is found. Contact multipliers start afresh at
//! every checkpoint, in the running scene too, so that stopping and resuming changes nothing.

use super::{FrameRecord, Scene};
use crate::output::pc2::Pc2;
use glam::DVec3;
use thiserror::Error;

const MAGIC: &[u8; 16] = b"ecorche tissue 2";
/// The same but for the last byte, the version.
const FAMILY: &[u8] = b"ecorche tissue ";
const HASH: usize = 32;

/// Why a checkpoint was not used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CheckpointError {
    /// Not one of ours.
    #[error("not a checkpoint of a tissue scene")]
    Foreign,
    /// Written by another version of the program.
    #[error("the checkpoint was written by another version of the program; start again without resuming")]
    OtherVersion,
    /// Of another scene, or of an earlier text of it, or of earlier files that it names.
    #[error(
        "the checkpoint belongs to another version of the scene or of a file it names; start again without resuming"
    )]
    OtherScene,
    /// Cut short, changed, or with numbers that are not finite.
    #[error("the checkpoint is damaged; start again without resuming")]
    Damaged,
    /// The records or caches beside it are not those the checkpoint was written with.
    #[error(
        "the records or caches beside the checkpoint were changed since it was written; start again without resuming"
    )]
    OtherLog,
}

/// What a run has written down so far, first state included.
#[derive(Clone, Debug, Default)]
pub struct Log {
    /// One record per frame.
    pub records: Vec<FrameRecord>,
    /// One cache per body, in the order of the scene.
    pub caches: Vec<Pc2>,
}

impl Log {
    /// Drops what comes after `frame`.
    fn truncate(&mut self, frame: usize) {
        let kept = frame.saturating_add(1);
        self.records.truncate(kept);
        for cache in &mut self.caches {
            cache.samples.truncate(kept);
        }
    }

    fn hash(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        let mut part = |bytes: &[u8]| {
            hasher.update(&(bytes.len() as u64).to_le_bytes());
            hasher.update(bytes);
        };
        for record in &self.records {
            // A record is plain numbers and names: it can always be written as JSON.
            part(&serde_json::to_vec(record).unwrap_or_default());
        }
        for cache in &self.caches {
            part(&cache.first_frame.to_le_bytes());
            for sample in &cache.samples {
                part(bytemuck::cast_slice(sample));
            }
        }
        hasher.finalize()
    }
}

impl Scene {
    /// The state as bytes, with the hash of `log`: what was written up to this frame.
    pub fn checkpoint(&mut self, log: &Log) -> Vec<u8> {
        self.simulation.contacts.forget();
        let state = &self.simulation.state;
        let mut body = Vec::with_capacity(64 + 48 * state.positions.len());
        body.extend_from_slice(log.hash().as_bytes());
        body.extend_from_slice(&(self.frame as u64).to_le_bytes());
        body.extend_from_slice(&state.time.to_le_bytes());
        body.extend_from_slice(&(state.positions.len() as u64).to_le_bytes());
        for v in state.positions.iter().chain(&state.velocities) {
            for x in v.to_array() {
                body.extend_from_slice(&x.to_le_bytes());
            }
        }
        [MAGIC, &self.key[..], blake3::hash(&body).as_bytes(), &body].concat()
    }

    /// Goes on from bytes made by [`Scene::checkpoint`]. `log` is what was read back of the run's records and
    /// caches; what comes after the checkpoint is dropped. Nothing changes if there is an error.
    pub fn resume(&mut self, bytes: &[u8], log: &mut Log) -> Result<(), CheckpointError> {
        let Some(rest) = bytes.strip_prefix(MAGIC) else {
            let ours = bytes.starts_with(FAMILY) && bytes.len() >= MAGIC.len();
            return Err(if ours { CheckpointError::OtherVersion } else { CheckpointError::Foreign });
        };
        let (key, rest) = rest.split_at_checked(HASH).ok_or(CheckpointError::Damaged)?;
        let (hash, body) = rest.split_at_checked(HASH).ok_or(CheckpointError::Damaged)?;
        if *blake3::hash(body).as_bytes() != hash {
            return Err(CheckpointError::Damaged);
        }
        if key != self.key {
            return Err(CheckpointError::OtherScene);
        }
        let (log_hash, numbers) = body.split_at_checked(HASH).ok_or(CheckpointError::Damaged)?;
        let words: Vec<[u8; 8]> = numbers.as_chunks::<8>().0.to_vec();
        let count = self.simulation.model.rest.len();
        if numbers.len() != 8 * (3 + 6 * count) || u64::from_le_bytes(words[2]) as usize != count {
            return Err(CheckpointError::Damaged);
        }
        let frame = u64::from_le_bytes(words[0]) as usize;
        let time = f64::from_le_bytes(words[1]);
        let numbers: Vec<f64> = words[3..].iter().map(|w| f64::from_le_bytes(*w)).collect();
        if !time.is_finite() || numbers.iter().any(|x| !x.is_finite()) {
            return Err(CheckpointError::Damaged);
        }
        let mut kept = log.clone();
        kept.truncate(frame);
        if *kept.hash().as_bytes() != log_hash {
            return Err(CheckpointError::OtherLog);
        }
        *log = kept;
        // The blend starts from the forces of the very first step, so the muscles must be tensed as they were then.
        self.activate(self.step_length());
        self.simulation.begin_blend();
        let vectors: Vec<DVec3> = numbers.chunks_exact(3).map(DVec3::from_slice).collect();
        let state = &mut self.simulation.state;
        state.positions.copy_from_slice(&vectors[..count]);
        state.velocities.copy_from_slice(&vectors[count..]);
        state.time = time;
        self.frame = frame;
        self.simulation.contacts.forget();
        Ok(())
    }
}
