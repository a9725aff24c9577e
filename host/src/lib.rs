//! Sparse linear solvers: matrices, backends, solvers, preconditioners, model problems and I/O.
pub mod backend;
pub mod error;
pub mod examples;
pub mod fem;
pub mod io;
pub mod job;
pub mod launch;
pub mod matrix;
pub mod named;
pub mod precond;
pub mod problem;
pub mod ptx;
pub mod setup;
pub mod solver;
mod vectors;

use std::sync::{Arc, Mutex};

pub use cuda_std::Real;
pub use error::{Error, Result};
pub use job::{
    Builder, CancellationToken, Device, Method, Precision, Precond, Report, Solution, Solver, Stage,
};
pub use matrix::{Coo, Csr, Format};
pub use precond::amg::Params as Amg;

/// Solves `A x = b` on the first GPU, or else on the CPU, with the defaults of the command line; see
/// [`Solver::solve`], and [`Solver::builder`] for everything else.
///
/// The device is opened at the first call and kept for later ones.
///
/// # Errors
/// As [`Device::auto`], [`Builder::build`] and [`Solver::solve`].
pub fn solve(a: impl matrix::IntoCsr, b: &[f64]) -> Result<Solution> {
    /// One call at a time uses it; another one meanwhile opens its own.
    static DEVICE: Mutex<Option<Device>> = Mutex::new(None);
    let mut kept = DEVICE.try_lock().ok();
    let device = match kept.as_deref() {
        Some(Some(device)) => device.clone(),
        _ => Device::auto()?,
    };
    if let Some(kept) = &mut kept {
        kept.get_or_insert_with(|| device.clone());
    }
    Solver::builder().device(device).solve(a, b)
}

/// Opens GPU `ordinal`, counted from 0, with the newest of the embedded [kernels](ptx::PTX) that it takes.
///
/// # Errors
/// [`Error::NoDevice`] where there is no driver, no such GPU, or no kernel image for it; [`Error::Device`]
/// where the driver fails.
pub fn open_gpu(ordinal: u32) -> Result<backend::gpu::Gpu> {
    let driver = launch::driver::Driver::open(ordinal, &ptx::images())?;
    backend::gpu::Gpu::new(Arc::new(driver))
}
