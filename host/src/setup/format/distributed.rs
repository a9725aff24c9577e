//! [`CrsFormat`] of parts.

use std::sync::Arc;

use cuda_std::Real;

use super::CrsFormat;
use crate::backend::distributed::{Borders, Distributed, DistributedMatrix};
use crate::comm::Piece;
use crate::error::Result;
use crate::setup::matrix::distributed::DistributedCsr;
use crate::setup::{Algebra, Blocks};

impl<T: Real, B: Algebra<T> + Borders<T>> CrsFormat<T> for Distributed<B> {
    fn in_crs(&self, a: &Blocks<DistributedCsr<B::Csr>>) -> Result<DistributedMatrix<T, B>> {
        let comm = &**self.comm();
        let (rows, columns) = self.own_rows(a)?;
        let all: Vec<u32> = (0..rows.n_rows() as u32).collect();
        let piece = Piece::of_rows(comm, &rows, &all, &columns)?;
        let local = self.inner().in_planes(&Arc::new(piece.local.cast()), a.block());
        self.assembled(self.agreed(local.and_then(|local| self.inner().in_crs(&local)))?, &piece)
    }
}
