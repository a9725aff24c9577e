//! [`CrsFormat`] of parts.

use cuda_std::Real;

use super::CrsFormat;
use crate::backend::distributed::{Borders, Distributed, DistributedMatrix};
use crate::error::Result;
use crate::setup::matrix::distributed::DistributedCsr;
use crate::setup::{Blocks, Parts};

impl<T: Real, B: Parts<T> + Borders<T>> CrsFormat<T> for Distributed<B> {
    fn in_crs(&self, a: &Blocks<DistributedCsr<B::Csr>>) -> Result<DistributedMatrix<T, B>> {
        let (local, border) = self.split(a)?;
        self.assembled(self.agreed(self.inner().in_crs(&local))?, &border)
    }
}
