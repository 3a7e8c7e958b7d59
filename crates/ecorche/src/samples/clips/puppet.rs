//! Posing the athlete in anatomical terms: flexion, abduction and turn of each joint in degrees, measured
//! from standing upright with the arms hanging, whatever the rest pose is.

use super::Moment;
use crate::samples::rig::{Bone, MIRROR, Rig};
use glam::{Mat3, Quat, Vec3};

/// An arm, degrees.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Arm {
    /// Forward raise of the upper arm; negative swings it back.
    pub flex: f32,
    /// Sideways raise; 0 hangs, 90 is level.
    pub abduct: f32,
    /// Turn about its own length; positive brings the elbow's crook outward.
    pub turn: f32,
    /// Elbow; 0 is straight.
    pub elbow: f32,
    /// Turn of the forearm from thumb forward; positive shows the palm to the front (supination).
    pub supinate: f32,
    /// Wrist towards the palm.
    pub wrist: f32,
    /// Lift of the shoulder.
    pub shrug: f32,
    /// Closing of the fingers; 0 is the relaxed rest hand, 1 a fist.
    pub grip: f32,
}

/// A leg in the air or placed by angles, degrees.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Leg {
    /// Thigh forward of the pelvis's axis; negative is behind.
    pub hip: f32,
    /// Thigh to the outside.
    pub abduct: f32,
    /// Knee; 0 is straight.
    pub knee: f32,
    /// Ankle; positive lifts the toes.
    pub ankle: f32,
    /// Toes bent up.
    pub toes: f32,
}

/// A foot that stays where it is put while the hips move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Plant {
    /// Displacement of the ankle from rest, metres; x is to the outside.
    pub ankle: Vec3,
    /// Heel lifted about the ball of the foot, degrees; the toes stay down.
    pub heel: f32,
    /// Knee turned to the outside of the foot's direction, degrees.
    pub knee_out: f32,
}

/// How a leg is posed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stand {
    /// By joint angles.
    Angles(Leg),
    /// By the place of the foot.
    Planted(Plant),
}

/// Turn of a part of the trunk, degrees.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Turn {
    /// Forward bend.
    pub flex: f32,
    /// Turn to the left.
    pub twist: f32,
    /// Lean to the figure's left.
    pub side: f32,
}

/// The whole figure at one moment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure {
    /// Displacement of the hips from rest, metres.
    pub hips: Vec3,
    /// Turn of the pelvis.
    pub pelvis: Turn,
    /// Turn of the trunk above the pelvis, shared out over its three joints.
    pub trunk: Turn,
    /// Turn of neck and head above the trunk.
    pub head: Turn,
    /// Left and right arm.
    pub arms: [Arm; 2],
    /// Left and right leg.
    pub legs: [Stand; 2],
}

impl Default for Figure {
    /// Upright, arms hanging loosely.
    fn default() -> Self {
        let arm = Arm { flex: 4.0, abduct: 9.0, elbow: 14.0, ..Arm::default() };
        Self {
            hips: Vec3::ZERO,
            pelvis: Turn::default(),
            trunk: Turn::default(),
            head: Turn::default(),
            arms: [arm; 2],
            legs: [Stand::Planted(Plant::default()); 2],
        }
    }
}

/// Poses the athlete's rig.
pub struct Puppet<'a> {
    rig: &'a Rig,
}

/// Turns of all bones, each relative to its parent, in the axes of the rest pose:
/// `world_now = turn_of_parents * turn * world_at_rest`.
struct Turns {
    relative: Vec<Quat>,
}

fn degrees(axis: Vec3, angle: f32) -> Quat {
    Quat::from_axis_angle(axis, angle.to_radians())
}

impl<'a> Puppet<'a> {
    /// A puppet of the athlete's rig.
    pub fn new(rig: &'a Rig) -> Self {
        Self { rig }
    }

    fn bone(&self, name: &str) -> usize {
        self.rig.find(name).unwrap_or(0)
    }

    fn at(&self, name: &str) -> &Bone {
        &self.rig.bones[self.bone(name)]
    }

    /// Local transforms of the figure.
    pub fn pose(&self, figure: &Figure) -> Moment {
        let mut turns = Turns { relative: vec![Quat::IDENTITY; self.rig.bones.len()] };
        let body = |t: Turn| degrees(Vec3::Y, t.twist) * degrees(Vec3::Z, -t.side) * degrees(Vec3::X, t.flex);
        let share = |t: Turn, s: f32| body(Turn { flex: t.flex * s, twist: t.twist * s, side: t.side * s });
        turns.relative[self.bone("hips")] = body(figure.pelvis);
        for (name, part) in [("spine", 0.36), ("chest", 0.36), ("upperChest", 0.28)] {
            turns.relative[self.bone(name)] = share(figure.trunk, part);
        }
        for (name, part) in [("neck", 0.45), ("head", 0.55)] {
            turns.relative[self.bone(name)] = share(figure.head, part);
        }
        for (side, arm) in ["left", "right"].into_iter().zip(&figure.arms) {
            self.pose_arm(&mut turns, side, arm);
        }
        for (side, leg) in ["left", "right"].into_iter().zip(&figure.legs) {
            match leg {
                Stand::Angles(leg) => self.pose_leg(&mut turns, side, leg),
                Stand::Planted(plant) => self.plant_leg(&mut turns, side, plant, figure),
            }
        }
        Moment::from_turns(self.rig, &turns.relative, figure.hips)
    }

    /// A turn of a left bone as it is for `side`.
    fn mirrored(side: &str, turn: Quat) -> Quat {
        if side == "left" { turn } else { Quat::from_xyzw(turn.x, -turn.y, -turn.z, turn.w) }
    }

    /// The turn that brings a limb's rest frame to hanging straight down, flexing forward; left side.
    fn hanging(bone: &Bone) -> Quat {
        let down = Quat::from_mat3(&Mat3::from_cols(Vec3::NEG_X, Vec3::NEG_Y, Vec3::Z));
        down * bone.turn.inverse()
    }

    fn pose_arm(&self, turns: &mut Turns, side: &str, arm: &Arm) {
        let name = |part: &str| format!("{side}{part}");
        let upper = self.at("leftUpperArm");
        let swing = degrees(Vec3::X, -arm.flex) * degrees(Vec3::Z, arm.abduct) * degrees(Vec3::Y, arm.turn);
        // The shoulder blade takes part of a high raise.
        let shrug = degrees(Vec3::Z, arm.shrug + (arm.abduct.max(arm.flex) - 40.0).max(0.0) * 0.22);
        let raised = shrug.inverse() * swing * Self::hanging(upper);
        turns.relative[self.bone(&name("Shoulder"))] = Self::mirrored(side, shrug);
        turns.relative[self.bone(&name("UpperArm"))] = Self::mirrored(side, raised);
        let (lower, hand) = (self.at("leftLowerArm"), self.at("leftHand"));
        let rest_elbow = (upper.turn * Vec3::Y).angle_between(lower.turn * Vec3::Y).to_degrees();
        let hinge = lower.turn * Vec3::X;
        let along = lower.turn * Vec3::Y;
        // Forearm and hand share the roll, as radius and ulna cross.
        let bend = degrees(hinge, arm.elbow - rest_elbow);
        let roll = degrees(along, -0.5 * arm.supinate);
        turns.relative[self.bone(&name("LowerArm"))] = Self::mirrored(side, bend * roll);
        let wrist = degrees(hand.turn * Vec3::X, arm.wrist);
        turns.relative[self.bone(&name("Hand"))] = Self::mirrored(side, roll * wrist);
        for digit in ["Index", "Middle", "Ring", "Little"] {
            for (part, most) in [("Proximal", 80.0), ("Intermediate", 85.0), ("Distal", 55.0)] {
                let bone = self.at(&format!("left{digit}{part}"));
                let turn = degrees(bone.turn * Vec3::X, arm.grip * most);
                turns.relative[self.bone(&name(&format!("{digit}{part}")))] = Self::mirrored(side, turn);
            }
        }
        // The thumb goes in front of the palm and lies over the fingers.
        for (part, most, oppose) in
            [("Metacarpal", -25.0, 72.5), ("Proximal", 33.0, 0.0), ("Distal", 19.0, 0.0)]
        {
            let bone = self.at(&format!("leftThumb{part}"));
            let swing = degrees(hand.turn * Vec3::Y, arm.grip * oppose);
            let turn = swing * degrees(bone.turn * Vec3::X, arm.grip * most);
            turns.relative[self.bone(&name(&format!("Thumb{part}")))] = Self::mirrored(side, turn);
        }
    }

    fn pose_leg(&self, turns: &mut Turns, side: &str, leg: &Leg) {
        let name = |part: &str| format!("{side}{part}");
        let (upper, lower, foot) = (self.at("leftUpperLeg"), self.at("leftLowerLeg"), self.at("leftFoot"));
        let swing = degrees(Vec3::X, -leg.hip) * degrees(Vec3::Z, leg.abduct) * Self::hanging(upper);
        turns.relative[self.bone(&name("UpperLeg"))] = Self::mirrored(side, swing);
        let knee = degrees(lower.turn * Vec3::X, leg.knee - self.rest_knee());
        turns.relative[self.bone(&name("LowerLeg"))] = Self::mirrored(side, knee);
        let ankle = degrees(foot.turn * Vec3::X, leg.ankle);
        turns.relative[self.bone(&name("Foot"))] = Self::mirrored(side, ankle);
        let toes = degrees(self.at("leftToes").turn * Vec3::X, leg.toes);
        turns.relative[self.bone(&name("Toes"))] = Self::mirrored(side, toes);
    }

    /// Flexion of the knee at rest, degrees.
    fn rest_knee(&self) -> f32 {
        let along = |name: &str| self.at(name).turn * Vec3::Y;
        along("leftUpperLeg").angle_between(along("leftLowerLeg")).to_degrees()
    }

    /// Finds thigh and shin from the hips and the foot; a foot out of reach stretches the leg.
    fn plant_leg(&self, turns: &mut Turns, side: &str, plant: &Plant, figure: &Figure) {
        let flip = if side == "left" { Vec3::ONE } else { MIRROR };
        let name = |part: &str| format!("{side}{part}");
        let [upper, lower, foot, toes] =
            ["UpperLeg", "LowerLeg", "Foot", "Toes"].map(|part| self.at(&name(part)).clone());
        let hips = self.at("hips");
        let pelvis = turns.relative[self.bone("hips")];
        let hip = hips.head + figure.hips + pelvis * (upper.head - hips.head);
        // Lifting the heel turns the foot about its ball.
        let outward = (toes.head - foot.head).with_y(0.0).normalize();
        let pitch = degrees(Vec3::Y.cross(outward), plant.heel);
        let ankle = toes.head + pitch * (foot.head - toes.head) + plant.ankle * flip;

        let (thigh, shin) = (upper.head.distance(upper.tip), lower.head.distance(lower.tip));
        let reach = hip.distance(ankle).clamp(0.2 * thigh, (thigh + shin) * 0.9995);
        let down = (ankle - hip).normalize();
        let cosine = ((thigh * thigh + reach * reach - shin * shin) / (2.0 * thigh * reach)).clamp(-1.0, 1.0);
        let forward = degrees(Vec3::Y * flip.x, plant.knee_out) * outward;
        let forward = (forward - down * forward.dot(down)).normalize();
        let along_thigh = down * cosine + forward * (1.0 - cosine * cosine).sqrt();
        let knee = hip + along_thigh * thigh;
        let along_shin = (ankle - knee).normalize();

        // Rest frames of thigh and shin share the knee's hinge; so do the posed ones.
        let rest_hinge = (lower.turn * Vec3::X).normalize();
        let hinge = forward.cross(down).normalize();
        let hinge = if hinge.dot(pelvis * rest_hinge) < 0.0 { -hinge } else { hinge };
        let frame = |hinge: Vec3, along: Vec3| {
            let x = (hinge - along * hinge.dot(along)).normalize();
            Quat::from_mat3(&Mat3::from_cols(x, along, x.cross(along)))
        };
        let thigh_turn = frame(hinge, along_thigh) * frame(rest_hinge, upper.turn * Vec3::Y).inverse();
        let shin_turn = frame(hinge, along_shin) * frame(rest_hinge, lower.turn * Vec3::Y).inverse();
        turns.relative[self.bone(&name("UpperLeg"))] = pelvis.inverse() * thigh_turn;
        turns.relative[self.bone(&name("LowerLeg"))] = thigh_turn.inverse() * shin_turn;
        turns.relative[self.bone(&name("Foot"))] = shin_turn.inverse() * pitch;
        turns.relative[self.bone(&name("Toes"))] = pitch.inverse();
    }

    /// Height of the lowest point of a foot's sole: heel, ball or tip of the toes.
    pub fn lowest_sole(&self, moment: &Moment, side: &str) -> f32 {
        let mut world: Vec<(Quat, Vec3)> = Vec::with_capacity(self.rig.bones.len());
        for (b, bone) in self.rig.bones.iter().enumerate() {
            let translation = if b == 1 { moment.translation } else { self.rig.rest(b).translation };
            let (turn, at) = bone.parent.map_or((Quat::IDENTITY, Vec3::ZERO), |p| world[p]);
            world.push((turn * moment.rotation[b], at + turn * translation));
        }
        let (foot, toes) = (self.bone(&format!("{side}Foot")), self.bone(&format!("{side}Toes")));
        let on = |b: usize, rest: Vec3| {
            let (turn, at) = world[b];
            at + turn * (self.rig.bones[b].turn.inverse() * (rest - self.rig.bones[b].head))
        };
        let outward = (self.rig.bones[toes].head - self.rig.bones[foot].head).with_y(0.0).normalize();
        let ankle = self.rig.bones[foot].head.with_y(0.0);
        let heel = on(foot, ankle - outward * 0.055).y;
        let ball = on(foot, ankle + outward * 0.130).y;
        let tip = on(toes, ankle + outward * 0.195).y;
        heel.min(ball).min(tip)
    }
}
