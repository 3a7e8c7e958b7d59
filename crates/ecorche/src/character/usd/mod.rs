//! USD characters: `.usda` text, `.usdc` binary and `.usdz` packages.
//!
//! ```text
//! bytes --text, crate_file, package--> Layer --compose--> one Layer --scene--> RawCharacter
//! ```
//!
//! Read: meshes with their transforms, skeletons, skin bindings, skeletal animation, blend shapes
//! (without in-between shapes), materials by name; their looks apart. Not read: subdivision, curves and other shapes,
//! instancers, in-betweens, value clips, splines; what a file has of them is listed as left out.

mod compose;
mod crate_file;
mod layer;
mod package;
mod text;

use super::ReadError;
use super::raw::RawCharacter;
use super::textures::MaterialLook;
use layer::{Fault, Layer};
use package::Package;
use std::path::Path;

mod looks;
mod mesh;
mod scene;
mod skeleton;
mod xform;

/// Reads a USD file from memory. Without `base_dir` the layers it refers to are left out; messages
/// name the file `path`.
pub fn read_bytes(bytes: &[u8], base_dir: Option<&Path>, path: &Path) -> Result<RawCharacter, ReadError> {
    read_scene(bytes, base_dir).map_err(|fault| {
        let path = path.to_owned();
        if fault.unsupported {
            let remedy = "flatten the scene with `usdcat --flatten` and try again".to_owned();
            return ReadError::Unsupported { path, feature: fault.thing, remedy };
        }
        let remedy = "check that the file is complete (usdchecker tells more) or export it again".to_owned();
        ReadError::Malformed { path, thing: fault.thing, problem: fault.problem, remedy }
    })
}

fn read_scene(bytes: &[u8], base_dir: Option<&Path>) -> Result<RawCharacter, Fault> {
    let (layer, ..) = open(bytes, base_dir)?;
    scene::read(&layer)
}

/// The looks of the materials; none for a file that is not understood.
pub(super) fn looks(bytes: &[u8], folder: &Path) -> Option<Vec<MaterialLook>> {
    let (layer, place, assets) = open(bytes, Some(folder)).ok()?;
    let packed = |asset: &str| {
        let package = assets.package.as_ref()?;
        package.get(&assets.place(&place, asset)).map(<[u8]>::to_vec)
    };
    Some(looks::read(&layer, packed))
}

/// The scene flattened, its place, and where its assets come from.
fn open<'a>(bytes: &'a [u8], base_dir: Option<&Path>) -> Result<(Layer, String, Assets<'a>), Fault> {
    let package = if bytes.starts_with(b"PK") { Some(Package::open(bytes)?) } else { None };
    let (layer, place) = match &package {
        Some(package) => {
            let root = package.root().ok_or_else(|| Fault::broken("package", "holds no USD layer"))?;
            let content = package.get(root).ok_or_else(|| Fault::broken("package", "is cut short"))?;
            (parse_layer(content)?, root.to_owned())
        }
        // Relative assets start from the folder; the file's own name plays no part.
        None => (
            parse_layer(bytes)?,
            base_dir.map_or(String::new(), |dir| dir.join("root").display().to_string()),
        ),
    };
    let assets = Assets { package, from_files: base_dir.is_some() };
    Ok((compose::flatten(layer, place.clone(), &assets)?, place, assets))
}

fn parse_layer(bytes: &[u8]) -> Result<Layer, Fault> {
    if bytes.starts_with(crate_file::MAGIC) { crate_file::parse(bytes) } else { text::parse(bytes) }
}

/// Where other layers come from: the package, else files.
struct Assets<'a> {
    package: Option<Package<'a>>,
    from_files: bool,
}

impl Assets<'_> {
    /// The place of `asset` as written in the layer at `anchor`.
    fn place(&self, anchor: &str, asset: &str) -> String {
        let joined = Path::new(anchor).parent().unwrap_or(Path::new("")).join(asset);
        let mut place = std::path::PathBuf::new();
        for part in joined.components() {
            match part {
                std::path::Component::CurDir => {}
                std::path::Component::ParentDir if place.file_name().is_some() => {
                    place.pop();
                }
                part => place.push(part),
            }
        }
        place.display().to_string()
    }

    /// The layer `asset` and its place; nothing when it is not there or cannot be read.
    fn load(&self, anchor: &str, asset: &str) -> Option<(Layer, String)> {
        let place = self.place(anchor, asset);
        let layer = match &self.package {
            Some(package) => parse_layer(package.get(&place)?),
            None if self.from_files => parse_layer(&crate::input::read(place.as_ref()).ok()?),
            None => return None,
        };
        Some((layer.ok()?, place))
    }
}

#[cfg(test)]
mod tests;
