//! A file's text together with what it says.

use super::problem::{AnatomyError, Located, label, line_and_column, locate};
use super::rules::Rules;
use super::{Anatomy, JointDef, SkinDef, VERSION, WrinkleDef, keys};
use crate::character::{Character, Skeleton};
use crate::muscle::BuildError;
use crate::muscle::definition::{BodyDef, Side};
use crate::schema::{Path, Problem, Table, Value};
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::path::PathBuf;
use toml_edit::{Document, Item};

/// The entries of a table.
type Entries = BTreeMap<String, Value>;

/// Most bytes of a file: a hundred muscles take 50 kB.
const LARGEST: usize = 16 << 20;

/// An anatomy file: text, and what it says. The two always agree.
#[derive(Clone, Debug, PartialEq)]
pub struct AnatomyFile {
    file: String,
    text: String,
    anatomy: Anatomy,
}

/// Why a file was not read.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system refused.
    #[error("{}: {source}", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The content is wrong.
    #[error(transparent)]
    Content(#[from] AnatomyError),
}

impl AnatomyFile {
    /// Reads the text of `file`, which is only named in messages.
    pub fn parse(file: &str, text: String) -> Result<Self, AnatomyError> {
        if text.len() > LARGEST {
            let message = format!("holds {} bytes, more than any anatomy; is it the right file?", text.len());
            let problems = vec![Located { line: 1, column: 1, label: String::new(), message }];
            return Err(AnatomyError { file: file.to_owned(), problems });
        }
        let document = parse_toml(file, &text)?;
        let mut reading = Reading::default();
        let anatomy = reading.root(document.as_item());
        let problems = reading.problems;
        if !problems.is_empty() {
            return Err(located(file, &text, document.as_item(), problems));
        }
        Ok(Self { file: file.to_owned(), anatomy, text })
    }

    /// Reads a file from disk.
    pub fn read(path: &std::path::Path) -> Result<Self, FileError> {
        let text = crate::input::read_text(path)
            .map_err(|source| FileError::Io { path: path.to_owned(), source })?;
        Ok(Self::parse(&path.display().to_string(), text)?)
    }

    /// The name used in messages.
    pub fn name(&self) -> &str {
        &self.file
    }

    /// The text as it would be saved.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What the text says.
    pub fn anatomy(&self) -> &Anatomy {
        &self.anatomy
    }

    /// Whether it fits `skeleton`: every joint named exists, no muscle is longer than the bones allow.
    pub fn check(&self, skeleton: &Skeleton) -> Result<(), AnatomyError> {
        let problems = self.anatomy.check(skeleton);
        if problems.is_empty() {
            return Ok(());
        }
        let document = parse_toml(&self.file, &self.text)?;
        Err(located(&self.file, &self.text, document.as_item(), problems))
    }

    /// Whether it can be used with `character`: as [`AnatomyFile::check`] and [`AnatomyFile::check_pieces`], and its muscles and
    /// fat can be built. `folder`: where the files of bones are relative to. A bind fails in the same cases with the same message.
    pub fn check_on(&self, character: &Character, folder: &std::path::Path) -> Result<(), AnatomyError> {
        self.check(&character.skeleton)?;
        self.check_pieces(character)?;
        self.anatomy.build(character, folder).map(drop).map_err(|error| self.locate(&error))
    }

    /// An error of building its muscles, with its place in the text.
    pub(crate) fn locate(&self, error: &BuildError) -> AnatomyError {
        let problems = vec![Problem { path: self.anatomy.place_of(error), message: error.to_string() }];
        match self.document() {
            Ok(document) => located(&self.file, &self.text, document.as_item(), problems),
            Err(unreadable) => unreadable,
        }
    }

    /// Whether the meshes, materials and pieces it names are `character`'s.
    pub fn check_pieces(&self, character: &Character) -> Result<(), AnatomyError> {
        let problems = self.anatomy.check_pieces(character);
        if problems.is_empty() {
            return Ok(());
        }
        let document = parse_toml(&self.file, &self.text)?;
        Err(located(&self.file, &self.text, document.as_item(), problems))
    }

    /// The document with spans; it parsed before, so it parses again.
    pub(super) fn document(&self) -> Result<Document<&str>, AnatomyError> {
        parse_toml(&self.file, &self.text)
    }
}

fn parse_toml<'a>(file: &str, text: &'a str) -> Result<Document<&'a str>, AnatomyError> {
    Document::parse(text).map_err(|error| {
        let (line, column) = line_and_column(text, error.span().map_or(0, |span| span.start));
        let message = format!("not TOML: {}", error.message());
        let problems = vec![Located { line, column, label: String::new(), message }];
        AnatomyError { file: file.to_owned(), problems }
    })
}

fn located(file: &str, text: &str, root: &Item, problems: Vec<Problem>) -> AnatomyError {
    let mut found: Vec<Located> = problems
        .into_iter()
        .map(|Problem { path, message }| {
            let (line, column) = line_and_column(text, locate(root, &path).start);
            Located { line, column, label: label(root, &path), message }
        })
        .collect();
    found.sort_by_key(|p| (p.line, p.column));
    AnatomyError { file: file.to_owned(), problems: found }
}

/// What is wrong with a file that is being read.
#[derive(Default)]
struct Reading {
    problems: Vec<Problem>,
}

impl Reading {
    fn add(&mut self, path: Path, message: impl Into<String>) {
        self.problems.push(Problem { path, message: message.into() });
    }

    fn root(&mut self, root: &Item) -> Anatomy {
        let path = Path::default();
        let Some(Value::Table(mut root)) = self.value(root, &path) else { return Anatomy::default() };
        let body = BodyDef {
            muscle: self.list(&mut root, "muscle", &keys::MUSCLE),
            parametric: self.list(&mut root, "parametric", &keys::PARAMETRIC),
            fat: self.list(&mut root, "fat", &keys::FAT),
            bone: self.list(&mut root, "bone", &keys::BONE),
            keys: self.list(&mut root, "keys", &keys::KEYS),
        };
        let piece = self.list(&mut root, "piece", &keys::PIECE);
        let skin = self.skin(&mut root);
        let wrinkles = self.wrinkles(&mut root);
        // What is left is not of the shape it should be, or not known.
        let rest = keys::FILE.check(root, &path, &mut self.problems);
        if let Some(Value::Whole(version)) = rest.get("version")
            && *version != VERSION
        {
            let message = format!("{version} is not known; this program reads version {VERSION}");
            self.add(path.key("version"), message);
        }
        Anatomy { skin, wrinkles, piece, body }
    }

    /// A value of the file; `None` for a kind of TOML value that anatomies do not use.
    fn value(&mut self, item: &Item, path: &Path) -> Option<Value> {
        if let Some(table) = item.as_table_like() {
            let items = table.iter().filter(|(_, item)| !item.is_none());
            let entries =
                items.filter_map(|(key, item)| Some((key.to_owned(), self.value(item, &path.key(key))?)));
            return Some(Value::Table(entries.collect()));
        }
        if let Some(list) = item.as_array_of_tables() {
            let tables = list
                .iter()
                .enumerate()
                .filter_map(|(k, table)| self.value(&Item::Table(table.clone()), &path.index(k)));
            return Some(Value::List(tables.collect()));
        }
        match item.as_value()? {
            toml_edit::Value::String(text) => Some(Value::Text(text.value().clone())),
            toml_edit::Value::Integer(number) => Some(Value::Whole(*number.value())),
            toml_edit::Value::Float(number) => Some(Value::Number(*number.value())),
            toml_edit::Value::Boolean(flag) => Some(Value::Flag(*flag.value())),
            toml_edit::Value::Array(list) => {
                let elements = list.iter().enumerate();
                let values: Vec<Option<Value>> = elements
                    .map(|(k, value)| self.value(&Item::Value(value.clone()), &path.index(k)))
                    .collect();
                Some(Value::List(values.into_iter().collect::<Option<_>>()?))
            }
            toml_edit::Value::InlineTable(_) => None,
            toml_edit::Value::Datetime(_) => {
                self.add(path.clone(), "must not be a date; put text in quotes");
                None
            }
        }
    }

    /// Takes a list of tables out of the file and reads it. Anything else of that name stays.
    fn list<T: DeserializeOwned + Rules>(
        &mut self,
        root: &mut Entries,
        list: &str,
        table: &'static Table,
    ) -> Vec<T> {
        let is_table = |value: &Value| matches!(value, Value::Table(_));
        if !matches!(root.get(list), Some(Value::List(values)) if values.iter().all(is_table)) {
            return Vec::new();
        }
        let Some(Value::List(values)) = root.remove(list) else { return Vec::new() };
        let path = Path::default().key(list);
        self.duplicates(&path, &values);
        let entries = values.into_iter().enumerate();
        entries.filter_map(|(k, value)| self.entry(value, &path.index(k), table)).collect()
    }

    fn skin(&mut self, root: &mut Entries) -> SkinDef {
        if !matches!(root.get("skin"), Some(Value::Table(_))) {
            return SkinDef::default();
        }
        let path = Path::default().key("skin");
        let skin: SkinDef =
            root.remove("skin").and_then(|skin| self.entry(skin, &path, &keys::SKIN)).unwrap_or_default();
        for (name, joint) in &skin.joint {
            self.rules::<JointDef>(joint, &path.key("joint").key(name));
        }
        skin
    }

    fn wrinkles(&mut self, root: &mut Entries) -> Option<WrinkleDef> {
        matches!(root.get("wrinkles"), Some(Value::Table(_))).then_some(())?;
        self.entry(root.remove("wrinkles")?, &Path::default().key("wrinkles"), &keys::WRINKLES)
    }

    /// Reads a table; `None` if the table of keys refuses it.
    fn entry<T: DeserializeOwned + Rules>(
        &mut self,
        value: Value,
        path: &Path,
        table: &'static Table,
    ) -> Option<T> {
        let Value::Table(entries) = value else { return None };
        let before = self.problems.len();
        let kept = table.check(entries, path, &mut self.problems);
        if self.problems.len() > before {
            return None;
        }
        match Value::Table(kept).read::<T>() {
            Ok(entry) => {
                self.rules(&entry, path);
                Some(entry)
            }
            Err(error) => {
                self.add(path.clone(), error.to_string());
                None
            }
        }
    }

    fn rules<T: Rules>(&mut self, entry: &T, path: &Path) {
        for (dotted, message) in entry.broken() {
            self.add(dotted.split('.').fold(path.clone(), |path, key| path.key(key)), message);
        }
    }

    /// Finds entries of the same name and side.
    fn duplicates(&mut self, list: &Path, values: &[Value]) {
        let mut seen = BTreeMap::new();
        for (index, value) in values.iter().enumerate() {
            let Some((name, sides)) = name_and_sides(value) else { continue };
            let again = sides.into_iter().find(|&side| {
                let first = *seen.entry((name, side)).or_insert(index);
                first != index
            });
            let Some(side) = again else { continue };
            let which = match side {
                Side::Middle => String::new(),
                side => format!(" of the {} side", side.name()),
            };
            let kind = list.last_key();
            let message = format!(
                "a second {kind} \"{name}\"{which}; rename it, or drop mirror where both sides are written"
            );
            self.add(list.index(index).key("name"), message);
        }
    }
}

/// Name and sides covered of an entry that has a name.
fn name_and_sides(entry: &Value) -> Option<(&str, Vec<Side>)> {
    let Value::Table(entries) = entry else { return None };
    let Value::Text(name) = entries.get("name")? else { return None };
    let side = entries.get("side").and_then(|side| side.read().ok()).unwrap_or_default();
    let mirrored = entries.get("mirror") == Some(&Value::Flag(true));
    Some((name, if mirrored { vec![side, Side::opposite(side)] } else { vec![side] }))
}
