//! Addresses in files: paths relative to the file, with escaped characters, and data written out in the address.

use std::path::{Component, PathBuf};

/// The path a URI names, unless it leads out of the folder.
pub fn relative_path(uri: &str) -> Option<PathBuf> {
    let scheme_end = uri.find(':');
    if scheme_end
        .is_some_and(|end| uri[..end].chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c)))
    {
        return None;
    }
    let decoded = String::from_utf8(percent_decode(uri.as_bytes())).ok()?;
    // Some exporters on Windows write its separators.
    let path = PathBuf::from(decoded.replace('\\', "/"));
    let stays = path.components().all(|c| matches!(c, Component::Normal(_) | Component::CurDir));
    (stays && path.file_name().is_some()).then_some(path)
}

fn percent_decode(bytes: &[u8]) -> Vec<u8> {
    let hex = |b: u8| (b as char).to_digit(16).map(|d| d as u8);
    let mut decoded = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let escaped = match (byte, bytes.get(at + 1), bytes.get(at + 2)) {
            (b'%', Some(&high), Some(&low)) => hex(high).zip(hex(low)),
            _ => None,
        };
        decoded.push(escaped.map_or(byte, |(high, low)| high << 4 | low));
        at += if escaped.is_some() { 3 } else { 1 };
    }
    decoded
}

/// What follows `data:` in a URI.
pub fn decode_data_uri(data: &str) -> Option<Vec<u8>> {
    let (kind, payload) = data.split_once(',')?;
    if kind.ends_with(";base64") {
        decode_base64(payload.as_bytes())
    } else {
        Some(percent_decode(payload.as_bytes()))
    }
}

/// Standard and URL-safe alphabets; white space and padding are skipped.
fn decode_base64(text: &[u8]) -> Option<Vec<u8>> {
    let mut decoded = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let (mut bits, mut bit_count) = (0u32, 0);
    for &byte in text {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' | b' ' | b'\t' | b'\r' | b'\n' => continue,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        bit_count += 6;
        if bit_count >= 8 {
            bit_count -= 8;
            decoded.push((bits >> bit_count) as u8);
            bits &= (1 << bit_count) - 1;
        }
    }
    Some(decoded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_of_every_length_decodes() {
        let cases = ["", "Zg==", "Zm8=", "Zm9v", "Zm9vYg", "Zm9v\nYmE="];
        let decoded = cases.map(|c| decode_base64(c.as_bytes()).unwrap());
        assert_eq!(decoded, [&b""[..], b"f", b"fo", b"foo", b"foob", b"fooba"]);
        assert_eq!(decode_base64(b"Zm9*"), None);
    }

    #[test]
    fn a_buffer_address_cannot_leave_its_folder() {
        let refused = [
            "../x.bin",
            "a/../../x.bin",
            "/etc/x",
            "file:///x",
            "http://host/x",
            "C:/x",
            "..\\x",
            "%2e%2e/x",
            "",
        ];
        for uri in refused {
            assert_eq!(relative_path(uri), None, "{uri}");
        }
        assert_eq!(relative_path("my%20mesh%231.bin"), Some(PathBuf::from("my mesh#1.bin")));
        assert_eq!(relative_path("sub\\a.bin"), Some(PathBuf::from("sub/a.bin")));
        assert_eq!(relative_path("50%.bin"), Some(PathBuf::from("50%.bin")));
    }

    #[test]
    fn a_plain_text_data_uri_is_taken_literally() {
        assert_eq!(decode_data_uri("application/octet-stream,ab%00c"), Some(b"ab\0c".to_vec()));
        assert_eq!(decode_data_uri("no comma"), None);
    }
}
