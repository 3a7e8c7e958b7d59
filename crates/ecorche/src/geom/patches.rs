//! A surface cut into small patches, for searches that leave out most of it.
//!
//! Triangles that share a vertex always have boxes that overlap, so that a search over triangles spends its time on
//! neighbours that cannot cross. A patch and its neighbours whose normals all lie on one side of a plane do not cross
//! each other; the search opens only the others.

use super::adjacency::Lists;
use super::bvh::{Aabb, Bvh, PairSearch};
use glam::{Vec3, Vec3A};
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Pairs of patches that a thread opens at a time.
const OPENED: usize = 32;
/// Patches around a vertex that count as neighbours at most: around one that all triangles share, their pairs would fill the
/// memory. Skin has about 6 triangles around a vertex.
const AROUND: usize = 64;
/// Triangles of a patch at most. With 4 and 8 a search through the tree of triangles took as long; not tried since.
const PATCH: usize = 16;

/// The box around some triangles' normals.
type Look = [Vec3A; 2];

/// See the [module](self).
#[derive(Clone, Debug)]
pub(super) struct Patches {
    /// The triangles of each patch.
    triangles: Lists,
    of_triangle: Vec<u32>,
    /// Patches that share a vertex, ascending.
    neighbours: Lists,
    /// Over the patches.
    tree: Bvh,
    fitted: Vec<Fitted>,
    search: Search,
}

/// Scratch of the searches.
#[derive(Clone, Debug, Default)]
struct Search {
    boxes: PairSearch,
    /// Pairs of patches to open.
    open: Vec<[u32; 2]>,
    /// One list per [`OPENED`] of them, or more.
    found: Vec<Vec<[u32; 2]>>,
    /// Patches that have moved.
    moved: Vec<u32>,
}

/// A patch in one pose.
#[derive(Clone, Copy, Debug)]
struct Fitted {
    aabb: Aabb,
    look: Look,
    /// Its normals and those of its neighbours all lie on one side of a plane.
    is_smooth: bool,
}

/// Whether the normals of these patches all lie on one side of a plane: that across the sum of them, if any.
#[inline]
fn look_to_one_side(patches: impl Iterator<Item = Look> + Clone) -> bool {
    let sum = patches.clone().fold(Vec3A::ZERO, |sum, [low, high]| sum + low + high);
    // The least product of any normal in the box with it.
    patches.map(|[low, high]| (sum * low).min(sum * high).element_sum()).all(|least| least > 0.0)
}

impl Fitted {
    #[inline]
    fn new(patch: &[u32], triangles: &[[u32; 3]], positions: &[Vec3]) -> Self {
        let (mut low, mut high) = (Vec3A::INFINITY, Vec3A::NEG_INFINITY);
        let mut look = [low, high];
        for &t in patch {
            let [a, b, c] = triangles[t as usize].map(|v| Vec3A::from(positions[v as usize]));
            low = low.min(a.min(b).min(c));
            high = high.max(a.max(b).max(c));
            let normal = (b - a).cross(c - a).normalize_or_zero();
            look = [look[0].min(normal), look[1].max(normal)];
        }
        Self { aabb: Aabb { low: low.into(), high: high.into() }, look, is_smooth: false }
    }
}

impl Patches {
    /// Cuts a surface where its tree is cut.
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]], bvh: &Bvh) -> Self {
        let patches = bvh.cut(PATCH);
        let mut members = Vec::with_capacity(triangles.len());
        let mut of_triangle = vec![0; triangles.len()];
        for (patch, p) in patches.iter().zip(0..) {
            members.extend(patch.iter().map(|&t| (p, t)));
            patch.iter().for_each(|&t| of_triangle[t as usize] = p);
        }
        let corners = triangles.iter().zip(&of_triangle).flat_map(|(t, &p)| t.map(|v| (v, p)));
        let mut at_vertex: Vec<(u32, u32)> = corners.collect();
        at_vertex.sort_unstable();
        at_vertex.dedup();
        let mut neighbours: Vec<(u32, u32)> = at_vertex
            .chunk_by(|a, b| a.0 == b.0)
            .filter(|at| at.len() <= AROUND)
            .flat_map(|at| at.iter().flat_map(move |a| at.iter().map(move |b| (a.1, b.1))))
            .filter(|(a, b)| a != b)
            .collect();
        neighbours.sort_unstable();
        neighbours.dedup();
        let fitted: Vec<Fitted> = patches.iter().map(|p| Fitted::new(p, triangles, positions)).collect();
        Self {
            triangles: Lists::group(patches.len(), &members),
            of_triangle,
            neighbours: Lists::group(patches.len(), &neighbours),
            tree: Bvh::new(&fitted.iter().map(|f| f.aabb).collect::<Vec<_>>()),
            fitted,
            search: Search::default(),
        }
    }

    /// Looks at the patches where the vertices are now.
    fn fit(&mut self, positions: &[Vec3], triangles: &[[u32; 3]]) {
        let Self { triangles: members, neighbours, fitted, tree, .. } = self;
        fitted
            .par_iter_mut()
            .enumerate()
            .with_min_len(64)
            .for_each(|(p, fitted)| *fitted = Fitted::new(members.get(p), triangles, positions));
        for p in 0..fitted.len() {
            let around = neighbours.get(p).iter().copied().chain([p as u32]).map(|k| fitted[k as usize].look);
            fitted[p].is_smooth = look_to_one_side(around);
        }
        tree.refit(|p| fitted[p as usize].aabb);
    }

    /// Whether two patches share a vertex, and their normals and those of their neighbours lie on one side of a plane.
    #[inline]
    fn is_smooth_between(&self, p: u32, q: u32) -> bool {
        let around = [p, q].map(|k| self.neighbours.get(k as usize));
        if around[0].binary_search(&q).is_err() {
            return false;
        }
        let of = |k: u32| &self.fitted[k as usize];
        if of(p).is_smooth || of(q).is_smooth {
            return true;
        }
        let common = around[0].iter().copied().filter(|k| around[1].binary_search(k).is_ok());
        look_to_one_side(common.chain([p, q]).map(|k| of(k).look))
    }

    /// Every pair of triangles `[a, b]`, `a < b`, that may cross and for which `keep` holds, ascending; they replace those in
    /// `pairs`.
    pub fn pairs(
        &mut self,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        keep: impl Fn(u32, u32) -> bool + Sync,
        pairs: &mut Vec<[u32; 2]>,
    ) {
        self.pairs_up_to(positions, triangles, usize::MAX, keep, pairs);
    }

    /// As [`Patches::pairs`]; false, soon, if there are more than `most` pairs, or more patches than that to open for each other:
    /// some are then missing.
    pub fn pairs_up_to(
        &mut self,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        most: usize,
        keep: impl Fn(u32, u32) -> bool + Sync,
        pairs: &mut Vec<[u32; 2]>,
    ) -> bool {
        let (opened, kept) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let passed = |count: &AtomicUsize| count.load(Ordering::Relaxed) > most;
        self.fit(positions, triangles);
        let mut search = std::mem::take(&mut self.search);
        let Search { boxes, open, found, .. } = &mut search;
        let fitted = &self.fitted;
        let opens = |p, q| {
            let opens = !self.is_smooth_between(p, q);
            opened.fetch_add(usize::from(opens), Ordering::Relaxed);
            opens
        };
        self.tree.self_pairs_until(|| passed(&opened), opens, boxes, open);
        if passed(&opened) {
            pairs.clear();
            self.search = search;
            return false;
        }
        let rough =
            fitted.iter().zip(0..).filter(|(patch, _)| !look_to_one_side(std::iter::once(patch.look)));
        open.extend(rough.map(|(_, p)| [p, p]));
        let between = |&[p, q]: &[u32; 2], found: &mut Vec<[u32; 2]>| {
            let of = |patch: u32, within: &Aabb| -> ([(u32, Aabb); PATCH], usize) {
                let (mut list, mut count) = ([(0, Aabb::EMPTY); PATCH], 0);
                for &t in self.triangles.get(patch as usize) {
                    let aabb = Aabb::around(&triangles[t as usize].map(|v| positions[v as usize]));
                    if aabb.overlaps(within) && count < PATCH {
                        list[count] = (t, aabb);
                        count += 1;
                    }
                }
                (list, count)
            };
            if passed(&kept) {
                return;
            }
            let before = found.len();
            let (first, count) = of(p, &fitted[q as usize].aabb);
            let (second, other_count) = of(q, &fitted[p as usize].aabb);
            for (a, box_a) in &first[..count] {
                for (b, box_b) in &second[..other_count] {
                    // Within a patch every pair is seen from both sides.
                    if (p != q || a < b) && box_a.overlaps(box_b) && keep(*a.min(b), *a.max(b)) {
                        found.push([*a.min(b), *a.max(b)]);
                    }
                }
            }
            kept.fetch_add(found.len() - before, Ordering::Relaxed);
        };
        let all_between =
            |open: &[[u32; 2]], found: &mut Vec<[u32; 2]>| open.iter().for_each(|pair| between(pair, found));
        gather(open, OPENED, all_between, found, pairs);
        self.search = search;
        !passed(&kept)
    }

    /// Fits the patches of the listed triangles, the only ones that have moved since the search before.
    pub fn fit_among(&mut self, positions: &[Vec3], triangles: &[[u32; 3]], list: &[u32]) {
        let Self { triangles: members, of_triangle, tree, fitted, search, .. } = self;
        let moved = &mut search.moved;
        moved.clear();
        moved.extend(list.iter().map(|&t| of_triangle[t as usize]));
        moved.sort_unstable();
        moved.dedup();
        for &p in moved.iter() {
            fitted[p as usize] = Fitted::new(members.get(p as usize), triangles, positions);
        }
        tree.refit_among(moved, |p| fitted[p as usize].aabb);
    }

    /// Calls `visit` with every triangle whose box overlaps the given one, until it returns false.
    pub fn overlapping_while(
        &self,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        aabb: &Aabb,
        mut visit: impl FnMut(u32) -> bool,
    ) {
        self.tree.overlapping_while(aabb, |p| {
            self.triangles.get(p as usize).iter().all(|&t| {
                let of_triangle = Aabb::around(&triangles[t as usize].map(|v| positions[v as usize]));
                !of_triangle.overlaps(aabb) || visit(t)
            })
        });
    }
}

/// What `find` adds for so many of the items at a time, sorted, into `pairs` in place of what was there. Every call has a list
/// of its own of `lists`, empty at first.
pub(super) fn gather<T: Sync>(
    items: &[T],
    at_a_time: usize,
    find: impl Fn(&[T], &mut Vec<[u32; 2]>) + Sync,
    lists: &mut Vec<Vec<[u32; 2]>>,
    pairs: &mut Vec<[u32; 2]>,
) {
    let tasks = items.len().div_ceil(at_a_time);
    if lists.len() < tasks {
        lists.resize_with(tasks, Vec::new);
    }
    let lists = &mut lists[..tasks];
    lists.par_iter_mut().zip(items.par_chunks(at_a_time)).for_each(|(list, items)| {
        list.clear();
        find(items, list);
    });
    pairs.clear();
    lists.iter().for_each(|list| pairs.extend_from_slice(list));
    pairs.sort_unstable();
}
