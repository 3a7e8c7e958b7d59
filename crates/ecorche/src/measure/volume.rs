//! Signed volume of the whole surface and of its parts.
//!
//! A part is open where it borders other parts, so its volume needs lids. Each rim of a part (a connected set
//! of border edges) is closed by a fan to the middle of the rim's vertices, in every pose alike. The volume is
//! then that of a closed body: moving or turning the character does not change it, and two parts with a common
//! rim share the lid, so that nothing is counted twice. Where three or more parts meet in one rim their lids
//! differ, and the parts sum to the whole only approximately.
//!
//! A part that is more a patch than a body (a shoulder blade, a strip of palm) has no meaningful volume: what its
//! lids enclose is arbitrary. Parts whose lids are larger than 0.7 of their skin are left out, as are tiny ones. A tube
//! must be about 1.5 radii long to count; a flat patch has lids as large as its skin.
//!
//! Holes of the surface itself get the same lids. Signed volume counts overlap twice:
//! a limb that sinks into another loses nothing by this figure. The space that the body fills counts it once: parallel
//! rays through the body, on each the length along which the winding number is above zero. Its error, a few
//! thousandths, depends on the number of rays.

use glam::{DVec3, Vec3};
use std::collections::BTreeMap;

/// A fan that closes one rim.
#[derive(Clone, Debug)]
struct Lid {
    /// Border edges, in the direction that faces the fan outward.
    edges: Vec<[u32; 2]>,
    /// Their vertices, each once.
    vertices: Vec<u32>,
}

impl Lid {
    fn middle(&self, at: impl Fn(u32) -> DVec3) -> DVec3 {
        self.vertices.iter().map(|&v| at(v)).sum::<DVec3>() / self.vertices.len() as f64
    }
}

/// A part's own triangles and lids.
#[derive(Clone, Debug, Default)]
struct Body {
    triangles: Vec<[u32; 3]>,
    lids: Vec<Lid>,
}

impl Body {
    fn new(triangles: Vec<[u32; 3]>) -> Self {
        let lids = lids(&triangles);
        Self { triangles, lids }
    }

    /// Area of the lids over that of the triangles.
    fn openness(&self, positions: &[Vec3]) -> f64 {
        let at = |v: u32| positions[v as usize].as_dvec3();
        let area = |a: DVec3, b: DVec3, c: DVec3| (b - a).cross(c - a).length();
        let skin: f64 = self.triangles.iter().map(|t| area(at(t[0]), at(t[1]), at(t[2]))).sum();
        let lid_area = |lid: &Lid| -> f64 {
            let middle = lid.middle(at);
            lid.edges.iter().map(|e| area(at(e[0]), at(e[1]), middle)).sum()
        };
        self.lids.iter().map(lid_area).sum::<f64>() / skin
    }

    fn volume(&self, positions: &[Vec3]) -> f64 {
        let Some(first) = self.triangles.first() else { return 0.0 };
        // Relative to the body, so that rounding does not show on characters far from the origin.
        let origin = positions[first[0] as usize].as_dvec3();
        let at = |v: u32| positions[v as usize].as_dvec3() - origin;
        let mut six_times: f64 = self.triangles.iter().map(|t| at(t[0]).dot(at(t[1]).cross(at(t[2])))).sum();
        for lid in &self.lids {
            let middle = lid.middle(at);
            six_times += lid.edges.iter().map(|e| at(e[0]).dot(at(e[1]).cross(middle))).sum::<f64>();
        }
        six_times / 6.0
    }
}

/// Rays through the box around a body.
const RAYS: f64 = 60_000.0;
/// Hits of all rays at most: 80 on each. More is a heap of triangles that fills no space.
const MOST_HITS: f64 = 80.0 * RAYS;
/// Rays through the boxes of all triangles at most, the same way.
const MOST_TESTS: f64 = 2000.0 * RAYS;

impl Body {
    /// Every triangle of skin and lids, with numbers that lids do not share with the skin.
    fn closed(&self, positions: &[Vec3]) -> Vec<[(usize, DVec3); 3]> {
        let at = |v: u32| (v as usize, positions[v as usize].as_dvec3());
        let mut all: Vec<_> = self.triangles.iter().map(|t| t.map(at)).collect();
        for (lid, number) in self.lids.iter().zip(positions.len()..) {
            let middle = (number, lid.middle(|v| at(v).1));
            all.extend(lid.edges.iter().map(|&[a, b]| [at(a), at(b), middle]));
        }
        all
    }

    /// Volume inside, overlap counted once, cubic metres; 0 for a heap of triangles.
    fn filled(&self, positions: &[Vec3]) -> f64 {
        let triangles = self.closed(positions);
        let corners = || triangles.iter().flatten().map(|corner| corner.1);
        let low = corners().fold(DVec3::INFINITY, DVec3::min);
        let size = corners().fold(DVec3::NEG_INFINITY, DVec3::max) - low;
        let step = (size.y * size.z / RAYS).sqrt();
        if !(step > 0.0 && step.is_finite()) {
            return 0.0;
        }
        let (mut hit_area, mut box_area) = (0.0, 0.0);
        for corners in &triangles {
            let [a, b, c] = corners.map(|corner| corner.1);
            let extent = a.max(b).max(c) - a.min(b).min(c);
            hit_area += 0.5 * (b - a).cross(c - a).x.abs();
            box_area += extent.y * extent.z;
        }
        if hit_area > MOST_HITS * step * step || box_area > MOST_TESTS * step * step {
            return 0.0;
        }
        let columns = (size.z / step).ceil() as usize;
        // Off the middle, where regular meshes have their edges.
        let ray = |i: usize, low: f64| low + (i as f64 + 0.381_966) * step;
        let mut hits: Vec<(usize, f64, i32)> = Vec::new();
        for corners in &triangles {
            let [a, b, c] = corners.map(|corner| corner.1);
            let normal = (b - a).cross(c - a);
            if normal.x == 0.0 {
                continue;
            }
            let (least, most) = (a.min(b).min(c), a.max(b).max(c));
            let range = |least: f64, most: f64, low: f64| {
                let first = ((least - low) / step - 0.4).floor().max(0.0) as usize;
                first..=((most - low) / step).ceil().max(0.0) as usize
            };
            for j in range(least.y, most.y, low.y) {
                for k in range(least.z, most.z, low.z).take_while(|&k| k < columns) {
                    let (y, z) = (ray(j, low.y), ray(k, low.z));
                    // The same decision for both triangles on an edge.
                    let is_left = |i: usize| {
                        let ((m, p), (n, q)) = (corners[i], corners[(i + 1) % 3]);
                        let (from, to) = if m < n { (p, q) } else { (q, p) };
                        let turn = (to.y - from.y) * (z - from.z) - (to.z - from.z) * (y - from.y);
                        (turn > 0.0) == (m < n)
                    };
                    if (0..3).all(|i| is_left(i) == (normal.x > 0.0)) {
                        let x = a.x - (normal.y * (y - a.y) + normal.z * (z - a.z)) / normal.x;
                        hits.push((j * columns + k, x, if normal.x < 0.0 { 1 } else { -1 }));
                    }
                }
            }
        }
        hits.sort_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(b.2.cmp(&a.2)));
        let along = hits.chunk_by(|a, b| a.0 == b.0).map(|hits| {
            let (mut winding, mut length) = (0, 0.0);
            for pair in hits.windows(2) {
                winding += pair[0].2;
                length += if winding > 0 { pair[1].1 - pair[0].1 } else { 0.0 };
            }
            length
        });
        along.sum::<f64>() * step * step
    }
}

/// Volumes of a surface and its parts, prepared for many poses.
#[derive(Clone, Debug)]
pub(super) struct PartVolumes {
    whole: Body,
    parts: Vec<Body>,
    pub(super) rest_whole: f64,
    rest_filled: f64,
    /// `None` for parts without a meaningful volume.
    rest_parts: Vec<Option<f64>>,
}

/// A part whose lids are larger than this share of its skin is a patch.
const PATCH: f64 = 0.7;
/// A part with less than this share of the whole volume is too small to judge.
const TINY: f64 = 1e-3;

/// Volumes of one pose against rest.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct VolumeRatios {
    /// Whole volume over its rest volume; 1 for a surface that holds none at rest.
    pub whole: f64,
    /// Space filled, what overlaps counted once, over that at rest; 1 for a surface that fills none.
    pub filled: f64,
    /// Volume of each part over its rest volume; `None` for a part without a meaningful volume.
    pub parts: Vec<Option<f64>>,
}

impl PartVolumes {
    /// Splits the surface by `part_of_vertex`; a triangle goes with most of its corners, or with the first.
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]], part_of_vertex: &[u32]) -> Self {
        let count = part_of_vertex.iter().max().map_or(0, |&p| p as usize + 1);
        let mut by_part: Vec<Vec<[u32; 3]>> = vec![Vec::new(); count];
        for &t in triangles {
            by_part[part_of_triangle(t, part_of_vertex) as usize].push(t);
        }
        let whole = Body::new(triangles.to_vec());
        let parts: Vec<Body> = by_part.into_iter().map(Body::new).collect();
        let rest_whole = whole.volume(positions);
        let rest_parts = parts.iter().map(|part| {
            let volume = part.volume(positions);
            (volume.abs() > rest_whole.abs() * TINY && part.openness(positions) <= PATCH).then_some(volume)
        });
        let rest_parts = rest_parts.collect();
        let rest_filled = whole.filled(positions);
        Self { whole, parts, rest_whole, rest_filled, rest_parts }
    }

    /// Compares a pose with rest.
    pub fn ratios(&self, positions: &[Vec3]) -> VolumeRatios {
        let parts = self.parts.iter().zip(&self.rest_parts);
        let parts = parts.map(|(body, rest)| rest.map(|rest| body.volume(positions) / rest)).collect();
        let whole = if self.rest_whole == 0.0 { 1.0 } else { self.whole.volume(positions) / self.rest_whole };
        let filled =
            if self.rest_filled == 0.0 { 1.0 } else { self.whole.filled(positions) / self.rest_filled };
        VolumeRatios { whole, filled, parts }
    }
}

/// The part of most corners, or of the first if all differ.
pub(super) fn part_of_triangle(t: [u32; 3], part_of_vertex: &[u32]) -> u32 {
    let [a, b, c] = t.map(|v| part_of_vertex[v as usize]);
    if b == c { b } else { a }
}

/// Fans for the edges that the triangles traverse more often one way than the other.
fn lids(triangles: &[[u32; 3]]) -> Vec<Lid> {
    let mut net: BTreeMap<(u32, u32), i32> = BTreeMap::new();
    for t in triangles {
        for k in 0..3 {
            let (a, b) = (t[k], t[(k + 1) % 3]);
            if a != b {
                *net.entry((a.min(b), a.max(b))).or_default() += if a < b { 1 } else { -1 };
            }
        }
    }
    net.retain(|_, n| *n != 0);
    // Number the rims: every vertex points to the lowest vertex of its rim.
    let mut rim: BTreeMap<u32, u32> = net.keys().flat_map(|&(a, b)| [(a, a), (b, b)]).collect();
    let find = |rim: &BTreeMap<u32, u32>, mut v: u32| {
        while rim[&v] != v {
            v = rim[&v];
        }
        v
    };
    for &(a, b) in net.keys() {
        let (ra, rb) = (find(&rim, a), find(&rim, b));
        rim.insert(ra.max(rb), ra.min(rb));
        // Shortened paths keep long rims from being walked again and again.
        rim.insert(a, ra.min(rb));
        rim.insert(b, ra.min(rb));
    }
    let mut by_rim: BTreeMap<u32, Lid> = BTreeMap::new();
    for &v in rim.keys() {
        let lid = by_rim.entry(find(&rim, v)).or_insert(Lid { edges: Vec::new(), vertices: Vec::new() });
        lid.vertices.push(v);
    }
    for (&(a, b), &n) in &net {
        if let Some(lid) = by_rim.get_mut(&find(&rim, a)) {
            // Against the triangles' own direction.
            let edge = if n > 0 { [b, a] } else { [a, b] };
            lid.edges.extend(std::iter::repeat_n(edge, n.unsigned_abs() as usize));
        }
    }
    by_rim.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Axis-aligned box; triangles face outward.
    fn block(low: Vec3, high: Vec3, first: u32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
        let corner = |i: u32| {
            let pick = |bit: u32, axis: usize| if i >> bit & 1 == 0 { low[axis] } else { high[axis] };
            Vec3::new(pick(0, 0), pick(1, 1), pick(2, 2))
        };
        let quads = [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];
        let triangles = quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]);
        ((0..8).map(corner).collect(), triangles.map(|t| t.map(|v| v + first)).collect())
    }

    #[test]
    fn space_in_two_boxes_at_once_is_filled_once() {
        let (mut positions, mut triangles) = block(Vec3::ZERO, Vec3::ONE, 0);
        let (more, faces) = block(Vec3::splat(5.0), Vec3::splat(6.0), 8);
        positions.extend(more);
        triangles.extend(faces);
        let volumes = PartVolumes::new(&positions, &triangles, &[0; 16]);
        assert!((volumes.rest_whole - 2.0).abs() < 1e-6 && (volumes.rest_filled - 2.0).abs() < 0.02);
        // The second pushed halfway into the first.
        let moved: Vec<Vec3> =
            positions.iter().map(|&p| if p.x > 2.0 { p - Vec3::new(4.5, 5.0, 5.0) } else { p }).collect();
        let ratios = volumes.ratios(&moved);
        assert!((ratios.whole - 1.0).abs() < 1e-6, "signed volume sees nothing");
        assert!((ratios.filled - 0.75).abs() < 0.01, "{}", ratios.filled);
    }

    #[test]
    fn a_hole_is_closed_by_its_lid() {
        let (positions, mut triangles) = block(Vec3::ZERO, Vec3::ONE, 0);
        triangles.truncate(10);
        let volumes = PartVolumes::new(&positions, &triangles, &[0; 8]);
        assert!((volumes.rest_filled - 1.0).abs() < 0.02, "{}", volumes.rest_filled);
    }
}
