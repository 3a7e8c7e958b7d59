//! The one door for files: picks the reader by ending, checks what it found.

use super::check::check;
use super::{Character, ReadError, bvh, dae, fbx, gltf, obj, usd};
use std::path::Path;

/// Reads a character from `path`, whose ending chooses the format, and checks it.
pub fn read(path: &Path) -> Result<Character, ReadError> {
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
    let reader = match ending.as_str() {
        "glb" | "gltf" => gltf::read,
        "fbx" => fbx::read,
        "dae" => dae::read,
        "obj" => obj::read,
        "bvh" => bvh::read,
        "usd" | "usda" | "usdc" | "usdz" => usd::read,
        _ => return Err(ReadError::UnknownFormat { path: path.to_owned() }),
    };
    check(path, reader(path)?)
}
