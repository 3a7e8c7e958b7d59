//! `ecorche transfer`: a muscle set of one body placed in another.

use crate::arguments::TransferArguments;
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::anatomy::transfer::{lengths, transfer};
use ecorche::anatomy::{Anatomy, AnatomyFile, init};
use ecorche::output::file;
use ecorche::recipe::read_character;
use std::path::PathBuf;

/// Writes the file and says what found no place and how much the lengths changed.
pub fn run(arguments: &TransferArguments, console: &Console) -> Result<Outcome, Failure> {
    let path = &arguments.output;
    source::keep_existing(path, arguments.force)?;
    let inputs: Vec<PathBuf> =
        vec![arguments.anatomy.clone(), arguments.from.clone().into(), arguments.to.clone().into()];
    source::protect_inputs(&inputs, std::slice::from_ref(path))?;
    let anatomy = AnatomyFile::read(&arguments.anatomy)?;
    let [from, to] = [&arguments.from, &arguments.to].map(|file| {
        let character = read_character(file)?;
        console.warn_of_repairs(file, &character.repairs);
        Ok::<_, Failure>(character)
    });
    let (from, to) = (from?, to?);
    anatomy.check(&from.skeleton)?;
    if !anatomy.anatomy().body.has_flesh() {
        let name = arguments.anatomy.display();
        return Err(format!(
            "{name}: has no muscles and no fat to carry over; write some with `ecorche init`"
        )
        .into());
    }
    let moved = transfer(anatomy.anatomy(), &from, &to)?;
    // What is written must be what is read.
    let written = AnatomyFile::parse(&path.display().to_string(), init::write(&to, &moved))?;
    written.check(&to.skeleton)?;
    console.print_path(&file::write(path, written.text().as_bytes())?)?;
    for skipped in &moved.skipped {
        console.warn(&format!("{}: no place for {}: {}", arguments.to, skipped.name, skipped.reason));
    }
    let ratio = median_ratio(anatomy.anatomy(), &from, written.anatomy(), &to);
    console.note(&format!(
        "placed {} of {} muscles and {} of {} fat pads; lengths {ratio:.2} times those of {}, median; [skin] is at its defaults",
        written.anatomy().body.muscle.len(),
        anatomy.anatomy().body.muscle.len(),
        written.anatomy().body.fat.len(),
        anatomy.anatomy().body.fat.len(),
        arguments.from,
    ));
    Ok(Outcome::Done)
}

/// Lengths after over before, of the muscles in both.
fn median_ratio(
    before: &Anatomy,
    from: &ecorche::character::Character,
    after: &Anatomy,
    to: &ecorche::character::Character,
) -> f32 {
    let (before, after) = (lengths(&before.body, from), lengths(&after.body, to));
    let ratio = |(name, length): &(String, f32)| {
        let own = before.iter().find(|b| b.0 == *name)?.1;
        Some(length / own).filter(|r| r.is_finite())
    };
    let mut ratios: Vec<f32> = after.iter().filter_map(ratio).collect();
    ratios.sort_by(f32::total_cmp);
    ratios.get(ratios.len() / 2).copied().unwrap_or(1.0)
}
