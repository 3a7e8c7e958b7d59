//! `ecorche studio`: the page in the browser.

use crate::arguments::StudioArguments;
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::recipe::Recipe;
use ecorche_studio::Options;

/// What the address starts with, if set. Not an argument: every user of the machine can list those.
const TOKEN: &str = "ECORCHE_STUDIO_TOKEN";

/// Serves the page until interrupted.
pub fn run(arguments: &StudioArguments, console: &Console) -> Result<Outcome, Failure> {
    let recipe = |file: &String| Recipe {
        motion: arguments.motion.source(),
        anatomy: arguments.anatomy.source(),
        ..Recipe::of(file)
    };
    let ingredients = arguments.file.as_ref().map(|file| source::read(&recipe(file), console)).transpose()?;
    let options = Options {
        port: arguments.port,
        folders: arguments.folder.clone(),
        token: std::env::var(TOKEN).ok(),
        no_browser: arguments.no_open,
        cache: source::user_cache(&arguments.cache),
    };
    ecorche_studio::open(ingredients, options, |address, closer| {
        // Without it an interrupt ends the process at once, which loses no more than a crash does.
        let _ = ctrlc::set_handler(move || closer.close());
        // Nobody finds the page without its address, unless the browser is opened for them.
        if let Err(failure) = console.print_line(address.url()) {
            console.warn(&failure.to_string());
        }
        console.note("open on this machine only; Ctrl+C ends it");
    })?;
    Ok(Outcome::Done)
}
