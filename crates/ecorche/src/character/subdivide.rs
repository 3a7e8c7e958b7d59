//! A finer mesh of the same shape: every triangle becomes four.
//!
//! Based on: Vlachos, Peters, Boyd, Mitchell. Curved PN Triangles. 2001, for where a new vertex lies.
//!
//! Differs in: only the middle of an edge is taken, and the normals are those of each round. The vertices of the file keep their place,
//! so the shape goes through them; Loop's scheme shrinks a body, and the butterfly scheme ripples where six triangles do not
//! meet, which is everywhere on a mesh of quads.

use super::{Binding, Character, Influences, Mesh, Morph};
use crate::geom::{Adjacency, Shading, Weld};
use glam::{Vec2, Vec3};
use std::collections::HashMap;

/// Edges whose triangles meet at more than this angle at rest stay straight, radians: they are meant to be sharp.
const SHARP: f32 = 1.0;
/// Most triangles of the result.
const MOST_TRIANGLES: usize = 8_000_000;
/// Most rounds.
const MOST_ROUNDS: u32 = 4;

/// A character that would become too fine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SubdivideError {
    /// Too many rounds.
    #[error("a mesh can be subdivided {MOST_ROUNDS} times at most, not {0} times")]
    Rounds(u32),
    /// Too many triangles.
    #[error(
        "subdivided {rounds} times, the character would have {triangles} triangles, more than {MOST_TRIANGLES}; subdivide less"
    )]
    Size {
        /// Triangles there would be.
        triangles: usize,
        /// Rounds asked for.
        rounds: u32,
    },
}

/// Halves every edge of the skinned meshes `rounds` times; weights, texture coordinates and morphs are carried along. The file's
/// vertices come first and stay as they are; polygons become triangles.
pub fn subdivide(character: &mut Character, rounds: u32) -> Result<(), SubdivideError> {
    if rounds > MOST_ROUNDS {
        return Err(SubdivideError::Rounds(rounds));
    }
    let triangles: usize = character.meshes.iter().map(|mesh| mesh.triangles.len()).sum();
    let triangles = triangles << (2 * rounds);
    if rounds > 0 && triangles > MOST_TRIANGLES {
        return Err(SubdivideError::Size { triangles, rounds });
    }
    for _ in 0..rounds {
        for mesh in character.meshes.iter_mut().filter(|mesh| mesh.skin().is_some()) {
            halve_edges(mesh);
        }
    }
    Ok(())
}

/// Ends of a new vertex' edge.
type Ends = [u32; 2];

fn halve_edges(mesh: &mut Mesh) {
    let welded = mesh.surface();
    let places = middles(&welded);
    let mut weld: Weld = mesh.weld.clone();
    let mut ends: Vec<Ends> = Vec::new();
    let mut of_edge: HashMap<Ends, u32> = HashMap::new();
    let mut of_welded: HashMap<Ends, u32> = HashMap::new();
    let count = mesh.positions.len() as u32;
    let mut middle = |a: u32, b: u32| {
        let key = [a.min(b), a.max(b)];
        *of_edge.entry(key).or_insert_with(|| {
            let new = count + ends.len() as u32;
            ends.push(key);
            let [s, t] = key.map(|v| mesh.weld.surface_of_vertex[v as usize]);
            // An edge between copies of one point is that point.
            let surface = if s == t {
                s
            } else {
                *of_welded.entry([s.min(t), s.max(t)]).or_insert_with(|| {
                    weld.first_vertex.push(new);
                    weld.first_vertex.len() as u32 - 1
                })
            };
            weld.surface_of_vertex.push(surface);
            new
        })
    };
    let corner_triangles = mesh.faces.triangle_corners();
    let face_of_triangle = (0..mesh.faces.len()).flat_map(|f| {
        let count = mesh.faces.get(f).len().saturating_sub(2);
        std::iter::repeat_n(f, count)
    });
    let slot_normals = mesh.shading.normals(&mesh.positions);
    let normal_of = |c: u32| slot_normals[mesh.shading.slot_of_corner[c as usize] as usize];
    let uv_of = |c: u32| mesh.corner_uvs.get(c as usize).copied();
    let mut triangles: Vec<[u32; 3]> = Vec::with_capacity(4 * corner_triangles.len());
    let (mut normals, mut uvs): (Vec<Vec3>, Vec<Vec2>) = (Vec::new(), Vec::new());
    let mut materials = Vec::new();
    for (corners, face) in corner_triangles.iter().zip(face_of_triangle) {
        let [a, b, c] = corners.map(|c| mesh.faces.corners[c as usize]);
        let (ab, bc, ca) = (middle(a, b), middle(b, c), middle(c, a));
        triangles.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]);
        // Corners and middles, in the order of the triangles above.
        let order = [0, 3, 5, 3, 1, 4, 5, 4, 2, 3, 4, 5];
        let [na, nb, nc] = corners.map(normal_of);
        let all = [na, nb, nc, na + nb, nb + nc, nc + na].map(|n| n.normalize_or(na));
        normals.extend(order.map(|k| all[k]));
        if let [Some(ua), Some(ub), Some(uc)] = corners.map(uv_of) {
            let all = [ua, ub, uc, ua.midpoint(ub), ub.midpoint(uc), uc.midpoint(ua)];
            uvs.extend(order.map(|k| all[k]));
        }
        materials.extend(mesh.material_of_face.get(face).map(|&material| [material; 4]));
    }
    let ends_of = |v: usize| -> Ends { ends[v - count as usize] };
    for &[a, b] in &ends {
        let [s, t] = [a, b].map(|v| mesh.weld.surface_of_vertex[v as usize]);
        let straight = mesh.positions[a as usize].midpoint(mesh.positions[b as usize]);
        mesh.positions.push(places.get(&[s.min(t), s.max(t)]).copied().unwrap_or(straight));
    }
    if let Binding::Skin(skin) = &mut mesh.binding {
        let old = &skin.influences;
        let lists = (0..mesh.positions.len()).map(|v| {
            if v < count as usize {
                old.of(v).collect()
            } else {
                ends_of(v).iter().flat_map(|&end| old.of(end as usize)).collect::<Vec<_>>()
            }
        });
        skin.influences = Influences::new(lists);
    }
    for Morph { vertices, offsets, .. } in &mut mesh.morphs {
        let mut dense = vec![Vec3::ZERO; count as usize];
        vertices.iter().zip(&*offsets).for_each(|(&v, &offset)| dense[v as usize] = offset);
        for (k, &[a, b]) in ends.iter().enumerate() {
            let offset = dense[a as usize].midpoint(dense[b as usize]);
            if offset != Vec3::ZERO {
                vertices.push(count + k as u32);
                offsets.push(offset);
            }
        }
    }
    mesh.faces = super::Faces::triangles(&triangles);
    mesh.shading = Shading::new(&weld, &mesh.faces.corners, &normals, &mesh.faces.triangle_corners());
    mesh.corner_uvs = if uvs.len() == normals.len() { uvs } else { Vec::new() };
    mesh.material_of_face = materials.into_flattened();
    mesh.triangles = triangles;
    mesh.weld = weld;
}

/// Curved middles of the edges of a welded surface; straight ones are left out: those at a rim, sharp ones, and those of more than
/// two triangles.
fn middles(surface: &crate::geom::TriMesh) -> HashMap<Ends, Vec3> {
    let normals = surface.normals();
    let face_normal = |t: u32| {
        let [a, b, c] = surface.corners(t as usize);
        (b - a).cross(c - a).try_normalize()
    };
    let edges = Adjacency::new(surface).edges;
    let curved = edges.iter().filter_map(|edge| {
        let &[t, u] = edge.triangles.as_slice() else { return None };
        let bend = face_normal(t)?.angle_between(face_normal(u)?);
        let [a, b] = edge.vertices.map(|v| surface.positions[v as usize]);
        let [na, nb] = edge.vertices.map(|v| normals[v as usize]);
        let rise = na * (b - a).dot(na) + nb * (a - b).dot(nb);
        (bend <= SHARP).then(|| (edge.vertices, a.midpoint(b) - 0.125 * rise))
    });
    curved.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_cylinder_keeps_its_vertices_and_gets_rounder() {
        let before = samples::build("cylinder?segments=12&rings=8").unwrap();
        let mut after = before.clone();
        subdivide(&mut after, 1).unwrap();
        let (old, new) = (&before.meshes[0], &after.meshes[0]);
        assert_eq!(new.triangles.len(), 4 * old.triangles.len());
        assert_eq!(new.positions[..old.positions.len()], old.positions);
        assert_eq!(new.skin().unwrap().influences.len(), new.positions.len());
        assert_eq!(new.weld.surface_of_vertex.len(), new.positions.len());
        assert!(
            Adjacency::new(&new.surface()).open_edges() == Adjacency::new(&old.surface()).open_edges() * 2
        );
        assert!(new.surface().volume() > 1.01 * old.surface().volume());
    }

    #[test]
    fn texture_coordinates_and_morphs_are_carried() {
        let mut character = samples::build("cylinder?segments=12&rings=8").unwrap();
        let mesh = &mut character.meshes[0];
        mesh.corner_uvs = mesh.faces.corners.iter().map(|&v| Vec2::new(v as f32, 1.0)).collect();
        let all = (0..mesh.positions.len() as u32).collect();
        let offsets = vec![Vec3::X; mesh.positions.len()];
        mesh.morphs = vec![Morph { name: "aside".into(), vertices: all, offsets, weight: 0.0 }];
        subdivide(&mut character, 2).unwrap();
        let mesh = &character.meshes[0];
        assert_eq!(mesh.corner_uvs.len(), mesh.faces.corners.len());
        assert!(mesh.corner_uvs.iter().all(|uv| uv.y == 1.0));
        assert_eq!(mesh.morphs[0].offsets, vec![Vec3::X; mesh.positions.len()]);
    }

    #[test]
    fn too_fine_a_mesh_is_refused() {
        let mut character = samples::build("cylinder?segments=12&rings=8").unwrap();
        assert_eq!(subdivide(&mut character, 9), Err(SubdivideError::Rounds(9)));
    }
}
