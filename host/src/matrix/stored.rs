//! What every format says of itself, and its product on the host.

use cuda_std::Real;

use super::format::{Format, SLICE};

/// A matrix in one of the formats.
pub trait Stored<T: Real> {
    /// The format.
    fn format(&self) -> Format;
    /// Rows.
    fn n_rows(&self) -> usize;
    /// Columns.
    fn n_cols(&self) -> usize;
    /// Entries without padding.
    fn nnz(&self) -> usize;
    /// Entries with padding.
    fn stored(&self) -> usize;
    /// Rows that were sorted at a time; 1 where they are in order.
    fn sigma(&self) -> usize {
        1
    }
    /// Bytes on a device in addition to columns and values: pointers to rows or slices, permutations.
    fn pointer_bytes(&self) -> u64;

    /// Calls `row(i, (A x)_i)` for every row, whose products are added one after the other. This is the
    /// sequential product that others are compared with.
    fn for_each_row(&self, x: &[T], row: &mut dyn FnMut(usize, T));

    /// Ranges of rows for [`Stored::multiply`] begin at multiples of this.
    fn window(&self) -> usize {
        SLICE
    }
    /// `y = A x` for the `y.len()` rows from `first` on, as fast as one thread can. `x` has `n_cols`
    /// elements.
    fn multiply(&self, x: &[T], first: usize, y: &mut [T]);
}
