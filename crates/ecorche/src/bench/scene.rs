//! What is measured: characters made by code, of the sizes in the papers, and a clip of each.

use super::bones::with_bones;
use super::{Bench, BenchError};
use crate::anatomy::BindFrames;
use crate::cache::Cache;
use crate::character::{Character, Clip, Pose};
use crate::deform::{Body, Settings, Stack};
use crate::muscle::definition::{BodyDef, MuscleDef};
use crate::skinning::Surface;
use glam::Affine3A;
use std::path::Path;
use std::sync::Arc;

/// A character and a clip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Scene {
    pub name: &'static str,
    /// As after `sample:`.
    pub sample: String,
    /// Joints that have skin, if not the sample's own.
    pub bones: Option<usize>,
    pub clip: &'static str,
    /// How many muscles, of how many particles.
    pub muscles: Option<[usize; 2]>,
}

/// How a frame is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Linear,
    DualQuaternion,
    /// The implicit skin, over muscles if the scene has any, every frame for itself.
    Free,
    /// The same, each frame from the one before; muscles swing.
    Coherent,
}

impl Kind {
    pub fn is_implicit(self) -> bool {
        matches!(self, Self::Free | Self::Coherent)
    }
}

/// A scene's character made ready, without muscles.
pub(super) struct Subject {
    pub character: Arc<Character>,
    pub surface: Surface,
    linear: Arc<Body>,
    dual_quaternion: Arc<Body>,
    pub implicit: Arc<Body>,
}

impl Scene {
    pub fn new(name: &'static str, sample: impl Into<String>, clip: &'static str) -> Self {
        Self { name, sample: sample.into(), bones: None, clip, muscles: None }
    }

    pub fn with_bones(self, count: usize) -> Self {
        Self { bones: Some(count), ..self }
    }

    pub fn with_muscles(self, count: usize, particles: usize) -> Self {
        Self { muscles: Some([count, particles]), ..self }
    }

    /// A scene of a body; a small hand for a quick run.
    fn body(name: &'static str, vertices: usize, bones: usize, clip: &'static str, quick: bool) -> Self {
        if quick {
            return Self::hand(true).with_bones(bones / 2).named(name);
        }
        Self::new(name, format!("athlete?resolution={vertices}"), clip).with_bones(bones)
    }

    fn named(self, name: &'static str) -> Self {
        Self { name, ..self }
    }

    /// Vertices 19,296 as in the thesis; all 52 bones, where the thesis has 12. A small arm for a quick run.
    pub fn runner(quick: bool) -> Self {
        if quick {
            return Self::arm("curl", true).named("runner");
        }
        Self::new("runner", "athlete?resolution=19296", "run")
    }

    pub fn jumper(quick: bool) -> Self {
        let clip = if quick { "shake" } else { "jump" };
        Self { clip, ..Self::runner(quick) }.named("jumper")
    }

    pub fn hand(quick: bool) -> Self {
        Self::new("hand", format!("hand?resolution={}", if quick { 2000 } else { 7707 }), "fist")
    }

    pub fn arm(clip: &'static str, quick: bool) -> Self {
        Self::new("arm", format!("arm?resolution={}", if quick { 2000 } else { 2172 }), clip)
    }

    /// The size of the Armadillo of 2012.
    pub fn giant(quick: bool) -> Self {
        Self::body("173k", 172_974, 23, "run", quick)
    }

    /// The size of Juna of 2012.
    pub fn juna(quick: bool) -> Self {
        Self::body("Juna", 7973, 55, "squat", quick)
    }

    /// Without name and clip: scenes of one character share it.
    pub fn character_key(&self) -> String {
        format!("{} {:?}", self.sample, self.bones)
    }

    /// Of the character and its muscles.
    pub fn body_key(&self) -> String {
        format!("{} {:?}", self.character_key(), self.muscles)
    }

    /// Its name in tables.
    pub fn title(&self) -> String {
        match self.muscles {
            Some([count, particles]) => format!("{}, {count} muscles x {particles}", self.name),
            None => self.name.to_owned(),
        }
    }

    /// The same without muscles.
    pub fn bare(&self) -> Self {
        Self { muscles: None, ..self.clone() }
    }

    /// The thickest muscles of the sample, one fibre each, mirrored pairs side by side; none if the scene has none.
    pub fn definition(&self, character: &Character) -> BodyDef {
        let Some([count, particles]) = self.muscles else { return BodyDef::default() };
        let anatomy = crate::samples::anatomy(&self.sample, character).unwrap_or_default();
        let mut muscle = anatomy.in_full(character).muscle;
        muscle.sort_by(|a, b| b.width.total_cmp(&a.width));
        muscle.truncate(count);
        let muscle = muscle.into_iter().map(|m| MuscleDef { particles, fibres: 1, ..m }).collect();
        BodyDef { muscle, ..BodyDef::default() }
    }

    /// Binds with tracking, over muscles if the scene has any.
    pub fn bind(&self, character: &Arc<Character>, cache: Option<&Cache>) -> Result<Body, BenchError> {
        let stack = if self.muscles.is_some() { Stack::muscles() } else { Stack::implicit() };
        let settings = Settings { stack, coherent: true, ..Settings::default() };
        let definition = self.definition(character);
        Ok(Body::bind_with(character.clone(), settings, &definition, Path::new("."), cache)?)
    }

    pub fn build(&self) -> Result<Character, BenchError> {
        let character = crate::samples::build(&self.sample)?;
        Ok(match self.bones {
            Some(count) => with_bones(character, count),
            None => character,
        })
    }

    pub fn clip<'a>(&self, character: &'a Character) -> Result<&'a Clip, BenchError> {
        character
            .clip(self.clip)
            .ok_or_else(|| BenchError::NoClip { sample: self.sample.clone(), clip: self.clip.to_owned() })
    }
}

impl Subject {
    pub fn new(scene: &Scene, bench: &Bench) -> Result<Self, BenchError> {
        let character = Arc::new(scene.build()?);
        let surface = Surface::new(&character).ok_or(BenchError::NoSkin(scene.sample.clone()))?;
        let implicit = Arc::new(scene.bare().bind(&character, Some(&bench.cache))?);
        let skinned = |stack: Stack| Body::bind(character.clone(), stack, None).map(Arc::new);
        let (linear, dual_quaternion) = (skinned(Stack::linear())?, skinned(Stack::dual_quaternion())?);
        Ok(Self { character, surface, linear, dual_quaternion, implicit })
    }

    pub fn body(&self, kind: Kind) -> &Arc<Body> {
        match kind {
            Kind::Linear => &self.linear,
            Kind::DualQuaternion => &self.dual_quaternion,
            Kind::Free | Kind::Coherent => &self.implicit,
        }
    }

    pub fn vertices(&self) -> usize {
        self.surface.mesh.positions.len()
    }
}

/// Where the bones of a character are at bind, and where a pose takes them.
pub(super) struct BoneMotion {
    pub bind: Vec<Affine3A>,
    surface: Surface,
}

impl BoneMotion {
    pub fn new(subject: &Subject) -> Self {
        let bind = BindFrames::of(&subject.character).bind_from_bone;
        Self { bind, surface: subject.surface.clone() }
    }

    pub fn at(&self, character: &Character, pose: &Pose) -> Vec<Affine3A> {
        let moved = self.surface.posed_from_rest(character, pose);
        moved.into_iter().zip(&self.bind).map(|(posed, bind)| posed * *bind).collect()
    }
}
