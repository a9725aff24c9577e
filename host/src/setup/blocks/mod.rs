//! What matrices of blocks need in addition to what is done plane by plane.

use std::sync::Arc;

use cuda_std::Real;

use super::matrix::{Blocks, Matrices};
use crate::error::Result;
use crate::matrix::Csr;

mod device;
mod distributed;
mod host;
mod reference;
#[cfg(test)]
pub(super) mod tests;

/// Matrices of blocks.
pub trait BlockMatrices<T: Real>: Matrices<T> {
    /// How many blocks of b x b values there are of a matrix with b = `block` unknowns a node: those with an
    /// entry stored.
    ///
    /// # Errors
    /// [`Error::Option`](crate::Error::Option) for a block size beyond
    /// [`BLOCK_SIZES`](crate::matrix::block::BLOCK_SIZES), [`Error::Matrix`](crate::Error::Matrix) where the
    /// rows or columns are not whole blocks.
    fn count_blocks(&self, a: &Self::Csr, block: usize) -> Result<usize>;

    /// These blocks in planes, block columns ascending. Values that are not stored in `a` are 0.
    ///
    /// # Errors
    /// As [`BlockMatrices::count_blocks`]; memory that runs out.
    fn merged(&self, a: &Self::Csr, block: usize) -> Result<Blocks<Self::Csr>>;

    /// [`BlockMatrices::merged`], or with one unknown a node the matrix itself.
    fn planes(&self, a: Self::Csr, block: usize) -> Result<Blocks<Self::Csr>> {
        if block == 1 { Ok(Blocks::scalar(a)) } else { self.merged(&a, block) }
    }

    /// The same of a matrix on the host, which is copied in CRS.
    fn in_planes(&self, a: &Arc<Csr<T>>, block: usize) -> Result<Blocks<Self::Csr>> {
        self.planes(self.csr(a)?, block)
    }

    /// How many blocks on the diagonal are missing, or not [regular](arithmetic::blocks::is_regular).
    fn singular_blocks(&self, a: &Blocks<Self::Csr>) -> Result<usize>;

    /// The norm matrix of a matrix of blocks, `e_ij = ||A_ij||_F` (Rosenberger and Haase 2017, section
    /// 9.3.1), off the diagonal with the sign turned, so that every connection is one of opposite sign.
    /// Squares are added row by row.
    fn norms(&self, a: &Blocks<Self::Csr>) -> Result<Self::Csr>;

    /// `S = I - omega D S` with D the blocks of `d`, for a matrix of blocks: each element of `D S` is a sum
    /// from left to right, from 0.
    fn damp_blocks(&self, s: &mut Blocks<Self::Csr>, d: &Self::Vector, omega: T) -> Result<()>;
}
