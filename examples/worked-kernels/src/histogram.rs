//! How many numbers fall into each bin

use super::{Worked, difference, integers};
use cust::error::CudaResult;
use cust::prelude::*;
use kernels::histogram::{BINS, BLOCK, on_host};

/// Enough to fill a large GPU; each thread takes many numbers.
const BLOCKS: u32 = 1024;

pub struct Histogram {
    numbers: DeviceBuffer<u32>,
    bins: DeviceBuffer<u32>,
    expected: Vec<u32>,
}

impl Histogram {
    /// Of n numbers.
    pub fn new(n: usize) -> CudaResult<Self> {
        let numbers = integers(n, 37);
        let expected = on_host(&numbers);
        Ok(Self { numbers: numbers.as_slice().as_dbuf()?, bins: DeviceBuffer::zeroed(BINS)?, expected })
    }
}

impl Worked for Histogram {
    fn name(&self) -> &'static str {
        "histogram"
    }

    fn work(&self) -> (f64, &'static str) {
        (4.0 * self.numbers.len() as f64, "GB/s")
    }

    fn reset(&mut self) -> CudaResult<()> {
        self.bins.copy_from(&[0; BINS])
    }

    fn launch(&self, module: &Module, stream: &Stream) -> CudaResult<()> {
        // SAFETY: there are as many bins as threads in a block.
        unsafe {
            launch!(module.histogram<<<BLOCKS, BLOCK, 0, stream>>>(
                self.numbers.as_device_ptr(), self.numbers.len(), self.bins.as_device_ptr()
            ))
        }
    }

    fn fault(&self) -> CudaResult<Option<String>> {
        Ok(difference(&self.bins.as_host_vec()?, &self.expected, |count, expected| count == expected))
    }
}
