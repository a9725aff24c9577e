//! Unified memory beside memory of the device: what a kernel waits for when its pages have to come first.

use std::cell::RefCell;

use cust::context::CurrentContext;
use cust::memory::UnifiedBuffer;
use gpu_kernels::examples::patterns::{IN_FLIGHT, read_strided};

use super::super::Device;
use super::super::timing::Timing;
use crate::backend::gpu::{Gpu, Work, check_memory};
use crate::backend::{Memory, Vectors};
use crate::error::{Error, Result};
use crate::launch::Cuda;
use crate::launch::driver::failed;
use crate::named::named;
use crate::parallel::*;
use crate::problem::random::uniform;

named! {
    /// Where the array is that a kernel reads.
    "place" Place {
        /// In memory of the device.
        Device = "memory of the device",
        /// On the host; the time has the copy to the device.
        Copied = "copied to the device, then read",
        /// In unified memory, which the host has written: its pages come while the kernel waits for them.
        PagesOnHost = "unified memory, pages on the host",
        /// In unified memory that a kernel has read before.
        PagesOnDevice = "unified memory, pages on the device",
    }
}

/// What [`measure`] found.
#[derive(Debug, Clone)]
pub struct Measurement {
    /// Times of a call.
    pub timing: Timing,
    /// Elements that are wrong.
    pub wrong: usize,
    /// Bytes read and written.
    pub bytes: u64,
}

/// Times `repeat` calls of `y = x`, n elements of f32, with x in this place and y in memory of the device.
///
/// # Errors
/// [`Error::Option`] for unified memory on the CPU and in the simulator, which have but one memory, and on a
/// device that has none; [`Error::DeviceMemory`] where the device cannot hold the arrays.
pub fn measure(device: &Device, place: Place, n: usize, repeat: usize) -> Result<Measurement> {
    let Device::Gpu(gpu) = device else {
        return Err(Error::Option(format!("{place}: the CPU computes in the host's memory; take a GPU")));
    };
    let values: Vec<f32> = (0..n).into_par_iter().map(|i| uniform(4, i as u64) as f32).collect();
    let bytes = (2 * n * size_of::<f32>()) as u64;
    check_memory(&**gpu.device(), &[("vectors", bytes)])?;
    let mut y = Memory::<f32>::zeros(gpu, n)?;
    gpu.fill(f32::NAN, &mut y)?;
    let y_ptr = y.ptr_mut();
    let read = |x: *const f32| {
        let kernel = read_strided { n: n as u64, stride: 1, offset: 0, x, y: y_ptr };
        // SAFETY: x and y have n elements that the device can use.
        unsafe { gpu.launch(Work::moving(n.div_ceil(IN_FLIGHT), bytes), &kernel) }
    };
    // The kernel is loaded, and what it reads is made, before the first time.
    let seconds = match place {
        Place::Device => {
            let x = gpu.vector(&values)?;
            read(x.ptr())?;
            times(gpu, repeat, &mut || Ok(()), &mut || read(x.ptr()))
        }
        Place::Copied => {
            let mut x = gpu.vector(&values)?;
            read(x.ptr())?;
            times(gpu, repeat, &mut || Ok(()), &mut || {
                x.update_device(0, &values)?;
                read(x.ptr())
            })
        }
        Place::PagesOnHost | Place::PagesOnDevice => {
            let x = RefCell::new(unified(gpu, place, &values)?);
            read(x.borrow().as_ptr())?;
            let mut touch = || {
                if place == Place::PagesOnHost {
                    x.borrow_mut().copy_from_slice(&values);
                }
                Ok(())
            };
            times(gpu, repeat, &mut touch, &mut || read(x.borrow().as_ptr()))
        }
    }?;
    let wrong = gpu.to_host(&y)?.iter().zip(&values).filter(|(y, x)| y.to_bits() != x.to_bits()).count();
    Ok(Measurement { timing: Timing::of(seconds), wrong, bytes })
}

/// Unified memory with these values.
fn unified(gpu: &Gpu, place: Place, values: &[f32]) -> Result<UnifiedBuffer<f32>> {
    let Some(Cuda { context, .. }) = gpu.device().cuda() else {
        let why = "the simulator computes in the host's memory; take a GPU";
        return Err(Error::Option(format!("{place}: {why}")));
    };
    CurrentContext::set_current(&context).map_err(failed("cuCtxSetCurrent"))?;
    UnifiedBuffer::from_slice(values).map_err(failed("cuMemAllocManaged"))
}

/// Seconds of each of `repeat` calls of `work` (at least one), by the device's clock. Before each, when the
/// device is idle, `prepare` is called, which is not counted.
fn times(
    gpu: &Gpu,
    repeat: usize,
    prepare: &mut dyn FnMut() -> Result<()>,
    work: &mut dyn FnMut() -> Result<()>,
) -> Result<Vec<f64>> {
    let device = gpu.device();
    (0..repeat.max(1))
        .map(|_| {
            device.synchronize()?;
            prepare()?;
            let start = device.record()?;
            work()?;
            device.elapsed(&start, &device.record()?)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::cpu::Cpu;

    #[test]
    fn the_simulator_copies_and_has_no_unified_memory() {
        let simulator = Device::Gpu(Gpu::simulated().unwrap());
        for place in [Place::Device, Place::Copied] {
            let m = measure(&simulator, place, 1003, 2).unwrap();
            assert_eq!((m.wrong, m.bytes, m.timing.seconds.len()), (0, 8 * 1003, 2));
        }
        for place in [Place::PagesOnHost, Place::PagesOnDevice] {
            let refused = measure(&simulator, place, 1003, 2).unwrap_err().to_string();
            assert!(refused.contains("host's memory"), "{refused}");
        }
        let refused = measure(&Device::Cpu(Cpu::new(1).unwrap()), Place::Device, 9, 1).unwrap_err();
        assert!(matches!(refused, Error::Option(_)), "{refused}");
    }
}
