//! `ecorche samples`: the built-in characters.

use super::write_png;
use crate::arguments::Samples;
use crate::console::Console;
use crate::{Failure, Outcome};
use ecorche::deform::{Body, Stack};
use ecorche::portrait::{Look, draw_frames};
use ecorche::samples;
use ecorche::sampling::{Plan, Sampling};
use std::fmt::Write;
use std::sync::Arc;

/// Lists them, and draws them on request.
pub fn run(arguments: &Samples, console: &Console) -> Result<Outcome, Failure> {
    let mut text = String::new();
    for sample in samples::list() {
        writeln!(text, "sample:{}\n  {}", sample.name, sample.summary)?;
        for option in sample.options {
            writeln!(
                text,
                "  ?{}={}  {}, {} to {}",
                option.name, option.default, option.summary, option.range[0], option.range[1]
            )?;
        }
    }
    console.print(text)?;
    if let Some(folder) = &arguments.pictures {
        std::fs::create_dir_all(folder)?;
        for sample in samples::list() {
            let character = Arc::new(samples::build(sample.name)?);
            let plan = Plan::new(None, &Sampling::default())?;
            let body = Body::bind(character, Stack::dual_quaternion(), None)?;
            let bar = console.progress(sample.name, 1);
            let (pictures, _) = draw_frames(&[body], &plan, &[0], Look::default(), None, || bar.inc(1))?;
            bar.finish_and_clear();
            if let Some(picture) = pictures.iter().flatten().next() {
                write_png(&folder.join(format!("{}.png", sample.name)), picture, console)?;
            }
        }
    }
    Ok(Outcome::Done)
}
