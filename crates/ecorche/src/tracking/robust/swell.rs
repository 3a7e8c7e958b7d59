//! Stage `skin`, its second half: skin around bent joints swells by what skinning has taken from the flesh there.
//!
//! For joint j let b be the weight of the joint and all below it, and `phi = 4 b (1 - b)`: 1 in the middle of the joint's
//! skin, 0 where the skin is rigid. The flesh of the joint is the cone from its origin over the skin, weighted by phi.
//! Its volume in the pose, less that at rest, divided by the area it is spread over, is how far the skin goes along its
//! normal. Everything but that number is known at rest, so the skin stays as smooth as skinning has it.

use super::model::Model;
use super::plate::Plate;
use super::pose::{Posed, smoothstep};
use super::tracker::VERTICES_PER_TASK;
use crate::character::Character;
use crate::parts::FOLLOWS;
use crate::skinning::Surface;
use glam::{Mat3A, Vec3A};
use rayon::prelude::*;

/// Degrees of turn against the parent from which on all of the lost volume is given back. With none the fingers of a fist
/// swell with what their neighbours do, and single vertices move 4.6 times as far as the skeleton takes them.
const FULL_TURN: f32 = 20.0;
/// Share of gained volume that is taken back: with none the athlete gains 1.6 % in the squat, with all the hand's fist loses
/// 0.25 % more.
const TAKEN_BACK: f32 = 0.5;
/// In inner radii: most that skin swells.
const MOST: f32 = 0.1;
/// Rounds in which the bumps are smoothed along the skin at rest: painted weights are rough.
const SMOOTHING_ROUNDS: usize = 4;
/// Bumps lower than this everywhere are left out.
const LEAST_BUMP: f32 = 0.05;

/// Bumps that a vertex has at most, the highest: a rig of thousands of joints on every vertex would take the square of that many.
/// Painted and heat weights have 12 joints at most.
const MOST_BUMPS: usize = 96;

/// The joints around which skin swells.
#[derive(Clone, Debug, Default)]
pub(super) struct Swell {
    joints: Vec<SwellJoint>,
    /// Per vertex, back to back: joint of the list above, and its bump there.
    starts: Vec<u32>,
    bumps: Vec<(u32, f32)>,
}

#[derive(Clone, Debug)]
struct SwellJoint {
    joint: u32,
    /// The nearest joint above it that moves skin.
    parent: u32,
    /// Bind space.
    origin: Vec3A,
    /// Triangles around it with the mean of the bump at their corners.
    triangles: Vec<(u32, f32)>,
    /// Of the cone at rest, cubic metres.
    volume: f32,
    /// Joints of the list whose bumps overlap its own, and the integral of the product at rest, square metres.
    overlaps: Vec<(u32, f32)>,
    own_area: f32,
}

/// Scratch of [`Swell::displace`].
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    /// Per joint: how much it is turned, 0 to 1, and how far its skin goes, metres.
    turned: Vec<f32>,
    heights: Vec<f32>,
}

impl Swell {
    pub fn new(character: &Character, surface: &Surface, model: &Model, plate: &Plate) -> Self {
        let skeleton = &character.skeleton;
        let count = model.rest.len();
        let mut moves_skin = vec![false; skeleton.len()];
        model.influences.iter().for_each(|i| moves_skin[i.0 as usize] |= i.1 > 0.0);
        let parent_of = |joint: usize| skeleton.joints[joint].parent;
        let mut joints = Vec::new();
        let mut lists: Vec<Vec<(u32, f32)>> = vec![Vec::new(); count];
        let mut below = vec![false; skeleton.len()];
        for joint in (0..skeleton.len()).filter(|&j| moves_skin[j]) {
            let mut parent = parent_of(joint);
            while let Some(p) = parent.filter(|&p| !moves_skin[p]) {
                parent = parent_of(p);
            }
            let Some(parent) = parent else { continue };
            // Parents come before their children.
            for j in 0..skeleton.len() {
                below[j] = j == joint || parent_of(j).is_some_and(|p| p < j && below[p]);
            }
            let bump = |v: usize| {
                if model.part[v] == FOLLOWS {
                    return 0.0;
                }
                let weights = model.influences_of(v).iter().filter(|i| below[i.0 as usize]);
                let b = weights.map(|i| i.1).sum::<f32>().clamp(0.0, 1.0);
                4.0 * b * (1.0 - b)
            };
            let bumps: Vec<f32> = (0..count).map(bump).collect();
            if bumps.iter().all(|&b| b < LEAST_BUMP) {
                continue;
            }
            let bumps = plate.smoothed(bumps, SMOOTHING_ROUNDS);
            let height = |t: &[u32; 3]| t.iter().map(|&v| bumps[v as usize]).sum::<f32>() / 3.0;
            let around =
                surface.mesh.triangles.iter().enumerate().map(|(t, corners)| (t as u32, height(corners)));
            let triangles: Vec<(u32, f32)> = around.filter(|t| t.1 > 0.0).collect();
            let origin = surface.joint_from_bind()[joint].inverse().translation;
            let volume = cone(&triangles, &surface.mesh.triangles, origin, |v| model.rest[v as usize]);
            if !(volume.is_finite() && origin.is_finite()) {
                continue;
            }
            let index = joints.len() as u32;
            lists.iter_mut().zip(&bumps).filter(|b| *b.1 > 0.0).for_each(|(list, &b)| list.push((index, b)));
            let (overlaps, own_area) = (Vec::new(), 0.0);
            joints.push(SwellJoint {
                joint: joint as u32,
                parent: parent as u32,
                origin,
                triangles,
                volume,
                overlaps,
                own_area,
            });
        }
        let mut vertices_of: Vec<Vec<(u32, f32)>> = vec![Vec::new(); joints.len()];
        for (v, list) in lists.iter_mut().enumerate() {
            if list.len() > MOST_BUMPS {
                list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
                list.truncate(MOST_BUMPS);
                list.sort_by_key(|bump| bump.0);
            }
            list.iter().for_each(|&(joint, height)| vertices_of[joint as usize].push((v as u32, height)));
        }
        let mut areas = vec![0.0f64; joints.len()];
        for (j, (joint, vertices)) in joints.iter_mut().zip(vertices_of).enumerate() {
            areas.fill(0.0);
            for (v, height) in vertices {
                for &(other_joint, other) in &lists[v as usize] {
                    let area = f64::from(plate.area[v as usize]) * f64::from(height * other);
                    areas[other_joint as usize] += area;
                }
            }
            joint.own_area = areas[j] as f32;
            let overlaps = areas.iter().enumerate().filter(|o| *o.1 > 0.0);
            joint.overlaps = overlaps.map(|(k, &area)| (k as u32, area as f32)).collect();
        }
        let mut starts = vec![0u32];
        let mut bumps = Vec::new();
        for list in lists {
            bumps.extend(list);
            starts.push(bumps.len() as u32);
        }
        Self { joints, starts, bumps }
    }

    /// Displaces skinned positions. `rest` is where the skin rests, morphs included.
    pub fn displace(
        &self,
        posed: &Posed,
        triangles: &[[u32; 3]],
        rest: &[Vec3A],
        is_morphed: bool,
        plate: &Plate,
        skinned: &mut [(Vec3A, Mat3A)],
        scratch: &mut Scratch,
    ) {
        let Scratch { turned, heights } = scratch;
        let turn = |joint: &SwellJoint| {
            let [own, parent] = [joint.joint, joint.parent].map(|j| posed.rigid[j as usize].real);
            let cosine = (own.dot(parent) / (own.length() * parent.length())).abs();
            let degrees = 2.0 * cosine.clamp(0.0, 1.0).acos().to_degrees();
            if degrees.is_finite() { smoothstep(degrees / FULL_TURN) } else { 0.0 }
        };
        turned.clear();
        turned.extend(self.joints.iter().map(turn));
        let height = |(joint, &own): (&SwellJoint, &f32)| {
            if own <= 0.0 {
                return 0.0;
            }
            let rigid = posed.rigid[joint.joint as usize];
            let stretch = posed.stretch[joint.joint as usize];
            let origin = rigid.transform_point(stretch * joint.origin);
            let scale = stretch.determinant().abs();
            let before = match is_morphed {
                true => cone(&joint.triangles, triangles, joint.origin, |v| rest[v as usize]),
                false => joint.volume,
            };
            let now = cone(&joint.triangles, triangles, origin, |v| skinned[v as usize].0);
            let lost = before * scale - now;
            let lost = if lost < 0.0 { TAKEN_BACK * lost } else { lost };
            let area: f32 = joint.overlaps.iter().map(|o| turned[o.0 as usize] * o.1).sum();
            let height = own * lost / (area.max(0.5 * joint.own_area) * scale.cbrt().powi(2));
            if height.is_finite() { height } else { 0.0 }
        };
        self.joints.par_iter().zip(turned.par_iter()).map(height).collect_into_vec(heights);
        if heights.iter().all(|&h| h == 0.0) {
            return;
        }
        skinned.par_iter_mut().with_min_len(VERTICES_PER_TASK).enumerate().for_each(|(v, skinned)| {
            let bumps = &self.bumps[self.starts[v] as usize..self.starts[v + 1] as usize];
            let height: f32 = bumps.iter().map(|b| heights[b.0 as usize] * b.1).sum();
            let most = MOST * plate.fineness[v] * plate.radius[v];
            if height == 0.0 || most <= 0.0 {
                return;
            }
            let share = height / most;
            skinned.0 += skinned.1 * plate.normal[v] * (height / (1.0 + share * share).sqrt());
        });
    }
}

/// Volume of the cone from `origin` over weighted triangles.
fn cone(list: &[(u32, f32)], triangles: &[[u32; 3]], origin: Vec3A, position: impl Fn(u32) -> Vec3A) -> f32 {
    let of = |&(t, weight): &(u32, f32)| {
        let [a, b, c] = triangles[t as usize].map(|v| position(v) - origin);
        weight * a.dot(b.cross(c))
    };
    list.iter().map(of).sum::<f32>() / 6.0
}
