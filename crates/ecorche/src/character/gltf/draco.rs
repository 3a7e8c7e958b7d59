//! `KHR_draco_mesh_compression`: faces and vertices of a primitive out of one compressed block.
//!
//! The extension says which attribute of the block, by its id, stands for which accessor. Decoded lists take the place
//! of the accessors' own bytes. Vertices are in the decoder's order; the author's is not in the file.

use super::Fault;
use super::document::DracoPrimitive;
use draco_core::decode_limits::DecodeLimits;
use draco_core::draco_types::DataType;
use draco_core::geometry_attribute::PointAttribute;
use draco_core::geometry_indices::PointIndex;
use draco_core::{DecoderBuffer, Mesh, MeshDecoder};
use std::collections::BTreeMap;

/// A list of numbers, packed.
#[derive(Debug)]
pub struct List {
    /// Little-endian.
    pub bytes: Vec<u8>,
    /// The format's code of their type.
    pub component_type: usize,
    /// Numbers of an element.
    pub components: usize,
    /// Elements.
    pub count: usize,
}

/// What a block holds.
#[derive(Debug)]
pub struct Decoded {
    /// Vertices of the triangles.
    pub indices: List,
    /// By the name of the attribute.
    pub attributes: BTreeMap<String, List>,
}

/// Decodes a block to `budget` bytes at most.
pub fn decode(bytes: &[u8], packed: &DracoPrimitive, budget: usize) -> Result<Decoded, Fault> {
    let fault = |problem: String| Fault::new("Draco data", problem);
    let budget = budget as u64;
    let limits = DecodeLimits::default()
        .with_max_points(budget / 12)
        .with_max_faces(budget / 12)
        .with_max_decoded_bytes(budget);
    let mut buffer = DecoderBuffer::new(bytes).with_limits(limits);
    let mut mesh = Mesh::new();
    MeshDecoder::new()
        .decode(&mut buffer, &mut mesh)
        .map_err(|e| fault(format!("cannot be decoded: {e}")))?;
    let points = mesh.num_points();
    let indices: Vec<u8> = mesh.faces().iter().flatten().flat_map(|corner| corner.0.to_le_bytes()).collect();
    let indices = List { component_type: 5125, components: 1, count: indices.len() / 4, bytes: indices };
    let mut attributes = BTreeMap::new();
    for (name, id) in &packed.attributes {
        let attribute = u32::try_from(id.0).ok().and_then(|id| mesh.attribute_by_unique_id(id));
        let attribute = attribute.ok_or_else(|| fault(format!("has no attribute {} for {name}", id.0)))?;
        let list = list_of(attribute, points).ok_or_else(|| fault(format!("its {name} is not usable")))?;
        attributes.insert(name.clone(), list);
    }
    Ok(Decoded { indices, attributes })
}

/// The values of all points; none if a point has no value or glTF has no such numbers.
fn list_of(attribute: &PointAttribute, points: usize) -> Option<List> {
    let (component_type, size) = match attribute.data_type() {
        DataType::Int8 => (5120, 1),
        DataType::Uint8 | DataType::Bool => (5121, 1),
        DataType::Int16 => (5122, 2),
        DataType::Uint16 => (5123, 2),
        // Whole numbers are joints and indices, which have no sign.
        DataType::Uint32 | DataType::Int32 => (5125, 4),
        DataType::Float32 => (5126, 4),
        _ => return None,
    };
    let components = usize::from(attribute.num_components());
    let width = size * components;
    let stride = usize::try_from(attribute.byte_stride()).ok().filter(|&stride| stride >= width)?;
    let data = attribute.buffer().data();
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(points.checked_mul(width)?).ok()?;
    for point in 0..points {
        let value = attribute.mapped_index(PointIndex(point as u32)).0 as usize;
        let at = value.checked_mul(stride)?;
        bytes.extend_from_slice(data.get(at..at.checked_add(width)?)?);
    }
    Some(List { bytes, component_type, components, count: points })
}
