//! The inside of a character in voxels, each belonging to the skin nearest to it.
//!
//! Inside is decided by vote: along the three axes, both ways, the signed crossings of the skin between the
//! voxel and the far end are summed, and four of six directions must find themselves wound around. A hole
//! (neck, eye, sleeve) misleads the one or two directions that leave through it. Overlapping pieces count as
//! one solid. What is empty but cannot be reached from outside is filled.

use super::outside::Outside;
use super::symmetry::Mirror;
use glam::{DVec2, Vec3};
use rayon::prelude::*;

/// Voxels of a box.
pub(super) struct Solid {
    low: Vec3,
    pub cell: f32,
    counts: [usize; 3],
    /// Surface vertex nearest to each voxel, or [`EMPTY`] outside.
    vertex: Vec<u32>,
    /// Distance to the skin, metres; 0 outside.
    depth: Vec<f32>,
}

/// A voxel outside the solid.
pub(super) const EMPTY: u32 = u32::MAX;

/// A face between two voxels of different parts, seen from the first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Face {
    /// Its middle.
    pub point: Vec3,
    /// Unit, out of the first part.
    pub direction: Vec3,
    /// Distance to the skin.
    pub depth: f32,
}

/// Voxels wanted inside a whole character: 6 to 7 mm a side in a human, a tenth of a thigh. Thinner parts get
/// finer ones of their own.
const VOXELS: f32 = 200_000.0;
/// Most voxels of a box, inside and outside.
const MOST_VOXELS: f32 = 1.2e7;

impl Solid {
    /// The whole character, with the plane of a symmetric one between two voxels.
    pub fn whole(outside: &Outside, mirror: Option<Mirror>) -> Self {
        let (low, high) = outside.mesh.bounds();
        let size = (high - low).max(Vec3::splat(1e-3 * outside.mesh.size())).max(Vec3::splat(1e-9));
        let box_volume = size.x * size.y * size.z;
        let rough = (box_volume / 300_000.0).cbrt();
        let votes = Grid::around(low, high, rough, mirror).inside(outside);
        let inside = votes.iter().filter(|&&i| i).count() as f32;
        // A surface without inside gains nothing by finer voxels.
        let cell = if inside > 100.0 { rough * (inside / VOXELS).cbrt() } else { rough };
        let cell = cell.max((box_volume / MOST_VOXELS).cbrt());
        let grid = Grid::around(low, high, cell, mirror);
        let mut inside = grid.inside(outside);
        grid.fill_cavities(&mut inside);
        grid.label(outside, &inside, f32::INFINITY)
    }

    /// A box at its own resolution, within the whole.
    pub fn detail(outside: &Outside, whole: &Solid, low: Vec3, high: Vec3, cell: f32) -> Self {
        let grid = Grid::around(low, high, cell, None);
        let mut inside = grid.inside(outside);
        for (i, inside) in inside.iter_mut().enumerate() {
            // Only a neighbourhood that is solid throughout was filled or is deep inside.
            *inside = *inside || whole.depth_at(grid.point(i)) > 2.0 * whole.cell;
        }
        grid.label(outside, &inside, f32::INFINITY)
    }

    fn index(&self, point: Vec3) -> Option<usize> {
        let at = (point - self.low) / self.cell;
        let inside = at.cmpge(Vec3::ZERO).all() && (0..3).all(|a| (at[a] as usize) < self.counts[a]);
        inside.then(|| at.x as usize + self.counts[0] * (at.y as usize + self.counts[1] * (at.z as usize)))
    }

    fn point(&self, i: usize) -> Vec3 {
        let [nx, ny, _] = self.counts;
        let index = Vec3::new((i % nx) as f32, (i / nx % ny) as f32, (i / (nx * ny)) as f32);
        self.low + (index + 0.5) * self.cell
    }

    /// Distance to the skin at the voxel around the point; 0 outside.
    fn depth_at(&self, point: Vec3) -> f32 {
        self.index(point).map_or(0.0, |i| self.depth[i])
    }

    /// Nearest vertex of the voxel around the point; [`EMPTY`] outside.
    pub fn vertex_at(&self, point: Vec3) -> u32 {
        self.index(point).map_or(EMPTY, |i| self.vertex[i])
    }

    /// Whether the voxel around the point is inside.
    pub fn contains(&self, point: Vec3) -> bool {
        self.vertex_at(point) != EMPTY
    }

    /// Middle, nearest vertex and depth of every voxel inside.
    pub fn voxels(&self) -> impl Iterator<Item = (Vec3, u32, f32)> + '_ {
        (0..self.vertex.len())
            .filter(|&i| self.vertex[i] != EMPTY)
            .map(|i| (self.point(i), self.vertex[i], self.depth[i]))
    }

    /// Every face between voxels of different parts, as `(from, to, face)`, both ways, and every face of a
    /// part to the outside that is no skin, `to` being [`EMPTY`]: the cut of an open end.
    pub fn faces(&self, part_of_vertex: &[u32], mut visit: impl FnMut(u32, u32, Face)) {
        let [nx, ny, nz] = self.counts;
        let strides = [1, nx, nx * ny];
        let part = |i: usize| match self.vertex[i] {
            EMPTY => EMPTY,
            v => part_of_vertex[v as usize],
        };
        for i in 0..self.vertex.len() {
            let own = part(i);
            let index = [i % nx, i / nx % ny, i / (nx * ny)];
            for axis in 0..3 {
                if index[axis] + 1 >= [nx, ny, nz][axis] {
                    continue;
                }
                let other = i + strides[axis];
                let next = part(other);
                if own == next {
                    continue;
                }
                let direction = Vec3::AXES[axis];
                let point = self.point(i) + 0.5 * self.cell * direction;
                let depth = if own == EMPTY || next == EMPTY {
                    self.depth[i] + self.depth[other]
                } else {
                    0.5 * (self.depth[i] + self.depth[other])
                };
                if (own == EMPTY || next == EMPTY) && depth < 2.0 * self.cell {
                    continue;
                }
                if own != EMPTY {
                    visit(own, next, Face { point, direction, depth });
                }
                if next != EMPTY {
                    visit(next, own, Face { point, direction: -direction, depth });
                }
            }
        }
    }
}

/// Voxels before they are classified as inside or outside.
struct Grid {
    low: Vec3,
    cell: f32,
    counts: [usize; 3],
}

impl Grid {
    /// One empty voxel all around.
    fn around(low: Vec3, high: Vec3, cell: f32, mirror: Option<Mirror>) -> Self {
        let mut counts = ((high - low) / cell).ceil().to_array().map(|n| n as usize + 3);
        // Off the middle by no simple fraction, so that columns miss the vertices of tidy meshes.
        let shift = Vec3::new(0.501_37, 0.498_11, 0.502_93);
        let mut low = low - cell * (Vec3::ONE + 0.1 * shift);
        if let Some(mirror) = mirror {
            mirror.between_voxels(&mut low, &mut counts, cell);
        }
        Self { low, cell, counts }
    }

    fn len(&self) -> usize {
        self.counts.iter().product()
    }

    fn point(&self, i: usize) -> Vec3 {
        let [nx, ny, _] = self.counts;
        let index = Vec3::new((i % nx) as f32, (i / nx % ny) as f32, (i / (nx * ny)) as f32);
        self.low + (index + 0.5) * self.cell
    }

    fn inside(&self, outside: &Outside) -> Vec<bool> {
        let votes: Vec<Vec<u8>> = (0..3usize).into_par_iter().map(|axis| self.votes(outside, axis)).collect();
        (0..self.len()).map(|i| votes[0][i] + votes[1][i] + votes[2][i] >= 4).collect()
    }

    /// How many of the two directions along an axis find each voxel wound around.
    fn votes(&self, outside: &Outside, axis: usize) -> Vec<u8> {
        let (u, v) = ((axis + 1) % 3, (axis + 2) % 3);
        let [nu, nv] = [self.counts[u], self.counts[v]];
        let column = |index: usize, along: usize| {
            f64::from(self.low[along]) + (index as f64 + 0.5) * f64::from(self.cell)
        };
        let mut crossings: Vec<(u32, f32, i8)> = Vec::new();
        for (triangle, _) in outside.mesh.triangles.iter().zip(&outside.solid).filter(|(_, s)| **s) {
            let corners = triangle.map(|i| outside.mesh.positions[i as usize].as_dvec3().to_array());
            let flat = corners.map(|c| DVec2::new(c[u], c[v]));
            let range = |along: usize, pick: fn(DVec2) -> f64, count: usize| {
                let values = flat.map(pick);
                let low = values.iter().fold(f64::MAX, |a, &b| a.min(b));
                let high = values.iter().fold(f64::MIN, |a, &b| a.max(b));
                let index = |x: f64| (x - f64::from(self.low[along])) / f64::from(self.cell) - 0.5;
                let first = index(low).ceil().max(0.0) as usize;
                let end = (index(high).floor() + 1.0).clamp(0.0, count as f64) as usize;
                first..end
            };
            let (range_u, range_v) = (range(u, |p| p.x, nu), range(v, |p| p.y, nv));
            if range_u.is_empty() || range_v.is_empty() {
                continue;
            }
            let area = (flat[1] - flat[0]).perp_dot(flat[2] - flat[0]);
            if area == 0.0 {
                continue;
            }
            for iv in range_v {
                for iu in range_u.clone() {
                    let at = DVec2::new(column(iu, u), column(iv, v));
                    // The same number for both triangles of an edge, so that a column crosses one of them.
                    let side = |a: usize, b: usize| {
                        let (low, high, sign) =
                            if triangle[a] < triangle[b] { (a, b, 1.0) } else { (b, a, -1.0) };
                        let value = (flat[high] - flat[low]).perp_dot(at - flat[low]);
                        (sign * value, (value >= 0.0) == (sign > 0.0))
                    };
                    let sides = [side(1, 2), side(2, 0), side(0, 1)];
                    if !sides.iter().all(|s| s.1 == (area > 0.0)) {
                        continue;
                    }
                    let height = (0..3).map(|k| sides[k].0 / area * corners[k][axis]).sum::<f64>();
                    // A triangle that faces down the axis is entered going up it.
                    let sign = if area > 0.0 { -1 } else { 1 };
                    crossings.push(((iu + nu * iv) as u32, height as f32, sign));
                }
            }
        }
        crossings.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)).then(a.2.cmp(&b.2)));
        let strides = [1, self.counts[0], self.counts[0] * self.counts[1]];
        let mut votes = vec![0u8; self.len()];
        for list in crossings.chunk_by(|a, b| a.0 == b.0) {
            let (iu, iv) = (list[0].0 as usize % nu, list[0].0 as usize / nu);
            let total: i32 = list.iter().map(|c| i32::from(c.2)).sum();
            let (mut below, mut next) = (0, 0);
            for k in 0..self.counts[axis] {
                let height = column(k, axis) as f32;
                while next < list.len() && list[next].1 < height {
                    below += i32::from(list[next].2);
                    next += 1;
                }
                let slot = &mut votes[iu * strides[u] + iv * strides[v] + k * strides[axis]];
                *slot += u8::from(below >= 1) + u8::from(below - total >= 1);
            }
        }
        votes
    }

    /// Fills what is empty but not connected to the border.
    fn fill_cavities(&self, inside: &mut [bool]) {
        let [nx, ny, nz] = self.counts;
        let mut reached = vec![false; inside.len()];
        let mut stack = vec![0usize];
        reached[0] = true;
        while let Some(i) = stack.pop() {
            let index = [i % nx, i / nx % ny, i / (nx * ny)];
            for (axis, (stride, count)) in [(1, nx), (nx, ny), (nx * ny, nz)].into_iter().enumerate() {
                let mut visit = |other: usize| {
                    if !reached[other] && !inside[other] {
                        reached[other] = true;
                        stack.push(other);
                    }
                };
                if index[axis] > 0 {
                    visit(i - stride);
                }
                if index[axis] + 1 < count {
                    visit(i + stride);
                }
            }
        }
        for (inside, reached) in inside.iter_mut().zip(&reached) {
            *inside = *inside || !reached;
        }
    }

    fn label(self, outside: &Outside, inside: &[bool], within: f32) -> Solid {
        let row = self.counts[0];
        let mut vertex = vec![EMPTY; self.len()];
        let mut depth = vec![0.0f32; self.len()];
        vertex.par_chunks_mut(row).zip(depth.par_chunks_mut(row)).enumerate().for_each(
            |(r, (vertices, depths))| {
                // The next voxel's skin is at most one voxel farther.
                let mut reach = within;
                for x in 0..row {
                    if !inside[r * row + x] {
                        reach = within;
                        continue;
                    }
                    let point = self.point(r * row + x);
                    if let Some(foot) = outside.nearest(point, reach) {
                        (vertices[x], depths[x]) = (foot.vertex, foot.distance);
                        reach = 1.001 * (foot.distance + self.cell);
                    }
                }
            },
        );
        Solid { low: self.low, cell: self.cell, counts: self.counts, vertex, depth }
    }
}
