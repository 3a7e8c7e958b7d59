//! Keys of `[wrinkles]` and the tables in it.

use crate::schema::{Key, Kind, Range, Table};
use crate::surface::wrinkles::{Dab, JointWrinkles, Stroke, ThesisDef, WrinkleDef};

const WAVELENGTH: Kind = Kind::Number(Range::positive_to(1e3));
const GAIN: Kind = Kind::Number(Range::within(0.0, 3.0));

/// `[wrinkles]`
pub static WRINKLES: Table = Table::of::<WrinkleDef>(
    "Wrinkles",
    "Creases of compressed skin. Where they lie and which way they run follows from what the skin goes through when joints bend, \
     so the table may be empty. With it in the file, skin wrinkles.",
    &[
        Key::optional(
            "wavelength",
            WAVELENGTH,
            "From crease to crease at rest; the mesh needs four edges for one. Absent: a share of the limb's radius at \
             each joint.",
        )
        .unit("m")
        .slider_in("mm", 1000.0, [1.0, 60.0, 0.5]),
        Key::new(
            "share",
            Kind::Number(Range::positive_to(5.0)),
            "The wavelength in radii of the limb where none is given.",
        )
        .slider_in("× r", 1.0, [0.1, 1.5, 0.05]),
        Key::new(
            "gain",
            GAIN,
            "Scale of the heights; 1 gives back most of the length that compressed skin loses.",
        )
        .slider_in("×", 1.0, [0.0, 2.0, 0.05]),
        Key::new(
            "onset",
            Kind::Number(Range::within(0.0, 0.5)),
            "Share of its length that skin may lose before it wrinkles.",
        )
        .slider(0.0, 0.2, 0.005),
        Key::new(
            "ramp",
            Kind::Number(Range::within(0.001, 1.0)),
            "Share of its length over which wrinkles appear. Lower: sooner, and more suddenly.",
        )
        .slider(0.01, 0.2, 0.005),
        Key::new(
            "sharpness",
            Kind::Number(Range::within(0.0, 0.25)),
            "How much narrower valleys are than ridges; 0 is a sine.",
        )
        .slider(0.0, 0.25, 0.01),
        Key::new(
            "system",
            Kind::Choice(&["stripes", "thesis"]),
            "What wrinkles are made of: stripes, as high as the skin loses length, or the thesis' ridges around curves.",
        ),
        Key::new("thesis", Kind::Table(&THESIS), "Settings of the thesis' ridges."),
        Key::new(
            "patterns",
            Kind::Whole(1, 3),
            "Directions in which the same skin may wrinkle: as bending folds it, and as twist folds it to either side.",
        ),
        Key::new(
            "creases",
            Kind::Number(Range::within(0.0, 2.0)),
            "How much deeper than other wrinkles the crease is that a joint folds along; 0 places none.",
        )
        .slider(0.0, 2.0, 0.05),
        Key::new("clips", Kind::NAMES, "Clips of the character whose poses count beside the range of motion."),
        Key::new("stroke", Kind::List(&Kind::Table(&STROKE), 0, usize::MAX), "Creases drawn on the skin."),
        Key::new(
            "dab",
            Kind::List(&Kind::Table(&DAB), 0, usize::MAX),
            "Places with a mask or a direction of their own; later ones lie over those before.",
        ),
        Key::new("joints", Kind::NAMES, "Joints whose skin wrinkles. Empty: all."),
        Key::new("joint", Kind::ByName(&WRINKLED_JOINT), "Joints with settings of their own, by name."),
    ],
);

const DEGREES: Kind = Kind::Number(Range::within(0.0, 180.0));

/// `[wrinkles.thesis]`
pub static THESIS: Table = Table::of::<ThesisDef>(
    "Thesis",
    "Ridges around curves of the skin, of the system thesis.",
    &[
        Key::new(
            "curves",
            Kind::Choice(&["grown", "stripes"]),
            "Where curves come from: grown along gradients of the angle between two bones' fields, or the ridges of the stripes.",
        ),
        Key::optional(
            "radius",
            Kind::Number(Range::positive_to(10.0)),
            "Of a wrinkle; never less than 1.2 edges of the mesh. Absent: a share of the limb's.",
        )
        .unit("m")
        .slider_in("mm", 1000.0, [0.1, 20.0, 0.1]),
        Key::new("share", Kind::Number(Range::positive_to(1.0)), "Radius of a wrinkle in radii of the limb.")
            .slider(0.01, 0.3, 0.01),
        Key::new("direction", DEGREES, "Largest angle between gradients one after the other on a curve, degrees.")
            .slider(0.0, 90.0, 1.0),
        Key::new("seed_angle", DEGREES, "Angle between the gradients of both bones from which a curve may begin, degrees.")
            .slider(0.0, 90.0, 1.0),
        Key::new("least_angle", DEGREES, "Angle below which a curve ends, degrees.").slider(0.0, 90.0, 1.0),
        Key::new(
            "field",
            Kind::Number(Range::within(0.0, 1.0)),
            "How much both bones must hold the skin of a curve.",
        )
        .slider(0.0, 1.0, 0.05),
        Key::new(
            "facing",
            Kind::Number(Range::within(-1.0, 1.0)),
            "Cosine between the skin's normal and the folding side from which skin wrinkles.",
        )
        .slider(-1.0, 1.0, 0.05),
        Key::new(
            "seed_distance",
            Kind::Number(Range::within(0.0, 100.0)),
            "Least distance between curves, in radii of a wrinkle.",
        )
        .slider(0.0, 10.0, 0.1),
        Key::new(
            "sunk",
            Kind::Number(Range::within(-1.0, 1.5)),
            "How deep the axis of a wrinkle that shows fully lies below the skin, in its radii. Less is higher.",
        )
        .slider(-0.5, 1.0, 0.05),
        Key::new(
            "ramp",
            Kind::List(&DEGREES, 2, 2),
            "Bend of the joint at which wrinkles appear and from which they show fully, degrees.",
        ),
        Key::new("topology_bias", Kind::Flag, "Curves hold to the direction of edges."),
    ],
);

/// `[[wrinkles.stroke]]`
pub static STROKE: Table = Table::of::<Stroke>(
    "Stroke",
    "A crease drawn on the skin, such as a line of the palm.",
    &[
        Key::optional(
            "bone",
            Kind::Text,
            "The bone whose coordinates the points are in. Absent: those of bind space.",
        ),
        Key::required(
            "points",
            Kind::List(&Kind::VECTOR, 2, usize::MAX),
            "[[0, 0, 0], [0.02, 0, 0]]",
            "On the skin at rest, one after the other along the crease.",
        )
        .unit("m"),
        Key::new(
            "depth",
            Kind::Number(Range::within(0.0, 2.0)),
            "How much deeper than other wrinkles the crease is.",
        )
        .slider(0.0, 2.0, 0.05),
        Key::new("mask", Kind::Number(Range::within(0.0, 1.0)), "The least mask on the crease.")
            .slider(0.0, 1.0, 0.05),
        Key::new(
            "width",
            Kind::Number(Range::positive_to(1.0)),
            "How far from the crease the skin still folds across it.",
        )
        .unit("m")
        .slider_in("mm", 1000.0, [1.0, 60.0, 0.5]),
    ],
);

/// `[[wrinkles.dab]]`
pub static DAB: Table = Table::of::<Dab>(
    "Dab",
    "A ball in which the skin has a mask or a direction of its own.",
    &[
        Key::optional(
            "bone",
            Kind::Text,
            "The bone whose coordinates it is in. Absent: those of bind space.",
        ),
        Key::required("at", Kind::VECTOR, "[0, 0.1, 0]", "Its middle.").unit("m"),
        Key::new("radius", Kind::Number(Range::positive_to(10.0)), "It holds fully within half of this.")
            .unit("m")
            .slider_in("mm", 1000.0, [1.0, 200.0, 1.0]),
        Key::optional(
            "mask",
            Kind::Number(Range::within(0.0, 1.0)),
            "How much the skin may wrinkle; 0 is not at all. Absent: as found.",
        )
        .slider(0.0, 1.0, 0.05),
        Key::optional(
            "direction",
            Kind::Direction,
            "Along which the skin is compressed: creases run across. Absent: as found.",
        ),
    ],
);

/// `[wrinkles.joint."NAME"]`
pub static WRINKLED_JOINT: Table = Table::of::<JointWrinkles>(
    "JointWrinkles",
    "What the skin of one joint does differently.",
    &[
        Key::optional("wavelength", WAVELENGTH, "From crease to crease at rest. Absent: as for all joints.")
            .unit("m")
            .slider_in("mm", 1000.0, [1.0, 60.0, 0.5]),
        Key::optional(
            "gain",
            GAIN,
            "Scale of the heights; 0 leaves the joint smooth. Absent: as for all joints.",
        )
        .slider_in("×", 1.0, [0.0, 2.0, 0.05]),
    ],
);
