//! Linear blend skinning: each vertex is moved by the weighted mean of its joints' matrices.
//!
//! Based on: Magnenat-Thalmann, Laperriere, Thalmann. Joint-dependent local deformations. 1988.
//!
//! Any number of influences. Twisted limbs get thinner (a ramp of weights over a twist by `t` leaves
//! the radius `cos(t/2)` half way) and bent ones lose volume on the inside.

use super::layout::Kernel;
use glam::{Affine3A, Vec3A};

/// Moves a vertex by the weighted mean of matrices.
pub(super) struct Linear<'a> {
    /// World-from-bind of each slot.
    pub matrices: &'a [Affine3A],
}

impl Linear<'_> {
    /// The mean of the matrices of `joints`.
    #[inline(always)]
    pub fn blend(&self, joints: &[u32], weights: &[f32]) -> Affine3A {
        let first = &self.matrices[joints[0] as usize];
        let mut linear = first.matrix3 * weights[0];
        let mut translation = first.translation * weights[0];
        for (&joint, &weight) in joints.iter().zip(weights).skip(1) {
            let matrix = &self.matrices[joint as usize];
            linear += matrix.matrix3 * weight;
            translation += matrix.translation * weight;
        }
        Affine3A { matrix3: linear, translation }
    }
}

impl Kernel for Linear<'_> {
    #[inline(always)]
    fn deform(&self, joints: &[u32], weights: &[f32], _: usize, rest: Vec3A) -> Vec3A {
        self.blend(joints, weights).transform_point3a(rest)
    }
}

/// Moves a vertex with its only joint.
pub(super) struct Rigid<'a> {
    /// World-from-bind of each slot.
    pub matrices: &'a [Affine3A],
}

impl Kernel for Rigid<'_> {
    #[inline(always)]
    fn deform(&self, joints: &[u32], _: &[f32], _: usize, rest: Vec3A) -> Vec3A {
        self.matrices[joints[0] as usize].transform_point3a(rest)
    }
}
