//! A spindle tabulated for a million samples a frame.
//!
//! The same shape as [`Spindle`], in single precision and from tables: stations along the axis with tangents,
//! wide axes and thickness. Between stations the section plane is found by a linear step instead of the root of
//! a parabola, directions are blended without a rotation, and the gradient ignores how the section turns along the axis.

use super::Spindle;
use crate::field::Support;
use crate::muscle::shape::TableNear;
use glam::Vec3;

/// Stations that are tested side by side.
const LANES: usize = 8;

/// Stations of a block, relative to the muscle's first point; the first of the next block is its end.
#[derive(Clone, Debug)]
struct Block {
    tangent: [[f32; LANES + 1]; 3],
    /// `P . T`.
    along: [f32; LANES + 1],
    low: Vec3,
    high: Vec3,
}

#[derive(Clone, Copy, Debug)]
struct Station {
    point: Vec3,
    tangent: Vec3,
    wide_axis: Vec3,
    /// Mean radius of the section, metres, and its derivative by the station's number.
    thickness: f32,
    slope: f32,
}

/// See the [module](self).
#[derive(Clone, Debug)]
pub(crate) struct SpindleTable {
    origin: Vec3,
    stations: Vec<Station>,
    blocks: Vec<Block>,
    /// `u^2` and `v^2` of the section.
    section: [f32; 2],
    thickest: f32,
}

impl SpindleTable {
    /// Tabulates a spindle at three blocks of eight stations.
    pub(crate) fn new(spindle: &Spindle) -> Self {
        let blocks = 3;
        let last = blocks * LANES;
        let axis = spindle.axis();
        let origin = axis.points()[0];
        let section = spindle.section;
        let thick = |s: f64| spindle.thickness(s.clamp(0.0, 1.0));
        let stations: Vec<Station> = (0..=last)
            .map(|i| {
                let s = i as f64 / last as f64;
                let (place, tangent) = axis.place(s);
                let h = 0.25 / last as f64;
                let (before, after) = ((s - h).max(0.0), (s + h).min(1.0));
                let slope = (thick(after) - thick(before)) / ((after - before) * last as f64);
                Station {
                    point: (place - origin).as_vec3(),
                    tangent: tangent.as_vec3(),
                    wide_axis: axis.wide_axis(s).as_vec3(),
                    thickness: thick(s) as f32,
                    slope: slope as f32,
                }
            })
            .collect();
        let block = |b: usize| {
            let mut block = Block {
                tangent: [[0.0; LANES + 1]; 3],
                along: [0.0; LANES + 1],
                low: Vec3::INFINITY,
                high: Vec3::NEG_INFINITY,
            };
            for lane in 0..=LANES {
                let Station { point, tangent, .. } = stations[b * LANES + lane];
                (0..3).for_each(|k| block.tangent[k][lane] = tangent[k]);
                block.along[lane] = point.dot(tangent);
                block.low = block.low.min(point);
                block.high = block.high.max(point);
            }
            block
        };
        Self {
            origin: origin.as_vec3(),
            blocks: (0..blocks).map(block).collect(),
            stations,
            section: [section.short().powi(2) as f32, section.long().powi(2) as f32],
            thickest: spindle.thickest() as f32,
        }
    }

    /// A box that holds every point within `margin` metres of the surface.
    pub(crate) fn support(&self, margin: f32) -> Support {
        let boxes =
            self.blocks.iter().map(|b| Support { low: b.low + self.origin, high: b.high + self.origin });
        boxes.fold(Support::EMPTY, Support::with).widened(self.thickest + margin)
    }

    /// Largest distance from the axis to the surface, metres.
    pub(crate) fn thickest(&self) -> f32 {
        self.thickest
    }

    /// Value at a point; `None` further than `reach` from the axis.
    #[inline]
    pub(crate) fn near(&self, point: Vec3, reach: f32) -> Option<TableNear> {
        let q = point - self.origin;
        let mut best = (reach * reach, usize::MAX, 0.0f32);
        let last = self.stations.len() - 1;
        for (b, block) in self.blocks.iter().enumerate() {
            if (q.max(block.low).min(block.high) - q).length_squared() > best.0 {
                continue;
            }
            let mut g = [0.0f32; LANES + 1];
            for (lane, g) in g.iter_mut().enumerate() {
                *g = q.x * block.tangent[0][lane]
                    + q.y * block.tangent[1][lane]
                    + q.z * block.tangent[2][lane]
                    - block.along[lane];
            }
            for lane in 0..LANES {
                if g[lane] >= 0.0 && g[lane + 1] < 0.0 {
                    let k = b * LANES + lane;
                    let t = g[lane] / (g[lane] - g[lane + 1]);
                    let foot = self.stations[k].point.lerp(self.stations[k + 1].point, t);
                    let square = foot.distance_squared(q);
                    if square < best.0 {
                        best = (square, k, t);
                    }
                }
            }
        }
        // Beyond the ends.
        let (first, end) = (&self.stations[0], &self.stations[last]);
        if (q - first.point).dot(first.tangent) <= 0.0 && first.point.distance_squared(q) < best.0 {
            best = (first.point.distance_squared(q), 0, 0.0);
        }
        if (q - end.point).dot(end.tangent) >= 0.0 && end.point.distance_squared(q) < best.0 {
            best = (end.point.distance_squared(q), last - 1, 1.0);
        }
        (best.1 != usize::MAX).then(|| self.at(q, best.1, best.2))
    }

    #[inline]
    fn at(&self, q: Vec3, k: usize, t: f32) -> TableNear {
        let (a, b) = (&self.stations[k], &self.stations[k + 1]);
        let edge = b.point - a.point;
        let from = q - (a.point + t * edge);
        let rho = from.length();
        let count = (self.stations.len() - 1) as f32;
        let s = (k as f32 + t) / count;
        // Thickness: the cubic that meets values and slopes of both stations.
        let (t2, t3) = (t * t, t * t * t);
        let step = b.thickness - a.thickness;
        let thickness =
            a.thickness + step * (3.0 * t2 - 2.0 * t3) + a.slope * (t3 - 2.0 * t2 + t) + b.slope * (t3 - t2);
        let slope =
            step * 6.0 * (t - t2) + a.slope * (3.0 * t2 - 4.0 * t + 1.0) + b.slope * (3.0 * t2 - 2.0 * t);
        if rho < 1e-9 {
            return TableNear { distance: -thickness, gradient: Vec3::ZERO, s, s_slope: Vec3::ZERO };
        }
        let d = from / rho;
        let turn = b.tangent - a.tangent;
        let tangent = a.tangent + t * turn;
        let clamped = (k == 0 && t == 0.0) || (s >= 1.0);
        let rate = edge.dot(tangent) - from.dot(turn);
        // By how many stations the foot moves with the point.
        let by_point = if clamped || rate <= 0.0 { Vec3::ZERO } else { tangent / rate };
        let wide_axis = if a.wide_axis.dot(b.wide_axis) < 0.0 {
            a.wide_axis.lerp(-b.wide_axis, t)
        } else {
            a.wide_axis.lerp(b.wide_axis, t)
        };
        let [short2, long2] = self.section;
        let c = wide_axis.dot(d).clamp(-1.0, 1.0);
        // 1 / sqrt(u^2 c^2 + v^2 (1 - c^2))
        let radius = (short2 * c * c + long2 * (1.0 - c * c)).sqrt().recip();
        let by_c = (long2 - short2) * c * radius * radius * radius;
        let along = by_point * edge.dot(d);
        let gradient = d - along - slope * radius * by_point - (thickness * by_c / rho) * (wide_axis - c * d);
        TableNear { distance: rho - thickness * radius, gradient, s, s_slope: by_point / count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Field;
    use crate::field::conformance::scatter;
    use crate::muscle::shape::Near;
    use crate::muscle::{Axis, Profile, Profiles};
    use glam::DVec3;
    use std::sync::Arc;

    #[test]
    fn the_table_is_close_to_the_spindle() {
        let profiles = Arc::new(Profiles::new(Profile::beta(3, 3).unwrap(), Profile::beta(4, 7).unwrap()));
        for bend in [0.0f64, 1.5] {
            let at = |i: i32| {
                let u = f64::from(i) / 29.0;
                let angle = bend * (u - 0.5);
                DVec3::new(0.3 * u, 0.1 * angle.cos(), 0.05 * angle.sin())
            };
            let points: Vec<DVec3> = (0..30).map(at).collect();
            let axis = Axis::new(&points, [DVec3::Y, DVec3::new(0.0, 1.0, 0.4)], 0.0).unwrap();
            let spindle = Spindle::new(axis, profiles.clone(), 0.3, 0.6, 0.02);
            let table = SpindleTable::new(&spindle);
            let thick = table.thickest();
            let (mut count, mut worst) = (0, 0.0f32);
            for p in scatter(spindle.support(), 3000) {
                let exact = spindle.near(p.as_dvec3(), f64::from(2.0 * thick));
                let near = table.near(p, 2.0 * thick);
                let (Some(Near { distance, gradient, .. }), Some(near)) = (exact, near) else { continue };
                count += 1;
                assert!((distance as f32 - near.distance).abs() < 0.02 * thick, "{p}: {distance} {near:?}");
                if distance.abs() < 0.5 * f64::from(thick) {
                    worst = worst.max(gradient.as_vec3().distance(near.gradient));
                }
            }
            assert!(count > 300 && worst < 0.12, "{count} points, gradient off by {worst}");
        }
    }
}
