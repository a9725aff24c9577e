//! Reduced SELL-C-sigma: a width for every slice of 32 rows.
//!
//! M. Kreutzer, G. Hager, G. Wellein, H. Fehske, A. R. Bishop: A unified sparse matrix data format for
//! efficient general sparse matrix-vector multiplication on modern processors with wide SIMD units,
//! SIAM J. Sci. Comput. 36 (2014), C401-C423.

use super::format::{Format, SLICE};
use super::lanes::{LANES, sums_of_rows};
use super::padding::{check_sigma, padding_column, sell_padding};
use super::stored::Stored;
use super::{Csr, Padding};
use crate::error::Result;
use crate::parallel::*;
use cuda_std::Real;
use std::cmp::Reverse;

/// What [`Sell::permutation`] holds where the last slice has no row.
pub const NO_ROW: u32 = u32::MAX;

/// A sparse matrix in reduced SELL-32-sigma: the rows of a slice of 32 are as long as its longest.
///
/// Entry `j` of the row at position `r` lies at `slice_ptr[r / 32] + 32 * j + r % 32`.
///
/// With `sigma == 1` positions are rows. Otherwise the rows of each window of `sigma` are ordered by
/// descending length, stably, and the row at position `r` is `permutation()[r]`: the `y` of position `r`
/// goes to that row. Columns stay in the original numbering, so that `x` and `y` are never permuted.
///
/// Padding is what it is in [`Ell`](super::Ell): value 0, the row's last column. Positions from
/// `n_rows` on, all in the last slice, are zeros in column 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Sell<T> {
    n_rows: usize,
    n_cols: usize,
    nnz: usize,
    sigma: usize,
    slice_ptr: Vec<u64>,
    permutation: Option<Vec<u32>>,
    row_lengths: Vec<u32>,
    col_idx: Vec<u32>,
    values: Vec<T>,
}

impl<T: Real> Sell<T> {
    /// Converts from CRS, in parallel. `sigma` is 1 (rows stay in order) or a multiple of 32.
    ///
    /// [`Error::Option`](crate::Error::Option) for another `sigma`; [`Error::Padding`](crate::Error::Padding)
    /// where more than [`MAX_PADDING`](super::MAX_PADDING) entries would be stored for each nonzero.
    pub fn from_csr(a: &Csr<T>, sigma: usize) -> Result<Self> {
        sell_padding(a, sigma)?.check(a, "sell", "crs")?;
        let (n_rows, n_cols) = (a.n_rows(), a.n_cols());
        let mut permutation = row_order(a, sigma)?;
        let widths = slice_widths(a, permutation.as_deref());
        let mut slice_ptr = vec![0; widths.len() + 1];
        for (s, &width) in widths.iter().enumerate() {
            slice_ptr[s + 1] = slice_ptr[s] + (SLICE * width) as u64;
        }
        let stored = slice_ptr[widths.len()] as usize;
        let mut col_idx = vec![0; stored];
        let mut values = vec![T::ZERO; stored];

        let row_at = |r: usize| permutation.as_ref().map_or(r, |order| order[r] as usize);
        let mut slices = Vec::with_capacity(widths.len());
        let (mut columns_left, mut values_left) = (&mut col_idx[..], &mut values[..]);
        for &width in &widths {
            let (c, v);
            (c, columns_left) = columns_left.split_at_mut(SLICE * width);
            (v, values_left) = values_left.split_at_mut(SLICE * width);
            slices.push((c, v));
        }
        slices.into_par_iter().with_min_len(64).enumerate().for_each(|(s, (c, v))| {
            for r in SLICE * s..(SLICE * (s + 1)).min(n_rows) {
                let i = row_at(r);
                let (columns, entries) = a.row(i);
                let pad = padding_column(columns, i, n_cols);
                for (j, k) in (r % SLICE..c.len()).step_by(SLICE).enumerate() {
                    c[k] = columns.get(j).copied().unwrap_or(pad);
                    v[k] = entries.get(j).copied().unwrap_or(T::ZERO);
                }
            }
        });
        let row_lengths = (0..n_rows).map(|r| a.row_len(row_at(r)) as u32).collect();
        if let Some(order) = &mut permutation {
            order.resize(n_rows.next_multiple_of(SLICE), NO_ROW);
        }
        let nnz = a.nnz();
        Ok(Sell { n_rows, n_cols, nnz, sigma, slice_ptr, permutation, row_lengths, col_idx, values })
    }

    /// Back to CRS, rows in their original order. Padding is dropped and explicit zeros are kept: the
    /// matrix that [`from_csr`](Self::from_csr) was given.
    pub fn to_csr(&self) -> Csr<T> {
        let mut position: Vec<usize> = (0..self.n_rows).collect();
        if let Some(order) = &self.permutation {
            for (r, &i) in order[..self.n_rows].iter().enumerate() {
                position[i as usize] = r;
            }
        }
        let mut row_ptr = vec![0];
        let (mut col_idx, mut values) = (Vec::with_capacity(self.nnz), Vec::with_capacity(self.nnz));
        for r in position {
            let first = self.slice_ptr[r / SLICE] as usize + r % SLICE;
            for k in (0..self.row_lengths[r] as usize).map(|j| first + SLICE * j) {
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
    /// Number of entries with padding: the last of `slice_ptr`.
    pub fn stored(&self) -> usize {
        self.values.len()
    }
    /// Stored entries, and nonzeros among them.
    pub fn padding(&self) -> Padding {
        Padding { stored: self.stored() as u64, nnz: self.nnz as u64 }
    }
    /// Rows of the sorting window; 1 where the rows are in order.
    pub fn sigma(&self) -> usize {
        self.sigma
    }
    /// Number of slices: `n_rows / 32`, rounded up.
    pub fn n_slices(&self) -> usize {
        self.slice_ptr.len() - 1
    }
    /// Where each slice starts, in entries, each a multiple of 32; one more than slices.
    pub fn slice_ptr(&self) -> &[u64] {
        &self.slice_ptr
    }
    /// The row at each position, `32 * n_slices` of them; `None` with `sigma == 1`.
    ///
    /// The first `n_rows` are a permutation of the rows, and the rest are [`NO_ROW`]: only the last
    /// slice is ever short, so `position < n_rows` and `permutation[position] != NO_ROW` say the same.
    pub fn permutation(&self) -> Option<&[u32]> {
        self.permutation.as_deref()
    }
    /// Entries of the row at each position without padding; `n_rows` of them.
    pub fn row_lengths(&self) -> &[u32] {
        &self.row_lengths
    }
    /// Column of each entry.
    pub fn col_idx(&self) -> &[u32] {
        &self.col_idx
    }
    /// Value of each entry.
    pub fn values(&self) -> &[T] {
        &self.values
    }
}

/// The rows in slice order: each window of `sigma` by descending length, stably. `None` for `sigma == 1`.
pub(super) fn row_order<T: Real>(a: &Csr<T>, sigma: usize) -> Result<Option<Vec<u32>>> {
    check_sigma(sigma)?;
    if sigma == 1 {
        return Ok(None);
    }
    let mut order: Vec<u32> = (0..a.n_rows() as u32).collect();
    order
        .par_chunks_mut(sigma)
        .for_each(|window| window.sort_by_key(|&row| Reverse(a.row_len(row as usize))));
    Ok(Some(order))
}

/// Entries of the longest row of each slice, for rows in the order `order` (or as they are).
pub(super) fn slice_widths<T: Real>(a: &Csr<T>, order: Option<&[u32]>) -> Vec<usize> {
    let length = |r: usize| a.row_len(order.map_or(r, |order| order[r] as usize));
    (0..a.n_rows().div_ceil(SLICE))
        .into_par_iter()
        .with_min_len(256)
        .map(|s| (SLICE * s..(SLICE * (s + 1)).min(a.n_rows())).map(length).max().unwrap_or(0))
        .collect()
}

impl<T: Real> Stored<T> for Sell<T> {
    fn format(&self) -> Format {
        Format::Sell
    }
    fn sigma(&self) -> usize {
        self.sigma
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
        8 * self.slice_ptr.len() as u64 + 4 * self.permutation.as_ref().map_or(0, Vec::len) as u64
    }
    fn for_each_row(&self, x: &[T], row: &mut dyn FnMut(usize, T)) {
        for p in 0..self.n_rows {
            let slice = p / SLICE;
            let entries = self.slice_ptr[slice] as usize + p % SLICE..self.slice_ptr[slice + 1] as usize;
            let entries = entries.step_by(SLICE);
            let i = self.permutation.as_ref().map_or(p, |permutation| permutation[p] as usize);
            row(i, entries.fold(T::ZERO, |sum, e| sum + self.values[e] * x[self.col_idx[e] as usize]));
        }
    }
    fn window(&self) -> usize {
        // Rows are permuted within windows.
        if self.permutation.is_some() { self.sigma } else { SLICE }
    }
    fn multiply(&self, x: &[T], first: usize, y: &mut [T]) {
        for position in (first..first + y.len()).step_by(LANES) {
            let slice = position / SLICE;
            let start = self.slice_ptr[slice] as usize;
            let width = (self.slice_ptr[slice + 1] as usize - start) / SLICE;
            let sums = sums_of_rows(&self.col_idx, &self.values, x, start + position % SLICE, SLICE, width);
            let count = LANES.min(first + y.len() - position);
            match &self.permutation {
                None => y[position - first..][..count].copy_from_slice(&sums[..count]),
                Some(rows) => {
                    for (&row, sum) in rows[position..position + count].iter().zip(sums) {
                        y[row as usize - first] = sum;
                    }
                }
            }
        }
    }
}
