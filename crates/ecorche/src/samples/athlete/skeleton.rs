//! Landmarks of the figure.

use glam::{Affine3A, Mat3, Vec3};

/// Stature, metres.
pub const STATURE: f32 = 1.80;

/// Joint centres of the left side and the middle, metres.
pub const HIP: Vec3 = Vec3::new(0.092, 0.945, 0.000);
pub const KNEE: Vec3 = Vec3::new(0.122, 0.512, 0.008);
pub const ANKLE: Vec3 = Vec3::new(0.145, 0.078, -0.028);
pub const SHOULDER: Vec3 = Vec3::new(0.186, 1.450, -0.018);
pub const ELBOW: Vec3 = Vec3::new(0.400, 1.2336, -0.034);
pub const WRIST: Vec3 = Vec3::new(0.5735, 1.0425, 0.0110);

/// World from hand coordinates (see [`hand`](super::super::hand)) of the left hand.
pub fn world_from_hand() -> Affine3A {
    let y = (WRIST - ELBOW).normalize();
    // Thumb forward and a little inward, palm towards the thigh.
    let x = Vec3::new(-0.12, 0.0, 1.0);
    let x = (x - y * x.dot(y)).normalize();
    Affine3A::from_mat3_translation(Mat3::from_cols(x, y, x.cross(y)), WRIST)
}

/// World from foot coordinates of the left foot: origin on the ground below the ankle, Z to the toes.
pub fn world_from_foot() -> Affine3A {
    Affine3A::from_rotation_translation(
        glam::Quat::from_rotation_y(8f32.to_radians()),
        Vec3::new(ANKLE.x + 0.003, 0.0, ANKLE.z),
    )
}
