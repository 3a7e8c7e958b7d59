//! An operator drawn: its value over the two fields it joins, and how its controller opens it.

use super::legend::Legend;
use super::plot::{Axis, Plot, Series};
use super::raster::shapes::grid_isoline;
use super::sheet::Sheet;
use super::{Colour, ColourMap, Picture, draw};
use crate::field::{Controller, Operator};
use glam::Vec2;

/// Points along each side of the sampled square; fine enough for straight-looking isolines.
const SAMPLES: usize = 96;

/// One square for each opening: the first field to the right, the second upward, both from 0 to 1. Isolines
/// every tenth; the surface, 0.5, is the bold one. Beside them the controller's curve.
pub fn operator_graph(
    operator: &dyn Operator,
    controller: &Controller,
    openings: &[f64],
    side: usize,
) -> Picture {
    let mut sheet = Sheet::new(openings.len() + 1).title(operator.name());
    for &opening in openings {
        sheet = sheet.panel(square(operator, opening, side), &format!("opening {opening}"));
    }
    sheet
        .panel(controller_curve(controller).draw(side, side), "controller")
        .legend(Legend::new(
            "value over first field (right) and second (up)",
            "",
            [0.0, 1.0],
            ColourMap::Sequential,
            &[],
        ))
        .compose()
}

fn square(operator: &dyn Operator, opening: f64, side: usize) -> Picture {
    let mut picture = Picture::new(side, side, Colour::WHITE);
    let along = |i: usize, count: usize| i as f64 / (count - 1) as f64;
    for y in 0..side {
        for x in 0..side {
            let value = operator.compose(along(x, side), 1.0 - along(y, side), opening).value;
            let colour = ColourMap::Sequential.at(value as f32);
            picture.cover(x as i32, y as i32, colour.to_bytes(), 1.0);
        }
    }
    let values: Vec<f32> = (0..SAMPLES * SAMPLES)
        .map(|i| (along(i % SAMPLES, SAMPLES), along(i / SAMPLES, SAMPLES)))
        .map(|(a, b)| operator.compose(a, b, opening).value as f32)
        .collect();
    let scale = (side - 1) as f32 / (SAMPLES - 1) as f32;
    let on_picture = |p: Vec2| Vec2::new(p.x, (SAMPLES - 1) as f32 - p.y) * scale;
    for tenth in 1..10 {
        let lines: Vec<[Vec2; 2]> = grid_isoline(SAMPLES, &values, tenth as f32 / 10.0)
            .into_iter()
            .map(|line| line.map(on_picture))
            .collect();
        draw::strokes(&mut picture, &lines, if tenth == 5 { 2.8 } else { 1.0 }, Colour::WHITE);
    }
    picture
}

fn controller_curve(controller: &Controller) -> Plot {
    let points = (0..=180).map(|degrees| {
        let angle = f64::from(degrees).to_radians();
        [degrees as f32, controller.opening(angle) as f32]
    });
    Plot {
        title: String::new(),
        x: Axis::new("angle between the gradients", "degrees"),
        y: Axis { range: Some([0.0, 1.0]), ..Axis::new("opening", "") },
        series: vec![Series { points: points.collect(), ..Series::default() }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::operator;

    #[test]
    fn every_operator_draws_and_openings_show() {
        for name in operator::NAMES {
            let operator = operator::by_name(name).unwrap();
            let graph = operator_graph(operator.as_ref(), &operator.default_controller(), &[0.0, 1.0], 64);
            assert!(graph.width() > 3 * 64, "{name}");
        }
        let blend = operator::by_name("blend").unwrap();
        assert_ne!(square(blend.as_ref(), 0.0, 48).pixels(), square(blend.as_ref(), 1.0, 48).pixels());
    }
}
