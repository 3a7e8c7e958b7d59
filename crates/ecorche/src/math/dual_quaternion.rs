//! Rigid motions as dual quaternions, which blend without shrinking what they move.
//!
//! Based on: Kavan, Collins, Zara, O'Sullivan. Skinning with dual quaternions. 2007.

use glam::{Quat, Vec3, Vec3A, Vec4};

/// A rotation and a translation as eight numbers. Sums of them need not have unit length: mapping a
/// point divides by the length.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DualQuat {
    /// The rotation, x y z w.
    pub real: Vec4,
    /// Half the translation times the rotation, x y z w.
    pub dual: Vec4,
}

impl DualQuat {
    /// Rotates by the unit quaternion `rotation`, then translates by `translation`.
    pub fn new(rotation: Quat, translation: Vec3) -> Self {
        let half = Quat::from_xyzw(0.5 * translation.x, 0.5 * translation.y, 0.5 * translation.z, 0.0);
        // The plain Hamilton product: glam's multiplication does not require unit length.
        Self { real: rotation.into(), dual: (half * rotation).into() }
    }

    /// The same kind of sum glam has for vectors: `self + other * weight`.
    #[inline(always)]
    pub fn plus(self, other: Self, weight: f32) -> Self {
        Self { real: self.real + other.real * weight, dual: self.dual + other.dual * weight }
    }

    /// All eight numbers times `weight`.
    #[inline(always)]
    pub fn times(self, weight: f32) -> Self {
        Self { real: self.real * weight, dual: self.dual * weight }
    }

    /// Where the motion takes `point`. The rotation must not be zero.
    ///
    /// With rotation `(r, w)` and dual `(d, e)` of any common length the image is
    /// `p + 2 (r x (r x p + w p + d) + w d - e r) / |(r, w)|^2`.
    #[inline(always)]
    pub fn transform_point(self, point: Vec3A) -> Vec3A {
        let (axis, dual) = (Vec3A::from_vec4(self.real), Vec3A::from_vec4(self.dual));
        let (w, e) = (self.real.w, self.dual.w);
        let inner = axis.cross(point) + point * w + dual;
        let sum = axis.cross(inner) + dual * w - axis * e;
        point + sum * (2.0 / self.real.length_squared())
    }
}

/// Rotates `vector` by a quaternion of any nonzero length.
#[inline(always)]
pub fn rotate(quaternion: Vec4, vector: Vec3A) -> Vec3A {
    let axis = Vec3A::from_vec4(quaternion);
    let inner = axis.cross(vector) + vector * quaternion.w;
    vector + axis.cross(inner) * (2.0 / quaternion.length_squared())
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::{Affine3A, EulerRot};

    #[test]
    fn a_dual_quaternion_of_any_length_moves_points_like_its_matrix() {
        let rotation = Quat::from_euler(EulerRot::XYZ, 0.4, -1.1, 2.5);
        let translation = Vec3::new(0.3, -2.0, 1.0);
        let matrix = Affine3A::from_rotation_translation(rotation, translation);
        let point = Vec3A::new(-0.7, 0.2, 1.4);
        for length in [1.0, 0.3, -2.0] {
            let moved = DualQuat::new(rotation, translation).times(length).transform_point(point);
            assert!(moved.abs_diff_eq(matrix.transform_point3a(point), 1e-5));
            let turned = rotate(Vec4::from(rotation) * length, point);
            assert!(turned.abs_diff_eq(matrix.transform_vector3a(point), 1e-5));
        }
    }

    #[test]
    fn half_way_between_two_turns_about_one_axis_is_the_mean_turn() {
        let about = |degrees: f32| DualQuat::new(Quat::from_rotation_y(degrees.to_radians()), Vec3::Y);
        let half_way = about(20.0).times(0.5).plus(about(80.0), 0.5);
        let expected = about(50.0).transform_point(Vec3A::X);
        assert!(half_way.transform_point(Vec3A::X).abs_diff_eq(expected, 1e-6));
    }
}
