//! `[wrinkles]`: where the skin creases and how high. The anatomy's table of keys describes each.

pub use super::thesis::{Curves, System, ThesisDef};
use crate::surface::LayerError;
use glam::Vec3;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Settings of wrinkles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WrinkleDef {
    /// From crease to crease at rest, metres, above 0. `None`: [`WrinkleDef::share`] of the limb's radius at each joint.
    pub wavelength: Option<f32>,
    /// Wavelength in radii of the limb where none is given, above 0 to 5.
    pub share: f32,
    /// Scale of the heights, 0 to 3; 1 gives back most of the length that the skin loses.
    pub gain: f32,
    /// Share of its length that skin may lose before it wrinkles, 0 to 0.5.
    pub onset: f32,
    /// Share of its length over which wrinkles appear, 0.001 to 1. Lower: sooner, and more suddenly.
    pub ramp: f32,
    /// How much narrower valleys are than ridges, 0 (a sine) to 0.25.
    pub sharpness: f32,
    /// What wrinkles are made of.
    pub system: System,
    /// Settings of the thesis' wrinkles.
    pub thesis: ThesisDef,
    /// Directions in which the same skin may wrinkle, 1 to 3: as bending folds it, and as twist folds it to either side.
    pub patterns: u32,
    /// How much deeper than other wrinkles the crease is that a joint folds along, 0 to 2; 0: no crease is placed at joints.
    pub creases: f32,
    /// Clips of the character whose poses count beside the range of motion, by name.
    pub clips: Vec<String>,
    /// Creases drawn on the skin.
    pub stroke: Vec<Stroke>,
    /// Places with a mask or a direction of their own; later ones lie over those before.
    pub dab: Vec<Dab>,
    /// Joints whose skin wrinkles; empty for all.
    pub joints: Vec<String>,
    /// Joints with settings of their own, by name.
    pub joint: BTreeMap<String, JointWrinkles>,
}

/// What the skin of one joint does differently.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JointWrinkles {
    /// Its wavelength, metres, above 0. `None`: as for all.
    pub wavelength: Option<f32>,
    /// Its gain, 0 to 3; 0 leaves the joint smooth. `None`: as for all.
    pub gain: Option<f32>,
}

/// A crease drawn on the skin, such as a line of the palm.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Stroke {
    /// The bone whose coordinates the points are in; `None` for those of bind space.
    pub bone: Option<String>,
    /// On the skin at rest, one after the other along the crease, metres; two or more.
    pub points: Vec<Vec3>,
    /// How much deeper than other wrinkles, 0 to 2.
    pub depth: f32,
    /// The least mask on the crease, 0 to 1.
    pub mask: f32,
    /// How far from it the skin still folds across it, metres, above 0.
    pub width: f32,
}

impl Default for Stroke {
    fn default() -> Self {
        Self { bone: None, points: Vec::new(), depth: 0.5, mask: 1.0, width: 0.01 }
    }
}

/// A ball in which the skin has a mask or a direction of its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dab {
    /// The bone whose coordinates place and direction are in; `None` for those of bind space.
    pub bone: Option<String>,
    /// Its middle, metres.
    pub at: Vec3,
    /// Metres, above 0; full within half of it.
    pub radius: f32,
    /// How much the skin may wrinkle, 0 (not at all) to 1. `None`: as found.
    pub mask: Option<f32>,
    /// Along which the skin is compressed: creases run across. `None`: as found.
    pub direction: Option<Vec3>,
}

impl Default for Dab {
    fn default() -> Self {
        Self { bone: None, at: Vec3::ZERO, radius: 0.01, mask: None, direction: None }
    }
}

impl Default for WrinkleDef {
    fn default() -> Self {
        Self {
            wavelength: None,
            share: 0.4,
            gain: 1.0,
            // At 0 the rounding of a rest pose would count as compression.
            onset: 0.01,
            // 0.04: a degree of a cylinder that bends over 2.5 radii changes heights by 8.5 % of full; at 0.1 skin that loses a
            // tenth of its length gets back less than half of it.
            ramp: 0.06,
            sharpness: 0.2,
            system: System::Stripes,
            thesis: ThesisDef::default(),
            patterns: 1,
            creases: 0.0,
            clips: Vec::new(),
            stroke: Vec::new(),
            dab: Vec::new(),
            joints: Vec::new(),
            joint: BTreeMap::new(),
        }
    }
}

impl WrinkleDef {
    /// Whether every setting is in its range.
    pub fn check(&self) -> Result<(), LayerError> {
        let check = |setting, value: f32, good: bool, range| {
            if good { Ok(()) } else { Err(LayerError { layer: "wrinkles", setting, value, range }) }
        };
        let wavelength = |value: Option<f32>| {
            let value = value.unwrap_or(1.0);
            check("wavelength", value, value > 0.0 && value <= 1e3, "more than 0 metres")
        };
        let gain = |value: f32| check("gain", value, (0.0..=3.0).contains(&value), "0 to 3");
        wavelength(self.wavelength)?;
        check("share", self.share, self.share > 0.0 && self.share <= 5.0, "more than 0, at most 5")?;
        gain(self.gain)?;
        check("onset", self.onset, (0.0..=0.5).contains(&self.onset), "0 to 0.5")?;
        check("ramp", self.ramp, (0.001..=1.0).contains(&self.ramp), "0.001 to 1")?;
        check("sharpness", self.sharpness, (0.0..=0.25).contains(&self.sharpness), "0 to 0.25")?;
        self.thesis.check()?;
        check("patterns", self.patterns as f32, (1..=3).contains(&self.patterns), "1 to 3")?;
        let depth = |value: f32| check("depth of creases", value, (0.0..=2.0).contains(&value), "0 to 2");
        let mask = |value: f32| check("mask", value, (0.0..=1.0).contains(&value), "0 to 1");
        depth(self.creases)?;
        let finite = |setting, p: Vec3| {
            let worst = p.to_array().into_iter().find(|x| !x.is_finite()).unwrap_or(0.0);
            check(setting, worst, worst.is_finite(), "finite numbers")
        };
        for stroke in &self.stroke {
            depth(stroke.depth)?;
            mask(stroke.mask)?;
            let (count, width) = (stroke.points.len() as f32, stroke.width);
            check("points of a stroke", count, count >= 2.0, "two or more")?;
            check("width of a stroke", width, width > 0.0 && width <= 1.0, "more than 0, at most 1 metre")?;
            stroke.points.iter().try_for_each(|&p| finite("point of a stroke", p))?;
        }
        for dab in &self.dab {
            mask(dab.mask.unwrap_or(0.0))?;
            let radius = dab.radius;
            check(
                "radius of a dab",
                radius,
                radius > 0.0 && radius <= 10.0,
                "more than 0, at most 10 metres",
            )?;
            finite("place of a dab", dab.at)?;
            finite("direction of a dab", dab.direction.unwrap_or(Vec3::X))?;
        }
        for own in self.joint.values() {
            wavelength(own.wavelength)?;
            gain(own.gain.unwrap_or(1.0))?;
        }
        Ok(())
    }
}
