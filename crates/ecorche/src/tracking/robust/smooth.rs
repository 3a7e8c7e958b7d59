//! Stage `smooth`: where contact wants the skin becomes a smooth correction of skinning.
//!
//! What the stages before made of skin in contact is a displacement from skinning, `t`, with dents and corners of its own.
//! The skin takes the displacement `d` that is near it and bends least:
//!
//! ```text
//! sum over vertices of M (w |d - t|^2 + |d|^2)  +  |(s r)^2 L d|^2 / M
//! ```
//!
//! M are areas, L is the cotangent Laplacian at rest, r the inner radius of the part, and w is large in contact and 0
//! elsewhere. So the skin leaves skinning around a contact only, within some radii of it, and as smoothly as a plate would.
//! Then pressure: the volume that contact has taken from the flesh pushes out the skin beside it.
//!
//! One symmetric system for the three coordinates; a fixed number of conjugate gradient steps, from the pose alone.

use super::lengths;
use super::model::Model;
use super::plate::Plate;
use super::pose::smoothstep;
use super::tracker::{Tracked, Tracker, Workspace};
use crate::parts::FOLLOWS;
use glam::{Mat3A, Vec3A};
use rayon::prelude::*;
use std::collections::VecDeque;

/// In inner radii: length over which the skin is stiff. At 0.6 the athlete's curl has 246 crossings to go back from instead of none.
const STIFF_LENGTH: f32 = 0.3;
/// Weight of contact. At 30 two and a half times as many vertices of the curl cross again; at 300 a tenth more edges are bent.
const CONTACT_WEIGHT: f32 = 100.0;
/// In inner radii: displacement from which on contact counts in full, and below which it is none.
const FULL_CONTACT: f32 = 0.02;
const LEAST_CONTACT: f32 = 0.001;
/// In inner radii along the skin: how far from contact the skin may move. At 1.5 the curl keeps five crossings, at 2.5 a tenth more
/// vertices take part.
const REACH: f32 = 2.0;
/// Steps of conjugate gradients; with twice as many the skin is the same within 0.4 degrees.
const STEPS: usize = 10;
const PRESSURE_STEPS: usize = 5;
/// Share of the lost volume that pressure gives back. With none the curl loses 1.12 % instead of 0.96, with all the squat gains 1.22 %
/// instead of 0.97.
const RELIEF: f32 = 0.6;
/// In inner radii: how far from contact pressure acts, where it is complete, and the most it moves.
const PRESSURE_REACH: f32 = 1.2;
const PRESSURE_RAMP: f32 = 0.5;
const MOST_PRESSURE: f32 = 0.1;
/// In inner radii: length over which pressure evens out.
const PRESSURE_SPREAD: f32 = 0.5;

/// Steps, after that, that lengthen edges that are too short and shorten those that are too long.
const LENGTH_STEPS: usize = 8;

/// Vertices in a block whose sums are added up in one go: the same for any number of threads.
const BLOCK: usize = 512;

/// Scratch of [`Tracker::smooth`].
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// Of each vertex: distance from contact along the skin, metres.
    distance: Vec<f32>,
    queue: VecDeque<u32>,
    /// The vertices that may move, ascending; and of each vertex its place among them.
    active: Vec<u32>,
    place: Vec<u32>,
    system: System,
    target: Vec<Vec3A>,
    force: Vec<Vec3A>,
    moved: Vec<Vec3A>,
    spread: Vec<Vec3A>,
    solver: Solver,
}

/// The system of the active vertices.
#[derive(Clone, Debug, Default)]
struct System {
    starts: Vec<u32>,
    edges: Vec<(u32, f32)>,
    /// Of each: sum of its edges' weights, area, bending stiffness, weight of contact.
    sum: Vec<f32>,
    area: Vec<f32>,
    stiffness: Vec<f32>,
    weight: Vec<f32>,
    diagonal: Vec<f32>,
}

/// Vectors of conjugate gradients.
#[derive(Clone, Debug, Default)]
struct Solver {
    residual: Vec<Vec3A>,
    direction: Vec<Vec3A>,
    bent: Vec<Vec3A>,
    applied: Vec<Vec3A>,
    sums: Vec<Vec3A>,
    diagonal: Vec<f32>,
}

impl Tracker {
    /// Replaces the correction that contact asks for by a smooth one.
    pub(super) fn smooth(&self, w: &mut Workspace, tracked: &mut Tracked) {
        let (model, plate) = (&self.model, &self.plate);
        let scratch = &mut w.smooth;
        let start = &w.skinned;
        scratch.find_active(model, plate, start, &w.held, &tracked.positions);
        if scratch.active.is_empty() {
            return;
        }
        let Scratch { distance, active, place, system, target, force, moved, spread, solver, .. } = scratch;
        system.gather(plate, active, place);
        target.clear();
        system.weight.clear();
        for &v in active.iter() {
            let v = v as usize;
            let t = tracked.positions[v] - start[v].0;
            let share = t.length() / (FULL_CONTACT * plate.radius[v]).max(f32::MIN_POSITIVE);
            system.weight.push(if distance[v] <= 0.0 {
                CONTACT_WEIGHT * w.held[v] * smoothstep(share)
            } else {
                0.0
            });
            target.push(t);
        }
        force.clear();
        force.extend(target.iter().zip(&system.weight).zip(&system.area).map(|((&t, &w), &m)| t * (w * m)));
        moved.clear();
        moved.resize(active.len(), Vec3A::ZERO);
        system.prepare();
        solver.solve(system, force, moved, STEPS);
        // The volume that was moved inward, and the skin that can take it up, are spread along the skin; their ratio is how far it goes.
        let normal = |v: usize| start[v].1 * plate.normal[v];
        let open = |v: usize, weight: f32| {
            let r = plate.radius[v].max(f32::MIN_POSITIVE);
            let fade = smoothstep(1.0 - distance[v] / (PRESSURE_REACH * r));
            fade * (distance[v] / (PRESSURE_RAMP * r)).min(1.0) / (1.0 + weight)
        };
        let lost = |(i, &v): (usize, &u32)| {
            let v = v as usize;
            let (area, open) = (system.area[i], open(v, system.weight[i]));
            Vec3A::new(-area * normal(v).dot(moved[i]), area * open * open, 0.0)
        };
        target.clear();
        target.extend(active.iter().enumerate().map(lost));
        solver.spread(system, plate, active, target, spread);
        for (i, &v) in active.iter().enumerate() {
            let v = v as usize;
            let most = MOST_PRESSURE * plate.radius[v];
            let pressure = RELIEF * spread[i].x.max(0.0) / spread[i].y.max(1e-6 * system.area[i]);
            let pressure =
                most * pressure / (most * most + pressure * pressure).sqrt().max(f32::MIN_POSITIVE);
            force[i] += normal(v) * (system.area[i] * open(v, system.weight[i]) * pressure);
        }
        solver.solve(system, force, moved, PRESSURE_STEPS);
        for (&v, &d) in active.iter().zip(moved.iter()) {
            if d.is_finite() {
                tracked.positions[v as usize] = start[v as usize].0 + d;
            }
        }
        for _ in 0..LENGTH_STEPS {
            let (positions, rest) = (&tracked.positions, &w.rest);
            let kept = |&v: &u32| lengths::keep_lengths(&model.mean, rest, v as usize, |k| positions[k]);
            active.par_iter().with_min_len(BLOCK).map(kept).collect_into_vec(moved);
            active.iter().zip(moved.iter()).for_each(|(&v, &x)| tracked.positions[v as usize] = x);
        }
    }
}

impl Scratch {
    /// Lists the skin near contact, and its distance from it along the skin.
    fn find_active(
        &mut self,
        model: &Model,
        plate: &Plate,
        start: &[(Vec3A, Mat3A)],
        held: &[f32],
        tracked: &[Vec3A],
    ) {
        let Self { distance, queue, active, place, .. } = self;
        distance.clear();
        distance.resize(tracked.len(), f32::INFINITY);
        active.clear();
        for (v, (x, from)) in tracked.iter().zip(start).enumerate() {
            let moved = x.distance(from.0);
            if model.part[v] != FOLLOWS
                && held[v] > 0.0
                && moved > LEAST_CONTACT * plate.radius[v]
                && moved.is_finite()
            {
                distance[v] = 0.0;
                queue.push_back(v as u32);
                active.push(v as u32);
            }
        }
        while let Some(v) = queue.pop_front() {
            for &(k, _) in plate.edges(v as usize) {
                let to = distance[v as usize] + model.rest[v as usize].distance(model.rest[k as usize]);
                let k_index = k as usize;
                if to < REACH * plate.radius[k_index] && to < distance[k_index] {
                    if distance[k_index] == f32::INFINITY {
                        active.push(k);
                    }
                    distance[k_index] = to;
                    queue.push_back(k);
                }
            }
        }
        active.sort_unstable();
        place.clear();
        place.resize(tracked.len(), u32::MAX);
        active.iter().zip(0..).for_each(|(&v, i)| place[v as usize] = i);
    }
}

impl System {
    /// The plate of the active vertices; the others stand still.
    fn gather(&mut self, plate: &Plate, active: &[u32], place: &[u32]) {
        let Self { starts, edges, sum, area, stiffness, .. } = self;
        [&mut *sum, area, stiffness].into_iter().for_each(Vec::clear);
        starts.clear();
        starts.push(0);
        edges.clear();
        for &v in active {
            let ring = plate.edges(v as usize);
            edges.extend(
                ring.iter().filter(|e| place[e.0 as usize] != u32::MAX).map(|e| (place[e.0 as usize], e.1)),
            );
            starts.push(edges.len() as u32);
            sum.push(ring.iter().map(|e| e.1).sum());
            area.push(plate.area[v as usize]);
            stiffness.push((STIFF_LENGTH * plate.radius[v as usize]).powi(4) / plate.area[v as usize]);
        }
    }

    #[inline]
    fn edges(&self, i: usize) -> &[(u32, f32)] {
        &self.edges[self.starts[i] as usize..self.starts[i + 1] as usize]
    }

    /// Fills in the diagonal.
    fn prepare(&mut self) {
        self.diagonal.clear();
        for i in 0..self.area.len() {
            let around: f32 = self.edges(i).iter().map(|e| e.1 * e.1 * self.stiffness[e.0 as usize]).sum();
            let own = self.sum[i] * self.sum[i] * self.stiffness[i];
            self.diagonal.push(self.area[i] * (self.weight[i] + 1.0) + own + around);
        }
    }

    #[inline]
    fn laplacian(&self, x: &[Vec3A], i: usize) -> Vec3A {
        self.edges(i).iter().fold(x[i] * self.sum[i], |sum, e| sum - x[e.0 as usize] * e.1)
    }
}

impl Solver {
    /// Steps of conjugate gradients from `x` toward the solution with the right-hand side `force`.
    fn solve(&mut self, system: &System, force: &[Vec3A], x: &mut [Vec3A], steps: usize) {
        let apply = |x: &[Vec3A], bent: &mut Vec<Vec3A>, applied: &mut Vec<Vec3A>| {
            let bend = |i: usize| system.laplacian(x, i) * system.stiffness[i];
            (0..x.len()).into_par_iter().with_min_len(BLOCK).map(bend).collect_into_vec(bent);
            let whole =
                |i: usize| x[i] * (system.area[i] * (system.weight[i] + 1.0)) + system.laplacian(bent, i);
            (0..x.len()).into_par_iter().with_min_len(BLOCK).map(whole).collect_into_vec(applied);
        };
        self.descend(apply, &system.diagonal, force, x, steps);
    }

    /// Evens numbers out along the skin: the solution of `(M + l^2 L) f = numbers`.
    fn spread(
        &mut self,
        system: &System,
        plate: &Plate,
        active: &[u32],
        numbers: &[Vec3A],
        spread: &mut Vec<Vec3A>,
    ) {
        let square = |i: usize| (PRESSURE_SPREAD * plate.radius[active[i] as usize]).powi(2);
        let flow = |i: usize, e: &(u32, f32)| e.1 * 0.5 * (square(i) + square(e.0 as usize));
        let apply = |x: &[Vec3A], _: &mut Vec<Vec3A>, applied: &mut Vec<Vec3A>| {
            let whole = |i: usize| {
                let edges = system.edges(i).iter();
                edges.fold(x[i] * system.area[i], |sum, e| sum + (x[i] - x[e.0 as usize]) * flow(i, e))
            };
            (0..x.len()).into_par_iter().with_min_len(BLOCK).map(whole).collect_into_vec(applied);
        };
        let mut diagonal = std::mem::take(&mut self.diagonal);
        let of = |i: usize| system.area[i] + system.edges(i).iter().map(|e| flow(i, e)).sum::<f32>();
        diagonal.clear();
        diagonal.extend((0..numbers.len()).map(of));
        spread.clear();
        spread.resize(numbers.len(), Vec3A::ZERO);
        self.descend(apply, &diagonal, numbers, spread, STEPS);
        self.diagonal = diagonal;
    }

    /// Steps of conjugate gradients, each coordinate for itself.
    fn descend(
        &mut self,
        apply: impl Fn(&[Vec3A], &mut Vec<Vec3A>, &mut Vec<Vec3A>),
        diagonal: &[f32],
        force: &[Vec3A],
        x: &mut [Vec3A],
        steps: usize,
    ) {
        let Self { residual, direction, bent, applied, sums, .. } = self;
        let least = Vec3A::splat(f32::MIN_POSITIVE);
        apply(x, bent, applied);
        residual.clear();
        residual.extend(force.iter().zip(applied.iter()).map(|(&f, &a)| f - a));
        direction.clear();
        direction.extend(residual.iter().zip(diagonal).map(|(&r, &d)| r / d));
        let mut size = dot(residual, direction, sums);
        for _ in 0..steps {
            apply(direction, bent, applied);
            let step = size / dot(direction, applied, sums).max(least);
            for (i, x) in x.iter_mut().enumerate() {
                *x += step * direction[i];
                residual[i] -= step * applied[i];
            }
            // The preconditioned residual, in the place of what was applied.
            applied.iter_mut().zip(residual.iter()).zip(diagonal).for_each(|((z, &r), &d)| *z = r / d);
            let next = dot(residual, applied, sums);
            let share = next / size.max(least);
            direction.iter_mut().zip(applied.iter()).for_each(|(d, &z)| *d = z + share * *d);
            size = next;
        }
    }
}

/// Sum of the products of each coordinate, added up block by block.
fn dot(a: &[Vec3A], b: &[Vec3A], sums: &mut Vec<Vec3A>) -> Vec3A {
    let block = |(a, b): (&[Vec3A], &[Vec3A])| a.iter().zip(b).fold(Vec3A::ZERO, |sum, (&a, &b)| sum + a * b);
    a.par_chunks(BLOCK).zip(b.par_chunks(BLOCK)).map(block).collect_into_vec(sums);
    sums.iter().fold(Vec3A::ZERO, |sum, &s| sum + s)
}
