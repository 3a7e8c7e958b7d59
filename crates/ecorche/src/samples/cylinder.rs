//! The cylinder sample: two bones in a row, the textbook case of skinning.

use super::clips::{Moment, eased, sample};
use super::rig::{Flesh, Rig};
use crate::character::Character;
use crate::geom::TriMesh;
use glam::{Quat, Vec3};
use std::f32::consts::TAU;

/// What the cylinder looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CylinderSettings {
    /// Metres, along Y from the ground.
    pub length: f32,
    /// Metres.
    pub radius: f32,
    /// Vertices around.
    pub segments: usize,
    /// Rows of quads along.
    pub rings: usize,
    /// Length of the stretch around the joint over which the weights change linearly, as a share of the
    /// whole length; 0 is a hard seam.
    pub ramp: f32,
}

impl Default for CylinderSettings {
    fn default() -> Self {
        Self { length: 1.0, radius: 0.12, segments: 48, rings: 64, ramp: 0.3 }
    }
}

/// The cylinder, closed by flat caps. Clips: `bend` to 120 degrees and back, `twist` to 180 and back.
pub fn build(settings: &CylinderSettings) -> Character {
    let CylinderSettings { length, radius, ramp, .. } = *settings;
    let surface = surface(settings);
    let mut rig = Rig::default();
    let middle = Vec3::Y * (0.5 * length);
    rig.add("lower", "root", [Vec3::ZERO, middle], Vec3::Z, Flesh::even(radius, radius));
    rig.add("upper", "lower", [middle, Vec3::Y * length], Vec3::Z, Flesh::even(radius, radius));
    let width = (ramp * length).max(1e-6);
    let weights = surface
        .positions
        .iter()
        .map(|p| {
            let upper = (0.5 + (p.y - 0.5 * length) / width).clamp(0.0, 1.0);
            vec![(1, 1.0 - upper), (2, upper)]
        })
        .collect();
    let go = [(0.1, 0.0), (1.2, 1.0), (1.4, 1.0), (2.5, 0.0)];
    let turned = |axis: Vec3, degrees: f32| {
        let turns = [Quat::IDENTITY, Quat::IDENTITY, Quat::from_axis_angle(axis, degrees.to_radians())];
        Moment::from_turns(&rig, &turns, Vec3::ZERO)
    };
    let clips = vec![
        sample("bend", &rig, 2.6, |t| turned(Vec3::X, 120.0 * eased(&go, t))),
        sample("twist", &rig, 2.6, |t| turned(Vec3::Y, 180.0 * eased(&go, t))),
    ];
    rig.character("cylinder", surface, weights, clips)
}

fn surface(settings: &CylinderSettings) -> TriMesh {
    let CylinderSettings { length, radius, segments, rings, .. } = *settings;
    // Cap rings as far apart as the vertices around.
    let cap = ((segments as f32 / TAU).round() as usize).max(1);
    // From the middle of the bottom over the side to the middle of the top: (distance from the axis, height).
    let mut outline: Vec<(f32, f32)> = (1..cap).map(|k| (radius * k as f32 / cap as f32, 0.0)).collect();
    outline.extend((0..=rings).map(|k| (radius, length * k as f32 / rings as f32)));
    outline.extend((1..cap).rev().map(|k| (radius * k as f32 / cap as f32, length)));

    let mut positions = vec![Vec3::ZERO];
    for &(r, y) in &outline {
        positions.extend((0..segments).map(|s| {
            let (sine, cosine) = (TAU * s as f32 / segments as f32).sin_cos();
            Vec3::new(r * sine, y, r * cosine)
        }));
    }
    positions.push(Vec3::Y * length);
    let top = positions.len() as u32 - 1;
    let at = |row: usize, s: usize| (1 + row * segments + s % segments) as u32;
    let mut triangles = Vec::new();
    for s in 0..segments {
        triangles.push([0, at(0, s + 1), at(0, s)]);
        for row in 0..outline.len() - 1 {
            let [a, b, c, d] = [at(row, s), at(row, s + 1), at(row + 1, s + 1), at(row + 1, s)];
            triangles.extend([[a, b, c], [a, c, d]]);
        }
        triangles.push([top, at(outline.len() - 1, s), at(outline.len() - 1, s + 1)]);
    }
    TriMesh { positions, triangles }
}
