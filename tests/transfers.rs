//! Inside the iteration loop nothing is allocated, and no vector crosses the bus.
//!
//! The papers count 2002 copies for 1000 dot products under OpenACC and 6002 under OpenMP; here it is 0.

mod gpu;

use std::sync::Arc;

use warpsolve::backend::gpu::Gpu;
use warpsolve::job::{self, Device, Method, Options};
use warpsolve::launch::sim::Sim;
use warpsolve::launch::{Counts, Launch};
use warpsolve::matrix::{Csr, Format};
use warpsolve::problem::generate;
use warpsolve::solver::Stop;

const N: usize = 12 * 12 * 12;
/// Iterations of GMRES before a restart.
const CYCLE: u64 = 4;

/// What the device is asked for in this many iterations; cycles of GMRES are [`CYCLE`] long.
fn counts(gpu: &Gpu, a: &Arc<Csr<f64>>, method: Method, iterations: u32) -> Counts {
    let stop = Stop { rtol: 1e-300, atol: 0.0, max_iterations: iterations };
    let (method, format) = (Some(method), Some(Format::Sell));
    let options = Options { method, format, restart: CYCLE as usize, stop, ..Options::default() };
    let device = Device::Gpu(gpu.clone());
    let report = job::solve(a, &[1.0; N], &options, &device).unwrap().report;
    assert_eq!(report.outcome.iterations, iterations);
    report.counts.unwrap()
}

fn check(device: Arc<dyn Launch>) {
    let gpu = Gpu::new(device).unwrap();
    let a = Arc::new(generate(&"poisson3d:12".parse().unwrap(), 0).unwrap());
    // The direct solution is computed on the host.
    for &method in Method::ALL.iter().filter(|&&method| method != Method::Direct) {
        let (few, many) = (counts(&gpu, &a, method, 4), counts(&gpu, &a, method, 20));
        assert!(many.launches >= few.launches + 16, "{method}: the loop launches kernels");
        assert_eq!(many.allocations, few.allocations, "{method}");
        assert_eq!(many.uploads, few.uploads, "{method}");
        // MINRES looks at its x, and at 6 scalars, after 1, 3, 7, 15, .. iterations and at the end.
        let looks = if method == Method::Minres { 2 } else { 0 };
        assert_eq!(many.device_copies, few.device_copies, "{method}");
        // GMRES asks for one scalar at the end of a cycle.
        let cycles = if method.description().takes_parameter("restart") { 16 / CYCLE } else { 0 };
        assert_eq!(many.downloads, few.downloads + cycles + looks, "{method}");
        assert_eq!(many.downloaded_bytes, few.downloaded_bytes + 8 * cycles + 48 * looks, "{method}");
        // Outside of the loop there is no vector either.
        assert!(few.downloaded_bytes + few.uploaded_bytes < 256, "{method}: {few:?}");
    }
}

#[test]
fn in_the_simulator() {
    check(Arc::new(Sim::new()));
}

#[test]
fn on_a_gpu() {
    let Some(driver) = gpu::driver() else { return };
    check(Arc::new(driver));
}

#[test]
fn memory_is_given_back() {
    let device = Arc::new(Sim::new());
    {
        let gpu = Gpu::new(device.clone()).unwrap();
        let a = Arc::new(generate(&"poisson3d:12".parse().unwrap(), 0).unwrap());
        counts(&gpu, &a, Method::Gmres, 4);
        assert!(device.counters().snapshot().allocated_bytes > 0);
    }
    assert_eq!(device.counters().snapshot().allocated_bytes, 0);
}
