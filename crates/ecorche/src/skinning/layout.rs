//! Weights laid out for the per-frame loop.
//!
//! Vertices are cut into blocks of [`BLOCK`] in file order, so that each thread writes its own slice
//! of the result. Within a block they are ordered by their number of influences: the inner loops
//! then run a fixed number of times and the compiler unrolls them.

use crate::character::Influences;
use glam::{Vec3, Vec3A};
use rayon::prelude::*;

/// Vertices per block: its positions and weights (about 30 kB) stay in the first-level cache.
const BLOCK: usize = 512;

/// Meshes of fewer vertices run on the calling thread: handing work to others costs some 5
/// microseconds, the time of about 1000 vertices.
const PARALLEL_FROM: usize = 4 * BLOCK;

/// Moves one vertex, given its joints (palette slots) and weights, heaviest first.
pub(super) trait Kernel: Sync {
    /// The deformed position of `vertex`, which is at `rest` before.
    fn deform(&self, joints: &[u32], weights: &[f32], vertex: usize, rest: Vec3A) -> Vec3A;
}

/// Vertices of one block with the same number of influences.
#[derive(Clone, Copy, Debug)]
struct Run {
    influences: u32,
    vertices: u32,
}

/// The weights of one block, back to back in the order of its runs.
#[derive(Clone, Debug, Default)]
struct Block {
    runs: Vec<Run>,
    /// Vertices as offsets from the block's first.
    offsets: Vec<u16>,
    joints: Vec<u32>,
    weights: Vec<f32>,
}

/// The weights of a mesh.
#[derive(Clone, Debug, Default)]
pub(super) struct Layout {
    vertex_count: usize,
    blocks: Vec<Block>,
}

impl Layout {
    /// Lays out `influences` for `vertex_count` vertices. Slots that are `slot_count` or more, and
    /// vertices without influences, go to slot `slot_count`, which stands for "does not move".
    pub fn new(influences: &Influences, vertex_count: usize, slot_count: usize) -> Self {
        let blocks = (0..vertex_count)
            .step_by(BLOCK)
            .map(|first| {
                let last = (first + BLOCK).min(vertex_count);
                let count = |v: usize| if v < influences.len() { influences.of(v).len() } else { 1 };
                let mut order: Vec<usize> = (first..last).collect();
                order.sort_by_key(|&v| (count(v), v));
                let mut block = Block::default();
                for v in order {
                    let size = count(v) as u32;
                    match block.runs.last_mut() {
                        Some(run) if run.influences == size => run.vertices += 1,
                        _ => block.runs.push(Run { influences: size, vertices: 1 }),
                    }
                    block.offsets.push((v - first) as u16);
                    if v < influences.len() {
                        for (slot, weight) in influences.of(v) {
                            block.joints.push(slot.min(slot_count as u32));
                            block.weights.push(weight);
                        }
                    } else {
                        block.joints.push(slot_count as u32);
                        block.weights.push(1.0);
                    }
                }
                block
            })
            .collect();
        Self { vertex_count, blocks }
    }

    /// Number of vertices.
    pub fn vertex_count(&self) -> usize {
        self.vertex_count
    }

    /// Whether some vertex of the mesh has more than one influence.
    pub fn blends(&self) -> bool {
        self.blocks.iter().any(|b| b.runs.iter().any(|r| r.influences > 1))
    }

    /// Moves every vertex: `rigid` those with a single joint, `blended` the others. `rest` and `out`
    /// have [`Layout::vertex_count`] entries. Returns how many results were not finite and kept
    /// their rest position. `alone`: on the calling thread.
    pub fn run(
        &self,
        rigid: &impl Kernel,
        blended: &impl Kernel,
        rest: &[Vec3],
        out: &mut [Vec3],
        alone: bool,
    ) -> usize {
        let one = |index: usize, rest: &[Vec3], out: &mut [Vec3]| {
            self.blocks[index].run(rigid, blended, index * BLOCK, rest, out);
            keep_finite(rest, out)
        };
        if alone || self.vertex_count < PARALLEL_FROM {
            let pairs = rest.chunks(BLOCK).zip(out.chunks_mut(BLOCK));
            pairs.enumerate().map(|(index, (rest, out))| one(index, rest, out)).sum()
        } else {
            let pairs = rest.par_chunks(BLOCK).zip(out.par_chunks_mut(BLOCK));
            pairs.enumerate().map(|(index, (rest, out))| one(index, rest, out)).sum()
        }
    }

    /// Number of vertices with an influence for which `counts(slot)` holds.
    pub fn count_vertices(&self, counts: impl Fn(u32) -> bool) -> usize {
        let mut total = 0;
        for block in &self.blocks {
            let mut joints = block.joints.as_slice();
            for run in &block.runs {
                let (own, rest) = joints.split_at((run.influences * run.vertices) as usize);
                total += own.chunks(run.influences as usize).filter(|c| c.iter().any(|&j| counts(j))).count();
                joints = rest;
            }
        }
        total
    }
}

impl Block {
    fn run(&self, rigid: &impl Kernel, blended: &impl Kernel, first: usize, rest: &[Vec3], out: &mut [Vec3]) {
        let (mut offsets, mut joints, mut weights) =
            (self.offsets.as_slice(), self.joints.as_slice(), self.weights.as_slice());
        for run in &self.runs {
            let (own_offsets, later_offsets) = offsets.split_at(run.vertices as usize);
            let split = (run.influences * run.vertices) as usize;
            let (own_joints, later_joints) = joints.split_at(split);
            let (own_weights, later_weights) = weights.split_at(split);
            (offsets, joints, weights) = (later_offsets, later_joints, later_weights);
            match run.influences {
                1 => fixed::<1, _>(rigid, first, own_offsets, own_joints, own_weights, rest, out),
                2 => fixed::<2, _>(blended, first, own_offsets, own_joints, own_weights, rest, out),
                3 => fixed::<3, _>(blended, first, own_offsets, own_joints, own_weights, rest, out),
                4 => fixed::<4, _>(blended, first, own_offsets, own_joints, own_weights, rest, out),
                many => {
                    let lists = own_joints.chunks(many as usize).zip(own_weights.chunks(many as usize));
                    for (&offset, (joints, weights)) in own_offsets.iter().zip(lists) {
                        let v = offset as usize;
                        out[v] = blended.deform(joints, weights, first + v, rest[v].into()).into();
                    }
                }
            }
        }
    }
}

/// The loop over a run of `K` influences each; `K` is known to the compiler. A function of its own, so that its registers
/// are not shared with the caller's.
#[inline(never)]
fn fixed<const K: usize, M: Kernel>(
    kernel: &M,
    first: usize,
    offsets: &[u16],
    joints: &[u32],
    weights: &[f32],
    rest: &[Vec3],
    out: &mut [Vec3],
) {
    let lists = joints.as_chunks::<K>().0.iter().zip(weights.as_chunks::<K>().0);
    for (&offset, (joints, weights)) in offsets.iter().zip(lists) {
        let v = offset as usize;
        out[v] = kernel.deform(joints, weights, first + v, rest[v].into()).into();
    }
}

/// Puts results that are not finite back to rest (to the origin if that is not finite either) and
/// counts them.
fn keep_finite(rest: &[Vec3], out: &mut [Vec3]) -> usize {
    // A product with 0 is 0, or NaN where a number is not finite; the sum then is NaN too.
    let sum = out.iter().fold(Vec3::ZERO, |sum, p| sum + *p * 0.0);
    if sum == Vec3::ZERO {
        return 0;
    }
    let mut kept = 0;
    for (p, &rest) in out.iter_mut().zip(rest).filter(|(p, _)| !p.is_finite()) {
        *p = if rest.is_finite() { rest } else { Vec3::ZERO };
        kept += 1;
    }
    kept
}
