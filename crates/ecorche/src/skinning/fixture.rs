//! Limbs and tubes for the tests of this folder.

use crate::character::{Binding, Influences, Joint, Mesh, Skeleton, Skin};
use crate::geom::{TriMesh, Weld};
use crate::math::Transform;
use glam::{Affine3A, Vec3};
use std::f32::consts::TAU;

/// A mesh around plain triangles, welded by position, hanging on joint 0.
pub fn mesh(positions: Vec<Vec3>, triangles: Vec<[u32; 3]>) -> Mesh {
    let weld = Weld::new(&positions, 1e-6, |_, _| true);
    Mesh::of_triangles("mesh", TriMesh { positions, triangles }, weld, Binding::Node)
}

/// A closed tube of radius 1 along Y from `bottom` to `top`, with round middles of the caps.
pub fn tube(bottom: f32, top: f32, rings: usize, sides: usize) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let mut positions = Vec::new();
    for ring in 0..=rings {
        let y = bottom + (top - bottom) * ring as f32 / rings as f32;
        for side in 0..sides {
            let (sine, cosine) = (TAU * side as f32 / sides as f32).sin_cos();
            positions.push(Vec3::new(cosine, y, sine));
        }
    }
    let mut triangles = Vec::new();
    let at = |ring: usize, side: usize| (ring * sides + side % sides) as u32;
    for ring in 0..rings {
        for side in 0..sides {
            let (a, b) = (at(ring, side), at(ring, side + 1));
            let (c, d) = (at(ring + 1, side), at(ring + 1, side + 1));
            triangles.extend([[a, c, b], [b, c, d]]);
        }
    }
    let (low, high) = (positions.len() as u32, positions.len() as u32 + 1);
    positions.extend([Vec3::new(0.0, bottom, 0.0), Vec3::new(0.0, top, 0.0)]);
    for side in 0..sides {
        triangles.push([low, at(0, side), at(0, side + 1)]);
        triangles.push([high, at(rings, side + 1), at(rings, side)]);
    }
    (positions, triangles)
}

/// A chain of joints at the given heights of the Y axis.
pub fn chain(heights: &[f32]) -> Skeleton {
    let joints = heights.iter().enumerate().map(|(j, &height)| {
        let below = if j == 0 { 0.0 } else { heights[j - 1] };
        Joint {
            name: format!("joint{j}"),
            parent: j.checked_sub(1),
            rest: Transform { translation: Vec3::Y * (height - below), ..Transform::IDENTITY },
            in_skin: true,
        }
    });
    Skeleton { joints: joints.collect() }
}

/// Binds `mesh` to joints at the given points, without turning them.
pub fn bind(mesh: &mut Mesh, joints_at: &[Vec3], weights: impl Fn(Vec3) -> Vec<(u32, f32)>) {
    mesh.binding = Binding::Skin(Skin {
        joints: (0..joints_at.len()).collect(),
        joint_from_bind: joints_at.iter().map(|&p| Affine3A::from_translation(-p)).collect(),
        influences: Influences::new(mesh.positions.iter().map(|&p| weights(p))),
        dual_quaternion: false,
    });
}

/// A tube over two joints: joint 0 at the bottom, joint 1 at height 0, weights going over linearly
/// from -`half_ramp` to `half_ramp`.
pub fn limb(half_length: f32, half_ramp: f32, rings: usize, sides: usize) -> Mesh {
    let (positions, triangles) = tube(-half_length, half_length, rings, sides);
    let mut mesh = mesh(positions, triangles);
    bind(&mut mesh, &[Vec3::Y * -half_length, Vec3::ZERO], |p| {
        let upper = (0.5 + 0.5 * p.y / half_ramp).clamp(0.0, 1.0);
        vec![(0, 1.0 - upper), (1, upper)]
    });
    mesh
}
