//! Symmetric sparse matrices of 3x3 blocks, lower half, in an order that keeps the factorisation sparse.
//!
//! The values are laid out as the compressed columns a scalar Cholesky factorisation reads, so that nothing
//! is converted between assembly, products and factorisation. Of diagonal blocks the lower half is stored.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;
use glam::{DMat3, DVec3};

/// Where the blocks are. Rows and columns are counted in elimination order.
#[derive(Debug)]
pub struct Pattern {
    /// Elimination position of each node.
    pub position_of: Vec<u32>,
    /// Node at each elimination position.
    pub node_at: Vec<u32>,
    /// First block of each column, and the total.
    pub starts: Vec<u32>,
    /// Row of each block, ascending within a column; the first is the diagonal.
    pub rows: Vec<u32>,
    /// Compressed columns of the scalar matrix: starts and rows.
    pub scalar_starts: Vec<u32>,
    pub(super) scalar_rows: Vec<u32>,
}

impl Pattern {
    /// From the nodes that share an element. `nodes` is their number.
    pub fn new(nodes: usize, tets: &[[u32; 4]]) -> Self {
        let (graph_starts, graph) = neighbours(nodes, tets);
        let node_at = elimination_order(nodes, &graph_starts, &graph);
        let mut position_of = vec![0u32; nodes];
        for (position, &node) in node_at.iter().enumerate() {
            position_of[node as usize] = position as u32;
        }
        let mut starts = vec![0u32];
        let mut rows = Vec::with_capacity(graph.len() / 2 + nodes);
        for column in 0..nodes {
            let node = node_at[column] as usize;
            let first = rows.len();
            rows.push(column as u32);
            let around = &graph[graph_starts[node] as usize..graph_starts[node + 1] as usize];
            rows.extend(around.iter().map(|&n| position_of[n as usize]).filter(|&p| p > column as u32));
            rows[first..].sort_unstable();
            starts.push(rows.len() as u32);
        }
        let mut scalar_starts = vec![0u32];
        let mut scalar_rows = Vec::with_capacity(rows.len() * 9 - 3 * nodes);
        for column in 0..nodes {
            for c in 0..3 {
                let blocks = &rows[starts[column] as usize..starts[column + 1] as usize];
                scalar_rows.extend(blocks.iter().flat_map(|&row| [3 * row, 3 * row + 1, 3 * row + 2]).skip(c));
                scalar_starts.push(scalar_rows.len() as u32);
            }
        }
        Self { position_of, node_at, starts, rows, scalar_starts, scalar_rows }
    }

    /// Number of block columns.
    pub fn len(&self) -> usize {
        self.node_at.len()
    }

    /// Whether there are no columns.
    pub fn is_empty(&self) -> bool {
        self.node_at.is_empty()
    }

    /// The blocks of a column.
    #[inline]
    pub fn column(&self, column: usize) -> std::ops::Range<usize> {
        self.starts[column] as usize..self.starts[column + 1] as usize
    }

    /// Index of the block at `(row, column)`, `row >= column`, if it is stored.
    pub fn find(&self, row: u32, column: u32) -> Option<usize> {
        let range = self.column(column as usize);
        self.rows[range.clone()].binary_search(&row).ok().map(|k| range.start + k)
    }

    /// Number of values.
    pub fn value_count(&self) -> usize {
        self.scalar_rows.len()
    }

    /// Index of the first value of a column.
    #[inline]
    pub fn first_value(&self, column: usize) -> usize {
        9 * self.starts[column] as usize - 3 * column
    }

    /// For each of a block's three columns the index of its first row's value. Of a diagonal block, column
    /// `c` has only rows `c..3`: row `r` is at the returned index plus `r` all the same.
    #[inline]
    pub fn value_index(&self, column: usize, block: usize) -> [usize; 3] {
        let start = self.starts[column] as usize;
        let height = 3 * (self.starts[column + 1] as usize - start);
        let first = self.first_value(column) + 3 * (block - start);
        [first, first + height - 1, first + 2 * height - 3]
    }

    /// Adds a block, in place or transposed so that it lies in the lower half.
    /// Returns false when the pattern has no room for the pair.
    pub fn add(&self, values: &mut [f64], a: u32, b: u32, block: &DMat3) -> bool {
        let (pa, pb) = (self.position_of[a as usize], self.position_of[b as usize]);
        let (row, column, block) = if pa >= pb { (pa, pb, *block) } else { (pb, pa, block.transpose()) };
        let Some(index) = self.find(row, column) else { return false };
        let at = self.value_index(column as usize, index);
        for c in 0..3 {
            for r in if row == column { c } else { 0 }..3 {
                values[at[c] + r] += block.col(c)[r];
            }
        }
        true
    }

    /// `out = A x` for the symmetric matrix; vectors in elimination order.
    pub fn multiply(&self, values: &[f64], x: &[DVec3], out: &mut [DVec3]) {
        out.fill(DVec3::ZERO);
        for column in 0..self.len() {
            let range = self.column(column);
            let height = 3 * range.len();
            let first = self.first_value(column);
            // The second and third column start one and two rows lower: read them from one and two before.
            let v0 = &values[first..first + height];
            let v1 = &values[first + height - 1..first + 2 * height - 1];
            let v2 = &values[first + 2 * height - 3..first + 3 * height - 3];
            let xc = x[column];
            let mut own = DVec3::new(
                v0[0] * xc.x + v0[1] * xc.y + v0[2] * xc.z,
                v0[1] * xc.x + v1[1] * xc.y + v1[2] * xc.z,
                v0[2] * xc.x + v1[2] * xc.y + v2[2] * xc.z,
            );
            for (k, &row) in self.rows[range].iter().enumerate().skip(1) {
                let (a, b, c) = (
                    DVec3::from_slice(&v0[3 * k..3 * k + 3]),
                    DVec3::from_slice(&v1[3 * k..3 * k + 3]),
                    DVec3::from_slice(&v2[3 * k..3 * k + 3]),
                );
                let xr = x[row as usize];
                out[row as usize] += a * xc.x + b * xc.y + c * xc.z;
                own += DVec3::new(a.dot(xr), b.dot(xr), c.dot(xr));
            }
            out[column] += own;
        }
    }
}

/// Neighbours of every node, ascending, without the node itself.
fn neighbours(nodes: usize, tets: &[[u32; 4]]) -> (Vec<u32>, Vec<u32>) {
    let mut pairs = Vec::with_capacity(tets.len() * 12);
    for tet in tets {
        for &a in tet {
            for &b in tet {
                if a != b {
                    pairs.push((a, b));
                }
            }
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    let mut starts = vec![0u32; nodes + 1];
    for &(a, _) in &pairs {
        starts[a as usize + 1] += 1;
    }
    for n in 0..nodes {
        starts[n + 1] += starts[n];
    }
    (starts, pairs.into_iter().map(|(_, b)| b).collect())
}

/// Approximate minimum degree on the node graph: a third of the unknowns, the same fill.
fn elimination_order(nodes: usize, starts: &[u32], graph: &[u32]) -> Vec<u32> {
    let symbolic = SymbolicSparseColMatRef::<u32>::new_checked(nodes, nodes, starts, None, graph);
    let (mut order, mut inverse) = (vec![0u32; nodes], vec![0u32; nodes]);
    let mut memory = MemBuffer::new(amd::order_maybe_unsorted_scratch::<u32>(nodes, graph.len()));
    let found = amd::order_maybe_unsorted(
        &mut order,
        &mut inverse,
        symbolic,
        amd::Control::default(),
        MemStack::new(&mut memory),
    );
    match found {
        Ok(_) => order,
        // Only index overflow can fail here; any order is correct, this one is merely slow.
        Err(_) => (0..nodes as u32).collect(),
    }
}
