//! What a command works on: a recipe filled in from its arguments, the clips asked for, the disk cache.

use crate::Failure;
use crate::arguments::{CacheArguments, SamplingArguments};
use crate::console::Console;
use ecorche::cache::Cache;
use ecorche::character::Clip;
use ecorche::character::motion::Transfer;
use ecorche::recipe::{self, Ingredients, Note, Recipe};
use ecorche::sampling::{Plan, Sampling};
use std::path::{Path, PathBuf};

/// Reads what the recipe names and tells what the user should know about it.
pub fn read(recipe: &Recipe, console: &Console) -> Result<Ingredients, Failure> {
    let ingredients = recipe.read()?;
    tell(&ingredients, console);
    Ok(ingredients)
}

/// Tells what the user should know about what was read.
pub fn tell(ingredients: &Ingredients, console: &Console) {
    for note in &ingredients.notes {
        match note {
            Note::Repaired { file, repairs } => console.warn_of_repairs(file, repairs),
            Note::Weighted { file, meshes } => {
                console.note(&format!("{file}: weights by heat diffusion for {meshes} meshes"));
            }
            Note::Joined { file, report } => {
                let transfer = transfer_in_words(report.transfer);
                console.note(&format!("{file}: {} joints matched, {transfer}", report.matches.len()));
                if !report.unmatched_joints.is_empty() {
                    console
                        .detail(&format!("  not moved on their own: {}", report.unmatched_joints.join(", ")));
                }
                if !report.unmatched_motion.is_empty() {
                    console.detail(&format!("  moves nothing here: {}", report.unmatched_motion.join(", ")));
                }
            }
        }
    }
}

/// The clips asked for; the first when none is; the rest pose for a character without any.
fn choose_clips<'a>(
    ingredients: &'a Ingredients,
    sampling: &SamplingArguments,
    file: &str,
    console: &Console,
) -> Result<Vec<Option<&'a Clip>>, Failure> {
    let clips = &ingredients.character.clips;
    match sampling.clip.as_deref() {
        Some("all") if !clips.is_empty() => Ok(clips.iter().map(Some).collect()),
        None | Some("all") if clips.is_empty() => {
            console.warn(&format!("{file}: has no clip; its rest pose is taken"));
            Ok(vec![None])
        }
        None => {
            if clips.len() > 1 {
                console.note(&format!(
                    "clip \"{}\", the first of {}; choose with --clip",
                    clips[0].name,
                    clips.len()
                ));
            }
            Ok(vec![clips.first()])
        }
        Some(name) => Ok(vec![Some(ingredients.clip(name)?)]),
    }
}

/// The clip asked for, for commands that take one at a time.
fn one_clip<'a>(
    ingredients: &'a Ingredients,
    sampling: &SamplingArguments,
    file: &str,
    console: &Console,
) -> Result<Option<&'a Clip>, Failure> {
    match choose_clips(ingredients, sampling, file, console)?[..] {
        [clip] => Ok(clip),
        _ => Err("--clip all is for bake and measure; choose one clip by name".into()),
    }
}

/// A plan for each of the clips asked for.
pub fn plans<'a>(
    ingredients: &'a Ingredients,
    sampling: &SamplingArguments,
    file: &str,
    console: &Console,
) -> Result<Vec<Plan<'a>>, Failure> {
    let clips = choose_clips(ingredients, sampling, file, console)?;
    let sampling = sampling.resolve();
    Ok(clips.iter().map(|clip| Plan::new(*clip, &sampling)).collect::<Result<_, _>>()?)
}

/// A plan for the clip asked for, for commands that take one at a time.
pub fn one_plan<'a>(
    ingredients: &'a Ingredients,
    sampling: &SamplingArguments,
    file: &str,
    console: &Console,
) -> Result<Plan<'a>, Failure> {
    let clip = one_clip(ingredients, sampling, file, console)?;
    Ok(Plan::new(clip, &sampling.resolve())?)
}

/// The frames to draw of one clip: a single one, a range, or all; the rest pose if nothing is asked for.
pub fn plan_to_draw<'a>(
    ingredients: &'a Ingredients,
    sampling: &SamplingArguments,
    frame: Option<usize>,
    file: &str,
    console: &Console,
) -> Result<Plan<'a>, Failure> {
    let still = sampling.clip.is_none() && frame.is_none() && sampling.frames.is_none();
    let clip = if still { None } else { one_clip(ingredients, sampling, file, console)? };
    let frames = frame.map(|n| n..=n).or_else(|| sampling.frames.clone());
    Ok(Plan::new(clip, &Sampling { fps: sampling.fps, frames })?)
}

/// Refuses to write over what is read, and anything twice.
pub fn protect_inputs(inputs: &[PathBuf], outputs: &[PathBuf]) -> Result<(), Failure> {
    Ok(recipe::protect_inputs(inputs, outputs)?)
}

/// Refuses to write over a file that a person may have edited, unless told to.
pub fn keep_existing(path: &Path, force: bool) -> Result<(), Failure> {
    if path.exists() && !force {
        let exists = "exists; choose another with -o, or overwrite it with --force";
        return Err(format!("{}: {exists}", path.display()).into());
    }
    Ok(())
}

/// The user's disk cache, unless switched off.
pub fn user_cache(arguments: &CacheArguments) -> Option<Cache> {
    if arguments.no_cache { None } else { Cache::of_user(arguments.cache_limit << 20) }
}

fn transfer_in_words(transfer: Transfer) -> &'static str {
    match transfer {
        Transfer::AdoptedSkeleton => "its skeleton adopted",
        Transfer::RestDifferences => "rotations carried over relative to the rest poses",
        _ => "same skeleton",
    }
}
