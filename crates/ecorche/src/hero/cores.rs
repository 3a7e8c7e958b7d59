//! Bone cores: rigid bodies inside the flesh, as shapes that do not depend on how the flesh is meshed.
//!
//! A bone is a round rod along its segment, a quarter as thick as the flesh around it. Toward a joint it becomes thinner and ends
//! before it, so that two bones of a bent joint do not meet. Between them, around the joint, lies a condyle: a ball that turns
//! by half of what the joint turns. Flesh begins at their surfaces and is fixed to them.

use super::region::from_axis;
use crate::geom::sdf::SurfaceDistance;
use glam::{DAffine3, DVec3};

/// Shape of the bones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Radius of a bone over the depth of its axis under the skin.
    pub radius: f64,
    /// Angle between a bone's axis and its side as seen from the joint, radians. Two bones meet beside their joint when it is
    /// bent beyond half a turn less twice this.
    pub taper: f64,
    /// Where the axis of a bone ends before a joint, over the depth of the joint under the skin.
    pub end: f64,
    /// Radius of a condyle over the depth of its joint under the skin.
    pub condyle: f64,
}

impl Default for Shape {
    fn default() -> Self {
        // 16 degrees is derived: the elbow of the arm sample bends by 145, and flesh must have room between the bones. The
        // others are chosen so that elements of a third of the depth see every core and the room between them. A condyle of
        // 0.2 is seen by some such meshes of the arm and not by others, which moves the skin by 5 mm at 52 degrees; bones
        // that end at 0.7 have their ends freed where elements reach from them to the condyle.
        Self { radius: 0.25, taper: 16f64.to_radians(), end: 0.9, condyle: 0.3 }
    }
}

/// One bone: a segment that a joint moves.
#[derive(Clone, Copy, Debug)]
pub struct Bone {
    /// The joint.
    pub joint: u32,
    /// From where to where, bind space.
    pub ends: [DVec3; 2],
    /// Which of the ends is at a joint that another bone shares.
    pub jointed: [bool; 2],
}

/// What moves a core: a joint, or two by half each about a point that they share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Leader {
    /// The joints; the same twice for a bone.
    pub joints: [u32; 2],
    /// The point about which it turns, bind space.
    pub centre: DVec3,
}

impl Leader {
    /// From bind space to a pose, where `maps` are those of all joints.
    pub fn map(&self, maps: &[DAffine3]) -> DAffine3 {
        let [a, b] = self.joints.map(|j| maps[j as usize]);
        if self.joints[0] == self.joints[1] {
            return a;
        }
        let turn = |m: DAffine3| m.to_scale_rotation_translation().1;
        let middle = turn(a).slerp(turn(b), 0.5);
        let at = a.transform_point3(self.centre).midpoint(b.transform_point3(self.centre));
        DAffine3::from_rotation_translation(middle, at - middle * self.centre)
    }
}

/// A rod along a bone, or a ball.
#[derive(Debug)]
struct Core {
    leader: u32,
    axis: [DVec3; 2],
    /// Radius along the axis, at equal distances, and what it may be at most toward joints.
    radius: Vec<[f64; 2]>,
}

/// All bones and condyles of a character.
#[derive(Debug)]
pub struct Cores {
    list: Vec<Core>,
    /// What moves them.
    pub leaders: Vec<Leader>,
}

/// Samples of the radius along a bone.
const SAMPLES: usize = 24;

/// What is left of a bone's length, at least, where both of its ends are shortened.
const LEAST_LENGTH: f64 = 0.2;

/// The points of a lattice lie at most 0.56 edges from anywhere: a rod of this many edges is not lost between them.
const SEEN: f64 = 0.6;

impl Cores {
    /// The cores of some bones inside a skin.
    pub fn new(bones: &[Bone], skin: &SurfaceDistance, shape: &Shape) -> Self {
        let depth = |p: DVec3| (-skin.signed(p)).max(0.0);
        let mut cores = Self { list: Vec::new(), leaders: Vec::new() };
        for bone in bones {
            let leader = cores.lead(Leader { joints: [bone.joint; 2], centre: bone.ends[0] });
            cores.list.push(rod(bone, leader, depth, shape));
        }
        for (at, joints) in meetings(bones) {
            if let &[a, b] = joints.as_slice() {
                let leader = cores.lead(Leader { joints: [a, b], centre: at });
                let radius = vec![[shape.condyle * depth(at), f64::INFINITY]; SAMPLES + 1];
                cores.list.push(Core { leader, axis: [at; 2], radius });
            }
        }
        cores
    }

    fn lead(&mut self, leader: Leader) -> u32 {
        let known = self.leaders.iter().position(|l| l.joints == leader.joints);
        known.unwrap_or_else(|| {
            self.leaders.push(leader);
            self.leaders.len() - 1
        }) as u32
    }

    /// How far a point is outside all cores, negative inside, and the leader of the nearest; for elements of `edge`, which
    /// no bone is too thin for.
    pub fn outside(&self, point: DVec3, edge: f64) -> (f64, u32) {
        let mut nearest = (f64::INFINITY, u32::MAX);
        for core in &self.list {
            let outside = core.outside(point, edge);
            if outside < nearest.0 {
                nearest = (outside, core.leader);
            }
        }
        nearest
    }
}

impl Core {
    fn outside(&self, point: DVec3, edge: f64) -> f64 {
        let (distance, t) = from_axis(self.axis, point);
        let place = t * SAMPLES as f64;
        let (low, share) = (place.floor() as usize, place.fract());
        let (a, b) = (self.radius[low], self.radius[(low + 1).min(SAMPLES)]);
        let [radius, most] =
            [0, 1].map(|k| if share > 0.0 { a[k] * (1.0 - share) + b[k] * share } else { a[k] });
        let seen = if radius > 0.0 { SEEN * edge } else { 0.0 };
        distance - radius.max(seen).min(most)
    }
}

/// The rod of a bone, shortened and tapered toward joints.
fn rod(bone: &Bone, leader: u32, depth: impl Fn(DVec3) -> f64, shape: &Shape) -> Core {
    let length = bone.ends[0].distance(bone.ends[1]);
    let mut cut = [0, 1].map(|k| if bone.jointed[k] { shape.end * depth(bone.ends[k]) } else { 0.0 });
    let most = (1.0 - LEAST_LENGTH) * length;
    if cut[0] + cut[1] > most {
        let scale = most / (cut[0] + cut[1]);
        cut = cut.map(|c| c * scale);
    }
    let along = (bone.ends[1] - bone.ends[0]) / length;
    let axis = [bone.ends[0] + along * cut[0], bone.ends[1] - along * cut[1]];
    let radius = (0..=SAMPLES).map(|k| {
        let point = axis[0].lerp(axis[1], k as f64 / SAMPLES as f64);
        let mut most = f64::INFINITY;
        for (jointed, end) in bone.jointed.into_iter().zip(bone.ends) {
            if jointed {
                most = most.min(shape.taper.sin() * point.distance(end));
            }
        }
        [shape.radius * depth(point), most]
    });
    Core { leader, axis, radius: radius.collect() }
}

/// Where bones of different joints meet, and which joints.
fn meetings(bones: &[Bone]) -> Vec<(DVec3, Vec<u32>)> {
    let mut list: Vec<(DVec3, Vec<u32>)> = Vec::new();
    for bone in bones {
        for end in bone.ends {
            match list.iter_mut().find(|(at, _)| at.distance(end) < SAME) {
                Some((_, joints)) if joints.contains(&bone.joint) => {}
                Some((_, joints)) => joints.push(bone.joint),
                None => list.push((end, vec![bone.joint])),
            }
        }
    }
    list
}

/// Ends of bones nearer than this, metres, are one.
pub const SAME: f64 = 1e-6;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::TriMesh;
    use crate::tissue::tet_mesh::TetMesh;
    use glam::DQuat;

    /// Two bones of 0.3 m inside a rod of 0.1 by 0.1 by 0.6 m; their joint is at the origin.
    fn limb() -> (Cores, Vec<DAffine3>) {
        let half = DVec3::new(0.3, 0.05, 0.05);
        let (skin, _): (TriMesh, _) = TetMesh::brick(-half, half, [12, 2, 2]).surface();
        let bone = |joint: u32, from: f64, to: f64| Bone {
            joint,
            ends: [DVec3::X * from, DVec3::X * to],
            jointed: [joint == 1, joint == 0],
        };
        let skin = SurfaceDistance::new(&skin).unwrap();
        let cores = Cores::new(&[bone(0, -0.3, 0.0), bone(1, 0.0, 0.3)], &skin, &Shape::default());
        let bend = DAffine3::from_quat(DQuat::from_rotation_z(145f64.to_radians()));
        (cores, vec![DAffine3::IDENTITY, bend])
    }

    #[test]
    fn bones_of_a_fully_bent_joint_do_not_meet() {
        let (cores, maps) = limb();
        let joints = |leader: u32| cores.leaders[leader as usize].joints;
        let mut seen = 0;
        for k in 0..4000 {
            let (x, y, z) = (k / 400, k / 20 % 20, k % 20);
            let point =
                DVec3::new(0.02 + 0.01 * x as f64, -0.02 + 0.002 * y as f64, -0.02 + 0.002 * z as f64);
            let (outside, leader) = cores.outside(point, 0.0);
            if outside < 0.0 && joints(leader) == [1, 1] {
                seen += 1;
                let (there, other) = cores.outside(maps[1].transform_point3(point), 0.0);
                assert!(there > 0.0 || joints(other) != [0, 0], "{point}");
            }
        }
        assert!(seen > 100, "{seen}");
    }

    #[test]
    fn a_condyle_stays_at_its_joint_and_turns_by_half() {
        let (cores, maps) = limb();
        let leader = cores.leaders.iter().find(|l| l.joints[0] != l.joints[1]).unwrap();
        let map = leader.map(&maps);
        assert!(map.transform_point3(DVec3::ZERO).length() < 1e-12);
        let turned = map.transform_vector3(DVec3::X);
        assert!((turned.angle_between(DVec3::X).to_degrees() - 72.5).abs() < 1e-6);
        assert!(cores.outside(DVec3::ZERO, 0.0).0 < -0.01);
    }

    #[test]
    fn bones_have_one_shape_for_all_elements_that_can_see_them() {
        let (cores, _) = limb();
        for k in 0..100 {
            let t = f64::from(k);
            let point = DVec3::new(0.25 * (0.3 * t).sin(), 0.02 * t.cos(), 0.02 * (2.0 * t).sin());
            assert_eq!(cores.outside(point, 0.01), cores.outside(point, 0.015));
        }
    }
}
