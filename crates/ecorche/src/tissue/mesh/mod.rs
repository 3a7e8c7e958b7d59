//! From closed surfaces and implicit shapes to tetrahedra, and mesh files.

pub(crate) mod gmsh;
pub(crate) mod stuffing;
pub(crate) mod veg;
pub(crate) mod vtk;

use super::tet_mesh::{Quality, TetMesh};
use crate::geom::sdf::{SdfError, SurfaceDistance};
use crate::geom::{Adjacency, TriMesh};
use glam::DVec3;
use thiserror::Error;

/// How fine a mesh is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Size {
    /// Edge of the lattice cells, metres; tetrahedra have edges of 0.87 and 1 of it.
    Edge(f64),
    /// At least this many lattice cells through the thickest place.
    Layers(u32),
}

/// What came out of meshing.
#[derive(Clone, Debug, PartialEq)]
pub struct Meshed {
    /// The tetrahedra.
    pub mesh: TetMesh,
    /// Lattice cell edge used, metres.
    pub edge: f64,
    /// Worst angles and volumes.
    pub quality: Quality,
    /// Volume over the volume of the shape that was meshed; 1 when nothing thin was lost.
    pub volume_ratio: f64,
    /// Pieces that do not touch; all but the largest were dropped.
    pub dropped_pieces: usize,
}

/// Why a shape was not meshed.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum MeshError {
    /// The surface has holes.
    #[error("the surface is open: {0} edges have only one triangle; close the holes first")]
    Open(usize),
    /// Not usable as a surface.
    #[error(transparent)]
    Surface(#[from] SdfError),
    /// Nothing is inside.
    #[error("nothing is inside at edge {edge:.4} m; choose a smaller size or turn the triangles outward")]
    Nothing {
        /// Lattice edge tried.
        edge: f64,
    },
    /// Too fine.
    #[error("edge {edge:.2e} m needs {points:.1e} lattice points; choose at least {least:.2e} m")]
    TooFine {
        /// Lattice edge asked for.
        edge: f64,
        /// Lattice points it needs.
        points: f64,
        /// Smallest edge allowed.
        least: f64,
    },
    /// A size that is not a positive number.
    #[error("the element size must be a positive number, not {0}")]
    BadSize(f64),
}

/// Meshes a closed surface, thickened to `thinnest` metres where it is thinner (0 leaves it as it is).
///
/// Tetrahedra cannot be thinner than about an element and a half, and a tendon lost to the lattice leaves its
/// muscle unattached. A thickened tendon is heavier and stiffer than the real one, by the square of the
/// thickening; what it carries is the same.
pub fn from_surface(surface: &TriMesh, size: Size, thinnest: f64) -> Result<Meshed, MeshError> {
    let open = Adjacency::new(surface).open_edges();
    if open > 0 {
        return Err(MeshError::Open(open));
    }
    let shape = Thickened::new(surface, thinnest)?;
    let (low, high) = surface.bounds();
    let reach = DVec3::splat(0.5 * thinnest);
    let thickened = |p: DVec3| shape.signed(p);
    let mut meshed = from_implicit(thickened, low.as_dvec3() - reach, high.as_dvec3() + reach, size)?;
    meshed.volume_ratio = meshed.mesh.volume() / surface.volume().abs();
    Ok(meshed)
}

/// A closed surface, thickened where it is thinner than a length.
#[derive(Debug)]
pub(crate) struct Thickened {
    distance: SurfaceDistance,
    /// At each vertex; empty if nothing is thickened.
    thickness: Vec<f64>,
    thinnest: f64,
}

impl Thickened {
    /// Thickens a surface to `thinnest` metres; 0 leaves it as it is.
    pub fn new(surface: &TriMesh, thinnest: f64) -> Result<Self, SdfError> {
        let distance = SurfaceDistance::new(surface)?;
        let thickness = if thinnest > 0.0 { distance.thickness() } else { Vec::new() };
        Ok(Self { distance, thickness, thinnest })
    }

    /// Distance, negative inside; exact where nothing is thickened.
    pub fn signed(&self, point: DVec3) -> f64 {
        let Some((signed, corners, share)) = self.distance.measure(point) else { return f64::INFINITY };
        if self.thinnest <= 0.0 {
            return signed;
        }
        let lacks = |v: u32| (0.5 * (self.thinnest - self.thickness[v as usize])).max(0.0);
        signed - corners.into_iter().zip(share).map(|(v, w)| w * lacks(v)).sum::<f64>()
    }
}

/// Meshes the inside (negative values) of a function that is close to a distance near its zero, within a box.
pub fn from_implicit(
    distance: impl Fn(DVec3) -> f64 + Sync,
    low: DVec3,
    high: DVec3,
    size: Size,
) -> Result<Meshed, MeshError> {
    let edge = match size {
        Size::Edge(edge) => edge,
        Size::Layers(layers) => 2.0 * stuffing::deepest(&distance, low, high) / f64::from(layers.max(1)),
    };
    if !(edge.is_finite() && edge > 0.0) {
        return Err(match size {
            Size::Edge(edge) => MeshError::BadSize(edge),
            Size::Layers(_) => MeshError::Nothing { edge: (high - low).max_element() / 24.0 },
        });
    }
    let mut mesh = stuffing::stuff(&distance, low, high, edge)?;
    let dropped_pieces = keep_largest_piece(&mut mesh);
    if mesh.tets.is_empty() {
        return Err(MeshError::Nothing { edge });
    }
    let quality = mesh.quality();
    Ok(Meshed { mesh, edge, quality, volume_ratio: 1.0, dropped_pieces })
}

/// Drops all pieces but the one with most tetrahedra, and unused nodes. Returns how many were dropped.
fn keep_largest_piece(mesh: &mut TetMesh) -> usize {
    let mut root: Vec<u32> = (0..mesh.nodes.len() as u32).collect();
    fn find(root: &mut [u32], mut n: u32) -> u32 {
        while root[n as usize] != n {
            root[n as usize] = root[root[n as usize] as usize];
            n = root[n as usize];
        }
        n
    }
    for tet in &mesh.tets {
        let first = find(&mut root, tet[0]);
        for &n in &tet[1..] {
            let other = find(&mut root, n);
            root[first.max(other) as usize] = first.min(other);
            if other < first {
                root[first as usize] = other;
            }
        }
    }
    let mut count = vec![0usize; mesh.nodes.len()];
    let owners: Vec<u32> = mesh.tets.iter().map(|t| find(&mut root, t[0])).collect();
    for &owner in &owners {
        count[owner as usize] += 1;
    }
    let pieces = count.iter().filter(|&&c| c > 0).count();
    let Some(largest) = (0..count.len()).max_by_key(|&i| (count[i], usize::MAX - i)) else { return 0 };
    let tets: Vec<[u32; 4]> = mesh
        .tets
        .iter()
        .zip(&owners)
        .filter(|(_, owner)| **owner as usize == largest)
        .map(|(t, _)| *t)
        .collect();
    let mut renamed = vec![u32::MAX; mesh.nodes.len()];
    let mut nodes = Vec::new();
    mesh.tets = tets
        .iter()
        .map(|t| {
            t.map(|n| {
                if renamed[n as usize] == u32::MAX {
                    renamed[n as usize] = nodes.len() as u32;
                    nodes.push(mesh.nodes[n as usize]);
                }
                renamed[n as usize]
            })
        })
        .collect();
    mesh.nodes = nodes;
    pieces.saturating_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn capsule(p: DVec3) -> f64 {
        let along = p.x.clamp(-0.1, 0.1);
        (p - DVec3::X * along).length() - 0.03
    }

    #[test]
    fn a_capsule_keeps_its_volume_and_has_the_layers_asked_for() {
        let box_half = DVec3::new(0.13, 0.03, 0.03);
        let meshed = from_implicit(capsule, -box_half, box_half, Size::Layers(6)).unwrap();
        let exact = std::f64::consts::PI * 0.03f64.powi(2) * (0.2 + 4.0 / 3.0 * 0.03);
        assert!((meshed.mesh.volume() / exact - 1.0).abs() < 0.03, "{}", meshed.mesh.volume() / exact);
        assert!(meshed.edge > 0.008 && meshed.edge <= 0.01, "{}", meshed.edge);
        assert_eq!(meshed.quality.inverted, 0);
        assert_eq!(meshed.dropped_pieces, 0);
        let (surface, _) = meshed.mesh.surface();
        assert_eq!(Adjacency::new(&surface).open_edges(), 0);
        assert_eq!(Adjacency::new(&surface).non_manifold_edges(), 0);
        for p in &surface.positions {
            assert!(capsule(p.as_dvec3()).abs() < 0.1 * meshed.edge);
        }
    }

    #[test]
    fn a_surface_comes_back_as_tetrahedra_of_its_volume() {
        let box_mesh = TetMesh::brick(DVec3::ZERO, DVec3::new(0.2, 0.1, 0.1), [4, 2, 2]);
        let (surface, _) = box_mesh.surface();
        let meshed = from_surface(&surface, Size::Layers(8), 0.0).unwrap();
        assert!((meshed.volume_ratio - 1.0).abs() < 0.02, "{}", meshed.volume_ratio);
        assert_eq!(meshed.quality.inverted, 0);
    }

    #[test]
    fn a_cord_thinner_than_the_lattice_is_kept_when_thickened() {
        // A ball on a cord of 4 mm.
        let cord = |p: DVec3| {
            let along = p.x.clamp(0.0, 0.12);
            (p.length() - 0.03).min((p - DVec3::X * along).length() - 0.002)
        };
        let fine =
            from_implicit(cord, DVec3::splat(-0.03), DVec3::new(0.125, 0.03, 0.03), Size::Edge(0.0015));
        let (surface, _) = fine.unwrap().mesh.surface();
        let reach = |thinnest: f64| {
            let meshed = from_surface(&surface, Size::Edge(0.008), thinnest).unwrap();
            assert_eq!(meshed.quality.inverted, 0);
            (meshed.mesh.nodes.iter().map(|p| p.x).fold(0.0, f64::max), meshed.volume_ratio)
        };
        let (bare, _) = reach(0.0);
        let (kept, volume) = reach(0.012);
        assert!(bare < 0.1 && kept > 0.11, "{bare} {kept}");
        assert!(volume > 1.0 && volume < 1.2, "{volume}");
    }

    #[test]
    fn bad_surfaces_are_refused_with_a_reason() {
        let (mut surface, _) = TetMesh::brick(DVec3::ZERO, DVec3::ONE, [2, 2, 2]).surface();
        let whole = surface.clone();
        surface.triangles.pop();
        assert_eq!(from_surface(&surface, Size::Edge(0.1), 0.0), Err(MeshError::Open(3)));
        assert!(matches!(from_surface(&whole, Size::Edge(0.0), 0.0), Err(MeshError::BadSize(_))));
        assert!(matches!(from_surface(&whole, Size::Edge(1e-5), 0.0), Err(MeshError::TooFine { .. })));
        let mut broken = whole.clone();
        broken.positions[3].x = f32::NAN;
        assert!(matches!(from_surface(&broken, Size::Edge(0.1), 0.0), Err(MeshError::Surface(_))));
    }

    #[test]
    fn only_the_largest_piece_stays() {
        let two = |p: DVec3| (p.length() - 0.05).min((p - DVec3::X * 0.2).length() - 0.03);
        let meshed =
            from_implicit(two, DVec3::splat(-0.06), DVec3::new(0.25, 0.06, 0.06), Size::Edge(0.015)).unwrap();
        assert_eq!(meshed.dropped_pieces, 1);
        assert!(meshed.mesh.nodes.iter().all(|p| p.length() < 0.06));
    }
}
