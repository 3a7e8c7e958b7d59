//! The arm sample: the athlete's left arm by itself, hanging, with three bones.

use super::athlete::{shape, skeleton};
use super::clips;
use super::hand;
use super::rig::{Flesh, Rig};
use super::sculpt::Sculpture;
use super::weights::{soften, tidy};
use crate::character::Character;
use crate::muscle::definition::{Attachment, BodyDef, Footprint, MuscleDef, ProfileDef, ProfilesDef, Side};
use glam::{Affine3A, Quat, Vec3};

/// Vertices by default.
pub(super) const DEFAULT_VERTICES: usize = 2_172;

/// Moves the athlete's arm so that the upper arm hangs and the finger tips are near the ground.
fn world_from_athlete() -> Affine3A {
    let along = (skeleton::ELBOW - skeleton::SHOULDER).normalize();
    let hang = Quat::from_rotation_arc(along, Vec3::NEG_Y);
    Affine3A::from_rotation_translation(hang, Vec3::new(0.0, 0.80, 0.0) - hang * skeleton::SHOULDER)
}

/// The three bones.
fn rig() -> Rig {
    let world = world_from_athlete();
    let [shoulder, elbow, wrist] =
        [skeleton::SHOULDER, skeleton::ELBOW, skeleton::WRIST].map(|p| world.transform_point3(p));
    let world_from_hand = world * skeleton::world_from_hand();
    let knuckles = world_from_hand.transform_point3(Vec3::new(0.003, 0.12, 0.0));
    let mut rig = Rig::default();
    rig.add("leftUpperArm", "root", [shoulder, elbow], wrist - elbow, Flesh::even(0.05, 0.034));
    rig.add("leftLowerArm", "leftUpperArm", [elbow, wrist], shoulder - elbow, Flesh::even(0.042, 0.028));
    let palm = world_from_hand.transform_vector3(Vec3::NEG_Z);
    rig.add("leftHand", "leftLowerArm", [wrist, knuckles], palm, Flesh::even(0.035, 0.014));
    rig
}

/// The arm with `vertices` vertices.
pub(super) fn build(vertices: usize) -> Character {
    let world = world_from_athlete();
    let mut clay = Sculpture::default();
    clay.group("arm", 0.0, false, world);
    shape::arm(&mut clay);
    let world_from_hand = world * skeleton::world_from_hand();
    clay.group("hand", 0.014, false, world_from_hand);
    hand::sculpt(&mut clay);
    let hand_from_world = world_from_hand.inverse();
    // Fingers need edges half as long as the arm's.
    let fineness = |p: Vec3| {
        let t = ((0.02 - hand_from_world.transform_point3(p).y) / 0.08).clamp(0.0, 1.0);
        0.5 + 0.5 * t * t * (3.0 - 2.0 * t)
    };
    let surface = clay.solid().surface(vertices, 0.0036, fineness);
    let rig = rig();
    let owner: Vec<usize> = surface.positions.iter().map(|&p| rig.nearest(p, |_| true)).collect();
    let mut weights = soften(&surface, &rig, &owner, |_| true);
    weights.iter_mut().for_each(tidy);
    let clips = clips::arm::clips(&rig);
    rig.character("arm", surface, weights, clips)
}

/// Four muscles of thirty particles: the flexors and the extensor of the elbow.
pub fn muscles() -> BodyDef {
    let at = |bone: &str, x: f32, y: f32, z: f32| -> Footprint {
        Attachment { bone: bone.into(), at: Vec3::new(x, y, z) }.into()
    };
    // Joints have Y along the bone and Z where it flexes to.
    let (upper, lower) = ("leftUpperArm", "leftLowerArm");
    let list = [
        ("biceps brachii", at(upper, 0.0, 0.01, 0.025), at(lower, 0.0, 0.045, 0.012), 0.017, [4, 7], 0.34),
        (
            "triceps brachii",
            at(upper, 0.0, 0.03, -0.025),
            at(lower, 0.0, -0.012, -0.022),
            0.019,
            [4, 4],
            0.27,
        ),
        ("brachialis", at(upper, 0.004, 0.13, 0.012), at(lower, 0.0, 0.03, 0.008), 0.011, [4, 4], 0.2),
        ("brachioradialis", at(upper, 0.018, 0.2, 0.004), at(lower, 0.01, 0.2, 0.008), 0.010, [4, 5], 0.3),
    ];
    let muscle = list.into_iter().map(|(name, origin, insertion, width, active, length)| {
        let mut muscle = MuscleDef {
            particles: 30,
            eccentricity: 0.3,
            profile: ProfilesDef { rest: ProfileDef::Beta([3, 3]), active: ProfileDef::Beta(active) },
            ..MuscleDef::new(name, Side::Left, origin, insertion, width)
        };
        muscle.tune(length, 1.0);
        muscle
    });
    BodyDef { muscle: muscle.collect(), ..BodyDef::default() }
}
