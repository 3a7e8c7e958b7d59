//! Every key of an anatomy file, described once. [`FILE`] is the whole file.
//!
//! Reading, writing, the comments of a new file, the studio's sliders and types and the reference page
//! `docs/anatomy.md` all come from these descriptions. Defaults are those of the types the tables are read into.

pub use super::wrinkle_keys::{DAB, STROKE, THESIS, WRINKLED_JOINT, WRINKLES};
pub use crate::muscle::keys::{BONE, FAT, KEYS, MUSCLE};
pub use crate::muscle::parametric::keys::PARAMETRIC;
pub use crate::schema::{Key, Kind, Need, Range, Slider, Table};

use super::skin::{ControllerCurve, JointDef, SamplesDef, SchemeDef, SkinDef};
use crate::field::grid::MAX_RESOLUTION;
use crate::field::operator::{self, Controller};
use crate::pieces::PieceDef;
use std::collections::BTreeMap;

/// The file as a whole.
pub static FILE: Table = Table::of::<BTreeMap<String, bool>>(
    "Anatomy",
    "How the skin is composed and what lies under it. Lengths are metres, angles radians, times seconds.",
    &[
        Key::required("version", Kind::Whole(0, i64::MAX), "1", "Version of the format: 1."),
        Key::optional("skin", Kind::Table(&SKIN), "The implicit skin."),
        Key::optional("wrinkles", Kind::Table(&WRINKLES), "Creases of compressed skin."),
        Key::optional(
            "piece",
            Kind::List(&Kind::Table(&PIECE), 0, usize::MAX),
            "Pieces of the surface whose roles are given.",
        ),
        Key::optional("muscle", Kind::List(&Kind::Table(&MUSCLE), 0, usize::MAX), "Muscles."),
        Key::optional(
            "parametric",
            Kind::List(&Kind::Table(&PARAMETRIC), 0, usize::MAX),
            "Muscles of a few curves, for the method parametric. Absent: made from the muscles above.",
        ),
        Key::optional("fat", Kind::List(&Kind::Table(&FAT), 0, usize::MAX), "Fat pads."),
        Key::optional(
            "bone",
            Kind::List(&Kind::Table(&BONE), 0, usize::MAX),
            "Bones that differ from the default.",
        ),
        Key::optional(
            "keys",
            Kind::List(&Kind::Table(&KEYS), 0, usize::MAX),
            "Parameters that change over clips.",
        ),
    ],
);

const OPERATOR: Kind = Kind::Choice(&operator::NAMES);
const CONTROLLER: Kind = Kind::Either(&[Kind::Choice(&Controller::NAMES), Kind::Table(&CURVE)]);

/// `[skin]`
pub static SKIN: Table = Table::of::<SkinDef>(
    "Skin",
    "The implicit skin: how the parts of the skin become fields, meet, and are tracked.",
    &[
        Key::optional(
            "operator",
            OPERATOR,
            "How the fields of two bones meet at a joint that names no operator. Absent: contact; with the tracking of \
             2012, blend.",
        ),
        Key::optional(
            "controller",
            CONTROLLER,
            "When the operator opens, by the angle between the gradients of the two fields: a name or a curve of \
             your own. Absent: the one that suits the operator.",
        ),
        Key::new(
            "samples",
            Kind::List(&Kind::Whole(8, 5000), 2, 2),
            "Fewest and most points that a part's field is fitted to. More follow the skin closer and take longer.",
        )
        .slider(50.0, 600.0, 10.0),
        Key::new(
            "grid",
            Kind::Whole(2, MAX_RESOLUTION as i64),
            "Cells along the longest side of the table of a part's field.",
        ),
        Key::new(
            "tracking",
            Kind::Choice(&["robust", "2012", "2014"]),
            "How vertices find their place in the field: our scheme, or those of two papers.",
        ),
        Key::new("scheme", Kind::Table(&SCHEME), "What the papers' schemes do differently."),
        Key::new(
            "start",
            Kind::Choice(&["lbs", "dqs", "cor"]),
            "The skinning that tracking starts from: linear blending, dual quaternions, or centres of rotation.",
        ),
        Key::new(
            "closure",
            Kind::Number(Range::within(0.0, 10.0)),
            "How far from a joint the caps that close a part may lie, in distances from the joint to the skin.",
        )
        .slider_in("×", 1.0, [0.0, 3.0, 0.05]),
        Key::new(
            "gap",
            Kind::Number(Range::within(0.0, 0.5)),
            "Gap left between parts that touch, in radii of the limb.",
        )
        .slider_in("× r", 1.0, [0.0, 0.5, 0.005]),
        Key::new(
            "max_offset",
            Kind::Number(Range::within(0.0, 10.0)),
            "How far skin beside a contact may move from its skinned place, in inner radii of its part.",
        )
        .was(&["leash"])
        .slider_in("× r", 1.0, [0.0, 2.0, 0.01]),
        Key::new(
            "blend",
            Kind::Choice(&["fillet", "detail"]),
            "How the skin lies over muscles that meet: rounded in grooves, or close to each, which shows every \
             outline.",
        )
        .was(&["joining"]),
        Key::new(
            "layers",
            Kind::Choice(&["auto", "one", "off"]),
            "What becomes of characters of several pieces: roles by what is measured, all pieces as one skin, or \
             skinning alone.",
        ),
        Key::new(
            "definition",
            Kind::Number(Range::within(0.0, 5.0)),
            "How much of the muscles' motion shows on the skin: 0 soft, 1 lean, 1.5 as in comics.",
        )
        .slider_in("×", 1.0, [0.0, 2.0, 0.05]),
        Key::new(
            "solver",
            Kind::Choice(&["direct", "xpbd", "pbd"]),
            "How muscles are solved in time: all links of a fibre together, link by link, or as in the thesis, where \
             stiffness depends on the step.",
        ),
        Key::new("joint", Kind::ByName(&JOINT), "Joints with settings of their own, by name."),
    ],
);

/// `[skin.scheme]`
pub static SCHEME: Table = Table::of::<SchemeDef>(
    "Scheme",
    "Settings of the papers' schemes of tracking, for comparisons. Without effect on the robust one.",
    &[
        Key::optional(
            "step",
            Kind::Number(Range::within(0.005, 1.6)),
            "Largest turn of a joint in a substep of 2014. Absent: 0.1745, 10 degrees.",
        )
        .unit("rad"),
        Key::optional(
            "contact_angle",
            Kind::Number(Range::within(0.0, 3.1)),
            "2012: where the gradient turns by more, skin is in contact. 2014: fields whose gradients differ by less are \
             neighbours, and do not press on each other. Absent: 0.96 for 2012, 1.484 for 2014.",
        )
        .unit("rad"),
        Key::optional(
            "iterations",
            Kind::Whole(0, 1000),
            "2012: steps towards the surface. 2014: relaxations that end a substep. Absent: 16 for 2012, 6 for 2014.",
        ),
        Key::new("smoothing", Kind::Flag, "Whether skin around contacts is smoothed at the end."),
        Key::new(
            "printed",
            Kind::Flag,
            "The papers' own numbers without what was added to them: in 2014 no smoothing, and no pass that keeps skin on its \
             own side.",
        ),
    ],
);

/// `[[piece]]`
pub static PIECE: Table = Table::of::<PieceDef>(
    "Piece",
    "Connected pieces of the surface (clothes, plates, hair) and what they are to the body. Those are meant that have all of \
     mesh, material and index that are given. A later entry holds over an earlier one.",
    &[
        Key::optional("mesh", Kind::Text, "Name of the mesh that most of the piece is of."),
        Key::optional("material", Kind::Text, "Name of the material that most of the piece has."),
        Key::optional(
            "index",
            Kind::Whole(0, 1_000_000),
            "Number of the piece in the list of pieces, from 0.",
        ),
        Key::new(
            "role",
            Kind::Choice(&["auto", "skin", "worn", "rigid", "loose"]),
            "Skin is tracked; worn pieces follow the skin under them; rigid and loose ones move by skinning, as a whole \
             with the skin they lie on.",
        ),
        Key::new("on", Kind::NAMES, "Meshes or materials whose skin alone a piece follows. Empty: all skin."),
        Key::new(
            "apart",
            Kind::NAMES,
            "Meshes or materials that a piece is separated from although they meet in the bind pose.",
        ),
    ],
);

/// `[skin.joint."NAME"]`
pub static JOINT: Table = Table::of::<JointDef>(
    "JointSettings",
    "What one joint does differently.",
    &[
        Key::optional(
            "operator",
            OPERATOR,
            "How the fields of this bone and its parent meet. Absent: the skin's operator.",
        ),
        Key::optional(
            "controller",
            CONTROLLER,
            "When the operator opens. Absent: the skin's, or the one that suits the joint's own operator.",
        ),
        Key::new(
            "samples",
            Kind::Table(&SAMPLES),
            "Changes of the points that the field of this bone goes through.",
        ),
    ],
);

static SAMPLES: Table = Table::of::<SamplesDef>(
    "SampleChanges",
    "Changes of the points that a bone's field goes through, along the axes of its joint.",
    &[
        Key::new(
            "add",
            Kind::List(&Kind::List(&Kind::Number(Range::ANY), 6, 6), 0, usize::MAX),
            "Further points: place and outward normal, [x, y, z, nx, ny, nz].",
        )
        .unit("m"),
        Key::new(
            "remove",
            Kind::List(&Kind::VECTOR, 0, usize::MAX),
            "Places whose nearest points are left out.",
        )
        .unit("m"),
    ],
);

static CURVE: Table = Table::of::<ControllerCurve>(
    "ControllerCurve",
    "A controller's curve through three points.",
    &[
        Key::required(
            "points",
            Kind::List(&Kind::List(&Kind::Number(Range::ANY), 2, 2), 3, 3),
            "[[0.79, 0.0], [0.79, 0.0], [1.57, 1.0]]",
            "Three points [angle, opening], angles rising.",
        ),
        Key::new(
            "steepness",
            Kind::List(&Kind::Number(Range::POSITIVE), 2, 2),
            "How fast the curve leaves the middle point, to either side. Below 1 is faster.",
        ),
        Key::new(
            "over",
            Kind::Choice(&["angle", "cosine"]),
            "Whether the points are given by the angle between the gradients, in radians, or by its cosine.",
        ),
        Key::new(
            "opening",
            Kind::Choice(&["theta", "amount"]),
            "Whether openings are amounts from 0 to 1 or the operator's theta from 0 to pi/4, in radians.",
        ),
    ],
);
