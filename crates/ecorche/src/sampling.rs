//! Which moments of a clip become frames.

use crate::character::{Clip, Pose};
use std::ops::RangeInclusive;

/// Frames per second when neither the user nor the clip gives a rate.
pub const DEFAULT_FPS: f32 = 30.0;

/// Most frames per second. A higher rate is probably a mistake.
const HIGHEST_FPS: f32 = 100_000.0;

/// Most frames of one bake. A clip's length or rate that gives more is probably a mistake.
const MOST_FRAMES: usize = 10_000_000;

/// Which moments of a clip are baked.
#[derive(Clone, Debug, Default)]
pub struct Sampling {
    /// Frames per second; `None` takes the clip's own rate.
    pub fps: Option<f32>,
    /// First and last frame, counted from 0 at the clip's start; `None` takes all.
    pub frames: Option<RangeInclusive<usize>>,
}

/// The frames of one clip, or of the rest pose.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    /// The clip; `None` is one frame of the rest pose.
    pub clip: Option<&'a Clip>,
    /// Frames per second.
    pub fps: f32,
    /// Frame numbers.
    pub frames: RangeInclusive<usize>,
}

/// Why a sampling does not fit a clip.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum PlanError {
    /// The rate is not a number above 0, or too high.
    #[error(
        "{0} frames per second is not a rate; give a number above 0 and at most {HIGHEST_FPS}, such as 24"
    )]
    BadRate(f32),
    /// Frames the clip does not have.
    #[error(
        "frames {first}-{last} are not in clip \"{clip}\", which has frames 0-{end} at {fps} fps; choose among those"
    )]
    NoSuchFrames {
        /// First frame asked for.
        first: usize,
        /// Last frame asked for.
        last: usize,
        /// The clip.
        clip: String,
        /// Its last frame.
        end: usize,
        /// At this rate.
        fps: f32,
    },
    /// More frames than any shot has; the rate or the clip's length is probably wrong.
    #[error(
        "clip \"{clip}\" would give {frames} frames at {fps} fps; choose a lower rate or a range of frames"
    )]
    TooMany {
        /// The clip.
        clip: String,
        /// How many.
        frames: usize,
        /// At this rate.
        fps: f32,
    },
}

impl<'a> Plan<'a> {
    /// The frames that `sampling` selects; an error if the clip does not have them.
    pub fn new(clip: Option<&'a Clip>, sampling: &Sampling) -> Result<Self, PlanError> {
        let fps = sampling.fps.or(clip.and_then(|c| c.fps)).unwrap_or(DEFAULT_FPS);
        if !(fps > 0.0 && fps <= HIGHEST_FPS) {
            return Err(PlanError::BadRate(fps));
        }
        let name = || clip.map_or_else(|| "rest pose".to_owned(), |c| c.name.clone());
        let end = clip.map_or(0, |c| c.frame_count(fps) - 1);
        let frames = match &sampling.frames {
            Some(wanted) if wanted.start() > wanted.end() || *wanted.end() > end => {
                return Err(PlanError::NoSuchFrames {
                    first: *wanted.start(),
                    last: *wanted.end(),
                    clip: name(),
                    end,
                    fps,
                });
            }
            Some(wanted) => wanted.clone(),
            None => 0..=end,
        };
        if frames.end() - frames.start() >= MOST_FRAMES {
            return Err(PlanError::TooMany { clip: name(), frames: end + 1, fps });
        }
        Ok(Self { clip, fps, frames })
    }

    /// How many frames.
    pub fn len(&self) -> usize {
        self.frames.end() - self.frames.start() + 1
    }

    /// Never: a plan has at least one frame.
    pub fn is_empty(&self) -> bool {
        false
    }

    /// Moment of `frame`, seconds.
    pub fn time(&self, frame: usize) -> f32 {
        self.clip.map_or(0.0, |c| c.frame_time(frame, self.fps))
    }

    /// Puts `pose` into the state of `frame`.
    pub fn sample(&self, frame: usize, pose: &mut Pose) {
        if let Some(clip) = self.clip {
            clip.sample(self.time(frame), pose);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_second() -> Clip {
        Clip { name: "walk".into(), start: 2.0, end: 3.0, fps: Some(24.0), ..Clip::default() }
    }

    #[test]
    fn a_plan_follows_the_clip_unless_told() {
        let clip = one_second();
        assert_eq!(Plan::new(Some(&clip), &Sampling::default()).unwrap().len(), 25);
        let half = Sampling { fps: Some(60.0), frames: Some(10..=20) };
        let plan = Plan::new(Some(&clip), &half).unwrap();
        assert_eq!(plan.len(), 11);
        assert!((plan.time(30) - 2.5).abs() < 1e-6);
    }

    #[test]
    fn frames_beyond_the_end_are_refused_by_name() {
        let clip = one_second();
        let error = Plan::new(Some(&clip), &Sampling { fps: None, frames: Some(20..=30) }).unwrap_err();
        assert!(error.to_string().contains("walk") && error.to_string().contains("0-24"), "{error}");
    }

    #[test]
    fn a_rate_is_a_number_that_a_bake_can_have() {
        let clip = one_second();
        for fps in [0.0, -24.0, 1e30, f32::INFINITY, f32::NAN] {
            for frames in [None, Some(0..=1)] {
                let error = Plan::new(Some(&clip), &Sampling { fps: Some(fps), frames }).unwrap_err();
                assert!(matches!(error, PlanError::BadRate(_)), "{error}");
                assert!(error.to_string().contains("at most 100000"), "{error}");
            }
        }
    }
}
