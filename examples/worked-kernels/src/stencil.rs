//! A step of the heat equation

use super::{Worked, difference, fractions};
use cust::error::CudaResult;
use cust::prelude::*;
use kernels::stencil::{BLOCK, on_host};

const C: f32 = 0.1;

pub struct Stencil {
    size: [usize; 3],
    u: DeviceBuffer<f32>,
    v: DeviceBuffer<f32>,
    expected: Vec<f32>,
}

impl Stencil {
    /// With so many points along x, y and z.
    pub fn new(size: [usize; 3]) -> CudaResult<Self> {
        let u = fractions(size.iter().product(), 37);
        let expected = on_host(size[0], size[1], size[2], C, &u);
        Ok(Self { size, u: u.as_slice().as_dbuf()?, v: DeviceBuffer::zeroed(u.len())?, expected })
    }
}

impl Worked for Stencil {
    fn name(&self) -> &'static str {
        "stencil"
    }

    /// Neighbours come from a cache.
    fn work(&self) -> (f64, &'static str) {
        (8.0 * self.u.len() as f64, "GB/s")
    }

    fn reset(&mut self) -> CudaResult<()> {
        self.v.copy_from(&vec![f32::NAN; self.expected.len()])
    }

    fn launch(&self, module: &Module, stream: &Stream) -> CudaResult<()> {
        let [nx, ny, nz] = self.size.map(|n| n as u32);
        let grid = (nx.div_ceil(BLOCK.0), ny.div_ceil(BLOCK.1), nz.div_ceil(BLOCK.2));
        // SAFETY: u and v have these sizes.
        unsafe {
            launch!(module.heat_step<<<grid, BLOCK, 0, stream>>>(
                nx, ny, nz, C, self.u.as_device_ptr(), self.v.as_device_ptr()
            ))
        }
    }

    fn fault(&self) -> CudaResult<Option<String>> {
        Ok(difference(&self.v.as_host_vec()?, &self.expected, |v, expected| v == expected))
    }
}
