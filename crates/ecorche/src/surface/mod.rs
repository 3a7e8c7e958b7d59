//! Layers on the skin: they displace the vertices of the welded surface after skinning and tracking, before positions go
//! back to the meshes.
//!
//! A [`Layer`] is built once for a rest surface and then called in every frame. It gets a [`Scene`] (rest surface, pose,
//! positions so far, contact) and its own state, and returns displacements and a [`SurfaceReport`]. What it remembers
//! from frame to frame is plain numbers, so that it can be saved.

pub mod smooth;
#[cfg(test)]
mod tests;
pub mod wrinkles;

use crate::character::Character;
use crate::geom::{Adjacency, TriMesh};
use crate::skinning::{Skinner, Surface};
use glam::{Affine3A, Vec3A};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;
use wrinkles::{WrinkleError, Wrinkles};

/// A layer on the skin.
pub trait Layer: fmt::Debug + Send + Sync {
    /// Writes how far each vertex moves, world, metres. `displacements` holds one zero per vertex of the surface. `state`
    /// is what the last frame left, empty before the first.
    ///
    /// Must give the same bits for any number of threads and never panic. A displacement that is not finite is dropped
    /// and counted.
    fn displace(
        &self,
        scene: &Scene,
        state: &mut Vec<f32>,
        scratch: &mut Scratch,
        displacements: &mut [Vec3A],
    ) -> SurfaceReport;

    /// Whether a frame depends on those before it.
    fn remembers(&self) -> bool {
        false
    }
}

/// What a layer sees of a frame. Lists have one entry per vertex of the surface unless said otherwise.
#[derive(Clone, Copy, Debug)]
pub struct Scene<'a> {
    /// The surface at rest, bind space, without morphs.
    pub rest: &'a TriMesh,
    /// Its neighbours.
    pub adjacency: &'a Adjacency,
    /// Map of every skeleton joint from bind space to the pose. May hold numbers that are not finite.
    pub posed_from_bind: &'a [Affine3A],
    /// Positions so far, world, metres.
    pub positions: &'a [Vec3A],
    /// How much a contact holds each vertex, 0 to 1; all 0 without tracking.
    pub contact: &'a [f32],
    /// Moment in the clip, seconds.
    pub time: f32,
}

/// Memory a layer may use during a call. What it holds before is undefined.
#[derive(Clone, Debug, Default)]
pub struct Scratch {
    /// Two lists of points.
    pub points: [Vec<Vec3A>; 2],
    wrinkles: wrinkles::Workspace,
}

/// What layers did in one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SurfaceReport {
    /// Vertices that were displaced.
    pub displaced: usize,
    /// The largest displacement, metres.
    pub largest: f32,
    /// Vertices that could not be displaced as asked and were left alone.
    pub fell_back: usize,
}

/// A layer as a [`Stack`](crate::deform::Stack) asks for it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LayerDef {
    /// Corrective smoothing.
    Smooth(smooth::Settings),
    /// Wrinkles where skin is compressed.
    Wrinkles(wrinkles::WrinkleDef),
}

/// A setting of a layer that is out of range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{layer}: {setting} {value} is out of range; give {range}")]
pub struct LayerError {
    /// The layer.
    pub layer: &'static str,
    /// The setting.
    pub setting: &'static str,
    /// Its value.
    pub value: f32,
    /// What it may be.
    pub range: &'static str,
}

impl LayerDef {
    /// Whether every setting is in its range.
    pub fn check(&self) -> Result<(), LayerError> {
        match self {
            Self::Smooth(settings) => settings.check(),
            Self::Wrinkles(settings) => settings.check(),
        }
    }

    fn build(&self, of: &Rest, adjacency: &Adjacency) -> Result<Built, WrinkleError> {
        let (layer, wrinkles): (Arc<dyn Layer>, _) = match self {
            Self::Smooth(settings) => {
                (Arc::new(smooth::Smooth::new(&of.surface.mesh, adjacency, *settings)), None)
            }
            Self::Wrinkles(settings) => {
                let wrinkles = Wrinkles::new(of.character, of.surface, adjacency, of.skinner, settings)?;
                let wrinkles = Arc::new(wrinkles);
                (wrinkles.clone(), Some(wrinkles))
            }
        };
        Ok(Built { definition: self.clone(), layer, wrinkles })
    }
}

impl fmt::Display for LayerDef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Smooth(_) => f.write_str("smooth"),
            Self::Wrinkles(_) => f.write_str("wrinkles"),
        }
    }
}

/// What layers are built for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rest<'a> {
    pub character: &'a Character,
    /// Its welded surface.
    pub surface: &'a Surface,
    /// Of that surface; takes the joints' motions from bind space.
    pub skinner: &'a Skinner,
}

/// The layers of a body, in order; each starts from where the one before left the vertices.
#[derive(Debug)]
pub(crate) struct Layers {
    adjacency: Arc<Adjacency>,
    layers: Vec<Built>,
}

/// A layer and what it was built from.
#[derive(Clone, Debug)]
struct Built {
    definition: LayerDef,
    layer: Arc<dyn Layer>,
    /// The same layer, if it is one of wrinkles.
    wrinkles: Option<Arc<Wrinkles>>,
}

/// Scratch of [`Layers::displace`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Workspace {
    /// Filled in by the caller: one per vertex, as in [`Scene`].
    pub positions: Vec<Vec3A>,
    pub contact: Vec<f32>,
    pub posed_from_bind: Vec<Affine3A>,
    /// Sum over the layers.
    pub displacements: Vec<Vec3A>,
    own: Vec<Vec3A>,
    scratch: Scratch,
    /// Of a pose that has no state.
    states: Vec<Vec<f32>>,
}

impl Layers {
    /// Builds layers; those that `earlier` has, layers of the same surface, are taken from there.
    pub fn new(of: Rest, definitions: &[LayerDef], earlier: Option<&Self>) -> Result<Self, WrinkleError> {
        let adjacency = match earlier {
            Some(earlier) => earlier.adjacency.clone(),
            None => Arc::new(Adjacency::new(&of.surface.mesh)),
        };
        let layer = |definition: &LayerDef| {
            let known = earlier.and_then(|e| e.layers.iter().find(|built| built.definition == *definition));
            known.map_or_else(|| definition.build(&of, &adjacency), |built| Ok(built.clone()))
        };
        let layers = definitions.iter().map(layer).collect::<Result<_, WrinkleError>>()?;
        Ok(Self { adjacency, layers })
    }

    pub fn remember(&self) -> bool {
        self.layers.iter().any(|built| built.layer.remembers())
    }

    /// How much the skin folds in the frame that used `w` last, see [`Wrinkles::folds`]; zeros without wrinkles.
    pub fn folds(&self, w: &Workspace) -> Vec<Vec3A> {
        let mut folds = vec![Vec3A::ZERO; w.displacements.len()];
        if let Some(wrinkles) = self.wrinkles() {
            wrinkles.folds(&w.scratch, &mut folds);
        }
        folds
    }

    /// The first layer of wrinkles; `None` without one.
    pub fn wrinkles(&self) -> Option<&Wrinkles> {
        self.layers.iter().find_map(|built| built.wrinkles.as_deref())
    }

    /// Runs every layer and sums up displacements and reports.
    pub fn displace(
        &self,
        rest: &TriMesh,
        time: f32,
        states: Option<&mut Vec<Vec<f32>>>,
        w: &mut Workspace,
    ) -> SurfaceReport {
        let count = w.positions.len();
        w.displacements.clear();
        w.displacements.resize(count, Vec3A::ZERO);
        w.states.iter_mut().for_each(Vec::clear);
        let states = states.unwrap_or(&mut w.states);
        states.resize_with(self.layers.len(), Vec::new);
        let mut total = SurfaceReport::default();
        for (Built { layer, .. }, state) in self.layers.iter().zip(states) {
            w.own.clear();
            w.own.resize(count, Vec3A::ZERO);
            let scene = Scene {
                rest,
                adjacency: &self.adjacency,
                posed_from_bind: &w.posed_from_bind,
                positions: &w.positions,
                contact: &w.contact,
                time,
            };
            let mut report = layer.displace(&scene, state, &mut w.scratch, &mut w.own);
            for ((own, position), sum) in w.own.iter().zip(&mut w.positions).zip(&mut w.displacements) {
                if (*position + *own).is_finite() {
                    *position += *own;
                    *sum += *own;
                } else {
                    report.fell_back += 1;
                }
            }
            total.fell_back += report.fell_back;
        }
        total.displaced = w.displacements.iter().filter(|d| **d != Vec3A::ZERO).count();
        total.largest = w.displacements.iter().map(|d| d.length()).fold(0.0, f32::max);
        total
    }
}
