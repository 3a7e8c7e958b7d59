//! From files and settings to a body that can be deformed, in one value that can be saved.
//!
//! A [`Recipe`] is plain data: which character, which motion, whose weights, which anatomy, how it is deformed. The
//! command line, the studio and bakes in pieces only fill it in. [`Recipe::read`] reads and checks the
//! [`Ingredients`]; [`Ingredients::bind`] makes a [`Body`] of them, as often as there are settings to compare.
//! ```
//! use ecorche::recipe::Recipe;
//!
//! let recipe: Recipe = serde_json::from_str(r#"{ "character": "sample:cylinder", "motion": "range" }"#)?;
//! let built = recipe.build(None)?;
//! assert_eq!(built.ingredients.character.clips[0].name, "range");
//! assert!(built.ingredients.notes.is_empty());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod key;
mod protect;
#[cfg(test)]
mod tests;

pub use protect::{OverwriteError, protect_inputs};

use crate::anatomy::{Anatomy, AnatomyFile, FileError};
use crate::cache::Cache;
use crate::character::motion::{self, JoinError, JoinReport};
use crate::character::subdivide::{SubdivideError, subdivide};
use crate::character::{self, Character, Clip, ReadError, Repair};
use crate::deform::{BindError, Body, Settings, Stack, Tracking, Under};
use crate::muscle::Motion;
use crate::muscle::definition::BodyDef;
use crate::samples::{self, SampleError};
use crate::skinning::Skinning;
use crate::skinning::heat_weights::{self, HeatError, HeatSettings};
use crate::surface::LayerDef;
use crate::surface::wrinkles::WrinkleDef;
use crate::watch::Watch;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What a sample's name starts with in place of a path.
pub(crate) const SAMPLE: &str = "sample:";

/// Everything that makes a [`Body`], as plain data. Only the character is needed; the rest has defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Path of a character file, or `sample:NAME` for a built-in one.
    pub character: String,
    /// Where the clips come from.
    #[serde(default)]
    pub motion: MotionSource,
    /// Where the weights come from.
    #[serde(default)]
    pub weights: WeightSource,
    /// What lies under the skin, and the settings of the skin.
    #[serde(default)]
    pub anatomy: AnatomySource,
    /// How the character is deformed; `None`: muscles where the anatomy has any, parametric ones where it has only such,
    /// else the implicit skin.
    #[serde(default)]
    pub stack: Option<Stack>,
    /// How the implicit skin places vertices; `None`: as the anatomy says.
    #[serde(default)]
    pub tracking: Option<Tracking>,
    /// The skinning that the implicit skin starts from; `None`: as the anatomy says.
    #[serde(default)]
    pub start: Option<Skinning>,
    /// Each frame starts from the one before: faster, and a frame then depends on those before it.
    #[serde(default)]
    pub coherent: bool,
    /// What becomes of the anatomy's muscles and fat.
    #[serde(default)]
    pub muscles: MuscleUse,
    /// Layers on the surface, after those of the method.
    #[serde(default)]
    pub surface: Vec<LayerDef>,
    /// Whether compressed skin wrinkles; wrinkles come after all other layers.
    #[serde(default)]
    pub wrinkles: WrinkleUse,
    /// How often every edge of the meshes is halved, 0 to 4, before anything else is done with them: the character then has
    /// other vertices than its file.
    #[serde(default)]
    pub subdivide: u32,
}

/// Whether compressed skin wrinkles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WrinkleUse {
    /// If the anatomy says so.
    #[default]
    Anatomy,
    /// Yes; as the anatomy says, or else with default settings.
    On,
    /// Yes, with this wavelength at all joints that have none of their own, metres.
    Wavelength(f32),
    /// No.
    Off,
}

/// Where clips come from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MotionSource {
    /// The character's own.
    #[default]
    Own,
    /// Another file or `sample:NAME`, joined to the character by joint names. Its clips replace the character's.
    File(String),
    /// An exercise that moves every joint of the skeleton to both sides, see [`motion::range_of_motion`].
    Range,
}

/// Where weights come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WeightSource {
    /// The file's; heat diffusion for a character whose meshes have none.
    #[default]
    Auto,
    /// The file's, even if it has none.
    File,
    /// Heat diffusion for every mesh.
    Heat,
}

/// Where the anatomy comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnatomySource {
    /// A sample's own; default settings and no muscles for a file.
    #[default]
    Own,
    /// An anatomy file.
    File(PathBuf),
    /// The text of an anatomy file that is not saved yet.
    Text {
        /// The text.
        text: String,
        /// The folder that files named in the text are relative to.
        folder: PathBuf,
    },
}

/// What becomes of the anatomy's muscles and fat.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MuscleUse {
    /// They move with inertia: frames depend on those before.
    #[default]
    Dynamic,
    /// They follow the pose at once.
    Still,
    /// They are left out.
    Off,
}

/// Why a recipe made no body.
#[derive(Debug, thiserror::Error)]
pub enum RecipeError {
    /// The character or the motion could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// There is no such sample.
    #[error(transparent)]
    Sample(#[from] SampleError),
    /// The motion does not fit the character.
    #[error(transparent)]
    Join(#[from] JoinError),
    /// No weights could be made.
    #[error(transparent)]
    Heat(#[from] HeatError),
    /// The meshes would become too fine.
    #[error("{character}: {source}")]
    Subdivide {
        /// Path or sample.
        character: String,
        /// Why.
        source: SubdivideError,
    },
    /// The anatomy is wrong, or does not fit the character.
    #[error(transparent)]
    Anatomy(#[from] FileError),
    /// Muscles or fat cannot be built in this character.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// A range of motion needs two joints.
    #[error("{character}: has no joint below another that a skin uses: there is nothing to move")]
    NothingToMove {
        /// Path or sample.
        character: String,
    },
    /// There is nothing to deform.
    #[error(
        "{character}: holds no mesh, only joints and clips; use it as the motion of a character that has one"
    )]
    NoMesh {
        /// Path or sample.
        character: String,
    },
    /// The character has no such clip.
    #[error("{character}: no clip called \"{name}\"; {known}")]
    NoClip {
        /// Path or sample.
        character: String,
        /// The name asked for.
        name: String,
        /// The clips there are, in words.
        known: String,
    },
}

/// Something the user should know about what was read.
#[derive(Clone, Debug)]
pub enum Note {
    /// Odd things in a file, and what was done about them.
    Repaired {
        /// Path or sample.
        file: String,
        /// Never empty.
        repairs: Vec<Repair>,
    },
    /// A motion was joined to the character.
    Joined {
        /// Path or sample of the motion.
        file: String,
        /// How, and what did not match.
        report: JoinReport,
    },
    /// Weights were made by heat diffusion.
    Weighted {
        /// Path or sample.
        file: String,
        /// For how many meshes.
        meshes: usize,
    },
}

/// What a recipe names, read and checked: everything but the body.
#[derive(Clone, Debug)]
pub struct Ingredients {
    /// The character, its motion joined, its weights made.
    pub character: Arc<Character>,
    /// The text of the anatomy, where the recipe names one.
    pub anatomy_file: Option<AnatomyFile>,
    /// Settings of the skin, muscles and fat as written.
    pub anatomy: Anatomy,
    /// Muscles and fat, mirror images written out; empty if the recipe leaves them out.
    pub body: BodyDef,
    /// The folder that files named in the anatomy are relative to.
    pub folder: PathBuf,
    /// What the user should know, in the order in which it happened.
    pub notes: Vec<Note>,
    recipe: Recipe,
}

/// A body and what it was made from.
#[derive(Clone, Debug)]
pub struct Built {
    /// What was read.
    pub ingredients: Ingredients,
    /// Ready to be deformed.
    pub body: Body,
}

/// Reads a character from a path or builds `sample:NAME`, as it is: no motion joined, no weights made.
pub fn read_character(source: &str) -> Result<Character, RecipeError> {
    match source.strip_prefix(SAMPLE) {
        Some(spec) => Ok(samples::build(spec)?),
        None => Ok(character::read(Path::new(source))?),
    }
}

impl Recipe {
    /// The recipe of a path or `sample:NAME` with defaults for all else.
    pub fn of(character: impl Into<String>) -> Self {
        Self { character: character.into(), ..Self::default() }
    }

    /// The path of the character; `None` for a sample.
    pub fn file(&self) -> Option<&Path> {
        (!self.character.starts_with(SAMPLE)).then(|| Path::new(&self.character))
    }

    /// The files it names, and those of bones that `anatomy` names.
    pub fn inputs(&self, anatomy: Option<&Anatomy>) -> Vec<PathBuf> {
        let motion = match &self.motion {
            MotionSource::File(file) if !file.starts_with(SAMPLE) => Some(PathBuf::from(file)),
            _ => None,
        };
        let file = match &self.anatomy {
            AnatomySource::File(path) => Some(path.clone()),
            AnatomySource::Own | AnatomySource::Text { .. } => None,
        };
        let bones = anatomy.into_iter().flat_map(|anatomy| &anatomy.body.bone);
        let bones = bones.filter_map(|bone| Some(self.anatomy_folder().join(bone.mesh.as_ref()?)));
        self.file().map(Path::to_owned).into_iter().chain(motion).chain(file).chain(bones).collect()
    }

    /// Reads and checks everything the recipe names.
    pub fn read(&self) -> Result<Ingredients, RecipeError> {
        self.read_of(read_character(&self.character)?)
    }

    /// As [`Recipe::read`], of a character in memory: [`Recipe::character`] only names it.
    pub fn read_of(&self, mut character: Character) -> Result<Ingredients, RecipeError> {
        let mut notes = Vec::new();
        note_repairs(&mut notes, &self.character, &character.repairs);
        self.move_character(&mut character, &mut notes)?;
        self.weigh(&mut character, &mut notes)?;
        subdivide(&mut character, self.subdivide)
            .map_err(|source| RecipeError::Subdivide { character: self.character.clone(), source })?;
        if character.meshes.iter().all(|m| m.positions.is_empty()) {
            return Err(RecipeError::NoMesh { character: self.character.clone() });
        }
        self.under_the_skin(Arc::new(character), notes)
    }

    /// Reads the anatomy of a character whose motion is joined and whose weights are made.
    fn under_the_skin(
        &self,
        character: Arc<Character>,
        notes: Vec<Note>,
    ) -> Result<Ingredients, RecipeError> {
        let anatomy_file = self.anatomy_file(&character)?;
        let anatomy = match &anatomy_file {
            Some(file) => file.anatomy().clone(),
            None => {
                let spec = self.character.strip_prefix(SAMPLE);
                spec.and_then(|spec| samples::anatomy(spec, &character)).unwrap_or_default()
            }
        };
        let ingredients = Ingredients {
            character,
            anatomy_file,
            anatomy: Anatomy::default(),
            body: BodyDef::default(),
            folder: PathBuf::new(),
            notes,
            recipe: self.clone(),
        };
        Ok(ingredients.with_anatomy(anatomy, self.anatomy_folder()))
    }

    /// Reads the ingredients and binds them as the recipe says. What takes long is looked up in `cache` first, if
    /// given, and kept there.
    pub fn build(&self, cache: Option<&Cache>) -> Result<Built, RecipeError> {
        let ingredients = self.read()?;
        let body = ingredients.bind(ingredients.settings(self.stack.clone()), cache)?;
        Ok(Built { ingredients, body })
    }

    /// The folder that files named in the anatomy are relative to.
    pub fn anatomy_folder(&self) -> PathBuf {
        match &self.anatomy {
            AnatomySource::Own => PathBuf::from("."),
            AnatomySource::File(path) => folder_of(path),
            AnatomySource::Text { folder, .. } => folder.clone(),
        }
    }

    /// The anatomy the recipe names, checked against the character; `None` for [`AnatomySource::Own`].
    pub fn anatomy_file(&self, character: &Character) -> Result<Option<AnatomyFile>, RecipeError> {
        let file = match &self.anatomy {
            AnatomySource::Own => return Ok(None),
            AnatomySource::File(path) => AnatomyFile::read(path)?,
            AnatomySource::Text { text, .. } => {
                AnatomyFile::parse("the unsaved anatomy", text.clone()).map_err(FileError::from)?
            }
        };
        file.check(&character.skeleton).map_err(FileError::from)?;
        file.check_pieces(character).map_err(FileError::from)?;
        Ok(Some(file))
    }

    fn move_character(&self, character: &mut Character, notes: &mut Vec<Note>) -> Result<(), RecipeError> {
        match &self.motion {
            MotionSource::Own => {}
            MotionSource::Range => {
                let clip = motion::range_of_motion(character)
                    .ok_or_else(|| RecipeError::NothingToMove { character: self.character.clone() })?;
                character.clips = vec![clip];
            }
            MotionSource::File(file) => {
                let moving = read_character(file)?;
                note_repairs(notes, file, &moving.repairs);
                let report = motion::join(character, &moving)?;
                character.clips.retain(|clip| report.clips.contains(&clip.name));
                notes.push(Note::Joined { file: file.clone(), report });
            }
        }
        Ok(())
    }

    fn weigh(&self, character: &mut Character, notes: &mut Vec<Note>) -> Result<(), RecipeError> {
        let weightless = match self.weights {
            WeightSource::File => Vec::new(),
            WeightSource::Heat => (0..character.meshes.len()).collect(),
            WeightSource::Auto => heat_weights::weightless_meshes(character),
        };
        if !weightless.is_empty() {
            let repairs = heat_weights::give_weights(character, &weightless, &HeatSettings::default())?;
            notes.push(Note::Weighted { file: self.character.clone(), meshes: weightless.len() });
            note_repairs(notes, &self.character, &repairs);
        }
        Ok(())
    }
}

impl Ingredients {
    /// The same character with another anatomy, which must fit its skeleton; files it names are relative to `folder`.
    pub fn with_anatomy(mut self, anatomy: Anatomy, folder: PathBuf) -> Self {
        self.body = match self.recipe.muscles {
            MuscleUse::Off => BodyDef::default(),
            MuscleUse::Dynamic | MuscleUse::Still => anatomy.in_full(&self.character),
        };
        // The text no longer says what the anatomy is.
        self.anatomy_file = self.anatomy_file.filter(|file| *file.anatomy() == anatomy);
        self.anatomy = anatomy;
        self.folder = folder;
        self
    }

    /// The same character with everything else that `recipe` asks for. Its character, motion and weights must be those that
    /// were read; only the anatomy is read anew.
    pub fn with_recipe(&self, recipe: &Recipe) -> Result<Self, RecipeError> {
        recipe.under_the_skin(self.character.clone(), self.notes.clone())
    }

    /// What was read.
    pub fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The files that were read: the character's, its motion's, the anatomy's and the bones' that it names.
    pub fn inputs(&self) -> Vec<PathBuf> {
        self.recipe.inputs(Some(&self.anatomy))
    }

    /// Whether anything moves under the skin.
    pub fn has_muscles(&self) -> bool {
        self.body.has_flesh()
    }

    /// How vertices are brought to their place: as the recipe says, or else the anatomy.
    fn tracking(&self) -> Tracking {
        self.recipe.tracking.unwrap_or(self.anatomy.skin.tracking.into())
    }

    /// The wrinkles that recipe and anatomy ask for.
    fn wrinkles(&self) -> Option<WrinkleDef> {
        let own = self.anatomy.wrinkles.clone();
        match self.recipe.wrinkles {
            WrinkleUse::Anatomy => own,
            WrinkleUse::On => Some(own.unwrap_or_default()),
            WrinkleUse::Wavelength(wavelength) => {
                Some(WrinkleDef { wavelength: Some(wavelength), ..own.unwrap_or_default() })
            }
            WrinkleUse::Off => None,
        }
    }

    /// The common stack that suits the anatomy: muscles where it has any, parametric where it has only such.
    pub fn best_stack(&self) -> Stack {
        if self.has_muscles() {
            Stack::muscles()
        } else if !self.body.parametric.is_empty() {
            Stack::parametric()
        } else {
            Stack::implicit()
        }
    }

    /// How to bind for a stack, [`Ingredients::best_stack`] if `None`. What the anatomy asks for holds where the recipe
    /// does not say otherwise; the recipe's layers on the surface are added to the stack's.
    pub fn settings(&self, stack: Option<Stack>) -> Settings {
        let tracking = self.tracking();
        let mut settings = Settings::of_skin(&self.anatomy.skin, &self.character.skeleton, tracking);
        settings.parts.pieces.given.clone_from(&self.anatomy.piece);
        let mut stack = stack.unwrap_or_else(|| self.best_stack()).with_tracking(tracking);
        // A stack that names another start than the usual one keeps it against the anatomy, not against the recipe.
        let usual = stack.skinning == Skinning::DualQuaternion;
        if let Some(start) = self.recipe.start.or(usual.then_some(self.anatomy.skin.start)) {
            stack = stack.with_start(start);
        }
        stack.surface.extend_from_slice(&self.recipe.surface);
        stack.surface.extend(self.wrinkles().map(LayerDef::Wrinkles));
        let mut settings = Settings { stack, coherent: self.recipe.coherent, ..settings };
        if self.recipe.muscles == MuscleUse::Still {
            settings.muscles.motion = Motion::Kinematic;
        }
        settings
    }

    /// Refuses what a bind refuses in the settings and in the anatomy, in the same words and without the work of one.
    pub fn check(&self, settings: &Settings) -> Result<(), RecipeError> {
        settings.stack.check().map_err(BindError::from)?;
        match &self.anatomy_file {
            Some(file) if settings.stack.under == Under::Flesh => {
                Ok(file.check_on(&self.character, &self.folder).map_err(FileError::from)?)
            }
            _ => Ok(()),
        }
    }

    /// Binds the character. What takes long is looked up in `cache` first, if given, and kept there.
    /// What is wrong with muscles and fat is told with its place in the anatomy file, where there is one.
    pub fn bind(&self, settings: Settings, cache: Option<&Cache>) -> Result<Body, RecipeError> {
        self.bind_watched(settings, cache, &Watch::default())
    }

    /// As [`Ingredients::bind`], told to `watch`, which may stop it.
    pub fn bind_watched(
        &self,
        settings: Settings,
        cache: Option<&Cache>,
        watch: &Watch,
    ) -> Result<Body, RecipeError> {
        let anatomy = (&self.body, self.folder.as_path());
        let bound = Body::bind_watched(self.character.clone(), settings, anatomy, cache, watch);
        bound.map_err(|error| match (error, &self.anatomy_file) {
            (BindError::Anatomy(error), Some(file)) => FileError::from(file.locate(&error)).into(),
            (error, _) => error.into(),
        })
    }

    /// The clip called `name`, exactly or else ignoring case; the error lists the clips there are.
    pub fn clip(&self, name: &str) -> Result<&Clip, RecipeError> {
        self.character.clip(name).ok_or_else(|| {
            let names: Vec<&str> = self.character.clips.iter().map(|c| c.name.as_str()).collect();
            let known = match names.as_slice() {
                [] => "it has none".to_owned(),
                names => format!("it has {}", names.join(", ")),
            };
            RecipeError::NoClip { character: self.recipe.character.clone(), name: name.to_owned(), known }
        })
    }
}

fn note_repairs(notes: &mut Vec<Note>, file: &str, repairs: &[Repair]) {
    if !repairs.is_empty() {
        notes.push(Note::Repaired { file: file.to_owned(), repairs: repairs.to_vec() });
    }
}

fn folder_of(path: &Path) -> PathBuf {
    path.parent().unwrap_or(Path::new(".")).to_owned()
}
