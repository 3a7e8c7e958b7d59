//! Changes of an anatomy file, each with its inverse.
//!
//! An edit becomes a splice: some bytes of the text are replaced by others. Nothing else changes, and the inverse
//! splice restores the text to the byte, comments and spacing included. A splice whose result is not an anatomy
//! is refused and changes nothing. An edit writes the present name of a key where the file has an earlier one.

use super::problem::AnatomyError;
use super::{AnatomyFile, keys, write};
use crate::muscle::definition::{FatDef, KeysDef, MuscleDef, Side};
use crate::muscle::parametric::ParametricDef;
use crate::schema::{Path, Step, Table as Keys, Value, key_text};
use serde::{Deserialize, Serialize};
use std::ops::Range;
use toml_edit::{Item, Table};

/// A list of the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// `[[muscle]]`
    Muscle,
    /// `[[fat]]`
    Fat,
    /// `[[parametric]]`
    Parametric,
}

impl Kind {
    fn key(self) -> &'static str {
        match self {
            Self::Muscle => "muscle",
            Self::Fat => "fat",
            Self::Parametric => "parametric",
        }
    }
}

/// What an edit is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Target {
    /// `[skin]`
    Skin,
    /// `[skin.joint."NAME"]`
    Joint(String),
    /// `[wrinkles]`
    Wrinkles,
    /// A muscle or fat pad by name and side. The side of a mirror image finds the entry it comes from.
    Entry(Kind, String, Side),
    /// An entry of `[[keys]]`, counted from 0.
    Keys(usize),
}

impl Target {
    /// The keys it may have.
    fn keys(&self) -> &'static Keys {
        match self {
            Self::Skin => &keys::SKIN,
            Self::Joint(_) => &keys::JOINT,
            Self::Wrinkles => &keys::WRINKLES,
            Self::Entry(Kind::Muscle, ..) => &keys::MUSCLE,
            Self::Entry(Kind::Fat, ..) => &keys::FAT,
            Self::Entry(Kind::Parametric, ..) => &keys::PARAMETRIC,
            Self::Keys(_) => &keys::KEYS,
        }
    }
}

/// A change of an anatomy file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Edit {
    /// Gives `field` a value; dots lead into tables: `origin.at`.
    Set {
        /// Of what.
        target: Target,
        /// Which field.
        field: String,
        /// The new value.
        value: Value,
    },
    /// Removes `field` from the file, so that its default holds.
    Clear {
        /// Of what.
        target: Target,
        /// Which field.
        field: String,
    },
    /// Writes a new muscle after the last.
    AddMuscle(Box<MuscleDef>),
    /// Writes a new fat pad after the last.
    AddFat(Box<FatDef>),
    /// Writes a new parametric muscle after the last.
    AddParametric(Box<ParametricDef>),
    /// Writes new keys after the last.
    AddKeys(Box<KeysDef>),
    /// Removes an entry.
    Remove(Target),
    /// Writes a copy of an entry under another name.
    Duplicate {
        /// Which entry.
        target: Target,
        /// The copy's name.
        name: String,
    },
    /// Adds or removes the mirror image of an entry on the other side.
    Mirror {
        /// Which entry.
        target: Target,
        /// Whether it defines both sides.
        linked: bool,
    },
    /// Replaces part of the text. Every edit becomes one, and so does its inverse.
    Splice {
        /// First byte.
        start: usize,
        /// Bytes that are removed.
        removed: usize,
        /// Text that takes their place.
        inserted: String,
    },
}

/// Why an edit was refused. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum EditError {
    /// The thing to edit is not there.
    #[error("{file}: nothing to edit: no {what}")]
    Missing {
        /// The file.
        file: String,
        /// What is missing.
        what: String,
    },
    /// The entry is not written as a block.
    #[error("{file}: {what} is not written as [[{what}]] blocks; rewrite it that way before editing it here")]
    NotBlocks {
        /// The file.
        file: String,
        /// Which list.
        what: String,
    },
    /// The splice does not fit the text.
    #[error("{file}: the text has changed since; the edit no longer fits")]
    Outdated {
        /// The file.
        file: String,
    },
    /// The result would be wrong.
    #[error(transparent)]
    Result(#[from] AnatomyError),
}

impl AnatomyFile {
    /// Makes a change and returns its inverse.
    pub fn apply(&mut self, edit: &Edit) -> Result<Edit, EditError> {
        let splice = match edit {
            Edit::Set { target, field, value } => self.set(target, field, Some(value))?,
            Edit::Clear { target, field } => self.set(target, field, None)?,
            Edit::AddMuscle(muscle) => self.add(Kind::Muscle.key(), write::muscle(muscle))?,
            Edit::AddFat(fat) => self.add(Kind::Fat.key(), write::fat(fat))?,
            Edit::AddParametric(muscle) => self.add(Kind::Parametric.key(), write::parametric(muscle))?,
            Edit::AddKeys(keys) => self.add("keys", write::keys(keys))?,
            Edit::Remove(target) => {
                let (block, _) = self.block(target)?;
                Splice { range: block, inserted: String::new() }
            }
            Edit::Duplicate { target, name } => {
                let (block, name_span) = self.block(target)?;
                let Some(old) = name_span else { return Err(self.missing(target)) };
                let text = self.text();
                let copy = [
                    &text[block.start..old.start],
                    &Value::from(name.as_str()).to_string(),
                    &text[old.end..block.end],
                ];
                // The last block of a file may lack its newline.
                let gap = if text[..block.end].ends_with('\n') { "" } else { "\n" };
                Splice { range: block.end..block.end, inserted: format!("{gap}{}", copy.concat()) }
            }
            Edit::Mirror { target, linked: true } => self.set(target, "mirror", Some(&Value::Flag(true)))?,
            Edit::Mirror { target, linked: false } => self.set(target, "mirror", None)?,
            Edit::Splice { start, removed, inserted } => {
                Splice { range: *start..start.saturating_add(*removed), inserted: inserted.clone() }
            }
        };
        self.splice(splice)
    }

    fn splice(&mut self, splice: Splice) -> Result<Edit, EditError> {
        let Splice { range, inserted } = splice;
        let text = self.text();
        let Some(removed) = text.get(range.clone()).map(str::to_owned) else {
            return Err(EditError::Outdated { file: self.name().to_owned() });
        };
        let changed = [&text[..range.start], &inserted, &text[range.end..]].concat();
        *self = Self::parse(self.name(), changed)?;
        Ok(Edit::Splice { start: range.start, removed: inserted.len(), inserted: removed })
    }

    fn missing(&self, target: &Target) -> EditError {
        let what = match target {
            Target::Skin => "[skin]".to_owned(),
            Target::Joint(name) => format!("[skin.joint.\"{name}\"]"),
            Target::Wrinkles => "[wrinkles]".to_owned(),
            Target::Entry(kind, name, side) => format!("{} \"{name}\" of side {}", kind.key(), side.name()),
            Target::Keys(index) => format!("keys {}", index + 1),
        };
        EditError::Missing { file: self.name().to_owned(), what }
    }

    /// Way to the table of `target`, which may not be there yet for skin and joints.
    fn path_of(&self, target: &Target) -> Result<Path, EditError> {
        let root = Path::default();
        let body = &self.anatomy().body;
        let same = |name: &str, side: Side, mirror: bool, wanted: &(&str, Side)| {
            name == wanted.0 && (side == wanted.1 || (mirror && side.opposite() == wanted.1))
        };
        let index = match target {
            Target::Skin => return Ok(root.key("skin")),
            Target::Joint(name) => return Ok(root.key("skin").key("joint").key(name)),
            Target::Wrinkles => return Ok(root.key("wrinkles")),
            Target::Entry(Kind::Muscle, name, side) => {
                body.muscle.iter().position(|m| same(&m.name, m.side, m.mirror, &(name, *side)))
            }
            Target::Entry(Kind::Fat, name, side) => {
                body.fat.iter().position(|f| same(&f.name, f.side, f.mirror, &(name, *side)))
            }
            Target::Entry(Kind::Parametric, name, side) => {
                body.parametric.iter().position(|m| same(&m.name, m.side, m.mirror, &(name, *side)))
            }
            Target::Keys(index) => (*index < body.keys.len()).then_some(*index),
        };
        let key = match target {
            Target::Entry(kind, ..) => kind.key(),
            _ => "keys",
        };
        index.map(|index| root.key(key).index(index)).ok_or_else(|| self.missing(target))
    }

    fn set(&self, target: &Target, field: &str, value: Option<&Value>) -> Result<Splice, EditError> {
        let document = self.document()?;
        let root = document.as_item();
        let table_path = self.path_of(target)?;
        let steps = target.keys().keys_along(field);
        let names: Vec<&str> = steps.iter().map(|(name, key)| key.map_or(*name, |key| key.name)).collect();
        // The way as the file has it, which may use earlier names.
        let mut path = table_path.clone();
        for (name, key) in &steps {
            let earlier = key.iter().flat_map(|key| key.old_names).copied();
            let present = key.map_or(*name, |key| key.name);
            let there = |name: &&str| find(root, &path.key(name)).is_some_and(|item| !item.is_none());
            let written = [present].into_iter().chain(earlier).find(there).unwrap_or(present);
            path = path.key(written);
        }
        let text = |value: &Value| match steps.last().and_then(|(_, key)| *key) {
            Some(key) => key.kind.write(value, false),
            None => value.to_string(),
        };
        match (find(root, &path), value) {
            (Some(Item::Value(old)), Some(value)) => {
                let span = old.span().ok_or_else(|| self.missing(target))?;
                let mut splice = Splice { range: span, inserted: text(value) };
                if let Some(key) = key_span(root, &path).filter(|_| names.last() != Some(&path.last_key())) {
                    let name = key_text(names.last().copied().unwrap_or_default());
                    splice.inserted =
                        [&name, &self.text()[key.end..splice.range.start], &splice.inserted].concat();
                    splice.range.start = key.start;
                }
                Ok(splice)
            }
            (None | Some(Item::None), None) => Ok(Splice { range: 0..0, inserted: String::new() }),
            (Some(_), None) => {
                let range = self.entry_range(root, &path).ok_or_else(|| self.missing(target))?;
                Ok(Splice { range, inserted: String::new() })
            }
            // A table under its own header, or nothing at all.
            (_, Some(value)) => self.insert(root, &table_path, &names, &text(value), target),
        }
    }

    /// A new entry in an existing table, or a new table with that entry.
    fn insert(
        &self,
        root: &Item,
        table_path: &Path,
        keys: &[&str],
        value: &str,
        target: &Target,
    ) -> Result<Splice, EditError> {
        let dotted = |keys: &[&str]| keys.iter().map(|key| key_text(key)).collect::<Vec<_>>().join(".");
        let line = format!("{} = {value}\n", dotted(keys));
        // Into the innermost table that is there.
        for depth in (1..keys.len()).rev() {
            let inner = keys[..depth].iter().fold(table_path.clone(), |path, key| path.key(key));
            let rest = dotted(&keys[depth..]);
            if let Some(Item::Value(toml_edit::Value::InlineTable(table))) = find(root, &inner) {
                let end = table.span().ok_or_else(|| self.missing(target))?.end.saturating_sub(1);
                let start = self.text()[..end].trim_end().len();
                let comma = if table.is_empty() { " " } else { ", " };
                return Ok(Splice { range: start..end, inserted: format!("{comma}{rest} = {value} ") });
            }
        }
        if let Some(Item::Value(toml_edit::Value::InlineTable(table))) = find(root, table_path) {
            let end = table.span().ok_or_else(|| self.missing(target))?.end.saturating_sub(1);
            let start = self.text()[..end].trim_end().len();
            let comma = if table.is_empty() { " " } else { ", " };
            return Ok(Splice { range: start..end, inserted: format!("{comma}{} ", line.trim_end()) });
        }
        if let Some(table) = find_table(root, table_path).filter(|t| !t.is_implicit() && !t.is_dotted()) {
            let last =
                table.iter().filter_map(|(_, item)| item.as_value().and_then(|v| v.span())).map(|s| s.end);
            let header = table.span().ok_or_else(|| self.missing(target))?;
            let at = end_of_line(self.text(), last.max().unwrap_or(header.start).max(header.start));
            return Ok(Splice { range: at..at, inserted: with_newline_before(self.text(), at, &line) });
        }
        let header: Vec<String> = table_path
            .0
            .iter()
            .map(|step| match step {
                Step::Key(key) => key_text(key),
                Step::Index(index) => index.to_string(),
            })
            .collect();
        let block = format!("\n[{}]\n{line}", header.join("."));
        // A joint's settings stand with the skin's.
        let after = find_table(root, &Path::default().key("skin")).and_then(|skin| skin.span());
        let at = match after {
            Some(span) => self.end_of_block(root, span.start),
            None => first_header(root).unwrap_or(self.text().len()),
        };
        Ok(Splice { range: at..at, inserted: with_newline_before(self.text(), at, &block) })
    }

    fn add(&self, list: &str, block: String) -> Result<Splice, EditError> {
        let document = self.document()?;
        let root = document.as_item();
        let at = match root.get(list) {
            Some(Item::ArrayOfTables(tables)) => {
                let last = tables.iter().filter_map(Table::span).map(|s| s.start).max();
                last.map_or(self.text().len(), |start| self.end_of_block(root, start))
            }
            None | Some(Item::None) => self.text().len(),
            Some(_) => {
                return Err(EditError::NotBlocks { file: self.name().to_owned(), what: list.to_owned() });
            }
        };
        let text = with_newline_before(self.text(), at, &format!("\n{block}"));
        Ok(Splice { range: at..at, inserted: text })
    }

    /// The text of an entry, its comments included, and where its name's value stands.
    fn block(&self, target: &Target) -> Result<(Range<usize>, Option<Range<usize>>), EditError> {
        let document = self.document()?;
        let path = self.path_of(target)?;
        let root = document.as_item();
        let not_blocks = || EditError::NotBlocks {
            file: self.name().to_owned(),
            what: match path.0.first() {
                Some(Step::Key(key)) => key.clone(),
                _ => String::new(),
            },
        };
        let table = match find_table(root, &path) {
            Some(table) if !table.is_implicit() && !table.is_dotted() => table,
            Some(_) => return Err(not_blocks()),
            None if find(root, &path).is_some() => return Err(not_blocks()),
            None => return Err(self.missing(target)),
        };
        let header = table.span().ok_or_else(not_blocks)?;
        let start = leading_comments(self.text(), header.start);
        let end = self.end_of_block(root, header.start);
        let name = table.get("name").and_then(Item::span);
        Ok((start..end, name))
    }

    /// Where the block whose header starts at `header` ends: at the comments of the next header.
    fn end_of_block(&self, root: &Item, header: usize) -> usize {
        let next = headers(root).into_iter().filter(|&h| h > header).min();
        next.map_or(self.text().len(), |next| leading_comments(self.text(), next).max(header))
    }

    /// The lines of an entry, or its stretch of an inline table.
    fn entry_range(&self, root: &Item, path: &Path) -> Option<Range<usize>> {
        let text = self.text();
        let (last, way) = path.0.split_last()?;
        let Step::Key(key) = last else { return None };
        let parent = Path(way.to_vec());
        let holder = find(root, &parent);
        if let Some(Item::Value(toml_edit::Value::InlineTable(table))) = holder {
            let (key, item) = table.get_key_value(key)?;
            let range = key.span()?.start..item.span()?.end;
            let tail = &text[range.end..];
            let spaces = tail.len() - tail.trim_start().len();
            if tail.trim_start().starts_with(',') {
                let end = range.end + spaces + 1;
                let blanks = text[end..].len() - text[end..].trim_start_matches(' ').len();
                return Some(range.start..end + blanks);
            }
            let before = text[..range.start].trim_end();
            let start = before.strip_suffix(',').map_or(range.start, str::len);
            return Some(start..range.end);
        }
        let table = find_table(root, &parent)?;
        let (key, item) = table.get_key_value(key)?;
        let value = item.as_value()?;
        let start = text[..key.span()?.start].rfind('\n').map_or(0, |at| at + 1);
        Some(start..end_of_line(text, value.span()?.end))
    }
}

struct Splice {
    range: Range<usize>,
    inserted: String,
}

fn find<'a>(root: &'a Item, path: &Path) -> Option<&'a Item> {
    path.0.iter().try_fold(root, |item, step| match step {
        Step::Key(key) => item.as_table_like()?.get(key),
        Step::Index(index) => item.get(*index),
    })
}

/// Where the last key of `path` stands.
fn key_span(root: &Item, path: &Path) -> Option<Range<usize>> {
    let (Step::Key(key), way) = path.0.split_last()? else { return None };
    find(root, &Path(way.to_vec()))?.as_table_like()?.get_key_value(key)?.0.span()
}

/// The table at `path`, elements of `[[lists]]` included.
fn find_table<'a>(root: &'a Item, path: &Path) -> Option<&'a Table> {
    let (last, way) = path.0.split_last()?;
    let holder = find(root, &Path(way.to_vec()))?;
    match last {
        Step::Key(key) => holder.as_table_like()?.get(key)?.as_table(),
        Step::Index(index) => holder.as_array_of_tables()?.get(*index),
    }
}

/// Where the headers of all tables start.
fn headers(root: &Item) -> Vec<usize> {
    let mut found = Vec::new();
    let mut open = vec![root];
    while let Some(item) = open.pop() {
        let tables: Vec<&Table> = match item {
            Item::Table(table) => vec![table],
            Item::ArrayOfTables(list) => list.iter().collect(),
            _ => continue,
        };
        for table in tables {
            if !table.is_implicit() && !table.is_dotted() && !std::ptr::eq(item, root) {
                found.extend(table.span().map(|span| span.start));
            }
            open.extend(table.iter().map(|(_, item)| item));
        }
    }
    found.sort_unstable();
    found
}

fn first_header(root: &Item) -> Option<usize> {
    headers(root).first().copied()
}

fn end_of_line(text: &str, from: usize) -> usize {
    text[from..].find('\n').map_or(text.len(), |at| from + at + 1)
}

/// Start of the comment lines directly above the line that `header` is on.
fn leading_comments(text: &str, header: usize) -> usize {
    let mut start = text[..header].rfind('\n').map_or(0, |at| at + 1);
    while start > 0 {
        let line = text[..start - 1].rfind('\n').map_or(0, |at| at + 1);
        if !text[line..start].trim_start().starts_with('#') {
            break;
        }
        start = line;
    }
    start
}

fn with_newline_before(text: &str, at: usize, block: &str) -> String {
    if at == 0 || text[..at].ends_with('\n') { block.to_owned() } else { format!("\n{block}") }
}

/// Edits that can be undone and redone.
#[derive(Clone, Debug, Default)]
pub struct History {
    undo: Vec<Edit>,
    redo: Vec<Edit>,
}

/// Most steps remembered.
const LONGEST: usize = 10_000;

impl History {
    /// Makes a change that can be undone.
    pub fn apply(&mut self, file: &mut AnatomyFile, edit: &Edit) -> Result<(), EditError> {
        let inverse = file.apply(edit)?;
        if self.undo.len() == LONGEST {
            self.undo.remove(0);
        }
        self.undo.push(inverse);
        self.redo.clear();
        Ok(())
    }

    /// Undoes the last change; false if there is none.
    pub fn undo(&mut self, file: &mut AnatomyFile) -> Result<bool, EditError> {
        Self::step(&mut self.undo, &mut self.redo, file)
    }

    /// Redoes the change last undone; false if there is none.
    pub fn redo(&mut self, file: &mut AnatomyFile) -> Result<bool, EditError> {
        Self::step(&mut self.redo, &mut self.undo, file)
    }

    fn step(from: &mut Vec<Edit>, to: &mut Vec<Edit>, file: &mut AnatomyFile) -> Result<bool, EditError> {
        let Some(edit) = from.last() else { return Ok(false) };
        to.push(file.apply(edit)?);
        from.pop();
        Ok(true)
    }
}
