//! `ecorche join`: pieces of a long bake, made by several processes, become one cache.

use crate::arguments::Join;
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::bake::piece;

/// Joins PC2 pieces in the order of their frames.
pub fn run(arguments: &Join, console: &Console) -> Result<Outcome, Failure> {
    source::protect_inputs(&arguments.pieces, std::slice::from_ref(&arguments.output))?;
    let joined = piece::join(&arguments.pieces, &arguments.output, !arguments.unchecked)?;
    console.note(&format!(
        "{} frames of {} points",
        joined.samples.len(),
        joined.samples.first().map_or(0, Vec::len)
    ));
    console.print_path(&arguments.output)?;
    Ok(Outcome::Done)
}
