//! The reference page of the anatomy file and the studio's types are what the table of keys says.
//!
//! `UPDATE=1 cargo test -p ecorche --test anatomy_reference` writes both again.

use ecorche::anatomy::keys::{FILE, Key, Kind, Need, Table};
use std::fmt::Write;
use std::fs;
use std::path::Path;

fn up_to_date(path: &str, wanted: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, wanted).unwrap();
    }
    let found = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        found == wanted,
        "{path} is not what the table of keys says; \
         run UPDATE=1 cargo test -p ecorche --test anatomy_reference"
    );
}

/// A table with how it is written.
fn tables() -> Vec<(String, &'static Table)> {
    fn add(title: String, table: &'static Table, found: &mut Vec<(String, &'static Table)>) {
        if found.iter().any(|(_, known)| known.name == table.name) {
            return;
        }
        found.push((title.clone(), table));
        for key in table.keys {
            within(&title, key.name, &key.kind, found);
        }
    }
    fn within(title: &str, key: &str, kind: &Kind, found: &mut Vec<(String, &'static Table)>) {
        let bare = title.trim_start_matches('[').trim_end_matches(']');
        let under = if bare.is_empty() { String::new() } else { format!("{bare}.") };
        match kind {
            Kind::Table(table) if bare.is_empty() => add(format!("[{key}]"), table, found),
            Kind::List(Kind::Table(table), ..) if bare.is_empty() => add(format!("[[{key}]]"), table, found),
            Kind::ByName(table) => add(format!("[{under}{key}.\"NAME\"]"), table, found),
            Kind::Table(table) => add(format!("{key} = {{ ... }}"), table, found),
            Kind::List(of, ..) => within(title, key, of, found),
            Kind::Either(kinds) => kinds.iter().for_each(|kind| within(title, key, kind, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    add(String::new(), &FILE, &mut found);
    found
}

/// Kind and range for a person.
fn described(kind: &Kind) -> String {
    match kind {
        Kind::Flag => "`true` or `false`".to_owned(),
        Kind::Number(range) if range.to_string().is_empty() => "number".to_owned(),
        Kind::Number(range) => format!("number, {range}"),
        Kind::Whole(0, i64::MAX) => "whole number".to_owned(),
        Kind::Whole(low, high) => format!("whole number, {low} to {high}"),
        Kind::Choice(choices) => {
            choices.iter().map(|choice| format!("`\"{choice}\"`")).collect::<Vec<_>>().join(", ")
        }
        Kind::Text => "text".to_owned(),
        Kind::Direction => "direction `[x, y, z]`".to_owned(),
        Kind::List(Kind::Number(range), 3, 3) if range.to_string().is_empty() => "`[x, y, z]`".to_owned(),
        Kind::List(of, low, high) => {
            let count = match (*low, *high) {
                (low, high) if low == high => format!("{low} × "),
                (0, _) => String::new(),
                (low, usize::MAX) => format!("{low} or more × "),
                (low, high) => format!("{low} to {high} × "),
            };
            format!("list of {count}{}", described(of))
        }
        Kind::Curve([x, y]) => {
            let ranges = [x, y].map(|range| match range.to_string() {
                range if range.is_empty() => "any".to_owned(),
                range => range,
            });
            match &ranges {
                [x, y] if x == "any" && y == "any" => "list of pairs, the first numbers rising".to_owned(),
                [x, y] => format!("list of pairs ({x}; {y}), the first numbers rising"),
            }
        }
        Kind::Table(table) => link(table),
        Kind::ByName(table) => format!("{} by name", link(table)),
        Kind::Either(kinds) => kinds.iter().map(described).collect::<Vec<_>>().join("; or "),
    }
}

fn link(table: &Table) -> String {
    format!("[{0}](#{1})", words(table.name), words(table.name).replace(' ', "-"))
}

/// "ControllerCurve" as "controller curve".
fn words(name: &str) -> String {
    let mut words = String::new();
    for c in name.chars() {
        if c.is_uppercase() && !words.is_empty() {
            words.push(' ');
        }
        words.extend(c.to_lowercase());
    }
    words
}

#[test]
fn the_reference_page_is_up_to_date() {
    let mut page = String::from(
        "# The anatomy file: every key\n\n\
         Made from the table of keys that the program reads files by; do not edit it by hand\n\
         (`UPDATE=1 cargo test -p ecorche --test anatomy_reference` writes it again).\n\n\
         A file is TOML. `ecorche init` writes a first one for a character, with comments. Lengths are metres, angles radians,\n\
         times seconds. A place on a bone is given along the axes of the joint the bone starts at. Keys with a default may be\n\
         left out. Earlier names of keys are still read.\n",
    );
    for (title, table) in tables() {
        let written = if title.is_empty() { String::new() } else { format!("`{title}`: ") };
        write!(page, "\n## {}\n{written}{}\n\n", words(table.name), table.about).unwrap();
        page.push_str("| key | value | unit | default | what it does |\n|---|---|---|---|---|\n");
        for key in table.keys {
            let old = match key.old_names {
                [] => String::new(),
                names => format!(" (earlier `{}`)", names.join("`, `")),
            };
            let default = match key.need {
                Need::Required(example) => format!("required: `{example}`"),
                Need::Optional => "absent".to_owned(),
                Need::Default if matches!(key.kind, Kind::Table(_) | Kind::ByName(_)) => String::new(),
                Need::Default => table.default_of(key).map_or(String::new(), |value| format!("`{value}`")),
            };
            let Key { name, unit, about, .. } = key;
            writeln!(page, "| `{name}`{old} | {} | {unit} | {default} | {about} |", described(&key.kind))
                .unwrap();
        }
    }
    up_to_date("docs/anatomy.md", &page);
}

/// A type of TypeScript.
fn type_of(kind: &Kind) -> String {
    match kind {
        Kind::Flag => "boolean".to_owned(),
        Kind::Number(_) | Kind::Whole(..) => "number".to_owned(),
        Kind::Choice(choices) => {
            choices.iter().map(|choice| format!("\"{choice}\"")).collect::<Vec<_>>().join(" | ")
        }
        Kind::Text => "string".to_owned(),
        Kind::Direction => "[number, number, number]".to_owned(),
        Kind::Curve(_) => "[number, number][]".to_owned(),
        &Kind::List(of, low, high) if low == high => {
            format!("[{}]", vec![type_of(of); low].join(", "))
        }
        Kind::List(of @ Kind::Either(_), ..) => format!("({})[]", type_of(of)),
        Kind::List(of, ..) => format!("{}[]", type_of(of)),
        Kind::Table(table) => table.name.to_owned(),
        Kind::ByName(table) => format!("Record<string, {}>", table.name),
        Kind::Either(kinds) => kinds.iter().map(type_of).collect::<Vec<_>>().join(" | "),
    }
}

/// The words that a value may be.
fn choices(kind: &Kind) -> Option<&'static [&'static str]> {
    match kind {
        Kind::Choice(choices) => Some(choices),
        Kind::Either(kinds) => kinds.iter().find_map(choices),
        _ => None,
    }
}

fn quoted(text: &str) -> String {
    format!("{text:?}")
}

#[test]
fn the_studios_types_are_up_to_date() {
    let mut page = String::from(
        "/**\n * What an anatomy file may hold: types, and what the panels show of each key. Made from the table of keys of the engine; do\n \
         * not edit it by hand (`UPDATE=1 cargo test -p ecorche --test anatomy_reference` writes it again).\n */\n",
    );
    let tables: Vec<&Table> =
        tables().into_iter().map(|(_, table)| table).filter(|t| t.name != FILE.name).collect();
    for table in &tables {
        write!(page, "\n/** {} */\nexport type {} = {{\n", table.about, table.name).unwrap();
        for key in table.keys {
            let absent = if key.need == Need::Optional { " | null" } else { "" };
            let Key { name, about, .. } = key;
            writeln!(page, "  /** {about} */\n  {name}: {}{absent};", type_of(&key.kind)).unwrap();
        }
        page.push_str("};\n");
    }
    page.push_str(
        "\n/** What a panel shows of a key. A slider shows the file's number times `scale`, in `unit`. */\n\
         export interface KeyInfo {\n  label: string;\n  about: string;\n  choices?: readonly string[];\n  \
         slider?: { min: number; max: number; step: number; scale: number; unit: string };\n}\n\n\
         /** The keys of each table. */\nexport const KEYS = {\n",
    );
    for table in &tables {
        writeln!(page, "  {}: {{", table.name).unwrap();
        for key in table.keys {
            let mut label = key.name.replace('_', " ");
            label[..1].make_ascii_uppercase();
            let mut info = format!("label: {}, about: {}", quoted(&label), quoted(key.about));
            if let Some(choices) = choices(&key.kind) {
                write!(info, ", choices: {choices:?}").unwrap();
            }
            if let Some(slider) = key.slider {
                let ecorche::anatomy::keys::Slider { low, high, step, scale, unit } = slider;
                let unit = quoted(unit);
                write!(
                    info,
                    ", slider: {{ min: {low}, max: {high}, step: {step}, scale: {scale}, unit: {unit} }}"
                )
                .unwrap();
            }
            writeln!(page, "    {}: {{ {info} }},", key.name).unwrap();
        }
        page.push_str("  },\n");
    }
    page.push_str("} as const satisfies Record<string, Record<string, KeyInfo>>;\n");
    up_to_date("crates/ecorche-studio/web/src/anatomy_keys.ts", &page);
}
