//! A preconditioner of the whole matrix, on rank 0.

use std::sync::Arc;

use cuda_std::Real;

use super::{Preconditioner, amg, ilu};
use crate::backend::distributed::{Borders, Distributed, WayToRoot};
use crate::comm::Partition;
use crate::error::Result;

/// `z = M r` computed on rank 0, where r is gathered and whence z is scattered: the same operator for every
/// number of ranks, which no more than one of them works at.
pub(crate) struct Gathered<T: Real, B: Borders<T>> {
    way: WayToRoot<T, B>,
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
        let inner = backend.inner();
        Ok(Gathered {
            way: WayToRoot::of_partition(backend, parts.as_deref())?,
            whole: [inner.zeros(n)?, inner.zeros(n)?],
            m,
            is_fixed,
        })
    }
}

impl<T: Real, B: Borders<T>> Preconditioner<T, Distributed<B>> for Gathered<T, B> {
    fn apply(&mut self, backend: &Distributed<B>, r: &B::Vector, z: &mut B::Vector) -> Result<()> {
        let [whole_r, whole_z] = &mut self.whole;
        self.way.gather(backend, r, whole_r)?;
        if let Some(m) = &mut self.m {
            m.apply(backend.inner(), whole_r, whole_z)?;
        }
        self.way.scatter(backend, whole_z, z)
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
