//! What is in a folder of this machine, for a page that asks for a file.

use crate::message::{Kind, encode};
use crate::wire::wire;
use axum::body::Bytes;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Most entries that are listed.
const MOST: usize = 2_000;

wire! {
    #[derive(Serialize)]
    pub struct FolderEntry {
        name: String,
        folder: bool,
        bytes: u64,
    }
}

wire! {
    #[derive(Serialize)]
    pub struct Folder {
        /// From the root.
        path: String,
        parent: Option<String>,
        entries: Vec<FolderEntry>,
        /// Whether there are more than are listed.
        more: bool,
        /// Why nothing is listed.
        problem: Option<String>,
    }
}

/// Folders, and files with one of the `endings`, of `path`; of the folder the studio was started in without one. Hidden
/// ones are left out.
pub fn list(path: Option<&str>, endings: &[String]) -> Bytes {
    let wanted = path.map_or_else(|| PathBuf::from("."), PathBuf::from);
    let (folder, problem) = match wanted.canonicalize() {
        Ok(found) if found.is_file() => (found.parent().map_or(found.clone(), Path::to_owned), None),
        Ok(found) => (found, None),
        Err(error) => (wanted, Some(error)),
    };
    let mut head = Folder {
        path: folder.display().to_string(),
        parent: folder.parent().map(|parent| parent.display().to_string()),
        entries: Vec::new(),
        more: false,
        problem: None,
    };
    let found = problem.map_or_else(|| std::fs::read_dir(&folder), Err);
    match found {
        Ok(found) => {
            let entries = found.flatten().filter_map(|entry| describe(&entry.path(), endings));
            head.entries.extend(entries.take(MOST + 1));
            head.more = head.entries.len() > MOST;
            head.entries.truncate(MOST);
            // Folders first, both in the order people expect of names.
            head.entries.sort_by_key(|entry| (!entry.folder, entry.name.to_lowercase()));
        }
        Err(error) => head.problem = Some(format!("{}: {error}", folder.display())),
    }
    encode(Kind::Folder, &head, &[])
}

fn describe(path: &Path, endings: &[String]) -> Option<FolderEntry> {
    let name = path.file_name()?.to_str()?.to_owned();
    let known = std::fs::metadata(path).ok()?;
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or("").to_lowercase();
    let wanted = known.is_dir() || endings.contains(&ending);
    (wanted && !name.starts_with('.')).then(|| FolderEntry {
        name,
        folder: known.is_dir(),
        bytes: known.len(),
    })
}
