//! [`BlockMatrices`] on several ranks, row by row.

use cuda_std::Real;

use super::BlockMatrices;
use crate::backend::distributed::{Borders, Distributed};
use crate::error::Result;
use crate::setup::matrix::distributed::{DistributedCsr, local_planes};
use crate::setup::others::only_alone;
use crate::setup::{Blocks, Parts};

impl<T: Real, B: Parts<T> + Borders<T>> BlockMatrices<T> for Distributed<B> {
    fn count_blocks(&self, _: &DistributedCsr<B::Csr>, _: usize) -> Result<usize> {
        Err(only_alone("blocks of a matrix that no rank has"))
    }

    fn merged(&self, _: &DistributedCsr<B::Csr>, _: usize) -> Result<Blocks<DistributedCsr<B::Csr>>> {
        Err(only_alone("blocks of a matrix that no rank has"))
    }

    fn singular_blocks(&self, _: &Blocks<DistributedCsr<B::Csr>>) -> Result<usize> {
        Err(only_alone("a count of singular blocks"))
    }

    fn norms(&self, a: &Blocks<DistributedCsr<B::Csr>>) -> Result<DistributedCsr<B::Csr>> {
        self.with_values(a.first(), self.inner().norms(&local_planes(a)))
    }

    fn damp_blocks(&self, s: &mut Blocks<DistributedCsr<B::Csr>>, d: &B::Vector, omega: T) -> Result<()> {
        let d = self.extended(d, s.planes().len(), &s.first().rows)?;
        let mut local = local_planes(s);
        self.agreed(self.inner().damp_blocks(&mut local, &d, omega))?;
        for (plane, local) in s.planes_mut().iter_mut().zip(local.planes()) {
            plane.local = local.clone();
        }
        Ok(())
    }
}
