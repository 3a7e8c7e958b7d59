//! What a long computation is doing, and whether it should stop.
//!
//! Whoever waits reads it from another thread. It changes no result: what is not stopped is computed as without.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// How far a computation is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// The stage, in words that follow "preparing:"; empty before the first.
    pub stage: &'static str,
    /// Things of the stage that are done.
    pub done: usize,
    /// Of how many; 0 where they are not counted.
    pub of: usize,
}

/// Shared by a computation and those who wait for it.
#[derive(Debug, Default)]
pub struct Watch {
    stage: Mutex<(&'static str, usize)>,
    done: AtomicUsize,
    stopped: AtomicBool,
}

impl Watch {
    /// How far it is.
    pub fn progress(&self) -> Progress {
        let (stage, of) = *self.stage.lock().unwrap_or_else(PoisonError::into_inner);
        Progress { stage, done: self.done.load(Ordering::Relaxed).min(of), of }
    }

    /// Asks it to stop as soon as it can.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// A stage of `of` things begins; 0 where they are not counted.
    pub(crate) fn begin(&self, stage: &'static str, of: usize) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = (stage, of);
        self.done.store(0, Ordering::Relaxed);
    }

    /// One more is done.
    pub(crate) fn step(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }
}
