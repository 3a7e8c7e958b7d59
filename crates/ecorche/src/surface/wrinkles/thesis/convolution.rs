//! The field of a segment: the Cauchy kernel `1 / (1 + s^2 r^2)^2` integrated along it, in closed form.
//!
//! | symbol | variable | meaning |
//! |---|---|---|
//! | `s` | `sharpness` | inverse width of the kernel, 1/m |
//! | `n` | `along` | of the point, from the first end along the segment, metres |
//! | `P` | `p2` | `1 + s^2` times the squared distance from the line |
//! | `I(u)` | `integral` | antiderivative of `1 / (P + s^2 u^2)^2` |
//!
//! The result is scaled by `2 s / pi`, so that it does not depend on the unit of length: it is 1 on a line without ends.
//! Segments add exactly: a curve cut differently has the same field.

use glam::{Vec3, Vec3A};
use std::f32::consts::PI;

/// The surface of a curve is where its field has this value.
pub(super) const SURFACE: f32 = 0.5;

/// The kernel's sharpness for a line whose surface is `radius` away.
pub(super) fn sharpness(radius: f32) -> f32 {
    (SURFACE.powf(-2.0 / 3.0) - 1.0).sqrt() / radius
}

/// The field of the segment from `a` to `b` at `x`.
pub(super) fn field(x: Vec3A, a: Vec3A, b: Vec3A, sharpness: f32) -> f32 {
    let length = a.distance(b);
    if length <= 0.0 {
        return 0.0;
    }
    let along = (x - a).dot((b - a) / length);
    let s2 = sharpness * sharpness;
    let p2 = 1.0 + s2 * ((x - a).length_squared() - along * along).max(0.0);
    let integral = |u: f32| {
        let q = p2 + s2 * u * u;
        u / (2.0 * p2 * q) + (sharpness * u / p2.sqrt()).atan() / (2.0 * sharpness * p2 * p2.sqrt())
    };
    2.0 * sharpness / PI * (integral(length - along) - integral(-along))
}

/// How far a point of the skin lies below the surface of `field`, along the skin's normal; 0 outside.
pub(super) fn rise(at: Vec3A, normal: Vec3A, farthest: f32, field: impl Fn(Vec3A) -> f32) -> f32 {
    if field(at) <= SURFACE {
        return 0.0;
    }
    // The field falls along the normal, so halving finds the surface; `farthest` is outside.
    let (mut inside, mut outside) = (0.0, farthest);
    for _ in 0..10 {
        let middle = 0.5 * (inside + outside);
        if field(at + normal * middle) > SURFACE { inside = middle } else { outside = middle }
    }
    0.5 * (inside + outside)
}

/// A point on a segment of the skin: between two vertices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Knot {
    /// Vertices of the surface.
    pub ends: [u32; 2],
    /// From the first to the second, 0 to 1.
    pub share: f32,
}

impl Knot {
    /// A vertex.
    pub fn at_vertex(v: u32) -> Self {
        Self { ends: [v, v], share: 0.0 }
    }

    /// Where it is.
    pub fn of(self, at: impl Fn(u32) -> Vec3A) -> Vec3A {
        let [a, b] = self.ends.map(at);
        a + (b - a) * self.share
    }

    /// Where it is at rest.
    pub fn at_rest(self, positions: &[Vec3]) -> Vec3A {
        self.of(|v| positions[v as usize].into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_form_is_the_integral() {
        let (a, b) = (Vec3A::new(0.1, 0.0, -0.2), Vec3A::new(0.7, 0.4, 0.3));
        for (x, s) in [(Vec3A::new(0.3, 0.5, 0.1), 2.0f32), (Vec3A::new(-0.4, 0.2, 0.0), 0.85)] {
            let steps = 4000;
            let sum: f64 = (0..steps)
                .map(|k| {
                    let at = a + (b - a) * ((k as f32 + 0.5) / steps as f32);
                    1.0 / f64::from(1.0 + s * s * x.distance_squared(at)).powi(2)
                })
                .sum();
            let by_sum = sum as f32 * a.distance(b) / steps as f32 * 2.0 * s / PI;
            assert!((field(x, a, b, s) - by_sum).abs() < 1e-4 * by_sum);
        }
    }

    #[test]
    fn a_long_line_has_the_radius_asked_for_and_segments_add() {
        let radius = 0.004;
        let (a, b) = (Vec3A::X * -1.0, Vec3A::X);
        let x = Vec3A::new(0.1, radius, 0.0);
        let s = sharpness(radius);
        assert!((field(x, a, b, s) - SURFACE).abs() < 1e-3);
        let middle = Vec3A::X * 0.1;
        let in_two = field(x, a, middle, s) + field(x, middle, b, s);
        assert!((field(x, a, b, s) - in_two).abs() < 1e-3);
        let out = rise(Vec3A::new(0.1, 0.5 * radius, 0.0), Vec3A::Y, 2.0 * radius, |x| field(x, a, b, s));
        assert!((out - 0.5 * radius).abs() < 0.02 * radius, "{out}");
    }
}
