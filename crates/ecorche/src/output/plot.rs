//! Line, dot and bar plots in the look of the sheets.

use super::legend::{tick_label, ticks};
use super::text::{self, Align, Style};
use super::{Colour, Picture, colour, draw};
use glam::Vec2;

/// How a series is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mark {
    /// A line through the points, broken where a value is not finite.
    #[default]
    Line,
    /// A dot at each point.
    Dots,
    /// A bar from the bottom of the plot to each point; bars of several series stand side by side.
    Bars,
}

/// Named points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Series {
    /// What it is called in the plot.
    pub name: String,
    /// Pairs of x and y.
    pub points: Vec<[f32; 2]>,
    /// How it is drawn.
    pub mark: Mark,
}

/// One direction of a plot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Axis {
    /// What is measured.
    pub name: String,
    /// Its unit; empty for a plain number.
    pub unit: String,
    /// Powers of ten at equal distances; values at or below zero are left out.
    pub log: bool,
    /// Values at the two ends; the data's own when absent.
    pub range: Option<[f32; 2]>,
    /// Labels for the values 0, 1, 2, ... instead of numbers.
    pub labels: Vec<String>,
}

/// A plot to be drawn.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plot {
    /// Title over it.
    pub title: String,
    /// Across.
    pub x: Axis,
    /// Up.
    pub y: Axis,
    /// What is drawn; colours follow the order.
    pub series: Vec<Series>,
}

impl Axis {
    /// An axis with a name and a unit.
    pub fn new(name: &str, unit: &str) -> Self {
        Self { name: name.to_owned(), unit: unit.to_owned(), ..Self::default() }
    }

    fn title(&self) -> String {
        if self.unit.is_empty() { self.name.clone() } else { format!("{} [{}]", self.name, self.unit) }
    }

    /// Where a value lies on a linear scale; not finite where the scale does not have it.
    fn place(&self, value: f32) -> f32 {
        if self.log { if value > 0.0 { value.log10() } else { f32::NAN } } else { value }
    }

    /// Ends of the linear scale, widened to show all of `values` and never empty.
    fn span(&self, values: impl Iterator<Item = f32>, from_zero: bool) -> [f32; 2] {
        if let Some([low, high]) = self.range.map(|r| r.map(|v| self.place(v)))
            && low < high
        {
            return [low, high];
        }
        let finite = values.map(|v| self.place(v)).filter(|v| v.is_finite());
        let (mut low, mut high) =
            finite.fold((f32::MAX, f32::MIN), |(low, high), v| (low.min(v), high.max(v)));
        if low > high {
            (low, high) = (0.0, 1.0);
        }
        if self.log {
            return [low.floor(), high.ceil().max(low.floor() + 1.0)];
        }
        if from_zero {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        let room = if high > low { 0.04 * (high - low) } else { 0.5 * high.abs().max(1.0) };
        [if low == 0.0 { 0.0 } else { low - room }, if high == 0.0 { 0.0 } else { high + room }]
    }

    /// Places on the linear scale and their labels.
    fn ticks(&self, [low, high]: [f32; 2], count: usize) -> Vec<(f32, String)> {
        if !self.labels.is_empty() {
            let inside = |i: &usize| *i as f32 >= low && *i as f32 <= high;
            return (0..self.labels.len())
                .filter(inside)
                .map(|i| (i as f32, self.labels[i].clone()))
                .collect();
        }
        if self.log {
            let powers = ticks(low, high, count).0.into_iter().filter(|p| *p == p.round());
            return powers.map(|p| (p, power_label(p as i32))).collect();
        }
        let (values, step) = ticks(low, high, count);
        values.into_iter().map(|v| (v, tick_label(v, step))).collect()
    }
}

/// Ten to the power, as a reader writes it.
fn power_label(power: i32) -> String {
    match power {
        0..=5 => format!("{}", 10i64.pow(power as u32)),
        -3..=-1 => format!("{:.*}", -power as usize, 10f64.powi(power)),
        _ => format!("1e{power}"),
    }
}

impl Plot {
    /// Draws the plot at a size in pixels.
    pub fn draw(&self, width: usize, height: usize) -> Picture {
        let (width, height) = (width.clamp(160, 16384), height.clamp(120, 16384));
        let mut picture = Picture::new(width, height, Colour::hex(draw::PAPER));
        let bars = self.series.iter().any(|s| s.mark == Mark::Bars);
        let values = |k: usize| self.series.iter().flat_map(move |s| s.points.iter().map(move |p| p[k]));
        let mut span_x = self.x.span(values(0), false);
        if bars && self.x.range.is_none() {
            span_x = [span_x[0].min(-0.6), span_x[1] + 0.6];
        }
        let span_y = self.y.span(values(1), true);
        let y_ticks = self.y.ticks(span_y, (height / 70).max(2));
        let tick_width = y_ticks.iter().map(|t| text::width(&t.1, 12.0)).fold(0.0, f32::max);
        let name_width = self.series.iter().map(|s| text::width(&s.name, 14.0)).fold(0.0, f32::max);
        let inner = Frame {
            left: 26.0 + tick_width,
            right: width as f32
                - 22.0
                - if self.series.len() > 1 { (name_width + 14.0).min(0.3 * width as f32) } else { 0.0 },
            top: if self.title.is_empty() { 40.0 } else { 68.0 },
            bottom: height as f32 - 52.0,
            x: span_x,
            y: span_y,
        };
        self.draw_axes(&mut picture, &inner, &y_ticks);
        for (i, series) in self.series.iter().enumerate() {
            self.draw_series(&mut picture, &inner, i, series);
        }
        self.draw_names(&mut picture, &inner);
        picture
    }

    fn draw_axes(&self, picture: &mut Picture, inner: &Frame, y_ticks: &[(f32, String)]) {
        let hairline = Colour::hex(draw::HAIRLINE);
        let faint = Style::faint(12.0);
        for (value, label) in y_ticks {
            let y = inner.at(inner.x[0], *value).y.round() + 0.5;
            draw::strokes(picture, &[[Vec2::new(inner.left, y), Vec2::new(inner.right, y)]], 1.0, hairline);
            text::write(picture, Vec2::new(inner.left - 8.0, y + 4.0), label, Align::Right, &faint);
        }
        let count = ((inner.right - inner.left) / 90.0).max(2.0) as usize;
        let foot = inner.bottom.round() + 0.5;
        let ink = Colour::hex(draw::FAINT_INK);
        for (value, label) in self.x.ticks(inner.x, count) {
            let x = inner.at(value, inner.y[0]).x.round() + 0.5;
            draw::strokes(picture, &[[Vec2::new(x, foot), Vec2::new(x, foot + 5.0)]], 1.0, ink);
            text::write(picture, Vec2::new(x, foot + 18.0), &label, Align::Middle, &faint);
        }
        draw::strokes(picture, &[[Vec2::new(inner.left, foot), Vec2::new(inner.right, foot)]], 1.0, ink);
        let limit = picture.width() as f32 - 32.0;
        let title = text::fit(&self.title, 20.0, limit);
        text::write(picture, Vec2::new(16.0, 30.0), &title, Align::Left, &Style::new(20.0));
        let y_name = text::fit(&self.y.title(), 14.0, limit);
        text::write(picture, Vec2::new(16.0, inner.top - 14.0), &y_name, Align::Left, &Style::new(14.0));
        let x_name = text::fit(&self.x.title(), 14.0, limit);
        text::write(picture, Vec2::new(inner.right, foot + 38.0), &x_name, Align::Right, &Style::new(14.0));
    }

    fn draw_series(&self, picture: &mut Picture, inner: &Frame, index: usize, series: &Series) {
        let colour = colour::categorical(index);
        let at = |p: &[f32; 2]| inner.at(self.x.place(p[0]), self.y.place(p[1]));
        let points: Vec<Vec2> = series.points.iter().map(at).collect();
        match series.mark {
            Mark::Line => draw::polyline(picture, &points, 2.0, colour),
            Mark::Dots => {
                let dots: Vec<[Vec2; 2]> = points.iter().map(|p| [*p; 2]).collect();
                draw::strokes(picture, &dots, 6.0, colour);
            }
            Mark::Bars => {
                let groups: Vec<usize> =
                    (0..self.series.len()).filter(|i| self.series[*i].mark == Mark::Bars).collect();
                let place = groups.iter().position(|i| *i == index).unwrap_or(0) as f32;
                let unit = inner.at(1.0, inner.y[0]).x - inner.at(0.0, inner.y[0]).x;
                let bar = 0.78 * unit / groups.len() as f32;
                let zero = inner
                    .at(inner.x[0], if self.y.log { inner.y[0] } else { 0f32.clamp(inner.y[0], inner.y[1]) })
                    .y;
                for p in points.iter().filter(|p| p.is_finite()) {
                    let left = p.x - 0.39 * unit + place * bar;
                    let (low, high) =
                        (Vec2::new(left, p.y.min(zero)), Vec2::new(left + 0.94 * bar, p.y.max(zero)));
                    draw::rectangle(picture, low, high, colour, 1.0);
                }
            }
        }
    }

    /// Names beside the right end of each series, pushed apart where they would touch.
    fn draw_names(&self, picture: &mut Picture, inner: &Frame) {
        if self.series.len() < 2 {
            return;
        }
        let bars = self.series.iter().all(|s| s.mark == Mark::Bars);
        let mut names: Vec<(f32, usize)> = self
            .series
            .iter()
            .enumerate()
            .map(|(i, series)| {
                let end =
                    series.points.iter().rev().map(|p| inner.at(self.x.place(p[0]), self.y.place(p[1])).y);
                let y = end.into_iter().find(|y| y.is_finite()).unwrap_or(inner.bottom);
                (if bars { inner.top + 20.0 * i as f32 } else { y.clamp(inner.top, inner.bottom) }, i)
            })
            .collect();
        names.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        const DISTANCE: f32 = 18.0;
        for i in 1..names.len() {
            names[i].0 = names[i].0.max(names[i - 1].0 + DISTANCE);
        }
        // Those pushed below the bottom push the others back up.
        let mut limit = inner.bottom;
        for name in names.iter_mut().rev() {
            name.0 = name.0.min(limit);
            limit = name.0 - DISTANCE;
        }
        let room = picture.width() as f32 - inner.right - 16.0;
        for (y, i) in names {
            let style = Style { colour: colour::categorical(i), ..Style::new(14.0).bold() };
            let name = text::fit(&self.series[i].name, 14.0, room);
            text::write(picture, Vec2::new(inner.right + 10.0, y + 4.0), &name, Align::Left, &style);
        }
    }
}

/// Where the data goes on the picture.
struct Frame {
    left: f32,
    right: f32,
    top: f32,
    bottom: f32,
    x: [f32; 2],
    y: [f32; 2],
}

impl Frame {
    /// Pixels of a place on the linear scales.
    fn at(&self, x: f32, y: f32) -> Vec2 {
        let across = (x - self.x[0]) / (self.x[1] - self.x[0]);
        let up = (y - self.y[0]) / (self.y[1] - self.y[0]);
        Vec2::new(self.left + across * (self.right - self.left), self.bottom - up * (self.bottom - self.top))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coloured(picture: &Picture, series: usize) -> usize {
        let wanted = colour::categorical(series).to_bytes();
        picture.pixels().iter().filter(|p| **p == wanted).count()
    }

    #[test]
    fn every_series_shows_and_bad_values_do_no_harm() {
        let line = |name: &str, k: f32| Series {
            name: name.to_owned(),
            points: (0..40)
                .map(|i| [i as f32, if i == 20 { f32::NAN } else { k * (i * i) as f32 }])
                .collect(),
            mark: Mark::Line,
        };
        let mut plot = Plot {
            title: "Pairs".to_owned(),
            x: Axis::new("frame", ""),
            y: Axis::new("pairs", "1"),
            series: vec![line("lbs", 1.0), line("dqs", 0.5), line("cor", 0.0)],
        };
        for log in [false, true] {
            plot.y.log = log;
            let picture = plot.draw(500, 300);
            assert!(coloured(&picture, 0) > 100 && coloured(&picture, 1) > 100);
        }
        Plot::default().draw(0, 0);
    }

    #[test]
    fn a_bar_twice_as_high_has_twice_the_pixels() {
        let bars = |value: f32| Plot {
            y: Axis { range: Some([0.0, 10.0]), ..Axis::default() },
            series: vec![Series { points: vec![[0.0, value]], mark: Mark::Bars, ..Series::default() }],
            ..Plot::default()
        };
        let [low, high] = [4.0, 8.0].map(|v| coloured(&bars(v).draw(400, 300), 0) as f32);
        assert!((high / low - 2.0).abs() < 0.05, "{low} {high}");
    }
}
