//! Where bones are at bind time: the coordinates of anatomy files.

use crate::character::{Character, Pose};
use crate::math::Transform;
use glam::{Affine3A, Vec3};

/// Frames of all joints at bind time, without scale: metres along the joint's own axes.
#[derive(Clone, Debug, PartialEq)]
pub struct BindFrames {
    /// Bind space from the coordinates of each joint's bone; rotation and translation only.
    pub bind_from_bone: Vec<Affine3A>,
}

/// The map without its scale.
pub(super) fn rigid(map: Affine3A) -> Affine3A {
    let (transform, _) = Transform::from_affine(map);
    // A collapsed joint has no axes of its own.
    let translation: Vec3 = map.translation.into();
    Affine3A::from_rotation_translation(transform.rotation, translation)
}

impl BindFrames {
    /// The frames a character's skins were bound in. A joint outside every skin is placed relative to its nearest bound
    /// ancestor, else descendant, as in the rest pose; without any, where the rest pose has it.
    pub fn of(character: &Character) -> Self {
        let skeleton = &character.skeleton;
        let rest = Pose::rest(character).world(skeleton);
        let mut bound: Vec<Option<Affine3A>> = vec![None; skeleton.len()];
        for skin in character.meshes.iter().filter_map(|mesh| mesh.skin()) {
            for (&joint, map) in skin.joints.iter().zip(&skin.joint_from_bind) {
                let frame = map.inverse();
                if frame.is_finite() {
                    bound[joint].get_or_insert(frame);
                }
            }
        }
        let relative = |from: usize, to: usize, frame: Affine3A| {
            let map = frame * rest[from].inverse() * rest[to];
            map.is_finite().then_some(map)
        };
        let mut frames = bound.clone();
        for joint in 0..skeleton.len() {
            if let (None, Some(parent)) = (frames[joint], skeleton.joints[joint].parent) {
                frames[joint] = frames[parent].and_then(|frame| relative(parent, joint, frame));
            }
        }
        for joint in (0..skeleton.len()).rev() {
            if let (Some(frame), Some(parent)) = (frames[joint], skeleton.joints[joint].parent)
                && frames[parent].is_none()
            {
                frames[parent] = relative(joint, parent, frame);
            }
        }
        let bind_from_bone = frames.iter().zip(&rest).map(|(frame, &rest)| rigid(frame.unwrap_or(rest)));
        Self { bind_from_bone: bind_from_bone.collect() }
    }

    /// Where a joint is.
    pub fn joint(&self, joint: usize) -> Vec3 {
        self.bind_from_bone[joint].translation.into()
    }

    /// A point of bind space in a bone's coordinates.
    pub fn to_bone(&self, joint: usize, point: Vec3) -> Vec3 {
        self.bind_from_bone[joint].inverse().transform_point3(point)
    }

    /// A point of a bone in bind space.
    pub fn to_bind(&self, joint: usize, at: Vec3) -> Vec3 {
        self.bind_from_bone[joint].transform_point3(at)
    }
}
