//! Matrices of blocks, as planes that share one pattern.

use std::marker::PhantomData;

use cuda_std::Real;
use gpu_kernels::setup::blocks::{MAX_PLANES, Planes, block_norms, damp_blocks, invert_diagonal_blocks};

use super::super::csr::check_reach;
use super::super::memory::Buffer;
use super::super::{DeviceCsr, DeviceVector, Gpu};
use crate::backend::algebra::{Blocks, Size};
use crate::error::Result;
use crate::matrix::BlockCsr;

fn planes<T: Real>(a: &Blocks<DeviceCsr<T>>) -> Planes<T> {
    let mut values = [std::ptr::null_mut(); MAX_PLANES];
    for (to, plane) in values.iter_mut().zip(a.planes()) {
        *to = plane.values_mut();
    }
    Planes { values }
}

impl Gpu {
    /// See [`crate::backend::Algebra::blocks`].
    pub(in super::super) fn upload_blocks<T: Real>(&self, a: &BlockCsr<T>) -> Result<Blocks<DeviceCsr<T>>> {
        let size = Size { n_rows: a.block_rows(), n_cols: a.block_cols(), nnz: a.blocks() };
        check_reach(size.nnz as u64)?;
        let row_ptr: Vec<u32> = a.row_ptr().iter().map(|&p| p as u32).collect();
        let row_ptr = Buffer::from_slice(&self.device, &row_ptr)?;
        let col_idx = Buffer::from_slice(&self.device, a.col_idx())?;
        let b = a.block();
        let plane = |kl: usize| {
            let values = Buffer::from_slice(&self.device, a.plane(kl / b, kl % b).values())?;
            let (row_ptr, col_idx) = (row_ptr.clone(), col_idx.clone());
            Ok(DeviceCsr { size, row_ptr, col_idx, values, element: PhantomData })
        };
        Ok(Blocks::of_planes((0..b * b).map(plane).collect::<Result<_>>()?))
    }

    /// See [`crate::backend::Algebra::norms`].
    pub(in super::super) fn norms_of_blocks<T: Real>(
        &self,
        a: &Blocks<DeviceCsr<T>>,
    ) -> Result<DeviceCsr<T>> {
        let first = a.first();
        let norms = first.with_new_values(&self.device)?;
        let kernel = block_norms {
            n: first.size.n_rows as u64,
            log2_lanes: first.log2_lanes(),
            planes: a.planes().len() as u32,
            a: first.pattern(),
            values: planes(a),
            norms: norms.values_mut(),
        };
        self.launch_on_rows(first, &kernel)?;
        Ok(norms)
    }

    /// See [`crate::backend::Algebra::invert_diagonal`].
    pub(in super::super) fn inverted_blocks<T: Real, const B: usize>(
        &self,
        a: &Blocks<DeviceCsr<T>>,
    ) -> Result<DeviceVector<T>> {
        let first = a.first();
        let mut d = self.allocate(B * B * first.size.n_rows)?;
        let kernel = invert_diagonal_blocks::<T, B> {
            n: first.size.n_rows as u64,
            log2_lanes: first.log2_lanes(),
            a: first.pattern(),
            values: planes(a),
            d: d.ptr_mut(),
        };
        self.launch_on_rows(first, &kernel)?;
        Ok(d)
    }

    /// See [`crate::backend::Algebra::damp_blocks`].
    pub(in super::super) fn damped_blocks<T: Real, const B: usize>(
        &self,
        s: &mut Blocks<DeviceCsr<T>>,
        d: &DeviceVector<T>,
        omega: T,
    ) -> Result<()> {
        let first = s.first();
        let kernel = damp_blocks::<T, B> {
            n: first.size.n_rows as u64,
            log2_lanes: first.log2_lanes(),
            s: first.pattern(),
            values: planes(s),
            d: d.ptr(),
            omega,
        };
        self.launch_on_rows(first, &kernel)
    }
}
