//! Bytes that a solve must move, and how fast the machine can.

use std::time::Instant;

use cuda_std::Real;
use rayon::prelude::*;

use super::plan::Plan;
use super::{Device, Method, Precision, Precond};
use crate::backend::gpu::Gpu;
use crate::error::Result;
use crate::matrix::spmv_bytes;
use crate::precond::{NullSpace, amg};

/// The bytes that `iterations` of a method must move through memory, each vector of each fused pass
/// counted once for reading and once for writing, whatever the caches keep. `spmv` is the product's, `cycle` that of
/// one application of [`Precond::Amg`], `projections` the dimension of the null space that a preconditioner is kept out of.
///
/// In vectors: CG 9, BiCGSTAB 21 and two preconditioners, Jacobi 2, GMRES 9 and a preconditioner, one more for each
/// cycle's update, and in the j-th iteration of a cycle 3 (j + 1) for the two passes of Gram-Schmidt, of which the dot
/// products of the second share the pass of the update of the first. A preconditioner is 2 (a copy), 3 with Jacobi, or a
/// multigrid cycle; CG fuses the first two, which leaves 0 and 2, and the way into and out of the third, which saves 2 (not
/// those of a K-cycle, 4 more, which are left out). A projection is 5 and cannot be fused. AMG as a method is 5, a product and a cycle. With `block` unknowns a node Jacobi's
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
        Precond::Amg => (cycle, cycle.saturating_sub(vectors(2))),
    };
    let (apply, in_cg) = match projections as u64 {
        0 => (apply, in_cg),
        count => (apply + vectors(5 * count), apply + vectors(5 * count + 2)),
    };
    let k = iterations as u64;
    match method {
        Method::Cg => k * (spmv + vectors(9) + in_cg),
        Method::Bicgstab => k * (2 * spmv + vectors(21) + 2 * apply),
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

/// [`bytes_moved`] of `iterations` of a plan that was carried out with this hierarchy.
pub(super) fn of_plan(plan: &Plan, hierarchy: Option<&amg::Info>, iterations: u32) -> u64 {
    match plan.options.precision {
        Precision::F32 => of_plan_in::<f32>(plan, hierarchy, iterations),
        Precision::F64 => of_plan_in::<f64>(plan, hierarchy, iterations),
    }
}

fn of_plan_in<T: Real>(plan: &Plan, hierarchy: Option<&amg::Info>, iterations: u32) -> u64 {
    let n = plan.a.n_rows();
    bytes_moved::<T>(
        plan.method,
        plan.precond,
        hierarchy.map_or(0, |info| info.cycle_bytes),
        plan.projections().map_or(0, NullSpace::dimension),
        n,
        spmv_bytes(plan.a.nnz(), n, size_of::<T>(), plan.format.format.block()),
        iterations,
        plan.restart(),
        plan.options.block_size,
    )
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::{Options, Precision, solve};
    use crate::launch::profile::Profiled;
    use crate::launch::sim::Sim;
    use crate::matrix::Format;
    use crate::precond::amg::Params;
    use crate::solver::Stop;
    use std::sync::Arc;

    /// Bytes of an iteration: (those that [`bytes_moved`] says, those that the launches said they must move), the
    /// difference of two runs over the difference of their iterations.
    fn of_an_iteration(problem: &str, options: &Options) -> (u64, u64) {
        const ITERATIONS: [u32; 2] = [6, 12];
        let a = Arc::new(crate::problem::generate(&problem.parse().unwrap(), 1).unwrap());
        let b: Vec<f64> = (0..a.n_rows()).map(|i| (0.7 * i as f64).sin()).collect();
        let [first, second] = ITERATIONS.map(|max_iterations| {
            let device = Arc::new(Profiled::new(Arc::new(Sim::new())));
            let on = Device::Gpu(Gpu::new(device.clone()).unwrap());
            let stop = Stop { rtol: 0.0, atol: 0.0, max_iterations };
            let options = Options { stop, ..options.clone() };
            let report = solve(&a, &b, &options, &on).unwrap().report;
            assert_eq!(report.outcome.iterations, max_iterations, "{:?}", report.outcome.reason);
            let profile = device.profile().unwrap();
            let launches = profile.kernels.iter().filter_map(|kernel| kernel.bytes).sum::<u64>();
            (report.bytes_moved, launches + profile.fills.bytes)
        });
        let more = u64::from(ITERATIONS[1] - ITERATIONS[0]);
        ((second.0 - first.0) / more, (second.1 - first.1) / more)
    }

    fn options(method: Method, precond: Precond) -> Options {
        let amg_precision = Some(Precision::F64);
        Options {
            method: Some(method),
            precond: Some(precond),
            restart: 6,
            amg_precision,
            ..Options::default()
        }
    }

    #[test]
    fn launches_say_the_same() {
        for (method, precond) in [
            (Method::Cg, Precond::None),
            (Method::Cg, Precond::Jacobi),
            (Method::Bicgstab, Precond::None),
            (Method::Bicgstab, Precond::Jacobi),
            (Method::Jacobi, Precond::Jacobi),
        ] {
            for format in [Some(Format::Crs), Some(Format::Sell), None] {
                let options = Options { format, ..options(method, precond) };
                let (expected, said) = of_an_iteration("tet:7", &options);
                assert_eq!(said, expected, "{method} {precond} {format:?}");
            }
        }
        for precond in [Precond::None, Precond::Jacobi] {
            let options = Options { block_size: 2, ..options(Method::Cg, precond) };
            let (expected, said) = of_an_iteration("bidomain:6", &options);
            assert_eq!(said, expected, "blocks, {precond}");
        }
    }

    /// What [`bytes_moved`] leaves out of a cycle of m iterations: its start and end, a product and 10 + m vectors, of which
    /// it counts 2 m too many within the iterations.
    #[test]
    fn launches_of_gmres_say_the_same_but_for_a_cycles_ends() {
        let (expected, said) = of_an_iteration("tet:7", &options(Method::Gmres, Precond::Jacobi));
        let a = crate::problem::generate(&"tet:7".parse().unwrap(), 1).unwrap();
        let n = a.n_rows();
        let ends = crate::matrix::spmv_bytes(a.nnz(), n, 8, 1) + ((10 + 6 - 2 * 6) * n * 8) as u64;
        assert_eq!(6 * said, 6 * expected + ends);
    }

    /// Of multigrid a vector or two on the finest level are counted in two passes that are one.
    #[test]
    fn launches_of_multigrid_say_nearly_the_same() {
        for (problem, block_size, method) in
            [("tet:7", 1, Method::Cg), ("tet:7", 1, Method::Amg), ("bidomain:6", 2, Method::Cg)]
        {
            let amg = Params { coarse_rows: 50, ..Params::default() };
            let options = Options { block_size, amg, ..options(method, Precond::Amg) };
            let (expected, said) = of_an_iteration(problem, &options);
            assert!(expected.abs_diff(said) < expected / 50, "{problem} {method}: {said}, not {expected}");
        }
    }
}
