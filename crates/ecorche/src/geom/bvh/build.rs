//! How the tree is built: cuts by surface area, by count where that would make it too deep.

use super::{Aabb, Node};

/// Items in a leaf at most. One costs memory and refits, eight costs a third more box tests.
const LEAF: usize = 4;
/// Candidate cuts along each axis.
const BINS: usize = 12;
/// Below this the builder stays on its thread.
const PARALLEL: usize = 2048;
/// Depth from which the builder halves by count, so that no input makes a path longer than about 64 + 32.
const BALANCE_FROM: usize = 64;

/// Fills `places[0]` with the node over `order` (items that start at `first` of the whole order) and the
/// following places with its subtree. `offset` is where `places` starts in the whole.
pub(super) fn build(
    boxes: &[Aabb],
    order: &mut [u32],
    first: usize,
    places: &mut [Node],
    offset: usize,
    depth: usize,
) {
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
pub(super) fn compact(sparse: &[Node], nodes: &mut Vec<Node>) {
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
