//! What a spindle is made from at bind, and how it follows its particles.

use super::{Axis, Profiles, Section, Spindle, width_for_volume};
use crate::dynamics::Rigid;
use crate::muscle::shape::ShapeState;
use glam::DVec3;
use std::f64::consts::PI;
use std::sync::Arc;

/// The parts of a spindle that do not change while it moves.
#[derive(Clone, Debug)]
pub(crate) struct SpindleForm {
    profiles: Arc<Profiles>,
    /// Wide axis of the section, in the coordinates of the bones at origin and insertion.
    wide_axis: [DVec3; 2],
    /// Metres, at bind.
    length: f64,
    /// Cubic metres.
    volume: f64,
}

impl SpindleForm {
    /// A spindle of mean radius `width` (metres) around `points`. `ends`: world from the bones of origin and insertion;
    /// `wide_axis`: in the world, of any length. `None` if the points have no extent or are not finite.
    pub(crate) fn new(
        profiles: Arc<Profiles>,
        points: &[DVec3],
        ends: [Rigid; 2],
        wide_axis: DVec3,
        width: f64,
    ) -> Option<Self> {
        let length = Axis::new(points, [wide_axis; 2], 0.0)?.length();
        let wide_axis = ends.map(|end| end.vector_back(wide_axis));
        Some(Self { profiles, wide_axis, length, volume: PI * width * width * length })
    }

    /// Length at bind, metres.
    pub(crate) fn length(&self) -> f64 {
        self.length
    }

    /// Cubic metres.
    pub(crate) fn volume(&self) -> f64 {
        self.volume
    }

    fn axis(&self, points: &[DVec3], ends: [Rigid; 2], twist: f64) -> Option<Axis> {
        let wide_axis = [0, 1].map(|k| ends[k].vector(self.wide_axis[k]));
        Axis::new(points, wide_axis, twist)
    }

    /// How far the section turns along the axis, radians, continued from the last moment's twist. `None` for points
    /// without extent.
    pub(crate) fn twist(&self, points: &[DVec3], ends: [Rigid; 2], last: f64) -> Option<f64> {
        self.axis(points, ends, last).map(|axis| axis.twist())
    }

    /// The spindle through `points`; `None` for points without extent.
    pub(crate) fn pose(&self, points: &[DVec3], ends: [Rigid; 2], state: &ShapeState) -> Option<Spindle> {
        let axis = self.axis(points, ends, state.twist)?;
        let ShapeState { activation, eccentricity, gain, .. } = *state;
        let width = width_for_volume(&axis, &self.profiles, activation, self.volume, self.length);
        Some(Spindle::new(axis, self.profiles.clone(), activation, eccentricity, width * gain))
    }

    /// Radius of each of `count` particles for contacts, metres, on an axis of `length` metres: the section's short half axis,
    /// because flat muscles lie flat on what they touch.
    pub(crate) fn contact_radii(&self, length: f64, count: usize, state: &ShapeState) -> Vec<f64> {
        let long = length.clamp(0.3 * self.length, 3.0 * self.length);
        let width = (self.volume / (PI * long)).sqrt() * state.gain;
        let short = Section::new(state.eccentricity).short();
        let blend = self.profiles.at(state.activation);
        let share = |i: usize| i as f64 / (count - 1) as f64;
        (0..count).map(|i| width * short * blend.value(share(i)).0).collect()
    }
}
