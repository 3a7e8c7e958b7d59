//! Keys for a transform that a file animates in parts (stacked rotations, single angles, whole
//! matrices) rather than as translation, rotation and scale.

use super::Interpolation;
use super::raw::{RawChannel, RawTrack};
use crate::math::Transform;
use glam::{DMat4, Mat4, Quat, Vec3};

/// Largest difference between the file's motion and straight keys: of a matrix entry relative to the
/// largest, and of a position relative to the largest translation. A fiftieth of a millimetre on a
/// hand at arm's length.
const TOLERANCE: f32 = 3e-5;
/// Halvings of the time between two of the file's keys: two angles that turn half around at once
/// need seven, and a jump, which no number of keys follows, costs no more than one key for each.
const MOST_HALVINGS: u32 = 8;

/// Tracks of `node` that follow `local_at` (parent-from-node at a moment in seconds) through
/// `times`, ascending; keys are added in between where straight interpolation would stray.
/// With `steps`, the file holds its values between its keys.
pub fn transform_tracks(
    node: usize,
    times: &[f64],
    steps: bool,
    local_at: impl Fn(f64) -> DMat4,
) -> Vec<RawTrack> {
    let sample = |time: f64| {
        let matrix = local_at(time).as_mat4();
        (matrix, Transform::from_matrix(matrix).0)
    };
    let mut keys: Vec<(f64, Transform)> = Vec::new();
    let reach = times.iter().map(|&t| local_at(t).w_axis.truncate().as_vec3().length()).fold(0.0, f32::max);
    for &time in times {
        let end = (time, sample(time).1);
        if let Some(&start) = keys.last().filter(|_| !steps) {
            // Halves still to look at, the earliest on top.
            let mut pending = vec![(start, end, 0)];
            while let Some((from, to, halvings)) = pending.pop() {
                let middle_time = 0.5 * (from.0 + to.0);
                let strays = [0.25, 0.5, 0.75].iter().any(|&s| {
                    let (truth, _) = sample(from.0 + (to.0 - from.0) * f64::from(s));
                    differ(truth, between(&from.1, &to.1, s).to_affine().into(), reach)
                });
                if strays && halvings < MOST_HALVINGS {
                    let middle = (middle_time, sample(middle_time).1);
                    pending.push((middle, to, halvings + 1));
                    pending.push((from, middle, halvings + 1));
                } else {
                    keys.push(to);
                }
            }
        } else {
            keys.push(end);
        }
    }
    let interpolation = if steps { Interpolation::Step } else { Interpolation::Linear };
    let translations = keys.iter().map(|k| k.1.translation).collect();
    let rotations = keys.iter().map(|k| k.1.rotation).collect();
    let scales = keys.iter().map(|k| k.1.scale).collect();
    let seconds: Vec<f32> = keys.iter().map(|k| k.0 as f32).collect();
    [
        RawChannel::Translation(node, translations),
        RawChannel::Rotation(node, rotations),
        RawChannel::Scale(node, scales),
    ]
    .into_iter()
    .filter(|_| !keys.is_empty())
    .map(|channel| {
        let mut track = RawTrack { times: seconds.clone(), interpolation, channel };
        shorten(&mut track);
        track
    })
    .collect()
}

/// A channel that never changes needs one key.
fn shorten(track: &mut RawTrack) {
    fn one<T: PartialEq>(values: &mut Vec<T>) -> bool {
        let still = values.windows(2).all(|pair| pair[0] == pair[1]);
        if still {
            values.truncate(1);
        }
        still
    }
    let still = match &mut track.channel {
        RawChannel::Translation(_, values) | RawChannel::Scale(_, values) => one(values),
        RawChannel::Rotation(_, values) => one(values),
        RawChannel::Morph(_, _, values) => one(values),
    };
    if still {
        track.times.truncate(1);
    }
}

/// The matrix a share `s` of the way from `a` to `b`, turning instead of taking the numbers one by
/// one, which would shrink what is between.
pub fn between_matrices(a: DMat4, b: DMat4, s: f64) -> DMat4 {
    let [a, b] = [a, b].map(|matrix| Transform::from_matrix(matrix.as_mat4()).0);
    Mat4::from(between(&a, &b, s as f32).to_affine()).as_dmat4()
}

fn between(a: &Transform, b: &Transform, s: f32) -> Transform {
    Transform {
        translation: Vec3::lerp(a.translation, b.translation, s),
        rotation: Quat::slerp(a.rotation, b.rotation, s),
        scale: Vec3::lerp(a.scale, b.scale, s),
    }
}

fn differ(truth: Mat4, straight: Mat4, reach: f32) -> bool {
    let difference = truth - straight;
    let size = truth.x_axis.length().max(truth.y_axis.length()).max(truth.z_axis.length());
    let linear = difference.x_axis.length().max(difference.y_axis.length()).max(difference.z_axis.length());
    linear > TOLERANCE * size || difference.w_axis.length() > TOLERANCE * reach
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::clip::Track;
    use glam::{DQuat, DVec3};
    use std::f64::consts::PI;

    /// Two angles that turn together: not a rotation about one axis.
    fn stacked(t: f64) -> DMat4 {
        DMat4::from_translation(DVec3::new(1.0, 2.0 * t, 0.0))
            * DMat4::from_quat(DQuat::from_rotation_z(t * PI) * DQuat::from_rotation_x(t * 0.8 * PI))
    }

    #[test]
    fn straight_keys_follow_stacked_angles() {
        let tracks = transform_tracks(7, &[0.0, 1.0], false, stacked);
        let [translation, rotation, _] = tracks.as_slice() else { panic!("three channels") };
        assert_eq!(translation.times.len(), rotation.times.len());
        let RawChannel::Rotation(7, values) = &rotation.channel else { panic!("rotation of node 7") };
        let track = Track {
            times: rotation.times.clone(),
            values: values.clone(),
            interpolation: Interpolation::Linear,
        };
        for i in 0..=1000 {
            let t = i as f32 / 1000.0;
            let truth = stacked(f64::from(t)).as_mat4();
            let read = Mat4::from_quat(track.sample(t));
            for axis in [Vec3::X, Vec3::Y, Vec3::Z] {
                assert!(
                    truth.transform_vector3(axis).distance(read.transform_vector3(axis)) < 1e-4,
                    "at {t}"
                );
            }
        }
    }

    #[test]
    fn plain_keys_stay_as_they_are() {
        let slide = |t: f64| DMat4::from_translation(DVec3::X * t);
        let tracks = transform_tracks(0, &[0.0, 0.5, 1.0], false, slide);
        assert_eq!(tracks.iter().map(|t| t.times.len()).collect::<Vec<_>>(), [3, 1, 1]);
        let held = transform_tracks(0, &[0.0, 1.0], true, stacked);
        assert_eq!((held[1].times.len(), held[1].interpolation), (2, Interpolation::Step));
    }
}
