//! [`CrsFormat`] of parts.

use cuda_std::Real;

use super::CrsFormat;
use crate::backend::Operator;
use crate::backend::distributed::{Borders, Distributed, DistributedMatrix};
use crate::error::Result;
use crate::setup::matrix::distributed::DistributedCsr;
use crate::setup::{Blocks, BorderFormat, Parts};

impl<T: Real, B: Parts<T> + Borders<T> + BorderFormat<T, T>> CrsFormat<T> for Distributed<B> {
    fn in_crs(&self, a: &Blocks<DistributedCsr<B::Csr>>) -> Result<DistributedMatrix<T, B>> {
        let (local, border) = self.split(a)?;
        let inner = self.inner();
        let made = inner.in_crs(&local).and_then(|local| {
            let border = border.operator::<T, T, B>(inner, local.n_rows())?;
            Ok((local, border))
        });
        let (local, of_border) = self.agreed(made)?;
        self.assembled_there(local, of_border, &border.links)
    }
}
