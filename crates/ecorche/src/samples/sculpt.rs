//! The vocabulary for modelling a body: masses that are added to or carved from a solid one after the
//! other, each with its own blend radius.
//!
//! The solid is a function of space: the distance to the surface in metres, roughly, negative inside.
//! Blends have compact support: two masses further apart than half their blend radius do not affect each
//! other, which keeps fingers and legs from growing together. Masses may be gathered in groups; a
//! group is finished by itself and then joined to the rest with one blend, so that what is carved from a
//! hand leaves the thigh beside it alone.
//!
//! Conventions: metres, Y up, the figure faces +Z and its left side is +X. A pair is a mass on the left
//! side and its mirror image.

mod mass;

pub use mass::{Mass, Section, ball, bone, ellipsoid, half_space, limb, loft, muscle};

use crate::geom::TriMesh;
use crate::geom::polygonise::{Lattice, polygonise};
use crate::geom::remesh::{RemeshSettings, remesh};
use glam::{Affine3A, Vec3};
use mass::placed;

/// Smooth minimum with compact support: differs from the minimum only where `|a - b| < radius`.
pub fn blend(a: f32, b: f32, radius: f32) -> f32 {
    let h = (radius - (a - b).abs()).max(0.0);
    if h == 0.0 { a.min(b) } else { a.min(b) - h * h / (4.0 * radius) }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    Add,
    Carve,
}

#[derive(Clone, Debug)]
struct Step {
    mass: Mass,
    how: How,
    radius: f32,
    /// Blend radius between the mass and its mirror image, for a pair.
    pair: Option<f32>,
    group: usize,
    bounds: (Vec3, Vec3),
}

#[derive(Clone, Debug)]
struct Group {
    name: &'static str,
    radius: f32,
    mirrored: bool,
}

/// A solid in the making: masses in the order they are applied.
#[derive(Clone, Debug)]
pub struct Sculpture {
    steps: Vec<Step>,
    groups: Vec<Group>,
    /// Places what is added in the group's own coordinates.
    world_from_group: Affine3A,
}

impl Default for Sculpture {
    fn default() -> Self {
        Self {
            steps: Vec::new(),
            groups: vec![Group { name: "body", radius: 0.0, mirrored: false }],
            world_from_group: Affine3A::IDENTITY,
        }
    }
}

impl Sculpture {
    /// Starts a group: what follows is one solid by itself, joined to everything before with `radius`.
    /// Its masses are given in coordinates placed by `world_from_group`, a rigid motion. With `mirrored` the
    /// whole group appears on both sides.
    pub fn group(&mut self, name: &'static str, radius: f32, mirrored: bool, world_from_group: Affine3A) {
        self.groups.push(Group { name, radius, mirrored });
        self.world_from_group = world_from_group;
    }

    /// Joins `mass` with a fillet of about `radius`.
    pub fn add(&mut self, mass: Mass, radius: f32) {
        self.step(mass, How::Add, radius, None);
    }

    /// Joins `mass` and its mirror image, blended with each other by `pair`.
    pub fn add_pair(&mut self, mass: Mass, radius: f32, pair: f32) {
        self.step(mass, How::Add, radius, Some(pair));
    }

    /// Removes `mass`, rounding the rim by about `radius`.
    pub fn carve(&mut self, mass: Mass, radius: f32) {
        self.step(mass, How::Carve, radius, None);
    }

    /// Removes `mass` and its mirror image.
    pub fn carve_pair(&mut self, mass: Mass, radius: f32, pair: f32) {
        self.step(mass, How::Carve, radius, Some(pair));
    }

    fn step(&mut self, mass: Mass, how: How, radius: f32, pair: Option<f32>) {
        let mass = placed(mass, &self.world_from_group);
        let bounds = mass.bounds();
        self.steps.push(Step { mass, how, radius, pair, group: self.groups.len() - 1, bounds });
    }

    /// Makes the solid ready to be evaluated.
    pub fn solid(self) -> Solid {
        Solid::new(self)
    }
}

const MIRROR: Vec3 = Vec3::new(-1.0, 1.0, 1.0);
/// Side of the boxes that know which masses are near, metres.
const BOX: f32 = 0.03;
/// How far from the surface the value is still exact, metres.
const BAND: f32 = 0.012;

/// A finished solid: [`Sculpture`] sorted into boxes, so that only near masses are evaluated.
#[derive(Clone, Debug)]
pub struct Solid {
    steps: Vec<Step>,
    groups: Vec<Group>,
    low: Vec3,
    high: Vec3,
    boxes: [usize; 3],
    /// For each box the steps near it, each with whether its own side and its mirror image are near.
    near: Vec<Vec<(u16, bool, bool)>>,
}

impl Solid {
    fn new(sculpture: Sculpture) -> Self {
        let Sculpture { steps, groups, .. } = sculpture;
        let both_sides = |s: &Step| s.pair.is_some() || groups[s.group].mirrored;
        let (mut low, mut high) = (Vec3::MAX, Vec3::MIN);
        for step in steps.iter().filter(|s| s.how == How::Add) {
            (low, high) = (low.min(step.bounds.0), high.max(step.bounds.1));
            if both_sides(step) {
                low.x = low.x.min(-step.bounds.1.x);
                high.x = high.x.max(-step.bounds.0.x);
            }
        }
        let margin = Vec3::splat(0.02);
        (low, high) = (low - margin, high + margin);
        let count = ((high - low) / BOX).ceil().max(Vec3::ONE);
        let boxes = [count.x as usize, count.y as usize, count.z as usize];
        let near = (0..boxes[0] * boxes[1] * boxes[2])
            .map(|i| {
                let cell = [i % boxes[0], i / boxes[0] % boxes[1], i / (boxes[0] * boxes[1])];
                let box_low = low + Vec3::new(cell[0] as f32, cell[1] as f32, cell[2] as f32) * BOX;
                let box_high = box_low + BOX;
                steps
                    .iter()
                    .enumerate()
                    .filter_map(|(s, step)| {
                        let radius = step.radius.max(step.pair.unwrap_or(0.0)).max(groups[step.group].radius);
                        let trust = step.mass.trust();
                        let reaches = |low: Vec3, high: Vec3| {
                            let gap = (low - box_high).max(box_low - high).max(Vec3::ZERO).length();
                            trust * gap < radius + BAND
                        };
                        let (a, b) = step.bounds;
                        let own = reaches(a, b);
                        let mirror =
                            both_sides(step) && reaches(Vec3::new(-b.x, a.y, a.z), Vec3::new(-a.x, b.y, b.z));
                        (own || mirror).then_some((s as u16, own, mirror))
                    })
                    .collect()
            })
            .collect();
        Self { steps, groups, low, high, boxes, near }
    }

    /// Distance to the surface, negative inside; exact enough for modelling within 12 mm of the surface,
    /// of the correct sign everywhere.
    pub fn distance(&self, p: Vec3) -> f32 {
        let mut result = f32::MAX;
        self.each_group(p, |group, own, mirror| {
            let value = if self.groups[group].mirrored { own.min(mirror) } else { own };
            result = if result == f32::MAX { value } else { blend(result, value, self.groups[group].radius) };
        });
        result.min(1.0)
    }

    /// For each group that is near, its name, its distance and its mirror image's.
    pub fn group_distances(&self, p: Vec3) -> Vec<(&'static str, f32, f32)> {
        let mut found = Vec::new();
        self.each_group(p, |group, own, mirror| found.push((self.groups[group].name, own, mirror)));
        found
    }

    fn each_group(&self, p: Vec3, mut visit: impl FnMut(usize, f32, f32)) {
        let cell = ((p - self.low) / BOX).floor();
        let inside = cell.cmpge(Vec3::ZERO).all() && (0..3).all(|k| (cell[k] as usize) < self.boxes[k]);
        if !inside {
            return;
        }
        let at = cell.x as usize + self.boxes[0] * (cell.y as usize + self.boxes[1] * cell.z as usize);
        let q = p * MIRROR;
        let (mut group, mut own, mut mirror) = (usize::MAX, f32::MAX, f32::MAX);
        for &(s, own_near, mirror_near) in &self.near[at] {
            let step = &self.steps[s as usize];
            if step.group != group {
                if group != usize::MAX {
                    visit(group, own, mirror);
                }
                (group, own, mirror) = (step.group, f32::MAX, f32::MAX);
            }
            let at_p = if own_near { step.mass.distance(p) } else { f32::MAX };
            let at_q = if mirror_near { step.mass.distance(q) } else { f32::MAX };
            if let Some(pair) = step.pair {
                let value = join(at_p, at_q, pair);
                own = step.apply(own, value);
            } else {
                own = step.apply(own, at_p);
                mirror = step.apply(mirror, at_q);
            }
        }
        if group != usize::MAX {
            visit(group, own, mirror);
        }
    }

    /// Even triangles on the surface of a figure that is its own mirror image, `vertices` in all.
    /// `cell` (metres) must resolve the narrowest gap: two cells across it.
    pub fn mirrored_surface(
        &self,
        vertices: usize,
        cell: f32,
        fineness: impl Fn(Vec3) -> f32 + Sync,
    ) -> TriMesh {
        let low = Vec3::new(0.0, self.low.y, self.low.z);
        let rough = self.rough(low, cell);
        let settings = RemeshSettings { vertices, mirrored: true, ..Default::default() };
        remesh(&rough, |p| self.distance(p), fineness, &settings)
    }

    /// Even triangles on the surface, `vertices` in all; `cell` as for [`Solid::mirrored_surface`].
    pub fn surface(&self, vertices: usize, cell: f32, fineness: impl Fn(Vec3) -> f32 + Sync) -> TriMesh {
        let rough = self.rough(self.low, cell);
        let settings = RemeshSettings { vertices, ..Default::default() };
        remesh(&rough, |p| self.distance(p), fineness, &settings)
    }

    /// Uneven triangles of the part of the surface above `low`.
    pub fn rough(&self, low: Vec3, cell: f32) -> TriMesh {
        let lattice = Lattice::covering(low, self.high, cell);
        let may_cross = |low: Vec3, high: Vec3| {
            let half_diagonal = 0.5 * low.distance(high);
            // 1.7: the distance functions of flat masses overestimate at their rims; 1.2 leaves holes.
            self.distance((low + high) * 0.5).abs() < 1.7 * half_diagonal
        };
        polygonise(&lattice, |p| self.distance(p), may_cross)
    }
}

/// [`blend`] that leaves out an absent side.
fn join(a: f32, b: f32, radius: f32) -> f32 {
    if a == f32::MAX || b == f32::MAX || radius == 0.0 { a.min(b) } else { blend(a, b, radius) }
}

impl Step {
    fn apply(&self, solid: f32, mass: f32) -> f32 {
        if mass == f32::MAX {
            return solid;
        }
        match self.how {
            How::Add => join(solid, mass, self.radius),
            How::Carve if solid == f32::MAX => solid,
            How::Carve => -join(-solid, mass, self.radius),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masses_further_apart_than_half_the_blend_do_not_feel_each_other() {
        let mut sculpture = Sculpture::default();
        sculpture.add(ball(Vec3::ZERO, 0.05), 0.0);
        sculpture.add(ball(Vec3::new(0.112, 0.0, 0.0), 0.05), 0.02);
        let solid = sculpture.solid();
        assert!(solid.distance(Vec3::new(0.056, 0.0, 0.0)) > 0.0);
        assert!((solid.distance(Vec3::new(-0.05, 0.0, 0.0))).abs() < 1e-6);
    }

    #[test]
    fn a_mirrored_group_is_the_same_on_both_sides() {
        let mut sculpture = Sculpture::default();
        sculpture.add(ball(Vec3::ZERO, 0.05), 0.0);
        let motion =
            Affine3A::from_rotation_translation(glam::Quat::from_rotation_z(0.5), Vec3::new(0.1, 0.0, 0.0));
        sculpture.group("arm", 0.02, true, motion);
        sculpture.add(bone(Vec3::ZERO, Vec3::new(0.1, 0.0, 0.02), 0.03, 0.02), 0.0);
        sculpture.carve(ball(Vec3::new(0.05, 0.02, 0.0), 0.02), 0.01);
        let solid = sculpture.solid();
        for p in [Vec3::new(0.13, 0.04, 0.0), Vec3::new(0.06, 0.01, 0.03)] {
            assert_eq!(solid.distance(p), solid.distance(p * MIRROR));
        }
    }
}
