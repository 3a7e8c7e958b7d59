//! `ecorche man`: manual pages from the same definitions as the help texts.

use crate::arguments::{Cli, Man};
use crate::console::Console;
use crate::{Failure, Outcome};
use clap::CommandFactory;

/// Writes `ecorche.1` and a page for each command.
pub fn run(arguments: &Man, console: &Console) -> Result<Outcome, Failure> {
    std::fs::create_dir_all(&arguments.folder)?;
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let mut pages = vec![program.clone()];
    pages.extend(program.get_subcommands().map(|c| {
        let name = format!("ecorche-{}", c.get_name());
        c.clone().name(name.clone()).bin_name(name)
    }));
    for page in pages {
        let name = format!("{}.1", page.get_name());
        let mut bytes = Vec::new();
        clap_mangen::Man::new(page).render(&mut bytes)?;
        ecorche::output::file::write(&arguments.folder.join(name), &bytes)?;
    }
    console.note(&format!("manual pages in {}", arguments.folder.display()));
    Ok(Outcome::Done)
}
