//! A job as a folder, which Deadline Cloud calls a job bundle: the template, the values of its parameters in the two forms that the
//! farm and `openjd` read, the files it needs, and a job type for Flamenco.

use crate::arguments::{AnatomyArguments, Rig};
use crate::commands::{make_folder, write_json};
use crate::console::Console;
use crate::{Failure, source};
use ecorche::character::motion::RANGE;
use ecorche::output::file;
use ecorche::recipe::Ingredients;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The job in JSON: template, values of its parameters as the farm and as `openjd` read them, the files it needs.
const JSON_FILES: [&str; 4] =
    ["template.json", "parameter_values.json", "parameters.json", "asset_references.json"];

/// A job before it is written.
pub struct Bundle {
    folder: PathBuf,
    results: PathBuf,
    parameters: Vec<Parameter>,
    /// Name and text of the Flamenco job type, see docs/farm.md.
    flamenco: (&'static str, &'static str),
    /// Other files of the job.
    extra: Vec<PathBuf>,
}

/// A parameter of the job.
struct Parameter {
    name: &'static str,
    definition: Value,
    value: String,
}

impl Bundle {
    /// A job in `folder` whose results go to `results`.
    pub fn new(
        folder: &Path,
        results: &Path,
        flamenco: (&'static str, &'static str),
    ) -> Result<Self, Failure> {
        let (folder, results) = (std::path::absolute(folder)?, std::path::absolute(results)?);
        let at = results.display().to_string();
        let mut bundle = Self { folder, results, parameters: Vec::new(), flamenco, extra: Vec::new() };
        let program = "The program, by its name or with its path.";
        bundle.add("Ecorche", "STRING", None, program, "ecorche".into());
        bundle.add("Results", "PATH", Some(("DIRECTORY", "OUT")), "Where results go.", at);
        Ok(bundle)
    }

    /// The path of another file that belongs to the job.
    pub fn file(&mut self, name: &str) -> PathBuf {
        let path = self.folder.join(name);
        self.extra.push(path.clone());
        path
    }

    /// Makes the folder, unless a file of the job would replace one that is read.
    pub fn make_folder(&self, ingredients: &Ingredients) -> Result<(), Failure> {
        let own = JSON_FILES.iter().copied().chain([self.flamenco.0]).map(|name| self.folder.join(name));
        let written: Vec<PathBuf> = own.chain(self.extra.clone()).collect();
        source::protect_inputs(&ingredients.inputs(), &written)?;
        make_folder(&self.folder)
    }

    /// The character, its motion and its anatomy as arguments, whose files become parameters.
    pub fn files(&mut self, rig: &Rig, anatomy: &AnatomyArguments) -> Result<Vec<String>, Failure> {
        let mut list = vec![self.path("Character", "The character.", &rig.file)?];
        if let Some(motion) = &rig.motion.motion {
            list.extend(["--motion".to_owned(), self.path("Motion", "Where the clips come from.", motion)?]);
        }
        if let Some(anatomy) = &anatomy.anatomy {
            let value = self.path("Anatomy", "What lies under the skin.", &anatomy.to_string_lossy())?;
            list.extend(["--anatomy".to_owned(), value]);
        }
        Ok(list)
    }

    /// A file as an argument: a parameter of the job, or the word itself where it is no file.
    fn path(&mut self, name: &'static str, meaning: &str, value: &str) -> Result<String, Failure> {
        if value.starts_with("sample:") || value == RANGE {
            return Ok(value.to_owned());
        }
        let absolute = std::path::absolute(PathBuf::from(value))?;
        self.add(name, "PATH", Some(("FILE", "IN")), meaning, absolute.display().to_string());
        Ok(format!("{{{{Param.{name}}}}}"))
    }

    /// `file`: what it is, and whether it is read or written.
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
        self.parameters.push(Parameter { name, definition, value });
    }

    /// Writes everything; returns what to type to run it here.
    pub fn write(
        &self,
        title: &str,
        steps: &[Value],
        ingredients: &Ingredients,
        console: &Console,
    ) -> Result<String, Failure> {
        // The specification allows 128 characters.
        let title: String = title.chars().filter(|c| !c.is_control()).take(128).collect();
        let definitions: Vec<&Value> = self.parameters.iter().map(|p| &p.definition).collect();
        let template = json!({
            "specificationVersion": "jobtemplate-2023-09",
            "name": title.replace("{{", "((").replace("}}", "))"),
            "parameterDefinitions": definitions,
            "steps": steps,
        });
        let inputs: Vec<String> = ingredients
            .inputs()
            .iter()
            .map(|path| std::path::absolute(path).map(|path| path.display().to_string()))
            .collect::<Result<_, _>>()?;
        let assets = json!({ "assetReferences": {
            "inputs": { "filenames": inputs, "directories": [] },
            "outputs": { "directories": [self.results.display().to_string()] },
            "referencedPaths": [],
        } });
        for (name, value) in JSON_FILES.iter().zip([template, self.as_list(), self.as_object(), assets]) {
            write_json(&self.folder.join(name), &value, console)?;
        }
        let (name, text) = self.flamenco;
        console.print_path(&file::write(&self.folder.join(name), text.as_bytes())?)?;
        let [template, _, values, _] = JSON_FILES.map(|name| self.folder.join(name));
        Ok(format!("openjd run {} -p file://{}", template.display(), values.display()))
    }

    /// The parameters' values as Deadline Cloud reads them.
    fn as_list(&self) -> Value {
        let one = |p: &Parameter| json!({ "name": p.name, "value": p.value });
        json!({ "parameterValues": self.parameters.iter().map(one).collect::<Vec<_>>() })
    }

    /// The parameters' values as `openjd` reads them.
    fn as_object(&self) -> Value {
        let one = |p: &Parameter| (p.name.to_owned(), p.value.as_str().into());
        Value::Object(self.parameters.iter().map(one).collect())
    }
}

/// The name of what a job makes.
pub fn checked_name(option: &str, name: &str) -> Result<(), Failure> {
    if name.is_empty() || !name.chars().all(|c| c.is_alphanumeric() || "-_".contains(c)) {
        return Err(
            format!("{option} {name}: only letters, digits, - and _ are allowed; choose another").into()
        );
    }
    Ok(())
}

/// Refuses arguments that a template would take for names of its own.
pub fn check_words(words: &[String]) -> Result<(), Failure> {
    // What the template itself puts in braces are the names of parameters.
    match words.iter().find(|word| word.contains("{{") && !word.starts_with("{{Param.")) {
        Some(word) => Err(format!("{word}: a job cannot name it because of \"{{{{\"; rename it").into()),
        None => Ok(()),
    }
}

/// What a step runs.
pub fn script(arguments: &[String]) -> Value {
    json!({ "actions": { "onRun": { "command": "{{Param.Ecorche}}", "args": arguments } } })
}
