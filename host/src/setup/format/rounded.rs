//! Rows whose values are rounded as a GPU will compress them, while they are shared out among ranks.

use std::ops::Range;
use std::sync::Arc;

use arithmetic::compression::Compression;
use cuda_std::Real;
use gpu_kernels::setup::convert::{reach_of_rows, round_rows};

use crate::backend::cpu::Cpu;
use crate::backend::gpu::{Gpu, transfer};
use crate::backend::{Memory, Slot};
use crate::comm::Runs;
use crate::error::Result;
use crate::launch::Address;
use crate::matrix::rounding::{Pivot, Rounding, pivots};
use crate::matrix::{Csr, sell_padding_of};
use crate::setup::matrix::Matrices;
use crate::setup::matrix::device::DeviceCsr;
use crate::setup::matrix::indices::DeviceIndices;

/// Matrices some of whose rows are rounded for smoothing. The diagonal entry of row i is in column
/// `diagonal[i]`, of which there is one for each row.
pub trait RoundedRows<T: Real>: Matrices<T> {
    /// How far columns are from those of their rows' pivots at most; column j has the number `numbers[j]` in
    /// the whole matrix.
    fn reach(&self, a: &Self::Csr, pivot: Pivot, diagonal: &Runs, numbers: &Runs) -> Result<u32>;

    /// The rows with values that can be compressed so, but for the pivots, which get what the others lose.
    fn rounded(
        &self,
        a: &Self::Csr,
        pivot: Pivot,
        diagonal: &Runs,
        compression: Compression,
    ) -> Result<Self::Csr>;

    /// Entries of these rows of `a`.
    fn row_lengths(&self, a: &Self::Csr, rows: Range<usize>) -> Result<Vec<u32>>;

    /// What reduced SELL would store of these rows of `a`, sorted within windows of `sigma`.
    fn stored_in_sell(&self, a: &Self::Csr, rows: Range<usize>, sigma: usize) -> Result<u64>;
}

impl<T: Real> RoundedRows<T> for Cpu {
    fn reach(&self, a: &Arc<Csr<T>>, pivot: Pivot, diagonal: &Runs, numbers: &Runs) -> Result<u32> {
        let (diagonal, numbers) = (diagonal.expanded(), numbers.expanded());
        let number = |j: u32| numbers.get(j as usize).copied().unwrap_or(0);
        Ok(pivots(a, pivot, |i| diagonal.get(i).copied().unwrap_or(0), number).1)
    }

    fn rounded(
        &self,
        a: &Arc<Csr<T>>,
        pivot: Pivot,
        diagonal: &Runs,
        compression: Compression,
    ) -> Result<Arc<Csr<T>>> {
        let diagonal = diagonal.expanded();
        let diagonal = |i: usize| diagonal.get(i).copied().unwrap_or(0);
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

impl<T: Real> RoundedRows<T> for Gpu {
    fn reach(&self, a: &DeviceCsr<T>, pivot: Pivot, diagonal: &Runs, numbers: &Runs) -> Result<u32> {
        let (diagonal, numbers) = (self.diagonal_of(pivot, diagonal)?, self.numbers_of_runs(numbers)?);
        let s = Memory::<f64>::scalars(self, 1)?;
        let kernel = reach_of_rows::<T> {
            n: a.size.n_rows as u64,
            a: a.rows(),
            diagonal: diagonal.as_ref().map_or(std::ptr::null(), DeviceIndices::ptr),
            numbers: numbers.ptr(),
            reduction: self.reduction(&s, Slot(0)),
        };
        // SAFETY: the matrix is valid, and the arrays were made for its size.
        unsafe { self.launch_resident(a.size.n_rows, &kernel) }?;
        Ok(Memory::<f64>::read(self, &s, Slot(0))? as u32)
    }

    fn rounded(
        &self,
        a: &DeviceCsr<T>,
        pivot: Pivot,
        diagonal: &Runs,
        compression: Compression,
    ) -> Result<DeviceCsr<T>> {
        let diagonal = self.diagonal_of(pivot, diagonal)?;
        let rounded = a.with_new_values(self.device())?;
        let kernel = round_rows::<T> {
            n: a.size.n_rows as u64,
            a: a.rows(),
            diagonal: diagonal.as_ref().map_or(std::ptr::null(), DeviceIndices::ptr),
            compression,
            rounded: rounded.values_mut(),
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(a.size.n_rows, &kernel) }?;
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
