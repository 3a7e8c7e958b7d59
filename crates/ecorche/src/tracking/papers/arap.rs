//! As rigid as possible relaxation with the rotations given by the skeleton.
//!
//! | symbol | here | meaning | unit |
//! |---|---|---|---|
//! | cbar | `weights` | cotangent weights, clamped to `[1e-3, 20]`, scaled to a sum of 1 per vertex | - |
//! | p, R | `edges`, `rotations` | rest edges `p_i - p_k`, rotation of each vertex from rest | m, - |
//! | b | `pull` | `1/2 sum cbar_ik (R_i + R_k)(p_i - p_k)` | m |
//! | | `step` | `v_i <- b_i + sum cbar_ik v_k`, omega of the way | m |
//!
//! Each step is a Jacobi step of the energy of Sorkine and Alexa; the rotations are those of the blended dual
//! quaternions, so nothing is decomposed.
//!
//! Based on: Vaillant et al. Robust Iso-Surface Tracking for Interactive Character Skinning. 2014;
//! Roussellet. Thesis. 2018, section 3.3 and appendix A.1; Sorkine, Alexa. As-Rigid-As-Possible Surface
//! Modeling. 2007.
//! Differs in: weights are clamped: negative cotangents void the convergence.

use super::VERTICES_PER_TASK;
use crate::character::Influences;
use crate::geom::{Adjacency, Laplacian, TriMesh};
use crate::tracking::stencil::Stencil;
use glam::{Quat, Vec3, Vec4};
use rayon::prelude::*;

/// The rest shape as the relaxation sees it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Arap {
    stencil: Stencil,
    /// `p_i - p_k` of each item of the stencil.
    edges: Vec<Vec3>,
}

impl Arap {
    /// Weights and edges of the rest mesh.
    pub fn new(mesh: &TriMesh, adjacency: &Adjacency) -> Self {
        let laplacian = Laplacian::new(mesh, adjacency);
        let mut lists: Vec<Vec<(u32, f64)>> = vec![Vec::new(); mesh.positions.len()];
        for (edge, &weight) in adjacency.edges.iter().zip(&laplacian.edge_weights) {
            let [a, b] = edge.vertices;
            lists[a as usize].push((b, weight));
            lists[b as usize].push((a, weight));
        }
        let stencil = Stencil::new(lists);
        let edges = (0..stencil.len())
            .flat_map(|v| stencil.of(v).map(move |(k, _)| mesh.positions[v] - mesh.positions[k as usize]))
            .collect();
        Self { stencil, edges }
    }

    /// b of every vertex for rotations from rest.
    pub fn pull(&self, rotations: &[Quat], pull: &mut [Vec3]) {
        pull.par_iter_mut().with_min_len(VERTICES_PER_TASK).enumerate().for_each(|(v, pull)| {
            let edges = &self.edges[self.stencil.range(v)];
            let (mut own, mut others) = (Vec3::ZERO, Vec3::ZERO);
            for ((k, weight), &edge) in self.stencil.of(v).zip(edges) {
                own += weight * edge;
                others += weight * (rotations[k as usize] * edge);
            }
            *pull = 0.5 * (rotations[v] * own + others);
        });
    }

    /// Where one Jacobi step would take vertex `v`; where it is, if it has no neighbour.
    #[inline]
    pub fn target(&self, v: usize, positions: &[Vec3], pull: &[Vec3]) -> Vec3 {
        self.stencil.mean(v, positions).map_or(positions[v], |mean| mean + pull[v])
    }
}

/// The rotation of each vertex: its joints' rotations from rest, blended as quaternions on the side of the
/// strongest. A vertex without influences does not turn.
pub fn blended_rotations(influences: &Influences, rotation_of_joint: &[Quat], rotations: &mut [Quat]) {
    let count = influences.len();
    rotations.par_iter_mut().with_min_len(VERTICES_PER_TASK).enumerate().for_each(|(v, rotation)| {
        let of_joint =
            |joint: u32| Vec4::from(rotation_of_joint.get(joint as usize).copied().unwrap_or(Quat::IDENTITY));
        *rotation = Quat::IDENTITY;
        if v < count && influences.of(v).len() > 0 {
            let strongest = of_joint(influences.strongest(v));
            let sum = influences.of(v).fold(Vec4::ZERO, |sum, (joint, weight)| {
                let turn = of_joint(joint);
                sum + turn * weight.copysign(strongest.dot(turn))
            });
            *rotation = sum.try_normalize().map_or(Quat::IDENTITY, Quat::from_vec4);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracking::papers::golden::{golden, mesh, vectors};
    use crate::tracking::stencil::tangential;
    use glam::Mat3;

    #[test]
    fn reference_weights_pull_and_steps() {
        let golden = &golden()["mesh"];
        let mesh = mesh();
        let arap = Arap::new(&mesh, &Adjacency::new(&mesh));
        let rotations: Vec<Quat> = golden["rotations"]
            .as_array()
            .unwrap()
            .iter()
            .map(|rows| {
                let rows: Vec<Vec3> = vectors(rows).iter().map(|r| r.as_vec3()).collect();
                Quat::from_mat3(&Mat3::from_cols(rows[0], rows[1], rows[2]).transpose())
            })
            .collect();
        let mut pull = vec![Vec3::ZERO; mesh.positions.len()];
        arap.pull(&rotations, &mut pull);
        let moved: Vec<Vec3> = vectors(&golden["deformed"]).iter().map(|p| p.as_vec3()).collect();
        let expected = |key: &str| vectors(&golden[key]);
        let (b, free, along) =
            (expected("arap_b"), expected("arap_jacobi_unclamped"), expected("arap_jacobi_tangential"));
        let normals = expected("tangent_normals");
        for v in 0..mesh.positions.len() {
            assert!(pull[v].as_dvec3().distance(b[v]) < 1e-6, "{v}: {} not {}", pull[v], b[v]);
            let target = arap.target(v, &moved, &pull);
            assert!(target.as_dvec3().distance(free[v]) < 2e-6, "{v}: {target} not {}", free[v]);
            let tangent = moved[v] + tangential(target - moved[v], normals[v].as_vec3());
            assert!(tangent.as_dvec3().distance(along[v]) < 2e-6, "{v}: {tangent} not {}", along[v]);
        }
        let cotangents: f64 = golden["cot"].as_object().unwrap().values().map(|c| c.as_f64().unwrap()).sum();
        let ours: f64 = Laplacian::new(&mesh, &Adjacency::new(&mesh)).edge_weights.iter().sum();
        assert!((cotangents - ours).abs() < 1e-5);
    }

    #[test]
    fn a_rigid_motion_is_a_fixed_point() {
        let mesh = mesh();
        let arap = Arap::new(&mesh, &Adjacency::new(&mesh));
        let turn = Quat::from_rotation_z(1.1);
        let moved: Vec<Vec3> = mesh.positions.iter().map(|&p| turn * p + Vec3::Y).collect();
        let count = mesh.positions.len();
        let mut pull = vec![Vec3::ZERO; count];
        arap.pull(&vec![turn; count], &mut pull);
        for v in 0..count {
            assert!(arap.target(v, &moved, &pull).distance(moved[v]) < 2e-6);
        }
    }

    #[test]
    fn rotations_blend_on_the_short_side() {
        let influences = Influences::new([vec![(0, 0.5), (1, 0.5)], vec![(1, 1.0)], vec![]]);
        let (still, turned) = (Quat::IDENTITY, -Quat::from_rotation_x(1.0));
        let mut rotations = [Quat::IDENTITY; 3];
        blended_rotations(&influences, &[still, turned], &mut rotations);
        assert!(rotations[0].angle_between(Quat::from_rotation_x(0.5)) < 1e-3);
        assert!(rotations[1].angle_between(Quat::from_rotation_x(1.0)) < 1e-3);
        assert_eq!(rotations[2], Quat::IDENTITY);
    }
}
