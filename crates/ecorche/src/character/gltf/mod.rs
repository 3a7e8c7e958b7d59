//! glTF 2.0 and GLB.
//!
//! ```text
//! bytes --buffers--> JSON, buffers, views --accessor--> lists of numbers --mesh, animation--> RawCharacter
//! ```
//!
//! All nodes are read, whichever scene they are in. A mesh shown by two nodes is two meshes. The
//! primitives of a mesh follow one another in its vertex list; primitives that share their vertices
//! share them here too. Read as well: `KHR_mesh_quantization`, `EXT_meshopt_compression` and
//! `KHR_draco_mesh_compression`, where the file does not keep uncompressed data beside it. Meshes
//! know their materials by name only, so that a missing texture breaks nothing.
//!
//! Nothing a file states is trusted before it is checked against the bytes there are, and what a
//! file expands to is bounded by its size.

mod accessor;
mod animation;
mod buffers;
mod document;
mod draco;
mod looks;
mod mesh;
mod meshopt;
#[cfg(test)]
mod tests;

use super::raw::{RawCharacter, RawNode};
use super::{ReadError, Repair, World};
use crate::math::Transform;
use accessor::Accessors;
use buffers::{Buffers, Container};
use document::{Document, Node, VersionOnly};
use glam::{Mat4, Quat, Vec3};
pub(super) use looks::read as looks;
use std::path::Path;

/// Most bytes one file may decode to, whatever its size: what a workstation can hold.
const MAX_DECODED_BYTES: usize = 1 << 36;

/// Shear of a node's matrix, relative to its largest axis, below which it is rounding.
const SHEAR_TOLERANCE: f32 = 1e-4;

/// Extensions a file may require that change how a character looks, not how it moves.
const HARMLESS: [&str; 5] =
    ["KHR_materials_", "KHR_texture_", "EXT_texture_", "MSFT_texture_", "KHR_lights_"];
/// Extensions a file may require that are read here.
const KNOWN: [&str; 4] = [
    "KHR_mesh_quantization",
    "EXT_meshopt_compression",
    "KHR_meshopt_compression",
    "KHR_draco_mesh_compression",
];

/// Reads the content of a `.gltf` or `.glb` file. Buffers in other files are looked for in
/// `base_dir`; `path_for_errors` is what messages call the file.
pub fn read_bytes(
    bytes: &[u8],
    base_dir: Option<&Path>,
    path_for_errors: &Path,
) -> Result<RawCharacter, ReadError> {
    let malformed = |fault: Fault| fault.into_error(path_for_errors);
    let container = Container::open(bytes).map_err(malformed)?;
    let document = parse(container.json, path_for_errors)?;
    let mut report = Report::default();
    if container.truncated {
        report.add("GLB container", "the file ends before its last chunk", "read as far as it goes");
    }
    note_extensions(&document, &mut report);
    let buffers = Buffers::load(&document, container.binary, base_dir, path_for_errors, &mut report.repairs)?;
    let accessors = Accessors::new(&document, &buffers);

    let mut raw = RawCharacter { world: World::y_up(1.0), ..RawCharacter::default() };
    raw.nodes = read_nodes(&document, &mut report);
    let mesh_of_node = read_meshes(&accessors, &mut raw, path_for_errors, &mut report)?;
    for (index, animation) in document.animations.iter().enumerate() {
        let subject = name_of("clip", &animation.name, index);
        let clip =
            animation::read_clip(&accessors, animation, &subject, &raw.meshes, &mesh_of_node, &mut report)
                .map_err(malformed)?;
        raw.clips.push(clip);
    }
    raw.repairs = report.repairs;
    raw.repairs.extend(accessors.into_repairs());
    Ok(raw)
}

fn parse(json: &[u8], path: &Path) -> Result<Document, ReadError> {
    let version = |asset: &document::Asset| -> Result<(), ReadError> {
        // Files without a version exist; they are read as version 2.
        if asset.version.is_empty() || asset.version.starts_with("2.") {
            return Ok(());
        }
        Err(ReadError::Unsupported {
            path: path.to_owned(),
            feature: format!("glTF {}", asset.version),
            remedy: "convert it to glTF 2.0, for example with gltf-pipeline".into(),
        })
    };
    let document: Document = serde_json::from_slice(json).or_else(|error| {
        // Version 1 keeps objects where 2 has lists: name that rather than a JSON type.
        if let Ok(head) = serde_json::from_slice::<VersionOnly>(json) {
            version(&head.asset)?;
        }
        Err(Fault::new("JSON", error.to_string()).into_error(path))
    })?;
    version(&document.asset)?;
    Ok(document)
}

fn note_extensions(document: &Document, report: &mut Report) {
    for extension in &document.extensions_required {
        let harmless = HARMLESS.iter().any(|prefix| extension.starts_with(prefix));
        if !harmless && !KNOWN.contains(&extension.as_str()) {
            report.add("the document", format!("it requires {extension}"), "read without it");
        }
    }
}

fn read_nodes(document: &Document, report: &mut Report) -> Vec<RawNode> {
    let mut nodes: Vec<RawNode> = document
        .nodes
        .iter()
        .enumerate()
        .map(|(index, node)| RawNode {
            name: node.name.clone().unwrap_or_default(),
            parent: None,
            local: local_transform(index, node, report),
        })
        .collect();
    let (mut missing, mut shared) = (0, 0);
    for (parent, node) in document.nodes.iter().enumerate() {
        for child in &node.children {
            match nodes.get_mut(child.0) {
                Some(child) if child.parent.is_none() => child.parent = Some(parent),
                Some(child) => shared += usize::from(child.parent != Some(parent)),
                None => missing += 1,
            }
        }
    }
    if missing > 0 {
        report.add("nodes", format!("{missing} children do not exist"), "left out");
    }
    if shared > 0 {
        report.add("nodes", format!("{shared} are children of several parents"), "kept under the first");
    }
    nodes
}

fn local_transform(index: usize, node: &Node, report: &mut Report) -> Transform {
    let Some(matrix) = &node.matrix else {
        return Transform {
            translation: node.translation.map_or(Vec3::ZERO, Vec3::from),
            rotation: node.rotation.map_or(Quat::IDENTITY, Quat::from_array),
            scale: node.scale.map_or(Vec3::ONE, Vec3::from),
        };
    };
    let (transform, shear) = Transform::from_matrix(Mat4::from_cols_array(matrix));
    if shear > SHEAR_TOLERANCE {
        let problem = format!("its matrix has a shear of {shear:.2}");
        report.add(name_of("node", &node.name, index), problem, "dropped");
    }
    transform
}

/// Fills `raw.meshes` and tells which of them each node shows.
fn read_meshes(
    accessors: &Accessors,
    raw: &mut RawCharacter,
    path: &Path,
    report: &mut Report,
) -> Result<Vec<Option<usize>>, ReadError> {
    let document = accessors.document;
    let mut mesh_of_node = vec![None; document.nodes.len()];
    for (index, node) in document.nodes.iter().enumerate() {
        let Some(mesh_index) = node.mesh else { continue };
        let Some(mesh) = document.meshes.get(mesh_index.0) else {
            let problem = format!("mesh {} does not exist", mesh_index.0);
            report.add(name_of("node", &node.name, index), problem, "shown without it");
            continue;
        };
        let subject = name_of("mesh", &mesh.name, mesh_index.0);
        let read = mesh::read_mesh(accessors, mesh, &subject, report)
            .map_err(|fault| fault.within(&subject).into_error(path))?;
        mesh_of_node[index] = Some(raw.meshes.len());
        raw.meshes.push(mesh::place(read, accessors, index, node, mesh, &subject, report));
    }
    Ok(mesh_of_node)
}

/// `mesh "Body"`, or `mesh 3` for one without a name.
fn name_of(kind: &str, name: &Option<String>, index: usize) -> String {
    match name.as_deref() {
        Some(name) if !name.is_empty() => format!("{kind} \"{name}\""),
        _ => format!("{kind} {index}"),
    }
}

/// Something in the file that cannot be read.
#[derive(Clone, Debug, PartialEq)]
struct Fault {
    thing: String,
    problem: String,
}

impl Fault {
    fn new(thing: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { thing: thing.into(), problem: problem.into() }
    }

    /// The same fault, with what it makes unreadable in front.
    fn within(self, subject: &str) -> Self {
        Self { thing: format!("{subject}, {}", self.thing), ..self }
    }

    fn into_error(self, path: &Path) -> ReadError {
        ReadError::Malformed {
            path: path.to_owned(),
            thing: self.thing,
            problem: self.problem,
            remedy: "export the file again, or look at it with a glTF validator".into(),
        }
    }
}

/// Collects repairs, each said once.
#[derive(Default)]
struct Report {
    repairs: Vec<Repair>,
    known: std::collections::BTreeSet<(String, String)>,
}

impl Report {
    fn add(&mut self, subject: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) {
        let repair = Repair::new(subject, problem, remedy);
        if self.known.insert((repair.subject.clone(), repair.problem.clone())) {
            self.repairs.push(repair);
        }
    }

    /// A list the character can do without: empty, and reported, when it cannot be read.
    fn optional<T>(&mut self, subject: &str, what: &str, list: Result<Vec<T>, Fault>) -> Vec<T> {
        list.unwrap_or_else(|fault| {
            self.add(subject, format!("{what}: {}: {}", fault.thing, fault.problem), "left out");
            Vec::new()
        })
    }
}
