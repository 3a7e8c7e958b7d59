//! What tracking knows of a character at rest; made once.

use super::bone::{Bone, Relation, bones, relations};
use super::first_crossing;
use super::neighbours::{inverse_lengths, mean_edges};
use super::pose::{PoseMemory, Posed};
use super::{Join, Settings};
use crate::character::Character;
use crate::field::{Cells, Field, Sample};
use crate::geom::{Adjacency, Bvh, thickness};
use crate::parts::{FOLLOWS, Parts};
use crate::skinning::Surface;
use crate::tracking::stencil::Stencil;
use glam::{Affine3A, Vec3, Vec3A};
use rayon::prelude::*;

/// Inner radii over mean edge at which skin can follow its fields in full; with longer edges by the third power less. The fingers of
/// mh_base have edges of half an inner radius and half as many crossings again with 0.45, the fox's trunk has edges of one and its legs of three.
/// With the second power the walking fox's skin moves 1.6 times as far as the skeleton takes it, with none 3.3 times.
const FULL_FINENESS_EDGES: f32 = 0.5;
/// In mean edges around a vertex: least stride, unless the inner radius of its part is less. With none the open shells of Rocketbox 16 keep
/// half as many crossings again, with four the hands of a walking mh_base three times as many.
const LEAST_STRIDE: f32 = 2.0;
/// A vertex with less at rest is outside every field.
const LEAST_ISO: f32 = 0.02;
/// Difference between own and second weight from which on the full gap is kept. At the border of two parts there is
/// none, or the crease would be torn open.
const FULL_GAP_WEIGHT: f32 = 0.2;

/// A part's field at a vertex at rest.
#[derive(Clone, Copy, Debug)]
struct AtRest {
    part: u32,
    value: f32,
}

pub(super) struct Model {
    pub settings: Settings,
    /// Of the whole surface, metres.
    pub size: f32,
    pub rest: Vec<Vec3A>,
    /// Unit normals at rest.
    pub normals: Vec<Vec3A>,
    /// Part of each vertex or [`FOLLOWS`].
    pub part: Vec<u32>,
    /// Value of the union of all fields at rest.
    pub iso: Vec<f32>,
    /// Share of the gap kept, 0 to 1.
    pub gap: Vec<f32>,
    /// Inner radius of its part, or thickness of the skin there (an ear of a large head) if that is less, metres.
    pub local_radius: Vec<f32>,
    /// Length of a full push: the local radius, but no less than [`LEAST_STRIDE`] edges, metres.
    pub stride: Vec<f32>,
    /// How far free skin may leave its skinned position, metres.
    pub max_offset: Vec<f32>,
    /// Weights of one over rest length.
    pub mean: Stencil,
    pub influence_start: Vec<u32>,
    /// Joint and weight, strongest first.
    pub influences: Vec<(u32, f32)>,
    pub part_of_joint: Vec<u32>,
    pub bones: Vec<Bone>,
    pub fields: Vec<Cells>,
    /// Neighbours whose fields are not merely united.
    pub joins: Vec<Join>,
    relations: Vec<Relation>,
    foreign_start: Vec<u32>,
    /// Other parts' fields at rest.
    foreign: Vec<AtRest>,
    /// Vertices and parts whose ray hits at rest, ascending: the part lies between the vertex and its own bone.
    pub occluded_at_rest: Vec<(u32, u32)>,
    /// Vertices that can be tracked, part by part.
    pub tracked: Vec<u32>,
    /// Vertices with a part that lie outside every field.
    pub outside: usize,
}

impl Model {
    /// `bvh` fits the surface.
    pub fn new(
        character: &Character,
        surface: &Surface,
        parts: &Parts,
        bvh: &Bvh,
        settings: Settings,
        joins: Vec<Join>,
    ) -> Self {
        let mesh = &surface.mesh;
        let adjacency = Adjacency::new(mesh);
        let rest: Vec<Vec3A> = mesh.positions.iter().map(|&p| p.into()).collect();
        let mut part_of_joint = vec![FOLLOWS; character.skeleton.len()];
        for (p, part) in parts.parts.iter().enumerate() {
            part.joints.iter().for_each(|&j| part_of_joint[j as usize] = p as u32);
        }
        let (influence_start, influences, gap) = weights(surface, &parts.part_of_vertex, &part_of_joint);
        let fields: Vec<Cells> = parts.parts.iter().map(|p| Cells::of(&p.field)).collect();
        let (values, iso): (Vec<Vec<AtRest>>, Vec<f32>) = mesh
            .positions
            .par_iter()
            .map(|&p| {
                let samples = samples_at_rest(&fields, p);
                let at_rest = |&(part, Sample { value, .. }): &(u32, Sample)| AtRest { part, value };
                (samples.iter().map(at_rest).collect(), united(&samples, &joins))
            })
            .unzip();
        let (mut foreign_start, mut foreign) = (vec![0u32], Vec::new());
        for (list, &own) in values.iter().zip(&parts.part_of_vertex) {
            foreign.extend(list.iter().filter(|s| s.part != own));
            foreign_start.push(foreign.len() as u32);
        }
        let has_part = |v: &u32| parts.part_of_vertex[*v as usize] != FOLLOWS;
        let (mut tracked, outside): (Vec<u32>, Vec<u32>) =
            (0..rest.len() as u32).filter(has_part).partition(|&v| iso[v as usize] > LEAST_ISO);
        // Neighbours in space after each other, so that a thread stays in one corner of one grid.
        let place = spread_bits(&rest, mesh.size());
        tracked.sort_by_key(|&v| (parts.part_of_vertex[v as usize], place[v as usize], v));
        let mut bones = bones(&parts.parts);
        let mean_edge = mean_edges(&rest, &adjacency, &tracked, &parts.part_of_vertex, bones.len());
        for (bone, &edge) in bones.iter_mut().zip(&mean_edge) {
            bone.fineness =
                (FULL_FINENESS_EDGES * bone.inner_radius / edge.max(f32::MIN_POSITIVE)).powi(3).min(1.0);
        }
        let bone = |part: u32| bones.get(part as usize);
        let local_radius =
            |(&part, thickness): (&u32, f32)| bone(part).map_or(0.0, |b| b.inner_radius).min(thickness);
        let thickness = thickness::thickness(mesh, bvh);
        let local_radius: Vec<f32> =
            parts.part_of_vertex.iter().zip(thickness.iter().copied()).map(local_radius).collect();
        let stride = |v: usize| {
            let ring = adjacency.vertex_ring.get(v);
            let around: f32 = ring.iter().map(|&k| rest[v].distance(rest[k as usize])).sum();
            let edges = LEAST_STRIDE * around / ring.len().max(1) as f32;
            local_radius[v].max(edges).min(bone(parts.part_of_vertex[v]).map_or(0.0, |b| b.inner_radius))
        };
        let stride = (0..rest.len()).map(stride).collect();
        let max_offset = |(&part, local_radius): (&u32, &f32)| {
            bone(part).map_or(1.0, |b| b.fineness) * settings.max_offset * local_radius
        };
        let max_offset: Vec<f32> = parts.part_of_vertex.iter().zip(&local_radius).map(max_offset).collect();
        let relations = relations(parts);
        let mut model = Self {
            settings,
            stride,
            local_radius,
            max_offset,
            size: mesh.size(),
            normals: mesh.normals().into_iter().map(Vec3A::from).collect(),
            part: parts.part_of_vertex.clone(),
            iso,
            gap,
            mean: inverse_lengths(&rest, &adjacency, mesh.size()),
            rest,
            influence_start,
            influences,
            part_of_joint,
            bones,
            joins,
            fields,
            relations,
            foreign_start,
            foreign,
            occluded_at_rest: Vec::new(),
            tracked,
            outside: outside.len(),
        };
        let joints = model.part_of_joint.len();
        let (at_rest, mut memory) = (vec![Affine3A::IDENTITY; joints], PoseMemory::default());
        let at_rest = Posed::new(&model, &at_rest, None, &mut memory);
        let occluded_at_rest = first_crossing::occluded_at_rest(&at_rest);
        model.occluded_at_rest = occluded_at_rest;
        model
    }

    /// Value of the union of all fields at a point of bind space.
    pub fn value_at_rest(&self, p: Vec3) -> f32 {
        united(&samples_at_rest(&self.fields, p), &self.joins)
    }

    /// The inner radius of a vertex' part, metres; 0 without one.
    pub fn inner_radius(&self, v: u32) -> f32 {
        self.bones.get(self.part[v as usize] as usize).map_or(0.0, |bone| bone.inner_radius)
    }

    pub fn relation(&self, a: u32, b: u32) -> Relation {
        self.relations[a as usize * self.bones.len() + b as usize]
    }

    /// Value of another part's field at rest.
    pub fn foreign(&self, v: usize, part: u32) -> f32 {
        self.foreign_at_rest(v, part).map_or(0.0, |f| f.value)
    }

    fn foreign_at_rest(&self, v: usize, part: u32) -> Option<&AtRest> {
        let list = &self.foreign[self.foreign_start[v] as usize..self.foreign_start[v + 1] as usize];
        list.iter().find(|f| f.part == part)
    }

    pub fn influences_of(&self, v: usize) -> &[(u32, f32)] {
        &self.influences[self.influence_start[v] as usize..self.influence_start[v + 1] as usize]
    }
}

/// The fields that are not zero at a point of bind space.
fn samples_at_rest(fields: &[Cells], p: Vec3) -> Vec<(u32, Sample)> {
    let sampled = fields.iter().zip(0..).map(|(field, k)| (k, field.sample(p)));
    sampled.filter(|s| s.1.value > 0.0).collect()
}

/// The largest of some parts' values and of what their joins make of them.
fn united(samples: &[(u32, Sample)], joins: &[Join]) -> f32 {
    let largest = samples.iter().fold(0.0f32, |most, s| most.max(s.1.value));
    let find = |part: u32| samples.iter().find(|s| s.0 == part).map(|s| s.1);
    joins.iter().fold(largest, |most, join| match join.parts.map(find) {
        [Some(a), Some(b)] => most.max(join.composition.join(a, b).value),
        _ => most,
    })
}

/// Offsets, influences strongest first, and the share of the gap of each vertex.
fn weights(surface: &Surface, part: &[u32], part_of_joint: &[u32]) -> (Vec<u32>, Vec<(u32, f32)>, Vec<f32>) {
    let (mut start, mut all, mut gap) = (vec![0u32], Vec::new(), Vec::new());
    let mut by_part: Vec<(u32, f32)> = Vec::new();
    for (v, &own) in part.iter().enumerate() {
        let mut list: Vec<(u32, f32)> = surface.influences.of(v).collect();
        list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        by_part.clear();
        for &(joint, weight) in &list {
            let p = part_of_joint[joint as usize];
            match by_part.iter_mut().find(|sum| sum.0 == p) {
                Some(sum) => sum.1 += weight,
                None => by_part.push((p, weight)),
            }
        }
        let mine = by_part.iter().find(|sum| sum.0 == own).map_or(0.0, |sum| sum.1);
        let second = by_part.iter().filter(|sum| sum.0 != own).fold(0.0f32, |most, sum| most.max(sum.1));
        gap.push(((mine - second) / FULL_GAP_WEIGHT).clamp(0.0, 1.0));
        all.extend(list);
        start.push(all.len() as u32);
    }
    (start, all, gap)
}

/// Place of each point along a curve that fills space (Morton order), on a lattice of 1024 cells.
fn spread_bits(points: &[Vec3A], size: f32) -> Vec<u32> {
    let low = points.iter().fold(Vec3A::INFINITY, |low, &p| low.min(p));
    let spread = |cell: f32| {
        let cell = (cell.max(0.0) as u32).min(1023);
        (0..10).fold(0, |bits, k| bits | (cell >> k & 1) << (3 * k))
    };
    let scale = 1023.0 / size.max(f32::MIN_POSITIVE);
    let of = |&p: &Vec3A| {
        let cell = (p - low) * scale;
        spread(cell.x) | spread(cell.y) << 1 | spread(cell.z) << 2
    };
    points.iter().map(of).collect()
}
