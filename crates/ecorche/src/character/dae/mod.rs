//! COLLADA characters (`.dae`, 1.4 and 1.5).
//!
//! Read: polygons of every kind, skins, morphs, the node hierarchy with all six transform elements
//! and instanced nodes, animations of whole transforms or single numbers, clips. Not read: curves,
//! convex meshes, physics, articulated (kinematics) models, external documents.

mod animation;
mod controller;
mod document;
mod geometry;
mod looks;
mod node_transform;
mod scene;

use super::raw::RawCharacter;
use super::{ReadError, World};
use document::{Document, child};
pub(super) use looks::read as looks;
use std::path::Path;

/// Elements and texts of one file; a character of a million vertices has some tens of thousands.
const MOST_ELEMENTS: u32 = 20_000_000;

/// Reads a COLLADA file from memory; messages name it `path`. Nothing outside the file is read,
/// so the folder is not used.
pub fn read_bytes(bytes: &[u8], _base_dir: Option<&Path>, path: &Path) -> Result<RawCharacter, ReadError> {
    let malformed = |thing: &str, problem: String| ReadError::Malformed {
        path: path.to_owned(),
        thing: thing.to_owned(),
        problem,
        remedy: "check that the file is complete, or export it again".to_owned(),
    };
    let text = String::from_utf8_lossy(bytes);
    let xml = roxmltree::Document::parse_with_options(&text, parse_options())
        .map_err(|error| malformed("XML", error.to_string()))?;
    if xml.root_element().tag_name().name() != "COLLADA" {
        return Err(malformed(
            "root element",
            format!("is <{}>, not <COLLADA>", xml.root_element().tag_name().name()),
        ));
    }
    let document = Document::new(&xml);
    let mut raw = RawCharacter { world: world(&document), ..RawCharacter::default() };
    let scene = scene::read(&document, &mut raw).map_err(|problem| malformed("visual_scene", problem))?;
    animation::read(&document, &scene, &mut raw);
    Ok(raw)
}

/// How the XML is read. A document type is harmless: the parser stops entities that multiply.
fn parse_options<'a>() -> roxmltree::ParsingOptions<'a> {
    roxmltree::ParsingOptions { allow_dtd: true, nodes_limit: MOST_ELEMENTS, ..Default::default() }
}

/// Units and axes the file states: metres and Y up unless it does.
fn world(document: &Document) -> World {
    let asset = child(document.root(), "asset");
    let metres = asset.and_then(|a| child(a, "unit")).and_then(|u| u.attribute("meter"));
    let metres = metres.and_then(|m| m.trim().parse::<f32>().ok()).filter(|m| m.is_finite() && *m > 0.0);
    let up = asset.and_then(|a| child(a, "up_axis")).and_then(|u| u.text());
    let world = match up.map(str::trim) {
        Some("X_UP") => World::x_up,
        Some("Z_UP") => World::z_up,
        _ => World::y_up,
    };
    world(metres.unwrap_or(1.0))
}

#[cfg(test)]
mod tests;
