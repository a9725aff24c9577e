//! From a matrix to triangles, where the matrix is or on the host.

use cuda_std::Real;

use super::info::Info;
use super::params::Params;
use super::solve::TriangularSolves;
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::Matrices;

mod device;
mod host;
#[cfg(test)]
mod tests;

pub use host::factorised;
#[cfg(test)]
pub(super) use host::factors;

/// Incomplete factorisations for a backend: the same factors on each.
pub trait Factorisations<T: Real>: TriangularSolves<T> + Matrices<T> {
    /// The factors of a square, finite matrix, in the order of their solution. `there` is the matrix where the
    /// backend computes, if it is there already.
    ///
    /// # Errors
    /// Memory that runs out; [`Error::Reach`](crate::Error::Reach) where a triangle has more entries than 32
    /// bits count.
    fn factorise(
        &self,
        a: &Csr<T>,
        there: Option<&Self::Csr>,
        params: &Params,
    ) -> Result<(Self::Triangles, Info)> {
        let _ = there;
        let (triangles, info) = factorised::<T, T>(a, params)?;
        Ok((self.triangles(triangles)?, info))
    }
}
