//! The vocabulary for dressing a made body: sheets cut from its skin, pieces sculpted around it.
//!
//! A [`Sheet`] is cut from the skin along the zero line of a function, so that its hems are clean, then smoothed and lifted to
//! a distance from the skin. It may stay a single open sheet, as most clothes of games are, or get a thickness and close.
//! Weights come with the skin, or are taken from the nearest of it, or are those of one bone for what is rigid.

use super::rig::{MIRROR, Rig};
use super::sculpt::Sculpture;
use super::weights::tidy;
use crate::character::Mesh;
use crate::geom::intersect::closest_with_weights;
use crate::geom::mesh::corner_normals;
use crate::geom::{Adjacency, Bvh, Shading, TriMesh, Weld};
use glam::Vec3;
use std::collections::BTreeMap;

/// `(bone, weight)` lists, one per vertex.
pub type Weights = Vec<Vec<(u32, f32)>>;

/// The body that is dressed.
#[derive(Clone, Debug)]
pub struct Wearer {
    /// Its skin.
    pub skin: TriMesh,
    /// The skin's weights.
    pub weights: Weights,
    bvh: Bvh,
    normals: Vec<Vec3>,
}

/// A piece of clothing in the making.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// Its surface.
    pub mesh: TriMesh,
    /// Its weights.
    pub weights: Weights,
}

/// Cuts nearer to a corner than this share of an edge move the corner instead, or slivers would line the hems.
const SNAP: f32 = 0.3;

/// Cosine of the angle between triangles from which an edge is hard: 50 degrees.
const HARD: f32 = 0.643;

impl Wearer {
    /// Takes a body's skin with its weights.
    pub fn new(skin: TriMesh, weights: Weights) -> Self {
        let bvh = Bvh::over_triangles(&skin.positions, &skin.triangles);
        let normals = skin.normals();
        Self { skin, weights, bvh, normals }
    }

    /// Summed weight at vertex `v` of the bones whose names `wanted` accepts.
    pub fn share(&self, rig: &Rig, v: usize, wanted: impl Fn(&str) -> bool) -> f32 {
        let list = self.weights[v].iter();
        list.filter(|&&(b, _)| wanted(&rig.bones[b as usize].name)).map(|&(_, w)| w).sum()
    }

    /// The skin where `outside` is negative, cut along its zero line. `outside` takes a vertex.
    pub fn cut(&self, outside: impl Fn(usize) -> f32) -> Sheet {
        let mut positions = self.skin.positions.clone();
        let mut value: Vec<f32> = (0..positions.len()).map(outside).collect();
        // Move corners that are nearly on the line onto it, each along the edge that it is nearest on.
        let mut moves: BTreeMap<u32, (f32, u32)> = BTreeMap::new();
        for t in &self.skin.triangles {
            for (a, b) in [(0, 1), (1, 2), (2, 0), (1, 0), (2, 1), (0, 2)].map(|(i, j)| (t[i], t[j])) {
                let (fa, fb) = (value[a as usize], value[b as usize]);
                if fa * fb < 0.0 && fa / (fa - fb) < SNAP {
                    let at = (fa / (fa - fb), b);
                    let best = moves.entry(a).or_insert(at);
                    if at < *best {
                        *best = at;
                    }
                }
            }
        }
        for (&a, &(t, b)) in &moves {
            positions[a as usize] = self.skin.positions[a as usize].lerp(self.skin.positions[b as usize], t);
            value[a as usize] = 0.0;
        }
        let mut sheet = Sheet::default();
        let mut kept: BTreeMap<[u32; 2], u32> = BTreeMap::new();
        for t in &self.skin.triangles {
            let values = t.map(|v| value[v as usize]);
            if !values.iter().any(|&f| f < 0.0) {
                continue;
            }
            let mut outline: Vec<u32> = Vec::new();
            for k in 0..3 {
                let (a, b) = (t[k], t[(k + 1) % 3]);
                let (fa, fb) = (values[k], values[(k + 1) % 3]);
                let mut point = |a: u32, b: u32, at: f32| {
                    *kept.entry([a.min(b), a.max(b)]).or_insert_with(|| {
                        let [p, q] = [a, b].map(|v| positions[v as usize]);
                        sheet.mesh.positions.push(p.lerp(q, at));
                        let [one, other] = [(a, 1.0 - at), (b, at)]
                            .map(|(v, s)| self.weights[v as usize].iter().map(move |&(b, w)| (b, w * s)));
                        sheet.weights.push(one.chain(other).collect());
                        sheet.mesh.positions.len() as u32 - 1
                    })
                };
                if fa <= 0.0 {
                    outline.push(point(a, a, 0.0));
                }
                if fa * fb < 0.0 {
                    outline.push(point(a, b, fa / (fa - fb)));
                }
            }
            for k in 1..outline.len().saturating_sub(1) {
                sheet.mesh.triangles.push([outline[0], outline[k], outline[k + 1]]);
            }
        }
        sheet
    }

    /// Smooths a sheet `rounds` times and keeps it `distance` metres above the skin.
    pub fn drape(&self, sheet: &mut Sheet, rounds: usize, distance: f32) {
        let adjacency = Adjacency::new(&sheet.mesh);
        let count = sheet.mesh.positions.len();
        let mut on_rim: Vec<Vec<u32>> = vec![Vec::new(); count];
        for edge in adjacency.edges.iter().filter(|e| e.triangles.len() == 1) {
            let [a, b] = edge.vertices;
            on_rim[a as usize].push(b);
            on_rim[b as usize].push(a);
        }
        for round in 0..=rounds {
            if round > 0 {
                let from = sheet.mesh.positions.clone();
                for (v, p) in sheet.mesh.positions.iter_mut().enumerate() {
                    // A hem follows the hem alone, or it would shrink.
                    let ring =
                        if on_rim[v].is_empty() { adjacency.vertex_ring.get(v) } else { &on_rim[v][..] };
                    let sum: Vec3 = ring.iter().map(|&w| from[w as usize]).sum();
                    *p = p.lerp(sum / ring.len().max(1) as f32, 0.5);
                }
            }
            let normals = sheet.mesh.normals();
            for (p, normal) in sheet.mesh.positions.iter_mut().zip(normals) {
                let Some((point, up)) = self.below(*p, normal) else { continue };
                let short = distance - (*p - point).dot(up);
                if short > 0.0 {
                    *p += up * short;
                }
            }
        }
    }

    /// The nearest point of the skin that faces along `normal`, and the skin's normal there.
    fn below(&self, p: Vec3, normal: Vec3) -> Option<(Vec3, Vec3)> {
        let TriMesh { positions, triangles } = &self.skin;
        let alike = |t: u32, _: Vec3| corner_normals(self.skin.corners(t as usize))[0].dot(normal) > 0.0;
        let nearest = self.bvh.nearest(p, 0.2, positions, triangles, alike)?;
        let up: Vec3 = self.spread(nearest.triangle, nearest.point).map(|(v, w)| self.normals[v] * w).sum();
        Some((nearest.point, up.normalize_or(normal)))
    }

    /// Corners of a triangle of the skin and their shares at a point on it.
    fn spread(&self, triangle: u32, point: Vec3) -> impl Iterator<Item = (usize, f32)> {
        let corners = self.skin.corners(triangle as usize).map(|p| p.as_dvec3());
        let shares = closest_with_weights(corners, point.as_dvec3()).1;
        let triangle = self.skin.triangles[triangle as usize];
        (0..3).map(move |k| (triangle[k] as usize, shares[k] as f32))
    }

    /// The weights of the nearest skin for each vertex.
    pub fn nearest_weights(&self, mesh: &TriMesh) -> Weights {
        let TriMesh { positions, triangles } = &self.skin;
        let of = |&p: &Vec3| {
            let nearest = self.bvh.nearest(p, f32::INFINITY, positions, triangles, |_, _| true);
            let mut list: Vec<(u32, f32)> = Vec::new();
            for (v, share) in nearest.into_iter().flat_map(|n| self.spread(n.triangle, n.point)) {
                add(&mut list, self.weights[v].iter().map(|&(b, w)| (b, w * share)));
            }
            list
        };
        mesh.positions.iter().map(of).collect()
    }
}

/// Adds shares to a list, each bone once.
fn add(list: &mut Vec<(u32, f32)>, more: impl Iterator<Item = (u32, f32)>) {
    for (bone, share) in more {
        match list.iter_mut().find(|l| l.0 == bone) {
            Some(known) => known.1 += share,
            None => list.push((bone, share)),
        }
    }
}

impl Sheet {
    /// A surface with weights.
    pub fn new(mesh: TriMesh, weights: Weights) -> Self {
        Self { mesh, weights }
    }

    /// A surface with all its weight on one bone.
    pub fn rigid(mesh: TriMesh, bone: usize) -> Self {
        let weights = vec![vec![(bone as u32, 1.0)]; mesh.positions.len()];
        Self { mesh, weights }
    }

    /// Puts all its weight on one bone.
    pub fn held_by(self, bone: usize) -> Self {
        Self::rigid(self.mesh, bone)
    }

    /// Gives an open sheet a second side `thickness` metres outward, and closes it.
    pub fn thicken(&mut self, thickness: f32) {
        let normals = self.mesh.normals();
        let count = self.mesh.positions.len() as u32;
        let rims: Vec<[u32; 2]> = {
            let adjacency = Adjacency::new(&self.mesh);
            let open = adjacency.edges.iter().filter(|e| e.triangles.len() == 1);
            // In the winding direction of its triangle.
            let walked = open.map(|e| {
                let t = self.mesh.triangles[e.triangles[0] as usize];
                let forward = (0..3).any(|k| [t[k], t[(k + 1) % 3]] == e.vertices);
                if forward { e.vertices } else { [e.vertices[1], e.vertices[0]] }
            });
            walked.collect()
        };
        let outer: Vec<Vec3> =
            self.mesh.positions.iter().zip(&normals).map(|(&p, &n)| p + n * thickness).collect();
        self.mesh.positions.extend(outer);
        self.weights.extend(self.weights.clone());
        let inner = self.mesh.triangles.clone();
        for t in &mut self.mesh.triangles {
            *t = t.map(|v| v + count);
        }
        self.mesh.triangles.extend(inner.iter().map(|&[a, b, c]| [a, c, b]));
        for [a, b] in rims {
            self.mesh.triangles.extend([[a, b, b + count], [a, b + count, a + count]]);
        }
    }

    /// Adds another surface as a piece of its own.
    pub fn join(&mut self, other: Sheet) {
        let first = self.mesh.positions.len() as u32;
        self.mesh.positions.extend(other.mesh.positions);
        self.mesh.triangles.extend(other.mesh.triangles.iter().map(|t| t.map(|v| v + first)));
        self.weights.extend(other.weights);
    }

    /// Its mirror image, weighted to the bones of the other side.
    pub fn mirrored(&self, rig: &Rig) -> Self {
        let other = rig.mirror_of();
        Self {
            mesh: TriMesh {
                positions: self.mesh.positions.iter().map(|&p| p * MIRROR).collect(),
                triangles: self.mesh.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect(),
            },
            weights: self
                .weights
                .iter()
                .map(|list| list.iter().map(|&(b, w)| (other[b as usize] as u32, w)).collect())
                .collect(),
        }
    }

    /// With its mirror image as a second piece.
    pub fn pair(mut self, rig: &Rig) -> Self {
        let mirrored = self.mirrored(rig);
        self.join(mirrored);
        self
    }

    /// As a smooth mesh of one material.
    pub fn finish(mut self, rig: &Rig, name: &str, material: &str) -> Mesh {
        self.tidy();
        Mesh { materials: vec![material.into()], ..rig.mesh(name, self.mesh, self.weights) }
    }

    /// As a mesh of one material with hard edges, where its vertices are split as in most files.
    pub fn finish_hard(mut self, rig: &Rig, name: &str, material: &str) -> Mesh {
        self.tidy();
        let adjacency = Adjacency::new(&self.mesh);
        let triangle_normal = |t: u32| {
            let [a, b, c] = self.mesh.corners(t as usize);
            (b - a).cross(c - a).normalize_or_zero()
        };
        let mut split = Sheet::default();
        let mut triangles = self.mesh.triangles.clone();
        let mut corner_normals = vec![Vec3::ZERO; 3 * triangles.len()];
        let mut weld = Weld { surface_of_vertex: Vec::new(), first_vertex: Vec::new() };
        for v in 0..self.mesh.positions.len() {
            weld.first_vertex.push(split.mesh.positions.len() as u32);
            let around = adjacency.triangles_of_vertex.get(v);
            let mut side_of: Vec<usize> = (0..around.len()).collect();
            for i in 0..around.len() {
                for j in 0..i {
                    let [a, b] = [around[i], around[j]];
                    let other = self.mesh.triangles[b as usize];
                    let shared = self.mesh.triangles[a as usize].iter().filter(|w| other.contains(w)).count();
                    if shared == 2 && triangle_normal(a).dot(triangle_normal(b)) > HARD {
                        let [from, to] = [side_of[i].max(side_of[j]), side_of[i].min(side_of[j])];
                        side_of.iter_mut().filter(|side| **side == from).for_each(|side| *side = to);
                    }
                }
            }
            for side in 0..around.len().max(1) {
                let members = || around.iter().zip(&side_of).filter(move |&(_, &s)| s == side).map(|m| *m.0);
                if members().next().is_none() && !around.is_empty() {
                    continue;
                }
                let normal: Vec3 = members().map(triangle_normal).sum();
                let number = split.mesh.positions.len() as u32;
                split.mesh.positions.push(self.mesh.positions[v]);
                split.weights.push(self.weights[v].clone());
                weld.surface_of_vertex.push(v as u32);
                for t in members() {
                    for k in 0..3 {
                        if self.mesh.triangles[t as usize][k] as usize == v {
                            triangles[t as usize][k] = number;
                            corner_normals[3 * t as usize + k] = normal;
                        }
                    }
                }
            }
        }
        split.mesh.triangles = triangles;
        let mesh = rig.mesh(name, split.mesh, split.weights);
        let shading =
            Shading::new(&weld, &mesh.faces.corners, &corner_normals, &mesh.faces.triangle_corners());
        Mesh { materials: vec![material.into()], weld, shading, ..mesh }
    }

    /// Few weights per vertex, summing to one.
    fn tidy(&mut self) {
        for list in &mut self.weights {
            let mut sum = Vec::new();
            add(&mut sum, list.drain(..));
            tidy(&mut sum);
            *list = sum;
        }
    }
}

/// A sculpted closed piece of about `vertices` vertices; `cell` as for
/// [`Solid::surface`](super::sculpt::Solid::surface).
pub fn sculpted(vertices: usize, cell: f32, model: impl FnOnce(&mut Sculpture)) -> TriMesh {
    let mut clay = Sculpture::default();
    model(&mut clay);
    clay.solid().surface(vertices, cell, |_| 1.0)
}

/// The larger of two functions whose zero lines bound what is kept, without the corner where they meet.
pub fn both(a: f32, b: f32) -> f32 {
    -super::sculpt::blend(-a, -b, 0.02)
}
