//! `ecorche man`: manual pages from the same definitions as the help texts.

use crate::arguments::{Cli, Man};
use crate::console::Console;
use crate::{Failure, Outcome};
use clap::CommandFactory;

/// Writes `ecorche.1` and a page for each command.
pub fn run(arguments: &Man, console: &Console) -> Result<Outcome, Failure> {
    std::fs::create_dir_all(&arguments.folder)?;
    clap_mangen::generate_to(Cli::command().disable_help_subcommand(true), &arguments.folder)?;
    console.note(&format!("manual pages in {}", arguments.folder.display()));
    Ok(Outcome::Done)
}
