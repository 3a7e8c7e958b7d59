//! A field read from a table: value and gradient on a regular grid, trilinear in between.
//!
//! With weights `w_i` of the eight corners `p_i` around x, and their values `f_i` and gradients `g_i`,
//!
//! | | formula |
//! |---|---|
//! | value | `sum w_i (f_i + 1/2 g_i . (x - p_i))`, exact for quadratics |
//! | gradient | `sum w_i g_i` |
//!
//! One look-up costs the same whatever the field was made of. Gradients are stored, not taken from the
//! interpolated values, whose slope jumps at every cell border; the price is that between nodes the gradient
//! is only nearly the slope of the value.
//!
//! Measured on a capsule of radius R and length 6 R whose field ends at R: errors where the field is not
//! zero, gradients relative to the steepest, and the size of the table.
//!
//! | resolution | value rms, largest | gradient rms, largest | MB |
//! |---|---|---|---|
//! | 16 | 4.8e-3, 1.6e-2 | 1.2e-1, 3.4e-1 | 0.02 |
//! | 32 | 6.8e-4, 3.7e-3 | 3.4e-2, 1.4e-1 | 0.15 |
//! | 64 | 7.3e-5, 4.5e-4 | 9.9e-3, 5.1e-2 | 1.1 |
//! | 128 | 9.4e-6, 7.4e-5 | 2.7e-3, 1.6e-2 | 8.7 |

use super::{Field, Sample, Support};
use glam::{UVec3, Vec3, Vec4, Vec4Swizzles};
use rayon::prelude::*;

/// How finely a field is tabulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GridSettings {
    /// Cells along the longest side of the support; cells are cubes. Doubling it divides the error of values
    /// by 8 and of gradients by 3, and takes 8 times the memory.
    pub resolution: u32,
}

impl Default for GridSettings {
    /// 64: at 32 gradients are off by up to 14 %, at 128 the table of a limb no longer fits a core's cache.
    fn default() -> Self {
        Self { resolution: 64 }
    }
}

/// Largest resolution; a cube of it takes 2 GB.
pub(crate) const MAX_RESOLUTION: u32 = 512;

/// Why a field was not tabulated.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum BakeError {
    /// Outside `2..=MAX_RESOLUTION`.
    #[error("grid resolution {0}; choose 2 to {MAX_RESOLUTION}")]
    Resolution(u32),
    /// The support has no size, or is not finite.
    #[error("the field's support has no finite size; check the part's samples and radius")]
    Support,
}

/// A tabulated field.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    support: Support,
    cells_per_metre: f32,
    /// Cells along each axis; one more node each.
    cells: UVec3,
    /// Value, then gradient; x fastest.
    nodes: Vec<[f32; 4]>,
}

impl Grid {
    /// Tabulates a field over its support.
    pub fn bake(field: &dyn Field, settings: &GridSettings) -> Result<Self, BakeError> {
        if !(2..=MAX_RESOLUTION).contains(&settings.resolution) {
            return Err(BakeError::Resolution(settings.resolution));
        }
        let support = field.support();
        let size = support.high - support.low;
        let longest = size.max_element();
        if !(size.is_finite() && size.min_element() > 0.0) {
            return Err(BakeError::Support);
        }
        let cells_per_metre = settings.resolution as f32 / longest;
        // The slack keeps a side that is a whole number of cells from gaining one by rounding.
        let cells = (size * cells_per_metre - 1e-3).ceil().max(Vec3::ONE).as_uvec3();
        let counts = cells + UVec3::ONE;
        let (row, slice) = (counts.x as usize, (counts.x * counts.y) as usize);
        let mut nodes = vec![[0.0f32; 4]; slice * counts.z as usize];
        nodes.par_chunks_mut(slice).enumerate().for_each(|(z, nodes)| {
            for (i, node) in nodes.iter_mut().enumerate() {
                let index = Vec3::new((i % row) as f32, (i / row) as f32, z as f32);
                let Sample { value, gradient } = field.sample(support.low + index / cells_per_metre);
                *node = [value, gradient.x, gradient.y, gradient.z];
            }
        });
        let high = support.low + cells.as_vec3() / cells_per_metre;
        Ok(Self { support: Support { low: support.low, high }, cells_per_metre, cells, nodes })
    }

    /// A table as [`Grid::nodes`] and the rest of its parts describe it; `None` if their sizes disagree.
    pub(crate) fn from_nodes(
        low: Vec3,
        cells_per_metre: f32,
        cells: UVec3,
        nodes: Vec<[f32; 4]>,
    ) -> Option<Self> {
        let count = cells.to_array().iter().try_fold(1usize, |n, &c| n.checked_mul(c as usize + 1))?;
        let sound =
            low.is_finite() && cells_per_metre > 0.0 && cells.min_element() > 0 && count == nodes.len();
        let support = Support { low, high: low + cells.as_vec3() / cells_per_metre };
        sound.then_some(Self { support, cells_per_metre, cells, nodes })
    }

    /// Cells per metre, cells along each axis.
    pub(crate) fn shape(&self) -> (f32, UVec3) {
        (self.cells_per_metre, self.cells)
    }

    /// Value, then gradient, of each node; x fastest.
    pub(crate) fn nodes(&self) -> &[[f32; 4]] {
        &self.nodes
    }

    /// Where node `i` is.
    pub(crate) fn node_position(&self, i: usize) -> Vec3 {
        let (row, slice) =
            (self.cells.x as usize + 1, (self.cells.x as usize + 1) * (self.cells.y as usize + 1));
        let index = Vec3::new((i % row) as f32, (i % slice / row) as f32, (i / slice) as f32);
        self.support.low + index / self.cells_per_metre
    }

    /// Bytes of the table.
    pub(crate) fn size_in_memory(&self) -> usize {
        std::mem::size_of_val(self.nodes.as_slice())
    }
}

impl Field for Grid {
    #[inline]
    fn sample(&self, point: Vec3) -> Sample {
        if !self.support.contains(point) {
            return Sample::OUTSIDE;
        }
        let at = (point - self.support.low) * self.cells_per_metre;
        let cell = at.as_uvec3().min(self.cells - UVec3::ONE);
        let [x, y, z] = (at - cell.as_vec3()).to_array();
        let row = self.cells.x as usize + 1;
        let slice = row * (self.cells.y as usize + 1);
        let first = cell.x as usize + row * cell.y as usize + slice * cell.z as usize;
        // Corners [x][y][z] of the cell; each holds the value and the gradient.
        let pair = |at: usize| {
            let nodes: &[[f32; 4]; 2] = self.nodes[at..at + 2].try_into().expect("two nodes");
            nodes.map(Vec4::from_array)
        };
        let [[c000, c100], [c010, c110]] = [pair(first), pair(first + row)];
        let [[c001, c101], [c011, c111]] = [pair(first + slice), pair(first + row + slice)];
        let mix = |a: Vec4, b: Vec4, share: f32| a + (b - a) * share;
        let (a00, a10, a01, a11) =
            (mix(c000, c100, x), mix(c010, c110, x), mix(c001, c101, x), mix(c011, c111, x));
        let (b0, b1) = (mix(a00, a10, y), mix(a01, a11, y));
        let all = mix(b0, b1, z);
        let gradient = all.yzw();
        // Each corner's value is carried to the point along half its gradient: sum of weight * gradient . (point -
        // corner), written as what all corners have in common less what the far ones do not.
        let far_x = mix(mix(c100, c110, y), mix(c101, c111, y), z).y * x;
        let far_y = mix(a10, a11, z).z * y;
        let far_z = b1.w * z;
        let carried = gradient.dot(Vec3::new(x, y, z)) - far_x - far_y - far_z;
        let value = all.x + 0.5 * carried / self.cells_per_metre;
        Sample { value: value.clamp(0.0, 1.0), gradient }
    }

    fn support(&self) -> Support {
        self.support
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::conformance::{capsule, scatter};

    /// Largest error of value, and of gradient relative to the steepest.
    fn errors(resolution: u32) -> (f32, f32) {
        let exact = capsule(|p| p);
        let grid = Grid::bake(&exact, &GridSettings { resolution }).unwrap();
        let (mut value, mut gradient, mut steepest) = (0.0f32, 0.0f32, 0.0f32);
        for point in scatter(exact.support(), 20_000) {
            let (a, b) = (exact.sample(point), grid.sample(point));
            value = value.max((a.value - b.value).abs());
            gradient = gradient.max(a.gradient.distance(b.gradient));
            steepest = steepest.max(a.gradient.length());
        }
        (value, gradient / steepest)
    }

    #[test]
    fn the_error_is_the_documented_one() {
        let (value_32, gradient_32) = errors(32);
        let (value_64, gradient_64) = errors(64);
        assert!(value_64 < 8e-4 && gradient_64 < 6e-2, "value {value_64}, gradient {gradient_64}");
        assert!(value_32 / value_64 > 5.0 && gradient_32 / gradient_64 > 2.2);
    }

    #[test]
    fn nodes_are_exact() {
        let exact = capsule(|p| p);
        let grid = Grid::bake(&exact, &GridSettings { resolution: 20 }).unwrap();
        let node = grid.support.low + Vec3::new(9.0, 6.0, 5.0) / grid.cells_per_metre;
        assert!((grid.sample(node).value - exact.sample(node).value).abs() < 1e-4);
        assert!(grid.sample(grid.support.high).value.is_finite());
        assert_eq!(grid.size_in_memory(), grid.nodes.len() * 16);
    }

    #[test]
    fn the_same_bits_on_any_number_of_threads() {
        let exact = capsule(|p| p);
        let bake = |threads| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Grid::bake(&exact, &GridSettings { resolution: 24 }).unwrap())
        };
        assert_eq!(bake(1), bake(3));
    }

    #[test]
    fn senseless_settings_are_refused() {
        let exact = capsule(|p| p);
        for resolution in [0, 1, 513, u32::MAX] {
            let result = Grid::bake(&exact, &GridSettings { resolution });
            assert_eq!(result.unwrap_err(), BakeError::Resolution(resolution));
        }
    }
}
