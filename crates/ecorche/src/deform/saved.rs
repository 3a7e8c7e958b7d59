//! The state of a running animation as bytes and back, to the bit.

use super::{Body, State, binary};
use glam::Affine3A;

const MAGIC: &[u8; 8] = b"ecorche\x1a";
/// Raised whenever the meaning of the bytes changes.
const VERSION: u32 = 2;
/// Magic, version, key, number of the next frame.
const HEADER: usize = MAGIC.len() + 4 + KEY + 8;
const KEY: usize = 32;
const CHECKSUM: usize = 32;

/// A state between two frames of a clip: everything that muscles, tracking and layers on the surface remember.
#[derive(Clone, Debug, PartialEq)]
pub struct SavedState {
    /// What the frames before left.
    pub state: State,
    /// The first frame that is not in the state, counted from 0 at the clip's start.
    pub next: usize,
}

/// Why a saved state cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The file is something else.
    #[error("not a saved state; give a file that was saved as one")]
    NotAState,
    /// Of another version of this library.
    #[error(
        "saved by another version (format {found}, this one reads {VERSION}); save it again with this version"
    )]
    OtherVersion {
        /// The format's version.
        found: u32,
    },
    /// Bytes were changed or are missing.
    #[error("damaged; save it again")]
    Damaged,
    /// Of another character, clip, anatomy or settings.
    #[error(
        "saved from another recipe (character, clip, anatomy or settings); play that one, or save a state of this one"
    )]
    OtherRecipe,
    /// Does not fit the body.
    #[error("does not fit this body; play the body it was saved from, or save a state of this one")]
    OtherBody,
}

impl SavedState {
    /// The state as bytes. `key` says what the animation is made from ([`Ingredients::key`](crate::recipe::Ingredients::key));
    /// loading it needs the same key.
    pub fn to_bytes(&self, key: &[u8; KEY]) -> Vec<u8> {
        let mut bytes = Vec::new();
        bytes.extend_from_slice(MAGIC);
        bytes.extend_from_slice(&VERSION.to_le_bytes());
        bytes.extend_from_slice(key);
        bytes.extend_from_slice(&(self.next as u64).to_le_bytes());
        // A state has lists, numbers and text alone, which can always be written.
        bytes.extend(binary::to_bytes(&self.state).unwrap_or_default());
        let checksum = blake3::hash(&bytes);
        bytes.extend_from_slice(checksum.as_bytes());
        bytes
    }

    /// The state saved as `bytes`, if they are whole and belong to `key` and `body`.
    pub fn from_bytes(bytes: &[u8], key: &[u8; KEY], body: &Body) -> Result<Self, StateError> {
        if bytes.get(..MAGIC.len()) != Some(MAGIC) {
            return Err(StateError::NotAState);
        }
        let whole = bytes.len().checked_sub(CHECKSUM).filter(|length| *length >= HEADER);
        let (content, checksum) = bytes.split_at(whole.ok_or(StateError::Damaged)?);
        if blake3::hash(content).as_bytes() != checksum {
            return Err(StateError::Damaged);
        }
        let (header, payload) = content.split_at(HEADER);
        let (version, rest) = header[MAGIC.len()..].split_at(4);
        let found = u32::from_le_bytes(version.try_into().map_err(|_| StateError::Damaged)?);
        if found != VERSION {
            return Err(StateError::OtherVersion { found });
        }
        let (saved_key, next) = rest.split_at(KEY);
        if saved_key != key {
            return Err(StateError::OtherRecipe);
        }
        let next = u64::from_le_bytes(next.try_into().map_err(|_| StateError::Damaged)?);
        let next = usize::try_from(next).map_err(|_| StateError::Damaged)?;
        let state: State = binary::from_bytes(payload).map_err(|_| StateError::Damaged)?;
        if state.fits(body) { Ok(Self { state, next }) } else { Err(StateError::OtherBody) }
    }
}

impl State {
    /// Whether the state can be one of `body`: as many vertices, strands, particles and layers.
    fn fits(&self, body: &Body) -> bool {
        let vertices = body.surface().map_or(0, |surface| surface.mesh.positions.len());
        let joints = body.character().skeleton.len();
        let flesh = match (&self.flesh, body.musculature()) {
            (None, _) => true,
            (Some((_, state)), Some(musculature)) => {
                state.is_like(&musculature.at_rest(&vec![Affine3A::IDENTITY; joints]))
            }
            (Some(_), None) => false,
        };
        let layers = body.stack().surface.len();
        flesh
            && self.tracking.is_of(vertices, joints)
            && (self.surface.is_empty() || self.surface.len() == layers)
    }
}
