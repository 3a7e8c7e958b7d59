//! Stage `skin`, its last part: where an operator joins two parts, the skin goes out by what the operator adds to their union.
//!
//! At a point with the parts' values a and b the operator has `g(a, b)`, the union `max(a, b)`. The difference, less what it is at
//! rest, times the slope of the field is how far the surface of the blend lies outside that of the union.

use super::level::SLOPE;
use super::model::Model;
use super::plate::Plate;
use super::pose::{PoseMemory, Posed};
use super::tracker::VERTICES_PER_TASK;
use crate::field::Sample;
use glam::{Affine3A, Mat3A, Vec3A};
use rayon::prelude::*;

/// In inner radii: most that an operator moves the skin.
const MOST: f32 = 0.5;

/// What operators add at rest.
#[derive(Clone, Debug, Default)]
pub(super) struct Blend {
    /// Vertices of joined parts, ascending, and what is added there, in values.
    at_rest: Vec<(u32, f32)>,
}

impl Blend {
    pub fn new(model: &Model) -> Self {
        if model.joins.is_empty() {
            return Self::default();
        }
        let still = vec![Affine3A::IDENTITY; model.part_of_joint.len()];
        let mut memory = PoseMemory::default();
        let at_rest = Posed::new(model, &still, None, &mut memory);
        let mut vertices = model.tracked.clone();
        vertices.sort_unstable();
        vertices.retain(|&v| model.joins.iter().any(|join| join.parts.contains(&model.part[v as usize])));
        let added = |&v: &u32| (v, added(&at_rest, v as usize, model.rest[v as usize]));
        Self { at_rest: vertices.par_iter().map(added).collect() }
    }

    /// Displaces skinned positions; `heights` is scratch.
    pub fn displace(
        &self,
        posed: &Posed,
        plate: &Plate,
        skinned: &mut [(Vec3A, Mat3A)],
        heights: &mut Vec<f32>,
    ) {
        let height = |&(v, rest): &(u32, f32)| {
            let v = v as usize;
            let most = MOST * plate.fineness[v] * plate.radius[v];
            let radius = posed.parts[posed.model.part[v] as usize].radius;
            let height = (added(posed, v, skinned[v].0) - rest) * SLOPE * radius;
            let limited = most * height / (most * most + height * height).sqrt().max(f32::MIN_POSITIVE);
            if limited.is_finite() { limited } else { 0.0 }
        };
        self.at_rest.par_iter().with_min_len(VERTICES_PER_TASK).map(height).collect_into_vec(heights);
        for (&(v, _), &height) in self.at_rest.iter().zip(heights.iter()) {
            let skinned = &mut skinned[v as usize];
            skinned.0 += skinned.1 * plate.normal[v as usize] * height;
        }
    }
}

/// The most that any operator of the vertex' part adds to the union at `x`, in values.
fn added(posed: &Posed, v: usize, x: Vec3A) -> f32 {
    let part = posed.model.part[v];
    let joins = posed.model.joins.iter().filter(|join| join.parts.contains(&part));
    joins.fold(0.0, |most, join| {
        let [a, b] = join.parts.map(|part| posed.sample(part, x));
        if a.value <= 0.0 || b.value <= 0.0 {
            return most;
        }
        let [first, second] = [a, b].map(|s| Sample { value: s.value, gradient: s.gradient.into() });
        most.max(join.composition.join(first, second).value - a.value.max(b.value))
    })
}
