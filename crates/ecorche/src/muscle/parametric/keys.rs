//! The keys of a parametric muscle in an anatomy file.

use super::definition::ParametricDef;
use crate::muscle::keys::{ACTIVATION, MIRROR, POINT, POINT_EXAMPLE, SIDES};
use crate::schema::{Key, Kind, Range, Table};

/// `[[parametric]]`
pub static PARAMETRIC: Table = Table::of::<ParametricDef>(
    "Parametric",
    "A muscle of two curves along a line between two bones, for the method parametric: cheap enough for crowds.",
    &[
        Key::required("name", Kind::Text, "\"biceps brachii\"", "Name without the side."),
        Key::new("side", SIDES, "Which side of the body. Name and side together are unique."),
        MIRROR,
        Key::required("origin", Kind::Table(&POINT), POINT_EXAMPLE, "Where its line starts."),
        Key::required("insertion", Kind::Table(&POINT), POINT_EXAMPLE, "Where its line ends."),
        Key::new(
            "path",
            Kind::List(&Kind::Table(&POINT), 0, usize::MAX),
            "Points that the whole muscle passes, tendons included, if the line is only its belly. The belly shortens about \
             its centre as this path does. Empty: the line itself.",
        ),
        Key::required(
            "bulge",
            Kind::Direction,
            "[0.0, 0.0, 1.0]",
            "Where the skin moves when the muscle thickens, in the bind pose, along the axes of the origin's joint. At least \
             5 degrees from the line.",
        ),
        Key::new(
            "centre",
            Kind::Number(Range::within(0.05, 0.95)),
            "Where the belly's centre is, as a share of the line from the origin.",
        )
        .slider(0.05, 0.95, 0.01),
        Key::required(
            "thickness",
            Kind::List(&Kind::Number(Range::NOT_NEGATIVE), 6, 6),
            "[0.004, 0.01, 0.02, 0.02, 0.01, 0.004]",
            "Half thickness across the bulge direction: at the origin, its handle, the handle before the centre, at the \
             centre, the handle before the insertion, at the insertion. The volume follows from it and is kept.",
        )
        .unit("m"),
        Key::new(
            "sweep",
            Kind::List(&Kind::List(&Kind::Number(Range::ANY), 2, 2), 6, 6),
            "How far the sections lie beside the line at the same six points: across the bulge direction and along it.",
        )
        .unit("m"),
        Key::new(
            "flatness",
            Kind::Number(Range::within(0.05, 20.0)),
            "Half thickness along the bulge direction over the one across it. Below 1 the muscle lies flat.",
        )
        .slider(0.2, 2.0, 0.01),
        Key::new(
            "template",
            Kind::Choice(&["radial", "half-space", "fitted"]),
            "Which skin of its bones it moves: within the radius around the line, on the side it bulges to, or straight above \
             it.",
        ),
        Key::new(
            "radius",
            Kind::Number(Range::NOT_NEGATIVE),
            "How far from the line skin moves with the radial template.",
        )
        .unit("m")
        .slider_in("mm", 1000.0, [0.0, 200.0, 1.0]),
        Key::new(
            "weights",
            Kind::Choice(&["binary", "spline"]),
            "How much of its motion that skin shows: all, for lean places, or in proportion to the thickness below, for fatty \
             ones.",
        ),
        Key::new(
            "tension",
            Kind::Number(Range::within(0.0, 1.0)),
            "By how much it thickens along the bulge direction when fully active, as a share; it narrows as much across.",
        )
        .slider(0.0, 1.0, 0.01),
        Key::new("activation", Kind::Table(&ACTIVATION), "When it tenses."),
        Key::new(
            "parts",
            Kind::NAMES,
            "Bones whose skin it moves. Empty: those of its ends and those between.",
        ),
    ],
);
