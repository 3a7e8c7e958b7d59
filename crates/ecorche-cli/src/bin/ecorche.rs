//! The `ecorche` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(ecorche_cli::run(std::env::args_os()))
}
