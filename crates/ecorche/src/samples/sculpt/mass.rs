//! Masses: round cones, ellipsoids, half spaces and lofts, by their distance.

use glam::{Affine3A, Mat3, Vec2, Vec3};

/// One cross-section of a [`loft`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Section {
    /// Where along the axis, metres from its beginning.
    pub at: f32,
    /// The section's middle, off the axis towards (side, out).
    pub middle: Vec2,
    /// Half the breadth, towards the sides.
    pub side: f32,
    /// Reach in the direction `out`, from the middle.
    pub out: f32,
    /// Reach against the direction `out`, from the middle.
    pub back: f32,
    /// 2 is an ellipse; higher is squarer.
    pub power: f32,
}

impl Section {
    /// An ellipse centred on the axis.
    pub fn ellipse(at: f32, side: f32, out: f32) -> Self {
        Self { at, middle: Vec2::ZERO, side, out, back: out, power: 2.0 }
    }

    /// Slices across a foot in foot coordinates, for a loft along Z: `(z, half breadth, height)`. The sections reach `back`
    /// below their middle.
    pub fn of_foot<const N: usize>(back: f32, power: f32, slices: [(f32, f32, f32); N]) -> [Self; N] {
        let middle = Vec2::new(-0.002, 0.012);
        slices.map(|(at, side, top)| Self { at, middle, side, out: top - middle.y, back, power })
    }

    /// The same section with its middle moved off the axis towards (side, out).
    pub fn moved(mut self, side: f32, out: f32) -> Self {
        self.middle = Vec2::new(side, out);
        self
    }

    fn values(&self) -> [f32; 6] {
        [self.middle.x, self.middle.y, self.side, self.out, self.back, self.power]
    }
}

/// A mass with a distance function.
#[derive(Clone, Debug, PartialEq)]
pub struct Mass(Kind);

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    RoundCone { a: Vec3, b: Vec3, ra: f32, rb: f32 },
    Ellipsoid { centre: Vec3, local_from_world: Mat3, radii: Vec3 },
    Loft(Box<Loft>),
    HalfSpace { point: Vec3, normal: Vec3, reach: f32 },
}

#[derive(Clone, Debug, PartialEq)]
struct Loft {
    start: Vec3,
    /// Rows: side, axis, out.
    local_from_world: Mat3,
    sections: Vec<Section>,
    /// Slope of each section's values along the axis, for cubic interpolation.
    slopes: Vec<[f32; 6]>,
    /// How far the rounded ends reach beyond the first and last section.
    caps: [f32; 2],
}

/// A ball swept from `a` to `b` while its radius goes from `ra` to `rb`.
pub fn bone(a: Vec3, b: Vec3, ra: f32, rb: f32) -> Mass {
    Mass(Kind::RoundCone { a, b, ra, rb })
}

/// A ball.
pub fn ball(centre: Vec3, radius: f32) -> Mass {
    bone(centre, centre, radius, radius)
}

/// An ellipsoid whose y axis points along `axis` and whose z axis lies towards `out`; `radii` are along
/// (side, axis, out).
pub fn ellipsoid(centre: Vec3, axis: Vec3, out: Vec3, radii: Vec3) -> Mass {
    Mass(Kind::Ellipsoid { centre, local_from_world: frame(axis, out).transpose(), radii })
}

/// Everything on the side of `point` that `normal` points away from; `reach` says how far around `point`
/// it matters.
pub fn half_space(point: Vec3, normal: Vec3, reach: f32) -> Mass {
    Mass(Kind::HalfSpace { point, normal: normal.normalize_or(Vec3::Y), reach })
}

/// A body of changing cross-section along a straight axis from `start`. Sections are interpolated
/// smoothly and may wander off the axis; the ends are rounded and reach `caps` further.
pub fn loft(start: Vec3, axis: Vec3, out: Vec3, sections: &[Section], caps: [f32; 2]) -> Mass {
    let count = sections.len();
    // Level at both ends, so that the rounded ends continue the body without a ridge.
    let slopes = (0..count)
        .map(|i| {
            if i == 0 || i + 1 == count {
                return [0.0; 6];
            }
            let (before, after) = (&sections[i - 1], &sections[i + 1]);
            let span = (after.at - before.at).max(1e-6);
            std::array::from_fn(|k| (after.values()[k] - before.values()[k]) / span)
        })
        .collect();
    Mass(Kind::Loft(Box::new(Loft {
        start,
        local_from_world: frame(axis, out).transpose(),
        sections: sections.to_vec(),
        slopes,
        caps,
    })))
}

/// A [`loft`] along the line from the first to the last of the given slices, each
/// (centre, half breadth, reach in direction `out`, reach against it, power as in [`Section`]).
pub fn limb(slices: &[(Vec3, f32, f32, f32, f32)], out: Vec3, caps: [f32; 2]) -> Mass {
    let (first, last) = (slices[0].0, slices[slices.len() - 1].0);
    let local_from_world = frame(last - first, out).transpose();
    let sections: Vec<Section> = slices
        .iter()
        .map(|&(centre, side, out, back, power)| {
            let q = local_from_world * (centre - first);
            Section { at: q.y, middle: Vec2::new(q.x, q.z), side, out, back, power }
        })
        .collect();
    loft(first, last - first, out, &sections, caps)
}

/// A muscle: a spindle from `a` to `b`, flat side towards `out`. `profile` lists (fraction of the way,
/// half breadth, half thickness).
pub fn muscle(a: Vec3, b: Vec3, out: Vec3, profile: &[(f32, f32, f32)]) -> Mass {
    let length = a.distance(b);
    let sections: Vec<Section> =
        profile.iter().map(|&(t, w, h)| Section::ellipse(t * length, w, h)).collect();
    let cap = |p: Option<&(f32, f32, f32)>| p.map_or(0.0, |&(_, w, h)| (w * h).sqrt());
    let caps = [cap(profile.first()), cap(profile.last())];
    loft(a, b - a, out, &sections, caps)
}

/// Columns: side, axis, out; `out` is made perpendicular to `axis`.
fn frame(axis: Vec3, out: Vec3) -> Mat3 {
    let y = axis.normalize_or(Vec3::Y);
    let z = (out - y * out.dot(y)).try_normalize().unwrap_or_else(|| y.any_orthonormal_vector());
    Mat3::from_cols(y.cross(z), y, z)
}

impl Mass {
    pub(super) fn distance(&self, p: Vec3) -> f32 {
        match &self.0 {
            Kind::RoundCone { a, b, ra, rb } => round_cone(p, *a, *b, *ra, *rb),
            Kind::Ellipsoid { centre, local_from_world, radii } => {
                let q = *local_from_world * (p - centre);
                let g = (q / *radii).length();
                let steepness = (q / (*radii * *radii)).length();
                if steepness < 1e-9 { -radii.min_element() } else { g * (g - 1.0) / steepness }
            }
            Kind::Loft(loft) => loft.distance(p),
            Kind::HalfSpace { point, normal, .. } => (p - *point).dot(*normal),
        }
    }

    /// The smallest share of the true gap that `distance` may report; flat masses underestimate.
    pub(super) fn trust(&self) -> f32 {
        match &self.0 {
            Kind::RoundCone { .. } | Kind::HalfSpace { .. } => 1.0,
            Kind::Ellipsoid { .. } | Kind::Loft(_) => 0.65,
        }
    }

    /// A box around the mass.
    pub(super) fn bounds(&self) -> (Vec3, Vec3) {
        match &self.0 {
            Kind::RoundCone { a, b, ra, rb } => ((*a - *ra).min(*b - *rb), (*a + *ra).max(*b + *rb)),
            Kind::Ellipsoid { centre, local_from_world, radii } => {
                let world = local_from_world.transpose();
                let reach = Vec3::from_array(std::array::from_fn(|k| (world.row(k) * *radii).length()));
                (*centre - reach, *centre + reach)
            }
            Kind::HalfSpace { point, reach, .. } => (*point - *reach, *point + *reach),
            Kind::Loft(loft) => {
                let world = loft.local_from_world.transpose();
                let (mut low, mut high) = (Vec3::MAX, Vec3::MIN);
                for (i, s) in loft.sections.iter().enumerate() {
                    let cap = |end: usize| if i == end { loft.caps[usize::from(end > 0)] } else { 0.0 };
                    let last = loft.sections.len() - 1;
                    // A tenth more than the section: the interpolation may overshoot between sections.
                    let side = 1.1 * s.side;
                    for (u, v) in [
                        (side, s.out * 1.1),
                        (side, -s.back * 1.1),
                        (-side, s.out * 1.1),
                        (-side, -s.back * 1.1),
                    ] {
                        for h in [
                            s.at - if i == 0 { cap(0) } else { 0.0 },
                            s.at + if i == last { loft.caps[1] } else { 0.0 },
                        ] {
                            let q = loft.start + world * Vec3::new(s.middle.x + u, h, s.middle.y + v);
                            (low, high) = (low.min(q), high.max(q));
                        }
                    }
                }
                (low, high)
            }
        }
    }
}

impl Loft {
    fn distance(&self, p: Vec3) -> f32 {
        let q = self.local_from_world * (p - self.start);
        let (first, last) = (self.sections[0].at, self.sections[self.sections.len() - 1].at);
        let at = q.y.clamp(first, last);
        let ([mu, mv, side, out, back, power], slopes) = self.section(at);
        let (u, v) = (q.x - mu, q.z - mv);
        let reach = if v > 0.0 { out } else { back };
        let (a, b) = (u.abs() / side, v.abs() / reach);
        // g is 1 on the section's outline; its gradient turns g - 1 into metres.
        let (mut g, gu, gv);
        if (power - 2.0).abs() < 1e-3 {
            g = (a * a + b * b).sqrt().max(1e-6);
            (gu, gv) = (a / (side * g), b / (reach * g));
        } else {
            let (ap, bp) = (a.max(1e-6).powf(power - 1.0), b.max(1e-6).powf(power - 1.0));
            let sum = ap * a + bp * b;
            g = sum.powf(1.0 / power).max(1e-6);
            let scale = g / sum.max(1e-12);
            (gu, gv) = (ap * scale / side, bp * scale / reach);
        }
        let beyond = q.y - at;
        if beyond == 0.0 {
            // The outline's change along the axis tilts the surface.
            // Far outside the outline's own tilt counts, not that of its enlarged image.
            let along = (gu * a * slopes[2] + gv * b * slopes[if v > 0.0 { 3 } else { 4 }]) / g.max(1.0);
            let steepness = (gu * gu + gv * gv + along * along).sqrt();
            return if steepness < 1e-6 { -side.min(reach) } else { (g - 1.0) / steepness };
        }
        let cap = self.caps[usize::from(beyond > 0.0)].max(1e-4);
        let h = beyond / cap;
        let flat = g;
        g = (flat * flat + h * h).sqrt();
        let steepness = ((gu * gu + gv * gv) * (flat / g).powi(2) + (h / (g * cap)).powi(2)).sqrt();
        (g - 1.0) / steepness.max(1e-6)
    }

    /// Interpolated section values and their slopes along the axis.
    fn section(&self, at: f32) -> ([f32; 6], [f32; 6]) {
        let next = self.sections.iter().position(|s| s.at > at).unwrap_or(self.sections.len());
        if next == 0 || next == self.sections.len() {
            let i = next.saturating_sub(1);
            return (self.sections[i].values(), [0.0; 6]);
        }
        let (a, b) = (&self.sections[next - 1], &self.sections[next]);
        let span = b.at - a.at;
        let t = (at - a.at) / span;
        let (va, vb) = (a.values(), b.values());
        let (sa, sb) = (&self.slopes[next - 1], &self.slopes[next]);
        let (h1, h2) = (t * t * (3.0 - 2.0 * t), t * (1.0 - t));
        let mut values = [0.0; 6];
        let mut slopes = [0.0; 6];
        for k in 0..6 {
            values[k] = va[k] + (vb[k] - va[k]) * h1 + span * h2 * (sa[k] * (1.0 - t) - sb[k] * t);
            slopes[k] = (vb[k] - va[k]) / span * 6.0 * h2
                + sa[k] * (1.0 - t) * (1.0 - 3.0 * t)
                + sb[k] * t * (3.0 * t - 2.0);
        }
        (values, slopes)
    }
}

/// Exact distance to a ball swept along a segment while its radius changes linearly.
fn round_cone(p: Vec3, a: Vec3, b: Vec3, ra: f32, rb: f32) -> f32 {
    let axis = b - a;
    let l2 = axis.length_squared();
    let narrowing = ra - rb;
    let slant2 = l2 - narrowing * narrowing;
    if slant2 <= 1e-12 {
        // One ball holds the other.
        return if ra >= rb { p.distance(a) - ra } else { p.distance(b) - rb };
    }
    let pa = p - a;
    let along = pa.dot(axis) / l2.sqrt();
    let across = (pa.length_squared() - along * along).max(0.0).sqrt();
    let length = l2.sqrt();
    let (sine, cosine) = (narrowing / length, slant2.sqrt() / length);
    // Foot of the perpendicular to the slanted side.
    let foot = along - across * sine / cosine;
    if foot <= 0.0 {
        pa.length() - ra
    } else if foot >= length {
        p.distance(b) - rb
    } else {
        across * cosine + along * sine - ra
    }
}

/// The mass moved by a rigid motion.
pub(super) fn placed(mass: Mass, motion: &Affine3A) -> Mass {
    let turn = Mat3::from(motion.matrix3).transpose();
    let point = |p: Vec3| motion.transform_point3(p);
    Mass(match mass.0 {
        Kind::RoundCone { a, b, ra, rb } => Kind::RoundCone { a: point(a), b: point(b), ra, rb },
        Kind::Ellipsoid { centre, local_from_world, radii } => {
            Kind::Ellipsoid { centre: point(centre), local_from_world: local_from_world * turn, radii }
        }
        Kind::HalfSpace { point: p, normal, reach } => {
            Kind::HalfSpace { point: point(p), normal: motion.transform_vector3(normal), reach }
        }
        Kind::Loft(loft) => Kind::Loft(Box::new(Loft {
            start: point(loft.start),
            local_from_world: loft.local_from_world * turn,
            ..*loft
        })),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_round_cone_is_as_far_as_its_nearest_ball() {
        let (a, b, ra, rb) = (Vec3::new(0.1, 0.0, 0.0), Vec3::new(0.3, 0.2, 0.1), 0.05, 0.02);
        for p in [Vec3::new(0.5, 0.1, 0.0), Vec3::new(0.2, 0.3, -0.1), Vec3::new(-0.2, 0.0, 0.1)] {
            let nearest = (0..=2000)
                .map(|i| i as f32 / 2000.0)
                .map(|t| p.distance(a.lerp(b, t)) - (ra + (rb - ra) * t))
                .fold(f32::MAX, f32::min);
            assert!((round_cone(p, a, b, ra, rb) - nearest).abs() < 1e-4);
        }
    }

    #[test]
    fn a_loft_passes_through_its_sections() {
        let sections = [
            Section::ellipse(0.0, 0.05, 0.04),
            Section { power: 3.0, ..Section::ellipse(0.1, 0.08, 0.05).moved(0.0, 0.01) },
            Section::ellipse(0.25, 0.03, 0.03),
        ];
        let mass = loft(Vec3::Y, Vec3::Y, Vec3::Z, &sections, [0.02, 0.02]);
        for (p, name) in [
            (Vec3::new(0.05, 1.0, 0.0), "side of the first"),
            (Vec3::new(0.08, 1.1, 0.01), "side of the second"),
            (Vec3::new(0.0, 1.1, 0.06), "front of the second"),
            (Vec3::new(0.0, 1.1, -0.04), "back of the second"),
            (Vec3::new(0.0, 1.27, 0.0), "tip of the cap"),
        ] {
            assert!(mass.distance(p).abs() < 1e-5, "{name}: {}", mass.distance(p));
        }
    }
}
