//! `[[muscle]]`, `[[fat]]`, `[[bone]]` and `[[keys]]`, read.

use super::reader::{Bound, Section};
use crate::muscle::definition::{
    ActivationDef, ActivationSource, Attachment, BoneDef, CollideDef, CubicDef, FatDef, Footprint, KeysDef,
    MuscleDef, Parameter, ProfileDef, ProfilesDef, Side, SinesDef,
};
use glam::Vec3;

pub(super) const MUSCLE_KEYS: [&str; 22] = [
    "name",
    "side",
    "mirror",
    "origin",
    "insertion",
    "via",
    "fibres",
    "particles",
    "width",
    "eccentricity",
    "broad",
    "profile",
    "activation",
    "gain",
    "tone",
    "strength",
    "tendon",
    "stiffness",
    "damping",
    "friction",
    "collide",
    "parts",
];
pub(super) const FAT_KEYS: [&str; 10] =
    ["name", "side", "mirror", "bone", "at", "radii", "axes", "stiffness", "damping", "parts"];
pub(super) const BONE_KEYS: [&str; 6] =
    ["bone", "radius", "ends", "mesh", "mesh_scale", "mesh_in_bind_space"];
pub(super) const KEYS_KEYS: [&str; 5] = ["clip", "muscle", "side", "parameter", "values"];

const SIDES: [(&str, Side); 3] = [("left", Side::Left), ("right", Side::Right), ("middle", Side::Middle)];
const SOURCES: [(&str, ActivationSource); 4] = [
    ("pose", ActivationSource::Pose),
    ("shortening", ActivationSource::Shortening),
    ("angle", ActivationSource::Angle),
    ("constant", ActivationSource::Constant),
];
const PARAMETERS: [(&str, Parameter); 4] = [
    ("activation", Parameter::Activation),
    ("gain", Parameter::Gain),
    ("eccentricity", Parameter::Eccentricity),
    ("stiffness", Parameter::Stiffness),
];

/// One of several named things.
fn one_of<T: Copy, const N: usize>(section: &Section, key: &str, things: &[(&str, T); N]) -> Option<T> {
    let found = section.choice(key, &things.map(|(name, _)| name))?;
    things.iter().find(|(name, _)| *name == found).map(|&(_, thing)| thing)
}

fn number(section: &Section, key: &str, bound: Bound, default: f32) -> f32 {
    section.number(key, bound).map_or(default, |x| x as f32)
}

fn name(section: &Section, key: &str, example: &str) -> Option<String> {
    section.require(key, &format!("\"{example}\""));
    let text = section.text(key)?;
    if text.trim().is_empty() {
        section.problem(key, format!("must not be empty; write {key} = \"{example}\""));
        return None;
    }
    Some(text.to_owned())
}

const POINT: &str = "{ bone = \"NAME\", at = [0.0, 0.1, 0.0] }";

fn attachment(section: &Section) -> Option<Attachment> {
    let bone = name(section, "bone", "NAME");
    section.require("at", "[0.0, 0.1, 0.0]");
    Some(Attachment { at: section.vector("at", Bound::Any)?, bone: bone? })
}

fn footprint(section: &Section, key: &str) -> Option<Footprint> {
    section.require(key, POINT);
    if section.holds_table(key) {
        return section.section(key, &["bone", "at"]).as_ref().and_then(attachment).map(Footprint::from);
    }
    let points = attachments(section, key)?;
    if section.has(key) && points.is_empty() {
        section.problem(key, format!("must be a point {POINT} or a list of points"));
        return None;
    }
    Some(Footprint(points))
}

fn attachments(section: &Section, key: &str) -> Option<Vec<Attachment>> {
    section.sections(key, &["bone", "at"]).iter().map(attachment).collect()
}

fn profile(section: &Section, key: &str, default: ProfileDef) -> ProfileDef {
    if !section.has(key) {
        return default;
    }
    if !section.holds_table(key) {
        let Some([a, b]) = section.numbers::<2>(key, Bound::Within(2.0, 9.0)) else { return default };
        if a.fract() != 0.0 || b.fract() != 0.0 {
            section.problem(key, "must be two whole numbers from 2 to 9");
            return default;
        }
        return ProfileDef::Beta([a as u8, b as u8]);
    }
    let Some(table) = section.section(key, &["peak", "sines"]) else { return default };
    if table.has("sines") {
        let Some(sines) = numbers(&table, "sines") else { return default };
        if !(1..=32).contains(&sines.len()) || sines.iter().all(|&x| x == 0.0) {
            table.problem("sines", "must be 1 to 32 numbers that are not all zero");
            return default;
        }
        return ProfileDef::Sines(SinesDef { sines });
    }
    table.require("peak", "0.4");
    match table.number("peak", Bound::Within(0.01, 0.99)) {
        Some(peak) => ProfileDef::Cubic(CubicDef { peak: peak as f32 }),
        None => default,
    }
}

fn numbers(section: &Section, key: &str) -> Option<Vec<f32>> {
    Some(section.list(key, Bound::Any)?.into_iter().map(|x| x as f32).collect())
}

/// Pairs whose first numbers rise.
fn rising_pairs(section: &Section, key: &str, bound: Bound) -> Vec<[f32; 2]> {
    let rows = section.rows::<2>(key, bound).unwrap_or_default();
    if rows.windows(2).any(|pair| pair[1][0] <= pair[0][0]) {
        section.problem(key, "the first numbers of the pairs must rise; sort them");
        return Vec::new();
    }
    rows.into_iter().map(|row| row.map(|x| x as f32)).collect()
}

fn activation(section: &Section) -> ActivationDef {
    let default = ActivationDef::default();
    let known = ["from", "gain", "base", "full_shortening", "full_angle", "curve"];
    let Some(table) = section.section("activation", &known) else { return default };
    ActivationDef {
        from: one_of(&table, "from", &SOURCES).unwrap_or(default.from),
        gain: number(&table, "gain", Bound::NotNegative, default.gain),
        base: number(&table, "base", Bound::Within(0.0, 1.0), default.base),
        full_shortening: number(&table, "full_shortening", Bound::Positive, default.full_shortening),
        full_angle: number(&table, "full_angle", Bound::Positive, default.full_angle),
        curve: rising_pairs(&table, "curve", Bound::Within(0.0, 1.0)),
    }
}

fn collide(section: &Section) -> CollideDef {
    let default = CollideDef::default();
    let Some(table) = section.section("collide", &["bones", "muscles", "skin"]) else { return default };
    CollideDef {
        bones: table.flag("bones").unwrap_or(default.bones),
        muscles: table.flag("muscles").unwrap_or(default.muscles),
        skin: table.flag("skin").unwrap_or(default.skin),
    }
}

/// Refuses `mirror` without a side to mirror to.
fn mirror(section: &Section, side: Side) -> bool {
    let mirror = section.flag("mirror").unwrap_or(false);
    if mirror && side == Side::Middle {
        section.problem("mirror", "needs a side to mirror from; write side = \"left\"");
        return false;
    }
    mirror
}

/// Reads one `[[muscle]]`; `None` if what has no default is missing or wrong.
pub(super) fn read_muscle(section: &Section) -> Option<MuscleDef> {
    let name = name(section, "name", "biceps brachii");
    let side = one_of(section, "side", &SIDES).unwrap_or_default();
    let [origin, insertion] = ["origin", "insertion"].map(|key| footprint(section, key));
    section.require("width", "0.02");
    let width = section.number("width", Bound::Positive);
    // Everything is read before the first absence ends it, so that all problems are told at once.
    let default = MuscleDef::new("", side, Footprint::default(), Footprint::default(), 1.0);
    let rest = MuscleDef {
        mirror: mirror(section, side),
        via: attachments(section, "via").unwrap_or_default(),
        fibres: section.whole("fibres", 1, 64).map_or(default.fibres, |n| n as usize),
        particles: section.whole("particles", 8, 200).map_or(default.particles, |n| n as usize),
        eccentricity: number(section, "eccentricity", Bound::Within(0.0, 0.98), default.eccentricity),
        wide_axis: direction(section, "broad"),
        profile: section.section("profile", &["rest", "active"]).map_or(ProfilesDef::default(), |table| {
            let default = ProfilesDef::default();
            ProfilesDef {
                rest: profile(&table, "rest", default.rest),
                active: profile(&table, "active", default.active),
            }
        }),
        activation: activation(section),
        gain: number(section, "gain", Bound::Positive, default.gain),
        tone: number(section, "tone", Bound::NotNegative, default.tone),
        strength: number(section, "strength", Bound::NotNegative, default.strength),
        tendon: number(section, "tendon", Bound::Within(0.0, 0.45), default.tendon),
        stiffness: number(section, "stiffness", Bound::Positive, default.stiffness),
        damping: number(section, "damping", Bound::NotNegative, default.damping),
        friction: number(section, "friction", Bound::NotNegative, default.friction),
        collide: collide(section),
        parts: section.names("parts").unwrap_or_default(),
        ..default
    };
    let is_point = |end: &Option<Footprint>| end.as_ref().is_none_or(|f| f.0.len() == 1);
    if rest.fibres > 1 && is_point(&origin) && is_point(&insertion) {
        section.problem("fibres", "needs a curve: make origin or insertion a list of points");
    }
    Some(MuscleDef { name: name?, origin: origin?, insertion: insertion?, width: width? as f32, ..rest })
}

fn direction(section: &Section, key: &str) -> Option<Vec3> {
    let vector = section.vector(key, Bound::Any)?;
    if vector.length() < 1e-6 {
        section.problem(key, "has no direction; write one such as [1.0, 0.0, 0.0]");
        return None;
    }
    Some(vector)
}

/// Reads one `[[fat]]`.
pub(super) fn read_fat(section: &Section) -> Option<FatDef> {
    let name = name(section, "name", "belly");
    let bone = self::name(section, "bone", "Hips");
    section.require("at", "[0.0, 0.05, 0.09]");
    section.require("radii", "[0.11, 0.08, 0.07]");
    let at = section.vector("at", Bound::Any);
    let radii = section.vector("radii", Bound::Positive);
    let side = one_of(section, "side", &SIDES).unwrap_or_default();
    let default = FatDef::new("", side, "", Vec3::ZERO, Vec3::ONE);
    let axes = section.rows::<3>("axes", Bound::Any).and_then(|rows| {
        let rows: Vec<Vec3> = rows.iter().map(|row| Vec3::from_array(row.map(|x| x as f32))).collect();
        match rows[..] {
            [a, b] if a.cross(b).length() > 1e-6 * a.length() * b.length() && a != Vec3::ZERO => Some([a, b]),
            _ => {
                section.problem("axes", "must be two directions that are not parallel");
                None
            }
        }
    });
    let rest = FatDef {
        mirror: mirror(section, side),
        axes,
        stiffness: number(section, "stiffness", Bound::Positive, default.stiffness),
        damping: number(section, "damping", Bound::NotNegative, default.damping),
        parts: section.names("parts").unwrap_or_default(),
        ..default
    };
    Some(FatDef { name: name?, bone: bone?, at: at?, radii: radii?, ..rest })
}

/// Reads one `[[bone]]`.
pub(super) fn read_bone(section: &Section) -> Option<BoneDef> {
    let bone = name(section, "bone", "LeftArm");
    let ends = section.rows::<3>("ends", Bound::Any).and_then(|rows| match rows[..] {
        [a, b] => Some([a, b].map(|p| Vec3::from_array(p.map(|x| x as f32)))),
        _ => {
            section.problem("ends", "must be two points [x, y, z]");
            None
        }
    });
    Some(BoneDef {
        radius: section.number("radius", Bound::NotNegative).map(|x| x as f32),
        ends,
        mesh: section.text("mesh").map(Into::into),
        mesh_scale: number(section, "mesh_scale", Bound::Positive, 1.0),
        mesh_in_bind_space: section.flag("mesh_in_bind_space").unwrap_or(false),
        bone: bone?,
    })
}

/// Reads one `[[keys]]`.
pub(super) fn read_keys(section: &Section) -> Option<KeysDef> {
    let clip = name(section, "clip", "run");
    let muscle = name(section, "muscle", "biceps brachii");
    section.require("parameter", "\"activation\"");
    section.require("values", "[[0.0, 0.2], [0.5, 1.0]]");
    let parameter = one_of(section, "parameter", &PARAMETERS);
    let values = rising_pairs(section, "values", Bound::Any);
    let bound = match parameter? {
        Parameter::Activation => 0.0..=1.0,
        Parameter::Eccentricity => 0.0..=0.98,
        Parameter::Gain | Parameter::Stiffness => 1e-6..=1e6,
    };
    if let Some([time, value]) = values.iter().find(|[_, value]| !bound.contains(value)) {
        let (low, high) = (bound.start(), bound.end());
        section.problem("values", format!("{value} at {time} s must be from {low} to {high}"));
    }
    if section.has("values") && values.is_empty() {
        section.problem("values", "needs at least one pair [time in seconds, value]");
    }
    Some(KeysDef {
        clip: clip?,
        muscle: muscle?,
        side: one_of(section, "side", &SIDES).unwrap_or_default(),
        parameter: parameter?,
        values,
    })
}
