//! Sparse matrices on the host. Each is validated when it is made and never changes its pattern.

pub mod csr;

pub use csr::Csr;
