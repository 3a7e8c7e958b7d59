//! `ecorche job`: a long bake as a job for a render farm, in the Open Job Description.
//!
//! The job is a folder, which Deadline Cloud calls a job bundle: the template, the values of its parameters in the two
//! forms that the farm and `openjd` read, and the files it needs. Its steps are the states before every chunk, if a frame
//! depends on earlier ones; the chunks; the join. Every step is a command of this program and can be repeated alone.

use super::make_folder;
use crate::arguments::Job;
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::bake::rest;
use ecorche::character::motion::RANGE;
use ecorche::deform::Under;
use ecorche::output::{file, obj};
use serde_json::{Value, json};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// The Flamenco job type, see docs/farm.md.
const FLAMENCO: &str = include_str!("../../farm/ecorche-bake.js");

/// The name it gets.
const FLAMENCO_FILE: &str = "ecorche-bake.js";

/// The job in JSON: template, values of its parameters as the farm and as `openjd` read them, the files it needs.
const JSON_FILES: [&str; 4] =
    ["template.json", "parameter_values.json", "parameters.json", "asset_references.json"];

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
    if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || "-_".contains(c)) {
        return Err(
            format!("--name {name}: only letters, digits, - and _ are allowed; choose another").into()
        );
    }
    let folder = std::path::absolute(&arguments.output)?;
    let at = |file: &str| folder.join(file);
    let mesh = at(&format!("{name}.rest.obj"));
    let mut written: Vec<PathBuf> = JSON_FILES.iter().copied().chain([FLAMENCO_FILE]).map(at).collect();
    written.push(mesh.clone());
    source::protect_inputs(&ingredients.inputs(), &written)?;

    make_folder(&folder)?;
    let results = match &arguments.results {
        Some(results) => std::path::absolute(results)?,
        None => folder.join("results"),
    };
    let mut parameters = Parameters::default();
    parameters.add("Ecorche", "STRING", None, "The program, by its name or with its path.", "ecorche".into());
    parameters.add(
        "Results",
        "PATH",
        Some(("DIRECTORY", "OUT")),
        "Where results go.",
        results.display().to_string(),
    );
    let common = common(arguments, clip, plan.fps, &method.to_string(), &mut parameters)?;
    let template = template(&name, clip, &parameters, &common, &plan.frames, &chunks, remembers);

    let inputs: Vec<String> = ingredients
        .inputs()
        .iter()
        .map(|path| std::path::absolute(path).map(|path| path.display().to_string()))
        .collect::<Result<_, _>>()?;
    let assets = json!({ "assetReferences": {
        "inputs": { "filenames": inputs, "directories": [] },
        "outputs": { "directories": [results.display().to_string()] },
        "referencedPaths": [],
    } });
    let values = [template, parameters.as_list(), parameters.as_object(), assets];
    for (file, value) in JSON_FILES.iter().zip(&values) {
        super::write_json(&at(file), value, console)?;
    }
    console.print_path(&file::write(&at(FLAMENCO_FILE), FLAMENCO.as_bytes())?)?;
    console.print_path(&obj::write(&mesh, &ingredients.character, &rest(&ingredients.character)?)?)?;
    console.note(&format!(
        "{clip}: frames {}-{} in {} chunks{}; on this machine: openjd run {} -p file://{}",
        plan.frames.start(),
        plan.frames.end(),
        chunks.len(),
        if remembers { ", states first" } else { "" },
        at(JSON_FILES[0]).display(),
        at(JSON_FILES[2]).display(),
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

/// Parameters of the job: name, type, what the file is, meaning, value.
#[derive(Default)]
struct Parameters(Vec<(&'static str, Value, String)>);

impl Parameters {
    fn add(
        &mut self,
        name: &'static str,
        kind: &str,
        file: Option<(&str, &str)>,
        meaning: &str,
        value: String,
    ) {
        let mut definition = json!({ "name": name, "type": kind, "description": meaning });
        if let Some((object, flow)) = file {
            definition["objectType"] = object.into();
            definition["dataFlow"] = flow.into();
        } else {
            // Paths have no default: the specification allows only defaults inside the job's folder.
            definition["default"] = value.as_str().into();
        }
        self.0.push((name, definition, value));
    }

    fn definitions(&self) -> Vec<Value> {
        self.0.iter().map(|(_, definition, _)| definition.clone()).collect()
    }

    /// As Deadline Cloud reads values.
    fn as_list(&self) -> Value {
        let one = |(name, _, value): &(&str, Value, String)| json!({ "name": name, "value": value });
        json!({ "parameterValues": self.0.iter().map(one).collect::<Vec<_>>() })
    }

    /// As `openjd` reads values.
    fn as_object(&self) -> Value {
        Value::Object(
            self.0.iter().map(|(name, _, value)| ((*name).to_owned(), value.as_str().into())).collect(),
        )
    }
}

/// The arguments that every step has: file, motion, clip, method, settings. Files become parameters.
fn common(
    arguments: &Job,
    clip: &str,
    fps: f32,
    method: &str,
    parameters: &mut Parameters,
) -> Result<Vec<String>, Failure> {
    let mut list = Vec::new();
    let mut path = |name: &'static str, meaning: &str, value: &str| -> Result<String, Failure> {
        if value.starts_with("sample:") || value == RANGE {
            return Ok(value.to_owned());
        }
        let absolute = std::path::absolute(PathBuf::from(value))?;
        parameters.add(name, "PATH", Some(("FILE", "IN")), meaning, absolute.display().to_string());
        Ok(format!("{{{{Param.{name}}}}}"))
    };
    let Job { rig, deformation, sampling, .. } = arguments;
    let implicit = &deformation.implicit;
    list.push(path("Character", "The character.", &rig.file)?);
    if let Some(motion) = &rig.motion.motion {
        list.extend(["--motion".to_owned(), path("Motion", "Where the clips come from.", motion)?]);
    }
    if let Some(anatomy) = &implicit.anatomy.anatomy {
        let value = path("Anatomy", "What lies under the skin.", &anatomy.to_string_lossy())?;
        list.extend(["--anatomy".to_owned(), value]);
    }
    list.extend(rig.words().into_iter().chain(implicit.words()));
    if sampling.clip.is_some() {
        list.extend(["--clip".to_owned(), clip.to_owned()]);
    }
    list.extend(["--fps".to_owned(), fps.to_string(), "--method".to_owned(), method.to_owned()]);
    // What the template itself puts in braces are the names of parameters.
    let own = |word: &&String| word.contains("{{") && !word.starts_with("{{Param.");
    match list.iter().find(own) {
        Some(word) => Err(format!("{word}: a job cannot name it because of \"{{{{\"; rename it").into()),
        None => Ok(list),
    }
}

fn template(
    name: &str,
    clip: &str,
    parameters: &Parameters,
    common: &[String],
    frames: &RangeInclusive<usize>,
    chunks: &[RangeInclusive<usize>],
    remembers: bool,
) -> Value {
    let script = |arguments: Vec<String>| json!({ "actions": { "onRun": { "command": "{{Param.Ecorche}}", "args": arguments } } });
    let words = |first: &str, rest: &[&str]| -> Vec<String> {
        let rest = rest.iter().map(|&word| word.to_owned());
        std::iter::once(first.to_owned()).chain(common.iter().cloned()).chain(rest).collect()
    };
    let mut steps = Vec::new();
    if remembers {
        let whole = format!("{}-{}", frames.start(), frames.end());
        let before = chunks.iter().map(|c| c.start().to_string()).collect::<Vec<_>>().join(",");
        let rest = ["--frames", &whole, "--before", &before, "-o", "{{Param.Results}}/states"];
        steps.push(json!({ "name": "States", "script": script(words("states", &rest)) }));
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
        "script": script(words("bake", &[&range[..], resume, &rest[..]].concat())),
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
        "script": script(join),
    }));
    // The specification allows 128 characters.
    let title: String =
        format!("ecorche {name} {clip}").chars().filter(|c| !c.is_control()).take(128).collect();
    json!({
        "specificationVersion": "jobtemplate-2023-09",
        "name": title.replace("{{", "((").replace("}}", "))"),
        "parameterDefinitions": parameters.definitions(),
        "steps": steps,
    })
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
