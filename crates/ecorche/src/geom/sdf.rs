//! Signed distance to closed surfaces: exact, and on a grid for contact.

use super::bvh::{Bvh, Hit};
use super::intersect::{Ray, closest_with_weights};
use super::{Adjacency, TriMesh, Weld};
use glam::{DVec3, IVec3, Vec3};
use rayon::prelude::*;
use thiserror::Error;

/// Why a surface has no signed distance.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SdfError {
    /// No triangles, or only collapsed ones.
    #[error("the surface has no triangles with an area")]
    Empty,
    /// Not-a-number or infinite coordinates.
    #[error("vertex {0} of the surface is not a finite number")]
    NotFinite(usize),
    /// Index beyond the vertices.
    #[error("triangle {0} of the surface names a vertex that does not exist")]
    NoSuchVertex(usize),
    /// Too many grid cells.
    #[error("a grid of cell {cell:.2e} m over this surface needs {cells:.1e} cells; choose a larger cell")]
    TooFine {
        /// Cell asked for.
        cell: f64,
        /// Cells needed.
        cells: f64,
    },
}

/// Exact signed distance to a closed surface, negative inside.
///
/// Based on: Baerentzen, Aanaes. Signed Distance Computation Using the Angle Weighted Pseudonormal. 2005.
pub struct SurfaceDistance {
    points: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    /// Unit normals of triangles.
    faces: Vec<DVec3>,
    /// For each triangle and corner `k` the sum of the normals at the edge from `k` to the next corner.
    edges: Vec<[DVec3; 3]>,
    /// Normals of vertices, weighted by angles.
    vertices: Vec<DVec3>,
    /// Centred and of unit size, so that single precision finds the nearest triangle wherever and however large
    /// the surface is; the distance itself is taken in double precision.
    unit: Vec<Vec3>,
    tree: Bvh,
    centre: DVec3,
    scale: f64,
    outward: f64,
}

impl SurfaceDistance {
    /// Prepares the queries. Inward-facing surfaces are taken as if they faced outward; vertices at the same
    /// place are one, and triangles without area are left out.
    pub fn new(surface: &TriMesh) -> Result<Self, SdfError> {
        if let Some(v) = surface.positions.iter().position(|p| !p.is_finite()) {
            return Err(SdfError::NotFinite(v));
        }
        let count = surface.positions.len() as u32;
        if let Some(t) = surface.triangles.iter().position(|t| t.iter().any(|&v| v >= count)) {
            return Err(SdfError::NoSuchVertex(t));
        }
        let mut welded = Weld::new(&surface.positions, 1e-7 * surface.size(), |_, _| true)
            .surface(&surface.positions, &surface.triangles);
        let (low, high) = surface.bounds();
        let centre = ((low + high) * 0.5).as_dvec3();
        let scale = f64::from(surface.size()).max(f64::MIN_POSITIVE);
        let points: Vec<DVec3> = welded.positions.iter().map(|p| p.as_dvec3()).collect();
        let doubled = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| points[v as usize]);
            (b - a).cross(c - a)
        };
        welded.triangles.retain(|t| doubled(t).length() > 1e-14 * scale * scale);
        if welded.triangles.is_empty() {
            return Err(SdfError::Empty);
        }
        let faces: Vec<DVec3> = welded.triangles.iter().map(|t| doubled(t).normalize()).collect();
        let mut vertices = vec![DVec3::ZERO; points.len()];
        for (t, face) in welded.triangles.iter().zip(&faces) {
            for k in 0..3 {
                let [at, next, last] = [k, k + 1, k + 2].map(|k| points[t[k % 3] as usize]);
                vertices[t[k] as usize] += *face * (next - at).angle_between(last - at);
            }
        }
        let mut edges = vec![[DVec3::ZERO; 3]; faces.len()];
        for edge in &Adjacency::new(&welded).edges {
            let sum = edge.triangles.iter().fold(DVec3::ZERO, |s, &t| s + faces[t as usize]);
            for &t in &edge.triangles {
                let corners = welded.triangles[t as usize];
                for k in 0..3 {
                    if edge.vertices.contains(&corners[k]) && edge.vertices.contains(&corners[(k + 1) % 3]) {
                        edges[t as usize][k] = sum;
                    }
                }
            }
        }
        let unit: Vec<Vec3> = points.iter().map(|p| ((*p - centre) / scale).as_vec3()).collect();
        let tree = Bvh::over_triangles(&unit, &welded.triangles);
        let outward = if surface.volume() < 0.0 { -1.0 } else { 1.0 };
        let triangles = welded.triangles;
        Ok(Self { points, triangles, faces, edges, vertices, unit, tree, centre, scale, outward })
    }

    /// Signed distance, metres.
    pub fn signed(&self, point: DVec3) -> f64 {
        self.measure(point).map_or(f64::INFINITY, |m| m.0)
    }

    /// Signed distance, and the nearest triangle with the shares of its corners; nothing for a point that is not
    /// finite. Corners are numbered as in [`SurfaceDistance::thickness`].
    pub fn measure(&self, point: DVec3) -> Option<(f64, [u32; 3], [f64; 3])> {
        let query = ((point - self.centre) / self.scale).as_vec3();
        let found = self.tree.nearest(query, f32::INFINITY, &self.unit, &self.triangles, |_, _| true);
        let t = found?.triangle as usize;
        let (nearest, share) =
            closest_with_weights(self.triangles[t].map(|v| self.points[v as usize]), point);
        // The normal of whatever the nearest point lies on: the face, an edge or a corner.
        let normal = match share.map(|w| w > 0.0) {
            [true, true, true] => self.faces[t],
            [true, true, false] => self.edges[t][0],
            [false, true, true] => self.edges[t][1],
            [true, false, true] => self.edges[t][2],
            [_, second, third] => {
                self.vertices[self.triangles[t][usize::from(second) + 2 * usize::from(third)] as usize]
            }
        };
        let away = point - nearest;
        let sign = if away.dot(normal) * self.outward < 0.0 { -1.0 } else { 1.0 };
        Some((sign * away.length(), self.triangles[t], share))
    }

    /// How thick the body is under each welded vertex: the way straight in to the other side, or its neighbours'
    /// where that is less. Infinite where nothing is met.
    pub fn thickness(&self) -> Vec<f64> {
        let raw: Vec<f64> = (0..self.points.len())
            .into_par_iter()
            .map(|v| {
                let Some(inward) = (self.vertices[v] * -self.outward).try_normalize() else {
                    return f64::INFINITY;
                };
                // From a little way in, so that the triangles around the vertex are not met, to where it leaves.
                const START: f32 = 1e-4;
                let ray = Ray::new(self.unit[v] + inward.as_vec3() * START, inward.as_vec3());
                let leaves = |h: &Hit| h.front != (self.outward > 0.0);
                let hit = self.tree.first_hit(&ray, f32::INFINITY, &self.unit, &self.triangles, leaves);
                hit.map_or(f64::INFINITY, |h| f64::from(h.distance + START) * self.scale)
            })
            .collect();
        let mut thin = raw.clone();
        for t in &self.triangles {
            for k in 0..3 {
                let (v, next) = (t[k] as usize, t[(k + 1) % 3] as usize);
                thin[v] = thin[v].min(raw[next]);
            }
        }
        thin
    }
}

impl std::fmt::Debug for SurfaceDistance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SurfaceDistance({} triangles)", self.triangles.len())
    }
}

/// Signed distance on a grid, interpolated: value and gradient in nanoseconds.
#[derive(Clone, Debug)]
pub struct DistanceGrid {
    origin: DVec3,
    cell: f64,
    count: IVec3,
    values: Vec<f32>,
}

impl DistanceGrid {
    /// Samples a signed distance over a box with three cells of margin. Cells far from the surface are filled
    /// from one sample for each block of four.
    pub fn new(
        distance: impl Fn(DVec3) -> f64 + Sync,
        low: DVec3,
        high: DVec3,
        cell: f64,
    ) -> Result<Self, SdfError> {
        let size = (high - low) / cell + DVec3::splat(7.0);
        let cells = size.x * size.y * size.z;
        if !(cell > 0.0 && cells < 1e8) {
            return Err(SdfError::TooFine { cell, cells });
        }
        let origin = low - DVec3::splat(3.0 * cell);
        let count = size.ceil().as_ivec3() + IVec3::ONE;
        let blocks = (count + IVec3::splat(3)) / 4;
        let coarse: Vec<f64> = (0..(blocks.x * blocks.y * blocks.z) as usize)
            .into_par_iter()
            .map(|i| {
                let b = split(i, blocks);
                distance(origin + (b * 4).as_dvec3() * cell + DVec3::splat(1.5 * cell))
            })
            .collect();
        let total = count.x as usize * count.y as usize * count.z as usize;
        let values = (0..total)
            .into_par_iter()
            .map(|i| {
                let at = split(i, count);
                let b = at / 4;
                let known = coarse[((b.z * blocks.y + b.y) * blocks.x + b.x) as usize];
                // Half a block's diagonal is 2.6 cells; beyond twice that only the sign and rough size matter.
                if known.abs() > 6.0 * cell {
                    known as f32
                } else {
                    distance(origin + at.as_dvec3() * cell) as f32
                }
            })
            .collect();
        Ok(Self { origin, cell, count, values })
    }

    /// Value and gradient; outside the grid the distance to its box is added to the border's value.
    pub fn sample(&self, point: DVec3) -> (f64, DVec3) {
        let last = (self.count - IVec3::ONE).as_dvec3();
        let raw = (point - self.origin) / self.cell;
        let at = raw.clamp(DVec3::ZERO, last - DVec3::splat(1e-9));
        let outside = (raw - at) * self.cell;
        let base = at.floor();
        let f = at - base;
        let b = base.as_ivec3();
        let value = |x: i32, y: i32, z: i32| {
            let index =
                ((b.z + z) as usize * self.count.y as usize + (b.y + y) as usize) * self.count.x as usize;
            f64::from(self.values[index + (b.x + x) as usize])
        };
        let v = [
            value(0, 0, 0),
            value(1, 0, 0),
            value(0, 1, 0),
            value(1, 1, 0),
            value(0, 0, 1),
            value(1, 0, 1),
            value(0, 1, 1),
            value(1, 1, 1),
        ];
        let mix = |a: f64, b: f64, t: f64| a + (b - a) * t;
        let x: [f64; 4] = std::array::from_fn(|k| mix(v[2 * k], v[2 * k + 1], f.x));
        let y = [mix(x[0], x[1], f.y), mix(x[2], x[3], f.y)];
        let dx: [f64; 4] = std::array::from_fn(|k| v[2 * k + 1] - v[2 * k]);
        let gradient = DVec3::new(
            mix(mix(dx[0], dx[1], f.y), mix(dx[2], dx[3], f.y), f.z),
            mix(x[1] - x[0], x[3] - x[2], f.z),
            y[1] - y[0],
        ) / self.cell;
        if outside == DVec3::ZERO {
            (mix(y[0], y[1], f.z), gradient)
        } else {
            (mix(y[0], y[1], f.z) + outside.length(), outside.normalize())
        }
    }
}

fn split(i: usize, count: IVec3) -> IVec3 {
    let (x, y) = (count.x as usize, count.y as usize);
    IVec3::new((i % x) as i32, (i / x % y) as i32, (i / x / y) as i32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tissue::tet_mesh::TetMesh;

    #[test]
    fn distance_to_a_box_is_exact_and_negative_inside() {
        let (surface, _) = TetMesh::brick(DVec3::ZERO, DVec3::splat(2.0), [2, 2, 2]).surface();
        let exact = SurfaceDistance::new(&surface).unwrap();
        assert!((exact.signed(DVec3::new(1.0, 1.0, 0.4)) + 0.4).abs() < 1e-6);
        assert!((exact.signed(DVec3::new(3.0, 1.0, 1.0)) - 1.0).abs() < 1e-6);
        let grid = DistanceGrid::new(|p| exact.signed(p), DVec3::ZERO, DVec3::splat(2.0), 0.1).unwrap();
        let (value, gradient) = grid.sample(DVec3::new(1.03, 2.07, 0.95));
        assert!((value - 0.07).abs() < 1e-3 && gradient.abs_diff_eq(DVec3::Y, 1e-3), "{value} {gradient}");
        assert!(grid.sample(DVec3::new(40.0, 1.0, 1.0)).0 > 30.0);
    }

    #[test]
    fn signs_agree_with_the_shape_near_corners_and_edges_in_any_unit() {
        // Every triangle has vertices of its own, as an unwelded file gives them.
        let shape = |p: DVec3| {
            let d = (p - DVec3::splat(1.0)).abs() - DVec3::new(1.0, 1.0, 0.25);
            d.max(DVec3::ZERO).length() + d.max_element().min(0.0)
        };
        for unit in [1e-3, 1.0, 1e3] {
            let (low, high) = (DVec3::new(0.0, 0.0, 0.75) * unit, DVec3::new(2.0, 2.0, 1.25) * unit);
            let (whole, _) = TetMesh::brick(low, high, [3, 4, 2]).surface();
            let mut loose = TriMesh::default();
            for t in &whole.triangles {
                let first = loose.positions.len() as u32;
                loose.positions.extend(t.map(|v| whole.positions[v as usize]));
                loose.triangles.push([first, first + 1, first + 2]);
            }
            let exact = SurfaceDistance::new(&loose).unwrap();
            let mut seen = [0, 0];
            for k in 0..2000 {
                let t = f64::from(k);
                let p = DVec3::new((0.7 * t).sin(), (1.3 * t).cos(), 0.4 * (2.1 * t).sin()) * 1.2 + 1.0;
                let (expected, got) = (shape(p), exact.signed(p * unit) / unit);
                assert!((expected - got).abs() < 2e-6, "{p}: {got} for {expected}");
                seen[usize::from(expected < 0.0)] += 1;
            }
            assert!(seen[0] > 200 && seen[1] > 200, "{seen:?}");
        }
    }
}
