//! Which tetrahedra of a state lie in each other, in themselves or in bones: what a person looks for in the
//! mesh when a scene starts overlapped.
//!
//! Three searches, since none finds everything: boundary triangles that pierce each other (two crossed bars), tetrahedra
//! whose middle is in another one (one body entirely inside another, or the same elements twice), and points of the collision
//! surfaces, which also know bones and how deep they are.

use super::super::boundary::Place;
use super::super::embed::Locator;
use super::super::model::Model;
use super::super::tet_mesh::boundary_faces;
use super::{Against, Contacts, Moment};
use crate::geom::adjacency::Lists;
use crate::geom::bvh::Bvh;
use crate::geom::intersect::edge_pierces;
use glam::{DVec3, Vec3};
use std::collections::{BTreeMap, BTreeSet};

/// Part of an element edge below which touching counts as rounding.
const ROUNDING: f64 = 1e-3;

/// What tetrahedra lie in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Within {
    /// A body of the model, possibly their own.
    Body(usize),
    /// A rigid obstacle.
    Obstacle(usize),
}

/// A body that lies in something.
#[derive(Clone, Debug, PartialEq)]
pub struct Intersection {
    /// The body.
    pub part: usize,
    /// What it lies in. Of two bodies the one with the larger number.
    pub within: Within,
    /// Tetrahedra of the body, counted within it, ascending.
    pub tets: Vec<usize>,
    /// Tetrahedra of the other body, counted within that; empty for obstacles and for a body in itself.
    pub others: Vec<usize>,
    /// Depth of the deepest collision point, metres; 0 where only edges cross or the pair is not tested.
    pub depth: f64,
}

/// Tetrahedra of a pair, in the model's numbers, and its depth.
#[derive(Default)]
struct Found {
    tets: BTreeSet<usize>,
    depth: f64,
}

impl Contacts {
    /// Intersections in a state. Self-intersections are always searched for, others where contact tests them.
    pub fn intersections(&self, moment: &Moment) -> Vec<Intersection> {
        let &Moment { model, positions, .. } = moment;
        let part = |surface: usize| self.surfaces[surface].part;
        let mut tested: BTreeSet<(usize, usize)> = (0..model.parts.len()).map(|p| (p, p)).collect();
        for &(surface, against) in &self.tests {
            if let Against::Surface(other) = against {
                tested.insert(ordered(part(surface), part(other)));
            }
        }
        let mut found: BTreeMap<(usize, Within), Found> = BTreeMap::new();
        pierced(model, positions, &tested, &mut found);
        entered(model, positions, &tested, &mut found);
        let around = tets_of_nodes(model);
        for overlap in self.overlaps(moment) {
            let own = part(overlap.surface);
            let (key, edge) = match overlap.against {
                Against::Obstacle(o) => ((own, Within::Obstacle(o)), model.parts[own].edge),
                Against::Surface(other) => {
                    let (first, second) = ordered(own, part(other));
                    ((first, Within::Body(second)), model.parts[own].edge.min(model.parts[part(other)].edge))
                }
            };
            if overlap.depth <= ROUNDING * edge {
                continue;
            }
            let pair = found.entry(key).or_default();
            pair.depth = pair.depth.max(overlap.depth);
            pair.tets.extend(carriers(
                model,
                &around,
                &self.surfaces[overlap.surface].places[overlap.vertex],
            ));
        }
        found.into_iter().map(|((first, within), pair)| intersection(model, first, within, &pair)).collect()
    }
}

fn ordered(a: usize, b: usize) -> (usize, usize) {
    (a.min(b), a.max(b))
}

fn intersection(model: &Model, part: usize, within: Within, pair: &Found) -> Intersection {
    let of = |part: usize| {
        let range = model.parts[part].tets.clone();
        pair.tets.range(range.clone()).map(|t| t - range.start).collect()
    };
    let others = match within {
        Within::Body(other) if other != part => of(other),
        _ => Vec::new(),
    };
    Intersection { part, within, tets: of(part), others, depth: pair.depth }
}

fn tets_of_nodes(model: &Model) -> Lists {
    let pairs: Vec<(u32, u32)> =
        model.tets.iter().enumerate().flat_map(|(t, tet)| tet.map(|n| (n, t as u32))).collect();
    Lists::group(model.rest.len(), &pairs)
}

/// Tetrahedra that have every node of a place: those around a node, or the one that holds an embedded point.
fn carriers<'a>(model: &'a Model, around: &'a Lists, place: &'a Place) -> impl Iterator<Item = usize> + 'a {
    around
        .get(place.nodes[0] as usize)
        .iter()
        .map(|&t| t as usize)
        .filter(move |&t| place.support().all(|(n, _)| model.tets[t].contains(&n)))
}

/// Tetrahedra whose boundary triangles pierce each other.
fn pierced(
    model: &Model,
    positions: &[DVec3],
    tested: &BTreeSet<(usize, usize)>,
    found: &mut BTreeMap<(usize, Within), Found>,
) {
    let (mut triangles, mut owner) = (Vec::new(), Vec::new());
    for part in &model.parts {
        for (face, tet) in boundary_faces(&model.tets[part.tets.clone()]) {
            triangles.push(face);
            owner.push(part.tets.start + tet as usize);
        }
    }
    let points: Vec<Vec3> = positions.iter().map(|p| p.as_vec3()).collect();
    let part_of: Vec<usize> = owner.iter().map(|&t| model.part_of_tet(t)).collect();
    let goes_through = |a: usize, b: usize| {
        let corners = triangles[b].map(|n| points[n as usize]);
        let [p, q, r] = corners.map(|p| p.as_dvec3());
        let normal = (q - p).cross(r - p).normalize_or_zero();
        let rounding = ROUNDING * model.parts[part_of[b]].edge;
        (0..3).any(|k| {
            let ends = [k, (k + 1) % 3].map(|k| points[triangles[a][k] as usize]);
            ends.iter().all(|e| (e.as_dvec3() - p).dot(normal).abs() > rounding)
                && edge_pierces(ends[0], ends[1], corners).is_some()
        })
    };
    let pairs = Bvh::over_triangles(&points, &triangles).self_pairs(|a, b| {
        let (a, b) = (a as usize, b as usize);
        tested.contains(&ordered(part_of[a], part_of[b])) && (goes_through(a, b) || goes_through(b, a))
    });
    for [a, b] in pairs {
        let (first, second) = ordered(part_of[a as usize], part_of[b as usize]);
        let pair = found.entry((first, Within::Body(second))).or_default();
        pair.tets.extend([owner[a as usize], owner[b as usize]]);
    }
}

/// Tetrahedra whose middle lies in another one.
fn entered(
    model: &Model,
    positions: &[DVec3],
    tested: &BTreeSet<(usize, usize)>,
    found: &mut BTreeMap<(usize, Within), Found>,
) {
    let locators: Vec<Locator> =
        model.parts.iter().map(|p| Locator::new(positions, &model.tets[p.tets.clone()])).collect();
    for &(first, second) in tested {
        let mut hits = BTreeSet::new();
        for (visitor, home) in [(first, second), (second, first)] {
            let range = model.parts[home].tets.clone();
            let tets = &model.tets[range.clone()];
            for own in model.parts[visitor].tets.clone() {
                let middle = model.corners(own, positions).into_iter().sum::<DVec3>() / 4.0;
                let foreign = |t: usize| range.start + t != own;
                let hit = locators[home].find(positions, tets, middle, foreign);
                if let Some((t, weights)) = hit
                    && weights.iter().all(|&w| w > ROUNDING)
                {
                    hits.extend([own, range.start + t]);
                }
            }
        }
        if !hits.is_empty() {
            found.entry((first, Within::Body(second))).or_default().tets.extend(hits);
        }
    }
}
