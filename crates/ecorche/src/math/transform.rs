//! A transform kept as translation, rotation and scale, the way animation keys it.

use glam::{Affine3A, Mat3, Mat3A, Mat4, Quat, Vec3};

/// Scale first, then rotation, then translation: `p -> translation + rotation * (scale * p)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transform {
    /// Metres.
    pub translation: Vec3,
    /// Unit quaternion.
    pub rotation: Quat,
    /// Factor along each local axis; may be negative.
    pub scale: Vec3,
}

impl Default for Transform {
    fn default() -> Self {
        Self::IDENTITY
    }
}

impl Transform {
    /// Leaves every point where it is.
    pub const IDENTITY: Self = Self { translation: Vec3::ZERO, rotation: Quat::IDENTITY, scale: Vec3::ONE };

    /// The same map as a matrix.
    pub fn to_affine(self) -> Affine3A {
        Affine3A::from_scale_rotation_translation(self.scale, self.rotation, self.translation)
    }

    /// Splits a matrix, and tells how much shear had to be dropped, relative to its largest axis.
    ///
    /// A zero axis gives scale 0 along it and a rotation completed from the other axes, so that a
    /// joint hidden by scaling still has a frame. A mirroring matrix gets a negative x scale.
    pub fn from_affine(affine: Affine3A) -> (Self, f32) {
        let axes = Mat3::from(affine.matrix3);
        let mut scale = Vec3::new(axes.x_axis.length(), axes.y_axis.length(), axes.z_axis.length());
        let largest = scale.max_element();
        if !(largest.is_finite() && largest > 0.0 && affine.translation.is_finite()) {
            return (Self { scale: Vec3::ZERO, ..Self::IDENTITY }, 0.0);
        }
        if axes.determinant() < 0.0 {
            scale.x = -scale.x;
        }
        let unit =
            |axis: Vec3, length: f32| if length.abs() > 1e-12 * largest { axis / length } else { Vec3::ZERO };
        let mut x = unit(axes.x_axis, scale.x);
        let mut y = unit(axes.y_axis, scale.y);
        // Gram-Schmidt from the first usable axis; missing axes are completed.
        if x == Vec3::ZERO {
            let z = unit(axes.z_axis, scale.z);
            x = y
                .cross(z)
                .try_normalize()
                .unwrap_or_else(|| if y == Vec3::ZERO { z } else { y }.any_orthonormal_vector());
        }
        y = (y - x * x.dot(y)).try_normalize().unwrap_or_else(|| {
            unit(axes.z_axis, scale.z).cross(x).try_normalize().unwrap_or_else(|| x.any_orthonormal_vector())
        });
        let z = x.cross(y);
        let rotation = Quat::from_mat3(&Mat3::from_cols(x, y, z)).normalize();
        let transform = Self { translation: affine.translation.into(), rotation, scale };
        let rebuilt = transform.to_affine().matrix3;
        let difference: Mat3A = affine.matrix3 - rebuilt;
        let shear =
            difference.x_axis.length().max(difference.y_axis.length()).max(difference.z_axis.length());
        (transform, shear / largest)
    }

    /// Splits a 4x4 matrix after dropping its last row. See [`Transform::from_affine`].
    pub fn from_matrix(matrix: Mat4) -> (Self, f32) {
        Self::from_affine(Affine3A::from_mat4(matrix))
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        self.translation.is_finite() && self.rotation.is_finite() && self.scale.is_finite()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: Affine3A, b: Affine3A) -> bool {
        a.abs_diff_eq(b, 1e-5)
    }

    #[test]
    fn a_mirrored_and_scaled_frame_survives_the_round_trip() {
        let original = Transform {
            translation: Vec3::new(1.0, -2.0, 0.5),
            rotation: Quat::from_euler(glam::EulerRot::XYZ, 0.3, -1.2, 2.0),
            scale: Vec3::new(-0.5, 2.0, 1.0),
        };
        let (split, shear) = Transform::from_affine(original.to_affine());
        assert!(shear < 1e-6);
        assert!(close(split.to_affine(), original.to_affine()));
    }

    #[test]
    fn shear_is_dropped_and_reported() {
        let mut sheared = Affine3A::IDENTITY;
        sheared.matrix3.y_axis.x = 0.5;
        let (split, shear) = Transform::from_affine(sheared);
        assert!(shear > 0.1);
        assert!(split.is_finite());
    }

    #[test]
    fn a_flattened_axis_keeps_a_frame() {
        for hidden in
            [Vec3::new(0.0, 1.0, 1.0), Vec3::new(1.0, 0.0, 0.0), Vec3::new(0.0, 0.0, 2.0), Vec3::ZERO]
        {
            let original =
                Affine3A::from_scale_rotation_translation(hidden, Quat::from_rotation_y(0.4), Vec3::X);
            let (split, _) = Transform::from_affine(original);
            assert!(split.is_finite() && (split.rotation.length() - 1.0).abs() < 1e-5);
            assert!(close(split.to_affine(), original) || hidden == Vec3::ZERO, "{hidden}");
        }
    }
}
