//! Dual quaternion skinning: rigid motions are blended as rigid motions, so twists keep their radius.
//!
//! Based on: Kavan, Collins, Zara, O'Sullivan. Skinning with dual quaternions. 2007.
//!
//! Differs in: each joint's sign is chosen against the vertex's strongest joint, not against the
//! first; and joints may scale and shear. A skin matrix is split by polar decomposition into a
//! stretch and a rigid motion after it; stretches are blended linearly and applied first, as
//! OpenUSD does.

use super::layout::Kernel;
use crate::math::DualQuat;
use crate::math::polar::polar;
use glam::{Affine3A, Mat3A, Vec3A, Vec4};

/// A stretch closer to identity than this is rounding: a chain of 20 single-precision rotations
/// leaves up to 2e-6, and what is ignored moves a vertex by less than 4e-6 of its distance from the
/// origin.
const NO_STRETCH: f32 = 4e-6;

/// A skin matrix as a stretch followed by a rigid motion.
#[derive(Clone, Copy, Debug)]
pub(super) struct Split {
    /// The rigid part.
    pub rigid: DualQuat,
    /// The part that comes first; identity for rigid matrices.
    pub stretch: Mat3A,
}

impl Split {
    /// No motion.
    pub const STILL: Self =
        Self { rigid: DualQuat { real: Vec4::W, dual: Vec4::ZERO }, stretch: Mat3A::IDENTITY };

    /// Splits `matrix`, whose numbers must be finite.
    pub fn new(matrix: &Affine3A) -> Self {
        let (rotation, stretch) = polar(glam::Mat3::from(matrix.matrix3).as_dmat3());
        let rigid = DualQuat::new(rotation.as_quat(), matrix.translation.into());
        let stretch = Mat3A::from(stretch.as_mat3());
        let difference = (stretch - Mat3A::IDENTITY).abs();
        let largest = difference.x_axis.max(difference.y_axis).max(difference.z_axis).max_element();
        Self { rigid, stretch: if largest > NO_STRETCH { stretch } else { Mat3A::IDENTITY } }
    }

    /// Whether there is a stretch to apply.
    pub fn stretches(&self) -> bool {
        self.stretch != Mat3A::IDENTITY
    }
}

/// Blends without looking at stretches.
pub(super) struct RigidDualQuaternion<'a> {
    /// Split world-from-bind of each slot.
    pub splits: &'a [Split],
}

impl RigidDualQuaternion<'_> {
    /// The blend of the motions of `joints`, each taken on the side of the first, strongest one.
    #[inline(always)]
    pub fn blend(&self, joints: &[u32], weights: &[f32]) -> DualQuat {
        let strongest = self.splits[joints[0] as usize].rigid;
        let mut sum = strongest.times(weights[0]);
        for (&joint, &weight) in joints.iter().zip(weights).skip(1) {
            let motion = self.splits[joint as usize].rigid;
            let side = strongest.real.dot(motion.real);
            sum = sum.plus(motion, weight.copysign(side));
        }
        sum
    }

    /// The rotation of [`Self::blend`] alone.
    #[inline(always)]
    pub fn blend_rotation(&self, joints: &[u32], weights: &[f32]) -> Vec4 {
        let strongest = self.splits[joints[0] as usize].rigid.real;
        let mut sum = strongest * weights[0];
        for (&joint, &weight) in joints.iter().zip(weights).skip(1) {
            let rotation = self.splits[joint as usize].rigid.real;
            sum += rotation * weight.copysign(strongest.dot(rotation));
        }
        sum
    }
}

impl Kernel for RigidDualQuaternion<'_> {
    #[inline(always)]
    fn deform(&self, joints: &[u32], weights: &[f32], _: usize, rest: Vec3A) -> Vec3A {
        self.blend(joints, weights).transform_point(rest)
    }
}

/// Stretches first, by the weighted mean of the joints' stretches, then moves rigidly.
pub(super) struct StretchedDualQuaternion<'a> {
    /// Split world-from-bind of each slot.
    pub splits: &'a [Split],
}

impl StretchedDualQuaternion<'_> {
    /// The mean of the stretches of `joints`.
    #[inline(always)]
    pub fn blend_stretch(&self, joints: &[u32], weights: &[f32]) -> Mat3A {
        let mut sum = self.splits[joints[0] as usize].stretch * weights[0];
        for (&joint, &weight) in joints.iter().zip(weights).skip(1) {
            sum += self.splits[joint as usize].stretch * weight;
        }
        sum
    }
}

impl Kernel for StretchedDualQuaternion<'_> {
    #[inline(always)]
    fn deform(&self, joints: &[u32], weights: &[f32], _: usize, rest: Vec3A) -> Vec3A {
        let stretched = self.blend_stretch(joints, weights) * rest;
        RigidDualQuaternion { splits: self.splits }.blend(joints, weights).transform_point(stretched)
    }
}
