//! A [`Grid`] laid out for reading in any order: one cell, one cache line.
//!
//! A look-up in a grid touches four rows of nodes, in as many places of memory. Skin is coarser than the grid, so that the
//! next vertex finds little of it in the cache, and tracking spent more time waiting than computing. Here every cell holds its own copy of
//! its eight corners, values and gradients as 16-bit integers: 64 bytes, aligned.
//!
//! Values are off by no more than 1.6e-5 and gradients by 1.6e-5 of the steepest, a tenth of what the grid itself is off.
//! The same numbers are read at rest and in every pose, so that rest stays a fixed point.

use super::{Field, Grid, Sample, Support};
use glam::{Mat4, UVec3, Vec3, Vec3A, Vec4};
use rayon::prelude::*;

/// Largest 16-bit integer: a value of 1, the steepest gradient.
const FULL: f32 = i16::MAX as f32;

/// Value and gradient at the corners of one cell; corner `x + 2 y + 4 z`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C, align(64))]
struct Cell {
    value: [i16; 8],
    gradient: [[i16; 8]; 3],
}

/// A tabulated field, cell by cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Cells {
    low: Vec3A,
    high: Vec3A,
    cells_per_metre: f32,
    /// Cells along each axis, less one.
    last: UVec3,
    /// From one cell to the next along y and z.
    stride: [u32; 2],
    /// What 1 stands for, of the value and of each component of the gradient.
    unit: Vec4,
    cells: Vec<Cell>,
}

impl Cells {
    /// Copies a grid.
    pub(crate) fn of(grid: &Grid) -> Self {
        let (cells_per_metre, cells) = grid.shape();
        let (row, slice) = (cells.x as usize + 1, (cells.x as usize + 1) * (cells.y as usize + 1));
        let nodes = grid.nodes();
        let slopes = nodes.iter().flat_map(|node| &node[1..]);
        let steepest = slopes.fold(f32::MIN_POSITIVE, |most, g| most.max(g.abs()));
        let pack = |x: f32| (x * FULL).round() as i16;
        let cell = |i: usize| {
            let (x, y, z) = (
                i % cells.x as usize,
                i / cells.x as usize % cells.y as usize,
                i / (cells.x * cells.y) as usize,
            );
            let mut cell = Cell::default();
            for corner in 0..8 {
                let at = (x + (corner & 1)) + row * (y + (corner >> 1 & 1)) + slice * (z + (corner >> 2));
                let [value, gradient @ ..] = nodes[at];
                let longest = gradient.iter().fold(steepest, |most, g| most.max(g.abs()));
                cell.value[corner] = pack(value);
                (0..3).for_each(|axis| cell.gradient[axis][corner] = pack(gradient[axis] / longest));
            }
            cell
        };
        let Support { low, high } = grid.support();
        let count = cells.to_array().iter().map(|&c| c as usize).product::<usize>();
        Self {
            low: low.into(),
            high: high.into(),
            cells_per_metre,
            last: cells - UVec3::ONE,
            stride: [cells.x, cells.x * cells.y],
            unit: Vec4::new(1.0, steepest, steepest, steepest) / FULL,
            cells: (0..count).into_par_iter().with_min_len(1024).map(cell).collect(),
        }
    }

    /// The cell that holds a point and where in it, 0 to 1 along each axis; `None` outside the support.
    #[inline(always)]
    fn find(&self, point: Vec3A) -> Option<(usize, Vec3A)> {
        if !(point.cmpge(self.low).all() && point.cmple(self.high).all()) {
            return None;
        }
        let at = (point - self.low) * self.cells_per_metre;
        let cell = Vec3::from(at).as_uvec3().min(self.last);
        let index = cell.x + self.stride[0] * cell.y + self.stride[1] * cell.z;
        Some((index as usize, at - Vec3A::from(cell.as_vec3())))
    }

    /// Asks memory for what [`Cells::at`] will read there, without waiting for it.
    #[inline]
    pub(crate) fn prefetch(&self, point: Vec3A) {
        #[cfg(target_arch = "x86_64")]
        if let Some((index, _)) = self.find(point) {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            // SAFETY: a prefetch reads nothing and faults on no address.
            unsafe { _mm_prefetch::<_MM_HINT_T0>(self.cells.as_ptr().wrapping_add(index).cast()) };
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = point;
    }

    /// Value, then gradient, at a point; zero outside the support.
    #[inline]
    pub(crate) fn at(&self, point: Vec3A) -> Vec4 {
        let Some((index, from)) = self.find(point) else { return Vec4::ZERO };
        let cell = &self.cells[index];
        // Shares of the corners [x, y] of the lower and the upper face.
        let x = Vec4::new(1.0 - from.x, from.x, 1.0 - from.x, from.x);
        let y = Vec4::new(1.0 - from.y, 1.0 - from.y, from.y, from.y);
        let upper = x * y * from.z;
        let lower = x * y - upper;
        let [v0, v1] = halves(&cell.value);
        let [x0, x1] = halves(&cell.gradient[0]);
        let [y0, y1] = halves(&cell.gradient[1]);
        let [z0, z1] = halves(&cell.gradient[2]);
        let (along_x, along_y, above) = (x0 * lower + x1 * upper, y0 * lower + y1 * upper, z1 * upper);
        let by_corner =
            Mat4::from_cols(v0 * lower + v1 * upper, along_x, along_y, z0 * lower + above).transpose();
        let all = ((by_corner.x_axis + by_corner.y_axis) + (by_corner.z_axis + by_corner.w_axis)) * self.unit;
        // Each corner's value is carried to the point along half its gradient; see `Grid`.
        let far = [along_x.y + along_x.w, along_y.z + along_y.w, above.element_sum()];
        let [gx, gy, gz] = [all.y, all.z, all.w];
        let near = gx * from.x + gy * from.y + gz * from.z;
        let carried = near - (far[0] + far[1] + far[2]) * self.unit.y;
        let value = (all.x + 0.5 * carried / self.cells_per_metre).clamp(0.0, 1.0);
        Vec4::new(value, gx, gy, gz)
    }

    /// Its smallest and largest corner, cells per metre, cells along each axis, and what the largest integer of a gradient
    /// stands for.
    pub(crate) fn shape(&self) -> ([Vec3A; 2], f32, UVec3, f32) {
        ([self.low, self.high], self.cells_per_metre, self.last + UVec3::ONE, self.unit.y * FULL)
    }

    /// Appends value and gradient of every node as integers, x fastest.
    pub(crate) fn nodes_into(&self, nodes: &mut Vec<[i16; 4]>) {
        let [x, y, z] = (self.last + 2).to_array();
        for (k, j, i) in (0..z).flat_map(|k| (0..y).flat_map(move |j| (0..x).map(move |i| (k, j, i)))) {
            let node = UVec3::new(i, j, k);
            let cell = node.min(self.last);
            let [right, up, far] = (node - cell).to_array();
            let cell = &self.cells[(cell.x + self.stride[0] * cell.y + self.stride[1] * cell.z) as usize];
            let corner = (right + 2 * up + 4 * far) as usize;
            let [gx, gy, gz] = cell.gradient.map(|axis| axis[corner]);
            nodes.push([cell.value[corner], gx, gy, gz]);
        }
    }

    /// Bytes of the table.
    pub(crate) fn size_in_memory(&self) -> usize {
        size_of_val(self.cells.as_slice())
    }
}

/// Eight integers as numbers.
#[inline]
fn halves(packed: &[i16; 8]) -> [Vec4; 2] {
    let [a, b, c, d, e, f, g, h] = packed.map(f32::from);
    [Vec4::new(a, b, c, d), Vec4::new(e, f, g, h)]
}

impl Field for Cells {
    #[inline]
    fn sample(&self, point: Vec3) -> Sample {
        let [value, x, y, z] = self.at(point.into()).to_array();
        Sample { value, gradient: Vec3::new(x, y, z) }
    }

    fn support(&self) -> Support {
        Support { low: self.low.into(), high: self.high.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::GridSettings;
    use crate::field::conformance::{capsule, scatter};

    #[test]
    fn cells_say_what_their_grid_says() {
        let grid = Grid::bake(&capsule(|p| p), &GridSettings { resolution: 32 }).unwrap();
        let cells = Cells::of(&grid);
        assert_eq!(cells.support(), grid.support());
        let steepest = grid.nodes().iter().map(|n| Vec3::new(n[1], n[2], n[3]).length()).fold(0.0, f32::max);
        for point in scatter(grid.support(), 20_000) {
            let (a, b) = (grid.sample(point), cells.sample(point));
            assert!((a.value - b.value).abs() < 3e-5, "{} and {} at {point}", a.value, b.value);
            assert!(a.gradient.distance(b.gradient) < 3e-5 * steepest);
        }
        assert_eq!(cells.sample(grid.support().high + 1e-3), Sample::OUTSIDE);
        assert!(cells.sample(grid.support().high).value.is_finite());
    }
}
