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

use crate::geom::TriMesh;
use crate::geom::polygonise::{Lattice, polygonise};
use crate::geom::remesh::{RemeshSettings, remesh};
use glam::{Affine3A, Mat3, Vec2, Vec3};

/// One cross-section of a [`loft`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Section {
    /// Where along the axis, metres from its beginning.
    pub at: f32,
    /// The section's middle, off the axis towards (side, out).
    pub middle: Vec2,
    /// Half the breadth, towards the sides.
    pub side: f32,
    /// Reach in the direction `out`, from the middle.
    pub out: f32,
    /// Reach against the direction `out`, from the middle.
    pub back: f32,
    /// 2 is an ellipse; higher is squarer.
    pub power: f32,
}

impl Section {
    /// An ellipse centred on the axis.
    pub fn ellipse(at: f32, side: f32, out: f32) -> Self {
        Self { at, middle: Vec2::ZERO, side, out, back: out, power: 2.0 }
    }

    /// Slices across a foot in foot coordinates, for a loft along Z: `(z, half breadth, height)`. The sections reach `back`
    /// below their middle.
    pub fn of_foot<const N: usize>(back: f32, power: f32, slices: [(f32, f32, f32); N]) -> [Self; N] {
        let middle = Vec2::new(-0.002, 0.012);
        slices.map(|(at, side, top)| Self { at, middle, side, out: top - middle.y, back, power })
    }

    /// The same section with its middle moved off the axis towards (side, out).
    pub fn moved(mut self, side: f32, out: f32) -> Self {
        self.middle = Vec2::new(side, out);
        self
    }

    fn values(&self) -> [f32; 6] {
        [self.middle.x, self.middle.y, self.side, self.out, self.back, self.power]
    }
}

/// A mass with a distance function.
#[derive(Clone, Debug, PartialEq)]
pub struct Mass(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    RoundCone { a: Vec3, b: Vec3, ra: f32, rb: f32 },
    Ellipsoid { centre: Vec3, local_from_world: Mat3, radii: Vec3 },
    Loft(Box<Loft>),
    HalfSpace { point: Vec3, normal: Vec3, reach: f32 },
}

#[derive(Clone, Debug, PartialEq)]
struct Loft {
    start: Vec3,
    /// Rows: side, axis, out.
    local_from_world: Mat3,
    sections: Vec<Section>,
    /// Slope of each section's values along the axis, for cubic interpolation.
    slopes: Vec<[f32; 6]>,
    /// How far the rounded ends reach beyond the first and last section.
    caps: [f32; 2],
}

/// A ball swept from `a` to `b` while its radius goes from `ra` to `rb`.
pub fn bone(a: Vec3, b: Vec3, ra: f32, rb: f32) -> Mass {
    Mass(Kind::RoundCone { a, b, ra, rb })
}

/// A ball.
pub fn ball(centre: Vec3, radius: f32) -> Mass {
    bone(centre, centre, radius, radius)
}

/// An ellipsoid whose y axis points along `axis` and whose z axis lies towards `out`; `radii` are along
/// (side, axis, out).
pub fn ellipsoid(centre: Vec3, axis: Vec3, out: Vec3, radii: Vec3) -> Mass {
    Mass(Kind::Ellipsoid { centre, local_from_world: frame(axis, out).transpose(), radii })
}

/// Everything on the side of `point` that `normal` points away from; `reach` says how far around `point`
/// it matters.
pub fn half_space(point: Vec3, normal: Vec3, reach: f32) -> Mass {
    Mass(Kind::HalfSpace { point, normal: normal.normalize_or(Vec3::Y), reach })
}

/// A body of changing cross-section along a straight axis from `start`. Sections are interpolated
/// smoothly and may wander off the axis; the ends are rounded and reach `caps` further.
pub fn loft(start: Vec3, axis: Vec3, out: Vec3, sections: &[Section], caps: [f32; 2]) -> Mass {
    let count = sections.len();
    // Level at both ends, so that the rounded ends continue the body without a ridge.
    let slopes = (0..count)
        .map(|i| {
            if i == 0 || i + 1 == count {
                return [0.0; 6];
            }
            let (before, after) = (&sections[i - 1], &sections[i + 1]);
            let span = (after.at - before.at).max(1e-6);
            std::array::from_fn(|k| (after.values()[k] - before.values()[k]) / span)
        })
        .collect();
    Mass(Kind::Loft(Box::new(Loft {
        start,
        local_from_world: frame(axis, out).transpose(),
        sections: sections.to_vec(),
        slopes,
        caps,
    })))
}

/// A [`loft`] along the line from the first to the last of the given slices, each
/// (centre, half breadth, reach in direction `out`, reach against it, power as in [`Section`]).
pub fn limb(slices: &[(Vec3, f32, f32, f32, f32)], out: Vec3, caps: [f32; 2]) -> Mass {
    let (first, last) = (slices[0].0, slices[slices.len() - 1].0);
    let local_from_world = frame(last - first, out).transpose();
    let sections: Vec<Section> = slices
        .iter()
        .map(|&(centre, side, out, back, power)| {
            let q = local_from_world * (centre - first);
            Section { at: q.y, middle: Vec2::new(q.x, q.z), side, out, back, power }
        })
        .collect();
    loft(first, last - first, out, &sections, caps)
}

/// A muscle: a spindle from `a` to `b`, flat side towards `out`. `profile` lists (fraction of the way,
/// half breadth, half thickness).
pub fn muscle(a: Vec3, b: Vec3, out: Vec3, profile: &[(f32, f32, f32)]) -> Mass {
    let length = a.distance(b);
    let sections: Vec<Section> =
        profile.iter().map(|&(t, w, h)| Section::ellipse(t * length, w, h)).collect();
    let cap = |p: Option<&(f32, f32, f32)>| p.map_or(0.0, |&(_, w, h)| (w * h).sqrt());
    let caps = [cap(profile.first()), cap(profile.last())];
    loft(a, b - a, out, &sections, caps)
}

/// Columns: side, axis, out; `out` is made perpendicular to `axis`.
fn frame(axis: Vec3, out: Vec3) -> Mat3 {
    let y = axis.normalize_or(Vec3::Y);
    let z = (out - y * out.dot(y)).try_normalize().unwrap_or_else(|| y.any_orthonormal_vector());
    Mat3::from_cols(y.cross(z), y, z)
}

impl Mass {
    fn distance(&self, p: Vec3) -> f32 {
        match &self.0 {
            Kind::RoundCone { a, b, ra, rb } => round_cone(p, *a, *b, *ra, *rb),
            Kind::Ellipsoid { centre, local_from_world, radii } => {
                let q = *local_from_world * (p - centre);
                let g = (q / *radii).length();
                let steepness = (q / (*radii * *radii)).length();
                if steepness < 1e-9 { -radii.min_element() } else { g * (g - 1.0) / steepness }
            }
            Kind::Loft(loft) => loft.distance(p),
            Kind::HalfSpace { point, normal, .. } => (p - *point).dot(*normal),
        }
    }

    /// The smallest share of the true gap that `distance` may report; flat masses underestimate.
    fn trust(&self) -> f32 {
        match &self.0 {
            Kind::RoundCone { .. } | Kind::HalfSpace { .. } => 1.0,
            Kind::Ellipsoid { .. } | Kind::Loft(_) => 0.65,
        }
    }

    /// A box around the mass.
    fn bounds(&self) -> (Vec3, Vec3) {
        match &self.0 {
            Kind::RoundCone { a, b, ra, rb } => ((*a - *ra).min(*b - *rb), (*a + *ra).max(*b + *rb)),
            Kind::Ellipsoid { centre, local_from_world, radii } => {
                let world = local_from_world.transpose();
                let reach = Vec3::from_array(std::array::from_fn(|k| (world.row(k) * *radii).length()));
                (*centre - reach, *centre + reach)
            }
            Kind::HalfSpace { point, reach, .. } => (*point - *reach, *point + *reach),
            Kind::Loft(loft) => {
                let world = loft.local_from_world.transpose();
                let (mut low, mut high) = (Vec3::MAX, Vec3::MIN);
                for (i, s) in loft.sections.iter().enumerate() {
                    let cap = |end: usize| if i == end { loft.caps[usize::from(end > 0)] } else { 0.0 };
                    let last = loft.sections.len() - 1;
                    // A tenth more than the section: the interpolation may overshoot between sections.
                    let side = 1.1 * s.side;
                    for (u, v) in [
                        (side, s.out * 1.1),
                        (side, -s.back * 1.1),
                        (-side, s.out * 1.1),
                        (-side, -s.back * 1.1),
                    ] {
                        for h in [
                            s.at - if i == 0 { cap(0) } else { 0.0 },
                            s.at + if i == last { loft.caps[1] } else { 0.0 },
                        ] {
                            let q = loft.start + world * Vec3::new(s.middle.x + u, h, s.middle.y + v);
                            (low, high) = (low.min(q), high.max(q));
                        }
                    }
                }
                (low, high)
            }
        }
    }
}

impl Loft {
    fn distance(&self, p: Vec3) -> f32 {
        let q = self.local_from_world * (p - self.start);
        let (first, last) = (self.sections[0].at, self.sections[self.sections.len() - 1].at);
        let at = q.y.clamp(first, last);
        let ([mu, mv, side, out, back, power], slopes) = self.section(at);
        let (u, v) = (q.x - mu, q.z - mv);
        let reach = if v > 0.0 { out } else { back };
        let (a, b) = (u.abs() / side, v.abs() / reach);
        // g is 1 on the section's outline; its gradient turns g - 1 into metres.
        let (mut g, gu, gv);
        if (power - 2.0).abs() < 1e-3 {
            g = (a * a + b * b).sqrt().max(1e-6);
            (gu, gv) = (a / (side * g), b / (reach * g));
        } else {
            let (ap, bp) = (a.max(1e-6).powf(power - 1.0), b.max(1e-6).powf(power - 1.0));
            let sum = ap * a + bp * b;
            g = sum.powf(1.0 / power).max(1e-6);
            let scale = g / sum.max(1e-12);
            (gu, gv) = (ap * scale / side, bp * scale / reach);
        }
        let beyond = q.y - at;
        if beyond == 0.0 {
            // The outline's change along the axis tilts the surface.
            // Far outside the outline's own tilt counts, not that of its enlarged image.
            let along = (gu * a * slopes[2] + gv * b * slopes[if v > 0.0 { 3 } else { 4 }]) / g.max(1.0);
            let steepness = (gu * gu + gv * gv + along * along).sqrt();
            return if steepness < 1e-6 { -side.min(reach) } else { (g - 1.0) / steepness };
        }
        let cap = self.caps[usize::from(beyond > 0.0)].max(1e-4);
        let h = beyond / cap;
        let flat = g;
        g = (flat * flat + h * h).sqrt();
        let steepness = ((gu * gu + gv * gv) * (flat / g).powi(2) + (h / (g * cap)).powi(2)).sqrt();
        (g - 1.0) / steepness.max(1e-6)
    }

    /// Interpolated section values and their slopes along the axis.
    fn section(&self, at: f32) -> ([f32; 6], [f32; 6]) {
        let next = self.sections.iter().position(|s| s.at > at).unwrap_or(self.sections.len());
        if next == 0 || next == self.sections.len() {
            let i = next.saturating_sub(1);
            return (self.sections[i].values(), [0.0; 6]);
        }
        let (a, b) = (&self.sections[next - 1], &self.sections[next]);
        let span = b.at - a.at;
        let t = (at - a.at) / span;
        let (va, vb) = (a.values(), b.values());
        let (sa, sb) = (&self.slopes[next - 1], &self.slopes[next]);
        let (h1, h2) = (t * t * (3.0 - 2.0 * t), t * (1.0 - t));
        let mut values = [0.0; 6];
        let mut slopes = [0.0; 6];
        for k in 0..6 {
            values[k] = va[k] + (vb[k] - va[k]) * h1 + span * h2 * (sa[k] * (1.0 - t) - sb[k] * t);
            slopes[k] = (vb[k] - va[k]) / span * 6.0 * h2
                + sa[k] * (1.0 - t) * (1.0 - 3.0 * t)
                + sb[k] * t * (3.0 * t - 2.0);
        }
        (values, slopes)
    }
}

/// Exact distance to a ball swept along a segment while its radius changes linearly.
fn round_cone(p: Vec3, a: Vec3, b: Vec3, ra: f32, rb: f32) -> f32 {
    let axis = b - a;
    let l2 = axis.length_squared();
    let narrowing = ra - rb;
    let slant2 = l2 - narrowing * narrowing;
    if slant2 <= 1e-12 {
        // One ball holds the other.
        return if ra >= rb { p.distance(a) - ra } else { p.distance(b) - rb };
    }
    let pa = p - a;
    let along = pa.dot(axis) / l2.sqrt();
    let across = (pa.length_squared() - along * along).max(0.0).sqrt();
    let length = l2.sqrt();
    let (sine, cosine) = (narrowing / length, slant2.sqrt() / length);
    // Foot of the perpendicular to the slanted side.
    let foot = along - across * sine / cosine;
    if foot <= 0.0 {
        pa.length() - ra
    } else if foot >= length {
        p.distance(b) - rb
    } else {
        across * cosine + along * sine - ra
    }
}

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

/// The mass moved by a rigid motion.
fn placed(mass: Mass, motion: &Affine3A) -> Mass {
    let turn = Mat3::from(motion.matrix3).transpose();
    let point = |p: Vec3| motion.transform_point3(p);
    Mass(match mass.0 {
        Kind::RoundCone { a, b, ra, rb } => Kind::RoundCone { a: point(a), b: point(b), ra, rb },
        Kind::Ellipsoid { centre, local_from_world, radii } => {
            Kind::Ellipsoid { centre: point(centre), local_from_world: local_from_world * turn, radii }
        }
        Kind::HalfSpace { point: p, normal, reach } => {
            Kind::HalfSpace { point: point(p), normal: motion.transform_vector3(normal), reach }
        }
        Kind::Loft(loft) => Kind::Loft(Box::new(Loft {
            start: point(loft.start),
            local_from_world: loft.local_from_world * turn,
            ..*loft
        })),
    })
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
    fn a_round_cone_is_as_far_as_its_nearest_ball() {
        let (a, b, ra, rb) = (Vec3::new(0.1, 0.0, 0.0), Vec3::new(0.3, 0.2, 0.1), 0.05, 0.02);
        for p in [Vec3::new(0.5, 0.1, 0.0), Vec3::new(0.2, 0.3, -0.1), Vec3::new(-0.2, 0.0, 0.1)] {
            let nearest = (0..=2000)
                .map(|i| i as f32 / 2000.0)
                .map(|t| p.distance(a.lerp(b, t)) - (ra + (rb - ra) * t))
                .fold(f32::MAX, f32::min);
            assert!((round_cone(p, a, b, ra, rb) - nearest).abs() < 1e-4);
        }
    }

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
    fn a_loft_passes_through_its_sections() {
        let sections = [
            Section::ellipse(0.0, 0.05, 0.04),
            Section { power: 3.0, ..Section::ellipse(0.1, 0.08, 0.05).moved(0.0, 0.01) },
            Section::ellipse(0.25, 0.03, 0.03),
        ];
        let mass = loft(Vec3::Y, Vec3::Y, Vec3::Z, &sections, [0.02, 0.02]);
        for (p, name) in [
            (Vec3::new(0.05, 1.0, 0.0), "side of the first"),
            (Vec3::new(0.08, 1.1, 0.01), "side of the second"),
            (Vec3::new(0.0, 1.1, 0.06), "front of the second"),
            (Vec3::new(0.0, 1.1, -0.04), "back of the second"),
            (Vec3::new(0.0, 1.27, 0.0), "tip of the cap"),
        ] {
            assert!(mass.distance(p).abs() < 1e-5, "{name}: {}", mass.distance(p));
        }
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
