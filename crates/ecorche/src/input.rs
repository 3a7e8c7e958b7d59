//! Files read whole, within bounds.
//!
//! A path can come out of another file: a bone's surface, a layer of a scene, a buffer. It may name a pipe,
//! which never ends or never starts, or a device such as `/dev/zero`. Only regular files up to a size are read.

use std::fs::File;
use std::io::{Error, ErrorKind, Read, Result};
use std::path::Path;

/// The largest file that is read, bytes: 4 GiB.
pub const LARGEST: u64 = 4 << 30;

/// The bytes of a regular file of at most [`LARGEST`] bytes.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    read_up_to(path, LARGEST)
}

/// As [`read`], as UTF-8 text.
pub fn read_text(path: &Path) -> Result<String> {
    String::from_utf8(read(path)?).map_err(|_| Error::new(ErrorKind::InvalidData, "is not UTF-8 text"))
}

/// The bytes of a regular file of at most `most` bytes.
pub(crate) fn read_up_to(path: &Path, most: u64) -> Result<Vec<u8>> {
    let too_large = || {
        let what = format!("is larger than {:.1} GB, the most that is read", most as f64 / 1e9);
        Error::new(ErrorKind::FileTooLarge, what)
    };
    // Before it is opened: opening a pipe waits for a writer.
    let metadata = std::fs::metadata(path)?;
    if metadata.is_dir() {
        return Err(Error::new(ErrorKind::IsADirectory, "is a folder; name a file"));
    }
    if !metadata.is_file() {
        return Err(Error::new(ErrorKind::InvalidInput, "is a pipe or a device; name a regular file"));
    }
    if metadata.len() > most {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(metadata.len() as usize)?;
    // The file may grow while it is read.
    File::open(path)?.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_files_are_read_and_folders_are_named_as_such() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::write(&file, "words").unwrap();
        assert_eq!(read(&file).unwrap(), b"words");
        assert_eq!(read_text(&file).unwrap(), "words");
        assert!(read(folder.path()).unwrap_err().to_string().contains("is a folder"));
        assert_eq!(read(&folder.path().join("no")).unwrap_err().kind(), ErrorKind::NotFound);
        std::fs::write(&file, [0xff]).unwrap();
        assert!(read_text(&file).unwrap_err().to_string().contains("UTF-8"));
    }

    #[test]
    fn a_file_above_the_limit_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a");
        std::fs::write(&file, [0; 11]).unwrap();
        assert_eq!(read_up_to(&file, 11).unwrap().len(), 11);
        assert_eq!(read_up_to(&file, 10).unwrap_err().kind(), ErrorKind::FileTooLarge);
    }

    #[cfg(unix)]
    #[test]
    fn devices_and_pipes_are_refused_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        for path in [Path::new("/dev/zero"), &pipe] {
            assert!(read(path).unwrap_err().to_string().contains("pipe or a device"), "{}", path.display());
        }
    }
}
