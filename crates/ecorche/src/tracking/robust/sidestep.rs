//! Stage `sidestep`: moves thin limbs that skinning drives through others out of them, as a whole.
//!
//! A thumb whose bone passes through a finger has no side to go back to: all around it is inside. Smoothing
//! separates the two by wearing one of them down to a thread. So before anything is tracked, a stretch of a limb that is swallowed
//! all around is moved sideways, out of what swallows it by the shortest way, and the limb on both sides of it follows less and
//! less. Afterwards skin lies beside skin and is tracked as any other.
//!
//! What swallows all around: over the buried skin of a stretch, area times normal adds up to nothing; over skin that is only
//! pressed on one side it does not.

use super::bone::Relation;
use super::model::Model;
use super::pose::smoothstep;
use super::rest_surface::RestSurface;
use super::scratch;
use super::tracker::{Tracked, Tracker, Workspace};
use crate::geom::bvh::Bvh;
use crate::geom::intersect::Ray;
use crate::math::svd;
use crate::parts::FOLLOWS;
use glam::{DMat3, Mat3A, Vec3, Vec3A};

/// How closed a buried stretch is, 0 for one that is pressed flat and 1 for one buried all around, from which on it steps aside. A round limb
/// buried to its middle has 0.36. The thumbs of mh_base have 0.2 to 0.5 in its walk and run, where tracking alone parts them, and 0.7
/// to 0.9 in its jump, where it wears fingers down to threads. At 0.6 its walk keeps 44 crossings (ten frames a second), at 0.7 its jump
/// 129 (thirty), here none and 3. It goes all of the way or stays: half the way is still inside, and a step that grew from 0.65 to 0.75 left
/// the jump 222.
const LEAST_ENCLOSURE: f32 = 0.65;
/// In squares of the local radius: least area of a stretch; less does not go all around. With none eight vertices of mh_base's hip went 20 cm aside
/// where it crouches; a thumb has 3.2 to 4.8.
const LEAST_AREA: f32 = 3.0;
/// In local radii: a longer way is not gone. At 3 Geno's run keeps half as many crossings again, at 8 its walk six times as many. This and the
/// figures of [`FOLLOWING_REACH`], [`TYPICAL_WAY`] and [`CLEARANCE`] were counted while steps still grew from 0.65 to 0.75, and not again since.
const LONGEST_WAY: f32 = 5.0;
/// VertexVectors that are tried around a limb. Not varied.
const WAYS_TRIED: usize = 16;
/// Vertices of a limb whose way is looked at, at most. Not varied.
const MOST_PROBES: usize = 96;
/// How many times longer a way counts on which all of the limb ends up inside something else. Without this the thumbs of mh_base went into
/// the palm, and its jump kept 1298 crossings instead of 652, with an earlier rule; more was not tried.
const BURIED_COST: f32 = 4.0;
/// In ways out: how far along the skin from the stretch the limb follows. At 0.7 eight clips of published characters keep a tenth more
/// crossings; at 3 the beagle's hind quarters go along with a leg that curls up into its belly, and are gone.
const FOLLOWING_REACH: f32 = 1.5;
/// In local radii: the way for which the skin that goes along is found while ways are looked for. At 2.5 the beagle loses a sixth of its space
/// in one frame.
const TYPICAL_WAY: f32 = 1.5;
/// How much longer a way counts that leads to the other side than the one the limb is on at rest. Not varied alone.
const OTHER_SIDE_COST: f32 = 1.0;
/// In local radii: room left between the two. Half and twice as much change little.
const CLEARANCE: f32 = 0.1;

/// Buffers of [`RestSurface::sidestep`], kept from frame to frame.
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

/// What ways are looked for in.
struct Scene<'a> {
    rest_surface: &'a RestSurface,
    model: &'a Model,
    bvh: &'a Bvh,
    skinned: &'a [(Vec3A, Mat3A)],
}

impl Scene<'_> {
    /// A vertex of a triangle.
    fn corner(&self, t: u32) -> u32 {
        self.rest_surface.triangles[t as usize][0]
    }
}

/// A stretch that is swallowed all around.
struct Tube {
    local_radius: f32,
    axis: Vec3,
}

/// A stretch and the way it goes.
#[derive(Clone, Copy, Debug)]
struct Step {
    stretch: usize,
    way: Vec3,
    /// A stretch of the other limb that its rim goes through, if that is buried too.
    swallowed_by: Option<usize>,
}

impl Tracker {
    /// Moves limbs that lie inside others out of them.
    pub(super) fn sidestep(&self, coherent: bool, w: &mut Workspace, tracked: &mut Tracked) {
        w.sidestepped.clear();
        w.sidestepped.resize(self.len(), 0.0);
        let Some(contact) = &w.contact else { return };
        let (skinned, sidestepped) = (&mut w.skinned, &mut w.sidestepped);
        if self.rest_surface.sidestep(&self.model, contact.bvh(), skinned, sidestepped, &mut w.untangle) {
            if !coherent {
                tracked.positions.iter_mut().zip(&w.skinned).for_each(|(x, skinned)| *x = skinned.0);
            }
            self.find_contact(true, w);
        }
    }
}

impl RestSurface {
    /// Moves `skinned` where it is swallowed, after [`RestSurface::find_contact`]; `sidestepped` gets how much each vertex has moved, 0 to 1.
    /// Whether any has. `bvh` fits them.
    pub fn sidestep(
        &self,
        model: &Model,
        bvh: &Bvh,
        skinned: &mut [(Vec3A, Mat3A)],
        sidestepped: &mut [f32],
        scratch: &mut scratch::Scratch,
    ) -> bool {
        let mut own = std::mem::take(&mut scratch.sidestep);
        own.find_stretches(self, model, &scratch.find_contact.buried);
        own.steps.clear();
        scratch.touched.clear();
        for stretch in 0..own.ends.len() {
            let scene = Scene { rest_surface: self, model, bvh, skinned };
            own.look_for_way(&scene, scratch, stretch);
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
            own.raise(model, scratch, step.stretch, FOLLOWING_REACH * step.way.length());
            for &v in &scratch.touched {
                let share = smoothstep(scratch.strength[v as usize]);
                scratch.strength[v as usize] = 0.0;
                skinned[v as usize].0 += Vec3A::from(step.way) * share;
                sidestepped[v as usize] = sidestepped[v as usize].max(share);
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
    fn find_stretches(&mut self, rest_surface: &RestSurface, model: &Model, buried: &[(u32, i32)]) {
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
                for &k in rest_surface.vertex_ring.get(v as usize) {
                    for &j in rest_surface.vertex_ring.get(k as usize).iter().chain([&k]) {
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
    fn look_for_way(&mut self, scene: &Scene, marks: &mut scratch::Scratch, stretch: usize) {
        let Some(tube) = self.judge(scene, &marks.positions, stretch) else { return };
        self.find_partners(marks.find_contact.burial.pierced(), stretch);
        let part = scene.model.part[self.members[self.members_of(stretch).start] as usize];
        let is_joint = |t: &&u32| {
            let other = scene.model.part[scene.corner(**t) as usize];
            other == FOLLOWS || matches!(scene.model.relation(part, other), Relation::Same | Relation::Joint)
        };
        if 2 * self.partners.iter().filter(is_joint).count() >= self.partners.len() {
            return;
        }
        self.raise(scene.model, marks, stretch, FOLLOWING_REACH * TYPICAL_WAY * tube.local_radius);
        marks.touched.sort_unstable();
        let stride = marks.touched.len().div_ceil(MOST_PROBES);
        let is_member = |v: u32| self.stretch_of[v as usize] == stretch as u32 + 1;
        let probe = |&v: &u32| (v, smoothstep(marks.strength[v as usize]), is_member(v));
        self.probes.clear();
        self.probes.extend(marks.touched.iter().step_by(stride).map(probe));
        let side = self.side_at_rest(scene, stretch, tube.axis);
        let Some((way, distance)) = self.shortest_way(scene, marks, &tube, side) else { return };
        let others = self.partners.iter().flat_map(|&t| scene.rest_surface.triangles[t as usize]);
        let others = others.map(|v| self.stretch_of[v as usize]);
        let swallowed_by = others.filter(|&s| s != 0 && s != stretch as u32 + 1).max();
        let swallowed_by = swallowed_by.map(|s| s as usize - 1);
        self.steps.push(Step {
            stretch,
            swallowed_by,
            way: way * (distance + CLEARANCE * tube.local_radius),
        });
    }

    /// Whether a stretch is swallowed all around.
    fn judge(&self, scene: &Scene, x: &[Vec3], stretch: usize) -> Option<Tube> {
        let Scene { rest_surface, model, .. } = scene;
        let members = &self.members[self.members_of(stretch)];
        let (mut sum, mut total, mut spread) = (Vec3::ZERO, 0.0, DMat3::ZERO);
        for &v in members {
            // Of the length of a third of the area around.
            let corners = |&t: &u32| rest_surface.triangles[t as usize].map(|v| x[v as usize]);
            let around = rest_surface.triangles_of_vertex.get(v as usize).iter().map(corners);
            let normal: Vec3 = around.map(|[a, b, c]| (b - a).cross(c - a) / 6.0).sum();
            let area = normal.length();
            sum += normal;
            total += area;
            let n = normal.normalize_or_zero().as_dvec3();
            spread += DMat3::from_cols(n * n.x, n * n.y, n * n.z) * f64::from(area);
        }
        let closed = 1.0 - sum.length() / total.max(f32::MIN_POSITIVE);
        let local_radius =
            members.iter().map(|&v| model.local_radius[v as usize]).sum::<f32>() / members.len() as f32;
        // Along the limb normals spread least.
        let tube = || Tube { local_radius, axis: svd::svd(&spread).v.z_axis.as_vec3() };
        (closed >= LEAST_ENCLOSURE && total >= LEAST_AREA * local_radius * local_radius).then(tube)
    }

    /// Lists what swallows a stretch: the triangles that edges at its rim go through.
    fn find_partners(&mut self, pierced: impl Iterator<Item = ((u32, u32), u32)>, stretch: usize) {
        let is_member = |v: u32| self.stretch_of[v as usize] == stretch as u32 + 1;
        self.partners.clear();
        self.partners
            .extend(pierced.filter(|((a, b), _)| is_member(*a) || is_member(*b)).map(|pierced| pierced.1));
    }

    /// Across the axis: on which side of what swallows it a stretch is at rest.
    fn side_at_rest(&self, scene: &Scene, stretch: usize, axis: Vec3) -> Vec3 {
        let rest = |v: u32| scene.model.rest[v as usize];
        let members = &self.members[self.members_of(stretch)];
        let middle = members.iter().map(|&v| rest(v)).sum::<Vec3A>() / members.len() as f32;
        let from_partner = |&t: &u32| {
            let v = scene.corner(t);
            scene.skinned[v as usize].1 * (middle - rest(v))
        };
        let side: Vec3A = self.partners.iter().map(from_partner).sum();
        Vec3::from(side).reject_from_normalized(axis).normalize_or_zero()
    }

    /// The way across the axis on which the probes are soonest out, and how far it is.
    fn shortest_way(
        &mut self,
        scene: &Scene,
        marks: &scratch::Scratch,
        tube: &Tube,
        side: Vec3,
    ) -> Option<(Vec3, f32)> {
        let first = tube.axis.any_orthonormal_vector();
        let second = tube.axis.cross(first);
        let mut ways = [(f32::INFINITY, Vec3::ZERO); WAYS_TRIED];
        for (k, way) in ways.iter_mut().enumerate() {
            let (sine, cosine) = (std::f32::consts::TAU * k as f32 / WAYS_TRIED as f32).sin_cos();
            let direction = cosine * first + sine * second;
            let turned = 0.5 * OTHER_SIDE_COST * (1.0 - direction.dot(side));
            if let Some((distance, buried)) = self.out(scene, marks, tube.local_radius, direction) {
                *way = (distance * (1.0 + turned) * (1.0 + BURIED_COST * buried), direction);
            }
        }
        let best = ways.iter().copied().min_by(|a, b| a.0.total_cmp(&b.0)).filter(|way| way.0.is_finite())?;
        // The mean of the good ones near the best: it turns as the limb does, not by a sixteenth.
        let weight = |&(cost, direction): &(f32, Vec3)| {
            let near = (direction.dot(best.1) - 0.5).max(0.0);
            near * (1.0 - (cost / best.0.max(f32::MIN_POSITIVE) - 1.0) / 0.5).max(0.0)
        };
        let mean: Vec3 = ways.iter().filter(|way| way.0.is_finite()).map(|way| way.1 * weight(way)).sum();
        let way = mean.normalize_or(best.1);
        self.out(scene, marks, tube.local_radius, way).map(|(distance, _)| (way, distance))
    }

    /// How far the stretch has to go until it is out of all that does not go along, and how much of the limb around it is in
    /// something then.
    fn out(
        &mut self,
        scene: &Scene,
        marks: &scratch::Scratch,
        local_radius: f32,
        way: Vec3,
    ) -> Option<(f32, f32)> {
        let mut farthest = 0.0f32;
        for probe in self.probes.iter().filter(|probe| probe.2) {
            list_hits(scene, marks, LONGEST_WAY * local_radius, probe.0, way, &mut self.hits);
            let mut inside = 1;
            let exit = self.hits.iter().find(|hit| {
                inside += hit.1;
                inside <= 0
            });
            farthest = farthest.max(exit?.0);
        }
        let mut buried = 0;
        for &(v, share, swallowed) in &self.probes {
            let goes = share * (farthest + CLEARANCE * local_radius);
            list_hits(scene, marks, goes, v, way, &mut self.hits);
            let inside = i32::from(swallowed) + self.hits.iter().map(|hit| hit.1).sum::<i32>();
            buried += usize::from(inside > 0);
        }
        Some((farthest, buried as f32 / self.probes.len() as f32))
    }

    /// Gives a stretch strength 1, and the skin around it less up to a distance of `reach`.
    fn raise(&self, model: &Model, marks: &mut scratch::Scratch, stretch: usize, reach: f32) {
        for k in self.members_of(stretch) {
            marks.raise(model, self.members[k], 1.0);
        }
        marks.spread(model, usize::MAX, |_| reach);
    }
}

/// Lists where a way from a vertex goes in (1) or out (-1) of skin that does not go along, nearest first.
fn list_hits(
    scene: &Scene,
    marks: &scratch::Scratch,
    most: f32,
    v: u32,
    way: Vec3,
    hits: &mut Vec<(f32, i32)>,
) {
    let triangles = &scene.rest_surface.triangles;
    hits.clear();
    scene.bvh.each_hit(
        &Ray::new(marks.positions[v as usize], way),
        most,
        &marks.positions,
        triangles,
        |hit| {
            let corners = triangles[hit.triangle as usize];
            if corners.iter().any(|&k| marks.strength[k as usize] < 0.5) && !corners.contains(&v) {
                hits.push((hit.distance, if hit.front { 1 } else { -1 }));
            }
        },
    );
    hits.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
}
