//! Stage `find_contact`: where skinning alone buries skin in skin. Contact is looked for there and near it.

use super::model::Model;
use super::pose::smoothstep;
use super::rest_surface::RestSurface;
use super::scratch;
use super::tracker::{Tracker, Workspace};
use crate::geom::SelfContact;
use crate::geom::burial::{Burial, Sheet};
use crate::geom::intersect::crossing_depth;
use crate::geom::self_contact::Crossings;
use glam::{Vec3, Vec3A};
use std::collections::VecDeque;

/// In inner radii: room at which skin counts as near a contact in full. Without it the athlete's collar bones sink in when the
/// arms go forward, a hand's breadth from where the armpits fold.
const FULL_CONTACT_ROOM: f32 = 0.05;
/// In inner radii: most room that a crossing gives a triangle of fine skin; coarse skin gets less, or as much as the
/// crossing is deep. Without a limit coarse skin swells and sinks by half an edge from one frame to the next; at 0.2 the
/// fingers of mh_base stay tangled.
const MOST_CROSSING_ROOM: f32 = 0.4;
/// In longest edges: depth of a crossing from which on it gives its room in full. So contact begins at nothing where skin first touches skin:
/// with full room for a crossing of nothing, the buckle of HVGirl's belt is torn. At 0.25 a walking Geno keeps 802 crossings instead of
/// 124, most of them between fingers.
const FULL_ROOM_DEPTH: f32 = 0.03;
/// How much less room there is per metre along the skin. At 0.5 shoulders stay tangled when the arms go up.
const ROOM_SLOPE: f32 = 0.25;
/// In inner radii along the skin: how far from buried skin contact is looked for. Three radii opened the
/// athlete's shoulder around a crossing in the armpit; less than 1 was not tried.
const CONTACT_REACH: f32 = 1.0;

/// Pairs of triangles that skinning may make meet, for each triangle of the skin, before the pose is given up as a heap of
/// triangles; any 100,000 are looked at. Deep squats and fists have less than 1, weights that are scattered at random 100 and more.
const MOST_PAIRS: usize = 8;

/// Buffers of [`RestSurface::find_contact`], kept from frame to frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    crossings: Crossings,
    pub(super) burial: Burial,
    /// Vertices whose cover differs from that at rest, by how much, and how deep they are, metres.
    pub(super) buried: Vec<(u32, i32)>,
    depths: Vec<f32>,
    queue: VecDeque<u32>,
}

impl Tracker {
    /// Finds where skinning alone buries skin in skin, or with `sidestepped` what a sidestep has made of it. Swelling and muscles are no
    /// reason to look for contact. Where skin crosses itself nearly everywhere there is none to be found.
    pub(super) fn find_contact(&self, sidestepped: bool, w: &mut Workspace) {
        let contact = w.contact.get_or_insert_with(|| self.contact.clone());
        let skinned = if sidestepped { &w.skinned } else { &w.plain }.iter().map(|s| s.0);
        let (near_contact, room, scratch) = (&mut w.near_contact, &mut w.room, &mut w.untangle);
        w.is_heap =
            !self.rest_surface.find_contact(&self.model, contact, skinned, near_contact, room, scratch);
        w.depth.clear();
        w.depth.resize(self.len(), 0.0);
        let Scratch { buried, depths, .. } = &w.untangle.find_contact;
        buried.iter().zip(depths).for_each(|(&(v, _), &depth)| w.depth[v as usize] = depth);
    }
}

impl RestSurface {
    /// For each vertex how near it is, along the skin, to where `skinned` makes the skin cross itself and rest does not:
    /// 1 at the crossing and inside it, 0 from [`CONTACT_REACH`] inner radii on. False, and 0 everywhere, if it is a heap of triangles.
    pub fn find_contact(
        &self,
        model: &Model,
        contact: &mut SelfContact,
        skinned: impl Iterator<Item = Vec3A>,
        near_contact: &mut Vec<f32>,
        room: &mut Vec<f32>,
        scratch: &mut scratch::Scratch,
    ) -> bool {
        room.clear();
        room.resize(model.rest.len(), 0.0);
        scratch.positions.clear();
        scratch.positions.extend(skinned.map(Vec3::from));
        scratch.strength.clear();
        scratch.strength.resize(model.rest.len(), 0.0);
        scratch.touched.clear();
        scratch.front.clear();
        let mut found = std::mem::take(&mut scratch.find_contact);
        let most = (MOST_PAIRS * self.triangles.len()).max(100_000);
        let is_skin = contact.find_between_patches_up_to(&scratch.positions, most, &mut found.crossings);
        let Crossings { pairs, .. } = &found.crossings;
        let new = pairs.iter().filter(|pair| self.is_new(pair));
        for pair in new {
            let corners = pair.map(|t| self.triangles[t as usize]);
            let [a, b] = corners.map(|t| t.map(|v| scratch.positions[v as usize]));
            let depth = crossing_depth(a, b);
            for v in corners.into_iter().flatten() {
                scratch.raise(model, v, 1.0);
                // A triangle that crosses is buried to some part of its edges.
                let edges = model
                    .mean
                    .of(v as usize)
                    .map(|(k, _)| model.rest[v as usize].distance(model.rest[k as usize]));
                let longest = edges.fold(0.0, f32::max);
                let fineness = model.bones.get(model.part[v as usize] as usize).map_or(0.0, |b| b.fineness);
                let most = MOST_CROSSING_ROOM * fineness * model.inner_radius(v);
                let full = (FULL_ROOM_DEPTH * longest).max(f32::MIN_POSITIVE);
                let buried = (0.5 * longest).min(most.max(depth)) * smoothstep(depth / full);
                room[v as usize] = room[v as usize].max(buried);
            }
        }
        found.buried.clear();
        if !scratch.front.is_empty() {
            contact.fit(&scratch.positions);
            let sheet = Sheet {
                triangles: &self.triangles,
                vertex_ring: &self.vertex_ring,
                triangles_of_vertex: &self.triangles_of_vertex,
                component_of_vertex: &self.component_of_vertex,
                group_of_vertex: &self.component_of_vertex,
            };
            let Scratch { crossings, burial, buried, depths, .. } = &mut found;
            burial.cover(&sheet, &scratch.positions, crossings, contact.bvh());
            for (v, (now, rest)) in burial.cover.iter().zip(&self.cover_at_rest).enumerate() {
                let change = now.unwrap_or(0) - rest.unwrap_or(0);
                if now.is_some() && change != 0 {
                    scratch.raise(model, v as u32, 1.0);
                    buried.push((v as u32, change));
                }
            }
            burial.depths(&sheet, &scratch.positions, contact.bvh(), buried, depths);
            found.make_room(model, &scratch.front, room);
        }
        scratch.find_contact = found;
        scratch.spread(model, usize::MAX, |v| CONTACT_REACH * model.inner_radius(v));
        near_contact.clear();
        // Full up to half the way.
        let near = |(v, (&strength, &room)): (usize, (&f32, &f32))| {
            let inner = model.inner_radius(v as u32);
            smoothstep(2.0 * strength) * smoothstep(room / (FULL_CONTACT_ROOM * inner).max(f32::MIN_POSITIVE))
        };
        near_contact.extend(scratch.strength.iter().zip(room.iter()).enumerate().map(near));
        scratch.strength.iter_mut().for_each(|s| *s = 0.0);
        is_skin
    }
}

impl Scratch {
    /// How far skin may have to go to be separated, metres: as deep as it or skin near it is buried, less along the skin.
    fn make_room(&mut self, model: &Model, crossing: &[u32], room: &mut [f32]) {
        let Self { buried, depths, queue, .. } = self;
        for (&(v, _), &depth) in buried.iter().zip(depths.iter()) {
            room[v as usize] = room[v as usize].max(depth);
        }
        queue.extend(crossing.iter().copied());
        while let Some(v) = queue.pop_front() {
            for (k, _) in model.mean.of(v as usize) {
                let length = model.rest[v as usize].distance(model.rest[k as usize]);
                let left = room[v as usize] - ROOM_SLOPE * length;
                if left > room[k as usize] + 1e-6 * model.size {
                    room[k as usize] = left;
                    queue.push_back(k);
                }
            }
        }
    }
}
