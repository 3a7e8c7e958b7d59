//! Which vertices lie inside another part of the surface, and how deep.
//!
//! Every vertex has a *cover*: the winding number of the surface just in front of it. It is 0 on an outer skin,
//! 1 or more where the vertex is buried in another part (or in a fold of its own), -1 where a fold has turned
//! the skin inside out. Walking along the surface, the cover changes only where another sheet is pierced, by
//! one up going in and one down coming out. So it is counted by walking: exact edge-triangle piercings cut the
//! surface into regions of one cover, and the regions are numbered from the outermost vertex of each component.
//!
//! Where a crossing begins, at a vertex whose own ring crosses itself, the front has no side; such a vertex
//! belongs to no region and has no cover.
//!
//! No tolerance is involved and no point is offset from the skin. A surface without crossings has cover 0
//! everywhere, so tight folds that do not touch are never reported: the trap of tests that probe just above the
//! skin. What rest already covers is subtracted by the caller.
//!
//! Depth of a buried vertex: the distance to the nearest triangle of another region, or of its own region if
//! that faces it from the opposite side (the two halves of a fold are one region). So it is never more than the
//! way back out along the surface, and for two balls it is the overlap. A thin part swallowed whole shows its
//! own thickness at most: count the buried vertices for that.
//!
//! On an open surface a cover says less: a part that enters through a hole and leaves through the skin is
//! counted from where it leaves.

use crate::geom::adjacency::Lists;
use crate::geom::bvh::Bvh;
use crate::geom::intersect::{Ray, edge_pierces};
use crate::geom::mesh::corner_normals;
use crate::geom::self_contact::Crossings;
use glam::Vec3;
use rayon::prelude::*;
use std::collections::BTreeMap;

/// A surface's connections.
pub struct Sheet<'a> {
    /// Vertices of each triangle.
    pub triangles: &'a [[u32; 3]],
    /// Neighbours of each vertex.
    pub vertex_ring: &'a Lists,
    /// Triangles around each vertex.
    pub triangles_of_vertex: &'a Lists,
    /// Connected component of each vertex.
    pub component_of_vertex: &'a [u32],
    /// Group of each vertex: what is in another group covers nothing.
    pub group_of_vertex: &'a [u32],
}

/// Cover and region of every vertex.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cover {
    /// `None` where the ring crosses itself.
    pub cover: Vec<Option<i32>>,
    /// Connected sets of one cover.
    pub region: Vec<u32>,
}

/// Counts the cover of every vertex within its group. `bvh` fits `positions`.
pub fn cover(sheet: &Sheet, positions: &[Vec3], crossings: &Crossings, bvh: &Bvh) -> Cover {
    let steps = piercings(sheet, positions, crossings);
    let mut crossed_ring = vec![false; positions.len()];
    for &[a, b] in &crossings.folds {
        let other = sheet.triangles[b as usize];
        for v in sheet.triangles[a as usize].into_iter().filter(|v| other.contains(v)) {
            crossed_ring[v as usize] = true;
        }
    }
    let region = regions(sheet.vertex_ring, &steps, &crossed_ring);
    let region_count = region.iter().max().map_or(0, |&r| r as usize + 1);
    // For each region, the regions next to it with the change of cover, one entry per edge.
    let mut next: Vec<BTreeMap<u32, (i32, i32)>> = vec![BTreeMap::new(); region_count];
    for (&(a, b), &step) in &steps {
        let (ra, rb) = (region[a as usize], region[b as usize]);
        for (from, to, step) in [(ra, rb, step), (rb, ra, -step)] {
            let votes = next[from as usize].entry(to).or_default();
            *votes = (votes.0 + step, votes.1 + 1);
        }
    }
    let mut cover_of_region: Vec<Option<i32>> = vec![None; region_count];
    for (seed, known) in seeds(sheet, positions, bvh, &crossed_ring) {
        let start = region[seed as usize];
        cover_of_region[start as usize] = Some(known);
        let mut queue = std::collections::VecDeque::from([(start, known)]);
        while let Some((from, known)) = queue.pop_front() {
            for (&to, &(sum, edges)) in &next[from as usize] {
                if cover_of_region[to as usize].is_none() {
                    // The edges agree on a closed surface; at rims and torn places the majority decides.
                    let reached = known + (sum as f32 / edges as f32).round() as i32;
                    cover_of_region[to as usize] = Some(reached);
                    queue.push_back((to, reached));
                }
            }
        }
    }
    let known = region.iter().zip(&crossed_ring);
    let cover =
        known.map(|(&r, &crossed)| if crossed { None } else { cover_of_region[r as usize] }).collect();
    Cover { cover, region }
}

/// For each pierced edge `(a, b)`, `a < b`, the change of cover from `a` to `b`.
fn piercings(sheet: &Sheet, positions: &[Vec3], crossings: &Crossings) -> BTreeMap<(u32, u32), i32> {
    let group = |t: u32| sheet.group_of_vertex[sheet.triangles[t as usize][0] as usize];
    let mut found = Vec::new();
    for &[a, b] in crossings.pairs.iter().chain(&crossings.folds) {
        if group(a) != group(b) {
            continue;
        }
        for (edges_of, pierced) in [(a, b), (b, a)] {
            let t = sheet.triangles[edges_of as usize];
            let other = sheet.triangles[pierced as usize];
            for k in 0..3 {
                let (p, q) = (t[k].min(t[(k + 1) % 3]), t[k].max(t[(k + 1) % 3]));
                if other.contains(&p) || other.contains(&q) {
                    continue;
                }
                let corners = other.map(|v| positions[v as usize]);
                if let Some(step) = edge_pierces(positions[p as usize], positions[q as usize], corners) {
                    found.push(((p, q), pierced, step));
                }
            }
        }
    }
    // Both triangles on an edge report its piercings.
    found.sort_unstable();
    found.dedup();
    let mut steps = BTreeMap::new();
    for (edge, _, step) in found {
        *steps.entry(edge).or_insert(0) += step;
    }
    steps
}

/// Connected sets of vertices along edges that pierce nothing, numbered by their first vertex. A vertex whose
/// ring crosses itself is a region of its own.
fn regions(vertex_ring: &Lists, steps: &BTreeMap<(u32, u32), i32>, crossed_ring: &[bool]) -> Vec<u32> {
    let mut region = vec![u32::MAX; vertex_ring.len()];
    let mut found = 0;
    let mut stack = Vec::new();
    let mut pierces = vec![false; vertex_ring.len()];
    for &(a, b) in steps.keys() {
        pierces[a as usize] = true;
        pierces[b as usize] = true;
    }
    for first in 0..region.len() {
        if region[first] != u32::MAX {
            continue;
        }
        region[first] = found;
        stack.push(first as u32);
        while let Some(v) = stack.pop() {
            if crossed_ring[v as usize] {
                continue;
            }
            for &w in vertex_ring.get(v as usize) {
                let cut =
                    pierces[v as usize] && pierces[w as usize] && steps.contains_key(&(v.min(w), v.max(w)));
                if region[w as usize] == u32::MAX && !cut && !crossed_ring[w as usize] {
                    region[w as usize] = found;
                    stack.push(w);
                }
            }
        }
        found += 1;
    }
    region
}

/// For each component its outermost vertex towards -x and the cover there.
fn seeds(sheet: &Sheet, positions: &[Vec3], bvh: &Bvh, crossed_ring: &[bool]) -> Vec<(u32, i32)> {
    let count = sheet.component_of_vertex.iter().max().map_or(0, |&c| c as usize + 1);
    let mut outermost = vec![u32::MAX; count];
    for (v, &component) in sheet.component_of_vertex.iter().enumerate() {
        if crossed_ring[v] {
            continue;
        }
        let best = &mut outermost[component as usize];
        if *best == u32::MAX || positions[v].x < positions[*best as usize].x {
            *best = v as u32;
        }
    }
    outermost
        .into_par_iter()
        .filter(|&v| v != u32::MAX && !sheet.triangles_of_vertex.get(v as usize).is_empty())
        .map(|v| {
            // Nothing of its own component is farther out, so the ray only meets others of the group.
            let ray = Ray::new(positions[v as usize], Vec3::NEG_X);
            let hits = bvh.all_hits(&ray, f32::INFINITY, positions, sheet.triangles);
            let foreign = hits.iter().filter(|hit| {
                let first = sheet.triangles[hit.triangle as usize][0] as usize;
                sheet.component_of_vertex[first] != sheet.component_of_vertex[v as usize]
                    && sheet.group_of_vertex[first] == sheet.group_of_vertex[v as usize]
            });
            let outside: i32 = foreign.map(|hit| if hit.front { -1 } else { 1 }).sum();
            // An outermost vertex whose normal points inward belongs to a skin turned inside out.
            let inside_out = vertex_normal(sheet, positions, v).x > 0.0;
            (v, outside - i32::from(inside_out))
        })
        .collect()
}

/// Normal of `v` from the triangles around it; not normalised.
fn vertex_normal(sheet: &Sheet, positions: &[Vec3], v: u32) -> Vec3 {
    let weighted = |&t: &u32| {
        let triangle = sheet.triangles[t as usize];
        let corner = triangle.iter().position(|&w| w == v).unwrap_or(0);
        corner_normals(triangle.map(|w| positions[w as usize]))[corner]
    };
    sheet.triangles_of_vertex.get(v as usize).iter().map(weighted).sum()
}

/// Depth of each listed vertex, metres; `change` is its cover less that at rest.
pub fn depths(
    sheet: &Sheet,
    positions: &[Vec3],
    cover: &Cover,
    bvh: &Bvh,
    vertices: &[(u32, i32)],
) -> Vec<f32> {
    vertices
        .par_iter()
        .with_min_len(16)
        .map(|&(v, change)| {
            let here = positions[v as usize];
            let normal = vertex_normal(sheet, positions, v);
            let (group, region) = (sheet.group_of_vertex[v as usize], cover.region[v as usize]);
            let opposed = |t: u32, on: Vec3| {
                let triangle = sheet.triangles[t as usize];
                if sheet.group_of_vertex[triangle[0] as usize] != group || triangle.contains(&v) {
                    return false;
                }
                if triangle.iter().all(|&w| cover.region[w as usize] != region) {
                    return true;
                }
                let [a, b, c] = triangle.map(|w| positions[w as usize]);
                let facing = (b - a).cross(c - a);
                facing.dot(normal) < 0.0 && facing.dot(here - on) * (change as f32) < 0.0
            };
            bvh.nearest(here, f32::INFINITY, positions, sheet.triangles, opposed).map_or(0.0, |n| n.distance)
        })
        .collect()
}
