//! The first anatomy file of a character, with comments.

use super::preset::Preset;
use super::write;
use super::{SkinDef, VERSION};
use crate::character::{Character, Skeleton};
use crate::field::operator::{self, Controller};
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

fn skin(text: &mut String) -> std::fmt::Result {
    let skin = SkinDef::default();
    let lines = [
        (format!("operator = \"{}\"", skin.operator), "how the parts of the skin meet at every joint:"),
        (String::new(), &operator::NAMES.join(", ")),
        (
            format!("# controller = \"{}\"", Controller::NAMES[3]),
            "when it opens, by the angle between the parts:",
        ),
        (String::new(), &format!("{}, or", Controller::NAMES.join(", "))),
        (String::new(), "{ points = [[angle, opening], three times], opening = \"amount\" }"),
        (
            format!("samples = [{}, {}]", skin.samples[0], skin.samples[1]),
            "fewest and most points a part's field is fitted to",
        ),
        (format!("grid = {}", skin.grid), "cells along the longest side of a part's table"),
        (format!("tracking = \"{}\"", skin.tracking), "how vertices find their place: robust, 2012 or 2014"),
        (
            format!("closure = {:?}", skin.closure),
            "caps at the joints, in distances of the joint to the skin",
        ),
        (format!("gap = {:?}", skin.gap), "left between parts that touch, in radii of the limb"),
        (
            format!("leash = {:?}", skin.max_offset),
            "how far free skin may leave its skinned place, in inner radii",
        ),
        (
            format!("joining = \"{}\"", skin.blend),
            "how muscles join the skin's fields: fillet, or detail as in the thesis",
        ),
    ];
    writeln!(text, "[skin]")?;
    for (setting, comment) in &lines {
        writeln!(text, "{setting:<26}# {comment}")?;
    }
    writeln!(text, "\n# A joint that differs:")?;
    writeln!(text, "# [skin.joint.\"LeftForeArm\"]\n# operator = \"bulge\"\n# controller = \"finger\"\n")
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
    writeln!(
        text,
        "# Also: eccentricity, profile, activation, gain, tone, strength, tendon, stiffness, damping, friction,"
    )?;
    writeln!(text, "# collide, parts, broad, particles.\n")?;
    if body.muscle.is_empty() {
        writeln!(text, "# An example; take the # away and name your own bones:")?;
        for line in write::muscle(&example(&character.skeleton)).lines() {
            writeln!(text, "# {line}")?;
        }
        writeln!(text)?;
    }
    for muscle in &body.muscle {
        writeln!(text, "{}", write::muscle(muscle))?;
    }
    writeln!(text, "# Fat pads: ellipsoids that hang on a bone and jiggle.\n")?;
    for fat in &body.fat {
        writeln!(text, "{}", write::fat(fat))?;
    }
    writeln!(text, "# A parameter over a clip: activation, gain, eccentricity or stiffness.")?;
    writeln!(text, "# [[keys]]\n# clip = \"run\"\n# muscle = \"NAME\"\n# side = \"left\"")?;
    writeln!(text, "# parameter = \"activation\"\n# values = [[0.0, 0.2], [0.5, 1.0]]   # seconds, value")?;
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
