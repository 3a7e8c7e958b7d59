//! The stage `project` elsewhere than on the processor: what a [`Projector`] is given, and what it gives back.
//!
//! Search, the first crossing and which vertices are awake stay here, and so does everything after the projection. A projector
//! takes the steps of the awake vertices to the zero of the level function; its numbers may differ in the last
//! places, and then so does the skin. Displaced flesh and operators that join parts are not offered to it: such frames are
//! projected here.

use super::level::{self, Level};
use super::model::Model;
use super::pose::{Posed, marked};
use super::tracker::{Tracker, Workspace};
use super::{bend, project};
use bytemuck::{Pod, Zeroable};
use glam::{Affine3A, Vec3A, Vec4};
use std::sync::Arc;

/// Projects awake vertices.
pub trait Projector: Send + Sync + std::fmt::Debug {
    /// Projects the vertices of a batch and puts one result for each into `projected`. False if it could not: the
    /// vertices are then projected here.
    fn project(&self, batch: &Batch, projected: &mut Vec<Projected>) -> bool;
}

/// What does not change while a body moves.
#[derive(Clone, Debug)]
pub struct Fields {
    /// The baked fields, one per part.
    pub fields: Vec<FieldShape>,
    /// Value and gradient of every node of every field, x fastest: four 16-bit integers, see [`FieldShape::steepest`].
    pub nodes: Vec<[i16; 4]>,
    /// How part a is connected with part b, at `a * parts + b`: 0 the same, 1 parent and child, 2 touching at rest, 3 neither.
    pub relations: Vec<u32>,
    /// Numbers of the level function.
    pub constants: Constants,
}

/// Where the field of a part is in [`Fields::nodes`], bind space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct FieldShape {
    /// Smallest corner of its support, metres.
    pub low: [f32; 3],
    /// Cells per metre.
    pub cells_per_metre: f32,
    /// Largest corner.
    pub high: [f32; 3],
    /// What the largest integer of a gradient stands for, per metre; of a value it stands for 1.
    pub steepest: f32,
    /// Cells along each axis; one more node each.
    pub cells: [u32; 3],
    /// Its first node.
    pub first: u32,
}

/// Numbers of the level function; see `level.rs`.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C)]
#[allow(missing_docs)]
pub struct Constants {
    pub plane: f32,
    pub plane_depth: f32,
    pub step: f32,
    pub gap: f32,
    pub slope: f32,
    pub contact_transition: f32,
    pub facing: [f32; 2],
    pub full_fold_depth: f32,
    pub kept_depth: f32,
    pub crease_width: f32,
    pub near_enough: f32,
    pub least_steepness: f32,
    pub least_distance: f32,
    pub fold: [f32; 2],
    pub steps: u32,
    pub parts: u32,
    pub padding: [u32; 2],
}

/// A part in a pose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct PartInPose {
    /// Rows of bind-from-world.
    pub bind_from_world: [[f32; 4]; 3],
    /// Support radius, metres.
    pub radius: f32,
    /// First of its bone's segments, and how many.
    pub segments: [u32; 2],
    /// First of its bends.
    pub first_bend: u32,
    /// How many bends.
    pub bends: u32,
    /// Support radius at rest, metres.
    pub bone_radius: f32,
    /// Nothing.
    pub padding: [u32; 2],
}

/// A bent joint seen from one of its parts, in that part's bind space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct BendInPose {
    /// Where the joint is.
    pub at: [f32; 3],
    /// How much it is bent, 0 to 1.
    pub amount: f32,
    /// Unit, to where the other part has gone.
    pub inside: [f32; 3],
    /// The other part.
    pub other: u32,
}

/// A vertex to be projected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct AwakeVertex {
    /// Where it starts, world.
    pub from: [f32; 3],
    /// Share of every step it takes, 0 to 1.
    pub activity: f32,
    /// Where its offset is measured from.
    pub anchor: [f32; 3],
    /// Largest offset where nothing holds it, metres.
    pub max_offset: f32,
    /// Normal of its skin, unit.
    pub normal: [f32; 3],
    /// Largest offset that contact adds, metres.
    pub held_offset: f32,
    /// Value at rest.
    pub iso: f32,
    /// How near skinning alone makes the skin cross itself, 0 to 1.
    pub near_contact: f32,
    /// How deep skinning alone buries it in other skin, metres.
    pub depth: f32,
    /// Share of the gap kept, 0 to 1.
    pub gap: f32,
    /// Its part.
    pub part: u32,
    /// The part that the first crossing took it out of, or `u32::MAX`.
    pub taken_from: u32,
    /// First of the parts that reach it in [`Batch::near`], and how many.
    pub near: [u32; 2],
}

/// A part that reaches a vertex.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Near {
    /// The part.
    pub part: u32,
    /// Its value from which on it counts as contact.
    pub threshold: f32,
}

/// The vertices of a frame, and the parts around them.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    /// Every part.
    pub parts: Vec<PartInPose>,
    /// Two ends of every segment of the bones, world; the fourth number is nothing.
    pub segments: Vec<[Vec4; 2]>,
    /// Bent joints, part by part.
    pub bends: Vec<BendInPose>,
    /// The vertices.
    pub vertices: Vec<AwakeVertex>,
    /// Parts that reach them, vertex by vertex, ascending.
    pub near: Vec<Near>,
}

/// A vertex that was projected.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Projected {
    /// Where it ended, world.
    pub at: [f32; 3],
    /// The level function there, metres.
    pub h: f32,
    /// Its gradient.
    pub gradient: [f32; 3],
    /// 0 for free skin, 1 where contact holds it.
    pub held: f32,
    /// Value of the union of all fields.
    pub value: f32,
    /// Cosine between the gradients of its part and the one in contact; 1 for free skin.
    pub cosine: f32,
    /// The part in contact, or `u32::MAX`.
    pub partner: u32,
    /// How often the level function was asked for.
    pub evaluations: u32,
}

impl Tracker {
    /// What a projector needs to know beforehand; `None` where operators join parts, which it is not offered.
    pub fn fields(&self) -> Option<Fields> {
        if !self.model.joins.is_empty() {
            return None;
        }
        let mut nodes = Vec::new();
        let fields = self.model.fields.iter().map(|field| {
            let ([low, high], cells_per_metre, cells, steepest) = field.shape();
            let first = nodes.len() as u32;
            field.nodes_into(&mut nodes);
            let [low, high] = [low, high].map(|corner| corner.to_array());
            FieldShape { low, cells_per_metre, high, steepest, cells: cells.to_array(), first }
        });
        let fields: Vec<FieldShape> = fields.collect();
        let parts = fields.len() as u32;
        let pairs = (0..parts).flat_map(|a| (0..parts).map(move |b| (a, b)));
        let relations = pairs.map(|(a, b)| self.model.relation(a, b) as u32).collect();
        Some(Fields { fields, nodes, relations, constants: constants(&self.model) })
    }

    /// From now on awake vertices are projected there. Only the first call counts; false for others.
    pub fn offload(&self, projector: Arc<dyn Projector>) -> bool {
        self.projector.set(projector).is_ok()
    }

    /// Projects the awake vertices elsewhere; false if there is nowhere, or it could not.
    pub(super) fn project_elsewhere(&self, posed: &Posed, w: &mut Workspace, positions: &[Vec3A]) -> bool {
        let Some(projector) = self.projector.get() else { return false };
        if posed.layers.is_some() || !self.model.joins.is_empty() || w.awake.is_empty() {
            return false;
        }
        let mut batch = std::mem::take(&mut w.offload.batch);
        batch.fill(posed, w, positions);
        let mut projected = std::mem::take(&mut w.offload.projected);
        projected.clear();
        let done = projector.project(&batch, &mut projected) && projected.len() == w.awake.len();
        if done {
            for (i, result) in projected.iter().enumerate() {
                w.moved[i] = Vec3A::from_array(result.at);
                w.levels[i] = result.level();
                w.evaluations[i] += result.evaluations;
            }
        }
        (w.offload.batch, w.offload.projected) = (batch, projected);
        done
    }
}

/// Memory of batches and results, to be used again.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    batch: Batch,
    projected: Vec<Projected>,
}

impl Projected {
    fn level(&self) -> Level {
        Level {
            h: self.h,
            gradient: Vec3A::from_array(self.gradient),
            contact: self.partner != u32::MAX,
            held: self.held,
            value: self.value,
            cosine: self.cosine,
            partner: self.partner,
        }
    }
}

impl Batch {
    fn fill(&mut self, posed: &Posed, w: &Workspace, positions: &[Vec3A]) {
        let model = posed.model;
        let Self { parts, segments, bends, vertices, near } = self;
        parts.clear();
        segments.clear();
        bends.clear();
        vertices.clear();
        near.clear();
        for (k, part) in posed.parts.iter().enumerate() {
            let (first_segment, first_bend) = (segments.len() as u32, bends.len() as u32);
            segments.extend(part.segments().iter().map(|ends| ends.map(|p| p.extend(0.0))));
            bends.extend(posed.bends[k].iter().map(bend::Bend::in_pose));
            parts.push(PartInPose {
                bind_from_world: rows(&part.bind_from_world),
                radius: part.radius,
                segments: [first_segment, segments.len() as u32 - first_segment],
                first_bend,
                bends: bends.len() as u32 - first_bend,
                bone_radius: model.bones[k].radius,
                padding: [0; 2],
            });
        }
        let words = model.bones.len().div_ceil(64).max(1);
        for (awake, marks) in w.awake.iter().zip(w.awake_near.chunks(words)) {
            let v = awake.vertex as usize;
            let (part, first) = (model.part[v], near.len() as u32);
            let others = marked(marks).filter(|&k| k != part);
            near.extend(others.map(|k| Near { part: k, threshold: posed.threshold(v, awake.input.iso, k) }));
            vertices.push(AwakeVertex {
                from: positions[v].to_array(),
                activity: awake.activity,
                anchor: awake.anchor.to_array(),
                max_offset: awake.max_offset,
                normal: awake.input.normal.to_array(),
                held_offset: awake.radius,
                iso: awake.input.iso,
                near_contact: awake.input.near_contact,
                depth: awake.input.depth,
                gap: model.gap[v],
                part,
                taken_from: awake.input.taken_from,
                near: [first, near.len() as u32 - first],
            });
        }
    }
}

fn constants(model: &Model) -> Constants {
    let settings = &model.settings;
    Constants {
        plane: settings.plane,
        plane_depth: settings.depth,
        step: settings.step,
        gap: settings.gap,
        slope: level::SLOPE,
        contact_transition: level::CONTACT_TRANSITION,
        facing: level::FACING_RANGE,
        full_fold_depth: level::FULL_FOLD_DEPTH,
        kept_depth: level::KEPT_DEPTH,
        crease_width: level::CREASE_WIDTH,
        near_enough: level::NEAR_ENOUGH,
        least_steepness: level::LEAST_STEEPNESS,
        least_distance: 1e-6 * model.size,
        fold: bend::FOLD_RANGE,
        steps: project::PROJECTIONS,
        parts: model.bones.len() as u32,
        padding: [0; 2],
    }
}

fn rows(map: &Affine3A) -> [[f32; 4]; 3] {
    let matrix = map.matrix3.transpose();
    let row = |axis: Vec3A, offset: f32| axis.extend(offset).to_array();
    [
        row(matrix.x_axis, map.translation.x),
        row(matrix.y_axis, map.translation.y),
        row(matrix.z_axis, map.translation.z),
    ]
}
