//! Base colours and textures of the materials of a COLLADA file.

use super::document::{Document, child, is, words};
use super::parse_options;
use crate::character::textures::{MaterialLook, Place};
use crate::character::uri::relative_path;
use roxmltree::Node;
use std::path::Path;

/// The looks of the materials; none for a file that is not understood.
pub fn read(bytes: &[u8], _folder: &Path) -> Option<Vec<MaterialLook>> {
    let text = String::from_utf8_lossy(bytes);
    let xml = roxmltree::Document::parse_with_options(&text, parse_options()).ok()?;
    let document = Document::new(&xml);
    let materials = document.root().descendants().filter(|node| is(*node, "material"));
    Some(materials.filter_map(|material| look(&document, material)).collect())
}

fn look<'a>(document: &Document<'a>, material: Node<'a, 'a>) -> Option<MaterialLook> {
    let name = material.attribute("name").or(material.attribute("id"))?;
    let effect = document.referred(below(material, "instance_effect")?, "url")?;
    let diffuse = below(effect, "diffuse")?;
    let mut channels = below(diffuse, "color").into_iter().flat_map(words).map_while(|w| w.parse().ok());
    let colour = match (channels.next(), channels.next(), channels.next()) {
        (Some(r), Some(g), Some(b)) => Some([r, g, b]),
        _ => None,
    };
    // A sampler of a surface of an image; old files name the image directly.
    let parameter = |sid: &str, tag: &str| {
        let found = effect.descendants().find(|n| is(*n, "newparam") && n.attribute("sid") == Some(sid));
        found.and_then(|node| below(node, tag)).and_then(|node| node.text()).map(str::trim)
    };
    let texture = below(diffuse, "texture").and_then(|node| node.attribute("texture")).and_then(|sid| {
        let surface = parameter(sid, "source").unwrap_or(sid);
        let image = document.by_id(parameter(surface, "init_from").unwrap_or(surface))?;
        let place = below(image, "init_from")?;
        let place = child(place, "ref").unwrap_or(place).text()?.trim();
        Some(Place::Beside(vec![relative_path(place)?.to_str()?.to_owned()]))
    });
    Some(MaterialLook { name: name.to_owned(), colour, texture })
}

/// The first element called `tag` below another, at any depth.
fn below<'a>(node: Node<'a, 'a>, tag: &str) -> Option<Node<'a, 'a>> {
    node.descendants().skip(1).find(|node| is(*node, tag))
}
