//! A preconditioner of the whole matrix, on rank 0.

use std::sync::Arc;

use cuda_std::Real;

use super::{Preconditioner, amg, ilu};
use crate::backend::distributed::{Borders, Distributed};
use crate::backend::gpu::{bytes_of, bytes_of_mut};
use crate::comm::Partition;
use crate::error::{Error, Result};

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

impl<T: Real, B: Borders<T>> Root<T, B> {
    /// `z = M r` of the parts of r, as parts.
    fn apply(&mut self, backend: &B, parts: &[Vec<u8>]) -> Result<Vec<Vec<T>>> {
        let rows = |rank: usize| self.partition.rows(rank).iter().map(|&i| i as usize);
        let mut r = vec![T::ZERO; parts.iter().map(Vec::len).sum::<usize>() / size_of::<T>()];
        for (rank, part) in parts.iter().enumerate() {
            rows(rank).zip(elements(part)?).for_each(|(i, value)| r[i] = value);
        }
        self.m.apply(backend, &backend.vector(&r)?, &mut self.z)?;
        let z = backend.to_host(&self.z)?;
        Ok((0..parts.len()).map(|rank| rows(rank).map(|i| z[i]).collect()).collect())
    }
}

/// The numbers of a message.
fn elements<T: Real>(message: &[u8]) -> Result<Vec<T>> {
    let mut values = vec![T::ZERO; message.len() / size_of::<T>()];
    match bytes_of_mut(&mut values) {
        bytes if bytes.len() == message.len() => bytes.copy_from_slice(message),
        _ => return Err(Error::Option("a rank has another number type".into())),
    }
    Ok(values)
}

impl<T: Real, B: Borders<T>> Preconditioner<T, Distributed<B>> for Gathered<T, B> {
    fn apply(&mut self, backend: &Distributed<B>, r: &B::Vector, z: &mut B::Vector) -> Result<()> {
        let (inner, comm) = (backend.inner(), &**backend.comm());
        if inner.has_stopped()? {
            return Ok(());
        }
        let mine = inner.to_host(r)?;
        let parts = comm.gather(bytes_of(&mine).to_vec())?;
        let part = match (&mut self.root, parts) {
            (Some(root), Some(parts)) => {
                let mut parts = root.apply(inner, &parts)?.into_iter();
                let mine = parts.next().unwrap_or_default();
                for (to, part) in (1..).zip(parts) {
                    comm.send(to, bytes_of(&part))?;
                }
                mine
            }
            _ => elements(&comm.receive(0)?)?,
        };
        inner.copy(&inner.vector(&part)?, z)
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
