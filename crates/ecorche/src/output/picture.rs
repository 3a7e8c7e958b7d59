//! A picture in memory and as PNG, still or animated.

use super::Colour;
use std::io::Write;

/// An 8-bit sRGB picture, rows from the top, pixels from the left.
#[derive(Clone, Debug, PartialEq)]
pub struct Picture {
    width: usize,
    height: usize,
    pixels: Vec<[u8; 3]>,
}

/// Why a picture could not be written.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// The encoder or the file behind it failed.
    #[error("cannot write the PNG: {0}")]
    Png(#[from] png::EncodingError),
    /// Nothing to write.
    #[error("a picture needs at least one pixel and an animation at least one frame")]
    Empty,
    /// The frames of an animation must have one size.
    #[error(
        "frame {frame} of the animation is {found:?} pixels, the first {first:?}; render all at one size"
    )]
    FrameSize {
        /// Index of the frame that differs.
        frame: usize,
        /// Its width and height.
        found: (usize, usize),
        /// Width and height of the first frame.
        first: (usize, usize),
    },
}

impl Picture {
    /// A picture of one colour.
    pub fn new(width: usize, height: usize, colour: Colour) -> Self {
        Self { width, height, pixels: vec![colour.to_bytes(); width * height] }
    }

    /// A picture from its pixels, row by row; `pixels.len()` must be `width * height`.
    pub fn from_pixels(width: usize, height: usize, pixels: Vec<[u8; 3]>) -> Self {
        assert_eq!(pixels.len(), width * height, "one pixel per place");
        Self { width, height, pixels }
    }

    /// Width in pixels.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Height in pixels.
    pub fn height(&self) -> usize {
        self.height
    }

    /// All pixels, row by row.
    pub fn pixels(&self) -> &[[u8; 3]] {
        &self.pixels
    }

    /// The pixel at column `x`, row `y`.
    pub fn pixel(&self, x: usize, y: usize) -> [u8; 3] {
        self.pixels[y * self.width + x]
    }

    /// Covers a pixel with `colour` by `coverage` (0 to 1). Places outside the picture are ignored.
    ///
    /// Mixes display values, not light: thin dark marks on a light ground keep their weight that way.
    pub fn cover(&mut self, x: i32, y: i32, colour: [u8; 3], coverage: f32) {
        if x < 0 || y < 0 || x as usize >= self.width || y as usize >= self.height || coverage <= 0.0 {
            return;
        }
        let pixel = &mut self.pixels[y as usize * self.width + x as usize];
        let part = (coverage.min(1.0) * 256.0) as i32;
        for k in 0..3 {
            let (old, new) = (i32::from(pixel[k]), i32::from(colour[k]));
            pixel[k] = (old + ((new - old) * part + 128).div_euclid(256)) as u8;
        }
    }

    /// Copies `other` with its top left corner at (`x`, `y`); what reaches outside is cut.
    pub(crate) fn paste(&mut self, other: &Picture, x: i32, y: i32) {
        let from = (-x).max(0) as usize;
        let to = (self.width as i64 - i64::from(x)).clamp(0, other.width as i64) as usize;
        if from >= to {
            return;
        }
        for row in 0..other.height {
            let target = i64::from(y) + row as i64;
            if target < 0 || target >= self.height as i64 {
                continue;
            }
            let start = target as usize * self.width + (i64::from(x) + from as i64) as usize;
            let source = &other.pixels[row * other.width + from..row * other.width + to];
            self.pixels[start..start + source.len()].copy_from_slice(source);
        }
    }

    /// Writes the picture as PNG.
    pub fn encode_png(&self, writer: impl Write) -> Result<(), PictureError> {
        if self.pixels.is_empty() {
            return Err(PictureError::Empty);
        }
        let mut writer = self.encoder(writer).write_header()?;
        writer.write_image_data(self.pixels.as_flattened())?;
        writer.finish()?;
        Ok(())
    }

    fn encoder<W: Write>(&self, writer: W) -> png::Encoder<'static, W> {
        let mut encoder = png::Encoder::new(writer, self.width as u32, self.height as u32);
        encoder.set_color(png::ColorType::Rgb);
        encoder.set_depth(png::BitDepth::Eight);
        encoder.set_source_srgb(png::SrgbRenderingIntent::Perceptual);
        encoder.set_compression(png::Compression::Balanced);
        encoder
    }
}

/// Writes frames of one size as an animated PNG that loops forever. Programs that know only still
/// PNGs show the first frame.
///
/// After the first frame only the rectangle that changed is stored, so that a still backdrop costs nothing.
pub fn encode_animation(
    frames: &[Picture],
    frames_per_second: f32,
    writer: impl Write,
) -> Result<(), PictureError> {
    let Some(first) = frames.first().filter(|f| !f.pixels.is_empty()) else {
        return Err(PictureError::Empty);
    };
    for (frame, picture) in frames.iter().enumerate() {
        if (picture.width, picture.height) != (first.width, first.height) {
            let found = (picture.width, picture.height);
            return Err(PictureError::FrameSize { frame, found, first: (first.width, first.height) });
        }
    }
    let mut encoder = first.encoder(writer);
    encoder.set_animated(frames.len() as u32, 0)?;
    let milliseconds = (1000.0 / frames_per_second.clamp(0.02, 1000.0) + 0.5) as u16;
    encoder.set_frame_delay(milliseconds, 1000)?;
    let mut writer = encoder.write_header()?;
    writer.write_image_data(first.pixels.as_flattened())?;
    for pair in frames.windows(2) {
        let [x, y, width, height] = changed_rectangle(&pair[0], &pair[1]);
        writer.set_frame_dimension(1, 1)?;
        writer.set_frame_position(x as u32, y as u32)?;
        writer.set_frame_dimension(width as u32, height as u32)?;
        let mut pixels = Vec::with_capacity(width * height);
        for row in y..y + height {
            pixels.extend_from_slice(&pair[1].pixels[row * first.width + x..row * first.width + x + width]);
        }
        writer.write_image_data(pixels.as_flattened())?;
    }
    writer.finish()?;
    Ok(())
}

/// Left, top, width and height of the smallest rectangle in which two pictures differ; at least one pixel.
fn changed_rectangle(a: &Picture, b: &Picture) -> [usize; 4] {
    let (mut left, mut right, mut top, mut bottom) = (a.width, 0, a.height, 0);
    for y in 0..a.height {
        let row = y * a.width..(y + 1) * a.width;
        let (old, new) = (&a.pixels[row.clone()], &b.pixels[row]);
        if let Some(x) = (0..a.width).find(|&x| old[x] != new[x]) {
            left = left.min(x);
            let last = (0..a.width).rfind(|&x| old[x] != new[x]).unwrap_or(x);
            right = right.max(last);
            top = top.min(y);
            bottom = y;
        }
    }
    if left > right { [0, 0, 1, 1] } else { [left, top, right - left + 1, bottom - top + 1] }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn noise(seed: u32) -> Picture {
        let pixels = (0..13 * 7u32)
            .map(|i| {
                let hash = (i + seed).wrapping_mul(2_654_435_761);
                [hash as u8, (hash >> 8) as u8, (hash >> 16) as u8]
            })
            .collect();
        Picture::from_pixels(13, 7, pixels)
    }

    #[test]
    fn a_png_decodes_to_the_same_pixels() {
        let picture = noise(5);
        let mut bytes = Vec::new();
        picture.encode_png(&mut bytes).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
        let mut decoded = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut decoded).unwrap();
        assert_eq!(decoded, picture.pixels().as_flattened());
    }

    #[test]
    fn an_animation_holds_every_frame_and_only_what_changed() {
        let first = noise(1);
        let mut second = first.clone();
        second.cover(4, 2, [1, 2, 3], 1.0);
        second.cover(6, 3, [9, 8, 7], 1.0);
        let mut bytes = Vec::new();
        encode_animation(&[first.clone(), second.clone(), second.clone(), first], 24.0, &mut bytes).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(&bytes)).read_info().unwrap();
        assert_eq!(reader.info().animation_control().unwrap().num_frames, 4);
        let mut buffer = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut buffer).unwrap();
        let info = reader.next_frame(&mut buffer).unwrap();
        assert_eq!((info.width, info.height), (3, 2));
        let control = *reader.info().frame_control().unwrap();
        assert_eq!((control.x_offset, control.y_offset), (4, 2));
        assert_eq!(&buffer[..3], &second.pixel(4, 2));
    }

    #[test]
    fn frames_of_different_size_are_refused() {
        let frames = [Picture::new(2, 2, Colour::BLACK), Picture::new(3, 2, Colour::BLACK)];
        let error = encode_animation(&frames, 24.0, Vec::new()).unwrap_err();
        assert!(error.to_string().contains("frame 1"));
        assert!(matches!(encode_animation(&[], 24.0, Vec::new()), Err(PictureError::Empty)));
    }

    #[test]
    fn pasting_over_the_rim_cuts() {
        let mut sheet = Picture::new(4, 4, Colour::BLACK);
        sheet.paste(&Picture::new(3, 3, Colour::WHITE), -1, 2);
        sheet.paste(&Picture::new(3, 3, Colour::WHITE), 9, -9);
        let white = sheet.pixels().iter().filter(|p| **p == [255; 3]).count();
        assert_eq!(white, 4);
    }
}
