//! Untangling: what separating takes from a crease, the skin around it is given.
//!
//! Flesh keeps its volume: where two limbs press each other it bulges beside the contact. Smoothing ignores that
//! and loses volume. So the volume that each vertex has swept inward is counted and spread along the skin out of the crease, and the
//! skin there swells by as much: outward, a little, and no farther than it can without crossing anything.

use super::lengths::{LONGEST, SHORTEST};
use super::model::Model;
use super::pose::smoothstep;
use super::rest_surface::RestSurface;
use super::scratch::Scratch;
use crate::geom::SelfContact;
use crate::geom::intersect::closest_on_triangle;
use glam::Vec3;
use rayon::prelude::*;

/// Passes that count the volume that is still lost and give it back. With one the dying cow loses more than linear skinning; a
/// third gives a tenth of a point.
const PASSES: usize = 2;
/// In inner radii: skin that was moved so far is the crease itself and hardly swells. At 0.3 a walking Geno loses as much volume as with
/// linear skinning; at 0.5 the cylinder bent by 170 degrees and twisted by 80 keeps crossings.
const CREASE_OFFSET: f32 = 0.4;
/// In local radii: most that skin swells. At 0.1 Geno, as above; at 0.2 skin of Rocketbox strays and the dying cow's moves farther.
const MOST_SWELLING: f32 = 0.15;
/// In local radii: smaller swelling is left out. At 0.01 the dying cow loses half a point more, and more than with linear
/// skinning.
const LEAST_SWELLING: f32 = 0.002;
/// Steps in which lost volume spreads, share of it that goes to the ring around in each, and rings that it may reach.
const SPREAD_STEPS: usize = 10;
const PASSED_SHARE: f32 = 0.8;
const SPREAD_RINGS: usize = 8;
/// Share of what is passed on that even a crease takes; with none, volume could not get out of it.
const CREASE_SHARE: f32 = 0.05;
/// Steps that smooth the way the skin goes. With two an edge of the cylinder bent by 170 degrees and twisted by 80 grows to 3.9
/// times its length.
const SMOOTHING_STEPS: usize = 3;
/// Share of the distance to other skin that skin may swell by. Both sides go, so at 0.5 they would touch. At 0.48 the figures of six
/// clips are the same; less was not tried.
const SHARE_OF_GAP: f32 = 0.4;
/// Distance at rest over the distance now: up to the first skin is a neighbour, from the second on it is other skin. Not varied.
const OTHER_SKIN: [f32; 2] = [1.3, 2.0];

/// Scratch of [`RestSurface::refill`].
#[derive(Clone, Debug, Default)]
pub(super) struct Refill {
    /// The skin that may swell, ascending.
    list: Vec<u32>,
    /// Of each vertex, as are all that follow, and zero between frames: lost volume, cubic metres.
    volume: Vec<f32>,
    /// How much of a crease it is, 0 to 1.
    crease: Vec<f32>,
    /// Share of what is passed to it that it takes.
    open: Vec<f32>,
    /// Where it has swollen to, from where separating left it, and its way in this pass.
    swollen: Vec<Vec3>,
    ways: Vec<Vec3>,
    is_listed: Vec<bool>,
    /// Of the listed: what its ring takes, volume passed on, ways, and where a pass began.
    open_around: Vec<f32>,
    passed: Vec<f32>,
    smoothed: Vec<Vec3>,
    start: Vec<Vec3>,
    /// Share of its way that each of the listed may go.
    factors: Vec<f32>,
    /// Those that a pass has slowed down.
    slowed: Vec<u32>,
    pairs: Vec<[u32; 2]>,
}

impl RestSurface {
    /// Swells the skin around what has been separated, `before` being where it was; `left` are pairs that still cross, ascending.
    pub(super) fn refill(
        &self,
        model: &Model,
        contact: &mut SelfContact,
        before: &[Vec3],
        left: &[[u32; 2]],
        scratch: &mut Scratch,
    ) {
        let mut refill = std::mem::take(&mut scratch.refill);
        self.begin(model, before, scratch, &mut refill);
        for _ in 0..PASSES {
            self.count_lost(before, &scratch.positions, &mut refill);
            refill.spread(model);
            self.find_ways(model, &scratch.positions, &mut refill);
            self.bound_ways(model, contact, &scratch.positions, &mut refill);
            self.swell(model, contact, left, scratch, &mut refill);
        }
        refill.end();
        scratch.refill = refill;
    }

    /// Lists the skin that may swell and finds the crease.
    fn begin(&self, model: &Model, before: &[Vec3], scratch: &Scratch, refill: &mut Refill) {
        let Refill { volume, crease, open, is_listed, list, open_around, ways, swollen, .. } = refill;
        volume.resize(before.len(), 0.0);
        crease.resize(before.len(), 0.0);
        open.resize(before.len(), 0.0);
        swollen.resize(before.len(), Vec3::ZERO);
        is_listed.resize(before.len(), false);
        ways.resize(before.len(), Vec3::ZERO);
        list.clear();
        let mut add = |list: &mut Vec<u32>, v: u32| {
            if !std::mem::replace(&mut is_listed[v as usize], true) {
                list.push(v);
            }
        };
        scratch.separated.iter().for_each(|separated| add(list, separated.0));
        for &v in list.iter() {
            let moved = scratch.positions[v as usize].distance(before[v as usize]);
            crease[v as usize] =
                smoothstep(moved / (CREASE_OFFSET * model.inner_radius(v)).max(f32::MIN_POSITIVE));
        }
        let mut first = 0;
        for _ in 0..SPREAD_RINGS {
            let last = list.len();
            for i in first..last {
                model.mean.of(list[i] as usize).for_each(|(k, _)| add(list, k));
            }
            first = last;
        }
        list.sort_unstable();
        list.iter().for_each(|&v| open[v as usize] = CREASE_SHARE + 1.0 - crease[v as usize]);
        open_around.clear();
        let around =
            |&v: &u32| model.mean.of(v as usize).map(|(k, weight)| weight * open[k as usize]).sum::<f32>();
        open_around.extend(list.iter().map(around));
    }

    /// The volume that each vertex has swept inward.
    fn count_lost(&self, before: &[Vec3], x: &[Vec3], refill: &mut Refill) {
        for &v in &refill.list {
            let moved = x[v as usize] - before[v as usize];
            let around = self.triangles_of_vertex.get(v as usize).iter();
            let swept: Vec3 = around.map(|&t| swept(self.triangles[t as usize], before, x)).sum();
            refill.volume[v as usize] = -swept.dot(moved) / 3.0;
        }
    }

    /// Where each vertex goes to take up its share.
    fn find_ways(&self, model: &Model, x: &[Vec3], refill: &mut Refill) {
        let Refill { volume, crease, list, ways, smoothed, swollen, .. } = refill;
        for &v in list.iter() {
            let around = self.triangles_of_vertex.get(v as usize).iter();
            let (sum, total) = around.fold((Vec3::ZERO, 0.0), |(sum, total), &t| {
                let area = area(self.triangles[t as usize], x) / 3.0;
                (sum + area, total + area.length())
            });
            // Divided by areas, not by their sum as vectors: on a sheet of two sides those cancel.
            let per_area = volume[v as usize] / (total * total).max(f32::MIN_POSITIVE);
            let most = MOST_SWELLING * model.local_radius[v as usize];
            ways[v as usize] = (sum * ((1.0 - crease[v as usize]) * per_area)).clamp_length_max(most);
        }
        for _ in 0..SMOOTHING_STEPS {
            smoothed.clear();
            smoothed.extend(list.iter().map(|&v| {
                let here = ways[v as usize];
                0.5 * (here + model.mean.mean(v as usize, ways).unwrap_or(here))
            }));
            list.iter().zip(smoothed.iter()).for_each(|(&v, &way)| ways[v as usize] = way);
        }
        for &v in list.iter() {
            let (way, swollen) = (&mut ways[v as usize], swollen[v as usize]);
            // What has swollen too much may go back, but not farther than it came.
            let goes_in = volume[v as usize] < 0.0 && way.length() > swollen.length();
            let to = if goes_in { Vec3::ZERO } else { swollen + *way };
            *way = to.clamp_length_max(MOST_SWELLING * model.local_radius[v as usize]) - swollen;
            if !way.is_finite() || way.length() < LEAST_SWELLING * model.local_radius[v as usize] {
                *way = Vec3::ZERO;
            }
        }
    }

    /// Shortens ways that lead far toward other skin or make edges too short or too long. A pose that differs a little does so a
    /// little.
    fn bound_ways(&self, model: &Model, contact: &mut SelfContact, x: &[Vec3], refill: &mut Refill) {
        let Refill { list, ways, factors, .. } = refill;
        contact.fit(x);
        let corners = |t: u32, x: &[Vec3]| self.triangles[t as usize].map(|v| x[v as usize]);
        let room = |&v: &u32| {
            let (p, way) = (x[v as usize], ways[v as usize]);
            let length = way.length();
            if length <= 0.0 {
                return 1.0;
            }
            let room = |t: u32| {
                if self.triangles[t as usize].contains(&v) || self.follows[t as usize] {
                    return None;
                }
                let toward = closest_on_triangle(p, corners(t, x)) - p;
                let distance = toward.length();
                let slope = toward.dot(way) / (distance * length).max(f32::MIN_POSITIVE);
                let rest = self.triangles[t as usize].map(|v| Vec3::from(model.rest[v as usize]));
                let at_rest = Vec3::from(model.rest[v as usize]);
                let parted =
                    closest_on_triangle(at_rest, rest).distance(at_rest) / distance.max(f32::MIN_POSITIVE);
                let is_other = smoothstep((parted - OTHER_SKIN[0]) / (OTHER_SKIN[1] - OTHER_SKIN[0]));
                let share = slope.max(0.0) * is_other;
                (share > 0.0).then(|| (distance / share).powi(2))
            };
            let nearest = contact.bvh().nearest_item(p, length / SHARE_OF_GAP, room);
            nearest.map_or(1.0, |(_, distance)| (SHARE_OF_GAP * distance / length).min(1.0))
        };
        factors.clear();
        list.par_iter().with_min_len(64).map(room).collect_into_vec(factors);
        list.iter().zip(factors.iter()).for_each(|(&v, &factor)| ways[v as usize] *= factor);
        let length = |&v: &u32| {
            let shorten = |(k, _): (u32, f32)| {
                let rest = model.rest[v as usize].distance(model.rest[k as usize]);
                let edge = x[v as usize] - x[k as usize];
                let (now, then) = (edge.length(), (edge + ways[v as usize] - ways[k as usize]).length());
                // An edge that is out of range already may stay as it is.
                let most = then.clamp((SHORTEST * rest).min(now), (LONGEST * rest).max(now));
                if most == then { 1.0 } else { ((most - now) / (then - now)).clamp(0.0, 1.0) }
            };
            model.mean.of(v as usize).map(shorten).fold(1.0, f32::min)
        };
        list.par_iter().with_min_len(64).map(length).collect_into_vec(factors);
        list.iter().zip(factors.iter()).for_each(|(&v, &factor)| ways[v as usize] *= factor);
    }

    /// Moves the skin its way. Skin that would cross other skin goes half as far until it does not.
    fn swell(
        &self,
        model: &Model,
        contact: &mut SelfContact,
        left: &[[u32; 2]],
        scratch: &mut Scratch,
        refill: &mut Refill,
    ) {
        let Refill { list, ways, swollen, start, slowed, pairs, .. } = refill;
        start.clear();
        start.extend(list.iter().map(|&v| scratch.positions[v as usize]));
        list.iter().for_each(|&v| scratch.positions[v as usize] += ways[v as usize]);
        self.list_triangles(list.iter().copied().filter(|&v| ways[v as usize] != Vec3::ZERO), scratch);
        loop {
            contact.pairs_among(&scratch.positions, &scratch.triangles, pairs);
            let is_new = |pair: &&[u32; 2]| self.is_new(pair) && left.binary_search(pair).is_err();
            slowed.clear();
            let crossing = pairs.iter().filter(is_new).flatten();
            slowed.extend(crossing.flat_map(|&t| self.triangles[t as usize]));
            slowed.sort_unstable();
            slowed.dedup();
            slowed.retain(|&v| ways[v as usize] != Vec3::ZERO);
            if slowed.is_empty() {
                break;
            }
            for &v in slowed.iter() {
                let way = &mut ways[v as usize];
                *way *= 0.5;
                if way.length() < LEAST_SWELLING * model.local_radius[v as usize] {
                    *way = Vec3::ZERO;
                }
                let Ok(i) = list.binary_search(&v) else { continue };
                scratch.positions[v as usize] = start[i] + *way;
            }
            self.list_triangles(slowed.iter().copied(), scratch);
        }
        list.iter().for_each(|&v| swollen[v as usize] += ways[v as usize]);
    }
}

impl Refill {
    /// Passes lost volume on along the skin, out of the crease.
    fn spread(&mut self, model: &Model) {
        let Refill { volume, open, list, open_around, passed, .. } = self;
        for _ in 0..SPREAD_STEPS {
            passed.clear();
            passed.extend(list.iter().zip(open_around.iter()).map(|(&v, &around)| {
                if around > 0.0 { PASSED_SHARE * volume[v as usize] / around } else { 0.0 }
            }));
            for ((&v, &around), &amount) in list.iter().zip(open_around.iter()).zip(passed.iter()) {
                if amount != 0.0 {
                    volume[v as usize] -= amount * around;
                    let ring = model.mean.of(v as usize);
                    ring.for_each(|(k, weight)| volume[k as usize] += amount * weight * open[k as usize]);
                }
            }
        }
    }

    /// Leaves everything zero.
    fn end(&mut self) {
        for &v in &self.list {
            self.volume[v as usize] = 0.0;
            self.crease[v as usize] = 0.0;
            self.open[v as usize] = 0.0;
            self.swollen[v as usize] = Vec3::ZERO;
            self.ways[v as usize] = Vec3::ZERO;
            self.is_listed[v as usize] = false;
        }
    }
}

fn area(corners: [u32; 3], x: &[Vec3]) -> Vec3 {
    let [a, b, c] = corners.map(|v| x[v as usize]);
    (b - a).cross(c - a) / 2.0
}

/// Mean area vector of a triangle on its way from one place to another, in straight lines.
fn swept(corners: [u32; 3], from: &[Vec3], to: &[Vec3]) -> Vec3 {
    let [a, b, c] = corners.map(|v| 0.5 * (from[v as usize] + to[v as usize]));
    let middle = (b - a).cross(c - a) / 2.0;
    // Simpson's rule is exact: the area is quadratic in time.
    (area(corners, from) + 4.0 * middle + area(corners, to)) / 6.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::mesh;
    use crate::parts::Parts;
    use crate::skinning::Surface;
    use crate::tracking::robust::Tracker;

    /// A dent pressed into a cylinder by hand, as separating would leave it.
    #[test]
    fn skin_around_a_dent_swells_by_what_the_dent_has_lost() {
        let character = crate::samples::build("cylinder").unwrap();
        let surface = Surface::new(&character).unwrap();
        let parts = Parts::build(&surface, &character, &Default::default(), None);
        let Tracker { model, rest_surface, mut contact, .. } =
            Tracker::new(&character, &surface, &parts, Default::default(), Vec::new(), None);
        let (before, triangles) = (&surface.mesh.positions, &surface.mesh.triangles);
        let normals = surface.mesh.normals();
        let radius = model.inner_radius(0);
        let (low, high) = surface.mesh.bounds();
        let centre = Vec3::new(0.5 * (low.x + high.x), low.y + 0.25 * (high.y - low.y), high.z);
        let mut scratch = Scratch::default();
        let mut filled = Vec::new();
        for _ in 0..2 {
            scratch.positions.clone_from(before);
            scratch.is_listed.resize(triangles.len(), false);
            scratch.separated.clear();
            for v in 0..before.len() {
                let near = 1.0 - before[v].distance(centre) / (0.6 * radius);
                if near > 0.0 {
                    scratch.positions[v] -= normals[v] * (0.4 * radius * smoothstep(near));
                    scratch.separated.push((v as u32, 1.0));
                }
            }
            let dented = scratch.positions.clone();
            contact.find_between_patches(&dented, &mut Default::default());
            rest_surface.refill(&model, &mut contact, before, &[], &mut scratch);
            let volume = |x: &[Vec3]| mesh::volume(x, triangles);
            let (lost, kept) =
                (volume(before) - volume(&dented), volume(before) - volume(&scratch.positions));
            assert!(lost > 0.0 && (-0.05 * lost..0.5 * lost).contains(&kept), "of {lost} still lost: {kept}");
            assert!(contact.find(&scratch.positions).pairs.is_empty());
            for v in 0..before.len() {
                let swollen = scratch.positions[v].distance(dented[v]);
                assert!(
                    swollen <= (MOST_SWELLING + 1e-4) * model.local_radius[v],
                    "vertex {v} swells by {swollen}"
                );
                let (depth, away) = (before[v].distance(dented[v]), before[v].distance(centre));
                assert!(
                    away < 3.0 * radius || swollen == 0.0,
                    "vertex {v} is far away and swells by {swollen}"
                );
                assert!(
                    depth < CREASE_OFFSET * radius || swollen < 0.1 * depth,
                    "the dent fills by {swollen} at vertex {v}"
                );
            }
            filled.push(scratch.positions.clone());
        }
        assert_eq!(filled[0], filled[1], "a frame remembers the one before");
    }
}
