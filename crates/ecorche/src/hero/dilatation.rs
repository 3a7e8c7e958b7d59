//! Resistance to change of volume, by patches of tetrahedra instead of one by one.
//!
//! Nearly incompressible linear tetrahedra cannot bend: each keeps its own volume, and there are twice as many of them as their
//! nodes have ways to move. A patch keeps the volume of several together, one patch to a node.
//!
//! Based on: de Souza Neto et al. F-bar-based linear triangles and tetrahedra for finite strain analysis of nearly incompressible
//! solids. 2005.
//! Differs in: every patch has an energy of its own, `V lambda/2 ln(v / V)^2` with its volume `V` at rest and `v` now, so that
//! forces have a potential and the stiffness is symmetric; patches are found by dealing tetrahedra to their
//! corners.

use crate::tissue::element::volume;
use crate::tissue::material::{Lame, LogarithmicNeoHookean, Pressed, cofactor};
use crate::tissue::model::{Body, Model};
use crate::tissue::tet_mesh::TetMesh;
use glam::{DMat3, DVec3};
use rayon::prelude::*;

/// Tetrahedra that keep their volume together.
#[derive(Debug)]
struct Patch {
    tets: Vec<u32>,
    nodes: Vec<u32>,
    /// At rest, cubic metres.
    volume: f64,
}

/// The patches of a body.
#[derive(Debug)]
pub struct Dilatation {
    patches: Vec<Patch>,
    patch_of: Vec<u32>,
    /// Lamé's first parameter, pascals.
    lambda: f64,
}

/// Ratio of Lamé's first parameter to the shear modulus within each tetrahedron; the patches have the rest. It keeps single
/// tetrahedra from growing at the cost of others.
const OWN: f64 = 1.0;

/// A body of flesh whose tetrahedra resist change of shape, and the Lamé parameter that is left for its patches.
pub fn flesh(mesh: TetMesh, young: f64, poisson: f64) -> (Body, f64) {
    let Lame { mu, lambda } = Lame::new(young, poisson);
    let own = lambda.min(OWN * mu);
    let law = Pressed(LogarithmicNeoHookean { lame: Lame { mu, lambda: own } });
    (Body::uniform("flesh", mesh, Box::new(law), 1000.0), lambda - own)
}

/// The force of a patch on its nodes.
#[derive(Debug)]
pub struct Push<'a> {
    /// The nodes.
    pub nodes: &'a [u32],
    /// Gradient of the volume by the node positions.
    pub slopes: Vec<DVec3>,
    /// First derivative of the energy by the volume, pascals.
    pub pressure: f64,
    /// Second derivative of the energy by the volume, not negative.
    pub stiffness: f64,
}

impl Dilatation {
    /// Deals the tetrahedra of a model to patches.
    pub fn new(model: &Model, lambda: f64) -> Self {
        let mut dealt: Vec<Vec<u32>> = vec![Vec::new(); model.rest.len()];
        for (t, tet) in (0u32..).zip(&model.tets) {
            let corner = tet.iter().copied().min_by_key(|&n| (dealt[n as usize].len(), n)).unwrap_or(tet[0]);
            dealt[corner as usize].push(t);
        }
        let mut patch_of = vec![0u32; model.tets.len()];
        let mut patches = Vec::new();
        for tets in dealt.into_iter().filter(|t| !t.is_empty()) {
            tets.iter().for_each(|&t| patch_of[t as usize] = patches.len() as u32);
            let mut nodes: Vec<u32> = tets.iter().flat_map(|&t| model.tets[t as usize]).collect();
            nodes.sort_unstable();
            nodes.dedup();
            let volume = tets.iter().map(|&t| model.shapes[t as usize].volume).sum();
            patches.push(Patch { tets, nodes, volume });
        }
        Self { patches, patch_of, lambda }
    }

    /// Pairs of nodes that interact.
    pub fn links(&self) -> impl Iterator<Item = [u32; 2]> + '_ {
        self.patches.iter().flat_map(|p| {
            p.nodes.iter().enumerate().flat_map(|(k, &a)| p.nodes[k + 1..].iter().map(move |&b| [a, b]))
        })
    }

    /// Energy of all patches, joules; infinite where one has no volume.
    pub fn energy(&self, model: &Model, positions: &[DVec3]) -> f64 {
        let of = |patch: &Patch| {
            let log = (volume_of(patch, model, positions) / patch.volume).ln();
            if log.is_finite() { 0.5 * patch.volume * self.lambda * log * log } else { f64::INFINITY }
        };
        self.patches.par_iter().with_min_len(256).map(of).collect::<Vec<f64>>().iter().sum()
    }

    /// The force of every patch.
    pub fn pushes(&self, model: &Model, positions: &[DVec3]) -> Vec<Push<'_>> {
        let of = |patch| self.push(patch, model, positions);
        self.patches.par_iter().with_min_len(256).map(of).collect()
    }

    /// The patch of every tetrahedron, in the order of [`Dilatation::pushes`].
    pub fn patch_of(&self) -> &[u32] {
        &self.patch_of
    }

    fn push<'a>(&self, patch: &'a Patch, model: &Model, positions: &[DVec3]) -> Push<'a> {
        let ratio = volume_of(patch, model, positions) / patch.volume;
        let log = ratio.ln();
        let mut slopes = vec![DVec3::ZERO; patch.nodes.len()];
        for &t in &patch.tets {
            let tet = model.tets[t as usize];
            let [a, b, c, d] = model.corners(t as usize, positions);
            let faces = cofactor(&DMat3::from_cols(b - a, c - a, d - a)) * (1.0 / 6.0);
            let own =
                [-(faces.x_axis + faces.y_axis + faces.z_axis), faces.x_axis, faces.y_axis, faces.z_axis];
            for (node, slope) in tet.iter().zip(own) {
                if let Ok(k) = patch.nodes.binary_search(node) {
                    slopes[k] += slope;
                }
            }
        }
        Push {
            nodes: &patch.nodes,
            slopes,
            pressure: self.lambda * log / ratio,
            stiffness: (self.lambda * (1.0 - log) / (ratio * ratio * patch.volume)).max(0.0),
        }
    }
}

fn volume_of(patch: &Patch, model: &Model, positions: &[DVec3]) -> f64 {
    let of = |&t: &u32| volume(model.corners(t as usize, positions));
    patch.tets.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar() -> (Model, Dilatation) {
        let mesh = TetMesh::brick(DVec3::ZERO, DVec3::new(4.0, 1.0, 1.0), [8, 3, 3]);
        let (body, bulk) = flesh(mesh, 1e4, 0.48);
        let model = Model::new(vec![body]).unwrap();
        let dilatation = Dilatation::new(&model, bulk);
        (model, dilatation)
    }

    #[test]
    fn every_tetrahedron_is_in_one_patch_and_there_is_about_one_patch_to_a_node() {
        let (model, dilatation) = bar();
        let mut seen = vec![0; model.tets.len()];
        dilatation.patches.iter().flat_map(|p| &p.tets).for_each(|&t| seen[t as usize] += 1);
        assert!(seen.iter().all(|&count| count == 1));
        let (patches, nodes) = (dilatation.patches.len(), model.rest.len());
        assert!(2 * patches > nodes && patches <= nodes, "{patches} {nodes}");
    }

    #[test]
    fn a_patch_pushes_as_its_energy_falls() {
        let (model, dilatation) = bar();
        let bent: Vec<DVec3> = model
            .rest
            .iter()
            .map(|p| *p + DVec3::new(0.1 * p.y, 0.05 * p.x * p.x, 0.1 * p.z * p.x))
            .collect();
        let mut force = vec![DVec3::ZERO; bent.len()];
        for push in dilatation.pushes(&model, &bent) {
            for (&node, slope) in push.nodes.iter().zip(&push.slopes) {
                force[node as usize] += *slope * push.pressure;
            }
        }
        let size = force.iter().fold(0.0f64, |m, f| m.max(f.length()));
        for node in (0..bent.len()).step_by(7) {
            let at = |step: f64| {
                let mut moved = bent.clone();
                moved[node].y += step;
                dilatation.energy(&model, &moved)
            };
            let slope = (at(1e-6) - at(-1e-6)) / 2e-6;
            assert!((slope - force[node].y).abs() < 1e-5 * size, "{slope} {}", force[node].y);
        }
    }
}
