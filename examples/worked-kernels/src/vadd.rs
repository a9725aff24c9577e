//! c = a + b

use super::{Worked, difference, fractions};
use cust::error::CudaResult;
use cust::prelude::*;
use kernels::vadd::{BLOCK, on_host};

pub struct Vadd {
    a: DeviceBuffer<f32>,
    b: DeviceBuffer<f32>,
    c: DeviceBuffer<f32>,
    expected: Vec<f32>,
}

impl Vadd {
    /// With n elements.
    pub fn new(n: usize) -> CudaResult<Self> {
        let (a, b) = (fractions(n, 37), fractions(n, 71));
        let expected = on_host(&a, &b);
        Ok(Self {
            a: a.as_slice().as_dbuf()?,
            b: b.as_slice().as_dbuf()?,
            c: DeviceBuffer::zeroed(n)?,
            expected,
        })
    }
}

impl Worked for Vadd {
    fn name(&self) -> &'static str {
        "vadd"
    }

    fn work(&self) -> (f64, &'static str) {
        (12.0 * self.c.len() as f64, "GB/s")
    }

    fn reset(&mut self) -> CudaResult<()> {
        self.c.copy_from(&vec![f32::NAN; self.expected.len()])
    }

    fn launch(&self, module: &Module, stream: &Stream) -> CudaResult<()> {
        let n = self.c.len() as u32;
        let grid = n.div_ceil(BLOCK);
        // SAFETY: all three have n elements.
        unsafe {
            launch!(module.vadd<<<grid, BLOCK, 0, stream>>>(
                n, self.a.as_device_ptr(), self.b.as_device_ptr(), self.c.as_device_ptr()
            ))
        }
    }

    fn fault(&self) -> CudaResult<Option<String>> {
        Ok(difference(&self.c.as_host_vec()?, &self.expected, |c, expected| c == expected))
    }
}
