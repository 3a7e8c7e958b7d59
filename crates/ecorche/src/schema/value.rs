//! Values of a file.

use glam::Vec3;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A value of a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// True or false.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// Any number.
    Number(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// A table.
    Table(BTreeMap<String, Value>),
}

/// The shortest decimals that read back as the same single-precision number: 0.98 and not 0.9800000190734863.
pub(crate) fn shortest(number: f32) -> f64 {
    number.to_string().parse().unwrap_or(f64::from(number))
}

impl From<f32> for Value {
    fn from(number: f32) -> Self {
        Self::Number(shortest(number))
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Vec3> for Value {
    fn from(v: Vec3) -> Self {
        Self::List(v.to_array().into_iter().map(Self::from).collect())
    }
}

impl Value {
    /// `thing` as a value of a file. Options that are not set and numbers that are not finite become NaN; a thing that has no
    /// text, such as a path that is not Unicode, an empty table.
    pub(crate) fn of(thing: &impl Serialize) -> Self {
        // Through text, because it has the shortest decimals of single-precision numbers.
        let json = serde_json::to_string(thing).and_then(|text| serde_json::from_str(&text));
        json.map_or(Self::Table(BTreeMap::new()), Self::from_json)
    }

    fn from_json(json: serde_json::Value) -> Self {
        use serde_json::Value as Json;
        match json {
            Json::Null => Self::Number(f64::NAN),
            Json::Bool(flag) => Self::Flag(flag),
            Json::Number(number) => match number.as_i64() {
                Some(whole) => Self::Whole(whole),
                None => Self::Number(number.as_f64().unwrap_or(f64::NAN)),
            },
            Json::String(text) => Self::Text(text),
            Json::Array(list) => Self::List(list.into_iter().map(Self::from_json).collect()),
            Json::Object(entries) => {
                Self::Table(entries.into_iter().map(|(key, value)| (key, Self::from_json(value))).collect())
            }
        }
    }

    /// Reads it into a type.
    pub(crate) fn read<T: DeserializeOwned>(&self) -> Result<T, serde_json::Error> {
        serde_json::to_value(self).and_then(serde_json::from_value)
    }

    /// Whether it is of something that was not given: not a number, see [`Value::of`].
    pub(super) fn is_left_out(&self) -> bool {
        matches!(self, Self::Number(number) if number.is_nan())
    }

    /// A number of either kind.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Self::Whole(number) => Some(*number as f64),
            Self::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// A number without decimals.
    pub(super) fn whole(&self) -> Option<i64> {
        match self {
            Self::Whole(number) => Some(*number),
            // Doubles tell whole numbers apart up to here.
            Self::Number(number) if number.fract() == 0.0 && number.abs() < 9e15 => Some(*number as i64),
            _ => None,
        }
    }

    /// The elements of a list.
    pub(super) fn elements(&self) -> &[Value] {
        match self {
            Self::List(list) => list,
            _ => &[],
        }
    }

    /// The numbers of a list.
    pub(super) fn numbers(&self) -> impl Iterator<Item = f64> {
        self.elements().iter().filter_map(Self::number)
    }

    /// What TOML calls such a value.
    pub(super) fn type_name(&self) -> &'static str {
        match self {
            Self::Flag(_) => "boolean",
            Self::Whole(_) => "integer",
            Self::Number(_) => "float",
            Self::Text(_) => "string",
            Self::List(_) => "array",
            Self::Table(_) => "table",
        }
    }
}
