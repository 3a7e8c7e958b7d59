//! Landmarks and bones of the athlete.
//!
//! Heights and lengths follow the usual shares of stature (Drillis, Contini. Body segment parameters. 1966),
//! with joints at their anatomical centres: the shoulder two centimetres below the tip of the shoulder
//! blade, the hip at the head of the thigh bone.

use crate::samples::hand;
use crate::samples::rig::{Flesh, Rig};
use glam::{Affine3A, Mat3, Quat, Vec3};

/// Stature, metres.
pub(in crate::samples) const STATURE: f32 = 1.80;
/// Centre of the left hip.
pub const HIP: Vec3 = Vec3::new(0.092, 0.945, 0.000);
/// Centre of the left knee.
pub const KNEE: Vec3 = Vec3::new(0.122, 0.512, 0.008);
/// Centre of the left ankle.
pub const ANKLE: Vec3 = Vec3::new(0.145, 0.078, -0.028);
/// Centre of the left shoulder.
pub const SHOULDER: Vec3 = Vec3::new(0.186, 1.450, -0.018);
/// Centre of the left elbow.
pub const ELBOW: Vec3 = Vec3::new(0.400, 1.2336, -0.034);
/// Centre of the left wrist.
pub const WRIST: Vec3 = Vec3::new(0.5735, 1.0425, 0.0110);

/// World from hand coordinates (see [`hand`]) of the left hand.
pub fn world_from_hand() -> Affine3A {
    let y = (WRIST - ELBOW).normalize();
    // Thumb forward and a little inward, palm towards the thigh.
    let x = Vec3::new(-0.12, 0.0, 1.0);
    let x = (x - y * x.dot(y)).normalize();
    Affine3A::from_mat3_translation(Mat3::from_cols(x, y, x.cross(y)), WRIST)
}

/// World from foot coordinates of the left foot: origin on the ground below the ankle, Z to the toes.
pub fn world_from_foot() -> Affine3A {
    let outward = Quat::from_rotation_y(8f32.to_radians());
    Affine3A::from_rotation_translation(outward, Vec3::new(ANKLE.x + 0.003, 0.0, ANKLE.z))
}

/// The bones, named as VRM 1.0 names them.
pub fn rig() -> Rig {
    let mut rig = Rig::default();
    let spine = [
        ("hips", "root", Vec3::new(0.0, 0.970, -0.004), Flesh::even(0.130, 0.050)),
        ("spine", "hips", Vec3::new(0.0, 1.065, -0.012), Flesh::even(0.125, 0.045)),
        ("chest", "spine", Vec3::new(0.0, 1.185, -0.028), Flesh::even(0.130, 0.045)),
        (
            "upperChest",
            "chest",
            Vec3::new(0.0, 1.310, -0.036),
            Flesh { radii: [0.130, 0.060], softness: 0.042 },
        ),
        (
            "neck",
            "upperChest",
            Vec3::new(0.0, 1.480, -0.034),
            Flesh { radii: [0.062, 0.050], softness: 0.024 },
        ),
        ("head", "neck", Vec3::new(0.0, 1.605, -0.010), Flesh { radii: [0.060, 0.090], softness: 0.024 }),
    ];
    for (k, &(name, parent, head, flesh)) in spine.iter().enumerate() {
        let tip = spine.get(k + 1).map_or(Vec3::new(0.0, STATURE, 0.0), |next| next.2);
        rig.add(name, parent, [head, tip], Vec3::Z, flesh);
    }
    let elbow_flexes = WRIST - ELBOW;
    rig.add(
        "leftShoulder",
        "upperChest",
        [Vec3::new(0.028, 1.445, 0.000), SHOULDER],
        Vec3::Z,
        Flesh { radii: [0.036, 0.062], softness: 0.034 },
    );
    rig.add("leftUpperArm", "leftShoulder", [SHOULDER, ELBOW], elbow_flexes, Flesh::even(0.052, 0.036));
    // Just beyond the line of the upper arm lies the way the straightened elbow would bend.
    let inside = SHOULDER - ELBOW;
    rig.add("leftLowerArm", "leftUpperArm", [ELBOW, WRIST], inside, Flesh::even(0.042, 0.028));
    let world = world_from_hand();
    let place = |p: Vec3| world.transform_point3(p);
    hand::add_bones(
        &mut rig,
        "left",
        "leftLowerArm",
        place,
        [Vec3::ZERO, Vec3::new(0.003, 0.085, 0.0)],
        false,
    );
    rig.add("leftUpperLeg", "hips", [HIP, KNEE], Vec3::Z, Flesh::even(0.072, 0.044));
    rig.add("leftLowerLeg", "leftUpperLeg", [KNEE, ANKLE], Vec3::NEG_Z, Flesh::even(0.052, 0.034));
    let foot = world_from_foot();
    let ball = foot.transform_point3(Vec3::new(-0.004, 0.020, 0.128));
    let toe = foot.transform_point3(Vec3::new(0.004, 0.014, 0.195));
    rig.add("leftFoot", "leftLowerLeg", [ANKLE, ball], Vec3::Y, Flesh::even(0.040, 0.018));
    rig.add("leftToes", "leftFoot", [ball, toe], Vec3::Y, Flesh::even(0.024, 0.011));
    rig.mirror();
    rig
}
