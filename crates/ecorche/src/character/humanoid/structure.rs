//! Recognising a human by the shape of its skeleton alone.
//!
//! Hips: the joint from which two like limbs hang down on either side and a back rises. Where two
//! like limbs leave the back are the arms; what rises further is neck and head. Quadrupeds fail
//! the test that the back rises.

use super::{HumanoidBone, Part, Side};
use crate::character::Skeleton;
use glam::Vec3;

/// Two limbs are a pair when their lengths differ by less than this share of the longer. Chosen,
/// not tuned.
const PAIR_TOLERANCE: f32 = 0.2;
/// Least share of the way from hips to head that goes up. Chosen, not tuned: tested only on an
/// upright and a level back.
const LEAST_RISE: f32 = 0.75;

struct Shape<'a> {
    skeleton: &'a Skeleton,
    children: Vec<Vec<usize>>,
    points: Vec<Vec3>,
    /// Longest path down the hierarchy from each joint.
    reach: Vec<f32>,
}

pub(super) fn recognise(skeleton: &Skeleton) -> Vec<Option<HumanoidBone>> {
    let shape = Shape::new(skeleton);
    (0..skeleton.len()).find_map(|hips| shape.human_from(hips)).unwrap_or_else(|| vec![None; skeleton.len()])
}

impl<'a> Shape<'a> {
    fn new(skeleton: &'a Skeleton) -> Self {
        let count = skeleton.len();
        let mut world = Vec::with_capacity(count);
        let mut children = vec![Vec::new(); count];
        for (index, joint) in skeleton.joints.iter().enumerate() {
            let local = joint.rest.to_affine();
            world.push(joint.parent.map_or(local, |parent: usize| world[parent] * local));
            if let Some(parent) = joint.parent {
                children[parent].push(index);
            }
        }
        let points: Vec<Vec3> = world.iter().map(|w: &glam::Affine3A| w.translation.into()).collect();
        let mut reach = vec![0f32; count];
        for joint in (0..count).rev() {
            if let Some(parent) = skeleton.joints[joint].parent {
                let length = points[joint].distance(points[parent]);
                reach[parent] = reach[parent].max(reach[joint] + length);
            }
        }
        Self { skeleton, children, points, reach }
    }

    fn human_from(&self, hips: usize) -> Option<Vec<Option<HumanoidBone>>> {
        let here = self.points[hips];
        let (left_leg, right_leg) =
            self.pair(hips, |limb| self.end(limb).y < here.y - 0.5 * self.reach[limb])?;
        // The child that rises highest is the back.
        let back = self.children[hips]
            .iter()
            .copied()
            .filter(|&c| c != left_leg && c != right_leg)
            .max_by(|&a, &b| self.top(a).total_cmp(&self.top(b)))?;
        let mut spine = vec![back];
        let (mut joint, mut arms) = (back, None);
        while arms.is_none() {
            arms = self.pair(joint, |limb| self.children[limb].len() <= 5);
            if arms.is_none() {
                joint = self.highest_child(joint)?;
                spine.push(joint);
            }
        }
        let (left_arm, right_arm) = arms?;
        let neck = self.children[joint]
            .iter()
            .copied()
            .filter(|&c| c != left_arm && c != right_arm)
            .max_by(|&a, &b| self.top(a).total_cmp(&self.top(b)));
        let rise = self.points[neck.unwrap_or(joint)] - here;
        if rise.y < LEAST_RISE * rise.length() || rise.y <= 0.0 {
            return None;
        }

        let mut found = vec![None; self.skeleton.len()];
        let mut give = |joint: usize, part, side| found[joint] = Some(HumanoidBone { part, side });
        give(hips, Part::Hips, Side::Centre);
        let backs = [Part::Spine, Part::Chest, Part::UpperChest];
        let dealt: Vec<usize> =
            if spine.len() <= 3 { spine } else { vec![spine[0], spine[spine.len() / 2], joint] };
        for (joint, part) in dealt.into_iter().zip(backs) {
            give(joint, part, Side::Centre);
        }
        if let Some(neck) = neck {
            match self.highest_child(neck) {
                Some(head) => {
                    give(neck, Part::Neck, Side::Centre);
                    give(head, Part::Head, Side::Centre);
                }
                None => give(neck, Part::Head, Side::Centre),
            }
        }
        for (leg, side) in [(left_leg, Side::Left), (right_leg, Side::Right)] {
            let parts = [Part::UpperLeg, Part::LowerLeg, Part::Foot, Part::Toes];
            for (joint, part) in self.limb(leg).into_iter().zip(parts) {
                give(joint, part, side);
            }
        }
        for (arm, side) in [(left_arm, Side::Left), (right_arm, Side::Right)] {
            let parts = [Part::Shoulder, Part::UpperArm, Part::LowerArm, Part::Hand];
            let limb = self.limb(arm);
            // Three joints are an arm without clavicle.
            let first = usize::from(limb.len() < 4);
            for (joint, part) in limb.into_iter().zip(&parts[first..]) {
                give(joint, *part, side);
            }
        }
        Some(found)
    }

    /// Two children of like reach on opposite sides, left first; the longest such pair.
    fn pair(&self, joint: usize, suits: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
        let here = self.points[joint];
        let limbs: Vec<usize> =
            self.children[joint].iter().copied().filter(|&c| self.limb(c).len() >= 3 && suits(c)).collect();
        let mut best: Option<(f32, usize, usize)> = None;
        for (i, &a) in limbs.iter().enumerate() {
            for &b in &limbs[i + 1..] {
                let (long, short) = (self.reach[a].max(self.reach[b]), self.reach[a].min(self.reach[b]));
                let sides = (self.end(a).x - here.x, self.end(b).x - here.x);
                let alike = short > (1.0 - PAIR_TOLERANCE) * long;
                if alike && sides.0 * sides.1 < 0.0 && best.is_none_or(|(length, ..)| long > length) {
                    best = Some(if sides.0 > 0.0 { (long, a, b) } else { (long, b, a) });
                }
            }
        }
        best.map(|(_, left, right)| (left, right))
    }

    /// The joints from `joint` outward along the longest path.
    fn limb(&self, joint: usize) -> Vec<usize> {
        let mut limb = vec![joint];
        let mut joint = joint;
        while let Some(&next) = self.children[joint].iter().max_by(|&&a, &&b| {
            let way = |c: usize| self.reach[c] + self.points[c].distance(self.points[joint]);
            way(a).total_cmp(&way(b))
        }) {
            limb.push(next);
            joint = next;
            // Hands and feet are reached by then.
            if limb.len() == 5 {
                break;
            }
        }
        limb
    }

    fn end(&self, joint: usize) -> Vec3 {
        self.limb(joint).last().map_or(self.points[joint], |&end| self.points[end])
    }

    fn top(&self, joint: usize) -> f32 {
        self.points[joint].y + self.reach[joint]
    }

    fn highest_child(&self, joint: usize) -> Option<usize> {
        self.children[joint].iter().copied().max_by(|&a, &b| self.top(a).total_cmp(&self.top(b)))
    }
}
