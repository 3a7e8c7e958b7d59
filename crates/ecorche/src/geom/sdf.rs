//! Signed distance to closed surfaces: exact, and on a grid for contact.

use super::TriMesh;
use glam::{DVec3, IVec3};
use parry3d::math::Vector;
use parry3d::query::PointQuery;
use parry3d::shape::{TriMesh as ParryMesh, TriMeshFlags};
use rayon::prelude::*;
use thiserror::Error;

/// Why a surface has no signed distance.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SdfError {
    /// No triangles.
    #[error("the surface has no triangles")]
    Empty,
    /// Not-a-number or infinite coordinates.
    #[error("vertex {0} of the surface is not a finite number")]
    NotFinite(usize),
    /// Index beyond the vertices.
    #[error("triangle {0} of the surface names a vertex that does not exist")]
    NoSuchVertex(usize),
    /// Topology the distance query cannot orient.
    #[error("the surface cannot be oriented: {0}")]
    Topology(String),
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
pub struct SurfaceDistance {
    mesh: ParryMesh,
    centre: DVec3,
    scale: f64,
    outward: f64,
}

impl SurfaceDistance {
    /// Prepares the queries. Inward-facing surfaces are taken as if they faced outward.
    pub fn new(surface: &TriMesh) -> Result<Self, SdfError> {
        if surface.triangles.is_empty() {
            return Err(SdfError::Empty);
        }
        if let Some(v) = surface.positions.iter().position(|p| !p.is_finite()) {
            return Err(SdfError::NotFinite(v));
        }
        let count = surface.positions.len() as u32;
        if let Some(t) = surface.triangles.iter().position(|t| t.iter().any(|&v| v >= count)) {
            return Err(SdfError::NoSuchVertex(t));
        }
        // Centred and of unit size, so that single precision is enough wherever and however large it is.
        let (low, high) = surface.bounds();
        let centre = ((low + high) * 0.5).as_dvec3();
        let scale = f64::from(surface.size()).max(f64::MIN_POSITIVE);
        let local = |p: glam::Vec3| {
            let q = ((p.as_dvec3() - centre) / scale).as_vec3();
            Vector::new(q.x, q.y, q.z)
        };
        let vertices = surface.positions.iter().map(|&p| local(p)).collect();
        let flags = TriMeshFlags::ORIENTED | TriMeshFlags::DELETE_DEGENERATE_TRIANGLES;
        let mesh = ParryMesh::with_flags(vertices, surface.triangles.clone(), flags)
            .map_err(|e| SdfError::Topology(format!("{e:?}")))?;
        let outward = if surface.volume() < 0.0 { -1.0 } else { 1.0 };
        Ok(Self { mesh, centre, scale, outward })
    }

    /// Signed distance, metres.
    pub fn signed(&self, point: DVec3) -> f64 {
        let q = ((point - self.centre) / self.scale).as_vec3();
        let projection = self.mesh.project_local_point(Vector::new(q.x, q.y, q.z), false);
        let on = glam::DVec3::new(
            f64::from(projection.point.x),
            f64::from(projection.point.y),
            f64::from(projection.point.z),
        );
        let distance = ((point - self.centre) / self.scale).distance(on) * self.scale;
        self.outward * if projection.is_inside { -distance } else { distance }
    }
}

impl std::fmt::Debug for SurfaceDistance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "SurfaceDistance({} triangles)", self.mesh.indices().len())
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
}
