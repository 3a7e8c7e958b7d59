//! Muscles, fat and single values as text of an anatomy file.

use crate::muscle::definition::{
    ActivationDef, Attachment, CollideDef, FatDef, Footprint, KeysDef, MuscleDef, ProfileDef, ProfilesDef,
    Side,
};
use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Write};

/// A value to put into a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// True or false.
    Flag(bool),
    /// A whole number.
    Whole(i64),
    /// Any number.
    Number(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Value>),
    /// A table; entries in this order.
    Table(std::collections::BTreeMap<String, Value>),
}

impl From<f32> for Value {
    /// The shortest decimals that read back as the same single-precision number.
    fn from(number: f32) -> Self {
        Self::Number(number.to_string().parse().unwrap_or(f64::from(number)))
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<Vec3> for Value {
    fn from(v: Vec3) -> Self {
        Self::List(v.to_array().into_iter().map(Self::from).collect())
    }
}

impl From<&Attachment> for Value {
    fn from(point: &Attachment) -> Self {
        let entries = [("at".to_owned(), point.at.into()), ("bone".to_owned(), point.bone.as_str().into())];
        Self::Table(entries.into())
    }
}

impl From<&Footprint> for Value {
    fn from(footprint: &Footprint) -> Self {
        match &footprint.0[..] {
            [point] => point.into(),
            points => Self::List(points.iter().map(Self::from).collect()),
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flag(flag) => write!(f, "{flag}"),
            Self::Whole(number) => write!(f, "{number}"),
            Self::Number(number) if !number.is_finite() => f.write_str(if number.is_nan() {
                "nan"
            } else if *number > 0.0 {
                "inf"
            } else {
                "-inf"
            }),
            // Debug keeps the point that makes it a number with decimals.
            Self::Number(number) => write!(f, "{number:?}"),
            Self::Text(text) => f.write_str(&quoted(text)),
            Self::List(list) => {
                f.write_char('[')?;
                for (k, value) in list.iter().enumerate() {
                    write!(f, "{}{value}", if k == 0 { "" } else { ", " })?;
                }
                f.write_char(']')
            }
            Self::Table(table) => {
                f.write_str("{ ")?;
                // As people say it: the bone before the place on it, rest before active.
                let leads = |key: &str| ["bone", "rest", "from", "points"].contains(&key);
                let (first, rest): (Vec<_>, Vec<_>) = table.iter().partition(|(key, _)| leads(key));
                for (k, (key, value)) in first.into_iter().chain(rest).enumerate() {
                    write!(f, "{}{} = {value}", if k == 0 { "" } else { ", " }, key_text(key))?;
                }
                f.write_str(" }")
            }
        }
    }
}

/// Text between quotes.
fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}

/// A key, quoted where it must be.
pub(super) fn key_text(key: &str) -> String {
    toml_edit::Key::new(key).default_repr().as_raw().as_str().unwrap_or_default().to_owned()
}

struct Block(String);

impl Block {
    fn line(&mut self, key: &str, value: impl Into<Value>) {
        self.0.push_str(&format!("{key} = {}\n", value.into()));
    }

    fn unless<T: PartialEq + Clone + Into<Value>>(&mut self, key: &str, value: &T, default: &T) {
        if value != default {
            self.line(key, value.clone());
        }
    }

    fn names(&mut self, key: &str, names: &[String]) {
        if !names.is_empty() {
            self.line(key, Value::List(names.iter().map(|n| n.as_str().into()).collect()));
        }
    }

    fn footprint(&mut self, key: &str, footprint: &Footprint) {
        match &footprint.0[..] {
            [point] => self.line(key, point),
            points => self.points(key, points),
        }
    }

    fn points(&mut self, key: &str, points: &[Attachment]) {
        let lines: String = points.iter().map(|p| format!("    {},\n", Value::from(p))).collect();
        self.0.push_str(&format!("{key} = [\n{lines}]\n"));
    }

    fn side(&mut self, side: Side, mirror: bool) {
        if side != Side::Middle {
            self.line("side", side.name());
        }
        if mirror {
            self.line("mirror", true);
        }
    }
}

fn table(entries: Vec<(&str, Value)>) -> Value {
    Value::Table(entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn pairs(pairs: &[[f32; 2]]) -> Value {
    Value::List(pairs.iter().map(|p| Value::List(p.map(Value::from).to_vec())).collect())
}

fn profile(profile: &ProfileDef) -> Value {
    match profile {
        ProfileDef::Beta(powers) => Value::List(powers.map(|p| Value::Whole(p.into())).to_vec()),
        ProfileDef::Cubic(cubic) => table(vec![("peak", cubic.peak.into())]),
        ProfileDef::Sines(sines) => {
            table(vec![("sines", Value::List(sines.sines.iter().map(|&x| x.into()).collect()))])
        }
    }
}

fn activation(activation: &ActivationDef) -> Option<Value> {
    let default = ActivationDef::default();
    let mut entries = Vec::new();
    if activation.from != default.from {
        let name = format!("{:?}", activation.from).to_lowercase();
        entries.push(("from", Value::Text(name)));
    }
    for (key, value, default) in [
        ("gain", activation.gain, default.gain),
        ("base", activation.base, default.base),
        ("full_shortening", activation.full_shortening, default.full_shortening),
        ("full_angle", activation.full_angle, default.full_angle),
    ] {
        if value != default {
            entries.push((key, value.into()));
        }
    }
    if !activation.curve.is_empty() {
        entries.push(("curve", pairs(&activation.curve)));
    }
    (!entries.is_empty()).then(|| table(entries))
}

fn collide(collide: CollideDef) -> Option<Value> {
    let default = CollideDef::default();
    let entries: Vec<(&str, Value)> = [
        ("bones", collide.bones, default.bones),
        ("muscles", collide.muscles, default.muscles),
        ("skin", collide.skin, default.skin),
    ]
    .into_iter()
    .filter(|(_, value, default)| value != default)
    .map(|(key, value, _)| (key, value.into()))
    .collect();
    (!entries.is_empty()).then(|| table(entries))
}

/// A muscle as a `[[muscle]]` block; what is by default is left out.
pub fn muscle(muscle: &MuscleDef) -> String {
    let default = MuscleDef::new("", muscle.side, Footprint::default(), Footprint::default(), 1.0);
    let mut block = Block("[[muscle]]\n".to_owned());
    block.line("name", muscle.name.as_str());
    block.side(muscle.side, muscle.mirror);
    block.footprint("origin", &muscle.origin);
    block.footprint("insertion", &muscle.insertion);
    if !muscle.via.is_empty() {
        block.points("via", &muscle.via);
    }
    for (key, value, default) in
        [("fibres", muscle.fibres, default.fibres), ("particles", muscle.particles, default.particles)]
    {
        if value != default {
            block.line(key, Value::Whole(value as i64));
        }
    }
    block.line("width", muscle.width);
    block.unless("eccentricity", &muscle.eccentricity, &default.eccentricity);
    if let Some(axis) = muscle.wide_axis {
        block.line("broad", axis);
    }
    if muscle.profile != ProfilesDef::default() {
        let entries = [("rest", &muscle.profile.rest), ("active", &muscle.profile.active)];
        block.line("profile", table(entries.map(|(key, p)| (key, profile(p))).to_vec()));
    }
    if let Some(activation) = activation(&muscle.activation) {
        block.line("activation", activation);
    }
    for (key, value, default) in [
        ("gain", muscle.gain, default.gain),
        ("tone", muscle.tone, default.tone),
        ("strength", muscle.strength, default.strength),
        ("tendon", muscle.tendon, default.tendon),
        ("stiffness", muscle.stiffness, default.stiffness),
        ("damping", muscle.damping, default.damping),
        ("friction", muscle.friction, default.friction),
    ] {
        block.unless(key, &value, &default);
    }
    if let Some(collide) = collide(muscle.collide) {
        block.line("collide", collide);
    }
    block.names("parts", &muscle.parts);
    block.0
}

/// A fat pad as a `[[fat]]` block.
pub fn fat(fat: &FatDef) -> String {
    let default = FatDef::new("", fat.side, "", Vec3::ZERO, Vec3::ONE);
    let mut block = Block("[[fat]]\n".to_owned());
    block.line("name", fat.name.as_str());
    block.side(fat.side, fat.mirror);
    block.line("bone", fat.bone.as_str());
    block.line("at", fat.at);
    block.line("radii", fat.radii);
    if let Some(axes) = fat.axes {
        block.line("axes", Value::List(axes.map(Value::from).to_vec()));
    }
    block.unless("stiffness", &fat.stiffness, &default.stiffness);
    block.unless("damping", &fat.damping, &default.damping);
    block.names("parts", &fat.parts);
    block.0
}

/// Keys as a `[[keys]]` block.
pub fn keys(keys: &KeysDef) -> String {
    let mut block = Block("[[keys]]\n".to_owned());
    block.line("clip", keys.clip.as_str());
    block.line("muscle", keys.muscle.as_str());
    block.side(keys.side, false);
    block.line("parameter", format!("{:?}", keys.parameter).to_lowercase().as_str());
    block.line("values", pairs(&keys.values));
    block.0
}
