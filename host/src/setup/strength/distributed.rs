//! [`StrengthOfConnection`] on several ranks, row by row.

use cuda_std::Real;

use super::{Strength, StrengthOfConnection};
use crate::backend::distributed::{Borders, Distributed};
use crate::error::Result;
use crate::setup::Parts;
use crate::setup::matrix::distributed::DistributedCsr;

impl<T: Real, B: Parts<T> + Borders<T>> StrengthOfConnection<T> for Distributed<B> {
    fn strength(&self, a: &DistributedCsr<B::Csr>, strength: Strength) -> Result<DistributedCsr<B::Csr>> {
        self.of_local(self.inner().strength(&a.local, strength), &a.rows, &a.columns)
    }

    fn strength_values(
        &self,
        a: &DistributedCsr<B::Csr>,
        lumped: bool,
        s: &mut DistributedCsr<B::Csr>,
    ) -> Result<()> {
        self.agreed(self.inner().strength_values(&a.local, lumped, &mut s.local))
    }
}
