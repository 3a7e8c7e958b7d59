//! Stress against the complex step of energies written a second time, in complex numbers.
//!
//! Based on: Squire, Trapp. Using Complex Variables to Estimate Derivatives of Real Functions. 1998: the imaginary
//! part of `energy(F + i h)` over `h` is the derivative to rounding, since nothing is subtracted.

use super::conformance::{Random, gradients, laws};
use super::*;
use std::ops::{Add, Div, Mul, Sub};

#[derive(Clone, Copy, Debug)]
struct Complex {
    re: f64,
    im: f64,
}

const fn real(re: f64) -> Complex {
    Complex { re, im: 0.0 }
}

impl Add for Complex {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        Self { re: self.re + o.re, im: self.im + o.im }
    }
}

impl Sub for Complex {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        Self { re: self.re - o.re, im: self.im - o.im }
    }
}

impl Mul for Complex {
    type Output = Self;
    fn mul(self, o: Self) -> Self {
        Self { re: self.re * o.re - self.im * o.im, im: self.re * o.im + self.im * o.re }
    }
}

impl Div for Complex {
    type Output = Self;
    fn div(self, o: Self) -> Self {
        let square = o.re * o.re + o.im * o.im;
        self * Self { re: o.re / square, im: -o.im / square }
    }
}

impl Complex {
    fn exp(self) -> Self {
        Self { re: self.im.cos(), im: self.im.sin() } * real(self.re.exp())
    }

    fn ln(self) -> Self {
        Self { re: self.re.hypot(self.im).ln(), im: self.im.atan2(self.re) }
    }

    fn sqrt(self) -> Self {
        (self.ln() * real(0.5)).exp()
    }

    fn square(self) -> Self {
        self * self
    }
}

type Matrix = [[Complex; 3]; 3];
type Energy<'a> = dyn Fn(&Matrix, &Local) -> Complex + 'a;

fn times(a: &Matrix, b: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| (0..3).fold(real(0.0), |s, k| s + a[i][k] * b[k][j])))
}

fn transposed(a: &Matrix) -> Matrix {
    std::array::from_fn(|i| std::array::from_fn(|j| a[j][i]))
}

fn trace(a: &Matrix) -> Complex {
    a[0][0] + a[1][1] + a[2][2]
}

fn determinant(a: &Matrix) -> Complex {
    (0..3).fold(real(0.0), |sum, k| {
        let (p, q) = ((k + 1) % 3, (k + 2) % 3);
        sum + a[0][k] * (a[1][p] * a[2][q] - a[1][q] * a[2][p])
    })
}

/// Singular values, the smallest with the determinant's sign: roots of the characteristic polynomial of `F^T F`,
/// followed into the complex plane from the real ones by Newton's method.
fn singular_values(f: &Matrix) -> [Complex; 3] {
    let c = times(&transposed(f), f);
    let (first, third) = (trace(&c), determinant(&c));
    let second = (first.square() - trace(&times(&c, &c))) * real(0.5);
    let gradient = DMat3::from_cols_array_2d(&std::array::from_fn(|j| std::array::from_fn(|i| f[i][j].re)));
    crate::math::svd::svd(&gradient).sigma.to_array().map(|s| {
        let mut root = real(s * s);
        for _ in 0..4 {
            let value = ((root - first) * root + second) * root - third;
            let slope = (real(3.0) * root - real(2.0) * first) * root + second;
            root = root - value / slope;
        }
        root.sqrt() * real(s.signum())
    })
}

/// `mu sum(e^2) + lambda/2 sum(e)^2` of principal strains.
fn principal_square(lame: &Lame, strains: [Complex; 3]) -> Complex {
    let sum = strains.iter().fold(real(0.0), |s, &e| s + e);
    let squares = strains.iter().fold(real(0.0), |s, &e| s + e.square());
    real(lame.mu) * squares + real(0.5 * lame.lambda) * sum.square()
}

fn st_venant_kirchhoff(lame: &Lame, f: &Matrix) -> Complex {
    let c = times(&transposed(f), f);
    let strain: Matrix =
        std::array::from_fn(|i| std::array::from_fn(|j| (c[i][j] - real(f64::from(i == j))) * real(0.5)));
    real(lame.mu) * trace(&times(&strain, &strain)) + real(0.5 * lame.lambda) * trace(&strain).square()
}

fn invertible(lame: &Lame, f: &Matrix) -> Complex {
    let limit = Invertible::new(*lame).limit;
    principal_square(
        lame,
        singular_values(f).map(|s| {
            let square = |s: Complex| (s.square() - real(1.0)) * real(0.5);
            if s.re >= limit { square(s) } else { square(real(limit)) + real(limit) * (s - real(limit)) }
        }),
    )
}

fn corotational(lame: &Lame, f: &Matrix) -> Complex {
    principal_square(lame, singular_values(f).map(|s| s - real(1.0)))
}

fn neo_hookean(lame: &Lame, f: &Matrix) -> Complex {
    let (mu, lambda) = (4.0 / 3.0 * lame.mu, lame.lambda + 5.0 / 6.0 * lame.mu);
    let alpha = 1.0 + 0.75 * mu / lambda;
    let square = trace(&times(&transposed(f), f));
    real(0.5 * mu) * (square - (square + real(1.0)).ln())
        + real(0.5 * lambda) * (determinant(f) - real(alpha)).square()
}

fn incompressible(bulk: f64, f: &Matrix) -> Complex {
    real(bulk) * determinant(f).ln().square()
}

fn stretch(f: &Matrix, fibre: DVec3, kind: Stretch) -> Complex {
    let square = (0..3)
        .fold(real(0.0), |s, i| s + (0..3).fold(real(0.0), |s, j| s + f[i][j] * real(fibre[j])).square());
    match kind {
        Stretch::Full => square.sqrt(),
        Stretch::Deviatoric => square.sqrt() * (determinant(f).ln() * real(-1.0 / 3.0)).exp(),
    }
}

/// Integrals of the force curves from where they start, which is all a derivative can see.
fn muscle_fibre(force: &MuscleForce, activation: f64, stretch: Complex) -> Complex {
    let x = stretch * real(1.0 / force.optimal);
    let cubed = |d: Complex| d.square() * d;
    let active = match x.re {
        r if r <= 0.4 || r >= 1.6 => real(0.0),
        r if r < 0.6 => real(3.0) * cubed(x - real(0.4)),
        r if r < 1.4 => x - real(4.0 / 3.0) * cubed(x - real(1.0)),
        _ => real(3.0) * cubed(x - real(1.6)),
    };
    let toe = |x: Complex| {
        let off = x - real(1.0);
        (off * real(force.exponent)).exp() * real(1.0 / force.exponent) - off
    };
    let passive = if x.re <= 1.0 {
        real(0.0)
    } else if x.re <= force.linear_from {
        toe(x) * real(force.passive)
    } else {
        let e = (force.exponent * (force.linear_from - 1.0)).exp();
        let d = x - real(force.linear_from);
        (real(e - 1.0) * d + real(0.5 * force.exponent * e) * d.square()) * real(force.passive)
    };
    (active * real(activation) + passive) * real(force.peak)
}

/// The toe's energy is the integral of `scale (exp(b (l - 1)) - 1) / l`, here as a power series in `l - 1`.
fn tendon_fibre(force: &TendonForce, l: Complex) -> Complex {
    let (b, d) = (force.exponent, l - real(1.0));
    if l.re <= 1.0 {
        return real(0.0);
    }
    if l.re <= force.linear_from {
        // Coefficients of exp(b d) - 1 times those of 1 / (1 + d), integrated term by term.
        let (mut exponential, mut product, mut power, mut sum) = (1.0, 0.0, d, real(0.0));
        for n in 1..60 {
            let n = f64::from(n);
            exponential *= b / n;
            product = exponential - product;
            power = power * d;
            sum = sum + power * real(product / (n + 1.0));
        }
        return sum * real(force.scale);
    }
    let e = (b * (force.linear_from - 1.0)).exp();
    let slope = force.scale * b * e;
    real(slope) * l + real(force.scale * (e - 1.0) - slope * force.linear_from) * l.ln()
}

#[test]
fn stress_is_the_complex_step_of_the_energy() {
    let lame = Lame::new(3e4, 0.45);
    let (pull, cord) = (MuscleForce::default(), TendonForce::default());
    // In the order of `laws`.
    let energies: [&Energy; 10] = [
        &|f, l| real(l.stiffness) * st_venant_kirchhoff(&lame, f),
        &|f, l| real(l.stiffness) * invertible(&lame, f),
        &|f, l| real(l.stiffness) * corotational(&lame, f),
        &|f, l| real(l.stiffness) * neo_hookean(&lame, f),
        &|f, l| real(l.stiffness) * incompressible(1e5, f),
        &|f, l| muscle_fibre(&pull, l.activation, stretch(f, l.fibre, Stretch::Full)),
        &|f, l| muscle_fibre(&pull, l.activation, stretch(f, l.fibre, Stretch::Deviatoric)),
        &|f, l| tendon_fibre(&cord, stretch(f, l.fibre, Stretch::Full)),
        &|f, l| {
            real(l.stiffness) * neo_hookean(&lame, f)
                + muscle_fibre(&pull, l.activation, stretch(f, l.fibre, Stretch::Full))
        },
        &|f, l| {
            real(l.stiffness) * neo_hookean(&lame, f)
                + tendon_fibre(&cord, stretch(f, l.fibre, Stretch::Full))
        },
    ];
    const STEP: f64 = 1e-30;
    for (law, energy) in laws().iter().zip(energies) {
        let mut worst: f64 = 0.0;
        for (gradient, local) in gradients(law.as_ref(), &mut Random(6)) {
            let stress = law.stress(&gradient, &local);
            let size = stress.to_cols_array().iter().fold(1e3f64, |a, x| a.max(x.abs()));
            for k in 0..9 {
                let f: Matrix = std::array::from_fn(|i| {
                    std::array::from_fn(|j| Complex {
                        re: entry(&gradient, i, j),
                        im: if 3 * i + j == k { STEP } else { 0.0 },
                    })
                });
                let slope = energy(&f, &local).im / STEP;
                worst = worst.max((slope - entry(&stress, k / 3, k % 3)).abs() / size);
            }
        }
        assert!(worst < 1e-10, "{}: {worst:.1e}", law.name());
    }
}
