//! FBX, versions 5000 to 7700, text and binary, through the ufbx library.
//!
//! Everything stays in the file's units and axes. FBX has three ways of composing transforms that
//! a plain `world = parent * local` lacks; each is turned into plain nodes while loading:
//!
//! | FBX | here |
//! |---|---|
//! | pivots, pre- and post-rotations | folded into translation, rotation, scale |
//! | a scale that children do not inherit (`InheritType`) | undone in the children, or an extra node `NAME (scale)` where it is animated or uneven |
//! | a geometric transform of the mesh alone | an extra node `NAME (geometry)` that carries the mesh |
//!
//! Not read: NURBS and curves (listed as repairs), constraints, geometry caches.

mod clip;
mod looks;
mod mesh;

use super::raw::{RawCharacter, RawNode};
use super::{ReadError, Repair, World};
use crate::math::Transform;
use glam::{Mat3, Mat4, Quat, Vec2, Vec3};
pub(super) use looks::read as looks;
use std::collections::BTreeMap;
use std::path::Path;

/// Memory the library may take however small the file, bytes.
const MEMORY_FLOOR: usize = 256 << 20;
/// Memory beyond that per byte of file. Chosen, not measured: far below the thousandfold that a
/// hostile compressed array can expand to.
const MEMORY_PER_BYTE: usize = 64;

/// Reads a whole file held in memory. FBX needs no other files, so `_base_dir` is unused.
pub fn read_bytes(
    bytes: &[u8],
    _base_dir: Option<&Path>,
    path_for_errors: &Path,
) -> Result<RawCharacter, ReadError> {
    let mut budget = memory_limit(bytes);
    let scene =
        ufbx::load_memory(bytes, load_options(budget)).map_err(|e| read_error(&e, path_for_errors))?;
    budget = budget.saturating_sub(scene.metadata.result_memory_used);
    // Older files have no sections.
    if let Some(section) = missing_section(bytes).filter(|_| scene.metadata.version >= 6000) {
        return Err(ReadError::Malformed {
            path: path_for_errors.to_owned(),
            thing: "file".to_owned(),
            problem: format!("it ends before its section \"{section}\""),
            remedy: "export or download it again".to_owned(),
        });
    }

    let mut raw = RawCharacter { world: world(&scene.settings), ..RawCharacter::default() };
    note_warnings(&scene, &mut raw.repairs);
    let index_of_node = add_nodes(&scene, &mut raw);
    let channels = mesh::add_meshes(&scene, &index_of_node, &mut raw);
    clip::add_clips(&scene, &index_of_node, &channels, budget, &mut raw)
        .map_err(|e| read_error(&e, path_for_errors))?;
    Ok(raw)
}

/// Memory the library may take for a file, bytes.
fn memory_limit(bytes: &[u8]) -> usize {
    MEMORY_FLOOR.saturating_add(bytes.len().saturating_mul(MEMORY_PER_BYTE))
}

/// The section that every file has and that this one lacks: a file cut between two sections is sound otherwise.
fn missing_section(bytes: &[u8]) -> Option<&'static str> {
    // Connections come last and need not be looked for through all that is before them.
    let holds = |name: &[u8]| bytes.windows(name.len()).rev().any(|window| window == name);
    ["Connections", "Objects"].into_iter().find(|name| {
        // Text has a colon after the name; binary has its length before it.
        let (text, binary) = (format!("{name}:"), [&[name.len() as u8], name.as_bytes()].concat());
        !holds(if bytes.starts_with(b"Kaydara FBX Binary") { &binary } else { text.as_bytes() })
    })
}

/// Memory limits for one call into the library.
fn allocator(memory_limit: usize) -> ufbx::AllocatorOpts {
    ufbx::AllocatorOpts { memory_limit: memory_limit.max(1 << 20), ..Default::default() }
}

fn load_options<'a>(memory_limit: usize) -> ufbx::LoadOpts<'a> {
    ufbx::LoadOpts {
        temp_allocator: allocator(memory_limit),
        result_allocator: allocator(memory_limit),
        ignore_embedded: true,
        load_external_files: false,
        ignore_missing_external_files: true,
        file_format: ufbx::FileFormat::Fbx,
        geometry_transform_handling: ufbx::GeometryTransformHandling::HelperNodes,
        inherit_mode_handling: ufbx::InheritModeHandling::Compensate,
        pivot_handling: ufbx::PivotHandling::Retain,
        ..Default::default()
    }
}

fn read_error(error: &ufbx::Error, path: &Path) -> ReadError {
    use ufbx::ErrorType;
    let problem = error.description.to_string();
    let malformed = |thing: &str, remedy: &str| ReadError::Malformed {
        path: path.to_owned(),
        thing: thing.to_owned(),
        problem: problem.clone(),
        remedy: remedy.to_owned(),
    };
    match error.type_ {
        ErrorType::UnsupportedVersion => ReadError::Unsupported {
            path: path.to_owned(),
            feature: problem,
            remedy: "export it again as FBX 7.4".to_owned(),
        },
        ErrorType::EmptyFile => malformed("file", "it is empty; export or download it again"),
        ErrorType::TruncatedFile => malformed("file", "it ends too early; export or download it again"),
        ErrorType::UnrecognizedFileFormat => {
            malformed("file", "the content is not FBX; give the file the extension of its real format")
        }
        ErrorType::MemoryLimit | ErrorType::AllocationLimit | ErrorType::OutOfMemory => malformed(
            "file",
            "it needs far more memory than its size explains; if the file is sound, export it uncompressed",
        ),
        _ => malformed("file", "export it again, for example as FBX 7.4 binary"),
    }
}

/// Units and axes. A file that does not say, or contradicts itself, is taken as Y up.
fn world(settings: &ufbx::SceneSettings) -> World {
    let metres = settings.unit_meters as f32;
    let metres_per_unit = if metres.is_finite() && metres > 0.0 { metres } else { 0.01 };
    let axes = [settings.axes.right, settings.axes.up, settings.axes.front].map(direction);
    if let [Some(right), Some(up), Some(front)] = axes {
        // The rows take the file's right, up and front to our X, Y and Z.
        let axes = Mat3::from_cols(right, up, front).transpose();
        if axes.determinant().abs() > 0.5 {
            return World { metres_per_unit, axes };
        }
    }
    match axes[1] {
        Some(Vec3::Z) => World::z_up(metres_per_unit),
        Some(Vec3::X) => World::x_up(metres_per_unit),
        _ => World::y_up(metres_per_unit),
    }
}

fn direction(axis: ufbx::CoordinateAxis) -> Option<Vec3> {
    match axis {
        ufbx::CoordinateAxis::PositiveX => Some(Vec3::X),
        ufbx::CoordinateAxis::NegativeX => Some(Vec3::NEG_X),
        ufbx::CoordinateAxis::PositiveY => Some(Vec3::Y),
        ufbx::CoordinateAxis::NegativeY => Some(Vec3::NEG_Y),
        ufbx::CoordinateAxis::PositiveZ => Some(Vec3::Z),
        ufbx::CoordinateAxis::NegativeZ => Some(Vec3::NEG_Z),
        ufbx::CoordinateAxis::Unknown => None,
    }
}

/// What ufbx repaired by itself, and what we leave out.
fn note_warnings(scene: &ufbx::Scene, repairs: &mut Vec<Repair>) {
    let mut counts = BTreeMap::<&str, usize>::new();
    for warning in &scene.metadata.warnings {
        if !matches!(warning.type_, ufbx::WarningType::MissingExternalFile) {
            *counts.entry(&warning.description).or_default() += warning.count.max(1);
        }
    }
    for (description, count) in counts {
        let times = if count > 1 { format!(" ({count} times)") } else { String::new() };
        repairs.push(Repair::new("file", format!("{description}{times}"), "read as far as it makes sense"));
    }
    let left_out = [
        ("NURBS surfaces", scene.nurbs_surfaces.count + scene.nurbs_trim_surfaces.count),
        ("geometry caches", scene.cache_deformers.count),
    ];
    for (thing, count) in left_out {
        if count > 0 {
            repairs.push(Repair::new(
                "file",
                format!("{count} {thing}, which are not read"),
                "left out; convert them to polygons before exporting",
            ));
        }
    }
}

/// Adds the hierarchy depth-first in the file's order, without the library's own root. Returns the
/// index of each scene node by its typed id.
fn add_nodes(scene: &ufbx::Scene, raw: &mut RawCharacter) -> Vec<Option<usize>> {
    let mut index_of_node = vec![None; scene.nodes.count];
    let mut to_visit: Vec<&ufbx::Node> = vec![&scene.root_node];
    while let Some(node) = to_visit.pop() {
        to_visit.extend(node.children.iter().rev().map(|child| child.as_ref()));
        // The root has no transform of its own: axes are not converted.
        if node.is_root {
            continue;
        }
        let parent = node.parent.as_ref().and_then(|p| index_of_node[p.element.typed_id as usize]);
        index_of_node[node.element.typed_id as usize] = Some(raw.nodes.len());
        raw.nodes.push(RawNode { name: node_name(node), parent, local: transform(&node.local_transform) });
    }
    index_of_node
}

/// The file's name of a node, or of the node an extra one was made for.
fn node_name(node: &ufbx::Node) -> String {
    match &node.parent {
        Some(owner) if node.is_geometry_transform_helper => format!("{} (geometry)", owner_name(owner)),
        Some(owner) if node.is_scale_helper => format!("{} (scale)", owner_name(owner)),
        _ => node.element.name.to_string(),
    }
}

/// The file's name of the node itself, or of the one it was added to.
fn owner_name(mut node: &ufbx::Node) -> &str {
    while node.is_geometry_transform_helper || node.is_scale_helper {
        let Some(owner) = &node.parent else { break };
        node = owner;
    }
    &node.element.name
}

fn vec2(v: ufbx::Vec2) -> Vec2 {
    Vec2::new(v.x as f32, v.y as f32)
}

fn vec3(v: ufbx::Vec3) -> Vec3 {
    Vec3::new(v.x as f32, v.y as f32, v.z as f32)
}

fn quat(q: ufbx::Quat) -> Quat {
    Quat::from_xyzw(q.x as f32, q.y as f32, q.z as f32, q.w as f32)
}

fn transform(t: &ufbx::Transform) -> Transform {
    Transform { translation: vec3(t.translation), rotation: quat(t.rotation), scale: vec3(t.scale) }
}

fn matrix(m: &ufbx::Matrix) -> Mat4 {
    let column = |x: f64, y: f64, z: f64, w: f32| Vec3::new(x as f32, y as f32, z as f32).extend(w);
    Mat4::from_cols(
        column(m.m00, m.m10, m.m20, 0.0),
        column(m.m01, m.m11, m.m21, 0.0),
        column(m.m02, m.m12, m.m22, 0.0),
        column(m.m03, m.m13, m.m23, 1.0),
    )
}

#[cfg(test)]
mod tests;
