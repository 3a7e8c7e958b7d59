//! The pattern of a surface: where it creases and which way, fixed at rest.

use super::WrinkleError;
use super::compression::Compression;
use super::definition::WrinkleDef;
use super::lines::{self, agreement};
use super::patch::Patch;
use super::regions::{self, WrinkledJoint};
use super::stripes::{Stripes, stripes};
use crate::character::Skeleton;
use crate::geom::Adjacency;
use crate::geom::adjacency::Lists;
use crate::skinning::Surface;
use glam::{DVec2, DVec3, Vec3A};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::f64::consts::{PI, TAU};

/// Largest compression over the range of motion at which skin begins to wrinkle, and from which it does so fully. Chosen by eye on the
/// cylinder; not varied.
const MASK: [f64; 2] = [0.05, 0.18];
/// Lines are smoothed over this many wavelengths. Not varied.
const SMOOTHING: f64 = 1.5;
/// Wavelengths are blended between joints by this many means with the neighbours.
const BLENDS: usize = 12;
/// Edges to a wavelength at which sharp valleys begin to show, and from which they do fully.
const SHARP: [f64; 2] = [4.0, 8.0];

/// A triangle whose length along its line counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gauge {
    /// Vertices of the surface.
    pub corners: [u32; 3],
    /// What to multiply the edges from the first corner with; the sum has length 1 at rest.
    pub along: [f32; 2],
    /// Whether the skin around it wrinkles fully.
    pub full: bool,
}

impl Gauge {
    /// Length along the line over that at rest.
    pub fn length(&self, at: impl Fn(u32) -> Vec3A) -> f32 {
        let [a, b, c] = self.corners.map(at);
        ((b - a) * self.along[0] + (c - a) * self.along[1]).length()
    }
}

/// Where and which way a surface creases. Lists are per vertex of the pattern.
#[derive(Debug)]
pub(super) struct Pattern {
    /// Vertices of the surface, ascending.
    pub vertices: Vec<u32>,
    /// Offset in heights, positive outward: 0.74 on a ridge and -1.11 in a valley where valleys are sharp, else 1 and -1.
    pub wave: Vec<f32>,
    /// Height where skin is compressed to nothing, metres: wavelength times mask times gain, over pi.
    pub scale: Vec<f32>,
    /// Neighbours, as places in these lists.
    pub rings: Lists,
    /// Gauges around each vertex.
    pub gauges_of: Lists,
    /// Triangles.
    pub gauges: Vec<Gauge>,
    /// Means with the neighbours that compression is smoothed by in a frame.
    pub means: usize,
    /// What is drawn where.
    pub joints: Vec<WrinkledJoint>,
    /// Share of the area that can wrinkle whose stripes are within 15 % of the wavelength asked for.
    pub spacing_kept: f32,
}

fn smoothstep([low, high]: [f64; 2], x: f64) -> f64 {
    let t = ((x - low) / (high - low)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

impl Pattern {
    pub fn new(
        surface: &Surface,
        adjacency: &Adjacency,
        skeleton: &Skeleton,
        compression: &Compression,
        def: &WrinkleDef,
    ) -> Result<Self, WrinkleError> {
        let joint_of = regions::bending_joints(surface, skeleton);
        let wanted = regions::wanted(def, skeleton, &joint_of)?;
        let is_wanted = |v: usize| joint_of[v].is_some_and(|j| wanted[j as usize]);
        let whole = Patch::new(&surface.mesh, adjacency, compression, is_wanted);
        let joints = regions::joints(def, surface, skeleton, &joint_of, &whole)?;
        let drawn = |v: usize| {
            let joint = joints.iter().find(|(j, _)| Some(*j) == joint_of[v]).map(|(_, joint)| joint);
            joint.filter(|joint| joint.subdivisions == 0)
        };
        let patch = Patch::new(&surface.mesh, adjacency, compression, |v| is_wanted(v) && drawn(v).is_some());
        let joints_of = |v: usize| drawn(patch.vertices[v] as usize);
        let mut logs: Vec<f64> = (0..patch.len())
            .map(|v| joints_of(v).map_or(0.0, |joint| f64::from(joint.wavelength).ln()))
            .collect();
        patch.average(&mut logs, BLENDS);
        let wavelengths: Vec<f64> = logs.iter().map(|log| log.exp()).collect();
        let gains: Vec<f64> = (0..patch.len())
            .map(|v| {
                let own = joints_of(v).and_then(|joint| def.joint.get(&joint.name));
                f64::from(own.and_then(|own| own.gain).unwrap_or(def.gain))
            })
            .collect();
        let lengths: Vec<f64> = wavelengths.iter().map(|w| SMOOTHING * w).collect();
        let empty = patch.is_empty();
        let lines = if empty { Vec::new() } else { lines::smooth(&patch, compression, &lengths)? };
        let Stripes { phases, singular, changes } = stripes_of(&patch, &lines, &wavelengths)?;
        let mut most = patch.most.clone();
        patch.average(&mut most, 3);
        let apart = distances(&patch, &singular);
        let edges = mean_edges(&patch);
        let mask: Vec<f64> = (0..patch.len())
            .map(|v| smoothstep(MASK, most[v]) * smoothstep([0.0, 0.5 * wavelengths[v]], apart[v]))
            .collect();
        let wave = (0..patch.len()).map(|v| {
            let sharp = f64::from(def.sharpness) * smoothstep(SHARP, wavelengths[v] / edges[v].max(1e-12));
            let z = phases[v];
            let twice = z.x * z.x - z.y * z.y;
            // Divided so that a height gives back the same length at any sharpness.
            ((z.x - sharp * twice) / (1.0 + 4.0 * sharp * sharp).sqrt()) as f32
        });
        let scale = (0..patch.len()).map(|v| (wavelengths[v] / PI * mask[v] * gains[v]) as f32).collect();
        let (gauges, around) = gauges(&patch, &lines, &mask);
        let spacing_kept = spacing_kept(&patch, &changes, &wavelengths, &mask);
        let ratios = wavelengths.iter().zip(&edges).map(|(w, e)| (0.5 * w / e.max(1e-12)).powi(2));
        let mean = ratios.sum::<f64>() / patch.len().max(1) as f64;
        let pairs: Vec<(u32, u32)> = {
            let both = patch.edges.iter().flat_map(|e| [(e.a as u32, e.b as u32), (e.b as u32, e.a as u32)]);
            let mut pairs: Vec<_> = both.collect();
            pairs.sort_unstable();
            pairs
        };
        Ok(Self {
            wave: wave.collect(),
            scale,
            rings: Lists::group(patch.len(), &pairs),
            gauges_of: Lists::group(patch.len(), &around),
            gauges,
            means: (mean.ceil() as usize).clamp(2, 12),
            joints: joints.iter().map(|(_, joint)| joint.clone()).collect(),
            spacing_kept,
            vertices: patch.vertices,
        })
    }
}

fn stripes_of(patch: &Patch, lines: &[DVec3], wavelengths: &[f64]) -> Result<Stripes, WrinkleError> {
    if patch.is_empty() {
        return Ok(Stripes { phases: Vec::new(), singular: Vec::new(), changes: Vec::new() });
    }
    Ok(stripes(patch, lines, wavelengths)?)
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

/// Gauges, and pairs of vertex and gauge.
fn gauges(patch: &Patch, lines: &[DVec3], mask: &[f64]) -> (Vec<Gauge>, Vec<(u32, u32)>) {
    let (mut gauges, mut around) = (Vec::new(), Vec::new());
    for &(t, [a, b, c]) in &patch.triangles {
        let [p, q, r] = [a, b, c].map(|v| patch.position(v));
        let (u, v) = (q - p, r - p);
        let sum =
            lines[a] + lines[b] * agreement(patch, lines, a, b) + lines[c] * agreement(patch, lines, a, c);
        let normal = u.cross(v).normalize_or_zero();
        let Some(line) = (sum - normal * sum.dot(normal)).try_normalize() else { continue };
        let Some(along) = solve_in(u, v, line) else { continue };
        around.extend([a, b, c].map(|v| (v as u32, gauges.len() as u32)));
        gauges.push(Gauge {
            corners: patch.rest.triangles[t as usize],
            along: along.as_vec2().to_array(),
            full: [a, b, c].iter().all(|&v| mask[v] > 0.99),
        });
    }
    around.sort_unstable();
    (gauges, around)
}

/// Numbers `x` and `y` with `x u + y v = line`, which lies in their plane; `None` for a triangle without area.
fn solve_in(u: DVec3, v: DVec3, line: DVec3) -> Option<DVec2> {
    let (uu, uv, vv) = (u.dot(u), u.dot(v), v.dot(v));
    let (ul, vl) = (u.dot(line), v.dot(line));
    let determinant = uu * vv - uv * uv;
    let found = DVec2::new(vv * ul - uv * vl, uu * vl - uv * ul) / determinant;
    (determinant > 1e-9 * uu * vv && found.is_finite()).then_some(found)
}

fn spacing_kept(patch: &Patch, changes: &[Option<[f64; 2]>], wavelengths: &[f64], mask: &[f64]) -> f32 {
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
    if all > 0.0 { (kept / all) as f32 } else { 1.0 }
}
