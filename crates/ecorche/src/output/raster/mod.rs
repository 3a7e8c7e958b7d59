//! Pictures of surfaces without a graphics card.
//!
//! A [`Scene`] of surfaces, lines and dots, a [`Camera`] and [`Settings`] make a [`Picture`]:
//!
//! ```
//! use ecorche::output::raster::{Framing, Scene, Settings, Surface, View, ground_height, render, shapes};
//!
//! let ball = shapes::ball(glam::Vec3::Y, 0.5, 3);
//! let framing = Framing { view: View::ThreeQuarter, ..Framing::default() };
//! let camera = framing.camera(std::iter::once(&ball.positions[..]));
//! let scene = Scene {
//!     surfaces: vec![Surface::new(&ball.positions, &ball.triangles)],
//!     ground: Some(ground_height(std::iter::once(&ball.positions[..]))),
//!     ..Scene::default()
//! };
//! let picture = render(&scene, &camera, &Settings { width: 120, height: 120, ..Settings::default() });
//! assert_eq!(picture.width(), 120);
//! ```
//!
//! How: triangles are tested at 16 places in every pixel, tile by tile (`cover`); what a pixel sees is
//! lit once per surface it sees (`shade`) by some hundred distant lamps with depth maps (`lamps`), which
//! give direct light, ambient occlusion and the shadow on the ground at once.
//!
//! Same picture for any number of threads and on any machine: tiles and maps are each made by one thread,
//! triangles go in their order, and only arithmetic that IEEE 754 fixes is used.
//!
//! Of a see-through surface only the nearest layer shows, which keeps the skin over the muscles readable.
//! Triangles that reach behind the eye are left out.

mod camera;
mod cover;
mod lamps;
mod shade;
pub mod shapes;

pub use camera::{Camera, Framing, UnknownView, View, ground_height};

use super::{Colour, ColourMap, Picture};
use crate::geom;
use glam::Vec3;
use std::borrow::Cow;

/// What is in a picture.
#[derive(Clone, Debug, Default)]
pub struct Scene<'a> {
    /// Lit triangle surfaces.
    pub surfaces: Vec<Surface<'a>>,
    /// Lines of constant width.
    pub lines: Vec<Lines>,
    /// Round dots.
    pub dots: Vec<Dots>,
    /// Height of the ground that receives a shadow; none when the figure floats.
    pub ground: Option<f32>,
    /// What lies on the negative side is cut away.
    pub clip: Option<Plane>,
}

/// The plane of points with `normal.dot(point) == offset`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Plane {
    /// Towards the side that stays.
    pub normal: Vec3,
    /// Distance of the plane from the origin along the normal, for a unit normal.
    pub offset: f32,
}

impl Plane {
    /// The plane through `point`, keeping the side `normal` points to.
    pub fn through(point: Vec3, normal: Vec3) -> Self {
        Self { normal, offset: normal.dot(point) }
    }

    pub(super) fn distance(&self, point: Vec3) -> f32 {
        self.normal.dot(point) - self.offset
    }
}

/// A lit surface. Lists are borrowed or owned.
#[derive(Clone, Debug)]
pub struct Surface<'a> {
    /// Vertex positions, metres. A triangle with a position that is not finite is left out.
    pub positions: Cow<'a, [Vec3]>,
    /// Counter-clockwise from outside. A triangle that names a vertex that is not there is left out.
    pub triangles: Cow<'a, [[u32; 3]]>,
    /// Unit vertex normals; computed from the triangles when absent. Where the mesh is split along
    /// seams, give the welded surface's, or the seams show.
    pub normals: Option<Cow<'a, [Vec3]>>,
    /// Its colours.
    pub paint: Paint<'a>,
    /// 1 is solid. Below that, the surface is clearer where seen head-on than at its outline.
    pub alpha: f32,
    /// Strength of the highlight; 0 is chalk, 1 wet.
    pub gloss: f32,
    /// Whether it casts shadows on others, itself and the ground.
    pub shadow: bool,
    /// Edges drawn on the surface.
    pub wire: Option<Wire<'a>>,
}

/// The colours of a surface.
#[derive(Clone, Debug)]
pub enum Paint<'a> {
    /// One colour.
    Plain(Colour),
    /// One colour per vertex.
    PerVertex(Cow<'a, [Colour]>),
    /// A number per vertex, shown through a colour map. Shaded lightly, so that colours stay readable
    /// against the legend.
    Quantity {
        /// One per vertex; NaN shows grey.
        values: Cow<'a, [f32]>,
        /// Values at the two ends of the map.
        range: [f32; 2],
        /// The map.
        map: ColourMap,
    },
}

/// Edges drawn on a surface.
#[derive(Clone, Debug)]
pub struct Wire<'a> {
    /// Pairs of vertices: the polygons' own edges, each once.
    pub edges: Cow<'a, [[u32; 2]]>,
    /// Width in pixels.
    pub width: f32,
    /// Colour of the lines.
    pub colour: Colour,
    /// 1 is solid.
    pub alpha: f32,
}

/// Straight pieces of line with one look.
#[derive(Clone, Debug)]
pub struct Lines {
    /// The two ends of each.
    pub segments: Vec<[Vec3; 2]>,
    /// Width in pixels.
    pub width: f32,
    /// Colour, not lit.
    pub colour: Colour,
    /// 1 is solid.
    pub alpha: f32,
    /// How far they are drawn in front of where they are, metres: lines on a surface need a little.
    pub lift: f32,
}

/// Round dots with one look.
#[derive(Clone, Debug)]
pub struct Dots {
    /// Their middles.
    pub points: Vec<Vec3>,
    /// Diameter in pixels.
    pub width: f32,
    /// Colour, not lit.
    pub colour: Colour,
    /// 1 is solid.
    pub alpha: f32,
    /// How far they are drawn in front of where they are, metres.
    pub lift: f32,
}

/// Size and quality of a picture.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Pixels, at most 16384.
    pub width: usize,
    /// Pixels, at most 16384.
    pub height: usize,
    /// Lamps in the sky. More makes ambient shadows smoother; time grows with it.
    pub dome: usize,
}

impl Settings {
    /// For a picture of this size: small ones, as on contact sheets, need fewer lamps.
    pub fn sized(width: usize, height: usize) -> Self {
        Self { width, height, dome: if width.min(height) < 500 { 48 } else { 72 } }
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::sized(900, 900)
    }
}

/// Unpainted skin: a warm clay.
pub(crate) const CLAY: u32 = 0xC9A795;
/// Muscle.
pub const MUSCLE: u32 = 0xA84A44;
/// Bone and tendon.
pub const BONE: u32 = 0xE4DBC6;
/// Fat.
pub(crate) const FAT: u32 = 0xE3C56E;

impl<'a> Surface<'a> {
    /// A solid clay surface that casts shadows.
    pub fn new(positions: impl Into<Cow<'a, [Vec3]>>, triangles: impl Into<Cow<'a, [[u32; 3]]>>) -> Self {
        Self {
            positions: positions.into(),
            triangles: triangles.into(),
            normals: None,
            paint: Paint::Plain(Colour::hex(CLAY)),
            alpha: 1.0,
            gloss: 0.35,
            shadow: true,
            wire: None,
        }
    }

    /// With these unit vertex normals.
    pub fn normals(mut self, normals: impl Into<Cow<'a, [Vec3]>>) -> Self {
        self.normals = Some(normals.into());
        self
    }

    /// In one colour.
    pub fn colour(mut self, colour: Colour) -> Self {
        self.paint = Paint::Plain(colour);
        self
    }

    /// With a colour per vertex.
    pub fn colours(mut self, colours: impl Into<Cow<'a, [Colour]>>) -> Self {
        self.paint = Paint::PerVertex(colours.into());
        self
    }

    /// Showing a number per vertex.
    pub fn quantity(mut self, values: impl Into<Cow<'a, [f32]>>, range: [f32; 2], map: ColourMap) -> Self {
        self.paint = Paint::Quantity { values: values.into(), range, map };
        self
    }

    /// See-through; a see-through surface casts no shadow unless `shadow` is set afterwards.
    pub fn alpha(mut self, alpha: f32) -> Self {
        self.alpha = alpha;
        self.shadow = alpha >= 1.0;
        self
    }

    /// With thin dark edges on it.
    pub fn wire(mut self, edges: impl Into<Cow<'a, [[u32; 2]]>>) -> Self {
        self.wire =
            Some(Wire { edges: edges.into(), width: 0.9, colour: Colour::hex(0x2A2320), alpha: 0.55 });
        self
    }
}

/// Draws the scene.
pub fn render(scene: &Scene, camera: &Camera, settings: &Settings) -> Picture {
    let settings = Settings {
        width: settings.width.clamp(1, 16384),
        height: settings.height.clamp(1, 16384),
        dome: settings.dome.clamp(8, 512),
    };
    let normals: Vec<Cow<[Vec3]>> = scene.surfaces.iter().map(surface_normals).collect();
    let stage = shade::Stage::new(scene, camera, &settings, &normals);
    let cover = cover::Cover::new(scene, camera, &settings, &normals);
    let pixels = cover.tiles(|tile, pixels| stage.resolve(tile, pixels));
    Picture::from_pixels(settings.width, settings.height, pixels)
}

/// The surface's normals, or ones made from its sound triangles.
fn surface_normals<'s>(surface: &'s Surface) -> Cow<'s, [Vec3]> {
    if let Some(normals) = surface.normals.as_deref().filter(|n| n.len() == surface.positions.len()) {
        return Cow::Borrowed(normals);
    }
    let mut normals = vec![Vec3::ZERO; surface.positions.len()];
    for triangle in surface.triangles.iter().filter(|t| surface.sound(t)) {
        let corners = triangle.map(|v| surface.positions[v as usize]);
        for (v, normal) in triangle.iter().zip(geom::mesh::corner_normals(corners)) {
            normals[*v as usize] += normal;
        }
    }
    normals.into_iter().map(|n| n.try_normalize().unwrap_or(Vec3::Y)).collect()
}

impl Surface<'_> {
    /// Whether a triangle names vertices that exist and are finite.
    fn sound(&self, triangle: &[u32; 3]) -> bool {
        triangle.iter().all(|&v| self.positions.get(v as usize).is_some_and(|p| p.is_finite()))
    }
}

#[cfg(test)]
mod tests;
