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
pub mod setup;
pub mod solver;
mod vectors;

pub use cuda_std::Real;
pub use error::{Error, Result};
