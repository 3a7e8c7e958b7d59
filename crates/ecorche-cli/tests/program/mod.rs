//! The program as tests run it: in a folder of its own, with a cache there.
#![allow(dead_code, reason = "each test file uses its share")]

use std::path::Path;
use std::process::{Command, Output};

/// The program with arguments, to be run in `folder`.
pub fn command(arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ecorche"));
    command
        .args(arguments)
        .current_dir(folder)
        .env("ECORCHE_CACHE", folder.join("cache"))
        .env("NO_COLOR", "1");
    command
}

/// Runs it to its end.
pub fn ecorche(arguments: &[&str], folder: &Path) -> Output {
    command(arguments, folder).output().unwrap()
}

/// Runs it to its end; fails the test unless it succeeds.
pub fn done(arguments: &[&str], folder: &Path) -> Output {
    let output = ecorche(arguments, folder);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output.stderr));
    output
}

/// What was printed.
pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
