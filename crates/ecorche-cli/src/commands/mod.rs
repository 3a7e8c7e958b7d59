//! One file per command.

pub mod bake;
pub mod completions;
pub mod info;
pub mod join;
pub mod man;
pub mod tissue;

use crate::Failure;
use std::io::Write;
use std::path::Path;

/// Writes `value` as JSON to `path`, or to standard output for `-`.
pub fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    if path.as_os_str() == "-" {
        std::io::stdout().write_all(text.as_bytes())?;
    } else {
        ecorche::output::file::write(path, text.as_bytes())?;
    }
    Ok(())
}
