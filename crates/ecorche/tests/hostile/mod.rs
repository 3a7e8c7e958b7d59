//! Damage by seed, for the tests of hostile inputs: of bytes, and of a character's arrays.

pub mod rig;

/// A generator of numbers that is the same on every machine (splitmix64).
pub struct Dice(pub u64);

impl Dice {
    /// Any number.
    pub fn roll(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A whole number below `count`; 0 for 0.
    pub fn below(&mut self, count: usize) -> usize {
        (self.roll() % count.max(1) as u64) as usize
    }

    /// One of a few.
    pub fn of<T: Copy>(&mut self, choices: &[T]) -> T {
        choices[self.below(choices.len())]
    }

    /// From -1 to 1.
    pub fn sway(&mut self) -> f32 {
        self.below(1 << 24) as f32 / (1 << 23) as f32 - 1.0
    }
}

/// Numbers that have broken things.
pub const NUMBERS: [f32; 8] = [f32::NAN, f32::INFINITY, 3e38, -1e20, 0.0, 1e-40, 1e9, -1.0];

/// Damages bytes in one to six places.
pub fn damage(bytes: &mut Vec<u8>, dice: &mut Dice) {
    for _ in 0..1 + dice.below(6) {
        if bytes.is_empty() {
            return;
        }
        let at = dice.below(bytes.len());
        match dice.below(8) {
            0 | 1 => bytes[at] ^= 1 << dice.below(8),
            2 => bytes[at] = [0, 1, 0x7f, 0xff, b'0', b'9', b'-', b' '][dice.below(8)],
            3 | 4 => {
                // Arrays of numbers are aligned.
                let at = at & !3;
                let value = match dice.below(2) {
                    0 => NUMBERS[dice.below(8)].to_le_bytes(),
                    _ => [0, 1, 7, u32::MAX, 1 << 31, 65_536, 255, 3][dice.below(8)].to_le_bytes(),
                };
                let end = (at + 4).min(bytes.len());
                bytes[at..end].copy_from_slice(&value[..end - at]);
            }
            5 => {
                // A run of numbers is moved.
                let length = dice.below(64).min(bytes.len() - at);
                let to = dice.below(bytes.len() - length + 1);
                bytes.copy_within(at..at + length, to);
            }
            6 => {
                let digits: Vec<usize> =
                    (0..bytes.len().min(4096)).filter(|&i| bytes[i].is_ascii_digit()).collect();
                if !digits.is_empty() {
                    bytes[digits[dice.below(digits.len())]] = b'0' + dice.below(10) as u8;
                }
            }
            _ if dice.below(4) == 0 => bytes.truncate(at),
            _ => bytes[at] = dice.roll() as u8,
        }
    }
}
