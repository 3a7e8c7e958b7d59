//! The athlete's clips: run, jump, squat, curl, wave, twist. All begin and end in the same pose and so
//! repeat; run and twist are meant to.

use super::puppet::{Arm, Figure, Leg, Plant, Puppet, Stand, Turn};
use super::{FPS, Moment, cyclic, eased, sample};
use crate::character::Clip;
use crate::samples::rig::Rig;
use glam::Vec3;
use std::f32::consts::TAU;

/// Every clip of the athlete.
pub fn clips(rig: &Rig) -> Vec<Clip> {
    vec![run(rig), jump(rig), squat(rig), curl(rig), wave(rig), twist(rig)]
}

/// Seconds of one stride, two steps: 21 frames, 1.43 strides a second.
const STRIDE: f32 = 21.0 / FPS;
/// Share of the stride for which a foot is on the ground.
const STANCE: f32 = 0.33;

// One leg's stride from foot strike, as (phase, degrees).
const RUN_HIP: [(f32, f32); 10] = [
    (0.00, 31.0),
    (0.09, 23.0),
    (0.20, 4.0),
    (0.33, -16.0),
    (0.40, -20.0),
    (0.53, -1.0),
    (0.64, 24.0),
    (0.78, 44.0),
    (0.86, 45.0),
    (0.94, 38.0),
];
const RUN_KNEE: [(f32, f32); 9] = [
    (0.00, 20.0),
    (0.11, 40.0),
    (0.22, 33.0),
    (0.33, 20.0),
    (0.42, 42.0),
    (0.55, 92.0),
    (0.65, 105.0),
    (0.79, 78.0),
    (0.94, 22.0),
];
const RUN_ANKLE: [(f32, f32); 7] =
    [(0.00, 4.0), (0.10, 16.0), (0.21, 19.0), (0.33, -22.0), (0.42, -20.0), (0.60, -4.0), (0.80, 4.0)];
const RUN_TOES: [(f32, f32); 5] = [(0.00, 8.0), (0.10, 0.0), (0.22, 4.0), (0.31, 26.0), (0.44, 4.0)];

/// A run on the spot.
pub fn run(rig: &Rig) -> Clip {
    let puppet = Puppet::new(rig);
    // Height of the hips above where the lower foot would touch the ground, from phase to phase: in stance
    // the foot is on the ground, in flight the body follows a parabola from one stance to the next.
    let ground = |phase: f32, side: &str| -puppet.lowest_sole(&puppet.pose(&run_figure(phase, 0.0)), side);
    let height = |phase: f32| {
        let step = phase.rem_euclid(0.5);
        // The leg that struck last.
        let side = if phase.rem_euclid(1.0) < 0.5 { "left" } else { "right" };
        let other = if side == "left" { "right" } else { "left" };
        let base = phase - step;
        if step <= STANCE {
            return ground(phase, side);
        }
        let s = (step - STANCE) / (0.5 - STANCE);
        let (from, to) = (ground(base + STANCE, side), ground(base + 0.5, other));
        let seconds = (0.5 - STANCE) * STRIDE;
        let rise = 9.81 * seconds * seconds / 8.0;
        from + (to - from) * s + 4.0 * s * (1.0 - s) * rise
    };
    // Averaging over a few frames rounds the corner at take-off and landing; then no foot may sink.
    let smooth = |phase: f32| {
        let sum: f32 = (-2..=2).map(|k| height(phase + k as f32 * 0.02)).sum();
        let lowest = ground(phase, "left").max(ground(phase, "right"));
        (sum / 5.0).max(lowest)
    };
    sample("run", rig, STRIDE, |t| {
        let phase = (t / STRIDE).rem_euclid(1.0);
        puppet.pose(&run_figure(phase, smooth(phase)))
    })
}

/// The runner at a phase of the stride; the left foot strikes at 0, the right at 0.5.
fn run_figure(phase: f32, height: f32) -> Figure {
    let leg = |phase: f32| {
        Stand::Angles(Leg {
            hip: cyclic(&RUN_HIP, phase),
            abduct: 1.5,
            knee: cyclic(&RUN_KNEE, phase),
            ankle: cyclic(&RUN_ANKLE, phase),
            toes: cyclic(&RUN_TOES, phase),
        })
    };
    // The arm follows the opposite leg; +1 when the left leg is in front.
    let swing = (TAU * (phase + 0.14)).cos();
    let arm = |swing: f32| Arm {
        flex: -2.0 + 38.0 * swing,
        // Across the body in front, clear of the hip behind.
        abduct: 15.0 + 3.0 * swing * swing,
        turn: -10.0 - 20.0 * swing,
        elbow: 92.0 + 10.0 * swing,
        supinate: 12.0,
        grip: 0.45,
        ..Arm::default()
    };
    Figure {
        hips: Vec3::new(0.008 * (TAU * (phase - 0.1)).cos(), height, 0.0),
        pelvis: Turn { flex: 7.0, twist: -6.0 * swing, side: -3.0 * (TAU * (phase - 0.12)).cos() },
        trunk: Turn { flex: 4.0, twist: 14.0 * swing, side: 3.0 * (TAU * (phase - 0.12)).cos() },
        head: Turn { flex: -9.0, twist: -8.0 * swing, side: 0.0 },
        arms: [arm(-swing), arm(swing)],
        legs: [leg(phase), leg(phase + 0.5)],
    }
}

/// A jump from standing, with a swing of the arms.
pub fn jump(rig: &Rig) -> Clip {
    let puppet = Puppet::new(rig);
    const TAKE_OFF: f32 = 0.80;
    const RISE: f32 = 0.30;
    let flight = 2.0 * (2.0 * RISE / 9.81f32).sqrt();
    let landing = TAKE_OFF + flight;
    let end = 2.2;
    let moment = move |puppet: &Puppet, t: f32| {
        let s = (t - TAKE_OFF) / flight;
        let airborne = if (0.0..=1.0).contains(&s) { 4.0 * s * (1.0 - s) * RISE } else { 0.0 };
        // The ankle rises by this much when the foot points down.
        let crouch = eased(
            &[
                (0.0, 0.0),
                (0.48, -0.36),
                (0.56, -0.36),
                (TAKE_OFF, 0.072),
                (landing, 0.030),
                (landing + 0.22, -0.26),
                (end - 0.05, 0.0),
            ],
            t,
        );
        let back = eased(
            &[
                (0.0, 0.0),
                (0.50, -0.15),
                (TAKE_OFF, 0.02),
                (landing, 0.0),
                (landing + 0.22, -0.13),
                (end - 0.05, 0.0),
            ],
            t,
        );
        let heel = eased(&[(0.50, 0.0), (TAKE_OFF, 48.0), (landing - 0.10, 34.0), (landing + 0.06, 0.0)], t);
        let tuck = eased(&[(TAKE_OFF, 0.0), (TAKE_OFF + 0.5 * flight, 0.09), (landing, 0.0)], t);
        let lean = eased(
            &[
                (0.0, 0.0),
                (0.50, 42.0),
                (TAKE_OFF, 2.0),
                (landing, 8.0),
                (landing + 0.22, 30.0),
                (end - 0.05, 0.0),
            ],
            t,
        );
        let swing = eased(
            &[
                (0.0, 4.0),
                (0.42, -50.0),
                (TAKE_OFF, 150.0),
                (TAKE_OFF + 0.6 * flight, 140.0),
                (landing + 0.10, 40.0),
                (landing + 0.40, 12.0),
                (end - 0.05, 4.0),
            ],
            t,
        );
        let elbow = eased(
            &[
                (0.0, 14.0),
                (0.42, 24.0),
                (0.62, 60.0),
                (TAKE_OFF, 22.0),
                (landing + 0.15, 45.0),
                (end - 0.05, 14.0),
            ],
            t,
        );
        let arm = Arm { flex: swing, abduct: 12.0, elbow, grip: 0.15, ..Arm::default() };
        let plant = Plant { ankle: Vec3::new(0.0, airborne + tuck, -0.5 * tuck), heel, knee_out: 8.0 };
        puppet.pose(&Figure {
            hips: Vec3::new(0.0, crouch + airborne, back),
            pelvis: Turn { flex: 0.45 * lean, ..Turn::default() },
            trunk: Turn { flex: 0.55 * lean, ..Turn::default() },
            head: Turn { flex: -0.55 * lean, ..Turn::default() },
            arms: [arm; 2],
            legs: [Stand::Planted(plant); 2],
        })
    };
    sample("jump", rig, end, |t| moment(&puppet, t))
}

/// A deep squat with the arms held out in front: hip 115, knee 130, ankle 30 degrees at the bottom.
pub fn squat(rig: &Rig) -> Clip {
    let puppet = Puppet::new(rig);
    sample("squat", rig, 2.8, |t| {
        let depth = eased(&[(0.05, 0.0), (1.25, 1.0), (1.55, 1.0), (2.75, 0.0)], t);
        squat_moment(&puppet, depth)
    })
}

fn squat_moment(puppet: &Puppet, depth: f32) -> Moment {
    let reach = eased(&[(0.0, 0.0), (0.5, 1.0), (1.0, 1.0)], depth);
    let arm = Arm {
        flex: 4.0 + 80.0 * reach,
        abduct: 9.0 - 3.0 * reach,
        elbow: 14.0 - 6.0 * reach,
        ..Arm::default()
    };
    let plant = Plant { knee_out: 14.0 * depth, ..Plant::default() };
    puppet.pose(&Figure {
        hips: Vec3::new(0.0, -0.530 * depth, -0.205 * eased(&[(0.0, 0.0), (0.55, 0.72), (1.0, 1.0)], depth)),
        pelvis: Turn { flex: 22.0 * depth, ..Turn::default() },
        trunk: Turn { flex: 22.0 * depth, ..Turn::default() },
        head: Turn { flex: -32.0 * depth, ..Turn::default() },
        arms: [arm; 2],
        legs: [Stand::Planted(plant); 2],
    })
}

/// Curls of both arms: elbow from 5 to 145 degrees, palms up, fists closed.
pub fn curl(rig: &Rig) -> Clip {
    let puppet = Puppet::new(rig);
    sample("curl", rig, 2.4, |t| {
        let lift = eased(&[(0.05, 0.0), (1.05, 1.0), (1.25, 1.0), (2.35, 0.0)], t);
        let effort = (lift * (1.0 - lift) * 4.0).min(1.0);
        let arm = Arm {
            flex: 2.0 + 14.0 * lift,
            abduct: 8.0,
            turn: 6.0,
            elbow: 5.0 + 140.0 * lift,
            supinate: 80.0,
            wrist: 10.0 * lift,
            shrug: 2.0 * lift,
            grip: 0.95,
        };
        puppet.pose(&Figure {
            hips: Vec3::new(0.0, -0.004, -0.006 * effort),
            trunk: Turn { flex: -3.0 * effort, ..Turn::default() },
            head: Turn { flex: 2.0 * effort, ..Turn::default() },
            arms: [arm; 2],
            ..Figure::default()
        })
    })
}

/// The right arm goes up, waves three times and comes down.
pub fn wave(rig: &Rig) -> Clip {
    let puppet = Puppet::new(rig);
    let end = 3.2;
    sample("wave", rig, end, |t| {
        let up = eased(&[(0.05, 0.0), (0.75, 1.0), (2.45, 1.0), (end - 0.05, 0.0)], t);
        let beat =
            (TAU * (t - 0.65) / 0.6).sin() * eased(&[(0.55, 0.0), (0.85, 1.0), (2.25, 1.0), (2.5, 0.0)], t);
        let hanging = Figure::default().arms[0];
        let mix = |a: f32, b: f32| a + (b - a) * up;
        let waving = Arm {
            flex: mix(hanging.flex, 18.0),
            abduct: mix(hanging.abduct, 82.0),
            turn: mix(0.0, 78.0) + 24.0 * beat,
            elbow: mix(hanging.elbow, 98.0) - 12.0 * beat,
            supinate: mix(0.0, -20.0),
            wrist: 8.0 * beat,
            ..hanging
        };
        puppet.pose(&Figure {
            hips: Vec3::new(0.018 * up, -0.004 * up, 0.0),
            pelvis: Turn { side: 1.5 * up, ..Turn::default() },
            trunk: Turn { side: 4.0 * up, twist: -4.0 * up, flex: 0.0 },
            head: Turn { side: -5.0 * up, twist: -8.0 * up, flex: -2.0 * up },
            arms: [hanging, waving],
            ..Figure::default()
        })
    })
}

/// The trunk turns left and right over standing feet, elbows out at chest height.
pub fn twist(rig: &Rig) -> Clip {
    let puppet = Puppet::new(rig);
    let end = 2.4;
    sample("twist", rig, end, |t| {
        let swing = (TAU * t / end).sin();
        let arm = Arm {
            flex: 20.0,
            abduct: 76.0,
            turn: -18.0,
            elbow: 118.0,
            supinate: -40.0,
            grip: 0.3,
            ..Arm::default()
        };
        let plant = Plant { knee_out: 4.0, ..Plant::default() };
        puppet.pose(&Figure {
            hips: Vec3::new(0.012 * swing, -0.022, -0.012),
            pelvis: Turn { flex: 3.0, twist: 14.0 * swing, side: 0.0 },
            trunk: Turn { flex: 3.0, twist: 44.0 * swing, side: 0.0 },
            head: Turn { flex: -3.0, twist: 16.0 * swing, side: 0.0 },
            arms: [arm; 2],
            legs: [Stand::Planted(plant); 2],
        })
    })
}
