//! Fibre directions: the gradient of a potential that runs from origin to insertion.
//!
//! Zero at the origin, one at the insertion, no flux through the rest of the surface: fibres leave one end,
//! follow the shape and reach the other.

use super::tet_mesh::TetMesh;
use crate::tissue::element::Shape;
use glam::DVec3;
use thiserror::Error;

/// Fibres of a mesh.
#[derive(Clone, Debug, PartialEq)]
pub struct FibreField {
    /// Potential of every node, 0 at the origin to 1 at the insertion.
    pub potential: Vec<f64>,
    /// Unit direction in every tetrahedron.
    pub direction: Vec<DVec3>,
}

/// Why no fibres were found.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum FibreError {
    /// No nodes at an end.
    #[error("no node lies in the {0}; enlarge its region")]
    NoEnd(&'static str),
    /// The ends overlap.
    #[error("node {0} lies in both origin and insertion; shrink the regions")]
    BothEnds(u32),
    /// A node number out of range.
    #[error("node {0} does not exist")]
    NoSuchNode(u32),
    /// A rest tetrahedron without volume.
    #[error("tetrahedron {0} is flat or inverted; remesh the surface or swap two of its corners")]
    Flat(usize),
    /// The potential does not change.
    #[error(
        "the fibre of tetrahedron {0} has no length; it must be connected with the origin and the insertion: join the \
         pieces of the mesh or enlarge the regions"
    )]
    NoLength(usize),
    /// The solve did not converge.
    #[error("the potential cannot be computed; remesh the body with better shaped tetrahedra")]
    Unsolved,
}

/// Solves for the fibres between two sets of nodes.
pub fn fibres(mesh: &TetMesh, origin: &[u32], insertion: &[u32]) -> Result<FibreField, FibreError> {
    let n = mesh.nodes.len();
    let mut potential = vec![0.5; n];
    let mut held = vec![0u8; n];
    for (set, value, name) in [(origin, 0.0, "origin"), (insertion, 1.0, "insertion")] {
        if set.is_empty() {
            return Err(FibreError::NoEnd(name));
        }
        for &node in set {
            let Some(mark) = held.get_mut(node as usize) else { return Err(FibreError::NoSuchNode(node)) };
            let side = 1 + value as u8;
            if *mark != 0 && *mark != side {
                return Err(FibreError::BothEnds(node));
            }
            *mark = side;
            potential[node as usize] = value;
        }
    }
    let mut shapes = Vec::with_capacity(mesh.tets.len());
    for t in 0..mesh.tets.len() {
        shapes.push(Shape::new(mesh.corners(t)).ok_or(FibreError::Flat(t))?);
    }
    solve(mesh, &shapes, &held, &mut potential)?;
    let gradients: Vec<DVec3> = mesh
        .tets
        .iter()
        .zip(&shapes)
        .map(|(tet, shape)| {
            let g = shape.gradients();
            (0..4).fold(DVec3::ZERO, |sum, a| sum + g[a] * potential[tet[a] as usize])
        })
        .collect();
    Ok(FibreField { direction: directions(mesh, &gradients)?, potential })
}

/// Normalises; where the gradient vanishes (inside an end) the neighbours' directions are averaged.
fn directions(mesh: &TetMesh, gradients: &[DVec3]) -> Result<Vec<DVec3>, FibreError> {
    let mean = gradients.iter().map(|g| g.length()).sum::<f64>() / gradients.len().max(1) as f64;
    let mut found: Vec<Option<DVec3>> =
        gradients.iter().map(|g| (g.length() >= 1e-6 * mean && mean > 0.0).then(|| g.normalize())).collect();
    while let Some(missing) = found.iter().position(Option::is_none) {
        let mut at_node = vec![DVec3::ZERO; mesh.nodes.len()];
        for (tet, direction) in mesh.tets.iter().zip(&found) {
            for &n in tet {
                at_node[n as usize] += direction.unwrap_or(DVec3::ZERO);
            }
        }
        let before = found.iter().filter(|d| d.is_none()).count();
        for (tet, direction) in mesh.tets.iter().zip(&mut found) {
            if direction.is_none() {
                *direction = tet.iter().fold(DVec3::ZERO, |s, &n| s + at_node[n as usize]).try_normalize();
            }
        }
        if found.iter().filter(|d| d.is_none()).count() == before {
            return Err(FibreError::NoLength(missing));
        }
    }
    Ok(found.into_iter().flatten().collect())
}

/// Conjugate gradients on the free nodes, element by element; the start carries the held values.
fn solve(mesh: &TetMesh, shapes: &[Shape], held: &[u8], potential: &mut [f64]) -> Result<(), FibreError> {
    let n = potential.len();
    let locals: Vec<[[f64; 4]; 4]> = shapes
        .iter()
        .map(|s| {
            let g = s.gradients();
            std::array::from_fn(|a| std::array::from_fn(|b| s.volume * g[a].dot(g[b])))
        })
        .collect();
    let multiply = |x: &[f64], out: &mut [f64]| {
        out.fill(0.0);
        for (tet, local) in mesh.tets.iter().zip(&locals) {
            for a in 0..4 {
                for b in 0..4 {
                    out[tet[a] as usize] += local[a][b] * x[tet[b] as usize];
                }
            }
        }
        for (o, &h) in out.iter_mut().zip(held) {
            if h != 0 {
                *o = 0.0;
            }
        }
    };
    let mut diagonal = vec![0.0; n];
    for (tet, local) in mesh.tets.iter().zip(&locals) {
        for a in 0..4 {
            diagonal[tet[a] as usize] += local[a][a];
        }
    }
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let mut product = vec![0.0; n];
    multiply(potential, &mut product);
    let mut residual: Vec<f64> = product.iter().map(|x| -x).collect();
    let mut direction = vec![0.0; n];
    let (mut last, mut first) = (0.0, 0.0);
    for iteration in 0..20 * n + 100 {
        let scaled: Vec<f64> = residual.iter().zip(&diagonal).map(|(r, d)| r / d).collect();
        let now = dot(&residual, &scaled);
        if iteration == 0 {
            first = now;
        }
        if now.is_nan() || now <= 1e-26 * first {
            return if now.is_finite() { Ok(()) } else { Err(FibreError::Unsolved) };
        }
        let keep = if iteration == 0 { 0.0 } else { now / last };
        for k in 0..n {
            direction[k] = scaled[k] + keep * direction[k];
        }
        last = now;
        multiply(&direction, &mut product);
        let step = now / dot(&direction, &product);
        for k in 0..n {
            potential[k] += step * direction[k];
            residual[k] -= step * product[k];
        }
    }
    Err(FibreError::Unsolved)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fibres_agree_with_the_reference() {
        let reference: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/data/tissue_reference.json")).unwrap();
        let given = &reference["fibre_field"];
        let list = |key: &str| given[key].as_array().unwrap().clone();
        let vector = |v: &serde_json::Value| {
            DVec3::new(v[0].as_f64().unwrap(), v[1].as_f64().unwrap(), v[2].as_f64().unwrap())
        };
        let index = |v: &serde_json::Value| v.as_u64().unwrap() as u32;
        let mut mesh = TetMesh {
            nodes: list("nodes").iter().map(vector).collect(),
            tets: list("tets").iter().map(|t| std::array::from_fn(|k| index(&t[k]))).collect(),
        };
        for t in 0..mesh.tets.len() {
            if crate::tissue::element::volume(mesh.corners(t)) < 0.0 {
                mesh.tets[t].swap(0, 1);
            }
        }
        let origin: Vec<u32> = list("origin").iter().map(index).collect();
        let insertion: Vec<u32> = list("insertion").iter().map(index).collect();
        let field = fibres(&mesh, &origin, &insertion).unwrap();
        for (u, expected) in field.potential.iter().zip(list("potential")) {
            assert!((u - expected.as_f64().unwrap()).abs() < 1e-9);
        }
        for (a, expected) in field.direction.iter().zip(list("fibre")) {
            assert!(a.dot(vector(&expected)).abs() > 1.0 - 1e-9);
        }
    }

    #[test]
    fn fibres_of_a_box_run_straight_and_ends_must_exist() {
        let mesh = TetMesh::brick(DVec3::ZERO, DVec3::new(3.0, 1.0, 1.0), [6, 2, 2]);
        let side = |x: f64| -> Vec<u32> {
            (0..mesh.nodes.len() as u32).filter(|&n| (mesh.nodes[n as usize].x - x).abs() < 1e-9).collect()
        };
        let field = fibres(&mesh, &side(0.0), &side(3.0)).unwrap();
        assert!(field.direction.iter().all(|d| d.abs_diff_eq(DVec3::X, 1e-9)));
        assert_eq!(fibres(&mesh, &[], &side(3.0)), Err(FibreError::NoEnd("origin")));
        assert_eq!(fibres(&mesh, &[0], &[0]), Err(FibreError::BothEnds(0)));
        let mut pieces = mesh.clone();
        let count = mesh.nodes.len() as u32;
        pieces.nodes.extend(mesh.nodes.iter().map(|&p| p + DVec3::Y * 5.0));
        pieces.tets.extend(mesh.tets.iter().map(|t| t.map(|n| n + count)));
        let lone = Err(FibreError::NoLength(mesh.tets.len()));
        assert_eq!(fibres(&pieces, &side(0.0), &side(3.0)), lone, "a piece that is connected with nothing");
        let mut flat = mesh.clone();
        flat.tets[4] = [0, 0, 1, 2];
        assert_eq!(fibres(&flat, &side(0.0), &side(3.0)), Err(FibreError::Flat(4)));
    }
}
