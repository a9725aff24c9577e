//! Sparse linear solvers: matrices, what they are, backends, solvers, preconditioners, model problems and
//! I/O.
pub mod analysis;
pub mod backend;
pub mod comm;
pub mod error;
pub mod examples;
pub mod fem;
mod front;
pub mod io;
pub mod job;
pub mod launch;
pub mod matrix;
mod memory;
pub mod named;
mod norm;
pub mod number;
mod pages;
mod parallel;
mod powers;
pub mod precond;
pub mod problem;
pub mod ptx;
/// For the tests and benchmarks of this repository: functions that trust their arguments, on the device too.
#[cfg(feature = "internals")]
pub mod setup;
// Some names are for them alone.
#[cfg(not(feature = "internals"))]
#[allow(unused_imports)]
mod setup;
pub mod solver;
mod vectors;

pub use cuda_std::Real;
/// The CUDA driver, in whose types device memory is [shared](backend::gpu::Gpu::adopt).
pub use cust;
pub use error::{Error, Result};
pub use front::solve;
pub use job::{
    Builder, CancellationToken, Device, Method, Precision, Precond, Report, Solution, Solver, Stage, open_gpu,
};
pub use matrix::{Coo, Csr, Format};
pub use precond::amg::Params as Amg;
pub use precond::ilu::Params as Ilu;
