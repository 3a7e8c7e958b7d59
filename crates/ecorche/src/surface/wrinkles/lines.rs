//! A line per vertex, in the surface: along which the skin is compressed.
//!
//! A line has no sign, so it is a complex number of twice its angle in the vertex' own axes. Lines are smoothed by least
//! squares: neighbours agree once one is turned into the other's axes, and confident vertices keep what they found.

use super::compression::Compression;
use super::patch::Patch;
use crate::math::sparse::{FactorError, SparseCholesky};
use glam::{DMat3, DVec2, DVec3};

/// Axes in the tangent plane of a vertex, and its normal.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tangents {
    pub x: DVec3,
    pub y: DVec3,
    pub normal: DVec3,
}

impl Tangents {
    fn of(normal: DVec3) -> Self {
        let (x, y) = normal.any_orthonormal_pair();
        Self { x, y, normal }
    }

    /// A direction of the tangent plane in space.
    fn in_space(&self, v: DVec2) -> DVec3 {
        self.x * v.x + self.y * v.y
    }

    /// What to multiply a direction in these axes by to have it in the other's: the normals are turned into each other along
    /// the shortest way.
    fn turn_to(&self, other: &Self) -> DVec2 {
        let turn = glam::DQuat::from_rotation_arc(self.normal, other.normal);
        let x = turn * self.x;
        DVec2::new(x.dot(other.x), x.dot(other.y)).try_normalize().unwrap_or(DVec2::X)
    }
}

/// A line that was given holds so much more than one that was found.
const GIVEN: f64 = 20.0;

/// Unit lines of a patch in space; the sign of each is arbitrary. Per vertex: `length` of smoothing, metres, and `given` lines
/// times how much they hold, zero for none.
pub(super) fn smooth(
    patch: &Patch,
    compression: &Compression,
    length: &[f64],
    given: &[DVec3],
) -> Result<Vec<DVec3>, FactorError> {
    let tangents: Vec<Tangents> = patch.normals.iter().map(|&n| Tangents::of(n)).collect();
    // Twice the angle, times the confidence.
    let mut found = Vec::with_capacity(patch.len());
    for (v, axes) in tangents.iter().enumerate() {
        let mut tensor = DMat3::ZERO;
        for &t in patch.surface_triangles_of(v) {
            tensor += compression.tensor(t as usize) * patch.surface_area_of(t);
        }
        let (tx, ty) = (tensor * axes.x, tensor * axes.y);
        let (xx, xy, yy) = (axes.x.dot(tx), axes.x.dot(ty), axes.y.dot(ty));
        let line = DVec2::new(xx - yy, 2.0 * xy);
        let own = if xx + yy > 0.0 { line / (xx + yy) } else { DVec2::ZERO };
        let flat = DVec2::new(given[v].dot(axes.x), given[v].dot(axes.y));
        let held = flat.length();
        let twice = flat.normalize_or_zero().rotate(flat.normalize_or_zero());
        found.push(own * (1.0 - held).max(0.0) + twice * GIVEN * held);
    }
    let mut lower = Vec::with_capacity(8 * patch.edges.len() + 2 * patch.len());
    let mut columns = [vec![0.0; 2 * patch.len()]];
    for (v, line) in found.iter().enumerate() {
        let pull = patch.areas[v] / (length[v] * length[v]);
        let kept = pull * (line.length() + 1e-3);
        for k in 0..2 {
            lower.push((2 * v + k, 2 * v + k, kept));
            columns[0][2 * v + k] = pull * line[k];
        }
    }
    for edge in &patch.edges {
        let turn = tangents[edge.a].turn_to(&tangents[edge.b]);
        couple(&mut lower, edge.a, edge.b, edge.weight, turn.rotate(turn), false);
    }
    SparseCholesky::new(2 * patch.len(), &lower)?.solve_in_place(&mut columns);
    let lines = tangents.iter().enumerate().map(|(v, axes)| {
        let twice = DVec2::new(columns[0][2 * v], columns[0][2 * v + 1]);
        let half = 0.5 * twice.y.atan2(twice.x);
        axes.in_space(DVec2::from_angle(half))
    });
    Ok(lines.collect())
}

/// A line carried from one vertex to the tangent plane of another, where its sign is chosen to agree: 1 or -1.
pub(super) fn agreement(patch: &Patch, lines: &[DVec3], a: usize, b: usize) -> f64 {
    let turn = glam::DQuat::from_rotation_arc(patch.normals[a], patch.normals[b]);
    if (turn * lines[a]).dot(lines[b]) < 0.0 { -1.0 } else { 1.0 }
}

/// Adds `weight |z_b - turn z_a|^2` to a matrix over complex unknowns; `conjugate`: of the conjugate of `z_b`.
pub(super) fn couple(
    lower: &mut Vec<(usize, usize, f64)>,
    a: usize,
    b: usize,
    weight: f64,
    turn: DVec2,
    conjugate: bool,
) {
    for v in [a, b] {
        for k in 0..2 {
            lower.push((2 * v + k, 2 * v + k, weight));
        }
    }
    let sign = if conjugate { -1.0 } else { 1.0 };
    // Row of b, column of a.
    let block = [[turn.x, -turn.y], [sign * turn.y, sign * turn.x]];
    for (i, row) in block.iter().enumerate() {
        for (j, value) in row.iter().enumerate() {
            let (row, column) = (2 * b + i, 2 * a + j);
            lower.push((row.max(column), row.min(column), -weight * value));
        }
    }
}
