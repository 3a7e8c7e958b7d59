//! A table of measurements: printed, written as JSON, drawn.

use crate::output::plot::Plot;
use serde_json::{Map, Value, json};
use std::fmt::{self, Write};

/// One value of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Words.
    Text(String),
    /// A finite number in the unit of its column.
    Number(f64),
    /// No number is known.
    None,
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        if value.is_finite() { Self::Number(value) } else { Self::None }
    }
}

impl From<usize> for Cell {
    fn from(value: usize) -> Self {
        Self::Number(value as f64)
    }
}

impl From<Option<f64>> for Cell {
    fn from(value: Option<f64>) -> Self {
        value.map_or(Self::None, Self::from)
    }
}

impl From<&str> for Cell {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for Cell {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl fmt::Display for Cell {
    /// Numbers with three significant digits, whole ones in full.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => f.write_str(text),
            Self::Number(value) if value.fract() == 0.0 && value.abs() < 1e12 => write!(f, "{value:.0}"),
            Self::Number(value) => {
                let power = value.abs().max(1e-9).log10().floor() as i32;
                write!(f, "{value:.*}", (2 - power).clamp(0, 6) as usize)
            }
            Self::None => f.write_str("-"),
        }
    }
}

/// What a column holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its head, and its key in JSON.
    pub name: String,
    /// Unit of its numbers; empty for words and plain numbers.
    pub unit: String,
}

/// A table of measurements.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Name by which it is asked for.
    pub name: &'static str,
    /// What it shows.
    pub title: String,
    /// Where figures that are not ours are from, and the machine they were measured on.
    pub source: Option<&'static str>,
    /// Its columns.
    pub columns: Vec<Column>,
    /// As many cells each as there are columns.
    pub rows: Vec<Vec<Cell>>,
    /// What a reader has to know of the numbers.
    pub notes: Vec<String>,
    /// Drawn from the same numbers.
    pub plots: Vec<Plot>,
}

impl Table {
    /// A table without rows. Units follow the names of columns in brackets: `"frame (ms)"`.
    pub(super) fn new(name: &'static str, title: impl Into<String>, columns: &[&str]) -> Self {
        let column = |head: &&str| {
            let (name, unit) = match head.strip_suffix(')').and_then(|h| h.split_once(" (")) {
                Some((name, unit)) => (name, unit),
                None => (*head, ""),
            };
            Column { name: name.to_owned(), unit: unit.to_owned() }
        };
        Self {
            name,
            title: title.into(),
            source: None,
            columns: columns.iter().map(column).collect(),
            rows: Vec::new(),
            notes: Vec::new(),
            plots: Vec::new(),
        }
    }

    pub(super) fn row(&mut self, cells: impl IntoIterator<Item = Cell>) {
        let mut cells: Vec<Cell> = cells.into_iter().collect();
        cells.resize(self.columns.len(), Cell::None);
        self.rows.push(cells);
    }

    pub(super) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Title, source, columns with units, rows by the names of the columns, notes.
    pub fn to_json(&self) -> Value {
        let cell = |cell: &Cell| match cell {
            Cell::Text(text) => json!(text),
            Cell::Number(value) => json!(value),
            Cell::None => Value::Null,
        };
        let row = |row: &Vec<Cell>| -> Value {
            let named =
                self.columns.iter().zip(row).map(|(column, value)| (column.name.clone(), cell(value)));
            named.collect::<Map<_, _>>().into()
        };
        json!({
            "title": self.title,
            "source": self.source,
            "units": self.columns.iter().filter(|c| !c.unit.is_empty()).map(|c| (c.name.clone(), json!(c.unit))).collect::<Map<_, _>>(),
            "rows": self.rows.iter().map(row).collect::<Vec<_>>(),
            "notes": self.notes,
        })
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = self.columns.iter().map(|c| match c.unit.as_str() {
            "" => c.name.clone(),
            unit => format!("{} ({unit})", c.name),
        });
        let mut lines = vec![head.collect::<Vec<String>>()];
        lines.extend(self.rows.iter().map(|row| row.iter().map(Cell::to_string).collect()));
        let width = |c: usize| lines.iter().map(|line| line[c].chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..self.columns.len()).map(width).collect();
        let words = |c: usize| self.rows.iter().all(|row| !matches!(row[c], Cell::Number(_)));
        writeln!(f, "{}: {}", self.name, self.title)?;
        for line in &lines {
            let mut text = String::from(" ");
            for (c, (cell, &w)) in line.iter().zip(&widths).enumerate() {
                // Writing to a string does not fail.
                let _ = if words(c) { write!(text, " {cell:<w$} ") } else { write!(text, " {cell:>w$} ") };
            }
            writeln!(f, "{}", text.trim_end())?;
        }
        for note in self.source.iter().copied().chain(self.notes.iter().map(String::as_str)) {
            writeln!(f, "  * {note}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_right_under_their_heads_and_in_json_by_name() {
        let mut table = Table::new("t", "a title", &["scene", "frame (ms)", "theirs (ms)"]);
        table.row(["hand".into(), 12.345.into(), Cell::None]);
        table.row(["runner".into(), 0.0123.into(), 50usize.into()]);
        table.row(["broken".into(), f64::NAN.into()]);
        let text = table.to_string();
        assert!(text.contains("12.3") && text.contains("0.0123") && text.contains("frame (ms)"), "{text}");
        let json = table.to_json();
        assert_eq!(json["rows"][0]["frame"], 12.345);
        assert_eq!(json["units"]["frame"], "ms");
        assert!(json["rows"][2]["frame"].is_null() && json["rows"][2]["theirs"].is_null());
    }
}
