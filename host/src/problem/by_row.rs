//! Matrices whose rows are computed each by itself.

use std::ops::Range;

use crate::matrix::Csr;

/// A square matrix, row by row.
pub(super) trait ByRow: Send + Sync {
    fn n_rows(&self) -> usize;
    /// How many entries a row has.
    fn length(&self, row: usize) -> usize;
    /// Writes them, columns ascending.
    fn fill(&self, row: usize, columns: &mut [u32], values: &mut [f64]);
}

/// Some rows, with all columns.
pub(super) fn rows<A: ByRow + ?Sized>(a: &A, rows: Range<usize>) -> Csr<f64> {
    let first = rows.start;
    let fill = |k: usize, columns: &mut [u32], values: &mut [f64]| a.fill(first + k, columns, values);
    Csr::from_rows(rows.len(), a.n_rows(), |k| a.length(first + k), fill)
}

/// The whole matrix.
pub(super) fn whole<A: ByRow>(a: &A) -> Csr<f64> {
    rows(a, 0..a.n_rows())
}
