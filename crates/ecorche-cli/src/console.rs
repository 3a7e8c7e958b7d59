//! What a person sees besides results: warnings, errors, progress. All on standard error.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::{IsTerminal, stderr};
use std::time::Duration;

/// Most repairs listed one by one before pointing to `info`.
const SHOWN_REPAIRS: usize = 5;

/// Where messages go, and how many of them.
pub struct Console {
    quiet: bool,
    verbose: bool,
    colour: bool,
}

impl Console {
    /// Colours only for a terminal, and not when `NO_COLOR` is set.
    pub fn new(quiet: bool, verbose: bool) -> Self {
        let wanted = std::env::var_os("NO_COLOR").is_none_or(|v| v.is_empty());
        Self { quiet, verbose, colour: wanted && stderr().is_terminal() }
    }

    fn say(&self, label: &str, colour: u8, text: &str) {
        if self.colour {
            eprintln!("\x1b[1;{colour}m{label}\x1b[0m {text}");
        } else {
            eprintln!("{label} {text}");
        }
    }

    /// The reason nothing came of it.
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
            eprintln!("{text}");
        }
    }

    /// Details for `--verbose`.
    pub fn detail(&self, text: &str) {
        if self.verbose && !self.quiet {
            eprintln!("{text}");
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
