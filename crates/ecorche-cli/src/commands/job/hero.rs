//! `ecorche hero --job`: a simulated shot as a job for a render farm, a step for each stage.

use super::bundle::{Bundle, check_words, checked_name, script};
use crate::arguments::{HeroArguments, Until};
use crate::console::Console;
use crate::{Failure, Outcome};
use clap::ValueEnum;
use ecorche::recipe::Ingredients;
use ecorche::sampling::Plan;
use serde_json::{Value, json};
use std::path::Path;

/// The Flamenco job type.
const FLAMENCO: (&str, &str) = ("ecorche-hero.js", include_str!("../../../farm/ecorche-hero.js"));

/// Writes the job to `folder`; the cache will be where the arguments say.
pub fn run(
    arguments: &HeroArguments,
    folder: &Path,
    ingredients: &Ingredients,
    plan: &Plan,
    console: &Console,
) -> Result<Outcome, Failure> {
    let output = std::path::absolute(&arguments.shot.output)?;
    let part = |part: Option<&std::ffi::OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let (name, ending) = (part(output.file_stem()), part(output.extension()));
    checked_name("-o", &name)?;
    let results = output.parent().unwrap_or(Path::new("."));
    let mut bundle = Bundle::new(folder, results, FLAMENCO)?;
    let mut common = vec!["hero".to_owned()];
    common.extend(bundle.files(&arguments.shot.rig, &arguments.anatomy)?);
    common.extend(arguments.shot.rig.words());
    if let Some(clip) = plan.clip.filter(|_| arguments.shot.sampling.clip.is_some()) {
        common.extend(["--clip".to_owned(), clip.name.clone()]);
    }
    let frames = format!("{}-{}", plan.frames.start(), plan.frames.end());
    let fps = plan.fps.to_string();
    common.extend(["--fps", &fps, "--frames", &frames].map(str::to_owned));
    common.extend(own_words(arguments));
    check_words(&common)?;
    common.extend(["-o".to_owned(), format!("{{{{Param.Results}}}}/{name}.{ending}")]);

    bundle.make_folder(ingredients)?;
    let steps = steps(&common, arguments.check);
    let clip = plan.clip.map_or("rest pose", |clip| clip.name.as_str());
    let command = bundle.write(&format!("ecorche hero {name} {clip}"), &steps, ingredients, console)?;
    console.note(&format!("{clip}: frames {frames}, a step for each stage; on this machine: {command}"));
    Ok(Outcome::Done)
}

/// What the flesh is like.
fn own_words(arguments: &HeroArguments) -> Vec<String> {
    let mut words = Vec::new();
    let mut add = |option: &str, value: String| words.extend([option.to_owned(), value]);
    if let Some(region) = &arguments.region {
        add("--region", region.clone());
    }
    match arguments.edge {
        Some(edge) => add("--edge", edge.to_string()),
        None => add("--tetrahedra", arguments.tetrahedra.to_string()),
    }
    add("--substeps", arguments.substeps.to_string());
    words.extend(arguments.still_muscles.then(|| "--still-muscles".to_owned()));
    words
}

/// A step for each stage, each after the one before; the last writes the cache and judges it.
fn steps(common: &[String], check: bool) -> Vec<Value> {
    let mut steps: Vec<Value> = Vec::new();
    let mut before: Option<String> = None;
    for until in Until::value_variants() {
        let word = until.word();
        let mut arguments = common.to_vec();
        arguments.extend(["--until".to_owned(), word.to_owned()]);
        arguments.extend((check && *until == Until::Skin).then(|| "--check".to_owned()));
        let name: String = word[..1].to_uppercase() + &word[1..];
        let mut step = json!({ "name": &name, "script": script(&arguments) });
        if let Some(before) = before.replace(name) {
            step["dependencies"] = json!([{ "dependsOn": before }]);
        }
        steps.push(step);
    }
    steps
}
