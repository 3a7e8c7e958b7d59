//! From positions to energy, forces and stiffness of all tetrahedra.
//!
//! Two passes: every tetrahedron writes its own slot, then every node and every matrix block sums the slots
//! that belong to it in a fixed order. Both passes run in parallel over disjoint slots, so the result has the
//! same bits for any number of threads.

use super::material::{Curvature, Element, PAIRS, Response};
use super::matrix::Pattern;
use super::model::Model;
use crate::geom::adjacency::Lists;
use glam::DVec3;
use rayon::prelude::*;

/// What one tetrahedron contributes.
#[derive(Clone, Copy, Debug)]
struct Slot {
    stiffness: [[f64; 9]; 10],
    forces: [DVec3; 4],
}

const EMPTY: Slot = Slot { stiffness: [[0.0; 9]; 10], forces: [DVec3::ZERO; 4] };

/// Reusable buffers and index maps for one model.
#[derive(Debug)]
pub struct Assembler {
    /// Where the stiffness blocks are.
    pub pattern: Pattern,
    /// For each block the slots it sums: `(tetrahedron * 10 + pair) * 2 + transposed`.
    items_of_block: Lists,
    /// For each elimination position the forces it sums: `tetrahedron * 4 + corner`.
    items_of_node: Lists,
    slots: Vec<Slot>,
    energies: Vec<f64>,
}

/// Tetrahedra, columns or nodes a task takes at least; smaller tasks cost more to schedule than to run.
const GRAIN: usize = 256;

impl Assembler {
    /// Lays out the index maps.
    pub fn new(model: &Model) -> Self {
        Self::linked(model, &[])
    }

    /// As [`Assembler::new`], with room in the pattern for further pairs of nodes that act on each other.
    pub fn linked(model: &Model, links: &[[u32; 2]]) -> Self {
        let nodes = model.rest.len();
        let pattern = Pattern::new(&model.rest, &model.tets, links);
        let mut block_pairs = Vec::with_capacity(model.tets.len() * 10);
        let mut force_pairs = Vec::with_capacity(model.tets.len() * 4);
        for (t, tet) in model.tets.iter().enumerate() {
            for (k, &(a, b)) in PAIRS.iter().enumerate() {
                let (pa, pb) = (pattern.position_of[tet[a] as usize], pattern.position_of[tet[b] as usize]);
                let (row, column) = (pa.max(pb), pa.min(pb));
                if let Some(block) = pattern.find(row, column) {
                    block_pairs.push((block as u32, ((t * 10 + k) * 2) as u32 + u32::from(pa < pb)));
                }
            }
            for (corner, &n) in tet.iter().enumerate() {
                force_pairs.push((pattern.position_of[n as usize], (t * 4 + corner) as u32));
            }
        }
        let items_of_block = Lists::group(pattern.rows.len(), &block_pairs);
        let items_of_node = Lists::group(nodes, &force_pairs);
        Self {
            pattern,
            items_of_block,
            items_of_node,
            slots: vec![EMPTY; model.tets.len()],
            energies: vec![0.0; model.tets.len()],
        }
    }

    /// Elastic energy at the positions (in the model's node order).
    pub fn energy(&mut self, model: &Model, positions: &[DVec3]) -> f64 {
        self.energies.par_iter_mut().with_min_len(GRAIN).enumerate().for_each(|(t, energy)| {
            let shape = &model.shapes[t];
            let material = &model.tissues[model.tissue_of[t] as usize].material;
            let gradient = shape.gradient(model.corners(t, positions));
            *energy = shape.volume * material.energy(&gradient, &model.local[t]);
        });
        self.energies.iter().sum()
    }

    /// Forces and stiffness at the positions: `forces` in elimination order, `stiffness` the values of
    /// [`Assembler::pattern`].
    pub fn assemble(
        &mut self,
        model: &Model,
        positions: &[DVec3],
        curvature: Curvature,
        forces: &mut [DVec3],
        stiffness: &mut [f64],
    ) {
        self.slots.par_iter_mut().with_min_len(GRAIN).enumerate().for_each(|(t, slot)| {
            let shape = &model.shapes[t];
            let material = &model.tissues[model.tissue_of[t] as usize].material;
            let gradient = shape.gradient(model.corners(t, positions));
            let mut response = Response::default();
            let element = Element { gradient, local: &model.local[t], shape, curvature };
            material.add_response(&element, &mut response);
            slot.stiffness = response.stiffness;
            slot.forces = shape.forces(&response.stress);
        });
        self.gather_forces(forces);
        self.gather_columns(0, self.pattern.len(), stiffness);
    }

    /// Forces alone, in elimination order.
    pub fn forces(&mut self, model: &Model, positions: &[DVec3], forces: &mut [DVec3]) {
        self.slots.par_iter_mut().with_min_len(GRAIN).enumerate().for_each(|(t, slot)| {
            let shape = &model.shapes[t];
            let material = &model.tissues[model.tissue_of[t] as usize].material;
            let gradient = shape.gradient(model.corners(t, positions));
            slot.forces = shape.forces(&material.stress(&gradient, &model.local[t]));
        });
        self.gather_forces(forces);
    }

    fn gather_forces(&self, forces: &mut [DVec3]) {
        forces.par_iter_mut().with_min_len(GRAIN).enumerate().for_each(|(node, force)| {
            let items = self.items_of_node.get(node);
            *force = items
                .iter()
                .fold(DVec3::ZERO, |sum, &i| sum + self.slots[i as usize / 4].forces[i as usize % 4]);
        });
    }

    fn gather_columns(&self, first: usize, last: usize, values: &mut [f64]) {
        if last - first > GRAIN {
            let middle = (first + last) / 2;
            let cut = self.pattern.first_value(middle) - self.pattern.first_value(first);
            let (left, right) = values.split_at_mut(cut);
            rayon::join(
                || self.gather_columns(first, middle, left),
                || self.gather_columns(middle, last, right),
            );
            return;
        }
        let offset = self.pattern.first_value(first);
        for column in first..last {
            for block in self.pattern.column(column) {
                let items = self.items_of_block.get(block);
                let mut sum = [0.0; 9];
                for &item in items {
                    let slot = (item / 2) as usize;
                    let part = &self.slots[slot / 10].stiffness[slot % 10];
                    // Columns of the result: the row-major part read transposed, or as it is.
                    if item % 2 == 0 {
                        for c in 0..3 {
                            for r in 0..3 {
                                sum[3 * c + r] += part[3 * r + c];
                            }
                        }
                    } else {
                        for k in 0..9 {
                            sum[k] += part[k];
                        }
                    }
                }
                let at = self.pattern.value_index(column, block).map(|i| i - offset);
                let diagonal = block == self.pattern.column(column).start;
                for c in 0..3 {
                    let skip = if diagonal { c } else { 0 };
                    values[at[c] + skip..at[c] + 3].copy_from_slice(&sum[3 * c + skip..3 * c + 3]);
                }
            }
        }
    }

    /// Bytes held by the index maps and buffers.
    pub fn bytes(&self) -> usize {
        let p = &self.pattern;
        self.items_of_block.bytes()
            + self.items_of_node.bytes()
            + 4 * (p.position_of.len() + p.node_at.len() + p.starts.len() + p.rows.len())
            + 4 * (p.scalar_starts.len() + p.scalar_rows.len())
            + size_of::<Slot>() * self.slots.len()
            + 8 * self.energies.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tissue::material::{Lame, StableNeoHookean};
    use crate::tissue::model::Body;
    use crate::tissue::tet_mesh::TetMesh;

    fn bent_bar() -> (Model, Vec<DVec3>) {
        let mesh = TetMesh::brick(DVec3::ZERO, DVec3::new(4.0, 1.0, 1.0), [8, 2, 2]);
        let law = StableNeoHookean::new(Lame::new(1e4, 0.4));
        let model = Model::new(vec![Body::uniform("bar", mesh, Box::new(law), 1000.0)]).unwrap();
        let bent =
            model.rest.iter().map(|p| *p + DVec3::new(0.0, 0.1 * p.x * p.x, 0.05 * p.y * p.z)).collect();
        (model, bent)
    }

    #[test]
    fn stiffness_times_a_small_move_is_the_change_of_force() {
        let (model, positions) = bent_bar();
        let mut assembler = Assembler::new(&model);
        let n = model.rest.len();
        let mut values = vec![0.0; assembler.pattern.value_count()];
        let mut forces = vec![DVec3::ZERO; n];
        assembler.assemble(&model, &positions, Curvature::Exact, &mut forces, &mut values);
        let moves: Vec<DVec3> = (0..n)
            .map(|i| DVec3::new((i as f64).sin(), (2.0 * i as f64).cos(), (0.7 * i as f64).sin()))
            .collect();
        let (mut plus, mut minus, mut product) = (forces.clone(), forces.clone(), forces.clone());
        let h = 1e-6;
        let moved =
            |s: f64| -> Vec<DVec3> { positions.iter().zip(&moves).map(|(p, m)| *p + *m * s).collect() };
        assembler.forces(&model, &moved(h), &mut plus);
        assembler.forces(&model, &moved(-h), &mut minus);
        let ordered: Vec<DVec3> = assembler.pattern.node_at.iter().map(|&n| moves[n as usize]).collect();
        assembler.pattern.multiply(&values, &ordered, &mut product);
        let size = product.iter().fold(0.0f64, |a, f| a.max(f.length()));
        for i in 0..n {
            let difference = (plus[i] - minus[i]) / (2.0 * h);
            assert!((difference - product[i]).length() < 1e-6 * size, "{difference} {}", product[i]);
        }
    }

    #[test]
    fn any_number_of_threads_gives_the_same_bits() {
        let (model, positions) = bent_bar();
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| {
                let mut assembler = Assembler::new(&model);
                let mut values = vec![0.0; assembler.pattern.value_count()];
                let mut forces = vec![DVec3::ZERO; model.rest.len()];
                assembler.assemble(&model, &positions, Curvature::Exact, &mut forces, &mut values);
                (values, forces, assembler.energy(&model, &positions).to_bits())
            })
        };
        assert!(run(1) == run(4));
    }
}
