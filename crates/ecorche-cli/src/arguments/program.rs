//! Commands about the program itself.

use clap::Args;
use std::path::PathBuf;

/// Write manual pages.
///
/// One for the program and one for each command, made from the same definitions as the help texts.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche man ~/.local/share/man/man1")]
pub struct Man {
    /// Folder to write to, made if missing
    pub folder: PathBuf,
}

/// Print a shell's completion script.
///
/// Save it where the shell looks for completions, or source it.
#[derive(Args)]
#[command(after_long_help = "\
Examples:
  ecorche completions bash > ~/.local/share/bash-completion/completions/ecorche")]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}
