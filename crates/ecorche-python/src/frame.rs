//! Frames, and a clip being played.

use crate::arguments::Moments;
use crate::arrays;
use crate::body::Bound as BoundBody;
use crate::error::wrong;
use crate::job::{self, Ends};
use ecorche::character::World;
use ecorche::deform::{Playback, SavedState, Workspace};
use ecorche::frame::Frame as DeformedFrame;
use ecorche::sampling::Plan;
use glam::Vec3;
use numpy::PyArray2;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use std::sync::{Arc, Mutex};

/// One deformed moment of a character, in the units and axes of its file.
#[pyclass(frozen, module = "ecorche")]
pub struct Frame {
    /// Number of the frame, counted from 0 at the clip's start.
    #[pyo3(get)]
    number: usize,
    /// Moment in the clip, seconds.
    #[pyo3(get)]
    time: f32,
    /// Vertex positions that fell back to a simpler method.
    #[pyo3(get)]
    fell_back: usize,
    /// Never changed after it is made: arrays look into it.
    meshes: Vec<Vec<Vec3>>,
}

impl Frame {
    /// Converts the positions to the user's space in place.
    pub fn new(number: usize, deformed: DeformedFrame, world: World) -> Self {
        let to_user = |mut points: Vec<Vec3>| {
            points.iter_mut().for_each(|p| *p = world.to_user(*p));
            points
        };
        let meshes = deformed.meshes.into_iter().map(|mesh| to_user(mesh.positions)).collect();
        Self { number, time: deformed.time, fell_back: deformed.report.fell_back, meshes }
    }
}

#[pymethods]
impl Frame {
    /// Vertices of a mesh, `(V, 3)` float32, in the file's order: a read-only view, not a copy, that may outlive the frame.
    #[pyo3(signature = (mesh = 0))]
    fn positions<'py>(slf: &Bound<'py, Self>, mesh: usize) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let meshes = &slf.get().meshes;
        let points = meshes.get(mesh).ok_or_else(|| {
            PyIndexError::new_err(format!("mesh: {mesh} given; the character has {} meshes", meshes.len()))
        })?;
        // SAFETY: the class is frozen and never changes its vectors; the array holds a reference to it.
        unsafe { arrays::view(points, slf.clone().into_any()) }
    }

    /// How many meshes the frame has.
    #[getter]
    fn mesh_count(&self) -> usize {
        self.meshes.len()
    }

    fn __repr__(&self) -> String {
        format!("<ecorche.Frame {} at {} s>", self.number, self.time)
    }
}

/// The frames of a clip, one after the other.
#[pyclass(frozen, module = "ecorche")]
pub struct Frames {
    body: Arc<BoundBody>,
    moments: Moments,
    /// Total number of frames.
    length: usize,
    /// Taken while a frame is computed, so that two threads cannot use it at once.
    running: Mutex<Option<Running>>,
}

/// What one frame passes on to the next.
struct Running {
    next: usize,
    last: usize,
    state: Option<SavedState>,
    workspace: Workspace,
}

impl Frames {
    pub fn new(body: Arc<BoundBody>, moments: Moments) -> PyResult<Self> {
        let plan = moments.plan(&body.ingredients)?;
        let (next, last, length) = (*plan.frames.start(), *plan.frames.end(), plan.len());
        let running = Running { next, last, state: None, workspace: Workspace::default() };
        Ok(Self { body, moments, length, running: Mutex::new(Some(running)) })
    }
}

impl Running {
    fn advance(mut self, body: &BoundBody, plan: &Plan) -> (Self, Frame) {
        let mut playback = match self.state.take() {
            Some(state) => Playback::resume(&body.body, plan, state),
            None => Playback::new(&body.body, plan),
        };
        let frame = playback.frame(self.next, &mut self.workspace);
        self.state = Some(playback.into_state());
        let frame = Frame::new(self.next, frame, body.ingredients.character.world);
        self.next += 1;
        (self, frame)
    }
}

#[pymethods]
impl Frames {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Frame>> {
        let taken = self.running.lock().map(|mut running| running.take());
        let Ok(Some(running)) = taken else {
            return Err(wrong("frames", "in use by another thread, or interrupted; play the clip again"));
        };
        if running.next > running.last {
            *self.running.lock().map_err(|_| wrong("frames", "broken"))? = Some(running);
            return Ok(None);
        }
        let plan = self.moments.plan(&self.body.ingredients)?;
        let (fps, frames) = (plan.fps, plan.frames);
        let clip = self.moments.clip.clone();
        let body = self.body.clone();
        let pool = body.pool.clone();
        let (running, frame) = job::run(py, pool.as_ref(), Ends::Alone, None, move |_| {
            let character = &body.ingredients.character;
            let clip = clip.map_or_else(|| character.clips.first(), |name| character.clip(&name));
            running.advance(&body, &Plan { clip, fps, frames })
        })?;
        *self.running.lock().map_err(|_| wrong("frames", "broken"))? = Some(running);
        Ok(Some(frame))
    }

    /// Total number of frames.
    fn __len__(&self) -> usize {
        self.length
    }
}
