//! Where a surface passes through itself.

use super::bvh::{Aabb, Bvh};
use super::intersect::{QuickPlane, depth_sign, gap, segment_meets_triangle, triangles_meet};
use super::patches::{Patches, gather};
use glam::Vec3;

/// Pairs of triangles `[a, b]`, `a < b`, that meet; ascending.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Crossings {
    /// Pairs without a shared vertex.
    pub pairs: Vec<[u32; 2]>,
    /// Pairs with one shared vertex that meet elsewhere too: a fold within one ring of triangles.
    pub folds: Vec<[u32; 2]>,
}

impl Crossings {
    /// Sorts pairs that meet into pairs and folds.
    fn sort(&mut self, met: &[[u32; 2]], triangles: &[[u32; 3]]) {
        self.pairs.clear();
        self.folds.clear();
        for &[a, b] in met {
            match shared_vertices(triangles[a as usize], triangles[b as usize]) {
                Shared::None => self.pairs.push([a, b]),
                _ => self.folds.push([a, b]),
            }
        }
    }
}

/// Pairs of `triangles` that may meet before they count as a heap of triangles, not a skin: 40 for each triangle, and any
/// 100,000. Five layers on the same place have about 25 per triangle.
pub(crate) fn most_crossings(triangles: usize) -> usize {
    (40 * triangles).max(100_000)
}

/// Finds the triangles of a surface that meet each other; made once per surface, asked for every frame.
///
/// The answer is exact for the positions given. Neighbours over an edge are never reported. The surface must be
/// welded, or the two sides of every texture seam count as touching.
#[derive(Clone, Debug)]
pub struct SelfContact {
    triangles: Vec<[u32; 3]>,
    bvh: Bvh,
    patches: Patches,
    search: Search,
}

/// Scratch of the searches.
#[derive(Clone, Debug, Default)]
struct Search {
    /// Before they are sorted into pairs and folds.
    pairs: Vec<[u32; 2]>,
    /// One list per [`LISTED`] triangles, or more.
    found: Vec<Vec<[u32; 2]>>,
}

/// Listed triangles that a thread takes at a time.
const LISTED: usize = 64;
/// Close pairs of [`LISTED`] triangles at most: 100 for each. A few vertices that strayed kilometres away make everything else close
/// by comparison.
const MOST_CLOSE: usize = 100 * LISTED;

impl SelfContact {
    /// Prepares the search; `positions` should be a typical pose, such as the rest pose.
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let bvh = Bvh::over_triangles(positions, triangles);
        let patches = Patches::new(positions, triangles, &bvh);
        Self { triangles: triangles.to_vec(), patches, bvh, search: Search::default() }
    }

    /// The triangles that meet when the vertices are at `positions`.
    pub fn find(&mut self, positions: &[Vec3]) -> Crossings {
        self.fit(positions);
        let met = self.bvh.self_pairs(|a, b| meet(&self.triangles, positions, a, b));
        let mut found = Crossings::default();
        found.sort(&met, &self.triangles);
        found
    }

    /// As [`SelfContact::find`]; `None`, soon, if more than `most` pairs meet.
    pub(crate) fn find_up_to(&mut self, positions: &[Vec3], most: usize) -> Option<Crossings> {
        self.fit(positions);
        let met = self.bvh.self_pairs_up_to(most, |a, b| meet(&self.triangles, positions, a, b))?;
        let mut found = Crossings::default();
        found.sort(&met, &self.triangles);
        Some(found)
    }

    /// As [`SelfContact::find`], several times as fast, for surfaces in which a patch whose triangles all face one
    /// way does not cross itself: true of skin but for pieces that lie on each other and face the same way. Nor do two
    /// triangles of one ring fold that face the same way. What is found replaces what was in `found`, here and in the
    /// searches below.
    pub fn find_between_patches(&mut self, positions: &[Vec3], found: &mut Crossings) {
        self.find_between_patches_up_to(positions, usize::MAX, found);
    }

    /// As [`SelfContact::find_between_patches`]; false, soon, and nothing found if more than `most` pairs meet.
    pub(crate) fn find_between_patches_up_to(
        &mut self,
        positions: &[Vec3],
        most: usize,
        found: &mut Crossings,
    ) -> bool {
        let Self { triangles, patches, search, .. } = self;
        let keep = |a: u32, b: u32| {
            let normal = |t: u32| {
                let [p, q, r] = triangles[t as usize].map(|v| positions[v as usize]);
                (q - p).cross(r - p)
            };
            let look_alike = normal(a).dot(normal(b)) > 0.0;
            if look_alike { cross(triangles, positions, a, b) } else { meet(triangles, positions, a, b) }
        };
        let are_all = patches.pairs_up_to(positions, triangles, most, keep, &mut search.pairs);
        if !are_all {
            search.pairs.clear();
        }
        found.sort(&search.pairs, triangles);
        are_all
    }

    /// The pairs of [`SelfContact::find_between_patches`] without the folds, and those that do not meet, overlap in their boxes and are
    /// closer than `distance`.
    pub(crate) fn pairs_between_patches(
        &mut self,
        positions: &[Vec3],
        distance: f32,
        crossing: &mut Vec<[u32; 2]>,
        close: &mut Vec<[u32; 2]>,
    ) {
        let Self { triangles, patches, search, .. } = self;
        close.clear();
        let crosses = |a: u32, b: u32| cross(triangles, positions, a, b);
        if distance <= 0.0 {
            patches.pairs(positions, triangles, crosses, crossing);
            return;
        }
        let is_near = |a: u32, b: u32| crosses(a, b) || are_close(triangles, positions, a, b, distance);
        patches.pairs(positions, triangles, is_near, &mut search.pairs);
        crossing.clear();
        for &[a, b] in &search.pairs {
            if crosses(a, b) { crossing.push([a, b]) } else { close.push([a, b]) }
        }
    }

    /// The pairs of [`SelfContact::find`] with at least one triangle of the list, which must be ascending and hold all
    /// that have moved since the last search between patches, or the last of these.
    pub fn pairs_among(&mut self, positions: &[Vec3], list: &[u32], found: &mut Vec<[u32; 2]>) {
        self.follow(positions, list);
        self.among(positions, list, 0.0, usize::MAX, cross, found);
    }

    /// Tells of triangles that have moved since the last search and need not be in the list of the next one.
    pub fn follow(&mut self, positions: &[Vec3], list: &[u32]) {
        self.patches.fit_among(positions, &self.triangles, list);
    }

    /// As [`SelfContact::pairs_among`], the pairs that do not meet and are closer than `distance`; some are missing where a
    /// triangle is close to hundreds of others.
    pub(crate) fn close_pairs_among(
        &mut self,
        positions: &[Vec3],
        list: &[u32],
        distance: f32,
        found: &mut Vec<[u32; 2]>,
    ) {
        self.follow(positions, list);
        let are_close = |triangles: &[[u32; 3]], positions: &[Vec3], a: u32, b: u32| {
            are_close(triangles, positions, a, b, distance)
        };
        self.among(positions, list, distance, MOST_CLOSE, are_close, found);
    }

    /// The pairs for which `keep` holds of those with a triangle of the list whose boxes are closer than `distance`. Of every
    /// [`LISTED`] triangles no more than `most` pairs are found and no more than 20 times as many looked at.
    fn among(
        &mut self,
        positions: &[Vec3],
        list: &[u32],
        distance: f32,
        most: usize,
        keep: impl Fn(&[[u32; 3]], &[Vec3], u32, u32) -> bool + Sync,
        found: &mut Vec<[u32; 2]>,
    ) {
        let Self { triangles, patches, search, .. } = self;
        let of_triangles = |some: &[u32], found: &mut Vec<[u32; 2]>| {
            let mut looked_at = 0;
            for &a in some {
                let Aabb { low, high } = Aabb::around(&triangles[a as usize].map(|v| positions[v as usize]));
                let around = Aabb { low: low - distance, high: high + distance };
                patches.overlapping_while(positions, triangles, &around, |b| {
                    looked_at += 1;
                    // A pair within the list is found from its smaller triangle.
                    let skip = b == a || (b < a && list.binary_search(&b).is_ok());
                    if !skip && keep(triangles, positions, a.min(b), a.max(b)) {
                        found.push([a.min(b), a.max(b)]);
                    }
                    found.len() < most && looked_at < most.saturating_mul(20)
                });
            }
        };
        gather(list, LISTED, of_triangles, &mut search.found, found);
    }

    /// Fits the tree to moved vertices.
    pub fn fit(&mut self, positions: &[Vec3]) {
        self.bvh.refit_triangles(positions, &self.triangles);
    }

    /// The tree as left by the last [`SelfContact::find`] or [`SelfContact::fit`], for other questions about the same
    /// positions.
    pub fn bvh(&self) -> &Bvh {
        &self.bvh
    }

    /// The triangles, as given.
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }
}

/// A fixed pseudo-random offset for each of `count` vertices, at most `amount` along each axis.
///
/// Mirrored or flat surfaces hold triangles that touch without crossing; moved by such offsets (1e-5 of the
/// size is usual) they either cross or stay apart, and the count no longer depends on coincidence.
pub fn jitter(count: usize, amount: f32, seed: u64) -> Vec<Vec3> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(0x2545_F491_4F6C_DD1D);
    let mut next = || {
        // splitmix64
        state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^= z >> 31;
        ((z >> 40) as f32 / (1u64 << 23) as f32 - 1.0) * amount
    };
    (0..count).map(|_| Vec3::new(next(), next(), next())).collect()
}

/// Whether two triangles that share corner `i` of the first and `j` of the second meet elsewhere too.
#[inline]
fn folded(a: [Vec3; 3], i: usize, b: [Vec3; 3], j: usize) -> bool {
    let (edge_a, edge_b) = ([a[(i + 1) % 3], a[(i + 2) % 3]], [b[(j + 1) % 3], b[(j + 2) % 3]]);
    // With its two other corners on one side, a triangle touches the other's plane at the shared corner only.
    let surely_clear = |edge: [Vec3; 2], plane: [Vec3; 3]| {
        let plane = QuickPlane::new(plane);
        plane.side(edge[0]) * plane.side(edge[1]) > 0
    };
    if surely_clear(edge_a, b) || surely_clear(edge_b, a) {
        return false;
    }
    let clear =
        |edge: [Vec3; 2], plane: [Vec3; 3]| depth_sign(plane, edge[0]) * depth_sign(plane, edge[1]) > 0.0;
    !clear(edge_a, b)
        && !clear(edge_b, a)
        && (segment_meets_triangle(edge_a, b) || segment_meets_triangle(edge_b, a))
}

/// Whether two triangles without a shared vertex meet.
fn cross(triangles: &[[u32; 3]], positions: &[Vec3], a: u32, b: u32) -> bool {
    let (ta, tb) = (triangles[a as usize], triangles[b as usize]);
    let corners = |t: [u32; 3]| t.map(|v| positions[v as usize]);
    shared_vertices(ta, tb) == Shared::None
        && proper(ta)
        && proper(tb)
        && triangles_meet(corners(ta), corners(tb))
}

/// Whether two triangles without a shared vertex do not meet and are closer than `distance`.
fn are_close(triangles: &[[u32; 3]], positions: &[Vec3], a: u32, b: u32, distance: f32) -> bool {
    let [ta, tb] = [a, b].map(|t| triangles[t as usize]);
    if shared_vertices(ta, tb) != Shared::None || !proper(ta) || !proper(tb) {
        return false;
    }
    let [a, b] = [ta, tb].map(|t| t.map(|v| positions[v as usize]));
    // Most lie beside each other: apart along the line between their middles.
    let between = (b[0] + b[1] + b[2]) - (a[0] + a[1] + a[2]);
    let along = |t: [Vec3; 3]| t.map(|p| between.dot(p - a[0]));
    let ([a0, a1, a2], [b0, b1, b2]) = (along(a), along(b));
    let free = b0.min(b1).min(b2) - a0.max(a1).max(a2);
    if free > 0.0 && free * free > distance * distance * between.length_squared() {
        return false;
    }
    // Most others are far from one of the two planes.
    let beyond = |plane: [Vec3; 3], other: [Vec3; 3]| {
        let normal = (plane[1] - plane[0]).cross(plane[2] - plane[0]).normalize_or_zero();
        let at = other.map(|p| normal.dot(p - plane[0]));
        at.iter().all(|&h| h > distance) || at.iter().all(|&h| h < -distance)
    };
    !beyond(a, b) && !beyond(b, a) && (0.0..distance).contains(&gap(a, b).0)
}

/// Whether two triangles meet elsewhere than in what they share.
fn meet(triangles: &[[u32; 3]], positions: &[Vec3], a: u32, b: u32) -> bool {
    let (ta, tb) = (triangles[a as usize], triangles[b as usize]);
    let corners = |t: [u32; 3]| t.map(|v| positions[v as usize]);
    match shared_vertices(ta, tb) {
        Shared::None => proper(ta) && proper(tb) && triangles_meet(corners(ta), corners(tb)),
        Shared::One(i, j) => proper(ta) && proper(tb) && folded(corners(ta), i, corners(tb), j),
        Shared::More => false,
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Shared {
    None,
    /// The corner of each triangle that is the shared vertex.
    One(usize, usize),
    More,
}

#[inline]
fn shared_vertices(a: [u32; 3], b: [u32; 3]) -> Shared {
    let mut shared = Shared::None;
    for i in 0..3 {
        for j in 0..3 {
            if a[i] == b[j] {
                if shared != Shared::None {
                    return Shared::More;
                }
                shared = Shared::One(i, j);
            }
        }
    }
    shared
}

/// Whether the three vertices differ.
#[inline]
fn proper(t: [u32; 3]) -> bool {
    t[0] != t[1] && t[1] != t[2] && t[2] != t[0]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one_by_one(positions: &[Vec3], triangles: &[[u32; 3]]) -> Vec<[u32; 2]> {
        let n = triangles.len();
        let corners = |t: usize| triangles[t].map(|v| positions[v as usize]);
        (0..n)
            .flat_map(|i| (i + 1..n).map(move |j| (i, j)))
            .filter(|&(i, j)| shared_vertices(triangles[i], triangles[j]) == Shared::None)
            .filter(|&(i, j)| triangles_meet(corners(i), corners(j)))
            .map(|(i, j)| [i as u32, j as u32])
            .collect()
    }

    /// A square sheet of `n` by `n` cells.
    fn sheet(n: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let at = |i: u32, j: u32| i * (n + 1) + j;
        let step = 1.0 / n as f32;
        let positions =
            (0..=n).flat_map(|i| (0..=n).map(move |j| Vec3::new(i as f32, j as f32, 0.0) * step)).collect();
        let triangles = (0..n)
            .flat_map(|i| (0..n).map(move |j| (i, j)))
            .flat_map(|(i, j)| {
                let (a, b, c, d) = (at(i, j), at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
                [[a, b, c], [a, c, d]]
            })
            .collect();
        (positions, triangles)
    }

    #[test]
    fn sheets_that_all_but_touch_are_close_and_do_not_cross() {
        let (mut positions, mut triangles) = sheet(4);
        let count = positions.len() as u32;
        let lower: Vec<Vec3> = positions.iter().map(|p| *p + Vec3::new(0.03, 0.04, -1e-3)).collect();
        positions.extend(lower);
        triangles.extend(triangles.clone().into_iter().map(|[a, b, c]| [a + count, c + count, b + count]));
        let mut contact = SelfContact::new(&positions, &triangles);
        let all: Vec<u32> = (0..triangles.len() as u32).collect();
        let mut close = Vec::new();
        contact.close_pairs_among(&positions, &all, 0.5e-3, &mut close);
        assert!(close.is_empty());
        contact.close_pairs_among(&positions, &all, 2e-3, &mut close);
        assert!(close.len() > 32 && close.iter().all(|p| p[0] < 32 && p[1] >= 32), "{}", close.len());
        contact.pairs_among(&positions, &all, &mut close);
        assert!(close.is_empty());
    }

    #[test]
    fn crumpled_sheets_give_what_a_search_through_all_pairs_gives() {
        let (flat, triangles) = sheet(14);
        for (amount, seed) in [(0.02, 1), (0.1, 2), (0.4, 3)] {
            let crumpled: Vec<Vec3> =
                flat.iter().zip(jitter(flat.len(), amount, seed)).map(|(&p, j)| p + j).collect();
            let mut contact = SelfContact::new(&flat, &triangles);
            let found = contact.find(&crumpled);
            assert_eq!(found.pairs, one_by_one(&crumpled, &triangles));
            let (list, mut among): (Vec<u32>, _) =
                ((0..triangles.len() as u32).step_by(3).collect(), Vec::new());
            contact.pairs_between_patches(&crumpled, 0.0, &mut Vec::new(), &mut Vec::new());
            contact.pairs_among(&crumpled, &list, &mut among);
            let expected = found.pairs.iter().filter(|p| p.iter().any(|t| t % 3 == 0)).copied();
            assert_eq!(among, expected.collect::<Vec<_>>());
            assert!(amount < 0.1 || !found.pairs.is_empty());
        }
    }

    #[test]
    fn mirrored_and_flat_folded_sheets_give_what_a_search_through_all_pairs_gives() {
        let (flat, triangles) = sheet(8);
        // Folded shut along the middle: every triangle lies on its mirror image, in one plane, vertex on vertex.
        let shut: Vec<Vec3> = flat.iter().map(|p| Vec3::new((p.x - 0.5).abs(), p.y, 0.0)).collect();
        // A roof that passes through its own mirror image.
        let crossed: Vec<Vec3> = flat
            .iter()
            .map(|p| Vec3::new((p.x - 0.5).abs(), p.y, (p.x - 0.5) * ((p.x - 0.5).abs() - 0.3)))
            .collect();
        for positions in [shut, crossed] {
            let found = SelfContact::new(&flat, &triangles).find(&positions);
            assert_eq!(found.pairs, one_by_one(&positions, &triangles));
            assert!(!found.pairs.is_empty());
            // Both halves face different ways, so no patch holds two triangles that meet.
            let mut contact = SelfContact::new(&flat, &triangles);
            let (mut between, mut crossing) = (Crossings::default(), Vec::new());
            contact.find_between_patches(&positions, &mut between);
            assert_eq!(between, found);
            contact.pairs_between_patches(&positions, 0.0, &mut crossing, &mut Vec::new());
            assert_eq!(crossing, found.pairs);
        }
    }

    #[test]
    fn between_patches_of_a_bent_tube_nothing_is_missed() {
        // Each end turned about the middle as far as its side of the joint says, as linear blending does it.
        let (rings, around) = (60, 24);
        let at = |r: u32, a: u32| r * around + a % around;
        let triangles: Vec<[u32; 3]> = (0..rings - 1)
            .flat_map(|r| (0..around).map(move |a| (r, a)))
            .flat_map(|(r, a)| {
                let (p, q, s, t) = (at(r, a), at(r, a + 1), at(r + 1, a + 1), at(r + 1, a));
                [[p, q, s], [p, s, t]]
            })
            .collect();
        let straight: Vec<Vec3> = (0..rings)
            .flat_map(|r| (0..around).map(move |a| (r as f32 / rings as f32 - 0.5, a as f32)))
            .map(|(z, a)| {
                let angle = a / around as f32 * std::f32::consts::TAU;
                Vec3::new(0.12 * angle.cos(), 0.12 * angle.sin(), z)
            })
            .collect();
        let (mut contact, mut crossing) = (SelfContact::new(&straight, &triangles), Vec::new());
        for degrees in [60.0f32, 120.0, 150.0, 170.0] {
            let turn = glam::Quat::from_rotation_x(degrees.to_radians());
            let bent: Vec<Vec3> = straight
                .iter()
                .zip(jitter(straight.len(), 1e-5, 7))
                .map(|(&p, j)| p.lerp(turn * p, (0.5 + 8.0 * p.z).clamp(0.0, 1.0)) + j)
                .collect();
            let found = contact.find(&bent);
            contact.pairs_between_patches(&bent, 0.0, &mut crossing, &mut Vec::new());
            assert_eq!(crossing, found.pairs, "{degrees} degrees");
            assert!(
                degrees < 100.0 || found.pairs.len() > 20,
                "{} pairs at {degrees} degrees",
                found.pairs.len()
            );
        }
    }

    #[test]
    fn a_sheet_bent_over_its_middle_line_touches_only_at_shared_vertices() {
        let (flat, triangles) = sheet(8);
        let roof: Vec<Vec3> =
            flat.iter().map(|p| Vec3::new((p.x - 0.5).abs(), p.y, (p.x - 0.5) * 0.2)).collect();
        assert_eq!(SelfContact::new(&flat, &triangles).find(&roof), Crossings::default());
    }

    #[test]
    fn a_fold_within_one_ring_is_told_from_a_pair_of_strangers() {
        let positions = [Vec3::ZERO, Vec3::X, Vec3::Y, Vec3::new(0.3, 0.3, -1.0), Vec3::new(0.3, 0.3, 1.0)];
        let found = SelfContact::new(&positions, &[[0, 1, 2], [0, 3, 4]]).find(&positions);
        assert_eq!((found.pairs.len(), found.folds.len()), (0, 1));
    }
}
