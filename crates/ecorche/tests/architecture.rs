//! The map is true: modules import only what stands before them, and ARCHITECTURE.md names real paths.

use std::fs;
use std::path::{Path, PathBuf};

/// Modules of the crate in the order of the pipeline; each may use those before it and itself.
const ORDER: [&str; 23] = [
    "math",
    "cache",
    "geom",
    "dynamics",
    "field",
    "character",
    "sampling",
    "frame",
    "skinning",
    "parts",
    "tracking",
    "muscle",
    "anatomy",
    "deform",
    "output",
    "tissue",
    "measure",
    "inspect",
    "portrait",
    "samples",
    "bake",
    "bench",
    "lib",
];

fn source_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            source_files(&path, files);
        } else if path.extension().is_some_and(|e| e == "rs") {
            files.push(path);
        }
    }
}

fn module_of(file: &Path, source: &Path) -> String {
    let relative = file.strip_prefix(source).unwrap();
    let first = relative.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
    first.trim_end_matches(".rs").to_owned()
}

/// The code before the unit tests, which may use anything.
fn without_tests(text: &str) -> &str {
    text.split("#[cfg(test)]").next().unwrap_or(text)
}

fn imported_modules(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in without_tests(text).lines().filter(|l| !l.trim_start().starts_with("//")) {
        for part in line.split("crate::").skip(1) {
            if let Some(list) = part.strip_prefix('{') {
                // `use crate::{a::b, c}`: names at the first level of the braces.
                let mut depth = 0;
                let mut names = vec![String::new()];
                for c in list.chars() {
                    match c {
                        '{' => depth += 1,
                        '}' => depth -= 1,
                        ',' if depth == 0 => names.push(String::new()),
                        _ if depth == 0 => names.last_mut().unwrap().push(c),
                        _ => {}
                    }
                }
                found.extend(
                    names
                        .iter()
                        .map(|n| n.trim().split("::").next().unwrap().trim_end_matches(';').to_owned()),
                );
            } else {
                found.push(part.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect());
            }
        }
    }
    found
}

#[test]
fn modules_import_only_what_stands_before_them() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    source_files(&source, &mut files);
    assert!(files.len() > 10);
    let rank = |module: &str| ORDER.iter().position(|m| *m == module);
    let mut wrong = Vec::new();
    // A file of tests may use anything, too.
    for file in files.iter().filter(|f| !f.ends_with("tests.rs")) {
        let module = module_of(file, &source);
        let own =
            rank(&module).unwrap_or_else(|| panic!("module {module} is not in the order; give it a place"));
        for imported in imported_modules(&fs::read_to_string(file).unwrap()) {
            if rank(&imported).is_some_and(|r| r > own) {
                wrong.push(format!("{} imports {imported}", file.strip_prefix(&source).unwrap().display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_path_named_in_the_architecture_exists() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let paths: Vec<&str> = text
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|code| code.contains('/') && !code.contains([' ', '<', ':', '*', '{', '(']))
        .collect();
    assert!(paths.len() > 10);
    for path in paths {
        assert!(root.join(path).exists(), "ARCHITECTURE.md names {path}");
    }
}
