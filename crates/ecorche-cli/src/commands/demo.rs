//! `ecorche demo`: everything at once on the built-in athlete.

use super::bake::bake_one;
use super::measure::{as_json, describe, measure, plot};
use super::{bind_each, make_folder, write_json, write_png};
use crate::arguments::Demo;
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::deform::{Playback, Stack};
use ecorche::measure::Judge;
use ecorche::output::{CacheOptions, file, names, obj};
use ecorche::portrait::{Look, contact_sheet, draw_frames, spread};
use ecorche::recipe::Recipe;
use ecorche::sampling::{Plan, Sampling};
use ecorche::skinning::Surface;

/// The clip with the deepest bends, which tells the methods apart.
const SHEET_CLIP: &str = "squat";

/// Frames per second that are measured: measuring costs more than deforming, and every fifth frame says as much.
const MEASURED_FPS: f32 = 6.0;

/// Builds, bakes, draws, measures.
pub fn run(arguments: &Demo, console: &Console) -> Result<Outcome, Failure> {
    let folder = &arguments.output;
    make_folder(folder)?;
    console.note(&format!("building sample:{}", arguments.sample));
    let ingredients = source::read(&Recipe::of(format!("sample:{}", arguments.sample)), console)?;
    let character = &ingredients.character;
    let cache = source::user_cache(&arguments.cache);
    // The last is baked.
    let mut methods = vec![Stack::linear(), Stack::implicit()];
    methods.extend(ingredients.has_muscles().then(Stack::muscles));
    let bodies = bind_each(&ingredients, &methods, cache.as_ref(), console)?;
    let Some(baked) = bodies.last() else { return Ok(Outcome::Done) };

    let every_frame = Sampling::default();
    let names: Vec<&str> = character.clips.iter().map(|clip| clip.name.as_str()).collect();
    for (clip, name) in character.clips.iter().zip(names::file_names(&names)) {
        let plan = Plan::new(Some(clip), &every_frame)?;
        let path = folder.join(format!("{name}.pc2"));
        bake_one(
            CacheOptions::default(),
            &mut Playback::new(baked, &plan),
            baked,
            &plan,
            &path,
            &clip.name,
            console,
        )?;
    }
    let rest = ecorche::bake::rest(character)?;
    console.print_path(&obj::write(&folder.join("rest.obj"), character, &rest)?)?;

    let shown = character.clip(SHEET_CLIP).or(character.clips.first());
    let plan = Plan::new(shown, &every_frame)?;
    let numbers = spread(&plan, 5);
    let bar = console.progress("contact sheet", numbers.len() * bodies.len());
    let look = Look { width: 320, height: 400, ..Look::default() };
    let (pictures, legend) = draw_frames(&bodies, &plan, &numbers, look, None, || bar.inc(1))?;
    bar.finish_and_clear();
    let sheet = contact_sheet(pictures, &methods, &numbers, &plan, &legend);
    write_png(&folder.join("methods.png"), &sheet, console)?;

    let surface = Surface::new(character).ok_or("the sample has no skinned mesh")?;
    let judge = Judge::of(&surface)?;
    let sparse = Sampling { fps: Some(MEASURED_FPS), frames: None };
    let plans =
        character.clips.iter().map(|clip| Plan::new(Some(clip), &sparse)).collect::<Result<Vec<_>, _>>()?;
    let measured = measure(&judge, &surface, &bodies, &plans, None, console)?;
    let text = describe(&measured);
    console.print(&text)?;
    file::write(&folder.join("measure.txt"), text.as_bytes())?;
    write_json(&folder.join("measure.json"), &as_json(&measured), console)?;
    let of_sheet: Vec<_> = measured
        .into_iter()
        .filter(|(name, _)| Some(name.as_str()) == shown.map(|c| c.name.as_str()))
        .collect();
    write_png(&folder.join("pairs.png"), &plot(&of_sheet, "pairs").draw(1100, 500), console)?;
    console.note(&format!("look at {}", folder.join("methods.png").display()));
    Ok(Outcome::Done)
}
