//! Two cubic Bezier curves over a line that meet smoothly at the belly's centre, and the volume inside them.

use std::f64::consts::PI;

/// Integrals over `[0, 1]` of the products of the cubic Bernstein polynomials.
const GRAM: [[f64; 4]; 4] = [
    [1.0 / 7.0, 1.0 / 14.0, 1.0 / 35.0, 1.0 / 140.0],
    [1.0 / 14.0, 3.0 / 35.0, 9.0 / 140.0, 1.0 / 35.0],
    [1.0 / 35.0, 9.0 / 140.0, 3.0 / 35.0, 1.0 / 14.0],
    [1.0 / 140.0, 1.0 / 35.0, 1.0 / 14.0, 1.0 / 7.0],
];
/// Which control points move with the belly: the last two before the centre, the first two after it.
const MOVED: [[f64; 4]; 2] = [[0.0, 0.0, 1.0, 1.0], [1.0, 1.0, 0.0, 0.0]];
/// A belly is never thinner than this share of the thicker tendon.
const THINNEST: f64 = 0.5;

/// A number along a line: two cubics, from the origin to the centre and from there to the insertion.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Curve {
    /// Share of the line at which they meet, in `(0, 1)`.
    pub centre: f64,
    /// Control points of the first; the last is the first of the second.
    pub origin: [f64; 4],
    /// Control points of the second.
    pub insertion: [f64; 4],
}

/// How the thickness at the centre follows from the volume.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rule {
    /// From the volume of the curve itself.
    #[default]
    Exact,
    /// From two truncated cones from the centre to the ends, as in the paper; to compare with. Its volume is about a fifth
    /// too small, and the true one drifts by some percent.
    TwoCones,
}

/// A curve whose volume was restored.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Solved {
    /// The curve.
    pub curve: Curve,
    /// Whether the belly would have been thinner than half the tendons, so that the volume is not kept.
    pub clamped: bool,
}

impl Curve {
    /// A curve of six free numbers: end, its handle, handle before the centre, centre, handle before the other end, other end.
    /// The handle after the centre continues the slope before it.
    pub fn new(centre: f64, [o0, o1, o2, c, i2, i3]: [f64; 6]) -> Self {
        let after = c + (c - o2) * (1.0 - centre) / centre;
        Self { centre, origin: [o0, o1, o2, c], insertion: [c, after, i2, i3] }
    }

    /// Its value at share `t` of the line, clamped to `[0, 1]`.
    pub fn at(&self, t: f64) -> f64 {
        let (points, local) = self.half(t.clamp(0.0, 1.0));
        bernstein(local).iter().zip(points).map(|(b, p)| b * p).sum()
    }

    fn half(&self, t: f64) -> (&[f64; 4], f64) {
        if t <= self.centre {
            (&self.origin, t / self.centre)
        } else {
            (&self.insertion, (t - self.centre) / (1.0 - self.centre))
        }
    }

    /// Its smallest and largest value, at 200 places.
    pub fn extremes(&self) -> [f64; 2] {
        let values = (0..=200).map(|i| self.at(f64::from(i) / 200.0));
        values.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(v), high.max(v)])
    }

    /// Integral of its square over the line.
    fn square(&self) -> f64 {
        self.centre * product(&self.origin, &self.origin)
            + (1.0 - self.centre) * product(&self.insertion, &self.insertion)
    }

    /// Volume of a muscle this thick, cubic metres: sections are ellipses whose half axes have the ratio `flatness`, on a
    /// line of `length` metres.
    pub fn volume(&self, length: f64, flatness: f64) -> f64 {
        PI * flatness * length * self.square()
    }

    /// The same by two truncated cones.
    pub fn cone_volume(&self, length: f64, flatness: f64) -> f64 {
        let (o, c, i) = (self.origin[0], self.origin[3], self.insertion[3]);
        let cone = |end: f64| c * c + end * end + c * end;
        PI * flatness * length / 3.0 * (self.centre * cone(o) + (1.0 - self.centre) * cone(i))
    }

    /// The curve with a belly so thick that the volume by `rule` is `volume` on a line of `length`. Both ends and their
    /// handles stay.
    pub fn with_volume(&self, volume: f64, length: f64, flatness: f64, rule: Rule) -> Solved {
        let target = volume / (PI * flatness * length);
        let (o, c, i) = (self.origin[0], self.origin[3], self.insertion[3]);
        let (t, u) = (self.centre, 1.0 - self.centre);
        let shift = match rule {
            Rule::Exact => {
                let quadratic = t * product(&MOVED[0], &MOVED[0]) + u * product(&MOVED[1], &MOVED[1]);
                let linear =
                    2.0 * (t * product(&MOVED[0], &self.origin) + u * product(&MOVED[1], &self.insertion));
                larger_root(quadratic, linear, self.square() - target)
            }
            Rule::TwoCones => {
                let constant = t * o * o + u * i * i - 3.0 * target;
                larger_root(1.0, t * o + u * i, constant).map(|belly| belly - c)
            }
        };
        let least = THINNEST * o.max(i) - c;
        // A rest shape may be thinner than its tendons; it must not jump.
        let least = least.min(0.0);
        let (shift, clamped) = match shift {
            Some(shift) if shift >= least => (shift, false),
            _ => (least, true),
        };
        let mut curve = *self;
        for (points, moved) in [(&mut curve.origin, MOVED[0]), (&mut curve.insertion, MOVED[1])] {
            points.iter_mut().zip(moved).for_each(|(p, m)| *p += m * shift);
        }
        Solved { curve, clamped }
    }
}

/// The cubic Bernstein polynomials.
pub(super) fn bernstein(t: f64) -> [f64; 4] {
    let u = 1.0 - t;
    [u * u * u, 3.0 * t * u * u, 3.0 * t * t * u, t * t * t]
}

fn product(a: &[f64; 4], b: &[f64; 4]) -> f64 {
    GRAM.iter().zip(a).map(|(row, a)| a * row.iter().zip(b).map(|(g, b)| g * b).sum::<f64>()).sum()
}

fn larger_root(a: f64, b: f64, c: f64) -> Option<f64> {
    let root = (b * b - 4.0 * a * c).max(0.0).sqrt();
    // Of the two forms the one that does not cancel.
    let x = if b > 0.0 { -2.0 * c / (b + root) } else { (root - b) / (2.0 * a) };
    (b * b >= 4.0 * a * c && x.is_finite()).then_some(x)
}
