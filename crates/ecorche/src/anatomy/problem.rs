//! What is wrong in an anatomy file, where, and what to do about it.

use crate::schema::{Path, Step};
use std::fmt;
use toml_edit::{Item, TableLike};

/// A problem with its place in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Located {
    /// Line, counted from 1.
    pub line: usize,
    /// Column in characters, counted from 1.
    pub column: usize,
    /// The thing it is about, such as `muscle "biceps brachii"`; empty for the file as a whole.
    pub label: String,
    /// What, and what to do about it.
    pub message: String,
}

/// An anatomy file that cannot be used, with everything found wrong in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnatomyError {
    /// The file as the user named it.
    pub file: String,
    /// In the order of the text; at least one.
    pub problems: Vec<Located>,
}

impl std::error::Error for AnatomyError {}

impl fmt::Display for AnatomyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, problem) in self.problems.iter().enumerate() {
            if k > 0 {
                writeln!(f)?;
            }
            let Located { line, column, label, message } = problem;
            let colon = if label.is_empty() { "" } else { ": " };
            write!(f, "{}:{line}:{column}: {label}{colon}{message}", self.file)?;
        }
        Ok(())
    }
}

/// The byte range of the text that `path` leads to: the key of a table's entry, the element of a list. Where
/// the way ends early, the last place reached.
pub(super) fn locate(root: &Item, path: &Path) -> std::ops::Range<usize> {
    let mut item = Some(root);
    let mut place = 0..0;
    for step in &path.0 {
        let Some(here) = item else { break };
        item = match step {
            Step::Key(key) => {
                let found = here.as_table_like().and_then(|table| table.get_key_value(key));
                // A table's own header says more than the key on the way to it.
                let span = found.and_then(|(key, item)| {
                    let header = item.as_table().filter(|t| !t.is_implicit() && !t.is_dotted());
                    header.and_then(|t| t.span()).or_else(|| key.span())
                });
                place = span.unwrap_or(place);
                found.map(|(_, item)| item)
            }
            Step::Index(index) => {
                if let Some(table) = here.as_array_of_tables().and_then(|list| list.get(*index)) {
                    place = table.span().unwrap_or(place);
                }
                let element = here.get(*index);
                place = element.and_then(Item::span).unwrap_or(place);
                element
            }
        };
    }
    place
}

/// What a person calls the thing at `path`: `muscle "biceps brachii" origin.at`.
pub(super) fn label(root: &Item, path: &Path) -> String {
    let named = |table: &dyn TableLike| {
        ["name", "muscle", "clip"].iter().find_map(|key| table.get(key)?.as_str().map(str::to_owned))
    };
    let mut words: Vec<String> = Vec::new();
    let mut item = Some(root);
    let mut dotted = String::new();
    for step in &path.0 {
        item = match step {
            Step::Key(key) => {
                if !dotted.is_empty() {
                    dotted.push('.');
                }
                let plain = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
                if plain {
                    dotted.push_str(key)
                } else {
                    dotted.push_str(&format!("\"{key}\""))
                }
                item.and_then(|i| i.get(key.as_str()))
            }
            Step::Index(index) => {
                let element = item.and_then(|i| i.get(*index));
                let table = item.and_then(Item::as_array_of_tables).and_then(|list| list.get(*index));
                words.push(std::mem::take(&mut dotted));
                words.push(match table.and_then(|t| named(t)) {
                    Some(name) => format!("\"{name}\""),
                    None => (index + 1).to_string(),
                });
                element
            }
        };
    }
    words.push(dotted);
    words.retain(|word| !word.is_empty());
    words.join(" ")
}

/// Line and column of a byte offset, both from 1.
pub(super) fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let mut end = offset.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
}
