//! The gravity of bodies on one another

use super::{Worked, difference, fractions};
use cust::error::CudaResult;
use cust::prelude::*;
use kernels::nbody::{BLOCK, Body, on_host};

/// One in so many bodies is compared: the host takes its time.
const EVERY: usize = 17;

pub struct Nbody {
    bodies: DeviceBuffer<[f32; 4]>,
    accelerations: DeviceBuffer<[f32; 4]>,
    expected: Vec<[f64; 3]>,
}

impl Nbody {
    /// With n bodies.
    pub fn new(n: usize) -> CudaResult<Self> {
        let [x, y, z, w] = [37, 71, 13, 59].map(|by| fractions(n, by));
        let numbers: Vec<[f32; 4]> = (0..n).map(|i| [x[i], y[i], z[i], w[i] + 1.0]).collect();
        let bodies: Vec<Body> = numbers.iter().map(|&[x, y, z, w]| Body { x, y, z, w }).collect();
        let some: Vec<Body> = bodies.iter().step_by(EVERY).copied().collect();
        let expected = on_host(&bodies, &some);
        Ok(Self { bodies: numbers.as_slice().as_dbuf()?, accelerations: DeviceBuffer::zeroed(n)?, expected })
    }
}

impl Worked for Nbody {
    fn name(&self) -> &'static str {
        "nbody"
    }

    /// By custom a pair is 20 operations.
    fn work(&self) -> (f64, &'static str) {
        (20.0 * (self.bodies.len() as f64).powi(2), "GFLOP/s")
    }

    fn reset(&mut self) -> CudaResult<()> {
        self.accelerations.copy_from(&vec![[f32::NAN; 4]; self.bodies.len()])
    }

    fn launch(&self, module: &Module, stream: &Stream) -> CudaResult<()> {
        let grid = (self.bodies.len() as u32).div_ceil(BLOCK);
        // SAFETY: there is an acceleration for each body; memory of the device is aligned as bodies are.
        unsafe {
            launch!(module.nbody<<<grid, BLOCK, 0, stream>>>(
                self.bodies.as_device_ptr(), self.bodies.len(), self.accelerations.as_device_ptr()
            ))
        }
    }

    /// Three numbers for each body that is compared. Near ones pull most, and are rounded most.
    fn fault(&self) -> CudaResult<Option<String>> {
        let found = self.accelerations.as_host_vec()?;
        let found: Vec<f32> = found.iter().step_by(EVERY).flat_map(|&[x, y, z, _]| [x, y, z]).collect();
        let size = self.expected.as_flattened().iter().fold(1.0, |size: f64, a| size.max(a.abs()));
        let equal = |a: f32, expected: f64| (f64::from(a) - expected).abs() <= 1e-4 * size;
        Ok(difference(&found, self.expected.as_flattened(), equal))
    }
}
