//! Everything a command prints: results on standard output; warnings, errors and progress on standard error.
//!
//! A reader of the results who leaves early, as `head` does, ends the printing and not the work: files are still written
//! and the exit code stays true. Results that cannot be written for another reason are an error. Whatever happens to
//! standard error changes nothing.

use crate::Failure;
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt::Display;
use std::io::{ErrorKind, IsTerminal, Write, stderr, stdout};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Most repairs listed one by one before pointing to `info`.
const SHOWN_REPAIRS: usize = 5;

/// Where messages go, and how many of them.
pub struct Console {
    quiet: bool,
    verbose: bool,
    colour: bool,
    /// Whoever read standard output has closed it.
    unread: AtomicBool,
}

impl Console {
    /// Colours only for a terminal, and not when `NO_COLOR` is set.
    pub fn new(quiet: bool, verbose: bool) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        Self { quiet, verbose, colour: wanted && stderr().is_terminal(), unread: AtomicBool::new(false) }
    }

    /// Writes `text` to standard output.
    pub fn print(&self, text: impl Display) -> Result<(), Failure> {
        if self.is_unread() {
            return Ok(());
        }
        let mut out = stdout().lock();
        match write!(out, "{text}").and_then(|()| out.flush()) {
            Err(error) if error.kind() == ErrorKind::BrokenPipe => self.unread.store(true, Ordering::Relaxed),
            Err(error) => return Err(format!("standard output: {error}").into()),
            Ok(()) => {}
        }
        Ok(())
    }

    /// As [`Console::print`], with a line break.
    pub fn print_line(&self, text: impl Display) -> Result<(), Failure> {
        self.print(format_args!("{text}\n"))
    }

    /// Names a file that was written, on a line of standard output.
    pub fn print_path(&self, path: &Path) -> Result<(), Failure> {
        self.print_line(path.display())
    }

    /// Whether nobody reads standard output any more.
    pub fn is_unread(&self) -> bool {
        self.unread.load(Ordering::Relaxed)
    }

    fn say(&self, label: &str, colour: u8, text: &str) {
        if self.colour {
            to_stderr(format_args!("\x1b[1;{colour}m{label}\x1b[0m {text}"));
        } else {
            to_stderr(format_args!("{label} {text}"));
        }
    }

    /// Why the command failed.
    pub fn error(&self, text: &str) {
        self.say("error:", 31, text);
    }

    /// Something the user should know; silent with `--quiet`.
    pub fn warn(&self, text: &str) {
        if !self.quiet {
            self.say("warning:", 33, text);
        }
    }

    /// What is going on; silent with `--quiet`.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            to_stderr(text);
        }
    }

    /// Details for `--verbose`.
    pub fn detail(&self, text: &str) {
        if self.verbose && !self.quiet {
            to_stderr(text);
        }
    }

    /// Warns of the repairs made to `file`, once, and not of more than a few.
    pub fn warn_of_repairs(&self, file: &str, repairs: &[ecorche::character::Repair]) {
        let shown = if self.verbose { repairs.len() } else { SHOWN_REPAIRS };
        for repair in repairs.iter().take(shown) {
            self.warn(&format!("{file}: {repair}"));
        }
        if repairs.len() > shown {
            self.warn(&format!(
                "{file}: {} more repairs; `ecorche info {file}` lists them",
                repairs.len() - shown
            ));
        }
    }

    /// A bar over `steps`; invisible with `--quiet` or without a terminal.
    pub fn progress(&self, what: &str, steps: usize) -> ProgressBar {
        if self.quiet || !stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::new(steps as u64).with_message(what.to_owned());
        if let Ok(style) =
            ProgressStyle::with_template("{msg:28!} {bar:32} {pos}/{len}  {per_sec}  {eta} left")
        {
            bar.set_style(style);
        }
        bar.enable_steady_tick(Duration::from_millis(200));
        bar
    }
}

/// A line on standard error, which may be closed or full: what is said there is not what the command is for.
fn to_stderr(text: impl Display) {
    let _ = writeln!(stderr(), "{text}");
}
