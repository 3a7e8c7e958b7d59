//! The `ecorche` command: arguments to settings, settings to one call of the library.
//!
//! Exit codes: 0 done; 1 done, but a check that was asked for failed; 2 error. Results go to
//! standard output, everything else to standard error.

mod arguments;
mod commands;
mod console;
mod source;

use arguments::{Cli, Command};
use clap::Parser;
use console::Console;
use std::ffi::OsString;

/// How a command that ran to its end went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// Done.
    Done,
    /// Done, but a limit the user set was passed.
    CheckFailed,
}

/// An error ready to be shown.
type Failure = Box<dyn std::error::Error>;

/// Runs the command line `arguments`, of which the first is the program's name, and returns the exit code. What is wrong
/// with the arguments, help and version are printed and end the process.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = Cli::parse_from(arguments);
    let console = Console::new(cli.options.quiet, cli.options.verbose);
    let bench = matches!(cli.command, Command::Bench(_));
    match cli.options.threads.as_slice() {
        [] => {}
        // Fails only when a pool exists already, which nothing before this line makes.
        &[threads] => drop(rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global()),
        _ if bench => {}
        _ => {
            console.error("--threads: only bench takes several numbers; give one");
            return 2;
        }
    }
    let result = match &cli.command {
        Command::Info(arguments) => commands::info::run(arguments, &console),
        Command::Init(arguments) => commands::init::run(arguments, &console),
        Command::Bake(arguments) => commands::bake::run(arguments, &console),
        Command::Demo(arguments) => commands::demo::run(arguments, &console),
        Command::Crowd(arguments) => commands::crowd::run(arguments, &console),
        Command::Render(arguments) => commands::render::run(arguments, &console),
        Command::Measure(arguments) => commands::measure::run(arguments, &console),
        Command::Bench(arguments) => commands::bench::run(arguments, &cli.options.threads, &console),
        Command::Studio(arguments) => commands::studio::run(arguments, &console),
        Command::Samples(arguments) => commands::samples::run(arguments, &console),
        Command::Field(arguments) => commands::field::run(arguments, &console),
        Command::Profile(arguments) => commands::profile::run(arguments, &console),
        Command::Transfer(arguments) => commands::transfer::run(arguments, &console),
        Command::Operator(arguments) => commands::operator::run(arguments, &console),
        Command::Join(arguments) => commands::join::run(arguments, &console),
        Command::States(arguments) => commands::states::run(arguments, &console),
        Command::Job(arguments) => commands::job::bake::run(arguments, &console),
        Command::Reference(arguments) => commands::reference::run(arguments, &console),
        Command::Hero(arguments) => commands::hero::run(arguments, &console),
        Command::Wrinkles(arguments) => commands::wrinkles::run(arguments, &console),
        Command::Tissue(arguments) => commands::tissue::run(arguments, &console),
        Command::Man(arguments) => commands::man::run(arguments, &console),
        Command::Completions(arguments) => commands::completions::run(arguments, &console),
    };
    match result {
        Ok(Outcome::Done) => 0,
        Ok(Outcome::CheckFailed) => 1,
        Err(failure) => {
            console.error(&failure.to_string());
            2
        }
    }
}
