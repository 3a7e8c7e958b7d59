//! `ecorche field`: the fields under the skin, as pictures or as a mesh.

use super::{bind, write_png};
use crate::arguments::{FieldArguments, ImplicitArguments, Slice};
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::character::{Character, Pose};
use ecorche::deform::{Body, Settings, Stack, Workspace};
use ecorche::field::operator::{Composition, NAMES};
use ecorche::frame::Frame;
use ecorche::output::legend::Legend;
use ecorche::output::sheet::Sheet;
use ecorche::output::{ColourMap, Picture, file, names, obj, picture};
use ecorche::portrait::{FieldLook, Show, Through, draw_fields, field_surface, part_of_joint};
use ecorche::sampling::Plan;
use std::path::PathBuf;

/// Default limit of frames on a contact sheet.
const PANELS: u16 = 8;

/// Draws or writes what was asked for.
pub fn run(arguments: &FieldArguments, console: &Console) -> Result<Outcome, Failure> {
    let ending = arguments.output.extension().map(|e| e.to_ascii_lowercase());
    let as_mesh = match ending.as_ref().and_then(|e| e.to_str()) {
        Some("obj") => true,
        Some("png") => false,
        _ => return Err(format!("{}: give it the extension .png or .obj", arguments.output.display()).into()),
    };
    let composition = match &arguments.operator {
        Some(name) => Some(
            Composition::by_name(name)
                .ok_or_else(|| format!("no operator is called \"{name}\"; there are {}", NAMES.join(", ")))?,
        ),
        None => None,
    };
    let ingredients = source::read(&arguments.rig.recipe(&ImplicitArguments::default()), console)?;
    let character = &ingredients.character;
    let drawing = &arguments.drawing;
    let plan = drawing.plan(&ingredients, &arguments.rig.file, console)?;
    let numbers: Vec<usize> =
        if as_mesh { plan.frames.clone().collect() } else { drawing.numbers(&plan, PANELS) };
    let outputs = if as_mesh { mesh_paths(arguments, &numbers) } else { vec![arguments.output.clone()] };
    source::protect_inputs(&ingredients.inputs(), &outputs)?;

    let cache = source::user_cache(&arguments.cache);
    let settings = Settings { composition, ..Stack::implicit().into() };
    let body = bind(&ingredients, settings, cache.as_ref(), console)?;
    let show = match (&arguments.slice, &arguments.path) {
        (Some(slice), _) => Show::Slice(slice.axis, through(slice, character, &arguments.rig.file)?),
        (None, Some(vertex)) => Show::Path(traced(vertex, &body, &arguments.rig.file)?),
        (None, None) if arguments.samples => Show::Samples,
        (None, None) => Show::Surface,
    };
    if let Show::Path(vertex) = show {
        list_steps(&body, &plan, &numbers, vertex, console)?;
    }
    let part = arguments.bone.as_deref().map(|name| part_of_joint(&body, name)).transpose()?;
    let (width, height) = drawing.size.unwrap_or(if numbers.len() == 1 { (900, 900) } else { (400, 400) });
    let look = FieldLook {
        show,
        part,
        level: arguments.level,
        cells: arguments.cells.into(),
        view: drawing.view,
        width,
        height,
    };
    if as_mesh {
        write_meshes(arguments, &body, &plan, numbers.iter().zip(&outputs), &look, console)?;
        return Ok(Outcome::Done);
    }
    let bar = console.progress("drawing", numbers.len());
    let pictures = draw_fields(&body, &plan, &numbers, &look, || bar.inc(1))?;
    bar.finish_and_clear();
    if drawing.animate {
        let mut bytes = Vec::new();
        picture::encode_animation(&pictures, plan.fps, &mut bytes)?;
        console.print_path(&file::write(&arguments.output, &bytes)?)?;
    } else {
        write_png(&arguments.output, &on_one_sheet(pictures, &numbers, &plan, &look), console)?;
    }
    Ok(Outcome::Done)
}

/// The OBJ of each frame.
fn mesh_paths(arguments: &FieldArguments, numbers: &[usize]) -> Vec<PathBuf> {
    match numbers {
        [_] => vec![arguments.output.clone()],
        several => several.iter().map(|&number| names::numbered(&arguments.output, number)).collect(),
    }
}

/// One OBJ per frame.
fn write_meshes<'a>(
    arguments: &FieldArguments,
    body: &Body,
    plan: &Plan,
    frames: impl Iterator<Item = (&'a usize, &'a PathBuf)>,
    look: &FieldLook,
    console: &Console,
) -> Result<(), Failure> {
    let character = body.character();
    let mut pose = Pose::rest(character);
    for (&number, path) in frames {
        plan.sample(number, &mut pose);
        let surface = field_surface(body, &pose, look.part, look.level, look.cells)?;
        let name = arguments.bone.as_deref().unwrap_or("field");
        console.print_path(&obj::write_surface(path, name, &surface, &character.world)?)?;
    }
    Ok(())
}

/// The surface's vertex that `[MESH:]VERTEX` names.
fn traced(name: &str, body: &Body, file: &str) -> Result<u32, Failure> {
    let character = body.character();
    let (mesh, vertex) = match name.split_once(':') {
        Some((mesh, vertex)) => (mesh.parse().ok(), vertex.parse().ok()),
        None => (character.meshes.iter().position(|m| m.skin().is_some()), name.parse().ok()),
    };
    let found = mesh.zip(vertex).and_then(|(m, v): (usize, usize)| {
        (m < character.meshes.len()).then(|| body.surface()?.vertex_of(character, m, v)).flatten()
    });
    found.ok_or_else(|| {
        format!("{file}: \"{name}\" is not a vertex of a skinned mesh; give VERTEX or MESH:VERTEX, counted from 0; `ecorche info {file}` lists the meshes")
            .into()
    })
}

/// Each step of a vertex, and its distance from where skinning put it.
fn list_steps(
    body: &Body,
    plan: &Plan,
    numbers: &[usize],
    vertex: u32,
    console: &Console,
) -> Result<(), Failure> {
    let mut workspace = Workspace::default();
    let mut frame = Frame::default();
    let mut pose = Pose::rest(body.character());
    for &number in numbers {
        plan.sample(number, &mut pose);
        body.trace_into(&pose, plan.time(number), None, Some(vertex), &mut workspace, &mut frame);
        let Some(&(_, start)) = frame.found.path.first() else { continue };
        for (what, at) in &frame.found.path {
            let distance = 1e3 * at.distance(start);
            console.print_line(format_args!(
                "frame {number}  {what:<8} {distance:8.3} mm from its skinned position"
            ))?;
        }
    }
    Ok(())
}

fn through(slice: &Slice, character: &Character, file: &str) -> Result<Through, Failure> {
    let Some(at) = &slice.through else { return Ok(Through::Middle) };
    if let Ok(metres) = at.parse::<f32>() {
        return Ok(Through::Offset(metres));
    }
    character.skeleton.find(at).map(Through::Joint).ok_or_else(|| {
        format!("{file}: \"{at}\" is neither metres nor a joint; `ecorche info {file} --joints` lists them")
            .into()
    })
}

/// A single picture of a surface as it is; otherwise frames left to right, and the scale below sections.
fn on_one_sheet(pictures: Vec<Picture>, numbers: &[usize], plan: &Plan, look: &FieldLook) -> Picture {
    let slice = matches!(look.show, Show::Slice(..));
    let single = pictures.len() == 1;
    if single && !slice {
        return pictures.into_iter().next().unwrap_or_else(|| Sheet::new(1).compose());
    }
    let mut sheet = Sheet::new(pictures.len().min(4));
    for (number, picture) in numbers.iter().zip(pictures) {
        let caption = if single || plan.clip.is_none() { String::new() } else { format!("frame {number}") };
        sheet = sheet.panel(picture, &caption);
    }
    if slice {
        let name = "field: lines every tenth, the surface 0.5 bold; skin dark";
        sheet = sheet.legend(Legend::new(name, "", [0.0, 1.0], ColourMap::Sequential, &[]));
    }
    sheet.compose()
}
