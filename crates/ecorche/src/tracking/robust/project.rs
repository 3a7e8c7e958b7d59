//! Stage `project`: steps of awake vertices to the zero of the level function.

use super::lengths;
use super::level::{Level, NEAR_ENOUGH};
use super::pose::Posed;
use super::tracker::{PREFETCH_BLOCK, Tracked, Tracker, VERTICES_PER_TASK, Workspace};
use crate::tracking::VertexReport;
use glam::Vec3A;
use rayon::prelude::*;

/// Steps to the level. With the skin relaxed between them, over four rounds, contact was no smoother after the stage `smooth`, and
/// held contacts flickered more.
pub(super) const PROJECTIONS: u32 = 4;
/// Steps, after that, that lengthen edges that are too short and shorten those that are too long.
const LENGTH_STEPS: u32 = 8;

impl Tracker {
    pub(super) fn project(&self, posed: &Posed, w: &mut Workspace, tracked: &mut Tracked) {
        let model = &self.model;
        w.moved.resize(w.awake.len(), Vec3A::ZERO);
        w.evaluations.clear();
        w.evaluations.resize(w.awake.len(), 0);
        if !self.project_elsewhere(posed, w, &tracked.positions) {
            self.project_vertices(posed, w, tracked);
        }
        for (vertex, &moved) in w.awake.iter().zip(&w.moved) {
            tracked.positions[vertex.vertex as usize] = moved;
        }
        tracked.note("project");
        self.keep_lengths(w, tracked);
        tracked.reports.clear();
        tracked.reports.resize(self.len(), VertexReport::default());
        for (&v, found) in model.tracked.iter().zip(&w.searched) {
            tracked.reports[v as usize].evaluations = found.evaluations;
        }
        for (i, awake) in w.awake.iter().enumerate() {
            let report = &mut tracked.reports[awake.vertex as usize];
            report.iterations = PROJECTIONS;
            report.evaluations += w.evaluations[i];
        }
    }

    /// Lengthens edges that are too short and shortens those that are too long: first all of them, then those that this made so.
    fn keep_lengths(&self, w: &mut Workspace, tracked: &mut Tracked) {
        let model = &self.model;
        w.place.clear();
        w.place.resize(self.len(), u32::MAX);
        w.awake.iter().zip(0..).for_each(|(awake, i)| w.place[awake.vertex as usize] = i);
        w.short.clear();
        w.short.extend(w.awake.iter().map(|awake| awake.vertex));
        for _ in 0..LENGTH_STEPS {
            let (positions, rest, place) = (&tracked.positions, &w.rest, &w.place);
            let (awake, levels) = (&w.awake, &w.levels);
            let kept = |&v: &u32| {
                let to = lengths::keep_lengths(&model.mean, rest, v as usize, |k| positions[k]);
                let i = place[v as usize] as usize;
                if to == positions[v as usize] { to } else { awake[i].limit(to, levels[i].held) }
            };
            w.short.par_iter().with_min_len(VERTICES_PER_TASK).map(kept).collect_into_vec(&mut w.moved);
            let was = w.short.len();
            for i in 0..was {
                let (v, to) = (w.short[i], w.moved[i]);
                if tracked.positions[v as usize] == to {
                    continue;
                }
                tracked.positions[v as usize] = to;
                let around = model.mean.of(v as usize).map(|(k, _)| k);
                w.short.extend(around.chain([v]).filter(|&k| w.place[k as usize] != u32::MAX));
            }
            w.short.drain(..was);
            w.short.sort_unstable();
            w.short.dedup();
        }
    }

    /// Projects the awake vertices.
    fn project_vertices(&self, posed: &Posed, w: &mut Workspace, tracked: &Tracked) {
        let words = self.model.bones.len().div_ceil(64).max(1);
        let (awake, near, positions) = (&w.awake, &w.awake_near, &tracked.positions);
        let project = |i: usize, moved: &mut Vec3A, level: &mut Level, evaluations: &mut u32| {
            let vertex = &awake[i];
            let v = vertex.vertex as usize;
            let near = &near[i * words..(i + 1) * words];
            let near_enough = NEAR_ENOUGH * posed.parts[self.model.part[v] as usize].radius;
            let mut is_known = vertex.knows_level;
            *moved = positions[v];
            for _ in 0..PROJECTIONS {
                if !is_known {
                    *level = posed.level(v, &vertex.input, *moved, near);
                    *evaluations += 1;
                }
                let (x, found, more) = posed.project(v, &vertex.input, *moved, level, near);
                *moved = vertex.hold(x, found.held);
                *level = found;
                *evaluations += more;
                is_known = moved.distance_squared(x) < near_enough * near_enough;
                if is_known && found.h.abs() < near_enough {
                    break;
                }
            }
        };
        w.moved
            .par_chunks_mut(PREFETCH_BLOCK)
            .zip(w.levels.par_chunks_mut(PREFETCH_BLOCK))
            .zip(w.evaluations.par_chunks_mut(PREFETCH_BLOCK))
            .with_min_len(VERTICES_PER_TASK / PREFETCH_BLOCK)
            .enumerate()
            .for_each(|(block, ((moved, levels), evaluations))| {
                let first = block * PREFETCH_BLOCK;
                for i in first..first + moved.len() {
                    posed.prefetch(positions[awake[i].vertex as usize], &near[i * words..(i + 1) * words]);
                }
                for (k, moved) in moved.iter_mut().enumerate() {
                    project(first + k, moved, &mut levels[k], &mut evaluations[k]);
                }
            });
    }
}
