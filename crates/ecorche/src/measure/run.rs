//! A clip under one stack or several, from first frame to figures.

use super::{Bellies, ClipFigures, FrameInput, Judge, JudgeError, Pierce, Reference, bones_outside, pierce};
use crate::deform::{Body, Playback, Stack, Workspace};
use crate::frame::Frame;
use crate::geom::TriMesh;
use crate::sampling::Plan;
use crate::skinning::Surface;
use std::ops::ControlFlow;
use std::time::Instant;

/// Deforms every frame of `plan` and judges it; `progress` gets the number of finished frames and may stop. `surface` is that of the
/// body's character.
///
/// The milliseconds are those of the deformation alone, as this machine took them now. The skin is compared with the skinning
/// that its stack starts from: dual quaternions for a stack without tracking.
pub fn judge_clip(
    judge: &Judge,
    surface: &Surface,
    body: &Body,
    plan: &Plan,
    progress: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<ClipFigures, JudgeError> {
    let judged = judge_clips(judge, surface, std::slice::from_ref(body), plan, None, progress)?;
    Ok(judged.into_iter().next().unwrap_or_default())
}

/// As [`judge_clip`], for several bodies of one character, which share the work on what they start from; with a reference also the
/// distance to it. The figures are in the order of the bodies.
pub fn judge_clips(
    judge: &Judge,
    surface: &Surface,
    bodies: &[Body],
    plan: &Plan,
    reference: Option<&Reference>,
    mut progress: impl FnMut(usize) -> ControlFlow<()>,
) -> Result<Vec<ClipFigures>, JudgeError> {
    // Each start once, with the bodies that have it.
    let mut starts: Vec<(Body, Vec<usize>)> = Vec::new();
    let mut without = Vec::new();
    for (b, body) in bodies.iter().enumerate() {
        let stack = start_of(body.stack());
        match starts.iter_mut().find(|(start, _)| *start.stack() == stack) {
            Some((_, list)) => list.push(b),
            None => match Body::bind(body.character().clone(), stack, None) {
                Ok(start) => starts.push((start, vec![b])),
                Err(_) => without.push(b),
            },
        }
    }
    let mut clips: Vec<_> = bodies.iter().map(|_| judge.clip()).collect();
    let mut playbacks: Vec<_> =
        bodies.iter().map(|body| (Playback::new(body, plan), Workspace::default())).collect();
    let muscles = |body: &Body| -> Vec<String> {
        let definition = body.musculature().map(|m| m.definition());
        definition.map_or(Vec::new(), |d| d.muscle.iter().map(|m| m.title()).collect())
    };
    let names: Vec<Vec<String>> = bodies.iter().map(muscles).collect();
    let bellies: Vec<Option<Bellies>> =
        bodies.iter().map(|body| Some(Bellies::new(body.musculature()?, &surface.mesh))).collect();
    let pieces = bodies.iter().find_map(|body| body.parts()).map(|parts| &*parts.pieces);
    let (mut plain_workspace, mut frame) = (Workspace::default(), Frame::default());
    for number in plan.frames.clone() {
        let mut judge_one = |b: usize, start: Option<(&Body, &mut Option<_>)>| {
            let (playback, workspace) = &mut playbacks[b];
            let started = Instant::now();
            playback.frame_into(number, workspace, &mut frame);
            let milliseconds = started.elapsed().as_secs_f64() * 1e3;
            let pose = playback.pose();
            let posed_from_rest = surface.posed_from_rest(bodies[b].character(), pose);
            let start = match start {
                None => None,
                Some((_, known @ Some(_))) => known.as_ref(),
                Some((body, unknown)) => {
                    let plain = body.deform(pose, plan.time(number), &mut plain_workspace);
                    let positions = surface.positions(&plain);
                    let start = judge.start_frame(&positions, &posed_from_rest)?;
                    Some(&*unknown.insert((positions, start)))
                }
            };
            let tracks = bodies[b].stack().tracking.is_some();
            let in_contact: Vec<bool> =
                frame.found.reports.iter().map(|report| report.contact > 0.0).collect();
            let plain = start.filter(|_| tracks).map(|(positions, _)| positions.as_slice());
            let positions = surface.positions(&frame);
            let triangles = &surface.mesh.triangles;
            let musculature = bodies[b].musculature();
            let pierced = musculature.map(|musculature| {
                let flesh = &frame.found.flesh;
                let worst = bones_outside(musculature, flesh, &positions, triangles);
                Pierce {
                    bones: worst.map_or(0.0, |w| w.1),
                    bone: worst.map(|w| bodies[b].character().skeleton.joints[w.0].name.clone()),
                    ..pierce(flesh, &positions, triangles)
                }
            });
            let shown = bellies[b].as_ref().zip(plain).map(|(bellies, plain)| {
                let start = TriMesh { positions: plain.to_vec(), triangles: triangles.clone() };
                let is_free = |v: usize| !in_contact.get(v).is_some_and(|&held| held);
                bellies.shown(&frame.found.free_flesh, &start, &positions, is_free)
            });
            clips[b].add(&FrameInput {
                posed_from_rest: &posed_from_rest,
                reference: plain,
                in_contact: plain.is_some().then_some(in_contact.as_slice()),
                start: start.map(|(_, start)| start),
                against: reference.and_then(|r| r.frame(number)),
                milliseconds,
                muscles: frame.report.muscles,
                shown: shown.as_ref(),
                muscle_names: &names[b],
                pierce: pierced.as_ref(),
                pieces,
                ..FrameInput::new(number, &positions)
            })?;
            Ok::<(), JudgeError>(())
        };
        for (start, list) in &starts {
            let mut known = None;
            for &b in list {
                judge_one(b, Some((start, &mut known)))?;
            }
        }
        for &b in &without {
            judge_one(b, None)?;
        }
        if progress(number + 1 - plan.frames.start()).is_break() {
            return Err(JudgeError::Stopped);
        }
    }
    Ok(clips.into_iter().map(|clip| clip.finish()).collect())
}

/// The skinning that a stack is compared with: its own where tracking starts from it, else dual quaternions.
fn start_of(stack: &Stack) -> Stack {
    let plain = Stack::dual_quaternion();
    if stack.tracking.is_some() { Stack { skinning: stack.skinning, ..plain } } else { plain }
}
