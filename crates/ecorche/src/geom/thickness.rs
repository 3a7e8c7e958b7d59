//! How thick a surface is at each of its vertices.

use crate::geom::bvh::{Bvh, Hit};
use crate::geom::intersect::Ray;
use crate::geom::mesh::TriMesh;
use rayon::prelude::*;

/// Distance from each vertex straight inward to where the surface ends; infinite where it does not. `bvh` fits the
/// mesh.
pub fn thickness(mesh: &TriMesh, bvh: &Bvh) -> Vec<f32> {
    let normals = mesh.normals();
    (0..mesh.positions.len())
        .into_par_iter()
        .with_min_len(256)
        .map(|v| {
            let ray = Ray::new(mesh.positions[v], -normals[v]);
            let leaves =
                |hit: &Hit| !hit.front && !mesh.triangles[hit.triangle as usize].contains(&(v as u32));
            bvh.first_hit(&ray, f32::INFINITY, &mesh.positions, &mesh.triangles, leaves)
                .map_or(f32::INFINITY, |hit| hit.distance)
        })
        .collect()
}
