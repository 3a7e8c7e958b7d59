//! A tree of bounding boxes over triangles, points or anything else that has a box.
//!
//! Built once for a surface and refitted for every frame: the triangles keep their neighbours when a
//! character moves, so the tree of the rest pose stays a good one and a refit of 40 000 triangles costs a
//! fraction of a millisecond. It answers which items of the tree overlap each other (in parallel, always in
//! the same order), what a ray meets, and what is nearest to a point.
//!
//! Own code rather than the collision library's tree: that one walks itself on one thread, wraps every
//! triangle in a shape, and tracks changes between frames that a moving skin does not have.

use super::intersect::{Ray, closest_on_triangle, ray_triangle};
use glam::Vec3;
use rayon::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};

/// An axis-aligned box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aabb {
    /// Smallest corner.
    pub low: Vec3,
    /// Largest corner.
    pub high: Vec3,
}

impl Aabb {
    /// The box that holds nothing; the neutral element of [`Aabb::union`].
    pub const EMPTY: Self = Self { low: Vec3::INFINITY, high: Vec3::NEG_INFINITY };

    /// The smallest box around the points.
    pub fn around(points: &[Vec3]) -> Self {
        points.iter().fold(Self::EMPTY, |b, &p| Self { low: b.low.min(p), high: b.high.max(p) })
    }

    /// The smallest box around both.
    pub fn union(self, other: Self) -> Self {
        Self { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// Whether the closed boxes share a point.
    #[inline]
    pub fn overlaps(&self, other: &Self) -> bool {
        // Without branches: in a tree each of the six is a coin flip.
        self.low.cmple(other.high).all() & other.low.cmple(self.high).all()
    }

    /// Squared distance from the point to the box; zero inside.
    #[inline]
    pub fn distance_squared(&self, point: Vec3) -> f32 {
        // Not `Vec3::clamp`: it asserts an ordered box, and one around non-finite points is not.
        (point.max(self.low).min(self.high) - point).length_squared()
    }

    /// Half the surface area, the tree builder's measure of how often a box is visited. Zero if empty.
    fn half_area(&self) -> f32 {
        let d = (self.high - self.low).max(Vec3::ZERO);
        d.x * d.y + d.y * d.z + d.z * d.x
    }
}

/// One box of the tree. A leaf (`count > 0`) owns `count` items from `link`; an inner node's children are
/// the next node and node `link`.
#[derive(Clone, Copy, Debug)]
struct Node {
    aabb: Aabb,
    link: u32,
    count: u32,
}

/// Where a ray meets a triangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// Index of the triangle.
    pub triangle: u32,
    /// Distance along the ray, in lengths of its direction.
    pub distance: f32,
    /// Whether the ray meets the side the triangle's normal points to.
    pub front: bool,
}

/// The point of a surface nearest to a given one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Nearest {
    /// Index of the triangle.
    pub triangle: u32,
    /// The nearest point on it.
    pub point: Vec3,
    /// Distance to that point, metres.
    pub distance: f32,
}

/// Tree of bounding boxes; items are known by their index.
#[derive(Clone, Debug, Default)]
pub struct Bvh {
    /// Depth first; children come after their parent.
    nodes: Vec<Node>,
    /// Item indices, grouped by leaf.
    order: Vec<u32>,
    /// Boxes of the items, in `order`.
    boxes: Vec<Aabb>,
    /// Of each node, the node above it; of the root itself.
    parents: Vec<u32>,
    /// Of each item, its leaf and its place in `order`.
    places: Vec<[u32; 2]>,
    /// Scratch of [`Bvh::refit_among`]: nodes to be refitted.
    above: Vec<u32>,
}

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

/// Nodes still to be visited on the way down a tree. Of every level at most one waits, so that it needs no heap.
struct Stack<T> {
    items: [T; DEEPEST],
    len: usize,
}

impl<T: Copy + Default> Stack<T> {
    fn new() -> Self {
        Self { items: [T::default(); DEEPEST], len: 0 }
    }

    #[inline]
    fn push(&mut self, item: T) {
        self.items[self.len] = item;
        self.len += 1;
    }

    #[inline]
    fn pop(&mut self) -> Option<T> {
        self.len = self.len.checked_sub(1)?;
        Some(self.items[self.len])
    }
}

/// Items in a leaf at most. One costs memory and refits, eight costs a third more box tests.
const LEAF: usize = 4;
/// Candidate cuts along each axis.
const BINS: usize = 12;
/// Below this the builder stays on its thread.
const PARALLEL: usize = 2048;
/// Depth from which the builder halves by count, so that no input makes a path longer than about 64 + 32.
const BALANCE_FROM: usize = 64;
/// More than the levels of any tree; see [`BALANCE_FROM`].
const DEEPEST: usize = 100;
/// Pieces a self-overlap query is cut into: enough that two to sixteen threads end together.
const TASKS: usize = 512;

impl Bvh {
    /// Builds the tree over the items' boxes. The same boxes give the same tree for any thread count.
    pub fn new(boxes: &[Aabb]) -> Self {
        let count = boxes.len();
        if count == 0 {
            return Self::default();
        }
        let mut order: Vec<u32> = (0..count as u32).collect();
        let empty = Node { aabb: Aabb::EMPTY, link: 0, count: 0 };
        // A subtree over n items is given 2n - 1 places, so threads write apart; leaves of several items
        // leave gaps, closed below.
        let mut sparse = vec![empty; 2 * count - 1];
        build(boxes, &mut order, 0, &mut sparse, 0, 0);
        let mut nodes = Vec::with_capacity(count);
        compact(&sparse, &mut nodes);
        let boxes = order.iter().map(|&i| boxes[i as usize]).collect();
        let mut parents = vec![0; nodes.len()];
        let mut places = vec![[0; 2]; order.len()];
        for (i, node) in nodes.iter().enumerate() {
            let (at, link) = (i as u32, node.link);
            if node.count == 0 {
                parents[i + 1] = at;
                parents[link as usize] = at;
            }
            for place in link..link + node.count {
                places[order[place as usize] as usize] = [at, place];
            }
        }
        Self { nodes, order, boxes, parents, places, above: Vec::new() }
    }

    /// Builds the tree over triangles.
    pub fn over_triangles(positions: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let boxes: Vec<Aabb> = triangles
            .par_iter()
            .with_min_len(1024)
            .map(|t| Aabb::around(&t.map(|v| positions[v as usize])))
            .collect();
        Self::new(&boxes)
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// Gives every item a new box and grows or shrinks the tree to fit. The shape of the tree stays.
    pub fn refit(&mut self, box_of: impl Fn(u32) -> Aabb + Sync) {
        self.boxes
            .par_iter_mut()
            .zip(&self.order)
            .with_min_len(1024)
            .for_each(|(aabb, &item)| *aabb = box_of(item));
        (0..self.nodes.len()).rev().for_each(|i| self.refit_node(i));
    }

    fn refit_node(&mut self, i: usize) {
        let Node { link, count, .. } = self.nodes[i];
        let link = link as usize;
        self.nodes[i].aabb = if count > 0 {
            self.boxes[link..link + count as usize].iter().fold(Aabb::EMPTY, |a, &b| a.union(b))
        } else {
            self.nodes[i + 1].aabb.union(self.nodes[link].aabb)
        };
    }

    /// As [`Bvh::refit`] where only the listed items have moved.
    pub fn refit_among(&mut self, list: &[u32], box_of: impl Fn(u32) -> Aabb) {
        let mut moved = std::mem::take(&mut self.above);
        for &item in list {
            let [leaf, place] = self.places[item as usize];
            self.boxes[place as usize] = box_of(item);
            moved.push(leaf);
        }
        // Children come after their parents, so level by level upward is from the last to the first.
        moved.sort_unstable();
        moved.dedup();
        let mut above: std::collections::BinaryHeap<u32> = moved.into();
        while let Some(node) = above.pop() {
            if above.peek() == Some(&node) {
                continue;
            }
            self.refit_node(node as usize);
            if node > 0 {
                above.push(self.parents[node as usize]);
            }
        }
        self.above = above.into_vec();
    }

    /// Refits a tree made by [`Bvh::over_triangles`] to moved vertices.
    pub fn refit_triangles(&mut self, positions: &[Vec3], triangles: &[[u32; 3]]) {
        self.refit(|t| Aabb::around(&triangles[t as usize].map(|v| positions[v as usize])));
    }

    /// The items of the largest nodes that hold at most so many, node by node; a leaf is not cut.
    pub fn cut(&self, most: usize) -> Vec<&[u32]> {
        let Some(&root) = self.nodes.first() else { return Vec::new() };
        let mut found = Vec::new();
        // Items of a node follow each other in `order`.
        let mut stack = vec![(0, root, 0..self.order.len())];
        while let Some((i, node, range)) = stack.pop() {
            if range.len() <= most || node.count > 0 {
                found.push(&self.order[range]);
                continue;
            }
            let (left, right) = (i + 1, node.link as usize);
            let middle = self.first_item(right);
            stack.push((right, self.nodes[right], middle..range.end));
            stack.push((left, self.nodes[left], range.start..middle));
        }
        found
    }

    /// Place in `order` of a node's first item.
    fn first_item(&self, mut node: usize) -> usize {
        while self.nodes[node].count == 0 {
            node += 1;
        }
        self.nodes[node].link as usize
    }

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
    pub(super) fn self_pairs_until(
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

    /// Calls `visit` with every item whose box overlaps the given one.
    pub fn overlapping(&self, aabb: &Aabb, mut visit: impl FnMut(u32)) {
        self.walk(
            |b| b.overlaps(aabb),
            |item| {
                visit(item);
                true
            },
        );
    }

    /// Visits the items whose boxes pass `enter`, parents first, until `visit` returns false.
    fn walk(&self, mut enter: impl FnMut(&Aabb) -> bool, mut visit: impl FnMut(u32) -> bool) {
        let mut stack = Stack::new();
        if !self.nodes.is_empty() {
            stack.push(0u32);
        }
        while let Some(i) = stack.pop() {
            let node = &self.nodes[i as usize];
            if !enter(&node.aabb) {
                continue;
            }
            if node.count == 0 {
                stack.push(node.link);
                stack.push(i + 1);
                continue;
            }
            for k in node.link as usize..(node.link + node.count) as usize {
                if enter(&self.boxes[k]) && !visit(self.order[k]) {
                    return;
                }
            }
        }
    }

    /// The first triangle the ray meets within `reach` (in lengths of its direction) and for which `accept`
    /// holds. Of two at the same distance the lower index counts.
    pub fn first_hit(
        &self,
        ray: &Ray,
        reach: f32,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        accept: impl Fn(&Hit) -> bool,
    ) -> Option<Hit> {
        let mut best: Option<Hit> = None;
        let mut limit = reach;
        let mut stack = Stack::new();
        if let Some(root) = self.nodes.first()
            && ray.enters(&root.aabb, limit).is_some()
        {
            stack.push((0u32, 0f32));
        }
        while let Some((i, entry)) = stack.pop() {
            if entry > limit {
                continue;
            }
            let node = &self.nodes[i as usize];
            if node.count == 0 {
                let [mut near, mut far] =
                    [i + 1, node.link].map(|c| (c, ray.enters(&self.nodes[c as usize].aabb, limit)));
                if far.1.unwrap_or(f32::MAX) < near.1.unwrap_or(f32::MAX) {
                    (near, far) = (far, near);
                }
                for (child, entry) in [far, near] {
                    if let Some(entry) = entry {
                        stack.push((child, entry));
                    }
                }
                continue;
            }
            for k in node.link as usize..(node.link + node.count) as usize {
                let triangle = self.order[k];
                let corners = triangles[triangle as usize].map(|v| positions[v as usize]);
                let Some((distance, front)) = ray_triangle(ray, corners) else { continue };
                let hit = Hit { triangle, distance, front };
                let better = match &best {
                    None => distance <= limit,
                    Some(b) => distance < b.distance || (distance == b.distance && triangle < b.triangle),
                };
                if better && accept(&hit) {
                    limit = distance;
                    best = Some(hit);
                }
            }
        }
        best
    }

    /// Whether the ray meets a triangle within `reach` for which `accept` holds; stops at the first found.
    pub fn any_hit(
        &self,
        ray: &Ray,
        reach: f32,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        accept: impl Fn(&Hit) -> bool,
    ) -> bool {
        let mut found = false;
        self.walk(
            |b| ray.enters(b, reach).is_some(),
            |triangle| {
                let corners = triangles[triangle as usize].map(|v| positions[v as usize]);
                if let Some((distance, front)) = ray_triangle(ray, corners) {
                    found = distance <= reach && accept(&Hit { triangle, distance, front });
                }
                !found
            },
        );
        found
    }

    /// Calls `visit` with every triangle the ray meets within `reach`, in no order of theirs.
    pub fn each_hit(
        &self,
        ray: &Ray,
        reach: f32,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        mut visit: impl FnMut(Hit),
    ) {
        self.walk(
            |b| ray.enters(b, reach).is_some(),
            |triangle| {
                let corners = triangles[triangle as usize].map(|v| positions[v as usize]);
                if let Some((distance, front)) = ray_triangle(ray, corners)
                    && distance <= reach
                {
                    visit(Hit { triangle, distance, front });
                }
                true
            },
        );
    }

    /// Every triangle the ray meets within `reach`, nearest first. A ray through an edge meets both
    /// triangles on it.
    pub fn all_hits(&self, ray: &Ray, reach: f32, positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<Hit> {
        let mut hits = Vec::new();
        self.each_hit(ray, reach, positions, triangles, |hit| hits.push(hit));
        hits.sort_unstable_by(|a, b| a.distance.total_cmp(&b.distance).then(a.triangle.cmp(&b.triangle)));
        hits
    }

    /// The item nearest to `point` by `distance_squared` (`None` leaves an item out), at most `within`
    /// away. The squared distance must not be below that of the item's box. Ties go to the lower index.
    pub fn nearest_item(
        &self,
        point: Vec3,
        within: f32,
        mut distance_squared: impl FnMut(u32) -> Option<f32>,
    ) -> Option<(u32, f32)> {
        let mut best: Option<(u32, f32)> = None;
        let mut limit = within * within;
        let mut stack = Stack::new();
        if let Some(root) = self.nodes.first() {
            stack.push((0u32, root.aabb.distance_squared(point)));
        }
        // Boxes and items are measured by different roundings of the same length.
        const SLACK: f32 = 1.0 - 4.0 * f32::EPSILON;
        while let Some((i, entry)) = stack.pop() {
            if entry * SLACK > limit {
                continue;
            }
            let node = &self.nodes[i as usize];
            if node.count == 0 {
                let [mut near, mut far] =
                    [i + 1, node.link].map(|c| (c, self.nodes[c as usize].aabb.distance_squared(point)));
                if far.1 < near.1 {
                    (near, far) = (far, near);
                }
                stack.push(far);
                stack.push(near);
                continue;
            }
            for k in node.link as usize..(node.link + node.count) as usize {
                if self.boxes[k].distance_squared(point) * SLACK > limit {
                    continue;
                }
                let item = self.order[k];
                let Some(d) = distance_squared(item) else { continue };
                let better = match best {
                    None => d <= limit,
                    Some((b, best)) => d < best || (d == best && item < b),
                };
                if better {
                    limit = d;
                    best = Some((item, d));
                }
            }
        }
        best.map(|(item, d)| (item, d.sqrt()))
    }

    /// The nearest point of the triangles, at most `within` away, among those for which
    /// `accept(triangle, nearest point on it)` holds.
    pub fn nearest(
        &self,
        point: Vec3,
        within: f32,
        positions: &[Vec3],
        triangles: &[[u32; 3]],
        accept: impl Fn(u32, Vec3) -> bool,
    ) -> Option<Nearest> {
        let on_triangle =
            |t: u32| closest_on_triangle(point, triangles[t as usize].map(|v| positions[v as usize]));
        let (triangle, distance) = self.nearest_item(point, within, |t| {
            let closest = on_triangle(t);
            accept(t, closest).then(|| closest.distance_squared(point))
        })?;
        Some(Nearest { triangle, point: on_triangle(triangle), distance })
    }
}

/// Fills `places[0]` with the node over `order` (items that start at `first` of the whole order) and the
/// following places with its subtree. `offset` is where `places` starts in the whole.
fn build(boxes: &[Aabb], order: &mut [u32], first: usize, places: &mut [Node], offset: usize, depth: usize) {
    let aabb = order.iter().fold(Aabb::EMPTY, |a, &i| a.union(boxes[i as usize]));
    let cut = if order.len() <= LEAF { None } else { Some(partition(boxes, order, depth)) };
    let Some(cut) = cut else {
        places[0] = Node { aabb, link: first as u32, count: order.len() as u32 };
        return;
    };
    let (left, right) = order.split_at_mut(cut);
    let (head, rest) = places.split_at_mut(1);
    let (left_places, right_places) = rest.split_at_mut(2 * cut - 1);
    head[0] = Node { aabb, link: (offset + 2 * cut) as u32, count: 0 };
    let parallel = right.len().min(left.len()) > PARALLEL;
    let mut build_left = || build(boxes, left, first, left_places, offset + 1, depth + 1);
    let mut build_right = || build(boxes, right, first + cut, right_places, offset + 2 * cut, depth + 1);
    if parallel {
        rayon::join(build_left, build_right);
    } else {
        build_left();
        build_right();
    }
}

/// Reorders the items into two groups that are not empty and returns the size of the first.
fn partition(boxes: &[Aabb], order: &mut [u32], depth: usize) -> usize {
    let centre = |i: u32| boxes[i as usize].low + boxes[i as usize].high;
    let spread = order.iter().fold(Aabb::EMPTY, |a, &i| a.union(Aabb { low: centre(i), high: centre(i) }));
    let extent = spread.high - spread.low;
    // Zero where the centres do not differ along the axis, or by too little to divide by.
    let scale =
        extent.to_array().map(|e| BINS as f32 / e).map(|s| if s.is_finite() { s.max(0.0) } else { 0.0 });
    let bin =
        |i: u32, axis: usize| (((centre(i)[axis] - spread.low[axis]) * scale[axis]) as usize).min(BINS - 1);
    let mut best = (f32::INFINITY, 0, 0);
    if depth < BALANCE_FROM {
        for axis in (0..3).filter(|&axis| scale[axis] > 0.0) {
            let mut bins = [(Aabb::EMPTY, 0u32); BINS];
            for &i in order.iter() {
                let slot = &mut bins[bin(i, axis)];
                *slot = (slot.0.union(boxes[i as usize]), slot.1 + 1);
            }
            let mut above = [(Aabb::EMPTY, 0u32); BINS + 1];
            for k in (0..BINS).rev() {
                above[k] = (above[k + 1].0.union(bins[k].0), above[k + 1].1 + bins[k].1);
            }
            let mut below = (Aabb::EMPTY, 0u32);
            for k in 1..BINS {
                below = (below.0.union(bins[k - 1].0), below.1 + bins[k - 1].1);
                if below.1 == 0 || above[k].1 == 0 {
                    continue;
                }
                let cost = below.0.half_area() * below.1 as f32 + above[k].0.half_area() * above[k].1 as f32;
                if cost < best.0 {
                    best = (cost, axis, k);
                }
            }
        }
    }
    let (cost, axis, at) = best;
    if cost.is_finite() {
        let mut cut = 0;
        for i in 0..order.len() {
            if bin(order[i], axis) < at {
                order.swap(i, cut);
                cut += 1;
            }
        }
        return cut;
    }
    let axis = (0..3).max_by(|&a, &b| extent[a].total_cmp(&extent[b])).unwrap_or(0);
    let half = order.len() / 2;
    order.select_nth_unstable_by(half, |&a, &b| centre(a)[axis].total_cmp(&centre(b)[axis]).then(a.cmp(&b)));
    half
}

/// Copies the used nodes in depth-first order, so that a left child follows its parent.
fn compact(sparse: &[Node], nodes: &mut Vec<Node>) {
    // Each entry: a place still to copy, and the copied parent whose right child it is.
    let mut stack = vec![(0usize, None::<usize>)];
    while let Some((place, right_of)) = stack.pop() {
        if let Some(parent) = right_of {
            nodes[parent].link = nodes.len() as u32;
        }
        let node = sparse[place];
        if node.count == 0 {
            stack.push((node.link as usize, Some(nodes.len())));
            stack.push((place + 1, None));
        }
        nodes.push(node);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::self_contact::jitter;

    /// Triangles of a few hundredths scattered in a unit cube.
    fn scattered(count: usize, seed: u64) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let centres = jitter(count, 0.5, seed);
        let corners = jitter(3 * count, 0.06, seed + 1);
        let positions = (0..3 * count).map(|i| centres[i / 3] + corners[i]).collect();
        (positions, (0..count as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect())
    }

    fn box_pairs_one_by_one(boxes: &[Aabb]) -> Vec<[u32; 2]> {
        let n = boxes.len();
        (0..n)
            .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
            .filter(|&(i, j)| boxes[i].overlaps(&boxes[j]))
            .map(|(i, j)| [i as u32, j as u32])
            .collect()
    }

    #[test]
    fn overlapping_pairs_are_those_found_one_by_one() {
        for count in [0, 1, 2, 5, 700] {
            let (positions, triangles) = scattered(count, 3);
            let boxes: Vec<Aabb> =
                triangles.iter().map(|t| Aabb::around(&t.map(|v| positions[v as usize]))).collect();
            let bvh = Bvh::over_triangles(&positions, &triangles);
            assert_eq!(bvh.len(), count);
            assert_eq!(bvh.self_pairs(|_, _| true), box_pairs_one_by_one(&boxes));
        }
    }

    #[test]
    fn coincident_items_neither_loop_nor_get_lost() {
        let boxes = vec![Aabb { low: Vec3::ONE, high: Vec3::ONE }; 300];
        assert_eq!(Bvh::new(&boxes).self_pairs(|_, _| true).len(), 300 * 299 / 2);
    }

    #[test]
    fn a_refitted_tree_answers_for_the_new_positions() {
        let (before, triangles) = scattered(500, 5);
        let (after, _) = scattered(500, 9);
        let mut refitted = Bvh::over_triangles(&before, &triangles);
        refitted.refit_triangles(&after, &triangles);
        let fresh = Bvh::over_triangles(&after, &triangles);
        assert_eq!(refitted.self_pairs(|_, _| true), fresh.self_pairs(|_, _| true));
        let mut half = after.clone();
        let moved: Vec<u32> = (100..260).collect();
        for v in moved.iter().flat_map(|&t| triangles[t as usize]) {
            half[v as usize] = before[v as usize];
        }
        refitted.refit_among(&moved, |t| Aabb::around(&triangles[t as usize].map(|v| half[v as usize])));
        let fresh_half = Bvh::over_triangles(&half, &triangles);
        assert_eq!(refitted.self_pairs(|_, _| true), fresh_half.self_pairs(|_, _| true));
        refitted.refit_triangles(&after, &triangles);
        let point = Vec3::new(0.1, 0.2, 0.3);
        let nearest = |b: &Bvh| b.nearest(point, f32::INFINITY, &after, &triangles, |_, _| true);
        assert_eq!(nearest(&refitted), nearest(&fresh));
    }

    #[test]
    fn rays_meet_what_a_search_through_all_triangles_meets() {
        let (positions, triangles) = scattered(800, 11);
        let bvh = Bvh::over_triangles(&positions, &triangles);
        let mut met = 0;
        for (from, towards) in jitter(200, 0.7, 1).into_iter().zip(jitter(200, 1.0, 2)) {
            // Along the axes too, where a component of the direction is zero.
            for direction in [towards, Vec3::X, Vec3::NEG_Y, Vec3::Z] {
                let ray = Ray::new(from, direction);
                let mut all: Vec<Hit> = (0..triangles.len())
                    .filter_map(|t| {
                        let corners = triangles[t].map(|v| positions[v as usize]);
                        let (distance, front) = ray_triangle(&ray, corners)?;
                        Some(Hit { triangle: t as u32, distance, front })
                    })
                    .collect();
                all.sort_by(|a, b| a.distance.total_cmp(&b.distance));
                met += all.len();
                assert_eq!(bvh.all_hits(&ray, f32::INFINITY, &positions, &triangles), all);
                let first = bvh.first_hit(&ray, f32::INFINITY, &positions, &triangles, |_| true);
                assert_eq!(first.as_ref(), all.first());
                let any = bvh.any_hit(&ray, 0.4, &positions, &triangles, |h| h.front);
                assert_eq!(any, all.iter().any(|h| h.front && h.distance <= 0.4));
            }
        }
        assert!(met > 100);
    }

    #[test]
    fn the_nearest_triangle_is_that_found_one_by_one() {
        let (positions, triangles) = scattered(600, 21);
        let bvh = Bvh::over_triangles(&positions, &triangles);
        for point in jitter(100, 0.8, 4) {
            let on = |t: usize| closest_on_triangle(point, triangles[t].map(|v| positions[v as usize]));
            let even = (0..triangles.len()).step_by(2);
            let best = even.map(|t| on(t).distance(point)).fold(f32::INFINITY, f32::min);
            let found = bvh.nearest(point, f32::INFINITY, &positions, &triangles, |t, _| t % 2 == 0);
            assert_eq!(found.map(|n| n.distance), Some(best));
            let too_near = bvh.nearest(point, best * 0.5, &positions, &triangles, |t, _| t % 2 == 0);
            assert_eq!(too_near, None);
        }
    }

    #[test]
    fn any_number_of_threads_finds_the_same_in_the_same_order() {
        let (positions, triangles) = scattered(9000, 33);
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads start");
            pool.install(|| {
                let bvh = Bvh::over_triangles(&positions, &triangles);
                (bvh.order.clone(), bvh.self_pairs(|_, _| true))
            })
        };
        assert_eq!(run(1), run(3));
    }
}
