//! Buffers that the stages on crossing triangles share, and the strengths with which they move skin.

use super::model::Model;
use super::separate::Kinds;
use super::tangles::Tangles;
use super::{find_contact, refill, sidestep};
use crate::parts::FOLLOWS;
use glam::Vec3;

/// Buffers of untangling, kept from frame to frame.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    pub positions: Vec<Vec3>,
    /// How much of a step each vertex takes, 0 to 1; zero between steps.
    pub strength: Vec<f32>,
    /// Vertices of crossing triangles.
    pub crosses: Vec<bool>,
    /// Vertices with a strength.
    pub touched: Vec<u32>,
    /// Vertices whose strength was raised last, and those before them.
    pub front: Vec<u32>,
    pub ring: Vec<u32>,
    /// Triangles that are looked at next, ascending.
    pub triangles: Vec<u32>,
    pub is_listed: Vec<bool>,
    pub moved: Vec<Vec3>,
    pub pushes: Vec<Vec3>,
    /// Vertices that were moved and by how much each round, 0 to 1, with repetitions.
    pub separated: Vec<(u32, f32)>,
    /// Where the frame's untangling began.
    pub before: Vec<Vec3>,
    pub left: Vec<[u32; 2]>,
    pub close: Vec<[u32; 2]>,
    pub live: Vec<[u32; 2]>,
    pub crossing: Vec<[u32; 2]>,
    pub kinds: Kinds,
    pub moved_vertices: Vec<u32>,
    /// Edges and the triangles they pierce.
    pub pierced: Vec<(u32, u32, u32)>,
    pub pushes_of_pairs: VertexVectors,
    pub back: VertexVectors,
    pub tangles: Tangles,
    pub refill: refill::Refill,
    pub find_contact: find_contact::Scratch,
    pub sidestep: sidestep::Scratch,
}

/// Vectors of vertices, several of each: vertex, number, vector.
#[derive(Clone, Debug, Default)]
pub(super) struct VertexVectors(pub Vec<(u32, u32, Vec3)>);

impl VertexVectors {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn add(&mut self, v: u32, way: Vec3) {
        self.0.push((v, self.0.len() as u32, way));
    }

    /// The mean of each vertex, ascending, summed up in the order in which they came.
    pub fn means(&mut self) -> impl Iterator<Item = (u32, Vec3)> {
        self.0.sort_unstable_by_key(|way| (way.0, way.1));
        self.0.chunk_by(|a, b| a.0 == b.0).map(|group| {
            let sum: Vec3 = group.iter().map(|way| way.2).sum();
            (group[0].0, sum / group.len() as f32)
        })
    }

    /// Keeps the first of each vertex.
    pub fn keep_first(&mut self) {
        self.0.sort_unstable_by_key(|way| (way.0, way.1));
        self.0.dedup_by_key(|way| way.0);
    }
}

impl Scratch {
    /// Vertices that the last untangling moved, with repetitions: 1 for those of crossing triangles, less around them.
    pub fn separated(&self) -> &[(u32, f32)] {
        &self.separated
    }

    /// Raises the strength of a vertex and adds it to the front.
    pub fn raise(&mut self, model: &Model, v: u32, to: f32) {
        let strength = &mut self.strength[v as usize];
        if to > *strength && model.part[v as usize] != FOLLOWS {
            if *strength == 0.0 {
                self.touched.push(v);
            }
            *strength = to;
            self.front.push(v);
        }
    }

    /// Spreads strength outward from the front, falling by 1 over the `reach` of a vertex, for at most `rings` rings; ring by
    /// ring, in the order of the vertices.
    pub fn spread(&mut self, model: &Model, rings: usize, reach: impl Fn(u32) -> f32) {
        let mut ring = std::mem::take(&mut self.ring);
        for _ in 0..rings {
            if self.front.is_empty() {
                break;
            }
            std::mem::swap(&mut ring, &mut self.front);
            self.front.clear();
            ring.sort_unstable();
            ring.dedup();
            for &v in &ring {
                let (index, level) = (v as usize, self.strength[v as usize]);
                let reach = reach(v);
                for (k, _) in model.mean.of(index) {
                    let length = model.rest[index].distance(model.rest[k as usize]);
                    let least = 1e-3;
                    self.raise(model, k, level - (length / reach.max(f32::MIN_POSITIVE)).max(least));
                }
            }
        }
        self.front.clear();
        self.ring = ring;
    }

    /// Takes all strength away and adds the vertices that had any to `moved`.
    pub fn unmark(&mut self, moved: &mut Vec<u32>) {
        moved.extend_from_slice(&self.touched);
        let share = |v: u32| if self.crosses[v as usize] { 1.0 } else { self.strength[v as usize] };
        self.separated.extend(self.touched.iter().map(|&v| (v, share(v))));
        for &v in &self.touched {
            self.strength[v as usize] = 0.0;
            self.crosses[v as usize] = false;
        }
        self.touched.clear();
    }
}
