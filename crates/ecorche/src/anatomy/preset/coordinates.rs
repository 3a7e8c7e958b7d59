//! Places by coordinates that mean the same in every human body: along and around bones, from axis to skin.
//!
//! A place belongs to a region, which is told by the bone that carries it. In a limb, the neck and the head its coordinates are
//! the share of the bone's length, the angle about it, and the distance from it over that of the skin. In the trunk they are the
//! distance from the middle over the body's half width there, the height, and how far in front of the middle it is over the half
//! depth there. All distances to the skin are those of a body at rest, so a place can be found again from its coordinates.

use super::landmarks::{Bone, Landmarks, Leg, Trunk};
use super::probe::Probe;
use crate::anatomy::BindFrames;
use crate::character::Character;
use crate::character::humanoid::{self, HumanoidBone, Part};
use glam::Vec3;

/// A region with coordinates of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::anatomy) enum Region {
    UpperArm,
    LowerArm,
    Thigh,
    Shank,
    Foot,
    Trunk,
    Neck,
}

impl Region {
    fn of(part: Part) -> Self {
        match part {
            Part::UpperArm => Self::UpperArm,
            Part::LowerArm | Part::Hand | Part::Finger(..) => Self::LowerArm,
            Part::UpperLeg => Self::Thigh,
            Part::LowerLeg => Self::Shank,
            Part::Foot | Part::Toes => Self::Foot,
            Part::Neck | Part::Head | Part::Jaw | Part::Eye => Self::Neck,
            Part::Hips | Part::Spine | Part::Chest | Part::UpperChest | Part::Shoulder => Self::Trunk,
        }
    }
}

/// A body in which places have coordinates.
pub(in crate::anatomy) struct Atlas<'a> {
    pub character: &'a Character,
    pub probe: Probe,
    pub frames: BindFrames,
    pub recognised: Vec<Option<HumanoidBone>>,
    /// Left and right.
    sides: [Option<Landmarks>; 2],
}

impl<'a> Atlas<'a> {
    /// `None` for a character without a skinned surface or without a human arm or leg.
    pub fn new(character: &'a Character) -> Option<Self> {
        let probe = Probe::new(character)?;
        let sides = [humanoid::Side::Left, humanoid::Side::Right]
            .map(|side| Landmarks::find(character, &probe, side));
        sides.iter().any(Option::is_some).then_some(())?;
        let recognised = humanoid::recognise(&character.skeleton);
        Some(Self { character, probe, frames: BindFrames::of(character), recognised, sides })
    }

    /// Half the thickness of an arm or leg, metres.
    pub fn thickness(&self) -> f32 {
        let found = self.sides.iter().flatten();
        let limb = found.filter_map(|s| s.arm.map(|arm| arm.upper).or(s.leg.map(|leg| leg.thigh))).next();
        limb.map_or(0.05, |bone| bone.radius)
    }

    fn side(&self, side: humanoid::Side) -> Option<&Landmarks> {
        let [left, right] = &self.sides;
        match side {
            humanoid::Side::Right => right.as_ref(),
            _ => left.as_ref().or(right.as_ref()),
        }
    }

    /// A place of bind space that `bone` carries; `side` decides for bones of the middle.
    pub fn coordinates(&self, bone: HumanoidBone, side: humanoid::Side, p: Vec3) -> Option<[f32; 3]> {
        let found = self.side(if bone.side == humanoid::Side::Centre { side } else { bone.side })?;
        Some(match Region::of(bone.part) {
            Region::Trunk => trunk_scales(found.trunk.as_ref()?, &self.probe, |t| t.height_of(p)).from(p),
            Region::Foot => foot_frame(found.leg.as_ref()?).from(p),
            region => self.bone(found, region)?.coordinates(&self.probe, p),
        })
    }

    /// Where the place with these coordinates is.
    pub fn place(&self, bone: HumanoidBone, side: humanoid::Side, at: [f32; 3]) -> Option<Vec3> {
        let found = self.side(if bone.side == humanoid::Side::Centre { side } else { bone.side })?;
        Some(match Region::of(bone.part) {
            Region::Trunk => trunk_scales(found.trunk.as_ref()?, &self.probe, |_| at[1]).to(at),
            Region::Foot => foot_frame(found.leg.as_ref()?).to(at),
            region => self.bone(found, region)?.place(&self.probe, at),
        })
    }

    fn bone(&self, found: &Landmarks, region: Region) -> Option<Bone> {
        match region {
            Region::UpperArm => found.arm.map(|arm| arm.upper),
            Region::LowerArm => found.arm.map(|arm| arm.lower),
            Region::Thigh => found.leg.map(|leg| leg.thigh),
            Region::Shank => found.leg.map(|leg| leg.shank),
            Region::Neck => {
                let (neck, front) = (found.neck?, found.trunk.as_ref()?.front);
                Bone::new(neck.neck, [neck.base, neck.top], [front; 2], found.sign, 1.0, &self.probe)
            }
            Region::Foot | Region::Trunk => None,
        }
    }
}

/// Axes with an origin, and the length along each that counts as one.
struct Frame {
    origin: Vec3,
    axes: [Vec3; 3],
    scales: [f32; 3],
    /// Added to the coordinates.
    offsets: [f32; 3],
}

impl Frame {
    fn from(&self, p: Vec3) -> [f32; 3] {
        [0, 1, 2].map(|k| (p - self.origin).dot(self.axes[k]) / self.scales[k] + self.offsets[k])
    }

    fn to(&self, at: [f32; 3]) -> Vec3 {
        (0..3).fold(self.origin, |p, k| p + self.axes[k] * ((at[k] - self.offsets[k]) * self.scales[k]))
    }
}

fn foot_frame(leg: &Leg) -> Frame {
    let ankle = leg.shank.axis(1.0);
    let up = -(ankle - leg.shank.axis(0.0)).normalize_or(Vec3::NEG_Y);
    let toes = leg.toes.reject_from_normalized(up).normalize_or(up.any_orthonormal_vector());
    let size = (leg.instep - ankle).length().max(1e-4);
    // To the left on both feet: mirrored bodies have mirrored places as left and right never mix.
    Frame { origin: ankle, axes: [up.cross(toes), up, toes], scales: [size; 3], offsets: [0.0; 3] }
}

/// Between these heights the width that counts goes from the skin's to that of the shoulder joints: higher up arms are in the way.
const ARMPIT: [f32; 2] = [0.5, 0.7];

/// Width and depth of the trunk at a height.
fn trunk_scales(trunk: &Trunk, probe: &Probe, height: impl Fn(&Trunk) -> f32) -> Frame {
    let y = height(trunk);
    let (middle, within) = (trunk.middle(0.0), y.clamp(0.05, 0.95));
    let there = trunk.middle(within);
    let [ahead, behind] = [trunk.front, -trunk.front]
        .map(|d| probe.exit(there, d, trunk.height).unwrap_or(0.5 * trunk.breadth));
    let shift = 0.5 * (ahead - behind);
    let [left, right] = [trunk.left, -trunk.left].map(|d| {
        let exit = probe.exit(there + shift * trunk.front, d, 1.2 * trunk.breadth);
        exit.unwrap_or(1.2 * trunk.breadth)
    });
    let share = ((within - ARMPIT[0]) / (ARMPIT[1] - ARMPIT[0])).clamp(0.0, 1.0);
    let wide = 0.5 * (left + right);
    let half = (0.5 * (ahead + behind)).max(0.1 * trunk.breadth);
    Frame {
        origin: middle,
        axes: [trunk.left, trunk.up, trunk.front],
        scales: [wide + share * (trunk.breadth - wide), (trunk.middle(1.0) - middle).length(), half],
        offsets: [0.0, 0.0, -shift / half],
    }
}

impl Bone {
    /// From the axis to the skin towards `angle`, mean of a fan of rays: single ones slip through armpits.
    fn skin(&self, probe: &Probe, t: f32, angle: f32) -> f32 {
        const FAN: [f32; 5] = [-40.0, -20.0, 0.0, 20.0, 40.0];
        let t = t.clamp(0.1, 0.9);
        let exit = |turn: &f32| {
            let exit = probe.exit(self.axis(t), self.direction(t, angle + turn), 1.8 * self.radius);
            exit.unwrap_or(1.1 * self.radius).max(0.3 * self.radius)
        };
        FAN.iter().map(exit).sum::<f32>() / FAN.len() as f32
    }

    fn coordinates(&self, probe: &Probe, p: Vec3) -> [f32; 3] {
        let along = self.axis(1.0) - self.axis(0.0);
        let t = (p - self.axis(0.0)).dot(along) / along.length_squared();
        let aside = p - self.axis(t);
        let [front, outward] = [0.0, 90.0].map(|angle| aside.dot(self.direction(t, angle)));
        let angle = outward.atan2(front).to_degrees();
        [t, angle, aside.length() / self.skin(probe, t, angle)]
    }

    fn place(&self, probe: &Probe, [t, angle, depth]: [f32; 3]) -> Vec3 {
        self.axis(t) + self.direction(t, angle) * (depth * self.skin(probe, t, angle))
    }
}
