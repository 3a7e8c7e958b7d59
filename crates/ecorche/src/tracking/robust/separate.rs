//! Untangling, one round: folds are smoothed, limbs are pushed apart.

use super::bone::Relation;
use super::lengths;
use super::model::Model;
use super::rest_surface::RestSurface;
use super::scratch::Scratch;
use super::untangle::Start;
use crate::geom::intersect::{crossing_depth, edge_pierces, triangles_meet};
use crate::parts::FOLLOWS;
use glam::{Mat3A, Vec3, Vec3A};

/// In how many steps a round goes its way. In one, the knees of the crouching Rocketbox man jump by a centimetre at 13 vertices a
/// frame while he holds still, in four at 2. With the most force it is one: otherwise the paws of the running fox stay tangled.
const STEPS: usize = 4;
/// Share of the way to the mean taken in a round, at the crossing itself: of folds, and of limbs after a push.
/// Limbs smoothed like folds shrink instead of separating: the athlete's fist kept 47 crossings.
const SMOOTHING: f32 = 0.5;
const PUSHED_SMOOTHING: f32 = 0.2;
/// In inner radii: how far around a crossing the skin moves too, less with the distance.
const SPREAD_REACH: f32 = 0.5;
/// Rings that the spread may take.
const SPREAD_RINGS: usize = 4;
/// Rounds after which a crossing that is still there is smoothed one more time per round and farther around: CesiumMan
/// needs four gentle rounds, which cost no volume where strong ones cost 5 %; the hands of mh_base stay tangled
/// without force. With 3 they did too, with 6 they took twice the rounds.
pub(super) const ROUNDS_PER_FORCE: u32 = 4;
/// Rings over which a push is carried on.
const PUSHED_RINGS: usize = 8;
/// Force grows no further: at 15 a cylinder bent by 150 degrees and twisted by 80 lost 29 % of its volume to two
/// triangles.
pub(super) const MOST_FORCE: u32 = 4;
/// Force from which on folds are pushed apart like limbs.
const FOLD_PUSH_FORCE: u32 = 2;
/// In strides: how far a crossing triangle goes in one round to shorten its contour. At 0.1 the hand's fist takes
/// twice the rounds; with inner radii for strides lips and lids were pushed as far as the head is thick.
const CONTOUR_STEP: f32 = 0.15;
/// In mean edges: depth of a crossing from which on it is separated with full strength. A shallower one needs less, and what
/// only starts to cross must not jump: at full strength always, the fist moves 25 times as far as the skeleton in single frames and
/// the fox's walk 3.3 times; at 1 the fox keeps crossings.
const FULL_STRENGTH_DEPTH: f32 = 0.5;
/// In inner radii: depth that every crossing is taken to have at least, doubled with each unit of force. At 0.1 and at 0.4 the
/// dying cow's skin moves 3 times as far as the skeleton within 2 % of its size, at 0.3 it is 1.8 times.
const LEAST_DEPTH: f32 = 0.3;
/// Steps that spread short edges and draw in long ones, each round.
const LENGTH_STEPS: usize = 2;
/// Sine between edge and triangle below which the edge counts as lying in it.
const LEAST_SLOPE: f32 = 0.1;

/// Crossing pairs by what is done about them.
#[derive(Clone, Debug, Default)]
pub(super) struct Kinds {
    own_making: Vec<[u32; 2]>,
    folds: Vec<[u32; 2]>,
    limbs: Vec<[u32; 2]>,
}

impl RestSurface {
    /// One round: folds are smoothed, limbs pushed apart. Lists the triangles it moved, and in `moved` the vertices, ascending.
    pub(super) fn separate(
        &self,
        model: &Model,
        pairs: &mut Vec<[u32; 2]>,
        start: &Start,
        force: u32,
        scratch: &mut Scratch,
        moved: &mut Vec<u32>,
    ) {
        moved.clear();
        let steps = if force >= MOST_FORCE { 1 } else { STEPS };
        for step in 0..steps {
            if step > 0 {
                let at = |t: u32| self.triangles[t as usize].map(|v| scratch.positions[v as usize]);
                pairs.retain(|&[a, b]| triangles_meet(at(a), at(b)));
            }
            if !pairs.is_empty() {
                self.step_apart(model, pairs, start, force, 1.0 / steps as f32, scratch, moved);
            }
        }
        moved.sort_unstable();
        moved.dedup();
        self.list_triangles(moved.iter().copied(), scratch);
    }

    /// Smooths folds and pushes limbs apart by a share of a round; adds the vertices it moved to `moved`.
    fn step_apart(
        &self,
        model: &Model,
        pairs: &[[u32; 2]],
        start: &Start,
        force: u32,
        share: f32,
        scratch: &mut Scratch,
        moved: &mut Vec<u32>,
    ) {
        let part = |t: u32| model.part[self.triangles[t as usize][0] as usize];
        let is_fold = |&[a, b]: &[u32; 2]| {
            let (a, b) = (part(a), part(b));
            a == b
                || a != FOLLOWS
                    && b != FOLLOWS
                    && matches!(model.relation(a, b), Relation::Same | Relation::Joint)
        };
        // Skinning alone does not cross there: tracking made it, and goes back.
        let is_own_making = |pair: &[u32; 2]| {
            let near_contact =
                |&t: &u32| self.triangles[t as usize].iter().any(|&v| start.near_contact[v as usize] > 0.0);
            !pair.iter().any(near_contact)
        };
        let mut kinds = std::mem::take(&mut scratch.kinds);
        let Kinds { own_making, folds, limbs } = &mut kinds;
        [&mut *own_making, folds, limbs].into_iter().for_each(Vec::clear);
        for pair in pairs {
            match (is_own_making(pair), is_fold(pair)) {
                (true, _) => own_making.push(*pair),
                (false, true) => folds.push(*pair),
                (false, false) => limbs.push(*pair),
            }
        }
        if force >= FOLD_PUSH_FORCE {
            limbs.extend_from_slice(folds);
        }
        if !own_making.is_empty() {
            self.mark(model, own_making, SPREAD_REACH * (1.0 + force as f32), force, scratch);
            scratch.retreat(start.skinned, share * SMOOTHING);
            scratch.keep_lengths(model);
            scratch.unmark(moved);
        }
        if !folds.is_empty() {
            self.mark(model, folds, SPREAD_REACH * (1.0 + 0.5 * force as f32), force, scratch);
            (0..=force).for_each(|_| scratch.smooth(model, share * SMOOTHING));
            scratch.keep_lengths(model);
            scratch.unmark(moved);
        }
        if !limbs.is_empty() {
            self.shorten_contours(model, limbs, scratch);
            self.mark(model, limbs, SPREAD_REACH * (1.0 + force as f32), force, scratch);
            scratch.push(model, share);
            scratch.smooth(model, share * PUSHED_SMOOTHING);
            scratch.keep_lengths(model);
            scratch.unmark(moved);
        }
        scratch.kinds = kinds;
    }

    /// Gives the vertices of crossing triangles a strength, 1 for deep crossings, and those around them less.
    fn mark(&self, model: &Model, pairs: &[[u32; 2]], reach: f32, force: u32, scratch: &mut Scratch) {
        scratch.crosses.resize(scratch.positions.len(), false);
        scratch.front.clear();
        for pair in pairs {
            let corners = pair.map(|t| self.triangles[t as usize]);
            let [a, b] = corners.map(|t| t.map(|v| scratch.positions[v as usize]));
            let [edge_a, edge_b] = corners.map(|t| {
                let [p, q, r] = t.map(|v| model.rest[v as usize]);
                (p.distance(q) + q.distance(r) + r.distance(p)) / 3.0
            });
            let has_part = |v: &&u32| model.part[**v as usize] != FOLLOWS;
            let inner = corners.iter().flatten().filter(has_part);
            let inner = inner.map(|&v| model.inner_radius(v)).fold(f32::INFINITY, f32::min);
            let depth = crossing_depth(a, b).max(LEAST_DEPTH * inner * (1 << force) as f32);
            let strength =
                (depth / (FULL_STRENGTH_DEPTH * edge_a.min(edge_b)).max(f32::MIN_POSITIVE)).min(1.0);
            for v in corners.into_iter().flatten() {
                scratch.raise(model, v, strength);
                scratch.crosses[v as usize] = true;
            }
        }
        scratch.spread(model, SPREAD_RINGS + force as usize, |v| reach * model.inner_radius(v));
        scratch.touched.sort_unstable();
    }

    /// Moves crossing triangles so that the line along which they cross grows shorter: what is swallowed finds its
    /// nearest way out, which smoothing does not.
    ///
    /// Based on: Volino, Magnenat-Thalmann. Resolving Surface Collisions through Intersection Contour
    /// Minimization. 2006.
    fn shorten_contours(&self, model: &Model, pairs: &[[u32; 2]], scratch: &mut Scratch) {
        let triangles = &self.triangles;
        let Scratch { positions: x, pierced, pushes_of_pairs: shares, pushes, .. } = scratch;
        let at = |t: u32| triangles[t as usize].map(|v| x[v as usize]);
        pierced.clear();
        for &[a, b] in pairs {
            for (edges_of, face) in [(a, b), (b, a)] {
                let (t, other) = (triangles[edges_of as usize], triangles[face as usize]);
                for k in 0..3 {
                    let (p, q) = (t[k].min(t[(k + 1) % 3]), t[k].max(t[(k + 1) % 3]));
                    if !other.contains(&p)
                        && !other.contains(&q)
                        && edge_pierces(x[p as usize], x[q as usize], at(face)).is_some()
                    {
                        pierced.push((p, q, face));
                    }
                }
            }
        }
        pierced.sort_unstable();
        pierced.dedup();
        shares.clear();
        for &(p, q, face) in pierced.iter() {
            let along = (x[q as usize] - x[p as usize]).normalize_or_zero();
            let normal = unit_normal(at(face));
            let slope = along.dot(normal);
            let slope = slope.abs().max(LEAST_SLOPE).copysign(slope);
            let mut shorter = Vec3::ZERO;
            let around = self.triangles_of_vertex.get(p as usize).iter();
            for &t in around.filter(|&&t| triangles[t as usize].contains(&q)) {
                let corners = triangles[t as usize];
                let Some(&third) = corners.iter().find(|&&v| v != p && v != q) else { continue };
                let line = normal.cross(unit_normal(at(t))).normalize_or_zero();
                let inward = x[third as usize] - x[p as usize];
                let inward = inward - along * inward.dot(along);
                let line = if line.dot(inward) < 0.0 { -line } else { line };
                shorter += line - normal * (2.0 * along.dot(line) / slope);
            }
            let step = |v: u32| {
                let most = CONTOUR_STEP * model.stride[v as usize];
                shorter * most / (1.0 + shorter.length_squared()).sqrt()
            };
            [p, q].into_iter().for_each(|v| shares.add(v, step(v)));
            triangles[face as usize].into_iter().for_each(|v| shares.add(v, -step(v)));
        }
        pushes.resize(x.len(), Vec3::ZERO);
        shares.means().for_each(|(v, push)| pushes[v as usize] = push);
    }
}

impl Scratch {
    /// Draws marked vertices to the mean of their neighbours.
    fn smooth(&mut self, model: &Model, share: f32) {
        let Scratch { positions, strength, touched, moved, .. } = self;
        moved.clear();
        moved.extend(touched.iter().map(|&v| {
            let here = positions[v as usize];
            let mean = model.mean.mean(v as usize, positions).unwrap_or(here);
            here + (mean - here) * (share * strength[v as usize])
        }));
        touched.iter().zip(moved.iter()).for_each(|(&v, &p)| positions[v as usize] = p);
    }

    /// Draws marked vertices back to where skinning had them.
    fn retreat(&mut self, skinned: &[(Vec3A, Mat3A)], share: f32) {
        for &v in &self.touched {
            let (here, there) = (self.positions[v as usize], Vec3::from(skinned[v as usize].0));
            self.positions[v as usize] = here + (there - here) * (share * self.strength[v as usize]);
        }
    }

    /// Lengthens edges of marked vertices that are too short and shortens those that are too long.
    fn keep_lengths(&mut self, model: &Model) {
        let Scratch { positions, touched, moved, .. } = self;
        for _ in 0..LENGTH_STEPS {
            moved.clear();
            let at = |k: usize| Vec3A::from(positions[k]);
            let kept = |&v: &u32| Vec3::from(lengths::keep_lengths(&model.mean, &model.rest, v as usize, at));
            moved.extend(touched.iter().map(kept));
            touched.iter().zip(moved.iter()).for_each(|(&v, &p)| positions[v as usize] = p);
        }
    }

    /// Moves marked vertices by the pushes of the crossing ones, carried on through the skin between.
    fn push(&mut self, model: &Model, share: f32) {
        let Scratch { positions, strength, touched, moved, pushes, crosses, .. } = self;
        pushes.resize(positions.len(), Vec3::ZERO);
        for _ in 0..PUSHED_RINGS {
            moved.clear();
            moved.extend(touched.iter().map(|&v| {
                let here = pushes[v as usize];
                if crosses[v as usize] { here } else { model.mean.mean(v as usize, pushes).unwrap_or(here) }
            }));
            touched.iter().zip(moved.iter()).for_each(|(&v, &p)| pushes[v as usize] = p);
        }
        for &v in touched.iter() {
            positions[v as usize] += pushes[v as usize] * (share * strength[v as usize]);
            pushes[v as usize] = Vec3::ZERO;
        }
    }
}

fn unit_normal([a, b, c]: [Vec3; 3]) -> Vec3 {
    (b - a).cross(c - a).normalize_or_zero()
}
