//! [`CrsFormat`] of parts.

use std::sync::Arc;

use cuda_std::Real;

use super::CrsFormat;
use crate::backend::distributed::{Borders, Distributed, DistributedMatrix};
use crate::error::Result;
use crate::setup::matrix::distributed::{DistributedCsr, only_alone};
use crate::setup::{Algebra, Blocks};

impl<T: Real, B: Algebra<T> + Borders<T>> CrsFormat<T> for Distributed<B> {
    fn in_crs(&self, a: &Blocks<DistributedCsr<B::Csr>>) -> Result<DistributedMatrix<T, B>> {
        if a.block() > 1 {
            return Err(only_alone("matrices of blocks"));
        }
        let piece = self.piece(a.first())?;
        let local = self.inner().csr(&Arc::new(piece.local.cast()));
        let local = local.and_then(|local| self.inner().in_crs(&Blocks::scalar(local)));
        self.assembled(self.agreed(local)?, &piece)
    }
}
