//! A region of the body: the flesh along the bones that meet at one joint.

use super::cores::{Bone, SAME};
use crate::character::{Character, humanoid};
use crate::pieces::skeleton::Bones;
use glam::DVec3;

/// The flesh that is closer to these bones than to any other.
#[derive(Debug)]
pub struct Region {
    /// The bones in it.
    pub bones: Vec<Bone>,
    others: Vec<Bone>,
}

impl Region {
    /// The bones that begin at a joint and the one that ends there; `None` unless there are both.
    pub(crate) fn new(character: &Character, skeleton: &Bones, all: &[Bone], joint: usize) -> Option<Self> {
        let at = skeleton.position[joint].as_dvec3();
        let ends_here = |b: &Bone| b.ends[1].distance(at) < SAME;
        let above = character
            .skeleton
            .nearest_ancestor(joint, |a| all.iter().any(|b| b.joint as usize == a && ends_here(b)))?;
        let is_own = |b: &Bone| b.joint as usize == joint || (b.joint as usize == above && ends_here(b));
        let (bones, others): (Vec<Bone>, Vec<Bone>) = all.iter().partition(|b| is_own(b));
        bones.iter().any(|b| b.joint as usize == joint).then_some(Self { bones, others })
    }

    /// How far inside the region a point is, metres; negative outside.
    pub fn depth(&self, point: DVec3) -> f64 {
        let nearest =
            |list: &[Bone]| list.iter().map(|b| from_axis(b.ends, point).0).fold(f64::INFINITY, f64::min);
        // Far from all other bones there is no border.
        0.5 * (nearest(&self.others) - nearest(&self.bones)).min(1e9)
    }

    /// The joint of the nearest bone.
    pub fn nearest(&self, point: DVec3) -> u32 {
        let far = |b: &Bone| from_axis(b.ends, point).0;
        self.bones.iter().min_by(|a, b| far(a).total_cmp(&far(b))).map_or(u32::MAX, |b| b.joint)
    }
}

/// A joint of the skin by its name; or by the name of what it is in a human, such as leftLowerArm; or, for leftArm, rightArm,
/// leftLeg and rightLeg, the middle joint of the limb. A joint that has such a name itself comes first.
pub fn find(character: &Character, name: &str) -> Option<usize> {
    let middle = match name.to_lowercase().as_str() {
        "leftarm" => "leftLowerArm",
        "rightarm" => "rightLowerArm",
        "leftleg" => "leftLowerLeg",
        "rightleg" => "rightLowerLeg",
        _ => name,
    };
    let known = humanoid::recognise(&character.skeleton);
    let part = || known.iter().position(|b| b.is_some_and(|b| b.name().eq_ignore_ascii_case(middle)));
    character.skeleton.find(name).or_else(part).filter(|&j| character.skeleton.joints[j].in_skin)
}

/// Distance of a point from a segment, and where on it, from 0 to 1, the nearest point is.
pub fn from_axis([a, b]: [DVec3; 2], point: DVec3) -> (f64, f64) {
    let along = b - a;
    let square = along.length_squared();
    let t = if square > 0.0 { ((point - a).dot(along) / square).clamp(0.0, 1.0) } else { 0.0 };
    (point.distance(a + along * t), t)
}

/// Every bone that has length and lies at least partly inside the skin.
pub(crate) fn bones(
    character: &Character,
    skeleton: &Bones,
    skin: &crate::geom::sdf::SurfaceDistance,
) -> Vec<Bone> {
    let mut list = Vec::new();
    let joints = &character.skeleton.joints;
    for joint in (0..joints.len()).filter(|&j| joints[j].in_skin) {
        for [from, to] in skeleton.segments(&[joint as u32]) {
            let ends = [from.as_dvec3(), to.as_dvec3()];
            let inside = (0..=8).any(|k| skin.signed(ends[0].lerp(ends[1], f64::from(k) / 8.0)) < 0.0);
            if ends[0].distance(ends[1]) > SAME && inside {
                list.push(Bone { joint: joint as u32, ends, jointed: [false; 2] });
            }
        }
    }
    let copy = list.clone();
    for bone in &mut list {
        for (jointed, end) in bone.jointed.iter_mut().zip(bone.ends) {
            *jointed =
                copy.iter().any(|o| o.joint != bone.joint && o.ends.iter().any(|e| e.distance(end) < SAME));
        }
    }
    list
}
