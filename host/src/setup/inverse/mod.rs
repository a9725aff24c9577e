//! The dense inverse of a small matrix, such as the coarsest of a hierarchy.

use cuda_std::Real;

use super::matrix::Matrices;
use crate::error::Result;

mod device;
mod distributed;
pub mod host;

/// Dense inverses where a backend computes.
pub trait Inverses<T: Real>: Matrices<T> {
    /// The inverse with every entry stored, where A is symmetric and positive definite: no pivot of
    /// Cholesky's method is below `negligible(max |a_ij|)`, nor any `|a_ij - a_ji|` above. `None` where not,
    /// and where it is better computed on the host, by [`host::inverse`]. Backends round it differently.
    fn inverse(&self, a: &Self::Csr, negligible: &dyn Fn(f64) -> f64) -> Result<Option<Self::Csr>> {
        let _ = (a, negligible);
        Ok(None)
    }
}
