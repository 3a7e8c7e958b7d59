//! A tree of bounding boxes over triangles, points or anything else that has a box.
//!
//! Built once for a surface and refitted for every frame: the triangles keep their neighbours when a
//! character moves, so the tree of the rest pose stays a good one and a refit of 40 000 triangles costs a
//! fraction of a millisecond. It answers which items of the tree overlap each other (in parallel, always in
//! the same order; [`pairs`]), what a ray meets, and what is nearest to a point ([`queries`]).
//!
//! Own code rather than the collision library's tree: that one walks itself on one thread, wraps every
//! triangle in a shape, and tracks changes between frames that a moving skin does not have.

mod build;
mod pairs;
mod queries;

pub use pairs::PairSearch;
pub use queries::{Hit, Nearest};

use build::{build, compact};
use glam::Vec3;
use rayon::prelude::*;

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

/// More than the levels of any tree; see [`build`].
const DEEPEST: usize = 100;

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

    /// Calls `visit` with every item whose box overlaps the given one.
    pub fn overlapping(&self, aabb: &Aabb, mut visit: impl FnMut(u32)) {
        self.overlapping_while(aabb, |item| {
            visit(item);
            true
        });
    }

    /// As [`Bvh::overlapping`], until `visit` returns false.
    pub(super) fn overlapping_while(&self, aabb: &Aabb, visit: impl FnMut(u32) -> bool) {
        self.walk(|b| b.overlaps(aabb), visit);
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
}

#[cfg(test)]
mod tests;
