//! [`BlockMatrices`] on a device.

use cuda_std::Real;
use gpu_kernels::setup::blocks::{block_norms, damp_blocks};

use super::BlockMatrices;
use crate::backend::gpu::{DeviceVector, Gpu};
use crate::error::Result;
use crate::setup::matrix::Blocks;
use crate::setup::matrix::device::DeviceCsr;

impl<T: Real> BlockMatrices<T> for Gpu {
    fn norms(&self, a: &Blocks<DeviceCsr<T>>) -> Result<DeviceCsr<T>> {
        let first = a.first();
        let norms = first.with_new_values(self.device())?;
        let kernel = block_norms {
            n: first.size.n_rows as u64,
            log2_lanes: first.log2_lanes(),
            planes: a.planes().len() as u32,
            a: first.pattern(),
            values: a.values(),
            norms: norms.values_mut(),
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch_on_rows(first, &kernel) }?;
        Ok(norms)
    }

    fn damp_blocks(&self, s: &mut Blocks<DeviceCsr<T>>, d: &DeviceVector<T>, omega: T) -> Result<()> {
        match s.block() {
            2 => self.damp_blocks_of::<T, 2>(s, d, omega),
            _ => self.damp_blocks_of::<T, 3>(s, d, omega),
        }
    }
}

impl Gpu {
    fn damp_blocks_of<T: Real, const B: usize>(
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
            values: s.values(),
            d: d.ptr(),
            omega,
        };
        // SAFETY: the matrices are valid, and the arrays were made for their sizes.
        unsafe { self.launch_on_rows(first, &kernel) }
    }
}
