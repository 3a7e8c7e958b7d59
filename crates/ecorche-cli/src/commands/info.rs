//! `ecorche info`: what is in a character file.

use super::write_json;
use crate::arguments::InfoArguments;
use crate::console::Console;
use crate::{Failure, Outcome, source};
use ecorche::anatomy::AnatomyFile;
use ecorche::character::Character;
use ecorche::character::info::{Info, MeshInfo};
use ecorche::deform::{Tracking, check_rest};
use ecorche::muscle::definition::BodyDef;
use ecorche::parts::{PartSettings, Parts, PartsReport};
use ecorche::pieces::{Piece, PieceSettings};
use ecorche::recipe::{Recipe, read_character};
use ecorche::skinning::Surface;
use std::fmt::Write;
use std::path::PathBuf;

/// Prints the summary, or writes it as JSON.
pub fn run(arguments: &InfoArguments, console: &Console) -> Result<Outcome, Failure> {
    let recipe = Recipe { anatomy: arguments.anatomy.source(), ..Recipe::of(&arguments.file) };
    let character = read_character(&recipe.character)?;
    let anatomy = recipe.anatomy_file(&character)?;
    if let Some(file) = &anatomy {
        file.check_on(&character, &recipe.anatomy_folder())?;
    }
    let outputs: Vec<PathBuf> = arguments.json.iter().cloned().collect();
    source::protect_inputs(&recipe.inputs(anatomy.as_ref().map(AnatomyFile::anatomy)), &outputs)?;
    let info = Info::of(&character);
    let parts = arguments.parts.then(|| parts_of(&character, anatomy.as_ref(), arguments)).transpose()?;
    match &arguments.json {
        Some(path) => write_json(path, &WithParts::new(&info, parts.flatten().as_ref()), console)?,
        None => {
            let mut text = describe(&info, arguments.joints)?;
            match parts {
                Some(Some(parts)) => write!(text, "{}{}", parts.pieces, parts.report)?,
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
    pieces: Option<&'a [Piece]>,
    /// Pairs of pieces, by number.
    #[serde(skip_serializing_if = "Option::is_none")]
    joined_pieces: Option<&'a [[u32; 2]]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<&'a PartsReport>,
}

impl<'a> WithParts<'a> {
    fn new(info: &'a Info, parts: Option<&'a Parts>) -> Self {
        let pieces = parts.map(|p| &*p.pieces);
        Self {
            info,
            pieces: pieces.map(|p| p.pieces.as_slice()),
            joined_pieces: pieces.map(|p| p.joined.as_slice()),
            parts: parts.map(|p| &p.report),
        }
    }
}

/// `None` for a character without skin.
fn parts_of(
    character: &Character,
    anatomy: Option<&AnatomyFile>,
    arguments: &InfoArguments,
) -> Result<Option<Parts>, Failure> {
    let Some(surface) = Surface::new(character) else { return Ok(None) };
    check_rest(&surface)?;
    let cache = source::user_cache(&arguments.cache);
    let mut settings = PartSettings::default();
    if let Some(anatomy) = anatomy.map(AnatomyFile::anatomy) {
        settings.pieces = PieceSettings { layers: anatomy.skin.layers, given: anatomy.piece.clone() };
    }
    Ok(Some(Parts::build(&surface, character, &settings, cache.as_ref())))
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
        "  skin: {}, {} tracking, {} joints with their own settings",
        skin.operator.as_deref().unwrap_or(Tracking::from(skin.tracking).operator()),
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
