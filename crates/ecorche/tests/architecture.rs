//! ARCHITECTURE.md is true: modules import only what comes before them, in the order that the page lists them, and the paths
//! it names exist.

use std::fs;
use std::path::{Path, PathBuf};

/// Modules of the crate in the order of the pipeline; each may use those before it and itself.
const ORDER: &[&str] = &[
    "math",
    "input",
    "cache",
    "watch",
    "geom",
    "dynamics",
    "field",
    "character",
    "sampling",
    "skinning",
    "surface",
    "pieces",
    "parts",
    "tracking",
    "schema",
    "muscle",
    "frame",
    "anatomy",
    "deform",
    "output",
    "tissue",
    "hero",
    "measure",
    "inspect",
    "portrait",
    "samples",
    "recipe",
    "bake",
    "crowd",
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

/// The code without comments, without the contents of literals, and without items under `#[cfg(test)]`, which may use
/// anything.
fn code_of(text: &str) -> String {
    let mut code = without_comments_and_literals(text);
    while let Some(start) = code.find("#[cfg(test)]") {
        let rest = &code[start..];
        // `mod tests;` and `use ...;` end at a semicolon; other items end with the brace that closes them.
        let semicolon = rest.find(';').unwrap_or(rest.len());
        let brace = rest.find('{').unwrap_or(rest.len());
        let is_use = rest["#[cfg(test)]".len()..].trim_start().starts_with("use ");
        let end =
            if is_use || semicolon < brace { semicolon + 1 } else { brace + closing_brace(&rest[brace..]) };
        code.replace_range(start..(start + end).min(code.len()), "");
    }
    code
}

/// How many bytes a block takes that starts with `{`.
fn closing_brace(text: &str) -> usize {
    let mut depth = 0;
    for (at, c) in text.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    text.len()
}

/// The text with comments left out and literals emptied, so that a brace in a string is not taken for code.
fn without_comments_and_literals(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let raw_string = ["r\"", "r#", "br\"", "br#"].iter().any(|r| rest.starts_with(r))
            && !code.ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if raw_string {
            let hashes = rest.trim_start_matches(['b', 'r']).chars().take_while(|c| *c == '#').count();
            let open = rest.find('"').map_or(rest.len(), |at| at + 1);
            let close = format!("\"{}", "#".repeat(hashes));
            rest[open..].find(&close).map_or(rest.len(), |at| open + at + close.len())
        } else if c == '"' {
            escaped_literal(rest, '"')
        } else if c == '\'' && is_character(rest) {
            escaped_literal(rest, '\'')
        } else {
            code.push(c);
            c.len_utf8()
        };
        rest = &rest[length..];
    }
    code
}

/// Whether a quote opens a character and not a lifetime.
fn is_character(text: &str) -> bool {
    let mut after = text.chars().skip(1);
    after.next() == Some('\\') || after.next() == Some('\'')
}

/// How many bytes a literal takes from its opening quote to its closing one.
fn escaped_literal(text: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        if c == quote && !escaped {
            return at + 1;
        }
        escaped = c == '\\' && !escaped;
    }
    text.len()
}

/// Every module that a file names after `crate::`, also in lists in braces that go over several lines.
fn imported_modules(text: &str) -> Vec<String> {
    let code = code_of(text);
    let mut found = Vec::new();
    for part in code.split("crate::").skip(1) {
        let list = match part.strip_prefix('{') {
            Some(_) => &part[1..closing_brace(part) - 1],
            None => part,
        };
        let mut depth = 0;
        let mut name = Some(String::new());
        for c in list.chars() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                // The next name of the list.
                ',' if depth == 0 && part.starts_with('{') => found.extend(name.replace(String::new())),
                _ if depth == 0 && c.is_whitespace() => {}
                _ if c.is_alphanumeric() || c == '_' => name.iter_mut().for_each(|n| n.push(c)),
                // The name is complete: what follows is inside that module.
                _ => {
                    found.extend(name.take());
                    if !part.starts_with('{') {
                        break;
                    }
                }
            }
        }
        found.extend(name);
    }
    found.retain(|name| !name.is_empty());
    found
}

#[test]
fn imports_are_found_wherever_they_stand() {
    let text = r##"
//! crate::in_a_comment
use crate::plain::Thing;
use crate::{
    first::{Inner, other},
    second,
    third::Deep,
};
#[cfg(test)]
mod tests;
const TEXT: &str = "} crate::in_a_string {";
#[cfg(test)]
use crate::only_for_tests::{A, B};
fn called(quote: char) -> bool {
    crate::called::function(); quote == '{' || quote == '\''
}
#[cfg(test)]
mod inline { use crate::only_inline::Thing; const BRACE: char = '}'; fn more() { "{" } }
fn after<'a>(x: &'a crate::after::Item) {}
"##;
    assert_eq!(imported_modules(text), ["plain", "first", "second", "third", "called", "after"]);
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

#[test]
fn the_map_lists_the_modules_in_the_order_of_the_pipeline() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let listed: Vec<&str> = text
        .lines()
        .filter_map(|line| line.strip_prefix("| `crates/ecorche/src/"))
        .filter_map(|row| row.split('`').next())
        .map(|path| path.trim_end_matches('/').trim_end_matches(".rs"))
        .collect();
    let pipeline: Vec<&str> = ORDER.iter().copied().filter(|module| *module != "lib").collect();
    assert_eq!(listed, pipeline, "ARCHITECTURE.md and ORDER do not agree");
}
