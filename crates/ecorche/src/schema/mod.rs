//! What a text file may hold: one description per key, from which everything that knows the key is made.
//!
//! ```text
//! Table (keys in order) + Value --Table::check--> Value that obeys the rules, or Problems with their place
//! serde type --Value::of--> Value --Table::write--> text without defaults
//! Value that obeys the rules --Value::read--> serde type
//! ```
//! A description says name, earlier names, kind, unit, range, slider and a sentence. It has no default: that is
//! the `Default` of the type the table is read into, see [`Table::default_of`].

mod check;
pub(crate) mod names;
mod path;
mod range;
mod value;
mod write;

pub use path::{Path, Problem, Step};
pub use range::Range;
pub use value::Value;
pub(crate) use value::shortest;
pub(crate) use write::key_text;

/// What a value may be.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// True or false.
    Flag,
    /// A number in a range.
    Number(Range),
    /// A whole number from the first to the second.
    Whole(i64, i64),
    /// One of several words.
    Choice(&'static [&'static str]),
    /// Text that is not empty.
    Text,
    /// Three numbers that are not all zero.
    Direction,
    /// A list of one kind, from so many to so many.
    List(&'static Kind, usize, usize),
    /// Pairs of numbers, each in its range; the first numbers rise.
    Curve([Range; 2]),
    /// A table.
    Table(&'static Table),
    /// Tables by name, such as those of joints.
    ByName(&'static Table),
    /// One of several kinds that differ in shape.
    Either(&'static [Kind]),
}

impl Kind {
    /// Three numbers.
    pub(crate) const VECTOR: Self = Self::List(&Self::Number(Range::ANY), 3, 3);
    /// Names of joints, as many as wanted.
    pub(crate) const NAMES: Self = Self::List(&Self::Text, 0, usize::MAX);
}

/// Whether a key must be there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// The default of the type holds where it is absent.
    Default,
    /// Absent means that nothing is set; there is no default value.
    Optional,
    /// It must be there; an example of a value.
    Required(&'static str),
}

/// The range in which a person will want to drag a number; files may go beyond.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slider {
    /// Lowest, as shown.
    pub low: f64,
    /// Highest, as shown.
    pub high: f64,
    /// Smallest change, as shown.
    pub step: f64,
    /// What to multiply the file's number by to show it.
    pub scale: f64,
    /// Unit of the number shown; empty for none.
    pub unit: &'static str,
}

/// A key of a table.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// As written.
    pub name: &'static str,
    /// Earlier names; read, never written.
    pub old_names: &'static [&'static str],
    /// What its value may be.
    pub kind: Kind,
    /// Unit of its numbers; empty for none.
    pub unit: &'static str,
    /// Whether it must be there.
    pub need: Need,
    /// Whether it is written even at its default, beside others of its table.
    pub always_written: bool,
    /// How a person drags it; `None` where that makes no sense.
    pub slider: Option<Slider>,
    /// What it does.
    pub about: &'static str,
}

impl Key {
    /// A key that has a default.
    pub(crate) const fn new(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self {
            name,
            old_names: &[],
            kind,
            unit: "",
            need: Need::Default,
            always_written: false,
            slider: None,
            about,
        }
    }

    /// A key that must be there.
    pub(crate) const fn required(
        name: &'static str,
        kind: Kind,
        example: &'static str,
        about: &'static str,
    ) -> Self {
        Self { need: Need::Required(example), ..Self::new(name, kind, about) }
    }

    /// A key that may be absent and has no default.
    pub(crate) const fn optional(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self { need: Need::Optional, ..Self::new(name, kind, about) }
    }

    /// With earlier names.
    pub(crate) const fn was(self, old_names: &'static [&'static str]) -> Self {
        Self { old_names, ..self }
    }

    /// With a unit.
    pub(crate) const fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// With a slider in the unit of the file.
    pub(crate) const fn slider(self, low: f64, high: f64, step: f64) -> Self {
        Self { slider: Some(Slider { low, high, step, scale: 1.0, unit: self.unit }), ..self }
    }

    /// With a slider that shows `scale` times the file's number, in `unit`.
    pub(crate) const fn slider_in(self, unit: &'static str, scale: f64, [low, high, step]: [f64; 3]) -> Self {
        Self { slider: Some(Slider { low, high, step, scale, unit }), ..self }
    }

    /// Written even at its default.
    pub(crate) const fn always(self) -> Self {
        Self { always_written: true, ..self }
    }
}

/// A table of a file.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// What one such table is, in one word: "Muscle".
    pub name: &'static str,
    /// What it is for.
    pub about: &'static str,
    /// Its keys in the order they are written in.
    pub keys: &'static [Key],
    /// A table of all defaults.
    defaults: fn() -> Value,
}

impl Table {
    /// A table that is read into a `T`, whose default values are the keys' defaults.
    pub(crate) const fn of<T: Default + serde::Serialize>(
        name: &'static str,
        about: &'static str,
        keys: &'static [Key],
    ) -> Self {
        Self { name, about, keys, defaults: || Value::of(&T::default()) }
    }

    /// The key of that name, or that had it earlier.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        let has = |key: &&Key| key.name == name || key.old_names.contains(&name);
        self.keys.iter().find(has)
    }

    /// The value of an absent key; `None` if it is required or optional.
    pub fn default_of(&self, key: &Key) -> Option<Value> {
        match (key.need, (self.defaults)()) {
            (Need::Default, Value::Table(mut all)) => all.remove(key.name),
            _ => None,
        }
    }
}
