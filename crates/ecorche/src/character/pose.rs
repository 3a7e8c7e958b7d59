//! One moment of a character: a transform for each joint, a weight for each morph.

use super::{Character, Skeleton};
use crate::math::Transform;
use glam::Affine3A;

/// Where every joint is relative to its parent, and how much of every morph is blended in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Pose {
    /// Parent-from-joint, one per joint.
    pub local: Vec<Transform>,
    /// Per mesh, one weight per morph.
    pub morph_weights: Vec<Vec<f32>>,
}

impl Pose {
    /// The pose of the file when nothing is animated.
    pub fn rest(character: &Character) -> Self {
        Self {
            local: character.skeleton.joints.iter().map(|j| j.rest).collect(),
            morph_weights: character
                .meshes
                .iter()
                .map(|m| m.morphs.iter().map(|s| s.weight).collect())
                .collect(),
        }
    }

    /// World-from-joint of every joint.
    pub fn world(&self, skeleton: &Skeleton) -> Vec<Affine3A> {
        let mut world = Vec::with_capacity(self.local.len());
        self.world_into(skeleton, &mut world);
        world
    }

    /// As [`Pose::world`], into a vector that is used again; what was in it is replaced.
    pub fn world_into(&self, skeleton: &Skeleton, world: &mut Vec<Affine3A>) {
        world.clear();
        for (joint, local) in skeleton.joints.iter().zip(&self.local) {
            let local = local.to_affine();
            world.push(joint.parent.map_or(local, |parent| world[parent] * local));
        }
    }
}
