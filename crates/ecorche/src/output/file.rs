//! Files that appear whole or not at all.

use super::WriteError;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use tempfile::{NamedTempFile, TempPath};

/// A file written beside its target under a temporary name. Dropping it removes it.
pub struct PendingFile {
    path: PathBuf,
    writer: BufWriter<NamedTempFile>,
}

impl PendingFile {
    /// Opens a temporary file in the folder of `path`, which must exist.
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        let folder = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let mut builder = tempfile::Builder::new();
        builder.prefix(".ecorche-").suffix(".part");
        // Temporary files are private by default; a cache is for the whole studio, as far as the umask allows.
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o666));
        }
        let file =
            builder.tempfile_in(folder).map_err(|source| WriteError::Io { path: path.to_owned(), source })?;
        Ok(Self { path: path.to_owned(), writer: BufWriter::with_capacity(1 << 18, file) })
    }

    /// Writes `bytes`, naming the target in an error.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), WriteError> {
        self.writer.write_all(bytes).map_err(|source| WriteError::Io { path: self.path.clone(), source })
    }

    /// Flushes and closes; still under the temporary name, but no longer an open file.
    pub fn close(self) -> Result<ClosedFile, WriteError> {
        let Self { path, writer } = self;
        match writer.into_inner() {
            Ok(file) => Ok(ClosedFile { path, temporary: file.into_temp_path() }),
            Err(error) => Err(WriteError::Io { path, source: error.into_error() }),
        }
    }

    /// Flushes and renames to the target.
    pub fn commit(self) -> Result<PathBuf, WriteError> {
        self.close()?.commit()
    }
}

/// A complete file waiting for its name. Dropping it removes it.
pub struct ClosedFile {
    path: PathBuf,
    temporary: TempPath,
}

impl ClosedFile {
    /// Renames to the target.
    pub fn commit(self) -> Result<PathBuf, WriteError> {
        let Self { path, temporary } = self;
        match temporary.persist(&path) {
            Ok(()) => Ok(path),
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

/// Writes a whole file at once, under its name only when complete.
pub fn write(path: &Path, bytes: &[u8]) -> Result<PathBuf, WriteError> {
    let mut file = PendingFile::create(path)?;
    file.put(bytes)?;
    file.commit()
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
    fn a_missing_folder_is_named() {
        let error = write(Path::new("no/such/folder/x.pc2"), b"").unwrap_err();
        assert!(error.to_string().contains("no/such/folder/x.pc2"), "{error}");
    }
}
