//! What does not change while particles move: strands, the frames that carry them, obstacles.

use super::bend::bends;
use super::chain::Chain;
use super::constraint::attach::{Anchor, Tie};
use super::constraint::collide::{Keep, Obstacle};
use super::constraint::contact::on_line;
use super::constraint::distance::Distance;
use super::constraint::friction::FLESH;
use super::rigid::Rigid;
use super::step::{State, StrandState};
use glam::{DMat3, DVec3};

/// A strand as it is described: particles in order, at bind. All indices count within the strand.
#[derive(Clone, Debug, Default)]
pub struct StrandSpec {
    /// Where the particles are at bind, metres; at least one.
    pub position: Vec<DVec3>,
    /// One mass per particle, kilograms; above zero.
    pub mass: Vec<f64>,
    /// Points on frames that carry the strand; at least one.
    pub controls: Vec<Anchor>,
    /// `controls.len()` weights per particle, adding up to 1: where the frames alone would put it.
    pub weights: Vec<f64>,
    /// Particles that are exactly where they are carried.
    pub pinned: Vec<usize>,
    /// Particles tied to where they are carried.
    pub ties: Vec<Tie>,
    /// Links, solved in this order.
    pub links: Vec<Distance>,
    /// One radius per particle at bind, metres.
    pub radius: Vec<f64>,
    /// Loss of speed relative to the frames, 1/s.
    pub damping: f64,
    /// How fast bends that do not come from the frames straighten, 1/s per particle squared; shorter bends straighten
    /// faster. Keeps particles in line that contacts push one by one.
    pub straightens: f64,
    /// Coefficient of friction.
    pub friction: f64,
    /// Whether it stays out of the obstacles that are free outside.
    pub avoids_obstacles: bool,
    /// Whether it collides with other such strands.
    pub avoids_strands: bool,
    /// Strands of the same kin lie side by side at bind and do not push each other.
    pub kin: Option<usize>,
    /// Whether it bends no more sharply than it is thick.
    pub stout: bool,
    /// Obstacles that are free inside. What lies inside one of them at bind stays inside one of them.
    pub inside_of: Vec<usize>,
}

/// A control between two others. It holds the strand off an obstacle of its frame; where the frames fold the strand
/// around it and the straight way is free, it lets go, as a muscle leaves the bone it runs over when the joint closes on
/// its side. Over the outside of a joint it stays.
#[derive(Clone, Debug)]
pub(super) struct Via {
    /// The nearest of its frame.
    obstacle: Obstacle,
    /// Its distance from that at bind, metres.
    distance: f64,
    /// By how much the line through the controls turns there at bind, radians.
    fold: f64,
    /// Share of the way between its neighbours at bind.
    share: f64,
}

/// How much more than at bind the strand is folded when a control begins to let go, and when it has, radians.
const FOLDED: [f64; 2] = [0.5, 1.2];
/// Of the distance from the obstacle at bind: with less the straight way is not free, with more it is.
const FREE: [f64; 2] = [0.3, 0.7];

/// An offset smaller than this, units, is rounding.
const ROUNDING: f64 = 1e-9;

/// Controls of a strand up to which those between others let go.
const MOST_CONTROLS: usize = 16;

/// A strand ready to be stepped.
#[derive(Clone, Debug)]
pub struct Strand {
    pub(super) spec: StrandSpec,
    /// Whether its links can be solved together.
    pub(super) chain: bool,
    /// One per control.
    pub(super) via: Vec<Option<Via>>,
    /// Zero for pinned particles.
    pub(super) inverse_mass: Vec<f64>,
    /// Share of the last control's frame in directions, per particle; the rest is the first's.
    pub(super) share: Vec<f64>,
    /// From the carried place to the place at bind, in the first and the last control's frame; empty if there is none.
    pub(super) offset: Vec<[DVec3; 2]>,
    /// Acceleration that keeps the strand at rest at bind, in the same two frames, m/s^2.
    pub(super) hold: Vec<[DVec3; 2]>,
    /// Largest distance of a particle from the first at bind, metres; a hundredth of a unit at least.
    pub(super) size: f64,
    /// Distance to each obstacle at bind, obstacle by obstacle, metres.
    pub(super) clearance: Vec<f64>,
    /// Whether each particle stays inside the skin.
    pub(super) in_skin: Vec<bool>,
    /// How far each particle may lie beside the line between its neighbours whatever the radius, metres.
    pub(super) bend: Vec<f64>,
    /// Overlap with each other strand at bind; empty where there is none.
    pub(super) overlap: Vec<Vec<f64>>,
}

/// Strands, frames and obstacles at bind.
#[derive(Clone, Debug)]
pub struct System {
    pub(super) strands: Vec<Strand>,
    pub(super) obstacles: Vec<Obstacle>,
    pub(super) bind: Vec<Rigid>,
    pub(super) gravity: DVec3,
    pub(super) unit: f64,
}

impl Strand {
    fn new(spec: StrandSpec, bind: &[Rigid], obstacles: &[Obstacle], gravity: DVec3, unit: f64) -> Self {
        let count = spec.position.len();
        assert!(spec.mass.len() == count && spec.radius.len() == count, "one mass and radius per particle");
        assert!(spec.weights.len() == count * spec.controls.len(), "one weight per particle and control");
        let mut inverse_mass: Vec<f64> = spec.mass.iter().map(|m| m.recip()).collect();
        spec.pinned.iter().for_each(|&i| inverse_mass[i] = 0.0);
        let (first, last) = (spec.controls[0].frame, spec.controls[spec.controls.len() - 1].frame);
        let in_frames = |v: DVec3| [bind[first].vector_back(v), bind[last].vector_back(v)];
        let mut force: Vec<DVec3> = spec.mass.iter().map(|&m| m * gravity).collect();
        for link in &spec.links {
            let [i, j] = link.ends;
            let pull =
                link.tension(&spec.position, 1.0) * (spec.position[j] - spec.position[i]).normalize_or_zero();
            force[i] += pull;
            force[j] -= pull;
        }
        let mut strand = Self {
            chain: Chain::fits(&spec.links),
            via: vias(&spec.controls, bind, obstacles),
            share: (0..count).map(|i| i as f64 / (count.max(2) - 1) as f64).collect(),
            offset: Vec::new(),
            hold: force.iter().zip(&inverse_mass).map(|(&f, &w)| in_frames(-f * w)).collect(),
            size: spec
                .position
                .iter()
                .fold(0.01 * unit, |size: f64, p| size.max(p.distance(spec.position[0]))),
            clearance: Vec::with_capacity(obstacles.len() * count),
            in_skin: Vec::new(),
            bend: bends(&spec.position).into_iter().map(|b| 1.001 * b).collect(),
            overlap: Vec::new(),
            inverse_mass,
            spec,
        };
        let mut carried = vec![DVec3::ZERO; count];
        strand.carry(bind, &mut carried);
        let off = || strand.spec.position.iter().zip(&carried).map(|(p, c)| p - c);
        if off().any(|by| by.length() > ROUNDING * unit) {
            strand.offset = off().map(in_frames).collect();
        }
        for obstacle in obstacles {
            let frame = &bind[obstacle.frame];
            let distances =
                strand.spec.position.iter().map(|&p| obstacle.free_distance(frame.point_back(p)).0);
            strand.clearance.extend(distances);
        }
        let inside = |i: usize| strand.spec.inside_of.iter().any(|o| strand.clearance[o * count + i] > 0.0);
        strand.in_skin = (0..count).map(inside).collect();
        strand
    }

    /// Number of particles.
    pub(crate) fn len(&self) -> usize {
        self.spec.position.len()
    }

    /// What it was made from.
    pub(crate) fn spec(&self) -> &StrandSpec {
        &self.spec
    }

    /// Rotations of the first and the last control's frame.
    pub(super) fn turns(&self, frames: &[Rigid]) -> [DMat3; 2] {
        let (first, last) = (&self.spec.controls[0], &self.spec.controls[self.spec.controls.len() - 1]);
        [first, last].map(|control| DMat3::from_quat(frames[control.frame].rotation))
    }

    /// A direction kept in the first and the last frame, in the world, by the [`turns`](Self::turns) of these.
    #[inline]
    pub(super) fn blended(&self, i: usize, kept: [DVec3; 2], turns: &[DMat3; 2]) -> DVec3 {
        let s = self.share[i];
        turns[0] * (kept[0] * (1.0 - s)) + turns[1] * (kept[1] * s)
    }

    /// Where the frames alone put the particles.
    pub(crate) fn carry(&self, frames: &[Rigid], carried: &mut [DVec3]) {
        let controls = self.spec.controls.len();
        let mut few = [DVec3::ZERO; MOST_CONTROLS];
        let many: Vec<DVec3>;
        let places = if controls <= MOST_CONTROLS {
            self.place_controls(frames, &mut few);
            &few[..controls]
        } else {
            many = self.spec.controls.iter().map(|control| control.position(frames)).collect();
            &many[..]
        };
        for (place, row) in carried.iter_mut().zip(self.spec.weights.chunks_exact(controls)) {
            *place = row.iter().zip(places).fold(DVec3::ZERO, |sum, (&w, &p)| sum + w * p);
        }
        if !self.offset.is_empty() {
            let turns = self.turns(frames);
            for (i, place) in carried.iter_mut().enumerate() {
                *place += self.blended(i, self.offset[i], &turns);
            }
        }
    }

    /// Where the controls are, those that let go between their neighbours.
    fn place_controls(&self, frames: &[Rigid], places: &mut [DVec3; MOST_CONTROLS]) {
        let controls = &self.spec.controls;
        for (place, control) in places.iter_mut().zip(controls) {
            *place = control.position(frames);
        }
        for (k, via) in self.via.iter().enumerate() {
            let Some(via) = via else { continue };
            let [before, here, after] = [places[k - 1], places[k], places[k + 1]];
            let folded = smoothstep(FOLDED, fold(before, here, after) - via.fold);
            if folded > 0.0 {
                let straight = before.lerp(after, via.share);
                let local = frames[controls[k].frame].point_back(straight);
                let free = via.obstacle.free_distance(local).0 / via.distance;
                places[k] = here.lerp(straight, folded * smoothstep(FREE, free));
            }
        }
    }

    /// Whether it collides with another strand.
    pub(super) fn meets(&self, other: &Self) -> bool {
        let kin = self.spec.kin.is_some() && self.spec.kin == other.spec.kin;
        self.spec.avoids_strands && other.spec.avoids_strands && !kin
    }

    /// How far a particle stays from an obstacle that is free outside, metres: its radius, or less if it was closer at
    /// bind.
    #[inline]
    pub(super) fn clearance(&self, obstacle: usize, particle: usize, radius: f64) -> f64 {
        self.clearance[obstacle * self.len() + particle].min(radius)
    }
}

impl System {
    /// Makes a system at rest. `unit`: its size against a human's, metres to the metre. Lengths, speeds and stiffnesses of
    /// this module are those of a human; a system a hundred times as large moves the same way under a hundred times the gravity.
    ///
    /// # Panics
    /// If lists that belong together differ in length or an index is out of range.
    pub fn new(
        bind: Vec<Rigid>,
        strands: Vec<StrandSpec>,
        obstacles: Vec<Obstacle>,
        gravity: DVec3,
        unit: f64,
    ) -> Self {
        let ready = |spec: StrandSpec| Strand::new(spec, &bind, &obstacles, gravity, unit);
        let mut strands: Vec<Strand> = strands.into_iter().map(ready).collect();
        let overlaps: Vec<Vec<Vec<f64>>> = strands
            .iter()
            .map(|own| strands.iter().map(|other| overlap_at_bind(own, other, &obstacles, &bind)).collect())
            .collect();
        strands.iter_mut().zip(overlaps).for_each(|(strand, overlap)| strand.overlap = overlap);
        Self { strands, obstacles, bind, gravity, unit }
    }

    /// The strands.
    pub(crate) fn strands(&self) -> &[Strand] {
        &self.strands
    }

    /// The obstacles.
    pub(crate) fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    /// The obstacle, among those a strand stays inside, that a point is deepest in, and the depth, metres.
    #[inline]
    pub(super) fn skin_around(
        &self,
        strand: &Strand,
        frames: &[Rigid],
        point: DVec3,
    ) -> Option<(usize, f64)> {
        let mut deepest = (f64::NEG_INFINITY, None);
        for &o in &strand.spec.inside_of {
            let obstacle = &self.obstacles[o];
            let depth = obstacle.free_distance(frames[obstacle.frame].point_back(point)).0;
            if depth > deepest.0 {
                deepest = (depth, Some((o, depth)));
            }
        }
        deepest.1
    }

    /// Its size against a human's.
    pub(crate) fn unit(&self) -> f64 {
        self.unit
    }

    /// How hard flesh pushes back, N/m: masses grow with the cube of the size.
    pub(super) fn flesh(&self) -> f64 {
        FLESH * self.unit.powi(3)
    }

    /// Frames at bind.
    pub(crate) fn bind(&self) -> &[Rigid] {
        &self.bind
    }

    /// The state at rest in a pose: every particle where the frames carry it.
    pub fn at_rest(&self, frames: &[Rigid]) -> State {
        let strands = self
            .strands
            .iter()
            .map(|strand| {
                let mut position = vec![DVec3::ZERO; strand.len()];
                strand.carry(frames, &mut position);
                StrandState { velocity: vec![DVec3::ZERO; position.len()], position, rested: 0.0 }
            })
            .collect();
        State { strands, frames: frames.to_vec() }
    }
}

/// By how much a line turns at the second of three points, radians.
fn fold(before: DVec3, here: DVec3, after: DVec3) -> f64 {
    let (u, v) = (here - before, after - here);
    u.cross(v).length().atan2(u.dot(v))
}

/// A smooth step from 0 at the first to 1 at the second.
fn smoothstep([from, to]: [f64; 2], x: f64) -> f64 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// The data of each control between two others; `None` for one whose frame has no obstacle.
fn vias(controls: &[Anchor], bind: &[Rigid], obstacles: &[Obstacle]) -> Vec<Option<Via>> {
    let place = |k: usize| controls[k].position(bind);
    let of = |k: usize| -> Option<Via> {
        if k == 0 || k + 1 >= controls.len() {
            return None;
        }
        let Anchor { frame, at } = controls[k];
        let own = obstacles.iter().filter(|o| o.frame == frame && o.keep == Keep::Outside);
        let distances = own.map(|o| (o.free_distance(at).0, o));
        let (distance, obstacle) = distances.min_by(|a, b| a.0.total_cmp(&b.0)).filter(|d| d.0 > 0.0)?;
        let (before, here, after) = (place(k - 1), place(k), place(k + 1));
        let share = here.distance(before) / (here.distance(before) + here.distance(after)).max(1e-12);
        Some(Via { obstacle: obstacle.clone(), distance, fold: fold(before, here, after), share })
    };
    (0..controls.len()).map(of).collect()
}

/// How much each particle of `own` overlaps `other` at bind; empty if none does, or if they may. Infinite where an
/// obstacle lies between them: muscles on two sides of a bone do not push each other.
fn overlap_at_bind(own: &Strand, other: &Strand, obstacles: &[Obstacle], bind: &[Rigid]) -> Vec<f64> {
    if std::ptr::eq(own, other) || !own.meets(other) || other.len() < 2 {
        return Vec::new();
    }
    let overlaps: Vec<f64> = own
        .spec
        .position
        .iter()
        .zip(&own.spec.radius)
        .map(|(&p, r)| {
            let (segment, t, distance) = on_line(&other.spec.position, p);
            let radius = other.spec.radius[segment] * (1.0 - t) + other.spec.radius[segment + 1] * t;
            let overlap = (r + radius - distance).max(0.0);
            let there = other.spec.position[segment].lerp(other.spec.position[segment + 1], t);
            let near = distance < 2.0 * (r + radius);
            if near && obstacles.iter().any(|o| lies_between(o, bind, p, there)) {
                f64::INFINITY
            } else {
                overlap
            }
        })
        .collect();
    if overlaps.iter().all(|&o| o == 0.0) { Vec::new() } else { overlaps }
}

/// Whether an obstacle that is free outside lies on the way between two points.
fn lies_between(obstacle: &Obstacle, bind: &[Rigid], a: DVec3, b: DVec3) -> bool {
    const STEPS: usize = 8;
    let frame = &bind[obstacle.frame];
    let (a, b) = (frame.point_back(a), frame.point_back(b));
    let (centre, radius) = obstacle.reach;
    let near = (0.5 * (a + b)).distance(centre) < radius + 0.5 * a.distance(b);
    let inside = |k: usize| obstacle.free_distance(a.lerp(b, k as f64 / STEPS as f64)).0 < 0.0;
    obstacle.keep == Keep::Outside && near && (1..STEPS).any(inside)
}
