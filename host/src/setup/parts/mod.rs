//! Parts of matrices and vectors, as ranks take them apart and put them together.

use std::sync::Arc;

use cuda_std::Real;

use super::algebra::Algebra;
use crate::error::Result;
use crate::matrix::Csr;

mod device;
mod distributed;
mod host;
#[cfg(test)]
mod tests;

/// The place of columns whose entries are left out.
pub use gpu_kernels::setup::parts::NOWHERE;

/// A set-up whose matrices can be taken apart and put together.
pub trait Parts<T: Real>: Algebra<T> {
    /// The matrix whose row i is row `source[i]` of `a`, with column j at `places[j]` and without those that
    /// are [`NOWHERE`]; or, counted on behind the rows of `a`, a row of `below`, which has the columns of the
    /// result. Places ascend.
    fn put_together(
        &self,
        source: &[u32],
        a: &Self::Csr,
        places: &[u32],
        below: &Arc<Csr<T>>,
    ) -> Result<Self::Csr>;

    /// These rows of `a`, on the host.
    fn rows_to_host(&self, a: &Self::Csr, rows: &[u32]) -> Result<Arc<Csr<T>>>;

    /// How many entries these rows of `a` have.
    fn entries_of_rows(&self, a: &Self::Csr, rows: &[u32]) -> Result<u64>;

    /// The rows of `a` with an entry in a column whose place is not [`NOWHERE`], ascending.
    fn rows_in_places(&self, a: &Self::Csr, places: &[u32]) -> Result<Vec<u32>>;

    /// The vector whose row k, of `per_row` elements, is row `source[k]` of `v`, or, counted on behind the
    /// rows of `v`, of `below`.
    fn elements(&self, source: &[u32], per_row: usize, v: &Self::Vector, below: &[T])
    -> Result<Self::Vector>;
}
