//! Where tracking starts, dual quaternion skinning and what fat draws along, and the bends of the skeleton it finds.

use super::model::{Hinge, Model};
use super::pose::{Posed, PosedPart, smoothstep};
use crate::math::DualQuat;
use crate::parts::FOLLOWS;
use glam::{Mat3A, Quat, Vec3A, Vec4};

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
    /// How much skin of the own part at `point` (its bind space) lies on the inside of the bend, 0 to 1. Only there
    /// can two neighbours press on each other; on the outside their skin is one.
    #[inline]
    pub fn folds(&self, point: Vec3A, radius: f32) -> f32 {
        let at = (point - self.at).dot(self.inside) / radius;
        self.amount * smoothstep((at - FOLDS[0]) / (FOLDS[1] - FOLDS[0]))
    }
}

/// In radii from the joint toward the inside: where contact between neighbours begins and is complete.
const FOLDS: [f32; 2] = [-0.1, 0.2];
/// Degrees of bend at which contact between neighbours begins and is complete.
const BENT: [f32; 2] = [20.0, 50.0];
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
            let amount = smoothstep((degrees - BENT[0]) / (BENT[1] - BENT[0]));
            let turn = now - hinge.other_direction;
            let inside = (turn - hinge.own_direction * turn.dot(hinge.own_direction)).try_normalize()?;
            (amount > 0.0).then_some(Bend { other: hinge.other, at: hinge.at, inside, amount })
        };
        bends.clear();
        bends.extend(bone.hinges.iter().filter_map(bend).take(MOST_BENDS));
    }
}

/// Position of vertex `v` that rests at `rest`, drawn along with the flesh under it, and the matrix that takes its rest edges along.
pub(super) fn start(posed: &Posed, v: usize, rest: Vec3A) -> (Vec3A, Mat3A) {
    let (x, turn) = skin(posed, v, rest);
    let model = posed.model;
    // What has no part of its own goes along with that of its strongest joint.
    let strongest = model.influences_of(v).first().map_or(FOLLOWS, |i| model.part_of_joint[i.0 as usize]);
    let part = if model.part[v] == FOLLOWS { strongest } else { model.part[v] };
    (posed.draw_along(part, x), turn)
}

fn skin(posed: &Posed, v: usize, rest: Vec3A) -> (Vec3A, Mat3A) {
    let list = posed.model.influences_of(v);
    let Some(&(strongest, _)) = list.first() else { return (rest, Mat3A::IDENTITY) };
    let side = posed.rigid[strongest as usize].real;
    let mut sum = DualQuat { real: Vec4::ZERO, dual: Vec4::ZERO };
    let mut stretch = Mat3A::ZERO;
    for &(joint, weight) in list {
        let motion = posed.rigid[joint as usize];
        sum = sum.plus(motion, weight.copysign(side.dot(motion.real)));
        if posed.stretched {
            stretch += posed.stretch[joint as usize] * weight;
        }
    }
    let length = sum.real.length();
    if !(length > 0.0 && length.is_finite()) {
        return (rest, Mat3A::IDENTITY);
    }
    let rotation = Mat3A::from_quat(Quat::from_vec4(sum.real / length));
    if posed.stretched {
        (sum.transform_point(stretch * rest), rotation * stretch)
    } else {
        (sum.transform_point(rest), rotation)
    }
}
