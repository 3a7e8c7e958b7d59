//! The hand's clips: fist and pinch.

use super::{Moment, eased, sample};
use crate::character::Clip;
use crate::samples::hand::{REST_CURL, world_from_hand};
use crate::samples::rig::Rig;
use glam::{Quat, Vec3};

/// Flexion of the three joints of each digit and the share of the spread that is closed. The first of
/// `thumb` is flexion at the wrist's side; `oppose` swings the thumb in front of the palm.
struct Grip {
    fingers: [[f32; 3]; 4],
    gather: f32,
    thumb: [f32; 3],
    oppose: f32,
}

/// Proximal 90, middle 105, end 70 degrees, and the thumb over the fingers, pressed on them by a millimetre.
const FIST: Grip =
    Grip { fingers: [[90.0, 105.0, 70.0]; 4], gather: 1.0, thumb: [-25.0, 33.0, 19.0], oppose: 72.5 };

/// Tip of the thumb against tip of the index finger, the others loosely bent.
const PINCH: Grip = Grip {
    fingers: [[58.0, 56.0, 28.0], [34.0, 34.0, 18.0], [28.0, 30.0, 16.0], [24.0, 28.0, 14.0]],
    gather: 0.3,
    thumb: [2.0, 5.0, 14.0],
    oppose: 46.0,
};

/// Every clip of the hand.
pub fn clips(rig: &Rig) -> Vec<Clip> {
    let close = [(0.1, 0.0), (1.0, 1.0), (1.4, 1.0), (2.3, 0.0)];
    // In a fist the thumb waits until the fingers are out of its way.
    let thumb_after = [(0.45, 0.0), (1.1, 1.0), (1.35, 1.0), (1.95, 0.0)];
    vec![
        sample("fist", rig, 2.4, |t| grip(rig, &FIST, eased(&close, t), eased(&thumb_after, t))),
        sample("pinch", rig, 2.4, |t| grip(rig, &PINCH, eased(&close, t), eased(&close, t))),
    ]
}

fn grip(rig: &Rig, grip: &Grip, fingers: f32, thumb: f32) -> Moment {
    let mut turns = vec![Quat::IDENTITY; rig.bones.len()];
    let flex = |bone: usize, degrees: f32| {
        Quat::from_axis_angle(rig.bones[bone].turn * Vec3::X, degrees.to_radians())
    };
    for (digit, angles) in ["Index", "Middle", "Ring", "Little"].iter().zip(grip.fingers) {
        for (k, part) in ["Proximal", "Intermediate", "Distal"].iter().enumerate() {
            let Some(bone) = rig.find(&format!("left{digit}{part}")) else { continue };
            turns[bone] = flex(bone, (angles[k] - REST_CURL[k]) * fingers);
            if k == 0 {
                // Spread fingers swing together about the palm's normal before they bend.
                let hand = world_from_hand();
                let (up, normal) = (hand.transform_vector3(Vec3::Y), hand.transform_vector3(Vec3::Z));
                let side = hand.transform_vector3(Vec3::X);
                let along = rig.bones[bone].turn * Vec3::Y;
                let spread = along.dot(side).atan2(along.dot(up));
                turns[bone] = Quat::from_axis_angle(normal, spread * grip.gather * fingers) * turns[bone];
            }
        }
    }
    for (k, part) in ["Metacarpal", "Proximal", "Distal"].iter().enumerate() {
        let Some(bone) = rig.find(&format!("leftThumb{part}")) else { continue };
        turns[bone] = flex(bone, grip.thumb[k] * thumb);
        if k == 0 {
            let up = world_from_hand().transform_vector3(Vec3::Y);
            turns[bone] = Quat::from_axis_angle(up, (grip.oppose * thumb).to_radians()) * turns[bone];
        }
    }
    Moment::from_turns(rig, &turns, Vec3::ZERO)
}
