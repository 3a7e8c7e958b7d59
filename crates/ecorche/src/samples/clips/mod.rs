//! Animation made by code: curves, and clips sampled from poses.

pub(super) mod arm;
pub(super) mod athlete;
pub(super) mod hand;
pub(super) mod puppet;

use super::rig::{Bone, Rig};
use crate::character::{Clip, Interpolation, JointTrack, Track};
use glam::{Quat, Vec3};

/// Keys per second of all made clips.
pub const FPS: f32 = 30.0;

/// The local transforms of a moment: a turn for each bone, and how far the root of the body moved.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// Parent-from-joint rotation of every bone.
    pub rotation: Vec<Quat>,
    /// Parent-from-joint translation of bone 1, the root of the body.
    pub translation: Vec3,
}

impl Moment {
    /// From a turn for each bone relative to its parent, in the axes of the rest pose
    /// (`world_now = turns_of_parents * turn * world_at_rest`), and the displacement of bone 1.
    pub fn from_turns(rig: &Rig, turns: &[Quat], displacement: Vec3) -> Self {
        let local = |(bone, &turn): (&Bone, &Quat)| {
            let parent = bone.parent.map_or(Quat::IDENTITY, |p| rig.bones[p].turn);
            (parent.inverse() * turn * bone.turn).normalize()
        };
        let rotation = rig.bones.iter().zip(turns).map(local).collect();
        Self { rotation, translation: rig.rest(1).translation + displacement }
    }
}

/// Samples `moment(seconds)` at [`FPS`] over `length` seconds, both ends included. Bones that never leave
/// their rest turn get no track. A looping clip must return the same moment at both ends.
pub fn sample(name: &str, rig: &Rig, length: f32, moment: impl Fn(f32) -> Moment) -> Clip {
    let frames = (length * FPS).round() as usize;
    let times: Vec<f32> = (0..=frames).map(|f| f as f32 / FPS).collect();
    let moments: Vec<Moment> = times.iter().map(|&t| moment(t)).collect();
    let mut joint_tracks = Vec::new();
    for bone in 1..rig.bones.len() {
        let rest = rig.rest(bone);
        let mut turns: Vec<Quat> = moments.iter().map(|m| m.rotation[bone]).collect();
        // Neighbouring keys on the same side, so that blending takes the short way.
        for k in 1..turns.len() {
            if turns[k].dot(turns[k - 1]) < 0.0 {
                turns[k] = -turns[k];
            }
        }
        let turned = turns.iter().any(|q| q.angle_between(rest.rotation) > 1e-4);
        let rotation = turned.then(|| Track {
            times: times.clone(),
            values: turns,
            interpolation: Interpolation::Linear,
        });
        let moved = bone == 1 && moments.iter().any(|m| m.translation.distance(rest.translation) > 1e-6);
        let translation = moved.then(|| Track {
            times: times.clone(),
            values: moments.iter().map(|m| m.translation).collect(),
            interpolation: Interpolation::Linear,
        });
        if rotation.is_some() || translation.is_some() {
            joint_tracks.push(JointTrack { joint: bone, translation, rotation, scale: None });
        }
    }
    Clip {
        name: name.into(),
        start: 0.0,
        end: frames as f32 / FPS,
        fps: Some(FPS),
        joint_tracks,
        morph_tracks: Vec::new(),
    }
}

/// A smooth curve through `(time, value)` keys, level at both ends.
pub fn eased(keys: &[(f32, f32)], t: f32) -> f32 {
    let slope = |k: usize| {
        if k == 0 || k + 1 == keys.len() { 0.0 } else { tangent(keys[k - 1], keys[k], keys[k + 1]) }
    };
    let next = keys.partition_point(|k| k.0 <= t);
    if next == 0 {
        return keys[0].1;
    }
    if next == keys.len() {
        return keys[next - 1].1;
    }
    hermite(keys[next - 1], slope(next - 1), keys[next], slope(next), t)
}

/// A smooth curve through `(phase, value)` keys that repeats with period 1; phases rise within [0, 1).
pub fn cyclic(keys: &[(f32, f32)], phase: f32) -> f32 {
    let count = keys.len() as isize;
    let key = |k: isize| {
        let (p, v) = keys[k.rem_euclid(count) as usize];
        (p + k.div_euclid(count) as f32, v)
    };
    let phase = phase.rem_euclid(1.0);
    let next = keys.partition_point(|k| k.0 <= phase) as isize;
    let slope = |k: isize| tangent(key(k - 1), key(k), key(k + 1));
    hermite(key(next - 1), slope(next - 1), key(next), slope(next), phase)
}

/// Slope at a key: that of its neighbours, but level at a peak, so that no value overshoots its keys.
fn tangent(before: (f32, f32), at: (f32, f32), after: (f32, f32)) -> f32 {
    let (into, out) = ((at.1 - before.1) / (at.0 - before.0), (after.1 - at.1) / (after.0 - at.0));
    if into * out <= 0.0 { 0.0 } else { 2.0 * into * out / (into + out) }
}

fn hermite(a: (f32, f32), slope_a: f32, b: (f32, f32), slope_b: f32, t: f32) -> f32 {
    let span = b.0 - a.0;
    let s = (t - a.0) / span;
    let (s2, s3) = (s * s, s * s * s);
    a.1 * (2.0 * s3 - 3.0 * s2 + 1.0)
        + slope_a * span * (s3 - 2.0 * s2 + s)
        + b.1 * (3.0 * s2 - 2.0 * s3)
        + slope_b * span * (s3 - s2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_pass_through_their_keys_and_never_overshoot() {
        let keys = [(0.0, 5.0), (0.4, 145.0), (0.5, 145.0), (1.0, 5.0)];
        for (t, value) in keys {
            assert!((eased(&keys, t) - value).abs() < 1e-4);
        }
        for k in 0..=100 {
            let value = eased(&keys, k as f32 / 100.0);
            assert!((4.999..145.001).contains(&value));
        }
    }

    #[test]
    fn a_cycle_repeats_without_a_jump() {
        let keys = [(0.1, 3.0), (0.5, -2.0), (0.8, 1.0)];
        assert!((cyclic(&keys, 0.0) - cyclic(&keys, 1.0)).abs() < 1e-6);
        assert!((cyclic(&keys, 0.999) - cyclic(&keys, 0.001)).abs() < 0.05);
        assert!((cyclic(&keys, 1.5) + 2.0).abs() < 1e-5);
    }
}
