//! Which pieces of a character's skin bound its body, and which of their vertices can be seen from outside.
//!
//! Real characters are many pieces: an open body, clothes over it or instead of it, eyes, teeth, hair cards,
//! buckles. The body is what has the role of skin ([`crate::pieces`]), without small pieces hidden in it. All others follow.
//! Of the body only what can be seen from outside describes its shape: the mouth and the eye sockets do not. Closed pieces
//! inside it (eyes, teeth) stop up its holes.
//!
//! Where every piece is skin, those follow that are eyes, or small and around no bone.

use super::report::{Following, Reason};
use crate::geom::bvh::Aabb;
use crate::geom::intersect::{Ray, closest_on_triangle};
use crate::geom::{Adjacency, Bvh, TriMesh};
use crate::pieces::skeleton::Bones;
use crate::pieces::{Pieces, Role, encloses, turn_outward};
use glam::Vec3;
use rayon::prelude::*;

/// The skin as seen from outside.
pub(super) struct Outside {
    /// The whole surface; pieces that were inside out are turned.
    pub mesh: TriMesh,
    /// Unit, outward.
    pub normals: Vec<Vec3>,
    pub adjacency: Adjacency,
    /// Vertices of pieces that only follow.
    pub follows: Vec<bool>,
    /// Vertices from which no ray escapes.
    pub hidden: Vec<bool>,
    /// Triangles of the body that are seen, as indices into `mesh.triangles`.
    pub outer: Vec<u32>,
    /// Their corners.
    outer_triangles: Vec<[u32; 3]>,
    /// Over `outer`.
    pub outer_tree: Bvh,
    /// Triangles whose winding separates inside from outside: the body's and those of closed pieces in it.
    pub solid: Vec<bool>,
}

/// A connected piece of the surface.
struct Piece {
    triangles: Vec<u32>,
    vertices: Vec<u32>,
    size: f32,
    closed: bool,
    encloses: bool,
    eye: bool,
    /// What it has as one of [`Pieces`].
    role: Role,
    /// Whether a person gave it that role.
    given: bool,
    /// Closed, and inside the skin for the better part.
    stops_up: bool,
}

/// Of the character's size: pieces above are body even if they enclose no bone, clothes that stand for it.
const LARGE_PIECE: f32 = 0.25;
/// Of the character's size: hidden pieces below follow, eyeballs and teeth, not the body under clothes.
const SMALL_PIECE: f32 = 0.1;
/// Share of its area inside the skin above which a closed piece plugs holes of the skin: eyeballs that bulge, not plates that
/// sink in.
const STOPS_UP: f32 = 0.5;
/// Directions of the rays from a vertex that search for a way out.
const RAYS: usize = 48;
/// Escaped rays that make a vertex seen. At 2 the empty eye sockets of a human head are sampled and its field
/// is hollow there; at 5 they are not, and every vertex of the athlete's armpits and crotch still is.
const ESCAPES: usize = 5;

impl Outside {
    /// `joint_of_vertex` is the joint that moves each vertex.
    pub fn new(
        mesh: &TriMesh,
        found: &Pieces,
        joint_of_vertex: &[u32],
        bones: &Bones,
    ) -> (Self, Vec<Following>) {
        let mut mesh = mesh.clone();
        let adjacency = Adjacency::new(&mesh);
        let size = mesh.size();
        let pieces = pieces(&mut mesh, &adjacency, found, joint_of_vertex, bones);
        let all_skin = !found.is_layered();
        let normals = mesh.normals();
        let is_body = |p: &Piece| p.encloses || p.closed || p.size > LARGE_PIECE * size;
        let blocks = |p: &Piece| {
            if all_skin { is_body(p) } else { p.role == Role::Skin || p.stops_up }
        };
        let mut occluder = vec![false; mesh.triangles.len()];
        for piece in pieces.iter().filter(|p| blocks(p)) {
            piece.triangles.iter().for_each(|&t| occluder[t as usize] = true);
        }
        let hidden = hidden(&mesh, &normals, &occluder, size);
        let mut follows = vec![false; mesh.positions.len()];
        let mut solid = vec![false; mesh.triangles.len()];
        let mut following = Vec::new();
        for piece in &pieces {
            let unseen = piece.vertices.iter().filter(|&&v| hidden[v as usize]).count();
            let reason = if piece.triangles.is_empty() {
                Some(Reason::NoTriangles)
            } else if piece.role != Role::Skin {
                Some(Reason::Role)
            } else if piece.given {
                None
            } else if piece.eye {
                Some(Reason::Eye)
            } else if !piece.encloses && piece.size <= LARGE_PIECE * size {
                Some(Reason::EnclosesNoBone)
            } else if 2 * unseen > piece.vertices.len() && piece.size < SMALL_PIECE * size {
                Some(Reason::Hidden)
            } else {
                None
            };
            if reason.is_none() || if all_skin { piece.closed } else { piece.stops_up } {
                piece.triangles.iter().for_each(|&t| solid[t as usize] = true);
            }
            if let Some(reason) = reason {
                piece.vertices.iter().for_each(|&v| follows[v as usize] = true);
                following.push(Following {
                    first_vertex: piece.vertices[0],
                    vertices: piece.vertices.len(),
                    reason,
                });
            }
        }
        let outer: Vec<u32> = (0..mesh.triangles.len() as u32)
            .filter(|&t| {
                let corners = mesh.triangles[t as usize];
                !follows[corners[0] as usize] && corners.iter().any(|&v| !hidden[v as usize])
            })
            .collect();
        let outer_triangles: Vec<[u32; 3]> = outer.iter().map(|&t| mesh.triangles[t as usize]).collect();
        let outer_tree = Bvh::over_triangles(&mesh.positions, &outer_triangles);
        let outside =
            Self { mesh, normals, adjacency, follows, hidden, outer, outer_triangles, outer_tree, solid };
        (outside, following)
    }

    /// The nearest point of the seen surface within reach.
    pub fn nearest(&self, point: Vec3, within: f32) -> Option<Foot> {
        let on =
            |item: u32| closest_on_triangle(point, self.mesh.corners(self.outer[item as usize] as usize));
        let (item, distance) =
            self.outer_tree.nearest_item(point, within, |item| Some(on(item).distance_squared(point)))?;
        let foot = on(item);
        let corners = self.mesh.triangles[self.outer[item as usize] as usize];
        let far = |v: u32| self.mesh.positions[v as usize].distance_squared(foot);
        let vertex = corners.into_iter().min_by(|&a, &b| far(a).total_cmp(&far(b)).then(a.cmp(&b)))?;
        Some(Foot { point: foot, vertex, distance })
    }

    /// Distance to the first seen triangle in a direction, if within reach.
    pub fn clearance(&self, from: Vec3, direction: Vec3, reach: f32) -> Option<f32> {
        self.outer_tree
            .first_hit(&Ray::new(from, direction), reach, &self.mesh.positions, &self.outer_triangles, |_| {
                true
            })
            .map(|hit| hit.distance)
    }
}

/// The point of the seen surface nearest to another.
pub(super) struct Foot {
    pub point: Vec3,
    /// The corner of its triangle nearest to it.
    pub vertex: u32,
    pub distance: f32,
}

/// Finds the pieces and turns those that are inside out.
fn pieces(
    mesh: &mut TriMesh,
    adjacency: &Adjacency,
    found: &Pieces,
    joint_of_vertex: &[u32],
    bones: &Bones,
) -> Vec<Piece> {
    let (component, count) = adjacency.components();
    let mut pieces: Vec<Piece> = (0..count)
        .map(|_| Piece {
            triangles: Vec::new(),
            vertices: Vec::new(),
            size: 0.0,
            closed: true,
            encloses: false,
            eye: false,
            role: Role::Skin,
            given: false,
            stops_up: false,
        })
        .collect();
    for (v, &c) in component.iter().enumerate() {
        pieces[c as usize].vertices.push(v as u32);
    }
    for (t, triangle) in mesh.triangles.iter().enumerate() {
        let [a, b, c] = *triangle;
        if a != b && b != c && c != a {
            pieces[component[a as usize] as usize].triangles.push(t as u32);
        }
    }
    for edge in adjacency.edges.iter().filter(|e| e.triangles.len() != 2) {
        pieces[component[edge.vertices[0] as usize] as usize].closed = false;
    }
    for (piece, found) in pieces.iter_mut().zip(&found.pieces) {
        (piece.role, piece.given) = (found.role, found.is_given);
        piece.stops_up = piece.closed && found.in_skin >= STOPS_UP;
        turn_outward(mesh, &piece.triangles, &piece.vertices);
    }
    let mesh = &*mesh;
    pieces.par_iter_mut().for_each(|piece| {
        let corners: Vec<Vec3> = piece.vertices.iter().map(|&v| mesh.positions[v as usize]).collect();
        let bounds = Aabb::around(&corners);
        piece.size = bounds.low.distance(bounds.high);
        let mut joints: Vec<(usize, u32)> = Vec::new();
        let mut held: Vec<u32> = piece.vertices.iter().map(|&v| joint_of_vertex[v as usize]).collect();
        held.sort_unstable();
        for run in held.chunk_by(|a, b| a == b) {
            joints.push((run.len(), run[0]));
        }
        joints.sort_unstable_by_key(|&(count, joint)| (std::cmp::Reverse(count), joint));
        piece.eye = joints.iter().all(|&(_, joint)| bones.is_eye(joint));
        piece.encloses = joints.iter().any(|&(_, joint)| {
            encloses(mesh, &piece.triangles, &bounds, joints.len(), bones.points_along(joint))
        });
    });
    pieces
}

fn hidden(mesh: &TriMesh, normals: &[Vec3], occluder: &[bool], size: f32) -> Vec<bool> {
    let occluders: Vec<[u32; 3]> =
        mesh.triangles.iter().zip(occluder).filter(|(_, o)| **o).map(|(t, _)| *t).collect();
    let tree = Bvh::over_triangles(&mesh.positions, &occluders);
    // A spiral over the sphere.
    let directions: Vec<Vec3> = (0..RAYS)
        .map(|i| {
            let height = 1.0 - (2 * i + 1) as f32 / RAYS as f32;
            let angle = i as f32 * 2.399_963_2;
            let ring = (1.0 - height * height).sqrt();
            Vec3::new(ring * angle.cos(), height, ring * angle.sin())
        })
        .collect();
    let sees = |from: Vec3, direction: Vec3| {
        !tree.any_hit(&Ray::new(from, direction), size, &mesh.positions, &occluders, |_| true)
    };
    (0..mesh.positions.len())
        .into_par_iter()
        .map(|v| {
            let normal = normals[v];
            let from = mesh.positions[v] + 2e-4 * size * normal;
            // The sphere's directions, twice as dense on the vertex's side of it.
            let mut escaped = 0;
            for &direction in &directions {
                let direction = if direction.dot(normal) < 0.0 { -direction } else { direction };
                if direction.dot(normal) > 0.05 && sees(from, direction) {
                    escaped += 1;
                    if escaped == ESCAPES {
                        return false;
                    }
                }
            }
            true
        })
        .collect()
}
