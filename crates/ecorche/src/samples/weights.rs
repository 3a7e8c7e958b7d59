//! Skin weights much like painted ones: each vertex belongs to a bone, and at the joints weights fade
//! along the skin.
//!
//! The share of each bone starts as one on its own vertices and zero elsewhere, and is then spread by heat
//! flow over the surface. Heat flows along the skin, not through the air, so a finger takes nothing from
//! its neighbour and a thigh nothing from the other. Shares sum to one throughout.

use super::rig::Rig;
use crate::geom::{Adjacency, TriMesh};
use rayon::prelude::*;

/// Bones that may share a vertex.
pub const MOST_INFLUENCES: usize = 5;
/// Shares below this are dropped, smoothly: what is kept loses as much.
const LEAST_SHARE: f32 = 0.012;
/// Implicit time steps; one leaves long tails, three are close to a Gaussian.
const STEPS: usize = 3;

/// `(bone, weight)` lists, one per vertex, from the bone that owns each vertex. Only bones for which
/// `wanted` holds are spread; the others get nothing.
pub fn soften(
    surface: &TriMesh,
    rig: &Rig,
    owner: &[usize],
    wanted: impl Fn(usize) -> bool,
) -> Vec<Vec<(u32, f32)>> {
    let flow = Flow::new(surface, rig, owner);
    let bones: Vec<usize> = (1..rig.bones.len()).filter(|&b| wanted(b) && owner.contains(&b)).collect();
    let shares: Vec<Vec<f32>> = bones
        .par_iter()
        .map(|&bone| {
            let mut share: Vec<f32> = owner.iter().map(|&o| if o == bone { 1.0 } else { 0.0 }).collect();
            for _ in 0..STEPS {
                share = flow.step(&share);
            }
            share
        })
        .collect();
    (0..surface.positions.len())
        .map(|v| {
            bones.iter().zip(&shares).map(|(&b, share)| (b as u32, share[v])).filter(|s| s.1 > 1e-4).collect()
        })
        .collect()
}

/// Keeps the few strongest shares and makes them sum to one, without a jump where one drops out.
pub fn tidy(list: &mut Vec<(u32, f32)>) {
    list.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    let floor = list.get(MOST_INFLUENCES).map_or(0.0, |s| s.1).max(LEAST_SHARE);
    let strongest = list.first().copied();
    list.retain(|s| s.1 > floor);
    list.truncate(MOST_INFLUENCES);
    for share in list.iter_mut() {
        share.1 -= floor;
    }
    if list.is_empty() {
        list.extend(strongest);
    }
    let sum: f32 = list.iter().map(|s| s.1).sum();
    for share in list.iter_mut() {
        share.1 /= sum;
    }
}

/// One implicit step of heat flow: `(area + laplacian) next = area * now`.
struct Flow {
    area: Vec<f32>,
    diagonal: Vec<f32>,
    starts: Vec<u32>,
    neighbours: Vec<(u32, f32)>,
}

impl Flow {
    fn new(surface: &TriMesh, rig: &Rig, owner: &[usize]) -> Self {
        let mut area = vec![0.0f32; surface.positions.len()];
        for t in &surface.triangles {
            let [a, b, c] = t.map(|v| surface.positions[v as usize]);
            let third = (b - a).cross(c - a).length() / 6.0;
            for &v in t {
                area[v as usize] += third;
            }
        }
        let adjacency = Adjacency::new(surface);
        let softness = |v: usize| rig.bones[owner[v]].flesh.softness;
        let mut diagonal = area.clone();
        let mut starts = vec![0];
        let mut neighbours = Vec::new();
        for (v, ring) in adjacency.vertex_ring.iter().enumerate() {
            for &w in ring {
                // Heat spreads by softness^2 / 2 in all; cot(60 degrees) is the weight of an edge between
                // equilateral triangles. The geometric mean keeps a soft palm's weights out of the fingers.
                let spread = softness(v) * softness(w as usize) / (2.0 * STEPS as f32);
                let conductance = spread * 0.577;
                diagonal[v] += conductance;
                neighbours.push((w, conductance));
            }
            starts.push(neighbours.len() as u32);
        }
        Self { area, diagonal, starts, neighbours }
    }

    fn apply(&self, x: &[f32], result: &mut [f32]) {
        for (v, out) in result.iter_mut().enumerate() {
            let mut sum = self.diagonal[v] * x[v];
            for &(w, c) in &self.neighbours[self.starts[v] as usize..self.starts[v + 1] as usize] {
                sum -= c * x[w as usize];
            }
            *out = sum;
        }
    }

    /// Conjugate gradients with the diagonal as preconditioner.
    fn step(&self, now: &[f32]) -> Vec<f32> {
        let count = now.len();
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(x * y)).sum::<f64>();
        let mut x = now.to_vec();
        let mut applied = vec![0.0; count];
        self.apply(&x, &mut applied);
        let mut residual: Vec<f32> = (0..count).map(|v| self.area[v] * now[v] - applied[v]).collect();
        let precondition =
            |r: &[f32]| -> Vec<f32> { r.iter().zip(&self.diagonal).map(|(r, d)| r / d.max(1e-20)).collect() };
        let mut z = precondition(&residual);
        let mut direction = z.clone();
        let mut energy = dot(&residual, &z);
        let start = energy;
        for _ in 0..400 {
            // 1e-7 of the energy: shares are then right to about 1e-4.
            if energy <= 1e-7 * start || energy <= 0.0 {
                break;
            }
            self.apply(&direction, &mut applied);
            let length = (energy / dot(&direction, &applied)) as f32;
            for v in 0..count {
                x[v] += length * direction[v];
                residual[v] -= length * applied[v];
            }
            z = precondition(&residual);
            let next = dot(&residual, &z);
            let keep = (next / energy) as f32;
            energy = next;
            for v in 0..count {
                direction[v] = z[v] + keep * direction[v];
            }
        }
        x
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_that_drops_out_leaves_no_jump() {
        let at = |w: f32| {
            let mut list = vec![(0, 1.0 - w), (1, w)];
            tidy(&mut list);
            list.iter().find(|s| s.0 == 1).map_or(0.0, |s| s.1)
        };
        assert_eq!(at(LEAST_SHARE * 0.99), 0.0);
        assert!(at(LEAST_SHARE * 1.01) < 1e-3);
    }

    #[test]
    fn many_shares_become_few_that_sum_to_one() {
        let mut list: Vec<(u32, f32)> = (0..9).map(|b| (b, 0.06 + 0.01 * b as f32)).collect();
        tidy(&mut list);
        assert_eq!(list.len(), MOST_INFLUENCES);
        assert!((list.iter().map(|s| s.1).sum::<f32>() - 1.0).abs() < 1e-6);
        assert_eq!(list[0].0, 8);
    }
}
