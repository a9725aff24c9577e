//! Sparse linear systems solved on NVIDIA GPUs and on CPUs, kernels and all written in Rust.
//!
//! A matrix goes in, the solution and an account of how it was come by come out:
//!
//! ```
//! use std::sync::Arc;
//! use warpsolve::backend::cpu::Cpu;
//! use warpsolve::job::{self, Device, Options};
//! use warpsolve::matrix::Csr;
//!
//! # fn main() -> warpsolve::Result<()> {
//! //     [  4 -1  0 ]
//! // A = [ -1  4 -1 ],  b = (1, 1, 1)
//! //     [  0 -1  4 ]
//! let row_ptr = vec![0, 2, 5, 7];
//! let col_idx = vec![0, 1, 0, 1, 2, 1, 2];
//! let values = vec![4.0, -1.0, -1.0, 4.0, -1.0, -1.0, 4.0];
//! let a = Arc::new(Csr::new(3, 3, row_ptr, col_idx, values)?);
//! let b = [1.0, 1.0, 1.0];
//!
//! let device = Device::Cpu(Cpu::new(0)?); // or Device::Gpu(warpsolve::open_gpu(0)?)
//! let (x, report) = job::solve(&a, &b, &Options::default(), &device, &mut |_, _| {})?;
//!
//! assert!(report.converged() && report.relative_residual <= 1e-8);
//! assert!((x[1] - 3.0 / 7.0).abs() < 1e-8);
//! # Ok(())
//! # }
//! ```
//!
//! [`job`] is this path from end to end; below it are the [`solver`]s and [`precond`]itioners, written over
//! the primitives of a [`backend`], and the [`matrix`] formats. [`io`] reads and writes Matrix Market files,
//! [`problem`] generates model problems. The program `warpsolve` is a thin shell around the same calls.
//!
//! # Features
//!
//! - `cli` (default): the program `warpsolve` and all that it alone needs. Programs that only solve leave it out, with
//!   `default-features = false`.
//! - `cardiac` (part of `cli`): `warpsolve::cardiac`, electrical waves in the heart.

pub mod ptx;

use std::sync::Arc;

#[cfg(feature = "cardiac")]
pub use warpsolve_cardiac as cardiac;
pub use warpsolve_host::*;

/// Opens GPU `ordinal`, counted from 0, with the newest of the embedded [kernels](ptx::PTX) that it takes.
///
/// # Errors
/// [`Error::NoDevice`] where there is no driver, no such GPU, or no kernel image for it; [`Error::Device`]
/// where the driver fails.
pub fn open_gpu(ordinal: u32) -> Result<backend::gpu::Gpu> {
    let driver = launch::driver::Driver::open(ordinal, &ptx::images())?;
    backend::gpu::Gpu::new(Arc::new(driver))
}

/// The examples of the README compile and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
