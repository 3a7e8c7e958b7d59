//! The keys of muscles, fat, bones and keyed parameters in an anatomy file. The types they are read into are in
//! [`super::definition`]; a new key is one entry here and one field there.

use super::definition::{
    ActivationDef, Attachment, BoneDef, CollideDef, CubicDef, FatDef, KeysDef, MuscleDef, ProfilesDef,
    SinesDef,
};
use crate::schema::{Key, Kind, Range, Table};

pub(super) const SIDES: Kind = Kind::Choice(&["left", "right", "middle"]);

/// A point on a bone.
pub(super) static POINT: Table = Table::of::<Attachment>(
    "Attachment",
    "A point fixed to a bone.",
    &[
        Key::required("bone", Kind::Text, "\"NAME\"", "Name of the joint the bone starts at."),
        Key::required("at", Kind::VECTOR, "[0.0, 0.1, 0.0]", "Where it is, along the axes of that joint.")
            .unit("m"),
    ],
);

/// A point, or several for a curve.
const POINTS: Kind = Kind::Either(&[Kind::Table(&POINT), Kind::List(&Kind::Table(&POINT), 1, usize::MAX)]);
pub(super) const POINT_EXAMPLE: &str = "{ bone = \"NAME\", at = [0.0, 0.1, 0.0] }";

static PEAK: Table = Table::of::<CubicDef>(
    "CubicProfile",
    "Two cubic slopes that meet where the muscle is thickest.",
    &[Key::required(
        "peak",
        Kind::Number(Range::within(0.01, 0.99)),
        "0.4",
        "Where the muscle is thickest, as a share of its length from the origin.",
    )],
);

static SINES: Table = Table::of::<SinesDef>(
    "SineProfile",
    "A sum of sines.",
    &[Key::required(
        "sines",
        Kind::List(&Kind::Number(Range::ANY), 1, 32),
        "[1.0, 0.1]",
        "Weights of sin(pi s), sin(2 pi s), and so on. Their common scale does not matter.",
    )],
);

const PROFILE: Kind =
    Kind::Either(&[Kind::List(&Kind::Whole(2, 9), 2, 2), Kind::Table(&PEAK), Kind::Table(&SINES)]);

static PROFILES: Table = Table::of::<ProfilesDef>(
    "Profiles",
    "How thickness is spread along a muscle: two powers [a, b], { peak = ... } or { sines = [...] }. \
     Equal powers put the belly in the middle, a smaller first one towards the origin. Larger powers make it \
     shorter and thicker.",
    &[
        Key::new("rest", PROFILE, "The profile when slack.").always(),
        Key::new("active", PROFILE, "The profile when fully tense.").always(),
    ],
);

pub(super) static ACTIVATION: Table = Table::of::<ActivationDef>(
    "Activation",
    "When a muscle tenses where no keys say it.",
    &[
        Key::new(
            "from",
            Kind::Choice(&["pose", "shortening", "angle", "constant"]),
            "What tenses the muscle: how much it shortens, the angle of its joints, the larger of both (pose), \
             or nothing (constant).",
        ),
        Key::new(
            "gain",
            Kind::Number(Range::NOT_NEGATIVE),
            "Multiplies the activation. 0 leaves the muscle slack, 2 tenses it twice as early.",
        )
        .slider_in("×", 1.0, [0.0, 4.0, 0.05]),
        Key::new("base", Kind::Number(Range::SHARE), "Activation in the bind pose.").slider(0.0, 1.0, 0.01),
        Key::new(
            "full_shortening",
            Kind::Number(Range::POSITIVE),
            "Share of the bind length by which the muscle must shorten to be fully tense, before the gain.",
        ),
        Key::new(
            "full_angle",
            Kind::Number(Range::POSITIVE),
            "Angle of its joints at which the muscle is fully tense, before the gain.",
        )
        .unit("rad"),
        Key::new(
            "curve",
            Kind::Curve([Range::SHARE, Range::SHARE]),
            "Pairs of activation before and after, with straight lines between. Empty changes nothing.",
        ),
    ],
);

static COLLIDE: Table = Table::of::<CollideDef>(
    "Collide",
    "What a muscle cannot pass through.",
    &[
        Key::new("bones", Kind::Flag, "Stays out of bones."),
        Key::new("muscles", Kind::Flag, "Stays out of other muscles; both move."),
        Key::new("skin", Kind::Flag, "Stays inside the skin of the parts it lies under."),
    ],
);

pub(super) const MIRROR: Key =
    Key::new("mirror", Kind::Flag, "Whether this entry also stands for its mirror image on the other side.");
const PARTS: Key = Key::new(
    "parts",
    Kind::NAMES,
    "Bones whose skin it deforms. Empty: those under whose skin it lies in the bind pose.",
);

/// `[[muscle]]`
pub static MUSCLE: Table = Table::of::<MuscleDef>(
    "Muscle",
    "A muscle. With one point at each end it is a spindle. With a list of points as origin or insertion it is a \
     fan of fibres, edited as one.",
    &[
        Key::required("name", Kind::Text, "\"biceps brachii\"", "Name without the side."),
        Key::new("side", SIDES, "Which side of the body. Name and side together are unique."),
        MIRROR,
        Key::required("origin", POINTS, POINT_EXAMPLE, "Where it starts: a point, or a list of points."),
        Key::required("insertion", POINTS, POINT_EXAMPLE, "Where it ends: a point, or a list of points."),
        Key::new(
            "via",
            Kind::List(&Kind::Table(&POINT), 0, usize::MAX),
            "Points that its axis passes between origin and insertion.",
        ),
        Key::new("fibres", Kind::Whole(1, 50), "Fibres between the curves at its ends; 1 for points."),
        Key::new("particles", Kind::Whole(8, 200), "Moving points of the axis, ends included."),
        Key::required(
            "width",
            Kind::Number(Range::POSITIVE),
            "0.02",
            "Mean radius in the bind pose. The volume follows from it and is kept.",
        )
        .unit("m")
        .slider_in("mm", 1000.0, [1.0, 80.0, 0.1]),
        Key::new(
            "eccentricity",
            Kind::Number(Range::within(0.0, 0.98)),
            "Shape of the cross section. 0 is round, near 1 is flat.",
        )
        .slider(0.0, 0.98, 0.01),
        Key::optional(
            "wide_axis",
            Kind::Direction,
            "Direction of the long side of the cross section in the bind pose, along the axes of the origin's \
             joint. Absent: along the curve of a list of points, else flat on the nearest bone.",
        )
        .was(&["broad"]),
        Key::new("profile", Kind::Table(&PROFILES), "How thickness is spread along it, slack and tense."),
        Key::new("activation", Kind::Table(&ACTIVATION), "When it tenses."),
        Key::new(
            "gain",
            Kind::Number(Range::positive_to(100.0)),
            "Multiplies the width without regard for the volume.",
        )
        .slider_in("×", 1.0, [0.2, 3.0, 0.01]),
        Key::new(
            "tone",
            Kind::Number(Range::POSITIVE),
            "Tension of the slack muscle. More makes it swing faster and less far.",
        )
        .unit("N")
        .slider(0.5, 40.0, 0.5),
        Key::new("strength", Kind::Number(Range::NOT_NEGATIVE), "Further tension when fully active.")
            .unit("N")
            .slider(0.0, 80.0, 0.5),
        Key::new(
            "tendon",
            Kind::Number(Range::within(0.0, 0.45)),
            "Share of the length that is tendon, at each end.",
        )
        .slider_in("%", 100.0, [0.0, 45.0, 1.0]),
        Key::new(
            "stiffness",
            Kind::Number(Range::POSITIVE),
            "Axial stiffness of the tendons: force per unit of strain.",
        )
        .unit("N")
        .slider(20.0, 2000.0, 10.0),
        Key::new(
            "damping",
            Kind::Number(Range::within(0.0, 1e4)),
            "Loss of speed. 8 swings, 25 hardly.",
        )
        .unit("1/s")
        .slider(0.0, 40.0, 0.5),
        Key::new(
            "friction",
            Kind::Number(Range::NOT_NEGATIVE),
            "Friction against bones and other muscles. 0 slides freely.",
        )
        .slider(0.0, 1.0, 0.05),
        Key::new("collide", Kind::Table(&COLLIDE), "What it cannot pass through."),
        Key::new(
            "definition",
            Kind::Number(Range::within(0.0, 5.0)),
            "How much of its motion shows on the skin; multiplies the skin's own definition.",
        )
        .slider_in("×", 1.0, [0.0, 2.0, 0.05]),
        PARTS,
    ],
);

/// `[[fat]]`
pub static FAT: Table = Table::of::<FatDef>(
    "Fat",
    "A fat pad: an ellipsoid that hangs on a bone and jiggles.",
    &[
        Key::required("name", Kind::Text, "\"belly\"", "Name without the side."),
        Key::new("side", SIDES, "Which side of the body. Name and side together are unique."),
        MIRROR,
        Key::required("bone", Kind::Text, "\"Hips\"", "Name of the joint it hangs on."),
        Key::required("at", Kind::VECTOR, "[0.0, 0.05, 0.09]", "Its middle, along the axes of that joint.")
            .unit("m"),
        Key::required(
            "radii",
            Kind::List(&Kind::Number(Range::POSITIVE), 3, 3),
            "[0.11, 0.08, 0.07]",
            "Half axes.",
        )
        .unit("m")
        .slider_in("mm", 1000.0, [5.0, 300.0, 1.0]),
        Key::optional(
            "axes",
            Kind::List(&Kind::Direction, 2, 2),
            "Directions of the first two half axes, made perpendicular. Absent: the axes of the joint.",
        ),
        Key::new(
            "stiffness",
            Kind::Number(Range::positive_to(1e7)),
            "Stiffness of its ties over its mass. It swings at sqrt(stiffness) / 2 pi; 500 is 3.6 Hz.",
        )
        .unit("1/s²")
        .slider(20.0, 3000.0, 10.0),
        Key::new("damping", Kind::Number(Range::within(0.0, 1e4)), "Loss of speed.")
            .unit("1/s")
            .slider(0.0, 40.0, 0.5),
        PARTS,
    ],
);

/// `[[bone]]`
pub static BONE: Table = Table::of::<BoneDef>(
    "Bone",
    "The solid part of a bone, which muscles cannot enter. A bone without entry is a capsule to each child.",
    &[
        Key::required("bone", Kind::Text, "\"LeftArm\"", "Name of the joint the bone starts at."),
        Key::optional(
            "radius",
            Kind::Number(Range::NOT_NEGATIVE),
            "Radius of the capsule; 0 for nothing solid. Absent: 3.5 % of the bone's length.",
        )
        .unit("m"),
        Key::optional(
            "ends",
            Kind::List(&Kind::VECTOR, 2, 2),
            "Ends of the capsule, along the axes of the joint. Absent: from the joint to each child.",
        )
        .unit("m"),
        Key::optional(
            "mesh",
            Kind::Text,
            "A closed surface instead of the capsule: OBJ, PLY or VTP, relative to the anatomy file.",
        ),
        Key::new(
            "mesh_scale",
            Kind::Number(Range::POSITIVE),
            "What to multiply the coordinates of the surface by to get metres.",
        ),
        Key::new(
            "mesh_in_bind_space",
            Kind::Flag,
            "Whether the surface is in bind space and not along the axes of the joint.",
        ),
    ],
);

/// `[[keys]]`
pub static KEYS: Table = Table::of::<KeysDef>(
    "Keys",
    "A parameter of a muscle that changes over a clip.",
    &[
        Key::required("clip", Kind::Text, "\"run\"", "Name of the clip."),
        Key::required("muscle", Kind::Text, "\"biceps brachii\"", "Name of the muscle."),
        Key::new("side", SIDES, "Side of the muscle."),
        Key::required(
            "parameter",
            Kind::Choice(&["activation", "gain", "eccentricity", "stiffness"]),
            "\"activation\"",
            "What changes. Stiffness multiplies tone, strength and stiffness; the others replace the muscle's.",
        ),
        Key::required(
            "values",
            Kind::Curve([Range::ANY, Range::ANY]),
            "[[0.0, 0.2], [0.5, 1.0]]",
            "Pairs of time in seconds and value, with straight lines between. The ends are held.",
        ),
    ],
);
