//! Saving a running scene and going on from the save with the same bits.
//!
//! A checkpoint belongs to one text of a scene file: its header carries the text's hash, and one that does
//! not match is refused. Contact multipliers start afresh at every checkpoint, in the running scene too, so
//! that stopping and resuming changes nothing.

use super::Scene;
use glam::DVec3;
use thiserror::Error;

const MAGIC: &[u8; 16] = b"ecorche tissue 1";

/// Why a checkpoint was not used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum CheckpointError {
    /// Not one of ours.
    #[error("not a checkpoint of a tissue scene")]
    Foreign,
    /// Of another scene, or of an earlier text of it.
    #[error("the checkpoint belongs to another version of the scene; start again without resuming")]
    OtherScene,
    /// Cut short or with numbers that are not finite.
    #[error("the checkpoint is damaged; start again without resuming")]
    Damaged,
}

impl Scene {
    /// The state as bytes.
    pub fn checkpoint(&mut self) -> Vec<u8> {
        self.simulation.contacts.forget();
        let state = &self.simulation.state;
        let mut out = Vec::with_capacity(64 + 48 * state.positions.len());
        out.extend_from_slice(MAGIC);
        out.extend_from_slice(&self.key);
        out.extend_from_slice(&(self.frame as u64).to_le_bytes());
        out.extend_from_slice(&state.time.to_le_bytes());
        out.extend_from_slice(&(state.positions.len() as u64).to_le_bytes());
        for v in state.positions.iter().chain(&state.velocities) {
            for x in v.to_array() {
                out.extend_from_slice(&x.to_le_bytes());
            }
        }
        out
    }

    /// Goes on from bytes made by [`Scene::checkpoint`].
    pub fn resume(&mut self, bytes: &[u8]) -> Result<(), CheckpointError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or(CheckpointError::Foreign)?;
        let (key, rest) = rest.split_at_checked(32).ok_or(CheckpointError::Damaged)?;
        if key != self.key {
            return Err(CheckpointError::OtherScene);
        }
        let words: Vec<[u8; 8]> = rest.as_chunks::<8>().0.to_vec();
        let count = self.simulation.model.rest.len();
        if rest.len() != 8 * (3 + 6 * count) || u64::from_le_bytes(words[2]) as usize != count {
            return Err(CheckpointError::Damaged);
        }
        let numbers: Vec<f64> = words[3..].iter().map(|w| f64::from_le_bytes(*w)).collect();
        let time = f64::from_le_bytes(words[1]);
        if !time.is_finite() || numbers.iter().any(|x| !x.is_finite()) {
            return Err(CheckpointError::Damaged);
        }
        // The blend starts from the forces of the very first step, so the muscles must be tensed as they were then.
        self.activate(self.step_length());
        self.simulation.begin_blend();
        let vectors: Vec<DVec3> = numbers.chunks_exact(3).map(DVec3::from_slice).collect();
        let state = &mut self.simulation.state;
        state.positions.copy_from_slice(&vectors[..count]);
        state.velocities.copy_from_slice(&vectors[count..]);
        state.time = time;
        self.frame = u64::from_le_bytes(words[0]) as usize;
        self.simulation.contacts.forget();
        Ok(())
    }
}
