//! A clip under one stack, from first frame to figures.

use super::{ClipFigures, FrameInput, Judge, JudgeError};
use crate::deform::{Body, Playback, Stack, Workspace};
use crate::frame::Frame;
use crate::sampling::Plan;
use crate::skinning::Surface;
use std::time::Instant;

/// Deforms every frame of `plan` and judges it; `progress` gets the number of finished frames. `surface` is that of the
/// body's character.
///
/// The milliseconds are those of the deformation alone, as this machine took them now. Vertices of a stack with
/// tracking that are not in contact are compared with where dual quaternions take them.
pub fn judge_clip(
    judge: &Judge,
    surface: &Surface,
    body: &Body,
    plan: &Plan,
    mut progress: impl FnMut(usize),
) -> Result<ClipFigures, JudgeError> {
    let mut clip = judge.clip();
    let (mut playback, mut workspace) = (Playback::new(body, plan), Workspace::default());
    let plain = body
        .stack()
        .tracking
        .and_then(|_| Body::bind(body.character().clone(), Stack::dual_quaternion(), None).ok());
    let (mut plain_workspace, mut frame) = (Workspace::default(), Frame::default());
    for frame_number in plan.frames.clone() {
        let time = plan.time(frame_number);
        let started = Instant::now();
        playback.frame_into(frame_number, &mut workspace, &mut frame);
        let milliseconds = started.elapsed().as_secs_f64() * 1e3;
        let pose = playback.pose();
        let reference =
            plain.as_ref().map(|plain| surface.positions(&plain.deform(pose, time, &mut plain_workspace)));
        let in_contact: Vec<bool> = frame.found.reports.iter().map(|report| report.contact > 0.0).collect();
        clip.add(&FrameInput {
            posed_from_rest: &surface.posed_from_rest(body.character(), pose),
            reference: reference.as_deref(),
            in_contact: reference.is_some().then_some(in_contact.as_slice()),
            milliseconds,
            muscles: frame.report.muscles,
            ..FrameInput::new(frame_number, &surface.positions(&frame))
        })?;
        progress(frame_number + 1 - plan.frames.start());
    }
    Ok(clip.finish())
}
