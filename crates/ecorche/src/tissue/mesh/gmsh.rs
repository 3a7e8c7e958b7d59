//! Gmsh `.msh` text files of version 2.2 and 4.1.

use super::super::tet_mesh::TetMesh;
use super::veg::{ReadError, bad, numbers};
use glam::DVec3;

/// Reads the nodes and the four-node tetrahedra.
pub fn read(text: &str) -> Result<TetMesh, ReadError> {
    let mut lines = text.lines().enumerate().map(|(n, l)| (n, l.trim())).filter(|(_, l)| !l.is_empty());
    let mut version = 0.0;
    let mut mesh = TetMesh::default();
    let mut ids: Vec<(u64, u32)> = Vec::new();
    let mut tets: Vec<(usize, [u64; 4])> = Vec::new();
    let mut row = |what: &'static str| lines.next().ok_or(ReadError::Missing(what));
    while let Ok((n, line)) = row("line") {
        match line {
            "$MeshFormat" => {
                let (n, l) = row("format")?;
                let format = numbers::<f64>(n, l)?;
                version = format.first().copied().unwrap_or(0.0);
                if format.get(1) != Some(&0.0) || !(2.0..5.0).contains(&version) {
                    return Err(bad(n, "only text files of version 2 or 4 are read"));
                }
            }
            "$Nodes" => {
                let (n, l) = row("node count")?;
                let head = numbers::<usize>(n, l)?;
                let blocks = if version >= 4.0 { head.first().copied().unwrap_or(0) } else { 1 };
                for _ in 0..blocks {
                    let count = if version >= 4.0 {
                        let (n, l) = row("node block")?;
                        *numbers::<usize>(n, l)?
                            .get(3)
                            .ok_or_else(|| bad(n, "a node block has four numbers"))?
                    } else {
                        *head.first().ok_or_else(|| bad(n, "no node count"))?
                    };
                    let mut block = Vec::new();
                    if version >= 4.0 {
                        for _ in 0..count {
                            let (n, l) = row("node number")?;
                            block.extend(numbers::<u64>(n, l)?.first());
                        }
                    }
                    for k in 0..count {
                        let (n, l) = row("node")?;
                        let values = numbers::<f64>(n, l)?;
                        let skip = if version >= 4.0 { 0 } else { 1 };
                        if values.len() < skip + 3 || values.iter().any(|v| !v.is_finite()) {
                            return Err(bad(n, "a node needs three finite coordinates"));
                        }
                        let id = if version >= 4.0 {
                            block.get(k).copied().unwrap_or(0)
                        } else {
                            values[0] as u64
                        };
                        ids.push((id, mesh.nodes.len() as u32));
                        mesh.nodes.push(DVec3::from_slice(&values[skip..]));
                    }
                }
            }
            "$Elements" => {
                let (n, l) = row("element count")?;
                let head = numbers::<usize>(n, l)?;
                let blocks = if version >= 4.0 { head.first().copied().unwrap_or(0) } else { 1 };
                for _ in 0..blocks {
                    let (kind, count) = if version >= 4.0 {
                        let (n, l) = row("element block")?;
                        let b = numbers::<usize>(n, l)?;
                        let [_, _, kind, count] = b[..] else {
                            return Err(bad(n, "an element block has four numbers"));
                        };
                        (Some(kind), count)
                    } else {
                        (None, *head.first().ok_or_else(|| bad(n, "no element count"))?)
                    };
                    for _ in 0..count {
                        let (n, l) = row("element")?;
                        let values = numbers::<u64>(n, l)?;
                        let is_tet = kind.map_or(values.get(1) == Some(&4), |k| k == 4);
                        if is_tet {
                            let skip = if kind.is_some() {
                                1
                            } else {
                                3 + values.get(2).copied().unwrap_or(0) as usize
                            };
                            let corners = values.get(skip..skip + 4).and_then(|c| c.try_into().ok());
                            tets.push((n, corners.ok_or_else(|| bad(n, "a tetrahedron needs four nodes"))?));
                        }
                    }
                }
            }
            _ if line.starts_with('$') || version > 0.0 => {}
            _ => return Err(bad(n, "not a Gmsh file")),
        }
    }
    ids.sort_unstable();
    for (n, corners) in tets {
        let mut tet = [0; 4];
        for (corner, id) in tet.iter_mut().zip(corners) {
            let found = ids.binary_search_by_key(&id, |p| p.0);
            *corner = ids[found.map_err(|_| bad(n, format!("node {id} does not exist")))?].1;
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
    fn version_two_is_read() {
        let text = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n7 0 0 1\n$EndNodes\n\
            $Elements\n2\n1 2 2 1 1 1 2 3\n2 4 2 1 1 1 2 3 7\n$EndElements\n";
        let mesh = read(text).unwrap();
        assert_eq!((mesh.nodes.len(), &mesh.tets[..]), (4, &[[0, 1, 2, 3]][..]), "the triangle is left out");
    }

    #[test]
    fn version_four_is_read() {
        let text = "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 4 1 4\n3 1 0 4\n1\n2\n3\n4\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n$EndNodes\n$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 3 4\n$EndElements\n";
        let mesh = read(text).unwrap();
        assert!((mesh.volume() - 1.0 / 6.0).abs() < 1e-15);
        assert!(read(&text.replace("1 1 2 3 4", "1 1 2 3 9")).unwrap_err().to_string().contains("node 9"));
    }
}
