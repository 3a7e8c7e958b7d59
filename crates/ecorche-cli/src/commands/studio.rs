//! `ecorche studio`: the page in the browser.

use crate::arguments::{Rig, StudioArguments};
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::samples;
use ecorche_studio::Options;

/// What opens without a file.
const DEFAULT: &str = "sample:athlete";

/// Serves the page until interrupted.
pub fn run(arguments: &StudioArguments, console: &Console) -> Result<Outcome, Failure> {
    let file = arguments.file.clone().unwrap_or_else(|| DEFAULT.to_owned());
    let rig = Rig { file, motion: arguments.motion.clone(), weights: None };
    let character = source::load_rigged(&rig, console)?;
    let sample = rig.file.strip_prefix("sample:");
    let options = Options {
        file: sample.is_none().then(|| rig.file.clone().into()),
        anatomy: arguments.anatomy.anatomy.clone(),
        start: sample.and_then(|spec| samples::anatomy(spec, &character)).map(|anatomy| anatomy.body),
        port: arguments.port,
        token: arguments.token.clone(),
        no_browser: arguments.no_open,
        cache: source::user_cache(&arguments.cache),
    };
    ecorche_studio::open(character, options, |address| {
        println!("{}", address.url());
        console.note("open for this machine alone; Ctrl+C ends it");
    })?;
    Ok(Outcome::Done)
}
