//! The anatomy file: how the skin is composed and what lies under it.
//!
//! ```text
//! text --AnatomyFile::parse--> Anatomy (checked by itself) --check--> fits a skeleton
//! Anatomy + Character --in_full--> BodyDef (mirror images written out)
//! Edit + AnatomyFile --apply--> AnatomyFile, and the Edit that takes it back
//! Character --preset::place--> muscles and fat for that body --init::write--> text
//! Anatomy of one body --transfer--> muscles and fat for another
//! ```
//! [`keys`] describes every key once. A file is TOML:
//! ```toml
//! version = 1
//! [skin]                                  # see SkinDef
//! operator = "contact"
//! [skin.joint."LeftForeArm"]
//! operator = "bulge"
//! controller = "finger"
//! samples = { add = [[0.04, 0.1, 0.0, 1.0, 0.0, 0.0]] }  # the field goes through this point, facing that way
//! [wrinkles]                              # see WrinkleDef; present: skin wrinkles
//! wavelength = 0.012
//! [[piece]]                               # see PieceDef
//! mesh = "Coat"
//! role = "worn"
//! [[muscle]]                              # see MuscleDef; a list of points as origin makes a convergent muscle
//! name = "biceps brachii"
//! side = "left"
//! mirror = true                           # the right one is this one's mirror image
//! origin = { bone = "LeftShoulder", at = [0.02, 0.11, 0.01] }
//! insertion = { bone = "LeftForeArm", at = [0.00, 0.05, 0.01] }
//! width = 0.021
//! [[fat]]                                 # see FatDef
//! name = "belly"
//! bone = "Hips"
//! at = [0.0, 0.05, 0.09]
//! radii = [0.11, 0.08, 0.07]
//! [[bone]]                                # see BoneDef
//! bone = "LeftArm"
//! radius = 0.012
//! [[keys]]                                # see KeysDef
//! clip = "curl"
//! muscle = "biceps brachii"
//! side = "left"
//! parameter = "activation"
//! values = [[0.0, 0.2], [0.5, 1.0]]
//! ```
//! Reading needs no character. The text stays as written: edits change only the place they mean, so comments
//! and spacing survive.

mod check;
mod edit;
mod file;
mod frames;
pub mod init;
pub mod keys;
mod mirror;
pub mod preset;
mod problem;
mod rules;
mod skin;
pub mod transfer;
mod wrinkle_keys;
mod write;

pub use crate::pieces::{Layering, PieceDef, RoleDef};
pub use crate::schema::{Path, Problem, Step, Value};
pub use crate::surface::wrinkles::{Dab, JointWrinkles, Stroke, ThesisDef, WrinkleDef};
pub use edit::{Edit, EditError, History, Kind, Target};
pub use file::{AnatomyFile, FileError};
pub use frames::BindFrames;
pub use problem::{AnatomyError, Located};
pub use skin::{
    ControllerCurve, ControllerDef, Grooves, JointDef, SamplesDef, SchemeDef, SkinDef, SolverDef, TrackingDef,
};

use crate::muscle::definition::BodyDef;

/// The version of the format written and read.
const VERSION: i64 = 1;

/// What a file says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Anatomy {
    /// How the skin is composed and tracked.
    pub skin: SkinDef,
    /// Creases of compressed skin; `None` for smooth skin.
    pub wrinkles: Option<WrinkleDef>,
    /// Pieces of the surface whose roles are given.
    pub piece: Vec<PieceDef>,
    /// Muscles, fat, bones and keys, one entry per mirrored pair.
    pub body: BodyDef,
}

#[cfg(test)]
mod tests;
