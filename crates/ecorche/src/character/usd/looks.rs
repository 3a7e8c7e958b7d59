//! Base colours and textures of the materials of a USD scene, from their preview surfaces.

use super::layer::Layer;
use crate::character::textures::{MaterialLook, Place};

/// The looks of a scene; `packed` gives the content of an asset in a package.
pub(super) fn read(layer: &Layer, packed: impl Fn(&str) -> Option<Vec<u8>>) -> Vec<MaterialLook> {
    let materials = (0..layer.prims.len()).filter(|&prim| layer.prims[prim].type_name == "Material");
    let look = |material: usize| {
        // Shaders lie below their material.
        let mut below = layer.prims[material].children.clone();
        let mut surface = None;
        while let Some(prim) = below.pop() {
            below.extend(&layer.prims[prim].children);
            if text(layer, prim, "info:id") == Some("UsdPreviewSurface") {
                surface = Some(prim);
            }
        }
        let surface = surface?;
        let connected = layer.targets(surface, &connection(COLOUR));
        let file = connected.first().and_then(|&texture| text(layer, texture, "inputs:file"));
        let texture =
            file.map(|file| packed(file).map_or_else(|| Place::Beside(vec![file.to_owned()]), Place::Inside));
        // A colour beside a texture is only there for programs without textures.
        let colour = match layer.still(surface, COLOUR).map(|value| value.numbers()) {
            Some(&[r, g, b]) if texture.is_none() => Some([r, g, b].map(|c| c as f32)),
            _ => None,
        };
        let name = layer.prims[material].name.clone();
        Some(MaterialLook { name, colour, texture })
    };
    materials.filter_map(look).collect()
}

const COLOUR: &str = "inputs:diffuseColor";

/// The name under which a layer keeps what an attribute is connected to, among the relationships.
pub(super) fn connection(attribute: &str) -> String {
    format!("{attribute}.connect")
}

fn text<'a>(layer: &'a Layer, prim: usize, name: &str) -> Option<&'a str> {
    layer.still(prim, name)?.text().filter(|text| !text.is_empty())
}
