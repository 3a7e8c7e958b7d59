//! Whether a value is what the table says.

use super::names::suggestion;
use super::{Key, Kind, Need, Path, Problem, Table, Value};
use serde::Serialize;
use std::collections::BTreeMap;

impl Table {
    /// What is wrong with the entry itself, as it would be if it were read from a file.
    pub(crate) fn problems_of(&self, entry: &impl Serialize) -> Vec<Problem> {
        let mut problems = Vec::new();
        if let Value::Table(mut entries) = Value::of(entry) {
            entries.retain(|name, value| self.is_set(name, value));
            self.check(entries, &Path::default(), &mut problems);
        }
        problems
    }

    /// Whether a value of a written type is there at all: types write what is optional and not set as nothing.
    pub(super) fn is_set(&self, name: &str, value: &Value) -> bool {
        let optional = self.key(name).is_some_and(|key| key.need == Need::Optional);
        !(optional && matches!(value, Value::Number(number) if number.is_nan()))
    }

    /// The entries that obey the rules, under their present names. `path`: where the table stands.
    pub(crate) fn check(
        &self,
        entries: BTreeMap<String, Value>,
        path: &Path,
        problems: &mut Vec<Problem>,
    ) -> BTreeMap<String, Value> {
        let mut add = |path: Path, message: String| problems.push(Problem { path, message });
        for key in self.keys {
            let written: Vec<&str> = [key.name]
                .into_iter()
                .chain(key.old_names.iter().copied())
                .filter(|name| entries.contains_key(*name))
                .collect();
            match (written[..].first(), key.need) {
                (None, Need::Required(example)) => {
                    add(path.clone(), format!("has no {0}; write {0} = {example}", key.name));
                }
                _ if written.len() > 1 => add(
                    path.key(written[1]),
                    format!(
                        "\"{}\" is the earlier name of \"{}\", which is there too; remove one",
                        written[1], key.name
                    ),
                ),
                _ => {}
            }
        }
        let mut kept = BTreeMap::new();
        for (name, value) in entries {
            let here = path.key(&name);
            let Some(key) = self.key(&name) else {
                let known: Vec<&str> = self.keys.iter().map(|key| key.name).collect();
                let near = suggestion(&name, known.iter().copied());
                let remedy = if near.is_empty() { format!("; known are {}", known.join(", ")) } else { near };
                let message = format!("unknown key \"{name}\"{remedy}");
                problems.push(Problem { path: here, message });
                continue;
            };
            if let Some(value) = checked(&key.kind, Some(key), value, &here, problems) {
                kept.insert(key.name.to_owned(), value);
            }
        }
        kept
    }
}

/// The value if it obeys the rules of its kind; else the problems say why not. `key`: if it is that key's own value
/// and not one within.
fn checked(
    kind: &Kind,
    key: Option<&Key>,
    value: Value,
    path: &Path,
    problems: &mut Vec<Problem>,
) -> Option<Value> {
    let mut refuse = |message: String| {
        problems.push(Problem { path: path.clone(), message });
        None
    };
    let remedy = || match key {
        Some(Key { name, need: Need::Required(example), .. }) => format!("; write {name} = {example}"),
        _ => String::new(),
    };
    match (kind, value) {
        (Kind::Flag, value @ Value::Flag(_)) => Some(value),
        (Kind::Number(range), value @ (Value::Number(_) | Value::Whole(_))) => {
            let number = value.number()?;
            match range.broken_by(number) {
                Some(rule) => refuse(format!("{number} {rule}")),
                None => Some(Value::Number(number)),
            }
        }
        (&Kind::Whole(low, high), value @ (Value::Number(_) | Value::Whole(_))) => match value.whole() {
            Some(number) if (low..=high).contains(&number) => Some(Value::Whole(number)),
            _ => refuse(format!("{value} must be {}", described(kind))),
        },
        (Kind::Choice(choices), Value::Text(text)) => {
            if choices.contains(&text.as_str()) {
                return Some(Value::Text(text));
            }
            let near = suggestion(&text, choices.iter().copied());
            let list = if near.is_empty() { "; choose one of" } else { " Known are" };
            refuse(format!("no {} \"{text}\"{near}{list} {}", path.last_key(), choices.join(", ")))
        }
        (Kind::Text, Value::Text(text)) if text.trim().is_empty() => {
            refuse(format!("must not be empty{}", remedy()))
        }
        (Kind::Text, value @ Value::Text(_)) => Some(value),
        (Kind::Direction, value @ Value::List(_)) => {
            let value = checked(&Kind::VECTOR, None, value, path, problems)?;
            let squares = value.numbers().map(|x| x * x);
            if squares.sum::<f64>() < 1e-12 {
                let message = "has no direction; write one such as [1.0, 0.0, 0.0]".to_owned();
                problems.push(Problem { path: path.clone(), message });
                return None;
            }
            Some(value)
        }
        (&Kind::List(of, low, high), Value::List(list)) => {
            if !(low..=high).contains(&list.len()) {
                return refuse(format!("must be {}{}", described(kind), remedy()));
            }
            let elements = list.into_iter().enumerate();
            let kept: Vec<Option<Value>> =
                elements.map(|(k, value)| checked(of, None, value, &path.index(k), problems)).collect();
            Some(Value::List(kept.into_iter().collect::<Option<_>>()?))
        }
        (Kind::Curve([x, y]), value @ Value::List(_)) => {
            let pairs = Kind::List(&Kind::List(&Kind::Number(super::Range::ANY), 2, 2), 0, usize::MAX);
            let value = checked(&pairs, None, value, path, problems)?;
            let points: Vec<Vec<f64>> =
                value.elements().iter().map(|pair| pair.numbers().collect()).collect();
            for (k, point) in points.iter().enumerate() {
                for (place, range) in [x, y].into_iter().enumerate() {
                    if let Some(rule) = range.broken_by(point[place]) {
                        let path = path.index(k).index(place);
                        problems.push(Problem { path, message: format!("{} {rule}", point[place]) });
                        return None;
                    }
                }
            }
            if points.windows(2).any(|pair| pair[1][0] <= pair[0][0]) {
                let message = "the first numbers of the pairs must rise; sort them".to_owned();
                problems.push(Problem { path: path.clone(), message });
                return None;
            }
            Some(value)
        }
        (Kind::Table(table), Value::Table(entries)) => {
            let before = problems.len();
            let kept = table.check(entries, path, problems);
            (problems.len() == before).then_some(Value::Table(kept))
        }
        (Kind::ByName(table), Value::Table(entries)) => {
            let mut kept = BTreeMap::new();
            for (name, value) in entries {
                let here = path.key(&name);
                if let Some(value) = checked(&Kind::Table(table), None, value, &here, problems) {
                    kept.insert(name, value);
                }
            }
            Some(Value::Table(kept))
        }
        (Kind::Either(kinds), value) => match kinds.iter().find(|kind| kind.suits(&value)) {
            Some(kind) => checked(kind, key, value, path, problems),
            None => refuse(format!("must be {}, not {}{}", described(kind), value.type_name(), remedy())),
        },
        (Kind::List(Kind::Table(_), ..), value) if path.0.len() == 1 => {
            let name = path.last_key();
            refuse(format!("must be tables with [[{name}]] above each, not {}", value.type_name()))
        }
        (kind, value) => {
            refuse(format!("must be {}, not {}{}", described(kind), value.type_name(), remedy()))
        }
    }
}

impl Kind {
    /// Whether a value has the shape of this kind; of several kinds of table, the one that has one of the keys.
    pub(super) fn suits(&self, value: &Value) -> bool {
        match (self, value) {
            (Self::Flag, Value::Flag(_))
            | (Self::Number(_) | Self::Whole(..), Value::Number(_) | Value::Whole(_))
            | (Self::Choice(_) | Self::Text, Value::Text(_))
            | (Self::List(..) | Self::Curve(_) | Self::Direction, Value::List(_))
            | (Self::ByName(_), Value::Table(_)) => true,
            (Self::Table(table), Value::Table(entries)) => {
                entries.is_empty() || entries.keys().any(|name| table.key(name).is_some())
            }
            (Self::Either(kinds), value) => kinds.iter().any(|kind| kind.suits(value)),
            _ => false,
        }
    }
}

/// What a value of a kind is called: "a list of 3 numbers".
fn described(kind: &Kind) -> String {
    match kind {
        Kind::Flag => "true or false".to_owned(),
        Kind::Number(_) => "a number".to_owned(),
        Kind::Whole(..) => format!("a {}", several(kind).replacen("numbers", "number", 1)),
        Kind::Choice(choices) => format!("one of {}", choices.join(", ")),
        Kind::Text => "text in quotes".to_owned(),
        Kind::List(..) | Kind::Curve(_) | Kind::Direction => {
            format!("a {}", several(kind).replacen("lists", "list", 1))
        }
        Kind::Table(table) => {
            let examples = table.keys.iter().filter_map(|key| match key.need {
                Need::Required(example) => Some(format!("{} = {example}", key.name)),
                _ => None,
            });
            let examples: Vec<String> = examples.collect();
            let inner = if examples.is_empty() { "...".to_owned() } else { examples.join(", ") };
            format!("a table {{ {inner} }}")
        }
        Kind::ByName(_) => "tables by name".to_owned(),
        Kind::Either(kinds) => kinds.iter().map(described).collect::<Vec<_>>().join(" or "),
    }
}

/// What several values of a kind are called: "lists of 3 numbers".
fn several(kind: &Kind) -> String {
    match kind {
        Kind::Flag => "times true or false".to_owned(),
        Kind::Number(_) => "numbers".to_owned(),
        Kind::Whole(0, i64::MAX) => "whole numbers".to_owned(),
        Kind::Whole(low, high) => format!("whole numbers from {low} to {high}"),
        Kind::Choice(choices) => format!("words of {}", choices.join(", ")),
        Kind::Text => "names in quotes".to_owned(),
        &Kind::List(of, low, high) if low == high => format!("lists of {low} {}", several(of)),
        &Kind::List(of, 0, _) => format!("lists of {}", several(of)),
        &Kind::List(of, low, usize::MAX) => format!("lists of {low} or more {}", several(of)),
        &Kind::List(of, low, high) => format!("lists of {low} to {high} {}", several(of)),
        Kind::Direction => "lists of 3 numbers".to_owned(),
        Kind::Curve(_) => "lists of pairs of numbers".to_owned(),
        Kind::Table(_) | Kind::ByName(_) => "tables { ... }".to_owned(),
        Kind::Either(_) => "values".to_owned(),
    }
}
