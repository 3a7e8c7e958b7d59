//! A bake asked for by a page: one at a time, with progress, to be cancelled.

use crate::bodies::Bodies;
use crate::message::BakeOrder;
use crate::wire::wire;
use ecorche::anatomy::Anatomy;
use ecorche::bake::{BakeError, bake};
use ecorche::output::{Format, obj};
use ecorche::sampling::{Plan, Sampling};
use ecorche::watch::Watch;
use serde::Serialize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

wire! {
    /// How far a bake is.
    #[derive(Clone, Debug, Default, PartialEq, Serialize)]
    pub struct BakeProgress {
        /// Grows with every change, so that a page gets each once.
        pub step: u64,
        /// Whether one runs.
        pub running: bool,
        /// Whether its body is still being bound; nothing is written then.
        pub preparing: bool,
        /// Frames written.
        pub done: usize,
        /// Of how many.
        pub frames: usize,
        /// The result in words; empty while it runs.
        pub outcome: String,
        /// Whether it failed or was stopped.
        pub failed: bool,
        /// Files written.
        pub files: Vec<String>,
    }
}

/// The bake of a studio.
#[derive(Debug, Default)]
pub struct Bake {
    progress: Mutex<BakeProgress>,
    /// Of the binding before the first frame.
    watch: Mutex<Arc<Watch>>,
    /// Number of the bake that runs or ran last. One that was given up goes on without it, and changes nothing.
    number: AtomicU64,
    stop: AtomicBool,
}

/// What is said of one that was cancelled.
const CANCELLED: &str = "cancelled; nothing was written";

impl Bake {
    fn lock(&self) -> MutexGuard<'_, BakeProgress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far it is.
    pub fn progress(&self) -> BakeProgress {
        self.lock().clone()
    }

    /// Changes the progress of bake `number`; false if it was given up.
    fn update(&self, number: u64, change: impl FnOnce(&mut BakeProgress)) -> bool {
        let mut progress = self.lock();
        if self.number.load(Ordering::Relaxed) != number {
            return false;
        }
        change(&mut progress);
        progress.step += 1;
        true
    }

    /// Claims the bake and returns its number; `None` while another runs.
    pub fn begin(&self) -> Option<u64> {
        let mut progress = self.lock();
        if progress.running {
            return None;
        }
        *progress = BakeProgress {
            step: progress.step + 1,
            running: true,
            preparing: true,
            ..BakeProgress::default()
        };
        self.stop.store(false, Ordering::Relaxed);
        *self.watch.lock().unwrap_or_else(PoisonError::into_inner) = Arc::default();
        Some(self.number.fetch_add(1, Ordering::Relaxed) + 1)
    }

    /// Asks it to stop. One that is still being prepared is given up at once: it would write nothing for a while, and then
    /// does not begin to.
    pub fn cancel(&self) {
        let mut progress = self.lock();
        self.stop.store(true, Ordering::Relaxed);
        if progress.preparing {
            self.watch.lock().unwrap_or_else(PoisonError::into_inner).stop();
            self.number.fetch_add(1, Ordering::Relaxed);
            let step = progress.step + 1;
            *progress =
                BakeProgress { step, outcome: CANCELLED.to_owned(), failed: true, ..BakeProgress::default() };
        }
    }

    /// Bakes to the end; `number` is what [`Bake::begin`] returned, `notify` is called whenever there is progress.
    pub fn run(
        &self,
        number: u64,
        order: &BakeOrder,
        bodies: &Bodies,
        anatomy: Anatomy,
        folder: PathBuf,
        notify: impl Fn(),
    ) {
        let result = self.write(number, order, bodies, anatomy, folder, &notify);
        self.update(number, |progress| {
            progress.running = false;
            progress.preparing = false;
            match result {
                Ok(files) => {
                    progress.outcome = format!("{} frames written to {}", progress.done, order.path);
                    progress.files = files;
                }
                Err(reason) => {
                    progress.outcome = reason;
                    progress.failed = true;
                }
            }
        });
        notify();
    }

    fn write(
        &self,
        number: u64,
        order: &BakeOrder,
        bodies: &Bodies,
        anatomy: Anatomy,
        folder: PathBuf,
        notify: &impl Fn(),
    ) -> Result<Vec<String>, String> {
        let words = |error: &dyn std::error::Error| error.to_string();
        let path = Path::new(&order.path);
        let format = Format::of(path).map_err(|e| words(&e))?;
        let clip = match &order.clip {
            Some(name) => Some(bodies.ingredients().clip(name).map_err(|e| words(&e))?),
            None => None,
        };
        let plan = Plan::new(clip, &Sampling { fps: order.fps, frames: None }).map_err(|e| words(&e))?;
        self.update(number, |progress| progress.frames = plan.len());
        notify();
        let watch = self.watch.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let body = bodies.bind(order.method, anatomy, folder, false, &watch).map_err(|e| words(&e))?;
        let body = body.with_layers(crate::engine::layers(&body, order.smooth)).map_err(|e| words(&e))?;
        if !self.update(number, |progress| progress.preparing = false) {
            return Err(CANCELLED.to_owned());
        }
        notify();
        let baked = bake(&body, &plan, path, |done| {
            self.update(number, |progress| progress.done = done);
            notify();
            if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let baked = baked.map_err(|error| match error {
            BakeError::Stopped => CANCELLED.to_owned(),
            other => words(&other),
        })?;
        let mut files: Vec<String> = baked.paths.iter().map(|p| p.display().to_string()).collect();
        if matches!(format, Format::Pc2 | Format::Mdd) {
            let rest = ecorche::bake::rest(body.character()).map_err(|e| words(&e))?;
            let mesh = path.with_extension("rest.obj");
            let mesh = obj::write(&mesh, body.character(), &rest).map_err(|e| words(&e))?;
            files.push(mesh.display().to_string());
        }
        Ok(files)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Look;
    use ecorche::deform::Body;

    fn order(path: &Path) -> BakeOrder {
        let path = path.display().to_string();
        BakeOrder {
            path,
            clip: Some("bend".to_owned()),
            method: Look::Dqs,
            smooth: None,
            fps: Some(10.0),
            confirmed: false,
        }
    }

    fn bodies() -> Bodies {
        Bodies::new(ecorche::recipe::Recipe::of("sample:cylinder").read().unwrap(), None)
    }

    #[test]
    fn a_bake_is_the_library_s() {
        let bodies = bodies();
        let folder = tempfile::tempdir().unwrap();
        let (here, there) = (folder.path().join("a.pc2"), folder.path().join("b.pc2"));
        let job = Bake::default();
        let number = job.begin().unwrap();
        assert_eq!(job.begin(), None);
        job.run(number, &order(&here), &bodies, Anatomy::default(), PathBuf::new(), || ());
        let progress = job.progress();
        assert!(!progress.failed && !progress.running && progress.done == progress.frames, "{progress:?}");
        assert_eq!(progress.files.len(), 2);
        let character = bodies.ingredients().character.clone();
        let body = Body::bind(character.clone(), ecorche::deform::Stack::dual_quaternion(), None).unwrap();
        let plan = Plan::new(character.clip("bend"), &Sampling { fps: Some(10.0), frames: None }).unwrap();
        bake(&body, &plan, &there, |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(std::fs::read(here).unwrap(), std::fs::read(there).unwrap());
        assert!(job.begin().is_some());
    }

    #[test]
    fn a_bake_cancelled_while_it_is_prepared_ends_at_once_and_writes_nothing() {
        let bodies = bodies();
        let folder = tempfile::tempdir().unwrap();
        let job = Bake::default();
        let number = job.begin().unwrap();
        job.cancel();
        let told = job.progress();
        assert!(!told.running && told.outcome.contains("cancelled"), "{told:?}");
        let next = job.begin().unwrap();
        // The one that was given up comes out of its preparation.
        job.run(
            number,
            &order(&folder.path().join("a.pc2")),
            &bodies,
            Anatomy::default(),
            PathBuf::new(),
            || (),
        );
        assert!(job.progress().running, "the next one is not disturbed");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
        job.run(
            next,
            &order(&folder.path().join("b.pc2")),
            &bodies,
            Anatomy::default(),
            PathBuf::new(),
            || (),
        );
        assert!(!job.progress().failed);
    }

    #[test]
    fn a_cancelled_bake_leaves_nothing() {
        let bodies = bodies();
        let folder = tempfile::tempdir().unwrap();
        let job = Bake::default();
        let number = job.begin().unwrap();
        job.run(
            number,
            &order(&folder.path().join("a.pc2")),
            &bodies,
            Anatomy::default(),
            PathBuf::new(),
            || {
                if !job.progress().preparing {
                    job.cancel();
                }
            },
        );
        let progress = job.progress();
        assert!(progress.failed && progress.outcome.contains("cancelled"), "{progress:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_order_that_makes_no_sense_says_why() {
        let bodies = bodies();
        for (path, clip, words) in [("a.avi", None, ".avi"), ("a.pc2", Some("fly"), "fly")] {
            let job = Bake::default();
            let number = job.begin().unwrap();
            let clip = clip.map(str::to_owned);
            let order = BakeOrder {
                path: path.to_owned(),
                clip,
                method: Look::Lbs,
                smooth: None,
                fps: None,
                confirmed: false,
            };
            job.run(number, &order, &bodies, Anatomy::default(), PathBuf::new(), || ());
            assert!(job.progress().failed && job.progress().outcome.contains(words), "{:?}", job.progress());
        }
    }
}
