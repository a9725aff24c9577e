//! Bytes that a solve must move, and how fast the machine can.

use std::time::Instant;

use cuda_std::Real;
use rayon::prelude::*;

use super::{Device, Method, Precond};
use crate::backend::gpu::Gpu;
use crate::error::Result;

/// The bytes that `iterations` of a method must move through memory, each vector of each fused pass
/// counted once for reading and once for writing, whatever the caches keep. `spmv` is the product's.
///
/// In vectors (`d` is 1 with Jacobi, 0 without): CG 9 + 2d, BiCGSTAB 24 + 2 (2 + d), Jacobi 2, GMRES
/// 4 + (2 + d) and, in the j-th iteration of a cycle, 3 (j + 1) + 5 for the two passes of Gram-Schmidt, of
/// which the dot products of the second share the pass of the update of the first.
pub fn bytes_moved<T: Real>(
    method: Method,
    precond: Precond,
    n: usize,
    spmv: u64,
    iterations: u32,
    restart: usize,
) -> u64 {
    let d = match precond {
        Precond::None => 0,
        Precond::Jacobi => 1,
    };
    let k = iterations as u64;
    let vectors = |count: u64| count * (n * size_of::<T>()) as u64;
    match method {
        Method::Cg => k * (spmv + vectors(9 + 2 * d)),
        Method::Bicgstab => k * (2 * spmv + vectors(24 + 2 * (2 + d))),
        Method::Jacobi => k * (spmv + vectors(2)),
        Method::Gmres => {
            let m = restart as u64;
            let basis = |cycle: u64| 3 * cycle * (cycle + 1) / 2;
            let all = k / m * basis(m) + basis(k % m);
            k * (spmv + vectors(4 + 2 + d + 5)) + vectors(all)
        }
    }
}

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
