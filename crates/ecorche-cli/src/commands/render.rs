//! `ecorche render`: a picture, a contact sheet or an animation.

use super::{bind, write_png};
use crate::arguments::Render;
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::character::Character;
use ecorche::deform::Body;
use ecorche::deform::Method;
use ecorche::output::sheet::Sheet;
use ecorche::output::{Picture, file, legend::Legend, picture};
use ecorche::portrait::{Look, MuscleLook, draw_frames};
use ecorche::sampling::Plan;

/// Draws what was asked for.
pub fn run(arguments: &Render, console: &Console) -> Result<Outcome, Failure> {
    let character = source::load_rigged(&arguments.rig, console)?;
    let under = source::under_the_skin(&arguments.implicit, &character, &arguments.rig.file)?;
    if arguments.muscles.is_some() && !under.has_muscles() {
        return Err(format!(
            "{}: has no muscles to draw; give it an anatomy file with --anatomy (`ecorche init` writes one)",
            arguments.rig.file
        )
        .into());
    }
    let method = arguments.method.unwrap_or_else(|| arguments.implicit.default_method(&under));
    let methods: Vec<Method> =
        if arguments.compare.is_empty() { vec![method] } else { arguments.compare.clone() };
    let plan =
        source::plan_of_one(&character, &arguments.sampling, arguments.frame, &arguments.rig.file, console)?;
    let numbers = if arguments.animate {
        plan.frames.clone().collect()
    } else {
        spread(&plan, arguments.panels.into())
    };

    let cache = source::user_cache(&arguments.cache);
    let bodies: Vec<Body> = methods
        .iter()
        .map(|&method| {
            let settings = arguments.implicit.settings(method, &character, &under);
            bind(&character, settings, &under, cache.as_ref(), console)
        })
        .collect::<Result<_, Failure>>()?;
    let panels = numbers.len() * bodies.len();
    let (width, height) = arguments.size.unwrap_or(if panels == 1 { (900, 900) } else { (320, 400) });
    let focus = arguments
        .focus
        .as_deref()
        .map(|name| find_joint(&character, name, &arguments.rig.file))
        .transpose()?;
    let look = Look {
        view: arguments.view,
        width,
        height,
        wire: arguments.wire,
        focus,
        follow: !arguments.animate,
        muscles: arguments.muscles.map(|colour| MuscleLook { colour, skin: arguments.skin }),
    };
    let bar = console.progress("drawing", panels);
    let (pictures, legend) =
        draw_frames(&bodies, &plan, &numbers, look, arguments.show.as_deref(), || bar.inc(1))?;
    bar.finish_and_clear();

    if arguments.animate {
        let frames: Vec<Picture> = pictures
            .into_iter()
            .map(|row| {
                if row.len() == 1 && legend.is_none() {
                    row[0].clone()
                } else {
                    side_by_side(row, &methods, &legend)
                }
            })
            .collect();
        let mut bytes = Vec::new();
        picture::encode_animation(&frames, plan.fps, &mut bytes)?;
        file::write(&arguments.output, &bytes)?;
        println!("{}", arguments.output.display());
    } else {
        write_png(&arguments.output, &on_one_sheet(pictures, &methods, &numbers, &plan, &legend))?;
    }
    Ok(Outcome::Done)
}

/// A single picture as it is; methods as columns; otherwise frames left to right.
pub fn on_one_sheet(
    pictures: Vec<Vec<Picture>>,
    methods: &[Method],
    numbers: &[usize],
    plan: &Plan,
    legend: &Option<Legend>,
) -> Picture {
    let single = numbers.len() == 1 && methods.len() == 1;
    if single && legend.is_none() {
        return pictures.into_iter().flatten().next().unwrap_or_else(|| Sheet::new(1).compose());
    }
    let frame_label = |n: &usize| if plan.clip.is_some() { format!("frame {n}") } else { "rest".to_owned() };
    let mut sheet = if methods.len() > 1 {
        Sheet::new(methods.len())
            .column_labels(methods.iter().map(Method::to_string))
            .row_labels(numbers.iter().map(frame_label))
    } else {
        Sheet::new(numbers.len().min(6))
    };
    for (n, row) in numbers.iter().zip(pictures) {
        for picture in row {
            sheet = sheet
                .panel(picture, &if methods.len() > 1 || single { String::new() } else { frame_label(n) });
        }
    }
    if let Some(legend) = legend {
        sheet = sheet.legend(legend.clone());
    }
    sheet.compose()
}

fn side_by_side(row: Vec<Picture>, methods: &[Method], legend: &Option<Legend>) -> Picture {
    let mut sheet = Sheet::new(row.len());
    for (picture, method) in row.into_iter().zip(methods) {
        sheet = sheet.panel(picture, &method.to_string());
    }
    if let Some(legend) = legend {
        sheet = sheet.legend(legend.clone());
    }
    sheet.compose()
}

/// At most `most` frames of the plan, first and last among them.
pub fn spread(plan: &Plan, most: usize) -> Vec<usize> {
    let (first, count) = (*plan.frames.start(), plan.len());
    let shown = count.min(most).max(1);
    (0..shown).map(|i| first + (i * (count - 1)) / (shown - 1).max(1)).collect()
}

fn find_joint(character: &Character, name: &str, file: &str) -> Result<usize, Failure> {
    character.skeleton.find(name).ok_or_else(|| {
        format!("{file}: no joint called \"{name}\"; `ecorche info {file} --joints` lists them").into()
    })
}
