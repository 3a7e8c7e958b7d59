//! Muscles, fat and keys as text of an anatomy file; what is by default is left out.

use super::keys;
use crate::muscle::definition::{FatDef, KeysDef, MuscleDef};
use crate::muscle::parametric::ParametricDef;

/// A muscle as a `[[muscle]]` block.
pub(super) fn muscle(muscle: &MuscleDef) -> String {
    format!("[[muscle]]\n{}", keys::MUSCLE.write(muscle))
}

/// A parametric muscle as a `[[parametric]]` block.
pub(super) fn parametric(muscle: &ParametricDef) -> String {
    format!("[[parametric]]\n{}", keys::PARAMETRIC.write(muscle))
}

/// A fat pad as a `[[fat]]` block.
pub(super) fn fat(fat: &FatDef) -> String {
    format!("[[fat]]\n{}", keys::FAT.write(fat))
}

/// Keys as a `[[keys]]` block.
pub(super) fn keys(keys: &KeysDef) -> String {
    format!("[[keys]]\n{}", keys::KEYS.write(keys))
}
