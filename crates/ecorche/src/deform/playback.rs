//! Frames of a clip as in the whole animation.

use super::{Body, SavedState, State, Workspace};
use crate::character::Pose;
use crate::frame::{Frame, MuscleReport};
use crate::muscle::Flesh;
use crate::sampling::Plan;

/// Plays a clip. In any order of requests, each frame is the same as when the clip is played from its start:
/// the frames in between are played as well. Without muscles that swing, layers that remember
/// and [`Settings::coherent`](super::Settings) a frame depends on its pose alone.
#[derive(Clone, Debug)]
pub struct Playback<'a> {
    body: &'a Body,
    plan: &'a Plan<'a>,
    state: State,
    pose: Pose,
    /// The first frame that is not in the state.
    next: usize,
    /// Memory for the frames between.
    between: Frame,
}

impl<'a> Playback<'a> {
    /// Before the first frame of the plan's clip.
    pub fn new(body: &'a Body, plan: &'a Plan<'a>) -> Self {
        let state = plan.clip.map_or(State::default(), |clip| State::of_clip(&clip.name));
        Self { body, plan, state, pose: Pose::rest(body.character()), next: 0, between: Frame::default() }
    }

    /// Continues where another playback of the same body and clip left off.
    pub fn resume(body: &'a Body, plan: &'a Plan<'a>, saved: SavedState) -> Self {
        Self { state: saved.state, next: saved.next, ..Self::new(body, plan) }
    }

    /// The state after the frames so far; [`Playback::resume`] continues from it with the same bits.
    pub fn state(&self) -> SavedState {
        SavedState { state: self.state.clone(), next: self.next }
    }

    /// As [`Playback::state`], but consumes the playback: nothing is copied.
    pub fn into_state(self) -> SavedState {
        SavedState { state: self.state, next: self.next }
    }

    /// The frame of that number, counted from 0 at the clip's start.
    pub fn frame(&mut self, number: usize, workspace: &mut Workspace) -> Frame {
        let mut frame = Frame::default();
        self.frame_into(number, workspace, &mut frame);
        frame
    }

    /// As [`Playback::frame`], into a frame that exists, to reuse its memory.
    pub fn frame_into(&mut self, number: usize, workspace: &mut Workspace, frame: &mut Frame) {
        self.run_to(number, workspace);
        let time = self.plan.time(number);
        self.body.deform_into(&self.pose, time, Some(&mut self.state), workspace, frame);
    }

    /// Muscles alone, moved to that frame; `None` without any.
    pub fn advance(&mut self, number: usize, workspace: &mut Workspace) -> Option<(Flesh, MuscleReport)> {
        self.run_to(number, workspace);
        self.body.advance(&self.pose, self.plan.time(number), &mut self.state, workspace)
    }

    /// Plays what comes before the frame, and samples its pose.
    fn run_to(&mut self, number: usize, workspace: &mut Workspace) {
        self.play_to(number, workspace);
        self.plan.sample(number, &mut self.pose);
        self.next = number + 1;
    }

    /// Plays the earlier frames, as far as they matter, and stops before the frame: [`Playback::state`] is then what
    /// [`Playback::resume`] needs to begin with that frame.
    pub fn play_to(&mut self, number: usize, workspace: &mut Workspace) {
        let swings = self.body.has_muscles() && self.body.settings().muscles.remembers();
        let (coherent, remember) = (self.body.settings().coherent, self.body.layers_remember());
        if number < self.next {
            self.state.reset();
            self.next = 0;
        }
        let first = match (swings || remember, coherent) {
            (true, _) => self.next,
            (false, true) => self.next.max(*self.plan.frames.start()).min(number),
            (false, false) => number,
        };
        for between in first..number {
            self.plan.sample(between, &mut self.pose);
            let time = self.plan.time(between);
            if remember || (coherent && between >= *self.plan.frames.start()) {
                self.body.deform_into(&self.pose, time, Some(&mut self.state), workspace, &mut self.between);
            } else {
                self.body.advance(&self.pose, time, &mut self.state, workspace);
            }
        }
        self.next = number;
    }

    /// The pose of the last frame.
    pub fn pose(&self) -> &Pose {
        &self.pose
    }
}
