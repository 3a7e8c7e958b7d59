//! Text on pictures, in the program's own stroke font.

use super::{Colour, Picture, draw, font};
use glam::Vec2;

/// How text looks.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Style {
    /// Pixels; small letters are half of it high. Even sizes are sharpest.
    pub size: f32,
    /// Its colour.
    pub colour: Colour,
    /// Whether strokes are half as thick again.
    pub bold: bool,
}

impl Style {
    /// Dark text of a size in pixels.
    pub fn new(size: f32) -> Self {
        Self { size, colour: Colour::hex(draw::INK), bold: false }
    }

    /// Secondary text.
    pub fn faint(size: f32) -> Self {
        Self { colour: Colour::hex(draw::FAINT_INK), ..Self::new(size) }
    }

    /// Thicker.
    pub fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    fn stroke_width(&self) -> f32 {
        self.size / font::UNITS * if self.bold { 2.5 } else { 1.75 }
    }
}

/// Which point of the text is placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Align {
    /// Its left end.
    #[default]
    Left,
    /// Its middle.
    Middle,
    /// Its right end.
    Right,
}

/// Width in pixels of a line of text.
pub fn width(text: &str, size: f32) -> f32 {
    let units: f32 = text.chars().map(|c| font::glyph(c).0 + font::SPACING).sum();
    (units - font::SPACING).max(0.0) * size / font::UNITS
}

/// The text, shortened with an ellipsis so that it is at most `limit` pixels wide.
pub fn fit(text: &str, size: f32, limit: f32) -> String {
    if width(text, size) <= limit {
        return text.to_owned();
    }
    let mut kept: Vec<char> = text.chars().collect();
    while kept.pop().is_some() {
        let shorter: String = kept.iter().chain(&['…']).collect();
        if width(&shorter, size) <= limit {
            return shorter;
        }
    }
    String::new()
}

/// Writes a line of text with its baseline at `at` (pixels from the top left corner). It reaches 0.75
/// of its size above the baseline and a quarter below.
pub fn write(picture: &mut Picture, at: Vec2, text: &str, align: Align, style: &Style) {
    let scale = style.size / font::UNITS;
    let start = match align {
        Align::Left => at.x,
        Align::Middle => at.x - 0.5 * width(text, style.size),
        Align::Right => at.x - width(text, style.size),
    };
    // The baseline on the middle of a row of pixels keeps level strokes sharp.
    let baseline = (at.y as i32) as f32 + 0.5;
    let mut pen = start;
    let mut segments = Vec::new();
    let mut dots = Vec::new();
    for character in text.chars() {
        let (glyph_width, strokes) = font::glyph(character);
        for stroke in strokes.split(' ').filter(|s| !s.is_empty()) {
            let place = |p: Vec2| Vec2::new(pen + p.x * scale, baseline - (p.y - font::BASELINE) * scale);
            let points = flatten(stroke);
            match points[..] {
                [dot] => dots.push([place(dot); 2]),
                _ => segments.extend(points.windows(2).map(|p| [place(p[0]), place(p[1])])),
            }
        }
        pen += (glyph_width + font::SPACING) * scale;
    }
    draw::strokes(picture, &segments, style.stroke_width(), style.colour);
    draw::strokes(picture, &dots, 1.35 * style.stroke_width(), style.colour);
}

/// Points of a stroke with its curves cut into straight pieces.
fn flatten(stroke: &str) -> Vec<Vec2> {
    let mut points: Vec<Vec2> = Vec::new();
    let mut pull: Option<Vec2> = None;
    let mut letters = stroke.chars();
    while let Some(letter) = letters.next() {
        let is_pull = letter == '~';
        let across = if is_pull { letters.next() } else { Some(letter) };
        let number = |c: Option<char>| c.and_then(|c| c.to_digit(36)).unwrap_or(0) as f32;
        let point = Vec2::new(number(across), number(letters.next()));
        if is_pull {
            pull = Some(point);
            continue;
        }
        match (pull.take(), points.last().copied()) {
            (Some(corner), Some(from)) => {
                const PIECES: usize = 6;
                for i in 1..=PIECES {
                    let t = i as f32 / PIECES as f32;
                    points.push(from.lerp(corner, t).lerp(corner.lerp(point, t), t));
                }
            }
            _ => points.push(point),
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_leaves_ink_and_stays_in_its_box() {
        for (size, text) in [(12.0, "Biceps brachii, 12.5 mm"), (16.0, "gjpqy@{}|ÉAW_"), (15.0, "45° × 3")]
        {
            let mut picture = Picture::new(400, 60, Colour::WHITE);
            write(&mut picture, Vec2::new(20.0, 30.0), text, Align::Left, &Style::new(size));
            let end = 20.0 + width(text, size);
            let mut inked = 0;
            for y in 0..60 {
                for x in 0..400 {
                    if picture.pixel(x, y)[1] < 250 {
                        inked += 1;
                        assert!(x as f32 >= 18.0 && x as f32 <= end + 2.0, "{text} {x}");
                        assert!(y as f32 >= 28.0 - size && y as f32 <= 32.0 + 0.25 * size, "{text} {y}");
                    }
                }
            }
            assert!(inked > 50, "{text}");
        }
    }

    #[test]
    fn alignment_moves_the_text_by_its_width() {
        let ends = |align: Align| {
            let mut picture = Picture::new(200, 40, Colour::WHITE);
            write(&mut picture, Vec2::new(100.0, 25.0), "HH", align, &Style::new(16.0));
            let dark = |x: &usize| (0..40).any(|y| picture.pixel(*x, y)[0] < 128);
            ((0..200).find(dark).unwrap(), (0..200).rfind(dark).unwrap())
        };
        assert!(ends(Align::Left).0 >= 99);
        assert!(ends(Align::Right).1 <= 101);
        let (first, last) = ends(Align::Middle);
        assert!((first as i32 + last as i32 - 200).abs() <= 2);
    }

    #[test]
    fn long_text_is_shortened_to_fit() {
        let short = fit("a very long caption indeed", 14.0, 80.0);
        assert!(short.ends_with('…') && width(&short, 14.0) <= 80.0);
        assert_eq!(fit("short", 14.0, 80.0), "short");
        assert_eq!(fit("none", 14.0, 1.0), "");
    }
}
