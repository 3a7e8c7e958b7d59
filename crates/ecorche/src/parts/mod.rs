//! A character's skin cut into parts, each with a field that describes it.
//!
//! Bones in real files say little about the flesh around them: their ends are invented, one moves four
//! fingers, another a strip of the hip. The parts are therefore found in the body itself:
//!
//! 1. pieces that are not skin ([`crate::pieces`]) follow ([`FOLLOWS`]); every other vertex goes to its strongest joint;
//! 2. the inside of the skin is cut into voxels, each of the part whose skin is nearest: the part's *solid*;
//!    its inner radius is the largest distance to the skin in it;
//! 3. the seen skin of a part is sampled, as densely as it is thick;
//! 4. where solids touch, balls that fit the body close the parts;
//! 5. the surface through samples and closures becomes a compact field and a table.
//!
//! On a symmetric body the fields are symmetric too: see `symmetry.rs`.
//!
//! A part whose field leaves the skin or is hollow is fitted again with other settings, and joins a neighbour
//! if nothing helps. Building parts never fails; [`Parts::report`] says what was done.
//!
//! Based on: Vaillant et al. Implicit Skinning. 2012.
//! Differs in: closures from balls in the body's interior instead of caps at the ends of bones; no cull by
//! bone coordinate; samples by area over thickness instead of a fixed number.

mod check;
mod closure;
mod fit;
mod gather;
mod merge;
mod outside;
mod report;
mod retouch;
mod share;
mod solid;
mod stored;
mod symmetry;
#[cfg(test)]
mod tests;

pub use report::PartsReport;
pub use retouch::Retouch;

use crate::cache::Cache;
use crate::character::Character;
use crate::field::{CompactHrbf, Grid, SurfaceSample};
use crate::pieces::{PieceSettings, Pieces};
use crate::skinning::Surface;
use crate::watch::Watch;
use glam::Vec3;
use std::sync::Arc;

/// Part of a vertex that belongs to none: it follows the body around it.
pub const FOLLOWS: u32 = u32::MAX;

/// Settings of [`Parts::build`].
#[derive(Clone, Debug, PartialEq)]
pub struct PartSettings {
    /// Roles of the pieces; only skin gets parts.
    pub pieces: PieceSettings,
    /// Fewest and most samples of a part. More follow the skin closer and make exact evaluation and the fit
    /// more expensive; the table costs the same.
    pub samples: [usize; 2],
    /// Cells of the table along the longest side of a part's support.
    pub resolution: u32,
    /// Least falloff radius, in inner radii of the part.
    pub smallest_radius: f32,
    /// Most falloff radius, in inner radii of the part. Larger fields catch skin that starts farther from
    /// them, and more of them reach each vertex.
    pub largest_radius: f32,
    /// Patches of skin below this many square inner radii of the neighbour they share most edges with join
    /// it: lips and brows with bones of their own, not the shoulder beside the chest.
    pub smallest_patch: f32,
    /// Close simple joints with a ball about the pivot, which keeps its shape when the joint bends.
    pub pivots: bool,
    /// How far closures may lie from the joint about which the part turns against its neighbour, in
    /// distances of that joint to the skin. Above 1 they leave the body when the joint bends by a right angle;
    /// far below, the skin around the joint has no field.
    pub swing: f32,
    /// Another seed gives other samples.
    pub seed: u64,
}

impl Default for PartSettings {
    fn default() -> Self {
        Self {
            pieces: PieceSettings::default(),
            samples: [50, 250],
            resolution: 32,
            smallest_radius: 1.0,
            largest_radius: 2.5,
            smallest_patch: 0.4,
            pivots: true,
            swing: 1.0,
            seed: 1,
        }
    }
}

/// The parts of a character.
#[derive(Clone, Debug, PartialEq)]
pub struct Parts {
    /// Ascending by joint.
    pub parts: Vec<Part>,
    /// Part of each vertex of the surface, or [`FOLLOWS`].
    pub part_of_vertex: Vec<u32>,
    /// Pairs of parts, the smaller index first, whose solids touch: a ball of a quarter of the smaller inner
    /// radius fits between them.
    pub touching: Vec<[u32; 2]>,
    /// The pieces of the surface and their roles.
    pub pieces: Arc<Pieces>,
    /// What was merged, what follows, and how good the fields are.
    pub report: PartsReport,
}

/// The skin one joint moves, and its field. Positions are in bind space.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The skeleton joint that moves it.
    pub joint: u32,
    /// All joints whose skin it has, its own first.
    pub joints: Vec<u32>,
    /// The part of the nearest ancestor that has one.
    pub parent: Option<u32>,
    /// Samples of the skin.
    pub samples: Vec<SurfaceSample>,
    /// Points that close it toward its neighbours.
    pub closures: Vec<SurfaceSample>,
    /// From its joints to their children; from a leaf to the end of its skin.
    pub bone: Vec<[Vec3; 2]>,
    /// Distance from the surface at which the field ends, metres.
    pub radius: f32,
    /// Largest distance to the skin in the part's solid, metres.
    pub inner_radius: f32,
    /// The exact field.
    pub hrbf: CompactHrbf,
    /// Its table, zero at its border.
    pub field: Grid,
}

impl Parts {
    /// Cuts the surface and fits the fields, or finds them in the cache.
    pub fn build(
        surface: &Surface,
        character: &Character,
        settings: &PartSettings,
        cache: Option<&Cache>,
    ) -> Self {
        Self::build_watched(surface, character, settings, cache, &Watch::default())
    }

    /// As [`Parts::build`], told to `watch`; where that stops the work, the result is not to be used.
    pub fn build_watched(
        surface: &Surface,
        character: &Character,
        settings: &PartSettings,
        cache: Option<&Cache>,
        watch: &Watch,
    ) -> Self {
        let Some(cache) = cache else { return gather::gather(surface, character, settings, watch) };
        let key = stored::key(surface, character, settings);
        if let Some(parts) = cache.get(key).and_then(|bytes| stored::read(&bytes, surface)) {
            return parts;
        }
        let parts = gather::gather(surface, character, settings, watch);
        if !watch.is_stopped() {
            cache.put(key, &stored::write(&parts));
        }
        parts
    }
}
