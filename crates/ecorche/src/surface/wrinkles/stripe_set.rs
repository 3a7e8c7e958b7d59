//! One set of stripes on the skin: its lines, its phase and its mask.

use super::WrinkleError;
use super::compression::Compression;
use super::creases::{self, Crease};
use super::lines::{self, agreement};
use super::patch::Patch;
use super::stripes::{Stripes, stripes};
use glam::{DVec2, DVec3};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::f64::consts::{PI, TAU};

/// Largest compression over the range of motion at which skin begins to wrinkle, and from which it does so fully. At 0.05 and 0.18
/// chest, shoulders and face of a jumping woman creased like wet cloth; skin is stretched at rest, and fat bulges before it folds.
const MASK: [f64; 2] = [0.15, 0.4];
/// Lines are smoothed over this many wavelengths. Not varied.
const SMOOTHING: f64 = 1.5;
/// Edges to a wavelength at which sharp valleys begin to show, and from which they do fully.
const SHARP: [f64; 2] = [4.0, 8.0];
/// Patches smaller than this many squared wavelengths stay smooth: they hold no stripe.
const LEAST_AREA: f64 = 2.0;

/// What a set is made of besides its patch. Lists are per vertex of the patch.
pub(super) struct Making<'a> {
    pub compression: &'a Compression,
    /// Metres.
    pub wavelengths: Vec<f64>,
    pub sharpness: f64,
    /// Directions that were given, times how much they hold.
    pub directions: Vec<DVec3>,
    /// Creases that the stripes must meet.
    pub creases: Vec<Option<Crease>>,
    /// Whether joints crease where they bend, how much deeper than the skin around, and where they are.
    pub joints: Option<creases::Joints<'a>>,
    /// Masks that were given, to be mixed in by the second number.
    pub masks: Vec<Option<[f64; 2]>>,
}

/// Stripes of a patch. Lists are per vertex of the patch unless said otherwise.
#[derive(Debug)]
pub(super) struct StripeSet {
    /// Vertices of the surface, ascending.
    pub vertices: Vec<u32>,
    /// Unit, along which the skin folds; the sign is arbitrary.
    pub lines: Vec<DVec3>,
    /// Phase in the direction of the line.
    pub phases: Vec<DVec2>,
    /// 0 to 1.
    pub mask: Vec<f64>,
    /// Metres.
    pub wavelengths: Vec<f64>,
    /// How much deeper than the mask says, 0 for no crease.
    pub depth: Vec<f64>,
    /// Offset in heights, positive outward.
    pub wave: Vec<f32>,
    /// Triangles of the surface with their corners in the patch.
    pub triangles: Vec<(u32, [usize; 3])>,
    /// Of each triangle, as in [`Stripes::changes`].
    pub changes: Vec<Option<[f64; 2]>>,
    /// Triangles of the surface, and what to multiply their edges from the first corner with to measure along the line.
    pub gauges: Vec<(u32, [f32; 2])>,
    /// Area that wrinkles with stripes within 15 % of their wavelength, and all area that wrinkles.
    pub spacing: [f64; 2],
}

pub(super) fn smoothstep([low, high]: [f64; 2], x: f64) -> f64 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

impl StripeSet {
    /// Of a patch that is not empty.
    pub fn new(patch: &Patch, making: Making) -> Result<Self, WrinkleError> {
        let Making { compression, wavelengths, sharpness, directions, mut creases, joints, masks } = making;
        let lengths: Vec<f64> = wavelengths.iter().map(|w| SMOOTHING * w).collect();
        let lines = lines::smooth(patch, compression, &lengths, &directions)?;
        if let Some(joints) = joints {
            joints.add(patch, &lines, &wavelengths, &mut creases);
        }
        let Stripes { phases, singular, changes } = stripes(patch, &lines, &wavelengths, &creases)?;
        let mut most = patch.most.clone();
        patch.average(&mut most, 3);
        let apart = distances(patch, &singular);
        let edges = mean_edges(patch);
        let mut mask: Vec<f64> = (0..patch.len())
            .map(|v| {
                let own = smoothstep(MASK, most[v]);
                let given = masks[v].map_or(own, |[mask, share]| own + share * (mask - own));
                let near = creases[v].map_or(0.0, |crease| crease.mask * crease.band(wavelengths[v]));
                given.max(near) * smoothstep([0.0, 0.5 * wavelengths[v]], apart[v])
            })
            .collect();
        drop_small(patch, &wavelengths, &mut mask);
        let wave = (0..patch.len()).map(|v| {
            let sharp = sharpness * smoothstep(SHARP, wavelengths[v] / edges[v].max(1e-12));
            // Between vertices the mesh cuts the wave's corners; a little more height gives back the length.
            let half = (PI * edges[v] / wavelengths[v]).min(0.25 * PI);
            (wave(phases[v].x, sharp) * half / half.sin()) as f32
        });
        let depth = (0..patch.len())
            .map(|v| creases[v].map_or(0.0, |crease| crease.depth * crease.band(wavelengths[v])))
            .collect();
        Ok(Self {
            wave: wave.collect(),
            gauges: gauges(patch, &lines),
            spacing: spacing(patch, &changes, &wavelengths, &mask),
            wavelengths,
            vertices: patch.vertices.clone(),
            triangles: patch.triangles.clone(),
            lines,
            phases,
            mask,
            depth,
            changes,
        })
    }

    /// Per triangle of the surface the line in space, zero outside.
    pub fn triangle_lines(&self, patch: &Patch) -> Vec<DVec3> {
        let mut lines = vec![DVec3::ZERO; patch.rest.triangles.len()];
        for &(t, corners) in &self.triangles {
            lines[t as usize] = line_of(patch, &self.lines, corners);
        }
        lines
    }
}

/// The offset of a phase whose cosine is given: 0.74 on a ridge and -1.11 in a valley where valleys are sharp, else 1 and -1.
/// Divided so that a height gives back the same length at any sharpness.
pub(super) fn wave(cos: f64, sharp: f64) -> f64 {
    (cos - sharp * (2.0 * cos * cos - 1.0)) / (1.0 + 4.0 * sharp * sharp).sqrt()
}

/// Connected parts of the mask without room for stripes become 0.
fn drop_small(patch: &Patch, wavelengths: &[f64], mask: &mut [f64]) {
    let (component, count) = patch.components_where(|v| mask[v] > 0.0);
    let mut areas = vec![0.0; count];
    for v in 0..patch.len() {
        areas[component[v]] += mask[v] * patch.areas[v] / (wavelengths[v] * wavelengths[v]);
    }
    for (v, mask) in mask.iter_mut().enumerate() {
        if areas[component[v]] < LEAST_AREA {
            *mask = 0.0;
        }
    }
}

/// Of each vertex, the way along edges to the nearest corner of the listed triangles, metres.
fn distances(patch: &Patch, triangles: &[usize]) -> Vec<f64> {
    let mut neighbours = vec![Vec::new(); patch.len()];
    for edge in &patch.edges {
        neighbours[edge.a].push((edge.b, edge.length));
        neighbours[edge.b].push((edge.a, edge.length));
    }
    let mut distance = vec![f64::MAX; patch.len()];
    // Positive numbers sort as their bits.
    let mut queue = BinaryHeap::new();
    for &t in triangles {
        for v in patch.triangles[t].1 {
            distance[v] = 0.0;
            queue.push(Reverse((0u64, v)));
        }
    }
    while let Some(Reverse((bits, v))) = queue.pop() {
        let so_far = f64::from_bits(bits);
        if so_far > distance[v] {
            continue;
        }
        for &(w, length) in &neighbours[v] {
            let through = so_far + length;
            if through < distance[w] {
                distance[w] = through;
                queue.push(Reverse((through.to_bits(), w)));
            }
        }
    }
    distance
}

fn mean_edges(patch: &Patch) -> Vec<f64> {
    let mut sums = vec![(0.0, 0.0); patch.len()];
    for edge in &patch.edges {
        for v in [edge.a, edge.b] {
            sums[v].0 += edge.length;
            sums[v].1 += 1.0;
        }
    }
    sums.iter().map(|&(sum, count)| if count > 0.0 { sum / count } else { 0.0 }).collect()
}

/// The mean line of a triangle's corners, in its plane; zero without one.
fn line_of(patch: &Patch, lines: &[DVec3], [a, b, c]: [usize; 3]) -> DVec3 {
    let sum = lines[a] + lines[b] * agreement(patch, lines, a, b) + lines[c] * agreement(patch, lines, a, c);
    let [p, q, r] = [a, b, c].map(|v| patch.position(v));
    let normal = (q - p).cross(r - p).normalize_or_zero();
    (sum - normal * sum.dot(normal)).normalize_or_zero()
}

fn gauges(patch: &Patch, lines: &[DVec3]) -> Vec<(u32, [f32; 2])> {
    let gauge = |&(t, corners): &(u32, [usize; 3])| {
        let line = line_of(patch, lines, corners);
        let [p, q, r] = corners.map(|v| patch.position(v));
        let along = solve_in(q - p, r - p, line).filter(|_| line != DVec3::ZERO)?;
        Some((t, along.as_vec2().to_array()))
    };
    patch.triangles.iter().filter_map(gauge).collect()
}

/// Numbers `x` and `y` with `x u + y v = line`, which lies in their plane; `None` for a triangle without area.
fn solve_in(u: DVec3, v: DVec3, line: DVec3) -> Option<DVec2> {
    let (uu, uv, vv) = (u.dot(u), u.dot(v), v.dot(v));
    let (ul, vl) = (u.dot(line), v.dot(line));
    let determinant = uu * vv - uv * uv;
    let found = DVec2::new(vv * ul - uv * vl, uu * vl - uv * ul) / determinant;
    (determinant > 1e-9 * uu * vv && found.is_finite()).then_some(found)
}

fn spacing(patch: &Patch, changes: &[Option<[f64; 2]>], wavelengths: &[f64], mask: &[f64]) -> [f64; 2] {
    let (mut kept, mut all) = (0.0, 0.0);
    for (&(t, corners), change) in patch.triangles.iter().zip(changes) {
        if corners.iter().any(|&v| mask[v] < 0.5) {
            continue;
        }
        let area = patch.surface_area_of(t);
        all += area;
        let [p, q, r] = corners.map(|v| patch.position(v));
        let (u, v) = (q - p, r - p);
        let Some([du, dv]) = *change else { continue };
        let (uu, uv, vv) = (u.dot(u), u.dot(v), v.dot(v));
        let determinant = uu * vv - uv * uv;
        let gradient = (u * (vv * du - uv * dv) + v * (uu * dv - uv * du)) / determinant;
        let wanted = corners.iter().map(|&v| wavelengths[v]).sum::<f64>() / 3.0;
        let ratio = TAU / gradient.length() / wanted;
        if (ratio - 1.0).abs() <= 0.15 {
            kept += area;
        }
    }
    [kept, all]
}
