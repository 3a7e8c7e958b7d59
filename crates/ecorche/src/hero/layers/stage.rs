//! What a stage of a shot has computed, on disk: a record for every moment, each with a hash of its own, so that a shot that
//! was interrupted goes on, and damage is found where it is.
//!
//! A file is a mark, the key of everything that determines its records, and the records: length, hash, bytes. It grows
//! under its final name: a record that is not whole is cut off when the file is opened again.

use std::fs::{File, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const MARK: &[u8; 16] = b"ecorche hero 1\0\0";
const HASH: usize = 32;
/// Before the first record.
const HEAD: u64 = 16 + HASH as u64;
/// Longest record, bytes: more is damage.
const LONGEST: u64 = 1 << 32;

/// Why a stage cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum StageError {
    /// The file cannot be read or written.
    #[error("{}: {source}; check that the folder is writable and has space", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// Something else has this name.
    #[error("{}: not a stage of a simulated shot; move it away or choose another output", .0.display())]
    Foreign(PathBuf),
}

/// What was found on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    /// Nothing.
    Nothing,
    /// Records of another character, clip or setting; they were dropped.
    OtherInput,
    /// This many sound records, up to the end of the file.
    Sound(usize),
    /// This many sound records before one that was cut short.
    CutShort(usize),
    /// This many sound records before one that is damaged; it was dropped with all after it.
    Damaged(usize),
}

/// The records of one stage.
#[derive(Debug)]
pub struct Stage {
    path: PathBuf,
    file: File,
    /// Where each record's bytes start, and how many there are.
    records: Vec<(u64, u64)>,
    end: u64,
}

impl Stage {
    /// Opens the records with this key, at most `most` of them. Those of another key are dropped.
    pub fn open(path: &Path, key: &[u8; 32], most: usize) -> Result<(Self, Found), StageError> {
        let fail = |source| StageError::Io { path: path.to_owned(), source };
        let mut options = OpenOptions::new();
        let mut file =
            options.read(true).write(true).create(true).truncate(false).open(path).map_err(fail)?;
        let size = file.metadata().map_err(fail)?.len();
        let mut head = Vec::new();
        (&mut file).take(HEAD).read_to_end(&mut head).map_err(fail)?;
        if !head.starts_with(&MARK[..head.len().min(MARK.len())]) {
            return Err(StageError::Foreign(path.to_owned()));
        }
        let mut stage = Self { path: path.to_owned(), file, records: Vec::new(), end: HEAD };
        let mut found = match head.len() as u64 {
            0 => Found::Nothing,
            HEAD if head[MARK.len()..] == key[..] => Found::Sound(0),
            _ => Found::OtherInput,
        };
        if found == Found::Sound(0) {
            found = stage.scan(size, most).map_err(fail)?;
        } else {
            stage.file.set_len(0).map_err(fail)?;
            stage.file.seek(SeekFrom::Start(0)).map_err(fail)?;
            stage.file.write_all(&[&MARK[..], key].concat()).map_err(fail)?;
        }
        stage.file.set_len(stage.end).map_err(fail)?;
        Ok((stage, found))
    }

    /// Takes up sound records.
    fn scan(&mut self, size: u64, most: usize) -> std::io::Result<Found> {
        while self.end < size && self.records.len() < most {
            let count = self.records.len();
            let mut head = [0u8; 8 + HASH];
            if size - self.end < head.len() as u64 {
                return Ok(Found::CutShort(count));
            }
            self.file.seek(SeekFrom::Start(self.end))?;
            self.file.read_exact(&mut head)?;
            let (length, hash) = head.split_at(8);
            let length = u64::from_le_bytes(length.try_into().unwrap_or_default());
            if length > LONGEST {
                return Ok(Found::Damaged(count));
            }
            let start = self.end + head.len() as u64;
            if size - start < length {
                return Ok(Found::CutShort(count));
            }
            let mut bytes = vec![0u8; length as usize];
            self.file.read_exact(&mut bytes)?;
            if blake3::hash(&bytes).as_bytes() != hash {
                return Ok(Found::Damaged(count));
            }
            self.records.push((start, length));
            self.end = start + length;
        }
        Ok(Found::Sound(self.records.len()))
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Appends a record.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), StageError> {
        let head = [&(bytes.len() as u64).to_le_bytes()[..], blake3::hash(bytes).as_bytes()].concat();
        let start = self.end + head.len() as u64;
        let whole = [&head[..], bytes].concat();
        let written = self.file.seek(SeekFrom::Start(self.end)).and_then(|_| self.file.write_all(&whole));
        written.map_err(|source| StageError::Io { path: self.path.clone(), source })?;
        self.records.push((start, bytes.len() as u64));
        self.end = start + bytes.len() as u64;
        Ok(())
    }

    /// The bytes of record `index`, which must exist.
    pub fn read(&mut self, index: usize) -> Result<Vec<u8>, StageError> {
        let (start, length) = self.records[index];
        let mut bytes = vec![0u8; length as usize];
        let done = self.file.seek(SeekFrom::Start(start)).and_then(|_| self.file.read_exact(&mut bytes));
        done.map_err(|source| StageError::Io { path: self.path.clone(), source })?;
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: [u8; 32] = [7; 32];

    fn three(path: &Path) {
        let (mut stage, found) = Stage::open(path, &KEY, 9).unwrap();
        assert_eq!(found, Found::Nothing);
        (0..3u8).for_each(|k| stage.push(&[k; 100]).unwrap());
    }

    #[test]
    fn a_stage_goes_on_after_its_last_whole_record() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fat.stage");
        three(&path);
        let whole = std::fs::read(&path).unwrap();
        std::fs::write(&path, &whole[..whole.len() - 10]).unwrap();
        let (mut stage, found) = Stage::open(&path, &KEY, 9).unwrap();
        assert_eq!(found, Found::CutShort(2));
        stage.push(&[2; 100]).unwrap();
        drop(stage);
        assert_eq!(std::fs::read(&path).unwrap(), whole);
    }

    #[test]
    fn damage_and_other_input_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("fat.stage");
        three(&path);
        let mut bytes = std::fs::read(&path).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        std::fs::write(&path, &bytes).unwrap();
        let (mut stage, found) = Stage::open(&path, &KEY, 9).unwrap();
        assert_eq!(found, Found::Damaged(1));
        assert_eq!(stage.read(0).unwrap(), [0; 100]);
        drop(stage);
        assert_eq!(Stage::open(&path, &[8; 32], 9).unwrap().1, Found::OtherInput);
        std::fs::write(&path, "a letter").unwrap();
        assert!(matches!(Stage::open(&path, &KEY, 9), Err(StageError::Foreign(_))));
    }
}
