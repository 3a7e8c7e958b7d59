//! The JSON of a glTF file: only what a character needs, and as forgiving as serde lets it be.
//!
//! Why not a ready-made document type: those refuse a whole file for a material, an extra or an
//! animation target that has nothing to do with the character. Here an unknown field is skipped, an
//! extra of the wrong kind counts as absent, and a number out of range becomes an index that does not exist.

use serde::de::{DeserializeOwned, Deserializer, Visitor};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// An index or count. Negative and fractional numbers become `usize::MAX`, which is in no range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub(super) struct Number(pub usize);

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct AnyNumber;
        impl Visitor<'_> for AnyNumber {
            type Value = Number;
            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a number")
            }
            fn visit_u64<E>(self, n: u64) -> Result<Number, E> {
                Ok(Number(usize::try_from(n).unwrap_or(usize::MAX)))
            }
            fn visit_i64<E>(self, n: i64) -> Result<Number, E> {
                Ok(Number(usize::try_from(n).unwrap_or(usize::MAX)))
            }
            fn visit_f64<E>(self, n: f64) -> Result<Number, E> {
                let whole = n >= 0.0 && n < 2f64.powi(53) && n.fract() == 0.0;
                Ok(Number(if whole { n as usize } else { usize::MAX }))
            }
        }
        deserializer.deserialize_any(AnyNumber)
    }
}

/// Reads what should be a `T`; anything else counts as absent.
fn or_default<'de, D: Deserializer<'de>, T: DeserializeOwned + Default>(d: D) -> Result<T, D::Error> {
    Ok(serde_json::from_value(serde_json::Value::deserialize(d)?).unwrap_or_default())
}

/// The whole document.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Document {
    pub asset: Asset,
    pub extensions_required: Vec<String>,
    pub buffers: Vec<Buffer>,
    pub buffer_views: Vec<View>,
    pub accessors: Vec<Accessor>,
    #[serde(deserialize_with = "or_default")]
    pub materials: Vec<Material>,
    pub meshes: Vec<Mesh>,
    pub nodes: Vec<Node>,
    pub skins: Vec<Skin>,
    pub animations: Vec<Animation>,
}

/// Only what tells the version, so that a file of another version is named as such.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct VersionOnly {
    pub asset: Asset,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Asset {
    #[serde(deserialize_with = "or_default")]
    pub version: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Buffer {
    pub byte_length: Number,
    pub uri: Option<String>,
    #[serde(deserialize_with = "or_default")]
    pub extensions: BufferExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct BufferExtensions {
    #[serde(rename = "EXT_meshopt_compression", alias = "KHR_meshopt_compression")]
    pub meshopt: Option<MeshoptFallback>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct MeshoptFallback {
    pub fallback: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct View {
    pub buffer: Number,
    pub byte_offset: Number,
    pub byte_length: Number,
    pub byte_stride: Option<Number>,
    #[serde(deserialize_with = "or_default")]
    pub extensions: ViewExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ViewExtensions {
    #[serde(rename = "EXT_meshopt_compression", alias = "KHR_meshopt_compression")]
    pub meshopt: Option<MeshoptView>,
}

/// Where the compressed bytes of a view are and what they hold.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct MeshoptView {
    pub buffer: Number,
    pub byte_offset: Number,
    pub byte_length: Number,
    pub byte_stride: Number,
    pub count: Number,
    pub mode: String,
    pub filter: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Accessor {
    pub buffer_view: Option<Number>,
    pub byte_offset: Number,
    pub count: Number,
    pub component_type: Number,
    pub normalized: bool,
    #[serde(rename = "type")]
    pub shape: String,
    pub sparse: Option<Sparse>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Sparse {
    pub count: Number,
    pub indices: SparsePart,
    pub values: SparsePart,
}

/// Indices (which have a component type) or values (which take the accessor's) of a sparse accessor.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct SparsePart {
    pub buffer_view: Number,
    pub byte_offset: Number,
    pub component_type: Number,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Material {
    pub name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Mesh {
    pub name: Option<String>,
    pub primitives: Vec<Primitive>,
    pub weights: Vec<f32>,
    #[serde(deserialize_with = "or_default")]
    pub extras: MorphNames,
}

/// Where exporters put the names of morph targets, by convention.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct MorphNames {
    pub target_names: Vec<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Primitive {
    pub attributes: BTreeMap<String, Number>,
    pub indices: Option<Number>,
    pub material: Option<Number>,
    pub mode: Option<Number>,
    pub targets: Vec<BTreeMap<String, Number>>,
    #[serde(deserialize_with = "or_default")]
    pub extras: MorphNames,
    #[serde(deserialize_with = "or_default")]
    pub extensions: PrimitiveExtensions,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct PrimitiveExtensions {
    #[serde(rename = "KHR_draco_mesh_compression")]
    pub draco: Option<DracoPrimitive>,
}

/// Where the compressed primitive is, and which of its attributes is which.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct DracoPrimitive {
    pub buffer_view: Number,
    pub attributes: BTreeMap<String, Number>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Node {
    pub name: Option<String>,
    pub children: Vec<Number>,
    pub mesh: Option<Number>,
    pub skin: Option<Number>,
    pub weights: Vec<f32>,
    pub matrix: Option<[f32; 16]>,
    pub translation: Option<[f32; 3]>,
    pub rotation: Option<[f32; 4]>,
    pub scale: Option<[f32; 3]>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Skin {
    pub name: Option<String>,
    pub joints: Vec<Number>,
    pub inverse_bind_matrices: Option<Number>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Animation {
    pub name: Option<String>,
    pub channels: Vec<Channel>,
    pub samplers: Vec<Sampler>,
    #[serde(deserialize_with = "or_default")]
    pub extras: ClipRate,
}

/// Frames per second, where the exporter wrote it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ClipRate {
    #[serde(alias = "frameRate", alias = "frame_rate")]
    pub fps: Option<f32>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Channel {
    pub sampler: Number,
    pub target: Target,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Target {
    pub node: Option<Number>,
    pub path: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Sampler {
    pub input: Number,
    pub output: Number,
    pub interpolation: Option<String>,
}
