//! Inside the iteration loop nothing is allocated, and no vector crosses the bus.
//!
//! The papers count 2002 copies for 1000 dot products under OpenACC and 6002 under OpenMP; here it is 0.

mod gpu;

use std::sync::Arc;
use warpsolve::backend::Memory;
use warpsolve::backend::Products;

use warpsolve::backend::gpu::Gpu;
use warpsolve::launch::sim::Sim;
use warpsolve::launch::{Counts, Launch};
use warpsolve::matrix::{AnyMatrix, Csr, Format};
use warpsolve::precond::{Jacobi, Preconditioner};
use warpsolve::problem::generate;
use warpsolve::solver::{Bicgstab, Cg, Gmres, IterativeSolver, JacobiIteration, Stop};

const N: usize = 12 * 12 * 12;

/// The device's counters after this many iterations, without what is allocated once before them.
fn counts(gpu: &Gpu, a: &Arc<Csr<f64>>, method: &str, iterations: u32) -> Counts {
    let matrix = AnyMatrix::from_csr(a, Format::Sell, 1).unwrap();
    let matrix = gpu.matrix(&Arc::new(matrix)).unwrap();
    let mut m = Jacobi::setup(gpu, a).unwrap();
    let mut solver: Box<dyn IterativeSolver<f64, Gpu>> = match method {
        "cg" => Box::new(Cg::new(gpu, N, &m as &dyn Preconditioner<f64, Gpu>).unwrap()),
        "bicgstab" => Box::new(Bicgstab::new(gpu, N).unwrap()),
        "gmres" => Box::new(Gmres::new(gpu, N, 4).unwrap()),
        _ => Box::new(JacobiIteration::new(gpu, a, 0.8).unwrap()),
    };
    let b = gpu.vector(&vec![1.0; N]).unwrap();
    let mut x = gpu.zeros(N).unwrap();
    let stop = Stop { rtol: 1e-300, atol: 0.0, max_iterations: iterations };
    let before = gpu.device().counters().snapshot();
    let outcome = solver.solve(gpu, &matrix, &mut m, &b, &mut x, &stop, &mut |_, _| ()).unwrap();
    assert_eq!(outcome.iterations, iterations);
    gpu.device().counters().snapshot().since(&before)
}

fn check(device: Arc<dyn Launch>) {
    let gpu = Gpu::new(device).unwrap();
    let a = Arc::new(generate(&"poisson3d:12".parse().unwrap(), 0).unwrap());
    for method in ["cg", "bicgstab", "gmres", "jacobi"] {
        let (few, many) = (counts(&gpu, &a, method, 4), counts(&gpu, &a, method, 20));
        assert!(many.launches >= few.launches + 16, "{method}: the loop launches kernels");
        assert_eq!(many.allocations, few.allocations, "{method}");
        assert_eq!(many.uploads, few.uploads, "{method}");
        assert_eq!(many.device_copies, few.device_copies, "{method}");
        // GMRES asks for one scalar at the end of a cycle, and cycles are 4 long here.
        let cycles = if method == "gmres" { 4 } else { 0 };
        assert_eq!(many.downloads, few.downloads + cycles, "{method}");
        assert_eq!(many.downloaded_bytes, few.downloaded_bytes + 8 * cycles, "{method}");
        // Outside of the loop it is the norm of b, and no vector.
        assert!(few.downloaded_bytes + few.uploaded_bytes < 64, "{method}: {few:?}");
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
        counts(&gpu, &a, "gmres", 4);
        assert!(device.counters().snapshot().allocated_bytes > 0);
    }
    assert_eq!(device.counters().snapshot().allocated_bytes, 0);
}
