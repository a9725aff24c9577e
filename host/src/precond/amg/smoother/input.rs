//! What a smoother is set up from.

use cuda_std::Real;

use crate::error::{Error, Result};
use crate::precond::amg::params::Params;
use crate::precond::amg::spectrum::Diagonal;
use crate::setup::{Algebra, Blocks, RowWeight, Size};

/// One level, as a smoother is set up from it.
pub(in crate::precond::amg) struct Input<'a, T: Real, B: Algebra<T>> {
    pub backend: &'a B,
    /// The level's matrix.
    pub a: &'a Blocks<B::Csr>,
    /// Its smoothing diagonal and spectrum.
    pub diagonal: &'a Diagonal<B::Vector>,
    /// The size of the pattern of the finest level's matrix.
    pub finest: Size,
    pub params: &'a Params,
}

impl<T: Real, B: Algebra<T>> Input<'_, T, B> {
    /// A number for each row, as the diagonal of sweeps.
    pub(super) fn row_weights(&self, weight: RowWeight) -> Result<B::Vector> {
        if self.a.block() > 1 {
            return Err(Error::Option(format!(
                "the smoother {} is not there for blocks; use chebyshev or jacobi",
                self.params.smoother
            )));
        }
        self.backend.row_weights(self.a.first(), weight)
    }
}
