//! A bake asked for by a page: one at a time, with progress, to be cancelled.

use crate::bodies::Bodies;
use crate::message::BakeOrder;
use ecorche::anatomy::Anatomy;
use ecorche::bake::{BakeError, bake};
use ecorche::output::{Format, obj};
use ecorche::sampling::{Plan, Sampling};
use ecorche::surface::LayerDef;
use serde::Serialize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How far a bake is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Progress {
    /// Grows with every change, so that a page gets each once.
    pub step: u64,
    /// Whether one runs.
    pub running: bool,
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

/// The bake of a studio.
#[derive(Debug, Default)]
pub struct Bake {
    progress: Mutex<Progress>,
    stop: AtomicBool,
}

impl Bake {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        self.lock().clone()
    }

    fn update(&self, change: impl FnOnce(&mut Progress)) {
        let mut progress = self.lock();
        change(&mut progress);
        progress.step += 1;
    }

    /// Claims the bake; false while another runs.
    pub fn begin(&self) -> bool {
        let mut progress = self.lock();
        if progress.running {
            return false;
        }
        *progress = Progress { step: progress.step + 1, running: true, ..Progress::default() };
        self.stop.store(false, Ordering::Relaxed);
        true
    }

    /// Asks it to stop.
    pub fn cancel(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Bakes to the end; `notify` is called whenever there is progress.
    pub fn run(
        &self,
        order: &BakeOrder,
        bodies: &Bodies,
        anatomy: Anatomy,
        folder: PathBuf,
        notify: impl Fn(),
    ) {
        let result = self.write(order, bodies, anatomy, folder, &notify);
        self.update(|progress| {
            progress.running = false;
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
        self.update(|progress| progress.frames = plan.len());
        notify();
        let body = bodies.bind(order.method, anatomy, folder, false).map_err(|e| words(&e))?;
        let layers = order.smooth.map(LayerDef::Smooth).into_iter().collect();
        let body = body.with_layers(layers).map_err(|e| words(&e))?;
        let baked = bake(&body, &plan, path, |done| {
            self.update(|progress| progress.done = done);
            notify();
            if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let baked = baked.map_err(|error| match error {
            BakeError::Stopped => "cancelled; nothing was written".to_owned(),
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
        assert!(job.begin() && !job.begin());
        job.run(&order(&here), &bodies, Anatomy::default(), PathBuf::new(), || ());
        let progress = job.progress();
        assert!(!progress.failed && !progress.running && progress.done == progress.frames, "{progress:?}");
        assert_eq!(progress.files.len(), 2);
        let character = bodies.ingredients().character.clone();
        let body = Body::bind(character.clone(), ecorche::deform::Stack::dual_quaternion(), None).unwrap();
        let plan = Plan::new(character.clip("bend"), &Sampling { fps: Some(10.0), frames: None }).unwrap();
        bake(&body, &plan, &there, |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(std::fs::read(here).unwrap(), std::fs::read(there).unwrap());
        assert!(job.begin());
    }

    #[test]
    fn a_cancelled_bake_leaves_nothing() {
        let bodies = bodies();
        let folder = tempfile::tempdir().unwrap();
        let job = Bake::default();
        assert!(job.begin());
        job.run(&order(&folder.path().join("a.pc2")), &bodies, Anatomy::default(), PathBuf::new(), || {
            job.cancel()
        });
        let progress = job.progress();
        assert!(progress.failed && progress.outcome.contains("cancelled"), "{progress:?}");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn an_order_that_makes_no_sense_says_why() {
        let bodies = bodies();
        for (path, clip, words) in [("a.avi", None, ".avi"), ("a.pc2", Some("fly"), "fly")] {
            let job = Bake::default();
            job.begin();
            let clip = clip.map(str::to_owned);
            let order = BakeOrder {
                path: path.to_owned(),
                clip,
                method: Look::Lbs,
                smooth: None,
                fps: None,
                confirmed: false,
            };
            job.run(&order, &bodies, Anatomy::default(), PathBuf::new(), || ());
            assert!(job.progress().failed && job.progress().outcome.contains(words), "{:?}", job.progress());
        }
    }
}
