//! What padding costs: row statistics, and the entries that a padded format would store, computed
//! from the row lengths alone, before anything is allocated.

use std::cmp::Reverse;

use super::Csr;
use super::format::SLICE;
use crate::error::{Error, Result};
use crate::parallel::*;
use cuda_std::Real;

/// A padded format is refused when it would store more than this many entries for each nonzero.
///
/// SpMV is bound by the bytes of the matrix, and the padding is read like the rest: at a factor of 3
/// the format is slower than CRS on every device, and its memory is what a larger problem would need.
pub const MAX_PADDING: f64 = 3.0;

/// Padding is never refused up to this many stored entries (3 MiB in f64): a GPU has them in its caches,
/// and where all levels of a hierarchy are in one format, the coarse ones are so small.
pub const ALWAYS_ALLOWED: u64 = 1 << 18;

/// Stored entries, and nonzeros among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Padding {
    /// Entries in memory, padding included.
    pub stored: u64,
    /// Entries of the matrix.
    pub nnz: u64,
}

impl Padding {
    /// `stored / nnz`; 1 for a matrix without entries.
    pub fn factor(&self) -> f64 {
        if self.nnz == 0 { 1.0 } else { self.stored as f64 / self.nnz as f64 }
    }

    /// The padding as a percentage of the nonzeros: 1.7 where `factor()` is 1.017.
    pub fn percent(&self) -> f64 {
        100.0 * (self.factor() - 1.0)
    }

    /// [`Error::Padding`] where the format is not worth its memory.
    pub(super) fn check<T: Real>(
        &self,
        a: &Csr<T>,
        format: &'static str,
        advice: &'static str,
    ) -> Result<()> {
        if self.stored <= ALWAYS_ALLOWED || self.factor() <= MAX_PADDING {
            return Ok(());
        }
        let rows = row_stats(a);
        Err(Error::Padding {
            format,
            stored: self.stored,
            nnz: self.nnz,
            factor: self.factor(),
            longest: rows.max,
            mean: rows.mean,
            advice,
        })
    }
}

/// How the row lengths of a matrix spread.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowStats {
    /// Entries of the shortest row; 0 without rows.
    pub min: usize,
    /// Entries per row; 0 without rows.
    pub mean: f64,
    /// Entries of the longest row; 0 without rows.
    pub max: usize,
    /// Rows without entries.
    pub empty: usize,
}

/// Shortest, mean and longest row, and the number of empty rows.
pub fn row_stats<T: Real>(a: &Csr<T>) -> RowStats {
    let n = a.n_rows();
    if n == 0 {
        return RowStats { min: 0, mean: 0.0, max: 0, empty: 0 };
    }
    let (min, max, empty) = (0..n)
        .into_par_iter()
        .with_min_len(4096)
        .map(|i| (a.row_len(i), a.row_len(i), usize::from(a.row_len(i) == 0)))
        .reduce(|| (usize::MAX, 0, 0), |p, q| (p.0.min(q.0), p.1.max(q.1), p.2 + q.2));
    RowStats { min, mean: a.nnz() as f64 / n as f64, max, empty }
}

/// What ELLPACK would store: every row as long as the longest, rows rounded up to a multiple of 32.
pub fn ell_padding<T: Real>(a: &Csr<T>) -> Padding {
    let stride = a.n_rows().next_multiple_of(SLICE) as u64;
    Padding { stored: stride * row_stats(a).max as u64, nnz: a.nnz() as u64 }
}

/// Rows of a task at least.
const LEAST: usize = 4096;

/// What reduced SELL-32-sigma would store: every row as long as the longest of its slice.
///
/// [`Error::Option`] for a `sigma` that is neither 1 nor a multiple of 32.
pub fn sell_padding<T: Real>(a: &Csr<T>, sigma: usize) -> Result<Padding> {
    let rows = (0..a.n_rows()).into_par_iter().with_min_len(LEAST);
    sell_padding_of(rows.map(|i| a.row_len(i) as u32).collect(), a.nnz() as u64, sigma)
}

/// The same for rows of these lengths, `nnz` entries in all.
pub(crate) fn sell_padding_of(mut lengths: Vec<u32>, nnz: u64, sigma: usize) -> Result<Padding> {
    check_sigma(sigma)?;
    // A permutation shows only in the rows that a slice gets.
    if sigma > 1 {
        lengths
            .par_chunks_mut(sigma)
            .for_each(|window| window.sort_unstable_by_key(|&length| Reverse(length)));
    }
    let longest = |slice: &[u32]| slice.iter().copied().max().map_or(0, u64::from);
    let stored =
        lengths.par_chunks(SLICE).with_min_len(LEAST / SLICE).map(|s| longest(s) * SLICE as u64).sum();
    Ok(Padding { stored, nnz })
}

/// The column that pads row `i`: its last one, or one near the diagonal for an empty row.
pub(super) fn padding_column(columns: &[u32], i: usize, n_cols: usize) -> u32 {
    columns.last().copied().unwrap_or(i.min(n_cols.saturating_sub(1)) as u32)
}

pub(super) fn check_sigma(sigma: usize) -> Result<()> {
    if sigma == 1 || (sigma > 0 && sigma.is_multiple_of(SLICE)) {
        return Ok(());
    }
    Err(Error::Option(format!("sigma is {sigma}; it must be 1 or a multiple of {SLICE}")))
}
