//! A clip played against the clock.

use crate::character::{Clip, Pose};
use crate::deform::{Body, State, Workspace};
use crate::frame::{Frame, TrackingReport};
use std::time::Instant;

/// How long is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Length {
    /// Most frames, consecutive, from the middle of the clip.
    pub frames: usize,
    /// The clip is played this often; of every frame the shortest counts, since another process can only add.
    pub passes: usize,
}

/// What came of it. Milliseconds.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Played {
    pub frames: usize,
    /// Of the frames.
    pub median: f64,
    /// Of the frames.
    pub worst: f64,
    /// Median of every stage that tells its time, in order.
    pub stages: Vec<(&'static str, f64)>,
    /// Means over the frames.
    pub tracked: Option<Tracked>,
}

/// Means over frames of what tracking did.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Tracked {
    pub vertices: f64,
    /// Field samples, of the whole frame.
    pub evaluations: f64,
    /// Vertices that took part.
    pub awake: f64,
    /// Vertices in contact.
    pub contacts: f64,
    /// Pairs of triangles that crossed and were taken apart.
    pub untangled: f64,
}

/// The middle one; of an even number the mean of the two in the middle. Zero of nothing.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n => 0.5 * (values[(n - 1) / 2] + values[n / 2]),
    }
}

/// Numbers of the frames that are measured.
pub(super) fn window(clip: &Clip, length: &Length) -> (f32, std::ops::Range<usize>) {
    let fps = clip.fps.unwrap_or(crate::sampling::DEFAULT_FPS);
    let count = clip.frame_count(fps);
    let frames = length.frames.min(count);
    let first = (count - frames) / 2;
    (fps, first..first + frames)
}

/// Plays a clip: every frame for itself, or each from the one before.
pub(super) fn play(body: &Body, clip: &Clip, coherent: bool, length: &Length) -> Played {
    let (fps, frames) = window(clip, length);
    let count = frames.len();
    let mut pose = Pose::rest(body.character());
    let (mut workspace, mut frame) = (Workspace::default(), Frame::default());
    let mut best = vec![f64::MAX; count];
    let mut stages: Vec<Vec<(&'static str, f64)>> = vec![Vec::new(); count];
    let mut reports: Vec<TrackingReport> = Vec::new();
    for pass in 0..length.passes.max(1) {
        let mut state = State::of_clip(&clip.name);
        let mut frame_at = |number: usize, workspace: &mut Workspace, frame: &mut Frame| {
            let time = clip.frame_time(number, fps);
            clip.sample(time, &mut pose);
            let start = Instant::now();
            body.deform_into(&pose, time, coherent.then_some(&mut state), workspace, frame);
            start.elapsed().as_secs_f64() * 1e3
        };
        // The frame before makes buffers as large as they will be, and leaves a state to go on from.
        frame_at(frames.start.saturating_sub(1), &mut workspace, &mut frame);
        for (i, number) in frames.clone().enumerate() {
            let milliseconds = frame_at(number, &mut workspace, &mut frame);
            if milliseconds < best[i] {
                best[i] = milliseconds;
                stages[i].clone_from(&frame.found.stages);
            }
            if pass == 0 {
                reports.extend(frame.report.tracking);
            }
            std::hint::black_box(&frame);
        }
    }
    let names: Vec<&'static str> = stages.first().map_or(Vec::new(), |s| s.iter().map(|s| s.0).collect());
    let of_stage = |k: usize| median(stages.iter().filter_map(|s| s.get(k)).map(|s| s.1).collect());
    Played {
        frames: count,
        worst: best.iter().copied().fold(0.0, f64::max),
        median: median(best),
        stages: names.iter().enumerate().map(|(k, name)| (*name, of_stage(k))).collect(),
        tracked: Tracked::mean(&reports),
    }
}

impl Tracked {
    fn mean(reports: &[TrackingReport]) -> Option<Self> {
        let mean = |f: fn(&TrackingReport) -> usize| {
            reports.iter().map(|r| f(r) as f64).sum::<f64>() / reports.len() as f64
        };
        (!reports.is_empty()).then(|| Self {
            vertices: mean(|r| r.vertices),
            evaluations: mean(|r| r.evaluations),
            awake: mean(|r| r.tracked),
            contacts: mean(|r| r.contacts),
            untangled: mean(|r| r.pairs[0]),
        })
    }
}

/// Least milliseconds of `runs` runs.
pub(super) fn least(runs: usize, mut work: impl FnMut()) -> f64 {
    let mut best = f64::MAX;
    for _ in 0..runs.max(1) {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64() * 1e3);
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deform::Stack;
    use std::sync::Arc;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(vec![3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), 2.5);
        assert_eq!(median(Vec::new()), 0.0);
    }

    #[test]
    fn a_clip_is_played_frame_by_frame_and_its_stages_fit_into_the_frame() {
        let cylinder = Arc::new(crate::samples::build("cylinder?segments=16&rings=20").unwrap());
        let body = Body::bind(cylinder.clone(), Stack::implicit(), None).unwrap();
        let clip = cylinder.clip("bend").unwrap();
        for coherent in [false, true] {
            let played = play(&body, clip, coherent, &Length { frames: 5, passes: 2 });
            assert_eq!(played.frames, 5);
            let stages: f64 = played.stages.iter().map(|s| s.1).sum();
            assert!(played.median > 0.0 && played.worst >= played.median && stages < 1.5 * played.worst);
            let tracked = played.tracked.unwrap();
            assert!(tracked.evaluations > 0.0 && tracked.awake <= tracked.vertices);
        }
    }
}
