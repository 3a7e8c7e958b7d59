//! One polygon mesh of an archive: its static data and the samples of its frames.

use super::super::WriteError;
use super::super::file::PendingFiles;
use super::ogawa::{Archive, Place, SAMPLE_EXTRA};
use super::property::{
    Children, Compound, FRAMES, Kind, MetadataTable, Samples, TIMELESS, Type, many_samples, one_sample,
};
use crate::character::Mesh;
use crate::geom::mesh::bounds;
use glam::{Vec2, Vec3};
use std::collections::{BTreeMap, BTreeSet};

const BOX: Type = Type::scalar(Kind::F64, 6);
const POINTS: Type = Type::array(Kind::F32, 3);
const UVS: Type = Type::array(Kind::F32, 2);
const INTEGERS: Type = Type::array(Kind::I32, 1);
const INDICES: Type = Type::array(Kind::U32, 1);

const BOX_ABOUT: &str = "interpretation=box";
const POINTS_ABOUT: &str = "geoScope=vtx;interpretation=point";
const VELOCITIES_ABOUT: &str = "interpretation=vector";
const UVS_ABOUT: &str =
    "arrayExtent=1;geoScope=fvr;interpretation=vector;isGeomParam=true;podExtent=2;podName=float32_t";
const NORMALS_ABOUT: &str =
    "arrayExtent=1;geoScope=fvr;interpretation=normal;isGeomParam=true;podExtent=3;podName=float32_t";
const MESH_ABOUT: &str = "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1";
const MESH_OBJECT_ABOUT: &str =
    "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1;schemaObjTitle=AbcGeom_PolyMesh_v1:.geom";
const FACE_SET_ABOUT: &str = "schema=AbcGeom_FaceSet_v1;schemaBaseType=AbcGeom_GeomBase_v1";
const FACE_SET_OBJECT_ABOUT: &str =
    "schema=AbcGeom_FaceSet_v1;schemaBaseType=AbcGeom_GeomBase_v1;schemaObjTitle=AbcGeom_FaceSet_v1:.faceset";
const XFORM_ABOUT: &str = "schema=AbcGeom_Xform_v3";
const XFORM_OBJECT_ABOUT: &str = "schema=AbcGeom_Xform_v3;schemaObjTitle=AbcGeom_Xform_v3:.xform";

/// Points and normals of one mesh in one frame, in the archive's units and axes.
#[derive(Clone, Debug, Default)]
pub struct MeshFrame {
    /// One per vertex.
    pub points: Vec<Vec3>,
    /// One per shading slot.
    pub normals: Vec<Vec3>,
}

/// Where the frames lie in an archive; all have the same size.
#[derive(Clone, Copy, Debug)]
pub struct Frames {
    /// Where the first begins.
    pub first_at: u64,
    /// Bytes of one frame.
    pub stride: u64,
    /// How many there are.
    pub count: usize,
}

/// A polygon mesh of an archive: one mesh of the character, or several put together.
pub struct PolyMesh {
    name: String,
    /// Numbers of the character's meshes.
    meshes: std::ops::Range<usize>,
    points: usize,
    /// Shading slots, if normals are written.
    slots: Option<usize>,
    velocities: bool,
    face_indices: Place,
    face_sizes: Place,
    /// Values and indices.
    uvs: Option<[Place; 2]>,
    normal_indices: Place,
    /// Name and faces.
    face_sets: Vec<(String, Place)>,
    /// Of everything written.
    hash: blake3::Hasher,
}

impl PolyMesh {
    /// Writes the static data of the meshes `numbers` of `all`.
    pub fn create(
        archive: &mut Archive,
        name: String,
        numbers: std::ops::Range<usize>,
        all: &[Mesh],
        normals: bool,
        velocities: bool,
    ) -> Self {
        let meshes = &all[numbers.clone()];
        let lists = Lists::of(meshes);
        let mut hash = blake3::Hasher::new();
        hash.update(name.as_bytes());
        let mut put = |words: &mut dyn Iterator<Item = [u8; 4]>| {
            let bytes: Vec<u8> = words.flatten().collect();
            let (place, key) = archive.sample(&bytes);
            hash.update(&key);
            place
        };
        let mut integers = |list: &[u32]| put(&mut list.iter().map(|i| i.to_le_bytes()));
        let face_indices = integers(&lists.corners);
        let face_sizes = integers(&lists.sizes);
        let normal_indices = if normals { integers(&lists.slots) } else { Place::EMPTY_GROUP };
        let uv_indices = integers(&lists.uv_indices);
        let face_sets = lists.face_sets.iter().map(|(name, faces)| (name.clone(), integers(faces))).collect();
        let uvs = (!lists.uvs.is_empty()).then(|| {
            let numbers = lists.uvs.iter().flat_map(|uv| uv.to_array());
            [put(&mut numbers.map(f32::to_le_bytes)), uv_indices]
        });
        Self {
            name,
            points: meshes.iter().map(|mesh| mesh.positions.len()).sum(),
            slots: normals.then(|| meshes.iter().map(|mesh| mesh.shading.slots).sum()),
            meshes: numbers,
            velocities,
            face_indices,
            face_sizes,
            uvs,
            normal_indices,
            face_sets,
            hash,
        }
    }

    /// Bytes of each kind of sample in a frame, in their order: bounds, points, normals, velocities.
    fn sizes(&self) -> [u64; 4] {
        let of = |vectors: usize| 12 * vectors as u64 + SAMPLE_EXTRA;
        [
            48 + SAMPLE_EXTRA,
            of(self.points),
            self.slots.map_or(0, of),
            if self.velocities { of(self.points) } else { 0 },
        ]
    }

    /// Bytes of a frame.
    pub fn frame_size(&self) -> u64 {
        self.sizes().iter().sum()
    }

    /// Writes a frame of all meshes of the character; `velocity` gives mesh and vertex their velocity.
    pub fn write_frame(
        &mut self,
        archive: &mut Archive,
        frame: &[MeshFrame],
        velocity: impl Fn(usize, usize) -> Vec3,
        bytes: &mut Vec<u8>,
    ) {
        let meshes = &frame[self.meshes.clone()];
        let boxes = meshes.iter().filter(|m| !m.points.is_empty()).map(|m| bounds(&m.points));
        let around = boxes.reduce(|a, b| (a.0.min(b.0), a.1.max(b.1))).unwrap_or_default();
        bytes.clear();
        for number in [around.0, around.1].iter().flat_map(|corner| corner.to_array()) {
            bytes.extend(f64::from(number).to_le_bytes());
        }
        self.put(archive, bytes);
        self.put_vectors(archive, meshes.iter().flat_map(|m| m.points.iter().copied()), bytes);
        if self.slots.is_some() {
            self.put_vectors(archive, meshes.iter().flat_map(|m| m.normals.iter().copied()), bytes);
        }
        if self.velocities {
            let all = self.meshes.clone().flat_map(|m| (0..frame[m].points.len()).map(move |v| (m, v)));
            self.put_vectors(archive, all.map(|(m, v)| velocity(m, v)), bytes);
        }
    }

    fn put(&mut self, archive: &mut Archive, bytes: &[u8]) {
        let (_, key) = archive.sample(bytes);
        self.hash.update(&key);
    }

    fn put_vectors(
        &mut self,
        archive: &mut Archive,
        vectors: impl Iterator<Item = Vec3>,
        bytes: &mut Vec<u8>,
    ) {
        bytes.clear();
        for number in vectors.flat_map(|v| v.to_array()) {
            bytes.extend(number.to_le_bytes());
        }
        self.put(archive, bytes);
    }

    /// Writes the tables, with a transform around the mesh, and adds it to `parent`. `before` are the bytes of the meshes
    /// before it in every frame.
    pub fn finish(
        self,
        archive: &mut Archive,
        files: &mut PendingFiles,
        metadata: &mut MetadataTable,
        frames: Frames,
        before: u64,
        parent: &mut Children,
    ) -> Result<(), WriteError> {
        let sizes = self.sizes();
        let hash = self.hash.finalize();
        let moving = Samples { count: frames.count as u32, constant: false, timing: FRAMES };
        let still = Samples { constant: true, ..moving };
        let mut animated = |archive: &mut Archive, kind: Type, which: usize| {
            let first = frames.first_at + before + sizes[..which].iter().sum::<u64>();
            let place = |frame: usize| Place::block_at(first + frame as u64 * frames.stride);
            many_samples(archive, files, kind, frames.count, place)
        };
        let mut geometry = Compound::default();
        let place = animated(archive, BOX, 0)?;
        geometry.add(metadata, ".selfBnds", BOX_ABOUT, BOX, moving, place);
        let place = animated(archive, POINTS, 1)?;
        geometry.add(metadata, "P", POINTS_ABOUT, POINTS, moving, place);
        for (name, place) in [(".faceIndices", self.face_indices), (".faceCounts", self.face_sizes)] {
            let place = one_sample(archive, INTEGERS, place);
            geometry.add(metadata, name, "", INTEGERS, still, place);
        }
        if self.velocities {
            let place = animated(archive, POINTS, 3)?;
            geometry.add(metadata, ".velocities", VELOCITIES_ABOUT, POINTS, moving, place);
        }
        if let Some([values, indices]) = self.uvs {
            let values = (one_sample(archive, UVS, values), UVS, still);
            let inner = indexed(archive, metadata, UVS_ABOUT, values, indices, still);
            geometry.add_compound(archive, metadata, "uv", UVS_ABOUT, inner);
        }
        if self.slots.is_some() {
            let values = (animated(archive, POINTS, 2)?, POINTS, moving);
            let inner = indexed(archive, metadata, NORMALS_ABOUT, values, self.normal_indices, still);
            geometry.add_compound(archive, metadata, "N", NORMALS_ABOUT, inner);
        }
        let mut sets = Children::default();
        for (name, faces) in self.face_sets {
            face_set(archive, metadata, &name, faces, hash, &mut sets);
        }
        let mut properties = Compound::default();
        properties.add_compound(archive, metadata, ".geom", MESH_ABOUT, geometry);
        let properties = properties.write(archive);
        let shape = sets.write(archive, properties, hash);

        let mut children = Children::default();
        children.add(metadata, &format!("{}Shape", self.name), MESH_OBJECT_ABOUT, shape);
        let mut transform = Compound::default();
        let inherits = Type::scalar(Kind::Bool, 1);
        let (yes, _) = archive.sample(&[1]);
        let place = one_sample(archive, inherits, yes);
        let once = Samples { count: 1, constant: true, timing: FRAMES };
        transform.add(metadata, ".inherits", "", inherits, once, place);
        let mut properties = Compound::default();
        properties.add_compound(archive, metadata, ".xform", XFORM_ABOUT, transform);
        let properties = properties.write(archive);
        let place = children.write(archive, properties, hash);
        parent.add(metadata, &self.name, XFORM_OBJECT_ABOUT, place);
        Ok(())
    }
}

/// Values, and the index of each face corner's value.
fn indexed(
    archive: &mut Archive,
    metadata: &mut MetadataTable,
    about: &'static str,
    (values, kind, samples): (Place, Type, Samples),
    indices: Place,
    still: Samples,
) -> Compound {
    let mut inner = Compound::default();
    inner.add(metadata, ".vals", about, kind, samples, values);
    let place = one_sample(archive, INDICES, indices);
    inner.add(metadata, ".indices", "", INDICES, still, place);
    inner
}

/// Writes a set of faces; no face is in two.
fn face_set(
    archive: &mut Archive,
    metadata: &mut MetadataTable,
    name: &str,
    faces: Place,
    hash: blake3::Hash,
    parent: &mut Children,
) {
    let once = Samples { count: 1, constant: true, timing: TIMELESS };
    let mut set = Compound::default();
    // No bounds of its own: an empty box.
    let nowhere: Vec<u8> =
        [[f64::MAX; 3], [f64::MIN; 3]].as_flattened().iter().flat_map(|n| n.to_le_bytes()).collect();
    let (nowhere, _) = archive.sample(&nowhere);
    let place = one_sample(archive, BOX, nowhere);
    set.add(metadata, ".selfBnds", BOX_ABOUT, BOX, once, place);
    let place = one_sample(archive, INTEGERS, faces);
    set.add(metadata, ".faces", "", INTEGERS, once, place);
    let exclusive = Type::scalar(Kind::U32, 1);
    let (yes, _) = archive.sample(&1u32.to_le_bytes());
    let place = one_sample(archive, exclusive, yes);
    set.add(metadata, ".facesExclusive", "", exclusive, once, place);
    let mut properties = Compound::default();
    properties.add_compound(archive, metadata, ".faceset", FACE_SET_ABOUT, set);
    let properties = properties.write(archive);
    let mut own = blake3::Hasher::new();
    own.update(hash.as_bytes()).update(name.as_bytes());
    let place = Children::default().write(archive, properties, own.finalize());
    parent.add(metadata, name, FACE_SET_OBJECT_ABOUT, place);
}

/// Faces of one or several meshes with Alembic's winding: clockwise from outside, so each face is reversed.
#[derive(Default)]
struct Lists {
    sizes: Vec<u32>,
    corners: Vec<u32>,
    slots: Vec<u32>,
    /// The texture coordinates of each vertex without repetition; empty if no mesh has any.
    uvs: Vec<Vec2>,
    uv_indices: Vec<u32>,
    face_sets: Vec<(String, Vec<u32>)>,
}

impl Lists {
    fn of(meshes: &[Mesh]) -> Self {
        let mut lists = Self::default();
        let has_uvs = meshes.iter().any(|mesh| !mesh.corner_uvs.is_empty());
        let mut known = BTreeMap::new();
        let mut by_material: Vec<(&str, Vec<u32>)> = Vec::new();
        let (mut first_vertex, mut first_slot) = (0, 0);
        for mesh in meshes {
            for f in 0..mesh.faces.len() {
                let face = lists.sizes.len() as u32;
                let range = mesh.faces.range(f);
                lists.sizes.push(range.len() as u32);
                for c in range.rev() {
                    let vertex = first_vertex + mesh.faces.corners[c];
                    lists.corners.push(vertex);
                    lists.slots.push(first_slot + mesh.shading.slot_of_corner[c]);
                    if has_uvs {
                        // Seams are where a vertex has several: programs keep the rest of a texture in one piece.
                        let uv = mesh.corner_uvs.get(c).copied().unwrap_or_default();
                        let next = lists.uvs.len() as u32;
                        let index = *known.entry((vertex, uv.to_array().map(f32::to_bits))).or_insert(next);
                        if index == next {
                            lists.uvs.push(uv);
                        }
                        lists.uv_indices.push(index);
                    }
                }
                let material = mesh.material_of_face.get(f).copied().unwrap_or(0);
                if let Some(name) = mesh.materials.get(material as usize) {
                    match by_material.iter_mut().find(|(other, _)| other == name) {
                        Some((_, faces)) => faces.push(face),
                        None => by_material.push((name, vec![face])),
                    }
                }
            }
            first_vertex += mesh.positions.len() as u32;
            first_slot += mesh.shading.slots as u32;
        }
        let mut taken = BTreeSet::new();
        lists.face_sets =
            by_material.into_iter().map(|(name, faces)| (object_name(name, &mut taken), faces)).collect();
        lists
    }
}

/// A valid, unused object name: the user's own, without characters that would end it or make it a path.
pub fn object_name(name: &str, taken: &mut BTreeSet<String>) -> String {
    let base: String = name.chars().map(|c| if c == '/' || c.is_control() { '_' } else { c }).collect();
    let base = if base.is_empty() { "unnamed".to_owned() } else { base };
    let mut unique = base.clone();
    let mut number = 1;
    while !taken.insert(unique.clone()) {
        number += 1;
        unique = format!("{base}_{number}");
    }
    unique
}
