//! C = A B

use super::{Worked, difference, fractions};
use cust::error::CudaResult;
use cust::prelude::*;
use kernels::matmul::{SHARED_BYTES, TILE, on_host};

pub struct Matmul {
    m: usize,
    n: usize,
    k: usize,
    a: DeviceBuffer<f32>,
    b: DeviceBuffer<f32>,
    c: DeviceBuffer<f32>,
    expected: Vec<f64>,
}

impl Matmul {
    /// Of an m x k matrix and a k x n matrix.
    pub fn new(m: usize, n: usize, k: usize) -> CudaResult<Self> {
        let (a, b) = (fractions(m * k, 37), fractions(k * n, 71));
        let expected = on_host(m, n, k, &a, &b);
        let (a, b) = (a.as_slice().as_dbuf()?, b.as_slice().as_dbuf()?);
        Ok(Self { m, n, k, a, b, c: DeviceBuffer::zeroed(m * n)?, expected })
    }
}

impl Worked for Matmul {
    fn name(&self) -> &'static str {
        "matmul"
    }

    fn work(&self) -> (f64, &'static str) {
        (2.0 * self.m as f64 * self.n as f64 * self.k as f64, "GFLOP/s")
    }

    fn reset(&mut self) -> CudaResult<()> {
        self.c.copy_from(&vec![f32::NAN; self.expected.len()])
    }

    fn launch(&self, module: &Module, stream: &Stream) -> CudaResult<()> {
        let (m, n, k) = (self.m as u32, self.n as u32, self.k as u32);
        let grid = (n.div_ceil(TILE), m.div_ceil(TILE));
        // SAFETY: the matrices have these sizes.
        unsafe {
            launch!(module.matmul<<<grid, (TILE, TILE), SHARED_BYTES, stream>>>(
                m, n, k, self.a.as_device_ptr(), self.b.as_device_ptr(), self.c.as_device_ptr()
            ))
        }
    }

    /// Sums of k products below 1/4, each rounded in f32.
    fn fault(&self) -> CudaResult<Option<String>> {
        let tolerance = 1e-7 * self.k as f64;
        let equal = |c: f32, expected: f64| (f64::from(c) - expected).abs() <= tolerance;
        Ok(difference(&self.c.as_host_vec()?, &self.expected, equal))
    }
}
