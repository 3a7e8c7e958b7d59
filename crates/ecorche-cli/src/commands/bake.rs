//! `ecorche bake`: the deformed animation as a cache.

use super::{bind, clamped_muscles, make_folder};
use crate::arguments::Bake;
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::bake::{BakeError, bake_as, load_state, piece, save_state};
use ecorche::character::Character;
use ecorche::deform::{Body, Playback};
use ecorche::output::{self, CacheOptions, Format, Shot, names, obj};
use ecorche::sampling::Plan;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// Set when the user interrupts; the bake then cleans up after itself.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Bakes the chosen clips.
pub fn run(arguments: &Bake, console: &Console) -> Result<Outcome, Failure> {
    let format = Format::of(&arguments.shot.output)?;
    let options = arguments.alembic.options();
    options.check(&arguments.shot.output, format)?;
    let ingredients = source::read(&arguments.shot.rig.recipe(&arguments.deformation.implicit), console)?;
    let plans = source::plans(&ingredients, &arguments.shot.sampling, &arguments.shot.rig.file, console)?;
    if plans.len() > 1 && (arguments.state.is_some() || arguments.resume.is_some()) {
        return Err("a state is of one clip; choose it with --clip".into());
    }
    let cache = source::user_cache(&arguments.cache);
    let clip_names: Vec<&str> =
        plans.iter().map(|plan| plan.clip.map_or("rest pose", |c| c.name.as_str())).collect();
    let paths = match &plans[..] {
        [_] => vec![arguments.shot.output.clone()],
        _ => names::labelled(&arguments.shot.output, &clip_names),
    };
    let rest_path = (matches!(format, Format::Pc2 | Format::Mdd) && !arguments.no_mesh)
        .then(|| arguments.shot.output.with_extension("rest.obj"));
    let mut written: Vec<PathBuf> = rest_path.iter().chain(&arguments.state).cloned().collect();
    for (plan, path) in plans.iter().zip(&paths) {
        written.extend(output::paths(path, &Shot::new(&ingredients.character, plan).with(options))?);
    }
    let inputs: Vec<PathBuf> = ingredients.inputs().into_iter().chain(arguments.resume.clone()).collect();
    source::protect_inputs(&inputs, &written)?;
    if arguments.make_folder
        && let Some(folder) = arguments.shot.output.parent()
    {
        make_folder(folder)?;
    }
    let method = arguments.deformation.method(&ingredients)?;
    let settings = ingredients.settings(Some(method));
    let body = bind(&ingredients, settings.clone(), cache.as_ref(), console)?;
    if format == Format::Abc {
        warn_of_large_faces(&ingredients.character, &arguments.shot.output, console);
    }
    // Without a handler an interrupt ends the process at once.
    let _ = ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::Relaxed));

    // With --frames it is a piece, even if they are all the frames.
    let piece = arguments.shot.sampling.frames.is_some();
    let mut state = None;
    for ((plan, name), path) in plans.iter().zip(&clip_names).zip(&paths) {
        let key = || ingredients.key(&settings, plan);
        let mut playback = match (&arguments.state, &arguments.resume) {
            (Some(file), _) if !file.exists() => Playback::new(&body, plan),
            (Some(file), _) | (None, Some(file)) => play_on(file, &key(), &body, plan, console)?,
            (None, None) => Playback::new(&body, plan),
        };
        let caches = bake_one(options, &mut playback, &body, plan, path, name, console)?;
        if format == Format::Pc2 {
            for record in piece::write_records(&body, plan, piece, key, &caches)? {
                console.print_path(&record)?;
            }
        }
        state = arguments.state.as_ref().map(|file| (file, playback.state(), key()));
    }
    if let Some(path) = rest_path {
        let rest = ecorche::bake::rest(&ingredients.character)?;
        console.print_path(&obj::write(&path, &ingredients.character, &rest)?)?;
    }
    // Last, so that a bake that fails can start again from the state before it.
    if let Some((file, saved, key)) = state {
        save_state(file, &saved, &key)?;
        console.note(&format!("state before frame {} in {}", saved.next, file.display()));
    }
    Ok(Outcome::Done)
}

/// Unreal reads triangles and quads only.
fn warn_of_large_faces(character: &Character, path: &Path, console: &Console) {
    let sizes = character.meshes.iter().flat_map(|mesh| mesh.faces.starts.windows(2).map(|f| f[1] - f[0]));
    let large = sizes.filter(|&size| size > 4).count();
    if large > 0 {
        console.note(&format!(
            "{}: {large} faces have more than four corners; for Unreal, which refuses them, split them in the character's file",
            path.display()
        ));
    }
}

/// Resumes from the state in `file`.
fn play_on<'a>(
    file: &Path,
    key: &[u8; 32],
    body: &'a Body,
    plan: &'a Plan<'a>,
    console: &Console,
) -> Result<Playback<'a>, Failure> {
    let saved = load_state(file, key, body)?;
    let (next, first) = (saved.next, *plan.frames.start());
    if next > first {
        return Err(format!(
            "{}: holds the state before frame {next}, but the bake starts at frame {first}; start --frames at {next} or later, or \
             give the state of another frame",
            file.display()
        )
        .into());
    }
    console.detail(&format!("going on from {} with frame {next}", file.display()));
    Ok(Playback::resume(body, plan, saved))
}

/// Bakes one clip with a progress bar, prints the files and lists them.
pub fn bake_one(
    options: CacheOptions,
    playback: &mut Playback,
    body: &Body,
    plan: &Plan,
    path: &Path,
    name: &str,
    console: &Console,
) -> Result<Vec<PathBuf>, Failure> {
    let bar = console.progress(name, plan.len());
    let baked = bake_as(options, playback, body, plan, path, |done| {
        bar.set_position(done as u64);
        if INTERRUPTED.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    });
    bar.finish_and_clear();
    let baked = baked.map_err(|error| match error {
        BakeError::Stopped => {
            Failure::from(format!("{}: interrupted; nothing was left behind", path.display()))
        }
        other => other.into(),
    })?;
    if baked.fell_back > 0 {
        console.warn(&format!(
            "{name}: {} vertex positions over all frames fell back to a simpler method",
            baked.fell_back
        ));
    }
    if baked.clamped > 0 {
        console.warn(&format!("{name}: {}", clamped_muscles(baked.clamped)));
    }
    if let (Some(worst), Some(parts)) = (baked.faded.iter().max_by_key(|f| f.vertices), body.parts()) {
        let more = match baked.faded.len() - 1 {
            0 => String::new(),
            1 => " and another piece".to_owned(),
            more => format!(" and {more} other pieces"),
        };
        console.warn(&format!(
            "{name}: {}{more} came out worse than plain skinning and was faded back to it, in {} of {} frames; give it a role \
             with [[piece]] in the anatomy file",
            parts.pieces.title(worst.piece as usize),
            worst.frames,
            baked.frames
        ));
    }
    console.note(&format!("{name}: {} frames at {} fps, {}", baked.frames, plan.fps, body.stack()));
    // A sequence is named by its first file; nobody reads a thousand lines.
    for path in baked.paths.iter().take(if baked.paths.len() > 16 { 1 } else { 16 }) {
        console.print_path(path)?;
    }
    Ok(baked.paths)
}
