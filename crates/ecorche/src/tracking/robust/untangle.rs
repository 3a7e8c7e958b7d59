//! The last crossing triangles are smoothed apart.
//!
//! Around every triangle that crosses another the skin is drawn to the mean of its neighbours, a little each round, and
//! only where triangles still cross. The first round looks at all triangles that tracking moved, the later ones
//! at those that the round before moved.

use super::model::{Bone, Model};
use super::pose::smoothstep;
use crate::geom::adjacency::{Adjacency, Lists};
use crate::geom::burial::{self, Sheet};
use crate::geom::{SelfContact, TriMesh};
use crate::parts::FOLLOWS;
use glam::{Vec3, Vec3A};

/// Share of the way to the mean taken at a time, at the crossing itself.
const SMOOTHING: f32 = 0.5;
/// In inner radii: how far around a crossing the skin moves along, falling to nothing.
const SPREAD: f32 = 0.5;
/// Rings that the spread may take.
const RINGS: usize = 4;
/// Rounds after which a crossing that is still there is smoothed once more per round and half as far again around:
/// CesiumMan needs four
/// gentle rounds, which cost no volume where strong ones cost 5 %; the hands of mh_base stay tangled without force.
const PATIENCE: u32 = 6;
/// In inner radii along the skin: how far from what skinning alone buries contact is looked for. Three radii opened the
/// athlete's shoulder around a crossing in the armpit; less than 1 was not tried.
const PRESSED: f32 = 1.0;

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

impl Scratch {
    /// Spreads strength outward from `front`, falling by 1 over `reach` times the length of the bone that `unit` gives,
    /// for at most `rings` rings; ring by ring, in the order of the vertices.
    fn spread(
        &mut self,
        model: &Model,
        mut front: Vec<u32>,
        rings: usize,
        reach: f32,
        unit: impl Fn(&Bone) -> f32,
    ) {
        let mut ring = 0;
        while ring < rings && !front.is_empty() {
            front.sort_unstable();
            front.dedup();
            let mut next = Vec::new();
            for &v in &front {
                let (index, level) = (v as usize, self.strength[v as usize]);
                let reach = reach * unit(&model.bones[model.part[index] as usize]);
                for (k, _) in model.mean.of(index) {
                    let length = model.rest[index].distance(model.rest[k as usize]);
                    let least = 1e-3;
                    self.raise(
                        model,
                        k,
                        level - (length / reach.max(f32::MIN_POSITIVE)).max(least),
                        &mut next,
                    );
                }
            }
            front = next;
            ring += 1;
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
    triangles_of_vertex: Lists,
    /// Pairs that cross at rest, ascending.
    at_rest: Vec<[u32; 2]>,
    cover_at_rest: Vec<Option<i32>>,
    vertex_ring: Lists,
    component_of_vertex: Vec<u32>,
}

impl Untangler {
    /// Looks at the surface at rest.
    pub fn new(mesh: &TriMesh, contact: &mut SelfContact) -> Self {
        let adjacency = Adjacency::new(mesh);
        let (component_of_vertex, _) = adjacency.components();
        let crossings = contact.find(&mesh.positions);
        let sheet = Sheet {
            triangles: &mesh.triangles,
            vertex_ring: &adjacency.vertex_ring,
            triangles_of_vertex: &adjacency.triangles_of_vertex,
            component_of_vertex: &component_of_vertex,
            group_of_vertex: &component_of_vertex,
        };
        let cover_at_rest = burial::cover(&sheet, &mesh.positions, &crossings, contact.bvh()).cover;
        Self {
            at_rest: crossings.pairs,
            cover_at_rest,
            triangles_of_vertex: adjacency.triangles_of_vertex,
            vertex_ring: adjacency.vertex_ring,
            component_of_vertex,
        }
    }

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
            self.smooth(model, contact, &pairs, round / PATIENCE, scratch);
        }
        if let Some((pairs, positions)) = best {
            report.pairs_after = pairs;
            if report.pairs_before > 0 {
                x.iter_mut().zip(positions).for_each(|(x, p)| *x = p.into());
            }
        }
        report
    }

    /// For each vertex how near it is, along the skin, to where `skinned` makes the skin cross itself and rest does not:
    /// 1 at the crossing and inside it, 0 from [`PRESSED`] inner radii on.
    pub fn find_pressed(
        &self,
        model: &Model,
        contact: &mut SelfContact,
        skinned: impl Iterator<Item = Vec3A>,
        pressed: &mut Vec<f32>,
        scratch: &mut Scratch,
    ) {
        scratch.positions.clear();
        scratch.positions.extend(skinned.map(Vec3::from));
        scratch.strength.clear();
        scratch.strength.resize(model.rest.len(), 0.0);
        scratch.touched.clear();
        let crossings = contact.find(&scratch.positions);
        let new = crossings.pairs.iter().filter(|pair| self.at_rest.binary_search(pair).is_err());
        let mut front = Vec::new();
        for v in new.chain(&crossings.folds).flatten().flat_map(|&t| contact.triangles()[t as usize]) {
            scratch.raise(model, v, 1.0, &mut front);
        }
        if !front.is_empty() {
            let sheet = Sheet {
                triangles: contact.triangles(),
                vertex_ring: &self.vertex_ring,
                triangles_of_vertex: &self.triangles_of_vertex,
                component_of_vertex: &self.component_of_vertex,
                group_of_vertex: &self.component_of_vertex,
            };
            let found = burial::cover(&sheet, &scratch.positions, &crossings, contact.bvh());
            for (v, (cover, rest)) in found.cover.iter().zip(&self.cover_at_rest).enumerate() {
                if cover.is_some_and(|c| c != rest.unwrap_or(0)) {
                    scratch.raise(model, v as u32, 1.0, &mut front);
                }
            }
        }
        scratch.spread(model, front, usize::MAX, PRESSED, |bone| bone.inner_radius);
        pressed.clear();
        // Full up to half the way.
        pressed.extend(scratch.strength.iter().map(|&s| smoothstep(2.0 * s)));
        scratch.strength.iter_mut().for_each(|s| *s = 0.0);
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

    fn smooth(
        &self,
        model: &Model,
        contact: &SelfContact,
        pairs: &[[u32; 2]],
        force: u32,
        scratch: &mut Scratch,
    ) {
        scratch.touched.clear();
        let mut front = Vec::new();
        for v in pairs.iter().flatten().flat_map(|&t| contact.triangles()[t as usize]) {
            scratch.raise(model, v, 1.0, &mut front);
        }
        let reach = SPREAD * (1.0 + 0.5 * force as f32);
        scratch.spread(model, front, RINGS + force as usize, reach, |bone| bone.inner_radius);
        scratch.touched.sort_unstable();
        let Scratch { positions, strength, touched, moved, .. } = scratch;
        for _ in 0..=force {
            moved.clear();
            moved.extend(touched.iter().map(|&v| {
                let here = positions[v as usize];
                let mean = model.mean.mean(v as usize, positions).unwrap_or(here);
                here + (mean - here) * (SMOOTHING * strength[v as usize])
            }));
            touched.iter().zip(moved.iter()).for_each(|(&v, &p)| positions[v as usize] = p);
        }
        touched.iter().for_each(|&v| strength[v as usize] = 0.0);
        let touched = std::mem::take(&mut scratch.touched);
        self.list_triangles(touched.iter().copied(), scratch);
        scratch.touched = touched;
    }
}
