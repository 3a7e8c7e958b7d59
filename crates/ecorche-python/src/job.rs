//! Long calls: the work runs on a thread of its own while the caller's thread, without the interpreter's lock, waits for
//! it, looks for Ctrl+C and calls the progress function.

use crate::error::Stopped;
use ecorche::watch::{Progress, Watch};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::ThreadPool;
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// How often Ctrl+C is looked for: a person notices a tenth of a second, and waking costs microseconds.
const PATIENCE: Duration = Duration::from_millis(50);

/// What the work reports.
enum Message<T> {
    /// Pieces done, and how many there are; the work waits for the answer.
    Step(usize, usize),
    /// The result, or nothing if the work panicked.
    Done(Option<T>),
}

/// Through this the work asks whether to go on.
pub struct Control {
    stop: Arc<AtomicBool>,
    /// Sends a report and waits for the answer; `None` if nobody listens.
    step: Option<Box<dyn Fn(usize, usize) + Send + Sync>>,
}

impl Control {
    /// Call this after each of the `of` pieces of work.
    pub fn step(&self, done: usize, of: usize) -> ControlFlow<()> {
        if let Some(step) = &self.step {
            step(done, of);
        }
        if self.stop.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// How interrupted work ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Ends {
    /// After its next step; the caller waits for it to clean up.
    AtNextStep,
    /// In its own time: it continues in the background and its result is dropped.
    Alone,
}

/// Runs `work` in `pool`, or on all cores without one. `progress(done, of)` stops it by returning something true, which
/// raises [`Stopped`]; what it raises itself, and Ctrl+C, also stop it.
pub fn run<T: Send + 'static>(
    py: Python<'_>,
    pool: Option<&Arc<ThreadPool>>,
    ends: Ends,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Control) -> T + Send + 'static,
) -> PyResult<T> {
    start(py, pool, ends, progress, || Ok(()), work)
}

/// Runs `work`, which tells a watch how far it is. `progress(stage, done, of)` is called when that has changed, and stops the
/// work as in [`run`]; the caller does not wait for its end.
pub fn run_watched<T: Send + 'static>(
    py: Python<'_>,
    pool: Option<&Arc<ThreadPool>>,
    progress: Option<&Bound<'_, PyAny>>,
    work: impl FnOnce(&Watch) -> T + Send + 'static,
) -> PyResult<T> {
    let watch = Arc::new(Watch::default());
    let mut told = Progress::default();
    let look = || {
        let now = watch.progress();
        let Some(call) = progress.filter(|_| now != told) else { return Ok(()) };
        told = now;
        if call.call1((now.stage, now.done, now.of))?.is_truthy()? {
            return Err(Stopped::new_err(format!("stopped while {}", now.stage)));
        }
        Ok(())
    };
    let shared = watch.clone();
    let result = start(py, pool, Ends::Alone, None, look, move |_| work(&shared));
    if result.is_err() {
        watch.stop();
    }
    result
}

/// `look` is called while the work goes on, at least every [`PATIENCE`]; what it raises stops the work.
fn start<T: Send + 'static>(
    py: Python<'_>,
    pool: Option<&Arc<ThreadPool>>,
    ends: Ends,
    progress: Option<&Bound<'_, PyAny>>,
    look: impl FnMut() -> PyResult<()>,
    work: impl FnOnce(&Control) -> T + Send + 'static,
) -> PyResult<T> {
    let (tell, told) = sync_channel(0);
    let (answer, answered) = sync_channel::<()>(0);
    let stop = Arc::new(AtomicBool::new(false));
    let step = progress.is_some().then(|| {
        let (tell, answered) = (tell.clone(), Mutex::new(answered));
        // A closed channel means that nobody waits any more, and `stop` is set.
        Box::new(move |done, of| {
            if tell.send(Message::Step(done, of)).is_ok()
                && let Ok(answered) = answered.lock()
            {
                let _ = answered.recv();
            }
        }) as Box<dyn Fn(usize, usize) + Send + Sync>
    });
    let control = Control { stop: stop.clone(), step };
    let pool = pool.cloned();
    let worker = thread::Builder::new().name("ecorche".into()).spawn(move || {
        let work = AssertUnwindSafe(|| match &pool {
            Some(pool) => pool.install(|| work(&control)),
            None => work(&control),
        });
        let _ = tell.send(Message::Done(catch_unwind(work).ok()));
    });
    worker.map_err(|error| PyRuntimeError::new_err(format!("no thread could be started: {error}")))?;
    wait(py, ends, progress, look, told, &answer, &stop)
}

fn wait<T: Send>(
    py: Python<'_>,
    ends: Ends,
    progress: Option<&Bound<'_, PyAny>>,
    mut look: impl FnMut() -> PyResult<()>,
    mut told: Receiver<Message<T>>,
    answer: &SyncSender<()>,
    stop: &AtomicBool,
) -> PyResult<T> {
    let mut raised = None;
    loop {
        // Borrowed for the whole call: a receiver cannot be shared between threads.
        let told = &mut told;
        let message = py.detach(move || told.recv_timeout(PATIENCE));
        let outcome = match message {
            Ok(Message::Done(result)) => {
                return match (raised, result) {
                    (Some(error), _) => Err(error),
                    (None, Some(result)) => Ok(result),
                    (None, None) => Err(PyRuntimeError::new_err("the engine failed; please report it")),
                };
            }
            Ok(Message::Step(done, of)) if raised.is_none() => {
                progress.map_or(Ok(false), |call| call.call1((done, of))?.is_truthy()).and_then(|stop| {
                    py.check_signals()?;
                    if stop { Err(Stopped::new_err(format!("stopped after {done} of {of}"))) } else { Ok(()) }
                })
            }
            Ok(Message::Step(..)) => Ok(()),
            Err(RecvTimeoutError::Timeout) => py.check_signals().and_then(|()| look()),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("the engine failed; please report it"));
            }
        };
        if let Err(error) = outcome {
            stop.store(true, Ordering::Relaxed);
            // A second interrupt does not wait.
            if ends == Ends::Alone || raised.is_some() {
                return Err(error);
            }
            raised = Some(error);
        }
        if matches!(message, Ok(Message::Step(..))) {
            let _ = answer.send(());
        }
    }
}
