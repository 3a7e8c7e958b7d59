//! What a user is used to, kept beside the cache from run to run. Only the page knows what it means.

use ecorche::output::file;
use serde_json::Value;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// Most bytes that are kept.
const LARGEST: usize = 64 << 10;

/// One value and its file.
#[derive(Debug, Default)]
pub struct Habits {
    file: Option<PathBuf>,
    value: Mutex<Value>,
}

impl Habits {
    /// What earlier runs left in `file`; kept only in memory without one.
    pub fn read(file: Option<PathBuf>) -> Self {
        let text = file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        let value = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        Self { file, value: Mutex::new(value) }
    }

    /// The value; null if there is none.
    pub fn get(&self) -> Value {
        self.value.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Keeps another; one that is too large is left out.
    pub fn keep(&self, value: Value) {
        let text = value.to_string();
        if text.len() > LARGEST {
            return;
        }
        *self.value.lock().unwrap_or_else(PoisonError::into_inner) = value;
        let Some(path) = &self.file else { return };
        // Where it cannot be written the next run begins anew.
        let _ = path.parent().map(std::fs::create_dir_all);
        let _ = file::write(path, text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn habits_are_there_in_the_next_run() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("new").join("studio.json");
        let habits = Habits::read(Some(file.clone()));
        assert_eq!(habits.get(), Value::Null);
        habits.keep(serde_json::json!({ "tour": "seen" }));
        habits.keep(serde_json::json!({ "tour": "x".repeat(LARGEST) }));
        assert_eq!(Habits::read(Some(file)).get()["tour"], "seen");
    }
}
