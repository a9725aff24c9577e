//! Transposes.

use cuda_std::Real;

use super::matrix::{Blocks, Matrices};
use crate::error::Result;

mod device;
mod distributed;
mod host;
mod reference;
#[cfg(test)]
mod tests;

/// Transposes of sparse matrices.
pub trait Transposes<T: Real>: Matrices<T> {
    /// The transpose.
    fn transpose(&self, a: &Self::Csr) -> Result<Self::Csr>;

    /// The values of the transpose in the pattern that [`Transposes::transpose`] made.
    fn transpose_values(&self, a: &Self::Csr, at: &mut Self::Csr) -> Result<()>;

    /// The transpose of a matrix of blocks, each block transposed too.
    fn transpose_of_blocks(&self, a: &Blocks<Self::Csr>) -> Result<Blocks<Self::Csr>> {
        let block = a.block();
        let mut planes = vec![self.transpose(a.first())?];
        for kl in 1..block * block {
            let mut plane = self.zeros_like(&planes[0])?;
            self.transpose_values(a.plane(kl % block, kl / block), &mut plane)?;
            planes.push(plane);
        }
        Ok(Blocks::from_planes(planes))
    }
}
