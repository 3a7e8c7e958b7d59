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
    /// From the nodes' rest positions, the elements that share them, and further pairs of nodes that act on each other.
    pub fn new(rest: &[DVec3], tets: &[[u32; 4]], links: &[[u32; 2]]) -> Self {
        let nodes = rest.len();
        let (graph_starts, graph) = neighbours(nodes, tets, links);
        let node_at = elimination_order(rest, &graph_starts, &graph);
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
                scalar_rows
                    .extend(blocks.iter().flat_map(|&row| [3 * row, 3 * row + 1, 3 * row + 2]).skip(c));
                scalar_starts.push(scalar_rows.len() as u32);
            }
        }
        Self { position_of, node_at, starts, rows, scalar_starts, scalar_rows }
    }

    /// Number of block columns.
    pub fn len(&self) -> usize {
        self.node_at.len()
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

    /// For each of a block's three columns, the index of its first row's value; row `r` follows `r` later. Column `c`
    /// of a diagonal block has only rows `c..3`, at the same distances: its first index belongs to a row that is not stored.
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

    /// Makes the rows and columns of held nodes those of the identity, and their right-hand sides zero.
    pub fn hold(&self, values: &mut [f64], right: &mut [DVec3], held: &[bool]) {
        for column in 0..self.len() {
            let held_column = held[self.node_at[column] as usize];
            if held_column {
                right[column] = DVec3::ZERO;
            }
            for block in self.column(column) {
                let row = self.rows[block] as usize;
                if held_column || held[self.node_at[row] as usize] {
                    let at = self.value_index(column, block);
                    for c in 0..3 {
                        for r in if row == column { c } else { 0 }..3 {
                            values[at[c] + r] = if row == column && r == c { 1.0 } else { 0.0 };
                        }
                    }
                }
            }
        }
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
fn neighbours(nodes: usize, tets: &[[u32; 4]], links: &[[u32; 2]]) -> (Vec<u32>, Vec<u32>) {
    let mut pairs = Vec::with_capacity(tets.len() * 12 + links.len() * 2);
    pairs.extend(links.iter().filter(|l| l[0] != l[1]).flat_map(|&[a, b]| [(a, b), (b, a)]));
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

/// The order with less fill: approximate minimum degree, or dissection for all but small meshes.
fn elimination_order(rest: &[DVec3], starts: &[u32], graph: &[u32]) -> Vec<u32> {
    let degree = minimum_degree(rest.len(), starts, graph);
    if rest.len() < LEAF * 4 {
        return degree;
    }
    let dissected = dissection(rest, starts, graph);
    if fill(&dissected, starts, graph) < fill(&degree, starts, graph) { dissected } else { degree }
}

/// Approximate minimum degree on the node graph: a third of the unknowns, the same fill.
fn minimum_degree(nodes: usize, starts: &[u32], graph: &[u32]) -> Vec<u32> {
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

/// Pieces of this many nodes are not cut further. 24 to 100 give the same fill within 3 % on the bars.
const LEAF: usize = 40;

/// Nested dissection by planes: halve the nodes across their longest side, put the nodes of one half that
/// touch the other last, and go on with the two pieces.
fn dissection(rest: &[DVec3], starts: &[u32], graph: &[u32]) -> Vec<u32> {
    let n = rest.len();
    let mut order = vec![0u32; n];
    let mut side = vec![0u32; n];
    let mut mark = 0;
    let mut all: Vec<u32> = (0..n as u32).collect();
    // Each piece is a range of `all` that ends up in the same range of `order`.
    let mut pieces = vec![(0, n)];
    while let Some((first, last)) = pieces.pop() {
        let piece = &mut all[first..last];
        if piece.len() <= LEAF {
            order[first..last].copy_from_slice(piece);
            continue;
        }
        let (low, high) = piece.iter().fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(l, h), &p| {
            (l.min(rest[p as usize]), h.max(rest[p as usize]))
        });
        let size = high - low;
        let axis = if size.x >= size.y && size.x >= size.z { 0 } else { 1 + usize::from(size.z > size.y) };
        piece.sort_by(|&a, &b| rest[a as usize][axis].total_cmp(&rest[b as usize][axis]).then(a.cmp(&b)));
        // A plane of equal coordinates is cut off whole, or the separator would be ragged.
        let middle = piece.len() / 2;
        let value = rest[piece[middle] as usize][axis];
        let slack = 1e-9 * size.max_element();
        let mut cut = piece.partition_point(|&p| rest[p as usize][axis] < value - slack);
        if cut == 0 {
            cut = middle;
        }
        mark += 2;
        for (k, &p) in piece.iter().enumerate() {
            side[p as usize] = mark + u32::from(k >= cut);
        }
        let touches = |p: u32| {
            graph[starts[p as usize] as usize..starts[p as usize + 1] as usize]
                .iter()
                .any(|&q| side[q as usize] == mark)
        };
        let (separator, right): (Vec<u32>, Vec<u32>) = piece[cut..].iter().partition(|&&p| touches(p));
        let middle = cut + right.len();
        piece[cut..middle].copy_from_slice(&right);
        piece[middle..].copy_from_slice(&separator);
        order[first + middle..last].copy_from_slice(&separator);
        pieces.push((first, first + cut));
        pieces.push((first + cut, first + middle));
    }
    order
}

/// Operations of the factorisation, up to a constant: squares of the column heights.
fn fill(order: &[u32], starts: &[u32], graph: &[u32]) -> f64 {
    let n = order.len();
    let mut position = vec![0u32; n];
    for (p, &node) in order.iter().enumerate() {
        position[node as usize] = p as u32;
    }
    // Columns merged upward along the elimination tree; each list is freed once its parent has it.
    let mut columns: Vec<Vec<u32>> = vec![Vec::new(); n];
    let mut work = 0.0;
    for p in 0..n {
        let node = order[p] as usize;
        let own =
            graph[starts[node] as usize..starts[node + 1] as usize].iter().map(|&q| position[q as usize]);
        let mut column = std::mem::take(&mut columns[p]);
        column.extend(own.filter(|&q| q as usize > p));
        column.sort_unstable();
        column.dedup();
        let height = column.len() as f64 + 1.0;
        work += height * height;
        if let Some(&parent) = column.first() {
            let rest = &column[1..];
            columns[parent as usize].extend_from_slice(rest);
        }
    }
    work
}
