//! [`Interpolation`] on a device.

use std::sync::Arc;

use cuda_std::Real;
use gpu_kernels::setup::aggregate::{aggregated, aggregated_lengths};
use gpu_kernels::setup::interpolate::{
    LANES, extended_divisors, extended_shares, extended_weights, restricted, restricted_lengths, row_means,
    subtract_scaled, truncated, truncated_lengths,
};
use gpu_kernels::setup::strength::damp;

use super::{Interpolation, Truncation};
use crate::backend::gpu::buffer::{Buffer, download};
use crate::backend::gpu::{DeviceVector, Gpu, pointer_or_null};
use crate::error::Result;
use crate::setup::aggregation::Aggregation;
use crate::setup::diagonal::{Diagonals, RowWeight};
use crate::setup::matrix::device::DeviceCsr;
use crate::setup::matrix::indices::DeviceIndices;
use crate::setup::product::SparseProducts;

/// The numbers of coarse unknowns, in ascending order, and how many there are.
struct Numbers {
    buffer: Arc<Buffer>,
    count: usize,
}

/// Which columns of a matrix [`Gpu::restriction`] keeps.
enum Columns<'a> {
    Fine,
    Coarse(&'a Numbers),
}

impl<T: Real> Interpolation<T> for Gpu {
    fn damp(&self, s: &mut DeviceCsr<T>, omega: T, slivers: Option<&DeviceVector<T>>) -> Result<()> {
        let (n, log2_lanes, values) = (s.size.n_rows as u64, s.log2_lanes(), s.values_mut());
        let slivers = pointer_or_null(slivers);
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch_on_rows(s, &damp { n, log2_lanes, s: s.pattern(), values, omega, slivers }) }
    }

    fn multiply_tentative(
        &self,
        s: &DeviceCsr<T>,
        aggregates: &DeviceIndices,
        n_aggregates: usize,
    ) -> Result<DeviceCsr<T>> {
        match self.short_rows_times_tentative(s, aggregates, n_aggregates)? {
            Some(p) => Ok(p),
            None => SparseProducts::product(self, s, &self.tentative(aggregates, n_aggregates)?),
        }
    }

    fn subtract_scaled(
        &self,
        c: &mut DeviceCsr<T>,
        p: &DeviceCsr<T>,
        omega: T,
        d: &DeviceVector<T>,
    ) -> Result<()> {
        let n = c.size.n_rows;
        let (c, values) = (c.pattern(), c.values_mut());
        let kernel = subtract_scaled { n: n as u64, p: p.rows(), omega, d: d.ptr(), c, values };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(n, &kernel) }
    }

    fn averaging(&self, s: &DeviceCsr<T>, coarse: &DeviceIndices) -> Result<DeviceCsr<T>> {
        let numbers = self.coarse_numbers(coarse)?;
        let p = self.restriction(s, coarse, Columns::Coarse(&numbers))?;
        let n = p.size.n_rows;
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe {
            self.launch(n, &row_means::<T> { n: n as u64, row_ptr: p.row_ptr(), values: p.values_mut() })
        }?;
        Ok(p)
    }

    /// [`gpu_kernels::setup::interpolate`] has L, R and B.
    fn extended_i(
        &self,
        a: &DeviceCsr<T>,
        s: &DeviceCsr<T>,
        coarse: &DeviceIndices,
        truncation: Truncation,
    ) -> Result<DeviceCsr<T>> {
        let n = a.size.n_rows;
        let numbers = self.coarse_numbers(coarse)?;
        let l = self.restriction(s, coarse, Columns::Fine)?;
        let r = self.restriction(s, coarse, Columns::Coarse(&numbers))?;
        let p = self.product_pattern(&l, &r)?;
        drop(r);
        let b = self.restriction(a, coarse, Columns::Coarse(&numbers))?;
        // Only the signs are wanted.
        let diagonal = self.row_weights(a, RowWeight::InverseDiagonal)?;
        let shares = l.with_new_values(self.device())?;
        let to_diagonal = l.with_new_values(self.device())?;
        let kernel = extended_shares {
            n: n as u64,
            a: a.rows(),
            b: b.rows(),
            l: l.rows(),
            p: p.rows(),
            diagonal: diagonal.ptr(),
            shares: shares.values_mut(),
            to_diagonal: to_diagonal.values_mut(),
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(n * LANES, &kernel) }?;
        let divisors = Buffer::new(self.device(), n * size_of::<T>())?;
        let kernel = extended_divisors {
            n: n as u64,
            a: a.rows(),
            s: s.rows(),
            l: l.rows(),
            p: p.rows(),
            coarse: coarse.ptr(),
            numbers: numbers.buffer.address as *const u32,
            to_diagonal: to_diagonal.values(),
            divisors: divisors.address as *mut T,
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(n, &kernel) }?;
        let kernel = extended_weights {
            n: n as u64,
            b: b.rows(),
            l: shares.rows(),
            p: p.rows(),
            diagonal: diagonal.ptr(),
            coarse: coarse.ptr(),
            divisors: divisors.address as *const T,
            values: p.values_mut(),
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(n * LANES, &kernel) }?;
        self.truncated(&p, truncation)
    }
}

impl Gpu {
    /// `S P_0` where no row of it has more entries than a thread's table has room for, else `None`.
    pub(super) fn short_rows_times_tentative<T: Real>(
        &self,
        s: &DeviceCsr<T>,
        aggregates: &DeviceIndices,
        n_aggregates: usize,
    ) -> Result<Option<DeviceCsr<T>>> {
        let rows = s.size.n_rows;
        let (list, long) = self.long_rows(rows)?;
        let row_ptr = Buffer::new(self.device(), (rows + 1) * size_of::<u32>())?;
        let lengths = row_ptr.address as *mut u32;
        let aggregates = aggregates.ptr();
        let kernel = aggregated_lengths { n: rows as u64, s: s.pattern(), aggregates, lengths, long };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(rows, &kernel) }?;
        let p = self.csr_of_lengths(row_ptr, rows, n_aggregates)?;
        if download(&list, 1, 0u32)? != [0] {
            return Ok(None);
        }
        let kernel = aggregated {
            n: rows as u64,
            s: s.rows(),
            aggregates,
            row_ptr: p.row_ptr(),
            col_idx: p.col_idx_mut(),
            values: p.values_mut(),
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(rows, &kernel) }?;
        Ok(Some(p))
    }

    fn coarse_numbers(&self, coarse: &DeviceIndices) -> Result<Numbers> {
        let bytes = coarse.len * size_of::<u32>();
        let buffer = Buffer::new(self.device(), bytes + size_of::<u32>())?;
        // SAFETY: both have that many bytes, and one was just allocated.
        unsafe { self.device().copy(buffer.address, coarse.buffer.address, bytes)? };
        let count = self.row_pointers(&buffer, coarse.len)? as usize;
        Ok(Numbers { buffer, count })
    }

    /// `a` without the other columns, a coarse row as one entry 1 in the column of its unknown.
    fn restriction<T: Real>(
        &self,
        a: &DeviceCsr<T>,
        coarse: &DeviceIndices,
        columns: Columns,
    ) -> Result<DeviceCsr<T>> {
        let n = a.size.n_rows;
        let (wanted, n_cols, numbers) = match columns {
            Columns::Fine => (0, n, std::ptr::null()),
            Columns::Coarse(numbers) => (1, numbers.count, numbers.buffer.address as *const u32),
        };
        let lengths = Buffer::new(self.device(), (n + 1) * size_of::<u32>())?;
        let kernel = restricted_lengths {
            n: n as u64,
            a: a.pattern(),
            coarse: coarse.ptr(),
            wanted,
            lengths: lengths.address as *mut u32,
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(n, &kernel) }?;
        let to = self.csr_of_lengths(lengths, n, n_cols)?;
        let kernel = restricted {
            n: n as u64,
            a: a.rows(),
            coarse: coarse.ptr(),
            wanted,
            numbers,
            row_ptr: to.row_ptr(),
            col_idx: to.col_idx_mut(),
            values: to.values_mut(),
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(n, &kernel) }?;
        Ok(to)
    }

    fn truncated<T: Real>(&self, p: &DeviceCsr<T>, truncation: Truncation) -> Result<DeviceCsr<T>> {
        let n = p.size.n_rows;
        let lengths = Buffer::new(self.device(), (n + 1) * size_of::<u32>())?;
        let kernel = truncated_lengths {
            n: n as u64,
            p: p.rows(),
            max_entries: truncation.max_entries.try_into().unwrap_or(u32::MAX),
            factor: T::from_f64(truncation.factor),
            lengths: lengths.address as *mut u32,
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(n, &kernel) }?;
        let to = self.csr_of_lengths(lengths, n, p.size.n_cols)?;
        let kernel = truncated {
            n: n as u64,
            p: p.rows(),
            row_ptr: to.row_ptr(),
            col_idx: to.col_idx_mut(),
            values: to.values_mut(),
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(n, &kernel) }?;
        Ok(to)
    }
}
