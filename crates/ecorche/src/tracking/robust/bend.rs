//! The bends of the skeleton: neighbours can press on each other only on the inside of a bent joint.

use super::bone::Hinge;
use super::model::Model;
use super::offload::BendInPose;
use super::pose::{PosedPart, smoothstep};
use glam::Vec3A;

/// A bent joint seen from one of its parts, in that part's bind space.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bend {
    pub other: u32,
    at: Vec3A,
    /// Unit, to where the other part has gone.
    inside: Vec3A,
    /// How much it is bent, 0 to 1.
    amount: f32,
}

impl Bend {
    /// As a projector is given it.
    pub fn in_pose(&self) -> BendInPose {
        BendInPose {
            at: self.at.to_array(),
            amount: self.amount,
            inside: self.inside.to_array(),
            other: self.other,
        }
    }

    /// How much skin of the own part at `point` (its bind space) lies on the inside of the bend, 0 to 1. Only there
    /// can two neighbours press on each other; on the outside their skin is one.
    #[inline]
    pub fn folds(&self, point: Vec3A, radius: f32) -> f32 {
        let at = (point - self.at).dot(self.inside) / radius;
        self.amount * smoothstep((at - FOLD_RANGE[0]) / (FOLD_RANGE[1] - FOLD_RANGE[0]))
    }
}

/// In radii from the joint toward the inside: where contact between neighbours begins and is complete.
pub(super) const FOLD_RANGE: [f32; 2] = [-0.1, 0.2];

/// Degrees of bend at which contact between neighbours begins and is complete.
const BEND_RANGE: [f32; 2] = [20.0, 50.0];

/// Most bends of one part looked at; a palm has five.
const MOST_BENDS: usize = 8;

/// Fills in the bends of every part.
pub(super) fn find_bends(model: &Model, parts: &[PosedPart], bends: &mut Vec<Vec<Bend>>) {
    bends.resize_with(parts.len(), Vec::new);
    for ((own, bone), bends) in parts.iter().zip(&model.bones).zip(bends) {
        let bend = |hinge: &Hinge| {
            let world_from_other = parts[hinge.other as usize].world_from_bind.matrix3;
            let bind_from_world = own.bind_from_world.matrix3;
            let now = (bind_from_world * (world_from_other * hinge.other_direction)).try_normalize()?;
            let degrees = hinge.other_direction.dot(now).clamp(-1.0, 1.0).acos().to_degrees();
            let amount = smoothstep((degrees - BEND_RANGE[0]) / (BEND_RANGE[1] - BEND_RANGE[0]));
            let turn = now - hinge.other_direction;
            let inside = (turn - hinge.own_direction * turn.dot(hinge.own_direction)).try_normalize()?;
            (amount > 0.0).then_some(Bend { other: hinge.other, at: hinge.at, inside, amount })
        };
        bends.clear();
        bends.extend(bone.hinges.iter().filter_map(bend).take(MOST_BENDS));
    }
}
