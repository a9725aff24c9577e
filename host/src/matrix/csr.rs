//! Compressed row storage (CRS, also CSR).

use crate::error::{Error, Result};
use cuda_std::Real;

/// A sparse matrix in compressed row storage.
///
/// Row `i` holds the entries `row_ptr[i]..row_ptr[i + 1]` of `col_idx` and `values`; columns ascend
/// strictly within a row, so there are no duplicates. Explicit zeros are allowed.
#[derive(Debug, Clone, PartialEq)]
pub struct Csr<T> {
    n_rows: usize,
    n_cols: usize,
    row_ptr: Vec<usize>,
    col_idx: Vec<u32>,
    values: Vec<T>,
}

impl<T: Real> Csr<T> {
    /// Takes the three arrays over after checking every invariant.
    pub fn new(
        n_rows: usize,
        n_cols: usize,
        row_ptr: Vec<usize>,
        col_idx: Vec<u32>,
        values: Vec<T>,
    ) -> Result<Self> {
        let fault = |message: String| Err(Error::Matrix(message));
        if n_cols > u32::MAX as usize || n_rows > u32::MAX as usize {
            return fault(format!("{n_rows} x {n_cols}: more rows or columns than 32-bit indices reach"));
        }
        if row_ptr.len() != n_rows + 1 || row_ptr[0] != 0 {
            return fault(format!("row_ptr must have {} entries and start with 0", n_rows + 1));
        }
        if col_idx.len() != values.len() || row_ptr[n_rows] != values.len() {
            return fault(format!(
                "row_ptr ends at {}, but there are {} columns and {} values",
                row_ptr[n_rows],
                col_idx.len(),
                values.len()
            ));
        }
        for i in 0..n_rows {
            if row_ptr[i] > row_ptr[i + 1] || row_ptr[i + 1] > values.len() {
                return fault(format!("row {}: row_ptr decreases", i + 1));
            }
            let columns = &col_idx[row_ptr[i]..row_ptr[i + 1]];
            if columns.windows(2).any(|w| w[0] >= w[1]) {
                return fault(format!("row {}: columns do not ascend strictly", i + 1));
            }
            if columns.last().is_some_and(|&c| c as usize >= n_cols) {
                return fault(format!("row {}: column {} of {n_cols}", i + 1, columns[columns.len() - 1] + 1));
            }
        }
        Ok(Csr { n_rows, n_cols, row_ptr, col_idx, values })
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }
    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }
    /// Number of stored entries.
    pub fn nnz(&self) -> usize {
        self.values.len()
    }
    /// Where each row starts; one more entry than rows.
    pub fn row_ptr(&self) -> &[usize] {
        &self.row_ptr
    }
    /// Column of each entry.
    pub fn col_idx(&self) -> &[u32] {
        &self.col_idx
    }
    /// Value of each entry.
    pub fn values(&self) -> &[T] {
        &self.values
    }
    /// Values, to be changed in place; the pattern stays.
    pub fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }
    /// Columns and values of row `i`.
    pub fn row(&self, i: usize) -> (&[u32], &[T]) {
        let range = self.row_ptr[i]..self.row_ptr[i + 1];
        (&self.col_idx[range.clone()], &self.values[range])
    }
    /// Length of row `i`.
    pub fn row_len(&self, i: usize) -> usize {
        self.row_ptr[i + 1] - self.row_ptr[i]
    }
}
