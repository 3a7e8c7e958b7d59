//! The characters opened last, kept beside the cache from run to run.

use crate::wire::wire;
use ecorche::output::file;
use ecorche::recipe::{AnatomySource, MotionSource, Recipe};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// How many are kept.
const MOST: usize = 12;

wire! {
    /// A character and what was opened with it; paths from the root.
    #[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub struct RecentFile {
        /// Its file.
        pub character: PathBuf,
        /// The anatomy file, if one was named.
        #[serde(default)]
        pub anatomy: Option<PathBuf>,
        /// The file of its motion, if it was another.
        #[serde(default)]
        pub motion: Option<PathBuf>,
    }
}

/// The list, newest first.
#[derive(Debug, Default)]
pub struct Recent {
    file: Option<PathBuf>,
    list: Mutex<Vec<RecentFile>>,
}

impl Recent {
    /// What earlier runs left in `file`; kept only in memory without one. A damaged list is an empty one.
    pub fn read(file: Option<PathBuf>) -> Self {
        let text = file.as_ref().and_then(|file| std::fs::read_to_string(file).ok());
        let list = text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
        Self { file, list: Mutex::new(list) }
    }

    /// Puts the files of a recipe first; samples are not kept.
    pub fn add(&self, recipe: &Recipe) {
        let absolute = |path: &Path| path.canonicalize().ok();
        let Some(character) = recipe.file().and_then(absolute) else { return };
        let anatomy = match &recipe.anatomy {
            AnatomySource::File(path) => absolute(path),
            AnatomySource::Own | AnatomySource::Text { .. } => None,
        };
        let motion = match &recipe.motion {
            MotionSource::File(file) => absolute(Path::new(file)),
            MotionSource::Own | MotionSource::Range => None,
        };
        let mut list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.retain(|entry| entry.character != character);
        list.insert(0, RecentFile { character, anatomy, motion });
        list.truncate(MOST);
        let Some(path) = &self.file else { return };
        // Where it cannot be written the list is gone with this run, no more.
        let _ = path.parent().map(std::fs::create_dir_all);
        if let Ok(text) = serde_json::to_vec_pretty(&*list) {
            let _ = file::write(path, &text);
        }
    }

    /// Those whose files are still there.
    pub fn list(&self) -> Vec<RecentFile> {
        let list = self.list.lock().unwrap_or_else(PoisonError::into_inner);
        list.iter().filter(|entry| entry.character.is_file()).cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_opened_is_first_and_the_next_run_knows_it() {
        let folder = tempfile::tempdir().unwrap();
        let list = folder.path().join("recent.json");
        let files = ["a.obj", "b.obj"].map(|name| folder.path().join(name));
        let recent = Recent::read(Some(list.clone()));
        for file in files.iter().chain(&files[..1]) {
            std::fs::write(file, "").unwrap();
            recent.add(&Recipe::of(file.display().to_string()));
        }
        recent.add(&Recipe::of("sample:arm"));
        let names = |recent: &Recent| -> Vec<String> {
            let name =
                |entry: RecentFile| entry.character.file_name().unwrap().to_string_lossy().into_owned();
            recent.list().into_iter().map(name).collect()
        };
        assert_eq!(names(&Recent::read(Some(list.clone()))), ["a.obj", "b.obj"]);
        std::fs::remove_file(&files[0]).unwrap();
        assert_eq!(names(&recent), ["b.obj"], "a file that is gone is not offered");
        std::fs::write(&list, "{").unwrap();
        assert!(Recent::read(Some(list)).list().is_empty());
    }
}
