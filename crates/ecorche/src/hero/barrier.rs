//! Contact of a surface with itself that is never violated: a barrier around every triangle, and steps that
//! end before triangles meet.
//!
//! Based on: Li et al. Incremental Potential Contact. 2020, and Li, Kaufman, Jiang. Codimensional Incremental
//! Potential Contact. 2021 (the way a step is bounded).
//! Differs in: the barrier is a function of the distance, not of its square; its stiffness keeps the part along the
//! distance only; the width of the barrier is at most half of what lay between two primitives at rest, so that
//! a rest shape has no forces, however fine its triangles are.
//!
//! A pair is a vertex and a triangle, or two edges, without a common vertex. `b(d) = -(d - w)^2 ln(d / w)` for
//! distances `d` below the width `w`.

use crate::geom::TriMesh;
use crate::geom::bvh::{Aabb, Bvh};
use crate::geom::intersect::closest_with_weights;
use glam::DVec3;
use rayon::prelude::*;
use std::collections::BTreeSet;

/// A vertex and a triangle, or two edges: vertex numbers, and how many of them come first (1 or 2).
type Key = (u8, [u32; 4]);

/// Two primitives that are closer than the barrier is wide.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Vertices of the surface.
    pub vertices: [u32; 4],
    /// Gradient of the barrier's energy by the vertex positions.
    pub gradient: [DVec3; 4],
    /// Weights of the vertices in the vector between the nearest points.
    pub weights: [f64; 4],
    /// Direction of that vector, of unit length.
    pub normal: DVec3,
    /// Second derivative along the normal, not negative.
    pub stiffness: f64,
    /// Energy.
    pub energy: f64,
}

/// The barrier of one surface.
#[derive(Debug)]
pub struct Barrier {
    rest: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    /// For each triangle, the edges it owns: an edge belongs to the first of its triangles.
    edges: Vec<Vec<[u32; 2]>>,
    /// For each triangle, the vertices it owns.
    own: Vec<Vec<u32>>,
    /// A third of the area of the triangles around each vertex.
    area: Vec<f64>,
    /// Distance at which the barrier begins.
    width: f64,
    /// Energy scale, pascals per metre.
    scale: f64,
    /// Pairs that already touch at rest; they are ignored.
    ignored: BTreeSet<Key>,
    bvh: Bvh,
}

impl Barrier {
    /// A barrier of `width` metres around the triangles of a rest shape; at half of it the pressure is about
    /// `pressure` pascals.
    pub fn new(mesh: &TriMesh, width: f64, pressure: f64) -> Self {
        let rest: Vec<DVec3> = mesh.positions.iter().map(|p| p.as_dvec3()).collect();
        let mut owner = vec![u32::MAX; rest.len()];
        let mut area = vec![0.0; rest.len()];
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            let [a, b, c] = triangle.map(|v| rest[v as usize]);
            let third = (b - a).cross(c - a).length() / 6.0;
            for &v in triangle {
                owner[v as usize] = owner[v as usize].min(t as u32);
                area[v as usize] += third;
            }
        }
        let mut own = vec![Vec::new(); mesh.triangles.len()];
        for (v, &t) in owner.iter().enumerate().filter(|(_, t)| **t != u32::MAX) {
            own[t as usize].push(v as u32);
        }
        let mut all: Vec<([u32; 2], u32)> = Vec::with_capacity(3 * mesh.triangles.len());
        for (t, &[a, b, c]) in mesh.triangles.iter().enumerate() {
            all.extend([[a, b], [b, c], [c, a]].map(|[p, q]| ([p.min(q), p.max(q)], t as u32)));
        }
        all.sort_unstable();
        all.dedup_by_key(|e| e.0);
        let mut edges = vec![Vec::new(); mesh.triangles.len()];
        for (edge, t) in all {
            edges[t as usize].push(edge);
        }
        let bvh = Bvh::over_triangles(&mesh.positions, &mesh.triangles);
        let mut barrier = Self {
            rest,
            triangles: mesh.triangles.clone(),
            edges,
            own,
            area,
            width,
            scale: pressure / width,
            ignored: BTreeSet::new(),
            bvh,
        };
        barrier.ignore_what_meets(mesh);
        barrier
    }

    fn ignore_what_meets(&mut self, mesh: &TriMesh) {
        let mut search = crate::geom::SelfContact::new(&mesh.positions, &mesh.triangles);
        let found = search.find(&mesh.positions);
        for &[a, b] in found.pairs.iter().chain(&found.folds) {
            let ring = |t: u32| self.triangles[t as usize];
            for (first, second) in [(a, b), (b, a)] {
                for v in ring(first) {
                    self.ignored.insert(point_key(v, ring(second)));
                }
            }
            for e in sides(ring(a)) {
                for f in sides(ring(b)) {
                    self.ignored.insert(edge_key(e, f));
                }
            }
        }
    }

    /// Distance at which the barrier begins.
    pub fn width(&self) -> f64 {
        self.width
    }

    /// Pairs of primitives whose boxes, grown by `reach` and swept along `moves`, overlap.
    fn candidates(&mut self, points: &[DVec3], moves: Option<&[DVec3]>, reach: f64) -> Vec<Key> {
        let triangles = &self.triangles;
        let grow = DVec3::splat(0.5 * reach);
        self.bvh.refit(|t| {
            let mut low = DVec3::INFINITY;
            let mut high = DVec3::NEG_INFINITY;
            for v in triangles[t as usize] {
                let p = points[v as usize];
                let q = moves.map_or(p, |m| p + m[v as usize]);
                (low, high) = (low.min(p).min(q), high.max(p).max(q));
            }
            // Rounding to single precision must not lose a pair.
            let slack = grow + low.abs().max(high.abs()) * 1e-6;
            Aabb { low: (low - slack).as_vec3(), high: (high + slack).as_vec3() }
        });
        let pairs = self.bvh.self_pairs(|_, _| true);
        let far = |a: &[u32], b: &[u32]| {
            let bounds = |list: &[u32]| {
                list.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), &v| {
                    let p = points[v as usize];
                    let q = moves.map_or(p, |m| p + m[v as usize]);
                    (low.min(p).min(q), high.max(p).max(q))
                })
            };
            let ((al, ah), (bl, bh)) = (bounds(a), bounds(b));
            (al - bh).max(bl - ah).max_element() > reach
        };
        let lists: Vec<Vec<Key>> = pairs
            .par_chunks(1024)
            .map(|chunk| {
                let mut keys = Vec::new();
                for &[a, b] in chunk {
                    let (a, b) = (a as usize, b as usize);
                    for (x, y) in [(a, b), (b, a)] {
                        let triangle = self.triangles[y];
                        for &v in &self.own[x] {
                            if !triangle.contains(&v) && !far(&[v], &triangle) {
                                keys.push(point_key(v, triangle));
                            }
                        }
                    }
                    for &e in &self.edges[a] {
                        for &f in &self.edges[b] {
                            if !e.contains(&f[0]) && !e.contains(&f[1]) && !far(&e, &f) {
                                keys.push(edge_key(e, f));
                            }
                        }
                    }
                }
                keys
            })
            .collect();
        let mut keys: Vec<Key> = lists.into_iter().flatten().collect();
        keys.retain(|key| self.ignored.is_empty() || !self.ignored.contains(key));
        keys
    }

    /// Width of the barrier of a pair, bounded by its distance at rest.
    fn width_of(&self, key: &Key) -> f64 {
        self.width.min(0.5 * between(key, &self.rest).length)
    }

    /// All pairs that are closer than their barrier is wide.
    pub fn find(&mut self, points: &[DVec3]) -> Vec<Touch> {
        let keys = self.candidates(points, None, self.width);
        keys.par_iter().with_min_len(256).filter_map(|key| self.touch(key, points)).collect()
    }

    /// Energy of the barrier.
    pub fn energy(&mut self, points: &[DVec3]) -> f64 {
        self.find(points).iter().map(|t| t.energy).sum()
    }

    /// Pairs of surface vertices that may interact: those closer than `reach`.
    pub fn near(&mut self, points: &[DVec3], reach: f64) -> Vec<[u32; 4]> {
        let keys = self.candidates(points, None, reach);
        keys.iter()
            .filter(|k| between(k, points).length < reach && self.width_of(k) > 0.0)
            .map(|k| k.1)
            .collect()
    }

    fn touch(&self, key: &Key, points: &[DVec3]) -> Option<Touch> {
        let gap = between(key, points);
        if gap.length >= self.width {
            return None;
        }
        let width = self.width_of(key);
        if gap.length >= width {
            return None;
        }
        let d = gap.length.max(1e-9 * width);
        let normal = gap.vector / gap.length.max(1e-300);
        let (off, log) = (d - width, (d / width).ln());
        let vertices = key.1;
        let share: f64 = if key.0 == 1 {
            0.5 * self.area[vertices[0] as usize]
        } else {
            vertices.iter().map(|&v| self.area[v as usize]).sum::<f64>() / 24.0
        };
        let scale = self.scale * share;
        let value = -scale * off * off * log;
        let slope = scale * (-2.0 * off * log - off * off / d);
        let curve = scale * (-2.0 * log - 4.0 * off / d + off * off / (d * d));
        let mut touch = Touch {
            vertices,
            gradient: gap.weights.map(|w| normal * (w * slope)),
            weights: gap.weights,
            normal,
            stiffness: curve.max(0.0),
            energy: value,
        };
        if key.0 == 2 {
            soften_parallel(&mut touch, points, &self.rest);
        }
        Some(touch)
    }

    /// Largest fraction of a step, at most 1, that keeps at least a fifth of every distance.
    pub fn limit(&mut self, points: &[DVec3], moves: &[DVec3]) -> f64 {
        let keys = self.candidates(points, Some(moves), 0.0);
        keys.par_iter().with_min_len(64).map(|key| safe_part(key, points, moves)).reduce(|| 1.0, f64::min)
    }
}

fn point_key(v: u32, triangle: [u32; 3]) -> Key {
    (1, [v, triangle[0], triangle[1], triangle[2]])
}

fn edge_key(e: [u32; 2], f: [u32; 2]) -> Key {
    let (e, f) = ([e[0].min(e[1]), e[0].max(e[1])], [f[0].min(f[1]), f[0].max(f[1])]);
    let (e, f) = if e <= f { (e, f) } else { (f, e) };
    (2, [e[0], e[1], f[0], f[1]])
}

fn sides([a, b, c]: [u32; 3]) -> [[u32; 2]; 3] {
    [[a, b], [b, c], [c, a]]
}

/// The vector between the nearest points of a pair: the sum of its vertices by the weights.
struct Gap {
    vector: DVec3,
    length: f64,
    weights: [f64; 4],
}

fn between(key: &Key, points: &[DVec3]) -> Gap {
    between_points(key.0, key.1.map(|v| points[v as usize]))
}

fn between_points(kind: u8, [a, b, c, d]: [DVec3; 4]) -> Gap {
    let weights = if kind == 1 {
        let (_, w) = closest_with_weights([b, c, d], a);
        [1.0, -w[0], -w[1], -w[2]]
    } else {
        let (s, t) = closest_on_segments(a, b, c, d);
        [1.0 - s, s, t - 1.0, -t]
    };
    let vector = a * weights[0] + b * weights[1] + c * weights[2] + d * weights[3];
    Gap { vector, length: vector.length(), weights }
}

/// Parameters, from 0 to 1, of the nearest points of two segments.
fn closest_on_segments(a: DVec3, b: DVec3, c: DVec3, d: DVec3) -> (f64, f64) {
    let (u, v, r) = (b - a, d - c, a - c);
    let (uu, vv, uv) = (u.length_squared(), v.length_squared(), u.dot(v));
    let (ur, vr) = (u.dot(r), v.dot(r));
    if uu == 0.0 || vv == 0.0 {
        let s = if uu == 0.0 { 0.0 } else { (-ur / uu).clamp(0.0, 1.0) };
        let t = if vv == 0.0 { 0.0 } else { ((vr + s * uv) / vv).clamp(0.0, 1.0) };
        return (s, t);
    }
    let sine = uu * vv - uv * uv;
    let s = if sine > 1e-14 * uu * vv { ((uv * vr - vv * ur) / sine).clamp(0.0, 1.0) } else { 0.5 };
    let t = (uv * s + vr) / vv;
    if t < 0.0 {
        ((-ur / uu).clamp(0.0, 1.0), 0.0)
    } else if t > 1.0 {
        (((uv - ur) / uu).clamp(0.0, 1.0), 1.0)
    } else {
        (s, t)
    }
}

/// Where nearly parallel edges have their nearest points is not continuous; their barrier fades out there. The
/// vertices against the triangles beside the edges take over.
fn soften_parallel(touch: &mut Touch, points: &[DVec3], rest: &[DVec3]) {
    let side = |list: &[DVec3], i: usize, j: usize| {
        list[touch.vertices[j] as usize] - list[touch.vertices[i] as usize]
    };
    let (u, v) = (side(points, 0, 1), side(points, 2, 3));
    let bound = 1e-2 * side(rest, 0, 1).length_squared() * side(rest, 2, 3).length_squared();
    let square = u.cross(v).length_squared();
    if square >= bound {
        return;
    }
    let x = square / bound;
    let (fade, slope) = (x * (2.0 - x), (2.0 - 2.0 * x) / bound);
    let du = (u * v.length_squared() - v * u.dot(v)) * (2.0 * slope * touch.energy);
    let dv = (v * u.length_squared() - u * u.dot(v)) * (2.0 * slope * touch.energy);
    let by_angle = [-du, du, -dv, dv];
    for (g, a) in touch.gradient.iter_mut().zip(by_angle) {
        *g = *g * fade + a;
    }
    touch.stiffness *= fade;
    touch.energy *= fade;
}

/// Steps toward the meeting of a pair by what its distance allows, until a fifth of it is left.
fn safe_part(key: &Key, points: &[DVec3], moves: &[DVec3]) -> f64 {
    let mut at = key.1.map(|v| points[v as usize]);
    let mut step = key.1.map(|v| moves[v as usize]);
    let mean = (step[0] + step[1] + step[2] + step[3]) * 0.25;
    step.iter_mut().for_each(|s| *s -= mean);
    let longest = |list: &[DVec3]| list.iter().fold(0.0f64, |m, s| m.max(s.length()));
    let (first, second) = step.split_at(key.0 as usize);
    let speed = longest(first) + longest(second);
    if speed == 0.0 {
        return 1.0;
    }
    let start = between_points(key.0, at).length;
    if start == 0.0 {
        return 0.0;
    }
    let keep = 0.2 * start;
    let mut part = 0.0;
    let mut length = start;
    for _ in 0..200 {
        let advance = (0.9 * (length - keep) / speed).max(1e-6);
        if part + advance >= 1.0 {
            return 1.0;
        }
        for (p, s) in at.iter_mut().zip(&step) {
            *p += *s * advance;
        }
        length = between_points(key.0, at).length;
        if length <= 1.05 * keep {
            return part;
        }
        part += advance;
    }
    part
}
