//! ELLPACK: one width for the whole matrix, stored column by column.

use super::format::{Format, SLICE};
use super::lanes::{LANES, sums_of_rows};
use super::padding::{MAX_PADDING, ell_padding, padding_column, sell_padding};
use super::stored::Stored;
use super::{Csr, Padding};
use crate::error::Result;
use crate::parallel::*;
use cuda_std::Real;

/// Rows that one task fills.
const BLOCK: usize = 2048;

/// A sparse matrix in ELLPACK, which the source papers call SELL-C-sigma: every row is as long as the
/// longest.
///
/// Entry `j` of row `i` lies at `j * stride + i`, so that 32 neighbouring rows read 32 neighbouring
/// entries. `stride` is the number of rows rounded up to a multiple of 32, which keeps every warp's
/// load aligned.
///
/// Padding holds the value 0 and the column of the row's last entry, whose `x` the row has just read;
/// an empty row is padded with its own index, or the last column where there are fewer columns than
/// that. Every column is therefore a valid one, and `y = A x` needs no test in the inner loop. Rows
/// from `n_rows` to `stride` are zeros in column 0.
///
/// Because padding multiplies, a row of `y` is NaN where an `x` that its padding names is infinite.
#[derive(Debug, Clone, PartialEq)]
pub struct Ell<T> {
    n_rows: usize,
    n_cols: usize,
    nnz: usize,
    width: usize,
    stride: usize,
    row_lengths: Vec<u32>,
    col_idx: Vec<u32>,
    values: Vec<T>,
}

impl<T: Real> Ell<T> {
    /// Converts from CRS, in parallel.
    ///
    /// [`Error::Padding`](crate::Error::Padding) where more than [`MAX_PADDING`] entries would be
    /// stored for each nonzero; nothing has been allocated then.
    pub fn from_csr(a: &Csr<T>) -> Result<Self> {
        let padding = ell_padding(a);
        let sliced = sell_padding(a, 1)?;
        padding.check(a, "ell", if sliced.factor() <= MAX_PADDING { "sell" } else { "crs" })?;

        let n_rows = a.n_rows();
        let stride = n_rows.next_multiple_of(SLICE);
        let width = (padding.stored as usize).checked_div(stride).unwrap_or(0);
        let row_lengths = (0..n_rows).map(|i| a.row_len(i) as u32).collect();
        let mut col_idx = vec![0; padding.stored as usize];
        let mut values = vec![T::ZERO; padding.stored as usize];

        // A task owns BLOCK rows: a piece of each of the `width` columns.
        let mut blocks: Vec<Vec<(&mut [u32], &mut [T])>> =
            (0..stride.div_ceil(BLOCK)).map(|_| Vec::with_capacity(width)).collect();
        if width > 0 {
            for (columns, entries) in col_idx.chunks_mut(stride).zip(values.chunks_mut(stride)) {
                let pieces = columns.chunks_mut(BLOCK).zip(entries.chunks_mut(BLOCK));
                blocks.iter_mut().zip(pieces).for_each(|(block, piece)| block.push(piece));
            }
        }
        blocks.into_par_iter().enumerate().for_each(|(b, mut block)| {
            let first = b * BLOCK;
            for i in first..(first + BLOCK).min(n_rows) {
                let (columns, entries) = a.row(i);
                let pad = padding_column(columns, i, a.n_cols());
                for (j, (c, v)) in block.iter_mut().enumerate() {
                    c[i - first] = columns.get(j).copied().unwrap_or(pad);
                    v[i - first] = entries.get(j).copied().unwrap_or(T::ZERO);
                }
            }
        });
        Ok(Ell { n_rows, n_cols: a.n_cols(), nnz: a.nnz(), width, stride, row_lengths, col_idx, values })
    }

    /// Back to CRS. Padding is dropped and explicit zeros are kept: the matrix that
    /// [`from_csr`](Self::from_csr) was given.
    pub fn to_csr(&self) -> Csr<T> {
        let mut row_ptr = vec![0];
        let (mut col_idx, mut values) = (Vec::with_capacity(self.nnz), Vec::with_capacity(self.nnz));
        for (i, &length) in self.row_lengths.iter().enumerate() {
            for k in (0..length as usize).map(|j| j * self.stride + i) {
                col_idx.push(self.col_idx[k]);
                values.push(self.values[k]);
            }
            row_ptr.push(values.len());
        }
        Csr::from_valid_parts(self.n_rows, self.n_cols, row_ptr, col_idx, values)
    }

    /// Number of rows.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }
    /// Number of columns.
    pub fn n_cols(&self) -> usize {
        self.n_cols
    }
    /// Number of entries without padding.
    pub fn nnz(&self) -> usize {
        self.nnz
    }
    /// Number of entries with padding: `width * stride`.
    pub fn stored(&self) -> usize {
        self.values.len()
    }
    /// Stored entries, and nonzeros among them.
    pub fn padding(&self) -> Padding {
        Padding { stored: self.stored() as u64, nnz: self.nnz as u64 }
    }
    /// Entries of the longest row.
    pub fn width(&self) -> usize {
        self.width
    }
    /// Distance between neighbouring entries of a row: `n_rows` rounded up to a multiple of 32.
    pub fn stride(&self) -> usize {
        self.stride
    }
    /// Entries of each row without padding; `n_rows` of them.
    pub fn row_lengths(&self) -> &[u32] {
        &self.row_lengths
    }
    /// Column of each entry, `width * stride` of them.
    pub fn col_idx(&self) -> &[u32] {
        &self.col_idx
    }
    /// Value of each entry, `width * stride` of them.
    pub fn values(&self) -> &[T] {
        &self.values
    }
}

impl<T: Real> Stored<T> for Ell<T> {
    fn format(&self) -> Format {
        Format::Ell
    }
    fn n_rows(&self) -> usize {
        self.n_rows
    }
    fn n_cols(&self) -> usize {
        self.n_cols
    }
    fn nnz(&self) -> usize {
        self.nnz
    }
    fn stored(&self) -> usize {
        self.values.len()
    }
    fn pointer_bytes(&self) -> u64 {
        0
    }
    fn for_each_row(&self, x: &[T], row: &mut dyn FnMut(usize, T)) {
        for i in 0..self.n_rows {
            let entries = (0..self.width).map(|j| i + j * self.stride);
            row(i, entries.fold(T::ZERO, |sum, e| sum + self.values[e] * x[self.col_idx[e] as usize]));
        }
    }
    fn multiply(&self, x: &[T], first: usize, y: &mut [T]) {
        for (i, y) in (first..).step_by(LANES).zip(y.chunks_mut(LANES)) {
            let sums = sums_of_rows(&self.col_idx, &self.values, x, i, self.stride, self.width);
            y.copy_from_slice(&sums[..y.len()]);
        }
    }
}
