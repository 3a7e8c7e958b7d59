//! All muscles and fat pads of one part as a single field.
//!
//! Composed by clean union in a fixed order, each only where the point lies in its box. Joined to the part's own
//! field by [`crate::field::operator::Detail`], part first.

use crate::field::operator::{CleanUnion, Operator};
use crate::field::{Field, Sample, Support};
use glam::Vec3;
use std::sync::Arc;

/// Fields composed into one.
#[derive(Clone, Default)]
pub struct Layer {
    members: Vec<(Support, Arc<dyn Field>)>,
}

impl std::fmt::Debug for Layer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Layer({} fields)", self.members.len())
    }
}

impl Layer {
    /// The fields, in the order they are composed.
    pub fn new(fields: impl IntoIterator<Item = Arc<dyn Field>>) -> Self {
        Self { members: fields.into_iter().map(|field| (field.support(), field)).collect() }
    }

    /// How many fields.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is nothing under this part.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }
}

impl Field for Layer {
    fn sample(&self, point: Vec3) -> Sample {
        let mut joined = Sample::OUTSIDE;
        for (support, field) in &self.members {
            if !support.contains(point) {
                continue;
            }
            let next = field.sample(point);
            if next.value <= 0.0 {
                continue;
            }
            if joined.value <= 0.0 {
                joined = next;
                continue;
            }
            let union = CleanUnion::default().compose(f64::from(joined.value), f64::from(next.value), 0.0);
            joined = Sample {
                value: union.value as f32,
                gradient: union.da as f32 * joined.gradient + union.db as f32 * next.gradient,
            };
        }
        joined
    }

    fn support(&self) -> Support {
        let empty = Support { low: Vec3::ZERO, high: Vec3::ZERO };
        self.members
            .iter()
            .map(|(support, _)| *support)
            .reduce(|a, b| Support { low: a.low.min(b.low), high: a.high.max(b.high) })
            .unwrap_or(empty)
    }
}

/// Which parts a field lies under at rest: those with a skin vertex it reaches. `part_of_vertex` says the part
/// of each point.
pub fn parts_reached(field: &dyn Field, points: &[Vec3], part_of_vertex: &[u32], parts: usize) -> Vec<bool> {
    let support = field.support();
    let mut reached = vec![false; parts];
    for (&point, &part) in points.iter().zip(part_of_vertex) {
        let slot = &mut reached[part as usize];
        *slot = *slot || (support.contains(point) && field.sample(point).value > 0.0);
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamics::Rigid;
    use crate::field::conformance::scatter;
    use crate::muscle::FatPad;
    use glam::DVec3;

    fn pad(x: f64) -> FatPad {
        let world_from_pad = Rigid { translation: DVec3::X * x, ..Rigid::IDENTITY };
        FatPad { world_from_pad, radii: DVec3::splat(0.05) }
    }

    #[test]
    fn the_surface_is_the_unions_and_the_gradient_the_slope() {
        let pads = [pad(0.0), pad(0.07), pad(0.5)];
        let layer = Layer::new(pads.iter().map(|p| Arc::new(*p) as Arc<dyn Field>));
        let near = Support { low: Vec3::splat(-0.1), high: Vec3::new(0.17, 0.1, 0.1) };
        let mut both = 0;
        for p in scatter(near, 800) {
            let (sample, most) = (layer.sample(p), pads.iter().fold(0.0f32, |m, f| m.max(f.sample(p).value)));
            assert_eq!(sample.value > 0.5 + 1e-5, most > 0.5 + 1e-5, "{p}: {} {most}", sample.value);
            both += usize::from(pads[0].sample(p).value > 0.0 && pads[1].sample(p).value > 0.0);
            let h = 5e-4;
            let slope = [Vec3::X, Vec3::Y, Vec3::Z]
                .map(|a| (layer.sample(p + a * h).value - layer.sample(p - a * h).value) / (2.0 * h));
            let kink = (pads[0].sample(p).value - pads[1].sample(p).value).abs() < 0.03;
            assert!(kink || sample.gradient.distance(Vec3::from_array(slope)) < 0.6, "{p}");
        }
        assert!(both > 100);
        assert_eq!(layer.sample(Vec3::Z), Sample::OUTSIDE);
        assert_eq!(Layer::default().sample(Vec3::ZERO), Sample::OUTSIDE);
    }

    #[test]
    fn a_pad_lies_under_the_part_whose_vertices_it_reaches() {
        let points = [Vec3::X * 0.06, Vec3::X * 0.3];
        assert_eq!(parts_reached(&pad(0.0), &points, &[1, 0], 3), [false, true, false]);
    }
}
