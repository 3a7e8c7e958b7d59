//! Even triangles on a smooth surface: split, collapse and flip edges towards a wanted length, slide the
//! vertices, and put them back on the surface.
//!
//! Based on: Botsch, Kobbelt. A remeshing approach to multiresolution modeling. 2004.
//!
//! Differs in: the surface is the zero set of a function, so vertices are projected on the real shape and
//! nothing is lost to repeated resampling; the wanted length may vary over space; the number of vertices
//! asked for is met exactly; an open rim in the plane x = 0 stays in it, so that half of a symmetric
//! surface can be remeshed and mirrored.
//!
//! Limit: topology is the input's. Holes are not closed and parts are not joined or cut.

use super::TriMesh;
use glam::Vec3;
use rayon::prelude::*;

/// What the surface should look like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RemeshSettings {
    /// Number of vertices wanted. With `mirrored` it counts the whole figure, both halves.
    pub vertices: usize,
    /// Rounds of splitting, collapsing, flipping and sliding. More gives evener triangles; 8 is even,
    /// below 5 remains of the input's pattern show.
    pub rounds: usize,
    /// The input is the half x >= 0 of a symmetric surface and its open rim lies in the plane x = 0.
    /// The result is the whole: vertices of the half first, then the mirrored ones.
    pub mirrored: bool,
}

impl Default for RemeshSettings {
    fn default() -> Self {
        Self { vertices: 10_000, rounds: 8, mirrored: false }
    }
}

/// Covers the surface `value == 0` near `mesh` with even triangles.
///
/// `mesh` is a manifold triangulation of the surface, any quality, e.g. from
/// [`polygonise`](super::polygonise::polygonise). `value` grows outward at a slope of about one.
/// `fineness(p)` is the wanted edge length at `p` relative to elsewhere; a constant gives even triangles.
/// The number of vertices is met exactly unless the surface cannot be thinned that far without changing
/// its topology.
pub fn remesh(
    mesh: &TriMesh,
    value: impl Fn(Vec3) -> f32 + Sync,
    fineness: impl Fn(Vec3) -> f32 + Sync,
    settings: &RemeshSettings,
) -> TriMesh {
    let mut sheet = Sheet::new(mesh, &fineness, settings.mirrored);
    if mesh.triangles.is_empty() {
        return TriMesh::default();
    }
    let mut length = sheet.length_for(settings.vertices);
    for round in 0..settings.rounds {
        sheet.fineness_everywhere(&fineness);
        sheet.split_longer_than(length * 4.0 / 3.0);
        sheet.collapse_shorter_than(length * 0.8, length * 4.0 / 3.0, &value);
        sheet.even_out_valences();
        // Early rounds only thin the sheet out; evenness is won in the late ones.
        sheet.slide(if 2 * round < settings.rounds { 1 } else { 2 }, &value);
        // The count obtained for a length depends on the shape; correct the length by what came out.
        let ratio = sheet.count() as f32 / settings.vertices as f32;
        if round + 1 < settings.rounds {
            length *= ratio.sqrt().clamp(0.7, 1.4);
        }
    }
    sheet.fineness_everywhere(&fineness);
    sheet.meet_count(settings.vertices, &value);
    sheet.even_out_valences();
    sheet.slide(4, &value);
    sheet.finish()
}

const NONE: u32 = u32::MAX;

/// A triangle surface under edit. Removed triangles and vertices stay as holes until `finish`.
struct Sheet {
    positions: Vec<Vec3>,
    /// Relative edge length wanted at each vertex.
    fineness: Vec<f32>,
    /// A removed triangle is `[NONE; 3]`.
    triangles: Vec<[u32; 3]>,
    /// Triangles around each vertex, unordered; empty for a removed vertex.
    around: Vec<Vec<u32>>,
    on_rim: Vec<bool>,
    alive: usize,
    alive_on_rim: usize,
    mirrored: bool,
}

impl Sheet {
    fn new(mesh: &TriMesh, fineness: &(impl Fn(Vec3) -> f32 + Sync), mirrored: bool) -> Self {
        let count = mesh.positions.len();
        let mut around = vec![Vec::new(); count];
        for (t, triangle) in mesh.triangles.iter().enumerate() {
            for &v in triangle {
                around[v as usize].push(t as u32);
            }
        }
        let mut sheet = Self {
            fineness: mesh.positions.par_iter().map(|&p| fineness(p)).collect(),
            positions: mesh.positions.clone(),
            triangles: mesh.triangles.clone(),
            alive: around.iter().filter(|a| !a.is_empty()).count(),
            around,
            on_rim: vec![false; count],
            alive_on_rim: 0,
            mirrored,
        };
        for v in 0..count as u32 {
            sheet.on_rim[v as usize] = sheet.ring(v).len() != sheet.around[v as usize].len();
        }
        sheet.alive_on_rim = sheet.on_rim.iter().filter(|&&rim| rim).count();
        sheet
    }

    /// Vertices of the result.
    fn count(&self) -> usize {
        if self.mirrored { 2 * self.alive - self.alive_on_rim } else { self.alive }
    }

    fn fineness_everywhere(&mut self, fineness: &(impl Fn(Vec3) -> f32 + Sync)) {
        self.fineness.par_iter_mut().zip(&self.positions).for_each(|(f, &p)| *f = fineness(p));
    }

    /// Edge length, at fineness one, at which equilateral triangles would give `vertices`.
    fn length_for(&self, vertices: usize) -> f32 {
        let area: f64 = self
            .triangles
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|v| self.positions[v as usize]);
                let f = t.iter().map(|&v| self.fineness[v as usize]).sum::<f32>() / 3.0;
                f64::from(0.5 * (b - a).cross(c - a).length() / (f * f))
            })
            .sum();
        let whole = if self.mirrored { 2.0 * area } else { area };
        (whole / (2.0 * vertices as f64) * 4.0 / 3f64.sqrt()).sqrt() as f32
    }

    /// Length of an edge relative to the fineness at its ends.
    fn relative_length(&self, a: u32, b: u32) -> f32 {
        let (a, b) = (a as usize, b as usize);
        2.0 * self.positions[a].distance(self.positions[b]) / (self.fineness[a] + self.fineness[b])
    }

    /// Neighbours of a vertex, ascending.
    fn ring(&self, v: u32) -> Vec<u32> {
        let mut ring: Vec<u32> = Vec::with_capacity(8);
        for &t in &self.around[v as usize] {
            for &w in &self.triangles[t as usize] {
                if w != v && !ring.contains(&w) {
                    ring.push(w);
                }
            }
        }
        ring.sort_unstable();
        ring
    }

    fn triangles_on(&self, a: u32, b: u32) -> impl Iterator<Item = u32> + '_ {
        self.around[a as usize].iter().copied().filter(move |&t| self.triangles[t as usize].contains(&b))
    }

    /// Every edge once, smaller vertex first, in a fixed order.
    fn edges(&self) -> Vec<(u32, u32)> {
        let mut edges: Vec<(u32, u32)> = Vec::with_capacity(self.alive * 3);
        for t in self.triangles.iter().filter(|t| t[0] != NONE) {
            for k in 0..3 {
                edges.push((t[k].min(t[(k + 1) % 3]), t[k].max(t[(k + 1) % 3])));
            }
        }
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// Edges for which `keep` holds of their relative length, ordered by it.
    fn edges_by_length(&self, keep: impl Fn(f32) -> bool) -> Vec<(f32, u32, u32)> {
        let mut edges: Vec<(f32, u32, u32)> = self
            .edges()
            .into_iter()
            .map(|(a, b)| (self.relative_length(a, b), a, b))
            .filter(|e| keep(e.0))
            .collect();
        edges.sort_by(|x, y| x.0.total_cmp(&y.0).then((x.1, x.2).cmp(&(y.1, y.2))));
        edges
    }

    fn split_longer_than(&mut self, limit: f32) {
        for (_, a, b) in self.edges_by_length(|l| l > limit).into_iter().rev() {
            self.split(a, b);
        }
    }

    fn split(&mut self, a: u32, b: u32) {
        let on_edge: Vec<u32> = self.triangles_on(a, b).collect();
        let middle = self.positions.len() as u32;
        self.positions.push((self.positions[a as usize] + self.positions[b as usize]) * 0.5);
        self.fineness.push((self.fineness[a as usize] + self.fineness[b as usize]) * 0.5);
        self.around.push(Vec::with_capacity(6));
        let rim = on_edge.len() == 1;
        self.on_rim.push(rim);
        self.alive += 1;
        self.alive_on_rim += usize::from(rim);
        for t in on_edge {
            let old = self.triangles[t as usize];
            let added = self.triangles.len() as u32;
            self.triangles[t as usize] = old.map(|v| if v == b { middle } else { v });
            self.triangles.push(old.map(|v| if v == a { middle } else { v }));
            self.around[middle as usize].extend([t, added]);
            let at_b = &mut self.around[b as usize];
            at_b.retain(|&u| u != t);
            at_b.push(added);
            for v in old.into_iter().filter(|&v| v != a && v != b) {
                self.around[v as usize].push(added);
            }
        }
    }

    fn collapse_shorter_than(&mut self, limit: f32, longest: f32, value: &impl Fn(Vec3) -> f32) {
        for (_, a, b) in self.edges_by_length(|l| l < limit) {
            let stands = !self.around[a as usize].is_empty() && !self.around[b as usize].is_empty();
            // Earlier collapses may have lengthened or removed this edge.
            if stands && self.triangles_on(a, b).next().is_some() && self.relative_length(a, b) < limit {
                self.collapse(a, b, longest, value);
            }
        }
    }

    /// Merges the two ends of an edge unless that would change the topology, leave the plane of the rim,
    /// fold a triangle over, cut a corner off the surface or make an edge longer than `longest`. Tells
    /// whether it did.
    fn collapse(&mut self, a: u32, b: u32, longest: f32, value: &impl Fn(Vec3) -> f32) -> bool {
        // A rim vertex absorbs an inner one; two rim vertices merge only along the rim.
        let (keep, gone) = if self.on_rim[b as usize] && !self.on_rim[a as usize] { (b, a) } else { (a, b) };
        let on_edge: Vec<u32> = self.triangles_on(keep, gone).collect();
        let both_on_rim = self.on_rim[a as usize] && self.on_rim[b as usize];
        if both_on_rim && on_edge.len() != 1 {
            return false;
        }
        let (ring_keep, ring_gone) = (self.ring(keep), self.ring(gone));
        let shared = ring_keep.iter().filter(|v| ring_gone.binary_search(v).is_ok()).count();
        if shared != on_edge.len() {
            return false;
        }
        // No vertex may drop below three neighbours.
        for &t in &on_edge {
            let tip = self.triangles[t as usize].into_iter().find(|&v| v != a && v != b).unwrap_or(NONE);
            let fewest = if self.on_rim[tip as usize] { 3 } else { 4 };
            if self.around[tip as usize].len() + usize::from(self.on_rim[tip as usize]) < fewest {
                return false;
            }
        }
        let target = if self.on_rim[keep as usize] && !both_on_rim {
            self.positions[keep as usize]
        } else {
            (self.positions[a as usize] + self.positions[b as usize]) * 0.5
        };
        let fineness = (self.fineness[a as usize] + self.fineness[b as usize]) * 0.5;
        for &v in ring_keep.iter().chain(&ring_gone).filter(|&&v| v != a && v != b) {
            let length =
                2.0 * self.positions[v as usize].distance(target) / (fineness + self.fineness[v as usize]);
            if length > longest {
                return false;
            }
        }
        // 0.4 of the edge: a round finger of six edges around dips 0.13; a lost finger tip about one.
        let deepest =
            0.4 * ring_gone.iter().map(|&w| self.positions[w as usize].distance(target)).fold(0.0, f32::max);
        for (v, other) in [(keep, gone), (gone, keep)] {
            for &t in self.around[v as usize].iter().filter(|t| !on_edge.contains(t)) {
                let corners = self.triangles[t as usize];
                debug_assert!(!corners.contains(&other));
                let before = normal(corners.map(|w| self.positions[w as usize]));
                let after = normal(corners.map(|w| if w == v { target } else { self.positions[w as usize] }));
                // 0.3: a turn of about 70 degrees, steeper than any real feature of one edge's length.
                if before.dot(after) < 0.3 * before.length() * after.length() || after == Vec3::ZERO {
                    return false;
                }
                // Where the sheet stays flat no corner is cut off; that saves most of the queries of the surface.
                if before.dot(after) > 0.97 * before.length() * after.length() {
                    continue;
                }
                let at = corners.map(|w| if w == v { target } else { self.positions[w as usize] });
                if value((at[0] + at[1] + at[2]) / 3.0).abs() > deepest {
                    return false;
                }
            }
        }

        for t in on_edge {
            for v in self.triangles[t as usize] {
                self.around[v as usize].retain(|&u| u != t);
            }
            self.triangles[t as usize] = [NONE; 3];
        }
        for t in std::mem::take(&mut self.around[gone as usize]) {
            self.triangles[t as usize] = self.triangles[t as usize].map(|v| if v == gone { keep } else { v });
            self.around[keep as usize].push(t);
        }
        self.positions[keep as usize] = target;
        self.fineness[keep as usize] = fineness;
        self.alive -= 1;
        self.alive_on_rim -= usize::from(both_on_rim);
        self.on_rim[gone as usize] = false;
        true
    }

    /// Flips edges where that brings the vertices' neighbour counts closer to six (four on the rim).
    fn even_out_valences(&mut self) {
        let excess = |sheet: &Self, v: u32, change: i32| {
            let rim = i32::from(sheet.on_rim[v as usize]);
            (sheet.around[v as usize].len() as i32 + rim + change - if rim == 1 { 4 } else { 6 }).pow(2)
        };
        for (a, b) in self.edges() {
            let on_edge: Vec<u32> = self.triangles_on(a, b).collect();
            let &[s, t] = on_edge.as_slice() else { continue };
            // Order so that s holds the edge as a -> b.
            let has = |t: u32| {
                let corners = self.triangles[t as usize];
                (0..3).any(|k| corners[k] == a && corners[(k + 1) % 3] == b)
            };
            let (s, t) = if has(s) { (s, t) } else { (t, s) };
            let tip = |t: u32| self.triangles[t as usize].into_iter().find(|&v| v != a && v != b);
            let (Some(c), Some(d)) = (tip(s), tip(t)) else { continue };
            if self.triangles_on(c, d).next().is_some() {
                continue;
            }
            let before = excess(self, a, 0) + excess(self, b, 0) + excess(self, c, 0) + excess(self, d, 0);
            let after = excess(self, a, -1) + excess(self, b, -1) + excess(self, c, 1) + excess(self, d, 1);
            if after >= before {
                continue;
            }
            let at = |v: u32| self.positions[v as usize];
            let old = normal([at(a), at(b), at(c)]).normalize_or_zero()
                + normal([at(b), at(a), at(d)]).normalize_or_zero();
            let (first, second) = ([a, d, c], [d, b, c]);
            let facing = |t: [u32; 3]| normal(t.map(at)).normalize_or_zero().dot(old.normalize_or_zero());
            // 0.7: the new pair may turn 45 degrees from the old; more folds thin parts such as ear rims.
            if facing(first) < 0.7 || facing(second) < 0.7 {
                continue;
            }
            self.triangles[s as usize] = first;
            self.triangles[t as usize] = second;
            self.around[a as usize].retain(|&u| u != t);
            self.around[b as usize].retain(|&u| u != s);
            self.around[c as usize].push(t);
            self.around[d as usize].push(s);
        }
    }

    /// Moves every vertex along the surface towards the middle of its triangles, then onto the surface.
    fn slide(&mut self, times: usize, value: &(impl Fn(Vec3) -> f32 + Sync)) {
        for _ in 0..times {
            let moved: Vec<Vec3> = (0..self.positions.len() as u32)
                .into_par_iter()
                .map(|v| {
                    let p = self.positions[v as usize];
                    if self.around[v as usize].is_empty() {
                        return p;
                    }
                    let middle = self.middle_around(v);
                    if self.on_rim[v as usize] && self.mirrored {
                        let step = (middle - p).with_x(0.0);
                        return project(p + step * 0.5, value, true);
                    }
                    let up = self.up(v);
                    let step = middle - p;
                    project(p + (step - up * up.dot(step)) * 0.8, value, false)
                })
                .collect();
            self.positions = moved;
        }
    }

    /// Unit normal of the sheet at a vertex.
    fn up(&self, v: u32) -> Vec3 {
        let sum: Vec3 = self.around[v as usize]
            .iter()
            .map(|&t| normal(self.triangles[t as usize].map(|w| self.positions[w as usize])))
            .sum();
        sum.normalize_or_zero()
    }

    /// Where sliding draws a vertex: the mean of its triangles' centres, weighted by area relative to the
    /// fineness, so that big triangles shrink. On the rim only the rim's neighbours count.
    fn middle_around(&self, v: u32) -> Vec3 {
        let mut sum = Vec3::ZERO;
        let mut weight = 0.0;
        if self.on_rim[v as usize] {
            for w in self.ring(v) {
                if self.on_rim[w as usize] && self.triangles_on(v, w).count() == 1 {
                    sum += self.positions[w as usize];
                    weight += 1.0;
                }
            }
        } else {
            for &t in &self.around[v as usize] {
                let corners = self.triangles[t as usize];
                let [a, b, c] = corners.map(|w| self.positions[w as usize]);
                let f: f32 = corners.iter().map(|&w| self.fineness[w as usize]).sum();
                let area = normal([a, b, c]).length() / (f * f);
                sum += (a + b + c) * (area / 3.0);
                weight += area;
            }
        }
        if weight > 0.0 { sum / weight } else { self.positions[v as usize] }
    }

    /// Splits the longest or collapses the shortest edges until the count is right.
    fn meet_count(&mut self, wanted: usize, value: &impl Fn(Vec3) -> f32) {
        loop {
            let (count, before) = (self.count(), self.count());
            if count == wanted {
                return;
            }
            // A mirrored inner vertex counts twice; an odd difference needs a change on the rim.
            let each = if self.mirrored { 2 } else { 1 };
            let rim_wanted = self.mirrored && count.abs_diff(wanted) % 2 == 1;
            let mut left = if rim_wanted { 1 } else { (count.abs_diff(wanted) / each).max(1) };
            let mut edges = self.edges_by_length(|_| true);
            if count < wanted {
                edges.reverse();
            }
            let mut touched = vec![false; self.positions.len()];
            for (_, a, b) in edges {
                if left == 0 {
                    break;
                }
                let rim_edge = self.on_rim[a as usize] && self.on_rim[b as usize];
                let near = |sheet: &Self, v: u32| {
                    sheet.ring(v).iter().any(|&w| touched.get(w as usize) == Some(&true))
                };
                if rim_edge != rim_wanted || near(self, a) || near(self, b) {
                    continue;
                }
                if count < wanted {
                    self.split(a, b);
                } else if !self.collapse(a, b, f32::INFINITY, value) {
                    continue;
                }
                touched[a as usize] = true;
                touched[b as usize] = true;
                left -= 1;
            }
            if self.count() == before {
                return;
            }
        }
    }

    fn finish(self) -> TriMesh {
        let mut number = vec![NONE; self.positions.len()];
        let mut positions = Vec::with_capacity(self.count());
        for v in (0..self.positions.len()).filter(|&v| !self.around[v].is_empty()) {
            number[v] = positions.len() as u32;
            positions.push(self.positions[v]);
        }
        let mut triangles: Vec<[u32; 3]> =
            self.triangles.iter().filter(|t| t[0] != NONE).map(|t| t.map(|v| number[v as usize])).collect();
        if self.mirrored {
            let mut mirror = vec![0; positions.len()];
            for v in (0..self.positions.len()).filter(|&v| number[v] != NONE) {
                let half = number[v] as usize;
                mirror[half] = if self.on_rim[v] {
                    half as u32
                } else {
                    positions.push(positions[half] * Vec3::new(-1.0, 1.0, 1.0));
                    positions.len() as u32 - 1
                };
            }
            let flipped: Vec<[u32; 3]> =
                triangles.iter().map(|&[a, b, c]| [a, c, b].map(|v| mirror[v as usize])).collect();
            triangles.extend(flipped);
        }
        TriMesh { positions, triangles }
    }
}

/// Normal of a triangle, twice its area long.
fn normal([a, b, c]: [Vec3; 3]) -> Vec3 {
    (b - a).cross(c - a)
}

/// Slope of `value` from four samples at the corners of a tetrahedron around `p`.
fn gradient(p: Vec3, value: &impl Fn(Vec3) -> f32) -> Vec3 {
    // 0.5 mm: coarser rounds off the finest features (lips, nails), finer drowns in f32 rounding.
    const STEP: f32 = 5e-4;
    const CORNERS: [Vec3; 4] = [
        Vec3::new(1.0, -1.0, -1.0),
        Vec3::new(-1.0, -1.0, 1.0),
        Vec3::new(-1.0, 1.0, -1.0),
        Vec3::new(1.0, 1.0, 1.0),
    ];
    CORNERS.iter().map(|&c| c * value(p + c * STEP)).sum::<Vec3>() / (4.0 * STEP)
}

/// Moves `p` down the slope onto `value == 0`; with `in_plane` it keeps its x.
fn project(p: Vec3, value: &impl Fn(Vec3) -> f32, in_plane: bool) -> Vec3 {
    let mut slope = gradient(p, value);
    if in_plane {
        slope.x = 0.0;
    }
    let steepness = slope.length_squared();
    // A flat spot gives no direction; sliding moves the vertex off it.
    if steepness < 0.01 {
        return p;
    }
    let mut q = p;
    for _ in 0..2 {
        q -= slope * (value(q) / steepness).clamp(-0.02, 0.02);
    }
    q
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::Adjacency;
    use crate::geom::polygonise::{Lattice, polygonise};

    fn ball(p: Vec3) -> f32 {
        p.length() - 0.2
    }

    fn ball_mesh(half: bool) -> TriMesh {
        let low = Vec3::new(if half { 0.0 } else { -0.25 }, -0.25, -0.25);
        polygonise(&Lattice::covering(low, Vec3::splat(0.25), 0.02), ball, |_, _| true)
    }

    fn edge_lengths(mesh: &TriMesh) -> Vec<f32> {
        let at = |v: u32| mesh.positions[v as usize];
        Adjacency::new(mesh).edges.iter().map(|e| at(e.vertices[0]).distance(at(e.vertices[1]))).collect()
    }

    /// Standard deviation over mean.
    fn variation(lengths: &[f32]) -> f32 {
        let mean = lengths.iter().sum::<f32>() / lengths.len() as f32;
        let variance = lengths.iter().map(|l| (l - mean).powi(2)).sum::<f32>() / lengths.len() as f32;
        variance.sqrt() / mean
    }

    fn euler(mesh: &TriMesh) -> i64 {
        let edges = Adjacency::new(mesh).edges.len();
        mesh.positions.len() as i64 - edges as i64 + mesh.triangles.len() as i64
    }

    #[test]
    fn the_count_is_met_on_the_surface_with_even_edges() {
        for vertices in [300, 1111, 6000] {
            let settings = RemeshSettings { vertices, ..Default::default() };
            let mesh = remesh(&ball_mesh(false), ball, |_| 1.0, &settings);
            assert_eq!(mesh.positions.len(), vertices);
            assert_eq!(euler(&mesh), 2);
            assert_eq!(Adjacency::new(&mesh).open_edges(), 0);
            assert!(mesh.positions.iter().all(|&p| ball(p).abs() < 1e-5));
            let spread = variation(&edge_lengths(&mesh));
            assert!(spread < 0.15, "{vertices} vertices: edge variation {spread}");
        }
    }

    #[test]
    fn a_mirrored_half_becomes_one_symmetric_surface() {
        for vertices in [400, 1001] {
            let settings = RemeshSettings { vertices, mirrored: true, ..Default::default() };
            let mesh = remesh(&ball_mesh(true), ball, |_| 1.0, &settings);
            assert_eq!(mesh.positions.len(), vertices);
            assert_eq!(euler(&mesh), 2);
            assert_eq!(Adjacency::new(&mesh).open_edges(), 0);
            let mut points: Vec<[u32; 3]> =
                mesh.positions.iter().map(|p| (*p + 0.0).to_array().map(f32::to_bits)).collect();
            let mut mirrored: Vec<[u32; 3]> = mesh
                .positions
                .iter()
                .map(|p| (*p * Vec3::new(-1.0, 1.0, 1.0) + 0.0).to_array().map(f32::to_bits))
                .collect();
            points.sort_unstable();
            mirrored.sort_unstable();
            assert_eq!(points, mirrored);
        }
    }

    #[test]
    fn fineness_makes_smaller_triangles_where_asked() {
        let fineness = |p: Vec3| if p.y > 0.0 { 0.5 } else { 1.0 };
        let settings = RemeshSettings { vertices: 2000, ..Default::default() };
        let mesh = remesh(&ball_mesh(false), ball, fineness, &settings);
        let mean = |top: bool| {
            let at = |v: u32| mesh.positions[v as usize];
            let lengths: Vec<f32> = Adjacency::new(&mesh)
                .edges
                .iter()
                .filter(|e| e.vertices.iter().all(|&v| (at(v).y > 0.05) == top && at(v).y.abs() > 0.05))
                .map(|e| at(e.vertices[0]).distance(at(e.vertices[1])))
                .collect();
            lengths.iter().sum::<f32>() / lengths.len() as f32
        };
        let ratio = mean(true) / mean(false);
        assert!((0.45..0.56).contains(&ratio), "ratio {ratio}");
    }
}
