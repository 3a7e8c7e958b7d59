//! Values of a second program, which the tests of this folder share.

use crate::geom::TriMesh;
use glam::DVec3;
use serde_json::Value;

pub fn golden() -> Value {
    serde_json::from_str(include_str!("../../../tests/data/golden_tracking.json")).unwrap()
}

pub fn numbers(list: &Value) -> Vec<f64> {
    list.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

pub fn indices(list: &Value) -> Vec<u32> {
    list.as_array().unwrap().iter().map(|v| v.as_u64().unwrap() as u32).collect()
}

pub fn vectors(list: &Value) -> Vec<DVec3> {
    list.as_array().unwrap().iter().map(|v| DVec3::from_slice(&numbers(v))).collect()
}

/// An uneven closed tube of 38 vertices.
pub fn mesh() -> TriMesh {
    let golden = &golden()["mesh"];
    let faces = golden["faces"].as_array().unwrap();
    TriMesh {
        positions: vectors(&golden["vertices"]).iter().map(|p| p.as_vec3()).collect(),
        triangles: faces.iter().map(|f| <[u32; 3]>::try_from(indices(f)).unwrap()).collect(),
    }
}
