//! Wrinkles: creases where the skin is compressed.
//!
//! Based on: Turchet. Physics-based Modelling, Simulation, Placement and Learning for Musculo-Skeletal Animations. 2018, chapter 6, for
//! what wrinkles of a skinned body need; Knöppel, Crane, Pinkall, Schröder. Stripe Patterns on Surfaces. 2015, for the stripes.
//!
//! Differs in: the thesis finds its curves in the posed skin, and must choose between curves that flicker and frames that depend
//! on those before. Here the pattern is fixed at rest, when the body is bound: skin creases where it has creased before. The pose
//! decides only the height, in closed form. A frame alone is the frame of the clip, to the bit.
//!
//! ```text
//! range of motion --skin--> Compression --lines, stripes--> Pattern                    once
//! Pattern + positions --heights--> offsets --kept apart from other skin--> displacement   every frame
//! ```

mod apart;
pub(crate) mod compression;
mod creases;
mod definition;
mod exercise;
mod heights;
mod lines;
mod maps;
mod patch;
mod pattern;
mod regions;
mod stripe_set;
mod stripes;
mod thesis;

pub use definition::{Curves, Dab, JointWrinkles, Stroke, System, ThesisDef, WrinkleDef};
pub use maps::{MapError, Texel, WrinkleMap};
pub use regions::WrinkledJoint;

use super::{Layer, Scene, Scratch, SurfaceReport};
use crate::character::Character;
use crate::geom::Adjacency;
use crate::math::sparse::FactorError;
use crate::skinning::{Skinner, Surface};
use exercise::Exercise;
use glam::{Vec3, Vec3A};
use pattern::{Ground, Pattern};
use std::fmt;
use stripe_set::StripeSet;
use thesis::Thesis;

/// Why a body has no wrinkles although they were asked for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum WrinkleError {
    /// A joint of the settings does not exist.
    #[error("wrinkles: the character has no joint \"{joint}\"; name one of its own")]
    NoJoint {
        /// As written.
        joint: String,
    },
    /// A joint of the settings bends no skin.
    #[error("wrinkles: joint \"{joint}\" bends no skin; name one that does, or leave it out")]
    NoSkin {
        /// As written.
        joint: String,
    },
    /// A clip of the settings does not exist.
    #[error("wrinkles: the character has no clip \"{clip}\"; {known}")]
    NoClip {
        /// As written.
        clip: String,
        /// The clips there are.
        known: String,
    },
    /// A stroke or dab is not on skin that joints bend.
    #[error("wrinkles: {what} lies on no skin that a joint bends; move it to the skin, or make it wider")]
    OffSkin {
        /// Which one, counted from 1.
        what: String,
    },
    /// The mesh cannot hold such short waves.
    #[error(
        "wrinkles: at {} a wavelength of {:.1} mm needs edges of {:.2} mm or less, four to a wave, and the mesh has {:.2} mm; \
         subdivide it {}, or give wavelengths of {:.1} mm or more",
        joint.name, 1e3 * joint.wavelength, 250.0 * joint.wavelength, 1e3 * joint.edge, Times(joint.subdivisions),
        4e3 * joint.edge
    )]
    Coarse {
        /// The joint that needs the fewest subdivisions, or that whose wavelength was given.
        joint: WrinkledJoint,
    },
    /// The surface has a shape on which no pattern can be computed.
    #[error("wrinkles: no pattern fits this surface: {0}")]
    Pattern(#[from] FactorError),
}

struct Times(u32);

impl fmt::Display for Times {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            1 => f.write_str("once"),
            times => write!(f, "{times} times"),
        }
    }
}

/// What wrinkles a body has.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct WrinkleSummary {
    /// Joints whose skin can wrinkle, parents first, and whether the mesh is fine enough for it. Empty if no joint bends the
    /// skin.
    pub joints: Vec<WrinkledJoint>,
    /// Sets of stripes that lie over each other, 0 to 3.
    pub patterns: usize,
    /// See [`WrinkleDef::sharpness`].
    pub sharpness: f32,
    /// Pieces of the thesis' curves; 0 for stripes.
    pub segments: usize,
    /// Vertices of the surface that can be displaced.
    pub vertices: usize,
    /// Share of the area that wrinkles on which the stripes are within 15 % of their wavelength; 1 without any.
    pub spacing_kept: f32,
}

/// Wrinkles of one surface.
#[derive(Debug)]
pub(crate) struct Wrinkles {
    def: WrinkleDef,
    pattern: Pattern,
    sets: Vec<StripeSet>,
    /// Curves, if the settings want them.
    thesis: Option<Thesis>,
    /// Connected component of every vertex of the surface.
    component: Vec<u32>,
}

impl Wrinkles {
    /// Finds the pattern of a character's surface, skinned by `skinner`.
    pub fn new(
        character: &Character,
        surface: &Surface,
        adjacency: &Adjacency,
        skinner: &Skinner,
        def: &WrinkleDef,
    ) -> Result<Self, WrinkleError> {
        let exercise = Exercise::new(character, surface, skinner, &def.clips)?;
        let ground = Ground::new(surface, adjacency, &character.skeleton, def, exercise.compression(&[]))?;
        let sets = ground.sets(|taken| exercise.compression(taken))?;
        let pattern = Pattern::new(&ground, &sets);
        let thesis = (def.system == System::Thesis)
            .then(|| Thesis::new(&exercise, &ground, adjacency, &sets, &pattern.vertices, &def.thesis));
        Ok(Self { def: def.clone(), pattern, sets, thesis, component: adjacency.components().0 })
    }

    pub fn summary(&self) -> WrinkleSummary {
        let Pattern { joints, scale, spacing_kept, .. } = &self.pattern;
        let vertices = scale.iter().filter(|scale| scale.max_element() > 0.0).count();
        WrinkleSummary {
            patterns: self.pattern.count,
            sharpness: self.def.sharpness,
            segments: self.thesis.as_ref().map_or(0, Thesis::segments),
            joints: joints.clone(),
            vertices,
            spacing_kept: *spacing_kept,
        }
    }

    /// The pattern of every mesh in texture coordinates.
    pub fn maps(
        &self,
        character: &Character,
        surface: &Surface,
        size: usize,
    ) -> Result<Vec<WrinkleMap>, MapError> {
        maps::maps(character, surface, &self.sets, size)
    }

    /// How much the skin folds in the frame that used `scratch` last: per vertex of the surface, by set of stripes; a height is that
    /// times wavelength and mask over pi.
    pub fn folds(&self, scratch: &Scratch, folds: &mut [Vec3A]) {
        for (&v, &fold) in self.pattern.vertices.iter().zip(&scratch.wrinkles.folds) {
            folds[v as usize] = fold;
        }
    }

    /// Of triangles that wrinkle fully: corners, and length along the first set's lines relative to rest, without wrinkles and with
    /// them. Positions are those of the surface's vertices.
    pub fn lengths<'a>(
        &'a self,
        smooth: &'a [Vec3],
        wrinkled: &'a [Vec3],
    ) -> impl Iterator<Item = ([u32; 3], [f32; 2])> + 'a {
        let full = self.pattern.gauges.iter().filter(|gauge| gauge.full);
        full.map(move |gauge| {
            (gauge.corners, [smooth, wrinkled].map(|at| gauge.lengths(|v| at[v as usize].into()).x))
        })
    }
}

impl Layer for Wrinkles {
    fn displace(
        &self,
        scene: &Scene,
        _state: &mut Vec<f32>,
        scratch: &mut Scratch,
        displacements: &mut [Vec3A],
    ) -> SurfaceReport {
        let w = &mut scratch.wrinkles;
        match &self.thesis {
            Some(thesis) => thesis.heights(&self.def.thesis, scene, &self.pattern.vertices, w),
            None => heights::heights(&self.pattern, &self.def, scene, w),
        }
        let fell_back = apart::keep_apart(&self.pattern, &self.component, scene, w);
        for ((&v, &normal), &height) in self.pattern.vertices.iter().zip(&w.normals).zip(&w.heights) {
            displacements[v as usize] = normal * height;
        }
        SurfaceReport { fell_back, ..SurfaceReport::default() }
    }
}

/// Scratch of a frame. Lists are per vertex of the pattern unless said otherwise.
#[derive(Clone, Debug, Default)]
pub(super) struct Workspace {
    /// By set of stripes, as [`Wrinkles::folds`] says.
    folds: Vec<Vec3A>,
    /// Signed, metres, positive outward.
    heights: Vec<f32>,
    normals: Vec<Vec3A>,
    /// Along the lines of each pattern.
    compression: Vec<Vec3A>,
    held: Vec<f32>,
    averaged: Vec<f32>,
    averages: Vec<Vec3A>,
    /// Per gauge and pattern: share of its length that is lost, negative where it is stretched.
    lost: Vec<Vec3A>,
    /// Of each joint with curves, how far they are risen, 0 to 1.
    risen: Vec<f32>,
    apart: apart::Workspace,
}
