//! Bone cores: the nodes of a flesh mesh that follow a joint.
//!
//! A bone is a capsule along its segment, a fifth as thick as the flesh around it. Toward a joint it is pointed, so that two bones
//! of a bent joint do not meet beside it; around the joint lies a condyle, a ball of stiff tissue that turns as it
//! is pulled.

use crate::geom::sdf::SurfaceDistance;
use crate::tissue::tet_mesh::TetMesh;
use glam::DVec3;

/// Shape of the bones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Shape {
    /// Radius of a bone over the depth of its axis under the skin.
    pub radius: f64,
    /// Half of the angle between the sides of a bone's pointed end, radians. Two bones meet beside their joint when it is
    /// bent beyond half a turn less four times this.
    pub taper: f64,
    /// Radius of a condyle over the depth of its joint under the skin.
    pub condyle: f64,
    /// Stiffness of a condyle over that of flesh.
    pub hardness: f64,
}

impl Default for Shape {
    fn default() -> Self {
        // 16 degrees is derived: the elbow of the arm sample bends by 145, and the bones must not meet before 148. Condyle and
        // hardness are chosen, not tuned: the arm converges without a condyle as well.
        Self { radius: 0.2, taper: 16f64.to_radians(), condyle: 0.3, hardness: 10.0 }
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

/// A bone with the depth of its axis.
struct Core {
    bone: Bone,
    depth: Vec<f64>,
}

/// Samples of the depth along a bone.
const SAMPLES: usize = 24;

impl Core {
    fn new(bone: Bone, skin: &SurfaceDistance) -> Self {
        let [a, b] = bone.ends;
        let depth = (0..=SAMPLES).map(|k| (-skin.signed(a.lerp(b, k as f64 / SAMPLES as f64))).max(0.0));
        Self { bone, depth: depth.collect() }
    }

    /// How far a point is outside the bone, at most zero inside, for elements of `edge`; and its distance from the axis.
    fn outside(&self, point: DVec3, edge: f64, shape: &Shape) -> (f64, f64) {
        let [a, b] = self.bone.ends;
        let along = b - a;
        let length = along.length();
        let t = if length > 0.0 { ((point - a).dot(along) / (length * length)).clamp(0.0, 1.0) } else { 0.0 };
        let distance = point.distance(a + along * t);
        let place = t * SAMPLES as f64;
        let (low, share) = (place.floor() as usize, place.fract());
        let depth = self.depth[low] * (1.0 - share) + self.depth[(low + 1).min(SAMPLES)] * share;
        // The points of the lattice lie at most 0.56 edges from anywhere: a bone is never lost between them, unless it
        // comes out of the skin.
        let mut radius = if depth > edge { (shape.radius * depth).max(0.56 * edge) } else { 0.0 };
        for (jointed, from) in [(self.bone.jointed[0], t), (self.bone.jointed[1], 1.0 - t)] {
            if jointed {
                radius = radius.min(shape.taper.tan() * from * length);
            }
        }
        (distance - radius, distance)
    }
}

/// The joint that each node follows; `u32::MAX` for free ones.
pub fn led_by(mesh: &TetMesh, edge: f64, bones: &[Bone], skin: &SurfaceDistance, shape: &Shape) -> Vec<u32> {
    let cores: Vec<Core> = bones.iter().map(|&b| Core::new(b, skin)).collect();
    let mut joint_of = vec![u32::MAX; mesh.nodes.len()];
    for (joint, &node) in joint_of.iter_mut().zip(&mesh.nodes) {
        let mut nearest = f64::INFINITY;
        for core in &cores {
            let (outside, distance) = core.outside(node, edge, shape);
            if outside < 0.0 && distance < nearest {
                (nearest, *joint) = (distance, core.bone.joint);
            }
        }
    }
    release_between(mesh, &mut joint_of);
    joint_of
}

/// Frees the nodes of tetrahedra that two bones hold: they would be bent however the joint moves.
pub fn release_between(mesh: &TetMesh, joint_of: &mut [u32]) {
    let mut free = Vec::new();
    for tet in &mesh.tets {
        let mut held = tet.iter().map(|&n| joint_of[n as usize]).filter(|&j| j != u32::MAX);
        let first = held.next();
        if held.any(|j| Some(j) != first) {
            free.extend_from_slice(tet);
        }
    }
    for node in free {
        joint_of[node as usize] = u32::MAX;
    }
}

/// Stiffness of every tetrahedron over that of flesh: more within the condyles.
pub fn stiffness(mesh: &TetMesh, joints: &[DVec3], skin: &SurfaceDistance, shape: &Shape) -> Vec<f64> {
    let balls: Vec<(DVec3, f64)> =
        joints.iter().map(|&p| (p, shape.condyle * (-skin.signed(p)).max(0.0))).collect();
    let of = |t: usize| {
        let middle = mesh.corners(t).iter().sum::<DVec3>() * 0.25;
        let inside = balls.iter().any(|(centre, radius)| centre.distance(middle) < *radius);
        if inside { shape.hardness } else { 1.0 }
    };
    (0..mesh.tets.len()).map(of).collect()
}
