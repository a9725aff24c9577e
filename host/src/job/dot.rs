//! Timing the scalar product `(x, y)` on one device, and checking what comes out.

use cuda_std::Real;

use super::Device;
use super::timing::{Timing, time};
use crate::backend::gpu::{Gpu, check_memory};
use crate::backend::{Backend, Slot};
use crate::error::Result;

/// Where the sum is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sum {
    /// In the device's memory, for the next kernel.
    Stays,
    /// On the host, after each product.
    IsRead,
}

/// What [`measure`] found.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// Times of one product.
    pub timing: Timing,
    /// `|s - r| / sum_i |x_i y_i|` with the sequential sum r in f64.
    pub error: f64,
    /// Whether that is within the bound of the rounding errors of any order of additions.
    pub correct: bool,
}

/// Times `repeat` products of two vectors of `n` elements on `device` in precision `T`: on a GPU where the
/// sum stays there by its own clock, else by the wall's.
///
/// # Errors
/// [`crate::Error::DeviceMemory`] where the device cannot hold the vectors.
pub fn measure<T: Real>(device: &Device, n: usize, sum: Sum, repeat: usize) -> Result<Measurement> {
    match device {
        Device::Cpu(cpu) => cpu.install(|| measure_on::<T, _>(cpu, None, n, sum, repeat)),
        Device::Gpu(gpu) => {
            check_memory(&**gpu.device(), &[("vectors", (2 * n * size_of::<T>()) as u64)])?;
            measure_on::<T, _>(gpu, Some(gpu), n, sum, repeat)
        }
    }
}

fn measure_on<T: Real, B: Backend<T>>(
    backend: &B,
    gpu: Option<&Gpu>,
    n: usize,
    sum: Sum,
    repeat: usize,
) -> Result<Measurement> {
    // Fractional numbers of both signs, without a period.
    let element =
        |i: usize, phase: f64| T::from_f64((i as f64 * 0.618_033_988_749_895 + phase).fract() - 0.375);
    let [x, y] = [0.0, 0.25].map(|phase| (0..n).map(|i| element(i, phase)).collect::<Vec<T>>());
    let (device_x, device_y) = (backend.vector(&x)?, backend.vector(&y)?);
    let scalars = backend.scalars(1)?;
    let mut read = T::ZERO;
    let timing = match sum {
        Sum::Stays => {
            time::<T, B>(backend, gpu, repeat, &mut || backend.dot(&device_x, &device_y, &scalars, Slot(0)))?
        }
        Sum::IsRead => time::<T, B>(backend, gpu, repeat, &mut || {
            backend.dot(&device_x, &device_y, &scalars, Slot(0))?;
            read = backend.read(&scalars, Slot(0))?;
            Ok(())
        })?,
    };
    if sum == Sum::Stays {
        read = backend.read(&scalars, Slot(0))?;
    }
    let terms = || x.iter().zip(&y).map(|(x, y)| x.to_f64() * y.to_f64());
    let (expected, magnitude) = (terms().sum::<f64>(), terms().map(f64::abs).sum::<f64>());
    let difference = (read.to_f64() - expected).abs();
    // n products and sums, and those of the sum that this is compared with.
    let bound = (n + 4) as f64 * (T::EPSILON.to_f64() + f64::EPSILON) * magnitude;
    let error = if difference == 0.0 { 0.0 } else { difference / magnitude };
    // A comparison with NaN is false: NaN is not within the bound.
    Ok(Measurement { timing, error, correct: difference <= bound })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cpu::Cpu;

    #[test]
    fn the_sum_is_right_and_crosses_only_where_it_is_read() {
        for device in [Device::Cpu(Cpu::new(2).unwrap()), Device::Gpu(Gpu::simulated().unwrap())] {
            for (sum, reads) in [(Sum::Stays, 0), (Sum::IsRead, 1)] {
                for m in [
                    measure::<f64>(&device, 1003, sum, 3).unwrap(),
                    measure::<f32>(&device, 1003, sum, 3).unwrap(),
                ] {
                    assert!(m.correct && m.error < 1e-6, "{m:?}");
                    if let Some(counts) = m.timing.counts {
                        assert_eq!(counts.downloads, reads * 3 * m.timing.batch as u64);
                        assert_eq!((counts.uploads, counts.device_copies), (0, 0));
                    }
                }
            }
        }
    }
}
