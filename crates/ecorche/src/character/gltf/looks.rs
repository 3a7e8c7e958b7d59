//! Base colours and textures of the materials of a glTF file.

use super::buffers::Container;
use crate::character::textures::{MaterialLook, Place, read_beside};
use crate::character::uri::{decode_data_uri, relative_path};
use serde_json::Value;
use std::path::Path;

/// The looks of the materials; none for a file that is not understood.
pub fn read(bytes: &[u8], folder: &Path) -> Option<Vec<MaterialLook>> {
    let container = Container::open(bytes).ok()?;
    let document: Value = serde_json::from_slice(container.json).ok()?;
    let item = |list: &str, number: &Value| document[list].get(usize::try_from(number.as_u64()?).ok()?);
    let materials = document["materials"].as_array()?.iter().enumerate();
    let look = |(number, material): (usize, &Value)| {
        let surface = &material["pbrMetallicRoughness"];
        let colour = surface["baseColorFactor"].as_array().and_then(|list| {
            let mut channels = list.iter().map(|c| c.as_f64().map(|c| c as f32));
            Some([channels.next()??, channels.next()??, channels.next()??])
        });
        let texture = item("textures", &surface["baseColorTexture"]["index"]);
        let image = texture.and_then(|t| {
            let extended = &t["extensions"]["EXT_texture_webp"]["source"];
            item("images", extended).or_else(|| item("images", &t["source"]))
        });
        let texture = image.and_then(|image| match image["uri"].as_str() {
            Some(uri) => place(uri),
            None => {
                let view = item("bufferViews", &image["bufferView"])?;
                let start = usize::try_from(view["byteOffset"].as_u64().unwrap_or(0)).ok()?;
                let end = start.checked_add(usize::try_from(view["byteLength"].as_u64()?).ok()?)?;
                let bytes = match item("buffers", &view["buffer"])?["uri"].as_str().map(place) {
                    Some(Some(Place::Inside(bytes))) => bytes.get(start..end)?.to_vec(),
                    Some(Some(Place::Beside(names))) => {
                        names.iter().find_map(|name| read_beside(folder, name))?.get(start..end)?.to_vec()
                    }
                    Some(None) => return None,
                    None => container.binary?.get(start..end)?.to_vec(),
                };
                Some(Place::Inside(bytes))
            }
        });
        // The reader of meshes names materials without a name in the same way.
        let name = material["name"].as_str().map_or_else(|| format!("material {number}"), str::to_owned);
        MaterialLook { name, colour, texture }
    };
    Some(materials.map(look).collect())
}

/// Where a URI leads: bytes written out in it, or a file beside the character.
fn place(uri: &str) -> Option<Place> {
    match uri.strip_prefix("data:") {
        Some(data) => decode_data_uri(data).map(Place::Inside),
        None => Some(Place::Beside(vec![relative_path(uri)?.to_str()?.to_owned()])),
    }
}
