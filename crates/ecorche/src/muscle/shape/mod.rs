//! The shape of a fibre: its surface, its thickness, its mesh for drawing.
//!
//! [`Shape`] is one of the known kinds; code outside this folder uses it and no kind in particular. A new kind answers the same
//! questions in its own folder and gets a variant here, in [`Form`] (what it is made from) and in [`Table`] (what a
//! frame samples).

pub mod spindle;

use crate::dynamics::Rigid;
use crate::field::{Field, Sample, Support};
use crate::geom::TriMesh;
use glam::{DVec3, Vec3};
use spindle::{Spindle, SpindleForm, SpindleTable};

/// A fibre's shape in one moment, in the world.
#[derive(Clone, Debug)]
pub enum Shape {
    /// Elliptic sections around an axis.
    Spindle(Spindle),
}

/// A point seen from a shape.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    /// To the surface, metres, negative inside. Not exact away from the surface.
    pub distance: f64,
    /// Of the distance, outward; about 1 long, zero on the axis.
    pub gradient: DVec3,
    /// Share of the shape's length, 0 at the origin.
    pub s: f64,
}

/// A section of a shape, to be drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ring {
    /// On the axis, metres.
    pub centre: DVec3,
    /// Mean radius, metres.
    pub radius: f64,
    /// Unit direction of the long half axis.
    pub wide_axis: DVec3,
    /// Short half axis over the mean radius, in `(0, 1]`; the long one is the mean radius over it.
    pub flatness: f64,
}

/// A shape's surface as a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawnSurface {
    /// Closed, metres.
    pub mesh: TriMesh,
    /// Mean radius of the shape at each vertex, metres; 0 at the tips.
    pub thickness: Vec<f64>,
}

/// The space for a shape inside the skin.
pub(crate) trait Room {
    /// Distance from a point inside to the skin in a unit direction, at most `most` metres.
    fn free(&self, from: DVec3, direction: DVec3, most: f64) -> f64;

    /// Distance from vertex `i` of the axis, where it is now, to the skin, metres.
    fn clear(&self, i: usize) -> f64;
}

/// A shape that has yielded to the skin.
pub(crate) struct Yielded<S> {
    pub shape: S,
    /// Volume that was cut off and not regained elsewhere, cubic metres.
    pub lost: f64,
}

impl Shape {
    /// Length along the axis, metres.
    pub fn length(&self) -> f64 {
        match self {
            Self::Spindle(spindle) => spindle.axis().length(),
        }
    }

    /// Mean radius, metres.
    pub fn width(&self) -> f64 {
        match self {
            Self::Spindle(spindle) => spindle.width(),
        }
    }

    /// Activation in `[0, 1]`.
    pub fn activation(&self) -> f64 {
        match self {
            Self::Spindle(spindle) => spindle.activation(),
        }
    }

    /// Cubic metres, by a formula.
    pub fn volume(&self) -> f64 {
        match self {
            Self::Spindle(spindle) => spindle.volume(),
        }
    }

    /// Cubic metres, by integrating the distance over a lattice with `cells` cells across the thickest place.
    pub fn integrated_volume(&self, cells: usize) -> f64 {
        match self {
            Self::Spindle(spindle) => spindle.integrated_volume(cells),
        }
    }

    /// The sharpest bend: thickness towards its inside over its radius. Above 1 the shape overlaps itself.
    pub fn sharpest_bend(&self) -> f64 {
        match self {
            Self::Spindle(spindle) => spindle.sharpest_bend(),
        }
    }

    /// Largest distance from the axis to the surface, metres; the field ends as far outside the surface.
    pub fn thickest(&self) -> f64 {
        match self {
            Self::Spindle(spindle) => spindle.thickest(),
        }
    }

    /// Mean radius at share `s` of the length, metres; zero outside `[0, 1]`.
    pub fn thickness(&self, s: f64) -> f64 {
        match self {
            Self::Spindle(spindle) => spindle.thickness(s),
        }
    }

    /// Radius for contacts at share `s` of the length, metres: the short half axis of the section, because flat muscles lie
    /// flat on what they touch.
    pub(crate) fn contact_radius(&self, s: f64) -> f64 {
        match self {
            Self::Spindle(spindle) => spindle.contact_radius(s),
        }
    }

    /// Point of the axis and unit tangent at share `s` of the length, clamped to `[0, 1]`.
    pub fn place(&self, s: f64) -> (DVec3, DVec3) {
        match self {
            Self::Spindle(spindle) => spindle.axis().place(s),
        }
    }

    /// Where a point belongs: share of the length, and the place there on the axis. `None` further than `reach` metres from
    /// the axis.
    pub(crate) fn foot(&self, point: DVec3, reach: f64) -> Option<(f64, DVec3)> {
        match self {
            Self::Spindle(spindle) => spindle.foot(point, reach),
        }
    }

    /// Distance from a point to the surface; `None` further than `reach` metres from the axis.
    #[inline]
    pub fn near(&self, point: DVec3, reach: f64) -> Option<Near> {
        match self {
            Self::Spindle(spindle) => spindle.near(point, reach),
        }
    }

    /// The sections along the axis, from origin to insertion.
    pub fn rings(&self) -> impl ExactSizeIterator<Item = Ring> + '_ {
        match self {
            Self::Spindle(spindle) => spindle.rings(),
        }
    }

    /// The surface as a mesh, `around` vertices to a ring. Where the shape is thinner than `thinnest` of its mean radius it
    /// is drawn that thick.
    pub fn surface(&self, around: usize, thinnest: f64) -> DrawnSurface {
        match self {
            Self::Spindle(spindle) => spindle.surface(around, thinnest),
        }
    }

    /// The points of the axis.
    pub(crate) fn axis_points(&self) -> &[DVec3] {
        match self {
            Self::Spindle(spindle) => spindle.axis().points(),
        }
    }

    /// The same shape around as many other points, cut where there is no room; `None` for points without extent.
    pub(crate) fn yielded(&self, points: &[DVec3], room: &impl Room) -> Option<Yielded<Self>> {
        match self {
            Self::Spindle(spindle) => {
                let Yielded { shape, lost } = spindle.yielded(points, room)?;
                Some(Yielded { shape: Self::Spindle(shape), lost })
            }
        }
    }

    /// What a frame samples.
    pub(crate) fn table(&self) -> Table {
        match self {
            Self::Spindle(spindle) => Table::Spindle(SpindleTable::new(spindle)),
        }
    }
}

impl Field for Shape {
    fn sample(&self, point: Vec3) -> Sample {
        match self {
            Self::Spindle(spindle) => spindle.sample(point),
        }
    }

    fn support(&self) -> Support {
        match self {
            Self::Spindle(spindle) => spindle.support(),
        }
    }
}

impl From<Spindle> for Shape {
    fn from(spindle: Spindle) -> Self {
        Self::Spindle(spindle)
    }
}

/// What changes a shape from moment to moment, apart from the positions of its particles.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub(crate) struct ShapeState {
    /// In `[0, 1]`.
    pub activation: f64,
    /// Factor on the width.
    pub gain: f64,
    /// Of the section, in `[0, 1)`.
    pub eccentricity: f64,
    /// How far the section turns along the axis, radians.
    pub twist: f64,
}

/// What a fibre's shape is made from at bind.
#[derive(Clone, Debug)]
pub(super) enum Form {
    Spindle(SpindleForm),
}

impl Form {
    /// Length at bind, metres.
    pub fn length(&self) -> f64 {
        match self {
            Self::Spindle(form) => form.length(),
        }
    }

    /// Cubic metres, which the shape keeps.
    pub fn volume(&self) -> f64 {
        match self {
            Self::Spindle(form) => form.volume(),
        }
    }

    /// The twist of this moment, continued from `last`; `None` for points without extent. `ends`: world from the bones at
    /// both ends.
    pub fn twist(&self, points: &[DVec3], ends: [Rigid; 2], last: f64) -> Option<f64> {
        match self {
            Self::Spindle(form) => form.twist(points, ends, last),
        }
    }

    /// The shape at bind; `None` for points without extent.
    pub fn at_bind(&self, points: &[DVec3], ends: [Rigid; 2], state: &ShapeState) -> Option<Shape> {
        match self {
            Self::Spindle(form) => form.pose(points, ends, state).map(Shape::Spindle),
        }
    }

    /// The shape through `points`, with the volume it has at bind even where it overlaps itself; `None` for points without
    /// extent.
    pub fn pose(&self, points: &[DVec3], ends: [Rigid; 2], state: &ShapeState) -> Option<Shape> {
        match self {
            Self::Spindle(form) => form.pose(points, ends, state).map(|s| Shape::Spindle(s.thickened())),
        }
    }

    /// Radius for contacts of each of `count` particles, metres, when the axis is `length` metres long.
    pub fn contact_radii(&self, length: f64, count: usize, state: &ShapeState) -> Vec<f64> {
        match self {
            Self::Spindle(form) => form.contact_radii(length, count, state),
        }
    }
}

/// A shape tabulated in single precision, for a million samples a frame.
#[derive(Clone, Debug)]
pub(crate) enum Table {
    Spindle(SpindleTable),
}

/// [`Near`] in single precision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct TableNear {
    /// Metres, negative inside.
    pub distance: f32,
    /// Outward.
    pub gradient: Vec3,
    /// Share of the length.
    pub s: f32,
    /// Derivative of the share by the point, 1/m.
    pub s_slope: Vec3,
}

impl Table {
    /// Distance from a point to the surface; `None` further than `reach` metres from the axis.
    #[inline]
    pub fn near(&self, point: Vec3, reach: f32) -> Option<TableNear> {
        match self {
            Self::Spindle(table) => table.near(point, reach),
        }
    }

    /// A box that holds every point within `margin` metres of the surface.
    pub fn support(&self, margin: f32) -> Support {
        match self {
            Self::Spindle(table) => table.support(margin),
        }
    }

    /// Largest distance from the axis to the surface, metres.
    pub fn thickest(&self) -> f32 {
        match self {
            Self::Spindle(table) => table.thickest(),
        }
    }
}
