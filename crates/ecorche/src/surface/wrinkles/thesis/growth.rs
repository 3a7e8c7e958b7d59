//! Curves grown along the gradient of the angle between the fields of two bones.
//!
//! Where a limb bends, the field of the bone above and that of the bone below have different gradients. At a point of the skin each
//! gradient is the normal of the rest surface, turned with its bone; so the angle between them is known from the two turns. It is
//! largest in the plane of the bend and falls around the limb, and curves along its gradient run across the limb.

use super::ThesisDef;
use crate::geom::{Adjacency, TriMesh};
use glam::{DVec2, DVec3, Mat3, Quat, Vec3};

/// Least number of vertices of a curve, with no shorter way than this many radii.
const LEAST_LENGTH: f32 = 5.0;
/// A joint that bends: what its curves are grown for.
pub(super) struct Bend {
    /// Of the bone below against the bone above, bind space.
    pub turn: Quat,
    /// Unit, about which it turns.
    pub axis: Vec3,
    /// Unit, from the limb's middle to the side that folds.
    pub inward: Vec3,
    /// Radius of a wrinkle, metres.
    pub radius: f32,
}

/// Vertices of the surface that a joint may wrinkle, and how much both bones hold each.
pub(super) struct Skin<'a> {
    pub rest: &'a TriMesh,
    pub adjacency: &'a Adjacency,
    pub normals: &'a [Vec3],
    /// Per vertex of the surface: the smaller of the two bones' shares, times two; 0 for skin of other joints.
    pub field: Vec<f32>,
}

/// A curve along vertices, and the angle at each, radians.
pub(super) type Curve = Vec<(u32, f32)>;

/// The angle between the gradients, radians; 0 where a bone has no field or the skin does not face the fold.
pub(super) fn angles(skin: &Skin, bend: &Bend, def: &ThesisDef) -> Vec<f32> {
    let turn = Mat3::from_quat(bend.turn);
    let angle = |v: usize| {
        let normal = skin.normals[v];
        let fits = skin.field[v] > def.field && normal.dot(bend.inward) > def.facing;
        if fits { normal.dot(turn * normal).clamp(-1.0, 1.0).acos() } else { 0.0 }
    };
    (0..skin.rest.positions.len()).map(angle).collect()
}

/// Grows the curves of one joint beside those there are.
pub(super) fn grow(skin: &Skin, angles: &[f32], bend: &Bend, def: &ThesisDef) -> Vec<Curve> {
    let mut seeds: Vec<u32> =
        (0..angles.len() as u32).filter(|&v| angles[v as usize].to_degrees() > def.seed_angle).collect();
    // Largest angle first; nearer to the joint's middle, where more of both fields is, among equals.
    let rank = |v: u32| (1e3 * angles[v as usize]).round() + skin.field[v as usize];
    seeds.sort_by(|&a, &b| rank(b).total_cmp(&rank(a)).then(a.cmp(&b)));
    let spacing = def.seed_distance * bend.radius;
    let mut curves: Vec<Curve> = Vec::new();
    let mut taken: Vec<Vec3> = Vec::new();
    let free = |p: Vec3, taken: &[Vec3]| taken.iter().all(|q| q.distance(p) >= spacing);
    for seed in seeds {
        if !free(skin.rest.positions[seed as usize], &taken) {
            continue;
        }
        // On the crest of the angle there is no gradient; the curve begins across the limb.
        let start = gradient(skin, angles, seed);
        let start = if is_flat(start, bend) { bend.axis } else { start.normalize_or_zero() };
        let mut curve: Curve = Vec::new();
        for sign in [1.0, -1.0] {
            let half = half(skin, angles, (bend, def), seed, sign * start, |p| free(p, &taken));
            if sign > 0.0 {
                curve.extend(half.iter().rev());
                curve.push((seed, angles[seed as usize]));
            } else {
                curve.extend(half);
            }
        }
        let at = |v: u32| skin.rest.positions[v as usize];
        let length: f32 = curve.windows(2).map(|pair| at(pair[0].0).distance(at(pair[1].0))).sum();
        if length >= LEAST_LENGTH * bend.radius {
            taken.extend(curve.iter().map(|&(v, _)| at(v)));
            curves.push(curve);
        }
    }
    curves
}

/// From a seed in one direction.
fn half(
    skin: &Skin,
    angles: &[f32],
    (bend, def): (&Bend, &ThesisDef),
    seed: u32,
    start: Vec3,
    free: impl Fn(Vec3) -> bool,
) -> Curve {
    let at = |v: u32| skin.rest.positions[v as usize];
    let mut curve = Curve::new();
    let (mut here, mut direction) = (seed, start);
    while curve.len() < 10_000 {
        let neighbours = skin.adjacency.vertex_ring.get(here as usize).iter().copied();
        let cosine = |w: u32| (at(w) - at(here)).normalize_or_zero().dot(direction);
        let Some(next) = neighbours.max_by(|&a, &b| cosine(a).total_cmp(&cosine(b)).then(b.cmp(&a))) else {
            break;
        };
        let angle = angles[next as usize];
        let known = next == seed || curve.iter().any(|&(v, _)| v == next);
        if known || angle.to_degrees() < def.least_angle || !free(at(next)) || cosine(next) <= 0.3 {
            break;
        }
        let edge = (at(next) - at(here)).normalize_or_zero();
        let own = gradient(skin, angles, next);
        let flat = is_flat(own, bend);
        let own = own.normalize_or_zero();
        // The gradient's sign is that of the edge so far: it turns over where the angle is largest.
        let own = if own.dot(edge) < 0.0 { -own } else { own };
        let turned = direction.angle_between(own).to_degrees();
        curve.push((next, angle));
        here = next;
        if flat || turned > def.direction {
            // Flat or noisy: go on as before. Topology bias holds to the edge.
            direction = if def.topology_bias { edge } else { direction };
        } else {
            direction = own;
        }
    }
    curve
}

/// Whether a gradient says nothing: the angle changes by less than a hundredth over the radius of a wrinkle.
fn is_flat(gradient: Vec3, bend: &Bend) -> bool {
    gradient.length() * bend.radius < 0.01
}

/// Gradient of the angle in the tangent plane, by least squares over two rings, radians per metre.
fn gradient(skin: &Skin, angles: &[f32], v: u32) -> Vec3 {
    let normal = skin.normals[v as usize].as_dvec3();
    let (x, y) = normal.any_orthonormal_pair();
    let at = |v: u32| skin.rest.positions[v as usize].as_dvec3();
    let (mut xx, mut xy, mut yy, mut right) = (0.0, 0.0, 0.0, DVec2::ZERO);
    let mut add = |w: u32| {
        if angles[w as usize] <= 0.0 {
            return;
        }
        let to: DVec3 = at(w) - at(v);
        let flat = DVec2::new(to.dot(x), to.dot(y));
        xx += flat.x * flat.x;
        xy += flat.x * flat.y;
        yy += flat.y * flat.y;
        right += flat * f64::from(angles[w as usize] - angles[v as usize]);
    };
    for &w in skin.adjacency.vertex_ring.get(v as usize) {
        add(w);
        skin.adjacency.vertex_ring.get(w as usize).iter().filter(|&&u| u != v).for_each(|&u| add(u));
    }
    let determinant = xx * yy - xy * xy;
    if determinant <= 1e-9 * (xx + yy) * (xx + yy) {
        return Vec3::ZERO;
    }
    let slope = DVec2::new(yy * right.x - xy * right.y, xx * right.y - xy * right.x) / determinant;
    (x * slope.x + y * slope.y).as_vec3()
}
