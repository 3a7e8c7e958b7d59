//! Which vertices lie inside another part of the surface, and how deep.
//!
//! Every vertex has a *cover*: the winding number of the surface just in front of it. It is 0 on an outer skin,
//! 1 or more where the vertex is buried in another part (or in a fold of its own), -1 where a fold has turned
//! the skin inside out. Walking along the surface, the cover changes only where another sheet is pierced, by
//! one up going in and one down coming out. So it is counted by walking: exact edge-triangle piercings cut the
//! surface into regions of one cover, and the regions are numbered from the outermost vertices of each component.
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

use crate::geom::adjacency::{Adjacency, Lists};
use crate::geom::bvh::Bvh;
use crate::geom::intersect::{Ray, edge_pierces};
use crate::geom::mesh::corner_normals;
use crate::geom::self_contact::Crossings;
use glam::Vec3;
use rayon::prelude::*;
use std::collections::VecDeque;

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

impl<'a> Sheet<'a> {
    /// Of triangles whose neighbours, components and groups are known.
    pub fn new(
        triangles: &'a [[u32; 3]],
        adjacency: &'a Adjacency,
        component_of_vertex: &'a [u32],
        group_of_vertex: &'a [u32],
    ) -> Self {
        let Adjacency { vertex_ring, triangles_of_vertex, .. } = adjacency;
        Self { triangles, vertex_ring, triangles_of_vertex, component_of_vertex, group_of_vertex }
    }
}

/// Directions in which outermost vertices are looked for.
const WAYS_OUT: [Vec3; 6] = [Vec3::NEG_X, Vec3::X, Vec3::NEG_Y, Vec3::Y, Vec3::NEG_Z, Vec3::Z];

/// Cover and region of every vertex in one pose; to be used again for the next.
#[derive(Clone, Debug, Default)]
pub struct Burial {
    /// `None` where the ring crosses itself.
    pub cover: Vec<Option<i32>>,
    /// Connected sets of one cover.
    pub region: Vec<u32>,
    crossed_ring: Vec<bool>,
    piercings: Piercings,
    /// Ascending by region and its neighbour.
    borders: Vec<Border>,
    outermost: Vec<[u32; WAYS_OUT.len()]>,
    seeds: Vec<(u32, i32)>,
    cover_of_region: Vec<Option<i32>>,
    /// Scratch of the walks over vertices, and over regions with their cover.
    stack: Vec<u32>,
    queue: VecDeque<(u32, i32)>,
}

/// Edges that pierce triangles.
#[derive(Clone, Debug, Default)]
struct Piercings {
    /// Edge `(a, b)`, `a < b`, triangle, and the change of cover from `a` to `b`; ascending.
    found: Vec<((u32, u32), u32, i32)>,
    /// For each pierced edge the change of cover, ascending.
    steps: Vec<((u32, u32), i32)>,
    /// Of each vertex: it is an end of such an edge.
    is_end: Vec<bool>,
}

/// Two regions side by side, seen from the first.
#[derive(Clone, Copy, Debug)]
struct Border {
    from: u32,
    to: u32,
    /// Sum of the changes of cover over its edges.
    sum: i32,
    edges: i32,
}

impl Burial {
    /// Counts the cover of every vertex within its group. `bvh` fits `positions`.
    pub fn cover(&mut self, sheet: &Sheet, positions: &[Vec3], crossings: &Crossings, bvh: &Bvh) {
        self.piercings.find(sheet, positions, crossings);
        self.crossed_ring.clear();
        self.crossed_ring.resize(positions.len(), false);
        for &[a, b] in &crossings.folds {
            let other = sheet.triangles[b as usize];
            for v in sheet.triangles[a as usize].into_iter().filter(|v| other.contains(v)) {
                self.crossed_ring[v as usize] = true;
            }
        }
        let region_count = self.find_regions(sheet.vertex_ring);
        self.find_borders();
        self.find_seeds(sheet, positions, bvh);
        let Self { cover_of_region, seeds, borders, queue, region, crossed_ring, .. } = self;
        cover_of_region.clear();
        cover_of_region.resize(region_count, None);
        for &(seed, known) in seeds.iter() {
            let region = region[seed as usize];
            if cover_of_region[region as usize].is_none() {
                cover_of_region[region as usize] = Some(known);
                queue.push_back((region, known));
            }
        }
        while let Some((from, known)) = queue.pop_front() {
            let first = borders.partition_point(|border| border.from < from);
            for border in borders[first..].iter().take_while(|border| border.from == from) {
                if cover_of_region[border.to as usize].is_none() {
                    // The edges agree on a closed surface; at rims and torn places the majority decides.
                    let reached = known + (border.sum as f32 / border.edges as f32).round() as i32;
                    cover_of_region[border.to as usize] = Some(reached);
                    queue.push_back((border.to, reached));
                }
            }
        }
        self.cover.clear();
        let known = region.iter().zip(crossed_ring.iter());
        self.cover
            .extend(known.map(|(&r, &crossed)| if crossed { None } else { cover_of_region[r as usize] }));
    }

    /// Edges and the triangles they pierce, ascending.
    pub fn pierced(&self) -> impl Iterator<Item = ((u32, u32), u32)> + Clone + '_ {
        self.piercings.found.iter().map(|&(edge, triangle, _)| (edge, triangle))
    }

    /// Connected sets of vertices along edges that pierce nothing, numbered by their first vertex; returns how many. A vertex
    /// whose ring crosses itself is a region of its own.
    fn find_regions(&mut self, vertex_ring: &Lists) -> usize {
        let Self { region, crossed_ring, piercings, stack, .. } = self;
        region.clear();
        region.resize(vertex_ring.len(), u32::MAX);
        let mut found = 0;
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
                    let is_new = region[w as usize] == u32::MAX && !crossed_ring[w as usize];
                    if is_new && !piercings.cut(v, w) {
                        region[w as usize] = found;
                        stack.push(w);
                    }
                }
            }
            found += 1;
        }
        found as usize
    }

    /// For each region, the regions next to it with the change of cover.
    fn find_borders(&mut self) {
        let Self { borders, piercings, region, .. } = self;
        borders.clear();
        for &((a, b), step) in &piercings.steps {
            let (ra, rb) = (region[a as usize], region[b as usize]);
            for (from, to, sum) in [(ra, rb, step), (rb, ra, -step)] {
                borders.push(Border { from, to, sum, edges: 1 });
            }
        }
        borders.sort_unstable_by_key(|border| (border.from, border.to));
        borders.dedup_by(|next, kept| {
            let is_same = (next.from, next.to) == (kept.from, kept.to);
            if is_same {
                kept.sum += next.sum;
                kept.edges += next.edges;
            }
            is_same
        });
    }

    /// For each component its outermost vertices along the axes and the cover there. One alone does not do: a wrist that is turned inside
    /// out between it and the body would count the whole body as buried.
    fn find_seeds(&mut self, sheet: &Sheet, positions: &[Vec3], bvh: &Bvh) {
        let Self { outermost, seeds, crossed_ring, .. } = self;
        let count = sheet.component_of_vertex.iter().max().map_or(0, |&c| c as usize + 1);
        outermost.clear();
        outermost.resize(count, [u32::MAX; WAYS_OUT.len()]);
        for (v, &component) in sheet.component_of_vertex.iter().enumerate() {
            if crossed_ring[v] || sheet.triangles_of_vertex.get(v).is_empty() {
                continue;
            }
            for (best, way) in outermost[component as usize].iter_mut().zip(&WAYS_OUT) {
                if *best == u32::MAX || positions[v].dot(*way) > positions[*best as usize].dot(*way) {
                    *best = v as u32;
                }
            }
        }
        outermost.retain(|of_component| of_component[0] != u32::MAX);
        let seed = |i: usize| {
            // Nothing of its own component is farther out, so the ray only meets others of the group.
            let (v, way) = (outermost[i / WAYS_OUT.len()][i % WAYS_OUT.len()], WAYS_OUT[i % WAYS_OUT.len()]);
            let ray = Ray::new(positions[v as usize], way);
            let mut outside = 0;
            bvh.each_hit(&ray, f32::INFINITY, positions, sheet.triangles, |hit| {
                let first = sheet.triangles[hit.triangle as usize][0] as usize;
                if sheet.component_of_vertex[first] != sheet.component_of_vertex[v as usize]
                    && sheet.group_of_vertex[first] == sheet.group_of_vertex[v as usize]
                {
                    outside += if hit.front { -1 } else { 1 };
                }
            });
            // An outermost vertex whose normal points inward belongs to a skin turned inside out.
            let inside_out = vertex_normal(sheet, positions, v).dot(way) < 0.0;
            (v, outside - i32::from(inside_out))
        };
        (0..outermost.len() * WAYS_OUT.len()).into_par_iter().map(seed).collect_into_vec(seeds);
    }

    /// Depth of each listed vertex, metres, after [`Burial::cover`]; `change` is its cover less that at rest. They replace
    /// what was in `found`.
    pub fn depths(
        &self,
        sheet: &Sheet,
        positions: &[Vec3],
        bvh: &Bvh,
        vertices: &[(u32, i32)],
        found: &mut Vec<f32>,
    ) {
        let depth = |&(v, change): &(u32, i32)| {
            let here = positions[v as usize];
            let normal = vertex_normal(sheet, positions, v);
            let (group, region) = (sheet.group_of_vertex[v as usize], self.region[v as usize]);
            let opposed = |t: u32, on: Vec3| {
                let triangle = sheet.triangles[t as usize];
                if sheet.group_of_vertex[triangle[0] as usize] != group || triangle.contains(&v) {
                    return false;
                }
                if triangle.iter().all(|&w| self.region[w as usize] != region) {
                    return true;
                }
                let [a, b, c] = triangle.map(|w| positions[w as usize]);
                let facing = (b - a).cross(c - a);
                facing.dot(normal) < 0.0 && facing.dot(here - on) * (change as f32) < 0.0
            };
            bvh.nearest(here, f32::INFINITY, positions, sheet.triangles, opposed).map_or(0.0, |n| n.distance)
        };
        vertices.par_iter().with_min_len(16).map(depth).collect_into_vec(found);
    }
}

impl Piercings {
    /// Finds the edges of crossing triangles that pierce one of the same group.
    fn find(&mut self, sheet: &Sheet, positions: &[Vec3], crossings: &Crossings) {
        let Self { found, steps, is_end } = self;
        found.clear();
        let group = |t: u32| sheet.group_of_vertex[sheet.triangles[t as usize][0] as usize];
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
        steps.clear();
        is_end.clear();
        is_end.resize(positions.len(), false);
        for of_edge in found.chunk_by(|a, b| a.0 == b.0) {
            let (a, b) = of_edge[0].0;
            steps.push(((a, b), of_edge.iter().map(|piercing| piercing.2).sum()));
            is_end[a as usize] = true;
            is_end[b as usize] = true;
        }
    }

    /// Whether the edge between two vertices pierces anything.
    #[inline]
    fn cut(&self, v: u32, w: u32) -> bool {
        let edge = (v.min(w), v.max(w));
        self.is_end[v as usize]
            && self.is_end[w as usize]
            && self.steps.binary_search_by_key(&edge, |step| step.0).is_ok()
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::{SelfContact, TriMesh};

    #[test]
    fn a_corner_in_another_body_is_covered_and_free_again_when_it_leaves() {
        let corner = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::Z];
        let faces = [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]];
        let both = |apart: f32| corner.into_iter().chain(corner.map(|p| p + apart)).collect::<Vec<Vec3>>();
        let triangles = faces.into_iter().chain(faces.map(|t| t.map(|v| v + 4))).collect();
        let mesh = TriMesh { positions: both(0.2), triangles };
        let adjacency = Adjacency::new(&mesh);
        let (component_of_vertex, _) = adjacency.components();
        let sheet = Sheet::new(&mesh.triangles, &adjacency, &component_of_vertex, &[0; 8]);
        let mut contact = SelfContact::new(&mesh.positions, &mesh.triangles);
        let (mut burial, mut depths) = (Burial::default(), Vec::new());
        // What one pose leaves behind must not show in the next.
        for (apart, buried) in [(0.2, 1), (2.0, 0), (0.2, 1)] {
            let positions = both(apart);
            let crossings = contact.find(&positions);
            burial.cover(&sheet, &positions, &crossings, contact.bvh());
            let expected: Vec<_> = (0..8).map(|v| Some(if v == 4 { buried } else { 0 })).collect();
            assert_eq!(burial.cover, expected, "{apart} m apart");
            if buried == 1 {
                burial.depths(&sheet, &positions, contact.bvh(), &[(4, 1)], &mut depths);
                assert!(depths.len() == 1 && (depths[0] - apart).abs() < 1e-6, "{depths:?}");
            }
        }
    }

    /// A closed tube of which the last rings are mirrored, as a wrist is that turns inside out, along each axis both ways.
    #[test]
    fn an_end_turned_inside_out_buries_nothing_else() {
        let (rings, around) = (24, 16);
        let turned_from = 18;
        let index = |ring: u32, k: u32| ring * around + k % around;
        let mut triangles = Vec::new();
        for (ring, k) in (0..rings - 1).flat_map(|ring| (0..around).map(move |k| (ring, k))) {
            let [a, b, c, d] = [(ring, k), (ring, k + 1), (ring + 1, k), (ring + 1, k + 1)];
            let [a, b, c, d] = [a, b, c, d].map(|(ring, k)| index(ring, k));
            triangles.extend([[a, b, c], [b, d, c]]);
        }
        let (low, high) = (rings * around, rings * around + 1);
        for k in 0..around {
            triangles.push([low, index(0, k + 1), index(0, k)]);
            triangles.push([high, index(rings - 1, k), index(rings - 1, k + 1)]);
        }
        for (axis, across, up) in [(Vec3::X, Vec3::Y, Vec3::Z), (Vec3::Y, Vec3::Z, Vec3::X)]
            .into_iter()
            .flat_map(|(a, b, c)| [(a, b, c), (-a, b, -c), (c, a, b), (-c, a, -b)])
        {
            let at = |ring: u32, k: u32| {
                let (sine, cosine) = (std::f32::consts::TAU * (k as f32 + 0.3) / around as f32).sin_cos();
                let mirrored = if ring >= turned_from { -sine } else { sine };
                axis * (0.5 * ring as f32) + across * cosine + up * mirrored
            };
            let mut positions: Vec<Vec3> =
                (0..rings).flat_map(|ring| (0..around).map(move |k| at(ring, k))).collect();
            positions.extend([axis * -0.2, axis * (0.5 * rings as f32 - 0.3)]);
            let mesh = TriMesh { positions, triangles: triangles.clone() };
            let adjacency = Adjacency::new(&mesh);
            let (component_of_vertex, _) = adjacency.components();
            let sheet = Sheet::new(&mesh.triangles, &adjacency, &component_of_vertex, &component_of_vertex);
            let mut contact = SelfContact::new(&mesh.positions, &mesh.triangles);
            let crossings = contact.find(&mesh.positions);
            assert!(!crossings.pairs.is_empty(), "nothing is turned");
            let mut burial = Burial::default();
            burial.cover(&sheet, &mesh.positions, &crossings, contact.bvh());
            let body = &burial.cover[..((turned_from - 1) * around) as usize];
            assert!(body.iter().all(|&cover| cover == Some(0)), "along {axis}: {body:?}");
            let end = &burial.cover[((turned_from + 1) * around) as usize..low as usize];
            assert!(end.iter().all(|&cover| cover == Some(-1)), "along {axis}: {end:?}");
        }
    }
}
