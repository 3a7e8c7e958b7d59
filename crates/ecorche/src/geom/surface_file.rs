//! Triangle surfaces from OBJ, PLY and VTP files: bones of an anatomy, bodies of a tissue scene.

use super::{TriMesh, obj, ply};
use glam::Vec3;
use std::path::{Path, PathBuf};

/// Why a surface was not read.
#[derive(Debug, thiserror::Error)]
pub enum SurfaceFileError {
    /// The file cannot be opened.
    #[error("{path}: {source}", path = path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: std::io::Error,
    },
    /// Its content is not understood.
    #[error("{path}: {what}", path = path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        what: String,
    },
}

/// Reads a triangle surface; polygons are fanned. The file extension chooses the format.
pub(crate) fn read(path: &Path) -> Result<TriMesh, SurfaceFileError> {
    let bytes =
        crate::input::read(path).map_err(|source| SurfaceFileError::Io { path: path.to_owned(), source })?;
    let ending = path.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    let found = match ending.as_str() {
        "ply" => ply::read(&bytes).map_err(|e| e.to_string()),
        "obj" => obj::read(&bytes).map_err(|e| e.to_string()),
        "vtp" => read_vtp(&bytes),
        other => Err(format!("surfaces are read from .obj, .ply and .vtp, not from \".{other}\"")),
    };
    let content = |what: String| SurfaceFileError::Content { path: path.to_owned(), what };
    let mesh = found.map_err(content)?;
    let count = mesh.positions.len() as u32;
    if mesh.triangles.iter().flatten().any(|&v| v >= count) {
        return Err(content("a face names a vertex that does not exist".to_owned()));
    }
    if mesh.triangles.is_empty() {
        return Err(content("no faces".to_owned()));
    }
    Ok(mesh)
}

fn fan(corners: &[u32], triangles: &mut Vec<[u32; 3]>) {
    for pair in corners.windows(2).skip(1) {
        triangles.push([corners[0], pair[0], pair[1]]);
    }
}

/// XML with numbers as text, as OpenSim's bones have them.
fn read_vtp(bytes: &[u8]) -> Result<TriMesh, String> {
    let text = std::str::from_utf8(bytes).map_err(|e| e.to_string())?;
    let document = roxmltree::Document::parse(text).map_err(|e| e.to_string())?;
    let array = |parent: &str, name: Option<&str>| {
        let holder = document.descendants().find(|n| n.has_tag_name(parent))?;
        holder
            .children()
            .find(|n| n.has_tag_name("DataArray") && (name.is_none() || n.attribute("Name") == name))
    };
    let words = |parent: &str, name: Option<&str>| -> Result<Vec<&str>, String> {
        let node = array(parent, name).ok_or_else(|| format!("no {parent} data"))?;
        match node.attribute("format") {
            Some("ascii") => Ok(node.text().unwrap_or_default().split_whitespace().collect()),
            other => Err(format!("data as {other:?} is not read; save the file with data mode ascii")),
        }
    };
    let whole = |parent: &str, name: &str| -> Result<Vec<u32>, String> {
        words(parent, Some(name))?
            .iter()
            .map(|w| w.parse().map_err(|_| format!("\"{w}\" in {name}")))
            .collect()
    };
    let numbers: Result<Vec<f32>, String> =
        words("Points", None)?.iter().map(|w| w.parse().map_err(|_| format!("\"{w}\" in Points"))).collect();
    let positions = numbers?.chunks_exact(3).map(Vec3::from_slice).collect();
    let (corners, ends) = (whole("Polys", "connectivity")?, whole("Polys", "offsets")?);
    let mut triangles = Vec::new();
    let mut start = 0;
    for end in ends {
        let polygon = corners.get(start..end as usize).ok_or("offsets run backwards or past the corners")?;
        fan(polygon, &mut triangles);
        start = end as usize;
    }
    Ok(TriMesh { positions, triangles })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_square_from_every_format() {
        let folder = tempfile::tempdir().unwrap();
        let files = [
            ("a.obj", "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1/1 2/2 3/3 -1\n".to_owned()),
            (
                "a.ply",
                "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\n\
                 element face 1\nproperty list uchar int vertex_indices\nend_header\n\
                 0 0 0\n1 0 0\n1 1 0\n0 1 0\n4 0 1 2 3\n"
                    .to_owned(),
            ),
            (
                "a.vtp",
                "<VTKFile><PolyData><Piece><Points><DataArray format=\"ascii\">0 0 0 1 0 0 1 1 0 0 1 0</DataArray>\
                 </Points><Polys><DataArray Name=\"connectivity\" format=\"ascii\">0 1 2 3</DataArray>\
                 <DataArray Name=\"offsets\" format=\"ascii\">4</DataArray></Polys></Piece></PolyData></VTKFile>"
                    .to_owned(),
            ),
        ];
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            let mesh = read(&path).unwrap();
            assert_eq!(mesh.triangles, [[0, 1, 2], [0, 2, 3]], "{name}");
            assert!((mesh.area() - 1.0).abs() < 1e-6);
        }
        let path = folder.path().join("a.obj");
        std::fs::write(&path, "v 0 0 0\nf 1 2 3\n").unwrap();
        assert!(read(&path).unwrap_err().to_string().contains("does not exist"));
        assert!(read(&folder.path().join("none.ply")).is_err());
    }
}
