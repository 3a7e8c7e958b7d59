//! What the materials of a USD scene look like: the base colour of their preview surface, or the picture it is read from.

use super::layer::Layer;

/// The base colour of a material.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Look {
    /// Name of the material.
    pub material: String,
    /// Red, green and blue, linear.
    pub colour: Option<[f32; 3]>,
    /// The picture.
    pub picture: Option<Asset>,
}

/// Where a picture is.
#[derive(Clone, Debug, PartialEq)]
pub enum Asset {
    /// In the package.
    Packed(Vec<u8>),
    /// In a file, as the scene names it.
    File(String),
}

/// The looks of a scene; `packed` gives the content of an asset in a package.
pub(super) fn read(layer: &Layer, packed: impl Fn(&str) -> Option<Vec<u8>>) -> Vec<Look> {
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
        let mut look = Look { material: layer.prims[material].name.clone(), ..Look::default() };
        let surface = surface?;
        if let Some(&[r, g, b]) = layer.still(surface, COLOUR).map(|value| value.numbers()) {
            look.colour = Some([r, g, b].map(|c| c as f32));
        }
        let connected = layer.targets(surface, &connection(COLOUR));
        let file = connected.first().and_then(|&texture| text(layer, texture, "inputs:file"));
        look.picture = file.map(|file| packed(file).map_or(Asset::File(file.to_owned()), Asset::Packed));
        Some(look)
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
