//! Rows whose values are rounded as a GPU will compress them, while they are shared out among ranks.

use std::ops::Range;
use std::sync::Arc;

use arithmetic::compression::Compression;
use cuda_std::Real;
use gpu_kernels::setup::rounding::{reach_of_rows, round_rows};

use crate::backend::cpu::Cpu;
use crate::backend::gpu::{Gpu, transfer};
use crate::backend::{Memory, Slot};
use crate::comm::{NOWHERE, Runs};
use crate::error::Result;
use crate::launch::Address;
use crate::matrix::rounding::{Pivot, Rounding, pivots};
use crate::matrix::{Csr, sell_padding_of};
use crate::setup::matrix::Matrices;
use crate::setup::matrix::device::DeviceCsr;
use crate::setup::matrix::indices::DeviceIndices;

/// Matrices some of whose rows, `rows`, are rounded for smoothing. Where diagonal entries are the pivots,
/// that of row `rows[k]` is in column `diagonal[k]`.
pub trait RoundedRows<T: Real>: Matrices<T> {
    /// How far columns are from those of their rows' pivots at most; column j has the number `numbers[j]` in
    /// the whole matrix.
    fn reach(
        &self,
        a: &Self::Csr,
        pivot: Pivot,
        rows_and_diagonal: (&Runs, &Runs),
        numbers: &Runs,
    ) -> Result<u32>;

    /// The rows with values that can be compressed so, but for the pivots, which get what the others lose.
    /// Other rows have no values that are to be looked at.
    fn rounded(
        &self,
        a: &Self::Csr,
        pivot: Pivot,
        rows_and_diagonal: (&Runs, &Runs),
        compression: Compression,
    ) -> Result<Self::Csr>;

    /// Entries of these rows of `a`.
    fn row_lengths(&self, a: &Self::Csr, rows: Range<usize>) -> Result<Vec<u32>>;

    /// What reduced SELL would store of these rows of `a`, sorted within windows of `sigma`.
    fn stored_in_sell(&self, a: &Self::Csr, rows: Range<usize>, sigma: usize) -> Result<u64>;
}

impl<T: Real> RoundedRows<T> for Cpu {
    fn reach(
        &self,
        a: &Arc<Csr<T>>,
        pivot: Pivot,
        (rows, diagonal): (&Runs, &Runs),
        numbers: &Runs,
    ) -> Result<u32> {
        let numbers = numbers.expanded();
        let number = |j: u32| numbers.get(j as usize).copied().unwrap_or(0);
        Ok(pivots(a, pivot, diagonal_of(a.n_rows(), rows, diagonal), number).1)
    }

    fn rounded(
        &self,
        a: &Arc<Csr<T>>,
        pivot: Pivot,
        (rows, diagonal): (&Runs, &Runs),
        compression: Compression,
    ) -> Result<Arc<Csr<T>>> {
        let diagonal = diagonal_of(a.n_rows(), rows, diagonal);
        let rounding = Rounding::of_rows(a, pivot, diagonal, compression);
        Ok(Arc::new(a.with_rows(|range, values| rounding.values(range, values))))
    }

    fn row_lengths(&self, a: &Arc<Csr<T>>, rows: Range<usize>) -> Result<Vec<u32>> {
        Ok(rows.map(|i| a.row_len(i) as u32).collect())
    }

    fn stored_in_sell(&self, a: &Arc<Csr<T>>, rows: Range<usize>, sigma: usize) -> Result<u64> {
        Ok(sell_padding_of(self.row_lengths(a, rows)?, 0, sigma)?.stored)
    }
}

/// The column of the diagonal entry of each of `n` rows that is one of these; any where they are more than
/// diagonal entries, as of a matrix that is not square.
fn diagonal_of(n: usize, rows: &Runs, diagonal: &Runs) -> impl Fn(usize) -> Option<u32> + Sync {
    let (places, columns) = (rows.inverse(n).expanded(), diagonal.expanded());
    let column = move |k: usize| columns.get(k).copied().unwrap_or(0);
    move |i| (places[i] != NOWHERE).then(|| column(places[i] as usize))
}

impl<T: Real> RoundedRows<T> for Gpu {
    fn reach(
        &self,
        a: &DeviceCsr<T>,
        pivot: Pivot,
        (rows, diagonal): (&Runs, &Runs),
        numbers: &Runs,
    ) -> Result<u32> {
        let (n, diagonal) = (rows.len(), self.diagonal_of(pivot, diagonal)?);
        let [rows, numbers] = [self.numbers(rows)?, self.numbers(numbers)?];
        let s = Memory::<f64>::scalars(self, 1)?;
        let kernel = reach_of_rows::<T> {
            n: n as u64,
            a: a.rows(),
            rows: rows.0,
            diagonal: diagonal.as_ref().map_or(std::ptr::null(), DeviceIndices::ptr),
            numbers: numbers.0,
            reduction: self.reduction(&s, Slot(0)),
        };
        // SAFETY: the matrix is valid and has those rows, and the arrays were made for their number.
        unsafe { self.launch_resident(n, &kernel) }?;
        Ok(Memory::<f64>::read(self, &s, Slot(0))? as u32)
    }

    fn rounded(
        &self,
        a: &DeviceCsr<T>,
        pivot: Pivot,
        (rows, diagonal): (&Runs, &Runs),
        compression: Compression,
    ) -> Result<DeviceCsr<T>> {
        let (n, diagonal, rows) = (rows.len(), self.diagonal_of(pivot, diagonal)?, self.numbers(rows)?);
        let rounded = a.with_new_values(self.device())?;
        let log2_lanes = a.log2_lanes();
        let kernel = round_rows::<T> {
            n: n as u64,
            log2_lanes,
            a: a.rows(),
            rows: rows.0,
            diagonal: diagonal.as_ref().map_or(std::ptr::null(), DeviceIndices::ptr),
            compression,
            rounded: rounded.values_mut(),
        };
        // SAFETY: the matrices are valid and have those rows, and the arrays were made for their number.
        unsafe { self.launch(n << log2_lanes, &kernel) }?;
        Ok(rounded)
    }

    fn row_lengths(&self, a: &DeviceCsr<T>, rows: Range<usize>) -> Result<Vec<u32>> {
        let start = a.row_ptr.address + (rows.start * size_of::<u32>()) as Address;
        let mut ends = vec![0u32; rows.len() + 1];
        // SAFETY: the matrix has those rows.
        unsafe { transfer::download(&**self.device(), &mut ends, start)? };
        Ok(ends.windows(2).map(|ends| ends[1] - ends[0]).collect())
    }

    fn stored_in_sell(&self, a: &DeviceCsr<T>, rows: Range<usize>, sigma: usize) -> Result<u64> {
        self.widths(a, rows, sigma).map(|widths| widths.stored)
    }
}

impl Gpu {
    /// None where the pivot is the largest entry.
    fn diagonal_of(&self, pivot: Pivot, diagonal: &Runs) -> Result<Option<DeviceIndices>> {
        (pivot == Pivot::Diagonal).then(|| self.numbers_of_runs(diagonal)).transpose()
    }
}
