//! Legacy VTK text files of tetrahedra, with named values per tetrahedron and node for viewers.

use super::super::tet_mesh::TetMesh;
use super::veg::{ReadError, bad};
use glam::DVec3;
use std::fmt::Write;

/// A named array to write with the mesh.
#[derive(Clone, Debug)]
pub enum Values<'a> {
    /// One number each.
    Numbers(&'a [f64]),
    /// One vector each.
    Vectors(&'a [DVec3]),
}

/// Writes an unstructured grid; arrays whose length does not match are left out.
pub fn write(mesh: &TetMesh, of_tets: &[(&str, Values)], of_nodes: &[(&str, Values)]) -> String {
    let mut out = String::from("# vtk DataFile Version 3.0\necorche\nASCII\nDATASET UNSTRUCTURED_GRID\n");
    let _ = writeln!(out, "POINTS {} double", mesh.nodes.len());
    for p in &mesh.nodes {
        let _ = writeln!(out, "{} {} {}", p.x, p.y, p.z);
    }
    let _ = writeln!(out, "CELLS {} {}", mesh.tets.len(), 5 * mesh.tets.len());
    for t in &mesh.tets {
        let _ = writeln!(out, "4 {} {} {} {}", t[0], t[1], t[2], t[3]);
    }
    let _ = writeln!(out, "CELL_TYPES {}", mesh.tets.len());
    out.push_str(&"10\n".repeat(mesh.tets.len()));
    for (kind, count, arrays) in
        [("CELL_DATA", mesh.tets.len(), of_tets), ("POINT_DATA", mesh.nodes.len(), of_nodes)]
    {
        if arrays.is_empty() {
            continue;
        }
        let _ = writeln!(out, "{kind} {count}");
        for (name, values) in arrays {
            match values {
                Values::Numbers(list) if list.len() == count => {
                    let _ = writeln!(out, "SCALARS {name} double 1\nLOOKUP_TABLE default");
                    for x in *list {
                        let _ = writeln!(out, "{x}");
                    }
                }
                Values::Vectors(list) if list.len() == count => {
                    let _ = writeln!(out, "VECTORS {name} double");
                    for v in *list {
                        let _ = writeln!(out, "{} {} {}", v.x, v.y, v.z);
                    }
                }
                _ => {}
            }
        }
    }
    out
}

/// Reads points and the tetrahedra among the cells.
pub fn read(text: &str) -> Result<TetMesh, ReadError> {
    if !text.starts_with("# vtk") {
        return Err(bad(0, "not a legacy VTK file"));
    }
    if !text.lines().nth(2).is_some_and(|l| l.trim().eq_ignore_ascii_case("ASCII")) {
        return Err(bad(2, "only ASCII files are read"));
    }
    let mut words =
        text.lines().enumerate().skip(3).flat_map(|(n, l)| l.split_whitespace().map(move |w| (n, w)));
    let mut mesh = TetMesh::default();
    let mut cells: Vec<Vec<u32>> = Vec::new();
    let mut types: Vec<u32> = Vec::new();
    fn next<'a, T: std::str::FromStr>(
        words: &mut impl Iterator<Item = (usize, &'a str)>,
        what: &'static str,
    ) -> Result<T, ReadError> {
        let (n, w) = words.next().ok_or(ReadError::Missing(what))?;
        w.parse().map_err(|_| bad(n, format!("\"{w}\" is not a {what}")))
    }
    while let Some((n, word)) = words.next() {
        match word.to_ascii_uppercase().as_str() {
            "POINTS" => {
                let count: usize = next(&mut words, "point count")?;
                words.next();
                for _ in 0..count {
                    let mut c = || next::<f64>(&mut words, "coordinate");
                    let p = DVec3::new(c()?, c()?, c()?);
                    if !p.is_finite() {
                        return Err(bad(n, format!("point {} is not a finite number", mesh.nodes.len())));
                    }
                    mesh.nodes.push(p);
                }
            }
            "CELLS" => {
                let count: usize = next(&mut words, "cell count")?;
                words.next();
                for _ in 0..count {
                    let corners: usize = next(&mut words, "corner count")?;
                    let mut cell = Vec::new();
                    for _ in 0..corners {
                        cell.push(next::<u32>(&mut words, "node number")?);
                    }
                    cells.push(cell);
                }
            }
            "CELL_TYPES" => {
                let count: usize = next(&mut words, "cell count")?;
                for _ in 0..count {
                    types.push(next(&mut words, "cell type")?);
                }
            }
            "CELL_DATA" | "POINT_DATA" => break,
            _ => {}
        }
    }
    for (cell, _) in cells.iter().zip(&types).filter(|(_, t)| **t == 10) {
        let Ok(tet) = <[u32; 4]>::try_from(&cell[..]) else {
            return Err(ReadError::Missing("four corners for every tetrahedron"));
        };
        if tet.iter().any(|&n| n as usize >= mesh.nodes.len()) {
            return Err(ReadError::Missing("points that the cells name"));
        }
        mesh.tets.push(tet);
    }
    if mesh.tets.is_empty() {
        return Err(ReadError::Missing("tetrahedra"));
    }
    Ok(mesh)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back() {
        let mesh = TetMesh::brick(DVec3::ZERO, DVec3::ONE, [2, 1, 1]);
        let fibres = vec![DVec3::X; mesh.tets.len()];
        let text = write(&mesh, &[("fibre", Values::Vectors(&fibres))], &[]);
        assert!(text.contains("VECTORS fibre double"));
        assert_eq!(read(&text).unwrap(), mesh);
        assert!(read("<VTKFile>").is_err());
        assert!(read(&text.replace("CELLS 12", "CELLS 900000000000")).is_err());
    }
}
