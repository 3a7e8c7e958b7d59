//! What a tetrahedron is made of: energy, stress and stress derivative of the deformation gradient.
//!
//! One file per law. Isotropic laws ([`StVenantKirchhoff`], [`Invertible`], [`Corotational`],
//! [`StableNeoHookean`]) are written in singular values, see [`Isotropic`]; fibre laws pull along one
//! direction, see [`Fibre`]; [`Composite`] adds any of them up. `vec(F)` is row-major throughout, so entry
//! `[3 i + j][3 p + q]` of a [`Tangent`] is the derivative of stress `P_ij` by gradient `F_pq`.

mod composite;
mod corotational;
mod fibre;
mod incompressible;
mod invertible;
mod isotropic;
mod logarithmic;
mod neo_hookean;
mod pressed;
mod st_venant_kirchhoff;

pub use composite::{Composite, muscle, tendon};
pub use corotational::Corotational;
pub use fibre::{Fibre, FibreLaw, MuscleForce, Stretch, TendonForce};
pub use incompressible::Incompressible;
pub use invertible::Invertible;
pub use isotropic::{Isotropic, Principal};
pub use logarithmic::LogarithmicNeoHookean;
pub use neo_hookean::StableNeoHookean;
pub use pressed::Pressed;
pub use st_venant_kirchhoff::StVenantKirchhoff;

use super::element::Shape;
use glam::{DMat3, DVec3};
use std::fmt::Debug;

/// Derivative of the first Piola-Kirchhoff stress by the deformation gradient, row-major on both sides.
pub type Tangent = [[f64; 9]; 9];

/// What may differ from one tetrahedron to the next of the same material.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Local {
    /// Unit fibre direction in the rest shape; read by fibre laws only.
    pub fibre: DVec3,
    /// Muscle activation in `[0, 1]`; read by the muscle force law only.
    pub activation: f64,
    /// Multiplies the isotropic part; 1 leaves the material as it is.
    pub stiffness: f64,
    /// Derivative of an energy of the volume around it by that volume, pascals; read by [`Pressed`] only.
    pub pressure: f64,
}

impl Default for Local {
    fn default() -> Self {
        Self { fibre: DVec3::X, activation: 0.0, stiffness: 1.0, pressure: 0.0 }
    }
}

/// The two Lamé parameters, pascals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lame {
    /// Shear modulus.
    pub mu: f64,
    /// First parameter.
    pub lambda: f64,
}

impl Lame {
    /// From Young's modulus (pascals) and Poisson's ratio in `[0, 0.5)`.
    pub fn new(young: f64, poisson: f64) -> Self {
        Self {
            mu: young / (2.0 * (1.0 + poisson)),
            lambda: young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)),
        }
    }

    /// From Young's modulus and the bulk modulus, both in pascals.
    pub fn from_bulk(young: f64, bulk: f64) -> Self {
        Self::new(young, 0.5 - young / (6.0 * bulk))
    }
}

/// Which second derivative a stiffness is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Curvature {
    /// The true one: Newton converges fast with it, but it is not always definite.
    Exact,
    /// Each term's negative eigenvalues set to zero: always a descent direction, but too stiff where one term
    /// balances another. A muscle, whose tense fibres compress their matrix, takes three to eight times the solves.
    Definite,
}

/// A deformed tetrahedron and the kind of stiffness wanted.
#[derive(Clone, Copy, Debug)]
pub struct Element<'a> {
    /// Deformation gradient.
    pub gradient: DMat3,
    /// Fibre, activation and factors of this tetrahedron.
    pub local: &'a Local,
    /// Rest shape.
    pub shape: &'a Shape,
    /// Which second derivative to use.
    pub curvature: Curvature,
}

/// Stress and stiffness of one tetrahedron, summed over the terms of its material.
#[derive(Clone, Copy, Debug)]
pub struct Response {
    /// First Piola-Kirchhoff stress.
    pub stress: DMat3,
    /// The ten 3x3 blocks `(a, b)`, `a <= b`, of the 12x12 stiffness, row-major; order of [`PAIRS`].
    pub stiffness: [[f64; 9]; 10],
}

impl Default for Response {
    fn default() -> Self {
        Self { stress: DMat3::ZERO, stiffness: [[0.0; 9]; 10] }
    }
}

/// The corner pairs of [`Response::stiffness`], in order.
pub const PAIRS: [(usize, usize); 10] =
    [(0, 0), (0, 1), (0, 2), (0, 3), (1, 1), (1, 2), (1, 3), (2, 2), (2, 3), (3, 3)];

/// A hyperelastic law.
pub trait Material: Debug + Send + Sync {
    /// Name as written in scene files and messages.
    fn name(&self) -> &'static str;

    /// Energy per rest volume, joules per cubic metre.
    fn energy(&self, gradient: &DMat3, local: &Local) -> f64;

    /// First Piola-Kirchhoff stress: derivative of the energy.
    fn stress(&self, gradient: &DMat3, local: &Local) -> DMat3;

    /// Exact derivative of the stress. Symmetric, not always definite.
    fn tangent(&self, gradient: &DMat3, local: &Local) -> Tangent;

    /// The tangent with its negative eigenvalues set to zero.
    fn definite_tangent(&self, gradient: &DMat3, local: &Local) -> Tangent {
        clamp_eigenvalues(&self.tangent(gradient, local))
    }

    /// Adds the stress and the stiffness of a deformed tetrahedron.
    fn add_response(&self, element: &Element, out: &mut Response) {
        out.stress += self.stress(&element.gradient, element.local);
        add_stiffness(self, element, out);
    }

    /// Whether the law is undefined where a tetrahedron is flat or inverted (`J <= 0`).
    fn needs_positive_volume(&self) -> bool {
        false
    }
}

/// Contracts the tangent of `law` with the shape's gradients and adds the ten blocks.
fn add_stiffness<L: Material + ?Sized>(law: &L, element: &Element, out: &mut Response) {
    let Element { gradient, local, shape, curvature } = element;
    let tangent = match curvature {
        Curvature::Exact => law.tangent(gradient, local),
        Curvature::Definite => law.definite_tangent(gradient, local),
    };
    let gradients = shape.gradients();
    for (block, &(a, b)) in out.stiffness.iter_mut().zip(&PAIRS) {
        for i in 0..3 {
            for p in 0..3 {
                let mut sum = 0.0;
                for j in 0..3 {
                    for q in 0..3 {
                        sum += gradients[a][j] * tangent[3 * i + j][3 * p + q] * gradients[b][q];
                    }
                }
                block[3 * i + p] += shape.volume * sum;
            }
        }
    }
}

/// Entry `(i, j)` of a matrix.
#[inline]
pub(crate) fn entry(m: &DMat3, i: usize, j: usize) -> f64 {
    m.col(j)[i]
}

/// `tr(F^T F)`: the squares of all entries.
pub(crate) fn norm_squared(m: &DMat3) -> f64 {
    m.x_axis.length_squared() + m.y_axis.length_squared() + m.z_axis.length_squared()
}

/// A symmetric matrix from its diagonal and its entries yz, zx, xy.
pub(crate) fn symmetric(diagonal: DVec3, off: DVec3) -> DMat3 {
    let (d, o) = (diagonal, off);
    DMat3::from_cols_array(&[d.x, o.z, o.y, o.z, d.y, o.x, o.y, o.x, d.z])
}

/// Cofactor matrix: derivative of the determinant.
pub(crate) fn cofactor(m: &DMat3) -> DMat3 {
    let (a, b, c) = (m.x_axis, m.y_axis, m.z_axis);
    DMat3::from_cols(b.cross(c), c.cross(a), a.cross(b))
}

/// Sets the negative eigenvalues of a symmetric 9x9 matrix to zero, by cyclic Jacobi rotations.
pub(crate) fn clamp_eigenvalues(symmetric: &Tangent) -> Tangent {
    let (values, vectors) = eigen9(symmetric);
    let mut out = *symmetric;
    for k in 0..9 {
        if values[k] < 0.0 {
            for i in 0..9 {
                for j in 0..9 {
                    out[i][j] -= values[k] * vectors[i][k] * vectors[j][k];
                }
            }
        }
    }
    out
}

/// Eigenvalues and, in columns, eigenvectors of a symmetric 9x9 matrix.
pub(crate) fn eigen9(symmetric: &Tangent) -> ([f64; 9], Tangent) {
    let mut a = *symmetric;
    let mut v = [[0.0; 9]; 9];
    for i in 0..9 {
        v[i][i] = 1.0;
    }
    let norm: f64 = a.iter().flatten().map(|x| x * x).sum();
    for _ in 0..30 {
        let off: f64 = (0..9).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j] * a[i][j]).sum();
        if off <= 1e-31 * norm {
            break;
        }
        for p in 0..8 {
            for q in p + 1..9 {
                if a[p][q] == 0.0 {
                    continue;
                }
                let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
                let t = theta.signum() / (theta.abs() + (1.0 + theta * theta).sqrt());
                let c = 1.0 / (1.0 + t * t).sqrt();
                let s = t * c;
                for k in 0..9 {
                    let (x, y) = (a[k][p], a[k][q]);
                    (a[k][p], a[k][q]) = (c * x - s * y, s * x + c * y);
                }
                for k in 0..9 {
                    let (x, y) = (a[p][k], a[q][k]);
                    (a[p][k], a[q][k]) = (c * x - s * y, s * x + c * y);
                    let (x, y) = (v[k][p], v[k][q]);
                    (v[k][p], v[k][q]) = (c * x - s * y, s * x + c * y);
                }
            }
        }
    }
    (std::array::from_fn(|i| a[i][i]), v)
}

#[cfg(test)]
mod complex_step;
#[cfg(test)]
mod conformance;
