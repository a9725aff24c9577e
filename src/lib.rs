//! Sparse linear systems solved on NVIDIA GPUs and on CPUs, kernels and all written in Rust.
//!
//! A matrix and a right-hand side go in, the solution and a report come out:
//!
//! ```
//! use warpsolve::Csr;
//!
//! # fn main() -> warpsolve::Result<()> {
//! //     [  4 -1  0 ]
//! // A = [ -1  4 -1 ],  b = (1, 1, 1)
//! //     [  0 -1  4 ]
//! let row_ptr = [0, 2, 5, 7];
//! let col_idx = [0, 1, 0, 1, 2, 1, 2];
//! let values = [4.0, -1.0, -1.0, 4.0, -1.0, -1.0, 4.0];
//! let a = Csr::from_slices(3, 3, &row_ptr, &col_idx, &values)?;
//!
//! let solution = warpsolve::solve(&a, &[1.0, 1.0, 1.0])?;
//! assert!(solution.report.converged());
//! assert!((solution.x[1] - 3.0 / 7.0).abs() < 1e-8);
//! println!("{}", solution.report);
//! # Ok(())
//! # }
//! ```
//!
//! [`solve`] chooses method, preconditioner, format and device. A [`Solver`] takes choices, and keeps matrix,
//! hierarchy and memory for other right-hand sides and for other values of the matrix:
//!
//! ```
//! use warpsolve::{Amg, Device, Solver, problem};
//!
//! # fn main() -> warpsolve::Result<()> {
//! let a = problem::generate(&"poisson2d:20".parse()?, 1)?;
//! let mut solver = Solver::builder()
//!     .rtol(1e-10)
//!     .preconditioner(Amg::default())
//!     .device(Device::auto()?)
//!     .build(&a)?;
//! let mut x = vec![0.0; 400];
//! for step in 1..4 {
//!     let report = solver.solve_into(&vec![f64::from(step); 400], &mut x)?; // from the last x
//!     assert!(report.converged());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Matrices come from slices, from triplets, from files ([`io`]), from generators ([`problem`]), and with the
//! features `sprs`, `faer` and `nalgebra-sparse` from these crates. [`job`] is the path of a solve; below it
//! are the [`solver`]s and [`precond`]itioners, written over the primitives of a [`backend`], and the
//! [`matrix`] formats. The program `warpsolve` is a thin shell around the same calls.
//!
//! # Features
//!
//! - `cli` (default): the program `warpsolve` and all that it alone needs. Programs that only solve leave it
//!   out, with `default-features = false`.
//! - `cardiac` (part of `cli`): `warpsolve::cardiac`, electrical waves in the heart.
//! - `mpi`: `warpsolve::mpi`, ranks that are processes; needs an MPI library and libclang to build.
//! - `metis`: `comm::Partitioning::Metis`, ranks with few entries between them; needs a C compiler to build.

#[cfg(feature = "cardiac")]
pub use warpsolve_cardiac as cardiac;
pub use warpsolve_host::*;

#[cfg(feature = "mpi")]
pub mod mpi;

/// The examples of the README compile and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
