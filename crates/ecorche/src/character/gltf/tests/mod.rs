//! Tiny files made by hand, one for each thing a file can hold or get wrong.

mod accessors;
mod clips;
mod container;
mod draco;
mod fuzz;
mod hierarchy;
mod meshes;
mod skins;

use super::read_bytes;
use crate::character::raw::RawCharacter;
use crate::character::{ReadError, Repair};
use bytemuck::Pod;
use serde_json::{Value, json};
use std::path::Path;

/// Component types by the format's code.
const I8: u32 = 5120;
const U8: u32 = 5121;
const I16: u32 = 5122;
const U16: u32 = 5123;
const U32: u32 = 5125;
const F32: u32 = 5126;

/// A file in the making: its JSON, and its one buffer.
struct TinyFile {
    json: Value,
    binary: Vec<u8>,
}

impl TinyFile {
    fn new() -> Self {
        Self { json: json!({"asset": {"version": "2.0"}, "nodes": []}), binary: Vec::new() }
    }

    /// A file with one node showing one mesh of one primitive.
    fn with_primitive(make: impl FnOnce(&mut Self) -> Value) -> Self {
        let mut file = Self::new();
        let primitive = make(&mut file);
        file.json["meshes"] = json!([{"name": "Body", "primitives": [primitive]}]);
        file.json["nodes"] = json!([{"name": "carrier", "mesh": 0}]);
        file
    }

    /// Appends to a list of the document and gives the place.
    fn push(&mut self, list: &str, value: Value) -> usize {
        let list = &mut self.json[list];
        if list.is_null() {
            *list = json!([]);
        }
        let list = list.as_array_mut().unwrap();
        list.push(value);
        list.len() - 1
    }

    /// A view of new bytes.
    fn view(&mut self, bytes: &[u8]) -> usize {
        let offset = self.binary.len();
        self.binary.extend_from_slice(bytes);
        self.binary.resize(self.binary.len().next_multiple_of(4), 0);
        self.push("bufferViews", json!({"buffer": 0, "byteOffset": offset, "byteLength": bytes.len()}))
    }

    /// An accessor over a view of new, packed elements.
    fn list<T: Pod>(&mut self, component: u32, shape: &str, elements: &[T]) -> usize {
        let view = self.view(bytemuck::cast_slice(elements));
        self.accessor(view, component, shape, elements.len())
    }

    fn accessor(&mut self, view: usize, component: u32, shape: &str, count: usize) -> usize {
        let accessor = json!({"bufferView": view, "componentType": component, "type": shape, "count": count});
        self.push("accessors", accessor)
    }

    /// Three corners of a triangle in the XY plane.
    fn triangle(&mut self) -> usize {
        self.list(F32, "VEC3", &[[0f32, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    }

    fn to_glb(&self) -> Vec<u8> {
        let mut json = self.json.clone();
        json["buffers"] = json!([{"byteLength": self.binary.len()}]);
        glb(json.to_string().as_bytes(), &self.binary)
    }

    fn read(&self) -> Result<RawCharacter, ReadError> {
        read_bytes(&self.to_glb(), None, Path::new("tiny.glb"))
    }

    /// Reads, and tells what was mended.
    fn read_mended(&self) -> (RawCharacter, Vec<String>) {
        let raw = self.read().unwrap();
        let repairs = raw.repairs.iter().map(Repair::to_string).collect();
        (raw, repairs)
    }

    /// Reads a file in which nothing is wrong.
    fn read_sound(&self) -> RawCharacter {
        let (raw, repairs) = self.read_mended();
        assert!(repairs.is_empty(), "{repairs:?}");
        raw
    }
}

fn glb(json: &[u8], binary: &[u8]) -> Vec<u8> {
    let mut json = json.to_vec();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut binary = binary.to_vec();
    binary.resize(binary.len().next_multiple_of(4), 0);
    let mut file = b"glTF".to_vec();
    for word in [2, 28 + json.len() as u32 + binary.len() as u32, json.len() as u32, 0x4e4f534a] {
        file.extend(word.to_le_bytes());
    }
    file.extend(&json);
    for word in [binary.len() as u32, 0x004e4942] {
        file.extend(word.to_le_bytes());
    }
    file.extend(binary);
    file
}
