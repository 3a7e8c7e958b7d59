//! `[wrinkles.thesis]`: settings of curves grown on the skin.

use crate::surface::LayerError;
use serde::{Deserialize, Serialize};

/// What wrinkles are made of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum System {
    /// Stripes, as high as the skin loses length.
    #[default]
    Stripes,
    /// Ridges around curves, as high as joints bend.
    Thesis,
}

/// Where curves come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Curves {
    /// Grown along gradients.
    #[default]
    Grown,
    /// The ridges of the stripes.
    Stripes,
}

/// Settings of the thesis' wrinkles.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ThesisDef {
    /// Where curves come from.
    pub curves: Curves,
    /// Of a wrinkle, metres, above 0. `None`: [`ThesisDef::share`] of the limb's. Never less than 1.2 edges.
    pub radius: Option<f32>,
    /// Radius of a wrinkle in radii of the limb, above 0 to 1.
    pub share: f32,
    /// Largest angle between gradients one after the other on a curve, degrees, 0 to 180.
    pub direction: f32,
    /// Angle between the gradients of both bones from which a curve may begin, degrees, 0 to 180.
    pub seed_angle: f32,
    /// Angle below which a curve ends, degrees, 0 to 180.
    pub least_angle: f32,
    /// How much both bones must hold the skin of a curve, 0 to 1.
    pub field: f32,
    /// Cosine between the skin's normal and the folding side from which skin wrinkles, -1 to 1.
    pub facing: f32,
    /// Least distance between curves, in radii of a wrinkle, 0 to 100.
    pub seed_distance: f32,
    /// How deep the axis of a wrinkle that shows fully lies below the skin, in its radii, -1 to 1.5. Less is higher.
    pub sunk: f32,
    /// Bend of the joint at which wrinkles appear and from which they show fully, degrees.
    pub ramp: [f32; 2],
    /// Curves hold to the direction of edges.
    pub topology_bias: bool,
}

impl Default for ThesisDef {
    fn default() -> Self {
        Self {
            curves: Curves::Grown,
            radius: None,
            share: 0.03,
            direction: 35.0,
            seed_angle: 25.0,
            least_angle: 12.0,
            field: 0.1,
            facing: 0.25,
            seed_distance: 2.0,
            sunk: 0.35,
            ramp: [10.0, 60.0],
            topology_bias: false,
        }
    }
}

impl ThesisDef {
    /// Whether every setting is in its range.
    pub(in super::super) fn check(&self) -> Result<(), LayerError> {
        let check = |setting, value: f32, good: bool, range| {
            if good { Ok(()) } else { Err(LayerError { layer: "wrinkles.thesis", setting, value, range }) }
        };
        let degrees =
            |setting, value: f32| check(setting, value, (0.0..=180.0).contains(&value), "0 to 180 degrees");
        let radius = self.radius.unwrap_or(1.0);
        check("radius", radius, radius > 0.0 && radius <= 10.0, "more than 0, at most 10 metres")?;
        check("share", self.share, self.share > 0.0 && self.share <= 1.0, "more than 0, at most 1")?;
        degrees("direction", self.direction)?;
        degrees("seed_angle", self.seed_angle)?;
        degrees("least_angle", self.least_angle)?;
        check("field", self.field, (0.0..=1.0).contains(&self.field), "0 to 1")?;
        check("facing", self.facing, (-1.0..=1.0).contains(&self.facing), "-1 to 1")?;
        check("seed_distance", self.seed_distance, (0.0..=100.0).contains(&self.seed_distance), "0 to 100")?;
        check("sunk", self.sunk, (-1.0..=1.5).contains(&self.sunk), "-1 to 1.5")?;
        let [from, to] = self.ramp;
        degrees("ramp", from)?;
        check("ramp", to, to > from && to <= 180.0, "an end above its start, at most 180 degrees")
    }
}
