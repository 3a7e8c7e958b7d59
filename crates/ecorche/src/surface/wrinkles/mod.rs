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
mod definition;
mod heights;
mod lines;
mod patch;
mod pattern;
mod regions;
mod stripes;
#[cfg(test)]
mod tests;

pub use definition::{JointWrinkles, WrinkleDef};
pub use regions::WrinkledJoint;

use super::{Layer, Scene, Scratch, SurfaceReport};
use crate::character::motion::{farthest_turns, range_of_motion};
use crate::character::{Character, Pose};
use crate::geom::Adjacency;
use crate::math::sparse::FactorError;
use crate::skinning::{self, Skinner, Surface};
use compression::Compression;
use glam::{Vec3, Vec3A};
use pattern::Pattern;
use std::fmt;

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
        let compression = over_range(character, surface, skinner);
        let pattern = Pattern::new(surface, adjacency, &character.skeleton, &compression, def)?;
        Ok(Self { def: def.clone(), pattern, component: adjacency.components().0 })
    }

    pub fn summary(&self) -> WrinkleSummary {
        let Pattern { joints, scale, spacing_kept, .. } = &self.pattern;
        let vertices = scale.iter().filter(|&&scale| scale > 0.0).count();
        WrinkleSummary { joints: joints.clone(), vertices, spacing_kept: *spacing_kept }
    }

    /// Length along the lines, relative to rest, of triangles that wrinkle fully: without wrinkles and with them. Positions are
    /// those of the surface's vertices.
    pub fn lengths<'a>(
        &'a self,
        smooth: &'a [Vec3],
        wrinkled: &'a [Vec3],
    ) -> impl Iterator<Item = [f32; 2]> + 'a {
        let full = self.pattern.gauges.iter().filter(|gauge| gauge.full);
        full.map(move |gauge| [smooth, wrinkled].map(|at| gauge.length(|v| at[v as usize].into())))
    }
}

/// Compression of the skin where the exercise of the range of motion turns joints farthest.
fn over_range(character: &Character, surface: &Surface, skinner: &Skinner) -> Compression {
    let rest = &surface.mesh;
    let mut compression = Compression::new(rest);
    let Some(clip) = range_of_motion(character) else { return compression };
    let mut pose = Pose::rest(character);
    let mut positions = vec![Vec3::ZERO; rest.positions.len()];
    let mut workspace = skinning::Workspace::default();
    for time in farthest_turns(&clip) {
        clip.sample(time, &mut pose);
        let posed = surface.posed_from_rest(character, &pose);
        skinner.skin(&posed, &rest.positions, &mut positions, &mut workspace);
        compression.add(rest, &positions);
    }
    compression
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
        heights::heights(&self.pattern, &self.def, scene, w);
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
    /// Signed, metres, positive outward.
    heights: Vec<f32>,
    normals: Vec<Vec3A>,
    compression: Vec<f32>,
    held: Vec<f32>,
    averaged: Vec<f32>,
    /// Per gauge: share of its length that is lost, negative where it is stretched.
    lost: Vec<f32>,
    apart: apart::Workspace,
}
