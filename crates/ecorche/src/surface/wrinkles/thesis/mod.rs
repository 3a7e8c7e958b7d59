//! The thesis' own wrinkles: ridges around curves of the skin, as convolution surfaces joined with the body.
//!
//! Based on: Turchet. Physics-based Modelling, Simulation, Placement and Learning for Musculo-Skeletal Animations. 2018, chapter 6.
//!
//! Differs in: curves are grown once, at bind, where the exercise of the range of motion bends each joint most, and kept; so a frame
//! depends on its pose alone. The gradients of the two bones' fields are the rest normals turned with each bone, instead of
//! those of fitted fields. Gradients of the angle are by least squares over two rings; a vertex' lowest neighbour is off by more than 45
//! degrees for one in eight. A wrinkle appears with the angle of its joint in degrees, never with the number of frames. Joined with the
//! body by the maximum of both fields, which moves a vertex out along the normal until it is on the wrinkle. On request the curves are
//! the ridges of the stripes.

mod convolution;
mod definition;
mod growth;

pub use definition::{Curves, System, ThesisDef};

use super::Exercise;
use super::pattern::Ground;
use super::regions::bone_direction;
use super::stripe_set::StripeSet;
use crate::geom::Adjacency;
use crate::geom::adjacency::Lists;
use crate::skinning::Surface;
use crate::surface::Scene;
use convolution::Knot;
use glam::{Quat, Vec3, Vec3A};
use growth::{Bend, Skin};
use rayon::prelude::*;
use std::f64::consts::{PI, TAU};

/// A segment reaches skin this many radii away; its field there is below a hundredth.
const REACH: f32 = 4.0;
/// An axis this many radii below the skin does not show.
const HIDDEN: f32 = 1.6;

/// Wrinkles of a surface.
#[derive(Debug)]
pub(super) struct Thesis {
    joints: Vec<Hinge>,
    segments: Vec<Segment>,
    /// Segments near each vertex of the pattern.
    near: Lists,
}

/// A joint with curves.
#[derive(Debug)]
struct Hinge {
    /// Joints above and below.
    parent: usize,
    joint: usize,
    axis: Vec3,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    knots: [Knot; 2],
    /// Of [`Thesis::joints`].
    hinge: u32,
    /// Of its surface, metres.
    radius: f32,
    /// How much it rises, 0 to 1: less far from the joint.
    strength: f32,
}

impl Thesis {
    pub fn new(
        exercise: &Exercise,
        ground: &Ground,
        adjacency: &Adjacency,
        sets: &[StripeSet],
        vertices: &[u32],
        def: &ThesisDef,
    ) -> Self {
        let surface = exercise.surface;
        let skeleton = &exercise.character.skeleton;
        let at = |j: usize| Vec3::from(surface.joint_from_bind()[j].inverse().translation);
        let normals = surface.mesh.normals();
        let (mut joints, mut segments) = (Vec::new(), Vec::new());
        for joint in &ground.joints {
            let Some(j) = skeleton.find(&joint.name).filter(|_| joint.subdivisions == 0) else { continue };
            let Some(parent) = skeleton.nearest_ancestor(j, |p| skeleton.joints[p].in_skin) else { continue };
            let along = bone_direction(skeleton, &surface_joints(surface), j);
            let own = |v: usize| ground.is_of(v, j);
            let Some(turn) = exercise.strongest_bend([parent, j], along, own) else { continue };
            let (axis, _) = turn.to_axis_angle();
            let Some(inward) = axis.cross(along).try_normalize() else { continue };
            let limb = joint.radius;
            // Thinner than an edge, a wrinkle would show on single vertices only.
            let radius = def.radius.unwrap_or(def.share * limb).max(1.2 * joint.edge);
            let bend = Bend { turn, axis, inward, radius };
            let field = (0..normals.len()).map(|v| both(surface, v, parent, j)).collect();
            let skin = Skin { rest: &surface.mesh, adjacency, normals: &normals, field };
            let angles = growth::angles(&skin, &bend, def);
            let largest = angles.iter().copied().fold(0.0, f32::max).max(1e-6);
            let hinge = joints.len() as u32;
            let mut add = |knots: [Knot; 2], angle: f32| {
                let middle = knots[0].at_rest(&surface.mesh.positions) - Vec3A::from(at(j));
                let far = middle.dot(along.into()) / (2.0 * limb);
                let radius = bend.radius * (0.5 + 0.5 * angle / largest);
                segments.push(Segment { knots, hinge, radius, strength: (-far * far).exp() });
            };
            match def.curves {
                Curves::Grown => {
                    for curve in growth::grow(&skin, &angles, &bend, def) {
                        for pair in curve.windows(2) {
                            let knots = [pair[0].0, pair[1].0].map(Knot::at_vertex);
                            add(knots, 0.5 * (pair[0].1 + pair[1].1));
                        }
                    }
                }
                Curves::Stripes => {
                    for knots in sets.first().map_or(Vec::new(), ridges) {
                        let v = knots[0].ends[0] as usize;
                        if ground.is_of(v, j) && angles[v] > 0.0 {
                            add(knots, angles[v]);
                        }
                    }
                }
            }
            joints.push(Hinge { parent, joint: j, axis: bend.axis });
        }
        let near = near(&segments, vertices, &surface.mesh.positions);
        Self { joints, segments, near }
    }

    /// Number of pieces of curves.
    pub fn segments(&self) -> usize {
        self.segments.len()
    }

    /// Heights of the pattern's vertices, whose normals are given.
    pub fn heights(&self, def: &ThesisDef, scene: &Scene, vertices: &[u32], w: &mut super::Workspace) {
        let super::Workspace { heights, normals, risen, .. } = w;
        risen.clear();
        risen.extend(self.joints.iter().map(|hinge| {
            let turn = |j: usize| Quat::from_mat3a(&scene.posed_from_bind[j].matrix3).normalize();
            let relative = turn(hinge.parent).inverse() * turn(hinge.joint);
            let along = relative.xyz().dot(hinge.axis);
            let angle = 2.0 * along.atan2(relative.w.abs()) * relative.w.signum();
            let [from, to] = def.ramp;
            let t = ((angle.to_degrees() - from) / (to - from)).clamp(0.0, 1.0);
            if t.is_finite() { t * t * (3.0 - 2.0 * t) } else { 0.0 }
        }));
        let risen = &*risen;
        let normal_at = |v: u32| super::heights::normal(scene, v);
        (0..vertices.len())
            .into_par_iter()
            .with_min_len(64)
            .map(|i| {
                let near = self.near.get(i);
                if near.is_empty()
                    || near.iter().all(|&k| risen[self.segments[k as usize].hinge as usize] == 0.0)
                {
                    return (0.0, Vec3A::ZERO);
                }
                let v = vertices[i] as usize;
                let (at, normal) = (scene.positions[v], normal_at(v as u32));
                let field = |x: Vec3A| -> f32 {
                    let of = near.iter().map(|&k| {
                        let segment = &self.segments[k as usize];
                        let up = risen[segment.hinge as usize] * segment.strength;
                        if up == 0.0 {
                            return 0.0;
                        }
                        let depth = segment.radius * (HIDDEN + up * (def.sunk - HIDDEN));
                        // Close by, the skin's own normal is as good as that of the curve.
                        let [a, b] = segment
                            .knots
                            .map(|knot| knot.of(|v| scene.positions[v as usize]) - normal * depth);
                        convolution::field(x, a, b, convolution::sharpness(segment.radius))
                    });
                    of.sum()
                };
                let farthest = near.iter().map(|&k| self.segments[k as usize].radius).fold(0.0, f32::max);
                let height = convolution::rise(at, normal, 1.5 * farthest, field);
                let free = 1.0 - scene.contact[v].clamp(0.0, 1.0);
                if height.is_finite() { (free * height, normal) } else { (0.0, Vec3A::ZERO) }
            })
            .unzip_into_vecs(heights, normals);
    }
}

fn surface_joints(surface: &Surface) -> Vec<Vec3> {
    surface.joint_from_bind().iter().map(|map| Vec3::from(map.inverse().translation)).collect()
}

/// How much two bones both hold a vertex, 0 to 1.
fn both(surface: &Surface, v: usize, parent: usize, joint: usize) -> f32 {
    let share = |j: usize| surface.influences.of(v).find(|w| w.0 as usize == j).map_or(0.0, |w| w.1);
    2.0 * share(parent).min(share(joint))
}

/// Pieces of the lines where the phase is 0.
fn ridges(set: &StripeSet) -> Vec<[Knot; 2]> {
    let mut found = Vec::new();
    for ((_, corners), change) in set.triangles.iter().zip(&set.changes) {
        let Some(change) = change.filter(|_| corners.iter().all(|&v| set.mask[v] > 0.3)) else { continue };
        let first = glam::DVec2::X.angle_to(set.phases[corners[0]]);
        let phases = [first, first + change[0], first + change[1]];
        let (low, high) = phases.iter().fold((f64::MAX, f64::MIN), |(l, h), &p| (l.min(p), h.max(p)));
        // More than half a turn in a triangle is noise.
        if high - low > PI {
            continue;
        }
        let level = TAU * (high / TAU).floor();
        let knots: Vec<Knot> = (0..3)
            .filter_map(|k| {
                let (a, b) = (k, (k + 1) % 3);
                let share = (level - phases[a]) / (phases[b] - phases[a]);
                let ends = [a, b].map(|c| set.vertices[corners[c]]);
                (0.0..1.0).contains(&share).then_some(Knot { ends, share: share as f32 })
            })
            .collect();
        if let [a, b] = knots[..] {
            found.push([a, b]);
        }
    }
    found
}

/// Of each vertex the segments that reach it at rest.
fn near(segments: &[Segment], vertices: &[u32], positions: &[Vec3]) -> Lists {
    let farthest = segments.iter().map(|s| REACH * s.radius).fold(0.0, f32::max);
    let cell = |p: Vec3A| (p / farthest.max(1e-6)).floor().as_ivec3();
    let middle = |s: &Segment| 0.5 * (s.knots[0].at_rest(positions) + s.knots[1].at_rest(positions));
    let mut cells: Vec<([i32; 3], u32)> =
        segments.iter().enumerate().map(|(k, s)| (cell(middle(s)).to_array(), k as u32)).collect();
    cells.sort_unstable();
    let mut pairs = Vec::new();
    for (i, &v) in vertices.iter().enumerate() {
        let p = Vec3A::from(positions[v as usize]);
        let [x, y, z] = cell(p).to_array();
        for (dx, dy, dz) in
            (-1..=1).flat_map(|x| (-1..=1).flat_map(move |y| (-1..=1).map(move |z| (x, y, z))))
        {
            let key = [x + dx, y + dy, z + dz];
            let from = cells.partition_point(|c| c.0 < key);
            for &(_, k) in cells[from..].iter().take_while(|c| c.0 == key) {
                let segment = &segments[k as usize];
                if middle(segment).distance(p) <= REACH * segment.radius {
                    pairs.push((i as u32, k));
                }
            }
        }
    }
    pairs.sort_unstable();
    Lists::group(vertices.len(), &pairs)
}
