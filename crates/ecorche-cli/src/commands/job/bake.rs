//! `ecorche job`: a long bake as a job for a render farm.
//!
//! Its steps are the states before every chunk, if a frame depends on earlier ones; the chunks; the join.

use super::bundle::{Bundle, check_words, checked_name, script};
use crate::arguments::Job;
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::bake::rest;
use ecorche::deform::Under;
use ecorche::output::obj;
use serde_json::{Value, json};
use std::ops::RangeInclusive;
use std::path::Path;

/// The Flamenco job type.
const FLAMENCO: (&str, &str) = ("ecorche-bake.js", include_str!("../../../farm/ecorche-bake.js"));

/// Most values of a task parameter that the specification allows.
const MOST_CHUNKS: usize = 1024;

/// Writes the job.
pub fn run(arguments: &Job, console: &Console) -> Result<Outcome, Failure> {
    let ingredients = source::read(&arguments.rig.recipe(&arguments.deformation.implicit), console)?;
    let plan = &source::one_plan(&ingredients, &arguments.sampling, &arguments.rig.file, console)?;
    let method = arguments.deformation.method(&ingredients)?;
    let settings = ingredients.settings(Some(method.clone()));
    // What a bake refuses is not found out on the farm.
    ingredients.check(&settings)?;
    let remembers = settings.coherent
        || !settings.stack.surface.is_empty()
        || (settings.stack.under == Under::Flesh && settings.muscles.remembers());
    let chunks = chunks(&plan.frames, usize::from(arguments.chunks));
    let clip = plan.clip.map_or("rest pose", |clip| clip.name.as_str());
    let name = arguments.name.clone().unwrap_or_else(|| stem_of(&arguments.rig.file));
    checked_name("--name", &name)?;
    let results = arguments.results.clone().unwrap_or_else(|| arguments.output.join("results"));
    let mut bundle = Bundle::new(&arguments.output, &results, FLAMENCO)?;
    let common = common(arguments, clip, plan.fps, &method.to_string(), &mut bundle)?;
    let mesh = bundle.file(&format!("{name}.rest.obj"));
    bundle.make_folder(&ingredients)?;
    let steps = steps(&name, &common, &plan.frames, &chunks, remembers);
    let command = bundle.write(&format!("ecorche {name} {clip}"), &steps, &ingredients, console)?;
    console.print_path(&obj::write(&mesh, &ingredients.character, &rest(&ingredients.character)?)?)?;
    console.note(&format!(
        "{clip}: frames {}-{} in {} chunks{}; on this machine: {command}",
        plan.frames.start(),
        plan.frames.end(),
        chunks.len(),
        if remembers { ", states first" } else { "" },
    ));
    Ok(Outcome::Done)
}

/// Frames in `count` pieces whose lengths differ by one at most; fewer if there are fewer frames.
fn chunks(frames: &RangeInclusive<usize>, count: usize) -> Vec<RangeInclusive<usize>> {
    let (first, length) = (*frames.start(), frames.end() - frames.start() + 1);
    let count = count.clamp(1, length.min(MOST_CHUNKS));
    let border = |i: usize| first + i * length / count;
    (0..count).map(|i| border(i)..=border(i + 1) - 1).collect()
}

fn stem_of(file: &str) -> String {
    let name = file.strip_prefix("sample:").unwrap_or(file);
    let stem = Path::new(name).file_stem().unwrap_or_default().to_string_lossy();
    stem.chars().map(|c| if c.is_alphanumeric() || "-_".contains(c) { c } else { '_' }).collect()
}

/// The arguments that every step has: file, motion, clip, method, settings. Files become parameters.
fn common(
    arguments: &Job,
    clip: &str,
    fps: f32,
    method: &str,
    bundle: &mut Bundle,
) -> Result<Vec<String>, Failure> {
    let Job { rig, deformation, sampling, .. } = arguments;
    let implicit = &deformation.implicit;
    let mut list = bundle.files(rig, &implicit.anatomy)?;
    list.extend(rig.words().into_iter().chain(implicit.words()));
    if sampling.clip.is_some() {
        list.extend(["--clip".to_owned(), clip.to_owned()]);
    }
    list.extend(["--fps".to_owned(), fps.to_string(), "--method".to_owned(), method.to_owned()]);
    check_words(&list)?;
    Ok(list)
}

fn steps(
    name: &str,
    common: &[String],
    frames: &RangeInclusive<usize>,
    chunks: &[RangeInclusive<usize>],
    remembers: bool,
) -> Vec<Value> {
    let words = |first: &str, rest: &[&str]| -> Vec<String> {
        let rest = rest.iter().map(|&word| word.to_owned());
        std::iter::once(first.to_owned()).chain(common.iter().cloned()).chain(rest).collect()
    };
    let mut steps = Vec::new();
    if remembers {
        let whole = format!("{}-{}", frames.start(), frames.end());
        let before = chunks.iter().map(|c| c.start().to_string()).collect::<Vec<_>>().join(",");
        let rest = ["--frames", &whole, "--before", &before, "-o", "{{Param.Results}}/states"];
        steps.push(json!({ "name": "States", "script": script(&words("states", &rest)) }));
    }
    let range = ["--frames", "{{Task.Param.First}}-{{Task.Param.Last}}"];
    let resume = ["--resume", "{{Param.Results}}/states/before-{{Task.Param.First}}.state"];
    let rest = ["--no-mesh", "--make-folder", "-o", "{{Param.Results}}/parts/{{Task.Param.First}}.pc2"];
    let resume: &[&str] = if remembers { &resume } else { &[] };
    let mut bake = json!({
        "name": "Bake",
        "parameterSpace": {
            "taskParameterDefinitions": [
                { "name": "First", "type": "INT", "range": chunks.iter().map(|c| *c.start()).collect::<Vec<_>>() },
                { "name": "Last", "type": "INT", "range": chunks.iter().map(|c| *c.end()).collect::<Vec<_>>() },
            ],
            "combination": "(First, Last)",
        },
        "script": script(&words("bake", &[&range[..], resume, &rest[..]].concat())),
    });
    if remembers {
        bake["dependencies"] = json!([{ "dependsOn": "States" }]);
    }
    steps.push(bake);
    let parts = chunks.iter().map(|c| format!("{{{{Param.Results}}}}/parts/{}.pc2", c.start()));
    let join: Vec<String> = std::iter::once("join".to_owned())
        .chain(parts)
        .chain(["-o".to_owned(), format!("{{{{Param.Results}}}}/{name}.pc2")])
        .collect();
    steps.push(json!({
        "name": "Join",
        "dependencies": [{ "dependsOn": "Bake" }],
        "script": script(&join),
    }));
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_the_frames_once_and_are_about_as_long() {
        for (frames, count) in [(0..=9, 4), (5..=5, 7), (0..=99, 1), (10..=16, 7), (0..=2, 9)] {
            let chunks = chunks(&frames, count);
            let all: Vec<usize> = chunks.iter().cloned().flatten().collect();
            assert_eq!(all, frames.collect::<Vec<_>>());
            let lengths: Vec<usize> = chunks.iter().map(|c| c.clone().count()).collect();
            assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() <= 1, "{lengths:?}");
        }
    }
}
