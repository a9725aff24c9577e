//! [`Transposes`] on several ranks: rows go to the ranks that have their columns.

use cuda_std::Real;

use super::Transposes;
use crate::backend::distributed::{Borders, Distributed};
use crate::error::Result;
use crate::setup::Parts;
use crate::setup::matrix::distributed::DistributedCsr;

impl<T: Real, B: Parts<T> + Borders<T>> Transposes<T> for Distributed<B> {
    fn transpose(&self, a: &DistributedCsr<B::Csr>) -> Result<DistributedCsr<B::Csr>> {
        let (own_columns, rows, columns) = self.in_own_columns(a)?;
        self.of_entries(self.inner().transpose(&own_columns), (&columns, &rows), a.size().nnz)
    }

    fn transpose_values(&self, a: &DistributedCsr<B::Csr>, at: &mut DistributedCsr<B::Csr>) -> Result<()> {
        let (own_columns, ..) = self.in_own_columns(a)?;
        self.agreed(self.inner().transpose_values(&own_columns, &mut at.local))
    }
}
