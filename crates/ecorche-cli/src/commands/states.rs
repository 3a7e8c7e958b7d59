//! `ecorche states`: the state of muscles and skin before chosen frames, so that pieces of a bake need not play earlier ones.

use super::{bind, make_folder};
use crate::arguments::States;
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::bake::save_state;
use ecorche::deform::{Playback, Workspace};
use std::path::{Path, PathBuf};

/// The file of the state before `frame`.
fn state_path(folder: &Path, frame: usize) -> PathBuf {
    folder.join(format!("before-{frame}.state"))
}

/// Plays the clip once, without writing a frame, and saves the states.
pub fn run(arguments: &States, console: &Console) -> Result<Outcome, Failure> {
    let ingredients = source::read(&arguments.rig.recipe(&arguments.deformation.implicit), console)?;
    let plan = &source::one_plan(&ingredients, &arguments.sampling, &arguments.rig.file, console)?;
    let mut frames = arguments.before.clone();
    frames.sort_unstable();
    frames.dedup();
    if let Some(frame) = frames.iter().find(|frame| !plan.frames.contains(frame)) {
        return Err(format!(
            "--before {frame}: the clip has frames {}-{} at {} fps; choose among those",
            plan.frames.start(),
            plan.frames.end(),
            plan.fps
        )
        .into());
    }
    let written: Vec<PathBuf> = frames.iter().map(|&frame| state_path(&arguments.output, frame)).collect();
    source::protect_inputs(&ingredients.inputs(), &written)?;
    let method = arguments.deformation.method(&ingredients)?;
    let settings = ingredients.settings(Some(method));
    let body = bind(&ingredients, settings.clone(), source::user_cache(&arguments.cache).as_ref(), console)?;
    make_folder(&arguments.output)?;
    let key = ingredients.key(&settings, plan);
    let mut playback = Playback::new(&body, plan);
    let mut workspace = Workspace::default();
    let bar = console.progress("states", frames.len());
    for ((done, &frame), path) in frames.iter().enumerate().zip(&written) {
        playback.play_to(frame, &mut workspace);
        console.print_path(&save_state(path, &playback.state(), &key)?)?;
        bar.set_position(done as u64 + 1);
    }
    bar.finish_and_clear();
    Ok(Outcome::Done)
}
