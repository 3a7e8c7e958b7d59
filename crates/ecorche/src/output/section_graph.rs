//! A section of a field drawn: colours, isolines, gradient.

use super::raster::shapes::grid_isoline;
use super::{Colour, ColourMap, Picture, draw};
use crate::field::section::Section;
use glam::Vec2;

/// Pixels between two arrows.
const ARROWS_EVERY: usize = 26;

/// Draws a section as a picture of `width` by `height` pixels: the value as colour, isolines every tenth with the
/// surface, 0.5, bold, arrows along the gradient (inward) and `outlines`, in window coordinates from -1 to 1, as
/// dark lines.
pub fn section_graph(section: &Section, width: usize, height: usize, outlines: &[[Vec2; 2]]) -> Picture {
    let mut picture = Picture::new(width, height, Colour::WHITE);
    let (columns, rows) = (section.columns, section.rows);
    let values: Vec<f32> = section.samples.iter().map(|s| s.value).collect();
    let size = Vec2::new(width.max(2) as f32 - 1.0, height.max(2) as f32 - 1.0);
    let scale = size / Vec2::new(columns as f32 - 1.0, rows as f32 - 1.0);
    for y in 0..height {
        for x in 0..width {
            let at = Vec2::new(x as f32, size.y - y as f32) / scale;
            let value = bilinear(&values, columns, rows, at);
            picture.cover(x as i32, y as i32, ColourMap::Sequential.at(value).to_bytes(), 1.0);
        }
    }
    for tenth in 1..10 {
        let lines: Vec<[Vec2; 2]> = grid_isoline(columns, &values, tenth as f32 / 10.0)
            .into_iter()
            .map(|line| line.map(|p| Vec2::new(p.x * scale.x, size.y - p.y * scale.y)))
            .collect();
        draw::strokes(&mut picture, &lines, if tenth == 5 { 4.4 } else { 1.0 }, Colour::WHITE);
    }
    let seen = |p: Vec2| Vec2::new(0.5 + 0.5 * p.x, 0.5 - 0.5 * p.y) * size;
    let skin: Vec<[Vec2; 2]> = outlines.iter().map(|line| line.map(seen)).collect();
    draw::strokes(&mut picture, &skin, 1.4, Colour::hex(draw::INK));
    draw::strokes(&mut picture, &arrows(section, scale, size), 1.2, Colour::hex(0xE8A33D));
    picture
}

fn bilinear(values: &[f32], columns: usize, rows: usize, at: Vec2) -> f32 {
    let (x, y) = ((at.x as usize).min(columns - 2), (at.y as usize).min(rows - 2));
    let (s, t) = (at.x - x as f32, at.y - y as f32);
    let row = |y: usize| {
        let first = values[y * columns + x];
        first + s * (values[y * columns + x + 1] - first)
    };
    row(y) + t * (row(y + 1) - row(y))
}

/// Arrows where the field is neither 0 nor 1. Their length is the gradient's share in the plane.
fn arrows(section: &Section, scale: Vec2, size: Vec2) -> Vec<[Vec2; 2]> {
    let [right, up] = section.window.axis.right_and_up();
    let every = |scale: f32| ((ARROWS_EVERY as f32 / scale) as usize).max(1);
    let (step_x, step_y) = (every(scale.x), every(scale.y));
    let mut lines = Vec::new();
    for y in (step_y / 2..section.rows).step_by(step_y) {
        for x in (step_x / 2..section.columns).step_by(step_x) {
            let sample = section.samples[y * section.columns + x];
            let direction = sample.gradient.normalize_or_zero();
            let along = Vec2::new(direction.dot(right), -direction.dot(up));
            if !(0.02..0.98).contains(&sample.value) || along.length() < 0.1 {
                continue;
            }
            let at = Vec2::new(x as f32 * scale.x, size.y - y as f32 * scale.y);
            let (tail, tip) = (at - 7.0 * along, at + 7.0 * along);
            let barb = |turn: f32| tip + 4.0 * Vec2::from_angle(turn).rotate(-along);
            lines.extend([[tail, tip], [tip, barb(0.5)], [tip, barb(-0.5)]]);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::section::{Axis, Window};
    use crate::field::{Field, Sample, Support};
    use glam::Vec3;

    /// Rises from left to right.
    struct Ramp;

    impl Field for Ramp {
        fn sample(&self, point: Vec3) -> Sample {
            Sample { value: (0.5 + 0.5 * point.x).clamp(0.0, 1.0), gradient: 0.5 * Vec3::X }
        }

        fn support(&self) -> Support {
            Support { low: Vec3::splat(-1.0), high: Vec3::splat(1.0) }
        }
    }

    #[test]
    fn the_half_line_is_in_the_middle_and_the_bright_side_is_inside() {
        let window = Window { axis: Axis::Z, middle: Vec3::ZERO, half: Vec2::ONE };
        let picture = section_graph(&Section::cut(&Ramp, window, 65, 65), 129, 129, &[]);
        let light = |x: usize| Colour::from_bytes(picture.pixel(x, 71)).luminance();
        assert!(light(64) > 0.9, "the bold line");
        assert_ne!(picture.pixel(4, 71), picture.pixel(124, 71));
        let outlined = section_graph(
            &Section::cut(&Ramp, window, 65, 65),
            129,
            129,
            &[[Vec2::new(-0.9, -1.0), Vec2::new(-0.9, 1.0)]],
        );
        assert_ne!(outlined, picture);
    }
}
