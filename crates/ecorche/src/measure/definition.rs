//! How much of the muscles' change of thickness reaches the skin.
//!
//! Skin that lies over the belly of a superficial muscle at bind is watched. With t how far the muscle reaches from its axis towards a
//! vertex, g by how much it reaches farther than at bind, and h how far the skin is outside the skinning it starts from, the
//! figure is the sum of g h over the sum of g g, over free skin where muscles got thicker: 1 if the skin rises by what they grow.

use crate::field::Field;
use crate::geom::TriMesh;
use crate::muscle::{Flesh, Musculature, PosedMuscle, Shape};
use glam::{DVec3, Vec3};
use rayon::prelude::*;
use serde::Serialize;

/// Of its reach: a muscle no deeper than this under the skin is superficial.
const SUPERFICIAL: f64 = 0.5;
/// Of its largest thickness: a muscle that is thicker is belly.
const BELLY: f64 = 0.6;
/// Metres at human size: growth below this is not looked at.
const LEAST_GROWTH: f64 = 1e-3;

/// Skin over the bellies of superficial muscles.
#[derive(Clone, Debug, Default)]
pub struct Bellies {
    watched: Vec<Watched>,
    least: f64,
}

#[derive(Clone, Copy, Debug)]
struct Watched {
    vertex: u32,
    fibre: u32,
    /// How far the fibre reaches towards it at bind, metres.
    reach: f64,
}

/// A muscle that grew, as a report has it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ShownMuscle {
    /// Name with side.
    pub muscle: String,
    /// How much thicker it is than at bind where it grew most, millimetres.
    pub growth: f64,
    /// How far the skin rises there, millimetres.
    pub risen: f64,
}

/// How muscles show in one frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// What of the muscles' growth arrives at the skin; `None` if none grows.
    pub definition: Option<f64>,
    /// Of every muscle that grew: its index, how much thicker it is than at bind where it got thickest, and how far the skin
    /// rises there, metres.
    pub muscles: Vec<(usize, [f64; 2])>,
}

impl Bellies {
    /// Finds them on a skin at bind.
    pub fn new(musculature: &Musculature, skin: &TriMesh) -> Self {
        let flesh = musculature.at_bind();
        let watch = |(vertex, p): (usize, &Vec3)| {
            let p = p.as_dvec3();
            let mut best: Option<(f64, Watched)> = None;
            for (fibre, muscle) in flesh.muscles.iter().enumerate() {
                let shape = &*muscle.shape;
                if !shape.support().contains(p.as_vec3()) {
                    continue;
                }
                let Some((distance, reach, s)) = seen_from(shape, p) else { continue };
                let thickest = (0..=20).map(|i| shape.thickness(f64::from(i) / 20.0)).fold(0.0, f64::max);
                let is_belly = shape.thickness(s) > BELLY * thickest;
                if is_belly && distance < SUPERFICIAL * reach && best.is_none_or(|b| distance < b.0) {
                    best = Some((distance, Watched { vertex: vertex as u32, fibre: fibre as u32, reach }));
                }
            }
            best.map(|b| b.1)
        };
        let watched: Vec<Option<Watched>> =
            skin.positions.par_iter().enumerate().with_min_len(64).map(watch).collect();
        Self { watched: watched.into_iter().flatten().collect(), least: LEAST_GROWTH * musculature.scale() }
    }

    /// What shows of `flesh`, as it is before it yields to the skin. `start`: the skinning that the skin starts from;
    /// `is_free`: whether a vertex touches nothing.
    pub fn shown(
        &self,
        flesh: &Flesh,
        start: &TriMesh,
        positions: &[Vec3],
        is_free: impl Fn(usize) -> bool + Sync,
    ) -> Shown {
        let normals = start.normals();
        let look = |watched: &Watched| {
            let v = watched.vertex as usize;
            let muscle: &PosedMuscle = flesh.muscles.get(watched.fibre as usize)?;
            let (_, reach, _) =
                seen_from(&muscle.shape, start.positions[v].as_dvec3()).filter(|_| is_free(v))?;
            let risen = (positions[v] - start.positions[v]).dot(normals[v]);
            Some((muscle.muscle, reach - watched.reach, f64::from(risen)))
        };
        let seen: Vec<Option<(usize, f64, f64)>> =
            self.watched.par_iter().with_min_len(64).map(look).collect();
        let (mut shown, mut sums) = (Shown::default(), [0.0f64; 2]);
        let mut most: std::collections::BTreeMap<usize, [f64; 2]> = std::collections::BTreeMap::new();
        for (muscle, growth, risen) in seen.into_iter().flatten() {
            if growth > self.least {
                sums = [sums[0] + growth * risen, sums[1] + growth * growth];
            }
            if growth > self.least {
                let known = most.entry(muscle).or_insert([growth, risen]);
                if growth > known[0] {
                    *known = [growth, risen];
                }
            }
        }
        shown.definition = (sums[1] > 0.0).then(|| sums[0] / sums[1]);
        shown.muscles.extend(most);
        shown
    }
}

/// Distance from a point to the shape, how far the shape reaches from its axis towards the point, and where along it.
fn seen_from(shape: &Shape, point: DVec3) -> Option<(f64, f64, f64)> {
    let far = 3.0 * shape.thickest();
    let near = shape.near(point, far)?;
    let (_, foot) = shape.foot(point, far)?;
    Some((near.distance, foot.distance(point) - near.distance, near.s))
}
