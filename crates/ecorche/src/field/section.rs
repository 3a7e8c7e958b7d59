//! Views of a field: samples on a plane, or the surface of one value.

use super::{Field, Sample};
use crate::geom::TriMesh;
use crate::geom::polygonise::{Lattice, polygonise};
use glam::{Vec2, Vec3};
use rayon::prelude::*;
use std::str::FromStr;

/// The axis a section is perpendicular to. The view is against it; up stays up where possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// From the character's left: its front is to the left.
    X,
    /// From above: its front is below.
    Y,
    /// From the front.
    Z,
}

impl Axis {
    /// Unit vectors of the picture, to the right and up.
    pub fn right_and_up(self) -> [Vec3; 2] {
        match self {
            Self::X => [Vec3::NEG_Z, Vec3::Y],
            Self::Y => [Vec3::X, Vec3::NEG_Z],
            Self::Z => [Vec3::X, Vec3::Y],
        }
    }

    /// The unit vector along it.
    pub fn direction(self) -> Vec3 {
        match self {
            Self::X => Vec3::X,
            Self::Y => Vec3::Y,
            Self::Z => Vec3::Z,
        }
    }
}

/// A letter that does not name an axis.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no axis is called \"{0}\"; use x, y or z")]
pub struct UnknownAxis(String);

impl FromStr for Axis {
    type Err = UnknownAxis;

    fn from_str(name: &str) -> Result<Self, UnknownAxis> {
        match name {
            "x" | "X" => Ok(Self::X),
            "y" | "Y" => Ok(Self::Y),
            "z" | "Z" => Ok(Self::Z),
            _ => Err(UnknownAxis(name.to_owned())),
        }
    }
}

/// A rectangle in space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// What it is perpendicular to.
    pub axis: Axis,
    /// Its middle, metres.
    pub middle: Vec3,
    /// Half its width and height, metres.
    pub half: Vec2,
}

impl Window {
    /// The window around a box, widened to the aspect of a picture of `width` by `height` pixels with some room.
    pub fn around(axis: Axis, low: Vec3, high: Vec3, [width, height]: [usize; 2]) -> Self {
        let [right, up] = axis.right_and_up();
        let extent = high - low;
        let half = 0.54 * Vec2::new(extent.dot(right).abs(), extent.dot(up).abs());
        let aspect = width.max(1) as f32 / height.max(1) as f32;
        let tall = half.y.max(half.x / aspect).max(1e-6);
        Self { axis, middle: 0.5 * (low + high), half: Vec2::new(tall * aspect, tall) }
    }

    /// The point at `x`, `y` from -1 to 1, to the right and up.
    pub(crate) fn point(&self, at: Vec2) -> Vec3 {
        let [right, up] = self.axis.right_and_up();
        let at = at * self.half;
        self.middle + right * at.x + up * at.y
    }

    /// Where a point is seen, from -1 to 1 inside the window.
    pub(crate) fn seen(&self, point: Vec3) -> Vec2 {
        let [right, up] = self.axis.right_and_up();
        let from = point - self.middle;
        Vec2::new(from.dot(right), from.dot(up)) / self.half
    }
}

/// A field on a plane.
#[derive(Clone, Debug)]
pub struct Section {
    /// Where.
    pub window: Window,
    /// Samples in a row.
    pub columns: usize,
    /// Rows, from the lowest.
    pub rows: usize,
    /// Row by row.
    pub samples: Vec<Sample>,
}

impl Section {
    /// Samples `field` at `columns` by `rows` points, at least two of each, spread to the window's edges.
    pub fn cut(field: &dyn Field, window: Window, columns: usize, rows: usize) -> Self {
        let (columns, rows) = (columns.max(2), rows.max(2));
        let mut section = Self { window, columns, rows, samples: Vec::new() };
        let all = (0..columns * rows).into_par_iter().with_min_len(256);
        section.samples = all.map(|i| field.sample(section.point(i))).collect();
        section
    }

    /// Position of a sample.
    pub(crate) fn point(&self, index: usize) -> Vec3 {
        let share = |i: usize, count: usize| 2.0 * i as f32 / (count - 1) as f32 - 1.0;
        let at = Vec2::new(share(index % self.columns, self.columns), share(index / self.columns, self.rows));
        self.window.point(at)
    }
}

/// The surface on which `field` has the value `level`, facing outward. `cells` is the number of cells along the
/// longest side of the support.
pub fn iso_surface(field: &dyn Field, level: f32, cells: usize) -> TriMesh {
    let support = field.support();
    let extent = support.high - support.low;
    if !(extent.is_finite() && extent.max_element() > 0.0) {
        return TriMesh::default();
    }
    let cell = extent.max_element() / cells.clamp(4, 1024) as f32;
    // A cell of room, so that nothing ends at the border.
    let lattice = Lattice::covering(support.low - cell, support.high + cell, cell);
    polygonise(&lattice, |p| level - field.sample(p).value, |_, _| true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::conformance::capsule;
    use crate::geom::Adjacency;

    #[test]
    fn the_surface_of_half_is_closed_and_where_the_field_says() {
        let field = capsule(|p| p);
        let mesh = iso_surface(&field, 0.5, 40);
        assert!(mesh.triangles.len() > 100);
        assert_eq!(Adjacency::new(&mesh).open_edges(), 0);
        assert!(mesh.volume() > 0.0, "it faces outward");
        assert!(mesh.positions.iter().all(|&p| (field.sample(p).value - 0.5).abs() < 0.05));
        assert!(iso_surface(&field, 0.8, 40).volume() < mesh.volume());
    }

    #[test]
    fn a_section_samples_the_plane_it_names() {
        let field = capsule(|p| p);
        let support = field.support();
        for axis in ["x", "y", "z"] {
            let axis: Axis = axis.parse().unwrap();
            let window = Window::around(axis, support.low, support.high, [40, 30]);
            let section = Section::cut(&field, window, 40, 30);
            assert_eq!(section.samples.len(), 1200);
            let [right, up] = axis.right_and_up();
            assert!(right.cross(up).dot(axis.direction()) > 0.99, "one looks against the axis");
            for i in [0, 17, 1199] {
                let point = section.point(i);
                assert_eq!(section.samples[i], field.sample(point));
                let there = window.point(window.seen(point));
                assert!(there.distance(point) < 1e-5);
            }
        }
        assert!("w".parse::<Axis>().is_err());
    }
}
