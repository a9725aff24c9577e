//! Numbers of rows in device memory.

use std::sync::Arc;

use gpu_kernels::setup::parts::numbers_of_runs;

use crate::backend::gpu::Gpu;
use crate::backend::gpu::buffer::{Buffer, download};
use crate::comm::Runs;
use crate::error::Result;
use crate::launch::Launch;

/// A 32-bit number for each row, in device memory.
#[derive(Clone)]
pub struct DeviceIndices {
    pub(in crate::setup) len: usize,
    pub(in crate::setup) buffer: Arc<Buffer>,
}

impl DeviceIndices {
    pub(crate) fn from_slice(device: &Arc<dyn Launch>, values: &[u32]) -> Result<Self> {
        Ok(DeviceIndices { len: values.len(), buffer: Buffer::from_slice(device, values)? })
    }

    /// The memory that they are in.
    pub(crate) fn buffer(&self) -> &Arc<Buffer> {
        &self.buffer
    }

    /// `len` numbers, undefined.
    pub(in crate::setup) fn new(device: &Arc<dyn Launch>, len: usize) -> Result<Self> {
        Ok(DeviceIndices { len, buffer: Buffer::new(device, len * size_of::<u32>())? })
    }

    pub(in crate::setup) fn ptr(&self) -> *const u32 {
        self.buffer.address as *const u32
    }
    pub(crate) fn ptr_mut(&self) -> *mut u32 {
        self.buffer.address as *mut u32
    }

    pub(crate) fn to_host(&self) -> Result<Vec<u32>> {
        download(&self.buffer, self.len, 0u32)
    }
}

impl Gpu {
    /// The numbers of runs, one by one.
    pub(crate) fn numbers_of_runs(&self, numbers: &Runs) -> Result<DeviceIndices> {
        let (n, runs) = (numbers.len(), numbers.runs());
        if 2 * runs.len() > n {
            // They are shorter than their runs.
            return DeviceIndices::from_slice(self.device(), &numbers.expanded());
        }
        self.numbers_in_runs(n, runs, 1)
    }

    /// `n` numbers, in each run, given by its first index and number, by so much more than the last.
    pub(in crate::setup) fn numbers_in_runs(
        &self,
        n: usize,
        runs: &[[u32; 2]],
        step: u32,
    ) -> Result<DeviceIndices> {
        let out = DeviceIndices::new(self.device(), n)?;
        let pairs = Buffer::from_slice(self.device(), runs.as_flattened())?;
        let (runs, pairs) = (runs.len() as u64, pairs.address as *const u32);
        // SAFETY: the first run begins at 0, and the arrays were made for so many numbers and runs.
        unsafe { self.launch(n, &numbers_of_runs { n: n as u64, runs, pairs, step, out: out.ptr_mut() }) }?;
        Ok(out)
    }
}
