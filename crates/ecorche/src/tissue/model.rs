//! The bodies of a simulation, checked and laid out for it: one node and element list for all.

use super::element::Shape;
use super::material::{Local, Material};
use super::tet_mesh::TetMesh;
use glam::DVec3;
use std::ops::Range;
use thiserror::Error;

/// A material and its density.
#[derive(Debug)]
pub struct Tissue {
    /// Stress law.
    pub material: Box<dyn Material>,
    /// Kilograms per cubic metre.
    pub density: f64,
}

/// One body as given: a mesh and what its tetrahedra are made of.
#[derive(Debug)]
pub struct Body {
    /// Name in messages.
    pub name: String,
    /// Rest shape.
    pub mesh: TetMesh,
    /// Materials in use.
    pub tissues: Vec<Tissue>,
    /// Index into `tissues` for each tetrahedron.
    pub tissue_of: Vec<u32>,
    /// Fibre, activation and stiffness for each tetrahedron.
    pub local: Vec<Local>,
}

impl Body {
    /// A body of one material throughout.
    pub fn uniform(
        name: impl Into<String>,
        mesh: TetMesh,
        material: Box<dyn Material>,
        density: f64,
    ) -> Self {
        let count = mesh.tets.len();
        Self {
            name: name.into(),
            mesh,
            tissues: vec![Tissue { material, density }],
            tissue_of: vec![0; count],
            local: vec![Local::default(); count],
        }
    }
}

/// Why bodies cannot be simulated.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum ModelError {
    /// A body without tetrahedra.
    #[error("body \"{body}\" has no tetrahedra; mesh its surface first")]
    Empty {
        /// Which body.
        body: String,
    },
    /// Node numbers beyond the node list.
    #[error("body \"{body}\": tetrahedron {tet} names node {node}, but there are {nodes} nodes")]
    NoSuchNode {
        /// Which body.
        body: String,
        /// Which tetrahedron.
        tet: usize,
        /// The missing node.
        node: u32,
        /// How many there are.
        nodes: usize,
    },
    /// Rest tetrahedra without positive volume.
    #[error(
        "body \"{body}\": {count} rest tetrahedra are flat or inverted, the first are {first:?}; remesh the surface or swap two corners"
    )]
    NotPositive {
        /// Which body.
        body: String,
        /// How many.
        count: usize,
        /// The first few.
        first: Vec<usize>,
    },
    /// Not-a-number or infinite input.
    #[error("body \"{body}\": {what} {index} is not a finite number")]
    NotFinite {
        /// Which body.
        body: String,
        /// What kind of value.
        what: &'static str,
        /// Which one.
        index: usize,
    },
    /// A list whose length does not match the mesh.
    #[error("body \"{body}\": {given} entries of {what} for {expected} tetrahedra")]
    Count {
        /// Which body.
        body: String,
        /// Which list.
        what: &'static str,
        /// Its length.
        given: usize,
        /// The mesh's.
        expected: usize,
    },
    /// A fibre that is not a unit vector.
    #[error("body \"{body}\": the fibre of tetrahedron {tet} has length {length}; give a unit direction")]
    Fibre {
        /// Which body.
        body: String,
        /// Which tetrahedron.
        tet: usize,
        /// Its length.
        length: f64,
    },
    /// Nodes that belong to no tetrahedron have no mass.
    #[error("body \"{body}\": node {node} belongs to no tetrahedron; remove unused nodes")]
    LooseNode {
        /// Which body.
        body: String,
        /// Which node.
        node: usize,
    },
}

impl ModelError {
    /// The body that cannot be simulated.
    pub fn body(&self) -> &str {
        match self {
            Self::Empty { body }
            | Self::NoSuchNode { body, .. }
            | Self::NotPositive { body, .. }
            | Self::NotFinite { body, .. }
            | Self::Count { body, .. }
            | Self::Fibre { body, .. }
            | Self::LooseNode { body, .. } => body,
        }
    }
}

/// Name and extent of one body within a [`Model`].
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Name in messages.
    pub name: String,
    /// Its nodes.
    pub nodes: Range<usize>,
    /// Its tetrahedra.
    pub tets: Range<usize>,
    /// Mean of the longest edges of its tetrahedra, metres.
    pub edge: f64,
}

/// All bodies, ready to simulate.
#[derive(Debug)]
pub struct Model {
    /// Rest positions.
    pub rest: Vec<DVec3>,
    /// Corners of every tetrahedron, body after body.
    pub tets: Vec<[u32; 4]>,
    /// Rest shape of every tetrahedron.
    pub shapes: Vec<Shape>,
    /// Every material.
    pub tissues: Vec<Tissue>,
    /// Material of every tetrahedron.
    pub tissue_of: Vec<u32>,
    /// Fibre, activation and stiffness; activation may be changed between steps.
    pub local: Vec<Local>,
    /// Lumped mass of every node, kilograms.
    pub mass: Vec<f64>,
    /// The bodies.
    pub parts: Vec<Part>,
}

impl Model {
    /// Checks and joins bodies.
    pub fn new(bodies: Vec<Body>) -> Result<Self, ModelError> {
        let mut model = Self {
            rest: Vec::new(),
            tets: Vec::new(),
            shapes: Vec::new(),
            tissues: Vec::new(),
            tissue_of: Vec::new(),
            local: Vec::new(),
            mass: Vec::new(),
            parts: Vec::new(),
        };
        for body in bodies {
            model.add(body)?;
        }
        Ok(model)
    }

    fn add(&mut self, body: Body) -> Result<(), ModelError> {
        check(&body)?;
        let Body { name, mesh, tissues, tissue_of, local } = body;
        let (first_node, first_tet, first_tissue) =
            (self.rest.len(), self.tets.len(), self.tissues.len() as u32);
        let edge = mesh.mean_edge();
        let mut shapes = Vec::with_capacity(mesh.tets.len());
        let mut bad = Vec::new();
        for t in 0..mesh.tets.len() {
            match Shape::new(mesh.corners(t)) {
                Some(shape) => shapes.push(shape),
                None => bad.push(t),
            }
        }
        if !bad.is_empty() {
            let count = bad.len();
            bad.truncate(10);
            return Err(ModelError::NotPositive { body: name, count, first: bad });
        }
        self.mass.resize(first_node + mesh.nodes.len(), 0.0);
        for (t, tet) in mesh.tets.iter().enumerate() {
            let quarter = 0.25 * shapes[t].volume * tissues[tissue_of[t] as usize].density;
            for &n in tet {
                self.mass[first_node + n as usize] += quarter;
            }
            self.tets.push(tet.map(|n| n + first_node as u32));
        }
        if let Some(node) = self.mass[first_node..].iter().position(|&m| m == 0.0) {
            return Err(ModelError::LooseNode { body: name, node });
        }
        self.shapes.extend(shapes);
        self.rest.extend(mesh.nodes);
        self.tissues.extend(tissues);
        self.tissue_of.extend(tissue_of.iter().map(|t| t + first_tissue));
        self.local.extend(local);
        self.parts.push(Part {
            name,
            nodes: first_node..self.rest.len(),
            tets: first_tet..self.tets.len(),
            edge,
        });
        Ok(())
    }

    /// Sets the activation of a body's tetrahedra, clamped to `[0, 1]`.
    pub fn set_activation(&mut self, part: usize, activation: f64) {
        for local in &mut self.local[self.parts[part].tets.clone()] {
            local.activation = activation.clamp(0.0, 1.0);
        }
    }

    /// The body a tetrahedron belongs to.
    pub(crate) fn part_of_tet(&self, tet: usize) -> usize {
        self.parts.partition_point(|p| p.tets.end <= tet)
    }

    /// Corners of a tetrahedron at the given positions.
    #[inline]
    pub fn corners(&self, tet: usize, positions: &[DVec3]) -> [DVec3; 4] {
        self.tets[tet].map(|n| positions[n as usize])
    }

    /// Volume of a body at the given positions.
    pub fn volume(&self, part: usize, positions: &[DVec3]) -> f64 {
        self.parts[part].tets.clone().map(|t| super::element::volume(self.corners(t, positions))).sum()
    }

    /// The least volume ratio of a body's tetrahedra at the given positions; at or below zero: inverted.
    pub fn smallest_volume_ratio(&self, part: usize, positions: &[DVec3]) -> f64 {
        self.parts[part]
            .tets
            .clone()
            .map(|t| super::element::volume(self.corners(t, positions)) / self.shapes[t].volume)
            .fold(f64::INFINITY, f64::min)
    }
}

fn check(body: &Body) -> Result<(), ModelError> {
    let name = || body.name.clone();
    let (tets, nodes) = (&body.mesh.tets, &body.mesh.nodes);
    if tets.is_empty() {
        return Err(ModelError::Empty { body: name() });
    }
    for (what, given) in [("materials", body.tissue_of.len()), ("fibres", body.local.len())] {
        if given != tets.len() {
            return Err(ModelError::Count { body: name(), what, given, expected: tets.len() });
        }
    }
    if let Some(index) = nodes.iter().position(|p| !p.is_finite()) {
        return Err(ModelError::NotFinite { body: name(), what: "node", index });
    }
    for (t, tet) in tets.iter().enumerate() {
        if let Some(&node) = tet.iter().find(|&&n| n as usize >= nodes.len()) {
            return Err(ModelError::NoSuchNode { body: name(), tet: t, node, nodes: nodes.len() });
        }
        let local = &body.local[t];
        if !(local.activation.is_finite() && local.stiffness.is_finite() && local.fibre.is_finite()) {
            return Err(ModelError::NotFinite { body: name(), what: "fibre of tetrahedron", index: t });
        }
        let length = local.fibre.length();
        if (length - 1.0).abs() > 1e-6 {
            return Err(ModelError::Fibre { body: name(), tet: t, length });
        }
        if body.tissue_of[t] as usize >= body.tissues.len() {
            let (given, expected) = (body.tissue_of[t] as usize, body.tissues.len());
            return Err(ModelError::Count { body: name(), what: "materials", given, expected });
        }
    }
    if let Some(index) = body.tissues.iter().position(|t| !(t.density.is_finite() && t.density > 0.0)) {
        return Err(ModelError::NotFinite { body: name(), what: "density of material", index });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tissue::material::{Lame, StableNeoHookean};

    fn brick() -> Body {
        let mesh = TetMesh::brick(DVec3::ZERO, DVec3::ONE, [2, 1, 1]);
        Body::uniform("brick", mesh, Box::new(StableNeoHookean::new(Lame::new(1e4, 0.4))), 1000.0)
    }

    #[test]
    fn mass_is_density_times_volume() {
        let model = Model::new(vec![brick(), brick()]).unwrap();
        assert!((model.mass.iter().sum::<f64>() - 2000.0).abs() < 1e-9);
        assert_eq!(model.part_of_tet(12), 1);
    }

    #[test]
    fn bad_bodies_are_named() {
        let mut flat = brick();
        let corner = flat.mesh.nodes[flat.mesh.tets[3][0] as usize];
        flat.mesh.nodes[flat.mesh.tets[3][1] as usize] = corner;
        let message = Model::new(vec![flat]).unwrap_err().to_string();
        assert!(message.contains("brick") && message.contains("flat or inverted"), "{message}");
        let mut hole = brick();
        hole.mesh.nodes[5].y = f64::NAN;
        assert!(Model::new(vec![hole]).unwrap_err().to_string().contains("node 5 is not a finite number"));
        let mut limp = brick();
        limp.local[7].fibre = DVec3::ZERO;
        assert!(Model::new(vec![limp]).unwrap_err().to_string().contains("tetrahedron 7 has length 0"));
        let mut torn = brick();
        torn.mesh.tets[1][2] = 400;
        assert!(matches!(Model::new(vec![torn]), Err(ModelError::NoSuchNode { tet: 1, node: 400, .. })));
    }
}
