//! Axis, mean radius and profile of a drawn shape.
//!
//! | symbol | here | meaning |
//! |---|---|---|
//! | x_k | `radii` | half of the shape's width at station k, pixels |
//! | t_k | `stations` | place of the station on the axis, pixels from its start |
//! | w | `radius` | mean radius, pixels |
//! | phi | `profile` | unit profile |
//!
//! The axis is the first principal direction of the shape's pixels, from its upper end to its lower one, or from left to right if it
//! lies. For each pair of beta powers the ends are searched for and w follows: the sum of `(x_k - w phi(t_k))^2` is least for
//! `w = sum x phi / sum phi phi`.

use super::silhouette::{LEAST_LENGTH, LEAST_WIDTH, Silhouette, SketchError};
use crate::muscle::{Profile, sine_weights};
use glam::DVec2;

/// Stations on the axis.
const STATIONS: usize = 200;
/// Sines that are kept: more follow the pixels.
const SINES: usize = 10;
/// Steps in which the rim is looked for, pixels.
const STEP: f64 = 0.1;
/// Of the shape's length: how far beyond its tip a beta profile may end. A drawing of [9, 9] loses 0.16 at each end where it is thinner than
/// half a pixel and 100 pixels long.
const FARTHEST: f64 = 0.25;
/// Largest ratio of the variances across and along a shape with an axis.
const ROUNDEST: f64 = 0.8;
/// Per cent of the axis that may lie outside the shape. A biceps drawn with a bend of a tenth of its length has 8 outside; an outline with
/// a gap nearly all.
const MOST_OUTSIDE: f64 = 30.0;

/// What was found in a sketch. Places are pixels from the picture's upper left corner.
#[derive(Clone, Debug, PartialEq)]
pub struct SketchFit {
    /// Ends of the shape on its axis; the first is the origin.
    pub ends: [DVec2; 2],
    /// Half of the shape's width at even stations between the ends, pixels; 0 at the ends themselves, which are not listed.
    pub radii: Vec<f64>,
    /// As a sum of sines.
    pub sines: SinesFit,
    /// As a beta profile.
    pub beta: BetaFit,
}

/// A profile of sines.
#[derive(Clone, Debug, PartialEq)]
pub struct SinesFit {
    /// Weights of `sin(pi i s)`, i = 1, 2, ..., as an anatomy file has them.
    pub weights: Vec<f32>,
    /// Mean radius, pixels.
    pub radius: f64,
    /// Root mean square of what it misses over that of the shape's half widths.
    pub residual: f64,
    /// Area in both shapes over the area in either.
    pub overlap: f64,
}

/// A beta profile.
#[derive(Clone, Debug, PartialEq)]
pub struct BetaFit {
    /// `[a, b]` as an anatomy file has it.
    pub pair: [u8; 2],
    /// Its ends, at those of the shape or beyond.
    pub ends: [DVec2; 2],
    /// Mean radius, pixels.
    pub radius: f64,
    /// Root mean square of what it misses over that of the shape's half widths.
    pub residual: f64,
    /// Area in both shapes over the area in either.
    pub overlap: f64,
}

impl SketchFit {
    /// Length of the shape, pixels.
    pub fn length(&self) -> f64 {
        self.ends[0].distance(self.ends[1])
    }
}

impl SinesFit {
    /// Thickness at a share of the length, pixels.
    pub fn thickness(&self, s: f64) -> f64 {
        let weights: Vec<f64> = self.weights.iter().map(|&c| c.into()).collect();
        Profile::sines(&weights).map_or(0.0, |profile| self.radius * profile.value(s).0)
    }
}

impl BetaFit {
    /// Length between its ends, pixels.
    pub fn length(&self) -> f64 {
        self.ends[0].distance(self.ends[1])
    }

    /// Thickness at a share of its length, pixels.
    pub fn thickness(&self, s: f64) -> f64 {
        let [a, b] = self.pair;
        Profile::beta(a, b).map_or(0.0, |profile| self.radius * profile.value(s).0)
    }

    /// The pair for the tense muscle: powers twice as high, so that the belly is shorter and thicker in the same place.
    pub fn tense(&self) -> [u8; 2] {
        self.pair.map(|n| (2 * n - 1).min(9))
    }
}

/// Finds the muscle in a shape.
pub fn fit(shape: &Silhouette) -> Result<SketchFit, SketchError> {
    let (ends, across) = axis(shape)?;
    let length = ends[0].distance(ends[1]);
    let pixels: f64 = shape.coverage.iter().map(|&c| f64::from(c)).sum();
    let width = pixels / length;
    if length < LEAST_LENGTH || width < LEAST_WIDTH {
        return Err(SketchError::TooSmall { length, width });
    }
    let place = |k: usize| (k + 1) as f64 / (STATIONS + 1) as f64;
    let stations: Vec<f64> = (0..STATIONS).map(place).collect();
    let mut outside = 0;
    let mut radii = Vec::with_capacity(STATIONS);
    for &s in &stations {
        let middle = ends[0].lerp(ends[1], s);
        outside += usize::from(shape.at(middle.x, middle.y) < 0.5 && (0.05..=0.95).contains(&s));
        radii.push(0.5 * width_at(shape, middle, across));
    }
    let share = 100.0 * outside as f64 / STATIONS as f64;
    if share > MOST_OUTSIDE {
        return Err(SketchError::Open { share });
    }
    let sines = sines(shape, ends, &stations, &radii);
    let beta = best_beta(shape, ends, &stations, &radii);
    Ok(SketchFit { ends, radii, sines, beta })
}

/// Ends of the axis and the direction across it.
fn axis(shape: &Silhouette) -> Result<([DVec2; 2], DVec2), SketchError> {
    let pixels = || {
        let place = |i: usize| DVec2::new((i % shape.width) as f64 + 0.5, (i / shape.width) as f64 + 0.5);
        shape
            .coverage
            .iter()
            .enumerate()
            .filter(|(_, c)| **c > 0.0)
            .map(move |(i, &c)| (place(i), f64::from(c)))
    };
    let total: f64 = pixels().map(|p| p.1).sum();
    let middle = pixels().map(|(p, c)| c * p).sum::<DVec2>() / total;
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for (p, c) in pixels() {
        let d = p - middle;
        xx += c * d.x * d.x;
        xy += c * d.x * d.y;
        yy += c * d.y * d.y;
    }
    let (mean, half) = (0.5 * (xx + yy), (0.25 * (xx - yy).powi(2) + xy * xy).sqrt());
    if mean - half > ROUNDEST * (mean + half) {
        return Err(SketchError::NoAxis);
    }
    let along = DVec2::from_angle(0.5 * (2.0 * xy).atan2(xx - yy));
    let runs_back = if along.y.abs() >= along.x.abs() { along.y < 0.0 } else { along.x < 0.0 };
    let along = if runs_back { -along } else { along };
    let inside = pixels().filter(|(_, c)| *c >= 0.5);
    let (low, high) = inside.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (p, _)| {
        let t = (p - middle).dot(along);
        (low.min(t), high.max(t))
    });
    Ok(([middle + (low - 0.5) * along, middle + (high + 0.5) * along], along.perp()))
}

/// How much of the line across the axis at a point lies in the shape, pixels.
fn width_at(shape: &Silhouette, middle: DVec2, across: DVec2) -> f64 {
    let far = ((shape.width * shape.width + shape.height * shape.height) as f64).sqrt();
    let steps = (far / STEP) as i64;
    let is_inside = |k: &i64| {
        let p = middle + *k as f64 * STEP * across;
        shape.at(p.x, p.y) >= 0.5
    };
    STEP * (-steps..=steps).filter(is_inside).count() as f64
}

/// Sums over stations: what a model misses over what there is.
fn missed(radii: &[f64], model: impl Fn(usize) -> f64) -> f64 {
    let square: f64 = radii.iter().map(|x| x * x).sum();
    let miss: f64 = radii.iter().enumerate().map(|(k, x)| (x - model(k)).powi(2)).sum();
    (miss / square.max(f64::MIN_POSITIVE)).sqrt()
}

fn sines(shape: &Silhouette, ends: [DVec2; 2], stations: &[f64], radii: &[f64]) -> SinesFit {
    let all = sine_weights(radii, SINES);
    // Fewer where more would make the profile negative at a tip; one is never.
    let weights =
        (1..=SINES).rev().map(|count| &all[..count]).find(|weights| Profile::sines(weights).is_ok());
    let weights = weights.unwrap_or(&all[..1]);
    let radius = (0.5 * weights.iter().map(|c| c * c).sum::<f64>()).sqrt();
    let digits = |c: f64| ((1e4 * c / weights[0]).round() / 1e4) as f32;
    let mut found = SinesFit {
        weights: weights.iter().map(|&c| digits(c)).collect(),
        radius,
        residual: 0.0,
        overlap: 0.0,
    };
    found.residual = missed(radii, |k| found.thickness(stations[k]));
    found.overlap = overlap(shape, ends, |s| found.thickness(s));
    found
}

fn best_beta(shape: &Silhouette, ends: [DVec2; 2], stations: &[f64], radii: &[f64]) -> BetaFit {
    let mut best: Option<(f64, BetaFit)> = None;
    for pair in (2..=9).flat_map(|a| (2..=9).map(move |b| [a, b])) {
        let Ok(profile) = Profile::beta(pair[0], pair[1]) else { continue };
        let at = |k: usize, [a, b]: [f64; 2]| profile.value((stations[k] + a) / (1.0 + a + b)).0;
        let radius = |beyond: [f64; 2]| {
            let sums = radii.iter().enumerate().fold([0.0; 2], |[xp, pp], (k, x)| {
                let phi = at(k, beyond);
                [xp + x * phi, pp + phi * phi]
            });
            sums[0] / sums[1].max(f64::MIN_POSITIVE)
        };
        let residual = |beyond: [f64; 2]| {
            let w = radius(beyond);
            missed(radii, |k| w * at(k, beyond))
        };
        // By halving steps; what the ends do to the residual is smooth and has one valley.
        let (mut beyond, mut step) = ([0.0; 2], 0.25 * FARTHEST);
        let mut least = residual(beyond);
        while step > 1e-4 {
            let tries = [[step, 0.0], [-step, 0.0], [0.0, step], [0.0, -step], [step, step], [-step, -step]];
            let better = tries
                .map(|d| [0, 1].map(|i| (beyond[i] + d[i]).clamp(0.0, FARTHEST)))
                .map(|beyond| (residual(beyond), beyond))
                .into_iter()
                .min_by(|a, b| a.0.total_cmp(&b.0))
                .filter(|better| better.0 < least);
            match better {
                Some((less, there)) => (least, beyond) = (less, there),
                None => step *= 0.5,
            }
        }
        if best.as_ref().is_none_or(|best| least < best.0) {
            let along = ends[1] - ends[0];
            let ends = [ends[0] - beyond[0] * along, ends[1] + beyond[1] * along];
            let found = BetaFit { pair, ends, radius: radius(beyond), residual: least, overlap: 0.0 };
            best = Some((least, found));
        }
    }
    let nothing = || BetaFit { pair: [2, 2], ends, radius: 0.0, residual: 1.0, overlap: 0.0 };
    let mut found = best.map_or_else(nothing, |best| best.1);
    found.overlap = overlap(shape, found.ends, |s| found.thickness(s));
    found
}

/// Area in the shape and around the axis alike, over the area in either.
fn overlap(shape: &Silhouette, [start, end]: [DVec2; 2], thickness: impl Fn(f64) -> f64) -> f64 {
    let along = (end - start) / (end - start).length_squared().max(f64::MIN_POSITIVE);
    let (mut both, mut either) = (0.0, 0.0);
    // Thickness along the axis in a table: a picture has many pixels.
    let table: Vec<f64> = (0..=1000).map(|i| thickness(f64::from(i) / 1000.0)).collect();
    for (i, &c) in shape.coverage.iter().enumerate() {
        let p = DVec2::new((i % shape.width) as f64 + 0.5, (i / shape.width) as f64 + 0.5) - start;
        let s = p.dot(along);
        let model = if (0.0..=1.0).contains(&s) {
            let far = (p - s * (end - start)).length();
            (table[(1000.0 * s).round() as usize] - far + 0.5).clamp(0.0, 1.0)
        } else {
            0.0
        };
        both += model.min(f64::from(c));
        either += model.max(f64::from(c));
    }
    if either > 0.0 { both / either } else { 0.0 }
}
