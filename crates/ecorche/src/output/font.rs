//! A stroke font drawn for this program: technical, open shapes that stay readable at twelve pixels.
//!
//! Each glyph is a width and its strokes. A stroke is a row of points, two letters each: across, then up,
//! counted 0-9 then a-z. `~` marks the point that follows as the corner a curve is pulled towards
//! (quadratic Bezier). Strokes are separated by blanks; a stroke of one point is a dot.
//! Heights: 0 foot of the descenders, 4 baseline, e top of the small letters, i top of the capitals.

/// Height of the baseline in font units.
pub(super) const BASELINE: f32 = 4.0;
/// Font units in the size of a font: small letters are then half a size high.
pub(super) const UNITS: f32 = 20.0;
/// Blank between two glyphs, font units.
pub(super) const SPACING: f32 = 3.4;

/// Width and strokes of a character; a box for one that was never drawn.
pub(super) fn glyph(character: char) -> (f32, &'static str) {
    let (width, strokes) = match character {
        ' ' | '\u{a0}' => (3, ""),
        'A' => (10, "045ia4 2989"),
        'B' => (9, "0c5c~8c8f~8i5i0i0454~9498~9c5c"),
        'C' => (10, "af~9i5i~0i0b~0454~94a7"),
        'D' => (10, "0i4i~aiab~a444040i"),
        'E' => (8, "8i0i0484 0b7b"),
        'F' => (8, "8i0i04 0b7b"),
        'G' => (10, "af~9i5i~0i0b~0454~a4a9aa6a"),
        'H' => (10, "040i a4ai 0bab"),
        'I' => (2, "141i"),
        'J' => (7, "7i78~7444~1407"),
        'K' => (9, "040i 9i09 3c94"),
        'L' => (8, "0i0484"),
        'M' => (12, "040i68cic4"),
        'N' => (10, "040ia4ai"),
        'O' => (12, "6i~0i0b~0464~c4cb~ci6i"),
        'P' => (9, "040i5i~9i9e~9a5a0a"),
        'Q' => (12, "6i~0i0b~0464~c4cb~ci6i 77c2"),
        'R' => (9, "040i5i~9i9e~9a5a0a 5a94"),
        'S' => (9, "8g~7i4i~0i0f~0c4b~9a98~9444~1407"),
        'T' => (10, "0iai 5i54"),
        'U' => (10, "0i09~0454~a4a9ai"),
        'V' => (10, "0i54ai"),
        'W' => (14, "0i447ga4ei"),
        'X' => (10, "0ia4 04ai"),
        'Y' => (10, "0i5b54 5bai"),
        'Z' => (9, "0i9i0494"),
        'a' => (8, "1c~2e4e~8e8a84 8a4a~0a07~0434~7488"),
        'b' => (8, "0i04 09~0e4e~8e89~8444~0409"),
        'c' => (7, "7c~6e4e~0e09~0444~6476"),
        'd' => (8, "8i84 89~8e4e~0e09~0444~8489"),
        'e' => (8, "0989~8e4e~0e09~0444~7486"),
        'f' => (5, "5i~2i2f24 0e5e"),
        'g' => (8, "89~8e4e~0e09~0444~8489 8e83~8040~1002"),
        'h' => (8, "0i04 09~0e4e~8e8a84"),
        'i' => (2, "1e14 1i"),
        'j' => (3, "2e22~2000 2i"),
        'k' => (7, "0i04 7e08 2a74"),
        'l' => (3, "1i16~1434"),
        'm' => (12, "0e04 0a~0e3e~6e6a64 6a~6e9e~cecac4"),
        'n' => (8, "0e04 09~0e4e~8e8a84"),
        'o' => (8, "4e~0e09~0444~8489~8e4e"),
        'p' => (8, "0e00 09~0e4e~8e89~8444~0409"),
        'q' => (8, "8e80 89~8e4e~0e09~0444~8489"),
        'r' => (5, "0e04 09~0e5e"),
        's' => (7, "7c~6e3e~0e0c~0a39~7876~7444~1406"),
        't' => (5, "2h27~2454 0e5e"),
        'u' => (8, "0e08~0444~8489 8e84"),
        'v' => (8, "0e448e"),
        'w' => (12, "0e346d94ce"),
        'x' => (8, "0e84 048e"),
        'y' => (8, "0e44 8e44~3000"),
        'z' => (7, "0e7e0474"),
        '0' => (8, "4i~0i0b~0444~848b~8i4i"),
        '1' => (8, "1f4i44 1474"),
        '2' => (8, "0f~0i4i~8i8e~8b0484"),
        '3' => (8, "0g~1i4i~8i8f~8b3b 3b4b~8b88~8444~1406"),
        '4' => (8, "6i0888 6i64"),
        '5' => (8, "7i1i0b~2d4d~8d89~8444~1406"),
        '6' => (8, "7g~6i4i~0i0a08~0444~8488~8c4c~1c09"),
        '7' => (8, "0i8i34"),
        '8' => (8, "4c~1c1f~1i4i~7i7f~7c4c~0c08~0444~8488~8c4c"),
        '9' => (8, "16~2444~848c8e~8i4i~0i0e~0a4a~7a8d"),
        '.' => (2, "14"),
        ',' => (2, "1401"),
        ':' => (2, "14 1c"),
        ';' => (2, "1401 1c"),
        '!' => (2, "1i19 14"),
        '?' => (7, "0f~0i3i~7i7e~7b3a38 34"),
        '-' => (6, "0a6a"),
        '_' => (9, "0292"),
        '+' => (8, "0a8a 4e46"),
        '=' => (8, "0c8c 0888"),
        '*' => (6, "3i3c 0g6e 0e6g"),
        '/' => (7, "027j"),
        '\\' => (7, "0j72"),
        '|' => (2, "1j11"),
        '(' => (4, "4j~0g0a~0441"),
        ')' => (4, "0j~4g4a~4401"),
        '[' => (4, "4j0j0141"),
        ']' => (4, "0j4j4101"),
        '{' => (5, "5j~2j2g2c~2a0a~2a2824~2151"),
        '}' => (5, "0j~3j3g3c~3a5a~3a3834~3101"),
        '<' => (8, "8f0a85"),
        '>' => (8, "0f8a05"),
        '~' => (9, "09~2d5a~779b"),
        '^' => (8, "0c4i8c"),
        '`' => (3, "0j3g"),
        '\'' => (2, "1i1e"),
        '"' => (5, "1i1e 4i4e"),
        '#' => (10, "3i14 9i74 08a8 0eae"),
        '$' => (9, "8g~7i4i~0i0f~0c4b~9a98~9444~1407 4k42"),
        '%' => (12, "bi14 3i~0i0f~0c3c~6c6f~6i3i 9a~6a67~6494~c4c7~ca9a"),
        '&' => (11, "b43d~1i5i~9i7d3b~0a07~0444~94aa"),
        '@' => (14, "7d~4d4a~4777~a7aa~ad7d ada8~a6c6~e6ea~ei7i~0i0a~0171~a1c2"),
        '°' => (6, "3i~1i1g~1e3e~5e5g~5i3i"),
        '×' => (8, "1d77 177d"),
        '±' => (8, "0c8c 4g48 0484"),
        'µ' => (8, "0e00 08~0444~8489 8e84"),
        '²' => (4, "0h~1j2j~4j4h~4f0c4c"),
        '³' => (4, "0j4j2g~4g4e~4c2c~1c0d"),
        '·' => (2, "1a"),
        '–' => (9, "0a9a"),
        '…' => (10, "14 54 94"),
        '→' => (12, "0aca 8eca86"),
        'É' => (8, "8i0i0484 0b7b 3k6m"),
        'é' => (8, "0989~8e4e~0e09~0444~7486 3h6k"),
        'è' => (8, "0989~8e4e~0e09~0444~7486 5h2k"),
        _ => (8, "0i8i84040i"),
    };
    (width as f32, strokes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_printable_ascii_character_is_drawn() {
        let unknown = glyph('\u{1}').1;
        for character in (33..127u8).map(char::from).chain("°×±µ²³·–…→Éé".chars()) {
            let (width, strokes) = glyph(character);
            assert!(!strokes.is_empty() && strokes != unknown && width > 0.0, "{character}");
            for stroke in strokes.split(' ') {
                let points = stroke.replace('~', "");
                assert!(points.len() % 2 == 0 && points.chars().all(|c| c.is_digit(36)), "{character}");
                assert!(!stroke.starts_with('~') && !stroke.contains("~~"), "{character}");
            }
        }
    }
}
