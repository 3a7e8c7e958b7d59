//! The scene file of a crowd, as TOML.
//!
//! ```toml
//! fps = 24
//! frames = [0, 47]
//! eye = [0.0, 1.7, 12.0]                       # where it is seen from, for the levels of detail
//! detail = { full = 15.0, skinning = 60.0 }    # metres from the eye; farther ones stay as they are
//! [[character]]
//! name = "runner"
//! file = "sample:athlete"                      # or a path, relative to this file
//! [[instance]]
//! character = "runner"
//! clip = "run"
//! at = [0.0, 0.0, -3.0]
//! turn = 30.0                                  # degrees about the vertical
//! scale = 1.1
//! offset = 0.2                                 # seconds ahead
//! tension = 0.5                                # how tense all its muscles are at least, 0 to 1
//! repeat = { columns = 10, rows = 4, spacing = [1.2, 1.5], offset = 0.17 }
//! ```
//! Lengths are metres, Y is up, angles degrees. All but character, name and file have defaults.

use super::{Crowd, CrowdError, Detail, Instance};
use crate::cache::Cache;
use crate::character::motion::RANGE;
use crate::deform::Stack;
use crate::recipe::{AnatomySource, Ingredients, MotionSource, Recipe, RecipeError, SAMPLE};
use glam::{Affine3A, Quat, Vec3};
use serde::Deserialize;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// Instances of a scene, at most.
const MOST: usize = 100_000;

/// What is wrong with a scene.
#[derive(Debug, thiserror::Error)]
pub enum SceneError {
    /// The file could not be read.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// What it holds is wrong.
    #[error("{}{}: {what}", path.display(), line.map(|l| format!(":{l}")).unwrap_or_default())]
    Content {
        /// The file.
        path: PathBuf,
        /// Line, from 1, where known.
        line: Option<usize>,
        /// What, and what to do about it.
        what: String,
    },
    /// A character of it cannot be read or bound.
    #[error("{}: character \"{name}\": {source}", path.display())]
    Character {
        /// The scene file.
        path: PathBuf,
        /// The character.
        name: String,
        /// Why.
        source: Box<RecipeError>,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SceneDef {
    #[serde(default = "default_fps")]
    fps: f32,
    #[serde(default)]
    frames: [usize; 2],
    eye: Option<[f32; 3]>,
    detail: Option<DetailDef>,
    #[serde(default)]
    character: Vec<CharacterDef>,
    #[serde(default)]
    instance: Vec<InstanceDef>,
}

fn default_fps() -> f32 {
    crate::sampling::DEFAULT_FPS
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct DetailDef {
    full: f32,
    skinning: f32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CharacterDef {
    name: String,
    file: String,
    anatomy: Option<PathBuf>,
    motion: Option<String>,
    method: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct InstanceDef {
    character: String,
    clip: Option<String>,
    #[serde(default)]
    offset: f32,
    #[serde(default)]
    at: [f32; 3],
    #[serde(default)]
    turn: f32,
    #[serde(default = "one")]
    scale: f32,
    #[serde(default)]
    tension: f32,
    repeat: Option<RepeatDef>,
}

fn one() -> f32 {
    1.0
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RepeatDef {
    columns: usize,
    rows: usize,
    spacing: [f32; 2],
    #[serde(default)]
    offset: f32,
}

/// A scene that was read: a crowd, and which moments of it are wanted.
#[derive(Debug)]
pub struct Scene {
    /// The crowd.
    pub crowd: Crowd,
    /// Frames per second.
    pub fps: f32,
    /// Frame numbers; frame 0 is time 0.
    pub frames: RangeInclusive<usize>,
    /// Where it is seen from; `None`: everything at full detail.
    pub eye: Option<Vec3>,
    /// What was read of each character, in the order of the crowd's bodies.
    pub ingredients: Vec<Ingredients>,
    /// The files that were read.
    pub inputs: Vec<PathBuf>,
}

impl Scene {
    /// Reads a scene and binds its characters. What takes long is looked up in `cache` first, if given, and kept there.
    pub fn read(path: &Path, cache: Option<&Cache>) -> Result<Self, SceneError> {
        let text = crate::input::read_text(path)
            .map_err(|source| SceneError::Io { path: path.to_owned(), source })?;
        Self::parse(path, &text, cache)
    }

    /// As [`Scene::read`], of a text; files it names are relative to the folder of `path`.
    pub fn parse(path: &Path, text: &str, cache: Option<&Cache>) -> Result<Self, SceneError> {
        let content =
            |line: Option<usize>, what: String| SceneError::Content { path: path.to_owned(), line, what };
        let wrong = |what: String| content(None, what);
        let scene: SceneDef = toml::from_str(text).map_err(|error| {
            let line = error.span().map(|span| text[..span.start.min(text.len())].matches('\n').count() + 1);
            content(line, error.message().to_owned())
        })?;
        if !(scene.fps > 0.0 && scene.fps <= 1000.0) {
            return Err(wrong(format!(
                "fps {} is not a rate; give a number above 0 and at most 1000",
                scene.fps
            )));
        }
        let [first, last] = scene.frames;
        if first > last || last > 10_000_000 {
            return Err(wrong(format!(
                "frames [{first}, {last}] must be the first and the last, in that order"
            )));
        }
        let detail = match scene.detail {
            None => Detail::default(),
            Some(DetailDef { full, skinning }) if full >= 0.0 && skinning >= full => {
                Detail { full, skinning }
            }
            Some(DetailDef { full, skinning }) => {
                return Err(wrong(format!(
                    "detail: full {full} and skinning {skinning} must be distances, the second at least the first"
                )));
            }
        };
        if scene.eye.is_some_and(|eye| !Vec3::from(eye).is_finite()) {
            return Err(wrong("eye must be three finite numbers".to_owned()));
        }
        if scene.instance.is_empty() {
            return Err(wrong("has no instance; write [[instance]] with character = \"NAME\"".to_owned()));
        }
        let folder = path.parent().unwrap_or(Path::new("."));
        let (mut bodies, mut read) = (Vec::new(), Vec::<Ingredients>::new());
        let mut inputs = vec![path.to_owned()];
        for (k, character) in scene.character.iter().enumerate() {
            if scene.character[..k].iter().any(|other| other.name == character.name) {
                return Err(wrong(format!("a second character \"{}\"; rename it", character.name)));
            }
            let of = |source: RecipeError| SceneError::Character {
                path: path.to_owned(),
                name: character.name.clone(),
                source: Box::new(source),
            };
            let method = character.method.as_deref().unwrap_or("parametric");
            let stack: Stack = method
                .parse()
                .map_err(|error| wrong(format!("character \"{}\": {error}", character.name)))?;
            let ingredients = character.recipe(folder).read().map_err(of)?;
            let settings = ingredients.settings(Some(stack));
            bodies.push(ingredients.bind(settings, cache).map_err(of)?);
            inputs.extend(ingredients.inputs());
            read.push(ingredients);
        }
        let mut instances = Vec::new();
        for (k, instance) in scene.instance.iter().enumerate() {
            let wrong = |what: String| wrong(format!("instance {}: {what}", k + 1));
            let names: Vec<&str> = scene.character.iter().map(|c| c.name.as_str()).collect();
            let body = names.iter().position(|name| *name == instance.character).ok_or_else(|| {
                let known = if names.is_empty() {
                    "there is none".to_owned()
                } else {
                    format!("there are {}", names.join(", "))
                };
                wrong(format!("no character \"{}\"; {known}", instance.character))
            })?;
            instances.extend(instance.place(body, &read[body]).map_err(wrong)?);
            if instances.len() > MOST {
                return Err(wrong(format!("more than {MOST} instances; repeat it less often")));
            }
        }
        let crowd = Crowd::new(bodies, instances, detail)
            .map_err(|error: CrowdError| content(None, error.to_string()))?;
        let eye = scene.eye.map(Vec3::from);
        Ok(Self { crowd, fps: scene.fps, frames: first..=last, eye, ingredients: read, inputs })
    }

    /// The moment of a frame, seconds.
    pub fn time(&self, frame: usize) -> f32 {
        (frame as f64 / f64::from(self.fps)) as f32
    }
}

impl CharacterDef {
    fn recipe(&self, folder: &Path) -> Recipe {
        let file = |name: &str| match name.starts_with(SAMPLE) {
            true => name.to_owned(),
            false => folder.join(name).display().to_string(),
        };
        Recipe {
            motion: match self.motion.as_deref() {
                None => MotionSource::Own,
                Some(RANGE) => MotionSource::Range,
                Some(name) => MotionSource::File(file(name)),
            },
            anatomy: match &self.anatomy {
                None => AnatomySource::Own,
                Some(name) => AnatomySource::File(folder.join(name)),
            },
            ..Recipe::of(file(&self.file))
        }
    }
}

impl InstanceDef {
    /// The instances it stands for.
    fn place(&self, body: usize, ingredients: &Ingredients) -> Result<Vec<Instance>, String> {
        let clips = &ingredients.character.clips;
        let clip = match &self.clip {
            None => None,
            Some(name) => {
                let clip = ingredients.clip(name).map_err(|error| error.to_string())?;
                clips.iter().position(|own| own.name == clip.name)
            }
        };
        if !(self.scale.is_finite() && (1e-3..=1e3).contains(&self.scale)) {
            return Err(format!("scale {} must be from 0.001 to 1000", self.scale));
        }
        if !(0.0..=1.0).contains(&self.tension) {
            return Err(format!("tension {} must be from 0 to 1", self.tension));
        }
        let once = RepeatDef { columns: 1, rows: 1, spacing: [0.0; 2], offset: 0.0 };
        let RepeatDef { columns, rows, spacing: [across, along], offset } =
            self.repeat.as_ref().unwrap_or(&once);
        if *columns == 0 || *rows == 0 || columns.saturating_mul(*rows) > MOST {
            return Err(format!(
                "repeat: {columns} columns and {rows} rows must be 1 or more, and {MOST} in all at most"
            ));
        }
        if ![self.turn, self.offset, *across, *along, *offset].iter().chain(&self.at).all(|x| x.is_finite()) {
            return Err("at, turn, offset and repeat must be finite numbers".to_owned());
        }
        let turn = Quat::from_rotation_y(self.turn.to_radians());
        let one = |k: usize| {
            let (column, row) = ((k % columns) as f32, (k / columns) as f32);
            let at = Vec3::from(self.at) + Vec3::new(column * across, 0.0, row * along);
            Instance {
                body,
                clip,
                offset: self.offset + k as f32 * offset,
                place: Affine3A::from_scale_rotation_translation(Vec3::splat(self.scale), turn, at),
                tension: self.tension,
            }
        };
        Ok((0..columns * rows).map(one).collect())
    }
}
