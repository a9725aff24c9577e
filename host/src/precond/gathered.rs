//! A preconditioner of the whole matrix, on rank 0.

use std::sync::Arc;

use cuda_std::Real;

use super::{Preconditioner, amg, ilu};
use crate::backend::distributed::{Borders, Distributed, DistributedMatrix};
use crate::backend::{Products, Then};
use crate::comm::{Partition, Piece, Pieces};
use crate::error::Result;
use crate::matrix::{AnyMatrix, Csr};

/// `z = M r` computed on rank 0, where r is gathered and whence z is scattered: the same operator for every
/// number of ranks, which no more than one of them works at.
///
/// Both ways are products with the identity, whose rows or columns are all on rank 0. So they go as every
/// product does: where devices write each other's memory, without the host.
pub(crate) struct Gathered<T: Real, B: Borders<T>> {
    gather: DistributedMatrix<T, B>,
    scatter: DistributedMatrix<T, B>,
    /// r and z on rank 0; elsewhere they have no elements.
    whole: [B::Vector; 2],
    /// On rank 0.
    m: Option<Box<dyn Preconditioner<T, B>>>,
    is_fixed: bool,
}

/// A preconditioner of the whole matrix, and which rank has which of its rows.
pub(crate) type Whole<T, B> = (Box<dyn Preconditioner<T, B>>, Arc<Partition>);

impl<T: Real, B: Borders<T>> Gathered<T, B> {
    /// Of the preconditioner that rank 0 has; the others give `None`. All ranks call this.
    pub fn new(backend: &Distributed<B>, m: Option<Whole<T, B>>, is_fixed: bool) -> Result<Self> {
        let (m, parts) = m.unzip();
        let n = parts.as_ref().map_or(0, |parts| parts.n_rows());
        let root = Arc::new(Partition::at(0, n, backend.comm().size()));
        let inner = backend.inner();
        Ok(Gathered {
            gather: identity(backend, parts.as_ref().map(|parts| (&root, parts)))?,
            scatter: identity(backend, parts.as_ref().map(|parts| (parts, &root)))?,
            whole: [inner.zeros(n)?, inner.zeros(n)?],
            m,
            is_fixed,
        })
    }
}

/// The identity from vectors that are shared out as the second partition to such that are as the first; rank
/// 0 knows them, and tells the others.
fn identity<T: Real, B: Borders<T>>(
    backend: &Distributed<B>,
    between: Option<(&Arc<Partition>, &Arc<Partition>)>,
) -> Result<DistributedMatrix<T, B>> {
    let comm = &**backend.comm();
    let piece = match between {
        Some((rows, columns)) => {
            let identity = Arc::new(Csr::identity(rows.n_rows()));
            let pieces = Pieces::between(identity, rows.clone(), columns.clone());
            let send = |rank| pieces.piece(rank).send(comm, rank);
            (1..comm.size()).try_for_each(send)?;
            pieces.piece(0)
        }
        None => Piece::receive(comm, 0)?,
    };
    backend.rows(&Arc::new(AnyMatrix::Crs(Arc::new(piece.local.csr().cast()))), &piece.border)
}

impl<T: Real, B: Borders<T>> Preconditioner<T, Distributed<B>> for Gathered<T, B> {
    fn apply(&mut self, backend: &Distributed<B>, r: &B::Vector, z: &mut B::Vector) -> Result<()> {
        let [whole_r, whole_z] = &mut self.whole;
        backend.multiply(&self.gather, r, Then::Store { y: whole_r })?;
        if let Some(m) = &mut self.m {
            m.apply(backend.inner(), whole_r, whole_z)?;
        }
        backend.multiply(&self.scatter, whole_z, Then::Store { y: z })
    }

    fn is_fixed(&self) -> bool {
        self.is_fixed
    }

    fn hierarchy(&self) -> Option<&amg::Info> {
        self.m.as_ref()?.hierarchy()
    }

    fn factors(&self) -> Option<&ilu::Info> {
        self.m.as_ref()?.factors()
    }
}
