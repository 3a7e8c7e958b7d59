//! Optimised centres of rotation: each vertex turns about a point computed once from the weights, so
//! bends neither collapse as under linear blending nor bulge as under dual quaternions.
//!
//! Based on: Le, Hodgins. Real-time skeletal skinning with optimized centers of rotation. 2016.
//!
//! The centre of a vertex is the mean of the surface, weighted by area and by how alike the weights
//! there are to the vertex's own:
//!
//! | symbol | variable | meaning |
//! |---|---|---|
//! | s(w_p, w_v) | `similarity` | sum over joint pairs j, k of w_pj w_pk w_vj w_vk exp(-(w_pj w_vk - w_pk w_vj)^2 / sigma^2) |
//! | sigma | `SIGMA` | how different weights may be and still count; weights have no unit, so neither has it |
//! | p* | centre | sum over triangles of s * area * centroid, divided by the sum of s * area |
//!
//! Differs in: instead of clustering vertices and skipping far triangles, the sum is taken pair by
//! pair of joints (it separates) over the triangles that both joints influence, gathered into cells of
//! equal weights (`CELLS` per axis, each kept with its mean weights and centroid). Of a vertex and
//! of a triangle the `MOST_JOINTS` strongest joints count, since their pairs grow with the square of
//! their number. Time and memory are then bounded however dense the weights are. Joint scale and shear, which the paper leaves out, are
//! handled as under dual quaternions: the blended stretch comes before the rotation about the centre.

use super::dual_quaternion::{RigidDualQuaternion, Split, StretchedDualQuaternion};
use super::layout::Kernel;
use super::linear::Linear;
use crate::character::{Mesh, add_up_repeated};
use crate::math::dual_quaternion::rotate;
use glam::{Affine3A, DVec3, Vec3, Vec3A};
use rayon::prelude::*;

/// The paper's value.
const SIGMA: f64 = 0.1;

/// Cells per axis of the table of weight pairs. A cell is a sixth of `SIGMA` wide, which leaves the
/// similarity wrong by less than 0.3 %, and at most 2080 cells of a joint pair are occupied.
const CELLS: usize = 64;

/// Joints of a vertex or triangle whose pairs are looked at. Painted and heat weights have 12 at most; the others
/// of a longer list weigh less than 1/64 each, and a pair counts with the square of their product.
const MOST_JOINTS: usize = 64;

/// Contributions of triangles that are held before equal cells are added up: 90 MB.
const MOST_ENTRIES: usize = 1 << 20;

/// The point each vertex of a mesh turns about, in bind space. Depends on the rest positions,
/// triangles and weights only; worth keeping on disk.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CentresOfRotation {
    centres: Vec<Vec3>,
}

impl CentresOfRotation {
    /// Computes the centres of `mesh`. A vertex with a single joint, and one whose weights occur
    /// nowhere on the surface, is its own centre: it moves as under linear blending.
    pub fn compute(mesh: &Mesh) -> Self {
        let Some(skin) = mesh.skin() else { return Self { centres: mesh.positions.clone() } };
        let weights_of = |v: usize| -> Vec<(u32, f32)> {
            let mut weights: Vec<(u32, f32)> = match v < skin.influences.len() {
                true => skin.influences.of(v).collect(),
                false => Vec::new(),
            };
            keep_strongest(&mut weights);
            weights
        };
        let table = PairTable::new(mesh, &weights_of);
        let centres = mesh
            .positions
            .par_iter()
            .enumerate()
            .map(|(v, &position)| table.centre(&weights_of(v)).map_or(position, |c| c.as_vec3()))
            .collect();
        Self { centres }
    }

    /// Takes centres computed before, one per vertex of the file.
    pub fn from_parts(centres: Vec<Vec3>) -> Self {
        Self { centres }
    }

    /// One centre per vertex of the file.
    pub fn as_slice(&self) -> &[Vec3] {
        &self.centres
    }
}

/// Surface whose weights of the joint pair `(j, k)` are about `(w_j, w_k)`.
#[derive(Clone, Copy, Debug)]
struct Cell {
    w_j: f64,
    w_k: f64,
    /// Area times `w_j * w_k`.
    share: f64,
    /// Centroid times `share`.
    moment: DVec3,
}

/// What one triangle, or several of them added up, contribute to a cell of a joint pair.
#[derive(Clone, Copy, Debug)]
struct Entry {
    pair: (u32, u32),
    number: u32,
    cell: Cell,
}

/// Sorts entries and adds those of one cell up, in the order in which they came; added up before or not, a sum has the
/// same bits.
fn add_up(entries: &mut Vec<Entry>) {
    // Stable, so that triangles of a cell are added in the file's order.
    entries.sort_by_key(|entry| (entry.pair, entry.number));
    entries.dedup_by(|next, kept| {
        let same = (next.pair, next.number) == (kept.pair, kept.number);
        if same {
            kept.cell.w_j += next.cell.w_j;
            kept.cell.w_k += next.cell.w_k;
            kept.cell.share += next.cell.share;
            kept.cell.moment += next.cell.moment;
        }
        same
    });
}

/// Cells of every pair of joints that share a triangle.
struct PairTable {
    /// Pairs, smaller slot first, ascending.
    pairs: Vec<(u32, u32)>,
    /// First cell of each pair, and one past the last.
    starts: Vec<usize>,
    cells: Vec<Cell>,
}

impl PairTable {
    fn new(mesh: &Mesh, weights_of: &impl Fn(usize) -> Vec<(u32, f32)>) -> Self {
        let mut entries: Vec<Entry> = Vec::new();
        let mut most_entries = MOST_ENTRIES;
        for triangle in &mesh.triangles {
            let corners = triangle.map(|v| mesh.positions[v as usize].as_dvec3());
            let area = 0.5 * (corners[1] - corners[0]).cross(corners[2] - corners[0]).length();
            if !(area.is_finite() && area > 0.0) {
                continue;
            }
            let centroid = (corners[0] + corners[1] + corners[2]) / 3.0;
            let mean = mean_weights(triangle.map(|v| weights_of(v as usize)));
            for (a, &(j, w_j)) in mean.iter().enumerate() {
                for &(k, w_k) in &mean[a + 1..] {
                    let share = area * w_j * w_k;
                    let at = |w: f64| ((w * CELLS as f64) as u32).min(CELLS as u32 - 1);
                    let cell = Cell { w_j: w_j * share, w_k: w_k * share, share, moment: centroid * share };
                    entries.push(Entry { pair: (j, k), number: at(w_j) * CELLS as u32 + at(w_k), cell });
                }
            }
            if entries.len() > most_entries {
                add_up(&mut entries);
                // What is left are cells; room for as many again keeps the work in proportion.
                most_entries = MOST_ENTRIES.max(2 * entries.len());
            }
        }
        add_up(&mut entries);
        let mut table = Self { pairs: Vec::new(), starts: Vec::new(), cells: Vec::new() };
        for entry in entries {
            if table.pairs.last() != Some(&entry.pair) {
                table.pairs.push(entry.pair);
                table.starts.push(table.cells.len());
            }
            table.cells.push(entry.cell);
        }
        table.starts.push(table.cells.len());
        // Tiny weights may multiply to an area of zero, which has no mean.
        for cell in &mut table.cells {
            if cell.share > 0.0 {
                cell.w_j /= cell.share;
                cell.w_k /= cell.share;
            }
        }
        table
    }

    /// The centre of a vertex with `weights`, if its joints share a triangle.
    fn centre(&self, weights: &[(u32, f32)]) -> Option<DVec3> {
        let (mut share, mut moment) = (0.0, DVec3::ZERO);
        for (a, &first) in weights.iter().enumerate() {
            for &second in &weights[a + 1..] {
                let ((j, p_j), (k, p_k)) = if first.0 < second.0 { (first, second) } else { (second, first) };
                let Ok(pair) = self.pairs.binary_search(&(j, k)) else { continue };
                let (p_j, p_k) = (f64::from(p_j), f64::from(p_k));
                for cell in &self.cells[self.starts[pair]..self.starts[pair + 1]] {
                    let difference = (p_j * cell.w_k - p_k * cell.w_j) / SIGMA;
                    let exponent = difference * difference;
                    // exp(-30) is 1e-13: what follows cannot be seen in single precision.
                    if exponent < 30.0 {
                        let similarity = p_j * p_k * (-exponent).exp();
                        share += similarity * cell.share;
                        moment += similarity * cell.moment;
                    }
                }
            }
        }
        let centre = moment / share;
        (share > 0.0 && centre.is_finite()).then_some(centre)
    }
}

/// The mean of three vertices' weights, ascending by joint.
fn mean_weights(corners: [Vec<(u32, f32)>; 3]) -> Vec<(u32, f64)> {
    let mut mean: Vec<(u32, f64)> =
        corners.into_iter().flatten().map(|(joint, weight)| (joint, f64::from(weight) / 3.0)).collect();
    mean.sort_by_key(|&(joint, _)| joint);
    add_up_repeated(&mut mean);
    keep_strongest(&mut mean);
    mean
}

/// Leaves the [`MOST_JOINTS`] strongest of a list, ascending by joint; a list that is no longer stays as it is.
fn keep_strongest<W: PartialOrd + Copy>(weights: &mut Vec<(u32, W)>) {
    if weights.len() <= MOST_JOINTS {
        return;
    }
    let stronger = |a: &(u32, W), b: &(u32, W)| {
        b.1.partial_cmp(&a.1).unwrap_or(std::cmp::Ordering::Equal).then(a.0.cmp(&b.0))
    };
    weights.sort_by(stronger);
    weights.truncate(MOST_JOINTS);
    weights.sort_by_key(|weight| weight.0);
}

/// Turns a vertex about its centre, which moves by linear blending. `STRETCHED` where some joint
/// scales or shears.
pub(super) struct CentreOfRotation<'a, const STRETCHED: bool> {
    /// World-from-bind of each slot.
    pub matrices: &'a [Affine3A],
    /// The same, split.
    pub splits: &'a [Split],
    /// Centre of each vertex.
    pub centres: &'a [Vec3],
}

impl<const STRETCHED: bool> Kernel for CentreOfRotation<'_, STRETCHED> {
    #[inline(always)]
    fn deform(&self, joints: &[u32], weights: &[f32], vertex: usize, rest: Vec3A) -> Vec3A {
        let centre = Vec3A::from(self.centres[vertex]);
        let moved_centre = Linear { matrices: self.matrices }.deform(joints, weights, vertex, centre);
        let mut arm = rest - centre;
        if STRETCHED {
            arm = StretchedDualQuaternion { splits: self.splits }.blend_stretch(joints, weights) * arm;
        }
        let rotation = RigidDualQuaternion { splits: self.splits }.blend_rotation(joints, weights);
        moved_centre + rotate(rotation, arm)
    }
}
