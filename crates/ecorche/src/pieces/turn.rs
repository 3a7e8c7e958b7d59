//! Which side of a piece is outside, and whether a point is inside it.

use crate::geom::TriMesh;
use crate::geom::bvh::Aabb;
use glam::Vec3;

/// Least volume of a piece that has an inside, over its area to the power 1.5; a sphere has 0.094.
pub(super) const LEAST_VOLUME: f64 = 0.004;

/// Signed volume and area of some triangles; of an open piece the volume of the cone to its middle.
pub(super) fn volume_and_area(mesh: &TriMesh, triangles: &[u32], vertices: &[u32]) -> (f64, f64) {
    let count = vertices.len().max(1) as f32;
    let middle =
        vertices.iter().fold(Vec3::ZERO, |sum, &v| sum + mesh.positions[v as usize] / count).as_dvec3();
    let (mut volume, mut area) = (0.0, 0.0);
    for &t in triangles {
        let [a, b, c] = mesh.corners(t as usize).map(|p| p.as_dvec3() - middle);
        volume += a.dot(b.cross(c)) / 6.0;
        area += 0.5 * (b - a).cross(c - a).length();
    }
    (volume, area)
}

/// Turns a piece that is inside out.
pub(crate) fn turn_outward(mesh: &mut TriMesh, triangles: &[u32], vertices: &[u32]) {
    let (volume, area) = volume_and_area(mesh, triangles, vertices);
    if volume < -LEAST_VOLUME * area.powf(1.5) {
        triangles.iter().for_each(|&t| mesh.triangles[t as usize].swap(1, 2));
    }
}

/// Triangles that are looked at to tell which bones a piece encloses, in all. A body of 300,000 triangles and 50 bones with 30 points
/// each needs as many.
const LOOKED_AT: usize = 450_000_000;

/// Whether one of a bone's points is inside a piece with these bounds that `bones` bones are tried for. Of very many bones or triangles
/// only the first points are tried.
pub(crate) fn encloses(
    mesh: &TriMesh,
    triangles: &[u32],
    bounds: &Aabb,
    bones: usize,
    points: impl Iterator<Item = Vec3>,
) -> bool {
    let tries = (LOOKED_AT / (triangles.len() * bones).max(1)).max(2);
    let near = points.filter(|&p| bounds.low.cmple(p).all() && bounds.high.cmpge(p).all());
    near.take(tries).any(|point| winding(mesh, triangles, point) > 0.5)
}

/// How often the triangles wind around the point; holes are closed as by a soap film.
///
/// Based on: Jacobson et al. Robust Inside-Outside Segmentation using Generalized Winding Numbers. 2013.
fn winding(mesh: &TriMesh, triangles: &[u32], point: Vec3) -> f64 {
    let solid_angle: f64 = triangles
        .iter()
        .map(|&t| {
            let [a, b, c] = mesh.corners(t as usize).map(|p| (p - point).as_dvec3());
            let (la, lb, lc) = (a.length(), b.length(), c.length());
            let below = la * lb * lc + a.dot(b) * lc + b.dot(c) * la + c.dot(a) * lb;
            2.0 * a.dot(b.cross(c)).atan2(below)
        })
        .sum();
    solid_angle / (4.0 * std::f64::consts::PI)
}
