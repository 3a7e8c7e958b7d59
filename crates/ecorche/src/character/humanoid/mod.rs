//! Which joint is which bone of a human: recognised by name, else by the shape of the skeleton.
//!
//! The bones are those of VRM 1.0. Names are read in the conventions of VRM, Mixamo, Unreal,
//! Rigify, MakeHuman, MotionBuilder and CMU motion capture, Biped and common hand-made rigs.
//! Names say which limb; where several joints claim a place (`upperarm01`, `upperarm02`), the one
//! nearest the root gets it, and spines, fingers and limbs named alike (`arm_joint_L_1`, `_2`, `_3`)
//! are assigned in the order of the hierarchy.

mod names;
mod structure;

pub(super) use names::Naming;

use super::Skeleton;

/// Side of the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// On the middle plane.
    Centre,
    /// The character's own left, +X when it faces +Z.
    Left,
    /// The character's own right.
    Right,
}

/// One of the five fingers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Finger {
    /// Has a metacarpal instead of an intermediate bone.
    Thumb,
    /// Second finger.
    Index,
    /// Third finger.
    Middle,
    /// Fourth finger.
    Ring,
    /// Fifth finger.
    Little,
}

/// A part of the body, one or two of which a human has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Root of the body.
    Hips,
    /// Lowest of the back.
    Spine,
    /// Middle of the back.
    Chest,
    /// Top of the back.
    UpperChest,
    /// Below the head.
    Neck,
    /// The head.
    Head,
    /// Lower jaw.
    Jaw,
    /// Eyeball.
    Eye,
    /// Clavicle.
    Shoulder,
    /// Shoulder joint to elbow.
    UpperArm,
    /// Elbow to wrist.
    LowerArm,
    /// Wrist.
    Hand,
    /// Hip joint to knee.
    UpperLeg,
    /// Knee to ankle.
    LowerLeg,
    /// Ankle.
    Foot,
    /// Ball of the foot.
    Toes,
    /// A finger's bone, 0 nearest the hand, at most 2.
    Finger(Finger, u8),
}

/// A bone of the VRM 1.0 humanoid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HumanoidBone {
    /// Which part.
    pub part: Part,
    /// On which side; `Centre` for hips, back, neck, head and jaw.
    pub side: Side,
}

impl HumanoidBone {
    /// A bone on the middle plane.
    pub const fn centre(part: Part) -> Self {
        Self { part, side: Side::Centre }
    }

    /// The name VRM 1.0 gives it: `hips`, `leftUpperArm`, `rightThumbMetacarpal`.
    pub fn name(self) -> String {
        let part = match self.part {
            Part::Hips => "Hips".to_owned(),
            Part::Finger(finger, number) => {
                let bones = match finger {
                    Finger::Thumb => ["Metacarpal", "Proximal", "Distal"],
                    _ => ["Proximal", "Intermediate", "Distal"],
                };
                format!("{finger:?}{}", bones[usize::from(number.min(2))])
            }
            part => format!("{part:?}"),
        };
        match self.side {
            Side::Left => format!("left{part}"),
            Side::Right => format!("right{part}"),
            Side::Centre => part[..1].to_ascii_lowercase() + &part[1..],
        }
    }

    /// The same part on the other side.
    pub fn mirrored(self) -> Self {
        let side = match self.side {
            Side::Left => Side::Right,
            Side::Right => Side::Left,
            Side::Centre => Side::Centre,
        };
        Self { side, ..self }
    }
}

/// For each joint the bone it is, each bone at most once.
pub fn recognise(skeleton: &Skeleton) -> Vec<Option<HumanoidBone>> {
    let by_name = names::recognise(skeleton);
    let legs_found = by_name.iter().flatten().filter(|b| b.part == Part::UpperLeg).count();
    let arms_found = by_name.iter().flatten().filter(|b| b.part == Part::UpperArm).count();
    if legs_found == 2 || arms_found == 2 {
        return by_name;
    }
    let by_shape = structure::recognise(skeleton);
    let count = |found: &[Option<HumanoidBone>]| found.iter().flatten().count();
    if count(&by_shape) > count(&by_name) { by_shape } else { by_name }
}

/// The joint that is `bone`, from what [`recognise`] found.
pub fn joint_of(recognised: &[Option<HumanoidBone>], bone: HumanoidBone) -> Option<usize> {
    recognised.iter().position(|&found| found == Some(bone))
}

#[cfg(test)]
mod tests;
