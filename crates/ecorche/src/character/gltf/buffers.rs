//! Getting at a file's bytes: the GLB container, buffers wherever they are, views into them.

use super::document::{Buffer, Document, Number};
use super::{Fault, meshopt};
use crate::character::uri::{decode_data_uri, relative_path};
use crate::character::{ReadError, Repair};
use std::borrow::Cow;
use std::path::Path;

/// A file taken apart: its JSON and, for GLB, its binary chunk.
pub struct Container<'a> {
    pub json: &'a [u8],
    pub binary: Option<&'a [u8]>,
    /// Whether the file ends before its last chunk does.
    pub truncated: bool,
}

const GLB_MAGIC: &[u8] = b"glTF";
const CHUNK_JSON: u32 = 0x4e4f_534a;
const CHUNK_BINARY: u32 = 0x004e_4942;

impl<'a> Container<'a> {
    /// Takes a `.glb` or `.gltf` apart; the content tells which it is, not the name.
    pub fn open(bytes: &'a [u8]) -> Result<Self, Fault> {
        if !bytes.starts_with(GLB_MAGIC) {
            let json = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
            return Ok(Self { json, binary: None, truncated: false });
        }
        let version = word(bytes, 4).ok_or_else(|| Fault::new("GLB header", "the file ends inside it"))?;
        if version != 2 {
            return Err(Fault::new("GLB header", format!("version {version} where 2 is expected")));
        }
        let (mut json, mut binary, mut truncated) = (None, None, false);
        let mut at = 12;
        while let (Some(length), Some(kind)) = (word(bytes, at), word(bytes, at.saturating_add(4))) {
            let start = at + 8;
            let end = start.saturating_add(length as usize);
            truncated |= end > bytes.len();
            let chunk = &bytes[start..end.min(bytes.len())];
            match kind {
                CHUNK_JSON if json.is_none() => json = Some(chunk),
                CHUNK_BINARY if binary.is_none() => binary = Some(chunk),
                _ => {}
            }
            at = end;
        }
        let json = json.ok_or_else(|| Fault::new("GLB container", "it has no JSON chunk"))?;
        Ok(Self { json, binary, truncated })
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at.checked_add(4)?)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}

/// The bytes of one buffer view, or why there are none.
type ViewBytes<'a> = Result<&'a [u8], Fault>;

/// All bytes of a file, buffers and decompressed views.
#[derive(Default)]
pub struct Buffers<'a> {
    buffers: Vec<Cow<'a, [u8]>>,
    /// Views that were compressed.
    decoded: Vec<Option<Result<Vec<u8>, Fault>>>,
}

impl<'a> Buffers<'a> {
    /// Loads every buffer and decompresses every compressed view.
    pub fn load(
        document: &Document,
        binary: Option<&'a [u8]>,
        base_dir: Option<&Path>,
        path: &Path,
        repairs: &mut Vec<Repair>,
    ) -> Result<Self, ReadError> {
        let mut buffers = Vec::with_capacity(document.buffers.len());
        for (index, buffer) in document.buffers.iter().enumerate() {
            let bytes = load_buffer(index, buffer, binary, base_dir, path)?;
            if bytes.len() < buffer.byte_length.0 && !is_fallback(buffer) {
                repairs.push(Repair::new(
                    format!("buffer {index}"),
                    format!("{} bytes where {} are stated", bytes.len(), buffer.byte_length.0),
                    "read as far as it goes",
                ));
            }
            buffers.push(bytes);
        }
        let mut loaded = Self { buffers, decoded: Vec::new() };
        let stored: usize = loaded.stored_bytes();
        let mut budget = meshopt::MAX_EXPANSION.saturating_mul(stored).min(super::MAX_DECODED_BYTES);
        loaded.decoded = document
            .buffer_views
            .iter()
            .enumerate()
            .map(|(index, view)| {
                let packed = view.extensions.meshopt.as_ref()?;
                let source = slice(&loaded.buffers, packed.buffer, packed.byte_offset, packed.byte_length);
                let fault = |problem: &str| Fault::new(format!("bufferView {index}"), problem);
                Some(
                    source
                        .ok_or_else(|| fault("its compressed bytes lie outside their buffer"))
                        .and_then(|s| meshopt::decode(s, packed, &mut budget).map_err(|p| fault(&p))),
                )
            })
            .collect();
        Ok(loaded)
    }

    /// Number of bytes the file itself holds.
    pub fn stored_bytes(&self) -> usize {
        self.buffers.iter().map(|b| b.len()).sum()
    }

    /// The bytes of view `index`.
    pub fn view(&self, document: &Document, index: usize) -> ViewBytes<'_> {
        let fault = |problem: &str| Fault::new(format!("bufferView {index}"), problem);
        let view = document.buffer_views.get(index).ok_or_else(|| fault("it does not exist"))?;
        match self.decoded.get(index) {
            Some(Some(Ok(bytes))) => Ok(bytes),
            Some(Some(Err(fault))) => Err(fault.clone()),
            _ => slice(&self.buffers, view.buffer, view.byte_offset, view.byte_length)
                .ok_or_else(|| fault("it reaches beyond its buffer")),
        }
    }
}

fn slice<'b>(
    buffers: &'b [Cow<'_, [u8]>],
    buffer: Number,
    offset: Number,
    length: Number,
) -> Option<&'b [u8]> {
    buffers.get(buffer.0)?.get(offset.0..offset.0.checked_add(length.0)?)
}

/// A buffer that exists for readers without meshopt only.
fn is_fallback(buffer: &Buffer) -> bool {
    buffer.extensions.meshopt.as_ref().is_some_and(|m| m.fallback)
}

fn load_buffer<'a>(
    index: usize,
    buffer: &Buffer,
    binary: Option<&'a [u8]>,
    base_dir: Option<&Path>,
    path: &Path,
) -> Result<Cow<'a, [u8]>, ReadError> {
    let malformed = |problem: String, remedy: &str| ReadError::Malformed {
        path: path.to_owned(),
        thing: format!("buffer {index}"),
        problem,
        remedy: remedy.to_owned(),
    };
    let Some(uri) = &buffer.uri else {
        // Only the first buffer may be the GLB chunk; others without an address are fallbacks.
        let chunk = if index == 0 { binary } else { None };
        return Ok(Cow::Borrowed(chunk.unwrap_or_default()));
    };
    if let Some(data) = uri.strip_prefix("data:") {
        return decode_data_uri(data)
            .map(Cow::Owned)
            .ok_or_else(|| malformed("its data URI cannot be decoded".into(), "export the file again"));
    }
    let relative = relative_path(uri).ok_or_else(|| {
        malformed(
            format!("its address {uri:?} is not inside the file's folder"),
            "put the buffer beside the file and give its address relative to it, or save as .glb",
        )
    })?;
    let base_dir = base_dir.ok_or_else(|| {
        malformed(format!("it is in another file, {uri:?}, and there is no folder"), "read it from a path")
    })?;
    let file = base_dir.join(relative);
    crate::input::read(&file).map(Cow::Owned).map_err(|source| ReadError::Io { path: file, source })
}
