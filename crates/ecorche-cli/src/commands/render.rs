//! `ecorche render`: a picture, a contact sheet or an animation.

use super::{bind_each, write_png};
use crate::arguments::Render;
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::character::Character;
use ecorche::output::{Picture, file, picture};
use ecorche::portrait::{Look, MuscleLook, contact_sheet, draw_frames, side_by_side};

/// Default limit of frames on a contact sheet.
const PANELS: u16 = 12;

/// Draws what was asked for.
pub fn run(arguments: &Render, console: &Console) -> Result<Outcome, Failure> {
    let ingredients = source::read(&arguments.rig.recipe(&arguments.implicit), console)?;
    source::protect_inputs(&ingredients.inputs(), std::slice::from_ref(&arguments.output))?;
    if arguments.muscles.is_some() && !ingredients.has_muscles() {
        return Err(format!(
            "{}: has no muscles to draw; give it an anatomy file with --anatomy (`ecorche init` writes one)",
            arguments.rig.file
        )
        .into());
    }
    let mut methods = arguments.compare.clone();
    if methods.is_empty() {
        methods.push(arguments.method.clone().unwrap_or_else(|| ingredients.best_stack()));
    }
    let named = arguments.method.is_some() || !arguments.compare.is_empty();
    arguments.implicit.check_use(&ingredients, &methods, named)?;
    let drawing = &arguments.drawing;
    let plan = drawing.plan(&ingredients, &arguments.rig.file, console)?;
    let numbers = drawing.numbers(&plan, PANELS);

    let cache = source::user_cache(&arguments.cache);
    let bodies = bind_each(&ingredients, &methods, cache.as_ref(), console)?;
    let panels = numbers.len() * bodies.len();
    let (width, height) = drawing.size.unwrap_or(if panels == 1 { (900, 900) } else { (320, 400) });
    let focus = arguments
        .focus
        .as_deref()
        .map(|name| find_joint(&ingredients.character, name, &arguments.rig.file))
        .transpose()?;
    let look = Look {
        view: drawing.view,
        width,
        height,
        wire: arguments.wire,
        focus,
        follow: !drawing.animate,
        muscles: arguments.muscles.map(|colour| MuscleLook { colour, skin: arguments.skin }),
    };
    let bar = console.progress("drawing", panels);
    let (pictures, legend) =
        draw_frames(&bodies, &plan, &numbers, look, arguments.show.as_deref(), || bar.inc(1))?;
    bar.finish_and_clear();

    if drawing.animate {
        let frames: Vec<Picture> =
            pictures.into_iter().map(|row| side_by_side(row, &methods, &legend)).collect();
        let mut bytes = Vec::new();
        picture::encode_animation(&frames, plan.fps, &mut bytes)?;
        console.print_path(&file::write(&arguments.output, &bytes)?)?;
    } else {
        let sheet = contact_sheet(pictures, &methods, &numbers, &plan, &legend);
        write_png(&arguments.output, &sheet, console)?;
    }
    Ok(Outcome::Done)
}

fn find_joint(character: &Character, name: &str, file: &str) -> Result<usize, Failure> {
    character.skeleton.find(name).ok_or_else(|| {
        format!("{file}: no joint called \"{name}\"; `ecorche info {file} --joints` lists them").into()
    })
}
