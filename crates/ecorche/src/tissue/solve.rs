//! Linear systems: sparse Cholesky with its symbolic part reused, and conjugate gradients.

use super::matrix::Pattern;
use super::terms::Term;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::{LltParams, LltRegularization};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::linalg::{SupernodalThreshold, SymbolicSupernodalParams};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side, Spec};
use glam::{DMat3, DVec3};
use thiserror::Error;

/// Why a linear system was not solved.
#[derive(Clone, Copy, Debug, Error, PartialEq)]
pub enum SolveError {
    /// A pivot was not positive.
    #[error("the stiffness matrix is not positive definite; fix at least three nodes or shorten the step")]
    NotDefinite,
    /// Conjugate gradients did not reach the tolerance.
    #[error("conjugate gradients stopped at residual {residual:.1e} after {iterations} iterations")]
    NotConverged {
        /// Iterations done.
        iterations: usize,
        /// Residual over right-hand side.
        residual: f64,
    },
    /// The factor does not fit in memory.
    #[error("the factorisation does not fit in memory; choose conjugate gradients or a coarser mesh")]
    OutOfMemory,
}

/// Cholesky factor of one pattern; the symbolic part and all memory are kept between factorisations.
pub struct Factor {
    symbolic: SymbolicCholesky<u32>,
    values: Vec<f64>,
    memory: MemBuffer,
    solve_memory: MemBuffer,
    unknowns: Vec<f64>,
    ready: bool,
}

impl std::fmt::Debug for Factor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Factor({} values)", self.values.len())
    }
}

impl Factor {
    /// Analyses the pattern.
    pub fn new(pattern: &Pattern) -> Result<Self, SolveError> {
        let n = 3 * pattern.len();
        // The analysis reads the upper half when no ordering is asked of it, the factorisation the lower one.
        let (starts, rows) = upper(pattern);
        let upper = SymbolicSparseColMatRef::new_checked(n, n, &starts, None, &rows);
        let params = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
            // Looser merging than the default: fewer, larger dense blocks suit three unknowns per node.
            supernodal_params: SymbolicSupernodalParams { relax: Some(RELAX) },
            ..Default::default()
        };
        let symbolic = factorize_symbolic_cholesky(upper, Side::Upper, SymmetricOrdering::Identity, params)
            .map_err(|_| SolveError::OutOfMemory)?;
        let params = Spec::<LltParams, f64>::default();
        let memory = MemBuffer::try_new(symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, params))
            .map_err(|_| SolveError::OutOfMemory)?;
        let solve_memory = MemBuffer::try_new(symbolic.solve_in_place_scratch::<f64>(1, Par::Seq))
            .map_err(|_| SolveError::OutOfMemory)?;
        let values = vec![0.0; symbolic.len_val()];
        Ok(Self { symbolic, values, memory, solve_memory, unknowns: vec![0.0; n], ready: false })
    }

    /// Whether a factorisation is held.
    pub fn is_ready(&self) -> bool {
        self.ready
    }

    /// Entries of the factor.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Factorises the matrix.
    pub fn factorise(&mut self, pattern: &Pattern, values: &[f64]) -> Result<(), SolveError> {
        self.ready = false;
        let matrix = SparseColMatRef::<u32, f64>::new(scalar(pattern, 3 * pattern.len()), values);
        self.symbolic
            .factorize_numeric_llt(
                &mut self.values,
                matrix,
                Side::Lower,
                LltRegularization::default(),
                Par::Seq,
                MemStack::new(&mut self.memory),
                Spec::default(),
            )
            .map_err(|_| SolveError::NotDefinite)?;
        self.ready = true;
        Ok(())
    }

    /// Solves in place with the factor held.
    pub fn solve(&mut self, x: &mut [DVec3]) {
        for (u, v) in self.unknowns.chunks_exact_mut(3).zip(x.iter()) {
            u.copy_from_slice(&v.to_array());
        }
        let n = self.unknowns.len();
        let right = MatMut::from_column_major_slice_mut(&mut self.unknowns, n, 1);
        LltRef::new(&self.symbolic, &self.values).solve_in_place_with_conj(
            Conj::No,
            right,
            Par::Seq,
            MemStack::new(&mut self.solve_memory),
        );
        for (u, v) in self.unknowns.chunks_exact(3).zip(x.iter_mut()) {
            *v = DVec3::from_slice(u);
        }
    }
}

const RELAX: &[(usize, f64)] = &[(12, 1.0), (24, 0.5), (64, 0.2), (usize::MAX, 0.05)];

fn scalar(pattern: &Pattern, n: usize) -> SymbolicSparseColMatRef<'_, u32> {
    SymbolicSparseColMatRef::new_checked(n, n, &pattern.scalar_starts, None, &pattern.scalar_rows)
}

/// Compressed columns of the transposed pattern.
fn upper(pattern: &Pattern) -> (Vec<u32>, Vec<u32>) {
    let n = 3 * pattern.len();
    let mut starts = vec![0u32; n + 1];
    for &row in &pattern.scalar_rows {
        starts[row as usize + 1] += 1;
    }
    for i in 0..n {
        starts[i + 1] += starts[i];
    }
    let mut next = starts.clone();
    let mut rows = vec![0u32; pattern.scalar_rows.len()];
    for column in 0..n {
        let range = pattern.scalar_starts[column] as usize..pattern.scalar_starts[column + 1] as usize;
        for &row in &pattern.scalar_rows[range] {
            rows[next[row as usize] as usize] = column as u32;
            next[row as usize] += 1;
        }
    }
    (starts, rows)
}

/// Buffers of conjugate gradients.
#[derive(Debug, Default)]
pub struct Gradients {
    residual: Vec<DVec3>,
    preconditioned: Vec<DVec3>,
    direction: Vec<DVec3>,
    product: Vec<DVec3>,
    blocks: Vec<DMat3>,
}

/// A symmetric matrix: stored blocks, and terms that couple nodes without a stored block.
#[derive(Clone, Copy, Debug)]
pub struct System<'a> {
    /// Where the blocks are.
    pub pattern: &'a Pattern,
    /// Their values.
    pub values: &'a [f64],
    /// Terms not in the pattern, applied on the fly.
    pub apart: &'a [Term],
    /// Nodes that do not move; the terms do not act on them.
    pub fixed: &'a [bool],
}

impl System<'_> {
    fn multiply(&self, x: &[DVec3], out: &mut [DVec3]) {
        self.pattern.multiply(self.values, x, out);
        let position = |n: u32| self.pattern.position_of[n as usize] as usize;
        for term in self.apart {
            let mut point = DVec3::ZERO;
            for (n, w) in term.support() {
                if !self.fixed[n as usize] {
                    point += x[position(n)] * w;
                }
            }
            let force = term.stiffness * point;
            for (n, w) in term.support() {
                if !self.fixed[n as usize] {
                    out[position(n)] += force * w;
                }
            }
        }
    }
}

fn dot(a: &[DVec3], b: &[DVec3]) -> f64 {
    a.iter().zip(b).map(|(x, y)| x.dot(*y)).sum()
}

impl Gradients {
    /// Solves `A x = b` from `x = 0` to a relative residual; `x` holds `b` on entry and the solution on exit.
    /// With a factor it is the preconditioner, otherwise the inverted diagonal blocks. Returns iterations.
    pub fn solve(
        &mut self,
        system: &System,
        mut factor: Option<&mut Factor>,
        x: &mut [DVec3],
        tolerance: f64,
        most: usize,
    ) -> Result<usize, SolveError> {
        let n = x.len();
        for buffer in [&mut self.residual, &mut self.preconditioned, &mut self.direction, &mut self.product] {
            buffer.resize(n, DVec3::ZERO);
        }
        if factor.is_none() {
            self.invert_diagonal(system);
        }
        self.residual.copy_from_slice(x);
        x.fill(DVec3::ZERO);
        let goal = tolerance * tolerance * dot(&self.residual, &self.residual);
        if goal == 0.0 {
            return Ok(0);
        }
        let mut last = 0.0;
        for iteration in 0..most {
            self.preconditioned.copy_from_slice(&self.residual);
            match factor.as_deref_mut() {
                Some(factor) => factor.solve(&mut self.preconditioned),
                None => {
                    for (p, block) in self.preconditioned.iter_mut().zip(&self.blocks) {
                        *p = *block * *p;
                    }
                }
            }
            let now = dot(&self.residual, &self.preconditioned);
            let keep = if iteration == 0 { 0.0 } else { now / last };
            for (d, p) in self.direction.iter_mut().zip(&self.preconditioned) {
                *d = *p + *d * keep;
            }
            last = now;
            system.multiply(&self.direction, &mut self.product);
            let curvature = dot(&self.direction, &self.product);
            if curvature.is_nan() || curvature <= 0.0 {
                return Err(SolveError::NotDefinite);
            }
            let length = now / curvature;
            for k in 0..n {
                x[k] += self.direction[k] * length;
                self.residual[k] -= self.product[k] * length;
            }
            if dot(&self.residual, &self.residual) <= goal {
                return Ok(iteration + 1);
            }
        }
        let residual = (dot(&self.residual, &self.residual) / goal).sqrt() * tolerance;
        Err(SolveError::NotConverged { iterations: most, residual })
    }

    fn invert_diagonal(&mut self, system: &System) {
        self.blocks.clear();
        for column in 0..system.pattern.len() {
            let block = system.pattern.column(column).start;
            let [i, j, k] = system.pattern.value_index(column, block);
            let v = system.values;
            let (xy, xz, yz) = (v[i + 1], v[i + 2], v[j + 2]);
            self.blocks.push(DMat3::from_cols(
                DVec3::new(v[i], xy, xz),
                DVec3::new(xy, v[j + 1], yz),
                DVec3::new(xz, yz, v[k + 2]),
            ));
        }
        for term in system.apart {
            for (n, w) in term.support() {
                if !system.fixed[n as usize] {
                    self.blocks[system.pattern.position_of[n as usize] as usize] += term.stiffness * (w * w);
                }
            }
        }
        for block in &mut self.blocks {
            *block = block.inverse();
        }
    }
}
