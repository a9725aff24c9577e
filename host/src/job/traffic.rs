//! Bytes that a solve must move, and how fast the machine can.

use std::time::Instant;

use cuda_std::Real;
use rayon::prelude::*;

use super::{Device, Method, Precond};
use crate::backend::gpu::Gpu;
use crate::error::Result;

/// The bytes that `iterations` of a method must move through memory, each vector of each fused pass
/// counted once for reading and once for writing, whatever the caches keep. `spmv` is the product's, `cycle` that of
/// one application of [`Precond::Amg`], `projections` the dimension of the null space that a preconditioner is kept out of.
///
/// In vectors: CG 9, BiCGSTAB 24 and two preconditioners, Jacobi 2, GMRES 9 and a preconditioner, one more for each
/// cycle's update, and in the j-th iteration of a cycle 3 (j + 1) for the two passes of Gram-Schmidt, of which the dot
/// products of the second share the pass of the update of the first. A preconditioner is 2 (a copy), 3 with Jacobi, or a
/// multigrid cycle; CG fuses the first two, which leaves 0 and 2, and takes `(r, z)` with the third, 2 more. A projection
/// is 5 and cannot be fused. AMG as a method is 5, a product and a cycle. With `block` unknowns a node Jacobi's
/// preconditioner is 2 + block and cannot be fused, and the method is 5, a product and the preconditioner.
#[allow(clippy::too_many_arguments)]
pub fn bytes_moved<T: Real>(
    method: Method,
    precond: Precond,
    cycle: u64,
    projections: usize,
    n: usize,
    spmv: u64,
    iterations: u32,
    restart: usize,
    block: usize,
) -> u64 {
    let vectors = |count: u64| count * (n * size_of::<T>()) as u64;
    // Rows of b values each.
    let of_blocks = vectors(2 + block as u64);
    let (apply, in_cg) = match precond {
        Precond::None => (vectors(2), 0),
        Precond::Jacobi if block == 1 => (vectors(3), vectors(2)),
        Precond::Jacobi => (of_blocks, of_blocks + vectors(2)),
        Precond::Amg => (cycle, cycle + vectors(2)),
    };
    let (apply, in_cg) = match projections as u64 {
        0 => (apply, in_cg),
        count => (apply + vectors(5 * count), apply + vectors(5 * count + 2)),
    };
    let k = iterations as u64;
    match method {
        Method::Cg => k * (spmv + vectors(9) + in_cg),
        Method::Bicgstab => k * (2 * spmv + vectors(24) + 2 * apply),
        Method::Jacobi if block == 1 => k * (spmv + vectors(2)),
        Method::Jacobi => k * (spmv + vectors(5) + of_blocks),
        Method::Amg => k * (spmv + vectors(5) + apply),
        Method::Gmres => {
            let m = restart as u64;
            let basis = |cycle: u64| 3 * cycle * (cycle + 1) / 2;
            let all = k / m * basis(m) + basis(k % m);
            k * (spmv + vectors(9)) + (k + k.div_ceil(m)) * apply + vectors(all)
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
