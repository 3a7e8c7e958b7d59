//! The states that untangling goes through, and of every tangle the best of them.
//!
//! A hand that nothing can part goes on being pushed while a knee has long come apart, and a round that is good for the
//! one is bad for the other. Tangles are told apart by the skin that was moved: what hangs together is one.

use crate::geom::adjacency::Lists;
use glam::Vec3;

/// What one round of untangling left.
#[derive(Clone, Debug)]
struct State {
    /// Pairs that cross.
    pairs: Vec<[u32; 2]>,
    /// Where the vertices are that the round moved.
    moved: Vec<(u32, Vec3)>,
    /// Too much skin is lost, unless nothing crosses any more.
    spent: bool,
}

/// The states of one frame, in order.
#[derive(Clone, Debug, Default)]
pub(super) struct Tangles {
    states: Vec<State>,
    /// Pairs that crossed when every tangle was in its best state: their tangles are one.
    met: Vec<[u32; 2]>,
}

const NONE: u32 = u32::MAX;

impl Tangles {
    /// The next state: what crosses in it, which vertices have moved since the last, and whether too much skin is lost.
    pub fn push(&mut self, pairs: Vec<[u32; 2]>, moved: &[u32], positions: &[Vec3], spent: bool) {
        let moved = moved.iter().map(|&v| (v, positions[v as usize])).collect();
        self.states.push(State { pairs, moved, spent });
    }

    /// Takes the tangles of these pairs for one.
    pub fn join(&mut self, pairs: &[[u32; 2]]) {
        self.met.extend_from_slice(pairs);
    }

    /// The vertices that were moved, ascending.
    pub fn moved(&self) -> Vec<u32> {
        let mut moved: Vec<u32> = self.states.iter().flat_map(|s| s.moved.iter().map(|m| m.0)).collect();
        moved.sort_unstable();
        moved.dedup();
        moved
    }

    /// Puts every tangle of `positions`, which are those of the first state, into the state in which the fewest of its pairs
    /// cross; of equal ones the first, or the last if none do. Returns the pairs that are left.
    pub fn best(&self, triangles: &[[u32; 3]], ring: &Lists, positions: &mut [Vec3]) -> Vec<[u32; 2]> {
        let tangle_of_vertex = self.number(triangles, ring, positions.len());
        let tangle = |pair: &[u32; 2]| tangle_of_vertex[triangles[pair[0] as usize][0] as usize] as usize;
        let count = tangle_of_vertex.iter().filter(|&&t| t != NONE).max().map_or(0, |&t| t as usize + 1);
        let mut best: Vec<(usize, usize)> = vec![(usize::MAX, 0); count];
        let mut crossing = vec![0; count];
        for (number, state) in self.states.iter().enumerate() {
            crossing.fill(0);
            state.pairs.iter().for_each(|pair| crossing[tangle(pair)] += 1);
            for (best, &crossing) in best.iter_mut().zip(&crossing) {
                if crossing == 0 || (crossing < best.0 && !state.spent) {
                    *best = (crossing, number);
                }
            }
        }
        for (number, state) in self.states.iter().enumerate() {
            for &(v, p) in &state.moved {
                if number <= best[tangle_of_vertex[v as usize] as usize].1 {
                    positions[v as usize] = p;
                }
            }
        }
        let left = self.states.iter().enumerate().flat_map(|(number, state)| {
            let best = &best;
            state.pairs.iter().filter(move |pair| best[tangle(pair)].1 == number)
        });
        let mut left: Vec<[u32; 2]> = left.copied().collect();
        left.sort_unstable();
        left
    }

    /// The tangle of each vertex that was moved or whose triangle crosses, in the order of their first vertices.
    fn number(&self, triangles: &[[u32; 3]], ring: &Lists, vertices: usize) -> Vec<u32> {
        let mut first: Vec<u32> = vec![NONE; vertices];
        let corners = |pair: &[u32; 2]| pair.map(|t| triangles[t as usize]).concat();
        let pairs = || self.states.iter().flat_map(|state| &state.pairs).chain(&self.met);
        self.moved().into_iter().chain(pairs().flat_map(corners)).for_each(|v| first[v as usize] = v);
        for pair in pairs() {
            corners(pair).windows(2).for_each(|two| join(&mut first, two[0], two[1]));
        }
        for v in 0..vertices as u32 {
            for &k in ring.get(v as usize) {
                if k < v && first[v as usize] != NONE && first[k as usize] != NONE {
                    join(&mut first, v, k);
                }
            }
        }
        let (mut numbers, mut count) = (vec![NONE; vertices], 0);
        for v in 0..vertices as u32 {
            if first[v as usize] != NONE {
                let head = head(&mut first, v);
                if head == v {
                    numbers[v as usize] = count;
                    count += 1;
                }
                numbers[v as usize] = numbers[head as usize];
            }
        }
        numbers
    }
}

/// The first vertex of the set that `v` is in.
fn head(first: &mut [u32], mut v: u32) -> u32 {
    while first[v as usize] != v {
        first[v as usize] = first[first[v as usize] as usize];
        v = first[v as usize];
    }
    v
}

fn join(first: &mut [u32], a: u32, b: u32) {
    let (a, b) = (head(first, a), head(first, b));
    first[a.max(b) as usize] = a.min(b);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tangle_is_left_in_its_own_best_state() {
        // Four triangles that hang on nothing: the first two cross each other, and so do the others.
        let triangles = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]];
        let corners = |t: u32| [0, 1, 2].map(move |k| 3 * t + k);
        let neighbours = |t: u32| {
            corners(t)
                .into_iter()
                .flat_map(move |a| corners(t).into_iter().filter(move |b| *b != a).map(move |b| (a, b)))
        };
        let ring = Lists::group(12, &(0..4).flat_map(neighbours).collect::<Vec<_>>());
        let mut tangles = Tangles::default();
        let mut x = vec![Vec3::ZERO; 12];
        tangles.push(vec![[0, 1], [2, 3]], &[], &x, false);
        (x[0], x[6]) = (Vec3::X, Vec3::X);
        tangles.push(vec![[2, 3]], &[0, 6], &x, false);
        (x[0], x[6]) = (Vec3::Y, Vec3::Y);
        tangles.push(vec![[0, 1]], &[0, 6], &x, true);
        let mut x = vec![Vec3::ZERO; 12];
        let left = tangles.best(&triangles, &ring, &mut x);
        assert!(left.is_empty(), "{left:?}");
        assert_eq!((x[0], x[6]), (Vec3::X, Vec3::Y));
    }
}
