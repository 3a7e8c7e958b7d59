//! The skin at rest as a thin plate: areas, stiffness, and how thick the flesh under it is.

use super::model::Model;
use crate::geom::{Adjacency, Laplacian};
use crate::skinning::Surface;
use glam::Vec3A;
use rayon::prelude::*;

/// Rounds in which the inner radius is smoothed along the skin: it jumps where one part ends and the next begins.
const RADIUS_ROUNDS: usize = 12;
/// In inner radii: detail smaller than this has no say in which way the flesh under it swells. With none the buckle of HVGirl's belt
/// swells into itself.
const NORMAL_SPREAD: f32 = 0.5;
const NORMAL_ROUNDS: usize = 200;
/// Length of a diffused normal from which on it counts in full: a cylinder keeps 0.8, a sheet of two sides next to nothing.
const LEAST_NORMAL: f32 = 0.5;

/// Made once; lengths in metres.
#[derive(Clone, Debug, Default)]
pub(super) struct Plate {
    /// A third of the area around each vertex, square metres.
    pub area: Vec<f32>,
    /// Inner radius of the part under each vertex, smooth along the skin; 0 where nothing is tracked.
    pub radius: Vec<f32>,
    /// How closely skin can follow what lies under it, 0 to 1, smooth along the skin: little if its triangles are as large as the
    /// part is thick.
    pub fineness: Vec<f32>,
    /// Normals at rest without the detail that is smaller than the part is thick; 1 long, or less where the skin faces all ways.
    pub normal: Vec<Vec3A>,
    starts: Vec<u32>,
    /// Neighbour, and half the cotangents of the angles opposite to the edge.
    edges: Vec<(u32, f32)>,
}

impl Plate {
    pub fn new(surface: &Surface, adjacency: &Adjacency, model: &Model) -> Self {
        let laplacian = Laplacian::new(&surface.mesh, adjacency);
        let count = surface.mesh.positions.len();
        let mut lists: Vec<Vec<(u32, f32)>> = vec![Vec::new(); count];
        for (edge, &weight) in adjacency.edges.iter().zip(&laplacian.edge_weights) {
            let [a, b] = edge.vertices;
            lists[a as usize].push((b, weight as f32));
            lists[b as usize].push((a, weight as f32));
        }
        let mut plate =
            Self { area: laplacian.vertex_areas.iter().map(|&a| a as f32).collect(), ..Self::default() };
        plate.starts.push(0);
        for list in lists {
            plate.edges.extend(list);
            plate.starts.push(plate.edges.len() as u32);
        }
        let radius = (0..count as u32).map(|v| model.inner_radius(v)).collect();
        plate.radius = plate.smoothed(radius, RADIUS_ROUNDS);
        let fineness = |v: usize| model.bones.get(model.part[v] as usize).map_or(0.0, |b| b.fineness);
        plate.fineness = plate.smoothed((0..count).map(fineness).collect(), RADIUS_ROUNDS);
        plate.normal = plate.broad_normals(&model.normals);
        plate
    }

    /// Diffuses normals along the skin, over [`NORMAL_SPREAD`] inner radii.
    fn broad_normals(&self, normals: &[Vec3A]) -> Vec<Vec3A> {
        let square = |v: usize| (NORMAL_SPREAD * self.radius[v]).powi(2);
        // Jacobi's iteration converges, since every row is dominated by its diagonal.
        let mut broad = normals.to_vec();
        for _ in 0..NORMAL_ROUNDS {
            let step = |v: usize| {
                let flow = |e: &(u32, f32)| e.1 * 0.5 * (square(v) + square(e.0 as usize));
                let (sum, total) = self
                    .edges(v)
                    .iter()
                    .fold((normals[v] * self.area[v], self.area[v]), |(sum, total), e| {
                        (sum + broad[e.0 as usize] * flow(e), total + flow(e))
                    });
                sum / total.max(f32::MIN_POSITIVE)
            };
            broad = (0..normals.len()).into_par_iter().map(step).collect();
        }
        broad.into_iter().map(|n| n / n.length().max(LEAST_NORMAL)).collect()
    }

    /// The neighbours of a vertex with the weights of their edges.
    #[inline]
    pub fn edges(&self, v: usize) -> &[(u32, f32)] {
        &self.edges[self.starts[v] as usize..self.starts[v + 1] as usize]
    }

    /// Numbers per vertex, each round half way to the mean of the ring; 0 stays 0 where the skin is not tracked.
    pub fn smoothed(&self, mut numbers: Vec<f32>, rounds: usize) -> Vec<f32> {
        let mut next = numbers.clone();
        for _ in 0..rounds {
            for (v, next) in next.iter_mut().enumerate() {
                let ring = self.edges(v);
                if !ring.is_empty() {
                    let mean = ring.iter().map(|e| numbers[e.0 as usize]).sum::<f32>() / ring.len() as f32;
                    *next = 0.5 * (numbers[v] + mean);
                }
            }
            std::mem::swap(&mut numbers, &mut next);
        }
        numbers
    }
}
