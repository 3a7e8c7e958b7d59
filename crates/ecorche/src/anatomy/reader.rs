//! Typed access to the tables of an anatomy file that notes what is wrong and goes on.

use super::names::suggestion;
use super::problem::{Path, Problem};
use glam::Vec3;
use std::cell::RefCell;
use toml_edit::{Item, TableLike};

/// Values a number may take.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bound {
    /// Any finite number.
    Any,
    /// Above zero.
    Positive,
    /// Zero or above.
    NotNegative,
    /// Between two numbers, both allowed.
    Within(f64, f64),
}

impl Bound {
    /// What a number breaks, if it does.
    fn broken_by(self, number: f64) -> Option<String> {
        let kept = match self {
            Self::Any => true,
            Self::Positive => number > 0.0,
            Self::NotNegative => number >= 0.0,
            Self::Within(low, high) => (low..=high).contains(&number),
        };
        // Sizes beyond this overflow a single-precision square.
        if !number.is_finite() || number.abs() > 1e15 {
            return Some("must be a finite number of a sensible size".to_owned());
        }
        (!kept).then(|| match self {
            Self::Any => String::new(),
            Self::Positive => "must be above zero".to_owned(),
            Self::NotNegative => "must not be negative".to_owned(),
            Self::Within(low, high) => format!("must be from {low} to {high}"),
        })
    }
}

/// The problems found so far.
#[derive(Debug, Default)]
pub(super) struct Problems(RefCell<Vec<Problem>>);

impl Problems {
    pub fn add(&self, path: &Path, message: impl Into<String>) {
        self.0.borrow_mut().push(Problem { path: path.clone(), message: message.into() });
    }

    pub fn into_inner(self) -> Vec<Problem> {
        self.0.into_inner()
    }
}

/// A table being read.
pub(super) struct Section<'a> {
    table: &'a dyn TableLike,
    pub path: Path,
    problems: &'a Problems,
}

impl<'a> Section<'a> {
    /// Reads `table`, which `path` leads to and which may have the keys `known`.
    pub fn new(table: &'a dyn TableLike, path: Path, known: &[&str], problems: &'a Problems) -> Self {
        let unknown = table.iter().filter(|(key, item)| !item.is_none() && !known.contains(key));
        for (key, _) in unknown {
            let near = suggestion(key, known.iter().copied());
            let remedy = if near.is_empty() { format!("; known are {}", known.join(", ")) } else { near };
            problems.add(&path.key(key), format!("unknown key \"{key}\"{remedy}"));
        }
        Self { table, path, problems }
    }

    fn get(&self, key: &str) -> Option<&'a Item> {
        self.table.get(key).filter(|item| !item.is_none())
    }

    pub fn has(&self, key: &str) -> bool {
        self.get(key).is_some()
    }

    /// Notes a problem of `key`.
    pub fn problem(&self, key: &str, message: impl Into<String>) {
        self.problems.add(&self.path.key(key), message);
    }

    fn wrong_type(&self, key: &str, item: &Item, wanted: &str) {
        self.problem(key, format!("must be {wanted}, not {}", item.type_name()));
    }

    /// Notes that `key` must be there.
    pub fn require(&self, key: &str, example: &str) {
        if !self.has(key) {
            self.problems.add(&self.path, format!("has no {key}; write {key} = {example}"));
        }
    }

    pub fn number(&self, key: &str, bound: Bound) -> Option<f64> {
        let item = self.get(key)?;
        self.number_of(item, &self.path.key(key), bound)
    }

    fn number_of(&self, item: &Item, path: &Path, bound: Bound) -> Option<f64> {
        let number = item.as_float().or_else(|| item.as_integer().map(|i| i as f64));
        let Some(number) = number else {
            self.problems.add(path, format!("must be a number, not {}", item.type_name()));
            return None;
        };
        match bound.broken_by(number) {
            Some(rule) => {
                self.problems.add(path, format!("{number} {rule}"));
                None
            }
            None => Some(number),
        }
    }

    pub fn whole(&self, key: &str, low: i64, high: i64) -> Option<i64> {
        let item = self.get(key)?;
        match item.as_integer() {
            Some(number) if (low..=high).contains(&number) => Some(number),
            Some(number) => {
                self.problem(key, format!("{number} must be from {low} to {high}"));
                None
            }
            None => {
                self.wrong_type(key, item, &format!("a whole number from {low} to {high}"));
                None
            }
        }
    }

    pub fn text(&self, key: &str) -> Option<&'a str> {
        let item = self.get(key)?;
        if item.as_str().is_none() {
            self.wrong_type(key, item, "text in quotes");
        }
        item.as_str()
    }

    /// One of `choices`.
    pub fn choice(&self, key: &str, choices: &[&str]) -> Option<&'a str> {
        let text = self.text(key)?;
        if choices.contains(&text) {
            return Some(text);
        }
        let near = suggestion(text, choices.iter().copied());
        let list = if near.is_empty() { "; choose one of" } else { " Known are" };
        self.problem(key, format!("no {key} \"{text}\"{near}{list} {}", choices.join(", ")));
        None
    }

    pub fn flag(&self, key: &str) -> Option<bool> {
        let item = self.get(key)?;
        if item.as_bool().is_none() {
            self.wrong_type(key, item, "true or false");
        }
        item.as_bool()
    }

    /// A list of names.
    pub fn names(&self, key: &str) -> Option<Vec<String>> {
        let item = self.get(key)?;
        let names = item.as_array().map(|list| list.iter().map(|v| v.as_str()).collect::<Option<Vec<_>>>());
        let Some(Some(names)) = names else {
            self.wrong_type(key, item, "a list of names such as [\"Jaw\"]");
            return None;
        };
        Some(names.into_iter().map(str::to_owned).collect())
    }

    /// Exactly `N` numbers.
    pub fn numbers<const N: usize>(&self, key: &str, bound: Bound) -> Option<[f64; N]> {
        let item = self.get(key)?;
        self.numbers_of(item, &self.path.key(key), bound)
    }

    fn numbers_of<const N: usize>(&self, item: &Item, path: &Path, bound: Bound) -> Option<[f64; N]> {
        let Some(list) = item.as_array().filter(|list| list.len() == N) else {
            self.problems.add(path, format!("must be a list of {N} numbers"));
            return None;
        };
        let mut numbers = [0.0; N];
        for (k, value) in list.iter().enumerate() {
            let element = Item::Value(value.clone());
            numbers[k] = self.number_of(&element, &path.index(k), bound)?;
        }
        Some(numbers)
    }

    /// Any count of numbers.
    pub fn list(&self, key: &str, bound: Bound) -> Option<Vec<f64>> {
        let item = self.get(key)?;
        let Some(list) = item.as_array() else {
            self.wrong_type(key, item, "a list of numbers");
            return None;
        };
        let path = self.path.key(key);
        list.iter()
            .enumerate()
            .map(|(k, value)| self.number_of(&Item::Value(value.clone()), &path.index(k), bound))
            .collect()
    }

    pub fn vector(&self, key: &str, bound: Bound) -> Option<Vec3> {
        self.numbers::<3>(key, bound).map(|v| Vec3::from_array(v.map(|x| x as f32)))
    }

    /// A list of lists of `N` numbers.
    pub fn rows<const N: usize>(&self, key: &str, bound: Bound) -> Option<Vec<[f64; N]>> {
        let item = self.get(key)?;
        let Some(list) = item.as_array() else {
            self.wrong_type(key, item, &format!("a list of lists of {N} numbers"));
            return None;
        };
        let path = self.path.key(key);
        list.iter()
            .enumerate()
            .map(|(k, row)| self.numbers_of(&Item::Value(row.clone()), &path.index(k), bound))
            .collect()
    }

    /// A table within, written as `{ ... }` or under a header of its own.
    pub fn section(&self, key: &str, known: &[&str]) -> Option<Section<'a>> {
        let item = self.get(key)?;
        match item.as_table_like() {
            Some(table) => Some(Section::new(table, self.path.key(key), known, self.problems)),
            None => {
                self.wrong_type(key, item, "a table { ... }");
                None
            }
        }
    }

    /// The tables of a list, written `[[key]]` or `[{ ... }, { ... }]`.
    pub fn sections(&self, key: &str, known: &[&str]) -> Vec<Section<'a>> {
        let Some(item) = self.get(key) else { return Vec::new() };
        let path = self.path.key(key);
        let tables: Option<Vec<&'a dyn TableLike>> = match item {
            Item::ArrayOfTables(list) => Some(list.iter().map(|t| t as &dyn TableLike).collect()),
            Item::Value(value) => value
                .as_array()
                .and_then(|l| l.iter().map(|v| v.as_inline_table().map(|t| t as &dyn TableLike)).collect()),
            _ => None,
        };
        let Some(tables) = tables else {
            self.wrong_type(key, item, &format!("tables with [[{key}]] above each"));
            return Vec::new();
        };
        tables
            .into_iter()
            .enumerate()
            .map(|(k, table)| Section::new(table, path.index(k), known, self.problems))
            .collect()
    }

    /// Tables by name, such as `[skin.joint."LeftForeArm"]`.
    pub fn named_sections(&self, key: &str, known: &[&str]) -> Vec<(String, Section<'a>)> {
        let Some(item) = self.get(key) else { return Vec::new() };
        let Some(tables) = item.as_table_like() else {
            self.wrong_type(key, item, "tables by name");
            return Vec::new();
        };
        let path = self.path.key(key);
        let mut sections = Vec::new();
        for (name, item) in tables.iter().filter(|(_, item)| !item.is_none()) {
            match item.as_table_like() {
                Some(table) => sections
                    .push((name.to_owned(), Section::new(table, path.key(name), known, self.problems))),
                None => self.problems.add(&path.key(name), "must be a table { ... }"),
            }
        }
        sections
    }

    /// Whether `key` holds a table, and not a plain value.
    pub fn holds_table(&self, key: &str) -> bool {
        self.get(key).is_some_and(Item::is_table_like)
    }
}
