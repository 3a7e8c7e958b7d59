//! Which triangle is seen at each of 16 places in every pixel.
//!
//! Triangles, and the lines and dots that are turned into triangles facing the eye, become [`Facet`]s:
//! half-planes in picture coordinates. Tiles of the picture are independent of each other.

use super::{Camera, Scene, Settings};
use glam::{Vec2, Vec3};
use rayon::prelude::*;
use std::borrow::Cow;

/// Side of a tile in pixels: its samples fit a core's own cache.
pub(super) const TILE: usize = 32;
/// Places tested in a pixel.
pub(super) const SAMPLES: usize = 16;
/// No facet at this sample.
pub(super) const NONE: u32 = u32::MAX;

/// The places, as sixteenths of a pixel: no two share a row or a column, so that nearly upright and
/// nearly level outlines get all sixteen shades.
const PLACES: [[u8; 2]; SAMPLES] = [
    [0, 6],
    [1, 13],
    [2, 2],
    [3, 9],
    [4, 15],
    [5, 4],
    [6, 11],
    [7, 0],
    [8, 7],
    [9, 14],
    [10, 3],
    [11, 10],
    [12, 1],
    [13, 5],
    [14, 12],
    [15, 8],
];

/// Place of a sample within its pixel, 0 to 1.
pub(super) fn place(sample: usize) -> Vec2 {
    let [x, y] = PLACES[sample];
    Vec2::new((f32::from(x) + 0.5) / 16.0, (f32::from(y) + 0.5) / 16.0)
}

/// Where a facet comes from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Source {
    /// Corner vertices of a triangle of a surface.
    Surface {
        surface: u32,
        corners: [u32; 3],
    },
    Wire {
        surface: u32,
    },
    Lines {
        index: u32,
    },
    Dots {
        index: u32,
    },
}

/// A triangle in the picture. Linear functions are stored as [per x, per y, at the origin].
pub(super) struct Facet {
    /// Positive inside; divided by `area`, the weight of the corner opposite to each side.
    sides: [[f32; 3]; 3],
    /// Positive where the clip plane keeps it.
    keep: Option<[f32; 3]>,
    /// One over the distance from the eye: straight in the picture, larger is nearer.
    nearness: [f32; 3],
    corner_nearness: [f32; 3],
    inverse_area: f32,
    /// First and last pixel column and row.
    columns: [u16; 2],
    rows: [u16; 2],
    layer: u16,
    /// Whether its outside is seen.
    pub front: bool,
    pub source: Source,
}

impl Facet {
    /// From three corners in the picture (pixels right, pixels down, distance).
    fn new(
        corners: [Vec3; 3],
        keep: Option<[f32; 3]>,
        layer: u16,
        source: Source,
        size: [usize; 2],
    ) -> Option<Self> {
        let (low, high) =
            (corners[0].min(corners[1]).min(corners[2]), corners[0].max(corners[1]).max(corners[2]));
        if !(high.x >= 0.0 && high.y >= 0.0 && low.x < size[0] as f32 && low.y < size[1] as f32) {
            return None;
        }
        let [a, b, c] = corners.map(|p| [f64::from(p.x), f64::from(p.y)]);
        let area = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
        if area == 0.0 || !area.is_finite() {
            return None;
        }
        let sign = if area > 0.0 { 1.0 } else { -1.0 };
        let sides = [side(b, c, sign), side(c, a, sign), side(a, b, sign)];
        let inverse_area = (1.0 / area.abs()) as f32;
        if !inverse_area.is_finite() {
            return None;
        }
        let corner_nearness = corners.map(|p| 1.0 / p.z);
        // A linear function from its values at the corners, relative to the first for precision.
        let linear = |values: [f32; 3]| {
            let [va, vb, vc] = values.map(f64::from);
            let per_x = ((vb - va) * (c[1] - a[1]) - (vc - va) * (b[1] - a[1])) / area;
            let per_y = ((vc - va) * (b[0] - a[0]) - (vb - va) * (c[0] - a[0])) / area;
            [per_x as f32, per_y as f32, (va - per_x * a[0] - per_y * a[1]) as f32]
        };
        let keep = keep.map(|distances| linear([0, 1, 2].map(|k| distances[k] * corner_nearness[k])));
        let nearness = linear(corner_nearness);
        let pixel = |x: f32, size: usize| (x.max(0.0) as usize).min(size - 1) as u16;
        Some(Self {
            sides,
            keep,
            nearness,
            corner_nearness,
            inverse_area,
            columns: [pixel(low.x, size[0]), pixel(high.x, size[0])],
            rows: [pixel(low.y, size[1]), pixel(high.y, size[1])],
            layer,
            // Rows count downward, which turns the sense around.
            front: area < 0.0,
            source,
        })
    }

    /// Weights of the three corners at a place in the picture, true to perspective, at least zero.
    pub fn weights(&self, x: f32, y: f32) -> [f32; 3] {
        let mut weights = [0, 1, 2].map(|k| {
            let [per_x, per_y, start] = self.sides[k];
            ((per_x * x + per_y * y + start) * self.inverse_area).max(0.0) * self.corner_nearness[k]
        });
        let sum = weights[0] + weights[1] + weights[2];
        if sum > 0.0 {
            weights = weights.map(|w| w / sum);
        } else {
            weights = [1.0, 0.0, 0.0];
        }
        weights
    }
}

/// The line through two points as a function positive on the left of it, exactly opposite for the
/// opposite direction: neighbours then share every sample on their common side and leave no crack.
fn side(p: [f64; 2], q: [f64; 2], sign: f64) -> [f32; 3] {
    let swap = (p[0], p[1]) > (q[0], q[1]);
    let (p, q, sign) = if swap { (q, p, -sign) } else { (p, q, sign) };
    let (per_x, per_y) = ((p[1] - q[1]) as f32, (q[0] - p[0]) as f32);
    let start = -(f64::from(per_x) * p[0] + f64::from(per_y) * p[1]);
    [per_x, per_y, start as f32].map(|x| if sign > 0.0 { x } else { -x })
}

/// Every facet of a picture, sorted into tiles.
pub(super) struct Cover {
    size: [usize; 2],
    facets: Vec<Facet>,
    layers: usize,
    tiles_across: usize,
    bin_starts: Vec<u32>,
    bins: Vec<u32>,
}

/// What is seen in one tile: facets by layer, pixel and sample.
pub(super) struct Tile<'a> {
    pub left: usize,
    pub top: usize,
    pub width: usize,
    pub height: usize,
    facets: &'a [Facet],
    layers: &'a [LayerSamples],
}

/// Scratch for the samples of one layer of a tile.
#[derive(Clone)]
struct LayerSamples {
    used: bool,
    nearness: Vec<[f32; SAMPLES]>,
    facet: Vec<[u32; SAMPLES]>,
}

impl Tile<'_> {
    /// Layers that have something in this tile, solid things (layer 0) first.
    pub fn layers(&self) -> impl Iterator<Item = usize> {
        (0..self.layers.len()).filter(|&l| self.layers[l].used)
    }

    /// Facet and nearness at each sample of a pixel, by its number in the tile.
    pub fn samples(&self, layer: usize, pixel: usize) -> (&[u32; SAMPLES], &[f32; SAMPLES]) {
        (&self.layers[layer].facet[pixel], &self.layers[layer].nearness[pixel])
    }

    /// A facet by the number a sample holds.
    pub fn facet(&self, index: u32) -> &Facet {
        &self.facets[index as usize]
    }
}

impl Cover {
    pub fn new(scene: &Scene, camera: &Camera, settings: &Settings, normals: &[Cow<[Vec3]>]) -> Self {
        let size = [settings.width, settings.height];
        let mut builder = Builder { scene, camera, size, facets: Vec::new(), layers: 1 };
        for (surface, normals) in normals.iter().enumerate() {
            builder.add_surface(surface, normals);
        }
        for index in 0..scene.lines.len() {
            builder.add_lines(index);
        }
        for index in 0..scene.dots.len() {
            builder.add_dots(index);
        }
        let (facets, layers) = (builder.facets, builder.layers);
        let tiles_across = size[0].div_ceil(TILE);
        let tile_count = tiles_across * size[1].div_ceil(TILE);
        // Counting sort; facets stay in their order within a tile.
        let tiles_of = |facet: &Facet| {
            let [x0, x1] = facet.columns.map(|x| x as usize / TILE);
            let [y0, y1] = facet.rows.map(|y| y as usize / TILE);
            (y0..=y1).flat_map(move |y| (x0..=x1).map(move |x| y * tiles_across + x))
        };
        let mut bin_starts = vec![0u32; tile_count + 1];
        for facet in &facets {
            tiles_of(facet).for_each(|tile| bin_starts[tile + 1] += 1);
        }
        for tile in 0..tile_count {
            bin_starts[tile + 1] += bin_starts[tile];
        }
        let mut next = bin_starts.clone();
        let mut bins = vec![0; bin_starts[tile_count] as usize];
        for (f, facet) in facets.iter().enumerate() {
            tiles_of(facet).for_each(|tile| {
                bins[next[tile] as usize] = f as u32;
                next[tile] += 1;
            });
        }
        Self { size, facets, layers, tiles_across, bin_starts, bins }
    }

    /// Finds what every tile sees and lets `resolve` colour its pixels; returns the whole picture.
    pub fn tiles(&self, resolve: impl Fn(&Tile, &mut Vec<[u8; 3]>) + Sync) -> Vec<[u8; 3]> {
        let [width, height] = self.size;
        let tile_count = self.bin_starts.len() - 1;
        let scratch = || {
            let layer = LayerSamples {
                used: false,
                nearness: vec![[0.0; SAMPLES]; TILE * TILE],
                facet: vec![[NONE; SAMPLES]; TILE * TILE],
            };
            vec![layer; self.layers]
        };
        let tiles: Vec<Vec<[u8; 3]>> = (0..tile_count)
            .into_par_iter()
            .map_init(scratch, |layers, t| {
                let (left, top) = (t % self.tiles_across * TILE, t / self.tiles_across * TILE);
                for layer in layers.iter_mut().filter(|l| l.used) {
                    layer.used = false;
                    layer.nearness.fill([0.0; SAMPLES]);
                    layer.facet.fill([NONE; SAMPLES]);
                }
                for &f in &self.bins[self.bin_starts[t] as usize..self.bin_starts[t + 1] as usize] {
                    let facet = &self.facets[f as usize];
                    layers[facet.layer as usize].draw(facet, f, left, top);
                }
                let (tile_width, tile_height) = (TILE.min(width - left), TILE.min(height - top));
                let tile =
                    Tile { left, top, width: tile_width, height: tile_height, facets: &self.facets, layers };
                let mut pixels = Vec::with_capacity(tile_width * tile_height);
                resolve(&tile, &mut pixels);
                pixels
            })
            .collect();
        let mut picture = vec![[0; 3]; width * height];
        for (t, pixels) in tiles.iter().enumerate() {
            let (left, top) = (t % self.tiles_across * TILE, t / self.tiles_across * TILE);
            let tile_width = TILE.min(width - left);
            for (row, line) in pixels.chunks(tile_width).enumerate() {
                let start = (top + row) * width + left;
                picture[start..start + tile_width].copy_from_slice(line);
            }
        }
        picture
    }
}

impl LayerSamples {
    fn draw(&mut self, facet: &Facet, index: u32, left: usize, top: usize) {
        self.used = true;
        let at_samples = |f: [f32; 3]| {
            let mut offsets = [0.0; SAMPLES];
            for s in 0..SAMPLES {
                let at = place(s);
                offsets[s] = f[0] * at.x + f[1] * at.y;
            }
            offsets
        };
        let [side_a, side_b, side_c] = facet.sides;
        let keep = facet.keep.unwrap_or([0.0; 3]);
        let (oa, ob, oc) = (at_samples(side_a), at_samples(side_b), at_samples(side_c));
        let (on, ok) = (at_samples(facet.nearness), at_samples(keep));
        let largest = |o: &[f32; SAMPLES]| o.iter().fold(f32::MIN, |a, &b| a.max(b));
        let (ma, mb, mc) = (largest(&oa), largest(&ob), largest(&oc));
        let value = |f: [f32; 3], x: f32, y: f32| f[0] * x + f[1] * y + f[2];
        let rows = (facet.rows[0] as usize).max(top)..=(facet.rows[1] as usize).min(top + TILE - 1);
        let columns =
            (facet.columns[0] as usize).max(left)..=(facet.columns[1] as usize).min(left + TILE - 1);
        for row in rows {
            for column in columns.clone() {
                let (x, y) = (column as f32, row as f32);
                let (a, b, c) = (value(side_a, x, y), value(side_b, x, y), value(side_c, x, y));
                if a + ma < 0.0 || b + mb < 0.0 || c + mc < 0.0 {
                    continue;
                }
                let (n, k) = (value(facet.nearness, x, y), value(keep, x, y));
                let pixel = (row - top) * TILE + (column - left);
                let nearness = &mut self.nearness[pixel];
                let seen = &mut self.facet[pixel];
                for s in 0..SAMPLES {
                    let near = n + on[s];
                    let inside = (a + oa[s] >= 0.0)
                        & (b + ob[s] >= 0.0)
                        & (c + oc[s] >= 0.0)
                        & (k + ok[s] >= 0.0)
                        & (near > nearness[s]);
                    nearness[s] = if inside { near } else { nearness[s] };
                    seen[s] = if inside { index } else { seen[s] };
                }
            }
        }
    }
}

struct Builder<'a> {
    scene: &'a Scene<'a>,
    camera: &'a Camera,
    size: [usize; 2],
    facets: Vec<Facet>,
    layers: usize,
}

impl Builder<'_> {
    /// Solid things share the first layer; each see-through thing has its own.
    fn layer(&mut self, alpha: f32) -> u16 {
        if alpha >= 1.0 {
            return 0;
        }
        self.layers += 1;
        (self.layers - 1) as u16
    }

    fn add_surface(&mut self, index: usize, normals: &[Vec3]) {
        let surface = &self.scene.surfaces[index];
        let layer = self.layer(surface.alpha);
        let [width, height] = self.size;
        let projected: Vec<Option<Vec3>> =
            surface.positions.par_iter().map(|&p| self.camera.project(p, width, height)).collect();
        let clip = self.scene.clip;
        let facets: Vec<Option<Facet>> = surface
            .triangles
            .par_iter()
            .map(|&corners| {
                if !surface.sound(&corners) {
                    return None;
                }
                let [a, b, c] = corners.map(|v| projected[v as usize]);
                let keep = clip.map(|plane| corners.map(|v| plane.distance(surface.positions[v as usize])));
                let source = Source::Surface { surface: index as u32, corners };
                Facet::new([a?, b?, c?], keep, layer, source, self.size)
            })
            .collect();
        self.facets.extend(facets.into_iter().flatten());

        let Some(wire) = &surface.wire else { return };
        let layer = self.layer(wire.alpha);
        let lift = 0.0015 * self.camera.reach;
        for &[a, b] in wire.edges.iter() {
            let (a, b) = (a as usize, b as usize);
            let (Some(&p), Some(&q)) = (surface.positions.get(a), surface.positions.get(b)) else { continue };
            let to_eye = self.camera.eye - p;
            // Edges of the far side would shine through at the outline, where the lift is not enough.
            if surface.alpha >= 1.0
                && self.scene.clip.is_none()
                && normals[a].dot(to_eye) < 0.0
                && normals[b].dot(to_eye) < 0.0
            {
                continue;
            }
            self.add_segment([p, q], wire.width, lift, layer, Source::Wire { surface: index as u32 });
        }
    }

    fn add_lines(&mut self, index: usize) {
        let lines = &self.scene.lines[index];
        let layer = self.layer(lines.alpha);
        for &segment in &lines.segments {
            self.add_segment(segment, lines.width, lines.lift, layer, Source::Lines { index: index as u32 });
        }
    }

    fn add_segment(&mut self, ends: [Vec3; 2], width: f32, lift: f32, layer: u16, source: Source) {
        let Some([p, q]) = self.project_ends(ends) else { return };
        let Some(along) = (q - p).truncate().try_normalize() else { return };
        let across = (Vec2::new(-along.y, along.x) * (0.5 * width)).extend(0.0);
        // Half a width beyond the ends, so that the pieces of a bent line meet.
        let beyond = (along * (0.4 * width)).extend(0.0);
        let towards = Vec3::new(0.0, 0.0, lift);
        let (p, q) = (p - beyond - towards, q + beyond - towards);
        let keep = self.scene.clip.map(|plane| ends.map(|p| plane.distance(p)));
        let keep_of = |k: [usize; 3]| keep.map(|d| k.map(|i| d[i]));
        let first =
            Facet::new([p - across, q - across, q + across], keep_of([0, 1, 1]), layer, source, self.size);
        let second =
            Facet::new([p - across, q + across, p + across], keep_of([0, 1, 0]), layer, source, self.size);
        self.facets.extend(first.into_iter().chain(second));
    }

    fn project_ends(&self, ends: [Vec3; 2]) -> Option<[Vec3; 2]> {
        let [width, height] = self.size;
        let [p, q] = ends.map(|p| self.camera.project(p, width, height));
        Some([p?, q?])
    }

    fn add_dots(&mut self, index: usize) {
        let dots = &self.scene.dots[index];
        let layer = self.layer(dots.alpha);
        let [width, height] = self.size;
        // A regular hexagon and the square roots of its halves make twelve corners.
        let (half, long) = (0.5, 0.866_025_4);
        let rim = [
            [1.0, 0.0],
            [long, half],
            [half, long],
            [0.0, 1.0],
            [-half, long],
            [-long, half],
            [-1.0, 0.0],
            [-long, -half],
            [-half, -long],
            [0.0, -1.0],
            [half, -long],
            [long, -half],
        ];
        for &point in &dots.points {
            let kept = self.scene.clip.is_none_or(|plane| plane.distance(point) >= 0.0);
            let Some(mut middle) = self.camera.project(point, width, height).filter(|_| kept) else {
                continue;
            };
            middle.z -= dots.lift;
            let corner = |i: usize| {
                let [x, y] = rim[i % 12];
                middle + Vec3::new(x, y, 0.0) * (0.5 * dots.width)
            };
            for i in 1..11 {
                let corners = [corner(0), corner(i), corner(i + 1)];
                let source = Source::Dots { index: index as u32 };
                self.facets.extend(Facet::new(corners, None, layer, source, self.size));
            }
        }
    }
}
