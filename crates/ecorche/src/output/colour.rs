//! Colours in linear light, their 8-bit form, and maps from numbers to colours.
//!
//! Everything here uses only the arithmetic that IEEE 754 fixes to the last bit (no `powf`, no
//! trigonometry), so that a picture has the same bytes on every machine.
//!
//! The colour maps are built, not tabulated: a smooth curve through the a-b plane of Oklab while the
//! lightness moves on a straight line, cut back to what a display can show.
//!
//! Based on: Ottosson. A perceptual color space for image processing. 2020 (the Oklab matrices).

use glam::Vec3;
use std::sync::LazyLock;

/// A colour in linear light, sRGB primaries, 0 to 1 per channel when it can be shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Colour(pub Vec3);

impl Colour {
    /// Black.
    pub const BLACK: Colour = Colour(Vec3::ZERO);
    /// White.
    pub const WHITE: Colour = Colour(Vec3::ONE);

    /// From the usual six hexadecimal digits: `Colour::hex(0xC8A08A)`.
    pub fn hex(rgb: u32) -> Self {
        Self::from_bytes([(rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8])
    }

    /// From 8-bit sRGB.
    pub fn from_bytes(rgb: [u8; 3]) -> Self {
        Colour(Vec3::from_array(rgb.map(|byte| DECODED[byte as usize])))
    }

    /// To 8-bit sRGB, clamped; a channel that is not a number becomes 0.
    pub fn to_bytes(self) -> [u8; 3] {
        self.0.to_array().map(|x| {
            // The square root makes the curve nearly straight, so that 2048 steps are finer than a byte.
            let at = (x.clamp(0.0, 1.0).sqrt() * (ENCODE_STEPS - 1) as f32 + 0.5) as usize;
            ENCODED[at.min(ENCODE_STEPS - 1)]
        })
    }

    /// From Oklab lightness (0 to 1) and its two opponent axes. May lie outside the display's gamut.
    fn from_oklab(lightness: f32, a: f32, b: f32) -> Self {
        let cube = |x: f32| x * x * x;
        let l = cube(lightness + 0.396_337_78 * a + 0.215_803_76 * b);
        let m = cube(lightness - 0.105_561_346 * a - 0.063_854_17 * b);
        let s = cube(lightness - 0.089_484_18 * a - 1.291_485_5 * b);
        Colour(Vec3::new(
            4.076_741_7 * l - 3.307_711_6 * m + 0.230_969_94 * s,
            -1.268_438 * l + 2.609_757_4 * m - 0.341_319_4 * s,
            -0.004_196_086_3 * l - 0.703_418_6 * m + 1.707_614_7 * s,
        ))
    }

    /// Relative luminance, 0 to 1.
    pub fn luminance(self) -> f32 {
        self.0.dot(Vec3::new(0.2126, 0.7152, 0.0722))
    }

    /// Straight mix in linear light; `t` = 1 gives `other`.
    pub fn mix(self, other: Colour, t: f32) -> Colour {
        Colour(self.0 + (other.0 - self.0) * t)
    }

    fn in_gamut(self) -> bool {
        self.0.min_element() >= 0.0 && self.0.max_element() <= 1.0
    }
}

/// How a number becomes a colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ColourMap {
    /// Dark violet over teal to pale yellow, evenly lighter: for quantities that start at zero.
    #[default]
    Sequential,
    /// Blue over light grey to red, evenly darker to both sides: for quantities with a meaningful middle.
    Diverging,
}

/// What a value that is not a number looks like.
pub const NO_VALUE: Colour = Colour(Vec3::splat(0.18));

const MAP_STEPS: usize = 256;

impl ColourMap {
    /// The colour at `t` in 0 to 1; clamped outside, grey for NaN.
    pub fn at(self, t: f32) -> Colour {
        if t.is_nan() {
            return NO_VALUE;
        }
        let table = match self {
            ColourMap::Sequential => &*SEQUENTIAL,
            ColourMap::Diverging => &*DIVERGING,
        };
        let x = t.clamp(0.0, 1.0) * (MAP_STEPS - 1) as f32;
        let step = (x as usize).min(MAP_STEPS - 2);
        table[step].mix(table[step + 1], x - step as f32)
    }
}

/// The `i`-th of a series of clearly different colours of similar weight, for lines and labels.
pub fn categorical(i: usize) -> Colour {
    // Oklab (lightness, a, b): the hues are spread so that neighbours in the list differ most, and the
    // lightness alternates, so that the first five stay apart in grey and for colour-blind readers.
    const LIST: [[f32; 3]; 8] = [
        [0.52, -0.030, -0.120],
        [0.62, 0.125, 0.090],
        [0.60, -0.095, 0.045],
        [0.48, 0.105, -0.070],
        [0.74, 0.020, 0.130],
        [0.68, -0.075, -0.055],
        [0.45, 0.055, 0.045],
        [0.66, 0.130, -0.020],
    ];
    let [lightness, a, b] = LIST[i % LIST.len()];
    let darker = 0.12 * (i / LIST.len() % 3) as f32;
    cut_to_gamut(lightness - darker, a, b)
}

/// Bends the a-b curve of a map: a cubic Bezier curve with these four control points.
fn bezier(points: [[f32; 2]; 4], t: f32) -> [f32; 2] {
    let s = 1.0 - t;
    let weights = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
    let sum = |k: usize| (0..4).map(|i| weights[i] * points[i][k]).sum();
    [sum(0), sum(1)]
}

/// The colour of this lightness and hue with as much of the chroma as the display has.
fn cut_to_gamut(lightness: f32, a: f32, b: f32) -> Colour {
    let (mut low, mut high) = (0.0, 1.0);
    if Colour::from_oklab(lightness, a, b).in_gamut() {
        return Colour::from_oklab(lightness, a, b);
    }
    for _ in 0..24 {
        let middle = 0.5 * (low + high);
        if Colour::from_oklab(lightness, a * middle, b * middle).in_gamut() {
            low = middle;
        } else {
            high = middle;
        }
    }
    Colour::from_oklab(lightness, a * low, b * low)
}

static SEQUENTIAL: LazyLock<Vec<Colour>> = LazyLock::new(|| {
    let curve = [[0.075, -0.115], [-0.085, -0.175], [-0.205, 0.085], [-0.035, 0.165]];
    (0..MAP_STEPS)
        .map(|i| {
            let t = i as f32 / (MAP_STEPS - 1) as f32;
            let [a, b] = bezier(curve, t);
            cut_to_gamut(0.27 + 0.65 * t, a, b)
        })
        .collect()
});

static DIVERGING: LazyLock<Vec<Colour>> = LazyLock::new(|| {
    let cold = [[0.0, 0.0], [-0.045, -0.060], [-0.045, -0.150], [0.005, -0.170]];
    let warm = [[0.0, 0.0], [0.075, 0.055], [0.165, 0.105], [0.165, 0.065]];
    (0..MAP_STEPS)
        .map(|i| {
            let t = 2.0 * i as f32 / (MAP_STEPS - 1) as f32 - 1.0;
            let [a, b] = bezier(if t < 0.0 { cold } else { warm }, t.abs());
            cut_to_gamut(0.93 - 0.52 * t.abs(), a, b)
        })
        .collect()
});

const ENCODE_STEPS: usize = 2048;

static ENCODED: LazyLock<Vec<u8>> = LazyLock::new(|| {
    (0..ENCODE_STEPS)
        .map(|i| {
            let root = i as f32 / (ENCODE_STEPS - 1) as f32;
            (encode(root * root) * 255.0 + 0.5) as u8
        })
        .collect()
});

static DECODED: LazyLock<Vec<f32>> = LazyLock::new(|| (0..256).map(|i| decode(i as f32 / 255.0)).collect());

/// The sRGB curve: linear light to display value.
fn encode(x: f32) -> f32 {
    if x <= 0.003_130_8 {
        return 12.92 * x;
    }
    // x^(5/12) = x^(1/3) * (x^(1/3))^(1/4)
    let root = cube_root(x);
    1.055 * root * root.sqrt().sqrt() - 0.055
}

fn decode(x: f32) -> f32 {
    if x <= 0.040_45 {
        return x / 12.92;
    }
    // y^2.4 = y^2 * (y^(1/5))^2, the fifth root by Newton's method.
    let y = (f64::from(x) + 0.055) / 1.055;
    let mut root: f64 = 1.0;
    for _ in 0..40 {
        root -= (root.powi(5) - y) / (5.0 * root.powi(4));
    }
    (y * y * root * root) as f32
}

/// Cube root of a positive number by Newton's method.
fn cube_root(x: f32) -> f32 {
    let x = f64::from(x);
    let mut root = 0.5 + 0.5 * x;
    for _ in 0..24 {
        root -= (root * root * root - x) / (3.0 * root * root);
    }
    root as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// CIE L*, 0 to 100: how light the colour looks.
    fn lightness(colour: Colour) -> f32 {
        let y = colour.luminance().max(0.0);
        if y > 0.008_856_452 { 116.0 * cube_root(y) - 16.0 } else { 903.296_3 * y }
    }

    #[test]
    fn bytes_survive_the_way_to_linear_light_and_back() {
        for byte in 0..=255u8 {
            assert_eq!(Colour::from_bytes([byte; 3]).to_bytes(), [byte; 3]);
        }
        assert_eq!(Colour(Vec3::new(f32::NAN, -1.0, 7.0)).to_bytes(), [0, 0, 255]);
    }

    #[test]
    fn the_sequential_map_grows_lighter_evenly() {
        let lightness: Vec<f32> =
            (0..=100).map(|i| lightness(ColourMap::Sequential.at(i as f32 / 100.0))).collect();
        for pair in lightness.windows(2) {
            assert!(pair[1] - pair[0] > 0.3 && pair[1] - pair[0] < 1.2, "{pair:?}");
        }
    }

    #[test]
    fn the_diverging_map_is_lightest_in_the_middle_and_balanced() {
        let at = |t: f32| lightness(ColourMap::Diverging.at(t));
        for i in 0..50 {
            let t = i as f32 / 100.0;
            assert!(at(t + 0.01) > at(t));
            assert!(at(1.0 - t - 0.01) > at(1.0 - t));
            assert!((at(t) - at(1.0 - t)).abs() < 6.0, "{t}: {} {}", at(t), at(1.0 - t));
        }
    }

    #[test]
    fn values_outside_the_range_or_not_a_number_have_a_colour() {
        assert_eq!(ColourMap::Sequential.at(-3.0), ColourMap::Sequential.at(0.0));
        assert_eq!(ColourMap::Sequential.at(f32::INFINITY), ColourMap::Sequential.at(1.0));
        assert_eq!(ColourMap::Diverging.at(f32::NAN), NO_VALUE);
    }

    #[test]
    fn categorical_colours_differ_and_can_be_shown() {
        for i in 0..8 {
            assert!(categorical(i).in_gamut());
            for j in 0..i {
                assert!(categorical(i).0.distance(categorical(j).0) > 0.08, "{i} {j}");
            }
        }
    }
}
