//! Entries of a rank's rows in columns of others, as they are multiplied.

use std::sync::Arc;

use cuda_std::Real;
use gpu_kernels::setup::convert::round;

use crate::backend::cpu::Cpu;
use crate::backend::distributed::{BorderRows, Borders, DeviceBorder};
use crate::backend::gpu::{Gpu, UNGUARDED};
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::DeviceCsr;
use crate::setup::matrix::Matrices;
use crate::setup::matrix::indices::DeviceIndices;

/// Borders of matrices computed in T that are multiplied in S, which may be the same.
pub trait BorderFormat<T: Real, S: Real>: Matrices<T> + Borders<S> {
    /// Rows of a matrix of `n`, ascending, and their entries in columns of others, with values rounded to S.
    fn border_operator(
        &self,
        rows: &Self::Indices,
        entries: &Self::Csr,
        n: usize,
    ) -> Result<<Self as Borders<S>>::Border>;
}

impl<T: Real, S: Real> BorderFormat<T, S> for Cpu {
    fn border_operator(&self, rows: &Vec<u32>, entries: &Arc<Csr<T>>, n: usize) -> Result<BorderRows<S>> {
        self.border(BorderRows { rows: rows.clone(), entries: entries.cast() }, n)
    }
}

impl<T: Real, S: Real> BorderFormat<T, S> for Gpu {
    fn border_operator(
        &self,
        rows: &DeviceIndices,
        entries: &DeviceCsr<T>,
        n: usize,
    ) -> Result<DeviceBorder<S>> {
        let nnz = entries.size.nnz;
        let mut values = self.allocate::<S>(nnz)?;
        let kernel = round::<T, S> {
            n: nnz as u64,
            x: entries.values.address as *const T,
            y: values.ptr_mut(),
            guard: UNGUARDED,
        };
        // SAFETY: both have so many elements.
        unsafe { self.launch(nnz, &kernel) }?;
        let index = [&rows.buffer, &entries.row_ptr, &entries.col_idx].map(Arc::clone);
        DeviceBorder::new(self, rows.len, index, values, n)
    }
}
