//! Characters: read, described, bound.

use crate::anatomy::Anatomy;
use crate::arguments::{self, Moments};
use crate::body::{Body, Bound as BoundBody};
use crate::error::{raised, wrong};
use crate::frame::Frame;
use crate::from_arrays;
use crate::job::{self, Ends};
use crate::poses;
use ecorche::anatomy::preset::{self, Preset};
use ecorche::anatomy::{AnatomyFile, init};
use ecorche::cache::{Cache, DEFAULT_LIMIT};
use ecorche::character::Pose;
use ecorche::character::motion::RANGE;
use ecorche::deform::{Stack, Tracking, Under};
use ecorche::output::file;
use ecorche::recipe::{
    AnatomySource, Ingredients, MotionSource, MuscleUse, Note, Recipe, WeightSource, WrinkleUse,
    protect_inputs,
};
use ecorche::skinning::Skinning;
use ecorche::surface::{LayerDef, smooth};
use numpy::{PyArray1, PyArray2, PyArray3, PyArray4, PyArrayMethods, ToPyArray};
use pyo3::exceptions::{PyFileExistsError, PyIndexError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::path::PathBuf;
use std::sync::Arc;

/// Polygon sizes and their corners.
type Polygons<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>);

/// Vertices, joints and weights.
type Weights<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<f32>>);

/// A rigged, animated character.
#[pyclass(frozen, module = "ecorche")]
pub struct Character {
    pub ingredients: Arc<Ingredients>,
}

/// An animation of a character.
#[pyclass(frozen, get_all, module = "ecorche")]
pub struct Clip {
    /// Name.
    name: String,
    /// First moment, seconds.
    start: f32,
    /// Last moment, seconds.
    end: f32,
    /// Frames per second; `None` if the file does not say.
    fps: Option<f32>,
}

#[pymethods]
impl Clip {
    fn __repr__(&self) -> String {
        format!("<ecorche.Clip \"{}\", {} s>", self.name, self.end - self.start)
    }
}

/// A first anatomy: what was placed and what was not.
#[pyclass(frozen, get_all, module = "ecorche")]
pub struct Placed {
    /// The anatomy file's text.
    text: String,
    /// How many muscles, mirror images counted.
    muscles: usize,
    /// How many fat pads, mirror images counted.
    fat: usize,
    /// What could not be placed, with the reason.
    skipped: Vec<String>,
}

#[pymethods]
impl Placed {
    fn __repr__(&self) -> String {
        format!("<ecorche.Placed: {} muscles, {} fat pads>", self.muscles, self.fat)
    }
}

/// Reads a character: a path, or `sample:NAME` for a built-in one. `motion`: a file with clips for it, or "range" for an
/// exercise of every joint. `weights`: "file" or "heat"; by default the file's, and heat diffusion where it has none.
/// `subdivide`: how often every edge is halved, 0 to 4; the character then has other vertices than its file.
#[pyfunction]
#[pyo3(signature = (source, *, motion = None, weights = None, subdivide = 0))]
pub fn read(
    py: Python<'_>,
    source: PathBuf,
    motion: Option<PathBuf>,
    weights: Option<&str>,
    subdivide: u32,
) -> PyResult<Character> {
    let text = |path: PathBuf| path.to_string_lossy().into_owned();
    let motion = match motion.map(text) {
        None => MotionSource::Own,
        Some(name) if name == RANGE => MotionSource::Range,
        Some(file) => MotionSource::File(file),
    };
    let weights = match weights {
        None => WeightSource::Auto,
        Some("file") => WeightSource::File,
        Some("heat") => WeightSource::Heat,
        Some(other) => {
            return Err(wrong("weights", format_args!("\"file\" or \"heat\" expected, \"{other}\" given")));
        }
    };
    let recipe = Recipe { motion, weights, subdivide, ..Recipe::of(text(source)) };
    let ingredients = job::run(py, None, Ends::Alone, None, move |_| recipe.read())?.map_err(raised)?;
    Ok(Character { ingredients: Arc::new(ingredients) })
}

#[pymethods]
impl Character {
    /// A character made of arrays: the call for programs that have rig and mesh in memory.
    ///
    /// points: (V, 3) float32. faces: (F, 3) or (F, 4) whole numbers, or a pair (sizes, corners) for polygons. joints: names.
    /// parents: (J,) whole numbers, -1 without. rest: (J, 4, 4), world from joint when the skin was bound. weights: (V, J)
    /// float32, or a triple (vertices, joints, weights) of three arrays of one length; None makes them by heat diffusion.
    /// clips: names to (F, J, 4, 4), world from joint, `fps` a second. morphs: names to (V, 3) float32 offsets.
    /// morph_weights: names of clips to names of morphs to (F,) float32. subdivide: as for `read`.
    #[staticmethod]
    #[pyo3(signature = (points, faces, joints, parents, rest, weights = None, *, clips = None, fps = 24.0, morphs = None,
        morph_weights = None, name = "character", metres_per_unit = 1.0, up = "Y", subdivide = 0))]
    fn from_arrays(
        py: Python<'_>,
        points: &Bound<'_, PyAny>,
        faces: &Bound<'_, PyAny>,
        joints: Vec<String>,
        parents: &Bound<'_, PyAny>,
        rest: &Bound<'_, PyAny>,
        weights: Option<&Bound<'_, PyAny>>,
        clips: Option<&Bound<'_, PyDict>>,
        fps: f32,
        morphs: Option<&Bound<'_, PyDict>>,
        morph_weights: Option<&Bound<'_, PyDict>>,
        name: &str,
        metres_per_unit: f32,
        up: &str,
        subdivide: u32,
    ) -> PyResult<Self> {
        let world = from_arrays::world(metres_per_unit, up)?;
        let mut rig = from_arrays::Rig::new(world, joints, parents, rest)?;
        rig.add_mesh(name, points, faces, weights)?;
        rig.add_morphs(morphs)?;
        rig.add_clips(clips, morph_weights, fps)?;
        let raw = rig.raw;
        let recipe = Recipe { subdivide, ..Recipe::of(name) };
        let named = PathBuf::from(name);
        let ingredients = job::run(py, None, Ends::Alone, None, move |_| {
            let character = ecorche::character::check::check(&named, raw).map_err(raised)?;
            recipe.read_of(character).map_err(raised)
        })??;
        Ok(Self { ingredients: Arc::new(ingredients) })
    }

    /// Makes the character ready to be deformed. `method`: muscles, implicit, lbs, dqs or cor; by default muscles where the
    /// anatomy has any, else implicit. `start`: the skinning that tracking starts from, dqs by default. `anatomy`: an anatomy file; `anatomy_text`: the text of one. `muscles`: dynamic,
    /// still or off. `smooth`: (factor, iterations) of corrective smoothing. `wrinkles`: True, False, or from crease to crease
    /// in metres; by default as the anatomy says. `cache`: keep fitted fields in the user's cache. `threads`: for this body;
    /// all cores by default. `progress(stage, done, of)` is called while the body is made, where that takes more than a moment,
    /// and stops it by returning something true: then Stopped is raised.
    #[pyo3(signature = (method = None, *, anatomy = None, anatomy_text = None, tracking = None, start = None,
        coherent = false, muscles = "dynamic", smooth = None, wrinkles = None, cache = true, threads = None,
        progress = None))]
    fn bind(
        &self,
        py: Python<'_>,
        method: Option<&str>,
        anatomy: Option<PathBuf>,
        anatomy_text: Option<String>,
        tracking: Option<&str>,
        start: Option<&str>,
        coherent: bool,
        muscles: &str,
        smooth: Option<(f32, u32)>,
        wrinkles: Option<&Bound<'_, PyAny>>,
        cache: bool,
        threads: Option<usize>,
        progress: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Body> {
        let pool = arguments::pool(threads)?;
        let anatomy = match (anatomy, anatomy_text) {
            (None, None) => AnatomySource::Own,
            (Some(path), None) => AnatomySource::File(path),
            (None, Some(text)) => AnatomySource::Text { text, folder: PathBuf::from(".") },
            (Some(_), Some(_)) => {
                return Err(wrong("anatomy_text", "anatomy is given as well; leave out one of them"));
            }
        };
        let surface = smooth.map(|(factor, iterations)| {
            let layer =
                LayerDef::Smooth(smooth::Settings { factor, iterations, ..smooth::Settings::default() });
            layer.check().map_err(|error| wrong("smooth", error)).map(|()| layer)
        });
        let recipe = Recipe {
            anatomy,
            stack: method.map(Stack::named).transpose().map_err(|error| wrong("method", error))?,
            tracking: tracking
                .map(str::parse::<Tracking>)
                .transpose()
                .map_err(|error| wrong("tracking", error))?,
            start: start.map(str::parse::<Skinning>).transpose().map_err(|error| wrong("start", error))?,
            coherent,
            muscles: match muscles {
                "dynamic" => MuscleUse::Dynamic,
                "still" => MuscleUse::Still,
                "off" => MuscleUse::Off,
                other => {
                    let expected =
                        format_args!("\"dynamic\", \"still\" or \"off\" expected, \"{other}\" given");
                    return Err(wrong("muscles", expected));
                }
            },
            surface: surface.transpose()?.into_iter().collect(),
            wrinkles: wrinkles.map_or(Ok(WrinkleUse::Anatomy), arguments::wrinkles)?,
            ..self.ingredients.recipe().clone()
        };
        let before = self.ingredients.clone();
        let inner = pool.clone();
        let bound = job::run_watched(py, pool.as_ref(), progress, move |watch| {
            let ingredients = before.with_recipe(&recipe).map_err(raised)?;
            let settings = ingredients.settings(recipe.stack.clone());
            check_use(&recipe, &settings.stack)?;
            let cache = cache.then(|| Cache::of_user(DEFAULT_LIMIT)).flatten();
            let body = ingredients.bind_watched(settings.clone(), cache.as_ref(), watch).map_err(raised)?;
            Ok::<_, PyErr>(BoundBody { ingredients, settings, body, pool: inner })
        })??;
        Ok(Body(Arc::new(bound)))
    }

    /// A first anatomy: settings of the skin and, for a humanoid, muscles and fat placed in this body. Written to `path`, if
    /// given, which must not exist unless `force`.
    #[pyo3(signature = (path = None, *, force = false, skin_only = false))]
    fn init(&self, py: Python<'_>, path: Option<PathBuf>, force: bool, skin_only: bool) -> PyResult<Placed> {
        if let Some(path) = &path {
            if path.exists() && !force {
                let text = format!("{}: exists; choose another path, or give force=True", path.display());
                return Err(PyFileExistsError::new_err(text));
            }
            protect_inputs(&self.ingredients.inputs(), std::slice::from_ref(path)).map_err(raised)?;
        }
        let character = self.ingredients.character.clone();
        job::run(py, None, Ends::Alone, None, move |_| {
            let preset = if skin_only { Preset::default() } else { preset::place(&character) };
            let name =
                path.as_ref().map_or_else(|| "the anatomy".to_owned(), |path| path.display().to_string());
            let written = AnatomyFile::parse(&name, init::write(&character, &preset)).map_err(raised)?;
            written.check(&character.skeleton).map_err(raised)?;
            if let Some(path) = &path {
                file::write(path, written.text().as_bytes()).map_err(raised)?;
            }
            let body = written.anatomy().in_full(&character);
            let skipped = preset.skipped.iter().map(|s| format!("{}: {}", s.name, s.reason)).collect();
            let text = written.text().to_owned();
            Ok(Placed { text, muscles: body.muscle.len(), fat: body.fat.len(), skipped })
        })?
    }

    /// An anatomy file of this character, to look into and to change: its path, or its text.
    #[pyo3(signature = (path = None, *, text = None))]
    fn anatomy(&self, path: Option<PathBuf>, text: Option<String>) -> PyResult<Anatomy> {
        let file = match (path, text) {
            (Some(path), None) => AnatomyFile::read(&path).map_err(raised)?,
            (None, Some(text)) => AnatomyFile::parse("the anatomy", text).map_err(raised)?,
            _ => return Err(wrong("path", "either a path or a text is needed")),
        };
        Anatomy::new(file, self.ingredients.character.clone())
    }

    /// The character as its file shows it when nothing is animated.
    fn rest(&self, py: Python<'_>) -> PyResult<Frame> {
        let character = self.ingredients.character.clone();
        let world = character.world;
        let frame = job::run(py, None, Ends::Alone, None, move |_| ecorche::bake::rest(&character))?;
        Ok(Frame::new(0, frame.map_err(raised)?, world))
    }

    /// Triangles of a mesh, `(T, 3)` uint32, indices of its vertices.
    #[pyo3(signature = (mesh = 0))]
    fn triangles<'py>(&self, py: Python<'py>, mesh: usize) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let triangles = &self.mesh(mesh)?.triangles;
        let rows: Vec<Vec<u32>> = triangles.iter().map(|t| t.to_vec()).collect();
        if rows.is_empty() {
            return Ok(PyArray2::zeros(py, [0, 3], false));
        }
        Ok(PyArray2::from_vec2(py, &rows)?)
    }

    /// Polygons of a mesh: the number of corners of each, and the vertices of all corners, uint32.
    #[pyo3(signature = (mesh = 0))]
    fn faces<'py>(&self, py: Python<'py>, mesh: usize) -> PyResult<Polygons<'py>> {
        let faces = &self.mesh(mesh)?.faces;
        let sizes: Vec<u32> = (0..faces.len()).map(|f| faces.get(f).len() as u32).collect();
        Ok((sizes.to_pyarray(py), faces.corners.to_pyarray(py)))
    }

    /// World from joint when nothing is animated, `(J, 4, 4)` float32, in the file's units and axes.
    fn rest_joints<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray3<f32>>> {
        let character = &self.ingredients.character;
        let world = Pose::rest(character).world(&character.skeleton);
        poses::matrices(py, character.world, &world, 1)?.reshape([world.len(), 4, 4])
    }

    /// World from joint in every frame of a clip, `(F, J, 4, 4)` float32, in the file's units and axes.
    #[pyo3(signature = (clip = None, *, fps = None, frames = None))]
    fn poses<'py>(
        &self,
        py: Python<'py>,
        clip: Option<String>,
        fps: Option<f32>,
        frames: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyArray4<f32>>> {
        let moments = Moments::new(clip, fps, frames)?;
        let ingredients = self.ingredients.clone();
        let (world, count) = job::run(py, None, Ends::Alone, None, move |_| {
            let character = &ingredients.character;
            let plan = moments.plan(&ingredients)?;
            let (mut pose, mut world) = (Pose::rest(character), Vec::new());
            for frame in plan.frames.clone() {
                plan.sample(frame, &mut pose);
                world.extend(pose.world(&character.skeleton));
            }
            Ok::<_, PyErr>((world, plan.len()))
        })??;
        poses::matrices(py, self.ingredients.character.world, &world, count)
    }

    /// Vertex, joint and weight of every influence on a mesh, three arrays of one length; empty for a mesh without skin.
    #[pyo3(signature = (mesh = 0))]
    fn weights<'py>(&self, py: Python<'py>, mesh: usize) -> PyResult<Weights<'py>> {
        let (mut vertices, mut joints, mut weights) = (Vec::new(), Vec::new(), Vec::new());
        if let Some(skin) = self.mesh(mesh)?.skin() {
            for vertex in 0..skin.influences.len() {
                for (joint, weight) in skin.influences.of(vertex) {
                    vertices.push(vertex as u32);
                    joints.push(skin.joints[joint as usize] as u32);
                    weights.push(weight);
                }
            }
        }
        Ok((vertices.to_pyarray(py), joints.to_pyarray(py), weights.to_pyarray(py)))
    }

    /// Name, or file name without extension.
    #[getter]
    fn name(&self) -> &str {
        &self.ingredients.character.name
    }

    /// Names of the meshes.
    #[getter]
    fn meshes(&self) -> Vec<&str> {
        self.ingredients.character.meshes.iter().map(|mesh| mesh.name.as_str()).collect()
    }

    /// Names of the joints, parents before children.
    #[getter]
    fn joints(&self) -> Vec<&str> {
        self.ingredients.character.skeleton.joints.iter().map(|joint| joint.name.as_str()).collect()
    }

    /// The parent of each joint, -1 without.
    #[getter]
    fn parents(&self) -> Vec<i64> {
        let joints = &self.ingredients.character.skeleton.joints;
        joints.iter().map(|joint| joint.parent.map_or(-1, |parent| parent as i64)).collect()
    }

    /// Its animations.
    #[getter]
    fn clips(&self) -> Vec<Clip> {
        let clip = |clip: &ecorche::character::Clip| Clip {
            name: clip.name.clone(),
            start: clip.start,
            end: clip.end,
            fps: clip.fps,
        };
        self.ingredients.character.clips.iter().map(clip).collect()
    }

    /// What was wrong in the files, and how it was repaired.
    #[getter]
    fn repairs(&self) -> Vec<String> {
        let in_words = |note: &Note| match note {
            Note::Repaired { repairs, .. } => repairs.iter().map(ToString::to_string).collect(),
            Note::Joined { file, report } => vec![format!("{file}: {} joints matched", report.matches.len())],
            Note::Weighted { file, meshes } => {
                vec![format!("{file}: weights by heat diffusion for {meshes} meshes")]
            }
        };
        self.ingredients.notes.iter().flat_map(in_words).collect()
    }

    /// Length of the file's unit, metres.
    #[getter]
    fn metres_per_unit(&self) -> f32 {
        self.ingredients.character.world.metres_per_unit
    }

    /// The file's axis that points up.
    #[getter]
    fn up(&self) -> &'static str {
        self.ingredients.character.world.up_name()
    }

    fn __repr__(&self) -> String {
        let character = &self.ingredients.character;
        let (meshes, joints, clips) =
            (character.meshes.len(), character.skeleton.len(), character.clips.len());
        format!("<ecorche.Character \"{}\": {meshes} meshes, {joints} joints, {clips} clips>", character.name)
    }
}

impl Character {
    fn mesh(&self, mesh: usize) -> PyResult<&ecorche::character::Mesh> {
        let meshes = &self.ingredients.character.meshes;
        meshes.get(mesh).ok_or_else(|| {
            PyIndexError::new_err(format!("mesh: {mesh} given; the character has {} meshes", meshes.len()))
        })
    }
}

/// Refuses arguments that the method ignores.
fn check_use(recipe: &Recipe, stack: &Stack) -> PyResult<()> {
    if let (Some(tracking), None) = (recipe.tracking, stack.tracking) {
        return Err(wrong("tracking", format_args!("{tracking} given, but {stack} does not track")));
    }
    if let (Some(start), None) = (recipe.start, stack.tracking) {
        return Err(wrong("start", format_args!("{start} given, but {stack} does not track")));
    }
    if recipe.coherent && !stack.continues() {
        return Err(wrong("coherent", format_args!("{stack} does not go on from the frame before")));
    }
    if recipe.muscles == MuscleUse::Off && stack.under != Under::Nothing {
        return Err(wrong("muscles", format_args!("\"off\" contradicts the method {stack}")));
    }
    Ok(())
}
