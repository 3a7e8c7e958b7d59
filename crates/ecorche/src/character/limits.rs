//! How far the joints of a human body turn.
//!
//! A forearm that is turned into the upper arm has no place for its flesh: what skin does there says nothing about a method.
//! The limits are those of a flexible adult, rounded up; they are for whoever poses by hand, clips are played as they are.

use super::Skeleton;
use super::humanoid::{self, Part};
use glam::{Affine3A, Vec3};

/// Largest bend of elbows and knees, degrees from straight. Beyond it the samples' arms cave in.
const HINGE: f32 = 150.0;

/// Degrees that each joint turns from its rotation at rest; `None` for any.
///
/// Joints are recognised by name or by the shape of the skeleton; the others have no limit.
pub fn turn_limits(skeleton: &Skeleton) -> Vec<Option<f32>> {
    let mut world: Vec<Affine3A> = Vec::with_capacity(skeleton.len());
    for joint in &skeleton.joints {
        let local = joint.rest.to_affine();
        world.push(joint.parent.map_or(local, |parent| world[parent] * local));
    }
    let place = |joint: usize| Vec3::from(world[joint].translation);
    // Degrees between the bones that meet in a joint.
    let bend = |joint: usize| {
        let parent = skeleton.joints[joint].parent?;
        let child = skeleton.joints.iter().position(|other| other.parent == Some(joint))?;
        let angle = (place(joint) - place(parent)).angle_between(place(child) - place(joint));
        Some(angle.to_degrees()).filter(|angle| angle.is_finite())
    };
    let limit = |(joint, bone): (usize, Option<humanoid::HumanoidBone>)| {
        Some(match bone?.part {
            Part::LowerArm | Part::LowerLeg => HINGE - bend(joint).unwrap_or(0.0),
            Part::UpperArm => 170.0,
            Part::UpperLeg => 140.0,
            Part::Hand | Part::Finger(..) => 100.0,
            Part::Head | Part::Neck => 70.0,
            Part::Spine | Part::Chest | Part::UpperChest | Part::Foot | Part::Toes => 60.0,
            Part::Shoulder => 45.0,
            Part::Jaw | Part::Eye => 40.0,
            Part::Hips => return None,
        })
    };
    humanoid::recognise(skeleton).into_iter().enumerate().map(limit).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_elbow_bends_to_150_degrees_and_hips_turn_as_they_like() {
        let athlete = crate::samples::build("athlete?resolution=5000").unwrap();
        let limits = turn_limits(&athlete.skeleton);
        let named = |name: &str| limits[athlete.skeleton.find(name).unwrap()];
        for elbow in ["leftLowerArm", "rightLowerArm"] {
            assert!((120.0..=HINGE).contains(&named(elbow).unwrap()), "{elbow}: {:?}", named(elbow));
        }
        assert_eq!(named("hips"), None);
    }

    #[test]
    fn what_is_no_body_has_no_limits() {
        let cylinder = crate::samples::build("cylinder").unwrap();
        assert!(turn_limits(&cylinder.skeleton).iter().all(Option::is_none));
    }
}
