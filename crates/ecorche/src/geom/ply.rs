//! Surfaces from PLY files, text or little-endian binary: positions and faces, the rest is skipped.

use super::TriMesh;
use glam::Vec3;
use thiserror::Error;

/// Why a surface file was not read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum PlyError {
    /// The header is not understood.
    #[error("PLY header: {0}")]
    Header(String),
    /// The data stops early.
    #[error("the file ends inside {element} {index}")]
    Short {
        /// Which element.
        element: String,
        /// Which one.
        index: usize,
    },
    /// A face names a missing vertex.
    #[error("face {0} names a vertex that does not exist")]
    NoSuchVertex(usize),
}

#[derive(Clone, Copy)]
struct Kind(usize, char);

fn kind(word: &str) -> Option<Kind> {
    Some(match word {
        "char" | "int8" => Kind(1, 'i'),
        "uchar" | "uint8" => Kind(1, 'u'),
        "short" | "int16" => Kind(2, 'i'),
        "ushort" | "uint16" => Kind(2, 'u'),
        "int" | "int32" => Kind(4, 'i'),
        "uint" | "uint32" => Kind(4, 'u'),
        "float" | "float32" => Kind(4, 'f'),
        "double" | "float64" => Kind(8, 'f'),
        _ => return None,
    })
}

enum Property {
    One(String, Kind),
    List(Kind, Kind),
}

/// Reads a triangle surface; faces of more corners are fanned.
pub(crate) fn read(bytes: &[u8]) -> Result<TriMesh, PlyError> {
    let header = |what: &str| PlyError::Header(what.to_owned());
    let mut at = 0;
    let mut line = || -> Result<String, PlyError> {
        let end = bytes[at..].iter().position(|&b| b == b'\n').ok_or_else(|| header("no end_header line"))?;
        let text = String::from_utf8_lossy(&bytes[at..at + end]).trim().to_owned();
        at += end + 1;
        Ok(text)
    };
    if line()? != "ply" {
        return Err(header("the file does not start with \"ply\""));
    }
    let mut text_format = None;
    let mut elements: Vec<(String, usize, Vec<Property>)> = Vec::new();
    loop {
        let text = line()?;
        let words: Vec<&str> = text.split_whitespace().collect();
        match words[..] {
            ["format", "ascii", _] => text_format = Some(true),
            ["format", "binary_little_endian", _] => text_format = Some(false),
            ["format", other, _] => return Err(PlyError::Header(format!("format {other} is not read"))),
            ["element", name, count] => {
                let count = count.parse().map_err(|_| header("an element count is no number"))?;
                elements.push((name.to_owned(), count, Vec::new()));
            }
            ["property", "list", count, item, _] => {
                let pair = kind(count).zip(kind(item)).ok_or_else(|| header("unknown property type"))?;
                let last = elements.last_mut().ok_or_else(|| header("a property before any element"))?;
                last.2.push(Property::List(pair.0, pair.1));
            }
            ["property", of, name] => {
                let of = kind(of).ok_or_else(|| header("unknown property type"))?;
                let last = elements.last_mut().ok_or_else(|| header("a property before any element"))?;
                last.2.push(Property::One(name.to_owned(), of));
            }
            ["end_header"] => break,
            _ => {}
        }
    }
    let text_format = text_format.ok_or_else(|| header("no format line"))?;
    let mut source = Source { bytes, at, text: text_format };
    let mut mesh = TriMesh::default();
    for (name, count, properties) in &elements {
        for index in 0..*count {
            let short = || PlyError::Short { element: name.clone(), index };
            let mut point = Vec3::ZERO;
            for property in properties {
                match property {
                    Property::One(axis, of) => {
                        let value = source.number(*of).ok_or_else(short)?;
                        if let Some(k) = ["x", "y", "z"].iter().position(|a| a == axis) {
                            point[k] = value as f32;
                        }
                    }
                    Property::List(count, of) => {
                        let corners = source.number(*count).ok_or_else(short)? as usize;
                        let mut list = Vec::new();
                        for _ in 0..corners {
                            list.push(source.number(*of).ok_or_else(short)? as u32);
                        }
                        if name == "face" {
                            for k in 2..list.len() {
                                mesh.triangles.push([list[0], list[k - 1], list[k]]);
                            }
                        }
                    }
                }
            }
            if name == "vertex" {
                mesh.positions.push(point);
            }
        }
    }
    let count = mesh.positions.len() as u32;
    match mesh.triangles.iter().position(|t| t.iter().any(|&v| v >= count)) {
        Some(face) => Err(PlyError::NoSuchVertex(face)),
        None => Ok(mesh),
    }
}

struct Source<'a> {
    bytes: &'a [u8],
    at: usize,
    text: bool,
}

impl Source<'_> {
    fn number(&mut self, Kind(size, sort): Kind) -> Option<f64> {
        if self.text {
            let rest = &self.bytes[self.at.min(self.bytes.len())..];
            let start = rest.iter().position(|b| !b.is_ascii_whitespace())?;
            let length = rest[start..].iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len() - start);
            self.at += start + length;
            return std::str::from_utf8(&rest[start..start + length]).ok()?.parse().ok();
        }
        let raw = self.bytes.get(self.at..self.at + size)?;
        self.at += size;
        let mut padded = [0u8; 8];
        padded[..size].copy_from_slice(raw);
        let unsigned = u64::from_le_bytes(padded);
        Some(match (sort, size) {
            ('f', 4) => f64::from(f32::from_bits(unsigned as u32)),
            ('f', _) => f64::from_bits(unsigned),
            ('i', _) => {
                let shift = 64 - 8 * size as u32;
                ((unsigned << shift) as i64 >> shift) as f64
            }
            _ => unsigned as f64,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "element vertex 3\nproperty float x\nproperty float y\nproperty float z\nelement face 1\nproperty list uchar int vertex_indices\nend_header\n";

    #[test]
    fn text_and_binary_give_the_same_surface() {
        let text = format!("ply\nformat ascii 1.0\n{HEAD}0 0 0\n1 0 0\n0 2.5 0\n3 0 1 2\n");
        let mut binary = format!("ply\nformat binary_little_endian 1.0\ncomment a\n{HEAD}").into_bytes();
        for x in [0.0f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 2.5, 0.0] {
            binary.extend(x.to_le_bytes());
        }
        binary.push(3);
        for i in [0i32, 1, 2] {
            binary.extend(i.to_le_bytes());
        }
        let mesh = read(text.as_bytes()).unwrap();
        assert_eq!(mesh, read(&binary).unwrap());
        assert!((mesh.area() - 1.25).abs() < 1e-9);
        binary.truncate(binary.len() - 2);
        assert_eq!(read(&binary), Err(PlyError::Short { element: "face".into(), index: 0 }));
        assert!(read(b"solid stl").is_err());
    }
}
