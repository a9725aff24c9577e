//! [`Diagonals`] on several ranks: vectors have the elements of this rank.

use arithmetic::smoothing::Limits;
use cuda_std::Real;

use super::{Diagonals, RowWeight, SmoothingDiagonal};
use crate::backend::distributed::{Borders, Distributed};
use crate::comm::sums;
use crate::error::Result;
use crate::setup::matrix::distributed::{DistributedCsr, local_planes};
use crate::setup::{Blocks, Parts};

impl<T: Real, B: Parts<T> + Borders<T>> Diagonals<T> for Distributed<B> {
    fn row_weights(&self, a: &DistributedCsr<B::Csr>, weight: RowWeight) -> Result<B::Vector> {
        self.restricted(self.inner().row_weights(&a.local, weight), 1, &a.rows)
    }

    fn invert_diagonal(&self, a: &Blocks<DistributedCsr<B::Csr>>) -> Result<B::Vector> {
        let inverse = self.inner().invert_diagonal(&local_planes(a));
        self.restricted(inverse, a.planes().len(), &a.first().rows)
    }

    fn smoothing_diagonal(
        &self,
        a: &DistributedCsr<B::Csr>,
        g: &B::Vector,
        d: &B::Vector,
        limits: Limits<T>,
    ) -> Result<SmoothingDiagonal<B::Vector>> {
        let rows = &a.rows;
        let (g, d) = (self.extended(g, 1, rows)?, self.extended(d, 1, rows)?);
        let found = self.agreed(self.inner().smoothing_diagonal(&a.local, &g, &d, limits))?;
        let slivers = self.restricted(Ok(found.slivers), 1, rows)?;
        let is_sliver = |element: &&T| **element != T::ZERO;
        let own = self.agreed(self.inner().to_host(&slivers))?.iter().filter(is_sliver).count();
        let n_slivers = sums(&**self.comm(), &[own as f64])?[0] as usize;
        Ok(SmoothingDiagonal { inverse: self.restricted(Ok(found.inverse), 1, rows)?, slivers, n_slivers })
    }

    /// By the numbers that rows have in the whole matrix.
    fn noise(&self, a: &DistributedCsr<B::Csr>, d: &B::Vector, n: usize) -> Result<B::Vector> {
        self.agreed(self.inner().noise_of(&a.rows.own_numbers(), d, n))
    }
}
