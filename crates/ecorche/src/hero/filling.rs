//! Tetrahedra between skin and bones, fine around one joint and coarser away from it.
//!
//! The mesh conforms to both surfaces: where the bones are, it has holes, and the nodes on their walls follow them. So the bones
//! are the same at every resolution, but for what is smaller than an element.
//!
//! Grading is a map of space. Isosurface stuffing works on a lattice of one size in a space where distances from
//! the joint beyond `reach` are compressed: `r = reach ((s / reach)^2 + 1) / 2`. Elements then grow with the distance, and
//! are at most twice as long away from the joint as they are wide.

use super::cores::Cores;
use super::region::Region;
use crate::geom::TriMesh;
use crate::geom::sdf::SurfaceDistance;
use crate::tissue::mesh::{self, MeshError, Size};
use crate::tissue::tet_mesh::TetMesh;
use glam::DVec3;

/// Where the mesh is finest, and how far around.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Focus {
    /// The joint, bind space.
    pub centre: DVec3,
    /// Up to this distance the elements have one size, metres.
    pub reach: f64,
}

/// Edge length of the elements by place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grading {
    /// Where they are shortest.
    pub edge: f64,
    /// Without one they are the same everywhere.
    pub focus: Option<Focus>,
}

impl Grading {
    /// From the lattice's space to that of the character.
    fn spread(&self, point: DVec3) -> DVec3 {
        let Some(Focus { centre, reach }) = self.focus else { return point };
        let s = point.length() / reach;
        centre + if s <= 1.0 { point } else { point * (0.5 * (s * s + 1.0) / s) }
    }

    /// From the character's space to that of the lattice.
    fn gather(&self, point: DVec3) -> DVec3 {
        let Some(Focus { centre, reach }) = self.focus else { return point };
        let away = point - centre;
        let r = away.length() / reach;
        if r <= 1.0 { away } else { away * ((2.0 * r - 1.0).sqrt() / r) }
    }

    /// Edge of the elements at a point: the geometric mean of what they are along and across.
    pub fn at(&self, point: DVec3) -> f64 {
        let Some(Focus { centre, reach }) = self.focus else { return self.edge };
        let r = point.distance(centre) / reach;
        if r <= 1.0 {
            return self.edge;
        }
        let s = (2.0 * r - 1.0).sqrt();
        self.edge * (s * (r / s) * (r / s)).cbrt()
    }
}

/// Flesh as tetrahedra, and which of its nodes follow which core.
#[derive(Debug)]
pub struct Filling {
    /// The tetrahedra.
    pub mesh: TetMesh,
    /// Nodes that are led, with their leader.
    pub led: Vec<(u32, u32)>,
}

/// Flesh this close to the border of a region follows its bone, in element edges.
pub const BORDER: f64 = 1.2;

/// Parts that are thinner than this many edges are thickened.
const THINNEST: f64 = 1.5;

/// Fills the space between skin and cores, or the region of it.
pub fn fill(
    skin: &TriMesh,
    distance: &SurfaceDistance,
    cores: &Cores,
    region: Option<&Region>,
    grading: &Grading,
) -> Result<Filling, MeshError> {
    let thickness = distance.thickness();
    let flesh = |point: DVec3| -> f64 {
        let edge = grading.at(point);
        let Some((signed, corners, share)) = distance.measure(point) else { return f64::INFINITY };
        let lacks = |v: u32| (0.5 * (THINNEST * edge - thickness[v as usize])).max(0.0);
        let lack: f64 = corners.into_iter().zip(share).map(|(v, w)| w * lacks(v)).sum();
        let border = region.map_or(f64::NEG_INFINITY, |r| -r.depth(point));
        (signed - lack).max(border)
    };
    let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
    for point in skin.positions.iter().map(|p| p.as_dvec3()) {
        if region.is_none_or(|r| r.depth(point) > 0.0) {
            let margin = DVec3::splat(grading.edge);
            let at = grading.gather(point);
            (low, high) = (low.min(at - margin), high.max(at + margin));
        }
    }
    let solid = |u: DVec3| {
        let point = grading.spread(u);
        flesh(point).max(-cores.outside(point, grading.at(point)).0)
    };
    let mut mesh = mesh::from_implicit(solid, low, high, Size::Edge(grading.edge))?.mesh;
    for node in &mut mesh.nodes {
        *node = grading.spread(*node);
    }
    let mut leader_of = vec![u32::MAX; mesh.nodes.len()];
    for node in mesh.boundary().into_iter().flatten() {
        let point = mesh.nodes[node as usize];
        let (outside, leader) = cores.outside(point, grading.at(point));
        if outside < -flesh(point) {
            leader_of[node as usize] = leader;
        }
    }
    if let Some(region) = region {
        for (leader, &node) in leader_of.iter_mut().zip(&mesh.nodes) {
            if region.depth(node) < BORDER * grading.at(node) {
                let joint = region.nearest(node);
                *leader =
                    cores.leaders.iter().position(|l| l.joints == [joint; 2]).map_or(u32::MAX, |l| l as u32);
            }
        }
    }
    release_between(&mesh, &mut leader_of);
    let led = (0u32..).zip(leader_of).filter(|(_, leader)| *leader != u32::MAX).collect();
    Ok(Filling { mesh, led })
}

/// Releases the nodes of tetrahedra that two cores hold: any motion of the joint would distort them.
fn release_between(mesh: &TetMesh, leader_of: &mut [u32]) {
    let mut free = Vec::new();
    for tet in &mesh.tets {
        let mut held = tet.iter().map(|&n| leader_of[n as usize]).filter(|&l| l != u32::MAX);
        let first = held.next();
        if held.any(|l| Some(l) != first) {
            free.extend_from_slice(tet);
        }
    }
    for node in free {
        leader_of[node as usize] = u32::MAX;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_short_in_the_focus_and_grow_away_from_it() {
        let focus = Focus { centre: DVec3::new(1.0, 2.0, 3.0), reach: 0.1 };
        let grading = Grading { edge: 0.01, focus: Some(focus) };
        for point in [DVec3::new(1.02, 2.0, 3.05), DVec3::new(1.5, 1.7, 3.1), DVec3::ZERO] {
            assert!(grading.spread(grading.gather(point)).distance(point) < 1e-12);
            // A step of the lattice is an edge, on average over the directions.
            let at = grading.gather(point);
            let step = |d: DVec3| grading.spread(at + d * 1e-6).distance(point) / 1e-6 * grading.edge;
            let away = (point - focus.centre).normalize();
            let (u, v) = away.any_orthonormal_pair();
            let mean = (step(away) * step(u) * step(v)).cbrt();
            assert!((mean / grading.at(point) - 1.0).abs() < 1e-3, "{mean} {}", grading.at(point));
            assert!(step(away) < 2.01 * step(u), "no more than twice as long as wide");
        }
        assert_eq!(grading.at(focus.centre), 0.01);
        assert!(grading.at(focus.centre + DVec3::X * 0.4) > 0.017);
    }
}
