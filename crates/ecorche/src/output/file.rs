//! Files that appear whole or not at all.
//!
//! A file is written under a temporary name beside its target and renamed. The writer holds a lock on what it
//! writes, so that the next writer into the same folder can tell what a killed process left behind, and
//! removes it. A hidden folder of several files gets its lock first and loses it last: one without a lock is empty, at whatever
//! moment its process was killed, and is removed as long as it is.

use super::WriteError;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufWriter, ErrorKind, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use tempfile::NamedTempFile;

const PREFIX: &str = ".ecorche-";
const SUFFIX: &str = ".part";
/// Name of the locked file in a folder of several files.
const LOCK: &str = "lock";

/// How often a new temporary name is tried if another process removes it before it is locked.
const ATTEMPTS: usize = 8;

/// A file written beside its target under a temporary name. Dropping it removes it.
pub struct PendingFile {
    path: PathBuf,
    writer: BufWriter<NamedTempFile>,
}

impl PendingFile {
    /// Opens a temporary file in the folder of `path`, which must exist. Removes what killed processes left there.
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        let folder = folder_of(path);
        remove_leftovers(folder);
        let file = new_locked(
            || {
                let mut builder = tempfile::Builder::new();
                builder.prefix(PREFIX).suffix(SUFFIX);
                // Temporary files are private by default; a cache is for the whole studio, as far as the umask allows.
                #[cfg(unix)]
                {
                    use std::os::unix::fs::PermissionsExt;
                    builder.permissions(std::fs::Permissions::from_mode(0o666));
                }
                builder.tempfile_in(folder)
            },
            |file| lock(file.as_file(), file.path()),
        )
        .map_err(|source| WriteError::Io { path: path.to_owned(), source: plain(source) })?;
        Ok(Self { path: path.to_owned(), writer: BufWriter::with_capacity(1 << 18, file) })
    }

    /// Writes `bytes`, naming the target in an error.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.writer.write_all(bytes).map_err(|source| WriteError::Io { path: self.path.clone(), source })
    }

    /// Flushes and renames to the target.
    pub(crate) fn commit(self) -> Result<PathBuf, WriteError> {
        let Self { path, writer } = self;
        let file = match writer.into_inner() {
            Ok(file) => file,
            Err(error) => return Err(WriteError::Io { path, source: error.into_error() }),
        };
        match file.persist(&path) {
            Ok(_) => Ok(path),
            Err(error) => Err(WriteError::Io { path, source: error.error }),
        }
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.writer.write(bytes)
    }
    fn flush(&mut self) -> std::io::Result<()> {
        self.writer.flush()
    }
}

/// Any number of files in one folder that appear together at the end. They are kept in a hidden folder beside
/// their targets until then, and none is open between writes. Dropping it removes them.
pub struct PendingFiles {
    folder: Folder,
    targets: Vec<PathBuf>,
}

/// A hidden folder and its lock. Dropping it removes all that is in it, then the lock, then the folder.
struct Folder {
    path: PathBuf,
    lock: Option<File>,
}

impl Folder {
    /// Makes one in `parent`; its lock file is there, but nobody holds it yet.
    fn create(parent: &Path) -> std::io::Result<Self> {
        let path = tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempdir_in(parent)?.keep();
        let lock = match File::create(path.join(LOCK)) {
            Ok(file) => Some(file),
            // Removed by another process, since it was empty.
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => {
                let _ = std::fs::remove_dir(&path);
                return Err(error);
            }
        };
        Ok(Self { path, lock })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        remove_folder(&self.path);
    }
}

impl PendingFiles {
    /// Opens a hidden folder beside `path`, whose folder must exist. Removes what killed processes left there.
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        let parent = folder_of(path);
        remove_leftovers(parent);
        let folder = new_locked(
            || Folder::create(parent),
            |folder| folder.lock.as_ref().map_or(Ok(false), |file| lock(file, &folder.path.join(LOCK))),
        )
        .map_err(|source| WriteError::Io { path: path.to_owned(), source: plain(source) })?;
        Ok(Self { folder, targets: Vec::new() })
    }

    /// Adds a file that will be called `target` and holds `bytes`. Returns its number, from 0.
    pub fn add(&mut self, target: &Path, bytes: &[u8]) -> Result<usize, WriteError> {
        let number = self.targets.len();
        self.targets.push(target.to_owned());
        std::fs::write(self.staged(number), bytes).map_err(|source| self.error(number, source))?;
        Ok(number)
    }

    /// Appends to file `number`.
    pub fn append(&mut self, number: usize, bytes: &[u8]) -> Result<(), WriteError> {
        OpenOptions::new()
            .append(true)
            .open(self.staged(number))
            .and_then(|mut file| file.write_all(bytes))
            .map_err(|source| self.error(number, source))
    }

    /// Writes over what file `number` has from byte `at` on.
    pub(crate) fn overwrite(&mut self, number: usize, at: u64, bytes: &[u8]) -> Result<(), WriteError> {
        let write = || -> std::io::Result<()> {
            let mut file = OpenOptions::new().write(true).open(self.staged(number))?;
            file.seek(SeekFrom::Start(at))?;
            file.write_all(bytes)
        };
        write().map_err(|source| self.error(number, source))
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.targets.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.targets.is_empty()
    }

    /// Gives every file its name and lists them.
    pub fn commit(self) -> Result<Vec<PathBuf>, WriteError> {
        for (number, target) in self.targets.iter().enumerate() {
            std::fs::rename(self.staged(number), target).map_err(|source| self.error(number, source))?;
        }
        Ok(self.targets.clone())
    }

    fn staged(&self, number: usize) -> PathBuf {
        self.folder.path.join(number.to_string())
    }

    fn error(&self, number: usize, source: std::io::Error) -> WriteError {
        WriteError::Io { path: self.targets[number].clone(), source }
    }
}

/// Writes a whole file at once, under its name only when complete.
pub fn write(path: &Path, bytes: &[u8]) -> Result<PathBuf, WriteError> {
    let mut file = PendingFile::create(path)?;
    file.put(bytes)?;
    file.commit()
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// What the system said, without the name of the temporary file, which means nothing to a user: an error that wraps another
/// has it in its words.
fn plain(error: std::io::Error) -> std::io::Error {
    if error.get_ref().is_some_and(|wrapped| wrapped.to_string().contains(PREFIX)) {
        error.kind().into()
    } else {
        error
    }
}

/// Makes something until it could be locked: another process may take it for a leftover just before.
fn new_locked<T>(
    make: impl Fn() -> std::io::Result<T>,
    lock: impl Fn(&T) -> std::io::Result<bool>,
) -> std::io::Result<T> {
    for _ in 0..ATTEMPTS {
        let made = make()?;
        if lock(&made)? {
            return Ok(made);
        }
    }
    Err(std::io::Error::other("other processes keep removing temporary files in this folder"))
}

/// Locks `file`, and tells whether it is still there under its name.
fn lock(file: &File, path: &Path) -> std::io::Result<bool> {
    match file.try_lock() {
        // Without locks nothing counts as a leftover.
        Ok(()) | Err(TryLockError::Error(_)) => path.try_exists(),
        // Somebody else examines it as a leftover and will remove it.
        Err(TryLockError::WouldBlock) => Ok(false),
    }
}

/// Removes temporary files that no running process holds a lock on. What cannot be removed stays.
fn remove_leftovers(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|n| n.starts_with(PREFIX) && n.ends_with(SUFFIX));
        let Some(kind) = entry.file_type().ok().filter(|kind| is_ours && !kind.is_symlink()) else {
            continue;
        };
        let path = entry.path();
        if kind.is_dir() {
            if let Some(_held) = unlocked(&path.join(LOCK)) {
                remove_folder(&path);
            } else {
                // Abandoned before its lock was made or after it was removed; not removed if it is not empty. Who is about
                // to make a lock in it notices.
                let _ = std::fs::remove_dir(&path);
            }
        } else if let Some(_held) = unlocked(&path) {
            let _ = std::fs::remove_file(&path);
        }
    }
}

/// Removes a hidden folder: its files, then its lock, then itself. Stops at what cannot be removed.
fn remove_folder(path: &Path) {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let files = entries.map(|entry| entry.path()).filter(|file| file.file_name() != Some(LOCK.as_ref()));
    if files.map(std::fs::remove_file).all(|removed| removed.is_ok()) {
        let _ = std::fs::remove_file(path.join(LOCK));
        let _ = std::fs::remove_dir(path);
    }
}

/// The file, locked, if no other process holds a lock on it.
fn unlocked(path: &Path) -> Option<File> {
    let file = OpenOptions::new().write(true).open(path).ok()?;
    file.try_lock().ok()?;
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dropped_file_leaves_nothing_and_a_committed_one_only_itself() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("cache.bin");
        let count = || std::fs::read_dir(folder.path()).unwrap().count();

        let mut dropped = PendingFile::create(&target).unwrap();
        dropped.put(b"half").unwrap();
        drop(dropped);
        assert_eq!(count(), 0);

        let mut kept = PendingFile::create(&target).unwrap();
        kept.put(b"1234 whole").unwrap();
        kept.put(b"!").unwrap();
        assert!(!target.exists());
        kept.commit().unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"1234 whole!");
        assert_eq!(count(), 1);
    }

    #[test]
    fn an_error_names_the_target_and_not_the_temporary_file() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("nowhere").join("cache.bin");
        for error in [PendingFile::create(&target).err(), PendingFiles::create(&target).err()] {
            let said = error.unwrap().to_string();
            assert!(!said.contains(PREFIX) && said.matches("nowhere").count() == 1, "{said}");
        }
    }

    #[test]
    fn several_files_appear_together_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let target = |name: &str| folder.path().join(name);
        let mut dropped = PendingFiles::create(&target("a")).unwrap();
        dropped.add(&target("a"), b"half").unwrap();
        drop(dropped);
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);

        let mut kept = PendingFiles::create(&target("a")).unwrap();
        for name in ["a", "b"] {
            let number = kept.add(&target(name), b"head ").unwrap();
            kept.append(number, name.as_bytes()).unwrap();
        }
        assert!(!target("a").exists() && !target("b").exists());
        assert_eq!(kept.commit().unwrap(), [target("a"), target("b")]);
        assert_eq!(std::fs::read(target("b")).unwrap(), b"head b");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_what_a_running_one_writes_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let names = || {
            let mut names: Vec<_> =
                std::fs::read_dir(folder.path()).unwrap().map(|e| e.unwrap().file_name()).collect();
            names.sort();
            names
        };
        // As a killed process leaves them: they exist, and no process holds a lock.
        std::fs::write(folder.path().join(".ecorche-dead.part"), b"half").unwrap();
        std::fs::create_dir(folder.path().join(".ecorche-dead2.part")).unwrap();
        for name in ["lock", "0", "1"] {
            std::fs::write(folder.path().join(".ecorche-dead2.part").join(name), b"half").unwrap();
        }
        std::fs::write(folder.path().join("mine.part"), b"the user's").unwrap();
        let target = folder.path().join("cache.bin");
        let (one, mut two) = (PendingFile::create(&target).unwrap(), PendingFiles::create(&target).unwrap());
        two.add(&folder.path().join("b"), b"b").unwrap();
        assert_eq!(names().len(), 3, "{:?}", names());
        write(&target, b"whole").unwrap();
        assert_eq!(names().len(), 4, "{:?}", names());
        drop(one);
        two.commit().unwrap();
        assert_eq!(names(), ["b", "cache.bin", "mine.part"]);
    }

    #[test]
    fn a_process_killed_at_any_moment_leaves_what_the_next_removes() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("cache.bin");
        let left = folder.path().join(".ecorche-dead.part");
        // As long as a folder exists: before its lock, with files, with the lock alone, after the lock.
        for files in [&[][..], &["lock"], &["lock", "0"], &["lock", "0", "1"]] {
            std::fs::create_dir(&left).unwrap();
            files.iter().for_each(|name| std::fs::write(left.join(name), b"half").unwrap());
            write(&target, b"whole").unwrap();
            assert!(!left.exists(), "left with {files:?}");
        }
        // Files are removed before the lock that tells whose they are.
        let mut pending = PendingFiles::create(&target).unwrap();
        let hidden = pending.folder.path.clone();
        pending.add(&target, b"half").unwrap();
        std::fs::create_dir(hidden.join("cannot be removed like a file")).unwrap();
        drop(pending);
        assert!(hidden.join("lock").exists());
    }

    #[test]
    fn writers_into_one_folder_do_not_remove_what_others_begin() {
        let folder = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let folder = folder.path();
                scope.spawn(move || {
                    for turn in 0..100 {
                        let target = folder.join(format!("{writer}.{turn}"));
                        let mut files = PendingFiles::create(&target).unwrap();
                        files.add(&target, b"whole").unwrap();
                        files.commit().unwrap();
                    }
                });
            }
        });
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 400);
    }

    #[test]
    fn a_missing_folder_is_named() {
        let error = write(Path::new("no/such/folder/x.pc2"), b"").unwrap_err();
        assert!(error.to_string().contains("no/such/folder/x.pc2"), "{error}");
    }
}
