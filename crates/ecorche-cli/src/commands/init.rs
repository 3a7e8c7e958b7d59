//! `ecorche init`: a first anatomy file for a character.

use crate::arguments::Init;
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::anatomy::preset::{self, Preset};
use ecorche::anatomy::{AnatomyFile, init};
use ecorche::output::file;
use ecorche::recipe::read_character;

/// Writes the file and says what was placed and what was not.
pub fn run(arguments: &Init, console: &Console) -> Result<Outcome, Failure> {
    let path = &arguments.output;
    source::keep_existing(path, arguments.force)?;
    source::protect_inputs(&[arguments.file.clone().into()], std::slice::from_ref(path))?;
    let character = read_character(&arguments.file)?;
    console.warn_of_repairs(&arguments.file, &character.repairs);
    let preset = match (arguments.skin_only, arguments.parametric) {
        (true, _) => Preset::default(),
        (false, true) => preset::place_parametric(&character)?,
        (false, false) => preset::place(&character),
    };
    let text = init::write(&character, &preset);
    // What is written must be what is read: a joint with an unheard-of name shows here, not at the next command.
    let written = AnatomyFile::parse(&path.display().to_string(), text)?;
    written.check(&character.skeleton)?;
    console.print_path(&file::write(path, written.text().as_bytes())?)?;
    if !arguments.skin_only {
        let body = written.anatomy().in_full(&character);
        console.note(&match arguments.parametric {
            true => format!("placed {} parametric muscles", body.parametric.len()),
            false => format!("placed {} muscles and {} fat pads", body.muscle.len(), body.fat.len()),
        });
        for finding in &preset.findings {
            let text = format!("{}: {} {}", arguments.file, finding.muscle, finding.what);
            if finding.repaired {
                console.note(&format!("{text}; repaired"));
            } else {
                console.warn(&text);
            }
        }
        for skipped in &preset.skipped {
            console.warn(&format!("{}: not placed: {}: {}", arguments.file, skipped.name, skipped.reason));
        }
    }
    Ok(Outcome::Done)
}
