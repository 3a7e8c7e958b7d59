//! The entry point for files: picks the reader by file extension, checks what it found.

use super::check::check;
use super::raw::RawCharacter;
use super::{Character, ReadError, bvh, dae, fbx, gltf, obj, usd};
use std::path::Path;

/// A reader takes the file's bytes, the folder of files it refers to, and the name for messages.
type Reader = fn(&[u8], Option<&Path>, &Path) -> Result<RawCharacter, ReadError>;

/// Reads a character from `path`, whose extension chooses the format, and checks it.
pub fn read(path: &Path) -> Result<Character, ReadError> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
    let reader: Reader = match ending.as_str() {
        "glb" | "gltf" => gltf::read_bytes,
        "fbx" => fbx::read_bytes,
        "dae" => dae::read_bytes,
        "obj" => obj::read_bytes,
        "bvh" => bvh::read_bytes,
        "usd" | "usda" | "usdc" | "usdz" => usd::read_bytes,
        _ => return Err(ReadError::UnknownFormat { path: path.to_owned() }),
    };
    let bytes = crate::input::read(path).map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
    check(path, reader(&bytes, path.parent(), path)?)
}
