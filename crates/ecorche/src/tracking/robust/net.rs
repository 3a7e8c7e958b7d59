//! Stage `net`: what got worse than skinning fades back to it.
//!
//! Last of all every piece is compared with its start, outside contact: triangles that grew or shrank, that turned over, that
//! are bent farther from rest than skinning bends them. A piece on which there is much of that loses the correction where it
//! is, then everywhere, as far as needed. What is left of the correction, 1 to 0, changes slowly along the skin and with the pose.
//! The net should be empty: it is there for characters that nobody has tried.
//!
//! The bounds lie between single skins (307 frames of 20 characters: harm up to 0.035, loss up to 0.012) and what was wrecked
//! (harm from 0.07 on).

use super::model::Model;
use super::pose::smoothstep;
use crate::geom::adjacency::{Adjacency, Lists};
use crate::geom::bvh::Aabb;
use crate::geom::{Bvh, TriMesh};
use crate::parts::FOLLOWS;
use crate::pieces::{Pieces, Role};
use crate::tracking::VertexReport;
use glam::{Mat3A, Vec3, Vec3A};
use rayon::prelude::*;
use std::collections::VecDeque;

/// Factor by which the area of a triangle is farther from rest than its start's: harmless, and full harm.
const AREA: [f32; 2] = [1.5, 2.5];
/// Cosine between a triangle and its start, with the opposite sign: harmless, and full harm.
const TURNED: [f32; 2] = [-0.5, 0.5];
/// Degrees that an edge is bent farther from rest than its start: harmless, and full harm.
const BENT: [f32; 2] = [15.0, 45.0];
/// Cosine of half the harmless bend: two triangles that have turned by less do no harm.
const HARDLY_TURNED: f32 = 0.991_4;
/// Share of a piece's area that is harmed: tolerated, and faded in full.
const HARM: [f32; 2] = [0.04, 0.08];
/// Share of a piece's area that is lost outside contact: tolerated, and faded in full.
const LOSS: [f32; 2] = [0.02, 0.05];
/// The same, in contact too, of a piece with less than half of the skin.
const SMALL_LOSS: [f32; 2] = [0.04, 0.10];
/// Harm near a vertex: left alone, and faded in full.
const LOCAL: [f32; 2] = [0.02, 0.15];
/// Of the size: how far harm counts.
const HARM_REACH: f32 = 0.02;
/// Of the size: over what distance the share of the correction may go from 0 to 1.
const FADE: f32 = 0.06;
/// Of the size: vertices of joined pieces closer than this fade together.
const LINKED: f32 = 0.02;
/// Rounds of fading where the harm is.
const ROUNDS: usize = 4;
/// Of the size: a correction that lost less than this counts as whole.
const LEAST_FADED: f32 = 1e-4;

fn ramp([low, high]: [f32; 2], x: f32) -> f32 {
    smoothstep((x - low) / (high - low))
}

/// A piece that is compared with its start.
struct Region {
    piece: u32,
    is_skin: bool,
    /// Whether it has less than half of the skin.
    is_small: bool,
    vertices: Vec<u32>,
    /// Places in [`Net::triangles`].
    triangles: std::ops::Range<usize>,
    /// At rest, square metres.
    area: f32,
}

/// Two triangles with a common edge.
struct Bend {
    /// Places in [`Net::triangles`].
    triangles: [u32; 2],
    /// Angle between them at rest, degrees, positive if convex.
    at_rest: f32,
}

/// What the net knows of the surface at rest.
#[derive(Default)]
pub(super) struct Net {
    /// Of the surface, metres.
    size: f32,
    regions: Vec<Region>,
    /// Triangles of the regions, one region after the other, and their areas at rest, square metres.
    triangles: Vec<([u32; 3], f32)>,
    bends: Vec<Bend>,
    /// Of each place in `triangles` the bends on its edges.
    bends_of: Lists,
    /// Places in `triangles` around each vertex.
    around: Lists,
    /// Neighbours along the skin, and in joined skin close by.
    ring: Lists,
}

/// One triangle against its start.
#[derive(Clone, Copy, Debug, Default)]
struct Harm {
    /// 0 to 1.
    harm: f32,
    /// Area lost, square metres; negative if gained.
    lost: f32,
    /// How much it is in contact, 0 to 1.
    contact: f32,
    /// Whether it may be bent by more than is harmless.
    is_turned: bool,
}

/// Buffers of [`Net::fade`], kept from frame to frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// Of each vertex what is left of its correction; 1 outside [`Net::fade`].
    left: Vec<f32>,
    harms: Vec<Harm>,
    bent: Vec<f32>,
    near: Vec<f32>,
    queue: VecDeque<u32>,
    /// Pieces that faded and how many of their vertices.
    pub faded: Vec<(u32, u32)>,
}

/// Start, end and contact of each vertex.
#[derive(Clone, Copy)]
struct Scene<'a> {
    skinned: &'a [(Vec3A, Mat3A)],
    positions: &'a [Vec3A],
    reports: &'a [VertexReport],
}

impl Net {
    pub fn new(model: &Model, pieces: &Pieces, mesh: &TriMesh) -> Self {
        let (adjacency, triangles) = (Adjacency::new(mesh), &mesh.triangles);
        let mut net = Self { size: model.size, ..Self::default() };
        let skin: f32 = pieces.pieces.iter().filter(|p| p.role == Role::Skin).map(|p| p.area).sum();
        let count = pieces.pieces.len();
        let (mut vertices, mut of_piece) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for (v, &piece) in pieces.piece_of_vertex.iter().enumerate() {
            vertices[piece as usize].push(v as u32);
        }
        for (t, &[a, b, c]) in triangles.iter().enumerate() {
            if a != b && b != c && c != a {
                of_piece[pieces.piece_of_vertex[a as usize] as usize].push(t as u32);
            }
        }
        let mut place = vec![u32::MAX; triangles.len()];
        for (k, (vertices, own)) in vertices.into_iter().zip(of_piece).enumerate() {
            let piece = &pieces.pieces[k];
            if own.is_empty() || matches!(piece.role, Role::Rigid | Role::Loose) {
                continue;
            }
            let first = net.triangles.len();
            for t in own {
                place[t as usize] = net.triangles.len() as u32;
                let corners = triangles[t as usize];
                let [a, b, c] = corners.map(|v| model.rest[v as usize]);
                net.triangles.push((corners, 0.5 * (b - a).cross(c - a).length()));
            }
            let area = net.triangles[first..].iter().map(|t| t.1).sum();
            let is_skin = vertices.iter().any(|&v| model.part[v as usize] != FOLLOWS);
            net.regions.push(Region {
                piece: k as u32,
                is_skin,
                is_small: is_skin && piece.area < 0.5 * skin,
                vertices,
                triangles: first..net.triangles.len(),
                area,
            });
        }
        for edge in &adjacency.edges {
            let &[a, b] = edge.triangles.as_slice() else { continue };
            let [a, b] = [a, b].map(|t| place[t as usize]);
            if a != u32::MAX && b != u32::MAX {
                let at_rest = bend([a, b].map(|t| net.corners(t, |v| model.rest[v])));
                net.bends.push(Bend { triangles: [a, b], at_rest });
            }
        }
        let ends = net.bends.iter().enumerate();
        let mut ends: Vec<(u32, u32)> =
            ends.flat_map(|(k, bend)| bend.triangles.map(|t| (t, k as u32))).collect();
        ends.sort_unstable();
        net.bends_of = Lists::group(net.triangles.len(), &ends);
        let corners = net.triangles.iter().enumerate();
        let mut corners: Vec<(u32, u32)> = corners.flat_map(|(k, t)| t.0.map(|v| (v, k as u32))).collect();
        corners.sort_unstable();
        net.around = Lists::group(model.rest.len(), &corners);
        let edges = adjacency.edges.iter().map(|edge| edge.vertices).chain(links(model, pieces));
        let mut ring: Vec<(u32, u32)> = edges.flat_map(|[a, b]| [(a, b), (b, a)]).collect();
        ring.sort_unstable();
        ring.dedup();
        net.ring = Lists::group(model.rest.len(), &ring);
        net
    }

    /// Fades the pieces that got worse than their start, those of skin or the others, and adds them to the list of the
    /// faded. Returns whether there was one.
    pub fn fade(
        &self,
        model: &Model,
        is_skin: bool,
        skinned: &[(Vec3A, Mat3A)],
        positions: &mut [Vec3A],
        reports: &[VertexReport],
        w: &mut Scratch,
    ) -> bool {
        let scene = Scene { skinned, positions, reports };
        w.left.resize(positions.len(), 1.0);
        w.near.resize(positions.len(), 0.0);
        w.harms.resize(self.triangles.len(), Harm::default());
        let mut any = false;
        for region in self.regions.iter().filter(|region| region.is_skin == is_skin) {
            any |= self.fade_region(model, region, scene, w);
        }
        if !any {
            return false;
        }
        // Slowly along the skin, and over to skin that it is joined to.
        w.queue.clear();
        w.queue.extend((0..w.left.len() as u32).filter(|&v| w.left[v as usize] < 1.0));
        while let Some(v) = w.queue.pop_front() {
            for &k in self.ring.get(v as usize) {
                let apart = model.rest[v as usize].distance(model.rest[k as usize]);
                let most = w.left[v as usize] + apart / (FADE * self.size).max(f32::MIN_POSITIVE);
                if most < w.left[k as usize] - 1e-4 {
                    w.left[k as usize] = most;
                    w.queue.push_back(k);
                }
            }
        }
        for region in self.regions.iter().filter(|region| region.is_skin == is_skin) {
            let mut count = 0;
            for &v in &region.vertices {
                let (left, start) = (std::mem::replace(&mut w.left[v as usize], 1.0), skinned[v as usize].0);
                let position = &mut positions[v as usize];
                let correction = *position - start;
                if left < 1.0 && correction != Vec3A::ZERO {
                    *position = start + left * correction;
                    count += u32::from((1.0 - left) * correction.length() > LEAST_FADED * self.size);
                }
            }
            if count > 0 {
                w.faded.push((region.piece, count));
            }
        }
        w.left.iter_mut().for_each(|left| *left = 1.0);
        true
    }

    /// Lowers what is left of the correction of a piece's vertices; false if nothing has to be.
    fn fade_region(&self, model: &Model, region: &Region, scene: Scene, w: &mut Scratch) -> bool {
        let [mut bad, mut lost] = self.judge(region, scene, w);
        if bad == 0.0 && lost == 0.0 {
            return false;
        }
        for _ in 0..ROUNDS {
            if bad == 0.0 {
                break;
            }
            self.spread_harm(model, region, w);
            for &v in &region.vertices {
                w.left[v as usize] *= 1.0 - bad * ramp(LOCAL, w.near[v as usize]);
            }
            [bad, lost] = self.judge(region, scene, w);
        }
        let all = (1.0 - bad) * (1.0 - lost);
        region.vertices.iter().for_each(|&v| w.left[v as usize] *= all);
        true
    }

    /// Compares a piece with its start. Returns how bad it is outside contact, and how much area a small one lost in all.
    fn judge(&self, region: &Region, scene: Scene, w: &mut Scratch) -> [f32; 2] {
        let left = &w.left;
        let at = |v: usize| scene.skinned[v].0 + left[v] * (scene.positions[v] - scene.skinned[v].0);
        let range = region.triangles.clone();
        let own = &mut w.harms[range.clone()];
        let harm = |(i, harm): (usize, &mut Harm)| *harm = self.harm((range.start + i) as u32, scene, &at);
        own.par_iter_mut().enumerate().with_min_len(1024).for_each(harm);
        if own.iter().any(|harm| harm.is_turned) {
            w.bent.clear();
            let harms = &w.harms;
            let bent = |t: usize| self.bent(t as u32, harms, scene, &at);
            range.clone().into_par_iter().with_min_len(1024).map(bent).collect_into_vec(&mut w.bent);
            for (harm, &bent) in w.harms[range.clone()].iter_mut().zip(&w.bent) {
                harm.harm = harm.harm.max((1.0 - harm.contact) * bent);
            }
        }
        let (mut harmed, mut lost, mut lost_free) = (0.0f32, 0.0f32, 0.0f32);
        for (triangle, harm) in self.triangles[range.clone()].iter().zip(&w.harms[range]) {
            harmed += triangle.1 * harm.harm;
            lost += harm.lost;
            lost_free += (1.0 - harm.contact) * harm.lost;
        }
        let area = region.area.max(f32::MIN_POSITIVE);
        let bad = ramp(HARM, harmed / area).max(ramp(LOSS, lost_free / area));
        [bad, if region.is_small { ramp(SMALL_LOSS, lost / area) } else { 0.0 }]
    }

    fn corners(&self, t: u32, at: impl Fn(usize) -> Vec3A) -> [Vec3A; 3] {
        self.triangles[t as usize].0.map(|v| at(v as usize))
    }

    /// One triangle against its start.
    fn harm(&self, t: u32, scene: Scene, at: &impl Fn(usize) -> Vec3A) -> Harm {
        let (corners, area_at_rest) = self.triangles[t as usize];
        let start = |v: usize| scene.skinned[v].0;
        // Rounding aside, what skinning alone placed has done no harm.
        if corners.iter().all(|&v| at(v as usize) == start(v as usize)) {
            return Harm::default();
        }
        let contact = corners.iter().map(|&v| scene.reports[v as usize].contact).fold(0.0, f32::max).min(1.0);
        let [now, before] = [self.corners(t, at), self.corners(t, start)].map(area_vector);
        let [area_now, area_before] = [now, before].map(|a| a.length());
        let lost = area_before - area_now;
        if contact >= 1.0 || !(area_now + area_before).is_finite() {
            return Harm { contact, lost: if lost.is_finite() { lost } else { 0.0 }, ..Harm::default() };
        }
        let least = 1e-6 * area_at_rest + f32::MIN_POSITIVE;
        let from_rest = |area: f32| {
            let ratio = (area + least) / (area_at_rest + least);
            ratio.max(1.0 / ratio)
        };
        let resized = ramp(AREA, from_rest(area_now) / from_rest(area_before));
        let (product, areas) = (now.dot(before), area_now * area_before);
        // A start without area has no side to turn from.
        let is_sound = area_before > 0.05 * area_at_rest && areas > 0.0;
        let turned = if is_sound { ramp(TURNED, -product / areas) } else { 0.0 };
        let is_turned = product < HARDLY_TURNED * areas;
        Harm { harm: (1.0 - contact) * resized.max(turned), lost, contact, is_turned }
    }

    /// How much farther from rest a triangle is bent against its neighbours than its start, as harm.
    fn bent(&self, t: u32, harms: &[Harm], scene: Scene, at: &impl Fn(usize) -> Vec3A) -> f32 {
        let start = |v: usize| scene.skinned[v].0;
        let mut worst = 0.0f32;
        for &k in self.bends_of.get(t as usize) {
            let Bend { triangles, at_rest } = &self.bends[k as usize];
            if triangles.iter().any(|&t| harms[t as usize].is_turned) {
                let now = (bend(triangles.map(|t| self.corners(t, at))) - at_rest).abs();
                let before = (bend(triangles.map(|t| self.corners(t, start))) - at_rest).abs();
                worst = worst.max(ramp(BENT, now - before));
            }
        }
        worst
    }

    /// The harm near each vertex of a region.
    fn spread_harm(&self, model: &Model, region: &Region, w: &mut Scratch) {
        w.queue.clear();
        for &v in &region.vertices {
            let around = self.around.get(v as usize).iter();
            w.near[v as usize] = around.map(|&t| w.harms[t as usize].harm).fold(0.0, f32::max);
            if w.near[v as usize] > 0.0 {
                w.queue.push_back(v);
            }
        }
        let reach = (HARM_REACH * self.size).max(f32::MIN_POSITIVE);
        while let Some(v) = w.queue.pop_front() {
            for &t in self.around.get(v as usize) {
                for k in self.triangles[t as usize].0 {
                    let apart = model.rest[v as usize].distance(model.rest[k as usize]);
                    let least = w.near[v as usize] - apart / reach;
                    if least > w.near[k as usize] + 1e-4 {
                        w.near[k as usize] = least;
                        w.queue.push_back(k);
                    }
                }
            }
        }
    }
}

/// Half the cross product of two sides.
fn area_vector([a, b, c]: [Vec3A; 3]) -> Vec3A {
    0.5 * (b - a).cross(c - a)
}

/// Angle between two triangles, degrees; positive if the second lies above the first.
fn bend(pair: [[Vec3A; 3]; 2]) -> f32 {
    let [a, b] = pair.map(area_vector);
    let [p, q] = pair.map(|corners| corners.iter().sum::<Vec3A>() / 3.0);
    let angle = a.cross(b).length().atan2(a.dot(b)).to_degrees();
    angle.copysign((q - p).dot(a))
}

/// Vertices of skin close to skin of another piece that it is joined to.
fn links(model: &Model, pieces: &Pieces) -> Vec<[u32; 2]> {
    let is_skin = |v: u32| model.part[v as usize] != FOLLOWS;
    let skin: Vec<u32> = (0..model.rest.len() as u32).filter(|&v| is_skin(v)).collect();
    let of_skin = |pair: &[u32; 2]| pair.iter().all(|&k| pieces.pieces[k as usize].role == Role::Skin);
    if !pieces.joined.iter().any(of_skin) {
        return Vec::new();
    }
    let boxes: Vec<Aabb> = skin.iter().map(|&v| Aabb::around(&[model.rest[v as usize].into()])).collect();
    let tree = Bvh::new(&boxes);
    let link = |&v: &u32| {
        let (at, own) = (model.rest[v as usize], pieces.piece_of_vertex[v as usize]);
        let distance = |i: u32| {
            let k = skin[i as usize] as usize;
            let other = pieces.piece_of_vertex[k];
            (other != own && pieces.are_joined(own, other)).then(|| at.distance_squared(model.rest[k]))
        };
        let (i, _) = tree.nearest_item(Vec3::from(at), LINKED * model.size, distance)?;
        Some([v, skin[i as usize]])
    };
    skin.par_iter().filter_map(link).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::Parts;
    use crate::skinning::Surface;
    use crate::tracking::robust::Tracker;

    /// Whether the net faded anything, the tracker, positions before and after, and what faded.
    type Caught = (bool, Tracker, Vec<Vec3A>, Vec<Vec3A>, Vec<(u32, u32)>);

    /// A cylinder at rest, some of whose vertices have been moved, through the net.
    fn caught(contact: f32, moved: impl Fn(Vec3A, Vec3A) -> Vec3A) -> Caught {
        let character = crate::samples::build("cylinder").unwrap();
        let surface = Surface::new(&character).unwrap();
        let parts = Parts::build(&surface, &character, &Default::default(), None);
        let tracker = Tracker::new(&character, &surface, &parts, Default::default(), Vec::new(), None);
        let Tracker { model, net, .. } = &tracker;
        let skinned: Vec<(Vec3A, Mat3A)> = model.rest.iter().map(|&p| (p, Mat3A::IDENTITY)).collect();
        let before: Vec<Vec3A> = model.rest.iter().zip(&model.normals).map(|(&p, &n)| moved(p, n)).collect();
        let reports = vec![VertexReport { contact, ..VertexReport::default() }; before.len()];
        let (mut after, mut w) = (before.clone(), Scratch::default());
        let faded = net.fade(model, true, &skinned, &mut after, &reports, &mut w);
        (faded, tracker, before, after, w.faded)
    }

    /// A waist crushed to a stalk between two heights, smoothly.
    fn crushed(p: Vec3A) -> Vec3A {
        let share = smoothstep(1.0 - (p.y - 0.5).abs() / 0.2);
        Vec3A::new(p.x * (1.0 - 0.95 * share), p.y, p.z * (1.0 - 0.95 * share))
    }

    #[test]
    fn a_crushed_waist_fades_back_and_is_counted() {
        let (faded, tracker, before, after, list) = caught(0.0, |p, _| crushed(p));
        assert!(faded);
        assert_eq!(list.len(), 1);
        let (rest, size) = (&tracker.model.rest, tracker.model.size);
        let worst = |x: &[Vec3A]| x.iter().zip(rest).map(|(x, p)| x.distance(*p)).fold(0.0, f32::max) / size;
        assert!(worst(&after) < 0.2 * worst(&before), "{} of {}", worst(&after), worst(&before));
        // Between where skinning takes it and where tracking took it, and without steps along the skin.
        let left = |v: usize| {
            let whole = before[v].distance(rest[v]);
            (whole > 1e-3).then(|| after[v].distance(rest[v]) / whole)
        };
        for v in 0..rest.len() {
            for (k, _) in tracker.model.mean.of(v) {
                if let (Some(a), Some(b)) = (left(v), left(k as usize)) {
                    let apart = rest[v].distance(rest[k as usize]);
                    assert!((a - b).abs() <= apart / (FADE * size) + 0.01, "a step of {} at {v}", a - b);
                }
            }
        }
    }

    #[test]
    fn contact_and_gentle_corrections_are_left_alone() {
        for (contact, is_gentle) in [(1.0, false), (0.0, true)] {
            let swell = |p: Vec3A, n: Vec3A| p + 0.01 * n;
            let (faded, _, before, after, list) =
                caught(contact, |p, n| if is_gentle { swell(p, n) } else { crushed(p) });
            assert!(!faded && list.is_empty());
            assert_eq!(before, after);
        }
    }

    /// More harm leaves less of the correction, never suddenly.
    #[test]
    fn fading_grows_with_the_harm() {
        let left = |amount: f32| {
            let (_, tracker, before, after, _) = caught(0.0, |p, _| p + amount * (crushed(p) - p));
            let ways =
                |x: &[Vec3A]| x.iter().zip(&tracker.model.rest).map(|(x, p)| x.distance(*p)).sum::<f32>();
            ways(&after) / ways(&before)
        };
        let shares: Vec<f32> = (0..=12).map(|k| left(0.1 + 0.05 * k as f32)).collect();
        assert_eq!(shares[0], 1.0, "{shares:?}");
        // Once it is all but gone, rounds that fade in other places may leave a little more or less.
        let gone = shares.iter().position(|&s| s < 0.2).expect("a crushed waist fades");
        for pair in shares[..=gone].windows(2) {
            assert!(pair[1] <= pair[0] && pair[0] - pair[1] < 0.5, "{shares:?}");
        }
        assert!(shares[gone..].iter().all(|&s| s < 0.2), "{shares:?}");
    }
}
