//! Wrinkle maps as PNG of 16 bits, and tables of folds as NumPy arrays.

use super::picture::PictureError;
use crate::surface::wrinkles::{Texel, WrinkleMap};

/// A map as PNG of 16 bits without a colour profile: red `(1 + cos phase) / 2`, green the mask, blue the wavelength over
/// `longest`, metres.
pub fn encode_map(map: &WrinkleMap, longest: f32) -> Result<Vec<u8>, PictureError> {
    let level = |share: f32| ((share.clamp(0.0, 1.0) * 65535.0).round() as u16).to_be_bytes();
    let channels = |t: &Texel| [0.5 + 0.5 * t.cos, t.mask, t.wavelength / longest];
    let data: Vec<u8> = map.texels.iter().flat_map(channels).flat_map(level).collect();
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, map.size as u32, map.size as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Sixteen);
    let mut writer = encoder.write_header()?;
    writer.write_image_data(&data)?;
    writer.finish()?;
    Ok(bytes)
}

/// The head of a NumPy file of 32-bit floats of this shape, to be followed by the numbers, little end first, the last index fastest.
pub fn npy_head(shape: [usize; 3]) -> Vec<u8> {
    let [a, b, c] = shape;
    let mut text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({a}, {b}, {c}), }}");
    // Magic and length take 10 bytes; the numbers begin at a multiple of 64.
    let size = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text.extend(std::iter::repeat_n(' ', size - 1 - text.len()));
    text.push('\n');
    let mut head = b"\x93NUMPY\x01\x00".to_vec();
    head.extend((size as u16).to_le_bytes());
    head.extend(text.as_bytes());
    head
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_map_keeps_its_numbers_to_16_bits() {
        let texels = vec![Texel { cos: -1.0, mask: 0.25, wavelength: 0.01 }; 4];
        let map = WrinkleMap { mesh: 0, pattern: 0, size: 2, texels };
        let bytes = encode_map(&map, 0.02).unwrap();
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().unwrap();
        let mut data = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut data).unwrap();
        let numbers: Vec<u16> = data.chunks_exact(2).map(|b| u16::from_be_bytes([b[0], b[1]])).collect();
        assert_eq!(numbers[..3], [0, 16384, 32768]);
    }

    #[test]
    fn a_table_begins_as_numpy_wants_it() {
        let head = npy_head([2, 3, 1]);
        assert_eq!(head.len() % 64, 0);
        assert!(String::from_utf8_lossy(&head).contains("'shape': (2, 3, 1)"));
    }
}
