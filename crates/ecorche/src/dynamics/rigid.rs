//! Rotation and translation in double precision: how a bone moves, without its scale.

use crate::math::Transform;
use glam::{Affine3A, DQuat, DVec3};
use serde::{Deserialize, Serialize};

/// A rigid motion: `p -> translation + rotation * p`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rigid {
    /// Unit quaternion.
    pub rotation: DQuat,
    /// Metres.
    pub translation: DVec3,
}

impl Default for Rigid {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Rigid {
    /// The identity.
    pub const IDENTITY: Self = Self { rotation: DQuat::IDENTITY, translation: DVec3::ZERO };

    /// The rigid part of a joint's transform; scale and shear are dropped.
    pub(crate) fn from_affine(affine: Affine3A) -> Self {
        let (transform, _) = Transform::from_affine(affine);
        Self {
            rotation: transform.rotation.as_dquat().normalize(),
            translation: transform.translation.as_dvec3(),
        }
    }

    /// A moved point.
    #[inline]
    pub(crate) fn point(&self, p: DVec3) -> DVec3 {
        self.translation + self.rotation * p
    }

    /// A turned direction.
    #[inline]
    pub(crate) fn vector(&self, v: DVec3) -> DVec3 {
        self.rotation * v
    }

    /// The point that [`Rigid::point`] moves to `p`.
    #[inline]
    pub(crate) fn point_back(&self, p: DVec3) -> DVec3 {
        self.rotation.conjugate() * (p - self.translation)
    }

    /// The direction that [`Rigid::vector`] turns to `v`.
    #[inline]
    pub(crate) fn vector_back(&self, v: DVec3) -> DVec3 {
        self.rotation.conjugate() * v
    }

    /// Whether every number is finite.
    pub(crate) fn is_finite(&self) -> bool {
        self.rotation.is_finite() && self.translation.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Quat, Vec3};

    #[test]
    fn scale_is_dropped_and_points_come_back() {
        let turn = Quat::from_rotation_x(0.7);
        let affine =
            Affine3A::from_scale_rotation_translation(Vec3::splat(0.01), turn, Vec3::new(1.0, 2.0, 3.0));
        let rigid = Rigid::from_affine(affine);
        let p = DVec3::new(0.1, -0.2, 0.3);
        assert!((rigid.point(p) - rigid.translation).length() - p.length() < 1e-6);
        assert!(rigid.point_back(rigid.point(p)).distance(p) < 1e-12);
    }
}
