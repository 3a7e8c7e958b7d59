//! Mean value coordinates: where a vertex sat among its neighbours at rest.
//!
//! The ring around a vertex is projected on its tangent plane at rest; with q_k the projected neighbours in
//! order and t_k the tangent of half the angle between q_k and q_(k+1), `w_k = (t_(k-1) + t_k) / |q_k|`,
//! scaled to a sum of 1. Relaxation moves the vertex towards the same combination of the moved neighbours,
//! within the tangent plane of the field, by mu of the way:
//!
//! `mu = 1 - (|f - iso| - 1)^4`
//!
//! mu is 0.04 one hundredth away from the iso-value: relaxation dies as vertices arrive, and removes less
//! than one per cent of the distortion. It is here because the paper has it.
//!
//! Based on: Vaillant et al. Implicit Skinning. 2012; Floater. Mean Value Coordinates. 2003.
//! Differs in: vertices on open rims are left alone; where a weight is negative (the ring is not star-shaped)
//! all neighbours count the same.

use crate::geom::{Adjacency, TriMesh};
use crate::tracking::stencil::Stencil;
use glam::DVec3;

/// Mean value weights of every vertex; no list for vertices on rims.
pub fn mean_value_stencil(mesh: &TriMesh, adjacency: &Adjacency) -> Stencil {
    Stencil::new((0..mesh.positions.len()).map(|v| {
        let Some(ring) = ordered_ring(mesh, adjacency, v as u32) else { return Vec::new() };
        let position = |k: u32| mesh.positions[k as usize].as_dvec3();
        let spokes: Vec<DVec3> = ring.iter().map(|&k| position(k) - position(v as u32)).collect();
        let count = ring.len();
        let normal: DVec3 = (0..count).map(|k| spokes[k].cross(spokes[(k + 1) % count])).sum();
        let weights = weights(&spokes, normal);
        let uniform = weights.iter().any(|w| !(w.is_finite() && *w >= 0.0));
        ring.into_iter().zip(weights).map(|(k, w)| (k, if uniform { 1.0 } else { w })).collect()
    }))
}

fn weights(spokes: &[DVec3], normal: DVec3) -> Vec<f64> {
    let count = spokes.len();
    let normal = normal.normalize_or_zero();
    let flat: Vec<DVec3> = spokes.iter().map(|s| s - normal * normal.dot(*s)).collect();
    let half_tangent = |k: usize| {
        let (a, b) = (flat[k], flat[(k + 1) % count]);
        a.cross(b).dot(normal) / (a.length() * b.length() + a.dot(b))
    };
    (0..count).map(|k| (half_tangent((k + count - 1) % count) + half_tangent(k)) / flat[k].length()).collect()
}

/// The neighbours counter-clockwise; `None` unless the triangles around the vertex close one ring.
fn ordered_ring(mesh: &TriMesh, adjacency: &Adjacency, v: u32) -> Option<Vec<u32>> {
    let next: Vec<(u32, u32)> = adjacency
        .triangles_of_vertex
        .get(v as usize)
        .iter()
        .map(|&t| {
            let t = mesh.triangles[t as usize];
            let corner = t.iter().position(|&c| c == v).unwrap_or(0);
            (t[(corner + 1) % 3], t[(corner + 2) % 3])
        })
        .collect();
    let &(first, mut at) = next.first()?;
    let mut ring = vec![first];
    while at != first {
        let mut from = next.iter().filter(|n| n.0 == at);
        let after = from.next()?.1;
        if from.next().is_some() || ring.len() == next.len() {
            return None;
        }
        ring.push(at);
        at = after;
    }
    (ring.len() == next.len() && ring.len() > 2).then_some(ring)
}

/// mu of the [module](self).
#[inline]
pub fn fading(iso_error: f32) -> f32 {
    (1.0 - (iso_error.abs() - 1.0).powi(4)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracking::papers::golden::{golden, indices, mesh, numbers, vectors};
    use crate::tracking::stencil::tangential;
    use glam::Vec3;

    #[test]
    fn reference_rings_weights_and_step() {
        let golden = &golden()["mesh"];
        let mesh = mesh();
        let stencil = mean_value_stencil(&mesh, &Adjacency::new(&mesh));
        let moved: Vec<Vec3> = vectors(&golden["deformed"]).iter().map(|p| p.as_vec3()).collect();
        let normals = vectors(&golden["tangent_normals"]);
        let relaxed = vectors(&golden["mvc_relax_mu1"]);
        for v in 0..mesh.positions.len() {
            let (ring, weights) = (indices(&golden["rings"][v]), numbers(&golden["mvc"][v]));
            let found: Vec<(u32, f32)> = stencil.of(v).collect();
            let shift = ring.iter().position(|&k| k == found[0].0).unwrap();
            for (i, (k, w)) in found.iter().enumerate() {
                let at = (i + shift) % ring.len();
                assert_eq!(*k, ring[at], "the ring of {v} in order");
                assert!((f64::from(*w) - weights[at]).abs() < 1e-6, "{v}: {w} not {}", weights[at]);
            }
            let step = stencil.mean(v, &moved).unwrap() - moved[v];
            let new = moved[v] + tangential(step, normals[v].as_vec3());
            assert!(new.as_dvec3().distance(relaxed[v]) < 2e-6, "{v}: {new} not {}", relaxed[v]);
        }
    }

    #[test]
    fn rims_have_no_ring_and_relaxation_fades() {
        let mut mesh = mesh();
        mesh.triangles.remove(0);
        let stencil = mean_value_stencil(&mesh, &Adjacency::new(&mesh));
        let without = (0..mesh.positions.len()).filter(|&v| stencil.range(v).is_empty()).count();
        assert_eq!(without, 3);
        assert_eq!((fading(0.0), fading(1.0)), (0.0, 1.0));
        assert!((fading(0.01) - 0.0394).abs() < 1e-4);
    }

    #[test]
    fn a_ring_that_is_not_star_shaped_counts_evenly() {
        // Going round, the ring turns back from 100 degrees to 30.
        let mut positions = vec![Vec3::ZERO];
        positions.extend([0.0f32, 60.0, 100.0, 30.0, 200.0, 280.0].map(|degrees| {
            let (sine, cosine) = degrees.to_radians().sin_cos();
            Vec3::new(cosine, sine, 0.0)
        }));
        let triangles = (0..6).map(|i| [0, 1 + i, 1 + (i + 1) % 6]).collect();
        let mesh = TriMesh { positions, triangles };
        let stencil = mean_value_stencil(&mesh, &Adjacency::new(&mesh));
        assert!(
            stencil.of(0).all(|(_, w)| (w - 1.0 / 6.0).abs() < 1e-6),
            "{:?}",
            stencil.of(0).collect::<Vec<_>>()
        );
    }
}
