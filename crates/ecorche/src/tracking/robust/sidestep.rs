//! Thin limbs that skinning drives through others are led around them, whole.
//!
//! A thumb whose bone passes through a finger has no side to go back to: along its whole girth it is inside. Smoothing parts
//! the two by wearing one of them down to a thread. So before anything is tracked, a stretch of a limb that is swallowed
//! all around is moved sideways, out of what swallows it by the shortest way, and the limb on both sides of it follows less and
//! less. Afterwards skin lies beside skin and is tracked as any other.
//!
//! What swallows all around: over the buried skin of a stretch, area times normal adds up to nothing; over skin that is only
//! pressed on one side it does not.

use super::model::{Model, Relation};
use super::pose::smoothstep;
use super::untangle::{self, Untangler};
use crate::geom::bvh::Bvh;
use crate::geom::intersect::Ray;
use crate::math::svd;
use crate::parts::FOLLOWS;
use glam::{DMat3, Mat3A, Vec3, Vec3A};

/// How closed a buried stretch is, 0 for one that is pressed flat and 1 for one buried all around, when it begins to step aside and
/// when it does so in full. A round limb buried to its middle has 0.36. The thumbs of mh_base have 0.2 to 0.5 in its walk and run, where
/// tracking alone parts them, and 0.7 to 0.9 in its jump, where it wears fingers down to threads. From 0.4 to 0.6, and
/// [`OTHER_SIDE`] at 0.5, the walk kept 290 crossings instead of 4 (ten frames a second).
const SWALLOWED: [f32; 2] = [0.55, 0.75];
/// In squares of the girth: least area of a stretch; less does not go all around. With none eight vertices of mh_base's hip went 20 cm aside
/// where it crouches; a thumb has 3.2 to 4.8.
const LEAST_AREA: f32 = 3.0;
/// In girths: a way up to the first is gone, one beyond the second is not. Not varied.
const FARTHEST: [f32; 2] = [3.0, 4.0];
/// Ways that are tried around a limb.
const WAYS: usize = 16;
/// Vertices of a limb whose way is looked at, at most.
const PROBES: usize = 96;
/// How many times longer a way counts on which all of the limb ends up inside something else. Without this the thumbs of mh_base went into
/// the palm, and its jump kept 1298 crossings instead of 652; more was not tried.
const BURIED_ELSEWHERE: f32 = 4.0;
/// In ways out: how far along the skin from the stretch the limb follows. Not varied.
const FOLLOWING: f32 = 3.0;
/// How much longer a way counts that leads to the other side than the one the limb is on at rest; see [`SWALLOWED`].
const OTHER_SIDE: f32 = 1.0;
/// In girths: room left between the two. Not varied.
const ROOM: f32 = 0.1;

/// Buffers of [`Untangler::sidestep`], kept from frame to frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// Of each vertex: 1 + the stretch it is in, or 0.
    stretch_of: Vec<u32>,
    /// Vertices of all stretches, stretch by stretch, and where each ends.
    members: Vec<u32>,
    ends: Vec<usize>,
    partners: Vec<u32>,
    steps: Vec<Step>,
    /// Distances to where a ray goes in or out of other skin.
    hits: Vec<(f32, i32)>,
    /// The limb that would go: a vertex, its share of the way, and whether it is swallowed.
    probes: Vec<(u32, f32, bool)>,
    stack: Vec<u32>,
}

/// A stretch and the way it goes.
#[derive(Clone, Copy, Debug)]
struct Step {
    stretch: usize,
    way: Vec3,
    share: f32,
    /// A stretch of the other limb that its rim goes through, if that is buried too.
    swallowed_by: Option<usize>,
}

impl Untangler {
    /// Moves `skinned` where it is swallowed, after [`Untangler::find_pressed`]; `aside` hears which vertices have moved, 0 to 1.
    /// Whether any has. `bvh` fits them.
    pub fn sidestep(
        &self,
        model: &Model,
        bvh: &Bvh,
        skinned: &mut [(Vec3A, Mat3A)],
        aside: &mut [f32],
        scratch: &mut untangle::Scratch,
    ) -> bool {
        let mut own = std::mem::take(&mut scratch.sidestep);
        own.find_stretches(self, model, &scratch.pressed.buried);
        own.steps.clear();
        scratch.touched.clear();
        for stretch in 0..own.ends.len() {
            own.look_for_way(self, model, bvh, skinned, scratch, stretch);
            for v in scratch.touched.drain(..) {
                scratch.strength[v as usize] = 0.0;
            }
        }
        own.steps.sort_unstable_by(|a, b| {
            a.way.length().total_cmp(&b.way.length()).then(a.stretch.cmp(&b.stretch))
        });
        for i in 0..own.steps.len() {
            let step = own.steps[i];
            // One of two that swallow each other goes, the one with the shorter way.
            if own.steps[..i].iter().any(|other| {
                other.swallowed_by == Some(step.stretch) || step.swallowed_by == Some(other.stretch)
            }) {
                continue;
            }
            let members = own.members_of(step.stretch);
            let mean_inner = members.clone().map(|i| model.inner_radius(own.members[i])).sum::<f32>()
                / members.len().max(1) as f32;
            for k in members {
                scratch.raise(model, own.members[k], 1.0);
            }
            let reach = FOLLOWING * step.way.length() / mean_inner.max(f32::MIN_POSITIVE);
            scratch.spread(model, usize::MAX, reach);
            for &v in &scratch.touched {
                let share = smoothstep(scratch.strength[v as usize]);
                scratch.strength[v as usize] = 0.0;
                skinned[v as usize].0 += Vec3A::from(step.way) * share;
                aside[v as usize] = aside[v as usize].max(share * step.share);
            }
            scratch.touched.clear();
        }
        let moved = !own.steps.is_empty();
        scratch.sidestep = own;
        moved
    }
}

impl Scratch {
    fn members_of(&self, stretch: usize) -> std::ops::Range<usize> {
        let begin = if stretch == 0 { 0 } else { self.ends[stretch - 1] };
        begin..self.ends[stretch]
    }

    /// Buried vertices that hang together, with at most one vertex between them, and are of one part.
    fn find_stretches(&mut self, untangler: &Untangler, model: &Model, buried: &[(u32, i32)]) {
        const BURIED: u32 = u32::MAX;
        let Self { stretch_of, members, ends, stack, .. } = self;
        stretch_of.clear();
        stretch_of.resize(model.rest.len(), 0);
        members.clear();
        ends.clear();
        let is_limb = |v: u32| model.part[v as usize] != FOLLOWS;
        for &(v, _) in buried.iter().filter(|(v, change)| *change > 0 && is_limb(*v)) {
            stretch_of[v as usize] = BURIED;
        }
        for &(first, _) in buried {
            if stretch_of[first as usize] != BURIED {
                continue;
            }
            let number = ends.len() as u32 + 1;
            stretch_of[first as usize] = number;
            stack.push(first);
            while let Some(v) = stack.pop() {
                members.push(v);
                for &k in untangler.vertex_ring.get(v as usize) {
                    for &j in untangler.vertex_ring.get(k as usize).iter().chain([&k]) {
                        if stretch_of[j as usize] == BURIED
                            && model.part[j as usize] == model.part[v as usize]
                        {
                            stretch_of[j as usize] = number;
                            stack.push(j);
                        }
                    }
                }
            }
            let begin = ends.last().copied().unwrap_or(0);
            members[begin..].sort_unstable();
            ends.push(members.len());
        }
    }

    /// Lists how a stretch gets out of what swallows it, if it is swallowed and can.
    fn look_for_way(
        &mut self,
        untangler: &Untangler,
        model: &Model,
        bvh: &Bvh,
        skinned: &[(Vec3A, Mat3A)],
        marks: &mut untangle::Scratch,
        stretch: usize,
    ) {
        let x = &marks.positions;
        let range = self.members_of(stretch);
        let number = stretch as u32 + 1;
        let Self { stretch_of, members, partners, hits, steps, probes, .. } = self;
        let members = &members[range];
        let part = model.part[members[0] as usize];
        let (mut sum, mut total, mut spread) = (Vec3::ZERO, 0.0, DMat3::ZERO);
        // Of the length of a third of the area around.
        let normal = |v: u32| -> Vec3 {
            let corners = |&t: &u32| untangler.triangles[t as usize].map(|v| x[v as usize]);
            let around = untangler.triangles_of_vertex.get(v as usize).iter().map(corners);
            around.map(|[a, b, c]| (b - a).cross(c - a) / 6.0).sum()
        };
        for &v in members {
            let normal = normal(v);
            let area = normal.length();
            sum += normal;
            total += area;
            let n = normal.normalize_or_zero().as_dvec3();
            spread += DMat3::from_cols(n * n.x, n * n.y, n * n.z) * f64::from(area);
        }
        let closed = 1.0 - sum.length() / total.max(f32::MIN_POSITIVE);
        let girth = members.iter().map(|&v| model.girth[v as usize]).sum::<f32>() / members.len() as f32;
        let mut share = smoothstep((closed - SWALLOWED[0]) / (SWALLOWED[1] - SWALLOWED[0]));
        if share <= 0.0 || total < LEAST_AREA * girth * girth {
            return;
        }
        // What swallows it: the triangles that edges at its rim go through.
        partners.clear();
        let is_member = |v: u32| stretch_of[v as usize] == number;
        partners.extend(
            marks
                .pressed
                .burial
                .pierced()
                .filter(|((a, b), _)| is_member(*a) || is_member(*b))
                .map(|pierced| pierced.1),
        );
        let corner = |t: u32| untangler.triangles[t as usize][0];
        let part_of = |t: u32| model.part[corner(t) as usize];
        let is_joint = |t: &&u32| {
            let other = part_of(**t);
            other == FOLLOWS || matches!(model.relation(part, other), Relation::Same | Relation::Joint)
        };
        if 2 * partners.iter().filter(is_joint).count() >= partners.len() {
            return;
        }
        // Along the limb normals spread least.
        let found = svd::svd(&spread);
        let axis = found.v.z_axis.as_vec3();
        let rest_of = |v: u32| model.rest[v as usize];
        let middle = members.iter().map(|&v| rest_of(v)).sum::<Vec3A>() / members.len() as f32;
        let side: Vec3A =
            partners.iter().map(|&t| skinned[corner(t) as usize].1 * (middle - rest_of(corner(t)))).sum();
        let side = Vec3::from(side).reject_from_normalized(axis).normalize_or_zero();
        probes.clear();
        let inner = members.iter().map(|&v| model.inner_radius(v)).sum::<f32>() / members.len() as f32;
        members.iter().for_each(|&v| marks.raise(model, v, 1.0));
        marks.spread(model, usize::MAX, FOLLOWING * 1.5 * girth / inner.max(f32::MIN_POSITIVE));
        marks.touched.sort_unstable();
        let stride = marks.touched.len().div_ceil(PROBES);
        let probe = |&v: &u32| (v, smoothstep(marks.strength[v as usize]), is_member(v));
        probes.extend(marks.touched.iter().step_by(stride).map(probe));
        let strength = &marks.strength;
        let x = &marks.positions;
        let first = axis.any_orthonormal_vector();
        let second = axis.cross(first);
        let most = FARTHEST[1] * girth;
        // How far the stretch has to go until it is out of all that does not go along, and how much of the limb around it is in something then.
        let mut out = |way: Vec3| {
            let mut farthest = 0.0f32;
            for pass in 0..2 {
                let mut buried = 0;
                for &(v, share, swallowed) in probes.iter().filter(|probe| pass == 1 || probe.2) {
                    let ray = Ray::new(x[v as usize], way);
                    hits.clear();
                    bvh.each_hit(&ray, most, x, &untangler.triangles, |hit| {
                        let corners = untangler.triangles[hit.triangle as usize];
                        if corners.iter().any(|&k| strength[k as usize] < 0.5) && !corners.contains(&v) {
                            hits.push((hit.distance, if hit.front { 1 } else { -1 }));
                        }
                    });
                    hits.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
                    let mut inside = i32::from(swallowed);
                    if pass == 0 {
                        let exit = hits.iter().find(|hit| {
                            inside += hit.1;
                            inside <= 0
                        });
                        farthest = farthest.max(exit.map_or(f32::INFINITY, |hit| hit.0));
                    } else {
                        let goes = share * (farthest + ROOM * girth);
                        inside += hits.iter().take_while(|hit| hit.0 < goes).map(|hit| hit.1).sum::<i32>();
                        buried += usize::from(inside > 0);
                    }
                }
                if !farthest.is_finite() {
                    break;
                }
                if pass == 1 {
                    return (farthest, buried as f32 / probes.len() as f32);
                }
            }
            (farthest, 0.0)
        };
        let mut ways = [(f32::INFINITY, Vec3::ZERO); WAYS];
        for (k, way) in ways.iter_mut().enumerate() {
            let (sine, cosine) = (std::f32::consts::TAU * k as f32 / WAYS as f32).sin_cos();
            let direction = cosine * first + sine * second;
            let (distance, buried) = out(direction);
            let cost =
                (1.0 + 0.5 * OTHER_SIDE * (1.0 - direction.dot(side))) * (1.0 + BURIED_ELSEWHERE * buried);
            *way = (distance * cost, direction);
        }
        let best = ways.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or_default();
        if !best.0.is_finite() {
            return;
        }
        // The mean of the good ones near the best: it turns as the limb does, not by a sixteenth.
        let weight = |&(cost, direction): &(f32, Vec3)| {
            let near = (direction.dot(best.1) - 0.5).max(0.0);
            near * (1.0 - (cost / best.0.max(f32::MIN_POSITIVE) - 1.0) / 0.5).max(0.0)
        };
        let mean: Vec3 = ways.iter().filter(|way| way.0.is_finite()).map(|way| way.1 * weight(way)).sum();
        let way = mean.normalize_or(best.1);
        let (distance, _) = out(way);
        if !distance.is_finite() {
            return;
        }
        share *= 1.0
            - smoothstep(
                (distance / girth.max(f32::MIN_POSITIVE) - FARTHEST[0]) / (FARTHEST[1] - FARTHEST[0]),
            );
        if share > 0.0 {
            let others = partners.iter().flat_map(|&t| untangler.triangles[t as usize]);
            let swallowed_by =
                others.map(|v| stretch_of[v as usize]).filter(|&s| s != 0 && s != number).max();
            let swallowed_by = swallowed_by.map(|s| s as usize - 1);
            steps.push(Step { stretch, swallowed_by, way: way * ((distance + ROOM * girth) * share), share });
        }
    }
}
