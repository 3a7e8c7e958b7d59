//! From what a pixel sees to its colour: material, light, backdrop, ground, and the mix of layers.

use super::cover::{NONE, SAMPLES, Source, TILE, Tile, place};
use super::lamps::{Casters, Lamps};
use super::{Camera, Paint, Scene, Settings};
use crate::output::{Colour, ColourMap, colour};
use glam::{Vec2, Vec3};
use rayon::prelude::*;
use std::borrow::Cow;

/// Pixels between the places where the light on the ground is computed; between them it is interpolated.
const GROUND_STEP: usize = 3;

/// Everything needed to colour pixels.
pub(super) struct Stage<'a> {
    scene: &'a Scene<'a>,
    camera: &'a Camera,
    settings: &'a Settings,
    normals: &'a [Cow<'a, [Vec3]>],
    lamps: Lamps,
    ground: Option<GroundLight>,
    /// Backdrop behind the figure and in the corners.
    backdrop: [Colour; 2],
}

/// A place of a surface, line or dot seen in a pixel.
#[derive(Clone, Copy)]
struct Fragment {
    position: Vec3,
    normal: Vec3,
    /// Base colour, or the quantity's value in `x`.
    paint: Vec3,
    kind: Kind,
    /// Number of samples it covers.
    count: f32,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Lit { surface: u32, front: bool },
    Flat { alpha: f32 },
}

/// What one layer shows in a pixel.
struct LayerView {
    solid: bool,
    /// Index into `shades` for each sample; `NONE` where the layer is empty.
    shade_of: [u32; SAMPLES],
    nearness: [f32; SAMPLES],
    /// Colour and alpha.
    shades: Vec<(Vec3, f32)>,
}

impl<'a> Stage<'a> {
    pub fn new(
        scene: &'a Scene,
        camera: &'a Camera,
        settings: &'a Settings,
        normals: &'a [Cow<'a, [Vec3]>],
    ) -> Self {
        let sound: Vec<Vec<[u32; 3]>> = scene
            .surfaces
            .iter()
            .map(|s| s.triangles.iter().copied().filter(|t| s.shadow && s.sound(t)).collect())
            .collect();
        let meshes: Vec<(&[Vec3], &[[u32; 3]])> = scene
            .surfaces
            .iter()
            .zip(&sound)
            .filter(|(surface, _)| surface.shadow)
            .map(|(surface, triangles)| (&surface.positions[..], &triangles[..]))
            .collect();
        let (mut low, mut high) = (Vec3::MAX, Vec3::MIN);
        for p in meshes.iter().flat_map(|m| m.0).filter(|p| p.is_finite()) {
            low = low.min(*p);
            high = high.max(*p);
        }
        let whole = if low.x <= high.x { 0.5 * low.distance(high) } else { 0.0 };
        // In a close-up the maps cover what is in the picture and a little around it.
        let (middle, radius) = if whole == 0.0 {
            (camera.target, camera.reach)
        } else if 1.5 * camera.reach < whole {
            (camera.target, 1.5 * camera.reach)
        } else {
            (0.5 * (low + high), whole)
        };
        let ground = scene.ground.is_some();
        let casters = Casters { meshes, clip: scene.clip, middle, radius, ground };
        let lamps = Lamps::new(camera, settings.dome, &casters);
        let ground =
            scene.ground.map(|height| GroundLight::new(height, camera, settings, &lamps, middle, radius));
        let backdrop = [Colour::hex(0xEFEDEA), Colour::hex(0xC2BEBA)];
        Self { scene, camera, settings, normals, lamps, ground, backdrop }
    }

    /// Colours the pixels of a tile, row by row.
    pub fn resolve(&self, tile: &Tile, pixels: &mut Vec<[u8; 3]>) {
        let layers: Vec<usize> = tile.layers().collect();
        for row in 0..tile.height {
            for column in 0..tile.width {
                let (x, y) = (tile.left + column, tile.top + row);
                let views: Vec<LayerView> = layers
                    .iter()
                    .filter_map(|&layer| self.view(tile, layer, row * TILE + column, x, y))
                    .collect();
                pixels.push(Colour(self.mix(&views, x, y)).to_bytes());
            }
        }
    }

    /// Lays the layers over each other, the farthest first, at every sample, and averages.
    fn mix(&self, views: &[LayerView], x: usize, y: usize) -> Vec3 {
        if views.is_empty() {
            return self.backdrop(x, y);
        }
        let covered = |s: usize| views.iter().any(|v| v.solid && v.shade_of[s] != NONE);
        let behind = if (0..SAMPLES).all(covered) { Vec3::ZERO } else { self.backdrop(x, y) };
        let mut sum = Vec3::ZERO;
        let mut order: Vec<(f32, Vec3, f32)> = Vec::with_capacity(views.len());
        for s in 0..SAMPLES {
            let (mut colour, mut solid_nearness) = (behind, 0.0);
            order.clear();
            for view in views.iter().filter(|v| v.shade_of[s] != NONE) {
                let (shade, alpha) = view.shades[view.shade_of[s] as usize];
                if view.solid {
                    (colour, solid_nearness) = (shade, view.nearness[s]);
                } else {
                    order.push((view.nearness[s], shade, alpha));
                }
            }
            order.sort_by(|a, b| a.0.total_cmp(&b.0));
            for &(_, shade, alpha) in order.iter().filter(|o| o.0 > solid_nearness) {
                colour = colour + (shade - colour) * alpha;
            }
            sum += colour;
        }
        sum / SAMPLES as f32
    }

    /// What a layer shows in a pixel: each surface is shaded once, in the middle of the samples it covers.
    fn view(&self, tile: &Tile, layer: usize, pixel: usize, x: usize, y: usize) -> Option<LayerView> {
        let (facets, nearness) = tile.samples(layer, pixel);
        let mut distinct: Vec<(u32, Vec2, f32)> = Vec::new();
        let mut facet_of = [NONE; SAMPLES];
        for s in (0..SAMPLES).filter(|&s| facets[s] != NONE) {
            let known = distinct.iter().position(|d| d.0 == facets[s]).unwrap_or_else(|| {
                distinct.push((facets[s], Vec2::ZERO, 0.0));
                distinct.len() - 1
            });
            distinct[known].1 += place(s);
            distinct[known].2 += 1.0;
            facet_of[s] = known as u32;
        }
        if distinct.is_empty() {
            return None;
        }
        let mut joined: Vec<Fragment> = Vec::new();
        let mut joined_of = [0u32; SAMPLES];
        for (i, &(index, places, count)) in distinct.iter().enumerate() {
            let at = Vec2::new(x as f32, y as f32) + places / count;
            let fragment = self.fragment(tile, index, at, count);
            let same = joined.iter().position(|other| self.joins(other, &fragment));
            joined_of[i] = same.unwrap_or(joined.len()) as u32;
            match same {
                Some(other) => joined[other].join(&fragment),
                None => joined.push(fragment),
            }
        }
        let shades = joined.iter().map(|fragment| self.shade(fragment)).collect();
        let shade_of = facet_of.map(|f| if f == NONE { NONE } else { joined_of[f as usize] });
        Some(LayerView { solid: layer == 0, shade_of, nearness: *nearness, shades })
    }

    fn fragment(&self, tile: &Tile, index: u32, at: Vec2, count: f32) -> Fragment {
        let facet = tile.facet(index);
        let flat = |colour: Colour, alpha: f32| {
            let kind = Kind::Flat { alpha };
            Fragment { position: Vec3::ZERO, normal: Vec3::Y, paint: colour.0, kind, count }
        };
        match facet.source {
            Source::Surface { surface, corners } => {
                let weights = facet.weights(at.x, at.y);
                let mesh = &self.scene.surfaces[surface as usize];
                let mix =
                    |list: &[Vec3]| (0..3).map(|k| list[corners[k] as usize] * weights[k]).sum::<Vec3>();
                let number = |list: &[f32]| {
                    (0..3)
                        .map(|k| list.get(corners[k] as usize).map_or(f32::NAN, |v| v * weights[k]))
                        .sum::<f32>()
                };
                let paint = match &mesh.paint {
                    Paint::Plain(colour) => colour.0,
                    Paint::PerVertex(colours) => (0..3)
                        .map(|k| {
                            colours.get(corners[k] as usize).copied().unwrap_or(colour::NO_VALUE).0
                                * weights[k]
                        })
                        .sum(),
                    Paint::Quantity { values, .. } => Vec3::splat(number(values)),
                };
                Fragment {
                    position: mix(&mesh.positions),
                    normal: mix(&self.normals[surface as usize]),
                    paint,
                    kind: Kind::Lit { surface, front: facet.front },
                    count,
                }
            }
            Source::Wire { surface } => match &self.scene.surfaces[surface as usize].wire {
                Some(wire) => flat(wire.colour, wire.alpha),
                None => flat(Colour::BLACK, 0.0),
            },
            Source::Lines { index } => {
                let lines = &self.scene.lines[index as usize];
                flat(lines.colour, lines.alpha)
            }
            Source::Dots { index } => {
                let dots = &self.scene.dots[index as usize];
                flat(dots.colour, dots.alpha)
            }
        }
    }

    /// Whether two fragments of a pixel are one piece of surface, not one part in front of another.
    fn joins(&self, a: &Fragment, b: &Fragment) -> bool {
        if a.kind != b.kind {
            return false;
        }
        if let Kind::Flat { .. } = a.kind {
            return a.paint == b.paint;
        }
        let footprint = self.camera.pixel_size(self.settings.height) * a.position.distance(self.camera.eye);
        a.position.distance(b.position) < 6.0 * footprint && a.normal.dot(b.normal) > 0.6
    }

    fn shade(&self, fragment: &Fragment) -> (Vec3, f32) {
        let (surface, front) = match fragment.kind {
            Kind::Flat { alpha } => return (fragment.paint, alpha),
            Kind::Lit { surface, front } => (&self.scene.surfaces[surface as usize], front),
        };
        let to_eye = (self.camera.eye - fragment.position).normalize_or(-self.camera.forward);
        let mut normal = fragment.normal.normalize_or(to_eye);
        if !front {
            normal = -normal;
        }
        // Smooth normals lean away from the eye at the outline of a coarse mesh; such a place still faces it.
        let facing = normal.dot(to_eye);
        if facing < 0.02 {
            normal = (normal + to_eye * (0.02 - facing)).normalize_or(to_eye);
        }
        let facing = normal.dot(to_eye).clamp(0.0, 1.0);
        let light = self.lamps.at(fragment.position, normal);
        let grazing = (1.0 - facing) * (1.0 - facing);
        let clear = surface.alpha < 1.0;
        let alpha = surface.alpha + (1.0 - surface.alpha) * 0.85 * grazing;

        if let Paint::Quantity { range, map, .. } = &surface.paint {
            let base = map_colour(fragment.paint.x, *range, *map).0;
            let brightness = Colour(light.diffuse).luminance();
            // From deep shade to full light the colour keeps its hue and most of its lightness.
            let shade = 0.34 + 0.72 * shoulder(0.62 * brightness);
            let sheen = Vec3::splat(0.10 * grazing * light.open);
            return ((base * shade + sheen).min(Vec3::ONE), alpha);
        }
        // The inside of a cut body gets at least a dim light, so that it is seen.
        let (base, least) = if front { (fragment.paint, 0.0) } else { (fragment.paint * INSIDE, 0.25) };
        let mut colour = base * light.diffuse.max(Vec3::splat(least));
        // Light that enters beside the terminator comes out warm.
        let slope = normal.dot(self.lamps.key_toward);
        let near_terminator = (1.0 - (slope + 0.02).abs() / 0.38).max(0.0);
        colour += base
            * Vec3::new(0.26, 0.085, 0.05)
            * (near_terminator * near_terminator * light.open * light.open * SCATTER);
        let highlight = |toward: Vec3, power: Vec3, visible: f32| {
            let half = (toward + to_eye).normalize_or(toward);
            let cosine = normal.dot(half).max(0.0);
            let eighth = cosine.powi(8);
            // A broad sheen under a narrower highlight, as of skin.
            let lobe = 0.05 * eighth + 0.16 * eighth * eighth * eighth * eighth;
            power * (visible * lobe * normal.dot(toward).clamp(0.0, 0.25) * 4.0)
        };
        let gloss = highlight(self.lamps.key_toward, self.lamps.key_power, light.key)
            + highlight(self.lamps.rim_toward, self.lamps.rim_power, light.rim);
        let sheen = Vec3::splat(0.22 * grazing * grazing * light.open);
        colour += (gloss + sheen) * surface.gloss;
        // Nothing shades a clear surface; darkening its outline gives it back its form.
        let outline = if clear { 0.45 + 0.40 * facing } else { 1.0 };
        (tone(colour * outline), alpha)
    }

    /// Backdrop and ground at a pixel.
    fn backdrop(&self, x: usize, y: usize) -> Vec3 {
        let (width, height) = (self.settings.width as f32, self.settings.height as f32);
        let (px, py) = (x as f32 + 0.5, y as f32 + 0.5);
        let across = (px - 0.5 * width) / width.max(height);
        let down = (py - 0.42 * height) / height;
        let away = (1.9 * (across * across + 0.8 * down * down)).min(1.0);
        let light = self.backdrop[0].mix(self.backdrop[1], away).0;
        match &self.ground {
            Some(ground) => light * ground.at(px, py),
            None => light,
        }
    }
}

/// What the inner side of a cut surface keeps of its colour: darker and redder, so that it reads as inside.
const INSIDE: Vec3 = Vec3::new(0.80, 0.60, 0.54);

/// Strength of the warm light beside the terminator. At 0 the clay looks like plaster, at 2.5 like wax.
const SCATTER: f32 = 0.4;

impl Fragment {
    fn join(&mut self, other: &Fragment) {
        let share = other.count / (self.count + other.count);
        self.position = self.position.lerp(other.position, share);
        self.normal = self.normal.lerp(other.normal, share);
        self.paint = self.paint.lerp(other.paint, share);
        self.count += other.count;
    }
}

/// The colour that stands for a value.
pub(super) fn map_colour(value: f32, [low, high]: [f32; 2], map: ColourMap) -> Colour {
    let t = if high > low { (value - low) / (high - low) } else { 0.5 + 0.0 * value };
    map.at(t)
}

/// Straight up to a shade below white, then bending into it.
fn shoulder(x: f32) -> f32 {
    const KNEE: f32 = 0.55;
    if x <= KNEE {
        return x;
    }
    let over = (x - KNEE) / (1.0 - KNEE);
    KNEE + (1.0 - KNEE) * over / (1.0 + over)
}

/// The tone curve: a soft white, and shadows a little deeper than the light makes them.
fn tone(colour: Vec3) -> Vec3 {
    let curve = |x: f32| {
        let y = shoulder(x);
        y - 0.22 * y * (1.0 - y) * (1.0 - 1.25 * y)
    };
    Vec3::new(curve(colour.x), curve(colour.y), curve(colour.z))
}

/// Light on the ground as seen through a coarse grid of pixels.
struct GroundLight {
    columns: usize,
    light: Vec<Vec3>,
}

impl GroundLight {
    fn new(
        height: f32,
        camera: &Camera,
        settings: &Settings,
        lamps: &Lamps,
        middle: Vec3,
        radius: f32,
    ) -> Self {
        let columns = settings.width / GROUND_STEP + 2;
        let rows = settings.height / GROUND_STEP + 2;
        let light = (0..rows * columns)
            .into_par_iter()
            .map(|i| {
                let (x, y) = ((i % columns * GROUND_STEP) as f32, (i / columns * GROUND_STEP) as f32);
                let ray = camera.ray(x, y, settings.width, settings.height);
                let distance = (height - camera.eye.y) / ray.y;
                if !(distance > 0.0 && distance.is_finite()) {
                    return Vec3::ONE;
                }
                let point = camera.eye + ray * distance;
                let away = (point - middle).with_y(0.0).length() / radius;
                // Nothing is cast that far; this keeps the horizon clean.
                let fade = ((5.0 - away) / 2.5).clamp(0.0, 1.0);
                if fade == 0.0 { Vec3::ONE } else { Vec3::ONE.lerp(lamps.on_ground(point), fade) }
            })
            .collect();
        Self { columns, light }
    }

    fn at(&self, x: f32, y: f32) -> Vec3 {
        let (x, y) = (x / GROUND_STEP as f32, y / GROUND_STEP as f32);
        let (column, row) = (x as usize, y as usize);
        let (fx, fy) = (x - column as f32, y - row as f32);
        let at = |c: usize, r: usize| self.light[r * self.columns + c];
        let above = at(column, row).lerp(at(column + 1, row), fx);
        above.lerp(at(column, row + 1).lerp(at(column + 1, row + 1), fx), fy)
    }
}
