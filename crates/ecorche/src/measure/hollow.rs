//! Hollow: slots that stay open in closed folds.
//!
//! Where a limb is bent so far that its start passes through itself, flesh would lie on flesh, down to the bottom of the
//! fold. A skin that touches only at the mouth of the fold leaves a slot behind it, which one sees as a dark gap.
//!
//! The figure looks at skin *in a closed fold*. A fold is found by the new crossings of the start and of the method: each has a
//! *span*, the distance at rest between the two places that meet. Skin is in the fold if it is within reach of
//! a crossing along the surface, if it faces other skin of its group within reach of its normal (the two normals at most 60
//! degrees from opposite) that was more than twice as far at rest, or out of reach, and if its own span to what it faces is not
//! larger than that of the nearest crossing: it lies between the contact and the bottom of the fold. Skin on the far side
//! of the contact, where limbs part again as they should, has a larger span and is left out. Contact of span `s` closes a loop
//! of skin about that long: skin in the fold is at most `s / 2` from it along the surface, and its gap is at most that.
//! Vertices buried in other skin have no gap.
//!
//! The *gap* of such a vertex is the distance to what it faces. *Hollow* is the gap's 95th percentile over the skin in closed
//! folds, by area at rest, in millimetres, and its mean; 0 where no fold is closed. The *reach* is half the limb's thickness
//! under the vertex, at most 5 % of the longest side of the rest pose's box.

use super::Judge;
use crate::geom::bvh::{Bvh, Hit};
use crate::geom::intersect::Ray;
use crate::geom::mesh::corner_normals;
use glam::Vec3;
use rayon::prelude::*;
use std::collections::BinaryHeap;

/// Reach at most, of the longest side of the rest pose's box.
const LARGEST_REACH: f32 = 0.05;
/// Cosine between the normals of skin that faces each other, at most.
const FACING: f32 = -0.5;
/// Skin in a fold came nearer than this share of its gap at rest.
const NEARER: f32 = 0.5;

/// Gaps of one frame, millimetres.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Hollow {
    pub p95: f64,
    pub mean: f64,
}

/// A vertex on the way from a crossing: how far it may still go, metres; the span of that crossing.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Reached {
    left: f32,
    span: f32,
    vertex: u32,
}

impl Eq for Reached {}

impl PartialOrd for Reached {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Reached {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let by_left = self.left.total_cmp(&other.left).then(self.span.total_cmp(&other.span));
        by_left.then(other.vertex.cmp(&self.vertex))
    }
}

impl Judge {
    /// How far from `v` a fold is looked for, metres.
    pub(super) fn reach(&self, v: usize) -> f32 {
        (0.5 * self.thickness[v]).min(LARGEST_REACH * self.shape.longest_side())
    }

    /// Distance along `normal` to the skin that vertex `v` faces, with its triangle; `None` if there is none within reach.
    pub(super) fn facing(&self, v: usize, normal: Vec3, positions: &[Vec3], bvh: &Bvh) -> Option<Hit> {
        let triangles = &self.rest.triangles;
        let group = self.group_of_vertex[v];
        let other = |hit: &Hit| {
            let t = triangles[hit.triangle as usize];
            !t.contains(&(v as u32)) && self.group_of_vertex[t[0] as usize] == group
        };
        let hit =
            bvh.first_hit(&Ray::new(positions[v], normal), self.reach(v), positions, triangles, other)?;
        let [a, b, c] = triangles[hit.triangle as usize].map(|v| positions[v as usize]);
        let cosine = (b - a).cross(c - a).normalize_or_zero().dot(normal);
        (hit.front && cosine <= FACING).then_some(hit)
    }

    /// Gap of every vertex to the skin it faces at rest; infinite where it faces none.
    pub(super) fn rest_gaps(&self) -> Vec<f32> {
        let normals = self.rest.normals();
        let gap = |v: usize| {
            let hit = self.facing(v, normals[v], &self.rest.positions, self.contact.bvh());
            hit.map_or(f32::INFINITY, |hit| hit.distance)
        };
        (0..normals.len()).into_par_iter().with_min_len(256).map(gap).collect()
    }

    /// The slots of a frame. `crossing` are new pairs within a group, of the start and of the method; `buried` the vertices
    /// whose cover differs from rest; `bvh` fits `positions`.
    pub(super) fn hollow<'a>(
        &self,
        positions: &[Vec3],
        bvh: &Bvh,
        crossing: impl Iterator<Item = &'a [u32; 2]>,
        buried: &[(u32, f32)],
    ) -> Hollow {
        let reached = self.near_crossings(crossing);
        let faced = |v: usize, span: f32| {
            let hit = self.facing(v, self.normal(v, positions)?, positions, bvh)?;
            let inside = self.rest.positions[v].distance(self.rest_middle(hit.triangle)) <= span;
            let nearer = hit.distance < (NEARER * self.rest_gaps[v]).min(0.5 * span);
            (inside && nearer).then_some(hit.distance)
        };
        // On an open sheet burial is uncertain, so what a vertex faces is tested first.
        let gap = |&(v, span): &(u32, f32)| {
            let is_buried = || buried.binary_search_by_key(&v, |b| b.0).is_ok();
            let gap = faced(v as usize, span).or_else(|| is_buried().then_some(0.0));
            gap.map(|gap| (gap, self.rest_area[v as usize]))
        };
        let mut gaps: Vec<(f32, f32)> = reached.par_iter().with_min_len(64).filter_map(gap).collect();
        gaps.sort_by(|a, b| a.0.total_cmp(&b.0));
        let area: f64 = gaps.iter().map(|g| f64::from(g.1)).sum();
        if area <= 0.0 {
            return Hollow::default();
        }
        let mean = gaps.iter().map(|g| f64::from(g.0) * f64::from(g.1)).sum::<f64>() / area;
        let mut seen = 0.0;
        let p95 = gaps.iter().find(|g| {
            seen += f64::from(g.1);
            seen >= 0.95 * area
        });
        Hollow { p95: 1e3 * p95.map_or(0.0, |g| f64::from(g.0)), mean: 1e3 * mean }
    }

    /// Vertices within reach of a crossing along the surface, each with the span of the nearest; ascending.
    fn near_crossings<'a>(&self, crossing: impl Iterator<Item = &'a [u32; 2]>) -> Vec<(u32, f32)> {
        let mut best: Vec<Option<(f32, f32)>> = vec![None; self.rest.positions.len()];
        for &[a, b] in crossing {
            for (one, other) in [(a, b), (b, a)] {
                let faced = self.rest_middle(other);
                for v in self.rest.triangles[one as usize] {
                    let span = self.rest.positions[v as usize].distance(faced);
                    let left = self.reach(v as usize).min(0.5 * span);
                    let known = best[v as usize].get_or_insert((left, span));
                    *known = if span > known.1 { (left, span) } else { *known };
                }
            }
        }
        let first = best.iter().enumerate();
        let mut heap: BinaryHeap<Reached> = first
            .filter_map(|(v, &b)| b.map(|(left, span)| Reached { left, span, vertex: v as u32 }))
            .collect();
        while let Some(Reached { left, span, vertex }) = heap.pop() {
            if best[vertex as usize] != Some((left, span)) {
                continue;
            }
            for &w in self.adjacency.vertex_ring.get(vertex as usize) {
                let [p, q] = [vertex, w].map(|v| self.rest.positions[v as usize]);
                let next = left - p.distance(q);
                if next > 0.0 && best[w as usize].is_none_or(|(known, _)| next > known) {
                    best[w as usize] = Some((next, span));
                    heap.push(Reached { left: next, span, vertex: w });
                }
            }
        }
        best.iter().enumerate().filter_map(|(v, b)| b.map(|(_, span)| (v as u32, span))).collect()
    }

    /// Middle of a triangle at rest.
    fn rest_middle(&self, triangle: u32) -> Vec3 {
        self.rest.corners(triangle as usize).iter().sum::<Vec3>() / 3.0
    }

    /// Unit normal of a vertex in a pose; `None` if its triangles have none.
    fn normal(&self, v: usize, positions: &[Vec3]) -> Option<Vec3> {
        let around = self.adjacency.triangles_of_vertex.get(v).iter();
        let sum: Vec3 = around
            .map(|&t| {
                let triangle = self.rest.triangles[t as usize];
                let corner = triangle.iter().position(|&w| w as usize == v).unwrap_or(0);
                corner_normals(triangle.map(|v| positions[v as usize]))[corner]
            })
            .sum();
        sum.try_normalize()
    }
}
