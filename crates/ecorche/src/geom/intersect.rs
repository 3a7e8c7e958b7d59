//! Do two triangles meet, does an edge pierce a triangle, where does a ray hit: decided on the coordinates
//! as given.
//!
//! Based on: Shewchuk. Adaptive precision floating-point arithmetic and fast robust geometric predicates.
//! 1997 (through the `robust` crate).
//!
//! [`triangles_meet`] and [`edge_pierces`] only ever ask on which side of a plane (or of a line, for
//! triangles in one plane) a point lies, and those answers are exact: f32 coordinates become f64 without
//! loss, and their products of three neither overflow nor underflow there. So the decision is that of
//! real arithmetic, for every finite input: slivers, triangles in one plane, collapsed triangles, touching
//! ones. All sets are closed: touching counts as meeting.
//!
//! Rays are rounded (f64), but alike for both triangles on an edge: a ray never slips between them.

use super::bvh::Aabb;
use glam::{DVec3, Vec3};
use robust::{Coord, Coord3D, orient2d, orient3d};

/// Positive if `p` lies behind the counter-clockwise triangle, negative in front, zero in its plane. Exact sign.
#[inline]
pub fn depth_sign([a, b, c]: [Vec3; 3], p: Vec3) -> f64 {
    let coord = |v: Vec3| Coord3D { x: v.x as f64, y: v.y as f64, z: v.z as f64 };
    orient3d(coord(a), coord(b), coord(c), coord(p))
}

/// A triangle's plane for quick answers in f32: most points are so far from it that rounding cannot matter.
#[derive(Clone, Copy, Debug)]
pub struct QuickPlane {
    at: Vec3,
    normal: Vec3,
    /// Error of [`QuickPlane::side`] per distance from `at`.
    error: f32,
}

impl QuickPlane {
    /// The plane of a counter-clockwise triangle.
    #[inline]
    pub fn new([a, b, c]: [Vec3; 3]) -> Self {
        // Each of the three terms of the product below is off by no more than 20 roundings of the largest.
        const ROUNDINGS: f32 = 64.0 * 0.5 * f32::EPSILON;
        let (u, v) = (b - a, c - a);
        let error = ROUNDINGS * u.abs().max_element() * v.abs().max_element();
        Self { at: a, normal: u.cross(v), error }
    }

    /// 1 if `p` surely is in front, -1 behind, 0 if it takes an exact test to tell.
    #[inline]
    pub fn side(&self, p: Vec3) -> i32 {
        let from = p - self.at;
        let height = self.normal.dot(from);
        let doubt = self.error * from.abs().max_element();
        i32::from(height > doubt) - i32::from(height < -doubt)
    }
}

/// Whether the closed triangles share a point. Exact. Collapsed triangles are segments or points.
#[inline]
pub fn triangles_meet(a: [Vec3; 3], b: [Vec3; 3]) -> bool {
    let surely_apart = |plane: [Vec3; 3], points: [Vec3; 3]| {
        let plane = QuickPlane::new(plane);
        points.map(|p| plane.side(p)).iter().sum::<i32>().abs() == 3
    };
    !surely_apart(a, b) && !surely_apart(b, a) && triangles_meet_exactly(a, b)
}

fn triangles_meet_exactly(a: [Vec3; 3], b: [Vec3; 3]) -> bool {
    let side_of_a = b.map(|p| depth_sign(a, p));
    if one_side(side_of_a) {
        return false;
    }
    let side_of_b = a.map(|p| depth_sign(b, p));
    if one_side(side_of_b) {
        return false;
    }
    if side_of_a == [0.0; 3] || side_of_b == [0.0; 3] {
        return flat_pair_meets(a, b);
    }
    // Two triangles in different planes meet exactly if an edge of one meets the other.
    (0..3).any(|k| edge_meets(b[k], b[(k + 1) % 3], side_of_a[k], side_of_a[(k + 1) % 3], a))
        || (0..3).any(|k| edge_meets(a[k], a[(k + 1) % 3], side_of_b[k], side_of_b[(k + 1) % 3], b))
}

/// Whether the open edge `p`-`q` passes through the triangle: 1 if it goes in (from the front to the back),
/// -1 if it comes out, `None` if it does not cross its plane or misses. Exact; an edge with an end in the
/// plane does not cross it.
pub fn edge_pierces(p: Vec3, q: Vec3, triangle: [Vec3; 3]) -> Option<i32> {
    let (at_p, at_q) = (depth_sign(triangle, p), depth_sign(triangle, q));
    if at_p * at_q >= 0.0 || !line_passes(p, q, triangle) {
        return None;
    }
    Some(if at_p < 0.0 { 1 } else { -1 })
}

/// How far one of two triangles that meet has to go until they only touch: nothing when they first do, and no more than
/// their own size. In single precision.
pub fn crossing_depth(a: [Vec3; 3], b: [Vec3; 3]) -> f32 {
    let edges = |t: [Vec3; 3]| [t[1] - t[0], t[2] - t[1], t[0] - t[2]];
    let (edges_a, edges_b) = (edges(a), edges(b));
    let normals = [edges_a[0].cross(edges_a[1]), edges_b[0].cross(edges_b[1])];
    let between = edges_a.into_iter().flat_map(|e| edges_b.map(|f| e.cross(f)));
    let range = |t: [Vec3; 3], axis: Vec3| {
        let at = t.map(|p| axis.dot(p - a[0]));
        [at[0].min(at[1]).min(at[2]), at[0].max(at[1]).max(at[2])]
    };
    let depth_along = |axis: Vec3| {
        let ([low_a, high_a], [low_b, high_b]) = (range(a, axis), range(b, axis));
        (high_a - low_b).min(high_b - low_a)
    };
    let axes = normals.into_iter().chain(between).filter_map(|axis| axis.try_normalize());
    let least = axes.map(depth_along).fold(f32::INFINITY, f32::min);
    if least.is_finite() { least.max(0.0) } else { 0.0 }
}

/// The distance between two triangles and the direction from the first to the second; below zero if they meet. Of corners that
/// face each other less than the distance, but no less than half of it. In single precision.
pub fn gap(a: [Vec3; 3], b: [Vec3; 3]) -> (f32, Vec3) {
    let edges = |t: [Vec3; 3]| [t[1] - t[0], t[2] - t[1], t[0] - t[2]];
    let (edges_a, edges_b) = (edges(a), edges(b));
    let normals = [edges_a[0].cross(edges_a[1]), edges_b[0].cross(edges_b[1])];
    let between = edges_a.into_iter().flat_map(|e| edges_b.map(|f| e.cross(f)));
    let sideways =
        edges_a.map(|e| e.cross(normals[0])).into_iter().chain(edges_b.map(|e| e.cross(normals[1])));
    let along = |axis: Vec3| {
        let range = |t: [Vec3; 3]| {
            let at = t.map(|p| axis.dot(p - a[0]));
            [at[0].min(at[1]).min(at[2]), at[0].max(at[1]).max(at[2])]
        };
        let ([low_a, high_a], [low_b, high_b]) = (range(a), range(b));
        if low_b - high_a > low_a - high_b { (low_b - high_a, axis) } else { (low_a - high_b, -axis) }
    };
    let axes = normals.into_iter().chain(between).chain(sideways).filter_map(|axis| axis.try_normalize());
    axes.map(along)
        .fold((f32::NEG_INFINITY, Vec3::ZERO), |most, next| if next.0 > most.0 { next } else { most })
}

#[inline]
fn one_side(s: [f64; 3]) -> bool {
    (s[0] > 0.0 && s[1] > 0.0 && s[2] > 0.0) || (s[0] < 0.0 && s[1] < 0.0 && s[2] < 0.0)
}

/// Whether the edge, with ends at the given sides of a proper triangle's plane, meets the triangle.
fn edge_meets(p: Vec3, q: Vec3, at_p: f64, at_q: f64, triangle: [Vec3; 3]) -> bool {
    if at_p == 0.0 && at_q == 0.0 {
        return segment_meets_flat_triangle([p, q], triangle);
    }
    let one_side = (at_p > 0.0 && at_q > 0.0) || (at_p < 0.0 && at_q < 0.0);
    !one_side && line_passes(p, q, triangle)
}

/// Whether the line through `p` and `q`, which is not in the triangle's plane, passes through the triangle.
fn line_passes(p: Vec3, q: Vec3, [a, b, c]: [Vec3; 3]) -> bool {
    let s = [depth_sign([p, q, a], b), depth_sign([p, q, b], c), depth_sign([p, q, c], a)];
    (s[0] >= 0.0 && s[1] >= 0.0 && s[2] >= 0.0) || (s[0] <= 0.0 && s[1] <= 0.0 && s[2] <= 0.0)
}

/// Projections along x, y and z. One of them keeps any plane figure apart.
const PLANES: [(usize, usize); 3] = [(1, 2), (2, 0), (0, 1)];

fn turn(plane: (usize, usize), a: Vec3, b: Vec3, c: Vec3) -> f64 {
    let coord = |v: Vec3| Coord { x: v[plane.0] as f64, y: v[plane.1] as f64 };
    orient2d(coord(a), coord(b), coord(c))
}

/// The projection in which the triangle is not collapsed; `None` if it is collapsed itself.
fn proper_plane([a, b, c]: [Vec3; 3]) -> Option<(usize, usize)> {
    PLANES.into_iter().find(|&plane| turn(plane, a, b, c) != 0.0)
}

/// Two triangles of which one lies in the plane of the other, or is collapsed.
fn flat_pair_meets(a: [Vec3; 3], b: [Vec3; 3]) -> bool {
    let edges = |t: [Vec3; 3]| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]];
    match (proper_plane(a), proper_plane(b)) {
        // Either an edge of one meets the other, or it holds the other whole, and then its edges too.
        (Some(_), Some(_)) => {
            edges(a).into_iter().any(|e| segment_meets_flat_triangle(e, b))
                || edges(b).into_iter().any(|e| segment_meets_flat_triangle(e, a))
        }
        (Some(_), None) => edges(b).into_iter().any(|e| segment_meets_triangle(e, a)),
        (None, Some(_)) => edges(a).into_iter().any(|e| segment_meets_triangle(e, b)),
        (None, None) => edges(a).into_iter().any(|e| edges(b).into_iter().any(|f| segments_meet(e, f))),
    }
}

/// Whether the closed segment and the closed triangle, which must not be collapsed, share a point. Exact.
#[inline]
pub fn segment_meets_triangle([p, q]: [Vec3; 2], triangle: [Vec3; 3]) -> bool {
    edge_meets(p, q, depth_sign(triangle, p), depth_sign(triangle, q), triangle)
}

/// Segment against a proper triangle in whose plane it lies.
fn segment_meets_flat_triangle([p, q]: [Vec3; 2], [a, b, c]: [Vec3; 3]) -> bool {
    let Some(plane) = proper_plane([a, b, c]) else { return false };
    let facing = turn(plane, a, b, c).signum();
    let holds = |x: Vec3| {
        turn(plane, a, b, x) * facing >= 0.0
            && turn(plane, b, c, x) * facing >= 0.0
            && turn(plane, c, a, x) * facing >= 0.0
    };
    holds(p)
        || [[a, b], [b, c], [c, a]].into_iter().any(|edge| projected_segments_meet(plane, [p, q], edge))
        || holds(q)
}

fn segments_meet([p, q]: [Vec3; 2], [r, s]: [Vec3; 2]) -> bool {
    if depth_sign([p, q, r], s) != 0.0 {
        return false;
    }
    let plane =
        proper_plane([p, q, r]).or_else(|| proper_plane([p, q, s])).or_else(|| proper_plane([r, s, p]));
    match plane {
        Some(plane) => projected_segments_meet(plane, [p, q], [r, s]),
        // All on one line (or points): they meet if they do along every axis.
        None => Aabb::around(&[p, q]).overlaps(&Aabb::around(&[r, s])),
    }
}

/// Segments of one plane, seen in a projection that keeps it apart.
fn projected_segments_meet(plane: (usize, usize), [p, q]: [Vec3; 2], [r, s]: [Vec3; 2]) -> bool {
    let (pr, ps) = (turn(plane, p, q, r), turn(plane, p, q, s));
    let (rp, rq) = (turn(plane, r, s, p), turn(plane, r, s, q));
    let apart = |x: f64, y: f64| (x > 0.0 && y > 0.0) || (x < 0.0 && y < 0.0);
    if apart(pr, ps) || apart(rp, rq) {
        return false;
    }
    // On one line the turns are all zero and only the extents tell.
    let extents_overlap = |axis: usize| {
        p[axis].min(q[axis]) <= r[axis].max(s[axis]) && r[axis].min(s[axis]) <= p[axis].max(q[axis])
    };
    extents_overlap(plane.0) && extents_overlap(plane.1)
}

/// A half line.
#[derive(Clone, Copy, Debug)]
pub struct Ray {
    /// Where it starts.
    pub origin: Vec3,
    /// Where it goes; need not have length one, and distances are counted in its length.
    pub direction: Vec3,
    inverse: Vec3,
}

impl Ray {
    /// A ray from `origin` towards `direction`.
    pub fn new(origin: Vec3, direction: Vec3) -> Self {
        // A component of zero would make 0 * infinity of a box side through the origin.
        let safe = |d: f32| if d.abs() < 1e-30 { 1e-30f32.copysign(d) } else { d };
        let inverse = Vec3::new(safe(direction.x), safe(direction.y), safe(direction.z)).recip();
        Self { origin, direction, inverse }
    }

    /// The point at a distance.
    pub fn at(&self, distance: f32) -> Vec3 {
        self.origin + self.direction * distance
    }

    /// Where the ray enters the box, if it does within `reach`; 0 if it starts inside. Never misses a box
    /// it meets; may report one it only just passes.
    #[inline]
    pub fn enters(&self, aabb: &Aabb, reach: f32) -> Option<f32> {
        let a = (aabb.low - self.origin) * self.inverse;
        let b = (aabb.high - self.origin) * self.inverse;
        let near = a.min(b).max_element().max(0.0) * (1.0 - 4.0 * f32::EPSILON);
        let far = a.max(b).min_element().min(reach) * (1.0 + 4.0 * f32::EPSILON);
        (near <= far).then_some(near)
    }
}

/// Where the ray meets the triangle (at or after its start), and whether on its front. A ray in the plane of
/// the triangle misses it.
#[inline]
pub fn ray_triangle(ray: &Ray, corners: [Vec3; 3]) -> Option<(f32, bool)> {
    let origin = ray.origin.as_dvec3();
    let d = ray.direction.as_dvec3();
    let [a, b, c] = corners.map(|p| p.as_dvec3() - origin);
    // Each edge's number changes its sign exactly when the edge is walked the other way, so neighbours agree.
    let side = |from: DVec3, to: DVec3| d.dot(from.cross(to));
    let (u, v, w) = (side(b, c), side(c, a), side(a, b));
    if (u < 0.0 || v < 0.0 || w < 0.0) && (u > 0.0 || v > 0.0 || w > 0.0) {
        return None;
    }
    let total = u + v + w;
    if total == 0.0 {
        return None;
    }
    let distance = (a * u + b * v + c * w).dot(d) / (total * d.length_squared());
    (distance >= 0.0).then_some((distance as f32, total < 0.0))
}

/// Closest point of a triangle and its weights.
pub fn closest_with_weights([a, b, c]: [DVec3; 3], p: DVec3) -> (DVec3, [f64; 3]) {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return (a, [1.0, 0.0, 0.0]);
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return (b, [0.0, 1.0, 0.0]);
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let t = d1 / (d1 - d3);
        return (a + ab * t, [1.0 - t, t, 0.0]);
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return (c, [0.0, 0.0, 1.0]);
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let t = d2 / (d2 - d6);
        return (a + ac * t, [1.0 - t, 0.0, t]);
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return (b + (c - b) * t, [0.0, 1.0 - t, t]);
    }
    let sum = va + vb + vc;
    if sum == 0.0 {
        return (a, [1.0, 0.0, 0.0]);
    }
    let (v, w) = (vb / sum, vc / sum);
    (a + ab * v + ac * w, [1.0 - v - w, v, w])
}

/// The point of the triangle nearest to `p`.
pub fn closest_on_triangle(p: Vec3, [a, b, c]: [Vec3; 3]) -> Vec3 {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return a;
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return b;
    }
    let vc = d1 * d4 - d3 * d2;
    // Not if the edge has no length: the nearest point is on another one then.
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 && d1 > d3 {
        return a + ab * (d1 / (d1 - d3));
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return a + ac * ratio(d2, d2 - d6);
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0 {
        return b + (c - b) * ratio(d4 - d3, (d4 - d3) + (d5 - d6));
    }
    let sum = va + vb + vc;
    a + ab * ratio(vb, sum) + ac * ratio(vc, sum)
}

/// `x / y`, zero where the triangle is so collapsed that both vanish.
fn ratio(x: f32, y: f32) -> f32 {
    if y != 0.0 { x / y } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_gap_is_the_distance_and_below_zero_where_triangles_meet() {
        let a = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let above = a.map(|p| p + Vec3::new(0.1, 0.1, 0.25));
        let (distance, away) = gap(a, above);
        assert!((distance - 0.25).abs() < 1e-6 && away.distance(Vec3::Z) < 1e-6, "{distance} {away}");
        let beside = a.map(|p| p - Vec3::X * 1.5);
        let (distance, away) = gap(a, beside);
        assert!((distance - 0.5).abs() < 1e-6 && away.distance(Vec3::NEG_X) < 1e-6, "{distance} {away}");
        let through = [Vec3::new(0.2, 0.2, -1.0), Vec3::new(0.2, 0.2, 1.0), Vec3::new(0.3, 2.0, 0.0)];
        assert!(gap(a, through).0 < 0.0);
    }

    #[test]
    fn a_crossing_is_as_deep_as_the_way_back() {
        let floor = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let spike = |depth: f32| {
            let tip = Vec3::new(0.25, 0.25, -depth);
            [tip, tip + Vec3::new(-0.1, 0.0, 1.0), tip + Vec3::new(0.1, 0.0, 1.0)]
        };
        assert_eq!(crossing_depth(floor, spike(-0.01)), 0.0);
        for depth in [0.01f32, 0.1, 0.2] {
            let found = crossing_depth(floor, spike(depth));
            assert!((found - depth).abs() < 1e-5, "{found} at {depth}");
        }
        // Deeper down it is nearer to step over the edge.
        assert!(crossing_depth(floor, spike(0.8)) < 0.4);
        assert_eq!(crossing_depth(floor, floor), 0.0);
    }

    fn grid_point(range: i32) -> impl Strategy<Value = Vec3> {
        let c = -range..=range;
        (c.clone(), c.clone(), c).prop_map(|(x, y, z)| Vec3::new(x as f32, y as f32, z as f32))
    }

    fn grid_triangle(range: i32) -> impl Strategy<Value = [Vec3; 3]> {
        [grid_point(range), grid_point(range), grid_point(range)]
    }

    fn integer(v: Vec3) -> [i128; 3] {
        v.to_array().map(|x| x as i128)
    }

    fn minus(a: [i128; 3], b: [i128; 3]) -> [i128; 3] {
        [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
    }

    fn cross(a: [i128; 3], b: [i128; 3]) -> [i128; 3] {
        [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    }

    fn dot(a: [i128; 3], b: [i128; 3]) -> i128 {
        a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
    }

    /// Separating axis test in integers: complete for convex sets of this kind, flat ones included, given the
    /// normals, the edge-edge products, and the in-plane edge normals.
    fn meet_by_separating_axes(a: [Vec3; 3], b: [Vec3; 3]) -> bool {
        let (a, b) = (a.map(integer), b.map(integer));
        let edges = |t: [[i128; 3]; 3]| [minus(t[1], t[0]), minus(t[2], t[1]), minus(t[0], t[2])];
        let (ea, eb) = (edges(a), edges(b));
        let (na, nb) = (cross(ea[0], ea[1]), cross(eb[0], eb[1]));
        let mut axes = vec![na, nb, [1, 0, 0], [0, 1, 0], [0, 0, 1]];
        for e in ea {
            axes.extend([cross(na, e), cross(nb, e), e]);
            axes.extend(eb.map(|f| cross(e, f)));
            // For collapsed triangles: planes through an edge and a vertex of the other.
            axes.extend(b.iter().map(|&p| cross(e, cross(e, minus(p, a[0])))));
        }
        for e in eb {
            axes.extend([cross(na, e), cross(nb, e), e]);
            axes.extend(a.iter().map(|&p| cross(e, cross(e, minus(p, b[0])))));
        }
        axes.extend(a.iter().flat_map(|&p| b.map(|q| minus(p, q))));
        axes.into_iter().all(|axis| {
            let span = |t: [[i128; 3]; 3]| {
                let d = t.map(|p| dot(axis, p));
                (d.iter().copied().min().unwrap_or(0), d.iter().copied().max().unwrap_or(0))
            };
            let ((alow, ahigh), (blow, bhigh)) = (span(a), span(b));
            alow <= bhigh && blow <= ahigh
        })
    }

    proptest! {
        // A coarse grid makes touching, coplanar and collapsed triangles common; a fine one does not.
        #![proptest_config(ProptestConfig::with_cases(4000))]
        #[test]
        fn meeting_agrees_with_separating_axes_on_a_coarse_grid(a in grid_triangle(2), b in grid_triangle(2)) {
            prop_assert_eq!(triangles_meet(a, b), meet_by_separating_axes(a, b));
            prop_assert_eq!(triangles_meet(b, a), triangles_meet(a, b));
        }

        #[test]
        fn meeting_agrees_with_separating_axes_on_a_fine_grid(a in grid_triangle(9000), b in grid_triangle(9000)) {
            prop_assert_eq!(triangles_meet(a, b), meet_by_separating_axes(a, b));
        }

        #[test]
        fn meeting_does_not_hang_on_the_order_of_corners(a in grid_triangle(3), b in grid_triangle(3)) {
            let meet = triangles_meet(a, b);
            prop_assert_eq!(triangles_meet([a[1], a[2], a[0]], b), meet);
            prop_assert_eq!(triangles_meet([a[0], a[2], a[1]], [b[2], b[1], b[0]]), meet);
        }

        #[test]
        fn the_side_of_a_plane_is_exact(t in grid_triangle(1 << 24), p in grid_point(1 << 24)) {
            let [a, b, c] = t.map(integer);
            let n = cross(minus(b, a), minus(c, a));
            let behind = -dot(n, minus(integer(p), a));
            prop_assert_eq!(depth_sign(t, p).partial_cmp(&0.0), Some(behind.cmp(&0)));
        }

        #[test]
        fn the_closest_point_is_on_the_triangle_and_none_is_closer(
            t in grid_triangle(50), p in grid_point(60), (u, v) in (0f32..1.0, 0f32..1.0),
        ) {
            let q = closest_on_triangle(p, t);
            let (u, v) = if u + v > 1.0 { (1.0 - u, 1.0 - v) } else { (u, v) };
            let other = t[0] + (t[1] - t[0]) * u + (t[2] - t[0]) * v;
            prop_assert!(p.distance(q) <= p.distance(other) + 2e-3);
        }
    }

    #[test]
    fn a_point_in_an_almost_flat_tetrahedron_is_told_apart() {
        // Off the plane by the last bit of one coordinate, where plain f32 and f64 products see zero or noise.
        let up = f32::from_bits(1000.5f32.to_bits() + 1);
        let t = [Vec3::new(1000.5, 0.1, 1000.5), Vec3::new(0.3, 999.7, 0.3), Vec3::new(-777.1, -3.3, -777.1)];
        let on = Vec3::new(1000.5, 55.5, 1000.5);
        assert_eq!(depth_sign(t, on), 0.0);
        let above = depth_sign(t, Vec3::new(1000.5, 55.5, up));
        let below = depth_sign(t, Vec3::new(up, 55.5, 1000.5));
        assert!(above * below < 0.0);
    }

    #[test]
    fn an_edge_going_in_counts_up_and_coming_out_counts_down() {
        let t = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let (front, back) = (Vec3::new(0.2, 0.2, 1.0), Vec3::new(0.2, 0.2, -1.0));
        assert_eq!(edge_pierces(front, back, t), Some(1));
        assert_eq!(edge_pierces(back, front, t), Some(-1));
        assert_eq!(edge_pierces(front + Vec3::X, back + Vec3::X, t), None);
        assert_eq!(edge_pierces(front, front + Vec3::Z, t), None);
    }

    #[test]
    fn a_ray_meets_the_front_at_its_distance() {
        let t = [Vec3::ZERO, Vec3::X, Vec3::Y];
        let down = Ray::new(Vec3::new(0.25, 0.25, 3.0), Vec3::NEG_Z * 2.0);
        assert_eq!(ray_triangle(&down, t), Some((1.5, true)));
        let up = Ray::new(Vec3::new(0.25, 0.25, -3.0), Vec3::Z);
        assert_eq!(ray_triangle(&up, t), Some((3.0, false)));
        assert_eq!(ray_triangle(&Ray::new(Vec3::new(0.25, 0.25, 3.0), Vec3::Z), t), None);
        assert_eq!(ray_triangle(&Ray::new(Vec3::new(-1.0, 0.25, 0.0), Vec3::X), t), None);
    }
}
