//! A clip under one method, from first frame to figures.

use super::{ClipFigures, FrameInput, Judge, JudgeError};
use crate::character::Pose;
use crate::deform::{Body, Workspace};
use crate::sampling::Plan;
use crate::skinning::Surface;
use std::time::Instant;

/// Deforms every frame of `plan` and judges it; `progress` hears of every finished frame.
///
/// The milliseconds are those of the deformation alone, as this machine took them now.
pub fn judge_clip(
    judge: &Judge,
    surface: &Surface,
    body: &Body,
    plan: &Plan,
    mut progress: impl FnMut(usize),
) -> Result<ClipFigures, JudgeError> {
    let mut clip = judge.clip();
    let mut pose = Pose::rest(body.character());
    let mut workspace = Workspace::default();
    for frame_number in plan.frames.clone() {
        plan.sample(frame_number, &mut pose);
        let started = Instant::now();
        let frame = body.deform(&pose, plan.time(frame_number), &mut workspace);
        let milliseconds = started.elapsed().as_secs_f64() * 1e3;
        clip.add(&FrameInput {
            posed_from_rest: &surface.posed_from_rest(body.character(), &pose),
            milliseconds,
            ..FrameInput::new(frame_number, &surface.positions(&frame))
        })?;
        progress(frame_number + 1 - plan.frames.start());
    }
    Ok(clip.finish())
}
