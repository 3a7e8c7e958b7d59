//! Collisions of soft bodies with rigid bones, with each other and with themselves.
//!
//! Points of a collision surface (the boundary of the tetrahedra or a finer embedded surface) are pushed
//! out of bones by signed distance and out of bodies by the tetrahedron they have entered: its rest
//! coordinates give the nearest place of the other surface without ambiguity, however the body is deformed.
//! Forces reach the nodes by the weights of the points.
//!
//! Two modes. [`Resolve::Penalty`] pushes with a spring for each depth, so something always remains.
//! [`Resolve::Constraint`] repeats the step with multipliers raised (augmented Lagrangian) until no point is
//! deeper than the stated tolerance, or the stated number of rounds is over; what remains is in
//! [`StepReport::penetration`](super::step::StepReport::penetration). This mode also tests edges, which may cut
//! into a body between two points that are both outside of it (`find_edges`); the penalty mode does not.
//!
//! What is held on a bone is not tested against that bone: a muscle's end is part of it, and contact would only work
//! against the hold.

mod intersections;
pub mod surface;

pub use intersections::{Intersection, Within};

pub use surface::CollisionSurface;

use super::boundary::{Boundary, Place};
use super::model::Model;
use super::sdf::DistanceGrid;
use super::terms::Term;
use glam::{DMat3, DVec3};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// A rigid shape on a bone.
#[derive(Clone, Debug)]
pub struct Obstacle {
    /// Name in messages.
    pub name: String,
    /// Bone it moves with.
    pub bone: usize,
    /// Signed distance in bone coordinates.
    pub shape: DistanceGrid,
}

/// How penetrations are resolved.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Resolve {
    /// By springs.
    Penalty,
    /// Until no point is deeper than `tolerance` metres, within `rounds` repetitions of a step.
    Constraint {
        /// Depth that may remain, metres.
        tolerance: f64,
        /// Most repetitions.
        rounds: u32,
    },
}

/// What touches what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Against {
    /// A rigid obstacle.
    Obstacle(usize),
    /// A collision surface, possibly the point's own.
    Surface(usize),
}

/// Collision settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ContactSettings {
    /// How penetrations are resolved.
    pub resolve: Resolve,
    /// Pressure for a penetration of one element edge, pascals. Lower lets bodies sink in, higher makes them
    /// vibrate: ten times the softer body's stiffness is a good start.
    pub modulus: f64,
    /// Coulomb friction coefficient; 0 slides freely.
    pub friction: f64,
    /// Distance kept, metres.
    pub thickness: f64,
    /// Whether a point that starts inside something may stay that deep, as if its surface were dented there;
    /// otherwise it is pushed out, which permanently bends bodies that were thickened into each other.
    pub keep_overlap: bool,
}

impl Default for ContactSettings {
    fn default() -> Self {
        Self { resolve: Resolve::Penalty, modulus: 3e5, friction: 0.0, thickness: 0.0, keep_overlap: false }
    }
}

/// Searches after which a contact keeps its place and normal until the end of the round: two
/// neighbouring triangles may both be nearest, and Newton would go back and forth between them without end.
const SETTLED: u32 = 4;

/// Gap, in slips (a thousandth of an edge), at which a point that pressed on a body is forgotten.
const RELEASE: f64 = 100.0;

/// One point near or inside something.
#[derive(Clone, Copy, Debug)]
struct Pair {
    /// Collision surface, its vertex or edge (edges are numbered after the vertices), and the test.
    key: (u32, u32, u32),
    point: Place,
    /// What it should be outside of: a place of another body, or of the world.
    other: Option<Place>,
    anchor: DVec3,
    normal: DVec3,
    /// Newtons per metre.
    stiffness: f64,
    multiplier: f64,
    /// Depth allowed because it was there at the start.
    allowed: f64,
    /// Friction: normal force times coefficient, tangential reference and slip scale.
    grip: f64,
    reference: DVec3,
    slip: f64,
}

impl Pair {
    fn new(
        key: (u32, u32, u32),
        point: Place,
        other: Option<Place>,
        anchor: DVec3,
        normal: DVec3,
        edge: f64,
    ) -> Self {
        Self {
            key,
            point,
            other,
            anchor,
            normal,
            stiffness: 0.0,
            multiplier: 0.0,
            allowed: 0.0,
            grip: 0.0,
            reference: DVec3::ZERO,
            slip: 1e-3 * edge,
        }
    }

    fn relative(&self, positions: &[DVec3]) -> DVec3 {
        self.point.at(positions) - self.other.map_or(self.anchor, |o| o.at(positions) + self.anchor)
    }

    fn gap(&self, positions: &[DVec3]) -> f64 {
        self.relative(positions).dot(self.normal) + self.allowed
    }

    fn support(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.point.support().chain(self.other.iter().flat_map(|o| o.support().map(|(n, w)| (n, -w))))
    }
}

/// A penetration found in a state.
#[derive(Clone, Debug, PartialEq)]
pub struct Overlap {
    /// Collision surface whose vertex is inside.
    pub surface: usize,
    /// The vertex.
    pub vertex: usize,
    /// What it is inside of.
    pub against: Against,
    /// How deep, metres.
    pub depth: f64,
}

/// Bodies and boundary at a moment.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The bodies.
    pub model: &'a Model,
    /// Where their nodes are.
    pub positions: &'a [DVec3],
    /// What holds them.
    pub boundary: &'a Boundary,
    /// Seconds.
    pub time: f64,
}

/// All collisions of a scene. Empty by default.
#[derive(Debug, Default)]
pub struct Contacts {
    /// Soft surfaces.
    pub surfaces: Vec<CollisionSurface>,
    /// Rigid shapes.
    pub obstacles: Vec<Obstacle>,
    /// Which surface is tested against what.
    pub tests: Vec<(usize, Against)>,
    /// Settings.
    pub settings: ContactSettings,
    active: Vec<Pair>,
    multipliers: BTreeMap<(u32, u32, u32), f64>,
    /// Depths in the first state, once searched.
    initial: Option<BTreeMap<(u32, u32, u32), f64>>,
    start: Vec<DVec3>,
    start_time: f64,
    round: u32,
    looks: u32,
}

impl Contacts {
    /// Whether anything can touch.
    pub fn is_empty(&self) -> bool {
        self.tests.is_empty()
    }

    /// Forgets multipliers and contacts; the next step finds them again.
    pub(crate) fn forget(&mut self) {
        self.active.clear();
        self.multipliers.clear();
    }

    /// Tests every surface against every other one and every obstacle.
    pub fn test_everything(&mut self, own: bool) {
        self.tests.clear();
        for s in 0..self.surfaces.len() {
            self.tests.extend((0..self.obstacles.len()).map(|o| (s, Against::Obstacle(o))));
            for other in 0..self.surfaces.len() {
                if other != s || own {
                    self.tests.push((s, Against::Surface(other)));
                }
            }
        }
    }

    /// Penetrations in a state, deepest first.
    pub fn overlaps(&self, moment: &Moment) -> Vec<Overlap> {
        let mut list: Vec<Overlap> = self
            .find(moment)
            .iter()
            .filter_map(|p| {
                let depth = -p.relative(moment.positions).dot(p.normal);
                let (surface, test) = (p.key.0 as usize, p.key.2 as usize);
                (depth > 0.0).then(|| Overlap {
                    surface,
                    vertex: self.surfaces[surface].corner_of(p.key.1 as usize) as usize,
                    against: self.tests[test].1,
                    depth,
                })
            })
            .collect();
        list.sort_by(|a, b| {
            b.depth.total_cmp(&a.depth).then((a.surface, a.vertex).cmp(&(b.surface, b.vertex)))
        });
        list
    }

    pub(super) fn remember_initial(&mut self, moment: &Moment) {
        if self.initial.is_some() || self.is_empty() {
            return;
        }
        let depths = self.find(moment).into_iter().filter_map(|pair| {
            let depth = -pair.relative(moment.positions).dot(pair.normal);
            (depth > 0.0).then_some((pair.key, depth))
        });
        self.initial = Some(depths.collect());
    }

    /// Depth a point may have because it had it at the start; `blend` is the part of it that is left.
    fn allowed(&self, key: &(u32, u32, u32), blend: f64) -> f64 {
        let left = if self.settings.keep_overlap { 1.0 } else { blend };
        left * self.initial.as_ref().and_then(|depths| depths.get(key)).copied().unwrap_or(0.0)
    }

    pub(super) fn begin_step(&mut self, start: &[DVec3], time: f64) {
        if self.is_empty() {
            return;
        }
        self.start.clear();
        self.start.extend_from_slice(start);
        self.start_time = time;
        (self.round, self.looks) = (0, 0);
        // Points that pressed on another body stay candidates: inside or just outside, they belong together.
        let kept = &self.multipliers;
        self.active
            .retain(|p| p.other.is_some() && kept.contains_key(&p.key) && p.gap(start) < RELEASE * p.slip);
    }

    /// Finds the contacts and freezes them until the next call.
    pub(super) fn detect(&mut self, moment: &Moment, blend: f64) {
        if self.is_empty() {
            return;
        }
        let &Moment { model, positions, boundary, time } = moment;
        let mut pairs = self.find(moment);
        // Contacts found earlier in the step stay, or points would come and go between iterations.
        let mut old: BTreeMap<(u32, u32, u32), Pair> = self.active.iter().map(|p| (p.key, *p)).collect();
        let settled = self.looks >= SETTLED;
        self.looks += 1;
        let mut kept = Vec::new();
        pairs.retain(|pair| match old.remove(&pair.key) {
            Some(known) if settled => {
                kept.push(known);
                false
            }
            _ => true,
        });
        pairs.extend(old.into_values());
        // A constraint that converges slowly gets stiffer.
        let boost = f64::from(1u32 << (self.round / 3).min(10));
        for pair in &mut pairs {
            let surface = &self.surfaces[pair.key.0 as usize];
            let edge = model.parts[surface.part].edge;
            pair.stiffness = boost * self.settings.modulus * surface.area_of(pair.key.1 as usize) / edge;
            pair.multiplier = self.multipliers.get(&pair.key).copied().unwrap_or(0.0);
            pair.allowed = self.allowed(&pair.key, blend);
            let force = (pair.multiplier - pair.stiffness * pair.gap(positions)).max(0.0);
            pair.grip = self.settings.friction * force;
            let before = pair.point.at(&self.start) - pair.other.map_or(DVec3::ZERO, |o| o.at(&self.start));
            let drift = match self.tests[pair.key.2 as usize].1 {
                Against::Obstacle(o) => {
                    let bone = &boundary.bones[self.obstacles[o].bone];
                    let (then, now) = (bone.at(self.start_time), bone.at(time));
                    pair.anchor - then.transform_point3(now.inverse().transform_point3(pair.anchor))
                }
                Against::Surface(_) => DVec3::ZERO,
            };
            pair.reference = before + drift;
        }
        pairs.extend(kept);
        self.active = pairs;
    }

    /// Raises the multipliers where something is still too deep. Returns whether the step must be repeated.
    pub(super) fn renew(&mut self, moment: &Moment, blend: f64) -> bool {
        let Resolve::Constraint { tolerance, rounds } = self.settings.resolve else { return false };
        if self.is_empty() {
            return false;
        }
        for pair in &self.active {
            let force = (pair.multiplier - pair.stiffness * pair.gap(moment.positions)).max(0.0);
            if force > 0.0 {
                self.multipliers.insert(pair.key, force);
            } else {
                self.multipliers.remove(&pair.key);
            }
        }
        self.round += 1;
        self.looks = 0;
        self.round < rounds && self.too_deep(moment, blend) > tolerance
    }

    fn too_deep(&self, moment: &Moment, blend: f64) -> f64 {
        self.find(moment)
            .iter()
            .map(|p| -p.relative(moment.positions).dot(p.normal) - self.allowed(&p.key, blend))
            .fold(0.0, f64::max)
    }

    /// Depth of the deepest point, beyond what it may keep; 0 when nothing touches.
    pub fn deepest(&self, moment: &Moment) -> f64 {
        if self.is_empty() { 0.0 } else { self.too_deep(moment, 0.0) }
    }

    /// Adds the contact forces; returns their energy.
    pub(super) fn add_terms(&self, positions: &[DVec3], terms: &mut Vec<Term>) -> f64 {
        let mut energy = 0.0;
        for pair in &self.active {
            let push = pair.multiplier - pair.stiffness * pair.gap(positions);
            if push > 0.0 {
                let n = pair.normal;
                energy += push * push / (2.0 * pair.stiffness);
                let matrix = DMat3::from_cols(n * n.x, n * n.y, n * n.z) * pair.stiffness;
                terms.push(Term::new(pair.support(), n * -push, matrix));
            }
            if pair.grip > 0.0 {
                energy += friction(pair, positions, terms);
            }
        }
        energy
    }

    fn find(&self, moment: &Moment) -> Vec<Pair> {
        let &Moment { model, positions, boundary, time } = moment;
        let edges = matches!(self.settings.resolve, Resolve::Constraint { .. });
        let mut pairs = Vec::new();
        let attached = boundary.attached_at(time);
        let points: Vec<Vec<DVec3>> = self.surfaces.iter().map(|s| s.points(positions)).collect();
        let moved: Vec<Option<surface::Moved>> = (0..self.surfaces.len())
            .map(|s| {
                let wanted = self.tests.iter().any(|t| t.1 == Against::Surface(s));
                wanted.then(|| self.surfaces[s].moved(model, positions, edges.then_some(&points[s])))
            })
            .collect();
        for (test, &(s, against)) in self.tests.iter().enumerate() {
            let surface = &self.surfaces[s];
            let edge = model.parts[surface.part].edge;
            let found: Vec<Option<Pair>> = (0..points[s].len())
                .into_par_iter()
                .with_min_len(64)
                .map(|v| {
                    let p = points[s][v];
                    let (other, anchor, normal) = match against {
                        Against::Obstacle(o) => {
                            let bone = self.obstacles[o].bone;
                            if surface.places[v]
                                .support()
                                .all(|(n, _)| attached.binary_search(&(n, bone)).is_ok())
                            {
                                return None;
                            }
                            // Near ones too: the step may carry them in.
                            let (anchor, normal) = self.on_obstacle(o, boundary, time, p, 0.5 * edge)?;
                            (None, anchor, normal)
                        }
                        Against::Surface(o) => {
                            let home = (o == s).then(|| surface.home(v));
                            let hit = self.surfaces[o].enter(
                                model,
                                positions,
                                moved[o].as_ref()?,
                                &points[o],
                                p,
                                home,
                            )?;
                            (Some(hit.place), hit.normal * self.settings.thickness, hit.normal)
                        }
                    };
                    let key = (s as u32, v as u32, test as u32);
                    Some(Pair::new(key, surface.places[v], other, anchor, normal, edge))
                })
                .collect();
            pairs.extend(found.into_iter().flatten());
            if edges {
                self.find_edges(
                    model, positions, boundary, time, test, &points, &moved, &attached, &mut pairs,
                );
            }
        }
        pairs
    }

    /// Edges that cut into a body or bone although both their ends are outside: the middle of the piece inside is
    /// the point that is pushed out. Edges of embedded surfaces are not tested; those are finer than the
    /// tetrahedra that carry them.
    fn find_edges(
        &self,
        model: &Model,
        positions: &[DVec3],
        boundary: &Boundary,
        time: f64,
        test: usize,
        points: &[Vec<DVec3>],
        moved: &[Option<surface::Moved>],
        attached: &[(u32, usize)],
        pairs: &mut Vec<Pair>,
    ) {
        let (s, against) = self.tests[test];
        let surface = &self.surfaces[s];
        let edge = model.parts[surface.part].edge;
        let found: Vec<Option<Pair>> = surface
            .edges
            .par_iter()
            .with_min_len(64)
            .enumerate()
            .map(|(e, ends)| {
                let [a, b] = ends.map(|v| points[s][v as usize]);
                let (along, other, anchor, normal) = match against {
                    Against::Obstacle(o) => {
                        let bone = self.obstacles[o].bone;
                        let held = |v: u32| {
                            attached.binary_search(&(surface.places[v as usize].nodes[0], bone)).is_ok()
                        };
                        if ends.iter().any(|&v| held(v)) {
                            return None;
                        }
                        let world = boundary.bones[self.obstacles[o].bone].at(time).inverse();
                        let depth = |t: f64| {
                            let local = world.transform_point3(a.lerp(b, t));
                            self.obstacles[o].shape.sample(local).0
                        };
                        let ends = depth(0.0).min(depth(1.0));
                        let lowest = [0.25, 0.5, 0.75].into_iter().map(|t| (depth(t), t));
                        let (deepest, t) = lowest.min_by(|x, y| x.0.total_cmp(&y.0))?;
                        if deepest >= ends {
                            return None;
                        }
                        let (anchor, normal) = self.on_obstacle(o, boundary, time, a.lerp(b, t), 0.0)?;
                        (t, None, anchor, normal)
                    }
                    Against::Surface(o) => {
                        let home = (o == s).then(|| {
                            let [a, b] = ends.map(|v| surface.home(v as usize));
                            (a + b) * 0.5
                        });
                        let target = &self.surfaces[o];
                        let cut =
                            target.cut(model, positions, moved[o].as_ref()?, &points[o], [a, b], home)?;
                        let (along, hit) = cut;
                        (along, Some(hit.place), hit.normal * self.settings.thickness, hit.normal)
                    }
                };
                let [first, second] = ends.map(|v| surface.places[v as usize].nodes[0]);
                let point =
                    Place { nodes: [first, second, first, first], weights: [1.0 - along, along, 0.0, 0.0] };
                let key = (s as u32, (points[s].len() + e) as u32, test as u32);
                Some(Pair::new(key, point, other, anchor, normal, edge))
            })
            .collect();
        pairs.extend(found.into_iter().flatten());
    }

    /// Nearest place (kept at the settings' distance) and normal of an obstacle, if a point is within `reach` of it.
    fn on_obstacle(
        &self,
        obstacle: usize,
        boundary: &Boundary,
        time: f64,
        point: DVec3,
        reach: f64,
    ) -> Option<(DVec3, DVec3)> {
        let world = boundary.bones[self.obstacles[obstacle].bone].at(time);
        let local = world.inverse().transform_point3(point);
        let (distance, gradient) = self.obstacles[obstacle].shape.sample(local);
        if distance > self.settings.thickness + reach {
            return None;
        }
        let normal = world.transform_vector3(gradient).try_normalize()?;
        Some((point - normal * (distance - self.settings.thickness), normal))
    }
}

/// Coulomb friction smoothed below a slip of `pair.slip`: sticks there, slides beyond with constant force.
///
/// Based on: Li et al. Incremental Potential Contact. 2020 (the smoothed friction potential).
fn friction(pair: &Pair, positions: &[DVec3], terms: &mut Vec<Term>) -> f64 {
    let now = pair.point.at(positions) - pair.other.map_or(DVec3::ZERO, |o| o.at(positions));
    let moved = now - pair.reference;
    let n = pair.normal;
    let along = moved - n * moved.dot(n);
    let (u, e) = (along.length(), pair.slip);
    let (value, over) = if u < e {
        (u * u / e - u * u * u / (3.0 * e * e) + e / 3.0, 2.0 / e - u / (e * e))
    } else {
        (u, 1.0 / u)
    };
    let across = DMat3::IDENTITY - DMat3::from_cols(n * n.x, n * n.y, n * n.z);
    terms.push(Term::new(pair.support(), along * (pair.grip * over), across * (pair.grip * over)));
    pair.grip * value
}
