//! Files that were dropped on a page: temporary copies, removed when the studio ends.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// Most bytes of a file that is dropped.
pub const LARGEST_FILE: u64 = 1 << 30;

/// Most files that are dropped at once, and batches that are kept.
const MOST: usize = 256;

/// Batches of files, each in a folder of its own.
#[derive(Debug, Default)]
pub struct Dropped(Mutex<BTreeMap<String, (TempDir, usize)>>);

impl Dropped {
    /// Where a file of a batch is to be written; the folder is made for the first.
    pub fn place(&self, batch: &str, name: &str) -> Result<PathBuf, String> {
        let name = plain(name)?;
        let mut batches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if !batches.contains_key(batch) {
            if batches.len() >= MOST {
                return Err("too many files were dropped; start the studio anew".to_owned());
            }
            let folder = tempfile::Builder::new().prefix("ecorche-drop-").tempdir();
            let folder = folder.map_err(|error| format!("no temporary copy can be made: {error}"))?;
            batches.insert(batch.to_owned(), (folder, 0));
        }
        let Some((folder, count)) = batches.get_mut(batch) else { return Err("no such batch".to_owned()) };
        *count += 1;
        if *count > MOST {
            return Err(format!("more than {MOST} files were dropped at once"));
        }
        Ok(folder.path().join(name))
    }

    /// Where a file of a batch is.
    pub fn path(&self, batch: &str, name: &str) -> Result<PathBuf, String> {
        let batches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let folder =
            batches.get(batch).ok_or("these files were dropped on an earlier studio; drop them again")?;
        Ok(folder.0.path().join(plain(name)?))
    }

    /// Whether a file is one of the copies.
    pub fn owns(&self, file: Option<&Path>) -> bool {
        let batches = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        file.is_some_and(|file| batches.values().any(|(folder, _)| file.starts_with(folder.path())))
    }

    /// Removes all copies.
    pub fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

/// A name that leads nowhere else.
fn plain(name: &str) -> Result<&str, String> {
    let mut parts = Path::new(name).components();
    let single = matches!((parts.next(), parts.next()), (Some(Component::Normal(_)), None));
    let hidden = name.starts_with('.') || name.contains(['\\', ':', '\0']) || name.len() > 200;
    if single && !hidden { Ok(name) } else { Err(format!("\"{name}\" is not the name of a file")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_stay_in_their_folder_and_go_with_it() {
        let dropped = Dropped::default();
        let file = dropped.place("1", "hero.glb").unwrap();
        std::fs::write(&file, "x").unwrap();
        assert_eq!(dropped.path("1", "hero.glb").unwrap(), file);
        assert!(dropped.owns(Some(&file)) && !dropped.owns(Some(Path::new("hero.glb"))));
        for name in ["../hero.glb", "/etc/passwd", "a/b.glb", "", "..", ".hidden", "c:\\x.glb", "a\\b"] {
            assert!(dropped.place("1", name).is_err(), "{name}");
            assert!(dropped.path("1", name).is_err(), "{name}");
        }
        assert!(dropped.path("2", "hero.glb").is_err());
        dropped.clear();
        assert!(!file.exists());
    }
}
