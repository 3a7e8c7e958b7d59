//! The axis of a muscle: a polyline with tangents, a section direction that turns with it, and the projection
//! of points onto it.
//!
//! | symbol | here | meaning | unit |
//! |---|---|---|---|
//! | P, T, n | `points`, `tangents`, `wide_axes` | vertices, unit tangents, unit directions of the section's wide axis | m, -, - |
//! | e, L | `directions`, `lengths` | of segments | -, m |
//! | l, s | `length`, `s` | whole length; share of it, 0 at the origin | m, - |
//! | psi | `twist` | angle by which the direction carried along the axis misses the wanted one at its end | rad |
//! | G(s) | | `(q - C(s)) . T(s)`, zero where q projects to | m |
//!
//! Tangents run linearly between vertices, so each q lies in the section plane of some s: continuous up to the
//! radius of curvature. The section direction is carried along by the smallest rotations, and what it lacks at
//! the end is spread over the length; being an axis of an ellipse it is the same when turned by half a turn.
//!
//! Based on: Roussellet. Doctoral thesis. 2018, section 4.2.
//! Differs in: the thesis projects directions onto the plane of three points, which jumps by 80 degrees where a
//! straight axis begins to bend, and blends projections onto neighbouring segments by angles, which jumps beyond half the
//! radius of curvature.

use glam::{DVec3, Vec3};

/// Where a point projects to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Foot {
    /// Share of the length.
    pub s: f64,
    /// Derivative of `s` by the point, 1/m; zero at the clamped ends.
    pub ds: DVec3,
    /// Segment.
    pub segment: usize,
    /// Share along the segment.
    pub t: f64,
}

/// Segments tested side by side.
const LANES: usize = 8;

/// Eight segments as the search sees them, relative to the first vertex.
#[derive(Clone, Debug)]
struct Block {
    /// Tangents at the start of each segment.
    tangent: [[f32; LANES]; 3],
    /// `P . T` at the start of each segment.
    along: [f32; LANES],
    /// The same at the end of the last.
    end: [f32; 4],
    count: usize,
    low: Vec3,
    high: Vec3,
}

/// A muscle's axis in one moment.
#[derive(Clone, Debug)]
pub struct Axis {
    points: Vec<DVec3>,
    tangents: Vec<DVec3>,
    wide_axes: Vec<DVec3>,
    directions: Vec<DVec3>,
    lengths: Vec<f64>,
    starts: Vec<f64>,
    length: f64,
    twist: f64,
    blocks: Vec<Block>,
}

/// Segments shorter than this share of the axis are merged with the next.
const SHORTEST: f64 = 1e-6;

impl Axis {
    /// An axis through the points. `wide_axis`: wanted directions of the section's wide axis at both ends, of any
    /// length; `twist`: that of the previous moment, 0 at bind. `None` if the points have no extent or are not
    /// finite.
    pub(crate) fn new(points: &[DVec3], wide_axis: [DVec3; 2], twist: f64) -> Option<Self> {
        let total: f64 = points.windows(2).map(|p| p[0].distance(p[1])).sum();
        if !(total.is_finite() && total > 1e-9) {
            return None;
        }
        let mut kept: Vec<DVec3> = Vec::with_capacity(points.len());
        for &p in points {
            if kept.last().is_none_or(|last| last.distance(p) > SHORTEST * total) {
                kept.push(p);
            }
        }
        if kept.len() < 2 {
            return None;
        }
        let points = kept;
        let lengths: Vec<f64> = points.windows(2).map(|p| p[0].distance(p[1])).collect();
        let directions: Vec<DVec3> =
            points.windows(2).zip(&lengths).map(|(p, l)| (p[1] - p[0]) / l).collect();
        let mut starts = Vec::with_capacity(points.len());
        let mut length = 0.0;
        for l in &lengths {
            starts.push(length);
            length += l;
        }
        starts.push(length);
        let last = directions.len() - 1;
        let mut tangents = Vec::with_capacity(points.len());
        tangents.push(directions[0]);
        for pair in directions.windows(2) {
            let sum = pair[0] + pair[1];
            tangents.push(if sum.length() < 1e-9 { pair[0] } else { sum.normalize() });
        }
        tangents.push(directions[last]);
        let (wide_axes, twist) = carried(&tangents, &starts, wide_axis, twist);
        let mut axis = Self {
            points,
            tangents,
            wide_axes,
            directions,
            lengths,
            starts,
            length,
            twist,
            blocks: Vec::new(),
        };
        axis.blocks = axis.search_blocks();
        Some(axis)
    }

    fn search_blocks(&self) -> Vec<Block> {
        let origin = self.points[0];
        let segments = self.lengths.len();
        (0..segments.div_ceil(LANES))
            .map(|b| {
                let first = b * LANES;
                let count = LANES.min(segments - first);
                let mut block = Block {
                    tangent: [[0.0; LANES]; 3],
                    along: [0.0; LANES],
                    end: [0.0; 4],
                    count,
                    low: Vec3::INFINITY,
                    high: Vec3::NEG_INFINITY,
                };
                for lane in 0..=count {
                    let (p, t) = (self.points[first + lane] - origin, self.tangents[first + lane]);
                    let (small, along) = (t.as_vec3(), p.dot(t) as f32);
                    if lane < count {
                        (0..3).for_each(|k| block.tangent[k][lane] = small[k]);
                        block.along[lane] = along;
                    }
                    // Of a full block the last is the one after the lanes.
                    if lane == count {
                        block.end = [small.x, small.y, small.z, along];
                    }
                    let p = self.points[first + lane].as_vec3();
                    block.low = block.low.min(p);
                    block.high = block.high.max(p);
                }
                block
            })
            .collect()
    }

    /// Vertices, metres.
    pub(crate) fn points(&self) -> &[DVec3] {
        &self.points
    }

    /// Unit tangents at the vertices.
    pub(crate) fn tangents(&self) -> &[DVec3] {
        &self.tangents
    }

    /// Unit directions of the section's wide axis at the vertices.
    pub(crate) fn wide_axes(&self) -> &[DVec3] {
        &self.wide_axes
    }

    /// Length, metres.
    pub(crate) fn length(&self) -> f64 {
        self.length
    }

    /// The twist, radians; give it to the next moment.
    pub(crate) fn twist(&self) -> f64 {
        self.twist
    }

    /// Share of the length at vertex `i`.
    pub(crate) fn share(&self, i: usize) -> f64 {
        self.starts[i] / self.length
    }

    /// Point and unit tangent at share `s` of the length, clamped to `[0, 1]`.
    pub(crate) fn place(&self, s: f64) -> (DVec3, DVec3) {
        let along = s.clamp(0.0, 1.0) * self.length;
        let k = self.starts.partition_point(|&start| start <= along).clamp(1, self.lengths.len()) - 1;
        let t = (along - self.starts[k]) / self.lengths[k];
        let tangent = self.tangents[k].lerp(self.tangents[k + 1], t);
        (self.points[k].lerp(self.points[k + 1], t), tangent.normalize_or(self.directions[k]))
    }

    /// Unit direction of the section's wide axis at share `s` of the length.
    pub(crate) fn wide_axis(&self, s: f64) -> DVec3 {
        let along = s.clamp(0.0, 1.0) * self.length;
        let k = self.starts.partition_point(|&start| start <= along).clamp(1, self.lengths.len()) - 1;
        let t = (along - self.starts[k]) / self.lengths[k];
        self.wide_axis_at(&Foot { s, ds: DVec3::ZERO, segment: k, t }).0
    }

    /// Where a foot is, metres.
    #[inline]
    pub(crate) fn at(&self, foot: &Foot) -> DVec3 {
        self.points[foot.segment] + foot.t * self.lengths[foot.segment] * self.directions[foot.segment]
    }

    /// Unit direction of a segment.
    #[inline]
    pub(super) fn direction(&self, segment: usize) -> DVec3 {
        self.directions[segment]
    }

    /// Direction of the section's wide axis at a foot, and its derivative by `s`.
    #[inline]
    pub(super) fn wide_axis_at(&self, foot: &Foot) -> (DVec3, DVec3) {
        let a = self.wide_axes[foot.segment];
        let mut b = self.wide_axes[foot.segment + 1];
        let mut cosine = a.dot(b);
        if cosine < 0.0 {
            (b, cosine) = (-b, -cosine);
        }
        let rate = self.length / self.lengths[foot.segment];
        if cosine > 1.0 - 1e-10 {
            let n = a.lerp(b, foot.t);
            let length = n.length();
            let unit = n / length;
            let change = b - a;
            return (unit, (change - unit * unit.dot(change)) / length * rate);
        }
        let omega = cosine.acos();
        let sine = omega.sin();
        let (u, v) = ((1.0 - foot.t) * omega, foot.t * omega);
        ((u.sin() * a + v.sin() * b) / sine, omega * (v.cos() * b - u.cos() * a) / sine * rate)
    }

    /// Where a point projects to: the nearest of all section planes it lies in. `None` if nothing of the axis is within
    /// `reach` metres.
    pub(crate) fn project(&self, q: DVec3, reach: f64) -> Option<Foot> {
        let last = self.points.len() - 1;
        let mut best: (f64, Option<Foot>) = (reach * reach, None);
        let mut offer = |square: f64, foot: Foot| {
            if square < best.0 {
                best = (square, Some(foot));
            }
        };
        if (q - self.points[0]).dot(self.tangents[0]) <= 0.0 {
            offer(q.distance_squared(self.points[0]), Foot { s: 0.0, ds: DVec3::ZERO, segment: 0, t: 0.0 });
        }
        if (q - self.points[last]).dot(self.tangents[last]) >= 0.0 {
            let foot = Foot { s: 1.0, ds: DVec3::ZERO, segment: last - 1, t: 1.0 };
            offer(q.distance_squared(self.points[last]), foot);
        }
        let (small, local) = (q.as_vec3(), (q - self.points[0]).as_vec3());
        let far = (reach * reach * 1.0001) as f32;
        for (b, block) in self.blocks.iter().enumerate() {
            if (small.max(block.low).min(block.high) - small).length_squared() > far {
                continue;
            }
            // G at the start of every segment, and at the end of the last.
            let mut g = [0.0f32; LANES + 1];
            for lane in 0..LANES {
                g[lane] = local.x * block.tangent[0][lane]
                    + local.y * block.tangent[1][lane]
                    + local.z * block.tangent[2][lane]
                    - block.along[lane];
            }
            let [x, y, z, along] = block.end;
            g[block.count] = local.x * x + local.y * y + local.z * z - along;
            for lane in 0..block.count {
                if g[lane] * g[lane + 1] <= 0.0 {
                    self.section_planes(q, b * LANES + lane, &mut offer);
                }
            }
        }
        best.1
    }

    /// Offers the places of segment `k` in whose section planes `q` lies.
    #[inline]
    fn section_planes(&self, q: DVec3, k: usize, offer: &mut impl FnMut(f64, Foot)) {
        let d = q - self.points[k];
        let (t0, turn) = (self.tangents[k], self.tangents[k + 1] - self.tangents[k]);
        let edge = self.directions[k] * self.lengths[k];
        let (c0, c1, c2) = (d.dot(t0), d.dot(turn) - edge.dot(t0), -edge.dot(turn));
        let root = (c1 * c1 - 4.0 * c0 * c2).max(0.0).sqrt();
        let half = -0.5 * (c1 + if c1 < 0.0 { -root } else { root });
        // The search is in single precision: a root may lie outside by as much as that.
        let slack = 1e-4;
        let mut found = |t: f64| {
            if !(t > -slack && t < 1.0 + slack) {
                return;
            }
            let t = t.clamp(0.0, 1.0);
            let tangent = t0 + t * turn;
            let from = d - t * edge;
            let rate = edge.dot(tangent) - from.dot(turn);
            let ds = if rate.abs() > 1e-9 * self.lengths[k] {
                tangent * (self.lengths[k] / (rate * self.length))
            } else {
                DVec3::ZERO
            };
            let s = (self.starts[k] + t * self.lengths[k]) / self.length;
            offer(from.length_squared(), Foot { s, ds, segment: k, t });
        };
        if half != 0.0 {
            found(c0 / half);
            if c2 != 0.0 {
                found(half / c2);
            }
        } else {
            // Both c0 and c1 vanish: the whole segment, or its start, is at the focus.
            found(0.0);
        }
    }
}

/// Any unit vector across a unit vector.
fn across(t: DVec3) -> DVec3 {
    let a = t.abs();
    let pick = if a.x <= a.y && a.x <= a.z {
        DVec3::X
    } else if a.y <= a.z {
        DVec3::Y
    } else {
        DVec3::Z
    };
    (pick - pick.dot(t) * t).normalize()
}

/// `wanted` without its part along `t`, unit.
fn perpendicular(wanted: DVec3, t: DVec3) -> DVec3 {
    let rest = wanted - wanted.dot(t) * t;
    if rest.length() > 1e-8 { rest.normalize() } else { across(t) }
}

/// `v` turned by the smallest rotation that takes `a` to `b`.
fn turned(v: DVec3, a: DVec3, b: DVec3) -> DVec3 {
    let (w, c) = (a.cross(b), a.dot(b));
    if c < -1.0 + 1e-12 {
        // Half a turn about v itself, which is across a.
        return v;
    }
    v + w.cross(v) + w.cross(w.cross(v)) / (1.0 + c)
}

/// The wide axis at each vertex, and the twist.
fn carried(tangents: &[DVec3], starts: &[f64], wide_axis: [DVec3; 2], previous: f64) -> (Vec<DVec3>, f64) {
    let last = tangents.len() - 1;
    let mut wide_axes = Vec::with_capacity(tangents.len());
    wide_axes.push(perpendicular(wide_axis[0], tangents[0]));
    for i in 0..last {
        let n = turned(wide_axes[i], tangents[i], tangents[i + 1]);
        wide_axes.push(perpendicular(n, tangents[i + 1]));
    }
    let (wanted, n, t) = (perpendicular(wide_axis[1], tangents[last]), wide_axes[last], tangents[last]);
    let pi = std::f64::consts::PI;
    let mut twist = n.cross(wanted).dot(t).atan2(n.dot(wanted));
    twist -= pi * ((twist - previous) / pi).round();
    for (i, n) in wide_axes.iter_mut().enumerate() {
        let angle = twist * starts[i] / starts[last];
        *n = angle.cos() * *n + angle.sin() * tangents[i].cross(*n);
    }
    (wide_axes, twist)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arc(turn: f64, vertices: usize) -> Axis {
        let points: Vec<DVec3> = (0..vertices)
            .map(|i| {
                let a = turn * i as f64 / (vertices - 1) as f64;
                0.2 / turn * DVec3::new(a.sin(), 1.0 - a.cos(), 0.0)
            })
            .collect();
        Axis::new(&points, [DVec3::Z, DVec3::Z], 0.0).unwrap()
    }

    #[test]
    fn the_projection_does_not_jump_within_the_radius_of_curvature() {
        for vertices in [5, 11, 31] {
            let axis = arc(2.0, vertices);
            for distance in [0.3, 0.6, 0.8] {
                let mut last: Option<f64> = None;
                let (from, to) = (0.05, 0.95);
                for i in 0..2000 {
                    let a = 2.0 * (from + (to - from) * f64::from(i) / 1999.0);
                    let inward = 0.1 * (1.0 - distance);
                    let q = DVec3::new(inward * a.sin(), 0.1 - inward * a.cos(), 0.0);
                    let s = axis.project(q, 1.0).unwrap().s;
                    if let Some(last) = last {
                        assert!(
                            (s - last).abs() < 4.0 / 2000.0,
                            "{vertices} vertices, {distance}: {last} {s}"
                        );
                    }
                    last = Some(s);
                }
            }
        }
    }

    #[test]
    fn opposite_directions_at_the_ends_are_no_twist() {
        let points = [DVec3::ZERO, DVec3::X * 0.1, DVec3::X * 0.2];
        let axis = Axis::new(&points, [DVec3::Y, -DVec3::Y], 0.0).unwrap();
        assert!(axis.twist().abs() < 1e-12);
        let aslant = |a: f64| DVec3::new(0.0, a.cos(), a.sin());
        let axis = Axis::new(&points, [DVec3::Y, aslant(1.2)], 0.0).unwrap();
        assert!((axis.twist() - 1.2).abs() < 1e-9);
        assert!(axis.wide_axes()[1].distance(aslant(0.6)) < 1e-9);
    }

    #[test]
    fn the_twist_goes_on_over_half_a_turn() {
        let points = [DVec3::ZERO, DVec3::X * 0.1, DVec3::X * 0.2];
        let mut twist = 0.0;
        for i in 0..=200 {
            let a = 2.0 * std::f64::consts::PI * f64::from(i) / 200.0;
            let axis = Axis::new(&points, [DVec3::Y, DVec3::new(0.0, a.cos(), a.sin())], twist).unwrap();
            assert!((axis.twist() - twist).abs() < 0.1);
            twist = axis.twist();
        }
        assert!((twist - 2.0 * std::f64::consts::PI).abs() < 1e-6);
    }

    #[test]
    fn broken_axes_are_refused_and_double_points_merged() {
        assert!(Axis::new(&[DVec3::ZERO; 5], [DVec3::Y; 2], 0.0).is_none());
        assert!(Axis::new(&[DVec3::NAN, DVec3::X], [DVec3::Y; 2], 0.0).is_none());
        let double = [DVec3::ZERO, DVec3::X, DVec3::X, DVec3::X * 2.0];
        assert_eq!(Axis::new(&double, [DVec3::Y; 2], 0.0).unwrap().points().len(), 3);
    }
}
