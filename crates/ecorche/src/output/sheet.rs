//! Several pictures on one sheet: side by side with captions, or as a grid with labelled rows and columns.
//!
//! ```
//! use ecorche::output::{Colour, Picture, sheet::Sheet};
//!
//! let panel = || Picture::new(90, 120, Colour::WHITE);
//! let sheet = Sheet::new(2).panel(panel(), "linear").panel(panel(), "dual quaternion");
//! assert!(sheet.compose().width() > 180);
//! ```

use super::legend::Legend;
use super::text::{self, Align, Style};
use super::{Colour, Picture, draw};
use glam::Vec2;

/// A sheet to be composed. Panels fill rows from the left.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    columns: usize,
    panels: Vec<(Picture, String)>,
    title: String,
    column_labels: Vec<String>,
    row_labels: Vec<String>,
    legends: Vec<Legend>,
}

const EDGE: usize = 16;
const GAP: usize = 8;
const TITLE: f32 = 22.0;
const LABEL: f32 = 16.0;
const CAPTION: f32 = 14.0;

impl Sheet {
    /// An empty sheet of this many columns.
    pub fn new(columns: usize) -> Self {
        Self { columns: columns.max(1), ..Self::default() }
    }

    /// Adds a panel with a caption under it; none when empty.
    pub fn panel(mut self, picture: Picture, caption: &str) -> Self {
        self.panels.push((picture, caption.to_owned()));
        self
    }

    /// A title over everything.
    pub fn title(mut self, title: &str) -> Self {
        self.title = title.to_owned();
        self
    }

    /// One label over each column.
    pub fn column_labels<S: Into<String>>(mut self, labels: impl IntoIterator<Item = S>) -> Self {
        self.column_labels = labels.into_iter().map(Into::into).collect();
        self
    }

    /// One label at the left of each row.
    pub fn row_labels<S: Into<String>>(mut self, labels: impl IntoIterator<Item = S>) -> Self {
        self.row_labels = labels.into_iter().map(Into::into).collect();
        self
    }

    /// Adds a legend at the foot.
    pub fn legend(mut self, legend: Legend) -> Self {
        self.legends.push(legend);
        self
    }

    /// Puts everything on one picture. Cells are as large as the largest panel.
    pub fn compose(&self) -> Picture {
        let columns = self.columns.min(self.panels.len().max(1));
        let rows = self.panels.len().div_ceil(columns);
        let largest =
            |size: fn(&Picture) -> usize| self.panels.iter().map(|(p, _)| size(p)).max().unwrap_or(0);
        let (cell_width, cell_height) = (largest(Picture::width), largest(Picture::height));
        let captioned = self.panels.iter().any(|(_, caption)| !caption.is_empty());
        let caption_height = if captioned { 24 } else { 0 };
        let label_width =
            self.row_labels.iter().map(|l| text::width(l, LABEL) as usize + 1).max().map_or(0, |w| w + 12);
        let title_height = if self.title.is_empty() { 0 } else { 36 };
        let header_height = if self.column_labels.is_empty() { 0 } else { 26 };
        let left = EDGE + label_width;
        let top = EDGE + title_height + header_height;
        let grid_width = columns * (cell_width + GAP) - GAP;
        let grid_height = (rows * (cell_height + caption_height + GAP)).saturating_sub(GAP);
        let foot = if self.legends.is_empty() { 0 } else { GAP + Legend::HEIGHT };
        let mut sheet =
            Picture::new(left + grid_width + EDGE, top + grid_height + foot + EDGE, Colour::hex(draw::PAPER));

        let width_limit = (label_width + grid_width) as f32;
        let title = text::fit(&self.title, TITLE, width_limit);
        text::write(
            &mut sheet,
            Vec2::new(EDGE as f32, EDGE as f32 + 18.0),
            &title,
            Align::Left,
            &Style::new(TITLE),
        );
        for (column, label) in self.column_labels.iter().enumerate().take(columns) {
            let middle = (left + column * (cell_width + GAP)) as f32 + 0.5 * cell_width as f32;
            let label = text::fit(label, LABEL, cell_width as f32);
            text::write(
                &mut sheet,
                Vec2::new(middle, top as f32 - 9.0),
                &label,
                Align::Middle,
                &Style::new(LABEL),
            );
        }
        for (row, label) in self.row_labels.iter().enumerate().take(rows) {
            let middle = (top + row * (cell_height + caption_height + GAP)) as f32 + 0.5 * cell_height as f32;
            let at = Vec2::new(left as f32 - 12.0, middle + 4.0);
            text::write(&mut sheet, at, label, Align::Right, &Style::new(LABEL));
        }
        for (i, (picture, caption)) in self.panels.iter().enumerate() {
            let x = left + i % columns * (cell_width + GAP);
            let y = top + i / columns * (cell_height + caption_height + GAP);
            sheet.paste(picture, x as i32, y as i32);
            let at = Vec2::new(x as f32 + 2.0, (y + cell_height) as f32 + 17.0);
            let caption = text::fit(caption, CAPTION, cell_width as f32 - 4.0);
            text::write(&mut sheet, at, &caption, Align::Left, &Style::new(CAPTION));
        }
        let share = grid_width as f32 / self.legends.len().max(1) as f32;
        for (i, legend) in self.legends.iter().enumerate() {
            let start = left as f32 + i as f32 * share;
            let right = start + (share - 24.0).clamp(1.0, 460.0);
            legend.draw(&mut sheet, start, right, (top + grid_height + GAP + 4) as f32);
        }
        sheet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::ColourMap;

    #[test]
    fn panels_keep_their_pixels_and_do_not_overlap() {
        let panels: Vec<Picture> =
            (0..5u8).map(|i| Picture::new(40, 30, Colour::from_bytes([40 * i, 10, 200]))).collect();
        let mut sheet =
            Sheet::new(3).title("Curl").column_labels(["lbs", "dqs", "cor"]).row_labels(["12", "24"]);
        for panel in &panels {
            sheet = sheet.panel(panel.clone(), "frame");
        }
        let picture =
            sheet.legend(Legend::new("error", "mm", [0.0, 2.0], ColourMap::Diverging, &[])).compose();
        for panel in &panels {
            let count = picture.pixels().iter().filter(|p| **p == panel.pixel(0, 0)).count();
            assert_eq!(count, 40 * 30);
        }
    }

    #[test]
    fn an_empty_sheet_is_a_small_blank_picture() {
        assert!(Sheet::new(0).compose().width() > 0);
    }
}
