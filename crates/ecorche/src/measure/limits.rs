//! Limits a studio sets on its builds.

use super::clip::{ClipFigures, Jump};
use super::figures::{FIGURES, Figure, Worse, figure};
use thiserror::Error;

/// Bounds on figures, as given on the command line.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    bounds: Vec<(&'static Figure, f64)>,
}

/// Why limits cannot be read.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum LimitsError {
    /// Not of the form `figure=number`.
    #[error("limit {entry:?} is not of the form FIGURE=NUMBER, as in pairs=0,stretch_max=3")]
    Form {
        /// The entry as given.
        entry: String,
    },
    /// No such figure.
    #[error("no figure is called {name:?}; the figures are {}", names())]
    Unknown {
        /// The name as given.
        name: String,
    },
    /// The bound is not a number.
    #[error("the limit of {name} is {value:?}, which is not a number")]
    NotANumber {
        /// The figure.
        name: &'static str,
        /// The bound as given.
        value: String,
    },
}

fn names() -> String {
    FIGURES.iter().map(|f| f.name).collect::<Vec<_>>().join(", ")
}

/// A limit that a clip exceeds.
#[derive(Clone, Debug, PartialEq, Error)]
#[error(
    "{figure} is {value} at frame {frame}, {} the limit of {limit}{}",
    if *.worse == Worse::Larger { "above" } else { "below" },
    .cause.map_or_else(String::new, |jump| format!(" ({jump})"))
)]
pub struct Violation {
    /// The figure.
    pub figure: &'static str,
    /// Its worst value.
    pub value: f64,
    /// The first frame with that value.
    pub frame: usize,
    /// The bound.
    pub limit: f64,
    /// Which way it was exceeded.
    pub worse: Worse,
    /// For popping, the vertex that set the value and the one that set what it is measured by.
    pub cause: Option<Jump>,
}

impl Limits {
    /// Reads `pairs=0,stretch_max=3`. Figures that get worse downward (`stretch_min`) are bounded from below,
    /// all others from above. An empty text sets no limits.
    pub fn parse(text: &str) -> Result<Self, LimitsError> {
        let mut bounds = Vec::new();
        for entry in text.split(',').map(str::trim).filter(|e| !e.is_empty()) {
            let (name, value) =
                entry.split_once('=').ok_or_else(|| LimitsError::Form { entry: entry.to_string() })?;
            let (name, value) = (name.trim(), value.trim());
            let figure = figure(name).ok_or_else(|| LimitsError::Unknown { name: name.to_string() })?;
            match value.parse::<f64>() {
                Ok(bound) if !bound.is_nan() => bounds.push((figure, bound)),
                _ => return Err(LimitsError::NotANumber { name: figure.name, value: value.to_string() }),
            }
        }
        Ok(Self { bounds })
    }

    /// The limits the clip exceeds, in the order they were given. A figure that no frame has exceeds none.
    pub fn check(&self, clip: &ClipFigures) -> Vec<Violation> {
        let passed = self.bounds.iter().filter_map(|&(figure, limit)| {
            let worst = clip.of(figure.name)?;
            let beyond = match figure.worse {
                Worse::Larger => worst.worst > limit,
                Worse::Smaller => worst.worst < limit,
            };
            beyond.then_some(Violation {
                figure: figure.name,
                value: worst.worst,
                frame: worst.worst_frame,
                limit,
                worse: figure.worse,
                cause: worst.cause,
            })
        });
        passed.collect()
    }
}
