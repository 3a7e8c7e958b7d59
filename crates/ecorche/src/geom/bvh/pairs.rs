//! Pairs of items whose boxes overlap, in parallel and always in the same order.

use super::Bvh;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Pieces a self-overlap query is cut into: enough that two to sixteen threads end together.
const TASKS: usize = 512;

/// Scratch of [`Bvh::self_pairs_until`].
#[derive(Clone, Debug, Default)]
pub struct PairSearch {
    /// Pairs of nodes to open, and those that widening makes of them.
    tasks: Vec<(u32, u32)>,
    wider: Vec<(u32, u32)>,
    /// One per task or more.
    found: Vec<TaskPairs>,
}

/// What one task of a [`PairSearch`] has found, and its pairs of nodes still to open.
#[derive(Clone, Debug, Default)]
struct TaskPairs {
    pairs: Vec<[u32; 2]>,
    stack: Vec<(u32, u32)>,
}

impl Bvh {
    /// Every pair of items `[a, b]`, `a < b`, whose boxes overlap and for which `keep(a, b)` holds,
    /// ascending. Runs in parallel.
    pub fn self_pairs(&self, keep: impl Fn(u32, u32) -> bool + Sync) -> Vec<[u32; 2]> {
        let mut pairs = Vec::new();
        self.self_pairs_until(|| false, keep, &mut PairSearch::default(), &mut pairs);
        pairs
    }

    /// As [`Bvh::self_pairs`]; `None` as soon as more than `most` pairs are found, or more than a hundred times as many
    /// are looked at.
    pub fn self_pairs_up_to(
        &self,
        most: usize,
        keep: impl Fn(u32, u32) -> bool + Sync,
    ) -> Option<Vec<[u32; 2]>> {
        let (looked_at, kept) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let most_looked_at = most.saturating_mul(100);
        let is_enough =
            || looked_at.load(Ordering::Relaxed) > most_looked_at || kept.load(Ordering::Relaxed) > most;
        let counted = |a, b| {
            looked_at.fetch_add(1, Ordering::Relaxed);
            let is_kept = keep(a, b);
            kept.fetch_add(usize::from(is_kept), Ordering::Relaxed);
            is_kept
        };
        let mut pairs = Vec::new();
        self.self_pairs_until(is_enough, counted, &mut PairSearch::default(), &mut pairs);
        (!is_enough()).then_some(pairs)
    }

    /// As [`Bvh::self_pairs`], for repeated searches: the pairs replace those in `pairs`. Some are missing once
    /// `is_enough` holds.
    pub(in crate::geom) fn self_pairs_until(
        &self,
        is_enough: impl Fn() -> bool + Sync,
        keep: impl Fn(u32, u32) -> bool + Sync,
        search: &mut PairSearch,
        pairs: &mut Vec<[u32; 2]>,
    ) {
        pairs.clear();
        if self.nodes.is_empty() {
            return;
        }
        let PairSearch { tasks, wider, found } = search;
        tasks.clear();
        tasks.push((0, 0));
        // Widen breadth first; a task that cannot be cut stays as it is.
        while tasks.len() < TASKS {
            wider.clear();
            let mut cut = false;
            for &(a, b) in tasks.iter() {
                cut |= self.split_pair(a, b, wider);
            }
            std::mem::swap(tasks, wider);
            if !cut {
                break;
            }
        }
        if found.len() < tasks.len() {
            found.resize_with(tasks.len(), TaskPairs::default);
        }
        let found = &mut found[..tasks.len()];
        found.par_iter_mut().zip(&*tasks).with_max_len(1).for_each(|(TaskPairs { pairs, stack }, &task)| {
            pairs.clear();
            stack.push(task);
            while let Some((a, b)) = stack.pop() {
                if is_enough() {
                    stack.clear();
                    break;
                }
                if !self.split_pair_or_leaf(a, b, stack) {
                    self.leaf_pairs(a, b, &keep, pairs);
                }
            }
        });
        found.iter().for_each(|task| pairs.extend_from_slice(&task.pairs));
        pairs.par_sort_unstable();
    }

    /// Pushes the overlapping child pairs of `(a, b)`, or `(a, b)` itself if both are leaves. Returns
    /// whether anything was cut or dropped.
    fn split_pair(&self, a: u32, b: u32, out: &mut Vec<(u32, u32)>) -> bool {
        let cut = self.split_pair_or_leaf(a, b, out);
        if !cut {
            out.push((a, b));
        }
        cut
    }

    /// Pushes the overlapping child pairs of `(a, b)`; false if both are leaves.
    #[inline]
    fn split_pair_or_leaf(&self, a: u32, b: u32, out: &mut Vec<(u32, u32)>) -> bool {
        let (na, nb) = (&self.nodes[a as usize], &self.nodes[b as usize]);
        if a == b {
            if na.count > 0 {
                return false;
            }
            let (l, r) = (a + 1, na.link);
            out.push((r, r));
            if self.nodes[l as usize].aabb.overlaps(&self.nodes[r as usize].aabb) {
                out.push((l, r));
            }
            out.push((l, l));
            return true;
        }
        if na.count > 0 && nb.count > 0 {
            return false;
        }
        let open_a = nb.count > 0 || (na.count == 0 && na.aabb.half_area() >= nb.aabb.half_area());
        let (open, parent, kept) = if open_a { (a, na, b) } else { (b, nb, a) };
        let kept_box = &self.nodes[kept as usize].aabb;
        for child in [parent.link, open + 1] {
            if self.nodes[child as usize].aabb.overlaps(kept_box) {
                out.push((child, kept));
            }
        }
        true
    }

    #[inline]
    fn leaf_pairs(&self, a: u32, b: u32, keep: &impl Fn(u32, u32) -> bool, pairs: &mut Vec<[u32; 2]>) {
        let range = |n: u32| {
            let node = &self.nodes[n as usize];
            node.link as usize..(node.link + node.count) as usize
        };
        for i in range(a) {
            let from = if a == b { i + 1 } else { 0 };
            for j in range(b) {
                if j < from || !self.boxes[i].overlaps(&self.boxes[j]) {
                    continue;
                }
                let (p, q) = (self.order[i].min(self.order[j]), self.order[i].max(self.order[j]));
                if keep(p, q) {
                    pairs.push([p, q]);
                }
            }
        }
    }
}
