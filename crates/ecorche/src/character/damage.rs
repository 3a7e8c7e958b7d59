//! Damaged files for the readers' tests.

use arbtest::arbitrary::{Result, Unstructured};

/// `sound` with up to six changes: a byte overwritten, a count of another size, the end cut off, some bytes removed, or one of
/// `words` inserted.
pub fn damaged(u: &mut Unstructured, sound: &[u8], words: &[&str]) -> Result<Vec<u8>> {
    let mut bytes = sound.to_vec();
    for _ in 0..u.int_in_range(1..=6)? {
        let at = u.choose_index(bytes.len())?;
        match u.int_in_range(0..=4)? {
            0 => bytes[at] = u.arbitrary()?,
            1 => {
                let count: u64 = *u.choose(&[0, 1 << 20, 1 << 32, 1 << 40, u64::MAX])?;
                let end = (at + 8).min(bytes.len());
                bytes[at..end].copy_from_slice(&count.to_le_bytes()[..end - at]);
            }
            2 => bytes.truncate(at.max(1)),
            3 => {
                let end = (at + u.int_in_range(0..=40)?).min(bytes.len());
                bytes.drain(at..end);
                bytes.push(b' ');
            }
            _ => drop(bytes.splice(at..at, u.choose(words)?.bytes())),
        }
    }
    Ok(bytes)
}
