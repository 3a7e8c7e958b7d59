//! Smooth lines, discs and rectangles on a picture.

use super::{Colour, Picture};
use glam::Vec2;

/// Text and axes on paper.
pub(super) const INK: u32 = 0x2C2A28;
/// Secondary text.
pub(super) const FAINT_INK: u32 = 0x7A756F;
/// Grid lines and frames.
pub(super) const HAIRLINE: u32 = 0xD5D1CB;
/// The ground of sheets and plots.
pub(super) const PAPER: u32 = 0xF7F5F2;

/// Draws line segments of one width as a single shape: where they cross or join nothing gets darker.
/// A segment whose ends coincide is a disc. Coordinates are pixels, (0, 0) the corner of the first.
pub fn strokes(picture: &mut Picture, segments: &[[Vec2; 2]], width: f32, colour: Colour) {
    let finite = || segments.iter().filter(|s| s[0].is_finite() && s[1].is_finite());
    let limit = Vec2::new(picture.width() as f32, picture.height() as f32);
    let reach = Vec2::splat(0.5 * width + 1.0);
    let (mut low, mut high) = (Vec2::MAX, Vec2::MIN);
    for [a, b] in finite() {
        low = low.min(a.min(*b) - reach);
        high = high.max(a.max(*b) + reach);
    }
    let (low, high) = (low.max(Vec2::ZERO), high.min(limit));
    if !(low.x < high.x && low.y < high.y) {
        return;
    }
    let (left, top) = (low.x as usize, low.y as usize);
    let (columns, rows) = (high.x as usize + 1 - left, high.y as usize + 1 - top);
    let mut coverage = vec![0.0f32; columns * rows];
    for &[a, b] in finite() {
        let (low, high) = ((a.min(b) - reach).max(low), (a.max(b) + reach).min(high));
        if !(low.x < high.x && low.y < high.y) {
            continue;
        }
        for y in low.y as usize..=(high.y as usize).min(top + rows - 1) {
            for x in low.x as usize..=(high.x as usize).min(left + columns - 1) {
                let p = Vec2::new(x as f32 + 0.5, y as f32 + 0.5);
                let along = b - a;
                let t = ((p - a).dot(along) / along.length_squared().max(1e-12)).clamp(0.0, 1.0);
                // A line thinner than a pixel fades instead of thinning.
                let half = (0.5 * width).max(0.5);
                let cover = (half + 0.5 - p.distance(a + along * t)).clamp(0.0, 1.0) * width.min(1.0);
                let stored = &mut coverage[(y - top) * columns + x - left];
                *stored = stored.max(cover);
            }
        }
    }
    let bytes = colour.to_bytes();
    for (i, &cover) in coverage.iter().enumerate() {
        picture.cover((left + i % columns) as i32, (top + i / columns) as i32, bytes, cover);
    }
}

/// Draws a line through points; breaks at points that are not finite.
pub fn polyline(picture: &mut Picture, points: &[Vec2], width: f32, colour: Colour) {
    let segments: Vec<[Vec2; 2]> = points.windows(2).map(|p| [p[0], p[1]]).collect();
    strokes(picture, &segments, width, colour);
}

/// Fills a rectangle between two corners, its rim smoothed; `alpha` 1 is solid.
pub fn rectangle(picture: &mut Picture, low: Vec2, high: Vec2, colour: Colour, alpha: f32) {
    let limit = Vec2::new(picture.width() as f32, picture.height() as f32);
    let (low, high) = (low.max(Vec2::ZERO), high.min(limit));
    if !(low.x < high.x && low.y < high.y) {
        return;
    }
    let bytes = colour.to_bytes();
    let overlap =
        |from: f32, to: f32, at: usize| (to.min(at as f32 + 1.0) - from.max(at as f32)).clamp(0.0, 1.0);
    for y in low.y as usize..=high.y as usize {
        for x in low.x as usize..=high.x as usize {
            let cover = overlap(low.x, high.x, x) * overlap(low.y, high.y, y) * alpha;
            picture.cover(x as i32, y as i32, bytes, cover);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ink(picture: &Picture) -> f32 {
        picture.pixels().iter().map(|p| (255 - i32::from(p[0])) as f32 / 255.0).sum()
    }

    #[test]
    fn a_line_has_the_area_of_its_rectangle() {
        let mut picture = Picture::new(60, 40, Colour::WHITE);
        strokes(&mut picture, &[[Vec2::new(10.3, 8.1), Vec2::new(47.2, 29.6)]], 3.0, Colour::BLACK);
        let length = Vec2::new(10.3, 8.1).distance(Vec2::new(47.2, 29.6));
        let area = length * 3.0 + std::f32::consts::PI * 1.5 * 1.5;
        assert!((ink(&picture) / area - 1.0).abs() < 0.03, "{} {area}", ink(&picture));
    }

    #[test]
    fn a_rectangle_has_its_area_and_nothing_reaches_outside() {
        let mut picture = Picture::new(20, 20, Colour::WHITE);
        rectangle(&mut picture, Vec2::new(2.5, 3.25), Vec2::new(7.75, 9.0), Colour::BLACK, 1.0);
        assert!((ink(&picture) - 5.25 * 5.75).abs() < 0.3);
        rectangle(&mut picture, Vec2::new(-9.0, -9.0), Vec2::new(99.0, 99.0), Colour::BLACK, 1.0);
        strokes(
            &mut picture,
            &[[Vec2::NAN, Vec2::ONE], [Vec2::splat(-50.0), Vec2::splat(90.0)]],
            2.0,
            Colour::WHITE,
        );
        assert!((ink(&picture) - 400.0).abs() < 70.0);
    }
}
