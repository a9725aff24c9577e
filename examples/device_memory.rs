//! A system whose matrix and vectors are in device memory already, where another part of the program made
//! them: it is solved there, and x stays there.

use warpsolve::backend::Memory;
use warpsolve::backend::gpu::Gpu;
use warpsolve::cust::context::CurrentContext;
use warpsolve::cust::error::{CudaError, CudaResult};
use warpsolve::cust::memory::DeviceBuffer;
use warpsolve::matrix::Csr;
use warpsolve::precond::amg::{Blocks, DeviceCsr, Hierarchies, Params};
use warpsolve::solver::{Cg, IterativeSolver, Outcome, Stop};
use warpsolve::{Error, Result, problem};

/// A system as the other part of the program has it.
pub struct System {
    row_ptr: DeviceBuffer<u32>,
    col_idx: DeviceBuffer<u32>,
    values: DeviceBuffer<f64>,
    b: DeviceBuffer<f64>,
}

impl System {
    /// Stands for the other part of the program.
    pub fn new(a: &Csr<f64>, b: &[f64]) -> CudaResult<System> {
        let row_ptr: Vec<u32> = a.row_ptr().iter().map(|&p| p as u32).collect();
        Ok(System {
            row_ptr: DeviceBuffer::from_slice(&row_ptr)?,
            col_idx: DeviceBuffer::from_slice(a.col_idx())?,
            values: DeviceBuffer::from_slice(a.values())?,
            b: DeviceBuffer::from_slice(b)?,
        })
    }
}

// ANCHOR: solve
/// CG with multigrid. No vector and no matrix is copied, neither to the host nor on the device.
pub fn solve(gpu: &Gpu, system: System) -> Result<(Outcome, DeviceBuffer<f64>)> {
    let n = system.b.len();
    let a = DeviceCsr::adopt(gpu, n, system.row_ptr, system.col_idx, system.values)?;
    let b = gpu.adopt(system.b)?;
    let mut x = Memory::<f64>::zeros(gpu, n)?;

    let a = Blocks::scalar(a);
    let product = gpu.operator(&a)?;
    let (mut m, _) = gpu.amg(a, Some(&product), &Params::default(), None, true)?;
    let mut cg = Cg::new(gpu, n, &*m)?;
    let stop = Stop { rtol: 1e-10, ..Stop::default() };
    let outcome = cg.solve(gpu, &product, &mut *m, &b, &mut x, &stop, &mut |_, _| {})?;
    Ok((outcome, x.into_device_buffer()?))
}
// ANCHOR_END: solve

/// Solves, and compares x with the solution that is known.
pub fn check(gpu: &Gpu) -> Result<Outcome> {
    let a = problem::poisson2d(300);
    let expected: Vec<f64> = (0..a.n_rows()).map(|i| (0.01 * i as f64).sin()).collect();
    let b = a.mul_vec(&expected);

    let cuda = gpu.cuda().ok_or_else(|| Error::NoDevice("this is no CUDA device".into()))?;
    let failed = |error: CudaError| Error::Option(error.to_string());
    CurrentContext::set_current(&cuda.context).map_err(failed)?;
    let (outcome, x) = solve(gpu, System::new(&a, &b).map_err(failed)?)?;
    let x = x.as_host_vec().map_err(failed)?;
    let error = x.iter().zip(&expected).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max);
    assert!(error < 1e-6, "x is off by {error:e}");
    Ok(outcome)
}

fn main() -> Result<()> {
    let gpu = match warpsolve::open_gpu(0) {
        Ok(gpu) => gpu,
        Err(error) => {
            println!("there is no device memory without a GPU: {error}");
            return Ok(());
        }
    };
    let outcome = check(&gpu)?;
    println!("{} iterations, and x is on the device", outcome.iterations);
    Ok(())
}
