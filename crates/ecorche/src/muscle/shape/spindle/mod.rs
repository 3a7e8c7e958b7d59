//! A spindle: an axis with elliptic sections around it, thick in the belly and thin at the tendons.
//!
//! | symbol | here | meaning | unit |
//! |---|---|---|---|
//! | q | `q` | point | m |
//! | C(s) | `axis.at` | its foot on the axis | m |
//! | rho, d | `rho`, `d` | distance and unit direction from foot to point | m, - |
//! | c | `c` | `n . d`, cosine to the wide axis | - |
//! | w | `width` | mean radius | m |
//! | Phi, r | | [`Profiles`], [`Section`] | - |
//! | f | distance | `rho - w Phi(s) r(c)`, negative inside | m |
//! | R | `thickest` | `max w v Phi`: f reaches -R on the axis at the thickest place | m |
//!
//! f is not an exact distance: its slope is up to `sqrt(1 + (w Phi' / l)^2)`, 1.05 for a biceps; on the axis it has a cone
//! point. The compact value passes through [`Falloff`] with radius R, so the field ends R outside the surface.
//!
//! Volume: a section plane sweeps `area * (e . T) ds` (its centre lies on the axis, so its rotation adds
//! nothing), and [`width_for_volume`] divides by that integral: exact on bent axes as long as sections do not
//! overlap; [`Spindle::thickened`] compensates for overlaps.
//!
//! Based on: Roussellet. Doctoral thesis. 2018, chapter 4.
//! Differs in: the falloff radius is that of the long half axis (the thesis' short one cuts flat muscles off);
//! the width rule accounts for the bend, not only the length: a sharp right angle loses 3.2 % by length alone.

mod axis;
mod cut;
mod form;
mod profile;
mod section;
mod surface;
mod table;
mod volume;

pub use axis::Axis;
pub(crate) use form::SpindleForm;
pub(crate) use profile::sine_weights;
pub use profile::{ActiveProfile, Profile, ProfileError, Profiles};
pub use section::Section;
pub(crate) use table::SpindleTable;

use super::{Near, Ring};
use crate::field::{Falloff, Field, Sample, Support};
use axis::Foot;
use cut::Cut;
use glam::{DVec3, Vec3};
use std::f64::consts::PI;
use std::sync::Arc;

/// A spindle in one moment.
#[derive(Clone, Debug)]
pub struct Spindle {
    axis: Axis,
    profiles: Arc<Profiles>,
    activation: f64,
    section: Section,
    width: f64,
    falloff: Falloff,
    support: Support,
    /// What of it the skin cuts off.
    cut: Option<Cut>,
}

/// The mean radius that gives `volume` (m^3) on this axis at this activation, metres. The length counts as at
/// least 0.3 and at most 3 times `bind_length`, so that a collapsed axis does not explode.
fn width_for_volume(axis: &Axis, profiles: &Profiles, activation: f64, volume: f64, bind_length: f64) -> f64 {
    let swept = swept_length(axis, profiles, activation);
    (volume / (PI * swept.clamp(0.3 * bind_length, 3.0 * bind_length))).sqrt()
}

/// Integral of `Phi^2 (e . T) ds` over the axis, metres: the length, less what bends cost.
fn swept_length(axis: &Axis, profiles: &Profiles, activation: f64) -> f64 {
    // Two Gauss points per segment.
    const NODES: [f64; 2] = [0.211_324_865_405_187_1, 0.788_675_134_594_812_9];
    let blend = profiles.at(activation);
    let (mut swept, mut square) = (0.0, 0.0);
    for k in 0..axis.points().len() - 1 {
        let (s0, s1) = (axis.share(k), axis.share(k + 1));
        for t in NODES {
            let phi = blend.value(s0 + t * (s1 - s0)).0;
            let tangent = axis.tangents()[k].lerp(axis.tangents()[k + 1], t).normalize_or_zero();
            let part = 0.5 * (s1 - s0) * phi * phi;
            square += part;
            swept += part * axis.direction(k).dot(tangent);
        }
    }
    // `square` is 1 up to the quadrature's error, which the quotient removes.
    axis.length() * swept / square
}

impl Spindle {
    /// A muscle of mean radius `width` (metres) around an axis.
    pub(crate) fn new(
        axis: Axis,
        profiles: Arc<Profiles>,
        activation: f64,
        eccentricity: f64,
        width: f64,
    ) -> Self {
        Self::of_section(axis, profiles, activation, Section::new(eccentricity), width)
    }

    fn of_section(
        axis: Axis,
        profiles: Arc<Profiles>,
        activation: f64,
        section: Section,
        width: f64,
    ) -> Self {
        let width = if width.is_finite() { width.max(0.0) } else { 0.0 };
        let thickest = width * section.long() * profiles.at(activation).peak();
        let radius = thickest.max(f64::from(f32::MIN_POSITIVE));
        let (low, high) = axis
            .points()
            .iter()
            .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), &p| (low.min(p), high.max(p)));
        let support = Support { low: (low - 2.0 * radius).as_vec3(), high: (high + 2.0 * radius).as_vec3() };
        let falloff = Falloff { radius };
        Self { axis, profiles, activation, section, width, falloff, support, cut: None }
    }

    /// Its axis.
    pub(crate) fn axis(&self) -> &Axis {
        &self.axis
    }

    /// Mean radius, metres.
    pub(super) fn width(&self) -> f64 {
        self.width
    }

    /// Activation in `[0, 1]`.
    pub(super) fn activation(&self) -> f64 {
        self.activation
    }

    /// The same spindle with another mean radius, metres.
    fn with_width(self, width: f64) -> Self {
        Self::of_section(self.axis, self.profiles, self.activation, self.section, width)
    }

    /// Largest distance from the axis to the surface, metres; the field ends as far outside the surface.
    pub(super) fn thickest(&self) -> f64 {
        self.falloff.radius
    }

    /// Mean radius of the section at share `s` of the length, metres.
    pub(super) fn thickness(&self, s: f64) -> f64 {
        self.width * self.profiles.at(self.activation).value(s).0
    }

    /// The short half axis of the section at share `s` of the length, metres.
    pub(super) fn contact_radius(&self, s: f64) -> f64 {
        self.section.short() * self.thickness(s)
    }

    /// By its formula, without integrating the field: `pi w^2` times the swept length, cubic metres.
    pub(crate) fn volume(&self) -> f64 {
        PI * self.width * self.width * swept_length(&self.axis, &self.profiles, self.activation)
    }

    /// Share of the length and place on the axis that `q` projects to; `None` further than `reach` metres from the axis.
    pub(super) fn foot(&self, q: DVec3, reach: f64) -> Option<(f64, DVec3)> {
        self.axis.project(q, reach).map(|foot| (foot.s, self.axis.at(&foot)))
    }

    /// `f` and its gradient; `None` further than `reach` metres from the axis. On the axis the gradient is zero.
    #[inline]
    pub(super) fn near(&self, q: DVec3, reach: f64) -> Option<Near> {
        let foot = self.axis.project(q, reach)?;
        let (distance, gradient) = self.distance_from(q, &foot);
        Some(Near { distance, gradient, s: foot.s })
    }

    /// The section at each vertex of the axis; where the skin cuts it, the ellipse with the same moments.
    pub(super) fn rings(&self) -> impl ExactSizeIterator<Item = Ring> + '_ {
        (0..self.axis.points().len()).map(|k| {
            let whole = Ring {
                centre: self.axis.points()[k],
                radius: self.thickness(self.axis.share(k)),
                wide_axis: self.axis.wide_axes()[k],
                flatness: self.section.short(),
            };
            self.cut.as_ref().and_then(|cut| self.cut_ring(cut, k)).unwrap_or(whole)
        })
    }

    fn distance_from(&self, q: DVec3, foot: &Foot) -> (f64, DVec3) {
        let (phi, dphi) = self.profiles.at(self.activation).value(foot.s);
        let from = q - self.axis.at(foot);
        let rho = from.length();
        if rho < 1e-14 {
            return (-self.width * phi, DVec3::ZERO);
        }
        let d = from / rho;
        let (n, dn) = self.axis.wide_axis_at(foot);
        let c = n.dot(d);
        let (r, dr) = self.section.radius(c);
        if let Some(cut) = &self.cut {
            let room = cut.room(foot, c, n.cross(d).dot(self.axis.direction(foot.segment)));
            if room < self.width * phi * r {
                return (rho - room, d);
            }
        }
        // The foot moves along the segment as q moves.
        let along = self.axis.direction(foot.segment) * self.axis.length();
        let through_foot = |v: DVec3| v - foot.ds * along.dot(v);
        let dc = through_foot(n - c * d) / rho + dn.dot(d) * foot.ds;
        let gradient = through_foot(d) - self.width * (dphi * r * foot.ds + phi * dr * dc);
        (rho - self.width * phi * r, gradient)
    }
}

impl Field for Spindle {
    fn sample(&self, point: Vec3) -> Sample {
        if !self.support.contains(point) {
            return Sample::OUTSIDE;
        }
        // Beyond R from the surface, which is at most R from the axis, there is nothing.
        let Some(Near { distance, gradient, .. }) = self.near(point.as_dvec3(), 2.0 * self.falloff.radius)
        else {
            return Sample::OUTSIDE;
        };
        if distance >= self.falloff.radius {
            return Sample::OUTSIDE;
        }
        Sample {
            value: self.falloff.value(distance) as f32,
            gradient: (self.falloff.slope(distance) * gradient).as_vec3(),
        }
    }

    fn support(&self) -> Support {
        self.support
    }
}

#[cfg(test)]
mod tests;
