//! The field of a part with the muscles and fat under its skin, for the schemes of the papers.
//!
//! | symbol | here | meaning | unit |
//! |---|---|---|---|
//! | d | `near.distance` | from a point to the surface of a muscle | m |
//! | t | `falloff` | the compact transfer, over the part's radius | - |
//! | w | `weight` | share of the muscle that lies in the part at that station, tendons left out | - |
//! | o, v | `displaced` | fat has moved by o, of which a point moves by the share v | m, - |
//!
//! The value is that of the part at `p - v o`, joined with `w t(d)` of every muscle. In the substeps that lead to a frame's pose,
//! muscles ride on their part as they lie in it at the end.
//!
//! Based on: Roussellet. Doctoral thesis. 2018, chapter 6.

use super::layers::PosedLayers;
use crate::anatomy::Grooves;
use crate::field::operator::{Detail, Fillet};
use crate::field::{Falloff, Field, Grid, Operator, Sample, Support};
use crate::parts::Part;
use crate::tracking::Layers;
use glam::{Affine3A, Vec3};
use std::sync::Arc;

/// Width of the fillet between a part and a muscle, in values.
const FILLET: f64 = 0.2;

/// A fibre in a part.
#[derive(Clone, Debug)]
pub(super) struct PartFibre {
    pub fibre: u32,
    /// Share of it that lies in the part, at even stations.
    pub shares: Arc<[f32]>,
}

/// What lies under the skin in one moment.
#[derive(Clone, Debug)]
pub(super) struct UnderSkin {
    pub layers: Arc<PosedLayers>,
    /// Of each part.
    pub fibres: Arc<[Arc<[PartFibre]>]>,
    pub grooves: Grooves,
}

/// The field of a part at rest, with what lies in it.
#[derive(Clone, Debug)]
pub struct PartField<'a> {
    skin: &'a Grid,
    flesh: Option<PartFlesh>,
}

#[derive(Clone, Debug)]
struct PartFlesh {
    part: u32,
    layers: Arc<PosedLayers>,
    fibres: Arc<[PartFibre]>,
    joining: Joining,
    falloff: Falloff,
    /// The motion of the part in the moment that the layers are of.
    world_from_rest: Affine3A,
    support: Support,
}

#[derive(Clone, Copy, Debug)]
enum Joining {
    Fillet(Fillet),
    Detail(Detail),
}

impl Joining {
    fn join(&self, skin: Sample, muscle: Sample) -> Sample {
        let operator: &dyn Operator = match self {
            Self::Fillet(fillet) => fillet,
            Self::Detail(detail) => detail,
        };
        operator.join(skin, muscle, 1.0)
    }
}

impl<'a> PartField<'a> {
    /// `index`: of the part among its body's; `world_from_rest`: its motion in the moment of `under`.
    pub(super) fn new(
        part: &'a Part,
        index: usize,
        under: Option<&UnderSkin>,
        world_from_rest: Affine3A,
    ) -> Self {
        let flesh = under.map(|under| PartFlesh::new(part, index, under, world_from_rest));
        Self { skin: &part.field, flesh: flesh.filter(|f| f.support != Support::EMPTY) }
    }
}

impl PartFlesh {
    fn new(part: &Part, index: usize, under: &UnderSkin, world_from_rest: Affine3A) -> Self {
        let fibres = under.fibres[index].clone();
        let part_index = index as u32;
        let radius = part.radius;
        let pads = under.layers.support(part_index);
        let boxes = fibres.iter().map(|f| under.layers.fibres[f.fibre as usize].table.support(radius));
        let moved = boxes.fold(pads, Support::with);
        Self {
            part: part_index,
            layers: under.layers.clone(),
            fibres,
            joining: match under.grooves {
                Grooves::Fillet => Joining::Fillet(Fillet { width: FILLET }),
                Grooves::Detail => Joining::Detail(Detail::default()),
            },
            falloff: Falloff { radius: f64::from(radius) },
            world_from_rest,
            support: if moved == Support::EMPTY { moved } else { moved.moved(&world_from_rest.inverse()) },
        }
    }

    /// The part's own field where fat displaces it, joined with the muscles.
    fn sample(&self, skin: &Grid, rest: Vec3) -> Sample {
        let point = self.world_from_rest.transform_point3(rest);
        let to_rest = self.world_from_rest.matrix3.transpose();
        let mut sample = match self.layers.displaced(self.part, point) {
            Some(displaced) => {
                let from = self.world_from_rest.inverse().transform_point3(displaced.from);
                let found = skin.sample(from);
                // Slopes: of the field at rest, seen in the world, through the displacement, and back.
                let in_world = self.world_from_rest.inverse().matrix3.transpose() * found.gradient;
                Sample { value: found.value, gradient: to_rest * (displaced.gradient_map * in_world) }
            }
            None => skin.sample(rest),
        };
        for fibre in self.fibres.iter() {
            let posed = &self.layers.fibres[fibre.fibre as usize];
            let Some(muscle) = posed.field_in(&fibre.shares, &self.falloff, point) else { continue };
            let muscle = Sample { gradient: to_rest * muscle.gradient, ..muscle };
            sample = self.joining.join(sample, muscle);
        }
        sample
    }
}

impl Field for PartField<'_> {
    #[inline]
    fn sample(&self, point: Vec3) -> Sample {
        match &self.flesh {
            Some(flesh) if flesh.support.contains(point) => flesh.sample(self.skin, point),
            _ => self.skin.sample(point),
        }
    }

    fn support(&self) -> Support {
        let own = self.skin.support();
        self.flesh.as_ref().map_or(own, |flesh| own.with(flesh.support))
    }
}
