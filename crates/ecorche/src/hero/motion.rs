//! How cores move through the poses of a clip: joint transforms relative to their parents, and poses in between.

use super::cores::Leader;
use crate::character::{Character, Joint, Pose};
use glam::{Affine3A, DAffine3, DQuat, DVec3, Vec3};
use std::sync::Arc;

/// Translation, rotation and scale of every joint relative to its parent.
pub type Local = Vec<(DVec3, DQuat, DVec3)>;

/// In double precision.
pub fn wide(m: Affine3A) -> DAffine3 {
    DAffine3 {
        matrix3: glam::Mat3::from(m.matrix3).as_dmat3(),
        translation: Vec3::from(m.translation).as_dvec3(),
    }
}

/// The pose a fraction of the way between two.
pub fn blend(from: &Local, to: &Local, part: f64) -> Local {
    if part >= 1.0 {
        return to.clone();
    }
    let mixed = |(a, b): (&(DVec3, DQuat, DVec3), &(DVec3, DQuat, DVec3))| {
        (a.0.lerp(b.0, part), a.1.slerp(b.1, part), a.2.lerp(b.2, part))
    };
    from.iter().zip(to).map(mixed).collect()
}

/// A skeleton whose cores lead flesh. The first joint that leads is the frame that flesh is solved in, so that walking and
/// turning cost nothing.
#[derive(Debug)]
pub struct Motion {
    character: Arc<Character>,
    joint_from_bind: Vec<DAffine3>,
    /// Joints that lead, each with the nearest above it that does.
    pairs: Vec<(usize, usize)>,
    anchor: usize,
}

impl Motion {
    /// For a skeleton bound with these `bind_from_joint`.
    pub fn new(character: Arc<Character>, bind_from_joint: &[DAffine3], leaders: &[Leader]) -> Self {
        let skeleton = &character.skeleton;
        let mut leads = vec![false; skeleton.len()];
        leaders.iter().flat_map(|l| l.joints).for_each(|joint| leads[joint as usize] = true);
        let anchor = leads.iter().position(|&l| l).unwrap_or(0);
        let above = |j: usize| skeleton.nearest_ancestor(j, |a| leads[a]).unwrap_or(anchor);
        let pairs = (0..skeleton.len()).filter(|&j| leads[j] && j != anchor).map(|j| (j, above(j))).collect();
        let joint_from_bind = bind_from_joint.iter().map(|m| m.inverse()).collect();
        Self { character, joint_from_bind, pairs, anchor }
    }

    /// A pose, relative to parents.
    pub fn local(&self, pose: &Pose) -> Local {
        let world: Vec<DAffine3> = pose.world(&self.character.skeleton).into_iter().map(wide).collect();
        self.relative(&world)
    }

    /// Joints in the world, relative to parents.
    pub fn relative(&self, world: &[DAffine3]) -> Local {
        let of = |(joint, world_from_joint): (&Joint, &DAffine3)| {
            let own = joint.parent.map_or(*world_from_joint, |p| world[p].inverse() * *world_from_joint);
            let (scale, rotation, translation) = own.to_scale_rotation_translation();
            (translation, rotation.normalize(), scale)
        };
        self.character.skeleton.joints.iter().zip(world).map(of).collect()
    }

    /// Map of every joint from bind space to a pose, in the anchor's frame; and the anchor's own.
    pub fn maps(&self, local: &Local) -> (Vec<DAffine3>, DAffine3) {
        let mut world: Vec<DAffine3> = Vec::with_capacity(local.len());
        for (joint, &(t, r, s)) in self.character.skeleton.joints.iter().zip(local) {
            let own = DAffine3::from_scale_rotation_translation(s, r, t);
            world.push(joint.parent.map_or(own, |p| world[p] * own));
        }
        let maps: Vec<DAffine3> = world.iter().zip(&self.joint_from_bind).map(|(w, j)| *w * *j).collect();
        let (_, turn, shift) = maps[self.anchor].to_scale_rotation_translation();
        let anchor = DAffine3::from_rotation_translation(turn, shift);
        let back = anchor.inverse();
        (maps.iter().map(|m| back * *m).collect(), anchor)
    }

    /// Number of steps between two poses so that no joint turns by more than `most` radians in one.
    pub fn steps(&self, from: &Local, to: &Local, most: f64) -> usize {
        let (from, to) = (self.maps(from).0, self.maps(to).0);
        let mut farthest = 0.0f64;
        for &(joint, above) in &self.pairs {
            let turn =
                |maps: &[DAffine3]| (maps[above].inverse() * maps[joint]).to_scale_rotation_translation().1;
            farthest = farthest.max(turn(&from).angle_between(turn(&to)));
        }
        ((farthest / most).ceil() as usize).max(1)
    }
}
