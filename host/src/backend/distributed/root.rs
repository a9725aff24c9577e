//! Vectors that ranks have in parts, as rank 0 has all of them.

use std::sync::Arc;

use cuda_std::Real;

use super::border::Borders;
use super::{Distributed, DistributedMatrix};
use crate::backend::{Products, Then};
use crate::comm::{Border, Links, Partition, Reader, Runs, Writer};
use crate::error::Result;
use crate::matrix::{AnyMatrix, Csr};

/// The way of vectors that are shared out to rank 0, which computes with the whole ones, and back.
///
/// Both ways are products with the identity, whose rows or columns are all on rank 0. So they go as every
/// product does: where devices write each other's memory, without the host.
pub(crate) struct WayToRoot<T: Real, B: Borders<T>> {
    gather: DistributedMatrix<T, B>,
    scatter: DistributedMatrix<T, B>,
}

impl<T: Real, B: Borders<T>> WayToRoot<T, B> {
    /// Of vectors of `total` elements, of which each rank has these. All ranks call this.
    pub fn new(backend: &Distributed<B>, own: &Runs, total: usize) -> Result<Self> {
        let comm = &**backend.comm();
        let of_ranks = match comm.gather(Writer::new().put(&own.sent()).bytes())? {
            None => vec![Runs::default(); comm.size()],
            Some(messages) => messages
                .iter()
                .map(|message| Ok(Runs::received(Reader::new(message).take()?)))
                .collect::<Result<_>>()?,
        };
        let assembled = |(local, border): (Csr<T>, Border)| {
            backend.rows(&Arc::new(AnyMatrix::Crs(Arc::new(local))), &border)
        };
        let is_root = comm.rank() == 0;
        let (gather, scatter) = match is_root {
            true => (gathering(&of_ranks, total), scattering(&of_ranks, total)),
            false => (given(own.len()), taken(own.len())),
        };
        Ok(WayToRoot { gather: assembled(gather)?, scatter: assembled(scatter)? })
    }

    /// The same of vectors that are shared out as rank 0 knows; the others give `None`. All ranks call this.
    pub fn of_partition(backend: &Distributed<B>, partition: Option<&Partition>) -> Result<Self> {
        let comm = &**backend.comm();
        let Some(partition) = partition else {
            let message = comm.receive(0)?;
            let mut message = Reader::new(&message);
            let (own, total) = (Runs::received(message.take()?), message.one::<u64>()?);
            return WayToRoot::new(backend, &own, total as usize);
        };
        let total = partition.n_rows();
        for rank in 1..comm.size() {
            let message = Writer::new().put(&partition.rows(rank).sent()).put(&[total as u64]);
            comm.send(rank, &message.bytes())?;
        }
        WayToRoot::new(backend, partition.rows(0), total)
    }

    /// `whole` of `x`; elsewhere than on rank 0 it has no elements. All ranks call this.
    pub fn gather(&self, backend: &Distributed<B>, x: &B::Vector, whole: &mut B::Vector) -> Result<()> {
        backend.multiply(&self.gather, x, Then::Store { y: whole })
    }

    /// The way back.
    pub fn scatter(&self, backend: &Distributed<B>, whole: &B::Vector, x: &mut B::Vector) -> Result<()> {
        backend.multiply(&self.scatter, whole, Then::Store { y: x })
    }
}

/// The rows of the identity with these columns alone, of `n_cols`, in that order.
fn rows_of_identity<T: Real>(columns: &[u32], n_cols: usize) -> Csr<T> {
    Csr::from_entries(columns.len(), n_cols, |k: usize| std::iter::once((columns[k], T::ONE)))
}

/// What rank 0 has of the way there, where ranks have these elements.
fn gathering<T: Real>(of_ranks: &[Runs], total: usize) -> (Csr<T>, Border) {
    let own = of_ranks[0].inverse(total).expanded();
    let entry = |i: usize| Some((own[i], T::ONE)).filter(|&(k, _)| k != crate::comm::NOWHERE).into_iter();
    let local = Csr::from_entries(total, of_ranks[0].len(), entry);
    // Elements come from one rank after the other, and rows ascend.
    let mut received: Vec<(u32, u32)> = of_ranks[1..].iter().flat_map(Runs::iter).zip(0..).collect();
    received.sort_unstable();
    let (rows, ghosts): (Vec<u32>, Vec<u32>) = received.into_iter().unzip();
    let receives = of_ranks.iter().map(Runs::len).enumerate().skip(1).filter(|&(_, count)| count > 0);
    let links = Links { sends: Vec::new(), receives: receives.collect() };
    let entries = rows_of_identity(&ghosts, ghosts.len());
    (local, Border { rows, entries, links })
}

/// What rank 0 has of the way back.
fn scattering<T: Real>(of_ranks: &[Runs], total: usize) -> (Csr<T>, Border) {
    let local = rows_of_identity(&of_ranks[0].expanded(), total);
    let sends = of_ranks.iter().map(Runs::expanded).enumerate().skip(1);
    let sends = sends.filter(|(_, places)| !places.is_empty()).collect();
    let links = Links { sends, receives: Vec::new() };
    (local, Border { links, ..Border::none() })
}

/// What another rank has of the way there: so many elements, which rank 0 takes.
fn given<T: Real>(own: usize) -> (Csr<T>, Border) {
    let sends = Some((0, (0..own as u32).collect())).filter(|_| own > 0).into_iter().collect();
    let links = Links { sends, receives: Vec::new() };
    (rows_of_identity(&[], own), Border { links, ..Border::none() })
}

/// What another rank has of the way back.
fn taken<T: Real>(own: usize) -> (Csr<T>, Border) {
    let rows: Vec<u32> = (0..own as u32).collect();
    let receives = Some((0, own)).filter(|_| own > 0).into_iter().collect();
    let entries = rows_of_identity(&rows, own);
    let local = Csr::from_rows(own, 0, |_| 0, |_, _, _| ());
    (local, Border { rows, entries, links: Links { sends: Vec::new(), receives } })
}
