//! `[wrinkles]`: where the skin creases and how high. The anatomy's table of keys describes each.

use crate::surface::LayerError;
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
        for own in self.joint.values() {
            wavelength(own.wavelength)?;
            gain(own.gain.unwrap_or(1.0))?;
        }
        Ok(())
    }
}
