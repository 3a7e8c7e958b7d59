//! The last crossing triangles are smoothed apart.
//!
//! A fold, skin that crosses its own part or its neighbour's, is drawn to the mean of its neighbours. Limbs that cross
//! are pushed so that the line along which they cross grows shorter. A little of both each round, and only where
//! triangles still cross. The first round looks at all triangles, the later ones at those that the round before moved.

use super::model::{Model, Relation};
use super::relax;
use super::tangles::{Skin, Tangles};
use crate::geom::adjacency::{Adjacency, Lists};
use crate::geom::burial::{Burial, Sheet};
use crate::geom::intersect::{crossing_depth, edge_pierces, gap};
use crate::geom::{SelfContact, TriMesh};
use crate::parts::FOLLOWS;
use glam::{Mat3A, Vec3, Vec3A};

/// Share of the way to the mean taken at a time, at the crossing itself: of folds, and of limbs after a push.
/// Limbs smoothed like folds shrink instead of parting: the athlete's fist kept 47 crossings.
const SMOOTHING: f32 = 0.5;
const PUSHED_SMOOTHING: f32 = 0.2;
/// In inner radii: how far around a crossing the skin moves along, falling to nothing.
const SPREAD: f32 = 0.5;
/// Rings that the spread may take.
const RINGS: usize = 4;
/// Rounds after which a crossing that is still there is smoothed once more per round and farther around: CesiumMan
/// needs four gentle rounds, which cost no volume where strong ones cost 5 %; the hands of mh_base stay tangled
/// without force. With 3 they did too, with 6 they took twice the rounds.
const PATIENCE: u32 = 4;

/// Rings over which a push is carried on.
const PUSHED_RINGS: usize = 8;
/// Force grows no further: at 15 a cylinder bent by 150 degrees and twisted by 80 lost 29 % of its volume to two
/// triangles.
const MOST_FORCE: u32 = 4;
/// Force from which on folds are pushed apart like limbs.
const PUSHED_FOLDS: u32 = 2;
/// In strides: how far a crossing triangle goes in one round to shorten its contour. At 0.1 the hand's fist takes
/// twice the rounds; with inner radii for strides lips and lids were pushed as far as the head is thick.
const CONTOUR_STEP: f32 = 0.15;
/// In mean edges: depth of a crossing from which on it is parted with full strength. A shallower one needs less, and what has
/// only begun to cross must not jump: at full strength always, the fist moves 25 times as far as the skeleton in single frames and
/// the fox's walk 3.3 times; at 1 the fox keeps crossings.
const DEEP: f32 = 0.5;
/// In inner radii: depth that every crossing is taken to have at least, doubled with each unit of force. At 0.1 and at 0.4 the
/// dying cow's skin moves 3 times as far as the skeleton within 2 % of its size, at 0.3 it is 1.8 times.
const LEAST_DEPTH: f32 = 0.3;
/// Steps that spread short edges and draw in long ones, each round.
const SPREADS: usize = 2;
/// Sine between edge and triangle below which the edge counts as lying in it.
const LEAST_SLOPE: f32 = 0.1;

/// Of the size: distance kept between triangles that have been parted, unless they are as close at rest. What only just does not
/// cross does where the next program rounds: with none the athlete's squat had 8 pairs less than 0.03 mm apart.
const APART: f32 = 4e-5;
/// Most nudges to that distance.
const NUDGES: usize = 8;
/// Times that tangles which cross each other in their best states are taken for one.
const JOININGS: usize = 3;

/// Pairs of a tangle up to which it is begun with once more: what is left of a large one is often a small fold that force has
/// made, and gentle rounds take it away. Without it the jump of mh_base keeps 126 crossings (thirty frames a second) instead of 3, and frames
/// with muscles have a few more here and there than those without. From 36 on the second Rocketbox figure loses 5 % more of its space in one
/// frame of its run; at 30 its walk and run keep a quarter more crossings.
const FEW: usize = 60;

/// Buffers of untangling, kept from frame to frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    pub positions: Vec<Vec3>,
    /// How much of a step each vertex takes, 0 to 1; zero between steps.
    pub strength: Vec<f32>,
    /// Vertices of crossing triangles.
    crosses: Vec<bool>,
    /// Vertices with a strength.
    pub touched: Vec<u32>,
    /// Vertices whose strength was raised last, and those before them.
    pub front: Vec<u32>,
    ring: Vec<u32>,
    /// Triangles that are looked at next, ascending.
    pub triangles: Vec<u32>,
    pub is_listed: Vec<bool>,
    moved: Vec<Vec3>,
    pushes: Vec<Vec3>,
    /// Vertices that were parted and by how much each round, 0 to 1, with repetitions.
    pub parted: Vec<(u32, f32)>,
    /// Where the frame's untangling began.
    before: Vec<Vec3>,
    /// And where it was begun once more.
    again: Vec<Vec3>,
    left: Vec<[u32; 2]>,
    close: Vec<[u32; 2]>,
    live: Vec<[u32; 2]>,
    crossing: Vec<[u32; 2]>,
    kinds: Kinds,
    moved_vertices: Vec<u32>,
    /// Edges and the triangles they pierce.
    pierced: Vec<(u32, u32, u32)>,
    pushes_of_pairs: Ways,
    back: Ways,
    tangles: Tangles,
    pub refill: super::refill::Refill,
    pub pressed: super::pressed::Scratch,
    pub sidestep: super::sidestep::Scratch,
}

/// Crossing pairs by what is done about them.
#[derive(Clone, Debug, Default)]
struct Kinds {
    own_making: Vec<[u32; 2]>,
    folds: Vec<[u32; 2]>,
    limbs: Vec<[u32; 2]>,
}

/// Vectors of vertices, several of each: vertex, number, vector.
#[derive(Clone, Debug, Default)]
struct Ways(Vec<(u32, u32, Vec3)>);

impl Ways {
    fn clear(&mut self) {
        self.0.clear();
    }

    fn add(&mut self, v: u32, way: Vec3) {
        self.0.push((v, self.0.len() as u32, way));
    }

    /// The mean of each vertex, ascending, summed up in the order in which they came.
    fn means(&mut self) -> impl Iterator<Item = (u32, Vec3)> {
        self.0.sort_unstable_by_key(|way| (way.0, way.1));
        self.0.chunk_by(|a, b| a.0 == b.0).map(|group| {
            let sum: Vec3 = group.iter().map(|way| way.2).sum();
            (group[0].0, sum / group.len() as f32)
        })
    }

    /// Keeps the first of each vertex.
    fn keep_first(&mut self) {
        self.0.sort_unstable_by_key(|way| (way.0, way.1));
        self.0.dedup_by_key(|way| way.0);
    }
}

impl Scratch {
    /// Vertices that the last untangling moved, with repetitions: 1 for those of crossing triangles, less around them.
    pub fn parted(&self) -> &[(u32, f32)] {
        &self.parted
    }

    /// Raises the strength of a vertex and puts it in front.
    pub fn raise(&mut self, model: &Model, v: u32, to: f32) {
        let strength = &mut self.strength[v as usize];
        if to > *strength && model.part[v as usize] != FOLLOWS {
            if *strength == 0.0 {
                self.touched.push(v);
            }
            *strength = to;
            self.front.push(v);
        }
    }

    /// Spreads strength outward from the front, falling by 1 over the `reach` of a vertex, for at most `rings` rings; ring by
    /// ring, in the order of the vertices.
    pub fn spread(&mut self, model: &Model, rings: usize, reach: impl Fn(u32) -> f32) {
        let mut ring = std::mem::take(&mut self.ring);
        for _ in 0..rings {
            if self.front.is_empty() {
                break;
            }
            std::mem::swap(&mut ring, &mut self.front);
            self.front.clear();
            ring.sort_unstable();
            ring.dedup();
            for &v in &ring {
                let (index, level) = (v as usize, self.strength[v as usize]);
                let reach = reach(v);
                for (k, _) in model.mean.of(index) {
                    let length = model.rest[index].distance(model.rest[k as usize]);
                    let least = 1e-3;
                    self.raise(model, k, level - (length / reach.max(f32::MIN_POSITIVE)).max(least));
                }
            }
        }
        self.front.clear();
        self.ring = ring;
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
    fn retreat(&mut self, skinned: &[(Vec3A, Mat3A)]) {
        for &v in &self.touched {
            let (here, there) = (self.positions[v as usize], Vec3::from(skinned[v as usize].0));
            self.positions[v as usize] = here + (there - here) * (SMOOTHING * self.strength[v as usize]);
        }
    }

    /// Spreads the shortest and draws in the longest edges of marked vertices.
    fn keep_lengths(&mut self, model: &Model) {
        let Scratch { positions, touched, moved, .. } = self;
        for _ in 0..SPREADS {
            moved.clear();
            let at = |k: usize| Vec3A::from(positions[k]);
            let kept = |&v: &u32| Vec3::from(relax::keep_lengths(&model.mean, &model.rest, v as usize, at));
            moved.extend(touched.iter().map(kept));
            touched.iter().zip(moved.iter()).for_each(|(&v, &p)| positions[v as usize] = p);
        }
    }

    /// Moves marked vertices by the pushes of the crossing ones, carried on through the skin between.
    fn push(&mut self, model: &Model) {
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
            positions[v as usize] += pushes[v as usize] * strength[v as usize];
            pushes[v as usize] = Vec3::ZERO;
        }
    }

    /// Takes all strength away; `moved` hears who had any.
    fn unmark(&mut self, moved: &mut Vec<u32>) {
        moved.extend_from_slice(&self.touched);
        let share = |v: u32| if self.crosses[v as usize] { 1.0 } else { self.strength[v as usize] };
        self.parted.extend(self.touched.iter().map(|&v| (v, share(v))));
        for &v in &self.touched {
            self.strength[v as usize] = 0.0;
            self.crosses[v as usize] = false;
        }
        self.touched.clear();
    }
}

/// Where the frame began.
pub(super) struct Start<'a> {
    pub skinned: &'a [(Vec3A, Mat3A)],
    /// How near skinning alone makes the skin cross itself, 0 to 1.
    pub pressed: &'a [f32],
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
    pub(super) triangles: Vec<[u32; 3]>,
    /// Triangles around each vertex.
    pub(super) triangles_of_vertex: Lists,
    /// Pairs that cross at rest, ascending.
    at_rest: Vec<[u32; 2]>,
    /// Triangles of skin that follows other skin, such as eyes. It goes there when all else is done: what crosses it now says nothing.
    follows: Vec<bool>,
    /// Pairs that are closer at rest than others are kept, ascending.
    close_at_rest: Vec<[u32; 2]>,
    pub(super) folds_at_rest: Vec<[u32; 2]>,
    pub(super) cover_at_rest: Vec<Option<i32>>,
    pub(super) vertex_ring: Lists,
    pub(super) component_of_vertex: Vec<u32>,
}

impl Untangler {
    /// Looks at the surface at rest.
    pub fn new(mesh: &TriMesh, part_of_vertex: &[u32], contact: &mut SelfContact) -> Self {
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
        let (mut burial, mut close_at_rest) = (Burial::default(), Vec::new());
        burial.cover(&sheet, &mesh.positions, &crossings, contact.bvh());
        let all: Vec<u32> = (0..mesh.triangles.len() as u32).collect();
        contact.close_pairs_among(&mesh.positions, &all, 1.5 * APART * mesh.size(), &mut close_at_rest);
        Self {
            triangles: mesh.triangles.clone(),
            at_rest: crossings.pairs,
            follows: mesh.triangles.iter().map(|t| part_of_vertex[t[0] as usize] == FOLLOWS).collect(),
            close_at_rest,
            folds_at_rest: crossings.folds,
            cover_at_rest: burial.cover,
            triangles_of_vertex: adjacency.triangles_of_vertex,
            vertex_ring: adjacency.vertex_ring,
            component_of_vertex,
        }
    }

    /// Whether a pair that crosses is to be parted.
    pub(super) fn is_new(&self, pair: &[u32; 2]) -> bool {
        !pair.iter().any(|&t| self.follows[t as usize]) && self.at_rest.binary_search(pair).is_err()
    }

    /// Whether a pair that is close is to be nudged apart.
    fn is_newly_close(&self, pair: &[u32; 2]) -> bool {
        !pair.iter().any(|&t| self.follows[t as usize]) && self.close_at_rest.binary_search(pair).is_err()
    }

    /// Smooths until nothing new crosses, the rounds are done or too much skin is lost; keeps the best state of every tangle.
    pub fn untangle(
        &self,
        model: &Model,
        contact: &mut SelfContact,
        start: &Start,
        x: &mut [Vec3A],
        scratch: &mut Scratch,
    ) -> Untangled {
        let mut report = Untangled::default();
        scratch.positions.clear();
        scratch.positions.extend(x.iter().map(|&p| Vec3::from(p)));
        scratch.strength.resize(x.len(), 0.0);
        scratch.is_listed.resize(self.triangles.len(), false);
        scratch.touched.clear();
        scratch.parted.clear();
        let mut left = std::mem::take(&mut scratch.left);
        let mut close = std::mem::take(&mut scratch.close);
        contact.pairs_between_patches(&scratch.positions, APART * model.size, &mut left, &mut close);
        left.retain(|pair| self.is_new(pair));
        close.retain(|pair| self.is_newly_close(pair));
        report.pairs_before = left.len();
        if !left.is_empty() || !close.is_empty() {
            if !left.is_empty() {
                let mut before = std::mem::take(&mut scratch.before);
                before.clone_from(&scratch.positions);
                report.rounds =
                    self.part_all(model, contact, start, (&before, &before), usize::MAX, &mut left, scratch);
                if !left.is_empty() {
                    let mut again = std::mem::take(&mut scratch.again);
                    again.clone_from(&scratch.positions);
                    report.rounds +=
                        self.part_all(model, contact, start, (&before, &again), FEW, &mut left, scratch);
                    scratch.again = again;
                }
                self.refill(model, contact, &before, &left, scratch);
                scratch.before = before;
            }
            report.pairs_after = left.len();
            self.nudge(model, contact, &left, &close, scratch);
            x.iter_mut().zip(&scratch.positions).for_each(|(x, &p)| *x = p.into());
        }
        (scratch.left, scratch.close) = (left, close);
        report
    }

    /// Parts round by round what crosses, `left`, until nothing does; leaves there what still does, ascending. Returns the rounds.
    /// Tangles of more pairs than `most` are left alone. `before` is where the frame's untangling began, `from` where this one does: what it
    /// costs is counted from the former.
    fn part_all(
        &self,
        model: &Model,
        contact: &mut SelfContact,
        start: &Start,
        (before, from): (&[Vec3], &[Vec3]),
        most: usize,
        left: &mut Vec<[u32; 2]>,
        scratch: &mut Scratch,
    ) -> u32 {
        let skin = Skin {
            triangles: &self.triangles,
            triangles_of_vertex: &self.triangles_of_vertex,
            vertex_ring: &self.vertex_ring,
            part_of_vertex: &model.part,
            before,
            from,
        };
        let mut tangles = std::mem::take(&mut scratch.tangles);
        let mut live = std::mem::take(&mut scratch.live);
        let mut crossing = std::mem::take(&mut scratch.crossing);
        let mut moved = std::mem::take(&mut scratch.moved_vertices);
        tangles.begin(&skin, model.bones.len(), left);
        tangles.give_up_larger(&skin, left, most);
        let mut round = 0;
        while round < model.settings.untangling {
            live.clear();
            live.extend(left.iter().filter(|&&pair| !tangles.is_given_up(&skin, pair)));
            if live.is_empty() {
                break;
            }
            self.part(model, &live, start, (round / PATIENCE).min(MOST_FORCE), scratch, &mut moved);
            self.new_pairs(contact, scratch, &mut crossing);
            // What was not moved still crosses.
            let is_moved = |t: &u32| scratch.triangles.binary_search(t).is_ok();
            crossing.extend(left.iter().filter(|pair| !pair.iter().any(is_moved)));
            crossing.sort_unstable();
            std::mem::swap(left, &mut crossing);
            tangles.push(&skin, left, &moved, &scratch.positions);
            round += 1;
        }
        // Otherwise the last state is the best of every tangle.
        if !left.is_empty() {
            self.list_triangles(tangles.members().iter().copied(), scratch);
            let expected = &mut crossing;
            for _ in 0..JOININGS {
                scratch.positions.clone_from_slice(from);
                tangles.best(&skin, &mut scratch.positions, expected);
                self.new_pairs(contact, scratch, left);
                live.clear();
                live.extend(left.iter().filter(|pair| expected.binary_search(pair).is_err()));
                if live.is_empty() {
                    break;
                }
                tangles.join(&skin, &live, &[]);
            }
        }
        (scratch.tangles, scratch.live, scratch.crossing) = (tangles, live, crossing);
        scratch.moved_vertices = moved;
        round
    }

    /// The pairs with a listed triangle that cross and do not at rest, ascending.
    fn new_pairs(&self, contact: &mut SelfContact, scratch: &Scratch, found: &mut Vec<[u32; 2]>) {
        contact.pairs_among(&scratch.positions, &scratch.triangles, found);
        found.retain(|pair| self.is_new(pair));
    }

    /// Moves triangles that have been parted or were `close` and all but touch others away from them, unless they would
    /// cross others then; `left` are pairs that cross anyway, ascending.
    fn nudge(
        &self,
        model: &Model,
        contact: &mut SelfContact,
        left: &[[u32; 2]],
        close: &[[u32; 2]],
        scratch: &mut Scratch,
    ) {
        let apart = APART * model.size;
        let mut list = std::mem::take(&mut scratch.moved_vertices);
        let mut pairs = std::mem::take(&mut scratch.crossing);
        let mut pushes = std::mem::take(&mut scratch.pushes_of_pairs);
        let mut back = std::mem::take(&mut scratch.back);
        back.clear();
        list.clear();
        list.extend(scratch.parted.iter().filter(|parted| parted.1 >= 1.0).map(|parted| parted.0));
        list.extend(close.iter().flatten().flat_map(|&t| self.triangles[t as usize]));
        for _ in 0..NUDGES {
            self.list_triangles(list.iter().copied(), scratch);
            contact.close_pairs_among(&scratch.positions, &scratch.triangles, apart, &mut pairs);
            pairs.retain(|pair| self.is_newly_close(pair));
            if pairs.is_empty() {
                break;
            }
            pushes.clear();
            for pair in &pairs {
                let corners = pair.map(|t| self.triangles[t as usize]);
                let [a, b] = corners.map(|t| t.map(|v| scratch.positions[v as usize]));
                let (distance, away) = gap(a, b);
                // A little more, or rounding decides again.
                let step = 0.75 * (apart - distance) * away;
                corners[0].into_iter().for_each(|v| pushes.add(v, -step));
                corners[1].into_iter().for_each(|v| pushes.add(v, step));
            }
            list.clear();
            for (v, push) in pushes.means() {
                back.add(v, scratch.positions[v as usize]);
                scratch.positions[v as usize] += push;
                list.push(v);
            }
        }
        back.keep_first();
        while !back.0.is_empty() {
            self.list_triangles(back.0.iter().map(|nudged| nudged.0).chain(list.iter().copied()), scratch);
            self.new_pairs(contact, scratch, &mut pairs);
            pairs.retain(|pair| left.binary_search(pair).is_err());
            list.clear();
            list.extend(pairs.iter().flatten().flat_map(|&t| self.triangles[t as usize]));
            list.sort_unstable();
            let count = back.0.len();
            back.0.retain(|&(v, _, p)| {
                let is_bad = list.binary_search(&v).is_ok();
                if is_bad {
                    scratch.positions[v as usize] = p;
                }
                !is_bad
            });
            if back.0.len() == count {
                break;
            }
        }
        (scratch.moved_vertices, scratch.crossing) = (list, pairs);
        (scratch.pushes_of_pairs, scratch.back) = (pushes, back);
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

    /// Fills in the triangles around `vertices`, ascending.
    pub(super) fn list_triangles(&self, vertices: impl Iterator<Item = u32>, scratch: &mut Scratch) {
        scratch.triangles.clear();
        for &t in vertices.flat_map(|v| self.triangles_of_vertex.get(v as usize)) {
            if !std::mem::replace(&mut scratch.is_listed[t as usize], true) {
                scratch.triangles.push(t);
            }
        }
        scratch.triangles.sort_unstable();
        scratch.triangles.iter().for_each(|&t| scratch.is_listed[t as usize] = false);
    }

    /// One round: folds are smoothed, limbs pushed apart. Lists the triangles it moved, and in `moved` the vertices, ascending.
    fn part(
        &self,
        model: &Model,
        pairs: &[[u32; 2]],
        start: &Start,
        force: u32,
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
            let pressed =
                |&t: &u32| self.triangles[t as usize].iter().any(|&v| start.pressed[v as usize] > 0.0);
            !pair.iter().any(pressed)
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
        if force >= PUSHED_FOLDS {
            limbs.extend_from_slice(folds);
        }
        moved.clear();
        if !own_making.is_empty() {
            self.mark(model, own_making, SPREAD * (1.0 + force as f32), force, scratch);
            scratch.retreat(start.skinned);
            scratch.keep_lengths(model);
            scratch.unmark(moved);
        }
        if !folds.is_empty() {
            self.mark(model, folds, SPREAD * (1.0 + 0.5 * force as f32), force, scratch);
            (0..=force).for_each(|_| scratch.smooth(model, SMOOTHING));
            scratch.keep_lengths(model);
            scratch.unmark(moved);
        }
        if !limbs.is_empty() {
            self.shorten_contours(model, limbs, scratch);
            self.mark(model, limbs, SPREAD * (1.0 + force as f32), force, scratch);
            scratch.push(model);
            scratch.smooth(model, PUSHED_SMOOTHING);
            scratch.keep_lengths(model);
            scratch.unmark(moved);
        }
        scratch.kinds = kinds;
        moved.sort_unstable();
        moved.dedup();
        self.list_triangles(moved.iter().copied(), scratch);
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
            let strength = (depth / (DEEP * edge_a.min(edge_b)).max(f32::MIN_POSITIVE)).min(1.0);
            for v in corners.into_iter().flatten() {
                scratch.raise(model, v, strength);
                scratch.crosses[v as usize] = true;
            }
        }
        scratch.spread(model, RINGS + force as usize, |v| reach * model.inner_radius(v));
        scratch.touched.sort_unstable();
    }
}

fn unit_normal([a, b, c]: [Vec3; 3]) -> Vec3 {
    (b - a).cross(c - a).normalize_or_zero()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::{Binding, Influences};
    use crate::parts::Parts;
    use crate::skinning::Surface;
    use crate::tracking::robust::Tracker;

    /// A ball in the flesh of the lower half of a cylinder comes half out of it.
    #[test]
    fn skin_is_not_parted_from_what_follows_it() {
        let mut character = crate::samples::build("cylinder").unwrap();
        let mut ball = character.meshes[0].clone();
        let skin = ball.positions.len();
        let (low, high) =
            ball.positions.iter().fold((Vec3::MAX, Vec3::MIN), |(low, high), &p| (low.min(p), high.max(p)));
        let (middle, size) = (0.5 * (low + high), high - low);
        let place = middle + Vec3::new(0.0, -0.25 * size.y, 0.3 * size.z);
        ball.positions.iter_mut().for_each(|p| *p = place + (*p - middle) / size * (0.15 * size.x));
        let Binding::Skin(held) = &mut ball.binding else { panic!("the cylinder has a skin") };
        held.influences = Influences::new(vec![vec![(0, 1.0)]; skin]);
        character.meshes.push(ball);
        let surface = Surface::new(&character).unwrap();
        let parts = Parts::build(&surface, &character, &Default::default(), None);
        let Tracker { model, untangler, mut contact, .. } =
            Tracker::new(&character, &surface, &parts, Default::default(), Vec::new(), None);
        let is_ball = |v: usize| parts.part_of_vertex[v] == FOLLOWS;
        assert!((0..model.rest.len()).any(is_ball) && !(0..model.rest.len()).all(is_ball));
        let out = Vec3A::Z * (0.2 * size.z);
        let moved = |(v, &p): (usize, &Vec3A)| if is_ball(v) { p + out } else { p };
        let mut x: Vec<Vec3A> = model.rest.iter().enumerate().map(moved).collect();
        let positions: Vec<Vec3> = x.iter().map(|&p| p.into()).collect();
        assert!(!contact.find(&positions).pairs.is_empty(), "the ball does not come out");
        let skinned: Vec<(Vec3A, Mat3A)> = x.iter().map(|&p| (p, Mat3A::IDENTITY)).collect();
        let start = Start { skinned: &skinned, pressed: &vec![1.0; x.len()] };
        let report = untangler.untangle(&model, &mut contact, &start, &mut x, &mut Scratch::default());
        assert_eq!(report, Untangled::default());
        assert!(x.iter().zip(&skinned).all(|(x, skinned)| *x == skinned.0));
    }
}
