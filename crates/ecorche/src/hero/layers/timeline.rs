//! The moments of a shot: from the bind pose to the first frame in small turns, then frame by frame; where joints are in
//! each, and what moves the bones.

use crate::character::humanoid::{self, Part};
use crate::character::{Character, Pose};
use crate::hero::cores::Leader;
use crate::hero::motion::{Motion, blend, wide};
use crate::math::Transform;
use crate::sampling::Plan;
use glam::{Affine3A, DAffine3, DQuat, DVec3};
use std::sync::Arc;

/// One moment.
#[derive(Clone, Debug)]
pub struct Moment {
    /// Frame of the plan; `None` on the way to the first one.
    pub frame: Option<usize>,
    /// The pose.
    pub pose: Pose,
    /// In the clip, seconds.
    pub time: f32,
    /// Map of every joint from bind space to the pose, in the anchor's frame.
    pub maps: Vec<DAffine3>,
    /// From the anchor's frame to the world of the shot. On the way to the first frame it is the first frame's.
    pub world: DAffine3,
    /// From the anchor's frame to the world of the pose.
    pub anchor: DAffine3,
}

/// All moments of a shot.
#[derive(Debug)]
pub struct Timeline {
    /// The moments; the first is the bind pose.
    pub moments: Vec<Moment>,
    /// How many come before the first frame.
    pub lead_in: usize,
    /// Seconds between two moments.
    pub step: f64,
}

impl Timeline {
    /// For a plan, with the frame of `anchor` as that of the simulation. No joint turns by more than `turn` radians from one moment
    /// to the next before the first frame.
    pub fn new(
        character: &Arc<Character>,
        plan: &Plan,
        bind_from_joint: &[Affine3A],
        joints: &[usize],
        turn: f64,
    ) -> Self {
        let leaders: Vec<Leader> =
            joints.iter().map(|&j| Leader { joints: [j as u32; 2], centre: DVec3::ZERO }).collect();
        let bind: Vec<DAffine3> = bind_from_joint.iter().map(|m| wide(*m)).collect();
        let motion = Motion::new(character.clone(), &bind, &leaders);
        let start = motion.relative(&bind);
        let mut pose = Pose::rest(character);
        plan.sample(*plan.frames.start(), &mut pose);
        let first = motion.local(&pose);
        let first_time = plan.time(*plan.frames.start());
        let world = motion.maps(&first).1;
        let lead_in = motion.steps(&start, &first, turn).max(2);
        let mut moments = Vec::new();
        for k in 0..lead_in {
            let local = blend(&start, &first, k as f64 / lead_in as f64);
            let (maps, anchor) = motion.maps(&local);
            let narrow = |&(t, r, s): &(DVec3, DQuat, DVec3)| Transform {
                translation: t.as_vec3(),
                rotation: r.as_quat(),
                scale: s.as_vec3(),
            };
            let between = Pose { local: local.iter().map(narrow).collect(), ..pose.clone() };
            moments.push(Moment { frame: None, pose: between, time: first_time, maps, world, anchor });
        }
        for frame in plan.frames.clone() {
            plan.sample(frame, &mut pose);
            let (maps, anchor) = motion.maps(&motion.local(&pose));
            let time = plan.time(frame);
            moments.push(Moment {
                frame: Some(frame),
                pose: pose.clone(),
                time,
                maps,
                world: anchor,
                anchor,
            });
        }
        Self { moments, lead_in, step: 1.0 / f64::from(plan.fps) }
    }

    /// Time of a moment, seconds; 0 at the first frame.
    pub fn time(&self, moment: usize) -> f64 {
        (moment as f64 - self.lead_in as f64) * self.step
    }
}

/// What moves a bone, or a point on it: a joint, and a share of the twist of the hand for what lies along a forearm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Carrier {
    /// The joint.
    pub joint: usize,
    /// Its place in bind space.
    pub centre: DVec3,
    /// The joint whose twist is shared, the unit direction to it in bind space, and the share.
    pub twist: Option<(usize, DVec3, f64)>,
}

impl Carrier {
    /// Its map from bind space, where `maps` are those of the joints; rigid.
    pub fn map(&self, maps: &[DAffine3]) -> DAffine3 {
        let rigid = |m: DAffine3| {
            let (_, turn, _) = m.to_scale_rotation_translation();
            let turn = turn.normalize();
            DAffine3::from_rotation_translation(turn, m.transform_point3(self.centre) - turn * self.centre)
        };
        let own = rigid(maps[self.joint]);
        let Some((hand, axis, share)) = self.twist else { return own };
        let (_, from, _) = maps[self.joint].to_scale_rotation_translation();
        let (_, to, _) = maps[hand].to_scale_rotation_translation();
        let angle = twist_about(from.inverse() * to, axis);
        let part = DQuat::from_axis_angle(axis, share * angle);
        own * DAffine3::from_rotation_translation(part, self.centre - part * self.centre)
    }
}

/// Angle of the part of a rotation that turns about a unit axis, within half a turn to each side.
pub fn twist_about(turn: DQuat, axis: DVec3) -> f64 {
    let along = DVec3::new(turn.x, turn.y, turn.z).dot(axis);
    let angle = 2.0 * along.atan2(turn.w);
    (angle + std::f64::consts::PI).rem_euclid(std::f64::consts::TAU) - std::f64::consts::PI
}

/// Finds what carries points that are attached to joints.
#[derive(Debug)]
pub struct Carriers {
    position: Vec<DVec3>,
    /// For a joint that is a forearm, its hand.
    hand: Vec<Option<usize>>,
}

/// Shares of the twist along a forearm are steps of one over this.
const STEPS: f64 = 4.0;

impl Carriers {
    /// Of a skeleton in bind space.
    pub fn new(character: &Character, bind_from_joint: &[Affine3A]) -> Self {
        let known = humanoid::recognise(&character.skeleton);
        let position: Vec<DVec3> =
            bind_from_joint.iter().map(|m| glam::Vec3::from(m.translation).as_dvec3()).collect();
        let part = |j: usize| known[j].map(|b| b.part);
        let hand = |forearm: usize| {
            let is_below = |j: usize| character.skeleton.nearest_ancestor(j, |a| a == forearm).is_some();
            (0..known.len()).find(|&j| part(j) == Some(Part::Hand) && is_below(j))
        };
        let hand = (0..known.len()).map(|j| (part(j) == Some(Part::LowerArm)).then(|| hand(j)).flatten());
        Self { hand: hand.collect(), position }
    }

    /// What carries a point of bind space that is attached to a joint.
    pub fn of(&self, joint: usize, point: DVec3) -> Carrier {
        let centre = self.position[joint];
        let twist = self.hand[joint].and_then(|hand| {
            let along = self.position[hand] - centre;
            let axis = along.try_normalize()?;
            let share = ((point - centre).dot(along) / along.length_squared()).clamp(0.0, 1.0);
            Some((hand, axis, (share * STEPS).round() / STEPS))
        });
        Carrier { joint, centre, twist: twist.filter(|t| t.2 > 0.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_forearm_shares_the_twist_of_its_hand() {
        let arm = crate::samples::build("arm").unwrap();
        let bind = crate::anatomy::BindFrames::of(&arm).bind_from_bone;
        let carriers = Carriers::new(&arm, &bind);
        let at = |name: &str| arm.skeleton.find(name).unwrap();
        let (forearm, hand) = (at("leftLowerArm"), at("leftHand"));
        let middle = carriers.position[forearm].lerp(carriers.position[hand], 0.5);
        let axis = (carriers.position[hand] - carriers.position[forearm]).normalize();
        let mut maps = vec![DAffine3::IDENTITY; arm.skeleton.len()];
        let turn = DQuat::from_axis_angle(axis, 1.2);
        maps[hand] = DAffine3::from_rotation_translation(turn, DVec3::ZERO);
        let turned = |point: DVec3| {
            let (_, r, _) = carriers.of(forearm, point).map(&maps).to_scale_rotation_translation();
            twist_about(r, axis)
        };
        assert!((turned(middle) - 0.6).abs() < 1e-6);
        assert!(turned(carriers.position[forearm]).abs() < 1e-9);
        assert!((turned(carriers.position[hand]) - 1.2).abs() < 1e-6);
    }
}
