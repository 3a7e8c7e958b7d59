//! A mesh of tetrahedra and what can be asked of it.

use super::element::{dihedral_angles, longest_edge, volume};
use crate::geom::TriMesh;
use glam::DVec3;

/// Tetrahedra on shared nodes. Corner order is positive: corners 1, 2, 3 turn counter-clockwise seen from 0's
/// opposite side, so that the signed volume is above zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetMesh {
    /// Node positions, metres.
    pub nodes: Vec<DVec3>,
    /// Four node indices each.
    pub tets: Vec<[u32; 4]>,
}

/// How well shaped the tetrahedra of a mesh are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// Smallest dihedral angle, degrees.
    pub smallest_dihedral: f64,
    /// Largest dihedral angle, degrees.
    pub largest_dihedral: f64,
    /// Smallest signed volume, cubic metres.
    pub smallest_volume: f64,
    /// Number of tetrahedra without positive volume.
    pub inverted: usize,
}

impl TetMesh {
    /// The corners of tetrahedron `t`.
    pub fn corners(&self, t: usize) -> [DVec3; 4] {
        self.tets[t].map(|n| self.nodes[n as usize])
    }

    /// Total volume, summed in index order.
    pub fn volume(&self) -> f64 {
        (0..self.tets.len()).map(|t| volume(self.corners(t))).sum()
    }

    /// Mean edge length over tetrahedra, the scale of relative tolerances; zero for an empty mesh.
    pub(crate) fn mean_edge(&self) -> f64 {
        if self.tets.is_empty() {
            return 0.0;
        }
        let sum: f64 = (0..self.tets.len()).map(|t| longest_edge(self.corners(t))).sum();
        sum / self.tets.len() as f64
    }

    /// Worst angles and volumes.
    pub fn quality(&self) -> Quality {
        let mut q = Quality {
            smallest_dihedral: 180.0,
            largest_dihedral: 0.0,
            smallest_volume: f64::INFINITY,
            inverted: 0,
        };
        for t in 0..self.tets.len() {
            let corners = self.corners(t);
            let v = volume(corners);
            q.smallest_volume = q.smallest_volume.min(v);
            q.inverted += usize::from(v.is_nan() || v <= 0.0);
            for angle in dihedral_angles(corners) {
                q.smallest_dihedral = q.smallest_dihedral.min(angle.to_degrees());
                q.largest_dihedral = q.largest_dihedral.max(angle.to_degrees());
            }
        }
        q
    }

    /// Boundary triangles, facing outward, in the mesh's node numbering; ordered by tetrahedron and face.
    pub fn boundary(&self) -> Vec<[u32; 3]> {
        boundary_faces(&self.tets).into_iter().map(|(face, _)| face).collect()
    }

    /// The boundary as a surface of its own, and for each of its vertices the node it came from.
    pub fn surface(&self) -> (TriMesh, Vec<u32>) {
        let boundary = self.boundary();
        let mut node_of: Vec<u32> = boundary.iter().flatten().copied().collect();
        node_of.sort_unstable();
        node_of.dedup();
        let mut vertex_of = vec![u32::MAX; self.nodes.len()];
        for (v, &n) in node_of.iter().enumerate() {
            vertex_of[n as usize] = v as u32;
        }
        let mesh = TriMesh {
            positions: node_of.iter().map(|&n| self.nodes[n as usize].as_vec3()).collect(),
            triangles: boundary.iter().map(|f| f.map(|n| vertex_of[n as usize])).collect(),
        };
        (mesh, node_of)
    }

    /// A box of `cells` bricks from `low` to `high`, each brick cut into six tetrahedra around its diagonal.
    pub fn brick(low: DVec3, high: DVec3, cells: [usize; 3]) -> Self {
        let [nx, ny, nz] = cells;
        let index = |x: usize, y: usize, z: usize| ((z * (ny + 1) + y) * (nx + 1) + x) as u32;
        let mut nodes = Vec::with_capacity((nx + 1) * (ny + 1) * (nz + 1));
        for z in 0..=nz {
            for y in 0..=ny {
                for x in 0..=nx {
                    let at = DVec3::new(x as f64 / nx as f64, y as f64 / ny as f64, z as f64 / nz as f64);
                    nodes.push(low + (high - low) * at);
                }
            }
        }
        // The six orders in which a path from corner 0 to corner 7 can take the three axes.
        const WALKS: [[usize; 3]; 6] = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];
        let mut tets = Vec::with_capacity(nx * ny * nz * 6);
        for z in 0..nz {
            for y in 0..ny {
                for x in 0..nx {
                    for (k, walk) in WALKS.iter().enumerate() {
                        let mut at = [x, y, z];
                        let mut tet = [index(x, y, z); 4];
                        for (step, &axis) in walk.iter().enumerate() {
                            at[axis] += 1;
                            tet[step + 1] = index(at[0], at[1], at[2]);
                        }
                        if k >= 3 {
                            tet.swap(1, 2);
                        }
                        tets.push(tet);
                    }
                }
            }
        }
        Self { nodes, tets }
    }
}

/// Faces that only one of the tetrahedra has, facing outward, each with its tetrahedron; ordered by that and by face.
pub(crate) fn boundary_faces(tets: &[[u32; 4]]) -> Vec<([u32; 3], u32)> {
    let mut faces: Vec<([u32; 3], u32, u8)> = Vec::with_capacity(tets.len() * 4);
    for (t, tet) in tets.iter().enumerate() {
        for (f, face) in FACES.iter().enumerate() {
            let mut key = face.map(|k| tet[k]);
            key.sort_unstable();
            faces.push((key, t as u32, f as u8));
        }
    }
    faces.sort_unstable();
    let mut open: Vec<(u32, u8)> = Vec::new();
    let mut i = 0;
    while i < faces.len() {
        let same = faces[i..].iter().take_while(|f| f.0 == faces[i].0).count();
        if same == 1 {
            open.push((faces[i].1, faces[i].2));
        }
        i += same;
    }
    open.sort_unstable();
    open.iter().map(|&(t, f)| (FACES[f as usize].map(|k| tets[t as usize][k]), t)).collect()
}

/// The faces of a tetrahedron, counter-clockwise from outside.
pub(crate) const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_brick_is_filled_without_gaps_and_its_boundary_is_closed() {
        let mesh = TetMesh::brick(DVec3::ZERO, DVec3::new(2.0, 1.0, 0.5), [4, 3, 2]);
        assert_eq!(mesh.tets.len(), 4 * 3 * 2 * 6);
        assert!((mesh.volume() - 1.0).abs() < 1e-12);
        assert_eq!(mesh.quality().inverted, 0);
        let (surface, _) = mesh.surface();
        assert!((surface.volume() - 1.0).abs() < 1e-6);
        assert_eq!(crate::geom::Adjacency::new(&surface).open_edges(), 0);
    }
}
