//! `Mesh` prims: shape, surface attributes, skin binding, blend shapes.

use super::layer::{Attribute, Layer, Value};
use super::skeleton::Skeleton;
use crate::character::Repair;
use crate::character::raw::{RawMesh, RawMorph, RawSkin};
use glam::{DMat4, Vec2, Vec3};

/// Influences of one mesh: ten million vertices of eight joints.
const MOST_INFLUENCES: usize = 80_000_000;

/// The mesh at `prim`, carried by `node`, without its skin.
pub fn read(layer: &Layer, prim: usize, node: usize, repairs: &mut Vec<Repair>) -> RawMesh {
    let integers =
        |name| layer.still(prim, name).map_or(Vec::new(), |v| v.numbers().iter().map(to_index).collect());
    let points = layer.still(prim, "points");
    let mut mesh = RawMesh {
        name: layer.prims[prim].name.clone(),
        node: Some(node),
        positions: points.map_or(Vec::new(), |v| v.vectors().map(|p| p.as_vec3()).collect()),
        face_sizes: integers("faceVertexCounts"),
        corners: integers("faceVertexIndices"),
        ..RawMesh::default()
    };
    if layer.attribute(prim, "points").is_some_and(|a| a.samples.len() > 1) {
        let shape = if layer.attribute(prim, "points").is_some_and(|a| a.default.is_some()) {
            "used its default shape"
        } else {
            "used its first shape"
        };
        repairs.push(Repair::new(
            format!("mesh {:?}", mesh.name),
            "its points are animated one by one",
            shape,
        ));
    }
    let normals = ["primvars:normals", "normals"].iter().find_map(|name| primvar(layer, prim, name));
    if let Some((values, index)) = normals.and_then(|p| p.on_corners(&mesh)) {
        let normals: Vec<Vec3> = values.vectors().map(|n| n.as_vec3()).collect();
        let corners: Option<Vec<Vec3>> = index.iter().map(|&i| normals.get(i).copied()).collect();
        mesh.corner_normals = corners.unwrap_or_default();
    }
    if let Some((values, index)) = texture_primvar(layer, prim).and_then(|p| p.on_corners(&mesh)) {
        let uvs: Vec<Vec2> = values.pairs().map(|[u, v]| Vec2::new(u as f32, v as f32)).collect();
        let corners: Option<Vec<Vec2>> = index.iter().map(|&i| uvs.get(i).copied()).collect();
        mesh.corner_uvs = corners.unwrap_or_default();
    }
    materials(layer, prim, &mut mesh);
    if layer.still(prim, "orientation").and_then(|v| v.text()) == Some("leftHanded") {
        turn_faces(&mut mesh);
    }
    mesh
}

fn to_index(number: &f64) -> u32 {
    // A value that is not an index becomes one beyond every list.
    if *number >= 0.0 && *number < f64::from(u32::MAX) { *number as u32 } else { u32::MAX }
}

/// A surface attribute with its indirection.
struct Primvar<'a> {
    attribute: &'a Attribute,
    indices: Option<&'a Value>,
}

fn primvar<'a>(layer: &'a Layer, prim: usize, name: &str) -> Option<Primvar<'a>> {
    let attribute = layer.attribute(prim, name)?;
    attribute.still()?;
    Some(Primvar { attribute, indices: layer.still(prim, &format!("{name}:indices")) })
}

/// `st` as exporters agree, else the first primvar of a texture type.
fn texture_primvar<'a>(layer: &'a Layer, prim: usize) -> Option<Primvar<'a>> {
    let is_texture = |(name, attribute): &(&String, &Attribute)| {
        name.starts_with("primvars:") && attribute.type_name.starts_with("texCoord2")
    };
    primvar(layer, prim, "primvars:st").or_else(|| {
        let (name, _) = layer.prims[prim].attributes.iter().find(is_texture)?;
        primvar(layer, prim, name)
    })
}

impl<'a> Primvar<'a> {
    /// The values, and which of them each corner takes; none when the counts do not fit.
    fn on_corners(&self, mesh: &RawMesh) -> Option<(&'a Value, Vec<usize>)> {
        let corners = mesh.corners.len();
        let element_of_corner: Vec<usize> = match self.attribute.interpolation.as_deref() {
            Some("constant") => vec![0; corners],
            Some("uniform") => {
                let mut faces = Vec::with_capacity(corners);
                for (face, &size) in mesh.face_sizes.iter().enumerate() {
                    let room = corners - faces.len();
                    faces.extend(std::iter::repeat_n(face, room.min(size as usize)));
                }
                faces
            }
            Some("faceVarying") => (0..corners).collect(),
            _ => mesh.corners.iter().map(|&v| v as usize).collect(),
        };
        let places = match self.indices {
            Some(indices) => {
                let indices = indices.numbers();
                element_of_corner
                    .iter()
                    .map(|&e| indices.get(e).map(|i| to_index(i) as usize))
                    .collect::<Option<_>>()?
            }
            None => element_of_corner,
        };
        (places.len() == corners).then_some((self.attribute.still()?, places))
    }
}

/// Materials bound to the mesh and to its face subsets, by name.
fn materials(layer: &Layer, prim: usize, mesh: &mut RawMesh) {
    let bound = |prim: usize| {
        let material = *layer.targets(prim, "material:binding").first()?;
        Some(layer.prims[material].name.clone())
    };
    mesh.materials.extend(layer.nearest(prim, bound));
    let subsets: Vec<(usize, String)> = layer.prims[prim]
        .children
        .iter()
        .filter(|&&child| layer.prims[child].type_name == "GeomSubset")
        .filter_map(|&child| Some((child, bound(child)?)))
        .collect();
    if subsets.is_empty() {
        return;
    }
    if mesh.materials.is_empty() {
        mesh.materials.push(String::new());
    }
    mesh.material_of_face = vec![0; mesh.face_sizes.len()];
    for (subset, name) in subsets {
        let known = mesh.materials.iter().position(|material| *material == name);
        let material = known.unwrap_or_else(|| {
            mesh.materials.push(name);
            mesh.materials.len() - 1
        });
        for index in layer.still(subset, "indices").map_or(&[][..], Value::numbers) {
            if let Some(face) = mesh.material_of_face.get_mut(to_index(index) as usize) {
                *face = material as u32;
            }
        }
    }
}

/// Turns every face over, with the attributes of its corners.
fn turn_faces(mesh: &mut RawMesh) {
    let mut start = 0usize;
    for &size in &mesh.face_sizes {
        let end = start.saturating_add(size as usize);
        let Some(face) = mesh.corners.get_mut(start..end) else { return };
        face.reverse();
        if let Some(normals) = mesh.corner_normals.get_mut(start..end) {
            normals.reverse();
        }
        if let Some(uvs) = mesh.corner_uvs.get_mut(start..end) {
            uvs.reverse();
        }
        start = end;
    }
}

/// The skin of mesh `prim` on `skeleton`, if the prim or one above it says there is one.
/// Skin attributes are inherited down the hierarchy.
pub fn skin(
    layer: &Layer,
    prim: usize,
    mesh: &RawMesh,
    skeleton: &Skeleton,
    repairs: &mut Vec<Repair>,
) -> Option<RawSkin> {
    let inherited =
        |name: &str| layer.nearest(prim, |prim| layer.attribute(prim, name).filter(|a| a.still().is_some()));
    let (indices, weights) =
        (inherited("primvars:skel:jointIndices")?, inherited("primvars:skel:jointWeights")?);
    let still = |name: &str| inherited(name).and_then(Attribute::still);
    let subject = format!("mesh {:?}", mesh.name);
    let mesh_to_bind = still("primvars:skel:geomBindTransform").and_then(|v| v.matrices().next());
    let mesh_to_bind = mesh_to_bind.unwrap_or(DMat4::IDENTITY);

    // The mesh may list joints in its own order.
    let own_order = still("skel:joints").map_or(&[][..], Value::texts);
    let joint_of_index: Vec<Option<usize>> = if own_order.is_empty() {
        (0..skeleton.nodes.len()).map(Some).collect()
    } else {
        own_order.iter().map(|token| skeleton.joint_of_token.get(token).copied()).collect()
    };
    let unknown = joint_of_index.iter().filter(|joint| joint.is_none()).count();
    if unknown > 0 {
        let problem = format!("{unknown} of its joints are not in the skeleton");
        repairs.push(Repair::new(&subject, problem, "left their weights out"));
    }

    let joint_numbers = indices.still().map_or(&[][..], Value::numbers);
    let joint_weights = weights.still().map_or(&[][..], Value::numbers);
    let per_vertex = indices.element_size.filter(|&n| n >= 1.0).map_or(1, |n| n as usize);
    let is_constant = indices.interpolation.as_deref() == Some("constant");
    let vertices = mesh.positions.len();
    if vertices.saturating_mul(per_vertex.min(joint_numbers.len())) > MOST_INFLUENCES {
        repairs.push(Repair::new(&subject, "has more weights than any mesh", "left its skin out"));
        return None;
    }
    if !is_constant && joint_numbers.len() != vertices.saturating_mul(per_vertex) {
        let problem =
            format!("has {} joint indices for {vertices} vertices of {per_vertex}", joint_numbers.len());
        repairs.push(Repair::new(&subject, problem, "used those there are"));
    }
    let mut influences = Vec::new();
    for vertex in 0..vertices {
        let start = if is_constant { 0 } else { vertex * per_vertex };
        let slots = start..(start.saturating_add(per_vertex)).min(joint_numbers.len());
        for slot in slots {
            let weight = joint_weights.get(slot).map_or(0.0, |&w| w as f32);
            match joint_of_index.get(to_index(&joint_numbers[slot]) as usize) {
                _ if weight == 0.0 => {}
                Some(None) => {}
                Some(&Some(joint)) => influences.push((vertex as u32, joint as u32, weight)),
                // For the check to find and report.
                None => influences.push((vertex as u32, u32::MAX, weight)),
            }
        }
    }
    let joint_from_mesh = if skeleton.bind.len() >= skeleton.nodes.len() {
        skeleton
            .bind
            .iter()
            .take(skeleton.nodes.len())
            .map(|bind| (bind.inverse() * mesh_to_bind).as_mat4())
            .collect()
    } else {
        Vec::new()
    };
    let method = still("primvars:skel:skinningMethod").or_else(|| still("skel:skinningMethod"));
    Some(RawSkin {
        joints: skeleton.nodes.clone(),
        joint_from_mesh,
        influences,
        dual_quaternion: method.and_then(|v| v.text()) == Some("dualQuaternion"),
    })
}

/// The blend shapes of mesh `prim`.
pub fn morphs(layer: &Layer, prim: usize, repairs: &mut Vec<Repair>) -> Vec<RawMorph> {
    let names = layer.still(prim, "skel:blendShapes").map_or(&[][..], Value::texts);
    let targets = layer.prims[prim].relationships.get("skel:blendShapeTargets");
    let targets = targets.map_or(&[][..], Vec::as_slice);
    names
        .iter()
        .enumerate()
        .map(|(k, name)| {
            let shape = targets.get(k).and_then(|path| layer.find(prim, path));
            let Some(shape) = shape else {
                repairs.push(Repair::new(
                    format!("blend shape {name:?}"),
                    "its target is missing",
                    "left it flat",
                ));
                return RawMorph { name: name.clone(), ..RawMorph::default() };
            };
            if layer.prims[shape].attributes.keys().any(|name| name.starts_with("inbetweens:")) {
                let problem = "has in-between shapes";
                repairs.push(Repair::new(
                    format!("blend shape {name:?}"),
                    problem,
                    "used the full shape alone",
                ));
            }
            let offsets =
                layer.still(shape, "offsets").into_iter().flat_map(Value::vectors).map(|o| o.as_vec3());
            let vertices = layer.still(shape, "pointIndices").map_or(&[][..], Value::numbers);
            let vertex =
                |i: usize| if vertices.is_empty() { Some(i as u32) } else { vertices.get(i).map(to_index) };
            let offsets = offsets.enumerate().filter_map(|(i, offset)| Some((vertex(i)?, offset))).collect();
            RawMorph { name: name.clone(), offsets, weight: 0.0 }
        })
        .collect()
}
