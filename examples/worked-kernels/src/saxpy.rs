//! y = a x + y

use super::{Worked, difference, fractions};
use cust::error::CudaResult;
use cust::prelude::*;
use kernels::saxpy::{BLOCK, on_host};

const A: f32 = 1.7;

pub struct Saxpy {
    x: DeviceBuffer<f32>,
    y: DeviceBuffer<f32>,
    before: Vec<f32>,
    expected: Vec<f32>,
}

impl Saxpy {
    /// With n elements.
    pub fn new(n: usize) -> CudaResult<Self> {
        let (x, before) = (fractions(n, 37), fractions(n, 71));
        let expected = on_host(A, &x, &before);
        Ok(Self { x: x.as_slice().as_dbuf()?, y: before.as_slice().as_dbuf()?, before, expected })
    }
}

impl Worked for Saxpy {
    fn name(&self) -> &'static str {
        "saxpy"
    }

    fn work(&self) -> (f64, &'static str) {
        (12.0 * self.x.len() as f64, "GB/s")
    }

    fn reset(&mut self) -> CudaResult<()> {
        self.y.copy_from(&self.before)
    }

    fn launch(&self, module: &Module, stream: &Stream) -> CudaResult<()> {
        let grid = (self.x.len() as u32).div_ceil(BLOCK);
        // SAFETY: x and y have as many elements.
        unsafe {
            launch!(module.saxpy<<<grid, BLOCK, 0, stream>>>(
                A, self.x.as_device_ptr(), self.x.len(), self.y.as_device_ptr()
            ))
        }
    }

    fn fault(&self) -> CudaResult<Option<String>> {
        Ok(difference(&self.y.as_host_vec()?, &self.expected, |y, expected| y == expected))
    }
}
