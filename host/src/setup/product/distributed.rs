//! [`SparseProducts`] on several ranks: each multiplies its rows, and gets the rows of B that it needs.

use std::sync::Arc;

use cuda_std::Real;

use super::SparseProducts;
use crate::backend::distributed::{Borders, Distributed};
use crate::error::Result;
use crate::setup::Parts;
use crate::setup::matrix::distributed::DistributedCsr;

impl<T: Real, B: Parts<T> + Borders<T>> SparseProducts<T> for Distributed<B> {
    fn product(
        &self,
        a: &DistributedCsr<B::Csr>,
        b: &DistributedCsr<B::Csr>,
    ) -> Result<DistributedCsr<B::Csr>> {
        let b = self.factor(a, b)?;
        self.of_local(self.inner().product(&a.local, &b.local), &a.rows, &b.columns)
    }
    fn product_values(
        &self,
        a: &DistributedCsr<B::Csr>,
        b: &DistributedCsr<B::Csr>,
        c: &mut DistributedCsr<B::Csr>,
    ) -> Result<()> {
        let b = self.factor(a, b)?;
        self.agreed(self.inner().product_values(&a.local, &b.local, &mut c.local))
    }
    fn add_product(
        &self,
        a: &DistributedCsr<B::Csr>,
        b: &DistributedCsr<B::Csr>,
        c: &mut DistributedCsr<B::Csr>,
    ) -> Result<()> {
        let b = self.factor(a, b)?;
        self.agreed(self.inner().add_product(&a.local, &b.local, &mut c.local))
    }
}

impl<B> Distributed<B> {
    /// `b` with a row for each column of `a`. What was made of surrounded matrices has them.
    fn factor<T: Real>(
        &self,
        a: &DistributedCsr<B::Csr>,
        b: &DistributedCsr<B::Csr>,
    ) -> Result<DistributedCsr<B::Csr>>
    where
        B: Parts<T>,
    {
        match Arc::ptr_eq(&a.columns, &b.rows) {
            true => Ok(b.clone()),
            false => self.completed(b, &a.columns),
        }
    }
}
