//! Where tracking starts: dual quaternion skinning with sharper weights inside bends.
//!
//! Skin on the inside of a bend that keeps half of the neighbour's weight is carried into the neighbour. There the own
//! part takes over some of it, the more the deeper the bend.

use super::pose::{Posed, smoothstep};
use crate::math::DualQuat;
use crate::parts::FOLLOWS;
use glam::{Mat3A, Quat, Vec3A, Vec4};

/// A bent joint seen from one of its parts, in that part's bind space.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bend {
    other: u32,
    at: Vec3A,
    /// Unit, to where the other part has gone.
    inside: Vec3A,
    /// How much it is bent, 0 to 1.
    amount: f32,
}

/// Degrees of bend at which sharpening begins and is complete.
const BENT: [f32; 2] = [20.0, 50.0];
/// In radii from the joint toward the inside: where it begins and is complete.
const INSIDE: [f32; 2] = [-0.3, 0.3];
/// Most bends of one part looked at; a palm has five.
const MOST_BENDS: usize = 8;

/// The bends of every part.
pub(super) fn bends(posed: &Posed) -> Vec<Vec<Bend>> {
    let bend = |own: usize| {
        let hinges = posed.model.bones[own].hinges.iter();
        hinges
            .filter_map(|hinge| {
                let world_from_other = posed.parts[hinge.other as usize].world_from_bind.matrix3;
                let bind_from_world = posed.parts[own].bind_from_world.matrix3;
                let now = (bind_from_world * (world_from_other * hinge.other_direction)).try_normalize()?;
                let degrees = hinge.other_direction.dot(now).clamp(-1.0, 1.0).acos().to_degrees();
                let amount = smoothstep((degrees - BENT[0]) / (BENT[1] - BENT[0]));
                let turn = now - hinge.other_direction;
                let inside = (turn - hinge.own_direction * turn.dot(hinge.own_direction)).try_normalize()?;
                (amount > 0.0).then_some(Bend { other: hinge.other, at: hinge.at, inside, amount })
            })
            .take(MOST_BENDS)
            .collect()
    };
    (0..posed.parts.len()).map(bend).collect()
}

/// Position of vertex `v` that rests at `rest`, and the matrix that takes its rest edges along.
pub(super) fn start(
    posed: &Posed,
    bends: &[Vec<Bend>],
    v: usize,
    rest: Vec3A,
    sharpening: f32,
) -> (Vec3A, Mat3A) {
    let model = posed.model;
    let list = model.influences_of(v);
    let Some(&(strongest, _)) = list.first() else { return (rest, Mat3A::IDENTITY) };
    let own = model.part[v];
    let mut kept = [(FOLLOWS, 1.0f32); MOST_BENDS];
    if own != FOLLOWS && list.len() > 1 && sharpening > 0.0 {
        let radius = model.bones[own as usize].radius;
        for (kept, bend) in kept.iter_mut().zip(&bends[own as usize]) {
            let at = (rest - bend.at).dot(bend.inside) / radius;
            let share = smoothstep((at - INSIDE[0]) / (INSIDE[1] - INSIDE[0]));
            *kept = (bend.other, 1.0 - sharpening * bend.amount * share);
        }
    }
    let side = posed.rigid[strongest as usize].real;
    let mut sum = DualQuat { real: Vec4::ZERO, dual: Vec4::ZERO };
    let mut stretch = Mat3A::ZERO;
    let mut add = |joint: u32, weight: f32| {
        let motion = posed.rigid[joint as usize];
        sum = sum.plus(motion, weight.copysign(side.dot(motion.real)));
        if posed.stretched {
            stretch += posed.stretch[joint as usize] * weight;
        }
    };
    let mut taken = 0.0;
    for &(joint, weight) in list {
        let part = model.part_of_joint[joint as usize];
        let share = kept.iter().find(|k| k.0 == part && part != FOLLOWS).map_or(1.0, |k| k.1);
        add(joint, weight * share);
        taken += weight * (1.0 - share);
    }
    if taken > 0.0 {
        add(model.bones[own as usize].joint, taken);
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
