//! Built-in characters made by code: no data files, any resolution, the same bits everywhere.
//!
//! [`build`] takes what follows `sample:` in place of a file name, e.g. `athlete?resolution=8000`.
//!
//! ```
//! let cylinder = ecorche::samples::build("cylinder?length=2&segments=24")?;
//! assert_eq!(cylinder.meshes[0].positions.iter().map(|p| p.y).fold(0.0, f32::max), 2.0);
//! assert!(cylinder.clip("bend").is_some());
//! # Ok::<(), ecorche::samples::SampleError>(())
//! ```

pub mod arm;
mod athlete;
mod clips;
pub(crate) mod cylinder;
mod dressed;
mod garment;
mod hand;
mod knight;
mod mannequin;
mod rig;
mod sculpt;
mod weights;

use crate::anatomy::{Anatomy, preset};
use crate::character::Character;
use cylinder::CylinderSettings;
use thiserror::Error;

/// A sample that can be built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleInfo {
    /// What to write after `sample:`.
    pub name: &'static str,
    /// One line about it, with its clips.
    pub summary: &'static str,
    /// What can be set.
    pub options: &'static [SampleOption],
}

/// A number that can be set when a sample is built.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleOption {
    /// What to write before `=`.
    pub name: &'static str,
    /// What it does, with its unit.
    pub summary: &'static str,
    /// Value when it is not given.
    pub default: f32,
    /// Smallest and largest value.
    pub range: [f32; 2],
    /// Whether only whole numbers make sense.
    pub whole: bool,
}

const fn whole(name: &'static str, summary: &'static str, default: usize, range: [f32; 2]) -> SampleOption {
    SampleOption { name, summary, default: default as f32, range, whole: true }
}

const fn real(name: &'static str, summary: &'static str, default: f32, range: [f32; 2]) -> SampleOption {
    SampleOption { name, summary, default, range, whole: false }
}

const SAMPLES: [SampleInfo; 7] = [
    SampleInfo {
        name: "athlete",
        summary: "a man of 1.80 m, 52 bones; clips run, jump, squat, curl, wave, twist",
        options: &[whole(
            "resolution",
            "number of vertices",
            athlete::DEFAULT_VERTICES,
            [5_000.0, 200_000.0],
        )],
    },
    SampleInfo {
        name: "hand",
        summary: "a left hand with five fingers, 21 bones; clips fist, pinch",
        options: &[whole("resolution", "number of vertices", hand::DEFAULT_VERTICES, [2_000.0, 100_000.0])],
    },
    SampleInfo {
        name: "arm",
        summary: "a left arm, 3 bones; clips curl, shake",
        options: &[whole("resolution", "number of vertices", arm::DEFAULT_VERTICES, [2_000.0, 100_000.0])],
    },
    SampleInfo {
        name: "cylinder",
        summary: "two bones in a row; clips bend, twist",
        options: &[
            real("length", "metres", 1.0, [0.01, 100.0]),
            real("radius", "metres", 0.12, [0.001, 50.0]),
            whole("segments", "vertices around", 48, [3.0, 1_024.0]),
            whole("rings", "rows of quads along", 64, [1.0, 4_096.0]),
            real("ramp", "share of the length over which the weights change linearly", 0.3, [0.0, 1.0]),
        ],
    },
    SampleInfo {
        name: "dressed",
        summary: "the athlete in shirt, trousers, belt and boots, with hair, as separate meshes; its bones and clips",
        options: &[whole(
            "resolution",
            "vertices of the skin",
            dressed::DEFAULT_VERTICES,
            [5_000.0, 50_000.0],
        )],
    },
    SampleInfo {
        name: "mannequin",
        summary: "a ball-jointed figure of separate rigid pieces; the athlete's bones and clips",
        options: &[whole(
            "resolution",
            "number of vertices, about",
            mannequin::DEFAULT_VERTICES,
            [5_000.0, 100_000.0],
        )],
    },
    SampleInfo {
        name: "knight",
        summary: "the athlete in an under-suit and rigid plates that overlap; its bones and clips",
        options: &[whole(
            "resolution",
            "vertices of the under-suit",
            knight::DEFAULT_VERTICES,
            [5_000.0, 50_000.0],
        )],
    },
];

/// All samples.
pub fn list() -> &'static [SampleInfo] {
    &SAMPLES
}

/// Why a sample cannot be built.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum SampleError {
    /// There is no such sample.
    #[error("sample:{name}: no sample of that name; there are {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The samples there are.
        known: String,
    },
    /// The sample has no such option.
    #[error("sample:{sample}: no option \"{option}\"; it takes {known}")]
    UnknownOption {
        /// The sample.
        sample: &'static str,
        /// What was asked for.
        option: String,
        /// Its options, with their ranges.
        known: String,
    },
    /// The value is not a number or out of range.
    #[error("sample:{sample}: {option}={value} is not {wanted}")]
    BadValue {
        /// The sample.
        sample: &'static str,
        /// The option.
        option: &'static str,
        /// What was asked for.
        value: String,
        /// What is accepted.
        wanted: String,
    },
}

impl SampleOption {
    /// The values it takes, for messages.
    fn wanted(&self) -> String {
        let kind = if self.whole { "a whole number" } else { "a number" };
        format!("{kind} from {} to {} (by default {})", self.range[0], self.range[1], self.default)
    }

    fn parse(&self, sample: &'static str, text: &str) -> Result<f32, SampleError> {
        let bad = || SampleError::BadValue {
            sample,
            option: self.name,
            value: text.to_string(),
            wanted: self.wanted(),
        };
        let value: f32 = text.trim().parse().map_err(|_| bad())?;
        let fits = (self.range[0]..=self.range[1]).contains(&value) && (!self.whole || value.fract() == 0.0);
        if fits { Ok(value) } else { Err(bad()) }
    }
}

/// Builds a sample from what follows `sample:`: its name, and options as `?option=value&option=value`.
pub fn build(spec: &str) -> Result<Character, SampleError> {
    let (name, options) = spec.split_once('?').unwrap_or((spec, ""));
    let info = SAMPLES.iter().find(|s| s.name == name).ok_or_else(|| SampleError::Unknown {
        name: name.to_string(),
        known: SAMPLES.iter().map(|s| s.name).collect::<Vec<_>>().join(", "),
    })?;
    let mut values: Vec<f32> = info.options.iter().map(|o| o.default).collect();
    for part in options.split('&').filter(|p| !p.is_empty()) {
        let (key, value) = part.split_once('=').unwrap_or((part, ""));
        let Some(at) = info.options.iter().position(|o| o.name == key) else {
            let known: Vec<String> =
                info.options.iter().map(|o| format!("{} ({})", o.name, o.wanted())).collect();
            return Err(SampleError::UnknownOption {
                sample: info.name,
                option: key.to_string(),
                known: known.join(", "),
            });
        };
        values[at] = info.options[at].parse(info.name, value)?;
    }
    Ok(match info.name {
        "athlete" => athlete::build(values[0] as usize),
        "hand" => hand::build(values[0] as usize),
        "arm" => arm::build(values[0] as usize),
        "dressed" => dressed::build(values[0] as usize),
        "mannequin" => mannequin::build(values[0] as usize),
        "knight" => knight::build(values[0] as usize),
        _ => cylinder::build(&CylinderSettings {
            length: values[0],
            radius: values[1],
            segments: values[2] as usize,
            rings: values[3] as usize,
            ramp: values[4],
        }),
    })
}

/// What lies under the skin of a sample, made by code like the sample itself; `None` for one without muscles. `spec` is
/// what [`build`] made the character of.
pub fn anatomy(spec: &str, character: &Character) -> Option<Anatomy> {
    let body = match spec.split_once('?').map_or(spec, |(name, _)| name) {
        "athlete" => preset::place(character).body,
        "arm" => arm::muscles(),
        _ => return None,
    };
    Some(Anatomy { body, ..Anatomy::default() })
}

#[cfg(test)]
mod tests;
