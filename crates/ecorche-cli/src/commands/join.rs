//! `ecorche join`: pieces of a long bake, made by several processes, become one cache.

use crate::arguments::Join;
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::bake::piece;
use std::path::PathBuf;

/// Joins PC2 pieces in the order of their frames.
pub fn run(arguments: &Join, console: &Console) -> Result<Outcome, Failure> {
    let meshes = piece::by_mesh(&arguments.pieces, &arguments.output)?;
    let inputs: Vec<PathBuf> = meshes.iter().flat_map(|mesh| mesh.pieces.clone()).collect();
    let outputs: Vec<PathBuf> = meshes.iter().map(|mesh| mesh.output.clone()).collect();
    source::protect_inputs(&inputs, &outputs)?;
    for mesh in &meshes {
        let joined = piece::join(&mesh.pieces, &mesh.output, !arguments.unchecked)?;
        console.note(&format!(
            "{} frames of {} points",
            joined.samples.len(),
            joined.samples.first().map_or(0, Vec::len)
        ));
        console.print_path(&mesh.output)?;
    }
    Ok(Outcome::Done)
}
