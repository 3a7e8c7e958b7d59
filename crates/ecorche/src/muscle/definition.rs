//! Definitions of muscles, fat and bones as a person writes them: plain values, in the coordinates of bones.
//!
//! The anatomy file holds these as they are; [`super::Musculature`] is built from them. A bone is known by the
//! name of the joint it starts at, and its coordinates are that joint's: metres, whatever the joint's scale.
//! Everything but names, places and sizes has a default.

use super::parametric::ParametricDef;
use glam::Vec3;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::path::PathBuf;

/// Everything under the skin of one character.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BodyDef {
    /// Muscles, fusiform and convergent.
    pub muscle: Vec<MuscleDef>,
    /// Muscles of a few curves, for crowds.
    pub parametric: Vec<ParametricDef>,
    /// Fat pads.
    pub fat: Vec<FatDef>,
    /// Bones that differ from the default, a thin capsule from joint to child.
    pub bone: Vec<BoneDef>,
    /// Parameters that change over clips.
    pub keys: Vec<KeysDef>,
}

impl BodyDef {
    /// Whether there is anything under the skin that moves by itself: muscles or fat. Parametric ones do not.
    pub fn has_flesh(&self) -> bool {
        !(self.muscle.is_empty() && self.fat.is_empty())
    }
}

/// Which half of the body something belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// The character's left (+X).
    Left,
    /// The character's right (-X).
    Right,
    /// Neither, or across the middle.
    #[default]
    Middle,
}

impl Side {
    /// Left for right and right for left.
    pub fn opposite(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
            Self::Middle => Self::Middle,
        }
    }

    /// As written in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
            Self::Middle => "middle",
        }
    }
}

/// A point fixed to a bone.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Attachment {
    /// Name of the joint the bone starts at.
    pub bone: String,
    /// Where, in the joint's coordinates, metres.
    pub at: Vec3,
}

/// Where a muscle starts or ends: a point, or a curve through several points (the fan of a pectoral).
///
/// In files a single table or a list of tables. A curve's points may be on different bones.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Footprint(pub Vec<Attachment>);

impl From<Attachment> for Footprint {
    fn from(point: Attachment) -> Self {
        Self(vec![point])
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany {
    One(Attachment),
    Many(Vec<Attachment>),
}

impl<'de> Deserialize<'de> for Footprint {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let found = OneOrMany::deserialize(deserializer).map_err(|_| {
            serde::de::Error::custom(
                "expected { bone = \"NAME\", at = [x, y, z] } in metres, or a list of such points",
            )
        })?;
        Ok(match found {
            OneOrMany::One(point) => Self(vec![point]),
            OneOrMany::Many(points) => Self(points),
        })
    }
}

impl Serialize for Footprint {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.0[..] {
            [point] => point.serialize(serializer),
            points => points.serialize(serializer),
        }
    }
}

/// How thickness is spread along a muscle. Any profile is scaled so that its square has integral 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ProfileDef {
    /// `[a, b]`, whole numbers from 2 to 9: `s^(a-1) (1-s)^(b-1)`. Equal numbers put the belly in the middle,
    /// a smaller first one towards the origin; larger numbers make it shorter and thicker.
    Beta([u8; 2]),
    /// `{ peak = 0.4 }`: two cubic slopes that meet at the peak, a share of the length in (0, 1).
    Cubic(CubicDef),
    /// `{ sines = [...] }`: sums of sines, for drawn shapes.
    Sines(SinesDef),
}

impl Default for ProfileDef {
    fn default() -> Self {
        Self::Beta([3, 3])
    }
}

/// A profile of two cubic slopes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CubicDef {
    /// Where it is thickest, a share of the length in (0, 1).
    pub peak: f32,
}

/// A profile of sines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SinesDef {
    /// Weight of `sin(pi i s)`, i = 1, 2, ...; 1 to 32 of them. Their scale does not matter.
    pub sines: Vec<f32>,
}

/// A muscle's profiles; the shape between them follows the activation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ProfilesDef {
    /// When slack.
    pub rest: ProfileDef,
    /// When fully tense.
    pub active: ProfileDef,
}

impl Default for ProfilesDef {
    fn default() -> Self {
        Self { rest: ProfileDef::Beta([3, 3]), active: ProfileDef::Beta([4, 4]) }
    }
}

/// What makes a muscle tense when no key does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ActivationSource {
    /// The larger of shortening and angle.
    #[default]
    Pose,
    /// How much shorter it is than at bind.
    Shortening,
    /// How far the joints between its ends have turned from bind, while it is shorter than at bind.
    Angle,
    /// Nothing: always `base`.
    Constant,
}

/// From pose to activation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ActivationDef {
    /// Where it comes from.
    pub from: ActivationSource,
    /// Multiplies it; 0 leaves the muscle slack, 2 tenses it twice as early.
    pub gain: f32,
    /// Activation at bind, in `[0, 1]`.
    pub base: f32,
    /// Share of the bind length by which it must shorten to be fully tense (before the gain).
    pub full_shortening: f32,
    /// Angle of the joints it spans at which it is fully tense (before the gain), radians.
    pub full_angle: f32,
    /// Pairs of input and output in `[0, 1]`, inputs rising, interpolated linearly. Empty: the identity.
    pub curve: Vec<[f32; 2]>,
}

impl Default for ActivationDef {
    fn default() -> Self {
        Self {
            from: ActivationSource::Pose,
            gain: 1.0,
            base: 0.0,
            full_shortening: 0.25,
            full_angle: 2.0,
            curve: Vec::new(),
        }
    }
}

/// What a muscle is kept out of, or in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CollideDef {
    /// Out of bones.
    pub bones: bool,
    /// Out of other muscles; both move.
    pub muscles: bool,
    /// Inside the skin, when the skin is given.
    pub skin: bool,
}

impl Default for CollideDef {
    fn default() -> Self {
        Self { bones: true, muscles: true, skin: true }
    }
}

/// A muscle. With curves for ends it is a convergent muscle: several fibres, each fusiform, edited as one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct MuscleDef {
    /// Latin name, without the side: "biceps brachii caput longum".
    pub name: String,
    /// Which side; name and side together are unique.
    pub side: Side,
    /// In a file: this entry also defines its mirror image, which [`Anatomy::in_full`] writes out. Muscles
    /// themselves ignore it.
    ///
    /// [`Anatomy::in_full`]: crate::anatomy::Anatomy::in_full
    pub mirror: bool,
    /// Where it starts, on the bone that moves less.
    pub origin: Footprint,
    /// Where it ends.
    pub insertion: Footprint,
    /// Points the axis passes on its way (pulleys, wrapping), from origin to insertion, each carried by its
    /// bone. Fibres of a group pass them at the same offset as they have from the middle fibre.
    pub via: Vec<Attachment>,
    /// Fibres between the curves, 1 to 50; only 1 for points.
    pub fibres: usize,
    /// Points of the axis that move, ends included; 8 to 200.
    pub particles: usize,
    /// Mean radius w at bind, metres: the volume is `pi w^2 length`, the belly of a `[3, 3]` profile 1.57 w
    /// thick. For a group, of all fibres together (each has `w / sqrt(fibres)`).
    pub width: f32,
    /// Eccentricity of the section in `[0, 0.98]`; 0 is round.
    pub eccentricity: f32,
    /// Direction of the section's long side at bind in the origin bone's coordinates. Absent: along the curve
    /// of a group's origin; else across the line from the nearest bone to the axis, so that the muscle lies
    /// flat on it.
    pub wide_axis: Option<Vec3>,
    /// Shapes when slack and when tense.
    pub profile: ProfilesDef,
    /// When it tenses.
    pub activation: ActivationDef,
    /// Multiplies the width without regard for the volume; above 0, at most 100.
    pub gain: f32,
    /// Tension of the slack body, newtons, above 0. More makes it swing faster and less far.
    pub tone: f32,
    /// Further tension when fully active, newtons, 0 or more.
    pub strength: f32,
    /// Share of the length at each end that is tendon, in `[0, 0.45]`.
    pub tendon: f32,
    /// Axial stiffness EA of the tendons, newtons per unit of strain, above 0.
    pub stiffness: f32,
    /// Loss of speed, 1/s, 0 to 10000: after `1/damping` seconds 37 % is left. 8 swings, 25 hardly.
    pub damping: f32,
    /// Coulomb friction against bones and muscles; 0 slides freely.
    pub friction: f32,
    /// What it cannot pass through.
    pub collide: CollideDef,
    /// How much of its motion shows on the skin, 0 to 5; times the skin's own.
    pub definition: f32,
    /// Bones whose skin it deforms; empty: those it lies under at bind.
    pub parts: Vec<String>,
}

impl Default for MuscleDef {
    /// The value of every key that a file leaves out. A muscle needs a name, ends and a width besides.
    fn default() -> Self {
        Self {
            name: String::new(),
            side: Side::Middle,
            mirror: false,
            origin: Footprint::default(),
            insertion: Footprint::default(),
            via: Vec::new(),
            fibres: 1,
            particles: 16,
            width: 0.0,
            eccentricity: 0.0,
            wide_axis: None,
            profile: ProfilesDef::default(),
            activation: ActivationDef::default(),
            gain: 1.0,
            tone: 6.0,
            strength: 12.0,
            tendon: 0.1,
            stiffness: 400.0,
            damping: 8.0,
            friction: 0.2,
            collide: CollideDef::default(),
            definition: 1.0,
            parts: Vec::new(),
        }
    }
}

impl MuscleDef {
    /// A muscle between two points with everything else by default.
    pub fn new(name: &str, side: Side, origin: Footprint, insertion: Footprint, width: f32) -> Self {
        Self { name: name.to_owned(), side, origin, insertion, width, ..Self::default() }
    }

    /// Name with side, as messages and tables show it: "biceps brachii, left".
    pub fn title(&self) -> String {
        title(&self.name, self.side)
    }

    /// The title of its mirror image.
    pub(crate) fn mirror_title(&self) -> String {
        title(&self.name, self.side.opposite())
    }

    /// Sets tone, strength, stiffness and damping so that it swings at the same rate whatever its size: a string of
    /// mass mu per length and length l (metres) swings f times a second under the tension `mu (2 l f)^2`. `scale`: size of
    /// the whole body against a human's; on a human no muscle is slacker than 2 N, no tendon softer than 400 N.
    pub(crate) fn tune(&mut self, length: f32, scale: f32) {
        // Slack; soft tissue of runners shakes at 5 to 15 a second.
        const SWINGS: f32 = 7.0;
        const DENSITY: f32 = 1060.0;
        let per_length = DENSITY * std::f32::consts::PI * self.width * self.width;
        let newton = scale.powi(4);
        self.tone = short(per_length * (2.0 * length * SWINGS).powi(2)).max(short(2.0 * newton));
        self.strength = 2.0 * self.tone;
        self.stiffness = (60.0 * self.tone).max(short(400.0 * newton));
        self.damping = 12.0;
    }
}

/// Rounded to two digits, for people to read.
fn short(x: f32) -> f32 {
    format!("{x:.1e}").parse().unwrap_or(x)
}

/// A fat pad: an ellipsoid on elastic ties that jiggles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FatDef {
    /// "belly", "breast", ...
    pub name: String,
    /// Which side.
    pub side: Side,
    /// See [`MuscleDef::mirror`].
    pub mirror: bool,
    /// The joint it hangs on.
    pub bone: String,
    /// Its middle in the joint's coordinates, metres.
    pub at: Vec3,
    /// Half axes, metres.
    pub radii: Vec3,
    /// Directions of the first two half axes in the joint's coordinates; made perpendicular. Absent: the
    /// joint's own axes.
    pub axes: Option<[Vec3; 2]>,
    /// Stiffness of the ties per mass, N/(m kg): the pad swings at `sqrt(stiffness) / 2 pi` Hz. 500: 3.6 Hz.
    pub stiffness: f32,
    /// Loss of speed, 1/s.
    pub damping: f32,
    /// See [`MuscleDef::parts`].
    pub parts: Vec<String>,
}

impl Default for FatDef {
    /// The value of every key that a file leaves out. A pad needs a name, a bone, a place and radii besides.
    fn default() -> Self {
        Self {
            name: String::new(),
            side: Side::Middle,
            mirror: false,
            bone: String::new(),
            at: Vec3::ZERO,
            radii: Vec3::ZERO,
            axes: None,
            stiffness: 500.0,
            damping: 4.0,
            parts: Vec::new(),
        }
    }
}

impl FatDef {
    /// A pad with everything else by default.
    pub fn new(name: &str, side: Side, bone: &str, at: Vec3, radii: Vec3) -> Self {
        Self { name: name.to_owned(), side, bone: bone.to_owned(), at, radii, ..Self::default() }
    }

    /// Name with side.
    pub fn title(&self) -> String {
        title(&self.name, self.side)
    }

    /// The title of its mirror image.
    pub(crate) fn mirror_title(&self) -> String {
        title(&self.name, self.side.opposite())
    }
}

/// The solid part of a bone, instead of the default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct BoneDef {
    /// Name of the joint the bone starts at.
    pub bone: String,
    /// Radius of the capsule, metres; 0: nothing solid. Absent: 3.5 % of the bone's length.
    pub radius: Option<f32>,
    /// The capsule's ends in the joint's coordinates, metres. Absent: from the joint to each child.
    pub ends: Option<[Vec3; 2]>,
    /// A closed surface instead of the capsule: OBJ, PLY or VTP, relative to the file that names it.
    pub mesh: Option<PathBuf>,
    /// What to multiply the surface's coordinates by to get metres.
    pub mesh_scale: f32,
    /// Whether the surface is in bind space rather than in the joint's coordinates.
    pub mesh_in_bind_space: bool,
}

impl Default for BoneDef {
    fn default() -> Self {
        Self {
            bone: String::new(),
            radius: None,
            ends: None,
            mesh: None,
            mesh_scale: 1.0,
            mesh_in_bind_space: false,
        }
    }
}

/// A parameter that can be keyed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Parameter {
    /// Activation in `[0, 1]`, instead of the pose's.
    #[default]
    Activation,
    /// Instead of [`MuscleDef::gain`].
    Gain,
    /// Instead of [`MuscleDef::eccentricity`].
    Eccentricity,
    /// Multiplies tone, strength and stiffness.
    Stiffness,
}

/// A keyed parameter of a muscle in a clip.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct KeysDef {
    /// Name of the clip.
    pub clip: String,
    /// Name of the muscle.
    pub muscle: String,
    /// Its side.
    pub side: Side,
    /// What is keyed.
    pub parameter: Parameter,
    /// Pairs of time (s) and value, times rising, interpolated linearly and held before and after.
    pub values: Vec<[f32; 2]>,
}

pub(crate) fn title(name: &str, side: Side) -> String {
    match side {
        Side::Middle => name.to_owned(),
        side => format!("{name}, {}", side.name()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
        [[muscle]]
        name = "biceps brachii"
        side = "left"
        mirror = true
        origin = { bone = "LeftShoulder", at = [0.02, 0.11, 0.01] }
        insertion = { bone = "LeftForeArm", at = [0.00, 0.05, 0.01] }
        profile = { rest = [3, 3], active = [4, 7] }
        width = 0.021
        eccentricity = 0.2
        activation = { from = "shortening", gain = 1.5 }

        [[muscle]]
        name = "pectoralis major"
        fibres = 5
        origin = [{ bone = "Chest", at = [0, 0.1, 0.1] }, { bone = "Chest", at = [0, -0.1, 0.1] }]
        insertion = { bone = "LeftArm", at = [0, 0.05, 0] }
        profile = { rest = { peak = 0.4 }, active = { sines = [1.0, 0.1] } }
        width = 0.03

        [[fat]]
        name = "belly"
        bone = "Hips"
        at = [0.0, 0.05, 0.09]
        radii = [0.11, 0.08, 0.07]
    "#;

    #[test]
    fn a_file_is_read_and_written_back() {
        let body: BodyDef = toml::from_str(FILE).unwrap();
        assert_eq!(body.muscle[0].title(), "biceps brachii, left");
        assert_eq!(body.muscle[0].profile.active, ProfileDef::Beta([4, 7]));
        assert_eq!(body.muscle[0].damping, 8.0);
        assert_eq!(body.muscle[1].origin.0.len(), 2);
        assert_eq!(body.muscle[1].profile.rest, ProfileDef::Cubic(CubicDef { peak: 0.4 }));
        let again: BodyDef = serde_json::from_str(&serde_json::to_string(&body).unwrap()).unwrap();
        assert_eq!(again, body);
    }

    #[test]
    fn unknown_keys_are_refused() {
        let wrong = FILE.replace("eccentricity", "excentricity");
        assert!(toml::from_str::<BodyDef>(&wrong).unwrap_err().to_string().contains("excentricity"));
        assert!(toml::from_str::<BodyDef>(&FILE.replace("at = [0, 0.05, 0]", "on = 1")).is_err());
    }
}
