//! The skin that can wrinkle, as a surface of its own: vertices, edges and triangles that are compressed in some pose.

use super::compression::Compression;
use crate::geom::{Adjacency, Laplacian, TriMesh};
use glam::DVec3;

/// Vertices whose largest compression is below this never wrinkle.
const NEVER: f64 = 0.02;

/// An edge between two vertices of the patch.
#[derive(Clone, Copy, Debug)]
pub(super) struct PatchEdge {
    pub a: usize,
    pub b: usize,
    /// Cotangent weight.
    pub weight: f64,
    /// Metres.
    pub length: f64,
}

/// Part of a surface. Lists are per vertex of the patch unless said otherwise.
#[derive(Debug)]
pub(super) struct Patch<'a> {
    pub rest: &'a TriMesh,
    adjacency: &'a Adjacency,
    /// Vertices of the surface, ascending.
    pub vertices: Vec<u32>,
    /// Unit.
    pub normals: Vec<DVec3>,
    /// Square metres.
    pub areas: Vec<f64>,
    /// The largest compression around, 0 to 1.
    pub most: Vec<f64>,
    pub edges: Vec<PatchEdge>,
    /// Triangles of the surface with three vertices here, and those vertices.
    pub triangles: Vec<(u32, [usize; 3])>,
    /// Of every triangle of the surface.
    surface_areas: Vec<f64>,
}

impl<'a> Patch<'a> {
    /// The vertices of `rest` that pass `wanted` and are compressed in some pose or pass `marked`.
    pub fn new(
        rest: &'a TriMesh,
        adjacency: &'a Adjacency,
        compression: &Compression,
        wanted: impl Fn(usize) -> bool,
        marked: impl Fn(usize) -> bool,
    ) -> Self {
        let surface_areas: Vec<f64> = (0..rest.triangles.len())
            .map(|t| {
                let [a, b, c] = rest.corners(t).map(|p| p.as_dvec3());
                0.5 * (b - a).cross(c - a).length()
            })
            .collect();
        let laplacian = Laplacian::new(rest, adjacency);
        let normals = rest.normals();
        let (mut vertices, mut most) = (Vec::new(), Vec::new());
        for v in 0..rest.positions.len() {
            let (mut sum, mut area) = (0.0, 0.0);
            for &t in adjacency.triangles_of_vertex.get(v) {
                sum += surface_areas[t as usize] * compression.most(t as usize);
                area += surface_areas[t as usize];
            }
            let mean = if area > 0.0 { sum / area } else { 0.0 };
            if (mean > NEVER || marked(v)) && wanted(v) {
                vertices.push(v as u32);
                most.push(mean);
            }
        }
        let mut place = vec![usize::MAX; rest.positions.len()];
        vertices.iter().enumerate().for_each(|(i, &v)| place[v as usize] = i);
        let here = |v: u32| Some(place[v as usize]).filter(|&i| i != usize::MAX);
        let edges = adjacency.edges.iter().zip(&laplacian.edge_weights).filter_map(|(edge, &weight)| {
            let [a, b] = edge.vertices;
            let length = f64::from(rest.positions[a as usize].distance(rest.positions[b as usize]));
            Some(PatchEdge { a: here(a)?, b: here(b)?, weight, length })
        });
        let edges = edges.collect();
        let triangles = rest.triangles.iter().enumerate().filter_map(|(t, triangle)| {
            let [a, b, c] = triangle.map(here);
            (surface_areas[t] > 0.0).then_some((t as u32, [a?, b?, c?]))
        });
        let triangles = triangles.collect();
        Self {
            rest,
            adjacency,
            normals: vertices
                .iter()
                .map(|&v| normals[v as usize].as_dvec3().normalize_or(DVec3::Y))
                .collect(),
            areas: vertices.iter().map(|&v| laplacian.vertex_areas[v as usize]).collect(),
            most,
            edges,
            triangles,
            surface_areas,
            vertices,
        }
    }

    pub fn len(&self) -> usize {
        self.vertices.len()
    }

    pub fn is_empty(&self) -> bool {
        self.vertices.is_empty()
    }

    /// At rest, bind space.
    pub fn position(&self, v: usize) -> DVec3 {
        self.rest.positions[self.vertices[v] as usize].as_dvec3()
    }

    /// All triangles of the surface around a vertex.
    pub fn surface_triangles_of(&self, v: usize) -> &[u32] {
        self.adjacency.triangles_of_vertex.get(self.vertices[v] as usize)
    }

    /// Area of a triangle of the surface, square metres.
    pub fn surface_area_of(&self, t: u32) -> f64 {
        self.surface_areas[t as usize]
    }

    /// Means with the neighbours, `times` over.
    pub fn average(&self, values: &mut [f64], times: usize) {
        for _ in 0..times {
            let mut sums: Vec<(f64, f64)> = values.iter().map(|&value| (value, 1.0)).collect();
            for edge in &self.edges {
                sums[edge.a].0 += values[edge.b];
                sums[edge.b].0 += values[edge.a];
                sums[edge.a].1 += 1.0;
                sums[edge.b].1 += 1.0;
            }
            values.iter_mut().zip(sums).for_each(|(value, (sum, count))| *value = sum / count);
        }
    }

    /// Connected sets of vertices, numbered in order of their first.
    pub fn components(&self) -> (Vec<usize>, usize) {
        self.components_where(|_| true)
    }

    /// Connected sets of vertices that pass `linked`; each other vertex is a set by itself.
    pub fn components_where(&self, linked: impl Fn(usize) -> bool) -> (Vec<usize>, usize) {
        let mut neighbours = vec![Vec::new(); self.len()];
        for edge in self.edges.iter().filter(|edge| linked(edge.a) && linked(edge.b)) {
            neighbours[edge.a].push(edge.b);
            neighbours[edge.b].push(edge.a);
        }
        let mut component = vec![usize::MAX; self.len()];
        let (mut found, mut stack) = (0, Vec::new());
        for first in 0..self.len() {
            if component[first] != usize::MAX {
                continue;
            }
            component[first] = found;
            stack.push(first);
            while let Some(v) = stack.pop() {
                for &w in &neighbours[v] {
                    if component[w] == usize::MAX {
                        component[w] = found;
                        stack.push(w);
                    }
                }
            }
            found += 1;
        }
        (component, found)
    }
}
