//! The figures of one frame, and what each of them means.

use super::against::Against;
use super::definition::ShownMuscle;
use super::pierce::PiercedBy;
use serde::Serialize;

/// Everything measured on one frame. Lengths in metres where nothing else is said, ratios to rest. What is compared with the
/// start is `None` without one, see [`StartFrame`](super::StartFrame).
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FrameFigures {
    /// Number of the frame.
    pub frame: usize,
    /// New pairs of triangles that meet, within a group, without a shared vertex.
    pub pairs: usize,
    /// New pairs across groups.
    pub pairs_across: usize,
    /// New pairs within a ring: triangles that share one vertex and meet elsewhere too.
    pub folds: usize,
    /// Vertices inside another part of their group.
    pub buried: usize,
    /// Vertices of skin turned inside out by a fold.
    pub everted: usize,
    /// Largest depth of a buried or everted vertex, metres.
    pub depth: f64,
    /// Volume of the whole over rest.
    pub volume: f64,
    /// Space filled by the whole, overlap counted once, over rest.
    pub filled: f64,
    /// Volume of each part over rest; `None` for patches and tiny parts.
    pub volume_by_part: Vec<Option<f64>>,
    /// Edge length over rest, 95th percentile.
    pub stretch_p95: f64,
    /// Edge length over rest, largest.
    pub stretch_max: f64,
    /// Edge length over rest, smallest.
    pub stretch_min: f64,
    /// Triangles turned over; `None` without a skeleton.
    pub flipped: Option<usize>,
    /// Vertices farther from their reference than a quarter of the limb; `None` without a reference.
    pub strayed: Option<usize>,
    /// Largest distance from the reference over the limb's thickness.
    pub stray_max: Option<f64>,
    /// RMS change of the angle between neighbouring triangles against rest, of free skin, degrees; `None` if all is
    /// contact skin.
    pub roughness: Option<f64>,
    /// The same of contact skin; `None` if there is none.
    pub roughness_contact: Option<f64>,
    /// Roughness of free skin over the start's: (ours + 0.5) / (start + 0.5).
    pub roughness_ratio: Option<f64>,
    /// The same of contact skin.
    pub roughness_contact_ratio: Option<f64>,
    /// Edges of free skin bent by more than 30 degrees more than at rest, above the start's number, per thousand edges.
    pub creases: Option<f64>,
    /// Share of its area under the start that the worst connected piece has lost.
    pub crush: Option<f64>,
    /// Gap that stays open in closed folds, 95th percentile by area, millimetres.
    pub hollow: Option<f64>,
    /// The same, mean.
    pub hollow_mean: Option<f64>,
    /// Vertices, per thousand, whose step from the frame before differs from the start's by more than 0.5 % of the
    /// longest side of the rest pose's box; `None` on the first frame.
    pub boil: Option<f64>,
    /// Distance to a reference surface; `None` without one.
    pub against: Option<Against>,
    /// Motion of a vertex over the skeleton's near it, 99th percentile; `None` on the first frame.
    pub popping_p99: Option<f64>,
    /// The same, largest.
    pub popping_max: Option<f64>,
    /// The vertex of `popping_max`.
    pub popping_vertex: Option<u32>,
    /// How far the vertex of `popping_max` moved, metres.
    pub popping_moved: Option<f64>,
    /// How far the skeleton carries skin near that vertex, metres: the limit that popping is measured by.
    pub popping_limit: Option<f64>,
    /// The vertex nearby that sets this limit.
    pub popping_limit_vertex: Option<u32>,
    /// Change of motion of a vertex over the skeleton's motion near it, 99th percentile; `None` on the first two.
    pub flicker_p99: Option<f64>,
    /// The same, largest.
    pub flicker_max: Option<f64>,
    /// Vertices whose position was not a number; they were judged at their last good position.
    pub not_finite: usize,
    /// How deep the worst particle of a muscle is in a bone beyond its clearance, metres; `None` without muscles.
    pub muscle_depth: Option<f64>,
    /// Fibres and pads put back because a number was not finite or absurd.
    pub muscle_resets: Option<usize>,
    /// How far muscles stand out of the skin, largest, millimetres; `None` without muscles.
    pub pierce: Option<f64>,
    /// Share of their surface that is more than 2 mm outside, per cent.
    pub pierce_area: Option<f64>,
    /// How far bones stand out of the skin, largest, millimetres; `None` without muscles.
    pub pierce_bones: Option<f64>,
    /// Joint of the bone that stands out farthest; `None` if none does.
    pub pierced_bone: Option<String>,
    /// The muscles that stand out, deepest first.
    pub pierced: Vec<PiercedBy>,
    /// How much of the growth of superficial bellies reaches the skin; `None` if none grows.
    pub definition: Option<f64>,
    /// The superficial muscles that grew by more than 1 mm.
    pub shown: Vec<ShownMuscle>,
    /// What the skin cuts off the muscles and finds no other place, millilitres; `None` without muscles.
    pub muscle_lost: Option<f64>,
    /// Time the method took.
    pub milliseconds: f64,
}

/// Which way a figure gets worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Worse {
    /// The larger the worse.
    Larger,
    /// The smaller the worse.
    Smaller,
}

/// A figure as tables, limits and plots know it.
#[derive(Clone, Copy, Debug)]
pub struct Figure {
    /// Its name in limits and column heads.
    pub name: &'static str,
    /// What it means, in a line.
    pub meaning: &'static str,
    /// Unit; empty for counts and ratios.
    pub unit: &'static str,
    /// Digits after the point in tables.
    pub decimals: usize,
    /// Which way it gets worse.
    pub worse: Worse,
    /// Its value on a frame, if the frame has it.
    pub value: fn(&FrameFigures) -> Option<f64>,
}

/// Every figure, in the order of the table.
pub const FIGURES: &[Figure] = &[
    Figure {
        name: "pairs",
        meaning: "triangles that meet without a shared vertex, not at rest",
        unit: "",
        decimals: 0,
        worse: Worse::Larger,
        value: |f| Some(f.pairs as f64),
    },
    Figure {
        name: "pairs_across",
        meaning: "the same between separate pieces (eyes, clothes)",
        unit: "",
        decimals: 0,
        worse: Worse::Larger,
        value: |f| Some(f.pairs_across as f64),
    },
    Figure {
        name: "folds",
        meaning: "triangles that share one vertex and meet elsewhere too, not at rest",
        unit: "",
        decimals: 0,
        worse: Worse::Larger,
        value: |f| Some(f.folds as f64),
    },
    Figure {
        name: "buried",
        meaning: "vertices inside another part or turned inside out",
        unit: "",
        decimals: 0,
        worse: Worse::Larger,
        value: |f| Some((f.buried + f.everted) as f64),
    },
    Figure {
        name: "depth",
        meaning: "largest depth of such a vertex",
        unit: "m",
        decimals: 4,
        worse: Worse::Larger,
        value: |f| Some(f.depth),
    },
    Figure {
        name: "volume_loss",
        meaning: "share of the rest volume lost",
        unit: "",
        decimals: 4,
        worse: Worse::Larger,
        value: |f| Some((1.0 - f.volume).max(0.0)),
    },
    Figure {
        name: "volume_gain",
        meaning: "share of the rest volume gained",
        unit: "",
        decimals: 4,
        worse: Worse::Larger,
        value: |f| Some((f.volume - 1.0).max(0.0)),
    },
    Figure {
        name: "filled_loss",
        meaning: "share of the space filled at rest that is lost; what overlaps counts once",
        unit: "",
        decimals: 4,
        worse: Worse::Larger,
        value: |f| Some((1.0 - f.filled).max(0.0)),
    },
    Figure {
        name: "part_loss",
        meaning: "largest share of its rest volume that a part lost",
        unit: "",
        decimals: 3,
        worse: Worse::Larger,
        value: |f| f.volume_by_part.iter().flatten().map(|v| (1.0 - v).max(0.0)).reduce(f64::max),
    },
    Figure {
        name: "stretch_p95",
        meaning: "edge length over rest, 95th percentile",
        unit: "",
        decimals: 3,
        worse: Worse::Larger,
        value: |f| Some(f.stretch_p95),
    },
    Figure {
        name: "stretch_max",
        meaning: "edge length over rest, largest",
        unit: "",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| Some(f.stretch_max),
    },
    Figure {
        name: "stretch_min",
        meaning: "edge length over rest, smallest",
        unit: "",
        decimals: 3,
        worse: Worse::Smaller,
        value: |f| Some(f.stretch_min),
    },
    Figure {
        name: "flipped",
        meaning: "triangles flipped, compared with where their joints carry them",
        unit: "",
        decimals: 0,
        worse: Worse::Larger,
        value: |f| f.flipped.map(|n| n as f64),
    },
    Figure {
        name: "strayed",
        meaning: "vertices not in contact, farther from their reference than a quarter of the limb",
        unit: "",
        decimals: 0,
        worse: Worse::Larger,
        value: |f| f.strayed.map(|n| n as f64),
    },
    Figure {
        name: "stray_max",
        meaning: "largest such distance over the limb's thickness",
        unit: "",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| f.stray_max,
    },
    Figure {
        name: "roughness",
        meaning: "RMS change of the angle between neighbouring triangles against rest, free skin",
        unit: "degrees",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| f.roughness,
    },
    Figure {
        name: "roughness_ratio",
        meaning: "roughness of free skin over that of the start",
        unit: "",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| f.roughness_ratio,
    },
    Figure {
        name: "roughness_contact",
        meaning: "roughness of skin in contact",
        unit: "degrees",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| f.roughness_contact,
    },
    Figure {
        name: "roughness_contact_ratio",
        meaning: "roughness of skin in contact over that of the start",
        unit: "",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| f.roughness_contact_ratio,
    },
    Figure {
        name: "creases",
        meaning: "free edges bent by more than 30 degrees more than at rest, above the start's, per thousand edges",
        unit: "",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| f.creases,
    },
    Figure {
        name: "crush",
        meaning: "share of its area that the worst piece lost against the start",
        unit: "",
        decimals: 3,
        worse: Worse::Larger,
        value: |f| f.crush,
    },
    Figure {
        name: "hollow",
        meaning: "gap that stays open in closed folds, 95th percentile",
        unit: "mm",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| f.hollow,
    },
    Figure {
        name: "hollow_mean",
        meaning: "the same, mean",
        unit: "mm",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| f.hollow_mean,
    },
    Figure {
        name: "boil",
        meaning: "vertices that move where the start does not, per thousand",
        unit: "",
        decimals: 1,
        worse: Worse::Larger,
        value: |f| f.boil,
    },
    Figure {
        name: "against_mean",
        meaning: "distance to the reference surface, mean",
        unit: "mm",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| f.against.as_ref().map(|a| a.mean),
    },
    Figure {
        name: "against_p95",
        meaning: "the same, 95th percentile",
        unit: "mm",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| f.against.as_ref().map(|a| a.p95),
    },
    Figure {
        name: "against_worst",
        meaning: "the same, largest",
        unit: "mm",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| f.against.as_ref().map(|a| a.worst),
    },
    Figure {
        name: "against_slope",
        meaning: "angle between the normals of the skin and of the reference, mean",
        unit: "degrees",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| f.against.as_ref().map(|a| a.slope),
    },
    Figure {
        name: "against_slope_p95",
        meaning: "the same, 95th percentile",
        unit: "degrees",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| f.against.as_ref().map(|a| a.slope_p95),
    },
    Figure {
        name: "popping_p99",
        meaning: "motion of a vertex over the skeleton's near it, 99th percentile",
        unit: "",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| f.popping_p99,
    },
    Figure {
        name: "popping_max",
        meaning: "the same, largest",
        unit: "",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| f.popping_max,
    },
    Figure {
        name: "flicker_p99",
        meaning: "change of motion over the skeleton's motion nearby, 99th percentile",
        unit: "",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| f.flicker_p99,
    },
    Figure {
        name: "flicker_max",
        meaning: "the same, largest",
        unit: "",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| f.flicker_max,
    },
    Figure {
        name: "not_finite",
        meaning: "vertices whose position was not a number",
        unit: "",
        decimals: 0,
        worse: Worse::Larger,
        value: |f| Some(f.not_finite as f64),
    },
    Figure {
        name: "muscle_depth",
        meaning: "how deep a muscle is in a bone beyond where it was at rest",
        unit: "m",
        decimals: 5,
        worse: Worse::Larger,
        value: |f| f.muscle_depth,
    },
    Figure {
        name: "muscle_resets",
        meaning: "muscles put back because a number was not finite or absurd",
        unit: "",
        decimals: 0,
        worse: Worse::Larger,
        value: |f| f.muscle_resets.map(|n| n as f64),
    },
    Figure {
        name: "pierce",
        meaning: "how far muscles stand out of the skin, largest",
        unit: "mm",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| f.pierce,
    },
    Figure {
        name: "pierce_area",
        meaning: "share of the muscles' surface that is more than 2 mm outside the skin",
        unit: "%",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| f.pierce_area,
    },
    Figure {
        name: "pierce_bones",
        meaning: "how far bones stand out of the skin, largest",
        unit: "mm",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| f.pierce_bones,
    },
    Figure {
        name: "definition",
        meaning: "how much of the growth of superficial bellies reaches the skin",
        unit: "",
        decimals: 2,
        worse: Worse::Smaller,
        value: |f| f.definition,
    },
    Figure {
        name: "muscle_lost",
        meaning: "volume that the skin cuts off the muscles and finds no other place",
        unit: "ml",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| f.muscle_lost,
    },
    Figure {
        name: "milliseconds",
        meaning: "time per frame",
        unit: "ms",
        decimals: 2,
        worse: Worse::Larger,
        value: |f| Some(f.milliseconds),
    },
];

/// The figure of that name.
pub fn figure(name: &str) -> Option<&'static Figure> {
    FIGURES.iter().find(|f| f.name == name)
}
