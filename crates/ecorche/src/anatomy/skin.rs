//! `[skin]`: how the parts of the skin become fields, meet, and are followed.

use super::reader::{Bound, Section};
use crate::field::grid::MAX_RESOLUTION;
use crate::field::operator::{self, Abscissa, Controller, ControllerError, Scale};
use std::collections::BTreeMap;
use std::fmt;

/// Settings of the implicit skin.
#[derive(Clone, Debug, PartialEq)]
pub struct SkinDef {
    /// Operator at every joint that names no other; one of [`operator::NAMES`].
    pub operator: String,
    /// Its controller; `None` for the one that suits the operator.
    pub controller: Option<ControllerDef>,
    /// Fewest and most samples of a part's field. More follow the skin closer and fit slower.
    pub samples: [u32; 2],
    /// Cells along the longest side of a part's table, see [`crate::field::grid::GridSettings`].
    pub grid: u32,
    /// How vertices are led to their place in the field.
    pub tracking: TrackingDef,
    /// How far from a joint the caps that close a part there may lie, in distances of the joint to the skin.
    pub closure: f32,
    /// Gap left between touching parts, as a share of the limb's radius.
    pub gap: f32,
    /// How far skin that touches nothing may leave its skinned place, in inner radii of its part.
    pub max_offset: f32,
    /// How muscles are joined to the skin's fields.
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
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JointDef {
    /// One of [`operator::NAMES`]; `None` for the skin's.
    pub operator: Option<String>,
    /// `None` for the skin's, or the one that suits the joint's own operator.
    pub controller: Option<ControllerDef>,
    /// Changes of the points its field goes through.
    pub samples: SamplesDef,
}

/// Changes of the points a bone's field goes through, in the coordinates of its joint, metres.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SamplesDef {
    /// Further points: place and outward normal.
    pub add: Vec<[f32; 6]>,
    /// Places whose nearest points are left out.
    pub remove: Vec<[f32; 3]>,
}

/// How vertices are led to their place in the field.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrackingDef {
    /// A ray from the own side, then relaxation: holds in deep bends.
    #[default]
    Robust,
    /// Newton steps, stopping where the gradient turns.
    Paper2012,
    /// Bracketed steps with relaxation by rigid neighbourhoods.
    Paper2014,
}

impl TrackingDef {
    /// Names in files and on the command line.
    pub const NAMES: [&str; 3] = ["robust", "2012", "2014"];

    /// The scheme of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        Some(match name {
            "robust" => Self::Robust,
            "2012" => Self::Paper2012,
            "2014" => Self::Paper2014,
            _ => return None,
        })
    }
}

impl fmt::Display for TrackingDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES[*self as usize])
    }
}

/// How muscles are joined to each other and to the field of the part they lie under.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MuscleBlend {
    /// A union that is rounded in grooves: skin and fascia span them.
    #[default]
    Fillet,
    /// The thesis': muscles by [`operator::CleanUnion`], then to the part by [`operator::Detail`]. The outline of every muscle shows; to compare
    /// with.
    Detail,
}

impl MuscleBlend {
    /// Names in files.
    pub const NAMES: [&str; 2] = ["fillet", "detail"];

    /// The one of that name.
    pub fn by_name(name: &str) -> Option<Self> {
        match name {
            "fillet" => Some(Self::Fillet),
            "detail" => Some(Self::Detail),
            _ => None,
        }
    }
}

impl fmt::Display for MuscleBlend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::NAMES[*self as usize])
    }
}

/// A controller as written in a file.
#[derive(Clone, Debug, PartialEq)]
pub enum ControllerDef {
    /// One of [`Controller::NAMES`].
    Preset(String),
    /// A curve of its own, see [`Controller::new`].
    Points {
        /// Abscissa and ordinate.
        points: [[f64; 2]; 3],
        /// Below 1 leaves the middle point faster.
        steepness: [f64; 2],
        /// Angle (radians) or cosine.
        over: Abscissa,
        /// Theta (radians, 0 to pi/4) or amount (0 to 1).
        opening: Scale,
    },
}

impl ControllerDef {
    /// The controller itself; `None` for a preset that does not exist.
    pub fn build(&self) -> Option<Result<Controller, ControllerError>> {
        match self {
            Self::Preset(name) => Controller::by_name(name).map(Ok),
            Self::Points { points, steepness, over, opening } => {
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

pub(super) const KEYS: [&str; 10] =
    ["operator", "controller", "samples", "grid", "tracking", "closure", "gap", "leash", "joining", "joint"];
pub(super) const JOINT_KEYS: [&str; 3] = ["operator", "controller", "samples"];
const CONTROLLER_KEYS: [&str; 4] = ["points", "steepness", "over", "opening"];

/// Reads `[skin]`.
pub(super) fn read(section: &Section) -> SkinDef {
    let default = SkinDef::default();
    let operator = section.choice("operator", &operator::NAMES).map(str::to_owned);
    let samples = section.numbers::<2>("samples", Bound::Within(8.0, 5000.0)).and_then(|[low, high]| {
        if low > high || low.fract() != 0.0 || high.fract() != 0.0 {
            section.problem("samples", "must be two whole numbers, the smaller first, such as [50, 250]");
            return None;
        }
        Some([low as u32, high as u32])
    });
    let joints = section.named_sections("joint", &JOINT_KEYS).into_iter().map(|(name, joint)| {
        let operator = joint.choice("operator", &operator::NAMES).map(str::to_owned);
        let samples = read_samples(&joint);
        (name, JointDef { operator, controller: read_controller(&joint), samples })
    });
    let number = |key, bound, default: f32| section.number(key, bound).map_or(default, |x| x as f32);
    SkinDef {
        operator: operator.unwrap_or(default.operator),
        controller: read_controller(section),
        samples: samples.unwrap_or(default.samples),
        grid: section.whole("grid", 2, MAX_RESOLUTION.into()).map_or(default.grid, |n| n as u32),
        tracking: section
            .choice("tracking", &TrackingDef::NAMES)
            .and_then(TrackingDef::by_name)
            .unwrap_or_default(),
        closure: number("closure", Bound::Within(0.0, 10.0), default.closure),
        gap: number("gap", Bound::Within(0.0, 0.5), default.gap),
        max_offset: number("leash", Bound::Within(0.0, 10.0), default.max_offset),
        blend: section
            .choice("joining", &MuscleBlend::NAMES)
            .and_then(MuscleBlend::by_name)
            .unwrap_or_default(),
        joint: joints.collect(),
    }
}

fn read_samples(section: &Section) -> SamplesDef {
    let Some(table) = section.section("samples", &["add", "remove"]) else { return SamplesDef::default() };
    let add: Vec<[f32; 6]> = numbers(table.rows::<6>("add", Bound::Any));
    if add.iter().any(|row| row[3..].iter().map(|x| x * x).sum::<f32>() < 1e-12) {
        table.problem("add", "a point is a place and the direction outward there: [x, y, z, nx, ny, nz]");
        return SamplesDef::default();
    }
    SamplesDef { add, remove: numbers(table.rows::<3>("remove", Bound::Any)) }
}

fn numbers<const N: usize>(rows: Option<Vec<[f64; N]>>) -> Vec<[f32; N]> {
    rows.unwrap_or_default().into_iter().map(|row| row.map(|x| x as f32)).collect()
}

fn read_controller(section: &Section) -> Option<ControllerDef> {
    let key = "controller";
    if !section.has(key) {
        return None;
    }
    if !section.holds_table(key) {
        return Some(ControllerDef::Preset(section.choice(key, &Controller::NAMES)?.to_owned()));
    }
    let table = section.section(key, &CONTROLLER_KEYS)?;
    table.require("points", "[[0.79, 0.0], [0.79, 0.0], [1.57, 1.0]]");
    let rows = table.rows::<2>("points", Bound::Any)?;
    let Ok(points) = <[[f64; 2]; 3]>::try_from(rows) else {
        table.problem("points", "must be three points [angle, opening]");
        return None;
    };
    let over = match table.choice("over", &["angle", "cosine"]) {
        Some("cosine") => Abscissa::Cosine,
        _ => Abscissa::Angle,
    };
    let opening = match table.choice("opening", &["theta", "amount"]) {
        Some("theta") => Scale::Theta,
        _ => Scale::Amount,
    };
    let steepness = table.numbers::<2>("steepness", Bound::Positive).unwrap_or([1.0, 1.0]);
    let found = ControllerDef::Points { points, steepness, over, opening };
    if let Some(Err(error)) = found.build() {
        table.problem("points", error.to_string());
        return None;
    }
    Some(found)
}
