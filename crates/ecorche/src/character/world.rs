//! The space a file lives in, and the way from it to ours and back.

use crate::math::Transform;
use glam::{Mat3, Quat, Vec3};

/// Units and axes of a file. Inside the crate everything is metres, Y up, right-handed, facing +Z;
/// `internal = metres_per_unit * axes * user`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct World {
    /// Length of the file's unit: 1 for glTF, usually 0.01 for FBX and USD.
    pub metres_per_unit: f32,
    /// Columns are the file's axes in ours: a signed permutation, determinant -1 for left-handed files.
    pub axes: Mat3,
}

impl Default for World {
    fn default() -> Self {
        Self { metres_per_unit: 1.0, axes: Mat3::IDENTITY }
    }
}

impl World {
    /// Right-handed, Y up.
    pub fn y_up(metres_per_unit: f32) -> Self {
        Self { metres_per_unit, ..Self::default() }
    }

    /// Right-handed, Z up, facing -Y, as Blender and 3ds Max have it.
    pub fn z_up(metres_per_unit: f32) -> Self {
        Self { metres_per_unit, axes: Mat3::from_cols(Vec3::X, Vec3::NEG_Z, Vec3::Y) }
    }

    /// Right-handed, X up, as COLLADA allows.
    pub fn x_up(metres_per_unit: f32) -> Self {
        Self { metres_per_unit, axes: Mat3::from_cols(Vec3::Y, Vec3::NEG_X, Vec3::Z) }
    }

    /// The file's axis that points up in ours, as riggers write it.
    pub fn up_name(&self) -> &'static str {
        const NAMES: [(Vec3, &str); 6] = [
            (Vec3::X, "X"),
            (Vec3::Y, "Y"),
            (Vec3::Z, "Z"),
            (Vec3::NEG_X, "-X"),
            (Vec3::NEG_Y, "-Y"),
            (Vec3::NEG_Z, "-Z"),
        ];
        let up = self.axes.transpose() * Vec3::Y;
        NAMES.iter().find(|(axis, _)| axis.dot(up) > 0.9).map_or("oblique", |(_, name)| name)
    }

    /// Whether the file is left-handed, so that faces turn over on the way in and out.
    pub fn is_mirrored(&self) -> bool {
        self.axes.determinant() < 0.0
    }

    /// A point or difference of the file in metres, Y up.
    pub fn to_internal(&self, user: Vec3) -> Vec3 {
        self.axes * user * self.metres_per_unit
    }

    /// A point or difference in the file's own units and axes.
    pub fn to_user(&self, internal: Vec3) -> Vec3 {
        self.axes.transpose() * internal / self.metres_per_unit
    }

    /// A direction of the file in our axes, length kept.
    pub fn direction_to_internal(&self, user: Vec3) -> Vec3 {
        self.axes * user
    }

    /// A direction in the file's axes, length kept.
    pub fn direction_to_user(&self, internal: Vec3) -> Vec3 {
        self.axes.transpose() * internal
    }

    /// The file's rotation as seen in our axes.
    pub fn rotation_to_internal(&self, user: Quat) -> Quat {
        // Conjugation by a signed permutation turns the rotation axis; a mirror also turns its sense.
        let sense = if self.is_mirrored() { -1.0 } else { 1.0 };
        let axis = self.axes * Vec3::new(user.x, user.y, user.z) * sense;
        Quat::from_xyzw(axis.x, axis.y, axis.z, user.w)
    }

    /// The file's axis-wise scale as seen in our axes.
    pub fn scale_to_internal(&self, user: Vec3) -> Vec3 {
        self.axes.abs() * user
    }

    /// A local transform of the file's hierarchy as one of ours.
    pub fn transform_to_internal(&self, user: Transform) -> Transform {
        Transform {
            translation: self.to_internal(user.translation),
            rotation: self.rotation_to_internal(user.rotation),
            scale: self.scale_to_internal(user.scale),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn worlds() -> [World; 4] {
        let left_handed =
            World { metres_per_unit: 0.01, axes: Mat3::from_cols(Vec3::X, Vec3::Y, Vec3::NEG_Z) };
        [World::y_up(1.0), World::z_up(0.0254), World::x_up(0.01), left_handed]
    }

    #[test]
    fn the_files_up_axis_becomes_y() {
        assert_eq!(worlds().map(|w| w.up_name()), ["Y", "Z", "X", "Y"]);
        assert!(World::z_up(0.01).to_internal(Vec3::Z * 100.0).distance(Vec3::Y) < 1e-6);
    }

    #[test]
    fn points_come_back() {
        for world in worlds() {
            let p = Vec3::new(0.3, -1.0, 2.0);
            assert!(world.to_user(world.to_internal(p)).distance(p) < 1e-5);
        }
    }

    #[test]
    fn converting_then_mapping_equals_mapping_then_converting() {
        let local = Transform {
            translation: Vec3::new(1.0, 2.0, -0.5),
            rotation: Quat::from_euler(glam::EulerRot::ZXY, 0.4, 1.0, -2.0),
            scale: Vec3::new(1.0, 0.5, 2.0),
        };
        let p = Vec3::new(-0.2, 0.7, 1.1);
        for world in worlds() {
            let expected = world.to_internal(local.to_affine().transform_point3(p));
            let through_transform = world.transform_to_internal(local).to_affine();
            let found = through_transform.transform_point3(world.to_internal(p));
            assert!(found.distance(expected) < 1e-5, "{world:?}");
        }
    }
}
