//! `ecorche completions`: tab completion for shells.

use crate::arguments::{Cli, Completions};
use crate::{Failure, Outcome};
use clap::CommandFactory;

/// Prints the completion script.
pub fn run(arguments: &Completions) -> Result<Outcome, Failure> {
    clap_complete::generate(arguments.shell, &mut Cli::command(), "ecorche", &mut std::io::stdout());
    Ok(Outcome::Done)
}
