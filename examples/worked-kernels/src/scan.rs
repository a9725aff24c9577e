//! Prefix sums

use super::{Worked, difference, integers};
use cust::error::CudaResult;
use cust::prelude::*;
use kernels::scan::{BLOCK, on_host};

pub struct Scan {
    x: DeviceBuffer<u32>,
    y: DeviceBuffer<u32>,
    totals: DeviceBuffer<u32>,
    expected: Vec<u32>,
}

impl Scan {
    /// Of n numbers.
    pub fn new(n: usize) -> CudaResult<Self> {
        let x = integers(n, 37);
        let expected = on_host(&x);
        let totals = DeviceBuffer::zeroed(n.div_ceil(BLOCK as usize))?;
        Ok(Self { x: x.as_slice().as_dbuf()?, y: DeviceBuffer::zeroed(n)?, totals, expected })
    }
}

impl Worked for Scan {
    fn name(&self) -> &'static str {
        "scan"
    }

    /// y is written, read and written again.
    fn work(&self) -> (f64, &'static str) {
        (16.0 * self.x.len() as f64, "GB/s")
    }

    fn reset(&mut self) -> CudaResult<()> {
        self.y.copy_from(&vec![7; self.expected.len()])
    }

    fn launch(&self, module: &Module, stream: &Stream) -> CudaResult<()> {
        let (n, blocks) = (self.x.len() as u32, self.totals.len() as u32);
        let (x, y, totals) = (self.x.as_device_ptr(), self.y.as_device_ptr(), self.totals.as_device_ptr());
        // SAFETY: x and y have n elements, and there is a total for each block.
        unsafe {
            launch!(module.scan_blocks<<<blocks, BLOCK, 0, stream>>>(n, x, y, totals))?;
            launch!(module.scan_totals<<<1, BLOCK, 0, stream>>>(blocks, totals))?;
            launch!(module.add_totals<<<blocks, BLOCK, 0, stream>>>(n, totals, y))
        }
    }

    fn fault(&self) -> CudaResult<Option<String>> {
        Ok(difference(&self.y.as_host_vec()?, &self.expected, |sum, expected| sum == expected))
    }
}
