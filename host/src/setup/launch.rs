//! Launches of set-up kernels on a device: a sub-warp of lanes for each row, and rows too long for a
//! sub-warp.

use std::sync::Arc;

use cuda_std::Real;
use cuda_std::host::Kernel;
use gpu_kernels::setup::columns::LongRows;

use super::matrix::Size;
use super::matrix::device::DeviceCsr;
use crate::backend::gpu::Gpu;
use crate::backend::gpu::buffer::Buffer;
use crate::error::Result;

/// Blocks a multiprocessor for long rows, however many there are: the host does not know.
const LONG_BLOCKS: usize = 4;

/// Logarithm of the number of lanes that have room for this many entries, `share` a lane.
pub(super) fn log2_lanes_for(entries: f64, share: usize) -> u32 {
    ((entries / share as f64).ceil().max(1.0) as u32).min(32).next_power_of_two().trailing_zeros()
}

/// Entries of a row in the mean.
pub(super) fn mean(a: Size) -> f64 {
    a.nnz as f64 / a.n_rows.max(1) as f64
}

impl Gpu {
    /// Launches a kernel whose sub-warps of [`DeviceCsr::log2_lanes`] take a row each.
    ///
    /// # Safety
    /// As of [`Gpu::launch`].
    pub(super) unsafe fn launch_on_rows<T: Real>(&self, a: &DeviceCsr<T>, kernel: &dyn Kernel) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.launch(a.size.n_rows << a.log2_lanes(), kernel) }
    }

    /// Launches this many blocks.
    ///
    /// # Safety
    /// As of [`Gpu::launch`].
    pub(super) unsafe fn launch_blocks(&self, blocks: usize, kernel: &dyn Kernel) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.launch(blocks * gpu_kernels::BLOCK as usize, kernel) }
    }

    /// An empty list of long rows, with the memory it is in.
    pub(super) fn long_rows(&self, n_rows: usize) -> Result<(Arc<Buffer>, LongRows)> {
        let list = Buffer::new(self.device(), (n_rows + 1) * size_of::<u32>())?;
        // SAFETY: the list begins with the number of rows.
        unsafe { self.device().zero(list.address, size_of::<u32>())? };
        let count = list.address as *mut u32;
        Ok((list, LongRows { count, rows: count.wrapping_add(1) }))
    }

    /// Launches a kernel whose blocks take the long ones among this many rows in turn.
    ///
    /// # Safety
    /// As of [`Gpu::launch`].
    pub(super) unsafe fn launch_long(&self, n_rows: usize, kernel: &dyn Kernel) -> Result<()> {
        let blocks = LONG_BLOCKS * self.device().info().multiprocessors as usize;
        // SAFETY: the caller's promise.
        unsafe { self.launch_blocks(blocks.min(n_rows), kernel) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_have_room() {
        let lanes = |entries, share| 1 << log2_lanes_for(entries, share);
        assert_eq!([0.0, 1.0, 16.0, 16.1, 90.0, 1e9].map(|entries| lanes(entries, 16)), [1, 1, 1, 2, 8, 32]);
    }
}
