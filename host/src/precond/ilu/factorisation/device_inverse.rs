//! Sparse approximate inverses on a device, of factors that are there.

use std::sync::Arc;

use cuda_std::Real;
use gpu_kernels::incomplete::{LowerRows, inverse_lengths, inverse_rows};

use super::super::inverse::{LONG, are_accurate};
use super::super::params::{Params, Solves};
use crate::backend::gpu::buffer::Buffer;
use crate::backend::gpu::{DeviceVector, Gpu};
use crate::backend::{Memory, Slot, Vectors};
use crate::error::Result;
use crate::setup::{DeviceCsr, Transposes};

impl Gpu {
    /// `N_L` and `N_U` of these factors, whose row and column e are A's `order[e]`. `None` where solutions
    /// are better.
    pub(super) fn inverses_of_factors<T: Real>(
        &self,
        factors: &DeviceCsr<f64>,
        order: &Arc<Buffer>,
        (params, is_symmetric): (&Params, bool),
    ) -> Result<Option<[DeviceCsr<T>; 2]>> {
        if !params.may_be_inverted(is_symmetric) {
            return Ok(None);
        }
        let is_asked = params.solves == Some(Solves::Inverses);
        if !is_asked && self.has_longer_rows(factors, LONG)? {
            return Ok(None);
        }
        let Some(lower) = self.inverted::<T>(factors, true, order, is_asked)? else { return Ok(None) };
        let transposed = self.transpose(factors)?;
        if !is_asked && self.has_longer_rows(&transposed, LONG)? {
            return Ok(None);
        }
        let Some(upper) = self.inverted::<T>(&transposed, false, order, is_asked)? else { return Ok(None) };
        Ok(Some([lower, self.transpose(&upper)?]))
    }

    /// The inverse of a lower triangle in its pattern, in A's numbers; `None` where it is not accurate,
    /// although it must be.
    fn inverted<T: Real>(
        &self,
        rows: &DeviceCsr<f64>,
        has_ones: bool,
        order: &Buffer,
        is_asked: bool,
    ) -> Result<Option<DeviceCsr<T>>> {
        let n = rows.size.n_rows;
        let triangle =
            LowerRows { pattern: rows.pattern(), values: rows.values(), has_ones: u32::from(has_ones) };
        let order = order.address as *const u32;
        let lengths = Buffer::new(self.device(), (n + 1) * size_of::<u32>())?;
        let kernel = inverse_lengths { n: n as u64, triangle, order, lengths: lengths.address as *mut u32 };
        // SAFETY: the triangle is valid, with its diagonal, and the arrays were made for its size.
        unsafe { self.launch(n, &kernel) }?;
        let inverse = self.csr_of_lengths::<T>(lengths, n, n)?;
        let row = Buffer::new(self.device(), rows.size.nnz * size_of::<f64>())?;
        let mut left_over: DeviceVector<f64> = self.zeros(n)?;
        let kernel = inverse_rows::<T> {
            n: n as u64,
            log2_lanes: rows.log2_lanes(),
            triangle,
            order,
            row: row.address as *mut f64,
            row_ptr: inverse.row_ptr(),
            columns: inverse.col_idx_mut(),
            values: inverse.values_mut(),
            left_over: left_over.ptr_mut(),
        };
        // SAFETY: as above.
        unsafe { self.launch(n << rows.log2_lanes(), &kernel) }?;
        Ok((is_asked || are_accurate(self.sum_of(&left_over)?, n)).then_some(inverse))
    }

    fn sum_of(&self, v: &DeviceVector<f64>) -> Result<f64> {
        let s = Memory::<f64>::scalars(self, 1)?;
        Vectors::<f64>::sum(self, v, &s, Slot(0))?;
        Memory::<f64>::read(self, &s, Slot(0))
    }
}
