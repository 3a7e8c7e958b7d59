//! Results never replace what they are made from.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Why a file must not be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OverwriteError {
    /// Two results have one name.
    #[error("{}: would be written twice; give each result a name of its own", path.display())]
    Twice {
        /// The name.
        path: PathBuf,
    },
    /// A result would replace an input.
    #[error("{}: would overwrite {}, which is read; choose another name", path.display(), input.display())]
    Input {
        /// The result.
        path: PathBuf,
        /// The input, as it was named.
        input: PathBuf,
    },
}

/// Refuses to write any of `outputs` over one of `inputs` or over another output, whatever the path is spelled like. `-`, the
/// standard output, is no file.
pub fn protect_inputs(inputs: &[PathBuf], outputs: &[PathBuf]) -> Result<(), OverwriteError> {
    let places: HashMap<_, _> = inputs.iter().filter_map(|path| Some((place(path)?, path))).collect();
    let mut written = HashSet::new();
    for path in outputs.iter().filter(|path| path.as_os_str() != "-") {
        if !written.insert(path) {
            return Err(OverwriteError::Twice { path: path.clone() });
        }
        if let Some(&input) = place(path).and_then(|there| places.get(&there)) {
            return Err(OverwriteError::Input { path: path.clone(), input: input.clone() });
        }
    }
    Ok(())
}

/// What tells a file from others under any name; none if there is no such file.
#[cfg(unix)]
fn place(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    std::fs::metadata(path).ok().map(|m| (m.dev(), m.ino()))
}

/// What tells a file from others under any name; none if there is no such file.
#[cfg(not(unix))]
fn place(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok()
}
