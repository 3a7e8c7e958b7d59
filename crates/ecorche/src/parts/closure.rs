//! Where a part's skin is cut off from its neighbours', points that close it.
//!
//! The largest ball around the cut that still fits the body closes the part: the point where the ball leaves
//! it toward the neighbour, facing that way. The ball lies inside the skin, so a closure cannot stick out of
//! it. A wide cut (a palm, a hip) gets several balls.

use super::solid::{EMPTY, Face};
use crate::field::SurfaceSample;
use glam::Vec3;

/// A closure and the ball it comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Closure {
    /// The part beyond, or [`EMPTY`] where an open mesh ends.
    pub to: u32,
    /// Middle of the ball, on the cut.
    pub middle: Vec3,
    /// Unit, toward the neighbour.
    pub direction: Vec3,
    /// Its radius, metres.
    pub radius: f32,
    pub sample: SurfaceSample,
}

/// How many balls close a cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Spacing {
    /// Of the cut's largest ball: smaller ones are left out.
    pub smallest: f32,
    /// Of a ball's radius: no other starts closer.
    pub apart: f32,
}

impl Spacing {
    pub const USUAL: Self = Self { smallest: 0.45, apart: 1.5 };
    pub const DENSE: Self = Self { smallest: 0.3, apart: 1.0 };
}

/// Of the part's inner radius: a cut whose largest ball is smaller is left open, skin that is next to skin of
/// another part with little flesh in common.
pub(super) const LEAST_CUT: f32 = 0.25;
/// Of a ball's radius: how far the closure of an open end stands out of it. A whole one would be a dome where
/// the skin ends in a rim; none leaves the field flat, and its edge sharper than the samples can follow.
const OPEN_END: f32 = 0.2;
/// Of the larger ball's radius: a closure nearer to it than this says the same twice.
pub(super) const SAME: f32 = 0.5;

/// Most closures of a part, the largest: they are samples of the fit, whose time grows with the cube of their number. The athlete's
/// parts have 13 at most; those of a body stretched a thousand times to a sheet, a thousand.
const MOST: usize = 100;

/// The balls of one cut, largest first.
pub(super) fn balls(to: u32, faces: &[Face], inner_radius: f32, spacing: Spacing) -> Vec<Closure> {
    let mut order: Vec<usize> = (0..faces.len()).collect();
    order.sort_by(|&a, &b| faces[b].depth.total_cmp(&faces[a].depth).then(a.cmp(&b)));
    let mut left = vec![true; faces.len()];
    let mut closures = Vec::new();
    let Some(largest) = order.first().map(|&i| faces[i].depth) else { return closures };
    if largest < LEAST_CUT * inner_radius || largest <= 0.0 {
        return closures;
    }
    for i in order {
        let Face { point, depth, .. } = faces[i];
        if depth < spacing.smallest * largest || closures.len() == MOST {
            break;
        }
        if !left[i] {
            continue;
        }
        let reach = depth * depth;
        let sum = faces
            .iter()
            .filter(|f| f.point.distance_squared(point) <= reach)
            .fold(Vec3::ZERO, |sum, f| sum + f.direction);
        for (k, face) in faces.iter().enumerate() {
            if face.point.distance_squared(point) < reach * spacing.apart * spacing.apart {
                left[k] = false;
            }
        }
        let Some(direction) = sum.try_normalize() else { continue };
        let reach = if to == EMPTY { OPEN_END * depth } else { depth };
        let sample = SurfaceSample { position: point + reach * direction, normal: direction };
        closures.push(Closure { to, middle: point, direction, radius: depth, sample });
    }
    closures
}

/// Drops closures that lie beside a larger one; the rest, largest first, as many as a part may have.
pub(super) fn distinct(mut closures: Vec<Closure>) -> Vec<Closure> {
    closures.sort_by(|a, b| b.radius.total_cmp(&a.radius).then(a.to.cmp(&b.to)));
    let mut kept: Vec<Closure> = Vec::new();
    for closure in closures {
        if kept.len() == MOST {
            break;
        }
        let near = |k: &Closure| k.sample.position.distance(closure.sample.position) < SAME * k.radius;
        if !kept.iter().any(near) {
            kept.push(closure);
        }
    }
    kept
}

/// Of a ball's radius: a pivot with less skin around it is not inside the limb.
const PIVOT_CLEARANCE: f32 = 0.3;

impl Closure {
    /// Moves the ball to the joint it closes, if the joint is in it: bent about any other point, the dome
    /// would stick out of the limb.
    pub fn turn_about(&mut self, pivot: Vec3, clearance: f32) {
        if pivot.distance(self.middle) < self.radius && clearance > PIVOT_CLEARANCE * self.radius {
            self.sample.position = pivot + clearance * self.direction;
        }
    }

    /// Moves the closure toward the hinge until it lies within `reach` of it.
    pub fn stay_within(&mut self, hinge: Vec3, reach: f32) {
        let arm = self.sample.position - hinge;
        let length = arm.length();
        if length > reach {
            let outward = arm / length;
            self.sample.position = hinge + reach * outward;
            self.sample.normal = (self.direction + outward).try_normalize().unwrap_or(self.direction);
        }
    }
}
