//! Results that are expensive to compute, kept on disk and found by content.
//!
//! An entry's name is the hash of everything it was computed from, so a changed character never
//! gets an old result. An entry that is damaged, or written by another version, is ignored and written anew.
//! When the folder grows beyond its limit, the entries unused for longest are deleted first.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// Raised whenever the meaning of cached bytes changes.
const VERSION: u32 = 1;
const MAGIC: &[u8; 8] = b"ecorche\0";
const HEADER: usize = 8 + 4 + 32;

/// How names of entries that are being written start.
const TEMPORARY: &str = ".tmp";
/// After this time without a change an entry is no longer being written.
const ABANDONED: Duration = Duration::from_secs(3600);

/// Default limit of the cache, bytes: 1 GiB.
pub const DEFAULT_LIMIT: u64 = 1 << 30;

/// A folder of computed results.
#[derive(Clone, Debug)]
pub struct Cache {
    folder: PathBuf,
    limit: u64,
}

/// Names an entry by the content it was computed from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(blake3::Hash);

impl Key {
    /// The key of a `kind` of result computed from `parts`, in this order.
    pub fn new(kind: &str, parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in std::iter::once(kind.as_bytes()).chain(parts.iter().copied()) {
            // Lengths keep neighbouring parts from running into each other.
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self(hasher.finalize())
    }
}

impl Cache {
    /// A cache in `folder`, made when first written to.
    pub fn new(folder: impl Into<PathBuf>, limit: u64) -> Self {
        Self { folder: folder.into(), limit }
    }

    /// The user's cache: `$ECORCHE_CACHE`, else `ecorche` in the usual cache folder; none without a home.
    pub fn of_user(limit: u64) -> Option<Self> {
        let set = |name| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let folder = set("ECORCHE_CACHE").or_else(|| {
            let base = set("XDG_CACHE_HOME")
                .or_else(|| set("LOCALAPPDATA"))
                .or_else(|| set("HOME").map(|home| home.join(".cache")));
            base.map(|b| b.join("ecorche"))
        })?;
        Some(Self::new(folder, limit))
    }

    /// The bytes kept under `key`; none if there are none or they are damaged.
    pub fn get(&self, key: Key) -> Option<Vec<u8>> {
        let path = self.path(key);
        let bytes = crate::input::read(&path).ok()?;
        let body = bytes.get(HEADER..)?;
        let sound = bytes[..8] == *MAGIC
            && bytes[8..12] == VERSION.to_le_bytes()
            && bytes[12..HEADER] == *blake3::hash(body).as_bytes();
        if !sound {
            return None;
        }
        // Marks the entry as used; a read-only cache still serves.
        let _ = std::fs::File::open(&path).and_then(|f| f.set_modified(SystemTime::now()));
        Some(body.to_vec())
    }

    /// Keeps `bytes` under `key`. A cache that cannot be written is no error: the result was computed.
    pub fn put(&self, key: Key, bytes: &[u8]) {
        let write = || -> std::io::Result<()> {
            std::fs::create_dir_all(&self.folder)?;
            let mut file = tempfile::Builder::new().prefix(TEMPORARY).tempfile_in(&self.folder)?;
            use std::io::Write;
            file.write_all(MAGIC)?;
            file.write_all(&VERSION.to_le_bytes())?;
            file.write_all(blake3::hash(bytes).as_bytes())?;
            file.write_all(bytes)?;
            file.persist(self.path(key))?;
            Ok(())
        };
        if write().is_ok() {
            self.shrink();
        }
    }

    fn path(&self, key: Key) -> PathBuf {
        self.folder.join(format!("{}.cache", key.0.to_hex()))
    }

    /// Removes the entries unused for longest until the rest fits the limit, and what killed processes left.
    fn shrink(&self) {
        self.remove_leftovers();
        let mut entries: Vec<(SystemTime, u64, PathBuf)> = std::fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .filter_map(|entry| {
                let path = entry.ok()?.path();
                let is_entry = path.extension().is_some_and(|e| e == "cache");
                let metadata = std::fs::metadata(&path).ok().filter(|m| is_entry && m.is_file())?;
                Some((metadata.modified().ok()?, metadata.len(), path))
            })
            .collect();
        entries.sort();
        let mut total: u64 = entries.iter().map(|e| e.1).sum();
        for (_, size, path) in &entries {
            if total <= self.limit {
                break;
            }
            if std::fs::remove_file(path).is_ok() {
                total -= size;
            }
        }
    }

    /// Removes temporary files that are too old to be in use.
    fn remove_leftovers(&self) {
        for entry in std::fs::read_dir(&self.folder).into_iter().flatten().flatten() {
            let temporary = entry.file_name().to_str().is_some_and(|name| name.starts_with(TEMPORARY));
            let age = entry.metadata().and_then(|m| m.modified()).ok().and_then(|t| t.elapsed().ok());
            if temporary && age.is_some_and(|age| age > ABANDONED) {
                let _ = std::fs::remove_file(entry.path());
            }
        }
    }

    /// The folder the entries are in.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_found_by_content_only() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path().join("inner"), DEFAULT_LIMIT);
        let key = Key::new("centres", &[b"ab", b"c"]);
        assert_eq!(cache.get(key), None);
        cache.put(key, b"result");
        assert_eq!(cache.get(key).unwrap(), b"result");
        assert_eq!(cache.get(Key::new("centres", &[b"a", b"bc"])), None);
    }

    #[test]
    fn a_damaged_entry_is_not_trusted() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path(), DEFAULT_LIMIT);
        let key = Key::new("centres", &[]);
        cache.put(key, b"result");
        let mut bytes = std::fs::read(cache.path(key)).unwrap();
        *bytes.last_mut().unwrap() ^= 1;
        std::fs::write(cache.path(key), bytes).unwrap();
        assert_eq!(cache.get(key), None);
    }

    #[test]
    fn what_a_killed_process_left_long_ago_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path(), DEFAULT_LIMIT);
        for (name, age) in [(".tmpOld", 2 * ABANDONED), (".tmpNew", Duration::ZERO)] {
            let file = std::fs::File::create(folder.path().join(name)).unwrap();
            file.set_modified(SystemTime::now() - age).unwrap();
        }
        cache.put(Key::new("x", &[]), b"result");
        assert!(!folder.path().join(".tmpOld").exists());
        assert!(folder.path().join(".tmpNew").exists());
    }

    #[test]
    fn the_limit_holds() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(folder.path(), 2500);
        for i in 0..5u8 {
            cache.put(Key::new("x", &[&[i]]), &[0; 1000]);
        }
        let total: u64 =
            std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().metadata().unwrap().len()).sum();
        assert!(total <= 2500, "{total}");
    }
}
