//! `ecorche completions`: tab completion for shells.

use crate::arguments::{Cli, Completions};
use crate::console::Console;
use crate::{Failure, Outcome};
use clap::CommandFactory;

/// Prints the completion script.
pub fn run(arguments: &Completions, console: &Console) -> Result<Outcome, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Cli::command(), "ecorche", &mut script);
    console.print(String::from_utf8_lossy(&script))?;
    Ok(Outcome::Done)
}
