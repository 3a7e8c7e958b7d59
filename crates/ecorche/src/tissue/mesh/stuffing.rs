//! Tetrahedra of bounded angles inside a zero level: lattice, warp, cut.
//!
//! Based on: Labelle, Shewchuk. Isosurface Stuffing: Fast Tetrahedral Meshes with Good Dihedral Angles. 2007.
//! Differs in: one lattice size throughout; ties between the two cuts of a face's short edges go to the plus
//! corner that comes first in the lattice, which is as good as the paper's parity rule
//! (`angles_stay_within_bounds` measures it on noise, which meets every case).
//!
//! The lattice is body-centred: its points are the corners and the centres of cubes. Corners make one grid, centres another;
//! an edge of one and an edge of the other that crosses it make a tetrahedron with two long edges (1) and four short (0.87).

use super::MeshError;
use crate::tissue::element::{dihedral_angles, volume};
use crate::tissue::tet_mesh::TetMesh;
use glam::{DVec3, IVec3};
use rayon::prelude::*;
use std::collections::HashMap;

/// A lattice point this close (in parts of a long or a short edge) to the level is moved onto it. The
/// paper's "safe" pair: dihedral angles then stay between 10.7 and 164.8 degrees.
const WARP_LONG: f64 = 0.24999;
const WARP_SHORT: f64 = 0.41189;

/// Most lattice points; about 8 GB of work.
const MOST_POINTS: f64 = 2e8;

/// The lattice: points with all coordinates even or all odd, in half edges from `origin`.
struct Lattice {
    origin: DVec3,
    half: f64,
    /// Number of half edges in each direction.
    count: IVec3,
}

impl Lattice {
    fn new(low: DVec3, high: DVec3, edge: f64) -> Self {
        // Two cells of margin, and a shift so that flat faces do not fall on lattice planes.
        let origin = low - DVec3::splat(2.0 * edge) - DVec3::new(0.137, 0.171, 0.113) * edge;
        let cells = ((high - origin) / edge).ceil().as_ivec3() + IVec3::splat(2);
        Self { origin, half: 0.5 * edge, count: cells * 2 }
    }

    /// Cube corners first, then centres, each row by row.
    fn index(&self, p: IVec3) -> usize {
        let odd = p.x & 1;
        let cells = (self.count / 2 + IVec3::ONE).as_i64vec3();
        let c = (p / 2).as_i64vec3();
        (i64::from(odd) * cells.x * cells.y * cells.z + (c.z * cells.y + c.y) * cells.x + c.x) as usize
    }

    fn point(&self, index: usize) -> IVec3 {
        let cells = (self.count / 2 + IVec3::ONE).as_i64vec3();
        let each = cells.x * cells.y * cells.z;
        let (odd, rest) = (index as i64 / each, index as i64 % each);
        let (x, y, z) = (rest % cells.x, rest / cells.x % cells.y, rest / cells.x / cells.y);
        IVec3::new((2 * x + odd) as i32, (2 * y + odd) as i32, (2 * z + odd) as i32)
    }

    fn len(&self) -> usize {
        let cells = (self.count / 2 + IVec3::ONE).as_i64vec3();
        (2 * cells.x * cells.y * cells.z) as usize
    }

    fn inside(&self, p: IVec3) -> bool {
        p.cmpge(IVec3::ZERO).all() && p.cmple(self.count).all()
    }

    fn place(&self, p: IVec3) -> DVec3 {
        self.origin + p.as_dvec3() * self.half
    }
}

/// The fourteen neighbours of a lattice point: six along long edges, eight along short ones.
fn neighbours(p: IVec3) -> impl Iterator<Item = (IVec3, bool)> {
    let long = [IVec3::X, IVec3::NEG_X, IVec3::Y, IVec3::NEG_Y, IVec3::Z, IVec3::NEG_Z];
    let short = (0..8).map(|k| IVec3::new(2 * (k & 1) - 1, (k & 2) - 1, (k & 4) / 2 - 1));
    long.into_iter().map(move |d| (p + d * 2, true)).chain(short.map(move |d| (p + d, false)))
}

/// Greatest depth inside, sampled on a coarse grid; 0 when nothing is inside.
pub fn deepest(distance: &(impl Fn(DVec3) -> f64 + Sync), low: DVec3, high: DVec3) -> f64 {
    let size = high - low;
    let shortest = size.min_element().max(size.max_element() / 40.0);
    let cells = (size / shortest * 12.0).ceil().max(DVec3::ONE).as_ivec3();
    let count = (cells.x * cells.y * cells.z) as usize;
    (0..count)
        .into_par_iter()
        .map(|i| {
            let i = i as i32;
            let at = IVec3::new(i % cells.x, i / cells.x % cells.y, i / cells.x / cells.y);
            -distance(low + size * (at.as_dvec3() + 0.5) / cells.as_dvec3())
        })
        .collect::<Vec<_>>()
        .into_iter()
        .fold(0.0, f64::max)
}

/// Fills the negative side of `distance` with tetrahedra on a lattice of the given edge.
pub(crate) fn stuff(
    distance: &(impl Fn(DVec3) -> f64 + Sync),
    low: DVec3,
    high: DVec3,
    edge: f64,
) -> Result<TetMesh, MeshError> {
    let size = (high - low) / edge + DVec3::splat(6.0);
    let points = 2.0 * size.x * size.y * size.z;
    if points.is_nan() || points >= MOST_POINTS {
        let least = edge * (points / MOST_POINTS).cbrt();
        return Err(MeshError::TooFine { edge, points, least });
    }
    let lattice = Lattice::new(low, high, edge);
    // Positive inside from here on.
    let mut value: Vec<f64> =
        (0..lattice.len()).into_par_iter().map(|i| -distance(lattice.place(lattice.point(i)))).collect();
    let mut place: HashMap<usize, DVec3> = HashMap::new();
    for i in 0..lattice.len() {
        warp(&lattice, i, &mut value, &mut place);
    }
    let mut builder = Builder {
        lattice: &lattice,
        value: &value,
        place: &place,
        nodes: Vec::new(),
        corner_of: vec![u32::MAX; lattice.len()],
        cut_of: HashMap::new(),
        tets: Vec::new(),
    };
    for p in (0..lattice.len()).map(|i| lattice.point(i)).filter(|p| p.x & 1 == 0) {
        for axis in [IVec3::X, IVec3::Y, IVec3::Z] {
            let other = p + axis * 2;
            // The four centres around the edge, in turn.
            let (u, v) = (axis.yzx(), axis.zxy());
            let ring = [u + v, v - u, -u - v, u - v].map(|d| p + axis + d);
            if !lattice.inside(other) {
                continue;
            }
            for k in 0..4 {
                let (a, b) = (ring[k], ring[(k + 1) % 4]);
                if lattice.inside(a) && lattice.inside(b) {
                    builder.cut([p, other, a, b]);
                }
            }
        }
    }
    Ok(TetMesh { nodes: builder.nodes, tets: builder.tets })
}

use glam::Vec3Swizzles as _;

/// Moves a lattice point onto the level if the level crosses one of its edges too near to it.
fn warp(lattice: &Lattice, i: usize, value: &mut [f64], place: &mut HashMap<usize, DVec3>) {
    let here = value[i];
    if here == 0.0 {
        return;
    }
    let p = lattice.point(i);
    let mut nearest: Option<(f64, DVec3)> = None;
    for (q, long) in neighbours(p).filter(|(q, _)| lattice.inside(*q)) {
        let there = value[lattice.index(q)];
        if here * there >= 0.0 {
            continue;
        }
        let t = here / (here - there);
        if t < if long { WARP_LONG } else { WARP_SHORT } {
            let cut = lattice.place(p).lerp(lattice.place(q), t);
            let far = cut.distance_squared(lattice.place(p));
            if nearest.is_none_or(|(best, _)| far < best) {
                nearest = Some((far, cut));
            }
        }
    }
    if let Some((_, cut)) = nearest {
        value[i] = 0.0;
        place.insert(i, cut);
    }
}

struct Builder<'a> {
    lattice: &'a Lattice,
    value: &'a [f64],
    place: &'a HashMap<usize, DVec3>,
    nodes: Vec<DVec3>,
    corner_of: Vec<u32>,
    cut_of: HashMap<(usize, usize), u32>,
    tets: Vec<[u32; 4]>,
}

impl Builder<'_> {
    fn corner(&mut self, p: IVec3) -> u32 {
        let i = self.lattice.index(p);
        if self.corner_of[i] == u32::MAX {
            self.corner_of[i] = self.nodes.len() as u32;
            self.nodes.push(self.place.get(&i).copied().unwrap_or_else(|| self.lattice.place(p)));
        }
        self.corner_of[i]
    }

    /// The node where the level crosses the edge from a plus to a minus corner.
    fn crossing(&mut self, plus: IVec3, minus: IVec3) -> u32 {
        let (i, j) = (self.lattice.index(plus), self.lattice.index(minus));
        if let Some(&node) = self.cut_of.get(&(i, j)) {
            return node;
        }
        let t = self.value[i] / (self.value[i] - self.value[j]);
        let node = self.nodes.len() as u32;
        self.nodes.push(self.lattice.place(plus).lerp(self.lattice.place(minus), t));
        self.cut_of.insert((i, j), node);
        node
    }

    fn push(&mut self, mut tet: [u32; 4]) {
        if volume(tet.map(|n| self.nodes[n as usize])) < 0.0 {
            tet.swap(0, 1);
        }
        self.tets.push(tet);
    }

    /// Whether the diagonal of the quadrilateral of a face with plus corners `p`, `q` and a minus corner `m`
    /// leaves from `p` (to the crossing on the edge of `q`).
    fn diagonal_from(&self, p: IVec3, q: IVec3, m: IVec3) -> bool {
        let long = |a: IVec3, b: IVec3| (a - b).abs().element_sum() == 2;
        if long(p, m) {
            CUT_LONG_FROM_CORNER
        } else if long(q, m) {
            !CUT_LONG_FROM_CORNER
        } else {
            self.lattice.index(p) < self.lattice.index(q)
        }
    }

    /// Emits the part of a lattice tetrahedron that is inside.
    fn cut(&mut self, corners: [IVec3; 4]) {
        let sign = corners.map(|p| {
            let v = self.value[self.lattice.index(p)];
            if v > 0.0 {
                1
            } else if v < 0.0 {
                -1
            } else {
                0
            }
        });
        let pick =
            |s: i32| -> Vec<IVec3> { corners.iter().zip(sign).filter(|c| c.1 == s).map(|c| *c.0).collect() };
        if !sign.contains(&1) {
            return;
        }
        let (plus, zero, minus) = (pick(1), pick(0), pick(-1));
        match (plus.len(), minus.len()) {
            (_, 0) => {
                let tet = corners.map(|p| self.corner(p));
                self.push(tet);
            }
            (1, _) => {
                let mut tet = [self.corner(plus[0]); 4];
                for (k, &p) in zero.iter().chain(&minus).enumerate() {
                    tet[k + 1] = if k < zero.len() { self.corner(p) } else { self.crossing(plus[0], p) };
                }
                self.push(tet);
            }
            (2, 1) => {
                let (p, q, m) = (plus[0], plus[1], minus[0]);
                let apex = self.corner(zero[0]);
                let (pc, qc) = (self.corner(p), self.corner(q));
                let (px, qx) = (self.crossing(p, m), self.crossing(q, m));
                if self.diagonal_from(p, q, m) {
                    self.push([apex, pc, qc, qx]);
                    self.push([apex, pc, qx, px]);
                } else {
                    self.push([apex, pc, qc, px]);
                    self.push([apex, qc, qx, px]);
                }
            }
            (2, _) => {
                let (p, q, m, n) = (plus[0], plus[1], minus[0], minus[1]);
                let from = [self.corner(p), self.crossing(p, m), self.crossing(p, n)];
                let to = [self.corner(q), self.crossing(q, m), self.crossing(q, n)];
                // Sides of the prism: (corner, m), (m, n), (n, corner). The middle one is on the level and free.
                let first = self.diagonal_from(p, q, m);
                let last = !self.diagonal_from(p, q, n);
                self.prism(from, to, [Some(first), None, Some(last)]);
            }
            _ => {
                let m = minus[0];
                let top = [self.corner(plus[0]), self.corner(plus[1]), self.corner(plus[2])];
                let bottom =
                    [self.crossing(plus[0], m), self.crossing(plus[1], m), self.crossing(plus[2], m)];
                let side = |i: usize, j: usize| Some(self.diagonal_from(plus[i], plus[j], m));
                let sides = [side(0, 1), side(1, 2), side(2, 0)];
                self.prism(top, bottom, sides);
            }
        }
    }

    /// Cuts a prism of triangles `a`, `b` into three. Side `i` runs from `i` to `i + 1`; true means its
    /// diagonal goes from `a[i]` to `b[i + 1]`. A free side takes the diagonal with the larger smallest angle.
    fn prism(&mut self, a: [u32; 3], b: [u32; 3], sides: [Option<bool>; 3]) {
        let candidates: Vec<[bool; 3]> = (0..2)
            .map(|free| sides.map(|s| s.unwrap_or(free == 1)))
            .filter(|s| s.iter().any(|&x| x != s[0]))
            .collect();
        let nodes = &self.nodes;
        let best = candidates
            .iter()
            .map(|&s| {
                let tets = prism_tets(a, b, s);
                let worst = tets
                    .iter()
                    .map(|t| {
                        let mut corners = t.map(|n| nodes[n as usize]);
                        if volume(corners) < 0.0 {
                            corners.swap(0, 1);
                        }
                        dihedral_angles(corners).into_iter().fold(f64::INFINITY, f64::min)
                    })
                    .fold(f64::INFINITY, f64::min);
                (worst, tets)
            })
            .reduce(|x, y| if y.0 > x.0 { y } else { x });
        if let Some((_, tets)) = best {
            for tet in tets {
                self.push(tet);
            }
        }
    }
}

/// In a face with a crossing on a long and one on a short edge, whether the diagonal leaves from the corner
/// of the long edge.
const CUT_LONG_FROM_CORNER: bool = false;

/// The three tetrahedra of a prism whose side diagonals do not form a cycle.
fn prism_tets(a: [u32; 3], b: [u32; 3], sides: [bool; 3]) -> [[u32; 4]; 3] {
    // The corner of `a` that two diagonals leave from: its own side starts there and the side before ends there.
    let i = (0..3).find(|&i| sides[i] && !sides[(i + 2) % 3]).unwrap_or(0);
    let (j, k) = ((i + 1) % 3, (i + 2) % 3);
    let far = [a[i], b[0], b[1], b[2]];
    if sides[j] {
        [far, [a[i], a[j], a[k], b[k]], [a[i], a[j], b[k], b[j]]]
    } else {
        [far, [a[i], a[j], a[k], b[j]], [a[i], a[k], b[k], b[j]]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn angles_stay_within_bounds() {
        // Noise at every lattice point meets every case of the cutting table.
        let noise = |p: DVec3| {
            let cell = (p * 40.0).round().as_i64vec3();
            let mut h = (cell.x * 73_856_093) ^ (cell.y * 19_349_663) ^ (cell.z * 83_492_791);
            h = h.wrapping_mul(0x2545_F491_4F6C_DD1D) ^ (h >> 29);
            h = h.wrapping_mul(0x5851_F42D_4C95_7F2D) ^ (h >> 32);
            (h & 0xFFFF) as f64 / 65535.0 - 0.5
        };
        let mesh = stuff(&noise, DVec3::ZERO, DVec3::ONE, 0.05).unwrap();
        let quality = mesh.quality();
        println!("{} tets {quality:?}", mesh.tets.len());
        assert!(mesh.tets.len() > 50_000);
        assert_eq!(quality.inverted, 0);
        assert!(quality.smallest_dihedral > 8.0, "{quality:?}");
        assert!(quality.largest_dihedral < 166.0, "{quality:?}");
        // Neighbouring tetrahedra agree on their common faces: no face is used three times, none is half used.
        let (surface, _) = mesh.surface();
        let volume = surface.volume();
        assert!((volume / mesh.volume() - 1.0).abs() < 1e-4, "{volume} {}", mesh.volume());
    }
}
