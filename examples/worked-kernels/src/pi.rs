//! pi, by random points

use super::{Worked, difference};
use cust::error::CudaResult;
use cust::prelude::*;
use kernels::pi::{BLOCK, on_host};

const SEED: u64 = 2011;

pub struct Pi {
    blocks: u32,
    draws: u32,
    hits: DeviceBuffer<u64>,
    expected: u64,
}

impl Pi {
    /// With so many blocks of threads, each of which draws two points so many times.
    pub fn new(blocks: u32, draws: u32) -> CudaResult<Self> {
        Ok(Self {
            blocks,
            draws,
            hits: DeviceBuffer::zeroed(1)?,
            expected: on_host(SEED, draws, blocks * BLOCK),
        })
    }
}

impl Worked for Pi {
    fn name(&self) -> &'static str {
        "pi"
    }

    fn work(&self) -> (f64, &'static str) {
        (2.0 * f64::from(self.draws) * f64::from(self.blocks * BLOCK), "Gpoint/s")
    }

    fn reset(&mut self) -> CudaResult<()> {
        self.hits.copy_from(&[0])
    }

    fn launch(&self, module: &Module, stream: &Stream) -> CudaResult<()> {
        // SAFETY: `hits` is a number.
        unsafe {
            launch!(module.pi<<<self.blocks, BLOCK, 0, stream>>>(SEED, self.draws, self.hits.as_device_ptr()))
        }
    }

    fn fault(&self) -> CudaResult<Option<String>> {
        Ok(difference(&self.hits.as_host_vec()?, &[self.expected], |hits, expected| hits == expected))
    }
}
