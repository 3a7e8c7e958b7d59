//! Thins the surface a part's field is fitted to where muscles lie under it, so that the skin can sink when a
//! muscle gets thinner.
//!
//! | symbol | here | meaning | unit |
//! |---|---|---|---|
//! | H(s) | `height` | from the axis to the surface, straight out | m |
//! | n(s) | `out` | that direction: the surface's gradient across the axis | - |
//! | kappa | `thinnest` | thickness at its thinnest over that at rest | - |
//! | D(s) | `depth` | `max(0, H - (kappa w Phi - margin))`, fading where the muscle is thin | m |
//! | delta | | D, fading with the angle to n from 35 to 95 degrees | m |
//!
//! The rest shape of the skin does not change: every vertex keeps its own value of the thinned field.
//!
//! Based on: Roussellet. Doctoral thesis. 2018, chapter 6, where it is done by hand; the rule is our own.

use super::axis::Projection;
use super::implicit::ImplicitMuscle;
use crate::field::{Hrbf, SurfaceSample};
use glam::DVec3;

/// How much is taken away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Thickness of a muscle at its thinnest over that at rest; 0.85 for one that stretches by 40 %.
    pub thinnest: f64,
    /// How far below the thinnest muscle the surface ends, metres.
    pub margin: f64,
    /// Thinning fades where the muscle is thinner than twice this share of its largest thickness, and is zero
    /// below it. Higher leaves tendons alone; lower spreads the end of the thinning over more skin.
    pub fade: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { thinnest: 0.85, margin: 0.003, fade: 0.35 }
    }
}

/// Places along a muscle at which the surface is looked for.
const STATIONS: usize = 33;

/// What to take away above one place of a muscle.
#[derive(Clone, Copy)]
struct Station {
    out: DVec3,
    depth: f64,
}

fn smoothstep(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// The samples with those above muscles moved inward. `surface` is the fit of the same samples; samples and
/// muscles are at rest, in the same space.
pub fn thin(
    samples: &[SurfaceSample],
    surface: &Hrbf,
    muscles: &[&ImplicitMuscle],
    settings: &Settings,
) -> Vec<SurfaceSample> {
    let stations: Vec<Vec<Option<Station>>> = muscles
        .iter()
        .map(|muscle| {
            let thickest = (0..STATIONS).fold(1e-9f64, |a, i| a.max(muscle.thickness(share(i))));
            (0..STATIONS).map(|i| station(muscle, surface, share(i), thickest, settings)).collect()
        })
        .collect();
    samples
        .iter()
        .map(|sample| {
            let depth = muscles
                .iter()
                .zip(&stations)
                .map(|(muscle, stations)| depth_at(muscle, stations, sample.position.as_dvec3()))
                .fold(0.0, f64::max);
            let inward = sample.normal.normalize_or_zero() * depth as f32;
            SurfaceSample { position: sample.position - inward, normal: sample.normal }
        })
        .collect()
}

fn share(i: usize) -> f64 {
    i as f64 / (STATIONS - 1) as f64
}

/// The surface above the muscle at `s`; `None` where the axis is outside of it or it is not found.
fn station(
    muscle: &ImplicitMuscle,
    surface: &Hrbf,
    s: f64,
    thickest: f64,
    settings: &Settings,
) -> Option<Station> {
    let thickness = muscle.thickness(s);
    let fade = smoothstep((thickness / thickest - settings.fade) / settings.fade.max(1e-6));
    if fade <= 0.0 {
        return None;
    }
    let (place, tangent) = muscle.axis().place(s);
    let (inside, gradient) = surface.distance(place.as_vec3());
    let gradient = gradient.as_dvec3();
    let out = (gradient - gradient.dot(tangent) * tangent).try_normalize()?;
    if inside >= 0.0 {
        return None;
    }
    // Outward until the sign changes, then by halves.
    let step = 0.25 * thickest;
    let beyond = (1..=80)
        .map(|k| f64::from(k) * step)
        .find(|t| surface.distance((place + *t * out).as_vec3()).0 >= 0.0)?;
    let (mut low, mut high) = (beyond - step, beyond);
    for _ in 0..30 {
        let middle = 0.5 * (low + high);
        if surface.distance((place + middle * out).as_vec3()).0 < 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let height = 0.5 * (low + high);
    let target = (settings.thinnest * thickness - settings.margin).max(0.0);
    Some(Station { out, depth: (height - target).max(0.0) * fade })
}

fn depth_at(muscle: &ImplicitMuscle, stations: &[Option<Station>], p: DVec3) -> f64 {
    let Some(foot) = muscle.axis().project(p, f64::INFINITY, Projection::Plane) else { return 0.0 };
    let at = foot.s * (STATIONS - 1) as f64;
    let first = (at as usize).min(STATIONS - 2);
    let t = at - first as f64;
    let (mut depth, mut out) = (0.0, DVec3::ZERO);
    for (station, weight) in [(stations[first], 1.0 - t), (stations[first + 1], t)] {
        if let Some(station) = station {
            depth += weight * station.depth;
            out += weight * station.out;
        }
    }
    let from = p - muscle.axis().at(&foot);
    if depth <= 0.0 || from.length() < 1e-9 || out.length() < 1e-9 {
        return 0.0;
    }
    let angle = from.angle_between(out).to_degrees();
    // Never through the axis.
    (depth * smoothstep((95.0 - angle) / 60.0)).min(0.9 * from.length())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::hrbf;
    use crate::muscle::{Axis, Profile, Profiles};
    use glam::Vec3;
    use std::sync::Arc;

    /// A cylinder of radius 45 mm along x with a biceps 3 mm below its top.
    fn limb() -> (Vec<SurfaceSample>, ImplicitMuscle) {
        let mut samples = Vec::new();
        for ring in 0..11 {
            for i in 0..12 {
                let angle = (i as f32 + 0.5 * (ring % 2) as f32) * std::f32::consts::TAU / 12.0;
                let normal = Vec3::new(0.0, angle.cos(), angle.sin());
                samples
                    .push(SurfaceSample { position: Vec3::X * 0.03 * ring as f32 + 0.045 * normal, normal });
            }
        }
        for (x, normal) in [(-0.045, Vec3::NEG_X), (0.345, Vec3::X)] {
            samples.push(SurfaceSample { position: Vec3::X * x, normal });
        }
        let profiles = Arc::new(Profiles::new(Profile::beta(3, 3).unwrap(), Profile::beta(4, 7).unwrap()));
        let width = 0.014;
        let height = 0.045 - 0.003 - width * 1.5687;
        let points: Vec<DVec3> =
            (0..=16).map(|i| DVec3::new(0.04 + 0.22 * f64::from(i) / 16.0, height, 0.0)).collect();
        let axis = Axis::new(&points, [DVec3::Z; 2], 0.0).unwrap();
        (samples, ImplicitMuscle::new(axis, profiles, 0.0, 0.0, width))
    }

    #[test]
    fn the_surface_sinks_over_the_belly_and_nowhere_else() {
        let (samples, muscle) = limb();
        let surface = hrbf::fit(&samples, 0.045).unwrap();
        let thinned = thin(&samples, &surface, &[&muscle], &Settings::default());
        let moved = |at: Vec3| {
            let nearest = (0..samples.len())
                .min_by(|&a, &b| {
                    samples[a].position.distance(at).total_cmp(&samples[b].position.distance(at))
                })
                .unwrap();
            samples[nearest].position.distance(thinned[nearest].position)
        };
        let belly = moved(Vec3::new(0.15, 0.045, 0.0));
        assert!(belly > 0.006 && belly < 0.015, "{belly}");
        assert_eq!(moved(Vec3::new(0.15, -0.045, 0.0)), 0.0, "the far side");
        assert_eq!(moved(Vec3::new(0.0, 0.045, 0.0)), 0.0, "beyond the tendon");
        assert!(hrbf::fit(&thinned, 0.045).is_ok());
        assert_eq!(thin(&samples, &surface, &[], &Settings::default()), samples);
    }
}
