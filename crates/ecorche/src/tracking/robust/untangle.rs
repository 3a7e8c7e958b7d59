//! The last crossing triangles are smoothed apart.
//!
//! A fold, skin that crosses its own part or its neighbour's, is drawn to the mean of its neighbours. Limbs that cross
//! are pushed so that the line along which they cross grows shorter. A little of both each round, and only where
//! triangles still cross. The first round looks at all triangles, the later ones at those that the round before moved.

use super::model::{Bone, Model, Relation};
use super::pose::smoothstep;
use super::relax;
use super::tangles::Tangles;
use crate::geom::adjacency::{Adjacency, Lists};
use crate::geom::burial::{self, Sheet};
use crate::geom::intersect::{crossing_depth, edge_pierces, gap};
use crate::geom::mesh::area;
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
/// In inner radii: room from which on skin may be pressed at all. Without it the athlete's collar bones sink in when the
/// arms go forward, a hand's breadth from where the armpits fold.
const ROOMY: f32 = 0.05;
/// In inner radii: room that a triangle of fine skin is given at most because it crosses; coarse skin is given less, or as
/// much as it is deep. Without a limit coarse skin swells and sinks by half an edge from one frame to the next; at 0.2 the
/// fingers of mh_base stay tangled.
const CROSSED: f32 = 0.4;
/// What the room to part loses per metre along the skin. At 0.5 shoulders stay tangled when the arms go up.
const ROOM_SLOPE: f32 = 0.25;
/// In inner radii along the skin: how far from what skinning alone buries contact is looked for. Three radii opened the
/// athlete's shoulder around a crossing in the armpit; less than 1 was not tried.
const PRESSED: f32 = 1.0;

/// Rings over which a push is carried on.
const PUSHED_RINGS: usize = 8;
/// Rounds after the last crossing.
const SPARE_ROUNDS: u32 = 1;
/// Force grows no further: at 15 a cylinder bent by 150 degrees and twisted by 80 lost 29 % of its volume to two
/// triangles.
const MOST_FORCE: u32 = 4;
/// Force from which on folds are pushed apart like limbs.
const PUSHED_FOLDS: u32 = 2;
/// In inner radii: how far a crossing triangle goes in one round to shorten its contour. At 0.1 the hand's fist takes
/// twice the rounds.
const CONTOUR_STEP: f32 = 0.15;
/// Of the area of the whole skin: most that parting may cost if nothing crosses afterwards, and if something still does. The
/// cylinder bent by 170 degrees and twisted by 80 comes apart with a limit of 0.25 and not with 0.22; without one the beagle's chest, when
/// its front legs curl up through it, shrinks to a thread. Of the second, 0.15 leaves a quarter more crossings on the beagle, and with 0.2 it loses
/// 18 % of its volume where it now loses 13 and linear skinning 15.
const MOST_LOST: f64 = 0.3;
const MOST_LOST_IN_PART: f64 = 0.17;
/// In mean edges: depth of a crossing from which on it is parted with full strength. A shallower one needs less, and what has
/// only begun to cross must not jump: at full strength always, the fist moves 25 times as far as the skeleton in single frames and
/// the fox's walk 3.3 times; at 1 the fox keeps crossings.
const DEEP: f32 = 0.5;
/// In inner radii: depth that every crossing is taken to have at least, doubled with each unit of force. Neither at
/// 0.1 nor at 0.4 does the dying cow come to rest: its skin moves 3 times as far as the skeleton takes it, and 1.8 times now.
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

#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    pub(super) positions: Vec<Vec3>,
    pub(super) strength: Vec<f32>,
    /// Vertices of crossing triangles.
    crosses: Vec<bool>,
    pub(super) touched: Vec<u32>,
    pub(super) triangles: Vec<u32>,
    pub(super) is_listed: Vec<bool>,
    moved: Vec<Vec3>,
    pushes: Vec<Vec3>,
    /// Vertices that were parted and by how much each round, 0 to 1, with repetitions.
    pub(super) parted: Vec<(u32, f32)>,
    pub(super) refill: super::refill::Refill,
}

impl Scratch {
    /// Vertices that the last untangling moved, with repetitions: 1 for those of crossing triangles, less around them.
    pub fn parted(&self) -> &[(u32, f32)] {
        &self.parted
    }

    /// Raises the strength of a vertex; `front` hears of it.
    pub(super) fn raise(&mut self, model: &Model, v: u32, to: f32, front: &mut Vec<u32>) {
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

    fn unmark(&mut self) {
        let share = |v: u32| if self.crosses[v as usize] { 1.0 } else { self.strength[v as usize] };
        self.parted.extend(self.touched.iter().map(|&v| (v, share(v))));
        for &v in &self.touched {
            self.strength[v as usize] = 0.0;
            self.crosses[v as usize] = false;
        }
        self.touched.clear();
    }

    /// Spreads strength outward from `front`, falling by 1 over `reach` times the length of the bone that `unit` gives,
    /// for at most `rings` rings; ring by ring, in the order of the vertices.
    pub(super) fn spread(
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
    /// Triangles around each vertex.
    pub(super) triangles_of_vertex: Lists,
    /// Pairs that cross at rest, ascending.
    pub(super) at_rest: Vec<[u32; 2]>,
    /// Pairs that are closer at rest than others are kept, ascending.
    close_at_rest: Vec<[u32; 2]>,
    folds_at_rest: Vec<[u32; 2]>,
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
        let all: Vec<u32> = (0..mesh.triangles.len() as u32).collect();
        let close_at_rest = contact.close_pairs_among(&mesh.positions, &all, 1.5 * APART * mesh.size());
        Self {
            at_rest: crossings.pairs,
            close_at_rest,
            folds_at_rest: crossings.folds,
            cover_at_rest,
            triangles_of_vertex: adjacency.triangles_of_vertex,
            vertex_ring: adjacency.vertex_ring,
            component_of_vertex,
        }
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
        scratch.is_listed.resize(contact.triangles().len(), false);
        scratch.touched.clear();
        scratch.parted.clear();
        let (mut tangles, mut moved) = (Tangles::default(), Vec::new());
        let (mut last, mut spare): (Vec<[u32; 2]>, u32) = (Vec::new(), SPARE_ROUNDS);
        let area_before = area(&scratch.positions, contact.triangles());
        let apart = if start.pressed.iter().any(|&p| p > 0.0) { APART * model.size } else { 0.0 };
        let [crossing, mut close] = contact.pairs_between_patches(&scratch.positions, apart);
        let mut crossing = Some(crossing);
        for round in 0..=model.settings.untangling {
            let mut pairs = match crossing.take() {
                Some(pairs) => pairs,
                None => contact.pairs_among(&scratch.positions, &scratch.triangles),
            };
            pairs.retain(|pair| self.at_rest.binary_search(pair).is_err());
            if round == 0 {
                report.pairs_before = pairs.len();
            }
            report.rounds = round;
            let lost = 1.0 - area(&scratch.positions, contact.triangles()) / area_before;
            if lost > MOST_LOST {
                break;
            }
            tangles.push(pairs.clone(), &moved, &scratch.positions, lost > MOST_LOST_IN_PART);
            if pairs.is_empty() {
                if spare == 0 || last.is_empty() {
                    last.clear();
                    break;
                }
                // What has just parted still touches.
                spare -= 1;
                pairs.clone_from(&last);
            } else {
                spare = SPARE_ROUNDS;
                last.clone_from(&pairs);
            }
            moved = self.part(model, contact, &pairs, start, (round / PATIENCE).min(MOST_FORCE), scratch);
        }
        close.retain(|pair| self.close_at_rest.binary_search(pair).is_err());
        if close.is_empty() && report.pairs_before == 0 {
            return report;
        }
        let before: Vec<Vec3> = x.iter().map(|&p| p.into()).collect();
        // Otherwise the last state is the best of every tangle.
        if !last.is_empty() {
            last = self.best_states(contact, tangles, &before, scratch);
        }
        report.pairs_after = last.len();
        if report.pairs_before > 0 {
            self.refill(model, contact, &before, &last, scratch);
        }
        let crossed = scratch.parted.iter().filter(|parted| parted.1 >= 1.0).map(|parted| parted.0);
        let corners = close.iter().flatten().flat_map(|&t| contact.triangles()[t as usize]);
        let list: Vec<u32> = crossed.chain(corners).collect();
        self.list_triangles(list.into_iter(), scratch);
        self.nudge(model, contact, &last, scratch);
        x.iter_mut().zip(&scratch.positions).for_each(|(x, &p)| *x = p.into());
        report
    }

    /// Puts every tangle into its best state; returns the pairs that still cross, ascending. `before`: the first state.
    fn best_states(
        &self,
        contact: &mut SelfContact,
        mut tangles: Tangles,
        before: &[Vec3],
        scratch: &mut Scratch,
    ) -> Vec<[u32; 2]> {
        let mut left = Vec::new();
        self.list_triangles(tangles.moved().into_iter(), scratch);
        for _ in 0..JOININGS {
            scratch.positions.clear();
            scratch.positions.extend_from_slice(before);
            let expected = tangles.best(contact.triangles(), &self.vertex_ring, &mut scratch.positions);
            left = contact.pairs_among(&scratch.positions, &scratch.triangles);
            left.retain(|pair| self.at_rest.binary_search(pair).is_err());
            let is_met = |pair: &&[u32; 2]| expected.binary_search(pair).is_err();
            let met: Vec<[u32; 2]> = left.iter().filter(is_met).copied().collect();
            if met.is_empty() {
                break;
            }
            tangles.join(&met);
        }
        left
    }

    /// Moves listed triangles that all but touch others away from them, unless they would cross others then; `left` are pairs
    /// that cross anyway, ascending.
    fn nudge(&self, model: &Model, contact: &mut SelfContact, left: &[[u32; 2]], scratch: &mut Scratch) {
        let apart = APART * model.size;
        let mut back: std::collections::BTreeMap<u32, Vec3> = std::collections::BTreeMap::new();
        for _ in 0..NUDGES {
            let mut close = contact.close_pairs_among(&scratch.positions, &scratch.triangles, apart);
            close.retain(|pair| self.close_at_rest.binary_search(pair).is_err());
            if close.is_empty() {
                break;
            }
            let mut pushes: Vec<(u32, Vec3)> = Vec::new();
            for pair in close {
                let corners = pair.map(|t| contact.triangles()[t as usize]);
                let [a, b] = corners.map(|t| t.map(|v| scratch.positions[v as usize]));
                let (distance, away) = gap(a, b);
                // A little more, or rounding decides again.
                let step = 0.75 * (apart - distance) * away;
                pushes.extend(corners[0].map(|v| (v, -step)));
                pushes.extend(corners[1].map(|v| (v, step)));
            }
            pushes.sort_by_key(|push| push.0);
            for group in pushes.chunk_by(|a, b| a.0 == b.0) {
                let (v, sum) = (group[0].0, group.iter().map(|push| push.1).sum::<Vec3>());
                back.entry(v).or_insert(scratch.positions[v as usize]);
                scratch.positions[v as usize] += sum / group.len() as f32;
            }
            self.list_triangles(pushes.iter().map(|push| push.0), scratch);
        }
        while !back.is_empty() {
            self.list_triangles(back.keys().copied(), scratch);
            let mut pairs = contact.pairs_among(&scratch.positions, &scratch.triangles);
            pairs.retain(|pair| {
                self.at_rest.binary_search(pair).is_err() && left.binary_search(pair).is_err()
            });
            let corners = pairs.iter().flatten().flat_map(|&t| contact.triangles()[t as usize]);
            let bad: Vec<(u32, Vec3)> = corners.filter_map(|v| back.remove_entry(&v)).collect();
            if bad.is_empty() {
                break;
            }
            for (v, p) in bad {
                scratch.positions[v as usize] = p;
            }
        }
    }

    /// For each vertex how near it is, along the skin, to where `skinned` makes the skin cross itself and rest does not:
    /// 1 at the crossing and inside it, 0 from [`PRESSED`] inner radii on.
    pub fn find_pressed(
        &self,
        model: &Model,
        contact: &mut SelfContact,
        skinned: impl Iterator<Item = Vec3A>,
        pressed: &mut Vec<f32>,
        room: &mut Vec<f32>,
        scratch: &mut Scratch,
    ) {
        room.clear();
        room.resize(model.rest.len(), 0.0);
        scratch.positions.clear();
        scratch.positions.extend(skinned.map(Vec3::from));
        scratch.strength.clear();
        scratch.strength.resize(model.rest.len(), 0.0);
        scratch.touched.clear();
        let crossings = contact.find_between_patches(&scratch.positions);
        let new = crossings.pairs.iter().filter(|pair| self.at_rest.binary_search(pair).is_err());
        let folds = crossings.folds.iter().filter(|fold| self.folds_at_rest.binary_search(fold).is_err());
        let new: Vec<[u32; 2]> = new.chain(folds).copied().collect();
        let triangles = contact.triangles();
        let mut front = Vec::new();
        for pair in &new {
            let corners = pair.map(|t| triangles[t as usize]);
            let [a, b] = corners.map(|t| t.map(|v| scratch.positions[v as usize]));
            let depth = crossing_depth(a, b);
            for v in corners.into_iter().flatten() {
                scratch.raise(model, v, 1.0, &mut front);
                // A triangle that crosses is buried to some part of its edges.
                let edges = model
                    .mean
                    .of(v as usize)
                    .map(|(k, _)| model.rest[v as usize].distance(model.rest[k as usize]));
                let most = model
                    .bones
                    .get(model.part[v as usize] as usize)
                    .map_or(0.0, |bone| CROSSED * bone.fineness * bone.inner_radius);
                let buried = (0.5 * edges.fold(0.0, f32::max)).min(most.max(depth));
                room[v as usize] = room[v as usize].max(buried);
            }
        }
        if !front.is_empty() {
            contact.fit(&scratch.positions);
            let sheet = Sheet {
                triangles: contact.triangles(),
                vertex_ring: &self.vertex_ring,
                triangles_of_vertex: &self.triangles_of_vertex,
                component_of_vertex: &self.component_of_vertex,
                group_of_vertex: &self.component_of_vertex,
            };
            let found = burial::cover(&sheet, &scratch.positions, &crossings, contact.bvh());
            let mut buried = Vec::new();
            for (v, (cover, rest)) in found.cover.iter().zip(&self.cover_at_rest).enumerate() {
                let change = cover.unwrap_or(0) - rest.unwrap_or(0);
                if cover.is_some() && change != 0 {
                    scratch.raise(model, v as u32, 1.0, &mut front);
                    buried.push((v as u32, change));
                }
            }
            let depths = burial::depths(&sheet, &scratch.positions, &found, contact.bvh(), &buried);
            self.make_room(model, buried.iter().map(|b| b.0).zip(depths), &front, room);
        }
        scratch.spread(model, front, usize::MAX, PRESSED, |bone| bone.inner_radius);
        pressed.clear();
        // Full up to half the way.
        let near = |(v, (&strength, &room)): (usize, (&f32, &f32))| {
            let inner = model.bones.get(model.part[v] as usize).map_or(0.0, |bone| bone.inner_radius);
            smoothstep(2.0 * strength) * smoothstep(room / (ROOMY * inner).max(f32::MIN_POSITIVE))
        };
        pressed.extend(scratch.strength.iter().zip(room.iter()).enumerate().map(near));
        scratch.strength.iter_mut().for_each(|s| *s = 0.0);
    }

    /// How far skin may have to go to be parted, metres: as deep as it or skin near it is buried, less along the skin.
    fn make_room(
        &self,
        model: &Model,
        buried: impl Iterator<Item = (u32, f32)>,
        crossing: &[u32],
        room: &mut [f32],
    ) {
        let mut queue = std::collections::VecDeque::new();
        for (v, depth) in buried {
            room[v as usize] = room[v as usize].max(depth);
        }
        queue.extend(crossing.iter().copied());
        while let Some(v) = queue.pop_front() {
            for (k, _) in model.mean.of(v as usize) {
                let length = model.rest[v as usize].distance(model.rest[k as usize]);
                let left = room[v as usize] - ROOM_SLOPE * length;
                if left > room[k as usize] + 1e-6 * model.size {
                    room[k as usize] = left;
                    queue.push_back(k);
                }
            }
        }
    }

    /// Moves crossing triangles so that the line along which they cross grows shorter: what is swallowed finds its
    /// nearest way out, which smoothing does not.
    ///
    /// Based on: Volino, Magnenat-Thalmann. Resolving Surface Collisions through Intersection Contour
    /// Minimization. 2006.
    fn shorten_contours(
        &self,
        model: &Model,
        contact: &SelfContact,
        pairs: &[[u32; 2]],
        scratch: &mut Scratch,
    ) {
        let triangles = contact.triangles();
        let x = &scratch.positions;
        let at = |t: u32| triangles[t as usize].map(|v| x[v as usize]);
        let mut pierced: Vec<(u32, u32, u32)> = Vec::new();
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
        let mut pushes: Vec<(u32, Vec3)> = Vec::new();
        for &(p, q, face) in &pierced {
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
                let part = model.part[v as usize];
                let most = CONTOUR_STEP * model.bones.get(part as usize).map_or(0.0, |b| b.inner_radius);
                shorter * most / (1.0 + shorter.length_squared()).sqrt()
            };
            pushes.extend([p, q].map(|v| (v, step(v))));
            pushes.extend(triangles[face as usize].map(|v| (v, -step(v))));
        }
        // In a fixed order; the sort keeps the order of a vertex's pushes.
        pushes.sort_by_key(|push| push.0);
        scratch.pushes.resize(x.len(), Vec3::ZERO);
        for group in pushes.chunk_by(|a, b| a.0 == b.0) {
            let sum: Vec3 = group.iter().map(|push| push.1).sum();
            scratch.pushes[group[0].0 as usize] = sum / group.len() as f32;
        }
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

    /// One round: folds are smoothed, limbs pushed apart. Lists the triangles it moved and returns the vertices.
    fn part(
        &self,
        model: &Model,
        contact: &SelfContact,
        pairs: &[[u32; 2]],
        start: &Start,
        force: u32,
        scratch: &mut Scratch,
    ) -> Vec<u32> {
        let part = |t: u32| model.part[contact.triangles()[t as usize][0] as usize];
        let is_fold = |&&[a, b]: &&[u32; 2]| {
            let (a, b) = (part(a), part(b));
            a == b
                || a != FOLLOWS
                    && b != FOLLOWS
                    && matches!(model.relation(a, b), Relation::Same | Relation::Joint)
        };
        // Skinning alone does not cross there: tracking made it, and goes back.
        let is_own_making = |pair: &&[u32; 2]| {
            let pressed =
                |&t: &u32| contact.triangles()[t as usize].iter().any(|&v| start.pressed[v as usize] > 0.0);
            !pair.iter().any(pressed)
        };
        let (own_making, pairs): (Vec<[u32; 2]>, Vec<[u32; 2]>) = pairs.iter().partition(is_own_making);
        let (folds, mut limbs): (Vec<[u32; 2]>, Vec<[u32; 2]>) = pairs.iter().partition(is_fold);
        if force >= PUSHED_FOLDS {
            limbs.extend_from_slice(&folds);
        }
        scratch.triangles.clear();
        let mut moved = Vec::new();
        if !own_making.is_empty() {
            self.mark(model, contact, &own_making, SPREAD * (1.0 + force as f32), force, scratch);
            scratch.retreat(start.skinned);
            scratch.keep_lengths(model);
            moved.extend_from_slice(&scratch.touched);
            scratch.unmark();
        }
        if !folds.is_empty() {
            self.mark(model, contact, &folds, SPREAD * (1.0 + 0.5 * force as f32), force, scratch);
            (0..=force).for_each(|_| scratch.smooth(model, SMOOTHING));
            scratch.keep_lengths(model);
            moved.extend_from_slice(&scratch.touched);
            scratch.unmark();
        }
        if !limbs.is_empty() {
            self.shorten_contours(model, contact, &limbs, scratch);
            self.mark(model, contact, &limbs, SPREAD * (1.0 + force as f32), force, scratch);
            scratch.push(model);
            scratch.smooth(model, PUSHED_SMOOTHING);
            scratch.keep_lengths(model);
            moved.extend_from_slice(&scratch.touched);
            scratch.unmark();
        }
        moved.sort_unstable();
        moved.dedup();
        self.list_triangles(moved.iter().copied(), scratch);
        moved
    }

    /// Gives the vertices of crossing triangles a strength, 1 for deep crossings, and those around them less.
    fn mark(
        &self,
        model: &Model,
        contact: &SelfContact,
        pairs: &[[u32; 2]],
        reach: f32,
        force: u32,
        scratch: &mut Scratch,
    ) {
        let mut front = Vec::new();
        scratch.crosses.resize(scratch.positions.len(), false);
        for pair in pairs {
            let corners = pair.map(|t| contact.triangles()[t as usize]);
            let [a, b] = corners.map(|t| t.map(|v| scratch.positions[v as usize]));
            let [edge_a, edge_b] = corners.map(|t| {
                let [p, q, r] = t.map(|v| model.rest[v as usize]);
                (p.distance(q) + q.distance(r) + r.distance(p)) / 3.0
            });
            let inner_radius =
                |v: u32| model.bones.get(model.part[v as usize] as usize).map(|b| b.inner_radius);
            let inner =
                corners.iter().flatten().filter_map(|&v| inner_radius(v)).fold(f32::INFINITY, f32::min);
            let depth = crossing_depth(a, b).max(LEAST_DEPTH * inner * (1 << force) as f32);
            let strength = (depth / (DEEP * edge_a.min(edge_b)).max(f32::MIN_POSITIVE)).min(1.0);
            for v in corners.into_iter().flatten() {
                scratch.raise(model, v, strength, &mut front);
                scratch.crosses[v as usize] = true;
            }
        }
        scratch.spread(model, front, RINGS + force as usize, reach, |bone| bone.inner_radius);
        scratch.touched.sort_unstable();
    }
}

fn unit_normal([a, b, c]: [Vec3; 3]) -> Vec3 {
    (b - a).cross(c - a).normalize_or_zero()
}
