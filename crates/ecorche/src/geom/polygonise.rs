//! The surface of a scalar function as triangles: marching cubes on the part of a lattice that the
//! surface passes through.
//!
//! Based on: Lorensen, Cline. Marching cubes: a high resolution 3D surface construction algorithm. 1987.
//!
//! Differs in: the 256 cases are derived, not tabulated. On each face of a cell every run of inside
//! corners is cut off by one segment; the two cells that share the face see the same corners and so the
//! same segments, hence the surface has no cracks and every edge has two triangles (one on the lattice's
//! border). Segments chain into loops; a loop of more than four corners gets a vertex in its middle,
//! because a diagonal could lie in a cell's face and meet the neighbour's.

use super::TriMesh;
use glam::Vec3;
use rayon::prelude::*;
use std::collections::HashMap;

/// Cells per side of a block, the unit of work and of skipping.
const BLOCK: usize = 4;
/// Lattice corners per side of a block.
const SIDE: usize = BLOCK + 1;

/// A box of cubic cells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lattice {
    /// The lowest corner.
    pub origin: Vec3,
    /// Side of a cell, metres.
    pub cell: f32,
    /// Number of cells along x, y and z.
    pub cells: [usize; 3],
}

impl Lattice {
    /// Whole cells that cover the box from `low` to `high`; the lowest corner is `low`.
    pub fn covering(low: Vec3, high: Vec3, cell: f32) -> Self {
        let cells = ((high - low) / cell).ceil().max(Vec3::ONE);
        Self { origin: low, cell, cells: [cells.x as usize, cells.y as usize, cells.z as usize] }
    }

    /// Position of a lattice corner.
    pub fn corner(&self, [x, y, z]: [usize; 3]) -> Vec3 {
        self.origin + Vec3::new(x as f32, y as f32, z as f32) * self.cell
    }
}

/// Triangles of the surface `value == 0`, facing where `value` is positive; negative is inside.
///
/// `may_cross(low, high)` is asked once for each block of cells: answer `false` only where the box is
/// surely free of surface. The surface is closed unless it leaves the lattice; there it ends in a rim
/// that lies exactly on the border, which is how one half of a symmetric surface is made.
pub fn polygonise(
    lattice: &Lattice,
    value: impl Fn(Vec3) -> f32 + Sync,
    may_cross: impl Fn(Vec3, Vec3) -> bool + Sync,
) -> TriMesh {
    let loops = CellLoops::derive();
    let blocks = lattice.cells.map(|n| n.div_ceil(BLOCK));
    let patches: Vec<Patch> = (0..blocks[0] * blocks[1] * blocks[2])
        .into_par_iter()
        .map(|b| {
            let first =
                [b % blocks[0], b / blocks[0] % blocks[1], b / (blocks[0] * blocks[1])].map(|i| i * BLOCK);
            let last = [0, 1, 2].map(|k| (first[k] + BLOCK).min(lattice.cells[k]));
            if may_cross(lattice.corner(first), lattice.corner(last)) {
                march(lattice, &loops, &value, first, last)
            } else {
                Patch::default()
            }
        })
        .collect();

    let mut mesh = TriMesh::default();
    let mut vertex_of_key = HashMap::new();
    for patch in patches {
        let global: Vec<u32> = patch
            .vertices
            .iter()
            .map(|&(key, position)| {
                *vertex_of_key.entry(key).or_insert_with(|| {
                    mesh.positions.push(position);
                    mesh.positions.len() as u32 - 1
                })
            })
            .collect();
        mesh.triangles.extend(patch.triangles.iter().map(|t| t.map(|v| global[v as usize])));
    }
    mesh
}

/// The surface within one block. A vertex's key is 16 times its lattice corner plus the axis of its edge
/// (0 to 2), or plus 3 and the number of the loop in its cell (0 to 3) for the middle of a loop.
#[derive(Default)]
struct Patch {
    vertices: Vec<(u64, Vec3)>,
    triangles: Vec<[u32; 3]>,
}

fn march(
    lattice: &Lattice,
    loops: &CellLoops,
    value: &(impl Fn(Vec3) -> f32 + Sync),
    first: [usize; 3],
    last: [usize; 3],
) -> Patch {
    let local = |c: [usize; 3]| (c[0] - first[0]) + SIDE * ((c[1] - first[1]) + SIDE * (c[2] - first[2]));
    let mut values = vec![0.0f32; SIDE * SIDE * SIDE];
    for z in first[2]..=last[2] {
        for y in first[1]..=last[1] {
            for x in first[0]..=last[0] {
                values[local([x, y, z])] = value(lattice.corner([x, y, z]));
            }
        }
    }
    let across = [lattice.cells[0] as u64 + 1, lattice.cells[1] as u64 + 1];
    let corner_key = |c: [usize; 3]| 16 * (c[0] as u64 + across[0] * (c[1] as u64 + across[1] * c[2] as u64));

    let mut patch = Patch::default();
    let mut seen: HashMap<u64, u32> = HashMap::new();
    for z in first[2]..last[2] {
        for y in first[1]..last[1] {
            for x in first[0]..last[0] {
                let corner = |i: usize| [x + (i & 1), y + (i >> 1 & 1), z + (i >> 2)];
                let case =
                    (0..8).filter(|&i| values[local(corner(i))] < 0.0).fold(0, |bits, i| bits | 1 << i);
                for (order, ring) in loops.of_case[case].iter().enumerate() {
                    let ring: Vec<u32> = ring
                        .iter()
                        .map(|&edge| {
                            let (a, b) = (corner(edge.low()), corner(edge.high()));
                            let key = corner_key(a) + edge.axis as u64;
                            *seen.entry(key).or_insert_with(|| {
                                let (va, vb) = (values[local(a)], values[local(b)]);
                                let position = lattice.corner(a).lerp(lattice.corner(b), va / (va - vb));
                                patch.vertices.push((key, position));
                                patch.vertices.len() as u32 - 1
                            })
                        })
                        .collect();
                    patch.fill(&ring, corner_key([x, y, z]) + 3 + order as u64);
                }
            }
        }
    }
    patch
}

impl Patch {
    fn fill(&mut self, ring: &[u32], middle_key: u64) {
        match *ring {
            [a, b, c] => self.triangles.push([a, b, c]),
            [a, b, c, d] => self.triangles.extend([[a, b, c], [a, c, d]]),
            _ => {
                let sum: Vec3 = ring.iter().map(|&v| self.vertices[v as usize].1).sum();
                let middle = self.vertices.len() as u32;
                self.vertices.push((middle_key, sum / ring.len() as f32));
                for k in 0..ring.len() {
                    self.triangles.push([ring[k], ring[(k + 1) % ring.len()], middle]);
                }
            }
        }
    }
}

/// An edge of the unit cell: the axis it runs along and its corner with the lower coordinates. Corner
/// `i` lies at x = bit 0, y = bit 1, z = bit 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct CellEdge {
    axis: usize,
    corner: usize,
}

impl CellEdge {
    fn between(a: usize, b: usize) -> Self {
        Self { axis: (a ^ b).trailing_zeros() as usize, corner: a.min(b) }
    }

    fn low(self) -> usize {
        self.corner
    }

    fn high(self) -> usize {
        self.corner | 1 << self.axis
    }

    fn number(self) -> usize {
        self.axis * 8 + self.corner
    }
}

/// For each of the 256 sign patterns the closed loops of crossed edges, counter-clockwise from outside
/// the solid.
struct CellLoops {
    of_case: Vec<Vec<Vec<CellEdge>>>,
}

impl CellLoops {
    fn derive() -> Self {
        Self { of_case: (0..256).map(loops_of_case).collect() }
    }
}

/// The corners of each face, counter-clockwise seen from outside the cell.
const FACES: [[usize; 4]; 6] =
    [[0, 4, 6, 2], [1, 3, 7, 5], [0, 1, 5, 4], [2, 6, 7, 3], [0, 2, 3, 1], [4, 5, 7, 6]];

fn loops_of_case(case: usize) -> Vec<Vec<CellEdge>> {
    let inside = |corner: usize| case >> corner & 1 == 1;
    // Going around a face, the edge that enters a run of inside corners leads to the edge that leaves it.
    let mut next: [Option<CellEdge>; 24] = [None; 24];
    for face in FACES {
        for k in 0..4 {
            let (a, b) = (face[k], face[(k + 1) % 4]);
            if inside(a) || !inside(b) {
                continue;
            }
            let entered = CellEdge::between(a, b);
            let run = (1..4).find(|&n| !inside(face[(k + 1 + n) % 4])).unwrap_or(3);
            let left = CellEdge::between(face[(k + run) % 4], face[(k + run + 1) % 4]);
            next[entered.number()] = Some(left);
        }
    }
    let mut loops = Vec::new();
    for start in 0..24 {
        let mut ring = Vec::new();
        let mut at = start;
        while let Some(edge) = next[at].take() {
            ring.push(edge);
            at = edge.number();
        }
        if !ring.is_empty() {
            loops.push(ring);
        }
    }
    loops
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::geom::Adjacency;

    fn lattice(cells: usize) -> Lattice {
        Lattice { origin: Vec3::splat(-1.0), cell: 2.0 / cells as f32, cells: [cells; 3] }
    }

    #[test]
    fn a_ball_is_closed_and_has_its_volume() {
        let mesh = polygonise(&lattice(40), |p| p.length() - 0.7, |_, _| true);
        let adjacency = Adjacency::new(&mesh);
        assert_eq!((adjacency.open_edges(), adjacency.non_manifold_edges()), (0, 0));
        assert_eq!(
            mesh.positions.len() as i64 - adjacency.edges.len() as i64 + mesh.triangles.len() as i64,
            2
        );
        let exact = 4.0 / 3.0 * std::f64::consts::PI * 0.7f64.powi(3);
        assert!((mesh.volume() / exact - 1.0).abs() < 0.01);
    }

    #[test]
    fn skipping_blocks_without_surface_changes_nothing() {
        let ball = |p: Vec3| p.length() - 0.7;
        let near = |low: Vec3, high: Vec3| ball((low + high) * 0.5).abs() < low.distance(high);
        assert_eq!(polygonise(&lattice(40), ball, near), polygonise(&lattice(40), ball, |_, _| true));
    }

    #[test]
    fn noise_in_every_cell_is_still_manifold() {
        // Signs without any pattern exercise the ambiguous faces of all 256 cases.
        let noise = |p: Vec3| {
            if p.abs().max_element() > 0.9 {
                return 1.0;
            }
            let h = (p.x * 127.1 + p.y * 311.7 + p.z * 74.7).sin() * 43758.547;
            h - h.floor() - 0.5 + 1e-3
        };
        let adjacency = Adjacency::new(&polygonise(&lattice(24), noise, |_, _| true));
        assert!(adjacency.edges.len() > 10_000);
        assert_eq!((adjacency.open_edges(), adjacency.non_manifold_edges()), (0, 0));
    }

    #[test]
    fn a_surface_leaving_the_lattice_ends_exactly_on_its_border() {
        let half = Lattice { origin: Vec3::new(0.0, -1.0, -1.0), cell: 0.1, cells: [10, 20, 20] };
        let mesh = polygonise(&half, |p| p.length() - 0.73, |_, _| true);
        let adjacency = Adjacency::new(&mesh);
        for edge in adjacency.edges.iter().filter(|e| e.triangles.len() == 1) {
            assert!(edge.vertices.iter().all(|&v| mesh.positions[v as usize].x == 0.0));
        }
        assert!(adjacency.open_edges() > 20);
    }
}
