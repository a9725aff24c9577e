//! Sparse linear solvers: matrices, backends, solvers, preconditioners, model problems and I/O.
pub mod error;
pub mod io;
pub mod launch;
pub mod matrix;
pub mod problem;

pub use cuda_std::Real;
pub use error::{Error, Result};
