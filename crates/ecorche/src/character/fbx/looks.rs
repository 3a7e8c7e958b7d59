//! Base colours and textures of the materials of an FBX file.

use super::{load_options, memory_limit};
use crate::character::textures::{MaterialLook, Place};
use std::path::Path;

/// The looks of the materials; none for a file that is not understood.
pub fn read(bytes: &[u8], _folder: &Path) -> Option<Vec<MaterialLook>> {
    let options = ufbx::LoadOpts { ignore_embedded: false, ..load_options(memory_limit(bytes)) };
    let scene = ufbx::load_memory(bytes, options).ok()?;
    let materials = scene.materials.iter().map(|material| {
        let diffuse = &material.fbx.diffuse_color;
        let texture = diffuse.texture.as_ref().and_then(|texture| {
            if !texture.content.is_empty() {
                return Some(Place::Inside(texture.content.to_vec()));
            }
            let relative = texture.relative_filename.replace('\\', "/");
            // Files often travel without the folders of the machine they were made on.
            let name = Path::new(&relative).file_name()?.to_str()?.to_owned();
            let folders = ["textures", "Textures"].map(|folder| format!("{folder}/{name}"));
            Some(Place::Beside([relative, name].into_iter().chain(folders).collect()))
        });
        // Where the file names a texture, found or not, the colour is often black.
        let has_colour = diffuse.has_value && diffuse.texture.is_none();
        let colour = has_colour.then(|| {
            let c = diffuse.value_vec4;
            [c.x, c.y, c.z].map(|c| c as f32)
        });
        MaterialLook { name: material.element.name.to_string(), colour, texture }
    });
    Some(materials.collect())
}
