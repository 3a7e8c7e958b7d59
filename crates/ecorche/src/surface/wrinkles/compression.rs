//! What the skin's triangles go through over many poses: how much they are compressed, and along which line.

use crate::geom::TriMesh;
use glam::{DMat2, DMat3, DVec2, DVec3, Vec3};
use rayon::prelude::*;

/// Compression that does not count: rounding and the small change of any bend.
const IGNORED: f64 = 0.03;
/// A triangle shorter than this share of its rest length is folded by skinning, not compressed; it counts as this.
const LEAST_STRETCH: f64 = 0.4;

/// Compression along a line at less than this angle from a pattern's is that pattern's: cosine squared of 30 degrees. Twist folds skin
/// at 45 degrees to what bending folds.
const SAME_LINE: f64 = 0.75;

/// Compression that decides between two lines across each other, as those of twist to either side. The first pose decides, so that
/// all of the skin agrees; a sum of both has no line.
const FOLD: f64 = 0.05;

/// A triangle's plane at rest, and what it went through.
#[derive(Clone, Debug, Default)]
struct Triangle {
    /// Two unit vectors in the plane.
    axes: [DVec3; 2],
    /// From edges to axes; `None` without an area.
    axes_from_edges: Option<DMat2>,
    /// Sum over poses of squared compressions times their lines, along the axes: xx, xy, yy.
    lines: [f64; 3],
    /// The largest compression, 0 to 1.
    most: f64,
    /// Lines that are another pattern's, along the axes, unit or zero.
    taken: [DVec2; 2],
    /// Beside taken lines: the line of the first pose that compresses by [`FOLD`], along the axes; zero before.
    first: DVec2,
}

/// Compression of every triangle over the poses added so far.
#[derive(Clone, Debug)]
pub struct Compression {
    triangles: Vec<Triangle>,
}

impl Compression {
    /// Before the first pose of a surface.
    pub fn new(rest: &TriMesh) -> Self {
        let triangle = |t: usize| {
            let [a, b, c] = rest.corners(t).map(|p| p.as_dvec3());
            let (u, v) = (b - a, c - a);
            let (Some(x), Some(n)) = (u.try_normalize(), u.cross(v).try_normalize()) else {
                return Triangle::default();
            };
            let y = n.cross(x);
            let edges = DMat2::from_cols(DVec2::new(u.dot(x), u.dot(y)), DVec2::new(v.dot(x), v.dot(y)));
            let inverse = edges.inverse();
            let axes_from_edges = inverse.is_finite().then_some(inverse);
            Triangle { axes: [x, y], axes_from_edges, ..Triangle::default() }
        };
        Self { triangles: (0..rest.triangles.len()).map(triangle).collect() }
    }

    /// Before the first pose; what is compressed along lines that are `taken` will not count. Each list has a unit line per triangle,
    /// zero for none; the first two lists count.
    pub fn beside(rest: &TriMesh, taken: &[Vec<DVec3>]) -> Self {
        let mut compression = Self::new(rest);
        for (t, triangle) in compression.triangles.iter_mut().enumerate() {
            let [x, y] = triangle.axes;
            for (own, lines) in triangle.taken.iter_mut().zip(taken) {
                *own = DVec2::new(lines[t].dot(x), lines[t].dot(y)).normalize_or_zero();
            }
        }
        compression
    }

    /// Adds a pose of the same surface.
    pub fn add(&mut self, rest: &TriMesh, positions: &[Vec3]) {
        self.triangles.par_iter_mut().zip(&rest.triangles).for_each(|(triangle, corners)| {
            let Some(inverse) = triangle.axes_from_edges else { return };
            let [a, b, c] = corners.map(|v| positions[v as usize].as_dvec3());
            let (u, v) = (b - a, c - a);
            // Columns of the map from the rest plane to the pose.
            let x = u * inverse.x_axis.x + v * inverse.x_axis.y;
            let y = u * inverse.y_axis.x + v * inverse.y_axis.y;
            let (xx, xy, yy) = (x.dot(x), x.dot(y), y.dot(y));
            let (mean, half) = (0.5 * (xx + yy), 0.5 * (xx - yy));
            let spread = half.hypot(xy);
            let stretch = (mean - spread).max(0.0).sqrt();
            if !stretch.is_finite() || stretch >= 1.0 - IGNORED {
                return;
            }
            // The line of the smallest stretch is at a right angle to that of the largest.
            let angle = 0.5 * xy.atan2(half) + std::f64::consts::FRAC_PI_2;
            let compression = 1.0 - stretch.max(LEAST_STRETCH) - IGNORED;
            let (sin, cos) = angle.sin_cos();
            if triangle.taken.iter().any(|taken| taken.dot(DVec2::new(cos, sin)).powi(2) > SAME_LINE) {
                return;
            }
            if triangle.taken[0] != DVec2::ZERO {
                let own = DVec2::new(cos, sin);
                if triangle.first == DVec2::ZERO && compression >= FOLD {
                    triangle.first = own;
                    // What came before was noise.
                    triangle.lines = [0.0; 3];
                }
                if triangle.first != DVec2::ZERO && triangle.first.dot(own).powi(2) < 0.5 {
                    return;
                }
            }
            let weight = compression * compression;
            let line = [cos * cos, cos * sin, sin * sin];
            triangle.lines.iter_mut().zip(line).for_each(|(sum, l)| *sum += weight * l);
            triangle.most = triangle.most.max(compression);
        });
    }

    /// The largest compression of triangle `t`, 0 to 1.
    pub(super) fn most(&self, t: usize) -> f64 {
        self.triangles[t].most
    }

    /// The lines of triangle `t` as a symmetric tensor in space.
    pub(super) fn tensor(&self, t: usize) -> DMat3 {
        let Triangle { axes: [x, y], lines: [xx, xy, yy], .. } = self.triangles[t];
        let outer = |a: DVec3, b: DVec3| DMat3::from_cols(a * b.x, a * b.y, a * b.z);
        outer(x, x) * xx + (outer(x, y) + outer(y, x)) * xy + outer(y, y) * yy
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_pushed_together_remembers_along_which_line() {
        let positions = vec![Vec3::ZERO, Vec3::X, Vec3::new(1.0, 1.0, 0.0), Vec3::Y];
        let rest = TriMesh { positions, triangles: vec![[0, 1, 2], [0, 2, 3]] };
        let mut compression = Compression::new(&rest);
        let line = Vec3::new(0.6, 0.8, 0.0);
        let pushed: Vec<Vec3> = rest.positions.iter().map(|p| *p - 0.2 * p.dot(line) * line).collect();
        compression.add(&rest, &pushed);
        compression.add(&rest, &rest.positions);
        for t in 0..2 {
            assert!((compression.most(t) - 0.17).abs() < 1e-6);
            let tensor = compression.tensor(t);
            let along = line.as_dvec3().dot(tensor * line.as_dvec3());
            assert!((along - 0.17f64.powi(2)).abs() < 1e-6, "{along}");
            // Positions are single precision.
            assert!((tensor * DVec3::new(-0.8, 0.6, 0.0)).length() < 1e-7);
        }
    }
}
