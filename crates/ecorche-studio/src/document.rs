//! The anatomy that is being edited, with undo.
//!
//! There is one for all pages of an engine: two tabs see each other's edits, in the order in which they arrived.

use crate::recovery::Recovery;
use crate::wire::wire;
use ecorche::anatomy::SkinDef;
use ecorche::anatomy::{
    Anatomy, AnatomyFile, Edit, EditError, FileError, History, init,
    preset::{self, Preset},
};
use ecorche::character::Character;
use ecorche::muscle::definition::BodyDef;
use ecorche::muscle::definition::{FatDef, KeysDef, MuscleDef};
use ecorche::muscle::parametric::ParametricDef;
use ecorche::output::{WriteError, file};
use ecorche::recipe::{AnatomySource, Ingredients};
use ecorche::surface::wrinkles::WrinkleDef;
use serde::Serialize;
use std::path::{Path, PathBuf};

wire! {
    /// The anatomy, and what can be undone.
    #[derive(Serialize)]
    pub struct DocumentHead {
        /// Grows with every change.
        pub revision: u64,
        /// Its file; none before it was saved.
        pub path: Option<String>,
        pub unsaved: bool,
        /// Steps that can be taken back.
        pub undo: usize,
        /// Steps that can be made again.
        pub redo: usize,
        pub text: String,
        pub skin: SkinDef,
        /// Absent where the skin stays smooth.
        pub wrinkles: Option<WrinkleDef>,
        pub muscle: Vec<MuscleDef>,
        pub fat: Vec<FatDef>,
        pub parametric: Vec<ParametricDef>,
        pub keys: Vec<KeysDef>,
    }
}

/// Why the document did not change.
#[derive(Debug, thiserror::Error)]
pub enum DocumentError {
    /// The edit makes no sense.
    #[error(transparent)]
    Edit(#[from] EditError),
    /// The result does not fit the character.
    #[error(transparent)]
    Fit(#[from] ecorche::anatomy::AnatomyError),
    /// A file could not be read.
    #[error(transparent)]
    Read(#[from] FileError),
    /// A file could not be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// It would not be found again as an anatomy.
    #[error("{}: an anatomy file's name ends in .toml", path.display())]
    Ending {
        /// The file.
        path: PathBuf,
    },
    /// Nowhere to save to.
    #[error("the anatomy has no file yet; give it a name that ends in .toml")]
    NoPath,
}

/// An anatomy file, its past and its future.
#[derive(Clone, Debug)]
pub struct Document {
    file: AnatomyFile,
    history: History,
    path: Option<PathBuf>,
    saved: String,
    revision: u64,
    steps: [usize; 2],
    drag: Option<u64>,
    recovery: Recovery,
}

impl Document {
    /// The anatomy that was read, or a new one: a sample's own, else the preset's muscles for a humanoid. Edits of a new
    /// one are kept in the folder `home` until it is saved.
    pub fn open(ingredients: &Ingredients, home: &Path) -> Result<Self, DocumentError> {
        let character = &ingredients.character;
        let file = match &ingredients.anatomy_file {
            Some(file) => file.clone(),
            None => {
                let body = ingredients.anatomy.body.clone();
                let none = body == BodyDef::default();
                let own = Preset { body, ..Preset::default() };
                let text = init::write(character, &if none { preset::place(character) } else { own });
                let file = AnatomyFile::parse("the new anatomy", text)?;
                file.check(&character.skeleton)?;
                file.check_pieces(character)?;
                file
            }
        };
        let path = match &ingredients.recipe().anatomy {
            AnatomySource::File(path) => Some(path.clone()),
            AnatomySource::Own | AnatomySource::Text { .. } => None,
        };
        let saved = file.text().to_owned();
        let place = path.clone().unwrap_or_else(|| home.join(format!("{}.toml", plain_name(character))));
        let recovery = Recovery::of(&place, &saved);
        let (history, steps) = (History::default(), [0; 2]);
        Ok(Self { file, history, path, saved, revision: 1, steps, drag: None, recovery })
    }

    /// Whether it is as it was last saved or loaded.
    fn is_saved(&self) -> bool {
        self.saved == self.text()
    }

    /// Where it was loaded from or saved to.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Whether an earlier run left edits that were not saved.
    pub fn has_lost_edits(&self) -> bool {
        self.recovery.found().is_some()
    }

    /// Takes up the edits of an earlier run, as one step; does nothing if there are none.
    pub fn recover(&mut self, character: &Character) -> Result<(), DocumentError> {
        match self.recovery.found().map(str::to_owned) {
            Some(text) => self.take_up(character, "the recovered anatomy", &text),
            None => Ok(()),
        }
    }

    /// Gives up the edits of an earlier run.
    pub fn give_up(&mut self) {
        self.recovery.settle();
        self.keep();
    }

    /// Keeps edits that are not saved where a crash does not reach them.
    pub fn keep(&self) {
        self.recovery.keep(self.text(), self.is_saved());
    }

    /// What it says.
    pub fn anatomy(&self) -> &Anatomy {
        self.file.anatomy()
    }

    /// As it would be saved.
    pub fn text(&self) -> &str {
        self.file.text()
    }

    /// Grows with every change.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Where the file is or will be; what it names is relative to that folder.
    pub fn folder(&self) -> &Path {
        self.path.as_deref().and_then(Path::parent).unwrap_or(Path::new(""))
    }

    /// The folder of the file, or `home` while there is none.
    pub fn folder_or<'a>(&'a self, home: &'a Path) -> &'a Path {
        let folder = self.path.as_deref().and_then(Path::parent);
        folder.map_or(home, |folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
    }

    /// Makes several changes as one step of undo, or none. Steps of the same drag replace each other.
    pub fn edit(
        &mut self,
        character: &Character,
        edits: &[Edit],
        drag: Option<u64>,
    ) -> Result<(), DocumentError> {
        let mut base = self.clone();
        if drag.is_some() && drag == self.drag && base.steps[0] > 0 {
            base.history.undo(&mut base.file)?;
            base.steps[0] -= 1;
        }
        let mut changed = base.file.clone();
        for edit in edits {
            changed.apply(edit)?;
        }
        changed.check(&character.skeleton)?;
        changed.check_pieces(character)?;
        base.take(changed.text())?;
        base.drag = drag;
        *self = base;
        Ok(())
    }

    /// Puts `text` in place of the whole file, as one step.
    fn take(&mut self, text: &str) -> Result<(), DocumentError> {
        let splice = difference(self.file.text(), text);
        self.history.apply(&mut self.file, &splice)?;
        self.steps = [self.steps[0] + 1, 0];
        self.revision += 1;
        self.drag = None;
        Ok(())
    }

    /// Takes the last step back; false if there is none.
    pub fn undo(&mut self) -> Result<bool, DocumentError> {
        let done = self.history.undo(&mut self.file)?;
        if done {
            self.steps = [self.steps[0] - 1, self.steps[1] + 1];
            self.revision += 1;
            self.drag = None;
        }
        Ok(done)
    }

    /// Makes the step last taken back again; false if there is none.
    pub fn redo(&mut self) -> Result<bool, DocumentError> {
        let done = self.history.redo(&mut self.file)?;
        if done {
            self.steps = [self.steps[0] + 1, self.steps[1] - 1];
            self.revision += 1;
            self.drag = None;
        }
        Ok(done)
    }

    /// Another text in place of this one, as one step; `name` is for messages.
    pub fn take_up(&mut self, character: &Character, name: &str, text: &str) -> Result<(), DocumentError> {
        let file = AnatomyFile::parse(name, text.to_owned()).map_err(FileError::from)?;
        file.check(&character.skeleton)?;
        file.check_pieces(character)?;
        self.take(text)?;
        self.recovery.settle();
        Ok(())
    }

    /// Another file in place of this one, as one step.
    pub fn load(&mut self, character: &Character, path: &Path) -> Result<(), DocumentError> {
        let file = AnatomyFile::read(path)?;
        file.check(&character.skeleton)?;
        file.check_pieces(character)?;
        self.take(file.text())?;
        self.saved = file.text().to_owned();
        self.path = Some(path.to_owned());
        self.recovery.follow(path, &self.saved);
        Ok(())
    }

    /// Writes the file; returns where.
    pub fn save(&mut self, path: Option<&Path>) -> Result<PathBuf, DocumentError> {
        let path = path.map(Path::to_owned).or_else(|| self.path.clone()).ok_or(DocumentError::NoPath)?;
        if path.extension().is_none_or(|ending| ending != "toml") {
            return Err(DocumentError::Ending { path });
        }
        file::write(&path, self.text().as_bytes())?;
        self.saved = self.text().to_owned();
        self.path = Some(path.clone());
        self.recovery.follow(&path, &self.saved);
        self.revision += 1;
        Ok(path)
    }

    /// For the page: everything that can be edited.
    pub fn describe(&self) -> DocumentHead {
        let Anatomy { skin, wrinkles, body, .. } = self.anatomy().clone();
        DocumentHead {
            revision: self.revision,
            path: self.path.as_ref().map(|p| p.display().to_string()),
            unsaved: !self.is_saved(),
            undo: self.steps[0],
            redo: self.steps[1],
            text: self.text().to_owned(),
            skin,
            wrinkles,
            muscle: body.muscle,
            fat: body.fat,
            parametric: body.parametric,
            keys: body.keys,
        }
    }
}

/// The character's name as a file's.
fn plain_name(character: &Character) -> String {
    character.name.chars().map(|c| if c.is_alphanumeric() { c } else { '_' }).collect()
}

/// The smallest single replacement that makes `new` of `old`.
fn difference(old: &str, new: &str) -> Edit {
    let same = |pair: &(char, char)| pair.0 == pair.1;
    let length = |pairs: Vec<(char, char)>| pairs.iter().map(|pair| pair.0.len_utf8()).sum::<usize>();
    let start = length(old.chars().zip(new.chars()).take_while(same).collect());
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let end = length(old_rest.chars().rev().zip(new_rest.chars().rev()).take_while(same).collect());
    Edit::Splice {
        start,
        removed: old_rest.len() - end,
        inserted: new_rest[..new_rest.len() - end].to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ecorche::anatomy::{Target, Value};
    use ecorche::recipe::Recipe;
    use std::sync::Arc;

    fn set(field: &str, value: f32) -> Edit {
        Edit::Set { target: Target::Skin, field: field.to_owned(), value: Value::from(value) }
    }

    fn document() -> (Character, Document) {
        let ingredients = Recipe::of("sample:cylinder").read().unwrap();
        let document = Document::open(&ingredients, Path::new("")).unwrap();
        (Arc::unwrap_or_clone(ingredients.character), document)
    }

    #[test]
    fn several_edits_are_one_step_or_none() {
        let (character, mut document) = document();
        let before = document.text().to_owned();
        document.edit(&character, &[set("gap", 0.03), set("max_offset", 0.2)], None).unwrap();
        assert_eq!((document.anatomy().skin.gap, document.anatomy().skin.max_offset), (0.03, 0.2));
        let after = document.text().to_owned();
        assert!(document.undo().unwrap());
        assert_eq!(document.text(), before);
        assert!(!document.undo().unwrap());
        assert!(document.redo().unwrap());
        assert_eq!(document.text(), after);
        let revision = document.revision();
        assert!(document.edit(&character, &[set("gap", 0.04), set("gap", -1.0)], None).is_err());
        assert_eq!((document.text(), document.revision()), (&after[..], revision));
    }

    #[test]
    fn a_drag_is_one_step_and_the_next_drag_another() {
        let (character, mut document) = document();
        let before = document.text().to_owned();
        for k in 1..=20 {
            document.edit(&character, &[set("gap", k as f32 / 80.0)], Some(1)).unwrap();
        }
        document.edit(&character, &[set("gap", 0.3)], Some(2)).unwrap();
        assert!(document.undo().unwrap());
        assert_eq!(document.anatomy().skin.gap, 0.25);
        assert!(document.undo().unwrap());
        assert_eq!(document.text(), before);
        assert_eq!(document.describe().undo, 0);
    }

    #[test]
    fn an_edit_that_does_not_fit_the_character_is_refused() {
        let (character, mut document) = document();
        let target = Target::Joint("tail".to_owned());
        let edit = Edit::Set { target, field: "operator".to_owned(), value: Value::from("bulge") };
        let error = document.edit(&character, &[edit], None).unwrap_err();
        assert!(error.to_string().contains("tail"), "{error}");
        assert_eq!(document.describe().undo, 0);
    }

    #[test]
    fn what_is_saved_loads_and_is_no_longer_unsaved() {
        let (character, mut document) = document();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        assert!(document.save(None).is_err());
        assert!(document.save(Some(&folder.path().join("a.sh"))).is_err());
        document.edit(&character, &[set("gap", 0.05)], None).unwrap();
        assert!(document.describe().unsaved);
        document.save(Some(&path)).unwrap();
        assert!(!document.describe().unsaved);
        let recipe = Recipe { anatomy: AnatomySource::File(path.clone()), ..Recipe::of("sample:cylinder") };
        let again = Document::open(&recipe.read().unwrap(), Path::new("")).unwrap();
        assert_eq!(again.text(), document.text());
        document.edit(&character, &[set("gap", 0.07)], None).unwrap();
        document.load(&character, &path).unwrap();
        assert_eq!(document.anatomy().skin.gap, 0.05);
        document.undo().unwrap();
        assert_eq!(document.anatomy().skin.gap, 0.07);
    }

    #[test]
    fn edits_that_were_not_saved_are_offered_at_the_next_start() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.toml");
        let (character, mut first) = document();
        first.save(Some(&path)).unwrap();
        let open = || {
            let recipe =
                Recipe { anatomy: AnatomySource::File(path.clone()), ..Recipe::of("sample:cylinder") };
            Document::open(&recipe.read().unwrap(), Path::new("")).unwrap()
        };
        let mut crashed = open();
        assert!(!crashed.has_lost_edits());
        crashed.edit(&character, &[set("gap", 0.07)], None).unwrap();
        crashed.keep();
        drop(crashed);
        let mut next = open();
        assert!(next.has_lost_edits() && next.anatomy().skin.gap != 0.07);
        next.keep();
        assert!(open().has_lost_edits(), "kept until somebody decides");
        next.recover(&character).unwrap();
        assert_eq!(next.anatomy().skin.gap, 0.07);
        next.save(None).unwrap();
        next.keep();
        assert!(!open().has_lost_edits());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left once it is saved");
        next.edit(&character, &[set("gap", 0.09)], None).unwrap();
        next.keep();
        let mut other = open();
        other.give_up();
        assert!(!open().has_lost_edits());
    }

    #[test]
    fn loading_or_saving_elsewhere_does_not_lose_what_a_crash_left_there() {
        let folder = tempfile::tempdir().unwrap();
        let (a, b) = (folder.path().join("a.toml"), folder.path().join("b.toml"));
        let lost = folder.path().join("b.toml.unsaved");
        let (character, mut document) = document();
        document.save(Some(&b)).unwrap();
        document.edit(&character, &[set("gap", 0.07)], None).unwrap();
        document.keep();
        let edits = std::fs::read_to_string(&lost).unwrap();
        // The studio crashes; the next one is opened with another file and comes to this one later.
        let change: [&dyn Fn(&mut Document); 2] =
            [&|d| d.load(&character, &b).unwrap(), &|d| d.save(Some(&b)).map(|_| ()).unwrap()];
        for change in change {
            let ingredients = Recipe::of("sample:cylinder").read().unwrap();
            let mut next = Document::open(&ingredients, folder.path()).unwrap();
            next.save(Some(&a)).unwrap();
            change(&mut next);
            next.keep();
            assert_eq!(std::fs::read_to_string(&lost).unwrap(), edits);
            assert!(next.has_lost_edits());
            next.recover(&character).unwrap();
            assert_eq!(next.anatomy().skin.gap, 0.07);
        }
    }

    #[test]
    fn a_difference_is_found_between_whole_characters() {
        for (old, new) in [("aéb", "aèb"), ("", "x"), ("aa", "a"), ("same", "same"), ("ab", "ba")] {
            let Edit::Splice { start, removed, inserted } = difference(old, new) else { panic!() };
            assert_eq!([&old[..start], &inserted, &old[start + removed..]].concat(), new);
        }
    }
}
