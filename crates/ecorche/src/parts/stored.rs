//! Parts on disk.

use super::{Part, PartSettings, Parts, PartsReport};
use crate::cache::Key;
use crate::character::Character;
use crate::field::{CompactHrbf, Grid, Hrbf, SurfaceSample};
use crate::pieces::Pieces;
use crate::skinning::Surface;
use glam::{DVec3, UVec3, Vec3};
use std::fmt::Write;
use std::sync::Arc;

/// Raised whenever parts of the same character come out differently.
const VERSION: u32 = 3;

/// Everything the parts depend on.
pub(super) fn key(surface: &Surface, character: &Character, settings: &PartSettings) -> Key {
    let mut text = Vec::new();
    let mut word = |w: u32| text.extend_from_slice(&w.to_le_bytes());
    word(VERSION);
    for (joint, map) in character.skeleton.joints.iter().zip(surface.joint_from_bind()) {
        word(joint.parent.map_or(u32::MAX, |p| p as u32));
        word(u32::from(joint.in_skin));
        let rest = joint.rest.to_affine();
        map.to_cols_array().iter().chain(&rest.to_cols_array()).for_each(|f| word(f.to_bits()));
    }
    for &region in &surface.regions.region_of_vertex {
        word(surface.regions.regions[region as usize].joint);
    }
    let PartSettings {
        pieces,
        samples,
        resolution,
        smallest_radius,
        largest_radius,
        smallest_patch,
        pivots,
        swing,
        seed,
    } = settings;
    samples.iter().for_each(|&s| word(s as u32));
    [*resolution, u32::from(*pivots), *seed as u32, (*seed >> 32) as u32].into_iter().for_each(&mut word);
    [smallest_radius, largest_radius, smallest_patch, swing].into_iter().for_each(|f| word(f.to_bits()));
    // Weights tell roles apart; names of meshes and materials are what a person calls pieces by.
    for v in 0..surface.influences.len() {
        word(surface.influences.of(v).len() as u32);
        for (joint, weight) in surface.influences.of(v) {
            word(joint);
            word(weight.to_bits());
        }
    }
    character.meshes.iter().flat_map(|mesh| &mesh.material_of_face).for_each(|&material| word(material));
    let mut names: String =
        character.skeleton.joints.iter().map(|joint| format!("{}\n", joint.name)).collect();
    for mesh in &character.meshes {
        let _ = writeln!(names, "{} {:?}", mesh.name, mesh.materials);
    }
    let _ = write!(names, "{pieces:?}");
    Key::new(
        "parts",
        &[
            bytemuck::cast_slice(&surface.mesh.positions),
            bytemuck::cast_slice(&surface.mesh.triangles),
            &text,
            names.as_bytes(),
        ],
    )
}

pub(super) fn write(parts: &Parts) -> Vec<u8> {
    let mut out = Writer(Vec::new());
    out.list(&parts.part_of_vertex);
    out.list(&parts.touching);
    // Numbers of a report are finite, so that it always has a text.
    out.list(&serde_json::to_vec(&parts.report).unwrap_or_default());
    out.list(&serde_json::to_vec(&*parts.pieces).unwrap_or_default());
    out.list(&[parts.parts.len() as u32]);
    for part in &parts.parts {
        out.list(&[part.joint, part.parent.unwrap_or(u32::MAX)]);
        out.list(&part.joints);
        out.list(&flat(&part.samples));
        out.list(&flat(&part.closures));
        out.list(&part.bone);
        out.list(&[part.radius, part.inner_radius]);
        let (middle, scale, centres, weights) = part.hrbf.hrbf().solution();
        out.list(&[middle.x, middle.y, middle.z, scale]);
        out.list(&centres.iter().map(|c| c.to_array()).collect::<Vec<_>>());
        out.list(weights);
        let (cells_per_metre, cells) = part.field.shape();
        let low = part.field.node_position(0);
        out.list(&[low.x, low.y, low.z, cells_per_metre]);
        out.list(&cells.to_array());
        out.list(part.field.nodes());
    }
    out.0
}

/// `None` if the bytes do not describe parts of this surface.
pub(super) fn read(bytes: &[u8], surface: &Surface) -> Option<Parts> {
    let mut input = Reader(bytes);
    let part_of_vertex: Vec<u32> = input.list()?;
    let touching: Vec<[u32; 2]> = input.list()?;
    let report: PartsReport = serde_json::from_slice(&input.list::<u8>()?).ok()?;
    let pieces: Pieces = serde_json::from_slice(&input.list::<u8>()?).ok()?;
    let [count] = input.array::<u32, 1>()?;
    let mut parts = Vec::new();
    for _ in 0..count {
        let [joint, parent] = input.array::<u32, 2>()?;
        let joints = input.list()?;
        let samples = unflat(&input.list()?);
        let closures = unflat(&input.list()?);
        let bone = input.list()?;
        let [radius, inner_radius] = input.array::<f32, 2>()?;
        let [x, y, z, scale] = input.array::<f32, 4>()?;
        let centres: Vec<DVec3> = input.list::<[f64; 3]>()?.into_iter().map(DVec3::from_array).collect();
        let weights: Vec<[f64; 4]> = input.list()?;
        if centres.len() != weights.len() {
            return None;
        }
        let hrbf = Hrbf::from_solution(Vec3::new(x, y, z), scale, centres, weights);
        let [x, y, z, cells_per_metre] = input.array::<f32, 4>()?;
        let cells = UVec3::from_array(input.array::<u32, 3>()?);
        let field = Grid::from_nodes(Vec3::new(x, y, z), cells_per_metre, cells, input.list()?)?;
        parts.push(Part {
            joint,
            joints,
            parent: (parent != u32::MAX).then_some(parent),
            samples,
            closures,
            bone,
            radius,
            inner_radius,
            hrbf: CompactHrbf::new(hrbf, radius),
            field,
        });
    }
    let vertices = surface.mesh.positions.len();
    let is_piece = |&k: &u32| (k as usize) < pieces.pieces.len();
    let fits = part_of_vertex.len() == vertices
        && pieces.piece_of_vertex.len() == vertices
        && pieces.piece_of_vertex.iter().chain(pieces.joined.iter().flatten()).all(is_piece);
    fits.then_some(Parts { parts, pieces: Arc::new(pieces), part_of_vertex, touching, report })
}

fn flat(samples: &[SurfaceSample]) -> Vec<[Vec3; 2]> {
    samples.iter().map(|s| [s.position, s.normal]).collect()
}

fn unflat(samples: &[[Vec3; 2]]) -> Vec<SurfaceSample> {
    samples.iter().map(|&[position, normal]| SurfaceSample { position, normal }).collect()
}

/// Lists of plain numbers, each after its length in bytes.
struct Writer(Vec<u8>);

impl Writer {
    fn list<T: bytemuck::NoUninit>(&mut self, items: &[T]) {
        let bytes: &[u8] = bytemuck::cast_slice(items);
        self.0.extend_from_slice(&(bytes.len() as u64).to_le_bytes());
        self.0.extend_from_slice(bytes);
    }
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn list<T: bytemuck::AnyBitPattern + bytemuck::NoUninit>(&mut self) -> Option<Vec<T>> {
        let (length, rest) = self.0.split_first_chunk::<8>()?;
        let length = usize::try_from(u64::from_le_bytes(*length)).ok()?;
        let (bytes, rest) = rest.split_at_checked(length)?;
        self.0 = rest;
        // The bytes may start anywhere, so that they cannot be read in place.
        let mut items = vec![T::zeroed(); length / size_of::<T>()];
        if !length.is_multiple_of(size_of::<T>()) {
            return None;
        }
        bytemuck::cast_slice_mut(&mut items).copy_from_slice(bytes);
        Some(items)
    }

    fn array<T: bytemuck::AnyBitPattern + bytemuck::NoUninit, const N: usize>(&mut self) -> Option<[T; N]> {
        self.list()?.try_into().ok()
    }
}
