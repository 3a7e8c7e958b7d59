//! `ecorche info`: what is in a character file.

use super::write_json;
use crate::arguments::InfoArguments;
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::anatomy::AnatomyFile;
use ecorche::character::Character;
use ecorche::character::info::{Info, MeshInfo};
use ecorche::muscle::definition::BodyDef;
use ecorche::parts::{PartSettings, Parts, PartsReport};
use ecorche::recipe::{Recipe, read_character};
use ecorche::skinning::Surface;
use std::fmt::Write;

/// Prints the summary, or writes it as JSON.
pub fn run(arguments: &InfoArguments, console: &Console) -> Result<Outcome, Failure> {
    let recipe = Recipe { anatomy: arguments.anatomy.source(), ..Recipe::of(&arguments.file) };
    let character = read_character(&recipe.character)?;
    let anatomy = recipe.anatomy_file(&character)?;
    let info = Info::of(&character);
    let parts = if arguments.parts { Some(parts_of(&character, arguments)) } else { None };
    match &arguments.json {
        Some(path) => write_json(path, &WithParts { info: &info, parts: parts.flatten() }, console)?,
        None => {
            let mut text = describe(&info, arguments.joints)?;
            match parts {
                Some(Some(report)) => write!(text, "{report}")?,
                Some(None) => writeln!(text, "parts     none: no mesh is skinned")?,
                None => {}
            }
            if let Some(file) = &anatomy {
                describe_anatomy(&mut text, file, &file.anatomy().in_full(&character))?;
            }
            console.print(text)?;
        }
    }
    Ok(Outcome::Done)
}

/// The summary as JSON, with the parts where asked for.
#[derive(serde::Serialize)]
struct WithParts<'a> {
    #[serde(flatten)]
    info: &'a Info,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<PartsReport>,
}

/// `None` for a character without skin.
fn parts_of(character: &Character, arguments: &InfoArguments) -> Option<PartsReport> {
    let surface = Surface::new(character)?;
    let cache = source::user_cache(&arguments.cache);
    Some(Parts::build(&surface, character, &PartSettings::default(), cache.as_ref()).report)
}

fn describe(info: &Info, all_joints: bool) -> Result<String, std::fmt::Error> {
    let mut text = String::new();
    writeln!(text, "{}", info.name)?;
    writeln!(
        text,
        "  units   1 unit = {} m, {} up{}; rest pose measures {:.3} m across",
        info.metres_per_unit,
        info.up,
        if info.left_handed { ", left-handed" } else { "" },
        info.size
    )?;
    describe_meshes(&mut text, &info.meshes)?;
    describe_joints(&mut text, info, all_joints)?;
    describe_clips(&mut text, info)?;
    match info.repairs.len() {
        0 => writeln!(text, "repairs   none needed")?,
        n => writeln!(text, "repairs   {n}")?,
    }
    for repair in &info.repairs {
        writeln!(text, "  {repair}")?;
    }
    Ok(text)
}

fn describe_meshes(text: &mut String, meshes: &[MeshInfo]) -> std::fmt::Result {
    writeln!(text, "meshes    {}", meshes.len())?;
    for mesh in meshes {
        writeln!(
            text,
            "  {}: {} vertices ({} welded), {} faces ({} triangles), {} {}",
            mesh.name,
            mesh.vertices,
            mesh.welded_vertices,
            mesh.faces,
            mesh.triangles,
            mesh.components,
            plural("component", mesh.components),
        )?;
        if mesh.open_edges + mesh.non_manifold_edges > 0 {
            writeln!(
                text,
                "    {} open edges, {} non-manifold edges",
                mesh.open_edges, mesh.non_manifold_edges
            )?;
        }
        if mesh.joints > 0 {
            writeln!(
                text,
                "    skinned by {} joints, {} influences at most, {:.2} on average{}",
                mesh.joints,
                mesh.most_influences,
                mesh.mean_influences,
                if mesh.dual_quaternion { "; the file asks for dual quaternions" } else { "" },
            )?;
        } else {
            writeln!(text, "    moves with node \"{}\"", mesh.node)?;
        }
        if mesh.morphs > 0 {
            writeln!(text, "    {} morph {}", mesh.morphs, plural("target", mesh.morphs))?;
        }
        if !mesh.materials.is_empty() {
            writeln!(text, "    materials: {}", mesh.materials.join(", "))?;
        }
    }
    Ok(())
}

fn describe_joints(text: &mut String, info: &Info, all: bool) -> std::fmt::Result {
    let in_skin = info.joints.iter().filter(|j| j.in_skin).count();
    let recognised = info.joints.iter().filter(|j| j.humanoid.is_some()).count();
    writeln!(
        text,
        "joints    {} ({in_skin} in skins), {recognised} recognised as humanoid bones",
        info.joints.len()
    )?;
    for joint in info.joints.iter().filter(|j| all || j.humanoid.is_some()) {
        write!(text, "  {}", joint.name)?;
        if let Some(bone) = &joint.humanoid {
            write!(text, " = {bone}")?;
        }
        if let (true, Some(parent)) = (all, &joint.parent) {
            write!(text, " (child of {parent})")?;
        }
        writeln!(text)?;
    }
    Ok(())
}

fn describe_clips(text: &mut String, info: &Info) -> std::fmt::Result {
    writeln!(text, "clips     {}", info.clips.len())?;
    for clip in &info.clips {
        let rate = clip.fps.map_or_else(|| "no stated rate".to_owned(), |fps| format!("{fps} fps"));
        write!(text, "  {}: {:.3} s, {rate}, {} joints", clip.name, clip.length, clip.joints)?;
        if clip.morphs > 0 {
            write!(text, ", {} morphs", clip.morphs)?;
        }
        if clip.start != 0.0 {
            write!(text, ", starts at {:.3} s", clip.start)?;
        }
        writeln!(text)?;
    }
    Ok(())
}

fn describe_anatomy(text: &mut String, file: &AnatomyFile, body: &BodyDef) -> std::fmt::Result {
    let skin = &file.anatomy().skin;
    let fibres: usize = body.muscle.iter().map(|m| m.fibres).sum();
    writeln!(text, "anatomy   {} fits", file.name())?;
    writeln!(
        text,
        "  skin: {}, {} tracking, {} joints of their own",
        skin.operator,
        skin.tracking,
        skin.joint.len()
    )?;
    writeln!(
        text,
        "  {} muscles ({fibres} fibres), {} fat pads, both sides counted",
        body.muscle.len(),
        body.fat.len()
    )?;
    writeln!(text, "  {} bones, {} keyed parameters", body.bone.len(), body.keys.len())
}

fn plural(word: &str, count: usize) -> String {
    if count == 1 { word.to_owned() } else { format!("{word}s") }
}
