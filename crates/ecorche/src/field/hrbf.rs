//! Hermite radial basis functions: a smooth closed-form surface through oriented points.
//!
//! | symbol | here | meaning | unit |
//! |---|---|---|---|
//! | p, n | `position`, `normal` | sample of the surface, unit normal outward | m, - |
//! | u, r | `u`, `r` | from centre to point, its length | limb radii |
//! | lambda, beta | `lambda`, `beta` | weights of a centre | - |
//! | d | `distance` | `sum lambda r^3 + 3 r (beta . u)`; 0 on the surface, negative inside | m |
//! | grad d | `gradient` | `sum 3 lambda r u + 3 r beta + 3 (beta . u) u / r`; outward | - |
//!
//! The last term of the gradient is 0 at `r = 0`. The weights solve `d(p_j) = 0`, `grad d(p_j) = n_j` at
//! every sample: a dense system with zero diagonal blocks, solved in `f64` with pivoting. Its condition
//! depends on the unit of length, because its rows mix r^3, r^2 and r; the fit therefore works in limb
//! radii around the middle of the samples and so does evaluation, in `f32`, which agrees with `f64` to 3e-5
//! limb radii.
//!
//! `d` is no distance: its slope is 1 at the surface, but on the axis of a cylinder of radius 1 it is about
//! -0.53, and outside it grows faster than the distance.
//!
//! Based on: Macedo et al. Hermite Radial Basis Functions Implicits. 2011; Vaillant et al. Implicit Skinning.
//! 2012.
//! Differs in: solved in limb radii; samples that coincide are an error instead of a singular matrix.

use super::{Falloff, Field, Sample, Support};
use crate::geom::poisson_disk::SurfacePoint;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::lu::partial_pivoting::{factor, solve};
use faer::{Conj, MatMut, MatRef, Par};
use glam::{DVec3, Vec3};

/// An oriented point of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceSample {
    /// Metres.
    pub position: Vec3,
    /// Outward; its length does not matter, but it has one.
    pub normal: Vec3,
}

impl From<SurfacePoint> for SurfaceSample {
    fn from(point: SurfacePoint) -> Self {
        Self { position: point.position, normal: point.normal }
    }
}

/// Why no surface goes through the samples.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FitError {
    /// Fewer than four.
    #[error(
        "{0} samples do not make a surface; give at least {MIN_SAMPLES}, or merge the part into a neighbour"
    )]
    TooFewSamples(usize),
    /// More than a thousand: the dense system would not fit.
    #[error("{0} samples are more than the fit takes; give at most {MAX_SAMPLES}")]
    TooManySamples(usize),
    /// The limb radius is not a positive number.
    #[error("limb radius {0} m; it must be above zero")]
    Scale(f64),
    /// A position or normal is not finite, or the normal has no length.
    #[error("sample {0} has no finite position or no normal; drop it")]
    BadSample(usize),
    /// Two samples are closer than a thousandth of the limb radius.
    #[error("samples {0} and {1} are at the same place; keep a distance between samples")]
    Duplicate(usize, usize),
    /// The solution does not pass through the samples.
    #[error("the surface misses its samples by {residual:.1e} limb radii; space the samples more evenly")]
    Singular {
        /// Largest error of value or gradient at a sample.
        residual: f64,
    },
}

/// A tetrahedron is the smallest closed surface.
const MIN_SAMPLES: usize = 4;

/// The matrix has `(4 n)^2` entries: 128 MB here.
const MAX_SAMPLES: usize = 1000;

/// Closer than this, in limb radii, two samples are one: at 1e-4 the `f32` sum still agrees to 2e-5 limb
/// radii, at 1e-5 it is off by 2e-3. Evenly spread samples are never closer than 0.1.
const SAME_PLACE: f64 = 1e-3;

/// Residual above which a solution is refused: good fits leave 1e-13, nearly coinciding samples 1e-11.
const LARGEST_RESIDUAL: f64 = 1e-5;

/// Centres evaluated side by side.
const LANES: usize = 8;

/// Eight centres, in limb radii; a short last group is filled with centres of weight zero.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Group {
    position: [[f32; LANES]; 3],
    lambda: [f32; LANES],
    beta: [[f32; LANES]; 3],
}

/// A fitted surface. Holds the exact solution for tools and the `f32` groups for the frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Hrbf {
    middle: Vec3,
    scale: f32,
    groups: Vec<Group>,
    centres: Vec<DVec3>,
    weights: Vec<[f64; 4]>,
}

/// Finds the surface through the samples. `limb_radius` (metres) sets the unit of the solve; a factor of 3
/// off does no harm.
pub fn fit(samples: &[SurfaceSample], limb_radius: f64) -> Result<Hrbf, FitError> {
    if samples.len() < MIN_SAMPLES {
        return Err(FitError::TooFewSamples(samples.len()));
    }
    if samples.len() > MAX_SAMPLES {
        return Err(FitError::TooManySamples(samples.len()));
    }
    if !(limb_radius.is_finite() && limb_radius > 0.0) {
        return Err(FitError::Scale(limb_radius));
    }
    let bad = |s: &SurfaceSample| !s.position.is_finite() || s.normal.as_dvec3().try_normalize().is_none();
    if let Some(index) = samples.iter().position(bad) {
        return Err(FitError::BadSample(index));
    }
    let low = samples.iter().fold(Vec3::INFINITY, |low, s| low.min(s.position));
    let high = samples.iter().fold(Vec3::NEG_INFINITY, |high, s| high.max(s.position));
    // Rounded to f32, because evaluation subtracts the rounded one.
    let middle = 0.5 * (low + high);
    let scale = limb_radius as f32;
    let centres: Vec<DVec3> =
        samples.iter().map(|s| (s.position.as_dvec3() - middle.as_dvec3()) / f64::from(scale)).collect();
    let normals: Vec<DVec3> = samples.iter().map(|s| s.normal.as_dvec3().normalize()).collect();
    for (i, a) in centres.iter().enumerate() {
        if let Some(j) = centres[..i].iter().position(|b| a.distance(*b) < SAME_PLACE) {
            return Err(FitError::Duplicate(j, i));
        }
    }
    let weights = solve_weights(&centres, &normals)?;
    let groups = group(&centres, &weights);
    Ok(Hrbf { middle, scale, groups, centres, weights })
}

/// The system, column-major: row and column `4 j` belong to value and lambda of sample `j`, the next three to
/// gradient and beta.
fn system(centres: &[DVec3]) -> Vec<f64> {
    let rows = 4 * centres.len();
    let mut matrix = vec![0.0; rows * rows];
    for (k, centre) in centres.iter().enumerate() {
        for (j, point) in centres.iter().enumerate().filter(|(j, _)| *j != k) {
            let u = (point - centre).to_array();
            let r = (point - centre).length();
            let mut set =
                |row: usize, column: usize, v: f64| matrix[(4 * k + column) * rows + 4 * j + row] = v;
            set(0, 0, r * r * r);
            for a in 0..3 {
                set(0, a + 1, 3.0 * r * u[a]);
                set(a + 1, 0, 3.0 * r * u[a]);
                for b in 0..3 {
                    set(a + 1, b + 1, 3.0 * (u[a] * u[b] / r + if a == b { r } else { 0.0 }));
                }
            }
        }
    }
    matrix
}

/// Lambda and beta of each centre. One thread, so that the bits do not depend on their number.
fn solve_weights(centres: &[DVec3], normals: &[DVec3]) -> Result<Vec<[f64; 4]>, FitError> {
    let rows = 4 * centres.len();
    let mut matrix = system(centres);
    let mut solution: Vec<f64> = normals.iter().flat_map(|n| [0.0, n.x, n.y, n.z]).collect();
    let mut lu = MatMut::from_column_major_slice_mut(&mut matrix, rows, rows);
    let (mut forward, mut backward) = (vec![0usize; rows], vec![0usize; rows]);
    let scratch = factor::lu_in_place_scratch::<usize, f64>(rows, rows, Par::Seq, Default::default())
        .or(solve::solve_in_place_scratch::<usize, f64>(rows, 1, Par::Seq));
    let mut buffer = MemBuffer::new(scratch);
    let (_, order) = factor::lu_in_place(
        lu.as_mut(),
        &mut forward,
        &mut backward,
        Par::Seq,
        MemStack::new(&mut buffer),
        Default::default(),
    );
    let lu: MatRef<'_, f64> = lu.as_ref();
    solve::solve_in_place_with_conj(
        lu,
        lu,
        order,
        Conj::No,
        MatMut::from_column_major_slice_mut(&mut solution, rows, 1),
        Par::Seq,
        MemStack::new(&mut buffer),
    );
    let weights: Vec<[f64; 4]> = solution.chunks_exact(4).map(|w| [w[0], w[1], w[2], w[3]]).collect();
    let residual = centres.iter().zip(normals).fold(0.0f64, |worst, (&point, &normal)| {
        let (value, gradient) = evaluate(centres, &weights, point);
        let error = value.abs().max((gradient - normal).abs().max_element());
        // A NaN must not hide behind a smaller number.
        if error <= worst { worst } else { error }
    });
    if residual <= LARGEST_RESIDUAL { Ok(weights) } else { Err(FitError::Singular { residual }) }
}

fn evaluate(centres: &[DVec3], weights: &[[f64; 4]], point: DVec3) -> (f64, DVec3) {
    let (mut value, mut gradient) = (0.0, DVec3::ZERO);
    for (centre, &[lambda, x, y, z]) in centres.iter().zip(weights) {
        let beta = DVec3::new(x, y, z);
        let u = point - centre;
        let r = u.length();
        let b = beta.dot(u);
        value += r * (lambda * r * r + 3.0 * b);
        gradient += 3.0 * (r * beta + (lambda * r + b / r.max(f64::MIN_POSITIVE)) * u);
    }
    (value, gradient)
}

fn group(centres: &[DVec3], weights: &[[f64; 4]]) -> Vec<Group> {
    let mut groups = Vec::with_capacity(centres.len().div_ceil(LANES));
    for (centres, weights) in centres.chunks(LANES).zip(weights.chunks(LANES)) {
        let mut group = Group { position: [[0.0; LANES]; 3], lambda: [0.0; LANES], beta: [[0.0; LANES]; 3] };
        for (i, (centre, weight)) in centres.iter().zip(weights).enumerate() {
            group.lambda[i] = weight[0] as f32;
            for axis in 0..3 {
                group.position[axis][i] = centre[axis] as f32;
                group.beta[axis][i] = weight[axis + 1] as f32;
            }
        }
        groups.push(group);
    }
    groups
}

impl Hrbf {
    /// `d` in metres and its gradient, in the precision of the frame.
    #[inline]
    pub fn distance(&self, point: Vec3) -> (f32, Vec3) {
        let at = (point - self.middle) / self.scale;
        let mut value = [0.0f32; LANES];
        let mut gradient = [[0.0f32; LANES]; 3];
        for group in &self.groups {
            for l in 0..LANES {
                let (x, y, z) =
                    (at.x - group.position[0][l], at.y - group.position[1][l], at.z - group.position[2][l]);
                let (bx, by, bz) = (group.beta[0][l], group.beta[1][l], group.beta[2][l]);
                let square = x * x + y * y + z * z;
                let r = square.sqrt();
                let b = bx * x + by * y + bz * z;
                let lr = group.lambda[l] * r;
                value[l] += r * (lr * r + 3.0 * b);
                // At a centre `b` is 0 and so is the quotient.
                let along = lr + b / r.max(1e-20);
                gradient[0][l] += along * x + r * bx;
                gradient[1][l] += along * y + r * by;
                gradient[2][l] += along * z + r * bz;
            }
        }
        let sum = |lanes: &[f32; LANES]| {
            ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
        };
        let gradient = 3.0 * Vec3::new(sum(&gradient[0]), sum(&gradient[1]), sum(&gradient[2]));
        (self.scale * sum(&value), gradient)
    }

    /// A fit as [`Hrbf::solution`] describes it.
    pub(crate) fn from_solution(
        middle: Vec3,
        scale: f32,
        centres: Vec<DVec3>,
        weights: Vec<[f64; 4]>,
    ) -> Self {
        let groups = group(&centres, &weights);
        Self { middle, scale, groups, centres, weights }
    }

    /// Middle, limb radius, centres and weights.
    pub(crate) fn solution(&self) -> (Vec3, f32, &[DVec3], &[[f64; 4]]) {
        (self.middle, self.scale, &self.centres, &self.weights)
    }

    /// Box around the centres, metres.
    pub(crate) fn bounds(&self) -> (Vec3, Vec3) {
        let low = self.centres.iter().fold(DVec3::INFINITY, |low, c| low.min(*c)).as_vec3();
        let high = self.centres.iter().fold(DVec3::NEG_INFINITY, |high, c| high.max(*c)).as_vec3();
        (self.middle + self.scale * low, self.middle + self.scale * high)
    }
}

/// The falloff radius of a part: the largest distance from its samples (without closures) to its bone,
/// metres.
pub fn support_radius(positions: impl IntoIterator<Item = Vec3>, bone: [Vec3; 2]) -> f32 {
    let [head, tail] = bone;
    let along = tail - head;
    let length = along.length_squared();
    positions.into_iter().fold(0.0, |largest: f32, p| {
        let t = if length > 0.0 { ((p - head).dot(along) / length).clamp(0.0, 1.0) } else { 0.0 };
        largest.max(p.distance(head + t * along))
    })
}

/// The support reaches this many falloff radii beyond the centres. Fields of round, long and flat
/// ellipsoids end at 0.38 to 0.75, because `d` outgrows the distance; the rest is for open ends, where it
/// does so later.
const SUPPORT_MARGIN: f32 = 1.0;

/// The compact field of an [`Hrbf`].
///
/// Cut off at its support box: whatever an ill-sampled fit does far from its samples is not part of the
/// field.
#[derive(Clone, Debug, PartialEq)]
pub struct CompactHrbf {
    hrbf: Hrbf,
    falloff: Falloff,
    support: Support,
}

impl CompactHrbf {
    /// `radius`: where the field ends, metres, above zero; see [`support_radius`].
    pub fn new(hrbf: Hrbf, radius: f32) -> Self {
        // A radius of zero or NaN makes a field of nothing but its inside instead of NaNs.
        let radius = radius.max(f32::MIN_POSITIVE);
        let (low, high) = hrbf.bounds();
        let margin = SUPPORT_MARGIN * radius;
        let support = Support { low: low - margin, high: high + margin };
        Self { hrbf, falloff: Falloff { radius: f64::from(radius) }, support }
    }

    /// The surface behind the field.
    pub(crate) fn hrbf(&self) -> &Hrbf {
        &self.hrbf
    }

    /// The transfer from distance to value.
    pub(crate) fn falloff(&self) -> Falloff {
        self.falloff
    }
}

impl Field for CompactHrbf {
    #[inline]
    fn sample(&self, point: Vec3) -> Sample {
        if !self.support.contains(point) {
            return Sample::OUTSIDE;
        }
        let (distance, gradient) = self.hrbf.distance(point);
        let distance = f64::from(distance);
        if distance >= self.falloff.radius {
            return Sample::OUTSIDE;
        }
        let slope = self.falloff.slope(distance) as f32;
        Sample { value: self.falloff.value(distance) as f32, gradient: slope * gradient }
    }

    fn support(&self) -> Support {
        self.support
    }
}

#[cfg(test)]
mod tests;
