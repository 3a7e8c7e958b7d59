//! Stage `search`: for every vertex near contact the parts in reach, how far it is off its level, and whether it sleeps. Buried skin
//! goes to the first crossing, seen from its own bone.

use super::first_crossing;
use super::level::{Level, LevelInput};
use super::model::Model;
use super::pose::{Posed, marked, smoothstep};
use super::tracker::{PREFETCH_BLOCK, Tracked, Tracker, VERTICES_PER_TASK, Workspace};
use glam::{Mat3A, Vec3A};
use rayon::prelude::*;

/// Weight of joints that move against the own part from which on a vertex is fully awake.
const AWAKE_WEIGHT: f32 = 0.05;
/// Level at the start, in radii, from which on a vertex is fully awake.
const AWAKE_LEVEL: f32 = 0.03;
/// In depths of the burial: how far contact may take skin from where skinning had it.
pub(super) const MOST_CONTACT_OFFSET: f32 = 1.5;
/// In radii: a vertex that the last frame left farther than this from its level starts from skinning.
const RESTART_LEVEL: f32 = 0.25;

/// What the search for contact found of a vertex.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Searched {
    /// Where skinning has it, or where the first crossing took it from there.
    pub anchor: Vec3A,
    /// Where tracking starts.
    pub from: Vec3A,
    /// The part that the first crossing took it out of, or `u32::MAX`.
    pub taken_from: u32,
    pub evaluations: u32,
    pub activity: f32,
    /// Where it is; meaningless without evaluations.
    pub level: Level,
}

impl Tracker {
    /// Moves skin inside other limbs back to its own side, and finds the parts that reach each vertex and how far it is
    /// off its level.
    pub(super) fn search(&self, posed: &Posed, coherent: bool, w: &mut Workspace, tracked: &mut Tracked) {
        let model = &self.model;
        let words = model.bones.len().div_ceil(64).max(1);
        w.near.resize(words * model.tracked.len(), 0);
        w.searched.resize(model.tracked.len(), Searched::default());
        let (positions, skinned, iso, near_contact) =
            (&tracked.positions, &w.skinned, &w.iso, &w.near_contact);
        let (room, depth) = (&w.room, &w.depth);
        // The parts in reach; none if nothing moves against the vertex.
        let look_around = |i: usize, near: &mut [u64]| {
            let v = model.tracked[i] as usize;
            let own = &posed.parts[model.part[v] as usize];
            let x = skinned[v].0;
            if near_contact[v] <= 0.0 {
                near.fill(0);
                return 0.0;
            }
            posed.reachable(x, own.radius, near);
            let foreign: f32 = model
                .influences_of(v)
                .iter()
                .filter(|(joint, _)| posed.group_of_joint[*joint as usize] != own.group)
                .map(|influence| influence.1)
                .sum();
            if foreign == 0.0 && marked(near).all(|k| posed.parts[k as usize].group == own.group) {
                near.fill(0);
            } else {
                posed.prefetch(if coherent { positions[v] } else { x }, near);
            }
            foreign
        };
        let search = |i: usize, foreign: f32, near: &mut [u64]| {
            let v = model.tracked[i] as usize;
            let own = &posed.parts[model.part[v] as usize];
            let x = skinned[v].0;
            let mut found = Searched { anchor: x, from: x, taken_from: u32::MAX, ..Searched::default() };
            if near.iter().all(|&word| word == 0) {
                return found;
            }
            let mut input = level_input(model, v, &skinned[v].1, iso[v], near_contact[v], depth[v]);
            let (to, part) = first_crossing::take_out(posed, v, &input, x, near, &mut found.evaluations);
            found.anchor = x + (to - x).clamp_length_max(model.max_offset[v] + MOST_CONTACT_OFFSET * room[v]);
            found.from = found.anchor;
            found.taken_from = part;
            input.taken_from = part;
            if found.taken_from != u32::MAX {
                posed.reachable(found.anchor, 0.5 * own.radius, near);
            }
            let mut level = |at: Vec3A, near: &[u64]| {
                found.evaluations += 1;
                posed.level(v, &input, at, near)
            };
            // Skin that is awake for sure starts where the last frame left it, unless the pose has left that behind.
            let sure = found.taken_from != u32::MAX || foreign >= AWAKE_WEIGHT;
            let last = if coherent && sure { Some(level(positions[v], near)) } else { None };
            match last.filter(|level| level.h.abs() < RESTART_LEVEL * own.radius) {
                Some(level) => (found.from, found.level) = (positions[v], level),
                None => found.level = level(found.anchor, near),
            }
            let off = found.level.h.abs() / (AWAKE_LEVEL * own.radius);
            found.activity = if sure { 1.0 } else { smoothstep(off).max(foreign / AWAKE_WEIGHT) };
            found
        };
        w.searched
            .par_chunks_mut(PREFETCH_BLOCK)
            .zip(w.near.par_chunks_mut(PREFETCH_BLOCK * words))
            .with_min_len(VERTICES_PER_TASK / PREFETCH_BLOCK)
            .enumerate()
            .for_each(|(block, (found, near))| {
                let first = block * PREFETCH_BLOCK;
                let mut foreign = [0.0; PREFETCH_BLOCK];
                for (k, near) in near.chunks_mut(words).enumerate() {
                    foreign[k] = look_around(first + k, near);
                }
                for (k, (found, near)) in found.iter_mut().zip(near.chunks_mut(words)).enumerate() {
                    *found = search(first + k, foreign[k], near);
                }
            });
    }
}

/// The input of the level function for skin near a contact.
pub(super) fn level_input(
    model: &Model,
    v: usize,
    motion: &Mat3A,
    iso: f32,
    near_contact: f32,
    depth: f32,
) -> LevelInput {
    LevelInput {
        normal: (*motion * model.normals[v]).normalize_or_zero(),
        taken_from: u32::MAX,
        iso,
        near_contact,
        depth,
    }
}
