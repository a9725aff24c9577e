//! What matrices of blocks need in addition to what is done plane by plane.

use cuda_std::Real;

use super::matrix::{Blocks, Matrices};
use crate::error::Result;

mod device;
mod distributed;
mod host;
mod reference;
#[cfg(test)]
mod tests;

/// Matrices of blocks.
pub trait BlockMatrices<T: Real>: Matrices<T> {
    /// The norm matrix of a matrix of blocks, `e_ij = ||A_ij||_F` (Rosenberger and Haase 2017, section
    /// 9.3.1), off the diagonal with the sign turned, so that every connection is one of opposite sign.
    /// Squares are added row by row.
    fn norms(&self, a: &Blocks<Self::Csr>) -> Result<Self::Csr>;

    /// `S = I - omega D S` with D the blocks of `d`, for a matrix of blocks: each element of `D S` is a sum
    /// from left to right, from 0.
    fn damp_blocks(&self, s: &mut Blocks<Self::Csr>, d: &Self::Vector, omega: T) -> Result<()>;
}
