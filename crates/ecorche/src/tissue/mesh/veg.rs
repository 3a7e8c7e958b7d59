//! VegaFEM `.veg` text files: vertices and tetrahedra.

use super::super::tet_mesh::TetMesh;
use glam::DVec3;
use thiserror::Error;

/// Why a mesh file was not read.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum ReadError {
    /// A line that does not say what its section needs.
    #[error("line {line}: {what}")]
    Line {
        /// Line number from 1.
        line: usize,
        /// What is wrong.
        what: String,
    },
    /// The file ends too early or lacks a section.
    #[error("the file has no {0}")]
    Missing(&'static str),
}

pub(super) fn bad(line: usize, what: impl Into<String>) -> ReadError {
    ReadError::Line { line: line + 1, what: what.into() }
}

/// Numbers of a line; an error names the word that is not one.
pub(super) fn numbers<T: std::str::FromStr>(line: usize, text: &str) -> Result<Vec<T>, ReadError> {
    text.split([' ', '\t', ','])
        .filter(|w| !w.is_empty())
        .map(|w| w.parse().map_err(|_| bad(line, format!("\"{w}\" is not a valid number here"))))
        .collect()
}

/// Reads a `.veg` text. Cubic elements are refused; `*INCLUDE` is not followed, and materials are left to the scene.
pub fn read(text: &str) -> Result<TetMesh, ReadError> {
    let lines: Vec<(usize, &str)> = text
        .lines()
        .enumerate()
        .map(|(n, l)| (n, l.trim()))
        .filter(|(_, l)| !l.is_empty() && !l.starts_with('#'))
        .collect();
    let mut mesh = TetMesh::default();
    let mut numbering = Vec::new();
    let mut seen = (false, false);
    let mut i = 0;
    while i < lines.len() {
        let (n, line) = lines[i];
        let key = line.split_whitespace().next().unwrap_or_default().to_ascii_uppercase();
        i += 1;
        match key.as_str() {
            "*VERTICES" => {
                seen.0 = true;
                let (n, head) = *lines.get(i).ok_or(ReadError::Missing("vertex count"))?;
                let count = *numbers::<usize>(n, head)?.first().ok_or_else(|| bad(n, "no vertex count"))?;
                i += 1;
                for &(n, row) in lines.iter().skip(i).take(count) {
                    let values = numbers::<f64>(n, row)?;
                    let [id, x, y, z] = values[..] else { return Err(bad(n, "a vertex is: number x y z")) };
                    if !(x.is_finite() && y.is_finite() && z.is_finite()) {
                        return Err(bad(n, "a coordinate is not a finite number"));
                    }
                    numbering.push((id as i64, mesh.nodes.len() as u32));
                    mesh.nodes.push(DVec3::new(x, y, z));
                }
                i += count;
                if mesh.nodes.len() < count {
                    return Err(bad(n, format!("{count} vertices announced, {} given", mesh.nodes.len())));
                }
                numbering.sort_unstable();
            }
            "*ELEMENTS" => {
                seen.1 = true;
                let (n, kind) = *lines.get(i).ok_or(ReadError::Missing("element type"))?;
                if !kind.to_ascii_uppercase().starts_with("TET") {
                    return Err(bad(n, format!("elements of type {kind}; only TET is read")));
                }
                let (n, head) = *lines.get(i + 1).ok_or(ReadError::Missing("element count"))?;
                let count = *numbers::<usize>(n, head)?.first().ok_or_else(|| bad(n, "no element count"))?;
                i += 2;
                for &(n, row) in lines.iter().skip(i).take(count) {
                    let values = numbers::<i64>(n, row)?;
                    let [_, corners @ ..] = &values[..] else { return Err(bad(n, "an empty element")) };
                    let mut tet = [0; 4];
                    if corners.len() < 4 {
                        return Err(bad(n, "a tetrahedron is: number and four vertices"));
                    }
                    for (corner, id) in tet.iter_mut().zip(corners) {
                        let found = numbering.binary_search_by_key(id, |p| p.0);
                        *corner =
                            numbering[found.map_err(|_| bad(n, format!("vertex {id} does not exist")))?].1;
                    }
                    mesh.tets.push(tet);
                }
                i += count;
                if mesh.tets.len() < count {
                    return Err(bad(n, format!("{count} elements announced, {} given", mesh.tets.len())));
                }
            }
            "*MATERIAL" => i += 1,
            _ if key.starts_with('*') => {}
            _ if seen.1 => {}
            _ => return Err(bad(n, format!("\"{line}\" outside any section"))),
        }
    }
    if !seen.0 {
        return Err(ReadError::Missing("*VERTICES section"));
    }
    if !seen.1 {
        return Err(ReadError::Missing("*ELEMENTS section"));
    }
    Ok(mesh)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vertices_and_tetrahedra_are_read_from_any_first_number() {
        let text = "# a comment\n*VERTICES\n4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n*MATERIAL fat\nENU, 920, 5e3, 0.48\n\
            *ELEMENTS\nTET\n1 4 0\n1 1 2 3 4\n*REGION\nallElements, fat\n";
        let mesh = read(text).unwrap();
        assert_eq!((mesh.nodes.len(), mesh.nodes[3], &mesh.tets[..]), (4, DVec3::Z, &[[0, 1, 2, 3]][..]));
        let from_zero =
            "*VERTICES\n4 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n*ELEMENTS\nTET\n1 4 0\n0 0 1 2 3\n";
        assert_eq!(read(from_zero).unwrap(), mesh);
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let text = "*VERTICES\n2 3 0 0\n0 0 0 0\n1 0 x 0\n";
        assert_eq!(read(text).unwrap_err().to_string(), "line 4: \"x\" is not a valid number here");
        let text = "*VERTICES\n1 3 0 0\n0 0 0 0\n*ELEMENTS\nTET\n1 4 0\n1 0 0 0 7\n";
        assert_eq!(read(text).unwrap_err().to_string(), "line 7: vertex 7 does not exist");
        assert_eq!(
            read("*VERTICES\n5 3 0 0\n0 0 0 0\n").unwrap_err().to_string(),
            "line 2: 5 vertices announced, 1 given"
        );
        assert_eq!(read("*VERTICES\n1 3 0 0\n0 0 0 0\n"), Err(ReadError::Missing("*ELEMENTS section")));
    }
}
