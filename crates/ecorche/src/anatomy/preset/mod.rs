//! Muscles and fat for a human body: about fifty pairs, placed by the body's own joints and skin.
//!
//! ```text
//! Character --humanoid::recognise--> joints --landmarks--> frames of trunk and limbs
//! frames + rays to the skin --arm, leg, trunk--> Draft (places as an anatomist gives them)
//! Draft + skin --draft::Room::fit--> MuscleDef (inside the skin, as wide as fits)
//! ```
//! Nothing here depends on the bind pose: fronts and sides are those of bent elbows, palms, toes and trunk.
//! Places are shares of bone lengths and of the way from bone to skin, after Gray. Anatomy of the Human Body. 1918.
//!
//! What it does not know: how strong or fat the person is meant to be. A muscle fills its share of the limb.

mod arm;
pub(super) mod coordinates;
pub(super) mod draft;
mod landmarks;
mod leg;
pub(super) mod probe;
mod review;
mod trunk;

use super::BindFrames;
use super::mirror::counterparts;
use crate::character::{Character, humanoid};
use crate::muscle::BuildError;
use crate::muscle::definition::{BodyDef, Side};
use crate::muscle::parametric::convert;
use crate::skinning::Surface;
use draft::{Draft, Room};
use landmarks::Landmarks;
use probe::Probe;
pub use review::Finding;

/// What was placed, and what was not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Preset {
    /// Muscles and fat, one entry per mirrored pair.
    pub body: BodyDef,
    /// What could not be placed.
    pub skipped: Vec<Skipped>,
    /// What is odd about the rest, and whether it was put right.
    pub findings: Vec<Finding>,
}

/// A muscle or fat pad that could not be placed, or a group of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Skipped {
    /// Its name.
    pub name: String,
    /// Why.
    pub reason: String,
}

impl Preset {
    fn skip(&mut self, name: &str, reason: &str) {
        self.skipped.push(Skipped { name: name.to_owned(), reason: reason.to_owned() });
    }
}

/// Places the preset in a character; nothing in one that is not recognised as a human or part of one.
pub fn place(character: &Character) -> Preset {
    let mut preset = Preset::default();
    let Some(probe) = Probe::new(character) else {
        preset.skip("all muscles", "the character has no skinned surface");
        return preset;
    };
    let frames = BindFrames::of(character);
    let Some((room, landmarks)) = room_of(character, &probe, &frames) else {
        preset.skip("all muscles", "no human arm or leg was recognised in the skeleton");
        return preset;
    };
    for draft in drafts(&landmarks, &probe, &mut preset) {
        match room.fit(&draft) {
            Ok(muscle) => preset.body.muscle.push(muscle),
            Err(reason) => preset.skip(draft.name, &reason),
        }
    }
    room.shrink_to_skin(character, &mut preset);
    preset.findings = review::review(&room, character, &mut preset);
    room.tune(character, &mut preset);
    place_fat(&landmarks, &room, &mut preset);
    preset
}

/// The side of a body that muscles are drafted for, and its landmarks.
fn room_of<'a>(
    character: &'a Character,
    probe: &'a Probe,
    frames: &'a BindFrames,
) -> Option<(Room<'a>, Landmarks)> {
    let (landmarks, side) = [(humanoid::Side::Left, Side::Left), (humanoid::Side::Right, Side::Right)]
        .into_iter()
        .find_map(|(of, side)| Some((Landmarks::find(character, probe, of)?, side)))?;
    let counterparts = counterparts(&character.skeleton);
    let limb = landmarks.arm.map(|arm| arm.upper).or(landmarks.leg.map(|leg| leg.thigh));
    let paired = limb.is_some_and(|bone| counterparts[bone.joint].is_some_and(|other| other != bone.joint));
    let thickness = limb.map_or(0.05, |bone| bone.radius);
    let room = Room {
        probe,
        skeleton: &character.skeleton,
        frames,
        // Skin and what is under it, a twentieth of an arm's thickness: 2 to 3 mm on an adult.
        margin: 0.05 * thickness,
        side,
        mirror: paired,
    };
    Some((room, landmarks))
}

/// As [`place`], with parametric muscles in place of muscles and fat.
pub fn place_parametric(character: &Character) -> Result<Preset, BuildError> {
    let Preset { body, skipped, findings } = place(character);
    let Some(surface) = Surface::new(character) else { return Ok(Preset { skipped, ..Preset::default() }) };
    let bind = BindFrames::of(character).bind_from_bone;
    let parametric = convert(&body, character, &surface, &bind)?;
    Ok(Preset { body: BodyDef { parametric, ..BodyDef::default() }, skipped, findings })
}

fn drafts(landmarks: &Landmarks, probe: &Probe, preset: &mut Preset) -> Vec<Draft> {
    let Landmarks { sign, trunk, arm, leg, neck } = landmarks;
    let mut drafts = Vec::new();
    match arm {
        Some(arm) => drafts.extend(arm::drafts(arm, probe)),
        None => preset.skip("muscles of the arm", "upper arm, forearm or wrist not recognised"),
    }
    match (trunk, arm) {
        (Some(trunk), Some(arm)) => drafts.extend(trunk::shoulder_drafts(trunk, arm, *sign, probe)),
        _ => preset
            .skip("muscles of shoulder, chest and back", "needs both upper arms, both thighs and a spine"),
    }
    if let Some(trunk) = trunk {
        drafts.extend(trunk::trunk_drafts(trunk, *sign, probe));
    }
    match (trunk, neck, arm) {
        (Some(trunk), Some(neck), Some(arm)) => {
            drafts.extend(trunk::neck_drafts(trunk, neck, arm.girdle, arm.upper.axis(0.0), *sign, probe));
        }
        _ => preset.skip("muscles of the neck", "needs head, trunk and upper arm"),
    }
    match leg {
        Some(leg) => {
            let pelvis = trunk.as_ref().map_or(leg.thigh.joint, |t| t.pelvis());
            drafts.extend(leg::drafts(leg, pelvis, probe));
        }
        None => preset.skip("muscles of the leg", "thigh, lower leg or foot not recognised"),
    }
    match (trunk, leg) {
        (Some(trunk), Some(leg)) => drafts.extend(leg::hip_drafts(leg, trunk, *sign, probe)),
        _ => preset.skip("muscles of the hip", "needs trunk and thigh"),
    }
    drafts
}

fn place_fat(landmarks: &Landmarks, room: &Room, preset: &mut Preset) {
    let Some(trunk) = &landmarks.trunk else { return };
    let (sign, b, probe) = (landmarks.sign, trunk.breadth, room.probe);
    let axes = [trunk.left, trunk.up, trunk.front];
    let pads = [
        (
            "belly",
            (trunk.bone(0.24), trunk.front(probe, sign, 0.0, 0.24, 0.14)),
            glam::Vec3::new(0.4, 0.3, 0.11),
            false,
        ),
        (
            "chest",
            (trunk.chest(), trunk.front(probe, sign, 0.48, 0.76, 0.18)),
            glam::Vec3::new(0.36, 0.34, 0.16),
            true,
        ),
        (
            "buttock",
            (trunk.pelvis(), trunk.back(probe, sign, 0.45, -0.06, 0.24)),
            glam::Vec3::new(0.22, 0.22, 0.16),
            true,
        ),
    ];
    for (name, spot, radii, paired) in pads {
        match room.fit_fat(name, spot, axes, radii * b, paired) {
            Ok(fat) => preset.body.fat.push(fat),
            Err(reason) => preset.skip(name, &reason),
        }
    }
}
