//! Where a character comes from: a file or a sample made by code, with motion and weights added.

use crate::Failure;
use crate::arguments::{
    AnatomyArguments, CacheArguments, ImplicitArguments, Rig, SamplingArguments, Weights,
};
use crate::console::Console;
use ecorche::anatomy::{AnatomyFile, SkinDef};
use ecorche::cache::Cache;
use ecorche::character::motion::{self, RANGE, Transfer};
use ecorche::character::{Character, Clip, read};
use ecorche::muscle::definition::BodyDef;
use ecorche::samples;
use ecorche::sampling::{Plan, Sampling};
use ecorche::skinning::heat_weights::{self, HeatSettings};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Loads `source`, a path or `sample:NAME`.
pub fn load(source: &str) -> Result<Character, Failure> {
    match source.strip_prefix("sample:") {
        Some(spec) => Ok(samples::build(spec)?),
        None => Ok(read(Path::new(source))?),
    }
}

/// Loads a character that has a mesh, warns of repairs, joins its motion and makes weights as asked.
pub fn load_rigged(rig: &Rig, console: &Console) -> Result<Arc<Character>, Failure> {
    let mut character = load(&rig.file)?;
    console.warn_of_repairs(&rig.file, &character.repairs);
    if rig.motion.as_deref() == Some(RANGE) {
        let clip = motion::range_of_motion(&character).ok_or_else(|| {
            format!("{}: has no joint below another that a skin uses: there is nothing to move", rig.file)
        })?;
        character.clips = vec![clip];
    } else if let Some(file) = &rig.motion {
        let moving = load(file)?;
        console.warn_of_repairs(file, &moving.repairs);
        let report = motion::join(&mut character, &moving)?;
        character.clips.retain(|clip| report.clips.contains(&clip.name));
        console.note(&format!(
            "{file}: {} joints matched, {}",
            report.matches.len(),
            transfer_in_words(report.transfer)
        ));
        if !report.unmatched_joints.is_empty() {
            console.detail(&format!("  not moved on their own: {}", report.unmatched_joints.join(", ")));
        }
        if !report.unmatched_motion.is_empty() {
            console.detail(&format!("  moves nothing here: {}", report.unmatched_motion.join(", ")));
        }
    }
    let weightless = match rig.weights {
        Some(Weights::File) => Vec::new(),
        Some(Weights::Heat) => (0..character.meshes.len()).collect(),
        None => heat_weights::weightless_meshes(&character),
    };
    if !weightless.is_empty() {
        let repairs = heat_weights::give_weights(&mut character, &weightless, &HeatSettings::default())?;
        console.note(&format!("{}: weights by heat diffusion for {} meshes", rig.file, weightless.len()));
        console.warn_of_repairs(&rig.file, &repairs);
    }
    need_mesh(&character, &rig.file)?;
    Ok(Arc::new(character))
}

/// The clips asked for; the first when none is; the rest pose for a character without any.
pub fn choose_clips<'a>(
    character: &'a Character,
    sampling: &SamplingArguments,
    file: &str,
    console: &Console,
) -> Result<Vec<Option<&'a Clip>>, Failure> {
    let clips = &character.clips;
    match sampling.clip.as_deref() {
        Some("all") if !clips.is_empty() => Ok(clips.iter().map(Some).collect()),
        None | Some("all") if clips.is_empty() => {
            console.warn(&format!("{file}: has no clip; its rest pose is taken"));
            Ok(vec![None])
        }
        None => {
            if clips.len() > 1 {
                console.note(&format!(
                    "clip \"{}\", the first of {}; choose with --clip",
                    clips[0].name,
                    clips.len()
                ));
            }
            Ok(vec![clips.first()])
        }
        Some(name) => Ok(vec![Some(find_clip(character, name, file)?)]),
    }
}

/// The frames to be drawn of one clip: a single one, a range, or all; the rest pose if nothing is asked for.
pub fn plan_of_one<'a>(
    character: &'a Character,
    sampling: &SamplingArguments,
    frame: Option<usize>,
    file: &str,
    console: &Console,
) -> Result<Plan<'a>, Failure> {
    let still = sampling.clip.is_none() && frame.is_none() && sampling.frames.is_none();
    let clips = if still { vec![None] } else { choose_clips(character, sampling, file, console)? };
    let [clip] = clips.as_slice() else {
        return Err("--clip all is for bake and measure; draw one clip at a time".into());
    };
    let frames = frame.map(|n| n..=n).or_else(|| sampling.frames.clone());
    Ok(Plan::new(*clip, &Sampling { fps: sampling.fps, frames })?)
}

/// The clip called `name`, or an error that lists the others.
fn find_clip<'a>(character: &'a Character, name: &str, file: &str) -> Result<&'a Clip, Failure> {
    character.clip(name).ok_or_else(|| {
        let names: Vec<&str> = character.clips.iter().map(|c| c.name.as_str()).collect();
        let known =
            if names.is_empty() { "it has none".to_owned() } else { format!("it has {}", names.join(", ")) };
        Failure::from(format!("{file}: no clip called \"{name}\"; {known}"))
    })
}

/// Refuses a character without a mesh.
fn need_mesh(character: &Character, file: &str) -> Result<(), Failure> {
    if character.meshes.iter().all(|m| m.positions.is_empty()) {
        let problem = "holds no mesh, only joints and clips; use it as --motion of a character that has one";
        return Err(format!("{file}: {problem}").into());
    }
    Ok(())
}

/// The anatomy file asked for, read and found to fit the character.
pub fn load_anatomy(
    arguments: &AnatomyArguments,
    character: &Character,
) -> Result<Option<AnatomyFile>, Failure> {
    let Some(path) = &arguments.anatomy else { return Ok(None) };
    let file = AnatomyFile::read(path)?;
    file.check(&character.skeleton)?;
    Ok(Some(file))
}

/// How a character's skin is composed and what lies under it.
#[derive(Default)]
pub struct Under {
    /// The skin.
    pub skin: SkinDef,
    /// Muscles and fat, mirror images written out.
    pub body: BodyDef,
    /// Where the files of bones are relative to.
    pub folder: PathBuf,
}

impl Under {
    /// Whether there is anything that moves under the skin.
    pub fn has_muscles(&self) -> bool {
        !(self.body.muscle.is_empty() && self.body.fat.is_empty())
    }
}

/// The anatomy file asked for, else what a sample has of its own; nothing else has muscles without a file.
pub fn under_the_skin(
    arguments: &ImplicitArguments,
    character: &Character,
    source: &str,
) -> Result<Under, Failure> {
    let (anatomy, folder) = match load_anatomy(&arguments.anatomy, character)? {
        Some(file) => {
            let folder =
                arguments.anatomy.anatomy.as_deref().and_then(Path::parent).unwrap_or(Path::new("."));
            (file.anatomy().clone(), folder.to_owned())
        }
        None => {
            let own = source.strip_prefix("sample:").and_then(|spec| samples::anatomy(spec, character));
            (own.unwrap_or_default(), PathBuf::from("."))
        }
    };
    let body = if arguments.no_muscles { BodyDef::default() } else { anatomy.in_full(character) };
    Ok(Under { skin: anatomy.skin, body, folder })
}

/// The user's disk cache, unless switched off.
pub fn user_cache(arguments: &CacheArguments) -> Option<Cache> {
    if arguments.no_cache { None } else { Cache::of_user(arguments.cache_limit << 20) }
}

fn transfer_in_words(transfer: Transfer) -> &'static str {
    match transfer {
        Transfer::AdoptedSkeleton => "its skeleton adopted",
        Transfer::RestDifferences => "rotations carried over relative to the rest poses",
        _ => "same skeleton",
    }
}
