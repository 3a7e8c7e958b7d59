//! Muscles and fat for a human body.

use crate::character::Character;
use crate::muscle::definition::BodyDef;

/// What was placed, and what not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preset {
    /// Muscles and fat, one entry per mirrored pair.
    pub body: BodyDef,
    /// What could not be placed.
    pub skipped: Vec<Skipped>,
}

/// A muscle or fat pad that could not be placed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// Places the preset.
pub fn place(_character: &Character) -> Preset {
    Preset::default()
}
