//! Forces that are not elastic: springs, sliding, attachments, contact. Each acts on one point, a weighted
//! sum of up to eight nodes, with a force and a definite 3x3 stiffness.

use glam::{DMat3, DVec3};

/// One force on a weighted sum of nodes. The force on node `i` is `weight_i * force`, the stiffness between
/// nodes `i` and `j` is `weight_i * weight_j * stiffness`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Term {
    nodes: [u32; 8],
    weights: [f64; 8],
    count: usize,
    /// Internal force on the point: the derivative of its energy.
    pub force: DVec3,
    /// Derivative of the force, positive semi-definite.
    pub stiffness: DMat3,
}

impl Term {
    /// On a weighted sum of at most eight nodes; more are cut off.
    pub fn new(support: impl IntoIterator<Item = (u32, f64)>, force: DVec3, stiffness: DMat3) -> Self {
        let mut term = Self { nodes: [0; 8], weights: [0.0; 8], count: 0, force, stiffness };
        for (node, weight) in support.into_iter().filter(|s| s.1 != 0.0).take(8) {
            term.nodes[term.count] = node;
            term.weights[term.count] = weight;
            term.count += 1;
        }
        term
    }

    /// Nodes and weights.
    pub fn support(&self) -> impl Iterator<Item = (u32, f64)> + '_ {
        self.nodes[..self.count].iter().copied().zip(self.weights[..self.count].iter().copied())
    }
}

/// A spring between a point and its anchor with rest length `rest`: energy, force on the point, stiffness.
/// The stiffness across the spring is clamped at zero where the spring is compressed.
pub fn spring(offset: DVec3, stiffness: f64, rest: f64) -> (f64, DVec3, DMat3) {
    let length = offset.length();
    let stretch = length - rest;
    if length <= 1e-12 * rest || length == 0.0 {
        return (
            0.5 * stiffness * stretch * stretch,
            DVec3::ZERO,
            DMat3::from_diagonal(DVec3::splat(stiffness)),
        );
    }
    let unit = offset / length;
    let across = (1.0 - rest / length).max(0.0);
    let along = DMat3::from_cols(unit * unit.x, unit * unit.y, unit * unit.z);
    let matrix = (DMat3::IDENTITY - along) * (stiffness * across) + along * stiffness;
    (0.5 * stiffness * stretch * stretch, unit * (stiffness * stretch), matrix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stretched_spring_agrees_with_the_reference() {
        let reference: serde_json::Value =
            serde_json::from_str(include_str!("../../tests/data/tissue_reference.json")).unwrap();
        let given = &reference["spring"];
        let number = |v: &serde_json::Value| v.as_f64().unwrap();
        let vector = |v: &serde_json::Value| DVec3::new(number(&v[0]), number(&v[1]), number(&v[2]));
        let (_, force, matrix) = spring(vector(&given["q"]), number(&given["ks"]), number(&given["r"]));
        assert!(force.abs_diff_eq(vector(&given["f"]), 1e-9));
        for i in 0..3 {
            assert!(matrix.col(i).abs_diff_eq(vector(&given["H_clamped"][i]), 1e-9));
        }
    }
}
