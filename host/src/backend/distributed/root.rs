//! Vectors that ranks have in parts, as rank 0 has all of them.

use std::sync::Arc;

use cuda_std::Real;

use super::border::Borders;
use super::{Distributed, DistributedMatrix};
use crate::backend::{Products, Then};
use crate::comm::{Border, Links, NOWHERE, Partition, Reader, Runs, Writer};
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
fn rows_of_identity<T: Real>(columns: &Runs, n_cols: usize) -> Csr<T> {
    let (n, columns) = (columns.len(), columns.expanded());
    Csr::from_valid_parts(n, n_cols, (0..=n).collect(), columns, vec![T::ONE; n])
}

/// What rank 0 has of the way there, where ranks have these elements.
fn gathering<T: Real>(of_ranks: &[Runs], total: usize) -> (Csr<T>, Border) {
    let own = &of_ranks[0];
    let mut before = Vec::with_capacity(total + 1);
    let mut entries = 0;
    for (place, count) in own.inverse(total).iter_runs() {
        let added = usize::from(place != NOWHERE);
        before.extend((0..count).map(|k| entries + added * k));
        entries += added * count;
    }
    before.push(entries);
    let columns = Runs::from(0..own.len()).expanded();
    let local = Csr::from_valid_parts(total, own.len(), before, columns, vec![T::ONE; own.len()]);
    // Elements come from one rank after the other, and rows ascend.
    let mut received: Vec<(u32, u32, usize)> = Vec::new();
    let mut first = 0;
    for (number, count) in of_ranks[1..].iter().flat_map(Runs::iter_runs) {
        received.push((number, first, count));
        first += count as u32;
    }
    received.sort_unstable();
    let rows = received.iter().map(|&(number, _, count)| (number, count)).collect::<Runs>().expanded();
    let ghosts: Runs = received.iter().map(|&(_, first, count)| (first, count)).collect();
    let receives = of_ranks.iter().map(Runs::len).enumerate().skip(1).filter(|&(_, count)| count > 0);
    let links = Links { sends: Vec::new(), receives: receives.collect() };
    (local, Border { rows, entries: rows_of_identity(&ghosts, ghosts.len()), links })
}

/// What rank 0 has of the way back.
fn scattering<T: Real>(of_ranks: &[Runs], total: usize) -> (Csr<T>, Border) {
    let sends = of_ranks.iter().map(Runs::expanded).enumerate().skip(1);
    let sends = sends.filter(|(_, places)| !places.is_empty()).collect();
    let links = Links { sends, receives: Vec::new() };
    (rows_of_identity(&of_ranks[0], total), Border { links, ..Border::none() })
}

/// What another rank has of the way there: so many elements, which rank 0 takes.
fn given<T: Real>(own: usize) -> (Csr<T>, Border) {
    let sends = Some((0, (0..own as u32).collect())).filter(|_| own > 0).into_iter().collect();
    let links = Links { sends, receives: Vec::new() };
    (rows_of_identity(&Runs::default(), own), Border { links, ..Border::none() })
}

/// What another rank has of the way back.
fn taken<T: Real>(own: usize) -> (Csr<T>, Border) {
    let all = Runs::from(0..own);
    let receives = Some((0, own)).filter(|_| own > 0).into_iter().collect();
    let links = Links { sends: Vec::new(), receives };
    let local = Csr::from_valid_parts(own, 0, vec![0; own + 1], Vec::new(), Vec::new());
    (local, Border { rows: all.expanded(), entries: rows_of_identity(&all, own), links })
}
