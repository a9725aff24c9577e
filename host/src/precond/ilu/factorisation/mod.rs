//! From a matrix to triangles, where the matrix is or on the host.

use cuda_std::Real;

use super::factors::Factored;
use super::info::Info;
use super::params::Params;
use super::solve::TriangularSolves;
use crate::backend::cpu::Cpu;
use crate::backend::reference::Reference;
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::{Formats, Matrices};

mod device;
mod device_inverse;
mod host;
#[cfg(test)]
mod tests;

pub use host::factorised;
#[cfg(test)]
pub(super) use host::factors;

/// The factors of a backend.
pub type FactoredOn<T, B> = Factored<<B as TriangularSolves<T>>::Triangles, <B as Matrices<T>>::Csr>;

/// Incomplete factorisations for a backend: the same factors on each.
pub trait Factorisations<T: Real>: TriangularSolves<T> + Formats<T, T> {
    /// The factors of a square, finite matrix, and what is known of them: not the bytes of inverses. `there`
    /// is the matrix where the backend computes, if it is there already.
    ///
    /// # Errors
    /// Memory that runs out; [`Error::Reach`](crate::Error::Reach) where a triangle has more entries than 32
    /// bits count.
    fn factorise(
        &self,
        a: &Csr<T>,
        there: Option<&Self::Csr>,
        params: &Params,
    ) -> Result<(FactoredOn<T, Self>, Info)> {
        let _ = there;
        self.factorise_on_host(a, params)
    }

    /// The same by the host.
    ///
    /// # Errors
    /// As above.
    fn factorise_on_host(&self, a: &Csr<T>, params: &Params) -> Result<(FactoredOn<T, Self>, Info)> {
        let (factors, info) = host::factored(a, params)?;
        let factors = match factors {
            Factored::Triangles(triangles) => Factored::Triangles(self.triangles(triangles)?),
            Factored::Inverses([lower, upper]) => {
                Factored::Inverses([Matrices::<T>::csr(self, &lower)?, Matrices::<T>::csr(self, &upper)?])
            }
        };
        Ok((factors, info))
    }
}

impl<T: Real> Factorisations<T> for Reference {}
impl<T: Real> Factorisations<T> for Cpu {}
