//! A file's text together with what it says.

use super::problem::{AnatomyError, Located, Path, Problem, label, line_and_column, locate};
use super::reader::{Problems, Section};
use super::{Anatomy, VERSION, body_tables, skin};
use crate::character::Skeleton;
use crate::muscle::definition::{BodyDef, Side};
use std::collections::BTreeMap;
use std::path::PathBuf;
use toml_edit::{Document, Item};

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
        let problems = Problems::default();
        let anatomy = read_root(document.as_item(), &problems);
        let problems = problems.into_inner();
        if !problems.is_empty() {
            return Err(located(file, &text, document.as_item(), problems));
        }
        Ok(Self { file: file.to_owned(), anatomy, text })
    }

    /// Reads a file from disk.
    pub fn read(path: &std::path::Path) -> Result<Self, FileError> {
        let text = std::fs::read_to_string(path)
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

fn read_root(root: &Item, problems: &Problems) -> Anatomy {
    let Some(table) = root.as_table_like() else { return Anatomy::default() };
    let keys = ["version", "skin", "muscle", "fat", "bone", "keys"];
    let section = Section::new(table, Path::default(), &keys, problems);
    section.require("version", &VERSION.to_string());
    if let Some(version) = section.whole("version", 0, i64::MAX)
        && version != VERSION
    {
        let remedy = format!("this program reads version {VERSION}");
        section.problem("version", format!("{version} is not known; {remedy}"));
    }
    let body = BodyDef {
        muscle: each(&section, "muscle", &body_tables::MUSCLE_KEYS, body_tables::read_muscle),
        fat: each(&section, "fat", &body_tables::FAT_KEYS, body_tables::read_fat),
        bone: each(&section, "bone", &body_tables::BONE_KEYS, body_tables::read_bone),
        keys: each(&section, "keys", &body_tables::KEYS_KEYS, body_tables::read_keys),
    };
    let skin = section.section("skin", &skin::KEYS).map(|s| skin::read(&s)).unwrap_or_default();
    let named = |key: &str| names_with_sides(root, key);
    for (key, entries) in [("muscle", named("muscle")), ("fat", named("fat"))] {
        duplicates(key, &entries, problems);
    }
    Anatomy { skin, body }
}

fn each<T>(section: &Section, key: &str, known: &[&str], read: fn(&Section) -> Option<T>) -> Vec<T> {
    section.sections(key, known).iter().filter_map(read).collect()
}

/// Index, name, sides covered of every entry that has a name.
fn names_with_sides(root: &Item, key: &str) -> Vec<(usize, String, Vec<Side>)> {
    let list = root.get(key).and_then(Item::as_array_of_tables);
    let tables = list.into_iter().flat_map(|list| list.iter().enumerate());
    tables
        .filter_map(|(index, table)| {
            let name = table.get("name")?.as_str()?.to_owned();
            let side = match table.get("side").and_then(Item::as_str) {
                Some("left") => Side::Left,
                Some("right") => Side::Right,
                _ => Side::Middle,
            };
            let mirrored = table.get("mirror").and_then(Item::as_bool) == Some(true);
            let sides = if mirrored { vec![side, side.opposite()] } else { vec![side] };
            Some((index, name, sides))
        })
        .collect()
}

fn duplicates(key: &str, entries: &[(usize, String, Vec<Side>)], problems: &Problems) {
    let mut seen = BTreeMap::new();
    for (index, name, sides) in entries {
        for &side in sides {
            if let Some(first) = seen.insert((name, side), index)
                && first != index
            {
                let path = Path::default().key(key).index(*index);
                let which = match side {
                    Side::Middle => String::new(),
                    side => format!(" of the {} side", side.name()),
                };
                problems.add(
                    &path.key("name"),
                    format!("a second {key} \"{name}\"{which}; rename it, or drop mirror where both sides are written"),
                );
                break;
            }
        }
    }
}
