//! A drawn muscle with what was found in it.

use super::plot::{Axis, Plot, Series};
use super::sheet::Sheet;
use super::{Colour, Picture, colour, draw};
use crate::muscle::sketch::{Silhouette, SketchFit};
use glam::{DVec2, Vec2};

/// Points of an outline.
const POINTS: usize = 240;

/// The shape with axis and outlines over it, and half widths along the axis; the longer side of the shape takes about `side` pixels.
pub fn sketch_graph(shape: &Silhouette, fit: &SketchFit, side: usize) -> Picture {
    let scale = side as f64 / shape.width.max(shape.height).max(1) as f64;
    let [width, height] = [shape.width, shape.height].map(|n| ((n as f64 * scale) as usize).max(1));
    let mut picture = Picture::new(width, height, Colour::WHITE);
    for y in 0..height {
        for x in 0..width {
            let [i, j] = [x, y].map(|p| (p as f64 + 0.5) / scale);
            let (i, j) = ((i as usize).min(shape.width - 1), (j as usize).min(shape.height - 1));
            picture.cover(x as i32, y as i32, [186, 180, 172], shape.coverage[j * shape.width + i]);
        }
    }
    let on_picture = |p: DVec2| (scale * p).as_vec2();
    draw::strokes(&mut picture, &[fit.ends.map(on_picture)], 1.5, Colour::hex(draw::FAINT_INK));
    let mut outline = |ends: [DVec2; 2], thickness: &dyn Fn(f64) -> f64, series: usize| {
        let across = (ends[1] - ends[0]).normalize_or_zero().perp();
        for side in [1.0, -1.0] {
            let point = |i: usize| {
                let s = i as f64 / POINTS as f64;
                on_picture(ends[0].lerp(ends[1], s) + side * thickness(s) * across)
            };
            let points: Vec<Vec2> = (0..=POINTS).map(point).collect();
            draw::polyline(&mut picture, &points, 2.0, colour::categorical(series));
        }
    };
    outline(fit.ends, &|s| fit.sines.thickness(s), 1);
    outline(fit.beta.ends, &|s| fit.beta.thickness(s), 2);
    Sheet::new(2)
        .panel(picture, &format!("{:.0} pixels long, mean radius {:.1}", fit.length(), fit.sines.radius))
        .panel(plot(fit).draw(side.max(320), side.max(240)), "")
        .compose()
}

fn plot(fit: &SketchFit) -> Plot {
    let length = fit.length();
    let drawn = fit.radii.iter().enumerate().map(|(k, &x)| {
        let s = (k + 1) as f64 / (fit.radii.len() + 1) as f64;
        [(s * length) as f32, x as f32]
    });
    let along = |start: f64, length: f64, thickness: &dyn Fn(f64) -> f64| -> Vec<[f32; 2]> {
        let point = |i: usize| {
            let s = i as f64 / POINTS as f64;
            [(start + s * length) as f32, thickness(s) as f32]
        };
        (0..=POINTS).map(point).collect()
    };
    let [a, b] = fit.beta.pair;
    let series = |name: String, points: Vec<[f32; 2]>| Series { name, points, ..Series::default() };
    let before = fit.ends[0].distance(fit.beta.ends[0]);
    Plot {
        title: "half width along the axis".to_owned(),
        x: Axis::new("from the origin", "pixels"),
        y: Axis::new("half width", "pixels"),
        series: vec![
            series("drawn".to_owned(), drawn.collect()),
            series(
                format!("{} sines", fit.sines.weights.len()),
                along(0.0, length, &|s| fit.sines.thickness(s)),
            ),
            series(format!("beta [{a}, {b}]"), along(-before, fit.beta.length(), &|s| fit.beta.thickness(s))),
        ],
    }
}
