//! Weights of the neighbours of each vertex at rest.

use crate::geom::Adjacency;
use crate::tracking::stencil::Stencil;
use glam::Vec3A;

pub(super) fn inverse_lengths(rest: &[Vec3A], adjacency: &Adjacency, size: f32) -> Stencil {
    let least = 1e-6 * size.max(f32::MIN_POSITIVE);
    Stencil::new((0..rest.len()).map(|v| {
        let ring = adjacency.vertex_ring.get(v).iter();
        ring.map(|&k| (k, 1.0 / f64::from(rest[v].distance(rest[k as usize]).max(least)))).collect()
    }))
}

/// Mean length of the edges around the tracked vertices of each part.
pub(super) fn mean_edges(
    rest: &[Vec3A],
    adjacency: &Adjacency,
    tracked: &[u32],
    part: &[u32],
    parts: usize,
) -> Vec<f32> {
    let mut sums = vec![(0.0f32, 0usize); parts];
    for &v in tracked {
        let sum = &mut sums[part[v as usize] as usize];
        for &k in adjacency.vertex_ring.get(v as usize) {
            *sum = (sum.0 + rest[v as usize].distance(rest[k as usize]), sum.1 + 1);
        }
    }
    sums.into_iter().map(|(length, count)| length / count.max(1) as f32).collect()
}
