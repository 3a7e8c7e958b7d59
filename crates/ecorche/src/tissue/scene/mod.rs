//! The scene file: bodies, materials, bones, holds, activations and contact, as TOML.
//!
//! Lengths (positions, sizes, radii) are in the file's `unit`; moduli in pascals, densities in kilograms per
//! cubic metre, gravity in metres per second squared, whatever the unit. Paths are relative to the scene file.

mod build;
mod checkpoint;
mod run;
mod warnings;

pub use build::{Scene, SceneBody, SceneBone};
pub use checkpoint::{CheckpointError, Log};
pub use run::{BodyRecord, FrameRecord};

use serde::Deserialize;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use thiserror::Error;
use toml::Spanned;

/// What is wrong with a scene, and where.
#[derive(Clone, Debug, Error, PartialEq)]
#[error("{}{}: {what}", path.display(), line.map(|l| format!(":{l}")).unwrap_or_default())]
pub struct SceneError {
    /// Scene file.
    pub path: PathBuf,
    /// Line, from 1, where known.
    pub line: Option<usize>,
    /// What and what to do.
    pub what: String,
}

/// Unit of length of a scene.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
pub(super) enum Unit {
    /// Metres.
    #[default]
    #[serde(rename = "m")]
    Metre,
    /// Centimetres.
    #[serde(rename = "cm")]
    Centimetre,
    /// Millimetres.
    #[serde(rename = "mm")]
    Millimetre,
}

impl Unit {
    /// Metres in one unit.
    pub fn metres(self) -> f64 {
        match self {
            Self::Metre => 1.0,
            Self::Centimetre => 0.01,
            Self::Millimetre => 0.001,
        }
    }
}

/// Which axis of a scene points up in its pictures.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
enum Up {
    Y,
    Z,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SceneFile {
    version: Spanned<u32>,
    #[serde(default)]
    unit: Unit,
    up: Option<Up>,
    #[serde(default)]
    run: RunFile,
    contact: Option<Spanned<ContactFile>>,
    #[serde(default)]
    material: BTreeMap<String, Spanned<MaterialFile>>,
    #[serde(default)]
    bone: Vec<Spanned<BoneFile>>,
    #[serde(default)]
    body: Vec<Spanned<BodyFile>>,
    #[serde(default)]
    hold: Vec<Spanned<HoldFile>>,
}

/// How long and how finely a scene runs.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct RunFile {
    fps: Spanned<f64>,
    seconds: Spanned<f64>,
    substeps: Spanned<u32>,
    mode: ModeFile,
    solver: SolverFile,
    gravity: [f64; 3],
    mass_damping: Spanned<f64>,
    stiffness_damping: Spanned<f64>,
    rest_blend: Spanned<f64>,
    tolerance: Spanned<f64>,
    iterations: usize,
    halvings: Spanned<u32>,
}

/// A value that the file does not give. It is always in range, so no message names its place.
fn default_value<T>(value: T) -> Spanned<T> {
    Spanned::new(0..0, value)
}

impl Default for RunFile {
    fn default() -> Self {
        let settings = super::step::Settings::default();
        Self {
            fps: default_value(24.0),
            seconds: default_value(1.0),
            substeps: default_value(4),
            mode: ModeFile::Newton,
            solver: SolverFile::Auto,
            gravity: settings.gravity.to_array(),
            mass_damping: default_value(0.0),
            stiffness_damping: default_value(0.0),
            rest_blend: default_value(0.0),
            tolerance: default_value(1e-4),
            iterations: 30,
            halvings: default_value(settings.halvings),
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ModeFile {
    SemiImplicit,
    Newton,
    QuasiStatic,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SolverFile {
    Auto,
    Direct,
    KeptFactor,
    ConjugateGradients,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct ContactFile {
    mode: ContactMode,
    tolerance: f64,
    rounds: u32,
    modulus: f64,
    friction: f64,
    thickness: f64,
    own: bool,
    bodies: bool,
    keep_overlap: bool,
}

impl Default for ContactFile {
    fn default() -> Self {
        let settings = super::contact::ContactSettings::default();
        Self {
            mode: ContactMode::Penalty,
            tolerance: 0.0,
            rounds: 20,
            modulus: settings.modulus,
            friction: settings.friction,
            thickness: settings.thickness,
            own: false,
            bodies: true,
            keep_overlap: settings.keep_overlap,
        }
    }
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum ContactMode {
    Penalty,
    Constraint,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct MaterialFile {
    kind: MaterialKind,
    young: f64,
    poisson: Option<f64>,
    bulk: Option<f64>,
    density: f64,
    peak: Option<f64>,
    optimal: Option<f64>,
    passive: Option<f64>,
    exponent: Option<f64>,
    linear_from: Option<f64>,
    deviatoric: Option<bool>,
    incompressible: Option<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum MaterialKind {
    NeoHookean,
    Stvk,
    Invertible,
    Corotational,
    Muscle,
    Tendon,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BoneFile {
    name: Spanned<String>,
    surface: Option<Spanned<String>>,
    capsule: Option<CapsuleFile>,
    cell: Option<f64>,
    pivot: Option<[f64; 3]>,
    #[serde(default)]
    key: Vec<KeyFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct CapsuleFile {
    from: [f64; 3],
    to: [f64; 3],
    radius: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyFile {
    time: f64,
    axis: Option<[f64; 3]>,
    turn: Option<f64>,
    shift: Option<[f64; 3]>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BodyFile {
    name: Spanned<String>,
    surface: Option<Spanned<String>>,
    tets: Option<Spanned<String>>,
    spindle: Option<SpindleFile>,
    brick: Option<BrickFile>,
    size: Option<f64>,
    layers: Option<u32>,
    thinnest: Option<f64>,
    material: Spanned<String>,
    tendon: Option<TendonFile>,
    origin: Option<Spanned<EndFile>>,
    insertion: Option<Spanned<EndFile>>,
    #[serde(default)]
    activation: Vec<[f64; 2]>,
    #[serde(default)]
    collide: Collide,
    skin: Option<Spanned<String>>,
}

/// Which surface of a body collides.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Collide {
    /// The boundary of its tetrahedra.
    #[default]
    Boundary,
    /// The finer surface it carries.
    Skin,
    /// None.
    None,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SpindleFile {
    from: [f64; 3],
    to: [f64; 3],
    radius: f64,
    tip: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct BrickFile {
    low: [f64; 3],
    high: [f64; 3],
    cells: [usize; 3],
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct TendonFile {
    material: Spanned<String>,
    part: f64,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndFile {
    bone: Spanned<String>,
    near: Option<[f64; 3]>,
    radius: Option<f64>,
    within: Option<f64>,
    soft: Option<f64>,
    from: Option<f64>,
    until: Option<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct HoldFile {
    kind: HoldKind,
    body: Spanned<String>,
    near: [f64; 3],
    radius: f64,
    bone: Option<Spanned<String>>,
    to: Option<Spanned<String>>,
    stiffness: Option<f64>,
    force: Option<[f64; 3]>,
    from: Option<f64>,
    until: Option<f64>,
}

#[derive(Clone, Copy, Debug, Deserialize, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum HoldKind {
    Fix,
    Spring,
    Slide,
    Join,
    Pull,
}

/// The text with what is needed to name a place in it.
struct Source<'a> {
    path: &'a Path,
    text: &'a str,
    /// Hash of the text and of every file read so far.
    content: RefCell<blake3::Hasher>,
    /// Those files.
    inputs: RefCell<Vec<PathBuf>>,
}

impl<'a> Source<'a> {
    fn new(path: &'a Path, text: &'a str) -> Self {
        let source = Self { path, text, content: RefCell::default(), inputs: RefCell::default() };
        source.add_content(text.as_bytes());
        source
    }

    /// Makes `bytes` part of what identifies the scene.
    fn add_content(&self, bytes: &[u8]) {
        let mut content = self.content.borrow_mut();
        // Lengths keep neighbouring files from running into each other.
        content.update(&(bytes.len() as u64).to_le_bytes());
        content.update(bytes);
    }

    fn line(&self, offset: usize) -> usize {
        1 + self.text.as_bytes()[..offset.min(self.text.len())].iter().filter(|&&b| b == b'\n').count()
    }

    fn error(&self, at: Option<usize>, what: impl Into<String>) -> SceneError {
        SceneError { path: self.path.to_owned(), line: at.map(|o| self.line(o)), what: what.into() }
    }

    /// The table and key that the text at an offset belongs to, as the start of a message.
    fn key(&self, offset: usize) -> String {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let (above, line) = before.split_at(before.rfind('\n').map_or(0, |end| end + 1));
        let table = above.lines().rev().map(str::trim_start).find(|line| line.starts_with('['));
        let table = table.and_then(|line| Some(line.split_once(']')?.0.trim_start_matches('[').trim()));
        // Lines of an array that began above have none.
        let is_key = |key: &&str| key.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c));
        let key = line.split_once('=').map(|(key, _)| key.trim()).filter(is_key);
        match (table, key) {
            (Some(table), Some(key)) => format!("[{table}] {key}: "),
            (Some(table), None) => format!("[{table}]: "),
            (None, Some(key)) => format!("{key}: "),
            (None, None) => String::new(),
        }
    }

    fn parse(&self) -> Result<SceneFile, SceneError> {
        let mut offset = 0;
        for line in self.text.split_inclusive('\n') {
            if not_finite(line) {
                let key = self.key(offset + line.trim_end().len());
                let what = format!("{key}a number is nan or inf; every number of a scene must be finite");
                return Err(self.error(Some(offset), what));
            }
            offset += line.len();
        }
        let file: SceneFile = toml::from_str(self.text).map_err(|e| {
            let at = e.span().map(|span| span.start);
            let mut what = format!("{}{}", at.map_or(String::new(), |at| self.key(at)), e.message());
            for (kind, meaning) in [
                ("usize", "a whole number, 0 or more"),
                ("u32", "a whole number, 0 or more"),
                ("f64", "a number"),
            ] {
                if let Some(start) = what.strip_suffix(&format!("expected {kind}")) {
                    what = format!("{start}expected {meaning}");
                }
            }
            self.error(at, what)
        })?;
        if *file.version.get_ref() != 1 {
            let what = format!("version {}; this program reads version 1", file.version.get_ref());
            return Err(self.error(Some(file.version.span().start), what));
        }
        Ok(file)
    }
}

/// Whether a line holds a bare `nan` or `inf`.
fn not_finite(line: &str) -> bool {
    let mut bare = String::new();
    let mut quote = None;
    for c in line.chars() {
        match quote {
            Some(q) if c == q => quote = None,
            Some(_) => {}
            None if c == '#' => break,
            None if c == '"' || c == '\'' => quote = Some(c),
            None => bare.push(c),
        }
    }
    // A table's header has no comma; a word before an equals sign is a key.
    if bare.trim_start().starts_with('[') && !bare.contains([',', '=']) {
        return false;
    }
    let mut rest = bare.as_str();
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphanumeric()) {
        let word = &rest[start..];
        let end = word.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(word.len());
        rest = &word[end..];
        if matches!(&word[..end], "nan" | "inf") && !rest.trim_start().starts_with('=') {
            return true;
        }
    }
    false
}

impl Scene {
    /// Reads a scene file and builds everything it names.
    pub fn read(path: &Path) -> Result<Self, SceneError> {
        let text = crate::input::read_text(path).map_err(|e| SceneError {
            path: path.to_owned(),
            line: None,
            what: format!("cannot be read: {e}"),
        })?;
        Self::parse(path, &text)
    }

    /// Builds a scene from its text; `path` names it in messages and is where relative paths start.
    pub fn parse(path: &Path, text: &str) -> Result<Self, SceneError> {
        let source = Source::new(path, text);
        let file = source.parse()?;
        build::build(&source, &file)
    }
}
