//! One file per command.

pub mod bake;
pub mod bench;
pub mod completions;
pub mod demo;
pub mod field;
pub mod info;
pub mod init;
pub mod join;
pub mod man;
pub mod measure;
pub mod operator;
pub mod render;
pub mod samples;
pub mod studio;
pub mod tissue;

use crate::Failure;
use crate::console::Console;
use crate::source::Under;
use ecorche::cache::Cache;
use ecorche::character::Character;
use ecorche::deform::{Body, Settings};
use ecorche::muscle::definition::BodyDef;
use ecorche::output::{Picture, file};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Binds a character and tells, if asked for details, what became of its skin.
pub fn bind(
    character: &Arc<Character>,
    settings: Settings,
    under: &Under,
    cache: Option<&Cache>,
    console: &Console,
) -> Result<Body, Failure> {
    let body = Body::bind_with(character.clone(), settings, &under.body, &under.folder, cache)?;
    if let Some(parts) = body.parts() {
        console.detail(parts.report.to_string().trim_end());
    }
    if let Some(musculature) = body.musculature() {
        let BodyDef { muscle, fat, .. } = musculature.definition();
        console.detail(&format!("{} muscles and {} fat pads under the skin", muscle.len(), fat.len()));
    }
    Ok(body)
}

/// Writes a picture as PNG.
pub fn write_png(path: &Path, picture: &Picture) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    picture.encode_png(&mut bytes)?;
    file::write(path, &bytes)?;
    println!("{}", path.display());
    Ok(())
}

/// Writes `value` as JSON to `path`, or to standard output for `-`.
pub fn write_json(path: &Path, value: &impl serde::Serialize) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    if path.as_os_str() == "-" {
        std::io::stdout().write_all(text.as_bytes())?;
    } else {
        file::write(path, text.as_bytes())?;
        println!("{}", path.display());
    }
    Ok(())
}
