//! Anatomy files: what they say of muscles, and changes of them that leave the rest of the text as it is.

use crate::error::{raised, wrong};
use ecorche::anatomy::{AnatomyFile, BindFrames, Edit, Kind, Target, Value};
use ecorche::character::Character;
use ecorche::muscle::definition::{Attachment, MuscleDef, Side};
use ecorche::output::file;
use glam::Vec3;
use pyo3::prelude::*;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A point of a muscle: its bone and its place.
type Point = (String, [f32; 3]);

/// A place as a file has it, in hundredths of a millimetre: finer than anyone places a muscle, and short to read.
const STEPS_PER_METRE: f32 = 1e5;

/// The anatomy of a character. Places are in the file's units and axes, where the skin was bound.
#[pyclass(frozen, module = "ecorche")]
pub struct Anatomy {
    file: Mutex<AnatomyFile>,
    character: Arc<Character>,
    frames: BindFrames,
}

/// A muscle of an anatomy.
#[pyclass(frozen, get_all, module = "ecorche")]
pub struct Muscle {
    /// Name without the side.
    name: String,
    /// "left", "right" or "middle".
    side: &'static str,
    /// Whether it is the mirror image of an entry, which is the one to be moved.
    mirrored: bool,
    /// Mean radius when bound.
    width: f32,
    /// Where it starts: bones and places.
    origin: Vec<Point>,
    /// What it passes on its way.
    via: Vec<Point>,
    /// Where it ends.
    insertion: Vec<Point>,
}

#[pymethods]
impl Muscle {
    fn __repr__(&self) -> String {
        format!("<ecorche.Muscle \"{}\", {}>", self.name, self.side)
    }
}

#[pymethods]
impl Anatomy {
    /// The text as it would be written.
    #[getter]
    fn text(&self) -> String {
        self.file().text().to_owned()
    }

    /// Its muscles, each mirror image after its original.
    fn muscles(&self) -> Vec<Muscle> {
        let file = self.file();
        let written = &file.anatomy().body.muscle;
        let full = file.anatomy().in_full(&self.character);
        let is_written = |m: &MuscleDef| written.iter().any(|w| w.name == m.name && w.side == m.side);
        full.muscle.iter().map(|muscle| self.describe(muscle, !is_written(muscle))).collect()
    }

    /// Moves points of a muscle, or changes its width. Each list has a place for every point there is; bones stay. Nothing else
    /// of the text changes. A mirror image cannot be moved.
    #[pyo3(signature = (name, side = "middle", *, origin = None, via = None, insertion = None, width = None))]
    fn move_muscle(
        &self,
        name: &str,
        side: &str,
        origin: Option<Vec<[f32; 3]>>,
        via: Option<Vec<[f32; 3]>>,
        insertion: Option<Vec<[f32; 3]>>,
        width: Option<f32>,
    ) -> PyResult<()> {
        let Some(side) = [Side::Left, Side::Right, Side::Middle].into_iter().find(|s| s.name() == side)
        else {
            return Err(wrong("side", format_args!("left, right or middle expected, \"{side}\" given")));
        };
        let mut file = self.file();
        let muscles = &file.anatomy().body.muscle;
        let Some(muscle) = muscles.iter().find(|m| m.name == name && m.side == side).cloned() else {
            return Err(wrong(
                "name",
                format_args!("no muscle \"{name}\" of side {} is written", side.name()),
            ));
        };
        let ends = [
            ("origin", &muscle.origin.0, origin),
            ("via", &muscle.via, via),
            ("insertion", &muscle.insertion.0, insertion),
        ];
        let mut edits = Vec::new();
        for (field, points, places) in ends {
            let Some(places) = places else { continue };
            if places.len() != points.len() {
                let text = format_args!("{} places expected, {} given", points.len(), places.len());
                return Err(wrong(field, text));
            }
            let moved: Vec<Attachment> =
                points.iter().zip(places).map(|(point, at)| self.moved(point, Vec3::from(at))).collect();
            edits.extend(match (field, &moved[..]) {
                (_, []) => None,
                ("origin" | "insertion", [one]) => Some((format!("{field}.at"), Value::from(one.at))),
                _ => Some((field.to_owned(), Value::List(moved.iter().map(table).collect()))),
            });
        }
        edits.extend(width.map(|width| {
            ("width".to_owned(), Value::from(rounded(width * self.character.world.metres_per_unit)))
        }));
        // All or nothing.
        let mut changed = file.clone();
        for (field, value) in edits {
            let target = Target::Entry(Kind::Muscle, name.to_owned(), side);
            changed.apply(&Edit::Set { target, field, value }).map_err(raised)?;
        }
        changed.check(&self.character.skeleton).map_err(raised)?;
        *file = changed;
        Ok(())
    }

    /// Sets how much of the muscles' motion shows on the skin: 0 soft, 1 lean, 1.5 as in comics.
    fn set_definition(&self, definition: f32) -> PyResult<()> {
        let (target, field) = (Target::Skin, "definition".to_owned());
        self.file().apply(&Edit::Set { target, field, value: Value::from(definition) }).map_err(raised)?;
        Ok(())
    }

    /// Writes the text to a file, which is there as a whole or as it was.
    fn write(&self, path: PathBuf) -> PyResult<()> {
        file::write(&path, self.file().text().as_bytes()).map_err(raised)?;
        Ok(())
    }

    fn __repr__(&self) -> String {
        let file = self.file();
        format!("<ecorche.Anatomy \"{}\": {} muscles written>", file.name(), file.anatomy().body.muscle.len())
    }
}

impl Anatomy {
    /// A file that fits the character.
    pub fn new(file: AnatomyFile, character: Arc<Character>) -> PyResult<Self> {
        file.check(&character.skeleton).map_err(raised)?;
        let frames = BindFrames::of(&character);
        Ok(Self { file: Mutex::new(file), character, frames })
    }

    /// The file; an edit that panicked has changed nothing.
    fn file(&self) -> MutexGuard<'_, AnatomyFile> {
        self.file.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn describe(&self, muscle: &MuscleDef, mirrored: bool) -> Muscle {
        let points = |points: &[Attachment]| points.iter().map(|point| self.place(point)).collect();
        Muscle {
            name: muscle.name.clone(),
            side: muscle.side.name(),
            mirrored,
            width: muscle.width / self.character.world.metres_per_unit,
            origin: points(&muscle.origin.0),
            via: points(&muscle.via),
            insertion: points(&muscle.insertion.0),
        }
    }

    fn place(&self, point: &Attachment) -> Point {
        let at = self
            .character
            .skeleton
            .find(&point.bone)
            .map_or(point.at, |joint| self.frames.to_bind(joint, point.at));
        (point.bone.clone(), self.character.world.to_user(at).to_array())
    }

    /// The point at another place, given as [`Anatomy::place`] gives it.
    fn moved(&self, point: &Attachment, to: Vec3) -> Attachment {
        let to = self.character.world.to_internal(to);
        let at = self.character.skeleton.find(&point.bone).map_or(to, |joint| self.frames.to_bone(joint, to));
        Attachment { bone: point.bone.clone(), at: at.map(rounded) }
    }
}

fn rounded(metres: f32) -> f32 {
    (metres * STEPS_PER_METRE).round() / STEPS_PER_METRE
}

fn table(point: &Attachment) -> Value {
    let entries = [("bone", Value::from(point.bone.as_str())), ("at", Value::from(point.at))];
    Value::Table(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}
