//! `ecorche crowd`: many characters at once, timed, as caches and as a picture.

use super::card::Card;
use super::{clamped_muscles, write_json, write_png};
use crate::arguments::CrowdArguments;
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::bake;
use ecorche::character::Character;
use ecorche::crowd::{CrowdReport, Scene, Writer, picture, rest_mesh};
use ecorche::frame::{Frame, FrameMesh};
use ecorche::output::{Format, names, obj};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Plays the scene, tells how long frames took, and writes what was asked for.
pub fn run(arguments: &CrowdArguments, console: &Console) -> Result<Outcome, Failure> {
    if arguments.merged && arguments.output.is_none() {
        return Err("--merged: there is no cache to merge; give one with -o".into());
    }
    let cache = source::user_cache(&arguments.cache);
    let mut scene = Scene::read(&arguments.scene, cache.as_ref())?;
    for (ingredients, body) in scene.ingredients.iter().zip(scene.crowd.bodies()) {
        source::tell(ingredients, console);
        super::describe(body, console);
    }
    let outputs: Vec<PathBuf> =
        [&arguments.output, &arguments.picture, &arguments.json].into_iter().flatten().cloned().collect();
    source::protect_inputs(&scene.inputs, &outputs)?;
    let characters: Vec<Arc<Character>> =
        scene.crowd.bodies().iter().map(|b| b.character().clone()).collect();
    let rest = if arguments.merged { rest_mesh(&scene.crowd) } else { None };
    let mut writer = match (&arguments.output, &rest) {
        (Some(path), Some(rest)) => Some(Writer::merged(rest, path, scene.fps, &scene.frames)?),
        (Some(path), None) => Some(Writer::each(&scene.crowd, &characters, path, scene.fps, &scene.frames)?),
        (None, _) => None,
    };
    let drawn = arguments.frame.unwrap_or(*scene.frames.end());
    if arguments.picture.is_some() && !scene.frames.contains(&drawn) {
        let (first, last) = (scene.frames.start(), scene.frames.end());
        return Err(format!("--frame {drawn}: the scene has frames {first} to {last}").into());
    }
    let mut card = if arguments.gpu { Card::of(&scene.crowd, console) } else { None };
    // The first frame makes room; it is made twice, so that it is timed like the others.
    let first = *scene.frames.start();
    deform(&mut scene, first, &mut card, console);
    let bar = console.progress("crowd", scene.frames.clone().count());
    let (mut times, mut last, mut clamped) = (Vec::new(), CrowdReport::default(), 0);
    let mut shown = None;
    for frame in scene.frames.clone() {
        let (time, start) = (scene.time(frame), Instant::now());
        last = deform(&mut scene, frame, &mut card, console);
        clamped = clamped.max(last.clamped);
        times.push(start.elapsed().as_secs_f64() * 1e3);
        if let Some(writer) = &mut writer {
            writer.write(&scene.crowd, time)?;
        }
        if arguments.picture.is_some() && frame == drawn {
            let (width, height) = arguments.size.unwrap_or((1600, 900));
            let drawn =
                card.as_ref().and_then(|card| card.picture(&scene.crowd, arguments.view, width, height));
            shown = Some(match drawn {
                Some(drawn) => drawn,
                None => {
                    // On a card the crowd's own frames are not there.
                    if card.is_some() {
                        scene.crowd.frame(time, scene.eye);
                    }
                    picture(&scene.crowd, arguments.view, width, height)
                }
            });
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    if let Some(writer) = writer {
        let paths = writer.finish()?;
        for path in paths.iter().take(if paths.len() > 16 { 1 } else { 16 }) {
            console.print_path(path)?;
        }
    }
    if let (Some(rest), Some(path)) = (&rest, arguments.output.as_ref().filter(|path| needs_mesh(path))) {
        console.print_path(&write_rest(rest, path)?)?;
    } else if let Some(path) = arguments.output.as_ref().filter(|path| needs_mesh(path)) {
        let names: Vec<&str> = characters.iter().map(|character| character.name.as_str()).collect();
        for (character, name) in characters.iter().zip(names::file_names(&names)) {
            let rest = bake::rest(character)?;
            let path = path.with_file_name(format!("{name}.rest.obj"));
            console.print_path(&obj::write(&path, character, &rest)?)?;
        }
    }
    if let (Some(path), Some(shown)) = (&arguments.picture, &shown) {
        write_png(path, shown, console)?;
    }
    let mut sorted = times.clone();
    sorted.sort_by(f64::total_cmp);
    let (median, worst) = (sorted[sorted.len() / 2], sorted[sorted.len() - 1]);
    let meshes = scene.crowd.instances().iter().flat_map(|i| &characters[i.body].meshes);
    let vertices: usize = meshes.map(|mesh| mesh.positions.len()).sum();
    let [full, skinned, still] = last.levels;
    if arguments.json.as_deref() != Some(Path::new("-")) {
        console.print(format_args!(
            "{} instances of {} characters, {vertices} vertices, {} parametric muscles\n\
             last frame: {full} in full, {skinned} skinned, {still} left as they were\n\
             {} frames: median {median:.2} ms ({:.1} a second), worst {worst:.2} ms\n",
            scene.crowd.instances().len(),
            characters.len(),
            last.muscles,
            times.len(),
            1e3 / median,
        ))?;
    }
    if clamped > 0 {
        console.warn(&clamped_muscles(clamped));
    }
    if let Some(path) = &arguments.json {
        let value = json!({
            "instances": scene.crowd.instances().len(),
            "vertices": vertices,
            "fps": scene.fps,
            "milliseconds": times,
            "median": median,
            "last": last,
            "card": card.as_ref().map(Card::name),
        });
        write_json(path, &value, console)?;
    }
    Ok(Outcome::Done)
}

/// Deforms the crowd for a frame: on the card while it works, else on the processor.
fn deform(scene: &mut Scene, frame: usize, card: &mut Option<Card>, console: &Console) -> CrowdReport {
    let (time, eye) = (scene.time(frame), scene.eye);
    if let Some(running) = card {
        match running.frame(&mut scene.crowd, time, eye) {
            Ok(report) => return report,
            Err(reason) => {
                console.warn(&format!("--gpu: {reason}; going on on the processor"));
                *card = None;
            }
        }
    }
    scene.crowd.frame(time, eye)
}

/// Whether a cache holds points only.
fn needs_mesh(path: &Path) -> bool {
    matches!(Format::of(path), Ok(Format::Pc2 | Format::Mdd))
}

/// The mesh that a merged cache is put on.
fn write_rest(rest: &Character, path: &Path) -> Result<PathBuf, Failure> {
    let mesh = &rest.meshes[0];
    let posed =
        FrameMesh { positions: mesh.positions.clone(), normals: mesh.shading.normals(&mesh.positions) };
    let frame = Frame { meshes: vec![posed], ..Frame::default() };
    Ok(obj::write(&path.with_extension("rest.obj"), rest, &frame)?)
}
