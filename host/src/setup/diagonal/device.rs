//! [`Diagonals`] on a device.

use arithmetic::smoothing::Limits;
use cuda_std::Real;
use gpu_kernels::setup::blocks::invert_diagonal_blocks;
use gpu_kernels::setup::noisy;
use gpu_kernels::setup::strength::{row_weights, smoothing_diagonal, weight};

use super::{Diagonals, RowWeight, SmoothingDiagonal};
use crate::backend::Memory;
use crate::backend::gpu::buffer::{Buffer, download};
use crate::backend::gpu::{DeviceVector, Gpu, block_of};
use crate::error::Result;
use crate::setup::matrix::Blocks;
use crate::setup::matrix::device::DeviceCsr;
use crate::setup::matrix::indices::DeviceIndices;

impl<T: Real> Diagonals<T> for Gpu {
    fn row_weights(&self, a: &DeviceCsr<T>, weight: RowWeight) -> Result<DeviceVector<T>> {
        let mut weights = self.allocate(a.size.n_rows)?;
        let kernel = row_weights {
            n: a.size.n_rows as u64,
            log2_lanes: a.log2_lanes(),
            a: a.pattern(),
            values: a.values(),
            weight: match weight {
                RowWeight::InverseDiagonal => weight::INVERSE_DIAGONAL,
                RowWeight::InverseL1 => weight::INVERSE_L1,
                RowWeight::Spai0 => weight::SPAI0,
                RowWeight::GershgorinRadius => weight::GERSHGORIN_RADIUS,
            },
            weights: weights.ptr_mut(),
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch_on_rows(a, &kernel) }?;
        Ok(weights)
    }

    fn invert_diagonal(&self, a: &Blocks<DeviceCsr<T>>) -> Result<DeviceVector<T>> {
        match a.block() {
            1 => self.row_weights(a.first(), RowWeight::InverseDiagonal),
            2 => self.invert_blocks::<T, 2>(a),
            _ => self.invert_blocks::<T, 3>(a),
        }
    }

    fn smoothing_diagonal(
        &self,
        a: &DeviceCsr<T>,
        g: &DeviceVector<T>,
        d: &DeviceVector<T>,
        limits: Limits<T>,
    ) -> Result<SmoothingDiagonal<DeviceVector<T>>> {
        let n = a.size.n_rows;
        let (mut inverse, mut slivers) = (self.allocate(n)?, self.allocate(n)?);
        let count = Buffer::zeroed(self.device(), size_of::<u32>())?;
        let kernel = smoothing_diagonal {
            n: n as u64,
            log2_lanes: a.log2_lanes(),
            a: a.pattern(),
            values: a.values(),
            g: g.ptr(),
            d: d.ptr(),
            limits,
            inverse: inverse.ptr_mut(),
            slivers: slivers.ptr_mut(),
            count: count.address as *mut u32,
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch_on_rows(a, &kernel) }?;
        Ok(SmoothingDiagonal { inverse, slivers, n_slivers: download(&count, 1, 0u32)?[0] as usize })
    }

    fn noise(&self, _: &DeviceCsr<T>, d: &DeviceVector<T>, n: usize) -> Result<DeviceVector<T>> {
        self.noise_at(None, d, n)
    }
}

impl Gpu {
    /// [`Diagonals::noise`] of nodes with these numbers; with `None` they are numbered as they come.
    pub(in crate::setup) fn noise_at<T: Real>(
        &self,
        numbers: Option<&DeviceIndices>,
        d: &DeviceVector<T>,
        n: usize,
    ) -> Result<DeviceVector<T>> {
        let mut x = self.zeros(n)?;
        let kernel = noisy {
            n: n as u64,
            block: block_of(d, &x) as u32,
            numbers: numbers.map_or(std::ptr::null(), DeviceIndices::ptr),
            d: d.ptr(),
            x: x.ptr_mut(),
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch(n, &kernel) }?;
        Ok(x)
    }

    fn invert_blocks<T: Real, const B: usize>(&self, a: &Blocks<DeviceCsr<T>>) -> Result<DeviceVector<T>> {
        let first = a.first();
        let mut d = self.allocate(B * B * first.size.n_rows)?;
        let kernel = invert_diagonal_blocks::<T, B> {
            n: first.size.n_rows as u64,
            log2_lanes: first.log2_lanes(),
            a: first.pattern(),
            values: a.values(),
            d: d.ptr_mut(),
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch_on_rows(first, &kernel) }?;
        Ok(d)
    }
}
