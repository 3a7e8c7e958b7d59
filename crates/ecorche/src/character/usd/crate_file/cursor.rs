//! Places in a crate file, and its compressed blocks.

use super::super::layer::Fault;
use super::{Parsed, broken};

/// A position in the file that never leaves it.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    pub bytes: &'a [u8],
    pub at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(bytes: &'a [u8], at: u64) -> Self {
        Self { bytes, at: usize::try_from(at).unwrap_or(usize::MAX) }
    }

    pub fn take(&mut self, count: usize) -> Parsed<&'a [u8]> {
        let end = self.at.checked_add(count).filter(|&end| end <= self.bytes.len());
        let end = end.ok_or_else(|| broken("ends too early"))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    pub fn array<const N: usize>(&mut self) -> Parsed<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub fn u32(&mut self) -> Parsed<u32> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    pub fn u64(&mut self) -> Parsed<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub fn count(&mut self) -> Parsed<usize> {
        usize::try_from(self.u64()?).map_err(|_| broken("has an impossible count"))
    }

    /// `count` elements of `size` bytes each.
    pub fn elements(&mut self, count: usize, size: usize) -> Parsed<&'a [u8]> {
        self.take(count.checked_mul(size).ok_or_else(|| broken("has an impossible count"))?)
    }

    pub fn u32s(&mut self, count: usize) -> Parsed<Vec<u32>> {
        Ok(self.elements(count, 4)?.as_chunks().0.iter().map(|b| u32::from_le_bytes(*b)).collect())
    }

    pub fn u64s(&mut self, count: usize) -> Parsed<Vec<u64>> {
        Ok(self.elements(count, 8)?.as_chunks().0.iter().map(|b| u64::from_le_bytes(*b)).collect())
    }

    /// Jumps by the signed offset stored here, relative to where it is stored.
    pub fn jump(&mut self) -> Parsed<()> {
        let start = self.at as i64;
        let offset = i64::from_le_bytes(self.array()?);
        let target = start.checked_add(offset).and_then(|t| usize::try_from(t).ok());
        self.at = target.ok_or_else(|| broken("jumps out of the file"))?;
        Ok(())
    }
}

/// How many bytes may still be decoded.
pub(super) struct Budget(pub usize);

impl Budget {
    pub fn spend(&mut self, bytes: usize) -> Parsed<()> {
        self.0 = self.0.checked_sub(bytes).ok_or_else(|| broken("unpacks to far more than its size"))?;
        Ok(())
    }
}

/// One LZ4 block preceded by its size, unpacked to at most `largest` bytes.
pub(super) fn unpack(cursor: &mut Cursor, largest: usize, budget: &mut Budget) -> Parsed<Vec<u8>> {
    let size = cursor.count()?;
    let packed = cursor.take(size)?;
    let (&chunks, packed) = packed.split_first().ok_or_else(|| broken("has an empty packed block"))?;
    if chunks != 0 {
        return Err(Fault::unsupported("packed blocks above 2 GB"));
    }
    // LZ4 expands a byte to at most 255.
    let room = largest.min(packed.len().saturating_mul(255) + 64);
    budget.spend(room)?;
    let mut unpacked = vec![0; room];
    let used = lz4_flex::block::decompress_into(packed, &mut unpacked)
        .map_err(|error| broken(format!("does not unpack ({error})")))?;
    unpacked.truncate(used);
    Ok(unpacked)
}

/// Integers stored as differences of 0, 1, 2 or 4 bytes (twice that for `wide`), with one frequent
/// difference stored once.
pub(super) fn unpack_integers(
    cursor: &mut Cursor,
    count: usize,
    wide: bool,
    budget: &mut Budget,
) -> Parsed<Vec<i64>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let size = if wide { 8 } else { 4 };
    let codes = count.div_ceil(4);
    let largest = count.checked_mul(size).and_then(|n| n.checked_add(codes + size));
    let data = unpack(cursor, largest.ok_or_else(|| broken("has an impossible count"))?, budget)?;
    let mut data = Cursor::new(&data, 0);
    let signed = |bytes: &[u8]| {
        let negative = bytes.last().is_some_and(|&b| b >= 0x80);
        let mut extended = [if negative { 0xff } else { 0 }; 8];
        extended[..bytes.len()].copy_from_slice(bytes);
        i64::from_le_bytes(extended)
    };
    let frequent = signed(data.take(size)?);
    let codes = data.take(codes)?;
    budget.spend(count.saturating_mul(8))?;
    let mut value = 0i64;
    let mut values = Vec::with_capacity(count);
    for i in 0..count {
        let difference = match codes[i / 4] >> (2 * (i % 4)) & 3 {
            0 => frequent,
            code => signed(data.take((size / 4) << (code - 1))?),
        };
        value = value.wrapping_add(difference);
        values.push(value);
    }
    Ok(values)
}
