//! Compressed row storage (CRS, also CSR).

use std::sync::Arc;

use super::in_large_pages;
use crate::error::{Error, Result};
use cuda_std::Real;
use rayon::prelude::*;

/// Rows that one task checks or fills.
const BLOCK: usize = 1024;

/// A sparse matrix in compressed row storage.
///
/// Row `i` holds the entries `row_ptr[i]..row_ptr[i + 1]` of `col_idx` and `values`; columns ascend
/// strictly within a row, so there are no duplicates. Explicit zeros are allowed.
#[derive(Debug, Clone, PartialEq)]
pub struct Csr<T> {
    n_rows: usize,
    n_cols: usize,
    // Shared with matrices of the same pattern.
    row_ptr: Arc<Vec<usize>>,
    col_idx: Arc<Vec<u32>>,
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
        let fault_of_row = |i: usize| {
            if row_ptr[i] > row_ptr[i + 1] || row_ptr[i + 1] > values.len() {
                return Some(format!("row {}: row_ptr decreases", i + 1));
            }
            let columns = &col_idx[row_ptr[i]..row_ptr[i + 1]];
            if columns.windows(2).any(|w| w[0] >= w[1]) {
                return Some(format!("row {}: columns do not ascend strictly", i + 1));
            }
            let last = columns.last().filter(|&&column| column as usize >= n_cols)?;
            Some(format!("row {}: column {} of {n_cols}", i + 1, u64::from(*last) + 1))
        };
        let rows = (0..n_rows).into_par_iter().with_min_len(BLOCK);
        if let Some(message) = rows.find_map_first(fault_of_row) {
            return fault(message);
        }
        Ok(Csr { n_rows, n_cols, row_ptr: Arc::new(row_ptr), col_idx: Arc::new(col_idx), values })
    }

    /// A matrix with the pattern of this one and `values`, as many as it has entries.
    pub(crate) fn with_values<U>(&self, values: Vec<U>) -> Csr<U> {
        assert_eq!(values.len(), self.nnz());
        let (row_ptr, col_idx) = (self.row_ptr.clone(), self.col_idx.clone());
        Csr { n_rows: self.n_rows, n_cols: self.n_cols, row_ptr, col_idx, values }
    }

    /// Takes over three arrays that are right by construction; checked in debug builds.
    pub(crate) fn from_valid_parts(
        n_rows: usize,
        n_cols: usize,
        row_ptr: Vec<usize>,
        col_idx: Vec<u32>,
        values: Vec<T>,
    ) -> Self {
        if cfg!(debug_assertions) {
            return Csr::new(n_rows, n_cols, row_ptr, col_idx, values).expect("right by construction");
        }
        Csr { n_rows, n_cols, row_ptr: Arc::new(row_ptr), col_idx: Arc::new(col_idx), values }
    }

    /// Builds a matrix row by row, in parallel: `fill(i, columns, values)` writes the `length(i)`
    /// entries of row `i`, columns ascending.
    pub(crate) fn from_rows(
        n_rows: usize,
        n_cols: usize,
        length: impl Fn(usize) -> usize + Sync,
        fill: impl Fn(usize, &mut [u32], &mut [T]) + Sync,
    ) -> Self {
        let mut row_ptr = in_large_pages(vec![0; n_rows + 1]);
        row_ptr[1..].par_iter_mut().with_min_len(BLOCK).enumerate().for_each(|(i, l)| *l = length(i));
        for i in 0..n_rows {
            row_ptr[i + 1] += row_ptr[i];
        }
        let mut col_idx = in_large_pages(vec![0; row_ptr[n_rows]]);
        let mut values = in_large_pages(vec![T::ZERO; row_ptr[n_rows]]);

        let mut blocks = Vec::with_capacity(n_rows.div_ceil(BLOCK));
        let (mut columns_left, mut values_left) = (&mut col_idx[..], &mut values[..]);
        for start in (0..n_rows).step_by(BLOCK) {
            let entries = row_ptr[(start + BLOCK).min(n_rows)] - row_ptr[start];
            let (c, v);
            (c, columns_left) = columns_left.split_at_mut(entries);
            (v, values_left) = values_left.split_at_mut(entries);
            blocks.push((c, v));
        }
        blocks.into_par_iter().enumerate().for_each(|(b, (c, v))| {
            let first = row_ptr[b * BLOCK];
            for i in b * BLOCK..((b + 1) * BLOCK).min(n_rows) {
                let range = row_ptr[i] - first..row_ptr[i + 1] - first;
                fill(i, &mut c[range.clone()], &mut v[range]);
            }
        });
        Csr::from_valid_parts(n_rows, n_cols, row_ptr, col_idx, values)
    }

    /// The identity of `n` rows.
    ///
    /// # Panics
    /// Where `n` exceeds the reach of 32-bit indices.
    pub fn identity(n: usize) -> Self {
        assert!(n <= u32::MAX as usize, "identity of {n} rows: more than 32-bit indices reach");
        Csr::from_valid_parts(n, n, (0..=n).collect(), (0..n as u32).collect(), vec![T::ONE; n])
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
    /// Row pointers, columns, and the values to be changed in place.
    pub fn parts_mut(&mut self) -> (&[usize], &[u32], &mut [T]) {
        (&self.row_ptr, &self.col_idx, &mut self.values)
    }
    /// Columns and values of row `i`.
    #[inline]
    pub fn row(&self, i: usize) -> (&[u32], &[T]) {
        let range = self.row_ptr[i]..self.row_ptr[i + 1];
        (&self.col_idx[range.clone()], &self.values[range])
    }
    /// Length of row `i`.
    #[inline]
    pub fn row_len(&self, i: usize) -> usize {
        self.row_ptr[i + 1] - self.row_ptr[i]
    }
    /// Entry (i, j), or `None` where none is stored. Searches the row: O(log row length).
    #[inline]
    pub fn get(&self, i: usize, j: usize) -> Option<T> {
        let (columns, values) = self.row(i);
        place(columns, u32::try_from(j).ok()?).map(|k| values[k])
    }
    /// The diagonal: `min(n_rows, n_cols)` values, 0 where no entry is stored.
    pub fn diagonal(&self) -> Vec<T> {
        let n = self.n_rows.min(self.n_cols);
        (0..n).into_par_iter().with_min_len(BLOCK).map(|i| self.get(i, i).unwrap_or(T::ZERO)).collect()
    }
    /// `A x`, one row after another, each summed from left to right: the reference for everything
    /// that is faster.
    ///
    /// # Panics
    /// Where `x` does not have `n_cols` entries.
    pub fn mul_vec(&self, x: &[T]) -> Vec<T> {
        assert_eq!(x.len(), self.n_cols, "A x: x must have as many entries as A columns");
        (0..self.n_rows)
            .map(|i| {
                let (columns, values) = self.row(i);
                columns.iter().zip(values).fold(T::ZERO, |sum, (&j, &a)| sum + a * x[j as usize])
            })
            .collect()
    }
}

/// Where the ascending `columns` have `j`.
#[inline(always)]
pub(crate) fn place(columns: &[u32], j: u32) -> Option<usize> {
    /// Up to here the columns in front are counted, several at once; where a bisection turns cannot be predicted.
    const SHORT: usize = 32;
    let k = match columns.len() {
        0..=SHORT => columns.iter().map(|&c| u32::from(c < j)).sum::<u32>() as usize,
        _ => columns.partition_point(|&c| c < j),
    };
    (columns.get(k) == Some(&j)).then_some(k)
}
