//! Ticks at round numbers, and the bar that explains a colour map.

use super::{Colour, ColourMap, Picture, draw, text};
use glam::Vec2;
use text::{Align, Style};

/// Round values between `low` and `high`, about `count` of them, and their distance: 1, 2 or 5 times a
/// power of ten. Empty when the range is empty or not finite.
pub(crate) fn ticks(low: f32, high: f32, count: usize) -> (Vec<f32>, f32) {
    let (low, high) = (f64::from(low), f64::from(high));
    let span = high - low;
    if !(span > 0.0 && span.is_finite()) {
        return (Vec::new(), 0.0);
    }
    let wanted = span / count.max(1) as f64;
    let mut power = 1.0;
    while power > wanted {
        power /= 10.0;
    }
    while power * 10.0 <= wanted {
        power *= 10.0;
    }
    let step = [1.0, 2.0, 5.0, 10.0].map(|m| m * power).into_iter().find(|s| *s >= 0.999 * wanted);
    let step = step.unwrap_or(10.0 * power);
    let slack = 1e-6 * span;
    let first = ((low - slack) / step).ceil() as i64;
    let last = ((high + slack) / step).floor() as i64;
    ((first..=last).map(|i| (i as f64 * step) as f32).collect(), step as f32)
}

/// A tick's value with as many digits as its distance to the next needs.
pub(crate) fn tick_label(value: f32, step: f32) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if value.abs() >= 99_999.5 || step < 0.000_9 {
        return format!("{value:.1e}").replace(".0e", "e");
    }
    let mut decimals = 0;
    let mut unit = 1.0;
    while unit > 1.01 * step && decimals < 6 {
        unit /= 10.0;
        decimals += 1;
    }
    format!("{value:.decimals$}")
}

/// What the colours of a quantity mean.
#[derive(Clone, Debug, PartialEq)]
pub struct Legend {
    /// Name of the quantity.
    pub name: String,
    /// Its unit; empty for a plain number.
    pub unit: String,
    /// Values at the ends of the map.
    pub range: [f32; 2],
    /// The map.
    pub map: ColourMap,
    /// Whether values below the range occur: the bar then ends in a point.
    pub below: bool,
    /// Whether values above the range occur.
    pub above: bool,
}

impl Legend {
    /// A legend for these values, which says whether some lie outside the range.
    pub fn new(name: &str, unit: &str, range: [f32; 2], map: ColourMap, values: &[f32]) -> Self {
        let below = values.iter().any(|v| *v < range[0]);
        let above = values.iter().any(|v| *v > range[1]);
        Self { name: name.to_owned(), unit: unit.to_owned(), range, map, below, above }
    }

    /// Pixels it needs from top to bottom.
    pub(crate) const HEIGHT: usize = 56;

    /// Draws it between two columns, from row `top` on.
    pub fn draw(&self, picture: &mut Picture, left: f32, right: f32, top: f32) {
        let title =
            if self.unit.is_empty() { self.name.clone() } else { format!("{} [{}]", self.name, self.unit) };
        let title = text::fit(&title, 14.0, right - left);
        text::write(picture, Vec2::new(left, top + 12.0), &title, Align::Left, &Style::new(14.0));
        let (low, high) = (top + 20.0, top + 32.0);
        const POINT: f32 = 9.0;
        let (bar_left, bar_right) = (left + POINT, right - POINT);
        for x in left as i32..right as i32 {
            let at = x as f32 + 0.5;
            let t = (at - bar_left) / (bar_right - bar_left);
            // The two ends narrow to a point where values were cut off, and are left out where none were.
            let inset = if t < 0.0 { (bar_left - at) / POINT } else { ((at - bar_right) / POINT).max(0.0) };
            let drawn = (0.0..=1.0).contains(&t) || (t < 0.0 && self.below) || (t > 1.0 && self.above);
            if drawn {
                let cut = inset * 0.5 * (high - low);
                let (x, colour) = (x as f32, self.map.at(t));
                draw::rectangle(
                    picture,
                    Vec2::new(x, low + cut),
                    Vec2::new(x + 1.0, high - cut),
                    colour,
                    1.0,
                );
            }
        }
        let count = ((right - left) / 70.0).clamp(2.0, 8.0) as usize;
        let (values, step) = ticks(self.range[0], self.range[1], count);
        for value in values {
            let t = (value - self.range[0]) / (self.range[1] - self.range[0]);
            let x = bar_left + t * (bar_right - bar_left);
            let ink = Colour::hex(draw::FAINT_INK);
            draw::strokes(picture, &[[Vec2::new(x, high + 1.0), Vec2::new(x, high + 5.0)]], 1.0, ink);
            let label = tick_label(value, step);
            text::write(picture, Vec2::new(x, high + 17.0), &label, Align::Middle, &Style::faint(12.0));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_inside_and_about_as_many_as_asked() {
        for (low, high) in [(0.0, 1.0), (-0.37, 12.4), (0.0021, 0.0037), (-5e4, 2e5), (3.0, 3.02)] {
            let (values, step) = ticks(low, high, 5);
            assert!((2..=7).contains(&values.len()), "{low} {high} {values:?}");
            let digits = format!("{step:e}");
            assert!(digits.starts_with(['1', '2', '5']) || digits.starts_with("9.99"), "{digits}");
            assert!(values.iter().all(|v| *v >= low - 1e-3 * step && *v <= high + 1e-3 * step));
        }
        assert!(ticks(1.0, 1.0, 5).0.is_empty());
        assert!(ticks(f32::NAN, 1.0, 5).0.is_empty());
    }

    #[test]
    fn labels_have_the_digits_they_need() {
        assert_eq!(tick_label(0.25, 0.05), "0.25");
        assert_eq!(tick_label(120.0, 20.0), "120");
        assert_eq!(tick_label(-1.5, 0.5), "-1.5");
        assert_eq!(tick_label(2e-5, 1e-5), "2e-5");
        assert_eq!(tick_label(0.0, 0.1), "0");
    }

    #[test]
    fn a_legend_marks_the_end_that_is_cut_off() {
        let legend = Legend::new("stretch", "%", [0.0, 1.0], ColourMap::Sequential, &[0.5, 1.2]);
        assert!(legend.above && !legend.below);
        let mut picture = Picture::new(240, 60, Colour::WHITE);
        legend.draw(&mut picture, 10.0, 230.0, 2.0);
        assert_ne!(picture.pixel(224, 28), [255; 3]);
        assert_eq!(picture.pixel(13, 28), [255; 3]);
    }
}
