//! Stage `wake`: the vertices that take part in tracking. The others keep what skinning gave them.

use super::level::{Level, LevelInput};
use super::pose::Posed;
use super::search::{MOST_CONTACT_OFFSET, level_input};
use super::tracker::{Tracked, Tracker, VERTICES_PER_TASK, Workspace};
use glam::Vec3A;
use rayon::prelude::*;

/// Rings that wake with a vertex, and what is left of its activity on each. With six rings and three quarters the resting
/// half of a twisted cylinder crept along, up to 27 times as far in a frame as the skeleton takes any skin near it.
const WAKING_RINGS: usize = 1;
const WAKING_SHARE: f32 = 0.5;
/// Activity below which a vertex sleeps.
const LEAST_ACTIVITY: f32 = 0.02;

/// An awake vertex.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Awake {
    pub vertex: u32,
    /// 0 to 1: share of every step it takes.
    pub activity: f32,
    /// Where its offset is measured from.
    pub anchor: Vec3A,
    /// Metres.
    pub max_offset: f32,
    /// Of its part in this pose, metres.
    pub radius: f32,
    pub input: LevelInput,
    /// Its level is known before the first projection.
    pub knows_level: bool,
}

impl Awake {
    /// Largest offset from the anchor where contact holds the skin so much, metres.
    #[inline]
    fn most(&self, held: f32) -> f32 {
        self.activity * (self.max_offset + held * self.radius)
    }

    /// A position no farther from the anchor than the largest offset.
    #[inline]
    pub fn limit(&self, x: Vec3A, held: f32) -> Vec3A {
        self.anchor + (x - self.anchor).clamp_length_max(self.most(held))
    }

    /// Moves a position back toward the anchor: hardly near it, and never leaves it beyond the largest offset.
    #[inline]
    pub fn hold(&self, x: Vec3A, held: f32) -> Vec3A {
        let most = self.most(held);
        if most <= 0.0 {
            return self.anchor;
        }
        let away = x - self.anchor;
        let share = away.length_squared() / (most * most);
        self.anchor + away / (1.0 + share * share).sqrt().sqrt()
    }
}

impl Tracker {
    /// Lists the vertices that take part: those near contact and off their level, and the skin around them less and less.
    pub(super) fn wake(&self, posed: &Posed, w: &mut Workspace, tracked: &mut Tracked) {
        let model = &self.model;
        w.activity.clear();
        w.activity.resize(self.len(), 0.0);
        for (&v, found) in model.tracked.iter().zip(&w.searched) {
            w.activity[v as usize] = found.activity * (1.0 - w.sidestepped[v as usize]);
            tracked.positions[v as usize] = found.from;
        }
        for _ in 0..WAKING_RINGS {
            let before = &w.activity;
            let spread = |v: usize| {
                let around = model.mean.of(v).fold(0.0f32, |most, (k, _)| most.max(before[k as usize]));
                before[v].max(WAKING_SHARE * around)
            };
            (0..self.len())
                .into_par_iter()
                .with_min_len(4 * VERTICES_PER_TASK)
                .map(spread)
                .collect_into_vec(&mut w.woken);
            std::mem::swap(&mut w.activity, &mut w.woken);
        }
        let words = model.bones.len().div_ceil(64).max(1);
        let is_awake = |i: &u32| {
            let v = model.tracked[*i as usize] as usize;
            w.activity[v] >= LEAST_ACTIVITY && w.near_contact[v] > 0.0
        };
        w.order.clear();
        w.order.extend((0..model.tracked.len() as u32).filter(is_awake));
        w.awake.resize(w.order.len(), Awake::default());
        w.levels.resize(w.order.len(), Level::default());
        w.awake_near.resize(w.order.len() * words, 0);
        let (skinned, searched) = (&w.skinned, &w.searched);
        let (near_contact, room, activity, iso) = (&w.near_contact, &w.room, &w.activity, &w.iso);
        let (depth, all_near) = (&w.depth, &w.near);
        w.awake
            .par_iter_mut()
            .zip(w.levels.par_iter_mut())
            .zip(w.awake_near.par_chunks_mut(words))
            .zip(&w.order)
            .with_min_len(VERTICES_PER_TASK)
            .for_each(|(((awake, level), near), &i)| {
                let found = &searched[i as usize];
                let v = model.tracked[i as usize];
                let index = v as usize;
                let part = model.part[index];
                let x = found.anchor;
                let motion = &skinned[index].1;
                let input = level_input(model, index, motion, iso[index], near_contact[index], depth[index]);
                let is_known = found.evaluations > 0;
                *awake = Awake {
                    vertex: v,
                    activity: activity[index],
                    anchor: x,
                    max_offset: model.max_offset[index] * near_contact[index],
                    radius: posed.parts[part as usize].radius.min(MOST_CONTACT_OFFSET * room[index]),
                    input: LevelInput { taken_from: found.taken_from, ..input },
                    knows_level: is_known,
                };
                *level = found.level;
                near.copy_from_slice(&all_near[i as usize * words..(i as usize + 1) * words]);
                if near.iter().all(|&word| word == 0) {
                    posed.reachable(x, model.max_offset[index], near);
                }
            });
    }
}
