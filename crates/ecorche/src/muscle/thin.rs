//! Makes room in a part's field for the muscles under it, so that the skin can sink when a muscle gets thinner.
//!
//! | symbol | here | meaning | unit |
//! |---|---|---|---|
//! | H(s) | `height` | from the axis to the surface, straight out | m |
//! | n(s) | `out` | that direction: the surface's gradient across the axis | - |
//! | t(s) | `top` | from the axis to the muscle's own surface in that direction | m |
//! | D(s) | `depth` | `max(0, H - (thinnest - margin) t)`, fading where the muscle is thin or lies deep | m |
//! | delta | | D, fading with the angle to n from 35 to 95 degrees | m |
//!
//! The distance of every node of the part's table grows by delta. The rest shape of the skin does not change: every
//! vertex keeps its own value of the joined field.
//!
//! Based on: Roussellet. Doctoral thesis. 2018, chapter 6, where it is done by hand; the rule is our own.

use super::Shape;
use crate::field::{Falloff, Field, Grid};
use glam::{DVec3, Vec3};
use rayon::prelude::*;

/// How far the surface sinks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Settings {
    /// Thickness of a muscle at its thinnest over that at rest; 0.85 for one that stretches by 40 %.
    pub thinnest: f64,
    /// How far below the thinnest muscle the surface ends, in thicknesses.
    pub margin: f64,
    /// Thinning fades where the muscle is thinner than twice this share of its largest thickness, and is zero
    /// below it. Higher leaves tendons alone; lower spreads the end of the thinning over more skin.
    pub fade: f64,
    /// For muscles deeper under the surface than this share of their thickness the surface sinks less and less, and not at all
    /// at twice the depth: something else lies over them.
    pub deep: f64,
}

impl Default for Settings {
    fn default() -> Self {
        Self { thinnest: 0.85, margin: 0.14, fade: 0.35, deep: 0.6 }
    }
}

impl Settings {
    /// 1 for what lies right under the surface, 0 for what lies deep: `height` from its middle to the surface, `top` to
    /// its own.
    fn near(&self, height: f64, top: f64) -> f64 {
        1.0 - smoothstep((height - top) / (self.deep.max(1e-6) * top) - 1.0)
    }
}

/// Places along a muscle at which the surface is looked for.
const STATIONS: usize = 33;

/// How far the surface sinks above one place of a muscle.
#[derive(Clone, Copy)]
struct Station {
    out: DVec3,
    depth: f64,
}

fn smoothstep(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}

/// The part's table with room for the muscles, which are at rest in the same space. `radius` is the falloff's;
/// each muscle comes with the share in `[0, 1]` it has in the part along its length.
pub(crate) fn thin(
    field: &Grid,
    radius: f32,
    muscles: &[(&Shape, &(dyn Fn(f64) -> f64 + Sync))],
    settings: &Settings,
) -> Grid {
    let stations: Vec<Vec<Option<Station>>> = muscles
        .par_iter()
        .map(|(muscle, share_of_part)| {
            let thickest = (0..STATIONS).fold(1e-9f64, |a, i| a.max(muscle.thickness(share(i))));
            let at = |i: usize| {
                let station = station(muscle, field, share(i), thickest, settings)?;
                Some(Station { depth: station.depth * share_of_part(share(i)), ..station })
            };
            (0..STATIONS).map(at).collect()
        })
        .collect();
    let falloff = Falloff { radius: radius.into() };
    let delta = |p: Vec3| {
        let depths = muscles.iter().zip(&stations).map(|((m, _), s)| depth_at(m, s, p.as_dvec3()));
        depths.fold(0.0, f64::max)
    };
    field.map_nodes(|p, value, gradient| {
        if value <= 0.0 {
            return (value, gradient);
        }
        let depth = delta(p);
        // The slope of delta, by differences over a hundredth of the radius.
        let h = 0.01 * radius;
        let slope = DVec3::from_array(
            [Vec3::X, Vec3::Y, Vec3::Z].map(|a| (delta(p + a * h) - delta(p - a * h)) / (2.0 * f64::from(h))),
        );
        if depth <= 0.0 && slope == DVec3::ZERO {
            return (value, gradient);
        }
        let distance = falloff.distance(value.into());
        let steepness = falloff.slope(distance);
        let out = if steepness < 0.0 { gradient.as_dvec3() / steepness } else { DVec3::ZERO };
        let moved = distance + depth;
        (falloff.value(moved) as f32, (falloff.slope(moved) * (out + slope)).as_vec3())
    })
}

fn share(i: usize) -> f64 {
    i as f64 / (STATIONS - 1) as f64
}

/// The surface above the muscle at `s`; `None` where the axis is outside of it or it is not found.
fn station(muscle: &Shape, surface: &Grid, s: f64, thickest: f64, settings: &Settings) -> Option<Station> {
    let thickness = muscle.thickness(s);
    let fade = smoothstep((thickness / thickest - settings.fade) / settings.fade.max(1e-6));
    if fade <= 0.0 {
        return None;
    }
    let (place, tangent) = muscle.place(s);
    let here = surface.sample(place.as_vec3());
    let outward = -here.gradient.as_dvec3();
    let out = (outward - outward.dot(tangent) * tangent).try_normalize()?;
    if here.value <= 0.5 {
        return None;
    }
    let height = height(surface, place, out, 0.25 * thickest)?;
    let top = muscle.radius(s, out).max(1e-9);
    let target = ((settings.thinnest - settings.margin) * top).max(0.0);
    Some(Station { out, depth: (height - target).max(0.0) * fade * settings.near(height, top) })
}

/// From `place`, which is inside, to the surface in the direction `out`; `None` if it is not found within 80 steps.
fn height(surface: &Grid, place: DVec3, out: DVec3, step: f64) -> Option<f64> {
    // Outward until the sign changes, then by halves.
    let inside = |t: f64| surface.sample((place + t * out).as_vec3()).value > 0.5;
    let beyond = (1..=80).map(|k| f64::from(k) * step).find(|&t| !inside(t))?;
    let (mut low, mut high) = (beyond - step, beyond);
    for _ in 0..20 {
        let middle = 0.5 * (low + high);
        if inside(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    Some(0.5 * (low + high))
}

fn depth_at(muscle: &Shape, stations: &[Option<Station>], p: DVec3) -> f64 {
    let Some((s, place)) = muscle.foot(p, f64::INFINITY) else { return 0.0 };
    let at = s * (STATIONS - 1) as f64;
    let first = (at as usize).min(STATIONS - 2);
    let t = at - first as f64;
    let (mut depth, mut out) = (0.0, DVec3::ZERO);
    for (station, weight) in [(stations[first], 1.0 - t), (stations[first + 1], t)] {
        if let Some(station) = station {
            depth += weight * station.depth;
            out += weight * station.out;
        }
    }
    let from = p - place;
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
    use crate::field::{CompactHrbf, GridSettings, SurfaceSample, hrbf};
    use crate::muscle::{Axis, Profile, Profiles, Spindle};
    use std::sync::Arc;

    /// A cylinder of radius 45 mm along x with a biceps `below` its top.
    fn limb(below: f64) -> (Grid, Shape) {
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
        let field = CompactHrbf::new(hrbf::fit(&samples, 0.045).unwrap(), 0.045);
        let grid = Grid::bake(&field, &GridSettings { resolution: 48 }).unwrap();
        let profiles = Arc::new(Profiles::new(Profile::beta(3, 3).unwrap(), Profile::beta(4, 7).unwrap()));
        let width = 0.012;
        let height = 0.045 - below - width * 1.5687;
        let points: Vec<DVec3> =
            (0..=16).map(|i| DVec3::new(0.04 + 0.22 * f64::from(i) / 16.0, height, 0.0)).collect();
        let axis = Axis::new(&points, [DVec3::Z; 2], 0.0).unwrap();
        (grid, Spindle::new(axis, profiles, 0.0, 0.0, width).into())
    }

    /// How far the surface is from the limb's axis, above and at `x`.
    fn height(field: &Grid, x: f32, up: f32) -> f32 {
        let inside = |t: f32| field.sample(Vec3::new(x, up * t, 0.0)).value > 0.5;
        (1..600).map(|k| k as f32 * 1e-4).find(|&t| !inside(t)).unwrap()
    }

    #[test]
    fn the_surface_sinks_over_the_belly_and_nowhere_else() {
        let (field, muscle) = limb(0.003);
        let whole = |_: f64| 1.0;
        let thinned = thin(&field, 0.045, &[(&muscle, &whole)], &Settings::default());
        let sunk = |x: f32, up: f32| height(&field, x, up) - height(&thinned, x, up);
        let belly = sunk(0.15, 1.0);
        assert!(belly > 0.005 && belly < 0.015, "{belly}");
        assert!(sunk(0.15, -1.0).abs() < 2e-4, "the far side");
        assert!(sunk(0.0, 1.0).abs() < 2e-4, "beyond the tendon");
        let nothing = |_: f64| 0.0;
        assert_eq!(thin(&field, 0.045, &[(&muscle, &nothing)], &Settings::default()), field);
        let (field, deep) = limb(0.0255);
        assert_eq!(thin(&field, 0.045, &[(&deep, &whole)], &Settings::default()), field, "what lies deep");
    }

    #[test]
    fn the_gradient_is_the_slope() {
        let (field, muscle) = limb(0.003);
        let thinned = thin(&field, 0.045, &[(&muscle, &|_| 1.0)], &Settings::default());
        for x in [0.08, 0.11, 0.15, 0.19] {
            let p = Vec3::new(x, 0.04, 0.004);
            let h = 2e-3;
            let slope = [Vec3::X, Vec3::Y, Vec3::Z]
                .map(|a| (thinned.sample(p + a * h).value - thinned.sample(p - a * h).value) / (2.0 * h));
            let gradient = thinned.sample(p).gradient;
            assert!(gradient.distance(Vec3::from_array(slope)) < 0.15 * gradient.length(), "{p}: {gradient}");
        }
    }
}
