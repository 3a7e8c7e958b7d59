//! Muscle and tendon fibres: a pull along one direction of the rest shape.
//!
//! Based on: Blemker, Pinsky, Delp. A 3D Model of Muscle Reveals the Causes of Nonuniform Strains in the
//! Biceps Brachii. 2005, as used by Fabio Turchet. Physics-based Modelling, Simulation, Placement and Learning for
//! Musculo-Skeletal Animations. 2018.
//! Differs in: the tabulated curves are forces, already the derivative of the energy, and are not
//! differentiated again; the active force is zero outside 0.4 to 1.6 of the optimal length.

use super::{Curvature, Element, Local, Material, PAIRS, Response, Tangent, cofactor, entry};
use glam::{DMat3, DVec3};

/// Energy of a fibre as a function of its stretch: value, first and second derivative, pascals.
pub trait FibreLaw: std::fmt::Debug + Send + Sync {
    /// Name as written in messages.
    fn name(&self) -> &'static str;
    /// Energy, force and stiffness at a stretch above zero.
    fn evaluate(&self, stretch: f64, activation: f64) -> [f64; 3];
}

/// Force of a muscle fibre: a hump-shaped active part and an exponential passive one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MuscleForce {
    /// Largest active stress, pascals.
    pub peak: f64,
    /// Stretch of the rest shape at which the active force peaks.
    pub optimal: f64,
    /// Passive force scale, in units of the peak.
    pub passive: f64,
    /// Passive exponent.
    pub exponent: f64,
    /// Length, in units of the optimal one, from which the passive force grows linearly.
    pub linear_from: f64,
}

impl Default for MuscleForce {
    fn default() -> Self {
        Self { peak: 3e5, optimal: 1.4, passive: 0.05, exponent: 6.6, linear_from: 1.4 }
    }
}

impl MuscleForce {
    /// Active force at `x`, the length in units of the optimal one: integral, value, slope.
    pub fn active(x: f64) -> [f64; 3] {
        if x <= 0.4 {
            [0.0; 3]
        } else if x < 0.6 {
            let d = x - 0.4;
            [3.0 * d * d * d, 9.0 * d * d, 18.0 * d]
        } else if x < 1.4 {
            let d = x - 1.0;
            [0.024 + (x - 0.6) - 4.0 / 3.0 * (d * d * d + 0.064), 1.0 - 4.0 * d * d, -8.0 * d]
        } else {
            let before = 0.024 + 0.8 - 4.0 / 3.0 * 0.128;
            if x < 1.6 {
                let d = x - 1.6;
                [before + 3.0 * d * d * d + 0.024, 9.0 * d * d, 18.0 * d]
            } else {
                [before + 0.024, 0.0, 0.0]
            }
        }
    }

    /// Passive force at `x`: integral, value, slope.
    pub(crate) fn passive(&self, x: f64) -> [f64; 3] {
        if x <= 1.0 {
            return [0.0; 3];
        }
        let bent = |x: f64| {
            let e = (self.exponent * (x - 1.0)).exp();
            [
                self.passive * ((e - 1.0) / self.exponent - (x - 1.0)),
                self.passive * (e - 1.0),
                self.passive * self.exponent * e,
            ]
        };
        if x <= self.linear_from {
            return bent(x);
        }
        let [w, f, slope] = bent(self.linear_from);
        let d = x - self.linear_from;
        [w + f * d + 0.5 * slope * d * d, f + slope * d, slope]
    }
}

impl FibreLaw for MuscleForce {
    fn name(&self) -> &'static str {
        "muscle"
    }

    fn evaluate(&self, stretch: f64, activation: f64) -> [f64; 3] {
        let x = stretch / self.optimal;
        let (a, p) = (Self::active(x), self.passive(x));
        let total: [f64; 3] = std::array::from_fn(|k| activation * a[k] + p[k]);
        [
            self.peak * total[0],
            self.peak / self.optimal * total[1],
            self.peak / self.optimal.powi(2) * total[2],
        ]
    }
}

/// Force of a tendon fibre: exponential toe, then linear; given as Cauchy stress of the stretch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TendonForce {
    /// Stress scale of the toe, pascals.
    pub scale: f64,
    /// Exponent of the toe.
    pub exponent: f64,
    /// Stretch from which the stress grows linearly.
    pub linear_from: f64,
}

impl Default for TendonForce {
    fn default() -> Self {
        Self { scale: 2.7e6, exponent: 46.4, linear_from: 1.03 }
    }
}

/// Nodes and weights of eight-point Gauss quadrature on [-1, 1], positive half.
const GAUSS: [(f64, f64); 4] = [
    (0.183_434_642_495_649_8, 0.362_683_783_378_362),
    (0.525_532_409_916_329, 0.313_706_645_877_887_27),
    (0.796_666_477_413_626_7, 0.222_381_034_453_374_48),
    (0.960_289_856_497_536_3, 0.101_228_536_290_376_26),
];

impl FibreLaw for TendonForce {
    fn name(&self) -> &'static str {
        "tendon"
    }

    fn evaluate(&self, stretch: f64, _activation: f64) -> [f64; 3] {
        if stretch <= 1.0 {
            return [0.0; 3];
        }
        let toe = |l: f64| self.scale * ((self.exponent * (l - 1.0)).exp() - 1.0);
        let end = stretch.min(self.linear_from);
        // The energy of the toe is an exponential integral; eight points give it to rounding on this interval.
        let half = 0.5 * (end - 1.0);
        let energy: f64 = GAUSS
            .iter()
            .map(|&(x, w)| {
                let (a, b) = (1.0 + half * (1.0 - x), 1.0 + half * (1.0 + x));
                w * half * (toe(a) / a + toe(b) / b)
            })
            .sum();
        if stretch <= self.linear_from {
            let stress = toe(stretch);
            let slope = self.scale * self.exponent * (self.exponent * (stretch - 1.0)).exp();
            return [energy, stress / stretch, (slope - stress / stretch) / stretch];
        }
        let slope = self.scale * self.exponent * (self.exponent * (self.linear_from - 1.0)).exp();
        let offset = toe(self.linear_from) - slope * self.linear_from;
        let stress = slope * stretch + offset;
        [
            energy + slope * (stretch - end) + offset * (stretch / end).ln(),
            stress / stretch,
            -offset / (stretch * stretch),
        ]
    }
}

/// Which stretch a fibre responds to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stretch {
    /// `|F a|`: robust, defined for inverted tetrahedra; the default.
    Full,
    /// `J^(-1/3) |F a|`: without the volume change, as in the literature; undefined for `J <= 0`.
    Deviatoric,
}

/// A fibre law acting along each tetrahedron's fibre direction.
#[derive(Debug)]
pub struct Fibre<L> {
    /// Force of the fibre.
    pub law: L,
    /// Which stretch it responds to.
    pub stretch: Stretch,
}

/// Shortest stretch evaluated; a fibre crushed below it keeps the direction of `F a` but does not shorten further.
const SHORTEST: f64 = 1e-6;

impl<L: FibreLaw> Fibre<L> {
    fn along(gradient: &DMat3, local: &Local) -> (DVec3, f64) {
        let pulled = *gradient * local.fibre;
        (pulled, pulled.length().max(SHORTEST))
    }

    /// Stretch, and `N` with `d stretch = stretch N : dF`.
    fn deviatoric(gradient: &DMat3, local: &Local) -> (f64, DVec3, f64, DMat3, DMat3) {
        let (pulled, length) = Self::along(gradient, local);
        let volume = gradient.determinant();
        let g = cofactor(gradient) * (1.0 / volume);
        let square = length * length;
        let n = outer(pulled, local.fibre) * (1.0 / square) - g * (1.0 / 3.0);
        (length * volume.powf(-1.0 / 3.0), pulled, square, g, n)
    }
}

fn outer(a: DVec3, b: DVec3) -> DMat3 {
    DMat3::from_cols(a * b.x, a * b.y, a * b.z)
}

impl<L: FibreLaw> Material for Fibre<L> {
    fn name(&self) -> &'static str {
        self.law.name()
    }

    fn energy(&self, gradient: &DMat3, local: &Local) -> f64 {
        let stretch = match self.stretch {
            Stretch::Full => Self::along(gradient, local).1,
            Stretch::Deviatoric => Self::deviatoric(gradient, local).0,
        };
        self.law.evaluate(stretch, local.activation)[0]
    }

    fn stress(&self, gradient: &DMat3, local: &Local) -> DMat3 {
        match self.stretch {
            Stretch::Full => {
                let (pulled, stretch) = Self::along(gradient, local);
                outer(pulled, local.fibre) * (self.law.evaluate(stretch, local.activation)[1] / stretch)
            }
            Stretch::Deviatoric => {
                let (stretch, .., n) = Self::deviatoric(gradient, local);
                n * (self.law.evaluate(stretch, local.activation)[1] * stretch)
            }
        }
    }

    fn tangent(&self, gradient: &DMat3, local: &Local) -> Tangent {
        let a = local.fibre;
        match self.stretch {
            Stretch::Full => spread(&self.pull_stiffness(gradient, local, Curvature::Exact), a),
            Stretch::Deviatoric => {
                let (l, pulled, square, g, n) = Self::deviatoric(gradient, local);
                let [_, force, stiffness] = self.law.evaluate(l, local.activation);
                let (first, second) = (stiffness * l * l + force * l, force * l);
                std::array::from_fn(|r| {
                    std::array::from_fn(|c| {
                        let (i, j, p, q) = (r / 3, r % 3, c / 3, c % 3);
                        let same = if i == p { 1.0 / square } else { 0.0 };
                        first * entry(&n, i, j) * entry(&n, p, q)
                            + second
                                * ((same - 2.0 * pulled[i] * pulled[p] / (square * square)) * a[j] * a[q]
                                    + entry(&g, i, q) * entry(&g, p, j) / 3.0)
                    })
                })
            }
        }
    }

    fn definite_tangent(&self, gradient: &DMat3, local: &Local) -> Tangent {
        match self.stretch {
            Stretch::Deviatoric => super::clamp_eigenvalues(&self.tangent(gradient, local)),
            Stretch::Full => spread(&self.pull_stiffness(gradient, local, Curvature::Definite), local.fibre),
        }
    }

    fn add_response(&self, element: &Element, out: &mut Response) {
        let Element { gradient, local, shape, curvature } = element;
        out.stress += self.stress(gradient, local);
        match self.stretch {
            Stretch::Deviatoric => super::add_stiffness(self, element, out),
            Stretch::Full => {
                let middle = self.pull_stiffness(gradient, local, *curvature);
                let parts = shape.gradients().map(|g| g.dot(local.fibre));
                for (block, &(a, b)) in out.stiffness.iter_mut().zip(&PAIRS) {
                    let weight = shape.volume * parts[a] * parts[b];
                    for k in 0..9 {
                        block[k] += weight * entry(&middle, k / 3, k % 3);
                    }
                }
            }
        }
    }

    fn needs_positive_volume(&self) -> bool {
        self.stretch == Stretch::Deviatoric
    }
}

impl<L: FibreLaw> Fibre<L> {
    /// Derivative of the pull's force by `F a`: across it force over length, which is never negative; along it
    /// the law's own slope, which can be.
    fn pull_stiffness(&self, gradient: &DMat3, local: &Local, curvature: Curvature) -> DMat3 {
        let (pulled, l) = Self::along(gradient, local);
        let [_, force, slope] = self.law.evaluate(l, local.activation);
        let (across, slope) = match curvature {
            Curvature::Exact => (force / l, slope),
            Curvature::Definite => ((force / l).max(0.0), slope.max(0.0)),
        };
        DMat3::from_diagonal(DVec3::splat(across)) + outer(pulled, pulled) * ((slope - across) / (l * l))
    }
}

/// The tangent of a force that depends on `F a` alone.
fn spread(stiffness: &DMat3, a: DVec3) -> Tangent {
    std::array::from_fn(|r| std::array::from_fn(|c| entry(stiffness, r / 3, c / 3) * a[r % 3] * a[c % 3]))
}
