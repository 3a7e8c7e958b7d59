//! The light: a set of distant lamps, each with its own depth map of the scene.
//!
//! The key and the rim light are discs of lamps, the sky a dome and the light that the floor reflects a
//! bowl of them. Summing what each lamp reaches gives direct light, ambient occlusion and the shadow on
//! the ground by one mechanism, without noise, the same in every frame.
//!
//! Limits: a lamp is a direction, so light never falls off; the shadow on the figure is as fine as a
//! texel of the maps (1/320 of the scene for the sky, 1/720 for the key).

use super::Camera;
use glam::{Vec2, Vec3};
use rayon::prelude::*;

/// What the maps are made of: every surface that casts a shadow.
pub(super) struct Casters<'a> {
    pub meshes: Vec<(&'a [Vec3], &'a [[u32; 3]])>,
    /// Only what lies on the positive side casts a shadow.
    pub clip: Option<super::Plane>,
    /// Middle and radius of the region that the maps cover.
    pub middle: Vec3,
    pub radius: f32,
    /// Whether there is a ground to be lit.
    pub ground: bool,
}

#[derive(Clone, Copy, PartialEq)]
enum Group {
    Key,
    Rim,
    Dome,
}

struct Lamp {
    /// Unit vector towards the lamp, and the axes of its map.
    toward: Vec3,
    right: Vec3,
    up: Vec3,
    /// Light on a surface that faces the lamp.
    power: Vec3,
    group: Group,
    /// Half the angle the lamp stands for, as a slope: decides how soft its shadow on the ground is.
    spread: f32,
    map: DepthMap,
}

/// All lamps of a scene, ready to light points.
pub(super) struct Lamps {
    lamps: Vec<Lamp>,
    middle: Vec3,
    pub key_toward: Vec3,
    pub rim_toward: Vec3,
    pub key_power: Vec3,
    pub rim_power: Vec3,
    open_ground: Vec3,
}

/// What reaches a point of a surface.
pub(super) struct Light {
    /// Diffuse light, per channel.
    pub diffuse: Vec3,
    /// Share of the key light's disc that is visible, 0 to 1.
    pub key: f32,
    /// Share of the rim light's disc that is visible.
    pub rim: f32,
    /// How open the point is to the sky and floor, 0 to 1.
    pub open: f32,
}

/// Steps the plane by the golden angle, so that points on a spiral fill a disc evenly.
fn golden_turn(v: Vec2) -> Vec2 {
    const COSINE: f32 = -0.737_368_9;
    const SINE: f32 = 0.675_490_3;
    Vec2::new(COSINE * v.x - SINE * v.y, SINE * v.x + COSINE * v.y)
}

fn axes(toward: Vec3) -> (Vec3, Vec3) {
    let right = toward.cross(Vec3::Y).try_normalize().unwrap_or(Vec3::X);
    (right, right.cross(toward))
}

/// Direction and power of every lamp, before the maps are made.
fn place(camera: &Camera, dome: usize) -> Vec<(Vec3, Vec3, Group, f32)> {
    // Lights follow the camera around the vertical, so that every view is lit as a portrait.
    let ahead = (camera.forward - Vec3::Y * camera.forward.y).try_normalize().unwrap_or(camera.up);
    let side = ahead.cross(Vec3::Y);
    let mut placed = Vec::new();
    let mut disc = |toward: Vec3, power: Vec3, count: usize, radius: f32, group: Group| {
        let (right, up) = axes(toward);
        let mut turn = Vec2::X;
        for i in 0..count {
            let r = radius * ((i as f32 + 0.5) / count as f32).sqrt();
            let direction = (toward + right * (r * turn.x) + up * (r * turn.y)).normalize();
            placed.push((direction, power / count as f32, group, 1.6 * radius / (count as f32).sqrt()));
            turn = golden_turn(turn);
        }
    };
    disc(key_direction(ahead, side), KEY_POWER, 20, 0.20, Group::Key);
    disc(rim_direction(ahead, side), RIM_POWER, 8, 0.22, Group::Rim);

    let mut turn = side;
    for (count, sign) in [(dome, 1.0), (dome / 3, -1.0)] {
        for i in 0..count {
            let height = 1.0 - (i as f32 + 0.5) / count as f32;
            let radius = (1.0 - height * height).sqrt();
            let toward = turn * radius + Vec3::Y * (sign * height);
            let (x, z) = (turn.x, turn.z);
            turn = Vec3::new(-0.737_368_9 * x - 0.675_490_3 * z, 0.0, 0.675_490_3 * x - 0.737_368_9 * z);
            let radiance = if sign > 0.0 {
                // A bright ceiling, a soft box at the camera's right as fill, a dim back.
                let front = (0.5 - 0.5 * toward.dot(ahead)).max(0.0);
                let fill = (0.75 * toward.dot(side) - 0.55 * toward.dot(ahead)).max(0.0);
                SKY_POWER * (0.30 + 0.60 * height + 0.25 * front) + FILL_POWER * (fill * fill)
            } else {
                FLOOR_POWER
            };
            // The sum over a hemisphere of directions, times the cosine, is 1 for radiance 1.
            placed.push((toward, radiance * (2.0 / count as f32), Group::Dome, 1.3 / (count as f32).sqrt()));
        }
    }
    placed
}

const KEY_POWER: Vec3 = Vec3::new(1.50, 1.43, 1.34);
const RIM_POWER: Vec3 = Vec3::new(1.30, 1.35, 1.42);
const SKY_POWER: Vec3 = Vec3::new(0.31, 0.335, 0.375);
const FILL_POWER: Vec3 = Vec3::new(0.17, 0.17, 0.175);
const FLOOR_POWER: Vec3 = Vec3::new(0.22, 0.205, 0.19);

fn key_direction(ahead: Vec3, side: Vec3) -> Vec3 {
    (-0.52 * ahead - 0.74 * side + 0.92 * Vec3::Y).normalize()
}

fn rim_direction(ahead: Vec3, side: Vec3) -> Vec3 {
    (0.80 * ahead + 0.62 * side + 0.55 * Vec3::Y).normalize()
}

impl Lamps {
    /// Places the lamps for this camera and renders their maps.
    pub fn new(camera: &Camera, dome: usize, casters: &Casters) -> Self {
        let lamps: Vec<Lamp> = place(camera, dome.max(8))
            .into_par_iter()
            .map(|(toward, power, group, spread)| {
                let (right, up) = axes(toward);
                let texels = if group == Group::Dome { 320.0 } else { 720.0 };
                let map = DepthMap::new(casters, toward, right, up, 2.0 * casters.radius / texels);
                Lamp { toward, right, up, power, group, spread, map }
            })
            .collect();
        let ahead = (camera.forward - Vec3::Y * camera.forward.y).try_normalize().unwrap_or(camera.up);
        let side = ahead.cross(Vec3::Y);
        let open_ground = lamps.iter().map(|l| l.power * l.toward.y.max(0.0)).sum();
        Self {
            lamps,
            middle: casters.middle,
            key_toward: key_direction(ahead, side),
            rim_toward: rim_direction(ahead, side),
            key_power: KEY_POWER,
            rim_power: RIM_POWER,
            open_ground,
        }
    }

    /// Light that reaches a point with this unit normal.
    pub fn at(&self, point: Vec3, normal: Vec3) -> Light {
        let p = point - self.middle;
        let mut light = Light { diffuse: Vec3::ZERO, key: 0.0, rim: 0.0, open: 0.0 };
        let (mut key_total, mut rim_total, mut open_total) = (0.0, 0.0, 1e-6);
        for (i, lamp) in self.lamps.iter().enumerate() {
            let cosine = normal.dot(lamp.toward);
            let weight = match lamp.group {
                Group::Key => &mut key_total,
                Group::Rim => &mut rim_total,
                Group::Dome => &mut open_total,
            };
            let share = if lamp.group == Group::Dome { cosine.max(0.0) } else { 1.0 };
            *weight += share;
            if cosine <= 0.0 {
                continue;
            }
            // Step off the surface along its normal, more the flatter the lamp shines on it: no texel then
            // shadows its own surface, and the shadow still starts at the contact.
            let texel = lamp.map.texel;
            let wide = if lamp.group == Group::Key { 2.0 } else { 1.0 };
            let q = p + normal * (texel * wide * (0.6 + 1.6 * (1.0 - cosine)));
            let (u, v, depth) = (q.dot(lamp.right), q.dot(lamp.up), q.dot(lamp.toward) + 0.6 * texel);
            let visible = if lamp.group == Group::Key {
                // Two look-ups on alternating diagonals: the steps between the lamps of the disc would show
                // in wide half-shadows.
                let (across, along) = (1.6 * texel, if i % 2 == 0 { 1.6 * texel } else { -1.6 * texel });
                let first = lamp.map.visible(u + across, v + along, depth);
                0.5 * (first + lamp.map.visible(u - across, v - along, depth))
            } else {
                lamp.map.visible(u, v, depth)
            };
            if visible == 0.0 {
                continue;
            }
            light.diffuse += lamp.power * (cosine * visible);
            match lamp.group {
                Group::Key => light.key += visible,
                Group::Rim => light.rim += visible,
                Group::Dome => light.open += share * visible,
            }
        }
        light.key /= key_total.max(1.0);
        light.rim /= rim_total.max(1.0);
        light.open /= open_total;
        light
    }

    /// Share of the open ground's light that reaches a point of the ground under the scene, per channel.
    pub fn on_ground(&self, point: Vec3) -> Vec3 {
        let p = point - self.middle;
        let mut lost = Vec3::ZERO;
        for lamp in self.lamps.iter().filter(|l| l.toward.y > 0.0) {
            let (u, v, depth) = (p.dot(lamp.right), p.dot(lamp.up), p.dot(lamp.toward));
            let covered = lamp.map.covered(u, v, depth, lamp.spread);
            if covered > 0.0 {
                // The rim light is left out of half of its shadow: a second dark streak towards the viewer
                // draws the eye from the figure.
                let share = if lamp.group == Group::Rim { 0.35 } else { 1.0 };
                lost += lamp.power * (lamp.toward.y * covered * share);
            }
        }
        (Vec3::ONE - lost / self.open_ground.max(Vec3::splat(1e-6))).max(Vec3::ZERO)
    }
}

/// Distance of the nearest surface to a lamp over a rectangle across its direction.
#[derive(Default)]
struct DepthMap {
    width: usize,
    height: usize,
    /// Map coordinates of the rectangle's corner, relative to the scene's middle, metres.
    left: f32,
    bottom: f32,
    /// Metres, and the inverse.
    texel: f32,
    texels_per_metre: f32,
    /// How far towards the lamp, metres; `NOTHING` where no surface is.
    depth: Vec<f32>,
    /// Coverage and coverage times depth, each level half as fine; level 0 is half as fine as `depth`.
    levels: Vec<Level>,
}

const NOTHING: f32 = f32::MIN;

struct Level {
    width: usize,
    height: usize,
    texels: Vec<Vec2>,
}

impl DepthMap {
    fn new(casters: &Casters, toward: Vec3, right: Vec3, up: Vec3, texel: f32) -> Self {
        let place = |p: Vec3| {
            let p = p - casters.middle;
            Vec3::new(p.dot(right), p.dot(up), p.dot(toward))
        };
        let meshes: Vec<Vec<Vec3>> = casters
            .meshes
            .iter()
            .map(|(positions, _)| positions.iter().map(|&p| place(p)).collect())
            .collect();
        let (mut low, mut high) = (Vec3::MAX, Vec3::MIN);
        for p in meshes.iter().flatten().filter(|p| p.is_finite()) {
            low = low.min(*p);
            high = high.max(*p);
        }
        let limit = Vec3::splat(casters.radius * 1.02);
        let (low, high) = (low.max(-limit), high.min(limit));
        if low.x > high.x || low.y > high.y {
            return Self { texel, texels_per_metre: 1.0 / texel, ..Self::default() };
        }
        // One empty texel around, so that look-ups at the rim fade to open.
        let (left, bottom) = (low.x - 1.5 * texel, low.y - 1.5 * texel);
        let width = ((high.x - left) / texel) as usize + 3;
        let height = ((high.y - bottom) / texel) as usize + 3;
        let (texels_per_metre, depth) = (1.0 / texel, vec![NOTHING; width * height]);
        let mut map =
            Self { width, height, left, bottom, texel, texels_per_metre, depth, levels: Vec::new() };
        for (points, (positions, triangles)) in meshes.iter().zip(&casters.meshes) {
            for triangle in *triangles {
                let corners = triangle.map(|v| points[v as usize]);
                let shown = casters
                    .clip
                    .is_none_or(|clip| triangle.iter().all(|&v| clip.distance(positions[v as usize]) >= 0.0));
                if shown {
                    map.draw(corners);
                }
            }
        }
        if casters.ground && toward.y > 0.0 {
            map.levels = map.coverage_levels();
        }
        map
    }

    /// Draws a finite triangle. Whole numbers stay 32-bit here and below: their conversions from and to
    /// `f32` are single instructions, those of `usize` are not.
    fn draw(&mut self, corners: [Vec3; 3]) {
        let scale = self.texels_per_metre;
        // In texels, relative to the centre of the first one.
        let [a, b, c] = corners
            .map(|p| Vec3::new((p.x - self.left) * scale - 0.5, (p.y - self.bottom) * scale - 0.5, p.z));
        let least = |x: f32, y: f32, z: f32| {
            let low = if x < y { x } else { y };
            if low < z { low } else { z }
        };
        let (low_x, high_x) = (least(a.x, b.x, c.x), -least(-a.x, -b.x, -c.x));
        let (low_y, high_y) = (least(a.y, b.y, c.y), -least(-a.y, -b.y, -c.y));
        if !(high_x >= 0.0 && high_y >= 0.0) {
            return;
        }
        // Rounding up by hand: `ceil` is a call on processors without the instruction.
        let first = |x: f32| if x <= 0.0 { 0 } else { x as i32 + i32::from(x > (x as i32) as f32) };
        let (x0, y0) = (first(low_x), first(low_y));
        let x1 = (high_x as i32).min(self.width as i32 - 1);
        let y1 = (high_y as i32).min(self.height as i32 - 1);
        if x0 > x1 || y0 > y1 {
            return;
        }
        let area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
        if area.abs() < 1e-12 {
            return;
        }
        let inverse = 1.0 / area;
        let edge = |p: Vec3, q: Vec3| {
            let (slope_x, slope_y) = ((p.y - q.y) * inverse, (q.x - p.x) * inverse);
            [slope_x, slope_y, -(slope_x * p.x + slope_y * p.y)]
        };
        let (ea, eb) = (edge(b, c), edge(c, a));
        for y in y0..=y1 {
            let start = y as usize * self.width;
            let row = &mut self.depth[start + x0 as usize..=start + x1 as usize];
            let (row_a, row_b) = (ea[1] * y as f32 + ea[2], eb[1] * y as f32 + eb[2]);
            for (x, stored) in (x0..).zip(row) {
                let wa = ea[0] * x as f32 + row_a;
                let wb = eb[0] * x as f32 + row_b;
                let wc = 1.0 - wa - wb;
                // The slack closes the cracks that rounding leaves between neighbours.
                if wa >= -1e-4 && wb >= -1e-4 && wc >= -1e-4 {
                    *stored = stored.max(wa * a.z + wb * b.z + wc * c.z);
                }
            }
        }
    }

    /// Share of the four texels around a place that do not hide a point this far towards the lamp.
    #[inline]
    fn visible(&self, u: f32, v: f32, depth: f32) -> f32 {
        let x = (u - self.left) * self.texels_per_metre - 0.5;
        let y = (v - self.bottom) * self.texels_per_metre - 0.5;
        if !(x >= 0.0 && y >= 0.0 && x < self.width as f32 - 1.0 && y < self.height as f32 - 1.0) {
            return 1.0;
        }
        let (column, row) = (x as i32, y as i32);
        let (fx, fy) = (x - column as f32, y - row as f32);
        let texels = &self.depth[row as usize * self.width + column as usize..][..self.width + 2];
        let open = |i: usize| if depth >= texels[i] { 1.0 } else { 0.0 };
        let below = open(0) * (1.0 - fx) + open(1) * fx;
        let above = open(self.width) * (1.0 - fx) + open(self.width + 1) * fx;
        below + (above - below) * fy
    }

    fn coverage_levels(&self) -> Vec<Level> {
        let texel = |x: usize, y: usize| {
            let depth =
                if x < self.width && y < self.height { self.depth[y * self.width + x] } else { NOTHING };
            if depth == NOTHING { Vec2::ZERO } else { Vec2::new(1.0, depth) }
        };
        let mut levels = vec![Level::half(self.width, self.height, texel)];
        while let Some(last) = levels.last().filter(|l| l.width > 2 && l.height > 2) {
            let next = Level::half(last.width, last.height, |x, y| {
                if x < last.width && y < last.height { last.texels[y * last.width + x] } else { Vec2::ZERO }
            });
            levels.push(next);
        }
        levels
    }

    /// Share of a lamp that stands for a disc hidden from a point behind the whole scene, 0 to 1.
    ///
    /// The farther what hides it, the wider the part of the map that counts.
    fn covered(&self, u: f32, v: f32, depth: f32, spread: f32) -> f32 {
        if self.levels.is_empty() {
            return 0.0;
        }
        let x = (u - self.left) * self.texels_per_metre;
        let y = (v - self.bottom) * self.texels_per_metre;
        let reach = 0.7 * spread * (self.width.max(self.height)) as f32 + 4.0;
        let outside = |x: f32, size: usize| !(x > -reach && x < size as f32 + reach);
        if outside(x, self.width) || outside(y, self.height) {
            return 0.0;
        }
        // A coarse average gives the distance of what hides the lamp.
        let level = level_of(0.5 * reach).0.min(self.levels.len() - 1);
        let wide = self.levels[level].at(x, y, level);
        if wide.x < 1e-4 {
            return 0.0;
        }
        let distance = (wide.y / wide.x - depth).max(0.0) / self.texel;
        self.blurred(x, y, distance * spread).x.min(1.0)
    }

    /// Coverage and coverage times depth averaged over about `radius` texels around a place in texels.
    fn blurred(&self, x: f32, y: f32, radius: f32) -> Vec2 {
        let (level, between) = level_of(radius);
        let fine = level.min(self.levels.len() - 1);
        let coarse = (level + 1).min(self.levels.len() - 1);
        let a = self.levels[fine].at(x, y, fine);
        if coarse == fine { a } else { a.lerp(self.levels[coarse].at(x, y, coarse), between) }
    }
}

/// The level whose look-up averages over about `radius` texels of the full map, and how far towards the
/// next to go, 0 to 1. Taken from the number's own exponent and mantissa: a logarithm that is straight
/// between powers of two, and has the same bits everywhere.
fn level_of(radius: f32) -> (usize, f32) {
    let radius = (0.5 * radius).clamp(1.0, 1e6);
    let exponent = ((radius.to_bits() >> 23) as usize).saturating_sub(127);
    (exponent, (radius / (1u32 << exponent.min(20)) as f32 - 1.0).clamp(0.0, 1.0))
}

impl Level {
    fn half(width: usize, height: usize, texel: impl Fn(usize, usize) -> Vec2) -> Self {
        let (half_width, half_height) = (width.div_ceil(2), height.div_ceil(2));
        let mut texels = Vec::with_capacity(half_width * half_height);
        for y in 0..half_height {
            for x in 0..half_width {
                let (x, y) = (2 * x, 2 * y);
                texels.push((texel(x, y) + texel(x + 1, y) + texel(x, y + 1) + texel(x + 1, y + 1)) * 0.25);
            }
        }
        Self { width: half_width, height: half_height, texels }
    }

    /// Smooth look-up at a place in texels of the full map. A quadratic spline over 3x3 texels: straight
    /// interpolation would show the coarse levels' squares.
    fn at(&self, x: f32, y: f32, level: usize) -> Vec2 {
        let scale = 1.0 / (2u32 << level.min(20)) as f32;
        let (x, y) = (x * scale - 0.5, y * scale - 0.5);
        // `as` rounds towards zero; the shift keeps that downward for places left of the map.
        let (column, row) = ((x + 0.5 + 64.0) as i32 - 64, (y + 0.5 + 64.0) as i32 - 64);
        let (wx, wy) = (spline(x - column as f32), spline(y - row as f32));
        let mut sum = Vec2::ZERO;
        for j in 0..3 {
            let line = row + j as i32 - 1;
            if line < 0 || line >= self.height as i32 {
                continue;
            }
            for i in 0..3 {
                let place = column + i as i32 - 1;
                if place >= 0 && place < self.width as i32 {
                    sum += self.texels[line as usize * self.width + place as usize] * (wx[i] * wy[j]);
                }
            }
        }
        sum
    }
}

/// Weights of the three nearest texels at offset `t` (-0.5 to 0.5) from the middle one.
fn spline(t: f32) -> [f32; 3] {
    [0.5 * (0.5 - t) * (0.5 - t), 0.75 - t * t, 0.5 * (0.5 + t) * (0.5 + t)]
}
