//! The first anatomy file of a character, with comments.

use super::keys::{self, Kind, Need};
use super::preset::Preset;
use super::{VERSION, write};
use crate::character::{Character, Skeleton};
use crate::muscle::definition::{Attachment, Footprint, MuscleDef, Side};
use glam::Vec3;
use std::fmt::Write;

/// The text of an anatomy file for `character` with the muscles and fat of `preset`. Without any it holds an
/// example that is commented out.
pub fn write(character: &Character, preset: &Preset) -> String {
    let mut text = String::new();
    // Writing to a String does not fail.
    let _ = header(&mut text, character);
    let _ = skin(&mut text);
    let _ = body(&mut text, character, preset);
    text
}

fn header(text: &mut String, character: &Character) -> std::fmt::Result {
    writeln!(
        text,
        "# Anatomy of {}: how its skin is composed and what lies under it.",
        one_line(&character.name)
    )?;
    writeln!(
        text,
        "# Lengths are metres, angles radians, times seconds. A place on a bone is given along the axes of"
    )?;
    writeln!(text, "# the joint the bone starts at. Whatever is left out has a good default.")?;
    writeln!(text, "version = {VERSION}\n")
}

/// Column of the comments.
const COLUMN: usize = 26;
/// Most characters of a comment's line.
const COMMENT: usize = 90;

fn skin(text: &mut String) -> std::fmt::Result {
    writeln!(text, "[skin]")?;
    for key in keys::SKIN.keys {
        let setting = match (keys::SKIN.default_of(key), key.kind) {
            (_, Kind::ByName(_)) => continue,
            (Some(value), kind) => format!("{} = {}", key.name, kind.write(&value, false)),
            (None, kind) => format!("# {} = \"{}\"", key.name, example_of(&kind)),
        };
        let mut about = key.about.to_owned();
        if let Some(choices) = choices(&key.kind) {
            about.push_str(&format!(" One of {}.", choices.join(", ")));
        }
        for (k, line) in wrapped(&about, COMMENT).iter().enumerate() {
            let setting = if k == 0 { &setting[..] } else { "" };
            writeln!(text, "{setting:<COLUMN$}# {line}")?;
        }
    }
    writeln!(text, "\n# A joint that differs:")?;
    writeln!(text, "# [skin.joint.\"LeftForeArm\"]\n# operator = \"bulge\"\n# controller = \"finger\"\n")
}

/// A value for a setting that is commented out: contact, which is the default.
fn example_of(kind: &Kind) -> &'static str {
    let known = choices(kind).unwrap_or_default();
    known.iter().find(|choice| **choice == "contact").or(known.first()).copied().unwrap_or_default()
}

/// The words that a value may be.
fn choices(kind: &Kind) -> Option<&'static [&'static str]> {
    match kind {
        Kind::Choice(choices) => Some(choices),
        Kind::Either(kinds) => kinds.iter().find_map(choices),
        _ => None,
    }
}

/// The words of a text in lines of at most `width` characters, longer words alone.
fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut().filter(|line| line.chars().count() + 1 + word.chars().count() <= width) {
            Some(line) => {
                line.push(' ');
                line.push_str(word);
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines
}

fn body(text: &mut String, character: &Character, preset: &Preset) -> std::fmt::Result {
    let body = &preset.body;
    writeln!(
        text,
        "# Muscles. origin and insertion are points on bones, or lists of points for a fan of fibres; via are"
    )?;
    writeln!(
        text,
        "# points passed on the way. width is the mean radius. mirror = true: the other side is the mirror image."
    )?;
    let further = keys::MUSCLE.keys.iter().filter(|key| !matches!(key.need, Need::Required(_)));
    let further: Vec<&str> = further.map(|key| key.name).collect();
    for line in wrapped(&format!("Also: {}.", further.join(", ")), 100) {
        writeln!(text, "# {line}")?;
    }
    writeln!(text)?;
    if body.muscle.is_empty() && body.parametric.is_empty() {
        writeln!(text, "# An example; take the # away and name your own bones:")?;
        for line in write::muscle(&example(&character.skeleton)).lines() {
            writeln!(text, "# {line}")?;
        }
        writeln!(text)?;
    }
    for muscle in &body.muscle {
        writeln!(text, "{}", write::muscle(muscle))?;
    }
    if !body.parametric.is_empty() {
        writeln!(
            text,
            "# Muscles of a few curves along a line, for the method parametric. thickness and sweep are numbers"
        )?;
        writeln!(text, "# from the origin to the insertion; the volume that follows from them is kept.\n")?;
    }
    for muscle in &body.parametric {
        writeln!(text, "{}", write::parametric(muscle))?;
    }
    writeln!(text, "# Fat pads: ellipsoids that hang on a bone and jiggle.\n")?;
    for fat in &body.fat {
        writeln!(text, "{}", write::fat(fat))?;
    }
    writeln!(
        text,
        "# What is solid in a bone, which muscles run around. Without an entry it is a capsule to each child."
    )?;
    writeln!(
        text,
        "# [[bone]]\n# bone = \"{}\"",
        character.skeleton.joints.first().map_or("NAME", |j| &j.name).escape_default()
    )?;
    writeln!(
        text,
        "# mesh = \"bones/NAME.obj\"          # a closed surface: OBJ, PLY or VTP, relative to this file"
    )?;
    writeln!(text, "# mesh_scale = 0.01               # to metres")?;
    writeln!(text, "# mesh_in_bind_space = true       # or along the axes of the joint")?;
    writeln!(text, "# Or another capsule: radius = 0.01, ends = [[0.0, 0.0, 0.0], [0.0, 0.2, 0.0]]\n")?;
    writeln!(text, "# A parameter over a clip: activation, gain, eccentricity or stiffness.")?;
    writeln!(text, "# [[keys]]\n# clip = \"run\"\n# muscle = \"NAME\"\n# side = \"left\"")?;
    writeln!(text, "# parameter = \"activation\"\n# values = [[0.0, 0.2], [0.5, 1.0]]   # seconds, value")?;
    for keys in &body.keys {
        writeln!(text, "\n{}", write::keys(keys))?;
    }
    for skipped in &preset.skipped {
        writeln!(text, "# Not placed: {}: {}", skipped.name, one_line(&skipped.reason))?;
    }
    Ok(())
}

/// A muscle across a joint of this skeleton, if it has two.
fn example(skeleton: &Skeleton) -> MuscleDef {
    let pair = (0..skeleton.len()).rev().find_map(|j| {
        let parent = skeleton.joints[j].parent?;
        (skeleton.joints[j].in_skin && skeleton.joints[parent].in_skin).then_some((parent, j))
    });
    let name = |joint: usize| skeleton.joints[joint].name.clone();
    let [upper, lower] = pair.map_or(["UPPER".to_owned(), "LOWER".to_owned()], |(a, b)| [name(a), name(b)]);
    let at = |bone: String, y: f32| Footprint::from(Attachment { bone, at: Vec3::new(0.0, y, 0.02) });
    MuscleDef::new("example", Side::Middle, at(upper, 0.02), at(lower, 0.04), 0.01)
}

/// Without line breaks, which would end a comment.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
