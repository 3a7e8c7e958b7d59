//! The bones of a character where they were when it was bound.

use crate::character::{Character, humanoid};
use crate::skinning::Surface;
use glam::{Affine3A, Vec3};

/// Joints in bind space and the segments they move.
pub(crate) struct Bones {
    /// Position of every joint of the skeleton.
    pub position: Vec<Vec3>,
    parent: Vec<Option<usize>>,
    /// From each joint to the children that matter; a leaf's ends at its skin.
    segments: Vec<Vec<[Vec3; 2]>>,
    eye: Vec<bool>,
    /// Frame of every joint at bind time; joints outside every skin follow their parent.
    pub bind_from_joint: Vec<Affine3A>,
}

impl Bones {
    pub fn new(character: &Character, surface: &Surface, joint_of_vertex: &[u32]) -> Self {
        let joints = &character.skeleton.joints;
        let mut bind_from_joint: Vec<Affine3A> = Vec::with_capacity(joints.len());
        for (j, joint) in joints.iter().enumerate() {
            let inverse = surface.joint_from_bind()[j].inverse();
            let map = if joint.in_skin && inverse.is_finite() {
                inverse
            } else {
                joint.parent.map_or(Affine3A::IDENTITY, |p| bind_from_joint[p]) * joint.rest.to_affine()
            };
            bind_from_joint.push(map);
        }
        let position: Vec<Vec3> = bind_from_joint.iter().map(|m| m.translation.into()).collect();
        let parent: Vec<Option<usize>> = joints.iter().map(|j| j.parent).collect();
        let mut vertices: Vec<Vec<Vec3>> = vec![Vec::new(); joints.len()];
        for (&joint, &point) in joint_of_vertex.iter().zip(&surface.mesh.positions) {
            vertices[joint as usize].push(point);
        }
        // A joint matters if skin hangs on it or on what it carries.
        let mut matters: Vec<bool> = vertices.iter().map(|v| !v.is_empty()).collect();
        for j in (0..joints.len()).rev() {
            if let (true, Some(p)) = (matters[j], parent[j]) {
                matters[p] = true;
            }
        }
        let ends = character.skeleton.bone_ends(|j| joints[j].in_skin && matters[j], |_| true);
        let segments = ends.into_iter().enumerate().map(|(j, ends)| {
            let mut ends: Vec<Vec3> = ends.into_iter().map(|end| position[end]).collect();
            if ends.is_empty() {
                ends.push(farthest_along_mean(position[j], &vertices[j]));
            }
            ends.into_iter().map(|end| [position[j], end]).collect()
        });
        let segments = segments.collect();
        let part = |b: humanoid::HumanoidBone| b.part;
        let eye = humanoid::recognise(&character.skeleton)
            .into_iter()
            .map(|bone| bone.is_some_and(|b| part(b) == humanoid::Part::Eye))
            .collect();
        Self { position, parent, segments, eye, bind_from_joint }
    }

    /// The segments of several joints.
    pub fn segments(&self, joints: &[u32]) -> Vec<[Vec3; 2]> {
        joints.iter().flat_map(|&j| self.segments[j as usize].iter().copied()).collect()
    }

    /// Points at and along a joint's segments.
    pub fn points_along(&self, joint: u32) -> impl Iterator<Item = Vec3> + '_ {
        self.segments[joint as usize]
            .iter()
            .flat_map(|&[a, b]| [0.3, 0.5, 0.7, 0.1, 0.9, 0.0].map(|t| a.lerp(b, t)))
    }

    /// A joint's ancestors, nearest first.
    pub fn ancestors(&self, joint: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(self.parent[joint as usize], |&j| self.parent[j]).map(|j| j as u32)
    }

    /// Whether two joints are the same, or one is the other's parent.
    pub fn are_next(&self, a: u32, b: u32) -> bool {
        let parent = |joint: u32| self.parent[joint as usize].map(|p| p as u32);
        a == b || parent(a) == Some(b) || parent(b) == Some(a)
    }

    pub fn is_eye(&self, joint: u32) -> bool {
        self.eye[joint as usize]
    }
}

/// The vertex that lies farthest from the joint in the direction of the middle of its vertices.
fn farthest_along_mean(joint: Vec3, vertices: &[Vec3]) -> Vec3 {
    let count = vertices.len().max(1) as f32;
    let mean = vertices.iter().fold(Vec3::ZERO, |sum, &v| sum + (v - joint) / count).normalize_or_zero();
    let far = vertices.iter().fold(0.0f32, |far, &v| far.max((v - joint).dot(mean)));
    joint + far * mean
}

/// Distance of a point to the nearest of the segments.
pub(crate) fn distance_to_segments(point: Vec3, segments: &[[Vec3; 2]]) -> f32 {
    segments
        .iter()
        .fold(f32::INFINITY, |nearest, &bone| nearest.min(crate::field::hrbf::support_radius([point], bone)))
}
