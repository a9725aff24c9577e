//! How fast the machine moves bytes.

use std::time::Instant;

use crate::parallel::*;

use super::Device;
use crate::backend::gpu::Gpu;
use crate::error::Result;

/// Bytes each array of a bandwidth measurement has: well beyond second- and third-level caches.
const BANDWIDTH_BYTES: usize = 1 << 28;
/// Runs of which the median is taken.
const RUNS: usize = 7;

/// Bytes a second that the device moves in its best case, reads and writes counted: a copy within device
/// memory on a GPU, the triad `a = b + s c` (McCalpin's STREAM) on the CPU's threads. `None` in the
/// simulator, where it means nothing.
pub fn copy_bandwidth(device: &Device) -> Result<Option<f64>> {
    match device {
        Device::Cpu(cpu) => Ok(Some(cpu.install(triad))),
        Device::Gpu(gpu) if gpu.device().info().compute_capability.0 == 0 => Ok(None),
        Device::Gpu(gpu) => device_copy(gpu).map(Some),
    }
}

fn triad() -> f64 {
    const CHUNK: usize = 1 << 14;
    let n = BANDWIDTH_BYTES / 4 / size_of::<f64>();
    let (b, c) = (vec![1.5f64; n], vec![0.5f64; n]);
    let mut a = vec![0.0f64; n];
    let mut seconds: Vec<f64> = (0..=RUNS)
        .map(|_| {
            let start = Instant::now();
            let chunks = a.par_chunks_mut(CHUNK).zip(b.par_chunks(CHUNK)).zip(c.par_chunks(CHUNK));
            chunks.for_each(|((a, b), c)| {
                for ((a, &b), &c) in a.iter_mut().zip(b).zip(c) {
                    *a = b + 3.0 * c;
                }
            });
            start.elapsed().as_secs_f64()
        })
        .skip(1)
        .collect();
    seconds.sort_by(f64::total_cmp);
    std::hint::black_box(&a);
    (3 * n * size_of::<f64>()) as f64 / seconds[RUNS / 2]
}

fn device_copy(gpu: &Gpu) -> Result<f64> {
    let device = gpu.device();
    let (free, _) = device.memory()?;
    let bytes = (8 * BANDWIDTH_BYTES).min(free as usize / 4) & !255;
    let (from, to) = (device.alloc(bytes)?, device.alloc(bytes)?);
    let mut seconds = Vec::new();
    for _ in 0..=RUNS {
        let start = device.record()?;
        // SAFETY: two allocations of this size.
        unsafe { device.copy(to, from, bytes)? };
        let end = device.record()?;
        seconds.push(device.elapsed(&start, &end)?);
    }
    seconds.remove(0);
    seconds.sort_by(f64::total_cmp);
    // SAFETY: allocated above, and no longer used.
    unsafe {
        device.free(from);
        device.free(to);
    }
    Ok(2.0 * bytes as f64 / seconds[RUNS / 2])
}
