//! Buffer views compressed with `EXT_meshopt_compression`.
//!
//! The decoder itself is meshoptimizer's, through the safe half of its binding; it is made for
//! untrusted bytes. What it does not check, and this file does: that the stated counts are ones the
//! compressed bytes can hold, before anything is allocated, and that sizes are ones it accepts.

use super::document::MeshoptView;
use bytemuck::Pod;

/// The most bytes one compressed byte can stand for: a run of 256 equal bytes of a vertex takes two
/// bits.
pub const MAX_EXPANSION: usize = 1024;

/// A vertex of `N` words; lets a size known at run time choose a type.
#[derive(Clone)]
struct Words<const N: usize>([u32; N]);

impl<const N: usize> Default for Words<N> {
    fn default() -> Self {
        Self([0; N])
    }
}

/// The uncompressed bytes of a view, or what is wrong with it. `budget` is how many bytes the file
/// may still decompress to.
pub fn decode(packed: &[u8], view: &MeshoptView, budget: &mut usize) -> Result<Vec<u8>, String> {
    let (count, stride) = (view.count.0, view.byte_stride.0);
    let size = count.checked_mul(stride).filter(|&size| size <= *budget);
    let Some(size) = size else {
        return Err(format!("{count} elements of {stride} bytes are more than the compressed data can hold"));
    };
    *budget -= size;
    let decoded = match view.mode.as_str() {
        "ATTRIBUTES" => {
            if size > packed.len().saturating_mul(MAX_EXPANSION) {
                return Err(format!("{count} elements do not fit into {} compressed bytes", packed.len()));
            }
            decode_attributes(packed, count, stride)?
        }
        // At least a byte for each triangle, and for each index of a sequence.
        "TRIANGLES" if count.is_multiple_of(3) && count / 3 <= packed.len() => match stride {
            2 => bytes_of(meshopt::decode_index_buffer::<u16>(packed, count))?,
            4 => bytes_of(meshopt::decode_index_buffer::<u32>(packed, count))?,
            _ => return Err(format!("indices of {stride} bytes")),
        },
        "INDICES" if count <= packed.len() => match stride {
            2 => bytes_of(meshopt::decode_index_sequence::<u16>(packed, count))?,
            4 => bytes_of(meshopt::decode_index_sequence::<u32>(packed, count))?,
            _ => return Err(format!("indices of {stride} bytes")),
        },
        "TRIANGLES" | "INDICES" => {
            return Err(format!("{count} indices do not fit into {} compressed bytes", packed.len()));
        }
        mode => return Err(format!("unknown compression mode {mode:?}")),
    };
    apply_filter(decoded, stride, view.filter.as_deref().unwrap_or("NONE"))
}

fn bytes_of<T: Pod>(decoded: Result<Vec<T>, meshopt::Error>) -> Result<Vec<u8>, String> {
    let decoded = decoded.map_err(|e| format!("meshopt decompression failed: {e}"))?;
    Ok(bytemuck::cast_slice(&decoded).to_vec())
}

/// Turns a stride into a type and decodes vertices of it.
fn decode_attributes(packed: &[u8], count: usize, stride: usize) -> Result<Vec<u8>, String> {
    macro_rules! by_words {
        ($($words:literal)*) => {
            match stride / 4 {
                $($words if stride % 4 == 0 => {
                    let vertices = meshopt::decode_vertex_buffer::<Words<$words>>(packed, count);
                    bytes_of(vertices.map(|v| v.into_iter().flat_map(|v| v.0).collect::<Vec<u32>>()))
                })*
                _ => Err(format!("elements of {stride} bytes; 4 to 256 in steps of 4 are possible")),
            }
        };
    }
    by_words!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32
              33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63 64)
}

/// Undoes the packing of unit vectors, quaternions or floats.
fn apply_filter(decoded: Vec<u8>, stride: usize, filter: &str) -> Result<Vec<u8>, String> {
    // Copies into a vector of the filter's type, because bytes need not be aligned to it.
    fn filtered<T: Pod>(bytes: &[u8], filter: fn(&mut [T])) -> Vec<u8> {
        let mut values: Vec<T> =
            bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned).collect();
        filter(&mut values);
        bytemuck::cast_slice(&values).to_vec()
    }
    match (filter, stride) {
        ("NONE", _) => Ok(decoded),
        ("OCTAHEDRAL", 4) => Ok(filtered::<[i8; 4]>(&decoded, meshopt::decode_filter_oct)),
        ("OCTAHEDRAL", 8) => Ok(filtered::<[i16; 4]>(&decoded, meshopt::decode_filter_oct)),
        ("QUATERNION", 8) => Ok(filtered::<[i16; 4]>(&decoded, meshopt::decode_filter_quat)),
        ("EXPONENTIAL", _) if stride.is_multiple_of(4) => {
            Ok(filtered::<[u32; 1]>(&decoded, meshopt::decode_filter_exp))
        }
        _ => Err(format!("filter {filter:?} on elements of {stride} bytes")),
    }
}
