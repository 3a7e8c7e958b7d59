//! Small meshes and lines for drawing things that have none of their own.

use crate::geom::TriMesh;
use glam::{Vec2, Vec3};

/// A ball: an octahedron whose triangles are quartered `levels` times (at most 7) and pushed onto it.
pub fn ball(middle: Vec3, radius: f32, levels: usize) -> TriMesh {
    let levels = levels.min(7);
    // Each of the eight faces is a triangular grid of its own; corners are shared by looking them up.
    let steps = 1i32 << levels;
    let mut index = std::collections::BTreeMap::new();
    let mut mesh = TriMesh::default();
    let mut vertex = |p: [i32; 3]| {
        *index.entry(p).or_insert_with(|| {
            let direction = Vec3::new(p[0] as f32, p[1] as f32, p[2] as f32).normalize();
            mesh.positions.push(middle + direction * radius);
            mesh.positions.len() as u32 - 1
        })
    };
    for octant in 0..8 {
        let sign = [0, 1, 2].map(|k| if octant >> k & 1 == 0 { 1 } else { -1 });
        let mirrored = sign[0] * sign[1] * sign[2] < 0;
        let at = |i: i32, j: i32| [sign[0] * i, sign[1] * j, sign[2] * (steps - i - j)];
        let mut add = |a: [i32; 3], b: [i32; 3], c: [i32; 3]| {
            let [a, b, c] = [vertex(a), vertex(b), vertex(c)];
            mesh.triangles.push(if mirrored { [a, c, b] } else { [a, b, c] });
        };
        for i in 0..steps {
            for j in 0..steps - i {
                add(at(i, j), at(i + 1, j), at(i, j + 1));
                if i + j + 1 < steps {
                    add(at(i + 1, j), at(i + 1, j + 1), at(i, j + 1));
                }
            }
        }
    }
    mesh
}

/// A bone as animators draw it: a long octahedron, thickest a seventh of the way from `start` to `end`.
/// Faces are separate, so that their normals stay flat. Empty when the ends coincide.
pub fn bone(start: Vec3, end: Vec3, width: f32) -> TriMesh {
    let Some(along) = (end - start).try_normalize() else { return TriMesh::default() };
    let (u, v) = along.any_orthonormal_pair();
    let thick = start.lerp(end, 1.0 / 7.0);
    let rim = [u, v, -u, -v].map(|d| thick + d * (0.5 * width));
    let mut mesh = TriMesh::default();
    for k in 0..4 {
        let (a, b) = (rim[k], rim[(k + 1) % 4]);
        for corners in [[start, b, a], [end, a, b]] {
            let first = mesh.positions.len() as u32;
            mesh.positions.extend(corners);
            mesh.triangles.push([first, first + 1, first + 2]);
        }
    }
    mesh
}

/// Appends `other` to `mesh`.
pub(crate) fn append(mesh: &mut TriMesh, other: &TriMesh) {
    let first = mesh.positions.len() as u32;
    mesh.positions.extend_from_slice(&other.positions);
    mesh.triangles.extend(other.triangles.iter().map(|t| t.map(|v| v + first)));
}

/// Pieces of the line on a surface where a per-vertex value equals `level`.
pub(crate) fn isoline(
    positions: &[Vec3],
    triangles: &[[u32; 3]],
    values: &[f32],
    level: f32,
) -> Vec<[Vec3; 2]> {
    let mut segments = Vec::new();
    for triangle in triangles {
        let corners = triangle.map(|v| v as usize);
        let above = corners.map(|v| values[v] > level);
        if above[0] == above[1] && above[1] == above[2] {
            continue;
        }
        let crossing = |a: usize, b: usize| {
            let t = (level - values[a]) / (values[b] - values[a]);
            positions[a].lerp(positions[b], t.clamp(0.0, 1.0))
        };
        let mut ends = (0..3)
            .map(|k| (k, (k + 1) % 3))
            .filter(|&(i, j)| above[i] != above[j])
            .map(|(i, j)| crossing(corners[i], corners[j]));
        if let (Some(p), Some(q)) = (ends.next(), ends.next()) {
            segments.push([p, q]);
        }
    }
    segments
}

/// Pieces of the line where values on a grid, row by row, equal `level`; coordinates count columns and rows.
pub(crate) fn grid_isoline(columns: usize, values: &[f32], level: f32) -> Vec<[Vec2; 2]> {
    let (columns, rows) = (columns.max(1), values.len() / columns.max(1));
    let points: Vec<Vec3> =
        (0..columns * rows).map(|i| Vec3::new((i % columns) as f32, (i / columns) as f32, 0.0)).collect();
    let corner = |x: usize, y: usize| (y * columns + x) as u32;
    let cells = (1..rows).flat_map(|y| (1..columns).map(move |x| (x, y)));
    let triangles: Vec<[u32; 3]> = cells
        .flat_map(|(x, y)| {
            let [a, b, c, d] = [corner(x - 1, y - 1), corner(x, y - 1), corner(x, y), corner(x - 1, y)];
            [[a, b, c], [a, c, d]]
        })
        .collect();
    let lines = isoline(&points, &triangles, values, level);
    lines.into_iter().map(|line| line.map(|p| p.truncate())).collect()
}

/// Short lines along the normals at points.
pub(crate) fn needles(points: &[Vec3], normals: &[Vec3], length: f32) -> Vec<[Vec3; 2]> {
    points.iter().zip(normals).map(|(&p, &n)| [p, p + n * length]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::Adjacency;

    #[test]
    fn a_ball_is_closed_and_nearly_full() {
        let mesh = ball(Vec3::ONE, 2.0, 4);
        assert_eq!(Adjacency::new(&mesh).open_edges(), 0);
        let full = 4.0 / 3.0 * std::f64::consts::PI * 8.0;
        assert!(mesh.volume() > 0.98 * full && mesh.volume() < full);
    }

    #[test]
    fn a_bone_faces_outward() {
        let mesh = bone(Vec3::ZERO, Vec3::Y, 0.2);
        assert!(mesh.volume() > 0.0);
        assert!(bone(Vec3::X, Vec3::X, 0.1).triangles.is_empty());
    }

    #[test]
    fn an_isoline_goes_around_the_ball() {
        let mesh = ball(Vec3::ZERO, 1.0, 4);
        let heights: Vec<f32> = mesh.positions.iter().map(|p| p.y).collect();
        let length: f32 = isoline(&mesh.positions, &mesh.triangles, &heights, 0.3)
            .iter()
            .map(|[a, b]| a.distance(*b))
            .sum();
        let circle = 2.0 * std::f32::consts::PI * (1.0f32 - 0.09).sqrt();
        assert!((length / circle - 1.0).abs() < 0.02, "{length} {circle}");
    }
}
