//! File names made from names found in a file.
//!
//! A mesh, a clip or a body may be called anything: `../../x`, `/etc/x`, the name of another one. Names are
//! cleaned first and then made distinct, so every file stays in the folder that was asked for and none
//! overwrites another.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Bytes of a cleaned name at most, which leaves room for the rest of a file name.
const LONGEST: usize = 80;

/// Names that file systems take for devices.
const RESERVED: [&str; 4] = ["con", "prn", "aux", "nul"];

/// One file name, without ending, for each of `names`: no separators or dots, none like another, even where
/// the file system does not tell capitals from small letters. A name that needs no change keeps it unless an earlier one has it.
pub fn file_names(names: &[&str]) -> Vec<String> {
    let cleaned: Vec<String> = names.iter().map(|name| clean(name)).collect();
    let mut taken = BTreeSet::new();
    // The last number given to a name, so that many of one name are not counted through again for each.
    let mut last: BTreeMap<String, usize> = BTreeMap::new();
    let mut found = vec![String::new(); names.len()];
    let unchanged = |i: &usize| cleaned[*i] == names[*i];
    let (first, then): (Vec<usize>, Vec<usize>) = (0..names.len()).partition(unchanged);
    for i in first.into_iter().chain(then) {
        let mut name = cleaned[i].clone();
        while !taken.insert(name.to_lowercase()) {
            let number = last.entry(cleaned[i].to_lowercase()).or_insert(1);
            *number += 1;
            name = format!("{}-{number}", cleaned[i]);
        }
        found[i] = name;
    }
    found
}

/// Letters, digits, `-`, `_` and space; everything else becomes `_`.
fn clean(name: &str) -> String {
    let safe = |c: char| if c.is_alphanumeric() || "-_ ".contains(c) { c } else { '_' };
    let mut cleaned = String::new();
    for c in name.chars().map(safe) {
        if cleaned.len() + c.len_utf8() > LONGEST {
            break;
        }
        cleaned.push(c);
    }
    if cleaned.trim().is_empty() {
        return "unnamed".to_owned();
    }
    if RESERVED.contains(&cleaned.to_lowercase().as_str()) {
        cleaned.push('_');
    }
    cleaned
}

/// `name.pc2` becomes `name.Body.pc2`, one path for each of `labels`, cleaned and distinct.
pub fn labelled(path: &Path, labels: &[&str]) -> Vec<PathBuf> {
    file_names(labels).iter().map(|label| insert(path, label)).collect()
}

/// `name.obj` becomes `name.0012.obj`.
pub fn numbered(path: &Path, number: usize) -> PathBuf {
    insert(path, &format!("{number:04}"))
}

fn insert(path: &Path, label: &str) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let ending = path.extension().map(|e| format!(".{}", e.to_string_lossy())).unwrap_or_default();
    path.with_file_name(format!("{stem}.{label}{ending}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_cleaned_and_then_made_distinct() {
        let names = ["a/b", "a_b", "../../esc", "/etc/x", "", "a.b", "A_B", "a_b-2", "NUL", "Körper 1"];
        let expected = [
            "a_b-3",
            "a_b",
            "______esc",
            "_etc_x",
            "unnamed",
            "a_b-4",
            "A_B-2",
            "a_b-2-2",
            "NUL_",
            "Körper 1",
        ];
        assert_eq!(file_names(&names), expected);
    }

    #[test]
    fn long_names_are_cut_and_stay_distinct() {
        let long = "é".repeat(400);
        let names = file_names(&[&long, &long]);
        assert!(names.iter().all(|n| n.len() <= LONGEST + 4), "{names:?}");
        assert_ne!(names[0], names[1]);
    }

    #[test]
    fn many_meshes_of_one_name_are_numbered_in_one_go() {
        let names: Vec<String> = (0..60_000).map(|i| format!("{}{i}", "x".repeat(300))).collect();
        // Tried one by one, 1.8 billion names would take minutes.
        let found: BTreeSet<String> =
            file_names(&names.iter().map(String::as_str).collect::<Vec<_>>()).into_iter().collect();
        assert_eq!(found.len(), names.len());
    }

    #[test]
    fn labels_and_numbers_go_before_the_ending() {
        let paths = labelled(Path::new("out/walk.pc2"), &["Body", "../x"]);
        assert_eq!(paths, [Path::new("out/walk.Body.pc2"), Path::new("out/walk.___x.pc2")]);
        assert_eq!(numbered(Path::new("out/walk.obj"), 7), Path::new("out/walk.0007.obj"));
    }
}
