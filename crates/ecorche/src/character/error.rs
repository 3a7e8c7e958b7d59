//! What can go wrong while reading a character, and what was repaired.

use serde::Serialize;
use std::path::PathBuf;

/// Why a file gave no character. Every message names the file, the problem and the remedy.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file or one it refers to could not be opened or read.
    #[error("{}: {source}; check the path and its permissions", path.display())]
    Io {
        /// The file that failed.
        path: PathBuf,
        /// What the operating system reported.
        source: std::io::Error,
    },
    /// No reader for this file extension.
    #[error("{}: no reader for this extension; known: .glb .gltf .fbx .dae .obj .bvh .usda .usdc .usdz", path.display())]
    UnknownFormat {
        /// The file asked for.
        path: PathBuf,
    },
    /// The content breaks its format's rules beyond repair.
    #[error("{}: {thing}: {problem}; {remedy}", path.display())]
    Malformed {
        /// The file.
        path: PathBuf,
        /// What in the file, in its own words: `accessor 3`, `mesh "Body"`.
        thing: String,
        /// What is wrong with it.
        problem: String,
        /// What a user can do.
        remedy: String,
    },
    /// A feature we do not read.
    #[error("{}: uses {feature}, which is not supported; {remedy}", path.display())]
    Unsupported {
        /// The file.
        path: PathBuf,
        /// The feature's name in its format.
        feature: String,
        /// What a user can do.
        remedy: String,
    },
}

/// Something odd in a file and what was done about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Repair {
    /// The thing, in the file's words: `mesh "Body"`, `clip "run"`.
    pub subject: String,
    /// What was found.
    pub problem: String,
    /// What was done.
    pub remedy: String,
}

impl Repair {
    /// A repair of `subject`.
    pub fn new(subject: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self { subject: subject.into(), problem: problem.into(), remedy: remedy.into() }
    }
}

impl std::fmt::Display for Repair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}; {}", self.subject, self.problem, self.remedy)
    }
}
