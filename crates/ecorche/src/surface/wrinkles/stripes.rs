//! A phase that grows by a full turn per wavelength along the lines: creases lie where it is half a turn.
//!
//! Based on: Knöppel, Crane, Pinkall, Schröder. Stripe Patterns on Surfaces. 2015.
//!
//! Differs in: after the smallest eigenvector the phases are taken for themselves, at unit size, and diffused a few times. An
//! eigenvector alone settles on the part of the skin that suits it best and leaves noise on the others. Each connected part of
//! the skin is normalised by itself for the same reason. Creases pin the phase: at half a turn on the crease, growing by a turn per
//! wavelength across it.

use super::creases::Crease;
use super::lines::{agreement, couple};
use super::patch::Patch;
use crate::math::sparse::{FactorError, SparseCholesky};
use glam::{DVec2, DVec3};
use std::f64::consts::TAU;

/// Steps towards the smallest eigenvector.
const ITERATIONS: usize = 20;
/// How much more a crease holds the phase than the skin a wavelength around does.
const PIN: f64 = 100.0;
/// Diffusions of the phases after it.
const DIFFUSIONS: usize = 12;

/// Phases of a patch.
pub(super) struct Stripes {
    /// Unit complex number per vertex, the phase in the direction of its line.
    pub phases: Vec<DVec2>,
    /// Triangles (as in [`Patch::triangles`]) around which the phase does not close: where stripes end or fork.
    pub singular: Vec<usize>,
    /// Of each other triangle, the change of the phase along its second and third edge from the first corner, in the
    /// direction of the first corner's line.
    pub changes: Vec<Option<[f64; 2]>>,
}

/// How the phase should change along an edge.
struct Step {
    /// From the first end to the second, in the direction of the line at the first, radians.
    angle: f64,
    /// Whether the lines of the ends point the same way.
    agree: bool,
}

fn step(patch: &Patch, lines: &[DVec3], wavelengths: &[f64], a: usize, b: usize) -> Step {
    let edge = patch.position(b) - patch.position(a);
    let sign = agreement(patch, lines, a, b);
    // The edge laid into the tangent plane keeps its length.
    let along = |v: usize| {
        let normal = patch.normals[v];
        let flat = edge - normal * edge.dot(normal);
        flat.normalize_or_zero().dot(lines[v]) * edge.length() * TAU / wavelengths[v]
    };
    Step { angle: 0.5 * (along(a) + sign * along(b)), agree: sign > 0.0 }
}

/// `wavelengths`: wanted, metres, per vertex.
pub(super) fn stripes(
    patch: &Patch,
    lines: &[DVec3],
    wavelengths: &[f64],
    creases: &[Option<Crease>],
) -> Result<Stripes, FactorError> {
    let size = patch.len();
    // How much each phase is held, and where.
    let pins: Vec<(f64, DVec2)> = (0..size)
        .map(|v| {
            let Some(crease) = creases[v] else { return (0.0, DVec2::X) };
            let held = PIN * crease.band(wavelengths[v]) * patch.areas[v] / (wavelengths[v] * wavelengths[v]);
            let along = crease.distance * crease.across.dot(lines[v]).signum();
            (held, -DVec2::from_angle(TAU * along / wavelengths[v]))
        })
        .collect();
    let mut lower = Vec::with_capacity(8 * patch.edges.len() + 4 * size);
    for edge in &patch.edges {
        let Step { angle, agree } = step(patch, lines, wavelengths, edge.a, edge.b);
        couple(&mut lower, edge.a, edge.b, edge.weight, DVec2::from_angle(angle), !agree);
    }
    // Fixed and without a pattern of its own.
    let mut columns = [start(size)];
    let components = patch.components();
    // Smallest eigenvector: the shift is far below the eigenvalues that matter, of the size of one over the wavelength squared.
    let masses = |share: f64| -> Vec<f64> {
        (0..size).map(|v| share * patch.areas[v] / (wavelengths[v] * wavelengths[v])).collect()
    };
    let pinned: Vec<bool> = {
        let mut pinned = vec![false; components.1];
        pins.iter().zip(&components.0).for_each(|(pin, &c)| pinned[c] |= pin.0 > 0.0);
        components.0.iter().map(|&c| pinned[c]).collect()
    };
    // Skin with creases starts from them; all other skin finds its own phase.
    columns[0].iter_mut().enumerate().filter(|(i, _)| pinned[i / 2]).for_each(|(_, x)| *x = 0.0);
    let scale = |x: &mut [f64]| {
        per_component(x, &components);
        x.iter_mut().enumerate().filter(|(i, _)| pinned[i / 2]).for_each(|(_, x)| *x = 0.0);
    };
    solve(&lower, &masses(1e-3), &pins, ITERATIONS, &mut columns, scale)?;
    solve(&lower, &masses(0.5), &pins, DIFFUSIONS, &mut columns, per_vertex)?;
    let phases: Vec<DVec2> =
        (0..size).map(|v| DVec2::new(columns[0][2 * v], columns[0][2 * v + 1])).collect();
    let phases: Vec<DVec2> = phases.into_iter().map(|z| z.normalize_or(DVec2::X)).collect();
    let mut singular = Vec::new();
    let mut changes = Vec::with_capacity(patch.triangles.len());
    for (k, &(_, corners)) in patch.triangles.iter().enumerate() {
        let change = change(patch, lines, wavelengths, &phases, corners);
        if change.is_none() {
            singular.push(k);
        }
        changes.push(change);
    }
    Ok(Stripes { phases, singular, changes })
}

/// Changes of the phase from the first corner to the others; `None` if the way around the triangle does not close.
fn change(
    patch: &Patch,
    lines: &[DVec3],
    wavelengths: &[f64],
    phases: &[DVec2],
    [a, b, c]: [usize; 3],
) -> Option<[f64; 2]> {
    let along = |from: usize, to: usize| {
        let Step { angle, agree } = step(patch, lines, wavelengths, from, to);
        let there = if agree { phases[to] } else { DVec2::new(phases[to].x, -phases[to].y) };
        let expected = DVec2::from_angle(angle).rotate(phases[from]);
        (angle + expected.angle_to(there), agree)
    };
    let ((ab, same_b), (bc, same_bc), (ac, same_c)) = (along(a, b), along(b, c), along(a, c));
    if same_b ^ same_bc ^ !same_c {
        return None;
    }
    let bc = if same_b { bc } else { -bc };
    ((ab + bc - ac).abs() < 0.5).then_some([ab, ac])
}

/// Repeats: scale, multiply by the masses, add the pins, solve.
fn solve(
    lower: &[(usize, usize, f64)],
    masses: &[f64],
    pins: &[(f64, DVec2)],
    times: usize,
    columns: &mut [Vec<f64>; 1],
    scale: impl Fn(&mut [f64]),
) -> Result<(), FactorError> {
    let mut matrix = lower.to_vec();
    for (v, (&mass, pin)) in masses.iter().zip(pins).enumerate() {
        matrix.extend([0, 1].map(|k| (2 * v + k, 2 * v + k, mass + pin.0)));
    }
    let factor = SparseCholesky::new(2 * masses.len(), &matrix)?;
    for _ in 0..times {
        scale(&mut columns[0]);
        for (i, x) in columns[0].iter_mut().enumerate() {
            let (held, at) = pins[i / 2];
            *x = *x * masses[i / 2] + held * at[i % 2];
        }
        factor.solve_in_place(columns);
    }
    Ok(())
}

fn per_vertex(x: &mut [f64]) {
    for z in x.chunks_exact_mut(2) {
        let length = z[0].hypot(z[1]);
        if length > 0.0 {
            z.iter_mut().for_each(|x| *x /= length);
        } else {
            z[0] = 1.0;
        }
    }
}

fn per_component(x: &mut [f64], (component, count): &(Vec<usize>, usize)) {
    let mut squares = vec![0.0; *count];
    for (z, &c) in x.chunks_exact(2).zip(component) {
        squares[c] += z[0] * z[0] + z[1] * z[1];
    }
    for (z, &c) in x.chunks_exact_mut(2).zip(component) {
        let length = squares[c].sqrt();
        if length > 0.0 {
            z.iter_mut().for_each(|x| *x /= length);
        }
    }
}

/// Pseudo-random numbers from -1 to 1, always the same.
fn start(size: usize) -> Vec<f64> {
    let number = |i: usize| {
        let mut z = (i as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    (0..2 * size).map(number).collect()
}
