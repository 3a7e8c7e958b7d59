//! Triangles of tubes: rings of vertices, one after the other, each counter-clockwise seen from the last ring.

use super::TriMesh;
use glam::Vec3;

/// The sides of a tube of `rings` rings with `around` vertices each, which are the first of their mesh.
pub(crate) fn sides(rings: usize, around: usize) -> impl Iterator<Item = [u32; 3]> {
    let at = move |ring: usize, k: usize| (ring * around + k % around) as u32;
    let quads = (0..rings.saturating_sub(1)).flat_map(move |ring| (0..around).map(move |k| (ring, k)));
    quads.flat_map(move |(i, k)| {
        let [a, b, c, d] = [at(i, k), at(i, k + 1), at(i + 1, k + 1), at(i + 1, k)];
        [[a, b, c], [a, c, d]]
    })
}

/// Closes both ends of such a tube with a vertex each.
pub(crate) fn close(mesh: &mut TriMesh, rings: usize, around: usize, ends: [Vec3; 2]) {
    let tips = mesh.positions.len() as u32;
    mesh.positions.extend(ends);
    let base = ((rings - 1) * around) as u32;
    for k in 0..around as u32 {
        let next = (k + 1) % around as u32;
        mesh.triangles.push([tips, next, k]);
        mesh.triangles.push([tips + 1, base + k, base + next]);
    }
}
