//! A preconditioner of the whole matrix, on rank 0.

use std::sync::Arc;

use cuda_std::Real;

use super::{Preconditioner, amg, ilu};
use crate::backend::distributed::{Borders, Distributed};
use crate::comm::Partition;
use crate::error::Result;

/// `z = M r` computed on rank 0, where r is gathered and whence z is scattered: the same operator for every
/// number of ranks, which no more than one of them works at.
pub(crate) struct Gathered<T: Real, B: Borders<T>> {
    root: Option<Root<T, B>>,
    is_fixed: bool,
}

/// A preconditioner of the whole matrix, and which rank has which of its rows.
pub(crate) type Whole<T, B> = (Box<dyn Preconditioner<T, B>>, Arc<Partition>);

struct Root<T: Real, B: Borders<T>> {
    m: Box<dyn Preconditioner<T, B>>,
    partition: Arc<Partition>,
    z: B::Vector,
}

impl<T: Real, B: Borders<T>> Gathered<T, B> {
    /// Of the preconditioner that rank 0 has; the others give `None`.
    pub fn new(backend: &B, m: Option<Whole<T, B>>, is_fixed: bool) -> Result<Self> {
        let root = match m {
            None => None,
            Some((m, partition)) => Some(Root { m, z: backend.zeros(partition.n_rows())?, partition }),
        };
        Ok(Gathered { root, is_fixed })
    }
}

impl<T: Real, B: Borders<T>> Preconditioner<T, Distributed<B>> for Gathered<T, B> {
    fn apply(&mut self, backend: &Distributed<B>, r: &B::Vector, z: &mut B::Vector) -> Result<()> {
        let Some(Root { m, partition, z: whole }) = &mut self.root else {
            return backend.at_root(None, r, z);
        };
        let mut apply = |inner: &B, r: &[T]| {
            m.apply(inner, &inner.vector(r)?, whole)?;
            inner.to_host(whole)
        };
        backend.at_root(Some((partition, &mut apply)), r, z)
    }

    fn is_fixed(&self) -> bool {
        self.is_fixed
    }

    fn hierarchy(&self) -> Option<&amg::Info> {
        self.root.as_ref()?.m.hierarchy()
    }

    fn factors(&self) -> Option<&ilu::Info> {
        self.root.as_ref()?.m.factors()
    }
}
