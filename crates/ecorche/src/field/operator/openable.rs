//! The family of operators that open: union at one end, smooth blend at the other.
//!
//! | symbol | here | meaning |
//! |---|---|---|
//! | a, b | `a`, `b` | values joined |
//! | t | `t` | opening, `tan theta` in `[0, 1]`; 1 closed (union), 0 wide open |
//! | k_t(C) | [`Opening`] | border of the blend on the iso-line C; `0 <= k <= C`, grows with C |
//! | N | [`Silhouette`] | shape of an iso-line between the borders, a norm of `(x, y)` |
//! | C | value | root of `N(a - k(C), b - k(C)) = C - k(C)` |
//!
//! Where `a <= k(b)` the result is b, where `b <= k(a)` it is a, and between these borders C. The root is
//! unique for the circle: the left side falls and the right side grows with C. By the implicit function
//! theorem, with `N_x, N_y` the slopes of N and `D = 1 + k' (N_x + N_y - 1)`,
//!
//! `g_a = N_x / D`, `g_b = N_y / D`, `g_t = dk/dt (1 - N_x - N_y) / D`.
//!
//! Based on: Gourmel et al. A Gradient-Based Implicit Blend. 2013; Vaillant et al. Implicit Skinning. 2012.
//! Differs in: the case of `k` is decided by C, not by a and b, which leaves no gap in the values; the bulge
//! is a norm given by its profile in Cartesian form, reconstructed from the description;
//! [`Opening::CleanBounded`] is our own.

use super::Composed;

/// The border `k_t(C)` of the blended region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// `t C`. Values exceed 1 inside.
    Line,
    /// `t C` up to 0.5, then straight to 0.7, then `C`: the plain union deep inside, so values stay below 1.
    /// The length of the gradient jumps at 0.5.
    Diamond,
    /// `2 t C^2` up to 0.5, then `t/2`: closed, it is sharp only on the surface. Values exceed 1 inside.
    CleanOpen,
    /// As [`Opening::CleanOpen`] up to 0.5, then `t/2 + (1 - t/2)(2 C - 1)^2`: values stay below 1.
    CleanBounded,
}

/// Where the diamond's border reaches the diagonal; 0.5 and 0.7 are the published numbers.
const DIAMOND_TIP: f64 = 0.7;

/// `k`, its slope by C, its slope by t.
struct Border {
    k: f64,
    by_c: f64,
    by_t: f64,
}

impl Opening {
    fn border(self, c: f64, t: f64) -> Border {
        match self {
            Self::Line => Border { k: t * c, by_c: t, by_t: c },
            Self::Diamond if c <= 0.5 => Border { k: t * c, by_c: t, by_t: c },
            Self::Diamond if c < DIAMOND_TIP => {
                let (slope, start) = diamond_upper(t);
                Border { k: slope * c + start, by_c: slope, by_t: 1.75 - 2.5 * c }
            }
            Self::Diamond => Border { k: c, by_c: 1.0, by_t: 0.0 },
            Self::CleanOpen | Self::CleanBounded if c <= 0.5 => {
                Border { k: 2.0 * t * c * c, by_c: 4.0 * t * c, by_t: 2.0 * c * c }
            }
            Self::CleanOpen => Border { k: 0.5 * t, by_c: 0.0, by_t: 0.5 },
            Self::CleanBounded => {
                let (rest, along) = (1.0 - 0.5 * t, 2.0 * c - 1.0);
                let square = along * along;
                Border { k: 0.5 * t + rest * square, by_c: 4.0 * rest * along, by_t: 0.5 * (1.0 - square) }
            }
        }
    }

    /// The C whose border is at `k`; infinite when the border never gets there.
    fn inverse(self, k: f64, t: f64) -> f64 {
        match self {
            Self::Line => k / t,
            Self::Diamond if k <= 0.5 * t => k / t,
            Self::Diamond if k < DIAMOND_TIP => {
                let (slope, start) = diamond_upper(t);
                (k - start) / slope
            }
            Self::Diamond => k,
            Self::CleanOpen | Self::CleanBounded if k <= 0.5 * t => (k / (2.0 * t)).sqrt(),
            Self::CleanOpen => f64::INFINITY,
            Self::CleanBounded => 0.5 * (1.0 + ((k - 0.5 * t) / (1.0 - 0.5 * t)).sqrt()),
        }
    }

    /// The straight piece `k = m C + q` around C and the range of C it holds in, if the border is straight.
    fn straight(self, upper: bool, t: f64) -> Option<(f64, f64, [f64; 2])> {
        match self {
            Self::Line => Some((t, 0.0, [0.0, f64::INFINITY])),
            Self::Diamond if upper => {
                let (m, q) = diamond_upper(t);
                Some((m, q, [0.5, DIAMOND_TIP]))
            }
            Self::Diamond => Some((t, 0.0, [0.0, 0.5])),
            Self::CleanOpen | Self::CleanBounded => None,
        }
    }
}

/// Slope and start of the diamond's border between 0.5 and its tip.
fn diamond_upper(t: f64) -> (f64, f64) {
    (0.5 * (7.0 - 5.0 * t), 1.75 * (t - 1.0))
}

/// The shape of the iso-lines between the borders.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Silhouette {
    /// A quarter circle: a round blend.
    Circle,
    /// Dips below the union beside the diagonal and comes back to the corner on it, see [`profile`].
    Bulge {
        /// m in `[0, 1)`: 0 is the union; the dip is 0.206 m deep.
        depth: f64,
    },
}

/// Norm, and its slopes along the larger and the smaller coordinate.
struct Norm {
    value: f64,
    by_major: f64,
    by_minor: f64,
}

impl Silhouette {
    /// For `major >= minor >= 0`.
    fn norm(self, major: f64, minor: f64) -> Norm {
        match self {
            Self::Circle => {
                let value = major.hypot(minor);
                let scale = 1.0 / value.max(f64::MIN_POSITIVE);
                Norm { value, by_major: major * scale, by_minor: minor * scale }
            }
            Self::Bulge { depth } => {
                let x = profile_at(minor / major.max(f64::MIN_POSITIVE), depth);
                let (y, slope) = profile(x, depth);
                // The iso-line is the curve (y(x), x): its normal is (1, -y'), and N is homogeneous.
                let scale = 1.0 / (y - x * slope);
                Norm { value: major / y, by_major: scale, by_minor: -slope * scale }
            }
        }
    }
}

/// The bulge's iso-line `y(x) = 1 - m exp(1 - 1/x)(1 - x)` for x in `[0, 1]`, with its slope; mirrored on the
/// diagonal. Lowest at x = 0.618.
pub fn profile(x: f64, depth: f64) -> (f64, f64) {
    // Below this the exponential is zero, and the quotient would be 0/0.
    if x < 1e-3 {
        return (1.0, 0.0);
    }
    let e = depth * (1.0 - 1.0 / x).exp();
    (1.0 - e * (1.0 - x), -e * ((1.0 - x) / (x * x) - 1.0))
}

/// The x at which the ray of the given slope (smaller over larger coordinate) meets the profile.
fn profile_at(ratio: f64, depth: f64) -> f64 {
    if ratio >= 1.0 {
        return 1.0;
    }
    root(0.0, ratio.max(0.0), ratio, |x| {
        let (y, slope) = profile(x, depth);
        (ratio * y - x, ratio * slope - 1.0)
    })
}

/// The root of a falling function in `[low, high]` by Newton's method, halving where it would leave the
/// bracket.
fn root(mut low: f64, mut high: f64, start: f64, function: impl Fn(f64) -> (f64, f64)) -> f64 {
    let mut x = start;
    for _ in 0..100 {
        let (value, slope) = function(x);
        if value == 0.0 {
            return x;
        }
        if value > 0.0 {
            low = x;
        } else {
            high = x;
        }
        let newton = x - value / slope;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - x).abs() <= 1e-16 {
            return next;
        }
        x = next;
    }
    x
}

/// Composes two values; `t` is clamped to `[0, 1]`.
pub(crate) fn compose(opening: Opening, silhouette: Silhouette, a: f64, b: f64, t: f64) -> Composed {
    let t = t.clamp(0.0, 1.0);
    let (major, minor) = if a >= b { (a, b) } else { (b, a) };
    // The second bound keeps squares from underflowing; such values are outside every field.
    if minor <= opening.border(major, t).k || minor < 1e-100 {
        return Composed::larger(a, b);
    }
    let excess = |c: f64| {
        let Border { k, by_c, .. } = opening.border(c, t);
        let n = silhouette.norm(major - k, (minor - k).max(0.0));
        (n.value - (c - k), -1.0 + by_c * (1.0 - n.by_major - n.by_minor))
    };
    let (low, high) = (major, opening.inverse(minor, t).min(a + b).max(major));
    let closed = if silhouette == Silhouette::Circle {
        let upper = opening == Opening::Diamond && (low > 0.5 || (high > 0.5 && excess(0.5).0 > 0.0));
        opening.straight(upper, t).and_then(|piece| straight_root(piece, a, b, [low, high]))
    } else {
        None
    };
    let value = closed.unwrap_or_else(|| root(low, high, low, excess));
    let Border { k, by_c, by_t } = opening.border(value, t);
    let n = silhouette.norm(major - k, (minor - k).max(0.0));
    let sum = n.by_major + n.by_minor - 1.0;
    let d = 1.0 + by_c * sum;
    let (by_major, by_minor, dopening) = (n.by_major / d, n.by_minor / d, -by_t * sum / d);
    let (da, db) = if a >= b { (by_major, by_minor) } else { (by_minor, by_major) };
    Composed { value, da, db, dopening }
}

/// The circle on a straight border is a quadratic in C:
/// `(2 m^2 - (1-m)^2) C^2 + 2 ((1-m) q - m (a + b - 2 q)) C + (a-q)^2 + (b-q)^2 - q^2 = 0`.
fn straight_root((m, q, piece): (f64, f64, [f64; 2]), a: f64, b: f64, bracket: [f64; 2]) -> Option<f64> {
    let rest = 1.0 - m;
    let square = 2.0 * m * m - rest * rest;
    let half = rest * q - m * (a + b - 2.0 * q);
    let constant = (a - q) * (a - q) + (b - q) * (b - q) - q * q;
    let discriminant = (half * half - square * constant).max(0.0);
    // The form without cancellation; one of the two survives a leading coefficient of zero.
    let sum = -(half + discriminant.sqrt().copysign(half));
    let inside = |c: &f64| *c >= bracket[0].max(piece[0]) - 1e-12 && *c <= bracket[1].min(piece[1]) + 1e-12;
    [sum / square, constant / sum].into_iter().find(inside)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::conformance::{golden, numbers};

    const OPENINGS: [(Opening, &str); 4] = [
        (Opening::Line, "line"),
        (Opening::Diamond, "diamond"),
        (Opening::CleanOpen, "clean_open"),
        (Opening::CleanBounded, "clean_bounded"),
    ];

    #[test]
    fn reference_values() {
        let golden = &golden()["operators"];
        let (a, b, t) = (numbers(&golden["a"]), numbers(&golden["b"]), numbers(&golden["opening"]));
        for (opening, name) in OPENINGS {
            for (silhouette, suffix) in
                [(Silhouette::Circle, "circle"), (Silhouette::Bulge { depth: 0.3 }, "bulge0.3")]
            {
                let expected = &golden[format!("{name}_{suffix}")];
                let column = |key: &str| numbers(&expected[key]);
                let (g, da, db, dt) = (column("g"), column("da"), column("db"), column("dopening"));
                for i in 0..a.len() {
                    let c = compose(opening, silhouette, a[i], b[i], t[i]);
                    // Equal values on a closed joint: the reference follows the second, we the first.
                    let tie = a[i] == b[i] && c.da == 1.0;
                    let got =
                        if tie { [c.value, da[i], db[i], dt[i]] } else { [c.value, c.da, c.db, c.dopening] };
                    for (got, expected) in got.into_iter().zip([g[i], da[i], db[i], dt[i]]) {
                        assert!((got - expected).abs() < 1e-9, "{name} {suffix} {i}: {c:?} not {expected}");
                    }
                }
            }
        }
    }

    #[test]
    fn the_closed_form_is_the_root() {
        for (opening, _) in &OPENINGS[..2] {
            for i in 0..2000u32 {
                let part = |k: u32| f64::from(i.wrapping_mul(k) % 1009) / 1009.0;
                let (a, b, t) = (part(7), part(101), part(577));
                let c = compose(*opening, Silhouette::Circle, a, b, t);
                if c.da * c.db == 0.0 {
                    continue;
                }
                let k = opening.border(c.value, t).k;
                let error = (a - k).hypot(b - k) - (c.value - k);
                assert!(error.abs() < 1e-12, "{opening:?} {a} {b} {t}: {error:e}");
            }
        }
    }

    #[test]
    fn no_gap_where_the_diamond_changes_piece() {
        let at = |a| compose(Opening::Diamond, Silhouette::Circle, a, 0.45, 0.0).value;
        assert!((at(0.5) - 0.5709).abs() < 1e-4);
        assert!((at(0.5) - at(0.500_000_1)).abs() < 1e-6);
    }

    #[test]
    fn borders_and_their_inverses_agree() {
        for (opening, name) in OPENINGS {
            for c in [0.05, 0.3, 0.5, 0.55, 0.65] {
                let t = 0.6;
                let k = opening.border(c, t).k;
                assert!(k >= 0.0 && k <= c);
                if opening == Opening::CleanOpen && c >= 0.5 {
                    continue;
                }
                assert!((opening.inverse(k, t) - c).abs() < 1e-12, "{name} at {c}");
            }
        }
    }

    #[test]
    fn the_bulge_dips_beside_the_diagonal() {
        let (lowest, slope) = profile(0.618_034, 0.3);
        assert!((lowest - (1.0 - 0.3 * 0.206)).abs() < 1e-3 && slope.abs() < 1e-5);
        assert_eq!((profile(0.0, 0.3).0, profile(1.0, 0.3).0), (1.0, 1.0));
    }
}
