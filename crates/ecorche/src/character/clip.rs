//! Animation: keyed channels and their sampling.

use super::Pose;
use glam::{Quat, Vec3};

/// How a channel goes from key to key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interpolation {
    /// Holds each value until the next key.
    Step,
    /// Straight lines; rotations along the shorter great arc.
    #[default]
    Linear,
    /// Hermite splines; each key has in-tangent, value, out-tangent, tangents per second.
    CubicSpline,
}

/// A value that can be keyed.
pub trait Keyed: Copy {
    /// The value a share `s` of the way from `a` to `b`.
    fn between(a: Self, b: Self, s: f32) -> Self;
    /// The Hermite spline from `a` to `b`, tangents per second, over `length` seconds.
    fn hermite(a: Self, out_of_a: Self, b: Self, into_b: Self, s: f32, length: f32) -> Self;
}

/// Cubic Hermite basis at `s`: weights of start, start tangent, end, end tangent.
fn hermite_basis(s: f32, length: f32) -> [f32; 4] {
    let (s2, s3) = (s * s, s * s * s);
    [2.0 * s3 - 3.0 * s2 + 1.0, (s3 - 2.0 * s2 + s) * length, -2.0 * s3 + 3.0 * s2, (s3 - s2) * length]
}

macro_rules! keyed_linear_space {
    ($($t:ty),*) => {$(
        impl Keyed for $t {
            fn between(a: Self, b: Self, s: f32) -> Self {
                a + (b - a) * s
            }
            fn hermite(a: Self, out_of_a: Self, b: Self, into_b: Self, s: f32, length: f32) -> Self {
                let [ha, ta, hb, tb] = hermite_basis(s, length);
                a * ha + out_of_a * ta + b * hb + into_b * tb
            }
        }
    )*};
}
keyed_linear_space!(f32, Vec3);

impl Keyed for Quat {
    fn between(a: Self, b: Self, s: f32) -> Self {
        a.slerp(b, s)
    }
    fn hermite(a: Self, out_of_a: Self, b: Self, into_b: Self, s: f32, length: f32) -> Self {
        let [ha, ta, hb, tb] = hermite_basis(s, length);
        let sum = a * ha + out_of_a * ta + b * hb + into_b * tb;
        if sum.length_squared() > 1e-12 { sum.normalize() } else { a }
    }
}

/// A keyed channel: at least one key, times strictly rising, values finite.
#[derive(Clone, Debug, PartialEq)]
pub struct Track<T> {
    /// Key times, seconds.
    pub times: Vec<f32>,
    /// One value per key, or three for cubic splines.
    pub values: Vec<T>,
    /// How to go from key to key.
    pub interpolation: Interpolation,
}

impl<T: Keyed> Track<T> {
    /// The value at `time`; before the first key the first value, after the last the last.
    pub fn sample(&self, time: f32) -> T {
        let next = self.times.partition_point(|&t| t <= time);
        let value = |key: usize| match self.interpolation {
            Interpolation::CubicSpline => self.values[3 * key + 1],
            _ => self.values[key],
        };
        if next == 0 {
            return value(0);
        }
        if next == self.times.len() {
            return value(next - 1);
        }
        let last = next - 1;
        let length = self.times[next] - self.times[last];
        let s = (time - self.times[last]) / length;
        match self.interpolation {
            Interpolation::Step => value(last),
            Interpolation::Linear => T::between(value(last), value(next), s),
            Interpolation::CubicSpline => {
                let (out_of_last, into_next) = (self.values[3 * last + 2], self.values[3 * next]);
                T::hermite(value(last), out_of_last, value(next), into_next, s, length)
            }
        }
    }
}

/// Animated channels of one joint; a missing one keeps the rest value.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointTrack {
    /// Skeleton joint.
    pub joint: usize,
    /// Metres, relative to the parent.
    pub translation: Option<Track<Vec3>>,
    /// Unit quaternions, relative to the parent.
    pub rotation: Option<Track<Quat>>,
    /// Axis-wise factors.
    pub scale: Option<Track<Vec3>>,
}

/// Animated weight of one morph.
#[derive(Clone, Debug, PartialEq)]
pub struct MorphTrack {
    /// Index into the character's meshes.
    pub mesh: usize,
    /// Index into that mesh's morphs.
    pub morph: usize,
    /// The weight; 1 = fully applied.
    pub weight: Track<f32>,
}

/// An animation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clip {
    /// The file's name, made unique within the character.
    pub name: String,
    /// First moment, seconds.
    pub start: f32,
    /// Last moment, seconds; not before `start`.
    pub end: f32,
    /// Frames per second the file states or its keys show; `None` when neither does.
    pub fps: Option<f32>,
    /// Joint channels, ascending by joint, each joint at most once.
    pub joint_tracks: Vec<JointTrack>,
    /// Morph channels.
    pub morph_tracks: Vec<MorphTrack>,
}

impl Clip {
    /// Seconds from first to last moment.
    pub fn length(&self) -> f32 {
        self.end - self.start
    }

    /// Number of frames at `fps`, first and last moment included.
    pub fn frame_count(&self, fps: f32) -> usize {
        // A clip of 0.9999 frames is one of 1 frame that went through single precision.
        (f64::from(self.length()) * f64::from(fps) + 1e-3).floor() as usize + 1
    }

    /// Moment of frame `frame` at `fps`, counted from 0 at the clip's start.
    pub fn frame_time(&self, frame: usize, fps: f32) -> f32 {
        (f64::from(self.start) + frame as f64 / f64::from(fps)) as f32
    }

    /// Overwrites the animated channels of `pose` with their values at `time`.
    pub fn sample(&self, time: f32, pose: &mut Pose) {
        for track in &self.joint_tracks {
            let Some(local) = pose.local.get_mut(track.joint) else { continue };
            if let Some(translation) = &track.translation {
                local.translation = translation.sample(time);
            }
            if let Some(rotation) = &track.rotation {
                local.rotation = rotation.sample(time).normalize();
            }
            if let Some(scale) = &track.scale {
                local.scale = scale.sample(time);
            }
        }
        for track in &self.morph_tracks {
            if let Some(weight) = pose.morph_weights.get_mut(track.mesh).and_then(|m| m.get_mut(track.morph))
            {
                *weight = track.weight.sample(time);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ramp(interpolation: Interpolation, values: Vec<f32>) -> Track<f32> {
        Track { times: vec![1.0, 3.0], values, interpolation }
    }

    #[test]
    fn values_hold_outside_the_keys() {
        let track = ramp(Interpolation::Linear, vec![10.0, 20.0]);
        assert_eq!([0.0, 1.0, 2.0, 3.0, 9.0].map(|t| track.sample(t)), [10.0, 10.0, 15.0, 20.0, 20.0]);
    }

    #[test]
    fn a_step_jumps_at_the_key() {
        let track = ramp(Interpolation::Step, vec![10.0, 20.0]);
        assert_eq!([2.999, 3.0].map(|t| track.sample(t)), [10.0, 20.0]);
    }

    #[test]
    fn a_spline_leaves_and_arrives_with_its_tangents() {
        // Tangents of 5 per second over 2 s are the straight line from 10 to 20.
        let straight = ramp(Interpolation::CubicSpline, vec![0.0, 10.0, 5.0, 5.0, 20.0, 0.0]);
        assert!((straight.sample(1.5) - 12.5).abs() < 1e-5);
        let eased = ramp(Interpolation::CubicSpline, vec![0.0, 10.0, 0.0, 0.0, 20.0, 0.0]);
        assert!(eased.sample(1.1) - 10.0 < 0.1);
    }

    #[test]
    fn frames_cover_both_ends() {
        let clip = Clip { start: 0.5, end: 1.5, ..Clip::default() };
        assert_eq!(clip.frame_count(30.0), 31);
        assert_eq!(clip.frame_time(30, 30.0), 1.5);
    }
}
