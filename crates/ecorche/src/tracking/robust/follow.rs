//! Stage `follow`: pieces that are not tracked go along with the correction of the skin they lie on.
//!
//! A correction is the way from where skinning takes a vertex to where it is in the end. A worn piece takes at each vertex the mean
//! correction of the nearest skin, less where they share few weights (the tail of a coat held by the hips ignores the thigh
//! beside it) and less with distance, smoothed along the piece, and goes out at least as far as that skin does. A rigid or loose piece moves as a whole, by the mean of
//! that over its area, if it lies on skin at all. All weights are fixed at bind.

use super::model::Model;
use crate::geom::Bvh;
use crate::geom::adjacency::Lists;
use crate::geom::bvh::Aabb;
use crate::parts::FOLLOWS;
use crate::pieces::{Pieces, Role};
use crate::tracking::VertexReport;
use glam::{Vec3, Vec3A};
use rayon::prelude::*;

// Lengths and counts are those of the prototype, tried on 31 characters and not varied.

/// Vertices of the skin that carry a following one.
const CARRIERS: usize = 12;
/// Of the size: distance from the skin up to which a piece takes its correction in full, and from which on not at all.
const FALL_OFF: [f32; 2] = [0.05, 0.15];
/// Of the size: carriers farther from a vertex than the nearest by about this count less.
const BLUR: f32 = 0.01;
/// Rounds of smoothing along a worn piece.
const SMOOTHINGS: usize = 8;
/// Rings over which cloth is lifted with what lies on skin that comes out.
const LIFT_SPREADS: usize = 2;
/// Share of its area over, under or inside skin from which on a rigid piece goes along with it.
const LIES_ON_SKIN: f32 = 1.0 / 3.0;

/// For each vertex that follows, the vertices it follows.
#[derive(Default)]
pub(super) struct Followers {
    /// Vertices of worn pieces, ascending.
    worn: Vec<u32>,
    /// Of each its carriers, in `carriers`.
    worn_starts: Vec<u32>,
    /// Of each its neighbours, as places in `worn`.
    ring: Lists,
    /// Pieces that move as a whole.
    wholes: Vec<Whole>,
    /// Vertices of the skin, each with the share of its correction.
    carriers: Vec<(u32, f32)>,
}

/// A piece that moves as a whole.
struct Whole {
    vertices: Vec<u32>,
    /// Its carriers, in `carriers`; their corrections sum up to the translation.
    from: u32,
    to: u32,
}

/// Buffers of [`Followers::carry`], kept from frame to frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    corrections: Vec<Vec3A>,
    smoothed: Vec<Vec3A>,
    lifts: Vec<Vec3A>,
    spread: Vec<Vec3A>,
}

impl Followers {
    /// Finds the nearest skin of every vertex without a part.
    pub fn new(model: &Model, pieces: &Pieces, triangles: &[[u32; 3]]) -> Self {
        let skin: Vec<u32> =
            (0..model.rest.len() as u32).filter(|&v| model.part[v as usize] != FOLLOWS).collect();
        let following: Vec<u32> =
            (0..model.rest.len() as u32).filter(|&v| model.part[v as usize] == FOLLOWS).collect();
        if skin.is_empty() || following.is_empty() {
            return Self::default();
        }
        let boxes: Vec<Aabb> = skin.iter().map(|&v| Aabb::around(&[model.rest[v as usize].into()])).collect();
        let tree = Bvh::new(&boxes);
        let is_whole = |v: &u32| matches!(pieces.role(*v as usize), Role::Rigid | Role::Loose);
        let moves = |v: &u32| !is_whole(v) || pieces.of(*v as usize).on_skin >= LIES_ON_SKIN;
        let lists: Vec<(u32, Vec<(u32, f32)>)> = following
            .into_par_iter()
            .filter(moves)
            .map(|v| (v, carriers(model, pieces, &skin, &tree, v)))
            .collect();
        let mut followers = Self { worn_starts: vec![0], ..Self::default() };
        let (mut place, mut whole_of_piece) = (vec![u32::MAX; model.rest.len()], vec![]);
        for (v, list) in lists.iter().filter(|(v, _)| !is_whole(v)) {
            place[*v as usize] = followers.worn.len() as u32;
            followers.worn.push(*v);
            followers.carriers.extend(list);
            followers.worn_starts.push(followers.carriers.len() as u32);
        }
        let mut rings: Vec<(u32, u32)> = Vec::new();
        for corners in triangles {
            for k in 0..3 {
                let [a, b] = [corners[k], corners[(k + 1) % 3]].map(|v| place[v as usize]);
                if a != b && a != u32::MAX && b != u32::MAX {
                    rings.extend([(a, b), (b, a)]);
                }
            }
        }
        rings.sort_unstable();
        rings.dedup();
        followers.ring = Lists::group(followers.worn.len(), &rings);
        let areas = vertex_areas(model, triangles);
        let wholes = lists.iter().filter(|(v, _)| is_whole(v));
        whole_of_piece.extend(wholes.map(|(v, list)| (pieces.piece_of_vertex[*v as usize], *v, list)));
        whole_of_piece.sort_by_key(|w| (w.0, w.1));
        for piece in whole_of_piece.chunk_by(|a, b| a.0 == b.0) {
            let total: f32 = piece.iter().map(|w| areas[w.1 as usize]).sum();
            let from = followers.carriers.len() as u32;
            let mut sums: Vec<(u32, f32)> = Vec::new();
            for (_, v, list) in piece {
                let share = areas[*v as usize] / total.max(f32::MIN_POSITIVE);
                sums.extend(list.iter().map(|&(k, weight)| (k, share * weight)));
            }
            sums.sort_by_key(|s| s.0);
            let sum = |run: &[(u32, f32)]| (run[0].0, run.iter().map(|s| s.1).sum::<f32>());
            followers.carriers.extend(sums.chunk_by(|a, b| a.0 == b.0).map(sum));
            let vertices = piece.iter().map(|w| w.1).collect();
            followers.wholes.push(Whole { vertices, from, to: followers.carriers.len() as u32 });
        }
        followers
    }

    /// Moves every follower. `skinned` gives the skinned position of a vertex, `normal` the unit normal of the skin there.
    pub fn carry(
        &self,
        positions: &mut [Vec3A],
        skinned: impl Fn(usize) -> Vec3A + Sync,
        normal: impl Fn(usize) -> Vec3A + Sync,
        scratch: &mut Scratch,
    ) {
        for whole in &self.wholes {
            let moved = self.correction(whole.from, whole.to, positions, &skinned);
            for &v in &whole.vertices {
                positions[v as usize] = skinned(v as usize) + moved;
            }
        }
        let Scratch { corrections, smoothed, lifts, spread } = scratch;
        let worn = 0..self.worn.len();
        let (tracked, task) = (&*positions, 256);
        let of = |i: usize| self.correction(self.worn_starts[i], self.worn_starts[i + 1], tracked, &skinned);
        worn.clone().into_par_iter().with_min_len(task).map(of).collect_into_vec(corrections);
        if corrections.iter().any(|&d| d != Vec3A::ZERO) {
            for _ in 0..SMOOTHINGS {
                let mean = |i: usize| {
                    let ring = self.ring.get(i);
                    let sum = ring.iter().fold(Vec3A::ZERO, |sum, &k| sum + corrections[k as usize]);
                    if ring.is_empty() {
                        return corrections[i];
                    }
                    0.5 * corrections[i] + sum * (0.5 / ring.len() as f32)
                };
                worn.clone().into_par_iter().with_min_len(task).map(mean).collect_into_vec(smoothed);
                std::mem::swap(corrections, smoothed);
            }
            let lift = |i: usize| self.lift(i, corrections[i], tracked, &skinned, &normal);
            worn.clone().into_par_iter().with_min_len(task).map(lift).collect_into_vec(lifts);
            for _ in 0..LIFT_SPREADS {
                let wider = |i: usize| {
                    let ring = self.ring.get(i);
                    let sum = ring.iter().fold(Vec3A::ZERO, |sum, &k| sum + lifts[k as usize]);
                    let mean = sum / ring.len().max(1) as f32;
                    if mean.length_squared() > lifts[i].length_squared() { mean } else { lifts[i] }
                };
                worn.clone().into_par_iter().with_min_len(task).map(wider).collect_into_vec(spread);
                std::mem::swap(lifts, spread);
            }
            corrections.iter_mut().zip(lifts.iter()).for_each(|(d, &lift)| *d += lift);
        }
        for (&v, &correction) in self.worn.iter().zip(&*corrections) {
            positions[v as usize] = skinned(v as usize) + correction;
        }
    }

    /// What the correction of a worn vertex lacks to go out as far as the skin under it does: cloth keeps its distance.
    fn lift(
        &self,
        i: usize,
        correction: Vec3A,
        positions: &[Vec3A],
        skinned: &impl Fn(usize) -> Vec3A,
        normal: &impl Fn(usize) -> Vec3A,
    ) -> Vec3A {
        let carriers = &self.carriers[self.worn_starts[i] as usize..self.worn_starts[i + 1] as usize];
        let most = carriers.iter().fold(0.0f32, |most, c| most.max(c.1)).max(f32::MIN_POSITIVE);
        let (mut lift, mut out) = (0.0f32, Vec3A::ZERO);
        for &(k, weight) in carriers {
            let normal = normal(k as usize);
            let lacks = (positions[k as usize] - skinned(k as usize) - correction).dot(normal);
            lift = lift.max(lacks * weight / most);
            out += normal * weight;
        }
        let lift = out.normalize_or_zero() * lift;
        if lift.is_finite() { lift } else { Vec3A::ZERO }
    }

    fn correction(
        &self,
        from: u32,
        to: u32,
        positions: &[Vec3A],
        skinned: &impl Fn(usize) -> Vec3A,
    ) -> Vec3A {
        let carriers = &self.carriers[from as usize..to as usize];
        let sum = carriers.iter().fold(Vec3A::ZERO, |sum, &(k, weight)| {
            sum + (positions[k as usize] - skinned(k as usize)) * weight
        });
        if sum.is_finite() { sum } else { Vec3A::ZERO }
    }

    /// A follower is as much in contact as the carrier that is most. No carrier is a follower.
    pub fn take_contact(&self, reports: &mut [VertexReport]) {
        let most = |from: u32, to: u32, reports: &[VertexReport]| {
            let carriers = self.carriers[from as usize..to as usize].iter().filter(|c| c.1 > 0.0);
            carriers.map(|c| reports[c.0 as usize].contact).fold(0.0, f32::max)
        };
        for (i, &v) in self.worn.iter().enumerate() {
            reports[v as usize].contact = most(self.worn_starts[i], self.worn_starts[i + 1], reports);
        }
        for whole in &self.wholes {
            let contact = most(whole.from, whole.to, reports);
            whole.vertices.iter().for_each(|&v| reports[v as usize].contact = contact);
        }
    }
}

/// The nearest vertices of the skin, each with the share of its correction that the vertex takes; empty far from the skin.
fn carriers(model: &Model, pieces: &Pieces, skin: &[u32], tree: &Bvh, v: u32) -> Vec<(u32, f32)> {
    let at = model.rest[v as usize];
    let on = &pieces.of(v as usize).on;
    let mut near: Vec<(u32, f32)> = Vec::with_capacity(CARRIERS);
    while near.len() < CARRIERS {
        let distance = |i: u32| {
            let k = skin[i as usize];
            let wanted = on.is_empty() || on.contains(&pieces.piece_of_vertex[k as usize]);
            let is_new = wanted && !near.iter().any(|n| n.0 == k);
            is_new.then(|| at.distance_squared(model.rest[k as usize]))
        };
        let Some((i, d)) = tree.nearest_item(Vec3::from(at), FALL_OFF[1] * model.size, distance) else {
            break;
        };
        near.push((skin[i as usize], d));
    }
    let Some(&(_, least)) = near.first() else { return near };
    let [full, none] = FALL_OFF.map(|share| share * model.size);
    let fall_off = 1.0 - super::pose::smoothstep((least - full) / (none - full));
    let blur = (least + BLUR * model.size).max(f32::MIN_POSITIVE);
    let weight = |d: f32| (-(d * d - least * least) / (2.0 * blur * blur)).exp();
    let total: f32 = near.iter().map(|n| weight(n.1)).sum();
    let shared = |k: u32| -> f32 {
        let other = model.influences_of(k as usize);
        let of = |joint: u32| other.iter().find(|i| i.0 == joint).map_or(0.0, |i| i.1);
        model.influences_of(v as usize).iter().map(|&(joint, w)| w.min(of(joint))).sum()
    };
    near.iter().map(|&(k, d)| (k, fall_off * weight(d) * shared(k) / total)).filter(|c| c.1 > 0.0).collect()
}

/// A third of the triangles around each vertex at rest, square metres.
fn vertex_areas(model: &Model, triangles: &[[u32; 3]]) -> Vec<f32> {
    let mut areas = vec![0.0; model.rest.len()];
    for corners in triangles {
        let [a, b, c] = corners.map(|v| model.rest[v as usize]);
        let third = (b - a).cross(c - a).length() / 6.0;
        corners.iter().for_each(|&v| areas[v as usize] += third);
    }
    areas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_follower_is_in_contact_where_any_of_its_carriers_is() {
        let followers = Followers {
            worn: vec![7],
            worn_starts: vec![0, 3],
            ring: Lists::group(1, &[]),
            wholes: Vec::new(),
            carriers: vec![(0, 0.5), (1, 0.5), (2, 0.0)],
        };
        let mut reports = vec![VertexReport::default(); 8];
        (reports[1].contact, reports[2].contact) = (0.6, 1.0);
        followers.take_contact(&mut reports);
        assert_eq!(reports[7].contact, 0.6, "the third carries nothing");
        let mut positions = vec![Vec3A::ZERO; 8];
        (positions[0], positions[1]) = (Vec3A::X, Vec3A::ZERO);
        let skinned = |v| if v == 7 { Vec3A::Y } else { Vec3A::ZERO };
        followers.carry(&mut positions, skinned, |_| Vec3A::Y, &mut Scratch::default());
        assert_eq!(positions[7], Vec3A::new(0.5, 1.0, 0.0));
    }
}
