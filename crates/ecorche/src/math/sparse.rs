//! Sparse symmetric systems factored once and solved many times.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMat, Triplet};
use faer::{Conj, MatMut, Par, Side};
use rayon::prelude::*;

/// Why a matrix has no Cholesky factor.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FactorError {
    /// An index is out of range, or the factor does not fit into memory.
    #[error("the matrix could not be built or its factor stored")]
    Storage,
    /// Rounding or the matrix itself made a pivot zero or negative.
    #[error("the matrix is not positive definite")]
    NotPositiveDefinite,
}

/// The Cholesky factor of a sparse symmetric positive definite matrix.
///
/// Factored on one thread, and each right-hand side is solved on one, so that the bits do not depend
/// on the number of threads.
pub struct SparseCholesky {
    symbolic: SymbolicCholesky<usize>,
    values: Vec<f64>,
}

impl SparseCholesky {
    /// Factors the matrix of `size` rows given by its lower triangle as `(row, column, value)`;
    /// entries at the same place are added up.
    pub fn new(size: usize, lower: &[(usize, usize, f64)]) -> Result<Self, FactorError> {
        let triplets: Vec<_> = lower.iter().map(|&(row, col, val)| Triplet { row, col, val }).collect();
        let matrix = SparseColMat::<usize, f64>::try_new_from_triplets(size, size, &triplets)
            .map_err(|_| FactorError::Storage)?;
        let symbolic = factorize_symbolic_cholesky(
            matrix.symbolic(),
            Side::Lower,
            SymmetricOrdering::Amd,
            CholeskySymbolicParams::default(),
        )
        .map_err(|_| FactorError::Storage)?;
        let mut values = vec![0.0; symbolic.len_val()];
        let scratch = symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let mut buffer = MemBuffer::try_new(scratch).map_err(|_| FactorError::Storage)?;
        symbolic
            .factorize_numeric_llt(
                &mut values,
                matrix.as_ref(),
                Side::Lower,
                Default::default(),
                Par::Seq,
                MemStack::new(&mut buffer),
                Default::default(),
            )
            .map_err(|_| FactorError::NotPositiveDefinite)?;
        Ok(Self { symbolic, values })
    }

    /// Replaces each of `columns` (one per right-hand side, all of the matrix' size) by its solution.
    pub fn solve_in_place(&self, columns: &mut [Vec<f64>]) {
        let factor = LltRef::<'_, usize, f64>::new(&self.symbolic, &self.values);
        columns.par_iter_mut().for_each(|column| {
            let rows = column.len();
            let scratch = self.symbolic.solve_in_place_scratch::<f64>(1, Par::Seq);
            factor.solve_in_place_with_conj(
                Conj::No,
                MatMut::from_column_major_slice_mut(column, rows, 1),
                Par::Seq,
                MemStack::new(&mut MemBuffer::new(scratch)),
            );
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chain_of_springs_is_solved() {
        // -1 2 -1 with the ends held: a load at one end sags linearly.
        let size = 50;
        let mut lower = Vec::new();
        for i in 0..size {
            lower.push((i, i, 2.0));
            if i > 0 {
                lower.push((i, i - 1, -1.0));
            }
        }
        let factor = SparseCholesky::new(size, &lower).expect("positive definite");
        let mut columns = vec![vec![0.0; size], vec![0.0; size]];
        columns[0][0] = 1.0;
        factor.solve_in_place(&mut columns);
        for i in 0..size {
            let expected = (size - i) as f64 / (size + 1) as f64;
            assert!((columns[0][i] - expected).abs() < 1e-12);
            assert_eq!(columns[1][i], 0.0);
        }
    }

    #[test]
    fn an_indefinite_matrix_is_refused() {
        let error = SparseCholesky::new(2, &[(0, 0, 1.0), (1, 0, 2.0), (1, 1, 1.0)]).err();
        assert_eq!(error, Some(FactorError::NotPositiveDefinite));
    }
}
