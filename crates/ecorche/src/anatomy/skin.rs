//! `[skin]`: how the parts of the skin become fields, meet, and are tracked. The keys are described in [`super::keys`].

use crate::field::operator::{Abscissa, Controller, ControllerError, Scale};
use crate::pieces::Layering;
use crate::skinning::Skinning;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;

/// Settings of the implicit skin.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SkinDef {
    /// Operator at every joint that names no other; one of [`NAMES`](crate::field::operator::NAMES). `None` for the one
    /// that suits the tracking: `blend` for the scheme of 2012, else `contact`.
    pub operator: Option<String>,
    /// Its controller; `None` for the one that suits the operator.
    pub controller: Option<ControllerDef>,
    /// Fewest and most samples of a part's field, 8 to 5000. More follow the skin closer and fit slower.
    pub samples: [u32; 2],
    /// Cells along the longest side of a part's table, see [`crate::field::GridSettings`].
    pub grid: u32,
    /// How vertices find their place in the field.
    pub tracking: TrackingDef,
    /// What the papers' schemes do differently.
    pub scheme: SchemeDef,
    /// The skinning that tracking starts from.
    pub start: Skinning,
    /// How far from a joint the caps that close a part there may lie, in distances from the joint to the skin; 0 to 10.
    pub closure: f32,
    /// Gap left between touching parts, as a share of the limb's radius; 0 to 0.5.
    pub gap: f32,
    /// How far skin beside a contact may move from its skinned place, in inner radii of its part; 0 to 10.
    pub max_offset: f32,
    /// How the skin lies over muscles that meet.
    pub blend: Grooves,
    /// What becomes of characters of several pieces.
    pub layers: Layering,
    /// How much of the muscles' motion shows on the skin, 0 to 5: 0 soft, 1 lean, 1.5 as in comics.
    pub definition: f32,
    /// How muscles are solved in time.
    pub solver: SolverDef,
    /// Joints with settings of their own, by name.
    pub joint: BTreeMap<String, JointDef>,
}

impl Default for SkinDef {
    fn default() -> Self {
        Self {
            operator: None,
            controller: None,
            samples: [50, 250],
            grid: 32,
            tracking: TrackingDef::Robust,
            scheme: SchemeDef::default(),
            start: Skinning::DualQuaternion,
            closure: 1.0,
            gap: 0.02,
            max_offset: 0.1,
            blend: Grooves::Fillet,
            layers: Layering::Auto,
            definition: 1.0,
            solver: SolverDef::Direct,
            joint: BTreeMap::new(),
        }
    }
}

/// Settings of the schemes of 2012 and 2014; `None` for those that suit the scheme.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct SchemeDef {
    /// Largest turn of a joint in a substep of 2014, radians.
    pub step: Option<f32>,
    /// 2012: a gradient that turns by more than this is a contact. 2014: gradients that differ by less belong to neighbours. Radians.
    pub contact_angle: Option<f32>,
    /// 2012: steps towards the surface. 2014: relaxations after the main loop of a substep.
    pub iterations: Option<u32>,
    /// Whether skin around contacts is smoothed at the end.
    pub smoothing: bool,
    /// The papers' own numbers, without what was added to them.
    pub printed: bool,
}

impl Default for SchemeDef {
    fn default() -> Self {
        Self { step: None, contact_angle: None, iterations: None, smoothing: true, printed: false }
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
    /// A ray from the vertex's own side, then relaxation: holds in deep bends.
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

/// How the skin lies over the grooves between muscles that meet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Grooves {
    /// Rounded in grooves: skin and fascia span them.
    #[default]
    Fillet,
    /// Close to every muscle, whose outlines show; for comparison.
    Detail,
}

/// How muscles are solved in time, see [`dynamics::Solver`](crate::dynamics::Solver).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SolverDef {
    /// All links of a fibre together.
    #[default]
    Direct,
    /// Link by link, with compliances.
    Xpbd,
    /// Link by link, with the thesis' shares per step: 0.1 of an error corrected, 0.9 of the speed kept.
    Pbd,
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
    /// Operator and controller at a joint; `None` where neither the joint nor the skin names one.
    pub fn at(&self, joint: &str) -> (Option<&str>, Option<&ControllerDef>) {
        let own = self.joint.get(joint);
        let controller = own.and_then(|j| j.controller.as_ref());
        match own.and_then(|j| j.operator.as_deref()) {
            Some(operator) => (Some(operator), controller),
            None => (self.operator.as_deref(), controller.or(self.controller.as_ref())),
        }
    }
}
