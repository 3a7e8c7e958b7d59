//! The shape drawn in a picture.

use std::io::Cursor;

/// Most pixels of a picture.
const LARGEST: u64 = 64 << 20;
/// Fewest pixels that a shape may be long, and wide in the middle.
pub(super) const LEAST_LENGTH: f64 = 16.0;
pub(super) const LEAST_WIDTH: f64 = 3.0;
/// Of 255: a drawing stands out from its ground by more than this.
const LEAST_CONTRAST: f32 = 24.0;
/// Shapes smaller than this share of the largest are dirt.
const SPECK: f64 = 0.01;

/// Why a picture is no sketch of a muscle.
#[derive(Debug, thiserror::Error)]
pub enum SketchError {
    /// Not a PNG, or a broken one.
    #[error("is not a PNG picture that can be read ({0}); save the drawing as PNG")]
    Png(#[from] png::DecodingError),
    /// More pixels than are read.
    #[error("has {0} x {1} pixels, more than are read; scale it down to 4000 x 4000 or less")]
    TooLarge(u32, u32),
    /// Nothing drawn.
    #[error("is empty: no shape stands out from the ground; draw one dark shape on a light ground")]
    Empty,
    /// Several shapes.
    #[error("holds {count} shapes, of {} pixels; draw one muscle to a picture", listed(.pixels))]
    Several {
        /// How many.
        count: usize,
        /// Pixels of the largest ones.
        pixels: Vec<usize>,
    },
    /// A shape that leaves the picture.
    #[error("is cut off: the shape touches the border; leave some ground around it")]
    CutOff,
    /// A shape of too few pixels.
    #[error(
        "is too small: the shape is {length:.0} pixels long and {width:.1} wide in the mean; draw it at least 16 long and 3 wide"
    )]
    TooSmall {
        /// Pixels along its axis.
        length: f64,
        /// Pixels across, mean.
        width: f64,
    },
    /// A shape without a long side.
    #[error("has no axis: the shape is as wide as long; draw the muscle longer than wide")]
    NoAxis,
    /// A shape whose axis runs beside it.
    #[error(
        "is not a muscle seen from the side: {share:.0} % of its axis lies outside the shape; close the outline or fill it, and \
         draw it straight"
    )]
    Open {
        /// Per cent of the axis that lies outside.
        share: f64,
    },
}

fn listed(pixels: &[usize]) -> String {
    let mut text = pixels.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    if pixels.len() == MOST_LISTED {
        text.push_str(" ...");
    }
    text
}

const MOST_LISTED: usize = 4;

/// One shape in a picture, filled.
#[derive(Clone, Debug, PartialEq)]
pub struct Silhouette {
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
    /// How much of each pixel belongs to the shape, 0 to 1, row by row from the top.
    pub coverage: Vec<f32>,
    /// Small shapes beside it that were left out.
    pub specks: usize,
}

impl Silhouette {
    /// The shape in a PNG of any kind: dark on light, light on dark or on a transparent ground; filled, or a closed outline.
    pub fn from_png(bytes: &[u8]) -> Result<Self, SketchError> {
        let mut decoder = png::Decoder::new(Cursor::new(bytes));
        decoder.set_transformations(png::Transformations::EXPAND | png::Transformations::STRIP_16);
        let mut reader = decoder.read_info()?;
        let (width, height) = (reader.info().width, reader.info().height);
        if u64::from(width) * u64::from(height) > LARGEST {
            return Err(SketchError::TooLarge(width, height));
        }
        let size = reader.output_buffer_size().ok_or(SketchError::TooLarge(width, height))?;
        let mut pixels = vec![0; size];
        let frame = reader.next_frame(&mut pixels)?;
        let channels = frame.color_type.samples();
        let brightness = |pixel: &[u8]| {
            let [r, g, b] = if channels < 3 { [pixel[0]; 3] } else { [pixel[0], pixel[1], pixel[2]] };
            let alpha = if channels % 2 == 0 { f32::from(pixel[channels - 1]) / 255.0 } else { 1.0 };
            let grey = 0.2126 * f32::from(r) + 0.7152 * f32::from(g) + 0.0722 * f32::from(b);
            // Lies on white paper.
            255.0 + alpha * (grey - 255.0)
        };
        let (width, height) = (width as usize, height as usize);
        let grey: Vec<f32> = pixels.chunks_exact(channels).take(width * height).map(brightness).collect();
        Self::from_grey(width, height, &grey)
    }

    /// The shape in brightnesses, 0 to 255, row by row.
    pub fn from_grey(width: usize, height: usize, grey: &[f32]) -> Result<Self, SketchError> {
        if width < 3 || height < 3 || grey.len() != width * height {
            return Err(SketchError::Empty);
        }
        let on_border = |i: usize| {
            let (x, y) = (i % width, i / width);
            x == 0 || y == 0 || x + 1 == width || y + 1 == height
        };
        let mut border: Vec<f32> = (0..grey.len()).filter(|&i| on_border(i)).map(|i| grey[i]).collect();
        border.sort_by(f32::total_cmp);
        let ground = border[border.len() / 2];
        let contrast = grey.iter().map(|g| (g - ground).abs()).fold(0.0, f32::max);
        if contrast.is_nan() || contrast <= LEAST_CONTRAST {
            return Err(SketchError::Empty);
        }
        let mut coverage: Vec<f32> =
            grey.iter().map(|g| ((g - ground).abs() / contrast).clamp(0.0, 1.0)).collect();
        // Ground that the border is not connected with lies inside an outline.
        let mut grid = Grid { width, height, label: vec![0; grey.len()] };
        for start in (0..grey.len()).filter(|&i| on_border(i)) {
            grid.flood(start, 1, false, |i| coverage[i] < 0.5);
        }
        let mut sizes: Vec<(usize, u32)> = Vec::new();
        for start in 0..grey.len() {
            if grid.label[start] == 0 {
                let label = sizes.len() as u32 + 2;
                sizes.push((grid.flood(start, label, true, |_| true), label));
            }
        }
        let Some(&(largest, shape)) = sizes.iter().max_by_key(|(size, label)| (*size, u32::MAX - label))
        else {
            return Err(SketchError::Empty);
        };
        let is_speck = |size: usize| (size as f64) < SPECK * largest as f64;
        let mut shapes: Vec<usize> = sizes.iter().map(|s| s.0).filter(|&size| !is_speck(size)).collect();
        if shapes.len() > 1 {
            shapes.sort_unstable_by(|a, b| b.cmp(a));
            let count = shapes.len();
            shapes.truncate(MOST_LISTED);
            return Err(SketchError::Several { count, pixels: shapes });
        }
        if (0..grey.len()).any(|i| grid.label[i] == shape && on_border(i)) {
            return Err(SketchError::CutOff);
        }
        let is_inside = |i: usize| grid.label[i] == shape;
        for i in (0..grey.len()).filter(|&i| !on_border(i)) {
            let [left, right, up, down] = [i - 1, i + 1, i - width, i + width].map(is_inside);
            let all_around = left && right && up && down;
            if is_inside(i) && (all_around || coverage[i] < 0.5) {
                coverage[i] = 1.0;
            } else if !(is_inside(i) || left || right || up || down) {
                coverage[i] = 0.0;
            }
        }
        for i in (0..grey.len()).filter(|&i| on_border(i)) {
            coverage[i] = 0.0;
        }
        Ok(Self { width, height, coverage, specks: sizes.len() - 1 })
    }

    /// How much of the shape is at a place, pixels from the corner of the first; between the middles of pixels linear.
    pub(super) fn at(&self, x: f64, y: f64) -> f64 {
        let (x, y) = (x - 0.5, y - 0.5);
        let (left, top) = (x.floor(), y.floor());
        let pixel = |i: f64, j: f64| {
            let inside = i >= 0.0 && j >= 0.0 && i < self.width as f64 && j < self.height as f64;
            if inside { f64::from(self.coverage[j as usize * self.width + i as usize]) } else { 0.0 }
        };
        let (u, v) = (x - left, y - top);
        let upper = (1.0 - u) * pixel(left, top) + u * pixel(left + 1.0, top);
        let lower = (1.0 - u) * pixel(left, top + 1.0) + u * pixel(left + 1.0, top + 1.0);
        (1.0 - v) * upper + v * lower
    }
}

struct Grid {
    width: usize,
    height: usize,
    /// 0 where nobody was yet.
    label: Vec<u32>,
}

impl Grid {
    /// Labels what is connected with `start` among the pixels that may be entered; the number of them.
    fn flood(&mut self, start: usize, label: u32, diagonally: bool, enter: impl Fn(usize) -> bool) -> usize {
        if self.label[start] != 0 || !enter(start) {
            return 0;
        }
        self.label[start] = label;
        let (mut open, mut count) = (vec![start], 0);
        while let Some(i) = open.pop() {
            count += 1;
            let (x, y) = ((i % self.width) as isize, (i / self.width) as isize);
            for (dx, dy) in [(-1, 0), (1, 0), (0, -1), (0, 1), (-1, -1), (1, -1), (-1, 1), (1, 1)]
                .into_iter()
                .take(if diagonally { 8 } else { 4 })
            {
                let (x, y) = (x + dx, y + dy);
                if x < 0 || y < 0 || x >= self.width as isize || y >= self.height as isize {
                    continue;
                }
                let next = y as usize * self.width + x as usize;
                if self.label[next] == 0 && enter(next) {
                    self.label[next] = label;
                    open.push(next);
                }
            }
        }
        count
    }
}
