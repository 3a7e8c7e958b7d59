//! A spindle that yields to the skin: its axis moves inside, and what still stands out is cut off.
//!
//! For each vertex of the axis and each of [`AROUND`] directions in its section plane the room up to the skin is known. A section reaches as
//! far as it would without skin, or to the end of the room. To make up for what is cut off, the whole fibre gets thicker, up to
//! [`WIDEST`] times its width.

use super::axis::Foot;
use super::{Axis, Ring, Spindle, swept_length};
use crate::muscle::shape::{Room, Yielded};
use glam::{DMat2, DVec2, DVec3};
use std::f64::consts::TAU;

/// Directions around a section.
const AROUND: usize = 16;
/// A muscle that was cut gets at most this much wider, as does a folded one. More would swell elsewhere. Not tuned: the arm's curl and the
/// athlete's squat lose nothing with it.
const WIDEST: f64 = 1.25;
/// Room is looked for at least this far, in mean radii: tendons are drawn thicker than they are.
const TENDON: f64 = 0.25;
/// Halvings of the search for the width.
const HALVINGS: usize = 12;

/// The room around the axis.
#[derive(Clone, Debug)]
pub(super) struct Cut {
    /// Metres from each vertex of the axis in each direction.
    room: Vec<[f32; AROUND]>,
}

impl Cut {
    /// Room at vertex `i` of the axis at an angle from the wide axis, radians. Between two directions it ends on the straight line between
    /// their ends, which is exact for flat skin.
    #[inline]
    pub fn at(&self, i: usize, angle: f64) -> f64 {
        let at = angle.rem_euclid(TAU) / TAU * AROUND as f64;
        let k = at as usize;
        let [a, b] = [k, k + 1].map(|k| f64::from(self.room[i][k % AROUND]));
        let (step, here) = (TAU / AROUND as f64, (at - k as f64) * TAU / AROUND as f64);
        a * b * step.sin() / (a * here.sin() + b * (step - here).sin()).max(f64::MIN_POSITIVE)
    }

    /// Room at a foot on the axis, in the direction with these cosine and sine to the wide axis.
    #[inline]
    pub fn room(&self, foot: &Foot, cosine: f64, sine: f64) -> f64 {
        let angle = sine.atan2(cosine);
        let [a, b] = [0, 1].map(|k| self.at(foot.segment + k, angle));
        a + foot.t * (b - a)
    }
}

impl Spindle {
    /// The same muscle around `points`, one per vertex of its axis, cut where `room` ends. `room` gives the free distance from a point
    /// in a direction, up to a limit. `None` for points without extent.
    pub(in crate::muscle::shape) fn yielded(
        &self,
        points: &[DVec3],
        room: &impl Room,
    ) -> Option<Yielded<Self>> {
        let last = self.axis.wide_axes().len() - 1;
        let ends = [self.axis.wide_axes()[0], self.axis.wide_axes()[last]];
        let axis = Axis::new(points, ends, self.axis.twist())?;
        if axis.points().len() != self.axis.points().len() {
            return None;
        }
        let swept = [&self.axis, &axis].map(|axis| swept_length(axis, &self.profiles, self.activation));
        let width = self.width * (swept[0] / swept[1].max(1e-3 * swept[0])).sqrt();
        let moved = Self::of_section(
            axis,
            self.profiles.clone(),
            self.activation,
            self.section,
            width.min(WIDEST * self.width),
        );
        let mut cut = Cut { room: Vec::with_capacity(points.len()) };
        let mut is_cut = false;
        for i in 0..points.len() {
            let thick = moved.thickness(moved.axis.share(i)).max(TENDON * moved.width);
            let clear = room.clear(i) > WIDEST * thick * self.section.long();
            cut.room.push(std::array::from_fn(|k| {
                let (direction, reach) = moved.ray(i, k, thick);
                let most = WIDEST * reach;
                let free = if clear { most } else { room.free(moved.axis.points()[i], direction, most) };
                is_cut |= free < most;
                free as f32
            }));
        }
        if !is_cut {
            return Some(Yielded { shape: moved, lost: 0.0 });
        }
        let wanted = moved.cut_volume(&cut, 0.0);
        let (mut low, mut high) = (1.0, WIDEST);
        if moved.cut_volume(&cut, high) > wanted {
            for _ in 0..HALVINGS {
                let middle = 0.5 * (low + high);
                if moved.cut_volume(&cut, middle) < wanted { low = middle } else { high = middle }
            }
        }
        let lost = (wanted - moved.cut_volume(&cut, high)).max(0.0);
        let width = high * moved.width;
        Some(Yielded { shape: Self { cut: Some(cut), ..moved.with_width(width) }, lost })
    }

    /// Direction `k` at vertex `i` of the axis, and how far the section of mean radius `thick` reaches there.
    fn ray(&self, i: usize, k: usize, thick: f64) -> (DVec3, f64) {
        let (n, t) = (self.axis.wide_axes()[i], self.axis.tangents()[i]);
        let (sine, cosine) = (TAU * k as f64 / AROUND as f64).sin_cos();
        (cosine * n + sine * t.cross(n), thick * self.section.radius(cosine).0)
    }

    /// Its volume after the cut with `factor` times its width, or uncut for 0, cubic metres. Bends are ignored.
    fn cut_volume(&self, cut: &Cut, factor: f64) -> f64 {
        let area = |i: usize| -> f64 {
            let thick = self.thickness(self.axis.share(i));
            let reach = |k: usize| {
                let whole = thick * self.section.radius((TAU * k as f64 / AROUND as f64).cos()).0;
                let room = f64::from(cut.room[i][k % AROUND]);
                if factor == 0.0 {
                    (whole, false)
                } else {
                    ((factor * whole).min(room), factor * whole > room)
                }
            };
            let step = TAU / AROUND as f64;
            let sector = |k: usize| {
                let [(a, a_is_cut), (b, b_is_cut)] = [reach(k), reach(k + 1)];
                // Cut, it ends on a straight line; whole, it is round.
                0.5 * if a_is_cut || b_is_cut { a * b * step.sin() } else { 0.5 * (a * a + b * b) * step }
            };
            (0..AROUND).map(sector).sum()
        };
        let lengths = self.axis.points().windows(2).enumerate();
        lengths.map(|(i, p)| 0.5 * (area(i) + area(i + 1)) * p[0].distance(p[1])).sum()
    }

    /// The ellipse with area, middle and second moments of a cut section; `None` if it is whole or nothing is left.
    pub(super) fn cut_ring(&self, cut: &Cut, i: usize) -> Option<Ring> {
        let thick = self.thickness(self.axis.share(i));
        let corner = |k: usize| {
            let angle = TAU * k as f64 / AROUND as f64;
            let whole = thick * self.section.radius(angle.cos()).0;
            let reach = whole.min(cut.room[i][k].into());
            (DVec2::from_angle(angle) * reach, reach < whole)
        };
        let corners: [(DVec2, bool); AROUND] = std::array::from_fn(corner);
        if !corners.iter().any(|c| c.1) {
            return None;
        }
        let (mut area, mut middle, mut second) = (0.0, DVec2::ZERO, [0.0f64; 3]);
        for k in 0..AROUND {
            let (a, b) = (corners[k].0, corners[(k + 1) % AROUND].0);
            let twice = a.perp_dot(b);
            area += 0.5 * twice;
            middle += twice / 6.0 * (a + b);
            second[0] += twice / 12.0 * (a.x * a.x + a.x * b.x + b.x * b.x);
            second[1] += twice / 12.0 * (a.y * a.y + a.y * b.y + b.y * b.y);
            second[2] += twice / 24.0 * (2.0 * a.x * a.y + a.x * b.y + b.x * a.y + 2.0 * b.x * b.y);
        }
        if area <= 1e-6 * thick * thick {
            return None;
        }
        let middle = middle / area;
        let spread = DMat2::from_cols(
            DVec2::new(second[0] / area - middle.x * middle.x, second[2] / area - middle.x * middle.y),
            DVec2::new(second[2] / area - middle.x * middle.y, second[1] / area - middle.y * middle.y),
        );
        let half = 0.5 * (spread.x_axis.x - spread.y_axis.y);
        let root = half.hypot(spread.x_axis.y);
        let mean = 0.5 * (spread.x_axis.x + spread.y_axis.y);
        let [large, small] = [mean + root, (mean - root).max(1e-4 * mean)];
        let wide = DVec2::from_angle(0.5 * spread.x_axis.y.atan2(half));
        let (n, t) = (self.axis.wide_axes()[i], self.axis.tangents()[i]);
        let place = |v: DVec2| v.x * n + v.y * t.cross(n);
        Some(Ring {
            centre: self.axis.points()[i] + place(middle),
            // Of an ellipse the variance along a half axis is a quarter of its square; a polygon is a little smaller.
            radius: 2.0 * (large * small).sqrt().sqrt(),
            wide_axis: place(wide),
            flatness: (small / large).sqrt().sqrt(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::muscle::{Profile, Profiles};
    use std::sync::Arc;

    /// The skin is a plane this far above the axis.
    struct Plane(f64);

    impl Room for Plane {
        fn free(&self, from: DVec3, direction: DVec3, most: f64) -> f64 {
            let up = direction.y.max(1e-9);
            ((self.0 - from.y) / up).min(most)
        }

        fn clear(&self, _: usize) -> f64 {
            0.0
        }
    }

    fn spindle() -> (Spindle, Vec<DVec3>) {
        let profile = || Profile::beta(3, 3).unwrap();
        let points: Vec<DVec3> = (0..=24).map(|i| DVec3::X * 0.01 * f64::from(i)).collect();
        let axis = Axis::new(&points, [DVec3::Z; 2], 0.0).unwrap();
        (Spindle::new(axis, Arc::new(Profiles::new(profile(), profile())), 0.0, 0.5, 0.02), points)
    }

    #[test]
    fn what_is_cut_is_gained_along_the_fibre() {
        let (spindle, points) = spindle();
        let whole = spindle.integrated_volume(40);
        for (height, loses) in [(0.1, 0.0), (0.015, 0.0), (0.004, 0.02)] {
            let Yielded { shape, lost } = spindle.yielded(&points, &Plane(height)).unwrap();
            let top = shape.surface(18, 0.16).mesh.positions.iter().map(|p| p.y).fold(0.0, f32::max);
            assert!(f64::from(top) <= height + 1e-4, "{top} under {height}");
            let volume = shape.integrated_volume(40);
            assert_eq!(lost > 1e-3 * whole, loses > 0.0, "{height}: {lost}");
            assert!(((volume + lost) / whole - 1.0).abs() < 0.02, "{height}: {volume} {lost} of {whole}");
        }
        let yielded = spindle.yielded(&points, &Plane(0.01)).unwrap().shape;
        let rings: Vec<Ring> = yielded.rings().collect();
        let middle = rings[12];
        assert!(middle.centre.y < -1e-3, "what is left lies lower: {middle:?}");
    }
}
