//! Bodies: played, baked, measured, drawn.

use crate::arguments::Moments;
use crate::error::{Stopped, raised, wrong};
use crate::frame::Frames;
use crate::job::{self, Ends};
use ecorche::bake::{BakeError, bake_as, piece};
use ecorche::deform::{Playback, Settings};
use ecorche::measure::{Judge, JudgeError, Reference, follow_muscles, judge_clips};
use ecorche::output::{self, CacheOptions, Format, Meshes, Shot, file, obj, picture};
use ecorche::portrait::{Look, MuscleLook, contact_sheet, draw_frames, side_by_side, spread};
use ecorche::recipe::{Ingredients, protect_inputs};
use ecorche::sampling::Plan;
use ecorche::skinning::Surface;
use pyo3::prelude::*;
use pyo3::types::PyString;
use rayon::ThreadPool;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// Default number of frames on a contact sheet, as on the command line.
const PANELS: usize = 12;

/// A body, what it was made from, and the threads it runs on.
pub struct Bound {
    pub ingredients: Ingredients,
    pub settings: Settings,
    pub body: ecorche::deform::Body,
    pub pool: Option<Arc<ThreadPool>>,
}

/// A character ready to be deformed. It never changes and may be used by several threads at once.
#[pyclass(frozen, module = "ecorche")]
pub struct Body(pub Arc<Bound>);

/// What a bake wrote.
#[pyclass(frozen, get_all, module = "ecorche")]
pub struct Baked {
    /// The files.
    paths: Vec<PathBuf>,
    /// How many frames.
    frames: usize,
    /// Vertex positions that fell back to a simpler method, over all frames.
    fell_back: usize,
}

#[pymethods]
impl Baked {
    fn __repr__(&self) -> String {
        format!("<ecorche.Baked: {} frames in {} files>", self.frames, self.paths.len())
    }
}

#[pymethods]
impl Body {
    /// The frames of a clip, one after the other; the first clip by default, the rest pose of a character without any.
    /// `frames`: (first, last), both included, counted from 0 at the clip's start. Each frame is the same as in a bake.
    #[pyo3(signature = (clip = None, *, fps = None, frames = None))]
    fn play(
        &self,
        clip: Option<String>,
        fps: Option<f32>,
        frames: Option<&pyo3::Bound<'_, PyAny>>,
    ) -> PyResult<Frames> {
        Frames::new(self.0.clone(), Moments::new(clip, fps, frames)?)
    }

    /// Writes a clip to a cache; the extension of `path` chooses the format. `progress(done, of)` is called after every frame
    /// and stops the bake by returning something true: then Stopped is raised and no file is left. `mesh`: also write the
    /// mesh that a .pc2 or .mdd sits on. For Alembic: `meshes` (objects: an object for each; files: a file for each; merged: one
    /// object), `velocities` of every point, `normals`, `centimetres` whatever the unit of the file.
    #[pyo3(signature = (clip, path, *, fps = None, frames = None, mesh = true, meshes = "objects", velocities = false,
        normals = true, centimetres = false, progress = None))]
    fn bake(
        &self,
        py: Python<'_>,
        clip: Option<String>,
        path: PathBuf,
        fps: Option<f32>,
        frames: Option<&pyo3::Bound<'_, PyAny>>,
        mesh: bool,
        meshes: &str,
        velocities: bool,
        normals: bool,
        centimetres: bool,
        progress: Option<&pyo3::Bound<'_, PyAny>>,
    ) -> PyResult<Baked> {
        let piece = frames.is_some();
        let moments = Moments::new(clip, fps, frames)?;
        let format = Format::of(&path).map_err(raised)?;
        let options = CacheOptions {
            meshes: match meshes {
                "objects" => Meshes::Objects,
                "files" => Meshes::Files,
                "merged" => Meshes::Merged,
                other => {
                    let expected =
                        format_args!("\"objects\", \"files\" or \"merged\" expected, \"{other}\" given");
                    return Err(wrong("meshes", expected));
                }
            },
            velocities,
            no_normals: !normals,
            metres_per_unit: centimetres.then_some(0.01),
        };
        options.check(&path, format).map_err(raised)?;
        let rest =
            (matches!(format, Format::Pc2 | Format::Mdd) && mesh).then(|| path.with_extension("rest.obj"));
        let shared = self.0.clone();
        {
            let plan = moments.plan(&shared.ingredients)?;
            let shot = Shot::new(&shared.ingredients.character, &plan).with(options);
            let mut written = output::paths(&path, &shot).map_err(raised)?;
            written.extend(rest.clone());
            protect_inputs(&shared.ingredients.inputs(), &written).map_err(raised)?;
        }
        job::run(py, self.0.pool.as_ref(), Ends::AtNextStep, progress, move |control| {
            let Bound { ingredients, settings, body, .. } = &*shared;
            let plan = moments.plan(ingredients)?;
            let mut playback = Playback::new(body, &plan);
            let step = |done| control.step(done, plan.len());
            let baked = bake_as(options, &mut playback, body, &plan, &path, step);
            let mut baked = baked.map_err(|error| match error {
                BakeError::Stopped => Stopped::new_err(error.to_string()),
                other => raised(other),
            })?;
            if format == Format::Pc2 {
                let key = || ingredients.key(settings, &plan);
                let records = piece::write_records(body, &plan, piece, key, &baked.paths).map_err(raised)?;
                baked.paths.extend(records);
            }
            if let Some(path) = rest {
                let frame = ecorche::bake::rest(&ingredients.character).map_err(raised)?;
                baked.paths.push(obj::write(&path, &ingredients.character, &frame).map_err(raised)?);
            }
            Ok(Baked { paths: baked.paths, frames: baked.frames, fell_back: baked.fell_back })
        })?
    }

    /// How good the skin is in a clip: a dict with the same keys as the command's JSON has for one method of one clip.
    /// `against`: a PC2 cache of the same character and frames to compare with.
    #[pyo3(signature = (clip = None, *, fps = None, frames = None, against = None, progress = None))]
    fn measure(
        &self,
        py: Python<'_>,
        clip: Option<String>,
        fps: Option<f32>,
        frames: Option<&pyo3::Bound<'_, PyAny>>,
        against: Option<PathBuf>,
        progress: Option<&pyo3::Bound<'_, PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let moments = Moments::new(clip, fps, frames)?;
        moments.plan(&self.0.ingredients)?;
        let shared = self.0.clone();
        let figures = job::run(py, self.0.pool.as_ref(), Ends::AtNextStep, progress, move |control| {
            let Bound { ingredients, body, .. } = &*shared;
            let plan = moments.plan(ingredients)?;
            let name = &ingredients.recipe().character;
            let surface = Surface::new(&ingredients.character).ok_or_else(|| {
                wrong(name, "has no skinned mesh to measure; read it with weights=\"heat\"")
            })?;
            let reference =
                against.map(|path| Reference::read(&path, &ingredients.character, &surface, &plan));
            let reference = reference.transpose().map_err(raised)?;
            let judge = Judge::of(&surface).map_err(raised)?;
            let step = |done| control.step(done, plan.len());
            let bodies = std::slice::from_ref(body);
            let judged = judge_clips(&judge, &surface, bodies, &plan, reference.as_ref(), step);
            let judged = judged.map_err(|error| match error {
                JudgeError::Stopped => Stopped::new_err(error.to_string()),
                other => raised(other),
            })?;
            let mut figures = serde_json::to_value(judged.first()).map_err(raised)?;
            if let Some(history) = follow_muscles(body, &plan) {
                figures["fibres"] = serde_json::to_value(history).map_err(raised)?;
            }
            Ok::<_, PyErr>(figures.to_string())
        })??;
        Ok(py.import("json")?.call_method1("loads", (PyString::new(py, &figures),))?.unbind())
    }

    /// Draws the rest pose, one frame, or several on a contact sheet (`frames`; all of `clip` by default) or as an
    /// animation, to a PNG. The options are those of the command.
    #[pyo3(signature = (path, clip = None, *, frame = None, fps = None, frames = None, view = "auto", size = None,
        panels = PANELS, animate = false, focus = None, wire = false, show = None, muscles = None, skin = 0.22))]
    fn render(
        &self,
        py: Python<'_>,
        path: PathBuf,
        clip: Option<String>,
        frame: Option<usize>,
        fps: Option<f32>,
        frames: Option<&pyo3::Bound<'_, PyAny>>,
        view: &str,
        size: Option<(usize, usize)>,
        panels: usize,
        animate: bool,
        focus: Option<&str>,
        wire: bool,
        show: Option<String>,
        muscles: Option<&str>,
        skin: f32,
    ) -> PyResult<PathBuf> {
        let Bound { ingredients, body, .. } = &*self.0;
        let still = clip.is_none() && frame.is_none() && frames.is_none();
        let mut moments = Moments::new(clip, fps, frames)?;
        if let Some(frame) = frame {
            if moments.sampling.frames.is_some() {
                return Err(wrong("frame", "frames is given as well; leave out one of them"));
            }
            moments.sampling.frames = Some(frame..=frame);
        }
        protect_inputs(&ingredients.inputs(), std::slice::from_ref(&path)).map_err(raised)?;
        if let Some((width, height)) = size
            && ![width, height].iter().all(|side| (16..=8192).contains(side))
        {
            return Err(wrong("size", "expected 16 to 8192 pixels a side"));
        }
        let muscles = muscles.map(str::parse).transpose().map_err(|error| wrong("muscles", error))?;
        if muscles.is_some() && !body.has_muscles() {
            return Err(wrong("muscles", "the body has none; bind it with an anatomy that has some"));
        }
        let focus = focus.map(|name| {
            let found = ingredients.character.skeleton.find(name);
            found.ok_or_else(|| wrong("focus", format_args!("no joint called \"{name}\"")))
        });
        let look = Look {
            view: view.parse().map_err(|error| wrong("view", error))?,
            wire,
            focus: focus.transpose()?,
            follow: !animate,
            muscles: muscles.map(|colour| MuscleLook { colour, skin }),
            ..Look::default()
        };
        if !still {
            moments.plan(ingredients)?;
        }
        let shared = self.0.clone();
        job::run(py, self.0.pool.as_ref(), Ends::Alone, None, move |_| {
            let Bound { ingredients, body, .. } = &*shared;
            let plan = if still {
                Plan::new(None, &moments.sampling).map_err(raised)?
            } else {
                moments.plan(ingredients)?
            };
            let numbers = if animate { plan.frames.clone().collect() } else { spread(&plan, panels) };
            let (width, height) = size.unwrap_or(if numbers.len() == 1 { (900, 900) } else { (320, 400) });
            let look = Look { width, height, ..look };
            let bodies = std::slice::from_ref(body);
            let (pictures, legend) =
                draw_frames(bodies, &plan, &numbers, look, show.as_deref(), || ()).map_err(raised)?;
            let methods = [body.stack().clone()];
            let mut bytes = Vec::new();
            if animate {
                let rows = pictures.into_iter().map(|row| side_by_side(row, &methods, &legend));
                picture::encode_animation(&rows.collect::<Vec<_>>(), plan.fps, &mut bytes).map_err(raised)?;
            } else {
                let sheet = contact_sheet(pictures, &methods, &numbers, &plan, &legend);
                sheet.encode_png(&mut bytes).map_err(raised)?;
            }
            file::write(&path, &bytes).map_err(raised)
        })?
    }

    /// The method it was bound for.
    #[getter]
    fn method(&self) -> String {
        self.0.body.stack().to_string()
    }

    /// Whether muscles or fat lie under the skin.
    #[getter]
    fn has_muscles(&self) -> bool {
        self.0.body.has_muscles()
    }

    /// Joints whose skin can wrinkle, with how often the mesh must be subdivided for it: 0 where it is fine enough. None
    /// without wrinkles.
    #[getter]
    fn wrinkles(&self) -> Option<BTreeMap<String, u32>> {
        let joints = self.0.body.wrinkles()?.joints;
        Some(joints.into_iter().map(|joint| (joint.name, joint.subdivisions)).collect())
    }

    fn __repr__(&self) -> String {
        format!("<ecorche.Body \"{}\", {}>", self.0.ingredients.character.name, self.0.body.stack())
    }
}
