//! Where skin crosses in the clip that is looked at: found in the background, frame after frame, as a bake has it.
//!
//! The judge works while nothing moves; while something does it takes a frame now and then.

use crate::bodies::Bodies;
use crate::message::Look;
use crate::wire::wire;
use ecorche::deform::{Playback, Workspace};
use ecorche::measure::{FrameInput, Judge as Measure};
use ecorche::sampling::{Plan, Sampling};
use ecorche::skinning::Surface;
use ecorche::surface::smooth;
use serde::Serialize;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How long after the last frame of a page the judge goes on.
const QUIET: Duration = Duration::from_millis(400);

/// How long it waits at most for that.
const PATIENCE: Duration = Duration::from_millis(1500);

/// Time between two looks at whether a body is bound.
const POLL: Duration = Duration::from_millis(100);

wire! {
    /// What is judged.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct JudgeOrder {
        /// The method.
        pub look: Look,
        /// The clip, by name.
        pub clip: String,
        /// Corrective smoothing over the method.
        pub smooth: Option<smooth::Settings>,
    }
}

wire! {
    /// What was found so far.
    #[derive(Clone, Debug, Default, PartialEq, Serialize)]
    pub struct Verdict {
        /// Grows with every change, so that a page gets each once.
        pub step: u64,
        /// What it is of.
        pub order: Option<JudgeOrder>,
        /// The document's revision it is of.
        pub revision: u64,
        /// Frames of the clip.
        pub frames: usize,
        /// Pairs of triangles that cross and did not at rest, of the frames from the first on.
        pub crossings: Vec<usize>,
        /// The deepest place in each, millimetres.
        pub depths: Vec<f32>,
        /// Why it stopped before the last frame.
        pub problem: Option<String>,
    }
}

#[derive(Default)]
struct Shared {
    wanted: Option<JudgeOrder>,
    revision: u64,
    verdict: Verdict,
    last_frame: Option<Instant>,
    closed: bool,
}

/// The judge of a studio.
#[derive(Default)]
pub struct Judge {
    shared: Mutex<Shared>,
    changed: Condvar,
    step: AtomicU64,
}

impl Judge {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Judges this from now on; `None` stops it.
    pub fn want(&self, order: Option<JudgeOrder>) {
        let mut shared = self.shared();
        if shared.wanted != order {
            shared.wanted = order;
            self.changed.notify_all();
        }
    }

    /// The anatomy has changed: what was found is out of date, whatever it was.
    pub fn renew(&self, revision: u64) {
        self.shared().revision = revision;
        self.changed.notify_all();
    }

    /// A page draws: the judge gives way.
    pub fn give_way(&self) {
        self.shared().last_frame = Some(Instant::now());
    }

    /// What was found so far.
    pub fn verdict(&self) -> Verdict {
        self.shared().verdict.clone()
    }

    /// The number of the last change, to see cheaply whether there is one.
    pub fn step(&self) -> u64 {
        self.step.load(Ordering::Relaxed)
    }

    /// Ends [`Judge::work`].
    pub fn close(&self) {
        self.shared().closed = true;
        self.changed.notify_all();
    }

    /// Judges until the studio is closed; `notify` is called whenever something was found.
    pub fn work(&self, bodies: &Bodies, notify: impl Fn()) {
        while let Some((order, revision)) = self.next() {
            self.update(|verdict| {
                *verdict = Verdict {
                    step: verdict.step,
                    order: Some(order.clone()),
                    revision,
                    ..Verdict::default()
                };
            });
            if let Err(problem) = self.judge(bodies, &order, revision, &notify) {
                self.update(|verdict| verdict.problem = Some(problem));
            }
            notify();
        }
    }

    fn update(&self, change: impl FnOnce(&mut Verdict)) {
        let mut shared = self.shared();
        change(&mut shared.verdict);
        shared.verdict.step += 1;
        self.step.store(shared.verdict.step, Ordering::Relaxed);
    }

    /// Waits for something to judge that was not judged yet; `None` when closed.
    fn next(&self) -> Option<(JudgeOrder, u64)> {
        let mut shared = self.shared();
        loop {
            if shared.closed {
                return None;
            }
            if let Some(order) = &shared.wanted {
                let Verdict { order: of, revision, frames, crossings, problem, .. } = &shared.verdict;
                let current = of.as_ref() == Some(order) && *revision == shared.revision;
                let done = problem.is_some() || (*frames > 0 && crossings.len() == *frames);
                if !(current && done) {
                    return Some((order.clone(), shared.revision));
                }
            }
            shared = self.changed.wait(shared).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Whether the order still stands.
    fn stands(&self, order: &JudgeOrder, revision: u64) -> bool {
        let shared = self.shared();
        !shared.closed && shared.wanted.as_ref() == Some(order) && shared.revision == revision
    }

    /// Waits until no page draws, or long enough; false if the order no longer stands.
    fn wait_for_quiet(&self, order: &JudgeOrder, revision: u64) -> bool {
        let began = Instant::now();
        while self.stands(order, revision) {
            let since = self.shared().last_frame.map(|at| at.elapsed());
            if since.is_none_or(|since| since > QUIET) || began.elapsed() > PATIENCE {
                return true;
            }
            std::thread::sleep(POLL);
        }
        false
    }

    fn judge(
        &self,
        bodies: &Bodies,
        order: &JudgeOrder,
        revision: u64,
        notify: &impl Fn(),
    ) -> Result<(), String> {
        let words = |error: &dyn std::error::Error| error.to_string();
        let clip = bodies.ingredients().clip(&order.clip).map_err(|e| words(&e))?;
        let body = loop {
            if !self.stands(order, revision) {
                return Ok(());
            }
            let ready = bodies.get(order.look);
            match ready.body {
                Some(body) if ready.fresh => break body,
                _ if ready.fresh => return Err(ready.problem.unwrap_or_default()),
                _ => std::thread::sleep(POLL),
            }
        };
        let body = body.with_layers(crate::engine::layers(&body, order.smooth)).map_err(|e| words(&e))?;
        let character = body.character().clone();
        let surface = Surface::new(&character).ok_or("no mesh has a skin")?;
        let measure = Measure::of(&surface).map_err(|e| words(&e))?;
        let plan = Plan::new(Some(clip), &Sampling::default()).map_err(|e| words(&e))?;
        self.update(|verdict| verdict.frames = plan.len());
        let mut playback = Playback::new(&body, &plan);
        let mut workspace = Workspace::default();
        let mut judged = measure.clip();
        for number in 0..plan.len() {
            if !self.wait_for_quiet(order, revision) {
                return Ok(());
            }
            let frame = playback.frame(number, &mut workspace);
            let figures = judged
                .add(&FrameInput {
                    posed_from_rest: &surface.posed_from_rest(&character, playback.pose()),
                    ..FrameInput::new(number, &surface.positions(&frame))
                })
                .map_err(|e| words(&e))?;
            let (crossings, depth) = (figures.pairs + figures.pairs_across, 1e3 * figures.depth as f32);
            self.update(|verdict| {
                verdict.crossings.push(crossings);
                verdict.depths.push(depth);
            });
            notify();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecorche::recipe::Recipe;

    #[test]
    fn frames_are_judged_one_by_one_and_again_for_another_method() {
        let bodies = Bodies::new(Recipe::of("sample:arm?resolution=2000").read().unwrap(), None);
        let judge = Judge::default();
        let order = |look| JudgeOrder { look, clip: "curl".to_owned(), smooth: None };
        std::thread::scope(|scope| {
            scope.spawn(|| bodies.work(|| ()));
            scope.spawn(|| judge.work(&bodies, || ()));
            let verdict = |look| {
                judge.want(Some(order(look)));
                loop {
                    let verdict = judge.verdict();
                    let of = verdict.order.as_ref().is_some_and(|order| order.look == look);
                    if of && verdict.frames > 0 && verdict.crossings.len() == verdict.frames {
                        return verdict;
                    }
                    assert_eq!(verdict.problem, None);
                    std::thread::yield_now();
                }
            };
            let plain = verdict(Look::Dqs);
            let most = plain.crossings.iter().max().copied().unwrap();
            assert!(plain.crossings[0] == 0 && most > 20, "a closed elbow crosses: {:?}", plain.crossings);
            let better = verdict(Look::Implicit);
            let left = better.crossings.iter().max().copied().unwrap();
            assert!(left * 10 < most, "{:?}", better.crossings);
            assert!(better.step > plain.step);
            judge.want(Some(JudgeOrder { clip: "fly".to_owned(), ..order(Look::Dqs) }));
            let told = loop {
                if let Some(problem) = judge.verdict().problem {
                    break problem;
                }
                std::thread::yield_now();
            };
            assert!(told.contains("fly"), "{told}");
            judge.close();
            bodies.close();
        });
    }
}
