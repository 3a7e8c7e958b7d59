//! The last crossing triangles are smoothed apart.
//!
//! Around every triangle that crosses another the skin is drawn to the mean of its neighbours, a little each round, and
//! only where triangles still cross. The first round looks at all triangles that tracking moved, the later ones
//! at those that the round before moved.

use super::model::Model;
use crate::geom::SelfContact;
use crate::geom::adjacency::Lists;
use crate::parts::FOLLOWS;
use glam::{Vec3, Vec3A};

/// Share of the way to the mean taken in a round, at the crossing itself.
const SMOOTHING: f32 = 0.5;
/// In inner radii: how far around a crossing the skin moves along, falling to nothing.
const SPREAD: f32 = 0.5;
/// Rings that the spread may take.
const RINGS: usize = 4;

#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    positions: Vec<Vec3>,
    strength: Vec<f32>,
    touched: Vec<u32>,
    triangles: Vec<u32>,
    is_listed: Vec<bool>,
    moved: Vec<Vec3>,
}

impl Scratch {
    /// Raises the strength of a vertex; `front` hears of it.
    fn raise(&mut self, model: &Model, v: u32, to: f32, front: &mut Vec<u32>) {
        let strength = &mut self.strength[v as usize];
        if to > *strength && model.part[v as usize] != FOLLOWS {
            if *strength == 0.0 {
                self.touched.push(v);
            }
            *strength = to;
            front.push(v);
        }
    }
}

/// What untangling did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Untangled {
    pub pairs_before: usize,
    pub pairs_after: usize,
    pub rounds: u32,
}

/// What is asked again in every frame.
pub(super) struct Untangler {
    /// Triangles around each vertex.
    pub triangles_of_vertex: Lists,
    /// Pairs that cross at rest, ascending.
    pub at_rest: Vec<[u32; 2]>,
}

impl Untangler {
    /// Smooths until nothing new crosses, or `most_rounds` are done; keeps the best state seen.
    pub fn untangle(
        &self,
        model: &Model,
        contact: &mut SelfContact,
        awake: impl Iterator<Item = u32>,
        x: &mut [Vec3A],
        scratch: &mut Scratch,
    ) -> Untangled {
        let mut report = Untangled::default();
        scratch.positions.clear();
        scratch.positions.extend(x.iter().map(|&p| Vec3::from(p)));
        scratch.strength.resize(x.len(), 0.0);
        scratch.is_listed.resize(contact.triangles().len(), false);
        self.list_triangles(awake, scratch);
        let mut best: Option<(usize, Vec<Vec3>)> = None;
        for round in 0..=model.settings.untangling {
            let mut pairs = contact.find_among(&scratch.positions, &scratch.triangles).pairs;
            pairs.retain(|pair| self.at_rest.binary_search(pair).is_err());
            if round == 0 {
                report.pairs_before = pairs.len();
            }
            report.rounds = round;
            if pairs.is_empty() || best.as_ref().is_none_or(|b| pairs.len() < b.0) {
                best = Some((pairs.len(), scratch.positions.clone()));
            }
            if pairs.is_empty() {
                break;
            }
            self.smooth(model, contact, &pairs, scratch);
        }
        if let Some((pairs, positions)) = best {
            report.pairs_after = pairs;
            if report.pairs_before > 0 {
                x.iter_mut().zip(positions).for_each(|(x, p)| *x = p.into());
            }
        }
        report
    }

    /// Fills in the triangles around `vertices`, ascending.
    fn list_triangles(&self, vertices: impl Iterator<Item = u32>, scratch: &mut Scratch) {
        scratch.triangles.clear();
        for &t in vertices.flat_map(|v| self.triangles_of_vertex.get(v as usize)) {
            if !std::mem::replace(&mut scratch.is_listed[t as usize], true) {
                scratch.triangles.push(t);
            }
        }
        scratch.triangles.sort_unstable();
        scratch.triangles.iter().for_each(|&t| scratch.is_listed[t as usize] = false);
    }

    fn smooth(&self, model: &Model, contact: &SelfContact, pairs: &[[u32; 2]], scratch: &mut Scratch) {
        scratch.touched.clear();
        let mut front = Vec::new();
        for v in pairs.iter().flatten().flat_map(|&t| contact.triangles()[t as usize]) {
            scratch.raise(model, v, 1.0, &mut front);
        }
        // Outward ring by ring, in the order of the vertices.
        for _ in 0..RINGS {
            front.sort_unstable();
            front.dedup();
            let mut next = Vec::new();
            for &v in &front {
                let (index, level) = (v as usize, scratch.strength[v as usize]);
                let reach = SPREAD * model.bones[model.part[index] as usize].inner_radius;
                for (k, _) in model.mean.of(index) {
                    let length = model.rest[index].distance(model.rest[k as usize]);
                    scratch.raise(model, k, level - length / reach.max(f32::MIN_POSITIVE), &mut next);
                }
            }
            front = next;
        }
        scratch.touched.sort_unstable();
        let Scratch { positions, strength, touched, moved, .. } = scratch;
        moved.clear();
        moved.extend(touched.iter().map(|&v| {
            let here = positions[v as usize];
            let mean = model.mean.mean(v as usize, positions).unwrap_or(here);
            here + (mean - here) * (SMOOTHING * strength[v as usize])
        }));
        for (&v, &p) in touched.iter().zip(moved.iter()) {
            positions[v as usize] = p;
            strength[v as usize] = 0.0;
        }
        let touched = std::mem::take(&mut scratch.touched);
        self.list_triangles(touched.iter().copied(), scratch);
        scratch.touched = touched;
    }
}
