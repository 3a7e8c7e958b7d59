//! The stack of transforms on a `node`.

use super::document::numbers;
use glam::{DMat4, DVec3};
use roxmltree::Node;

/// Transforms of a node, outermost first.
#[derive(Clone, Debug, Default)]
pub struct TransformStack {
    /// The elements in the file's order.
    pub elements: Vec<Element>,
}

/// One transform element.
#[derive(Clone, Debug)]
pub struct Element {
    /// What it does.
    pub kind: Kind,
    /// Its name within the node, for animations.
    pub sid: String,
    /// Its numbers; padded to what the kind needs.
    pub values: Vec<f64>,
}

/// What a transform element does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Sixteen numbers, row by row.
    Matrix,
    /// x, y, z.
    Translate,
    /// Axis and degrees.
    Rotate,
    /// x, y, z.
    Scale,
    /// Eye, interest, up.
    LookAt,
    /// Degrees, axis that leans, axis it leans along.
    Skew,
}

impl Kind {
    fn of(tag: &str) -> Option<(Self, usize)> {
        Some(match tag {
            "matrix" => (Self::Matrix, 16),
            "translate" => (Self::Translate, 3),
            "rotate" => (Self::Rotate, 4),
            "scale" => (Self::Scale, 3),
            "lookat" => (Self::LookAt, 9),
            "skew" => (Self::Skew, 7),
            _ => return None,
        })
    }

    /// Parent-from-child of an element of this kind.
    pub fn matrix(self, v: &[f64]) -> DMat4 {
        let vector = |at: usize| DVec3::new(v[at], v[at + 1], v[at + 2]);
        let unit = |d: DVec3, otherwise: DVec3| d.try_normalize().unwrap_or(otherwise);
        match self {
            Self::Matrix => DMat4::from_cols_slice(v).transpose(),
            Self::Translate => DMat4::from_translation(vector(0)),
            Self::Scale => DMat4::from_scale(vector(0)),
            Self::Rotate => DMat4::from_axis_angle(unit(vector(0), DVec3::X), v[3].to_radians()),
            Self::LookAt => {
                let back = unit(vector(0) - vector(3), DVec3::Z);
                let right = unit(vector(6).cross(back), back.any_orthonormal_vector());
                let up = back.cross(right);
                DMat4::from_cols(right.extend(0.0), up.extend(0.0), back.extend(0.0), vector(0).extend(1.0))
            }
            Self::Skew => {
                let along = unit(vector(4), DVec3::X);
                let leaning = unit(vector(1) - along * along.dot(vector(1)), along.any_orthonormal_vector());
                let slope = v[0].to_radians().tan();
                let lean = |axis: DVec3| (axis + along * slope * leaning.dot(axis)).extend(0.0);
                DMat4::from_cols(lean(DVec3::X), lean(DVec3::Y), lean(DVec3::Z), DVec3::ZERO.extend(1.0))
            }
        }
    }
}

impl TransformStack {
    /// The transforms of a `node` element.
    pub fn of(node: Node) -> Self {
        let mut stack = Self::default();
        for element in node.children().filter(|c| c.is_element()) {
            if let Some((kind, count)) = Kind::of(element.tag_name().name()) {
                let mut values = numbers(element);
                values.resize(count, 0.0);
                let sid = element.attribute("sid").unwrap_or_default().to_owned();
                stack.elements.push(Element { kind, sid, values });
            }
        }
        stack
    }

    /// Parent-from-node.
    pub fn matrix(&self) -> DMat4 {
        self.elements.iter().fold(DMat4::IDENTITY, |above, e| above * e.kind.matrix(&e.values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looking_at_a_point_puts_it_ahead() {
        let camera = Kind::LookAt.matrix(&[1.0, 2.0, 3.0, 1.0, 2.0, -7.0, 0.0, 1.0, 0.0]);
        let ahead = camera.transform_point3(DVec3::new(0.0, 0.0, -10.0));
        assert!(ahead.distance(DVec3::new(1.0, 2.0, -7.0)) < 1e-9);
    }

    #[test]
    fn a_skew_of_forty_five_degrees_leans_by_one() {
        let skew = Kind::Skew.matrix(&[45.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
        assert!(skew.transform_point3(DVec3::Y).distance(DVec3::new(1.0, 1.0, 0.0)) < 1e-9);
        assert!(skew.transform_point3(DVec3::X).distance(DVec3::X) < 1e-9);
    }
}
