//! St. Venant-Kirchhoff that pushes flat and inverted tetrahedra back out.
//!
//! Based on: Irving et al. Invertible Finite Elements for Robust Simulation of Large Deformation. 2004.
//! Differs in: Irving extends the stress linearly below a stretch limit, which has no energy. Here the
//! strain of each axis is extended linearly instead, which gives the same kind of restoring stress, equals
//! St. Venant-Kirchhoff above the limit, and can be line-searched.

use super::{Isotropic, Lame, Principal};
use glam::{DMat3, DVec3};

/// Invertible St. Venant-Kirchhoff material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Invertible {
    /// Stiffness, pascals.
    pub lame: Lame,
    /// Stretch below which the strain continues linearly. 0.6: the plain law loses its stiffness at 0.577;
    /// larger limits stiffen compressions it still handles.
    pub limit: f64,
}

impl Invertible {
    /// With the usual limit of 0.6.
    pub fn new(lame: Lame) -> Self {
        Self { lame, limit: 0.6 }
    }

    /// Extended strain of one axis, its first and second derivative.
    fn strain(&self, s: f64) -> (f64, f64, f64) {
        if s >= self.limit {
            (0.5 * (s * s - 1.0), s, 1.0)
        } else {
            (0.5 * (self.limit * self.limit - 1.0) + self.limit * (s - self.limit), self.limit, 0.0)
        }
    }
}

impl Isotropic for Invertible {
    fn name(&self) -> &'static str {
        "invertible"
    }

    fn principal_energy(&self, sigma: DVec3) -> f64 {
        let strain = DVec3::from_array(sigma.to_array().map(|s| self.strain(s).0));
        let trace = strain.element_sum();
        self.lame.mu * strain.length_squared() + 0.5 * self.lame.lambda * trace * trace
    }

    fn principal(&self, sigma: DVec3) -> Principal {
        let Lame { mu, lambda } = self.lame;
        let axes = sigma.to_array().map(|s| self.strain(s));
        let trace: f64 = axes.iter().map(|a| a.0).sum();
        let tension = axes.map(|(e, ..)| 2.0 * mu * e + lambda * trace);
        let stress: [f64; 3] = std::array::from_fn(|i| tension[i] * axes[i].1);
        let scaling = DMat3::from_cols_array_2d(&std::array::from_fn(|i| {
            std::array::from_fn(|j| {
                let shared = lambda * axes[i].1 * axes[j].1;
                if i == j {
                    shared + 2.0 * mu * axes[i].1 * axes[i].1 + tension[i] * axes[i].2
                } else {
                    shared
                }
            })
        }));
        let pair = |i: usize, j: usize| {
            let (s, t) = (sigma[i], sigma[j]);
            let curved = axes[i].2 == 1.0 && axes[j].2 == 1.0;
            if curved {
                // Both axes above the limit: the closed forms of the plain law, no division.
                let base = lambda * trace - mu;
                let (square, product) = (s * s + t * t, s * t);
                return (mu * (square + product) + base, mu * (square - product) + base);
            }
            let difference = s - t;
            let symmetric = if difference.abs() > 1e-9 {
                (stress[i] - stress[j]) / difference
            } else {
                scaling.col(i)[i] - scaling.col(j)[i]
            };
            (symmetric, quotient(stress[i] + stress[j], s + t))
        };
        let pairs = [pair(1, 2), pair(2, 0), pair(0, 1)];
        Principal {
            stress: DVec3::from_array(stress),
            scaling,
            symmetric: DVec3::from_array(pairs.map(|p| p.0)),
            antisymmetric: DVec3::from_array(pairs.map(|p| p.1)),
        }
    }
}

/// `a / b` with `b` kept at least 1e-6 from zero: the eigenvalue of a rotation about an axis whose two
/// stretches cancel is unbounded, and only its size is lost.
pub(super) fn quotient(a: f64, b: f64) -> f64 {
    a / if b.abs() < 1e-6 { 1e-6f64.copysign(b) } else { b }
}
