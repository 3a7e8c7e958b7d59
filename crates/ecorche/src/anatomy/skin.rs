//! `[skin]`: how the parts of the skin become fields, meet, and are tracked. The keys are described in [`super::keys`].

use crate::field::operator::{Abscissa, Controller, ControllerError, Scale};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Settings of the implicit skin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SkinDef {
    /// Operator at every joint that names no other; one of [`NAMES`](crate::field::operator::NAMES).
    pub operator: String,
    /// Its controller; `None` for the one that suits the operator.
    pub controller: Option<ControllerDef>,
    /// Fewest and most samples of a part's field, 8 to 5000. More follow the skin closer and fit slower.
    pub samples: [u32; 2],
    /// Cells along the longest side of a part's table, see [`crate::field::grid::GridSettings`].
    pub grid: u32,
    /// How vertices find their place in the field.
    pub tracking: TrackingDef,
    /// How far from a joint the caps that close a part there may lie, in distances from the joint to the skin; 0 to 10.
    pub closure: f32,
    /// Gap left between touching parts, as a share of the limb's radius; 0 to 0.5.
    pub gap: f32,
    /// How far skin that touches nothing may move from its skinned place, in inner radii of its part; 0 to 10.
    pub max_offset: f32,
    /// How muscles blend with the skin's fields.
    pub blend: MuscleBlend,
    /// Joints with settings of their own, by name.
    pub joint: BTreeMap<String, JointDef>,
}

impl Default for SkinDef {
    fn default() -> Self {
        Self {
            operator: "contact".to_owned(),
            controller: None,
            samples: [50, 250],
            grid: 32,
            tracking: TrackingDef::Robust,
            closure: 1.0,
            gap: 0.02,
            max_offset: 0.1,
            blend: MuscleBlend::Fillet,
            joint: BTreeMap::new(),
        }
    }
}

/// What one joint does differently.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct JointDef {
    /// One of [`NAMES`](crate::field::operator::NAMES); `None` for the skin's.
    pub operator: Option<String>,
    /// `None` for the skin's, or the one that suits the joint's own operator.
    pub controller: Option<ControllerDef>,
    /// Changes of the points its field goes through.
    pub samples: SamplesDef,
}

/// Changes of the points a bone's field goes through, in the coordinates of its joint, metres.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SamplesDef {
    /// Further points: place and outward normal.
    pub add: Vec<[f32; 6]>,
    /// Places whose nearest points are left out.
    pub remove: Vec<[f32; 3]>,
}

/// How vertices find their place in the field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum TrackingDef {
    /// A ray from the own side, then relaxation: holds in deep bends.
    #[default]
    #[serde(rename = "robust")]
    Robust,
    /// Newton steps, stopping where the gradient turns.
    #[serde(rename = "2012")]
    Paper2012,
    /// Bracketed steps with relaxation by rigid neighbourhoods.
    #[serde(rename = "2014")]
    Paper2014,
}

impl fmt::Display for TrackingDef {
    /// As in files.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

/// How muscles blend with each other and with the field of the part they lie under.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MuscleBlend {
    /// A union that is rounded in grooves: skin and fascia span them.
    #[default]
    Fillet,
    /// As in the thesis: muscles by [`CleanUnion`](crate::field::operator::CleanUnion), then with the part by [`Detail`](crate::field::operator::Detail). The outline of
    /// every muscle shows; for comparison.
    Detail,
}

/// A controller as written in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ControllerDef {
    /// One of [`Controller::NAMES`].
    Preset(String),
    /// A curve of its own.
    Curve(ControllerCurve),
}

/// The curve of a controller, see [`Controller::new`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ControllerCurve {
    /// Abscissa and ordinate.
    pub points: [[f64; 2]; 3],
    /// Above 0; below 1 leaves the middle point faster.
    pub steepness: [f64; 2],
    /// Angle (radians) or cosine.
    pub over: Abscissa,
    /// Theta (radians, 0 to pi/4) or amount (0 to 1).
    pub opening: Scale,
}

impl Default for ControllerCurve {
    fn default() -> Self {
        Self { points: [[0.0; 2]; 3], steepness: [1.0, 1.0], over: Abscissa::Angle, opening: Scale::Amount }
    }
}

impl ControllerDef {
    /// The controller itself; `None` for a preset that does not exist.
    pub fn build(&self) -> Option<Result<Controller, ControllerError>> {
        match self {
            Self::Preset(name) => Controller::by_name(name).map(Ok),
            Self::Curve(ControllerCurve { points, steepness, over, opening }) => {
                Some(Controller::new(points.map(|[a, o]| (a, o)), *steepness, *over, *opening))
            }
        }
    }
}

impl SkinDef {
    /// Operator and controller at a joint.
    pub fn at(&self, joint: &str) -> (&str, Option<&ControllerDef>) {
        let own = self.joint.get(joint);
        match own.and_then(|j| j.operator.as_deref()) {
            Some(operator) => (operator, own.and_then(|j| j.controller.as_ref())),
            None => (&self.operator, own.and_then(|j| j.controller.as_ref()).or(self.controller.as_ref())),
        }
    }
}
