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
        // Those of others are few, and counted by their ranks.
        let of_others = self.inner().elements(rows.others(), 1, &found.slivers, &[]);
        let of_others = self.agreed(of_others.and_then(|elements| self.inner().to_host(&elements)))?;
        let own = found.n_slivers - of_others.iter().filter(|&&element| element != T::ZERO).count();
        let n_slivers = sums(&**self.comm(), &[own as f64])?[0] as usize;
        let [inverse, slivers] = [found.inverse, found.slivers].map(|all| self.restricted(Ok(all), 1, rows));
        Ok(SmoothingDiagonal { inverse: inverse?, slivers: slivers?, n_slivers })
    }

    /// By the numbers that rows have in the whole matrix.
    fn noise(&self, a: &DistributedCsr<B::Csr>, d: &B::Vector, n: usize) -> Result<B::Vector> {
        self.agreed(self.inner().noise_of(&a.rows.own_numbers(), d, n))
    }
}
