//! The states that untangling goes through, and of every tangle the best of them.
//!
//! A hand that nothing can part goes on being pushed while a knee has long come apart, and a round that is good for the
//! one is bad for the other. Tangles are told apart by the skin that was moved: what hangs together is one.
//!
//! Smoothing wears skin away, and a paw worn to a thread crosses nothing. So of each part the area is watched that a tangle has
//! cost it; one that costs too much is given up.

use crate::geom::adjacency::Lists;
use glam::Vec3;

/// Most that a tangle may cost if nothing crosses afterwards. The thumb of the hand sample loses 0.77 in its fist, held by four
/// fingers; the paws that the running fox drives through its own legs are separated at 0.89 and are gone then. The cylinder bent
/// by 170 degrees and twisted by 80 loses 0.22 of its skin; without a limit the beagle's chest, when its front legs curl up through
/// it, shrinks to a thread.
const MOST_LOST_IF_FREE: Lost = Lost { of_part: 0.85, of_skin: 0.3 };
/// And if something still does. At 0.6 of a part the beagle loses more volume than with linear skinning, at 0.5 Geno's hands keep half as
/// many crossings again; at 0.27 of the skin Rocketbox 16 loses more volume than with linear skinning, at 0.25 it keeps a fifth more crossings.
const MOST_LOST_IF_CROSSING: Lost = Lost { of_part: 0.58, of_skin: 0.265 };

const NONE: u32 = u32::MAX;

/// The surface, where it was when the frame's untangling began, and where this start of it does.
pub(super) struct Skin<'a> {
    pub triangles: &'a [[u32; 3]],
    pub triangles_of_vertex: &'a Lists,
    pub vertex_ring: &'a Lists,
    pub part_of_vertex: &'a [u32],
    pub before: &'a [Vec3],
}

impl Skin<'_> {
    fn part(&self, t: u32) -> u32 {
        self.part_of_vertex[self.triangles[t as usize][0] as usize]
    }

    fn area(&self, t: u32, x: &[Vec3]) -> f32 {
        let [a, b, c] = self.triangles[t as usize].map(|v| x[v as usize]);
        0.5 * (b - a).cross(c - a).length()
    }
}

/// Area that a tangle, given by one of its vertices, has cost a part.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Cost {
    tangle: u32,
    part: u32,
    area: f32,
}

/// What a tangle has cost: the largest share of any part's area, and the share of the whole skin's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Lost {
    of_part: f32,
    of_skin: f32,
}

impl Lost {
    fn add(&mut self, cost: &Cost, areas: &[f32], whole: f32) {
        let share = |area: f32| cost.area / area.max(f32::MIN_POSITIVE);
        self.of_part = self.of_part.max(areas.get(cost.part as usize).map_or(0.0, |&area| share(area)));
        self.of_skin += share(whole);
    }

    fn is_within(&self, most: Self) -> bool {
        self.of_part <= most.of_part && self.of_skin <= most.of_skin
    }
}

/// Where the lists of a state end.
#[derive(Clone, Copy, Debug, Default)]
struct End {
    pairs: usize,
    moved: usize,
    costs: usize,
}

/// A tangle in one of its states, and in the best so far.
#[derive(Clone, Copy, Debug, Default)]
struct Standing {
    crossing: usize,
    lost: Lost,
    fewest: usize,
    /// The number of the best state.
    best: usize,
}

/// The tangles of one frame, and the states they went through.
#[derive(Clone, Debug, Default)]
pub(super) struct Tangles {
    /// Of each vertex: one of the same tangle that is smaller, or itself; or `NONE`.
    first: Vec<u32>,
    /// Vertices that are in a tangle, as they came.
    members: Vec<u32>,
    /// Tangles that are left alone, by one of their vertices.
    given_up: Vec<u32>,
    /// Of each part: its area before.
    areas: Vec<f32>,
    /// The area of the whole skin before.
    area: f32,
    states: Vec<End>,
    /// Of every state: the pairs that cross.
    pairs: Vec<[u32; 2]>,
    /// Of every state: where the vertices are that have moved since the last one.
    moved: Vec<(u32, Vec3)>,
    /// Of every state: what each tangle has cost each part.
    costs: Vec<Cost>,
    /// Scratch of [`Tangles::best`]: of the vertices that stand for tangles, and of one state.
    standings: Vec<Standing>,
    costs_here: Vec<Cost>,
}

impl Tangles {
    /// Forgets the last frame and begins one in which these pairs cross.
    pub fn begin(&mut self, skin: &Skin, parts: usize, pairs: &[[u32; 2]]) {
        self.members.iter().for_each(|&v| self.first[v as usize] = NONE);
        self.first.resize(skin.before.len(), NONE);
        self.standings.resize(skin.before.len(), Standing::default());
        self.areas.clear();
        self.areas.resize(parts, 0.0);
        self.area = 0.0;
        for t in 0..skin.triangles.len() as u32 {
            let area = skin.area(t, skin.before);
            self.area += area;
            if let Some(of_part) = self.areas.get_mut(skin.part(t) as usize) {
                *of_part += area;
            }
        }
        self.members.clear();
        self.given_up.clear();
        self.states.clear();
        self.pairs.clear();
        self.moved.clear();
        self.costs.clear();
        self.push(skin, pairs, &[], skin.before);
    }

    /// The next state: what crosses in it and which vertices have moved since the last.
    pub fn push(&mut self, skin: &Skin, pairs: &[[u32; 2]], moved: &[u32], positions: &[Vec3]) {
        self.join(skin, pairs, moved);
        self.pairs.extend_from_slice(pairs);
        self.moved.extend(moved.iter().map(|&v| (v, positions[v as usize])));
        let begin = self.costs.len();
        self.count_costs(skin, positions);
        self.states.push(End { pairs: self.pairs.len(), moved: self.moved.len(), costs: self.costs.len() });
        for costs in self.costs[begin..].chunk_by(|a, b| a.tangle == b.tangle) {
            let mut lost = Lost::default();
            costs.iter().for_each(|cost| lost.add(cost, &self.areas, self.area));
            if !lost.is_within(MOST_LOST_IF_FREE) && !self.given_up.contains(&costs[0].tangle) {
                self.given_up.push(costs[0].tangle);
            }
        }
    }

    /// Takes all that hangs together by these pairs and vertices for one.
    pub fn join(&mut self, skin: &Skin, pairs: &[[u32; 2]], moved: &[u32]) {
        let Self { first, members, .. } = self;
        let mut add = |first: &mut [u32], v: u32| {
            if first[v as usize] == NONE {
                first[v as usize] = v;
                members.push(v);
            }
        };
        for pair in pairs {
            let [a, b] = pair.map(|t| skin.triangles[t as usize]);
            for v in a.into_iter().chain(b) {
                add(first, v);
                join(first, a[0], v);
            }
        }
        moved.iter().for_each(|&v| add(first, v));
        let corners = pairs.iter().flatten().flat_map(|&t| skin.triangles[t as usize]);
        for v in corners.chain(moved.iter().copied()) {
            for &k in skin.vertex_ring.get(v as usize) {
                if first[k as usize] != NONE {
                    join(first, v, k);
                }
            }
        }
    }

    /// Lists what every tangle has cost every part.
    fn count_costs(&mut self, skin: &Skin, positions: &[Vec3]) {
        let Self { first, members, costs, .. } = self;
        let begin = costs.len();
        for &v in members.iter() {
            let tangle = head(first, v);
            for &t in skin.triangles_of_vertex.get(v as usize) {
                // Once, for the smallest of its corners that are in; they hang together.
                if skin.triangles[t as usize].iter().all(|&k| k >= v || first[k as usize] == NONE) {
                    let area = skin.area(t, skin.before) - skin.area(t, positions);
                    costs.push(Cost { tangle, part: skin.part(t), area });
                }
            }
        }
        let summed = sum_up(&mut costs[begin..]);
        costs.truncate(begin + summed);
    }

    /// Whether the tangle of a pair is given up.
    pub fn is_given_up(&mut self, skin: &Skin, pair: [u32; 2]) -> bool {
        let first = &mut self.first;
        let tangle = head(first, skin.triangles[pair[0] as usize][0]);
        self.given_up.iter().any(|&v| head(first, v) == tangle)
    }

    /// The vertices that are in a tangle.
    pub fn members(&self) -> &[u32] {
        &self.members
    }

    /// Puts every tangle of `positions`, which are those of the first state, into the state in which the fewest of its pairs
    /// cross, and of equal ones the first, or the last if none do; states that cost too much do not count. `left` gets what still crosses, ascending.
    pub fn best(&mut self, skin: &Skin, positions: &mut [Vec3], left: &mut Vec<[u32; 2]>) {
        let Self { first, members, areas, area, states, pairs, moved, costs, standings, costs_here, .. } =
            self;
        let mut tangle = |v: u32| head(first, v) as usize;
        let begins = || std::iter::once(End::default()).chain(states.iter().copied());
        for (number, (begin, end)) in begins().zip(states.iter()).enumerate() {
            for &v in members.iter() {
                let standing = &mut standings[v as usize];
                (standing.crossing, standing.lost) = (0, Lost::default());
            }
            for pair in &pairs[begin.pairs..end.pairs] {
                standings[tangle(skin.triangles[pair[0] as usize][0])].crossing += 1;
            }
            costs_here.clear();
            let of_tangle = |&cost: &Cost| Cost { tangle: tangle(cost.tangle) as u32, ..cost };
            costs_here.extend(costs[begin.costs..end.costs].iter().map(of_tangle));
            let summed = sum_up(costs_here);
            for cost in &costs_here[..summed] {
                standings[cost.tangle as usize].lost.add(cost, areas, *area);
            }
            for &v in members.iter() {
                let standing = &mut standings[v as usize];
                let (most, is_better) = match standing.crossing {
                    0 => (MOST_LOST_IF_FREE, true),
                    crossing => (MOST_LOST_IF_CROSSING, crossing < standing.fewest),
                };
                if number == 0 || (is_better && standing.lost.is_within(most)) {
                    (standing.fewest, standing.best) = (standing.crossing, number);
                }
            }
        }
        left.clear();
        for (number, (begin, end)) in begins().zip(states.iter()).enumerate() {
            for &(v, p) in &moved[begin.moved..end.moved] {
                if number <= standings[tangle(v)].best {
                    positions[v as usize] = p;
                }
            }
            let is_left =
                |pair: &&[u32; 2]| number == standings[tangle(skin.triangles[pair[0] as usize][0])].best;
            left.extend(pairs[begin.pairs..end.pairs].iter().filter(is_left));
        }
        left.sort_unstable();
    }
}

/// Adds up what the same tangle costs the same part; returns how many are left, in front.
fn sum_up(costs: &mut [Cost]) -> usize {
    // Not a stable sort, which would allocate: the areas of equals are put in order too.
    costs
        .sort_unstable_by(|a, b| (a.tangle, a.part).cmp(&(b.tangle, b.part)).then(a.area.total_cmp(&b.area)));
    let mut count = 0;
    for i in 0..costs.len() {
        let next = costs[i];
        if count > 0 && (costs[count - 1].tangle, costs[count - 1].part) == (next.tangle, next.part) {
            costs[count - 1].area += next.area;
        } else {
            costs[count] = next;
            count += 1;
        }
    }
    count
}

/// The first vertex of the tangle that `v` is in.
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

    const TRIANGLES: [[u32; 3]; 4] = [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]];

    /// Four triangles that hang on nothing, each a part: the first two cross each other, and so do the others.
    fn with_skin(test: impl FnOnce(&Skin)) {
        let corners = |t: u32| [0, 1, 2].map(move |k| 3 * t + k);
        let neighbours = |t: u32| {
            corners(t)
                .into_iter()
                .flat_map(move |a| corners(t).into_iter().filter(move |b| *b != a).map(move |b| (a, b)))
        };
        let ring = Lists::group(12, &(0..4).flat_map(neighbours).collect::<Vec<_>>());
        let around: Vec<(u32, u32)> = (0..4).flat_map(|t| corners(t).map(|v| (v, t))).collect();
        let before = [Vec3::ZERO, Vec3::X, Vec3::Y].repeat(4);
        test(&Skin {
            triangles: &TRIANGLES,
            triangles_of_vertex: &Lists::group(12, &around),
            vertex_ring: &ring,
            part_of_vertex: &(0..12).map(|v| v / 3).collect::<Vec<u32>>(),
            before: &before,
        });
    }

    #[test]
    fn each_tangle_is_left_in_its_own_best_state() {
        with_skin(|skin| {
            let mut tangles = Tangles::default();
            for _ in 0..2 {
                let mut x = skin.before.to_vec();
                tangles.begin(skin, 4, &[[0, 1], [2, 3]]);
                (x[0], x[6]) = (0.1 * Vec3::X, 0.1 * Vec3::X);
                tangles.push(skin, &[[2, 3]], &[0, 6], &x);
                (x[0], x[6]) = (0.1 * Vec3::Y, 0.1 * Vec3::Y);
                tangles.push(skin, &[[0, 1]], &[0, 6], &x);
                let (mut x, mut left) = (skin.before.to_vec(), Vec::new());
                tangles.best(skin, &mut x, &mut left);
                assert!(left.is_empty(), "{left:?}");
                assert_eq!((x[0], x[6]), (0.1 * Vec3::X, 0.1 * Vec3::Y));
            }
        });
    }

    #[test]
    fn a_tangle_that_wears_a_part_away_is_given_up() {
        with_skin(|skin| {
            let mut tangles = Tangles::default();
            let mut x = skin.before.to_vec();
            tangles.begin(skin, 4, &[[0, 1], [2, 3]]);
            // The first triangle shrinks to a twentieth, the third by a tenth.
            (x[1], x[7]) = (0.05 * Vec3::X, 0.9 * Vec3::X);
            tangles.push(skin, &[], &[1, 7], &x);
            assert!(tangles.is_given_up(skin, [0, 1]) && !tangles.is_given_up(skin, [2, 3]));
            let (mut x, mut left) = (skin.before.to_vec(), Vec::new());
            tangles.best(skin, &mut x, &mut left);
            assert_eq!(left, [[0, 1]]);
            assert_eq!((x[1], x[7]), (Vec3::X, 0.9 * Vec3::X));
        });
    }
}
