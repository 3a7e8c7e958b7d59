//! From glTF meshes and skins to raw meshes, one for each node that shows one.

use super::accessor::Accessors;
use super::document::{Mesh, Node, Number, Primitive};
use super::{Fault, Report};
use crate::character::raw::{RawMesh, RawMorph, RawSkin};
use glam::{Mat4, Vec2, Vec3};
use std::collections::BTreeMap;

/// Everything of mesh `mesh` but its node, skin joints and default weights.
pub fn read_mesh(
    accessors: &Accessors,
    mesh: &Mesh,
    subject: &str,
    report: &mut Report,
) -> Result<RawMesh, Fault> {
    let mut raw = RawMesh { name: mesh.name.clone().unwrap_or_default(), ..RawMesh::default() };
    let any_material = mesh.primitives.iter().any(|p| p.material.is_some());
    let mut slots = MaterialSlots::default();
    // Primitives often share one set of vertices and differ in their faces only.
    let mut shared: BTreeMap<VertexKey, Vertices> = BTreeMap::new();
    for primitive in &mesh.primitives {
        let Some(positions) = primitive.attributes.get("POSITION") else {
            report.add(subject, "a primitive without positions", "left out");
            continue;
        };
        if let Some(packed) = &primitive.extensions.draco
            && !accessors.is_stored(positions.0)
        {
            accessors.unpack(primitive, packed)?;
            report.add(
                subject,
                "Draco compression, which does not keep the author's vertex order",
                "vertices are in the decoder's order",
            );
        }
        let key = (&primitive.attributes, primitive.targets.as_slice());
        let vertices = match shared.entry(key) {
            std::collections::btree_map::Entry::Occupied(known) => known.into_mut(),
            std::collections::btree_map::Entry::Vacant(new) => {
                new.insert(Vertices::append(accessors, primitive, positions.0, &mut raw, subject, report)?)
            }
        };
        let triangles = triangles_of(accessors, primitive, vertices.count, subject, report)?;
        accessors.spend(triangles.len().saturating_mul(3 * size_of::<(u32, Vec3, Vec2)>()))?;
        if any_material {
            let slot = slots.of(accessors, primitive.material, &mut raw.materials);
            raw.material_of_face.extend(std::iter::repeat_n(slot, triangles.len()));
        }
        raw.face_sizes.extend(std::iter::repeat_n(3, triangles.len()));
        vertices.add_corners(&triangles, &mut raw);
    }
    if raw.materials.len() < 2 {
        raw.material_of_face.clear();
    }
    name_morphs(mesh, &mut raw.morphs);
    Ok(raw)
}

/// Primitives with the same key share their vertices.
type VertexKey<'a> = (&'a BTreeMap<String, Number>, &'a [BTreeMap<String, Number>]);

/// The vertices a primitive brought into a mesh.
struct Vertices {
    /// Its vertex 0 in the mesh.
    first: usize,
    count: usize,
    normals: Vec<[f32; 3]>,
    uvs: Vec<[f32; 2]>,
}

impl Vertices {
    fn append(
        accessors: &Accessors,
        primitive: &Primitive,
        positions: usize,
        raw: &mut RawMesh,
        subject: &str,
        report: &mut Report,
    ) -> Result<Self, Fault> {
        let first = raw.positions.len();
        raw.positions.extend(accessors.floats::<3>(positions)?.into_iter().map(Vec3::from));
        let count = raw.positions.len() - first;
        if u32::try_from(raw.positions.len()).is_err() {
            return Err(Fault::new(subject, "more vertices than 32-bit indices reach"));
        }
        add_influences(accessors, primitive, first, count, raw, subject, report)?;
        for (t, target) in primitive.targets.iter().enumerate() {
            if raw.morphs.len() <= t {
                raw.morphs.resize(t + 1, RawMorph::default());
            }
            let Some(offsets) = target.get("POSITION") else { continue };
            let offsets = report.optional(subject, "offsets of a morph", accessors.floats::<3>(offsets.0));
            accessors.spend(offsets.len().saturating_mul(size_of::<(u32, Vec3)>()))?;
            if offsets.len() != count && !offsets.is_empty() {
                report.add(subject, "a morph of another vertex count", "applied to the vertices both have");
            }
            let moved = offsets.into_iter().map(Vec3::from).take(count).enumerate();
            raw.morphs[t]
                .offsets
                .extend(moved.filter(|(_, d)| *d != Vec3::ZERO).map(|(v, d)| ((first + v) as u32, d)));
        }
        let normals = match primitive.attributes.get("NORMAL") {
            Some(normals) => report.optional(subject, "normals", accessors.floats::<3>(normals.0)),
            None => Vec::new(),
        };
        let uvs = match primitive.attributes.get("TEXCOORD_0") {
            Some(uvs) => report.optional(subject, "texture coordinates", accessors.floats::<2>(uvs.0)),
            None => Vec::new(),
        };
        Ok(Self { first, count, normals, uvs })
    }

    /// Adds faces to the mesh, with normals and texture coordinates for each corner. Once any
    /// primitive has them all corners need them: zero normals count as unknown.
    fn add_corners(&self, triangles: &[[u32; 3]], raw: &mut RawMesh) {
        let corners_before = raw.corners.len();
        let corners = triangles.as_flattened();
        if !self.normals.is_empty() || !raw.corner_normals.is_empty() {
            raw.corner_normals.resize(corners_before, Vec3::ZERO);
            let normal = |&v: &u32| self.normals.get(v as usize).map_or(Vec3::ZERO, |&n| n.into());
            raw.corner_normals.extend(corners.iter().map(normal));
        }
        if !self.uvs.is_empty() || !raw.corner_uvs.is_empty() {
            raw.corner_uvs.resize(corners_before, Vec2::ZERO);
            // glTF's v runs down the picture, ours up.
            let uv = |&v: &u32| self.uvs.get(v as usize).map_or(Vec2::ZERO, |&[u, v]| Vec2::new(u, 1.0 - v));
            raw.corner_uvs.extend(corners.iter().map(uv));
        }
        raw.corners.extend(corners.iter().map(|&v| v + self.first as u32));
    }
}

/// Joints and weights of any number of sets. Zero weights, which fill up each set of four, stay out.
fn add_influences(
    accessors: &Accessors,
    primitive: &Primitive,
    first: usize,
    count: usize,
    raw: &mut RawMesh,
    subject: &str,
    report: &mut Report,
) -> Result<(), Fault> {
    for (name, joints) in &primitive.attributes {
        let Some(set) = name.strip_prefix("JOINTS_") else { continue };
        let Some(weights) = primitive.attributes.get(&format!("WEIGHTS_{set}")) else {
            report.add(subject, format!("{name} without WEIGHTS_{set}"), "left out");
            continue;
        };
        let joints = report.optional(subject, "joints", accessors.integers::<4>(joints.0));
        let weights = report.optional(subject, "weights", accessors.floats::<4>(weights.0));
        if joints.len() != weights.len() || joints.len() != count {
            report.add(
                subject,
                format!(
                    "{count} vertices, but {} joints and {} weights in set {set}",
                    joints.len(),
                    weights.len()
                ),
                "used as far as all three go",
            );
        }
        let influences = &mut raw.skin.get_or_insert_default().influences;
        accessors.spend(joints.len().saturating_mul(4 * size_of::<(u32, u32, f32)>()))?;
        for (v, (joints, weights)) in joints.iter().zip(&weights).enumerate().take(count) {
            let used = joints.iter().zip(weights).filter(|&(_, &weight)| weight != 0.0);
            influences.extend(used.map(|(&joint, &weight)| ((first + v) as u32, joint, weight)));
        }
    }
    Ok(())
}

/// The faces of a primitive; none for points and lines.
fn triangles_of(
    accessors: &Accessors,
    primitive: &Primitive,
    vertex_count: usize,
    subject: &str,
    report: &mut Report,
) -> Result<Vec<[u32; 3]>, Fault> {
    let mode = primitive.mode.map_or(4, |m| m.0);
    if !(4..=6).contains(&mode) {
        report.add(subject, "points or lines among its primitives", "vertices kept, without faces");
        return Ok(Vec::new());
    }
    let corners: Vec<u32> = match primitive.indices {
        Some(indices) => accessors.integers::<1>(indices.0)?.into_iter().map(|[v]| v).collect(),
        None => (0..vertex_count as u32).collect(),
    };
    let mut triangles: Vec<[u32; 3]> = match mode {
        4 => corners.as_chunks::<3>().0.to_vec(),
        // Every second triangle of a strip turns the other way.
        5 => corners
            .windows(3)
            .enumerate()
            .map(|(i, w)| if i % 2 == 0 { [w[0], w[1], w[2]] } else { [w[1], w[0], w[2]] })
            .collect(),
        _ => {
            let (centre, rim) = corners.split_first().map_or((0, &[][..]), |(&c, rim)| (c, rim));
            rim.windows(2).map(|w| [centre, w[0], w[1]]).collect()
        }
    };
    if mode == 4 && !corners.len().is_multiple_of(3) {
        report.add(subject, "an incomplete last triangle", "left out");
    }
    let all = triangles.len();
    triangles.retain(|t| t.iter().all(|&v| (v as usize) < vertex_count));
    if triangles.len() < all {
        let problem = format!("{} faces with vertices that do not exist", all - triangles.len());
        report.add(subject, problem, "left out");
    }
    Ok(triangles)
}

/// Materials used so far, by their index in the file.
#[derive(Default)]
struct MaterialSlots(Vec<Option<usize>>);

impl MaterialSlots {
    fn of(&mut self, accessors: &Accessors, material: Option<Number>, names: &mut Vec<String>) -> u32 {
        let material = material.map(|m| m.0);
        let slot = self.0.iter().position(|&known| known == material).unwrap_or_else(|| {
            let name = material.and_then(|m| accessors.document.materials.get(m)?.name.clone());
            names.push(name.unwrap_or_else(|| match material {
                Some(m) => format!("material {m}"),
                None => "default".to_owned(),
            }));
            self.0.push(material);
            self.0.len() - 1
        });
        slot as u32
    }
}

fn name_morphs(mesh: &Mesh, morphs: &mut [RawMorph]) {
    let of_primitive = mesh.primitives.iter().map(|p| &p.extras.target_names);
    let names =
        std::iter::once(&mesh.extras.target_names).chain(of_primitive).find(|names| !names.is_empty());
    for (morph, name) in morphs.iter_mut().zip(names.into_iter().flatten()) {
        morph.name.clone_from(name);
    }
}

/// The mesh as node `node` shows it: default weights from the node, joints from its skin.
pub fn place(
    mut raw: RawMesh,
    accessors: &Accessors,
    node_index: usize,
    node: &Node,
    mesh: &Mesh,
    subject: &str,
    report: &mut Report,
) -> RawMesh {
    raw.node = Some(node_index);
    if raw.name.is_empty() {
        raw.name = node.name.clone().unwrap_or_default();
    }
    let weights = if node.weights.is_empty() { &mesh.weights } else { &node.weights };
    for (morph, &weight) in raw.morphs.iter_mut().zip(weights) {
        morph.weight = weight;
    }
    let skin = node.skin.and_then(|s| {
        let skin = accessors.document.skins.get(s.0);
        if skin.is_none() {
            report.add(subject, format!("skin {} does not exist", s.0), "the mesh moves with its node");
        }
        skin
    });
    raw.skin = match (raw.skin.take(), skin) {
        (Some(RawSkin { influences, .. }), Some(skin)) => Some(RawSkin {
            joints: skin.joints.iter().map(|j| j.0).collect(),
            joint_from_mesh: inverse_binds(accessors, skin, report),
            influences,
            dual_quaternion: false,
        }),
        (None, Some(_)) => {
            report.add(subject, "a skin, but no joints and weights", "the mesh moves with its node");
            None
        }
        // Joints and weights without a skin mean nothing.
        (_, None) => None,
    };
    raw
}

/// One matrix for each joint. The format's rule for a skin without any is the identity; one that
/// states them but lacks some gets singular ones there, which count as missing.
fn inverse_binds(accessors: &Accessors, skin: &super::document::Skin, report: &mut Report) -> Vec<Mat4> {
    let Some(index) = skin.inverse_bind_matrices else {
        return vec![Mat4::IDENTITY; skin.joints.len()];
    };
    let mut matrices = accessors.floats::<16>(index.0).unwrap_or_else(|_| accessors.floats_that_fit(index.0));
    if matrices.len() < skin.joints.len() {
        let subject = format!("skin {:?}", skin.name.as_deref().unwrap_or("without a name"));
        let problem = format!("{} inverse bind matrices for {} joints", matrices.len(), skin.joints.len());
        report.add(subject, problem, "the others are taken from the rest pose");
    }
    matrices.resize(skin.joints.len(), [0.0; 16]);
    matrices.iter().map(Mat4::from_cols_array).collect()
}
