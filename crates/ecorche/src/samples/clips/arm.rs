//! The arm's clips: curl and shake.

use super::{Moment, eased, sample};
use crate::character::Clip;
use crate::samples::rig::Rig;
use glam::{Quat, Vec3};
use std::f32::consts::TAU;

/// Every clip of the arm.
pub fn clips(rig: &Rig) -> Vec<Clip> {
    let rest_elbow = (rig.bones[1].turn * Vec3::Y).angle_between(rig.bones[2].turn * Vec3::Y).to_degrees();
    let curl = [(0.05, 5.0), (0.95, 145.0), (1.15, 145.0), (2.05, 5.0)];
    vec![
        sample("curl", rig, 2.1, |t| moment(rig, [0.0, 0.0, eased(&curl, t) - rest_elbow, 0.0])),
        sample("shake", rig, 2.0, |t| {
            // Three shakes a second that swell and die away.
            let swell = eased(&[(0.0, 0.0), (0.4, 1.0), (1.3, 1.0), (2.0, 0.0)], t);
            let beat = |lag: f32| swell * (TAU * 3.0 * t - lag).sin();
            moment(rig, [9.0 * beat(0.0), 5.0 * beat(0.8), 30.0 * swell + 16.0 * beat(0.9), 22.0 * beat(1.8)])
        }),
    ]
}

/// Upper arm forward and to the side, elbow and wrist bent by degrees beyond rest.
fn moment(rig: &Rig, [flex, abduct, elbow, wrist]: [f32; 4]) -> Moment {
    let about = |bone: usize, axis: Vec3, degrees: f32| {
        Quat::from_axis_angle(rig.bones[bone].turn * axis, degrees.to_radians())
    };
    let mut turns = vec![Quat::IDENTITY; rig.bones.len()];
    turns[1] = about(1, Vec3::X, flex) * about(1, Vec3::Z, abduct);
    turns[2] = about(2, Vec3::X, elbow);
    turns[3] = about(3, Vec3::X, wrist);
    Moment::from_turns(rig, &turns, Vec3::ZERO)
}
