//! Edits that are not saved yet, kept beside the anatomy: they survive a crash and Ctrl+C.

use ecorche::output::file;
use std::path::{Path, PathBuf};

/// What the file's name ends in, after that of the anatomy.
const ENDING: &str = ".unsaved";

/// The recovery file of a document, and what an earlier run left in it.
#[derive(Clone, Debug)]
pub struct Recovery {
    path: PathBuf,
    found: Option<String>,
}

impl Recovery {
    /// Of an anatomy that is or will be at `path`. An earlier run left something if its text is another than `saved`.
    pub fn of(path: &Path, saved: &str) -> Self {
        let path = unsaved(path);
        let found = std::fs::read_to_string(&path).ok().filter(|text| text != saved);
        Self { path, found }
    }

    /// What an earlier run left, until it is taken or given up.
    pub fn found(&self) -> Option<&str> {
        self.found.as_deref()
    }

    /// Whatever was found has been taken or given up.
    pub fn settle(&mut self) {
        self.found = None;
    }

    /// The anatomy is now at `path`, with the text `saved`. What an earlier run left there is found, as at a start.
    pub fn follow(&mut self, path: &Path, saved: &str) {
        if unsaved(path) != self.path {
            if self.found.is_none() {
                self.remove();
            }
            *self = Self::of(path, saved);
        }
    }

    /// Keeps `text` if it is not saved; else there is nothing to keep.
    pub fn keep(&self, text: &str, saved: bool) {
        if !saved {
            // Where nothing can be written, editing goes on; saving says what is wrong.
            let _ = file::write(&self.path, text.as_bytes());
        } else if self.found.is_none() {
            self.remove();
        }
    }

    fn remove(&self) {
        // It may never have been written.
        let _ = std::fs::remove_file(&self.path);
    }
}

fn unsaved(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(ENDING);
    path.with_file_name(name)
}
