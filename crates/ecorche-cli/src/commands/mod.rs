//! One file per command.

pub mod bake;
pub mod bench;
mod card;
pub mod completions;
pub mod crowd;
pub mod demo;
pub mod field;
pub mod hero;
pub mod info;
pub mod init;
pub mod job;
pub mod join;
pub mod man;
pub mod measure;
pub mod operator;
pub mod profile;
pub mod reference;
pub mod render;
pub mod samples;
pub mod states;
pub mod studio;
pub mod tissue;
pub mod transfer;
pub mod wrinkles;

use crate::Failure;
use crate::console::Console;
use ecorche::cache::Cache;
use ecorche::deform::{Body, Settings, Stack, Under};
use ecorche::muscle::definition::BodyDef;
use ecorche::output::{Picture, file};
use ecorche::recipe::Ingredients;
use ecorche::surface::wrinkles::WrinkleSummary;
use std::path::Path;

/// Binds a character and describes it, see [`describe`].
pub fn bind(
    ingredients: &Ingredients,
    settings: Settings,
    cache: Option<&Cache>,
    console: &Console,
) -> Result<Body, Failure> {
    let body = ingredients.bind(settings, cache)?;
    describe(&body, console);
    Ok(body)
}

/// With --verbose, describes the parts of a body's skin and what lies under it; warns of muscles that move nothing.
pub fn describe(body: &Body, console: &Console) {
    if let Some(parts) = body.parts() {
        console.detail(parts.report.to_string().trim_end());
    }
    if let Some(musculature) = body.musculature() {
        let BodyDef { muscle, fat, .. } = musculature.definition();
        console.detail(&format!("{} muscles and {} fat pads under the skin", muscle.len(), fat.len()));
    }
    if let Some(wrinkles) = body.wrinkles() {
        describe_wrinkles(&wrinkles, console);
    }
    if let Some(parametric) = body.parametric() {
        console.detail(&format!("{} parametric muscles", parametric.len()));
        let idle = parametric.idle();
        let named: Vec<&str> = idle.iter().take(8).map(|&k| parametric.title(k)).collect();
        if !idle.is_empty() {
            let more = match idle.len() - named.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            console.warn(&format!(
                "no skin lies over {}{more}; turn bulge towards the skin, choose another template, or remove them",
                named.join("; ")
            ));
        }
    } else if body.stack().under == Under::Parametric {
        console.warn(
            "the anatomy has no muscles, so nothing is displaced; `ecorche init --parametric` places some",
        );
    }
}

/// What to tell about parametric muscles that were clamped, the most in one frame.
pub fn clamped_muscles(count: usize) -> String {
    format!(
        "up to {count} parametric muscles in a frame: shorter than 30 % or longer than 300 % of their length at bind, or too thin \
         for their tendons; clamped; move their ends farther from the joint that they pass"
    )
}

/// Binds a character once for each method.
pub fn bind_each(
    ingredients: &Ingredients,
    methods: &[Stack],
    cache: Option<&Cache>,
    console: &Console,
) -> Result<Vec<Body>, Failure> {
    let bound =
        |method: &Stack| bind(ingredients, ingredients.settings(Some(method.clone())), cache, console);
    methods.iter().map(bound).collect()
}

/// Makes a folder for results, if it is missing.
pub fn make_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| {
        format!("{}: cannot make this folder: {error}; choose another with -o", folder.display()).into()
    })
}

/// Writes a picture as PNG and prints its path.
pub fn write_png(path: &Path, picture: &Picture, console: &Console) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    picture.encode_png(&mut bytes)?;
    console.print_path(&file::write(path, &bytes)?)
}

/// Writes `value` as JSON to `path` and prints the path, or prints the JSON for `-`.
pub fn write_json(path: &Path, value: &impl serde::Serialize, console: &Console) -> Result<(), Failure> {
    let mut text = serde_json::to_string_pretty(value)?;
    text.push('\n');
    if path.as_os_str() == "-" {
        return console.print(text);
    }
    console.print_path(&file::write(path, text.as_bytes())?)
}

fn describe_wrinkles(wrinkles: &WrinkleSummary, console: &Console) {
    let (drawn, coarse): (Vec<_>, Vec<_>) = wrinkles.joints.iter().partition(|joint| joint.subdivisions == 0);
    if wrinkles.joints.is_empty() {
        console.note("no wrinkles: no joint bends the skin");
        return;
    }
    console.note(&format!(
        "wrinkles at {} joints, {} vertices; {} sets of stripes, {:.0} % of their area within 15 % of the wavelength",
        drawn.len(),
        wrinkles.vertices,
        wrinkles.patterns,
        100.0 * wrinkles.spacing_kept
    ));
    for joint in &drawn {
        let (wavelength, edge) = (1e3 * joint.wavelength, 1e3 * joint.edge);
        console.detail(&format!("{}: wavelength {wavelength:.1} mm, edges {edge:.2} mm", joint.name));
    }
    if let Some(finest) = coarse.iter().max_by_key(|joint| joint.subdivisions) {
        let named: Vec<&str> = coarse.iter().take(6).map(|joint| joint.name.as_str()).collect();
        let more = if coarse.len() > 6 { ", ..." } else { "" };
        console.note(&format!(
            "the mesh is too coarse for wrinkles at {} joints ({}{more}); --subdivide {} for all",
            coarse.len(),
            named.join(", "),
            finest.subdivisions
        ));
    }
}
