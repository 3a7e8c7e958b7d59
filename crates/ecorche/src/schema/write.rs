//! Values and tables as TOML.

use super::{Key, Kind, Need, Table, Value};
use serde::Serialize;
use std::fmt::{self, Write};

impl Table {
    /// The lines of a table that says what `entry` is: keys in the table's order, without those at their defaults.
    pub(crate) fn write(&self, entry: &impl Serialize) -> String {
        let mut lines = String::new();
        for (key, value) in self.written(&Value::of(entry), &(self.defaults)()) {
            lines.push_str(&format!("{} = {}\n", key_text(key.name), key.kind.write(&value, true)));
        }
        lines
    }

    /// What of a table must be written to tell it from `defaults`.
    fn written(&self, value: &Value, defaults: &Value) -> Vec<(&'static Key, Value)> {
        let (Value::Table(entries), Value::Table(defaults)) = (value, defaults) else { return Vec::new() };
        let needed = |key: &&'static Key| {
            let value = entries.get(key.name).filter(|value| self.is_set(key.name, value))?;
            let by_default = key.need == Need::Default && defaults.get(key.name) == Some(value);
            if by_default && !key.always_written {
                return None;
            }
            let inner = match (&key.kind, defaults.get(key.name)) {
                (Kind::Table(table), Some(default)) if key.need == Need::Default => {
                    let written = table.written(value, default).into_iter();
                    Value::Table(written.map(|(key, value)| (key.name.to_owned(), value)).collect())
                }
                _ => value.clone(),
            };
            Some((*key, inner))
        };
        self.keys.iter().filter_map(|key| needed(&key)).collect()
    }

    /// The steps of a dotted name such as `origin.at`, each with its key if the table has it.
    pub(crate) fn keys_along<'a>(&self, dotted: &'a str) -> Vec<(&'a str, Option<&'static Key>)> {
        let mut table = Some(self);
        let mut steps = Vec::new();
        for name in dotted.split('.') {
            let key = table.and_then(|table| table.key(name));
            table = key.and_then(|key| key.kind.table());
            steps.push((name, key));
        }
        steps
    }
}

impl Kind {
    /// The table that a value of this kind is or can be.
    fn table(&self) -> Option<&'static Table> {
        match self {
            Self::Table(table) => Some(table),
            Self::Either(kinds) => kinds.iter().find_map(Self::table),
            _ => None,
        }
    }

    /// A value as text, keys of tables in the order of their table. `spread`: lists of tables take a line per element.
    pub(crate) fn write(&self, value: &Value, spread: bool) -> String {
        match (self, value) {
            (Self::Table(table), Value::Table(entries)) => {
                let known = table.keys.iter().filter_map(|key| Some((key, entries.get(key.name)?)));
                let known = known.filter(|(_, value)| !value.is_left_out());
                let mut parts: Vec<String> = known
                    .map(|(key, value)| format!("{} = {}", key_text(key.name), key.kind.write(value, false)))
                    .collect();
                let unknown =
                    entries.iter().filter(|(name, _)| table.keys.iter().all(|key| key.name != **name));
                parts.extend(unknown.map(|(name, value)| format!("{} = {value}", key_text(name))));
                format!("{{ {} }}", parts.join(", "))
            }
            (Self::List(of @ Self::Table(_), ..), Value::List(list)) if spread => {
                let lines: String =
                    list.iter().map(|value| format!("    {},\n", of.write(value, false))).collect();
                format!("[\n{lines}]")
            }
            (Self::List(of, ..), Value::List(list)) => {
                let parts: Vec<String> = list.iter().map(|value| of.write(value, false)).collect();
                format!("[{}]", parts.join(", "))
            }
            (Self::Either(kinds), value) => {
                let suiting = kinds.iter().find(|kind| kind.suits(value));
                suiting.map_or_else(|| value.to_string(), |kind| kind.write(value, spread))
            }
            _ => value.to_string(),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Number(number) if number.is_nan() => f.write_str("nan"),
            Self::Number(number) if number.is_infinite() => {
                f.write_str(if *number > 0.0 { "inf" } else { "-inf" })
            }
            // Debug keeps the point that makes it a number with decimals.
            Self::Number(number) => write!(f, "{number:?}"),
            Self::Text(text) => f.write_str(&toml_edit::Value::from(text).to_string()),
            Self::List(list) => {
                f.write_char('[')?;
                for (k, value) in list.iter().enumerate() {
                    write!(f, "{}{value}", if k == 0 { "" } else { ", " })?;
                }
                f.write_char(']')
            }
            Self::Table(table) => {
                f.write_str("{ ")?;
                let there = table.iter().filter(|(_, value)| !value.is_left_out());
                for (k, (key, value)) in there.enumerate() {
                    write!(f, "{}{} = {value}", if k == 0 { "" } else { ", " }, key_text(key))?;
                }
                f.write_str(" }")
            }
        }
    }
}

/// A key, quoted where it must be.
pub(crate) fn key_text(key: &str) -> String {
    toml_edit::Key::new(key).default_repr().as_raw().as_str().unwrap_or_default().to_owned()
}
