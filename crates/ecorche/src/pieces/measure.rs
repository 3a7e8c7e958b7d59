//! Figures of pieces at rest: weights, enclosed bones, and what lies over, under and inside each other.

use super::skeleton::Bones;
use super::turn::{LEAST_VOLUME, encloses, turn_outward, volume_and_area};
use crate::geom::bvh::{Aabb, Hit};
use crate::geom::intersect::Ray;
use crate::geom::{Adjacency, Bvh, SelfContact, TriMesh};
use crate::skinning::Surface;
use glam::Vec3;
use rayon::prelude::*;

/// Points of a piece from which rays look for others. Shares of area are then good to 3 %.
pub(super) const SAMPLES: usize = 300;
/// Points of all pieces at most, so that a surface in many thousand flakes does not take hours; a piece has at least [`FEWEST`].
const ALL_SAMPLES: usize = 600_000;
const FEWEST: usize = 4;
/// How far above a point another piece may lie, and below a point of a piece without a far wall, as a share of the size. Worn
/// pieces follow skin within the same distance.
const NEAR: f32 = 0.15;
/// A bone with less than this share of a piece's weight does not count as moving it.
const LEAST_WEIGHT: f32 = 1e-3;
/// Hits nearer than this share of the size to a ray's start belong to the surface it starts on.
const SKIN_DEEP: f32 = 1e-6;

/// The surface in pieces, each turned outward.
pub(super) struct Cut {
    pub mesh: TriMesh,
    pub piece_of_vertex: Vec<u32>,
    pub shapes: Vec<Shape>,
}

/// A connected piece.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    pub triangles: Vec<u32>,
    pub vertices: Vec<u32>,
    /// Square metres.
    pub area: f64,
    /// Whether it holds a volume.
    pub is_solid: bool,
    pub spread: f32,
    pub enclosed: u32,
    pub held: f32,
    /// The joint with most of its weight.
    pub joint: u32,
}

/// What the rays from one point of a piece found.
#[derive(Clone, Debug, Default)]
pub(super) struct Seen {
    /// The joint with the largest weight at the point.
    pub joint: u32,
    /// Pieces under the point, before the far wall of its own, ascending.
    pub over: Vec<u32>,
    /// Pieces below it in a gap of its own, ascending: inside a sleeve of two walls.
    pub within: Vec<u32>,
    /// The piece whose inner side is the first thing above it.
    pub under: Option<u32>,
    /// Pieces that contain it, ascending.
    pub inside: Vec<u32>,
}

impl Seen {
    /// Every piece that the point lies over, under or inside.
    pub fn others(&self) -> impl Iterator<Item = u32> + '_ {
        self.over.iter().chain(&self.within).chain(&self.inside).chain(&self.under).copied()
    }
}

impl Cut {
    /// Finds the pieces and measures their weights and bones.
    pub fn new(surface: &Surface, bones: &Bones) -> Self {
        let mut mesh = surface.mesh.clone();
        let (piece_of_vertex, count) = Adjacency::new(&mesh).components();
        let mut shapes = vec![Shape::default(); count];
        for (v, &piece) in piece_of_vertex.iter().enumerate() {
            shapes[piece as usize].vertices.push(v as u32);
        }
        for (t, &[a, b, c]) in mesh.triangles.iter().enumerate() {
            if a != b && b != c && c != a {
                shapes[piece_of_vertex[a as usize] as usize].triangles.push(t as u32);
            }
        }
        for shape in &shapes {
            turn_outward(&mut mesh, &shape.triangles, &shape.vertices);
        }
        let areas = vertex_areas(&mesh);
        shapes.par_iter_mut().for_each(|shape| {
            let (volume, area) = volume_and_area(&mesh, &shape.triangles, &shape.vertices);
            shape.area = area;
            shape.is_solid = volume > LEAST_VOLUME * area.powf(1.5);
            shape.weigh(surface, &areas, &mesh, bones);
        });
        Self { mesh, piece_of_vertex, shapes }
    }

    /// The piece of a triangle.
    pub fn piece(&self, t: u32) -> u32 {
        self.piece_of_vertex[self.mesh.triangles[t as usize][0] as usize]
    }

    /// What lies around each piece: one list per piece, of points that stand for equal areas.
    pub fn look_around(&self, surface: &Surface) -> Vec<Vec<Seen>> {
        let tree = Bvh::over_triangles(&self.mesh.positions, &self.mesh.triangles);
        let reach = 2.0 * self.mesh.size();
        let samples = (ALL_SAMPLES / self.shapes.len().max(1)).clamp(FEWEST, SAMPLES);
        let seen = |(piece, shape): (usize, &Shape)| {
            let points = shape.points(&self.mesh, samples);
            let look = |&(t, point): &(u32, Vec3)| self.look(surface, &tree, piece as u32, (t, point), reach);
            points.par_iter().map(look).collect()
        };
        self.shapes.par_iter().enumerate().map(seen).collect()
    }

    /// `reach`: twice the surface's size.
    fn look(&self, surface: &Surface, tree: &Bvh, own: u32, (t, point): (u32, Vec3), reach: f32) -> Seen {
        let [a, b, c] = self.mesh.corners(t as usize);
        let joint = surface.influences.strongest(self.mesh.triangles[t as usize][0] as usize);
        let Some(normal) = (b - a).cross(c - a).try_normalize() else {
            return Seen { joint, ..Seen::default() };
        };
        let hits = |direction: Vec3| {
            let ray = Ray::new(point, direction);
            let mut hits = tree.all_hits(&ray, reach, &self.mesh.positions, &self.mesh.triangles);
            hits.retain(|hit| {
                hit.triangle != t && (self.piece(hit.triangle) != own || hit.distance > SKIN_DEEP * reach)
            });
            hits
        };
        let (below, above) = (hits(-normal), hits(normal));
        let wall = below.iter().find(|hit| self.piece(hit.triangle) == own && !hit.front);
        // The surface's size is not looked up for every point.
        let near = NEAR * (0.5 * reach);
        let wall = wall.map_or(near, |hit| hit.distance);
        let other = |hit: &&Hit| self.piece(hit.triangle) != own;
        let before_wall = below.iter().filter(other).filter(|hit| hit.front && hit.distance < wall);
        let mut over: Vec<u32> = before_wall.map(|hit| self.piece(hit.triangle)).collect();
        over.sort_unstable();
        over.dedup();
        let own_front = |hit: &Hit| self.piece(hit.triangle) == own && hit.front;
        let last_front =
            below.iter().filter(|hit| own_front(hit)).map(|hit| hit.distance).fold(0.0, f32::max);
        let in_gap = below.iter().filter(other).filter(|hit| hit.front && hit.distance > wall);
        let in_gap = in_gap.filter(|hit| hit.distance < last_front);
        let mut within: Vec<u32> = in_gap.map(|hit| self.piece(hit.triangle)).collect();
        within.sort_unstable();
        within.dedup();
        let is_near = |hit: &&Hit| hit.distance < near;
        let under = above
            .first()
            .filter(is_near)
            .filter(other)
            .filter(|hit| !hit.front)
            .map(|hit| self.piece(hit.triangle));
        // Inside a piece if the rays to both sides leave it more often than they enter: an open piece may deceive one ray.
        let mut left: Vec<u32> = above.iter().filter(other).map(|hit| self.piece(hit.triangle)).collect();
        left.sort_unstable();
        left.dedup();
        let net = |hits: &[Hit], piece: u32| -> i32 {
            let own = hits.iter().filter(|hit| self.piece(hit.triangle) == piece);
            own.map(|hit| if hit.front { -1 } else { 1 }).sum()
        };
        left.retain(|&piece| net(&above, piece) > 0 && net(&below, piece) > 0);
        Seen { joint, over, within, under, inside: left }
    }

    /// Pairs of pieces that cross at rest, ascending.
    pub fn crossing(&self) -> Vec<[u32; 2]> {
        let mut contact = SelfContact::new(&self.mesh.positions, &self.mesh.triangles);
        let met = contact.find(&self.mesh.positions).pairs;
        let pieces = |pair: &[u32; 2]| {
            let [a, b] = pair.map(|t| self.piece(t));
            [a.min(b), a.max(b)]
        };
        let mut pairs: Vec<[u32; 2]> = met.iter().map(pieces).filter(|[a, b]| a != b).collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}

impl Shape {
    fn weigh(&mut self, surface: &Surface, areas: &[f32], mesh: &TriMesh, bones: &Bones) {
        let mut weights: Vec<(u32, f64)> = Vec::new();
        let mut total = 0.0;
        for &v in &self.vertices {
            let area = f64::from(areas[v as usize]);
            total += area;
            weights.extend(surface.influences.of(v as usize).map(|(j, w)| (j, f64::from(w) * area)));
        }
        weights.sort_by_key(|w| w.0);
        let sum = |run: &[(u32, f64)]| (run[0].0, run.iter().map(|w| w.1).sum::<f64>() / total.max(1e-30));
        let means: Vec<(u32, f64)> = weights.chunk_by(|a, b| a.0 == b.0).map(sum).collect();
        let all: f64 = means.iter().map(|m| m.1).sum();
        // Joints that do not hold the vertex are as far from their means as those are.
        let apart = |v: u32| -> f64 {
            surface.influences.of(v as usize).fold(all, |sum, (joint, own)| {
                let mean = means.binary_search_by_key(&joint, |m| m.0).map_or(0.0, |k| means[k].1);
                sum - mean + (f64::from(own) - mean).abs()
            })
        };
        let spread: f64 = self.vertices.iter().map(|&v| f64::from(areas[v as usize]) * apart(v)).sum();
        self.spread = (0.5 * spread / total.max(1e-30)) as f32;
        let heavier = |a: &(u32, f64), b: &(u32, f64)| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0));
        self.joint = means.iter().copied().max_by(heavier).map_or(0, |m| m.0);
        let corners: Vec<Vec3> = self.vertices.iter().map(|&v| mesh.positions[v as usize]).collect();
        let bounds = Aabb::around(&corners);
        let movers: Vec<(u32, f64)> =
            means.iter().copied().filter(|m| m.1 > f64::from(LEAST_WEIGHT) * all).collect();
        let encloses =
            |joint: u32| encloses(mesh, &self.triangles, &bounds, movers.len(), bones.points_along(joint));
        let enclosed: Vec<f64> = movers.par_iter().filter(|m| encloses(m.0)).map(|m| m.1).collect();
        self.enclosed = enclosed.len() as u32;
        self.held = (enclosed.iter().sum::<f64>() / all.max(1e-30)) as f32;
    }

    /// Points that stand for equal areas, with their triangles; always the same.
    fn points(&self, mesh: &TriMesh, samples: usize) -> Vec<(u32, Vec3)> {
        let area = |t: u32| {
            let [a, b, c] = mesh.corners(t as usize).map(|p| p.as_dvec3());
            0.5 * (b - a).cross(c - a).length()
        };
        let step = self.area / samples as f64;
        let (mut points, mut walked) = (Vec::with_capacity(samples), 0.0);
        for &t in &self.triangles {
            walked += area(t);
            while points.len() < samples && walked > (points.len() as f64 + 0.5) * step {
                // A sequence that fills the unit square evenly, folded into the triangle.
                let k = points.len() as f64 + 1.0;
                let (mut u, mut v) =
                    ((0.754_877_666_246_693 * k).fract() as f32, (0.569_840_290_998_053 * k).fract() as f32);
                if u + v > 1.0 {
                    (u, v) = (1.0 - u, 1.0 - v);
                }
                let [a, b, c] = mesh.corners(t as usize);
                points.push((t, a + u * (b - a) + v * (c - a)));
            }
        }
        points
    }
}

/// A third of the triangles around each vertex, square metres.
fn vertex_areas(mesh: &TriMesh) -> Vec<f32> {
    let mut areas = vec![0.0; mesh.positions.len()];
    for (t, corners) in mesh.triangles.iter().enumerate() {
        let [a, b, c] = mesh.corners(t);
        let third = (b - a).cross(c - a).length() / 6.0;
        corners.iter().for_each(|&v| areas[v as usize] += third);
    }
    areas
}
