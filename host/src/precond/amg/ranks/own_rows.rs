//! The rows of a rank, as the set-up on all ranks begins with them.

use std::sync::Arc;

use cuda_std::Real;

use crate::backend::distributed::{Borders, Distributed, DistributedMatrix};
use crate::comm::{Border, Comm, Links, Numbering, Piece, Runs, in_runs};
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::{Blocks, DistributedCsr, Parts};

/// The rows of a rank, ready to be multiplied too.
pub(crate) struct OwnRows<'a, T: Real, B: Parts<T> + Borders<T>> {
    /// In its own columns.
    pub a: &'a Blocks<B::Csr>,
    /// With those of others, on the host.
    pub piece: &'a Piece,
    pub product: &'a Arc<DistributedMatrix<T, B>>,
    /// With the columns of the whole matrix, where this rank computes, if they are there.
    pub there: Option<B::Csr>,
}

impl<T: Real, B: Parts<T> + Borders<T>> OwnRows<'_, T, B> {
    /// The rows, which have these of `total` numbers, with columns in the order of the whole matrix: all
    /// unknowns of the nodes that they need. All ranks call this.
    pub fn numbered(
        self,
        backend: &Distributed<B>,
        numbers: &Runs,
        total: usize,
    ) -> Result<Blocks<DistributedCsr<B::Csr>>> {
        let Piece { local, border: Border { rows, entries, links } } = self.piece;
        let (comm, block) = (&**backend.comm(), self.a.block());
        let others = numbers_of_others(comm, links, numbers)?;
        let node = |&(number, owner): &(u32, u32)| {
            let first = number - number % block as u32;
            (first..first + block as u32).map(move |number| (number, owner))
        };
        let mut needed: Vec<(u32, u32)> = others.iter().flat_map(node).collect();
        needed.sort_unstable();
        needed.dedup();
        let own = Numbering::of_own_and(comm.rank(), numbers, Vec::new(), total);
        let (columns, places) = own.united(comm.rank(), in_runs(&needed));
        // Where one rank has them there, all have.
        if let (Some(there), 1) = (self.there, block) {
            return backend.of_rows_there(there, &columns).map(Blocks::scalar);
        }
        let place = |&(number, _): &(u32, u32)| columns.place(number).unwrap_or(0) as u32;
        let others: Vec<u32> = others.iter().map(place).collect();
        let mut nodes: Vec<u32> = rows.iter().map(|row| row / block as u32).collect();
        nodes.dedup();
        // Both parts of a row of these nodes.
        let row = |k: usize| {
            let i = block * nodes[k / block] as usize + k % block;
            let beside = rows.binary_search(&(i as u32)).ok().map(|k| entries.row(k));
            let outside = beside.into_iter().flat_map(|(columns, values)| columns.iter().zip(values));
            (local.row(i), outside)
        };
        let length = |k: usize| {
            let (inside, outside) = row(k);
            inside.count() + outside.count()
        };
        let fill = |k: usize, columns: &mut [u32], values: &mut [T]| {
            let (inside, outside) = row(k);
            let mut inside = inside.map(|(j, v)| (places.get(j as usize), v)).peekable();
            let mut outside = outside.map(|(&j, &v)| (others[j as usize], v)).peekable();
            for k in 0.. {
                let is_beside = match (inside.peek(), outside.peek()) {
                    (Some(own), Some(beside)) => beside.0 < own.0,
                    (own, _) => own.is_none(),
                };
                let Some(entry) = (if is_beside { outside.next() } else { inside.next() }) else { break };
                put_among(k, entry, columns, values);
            }
        };
        let whole = Csr::from_rows(block * nodes.len(), columns.len(), length, fill);
        backend.of_own_rows(self.a, (&nodes, Arc::new(whole)), &columns)
    }
}

/// Puts an entry among `k` whose columns ascend. Those of several ranks need not come in their order.
fn put_among<T: Real>(k: usize, (j, v): (u32, f64), columns: &mut [u32], values: &mut [T]) {
    let mut place = k;
    if k > 0 && columns[k - 1] > j {
        place = columns[..k].partition_point(|&column| column < j);
        columns.copy_within(place..k, place + 1);
        values.copy_within(place..k, place + 1);
    }
    (columns[place], values[place]) = (j, T::from_f64(v));
}

/// The numbers of what this rank receives, with the ranks that have it.
fn numbers_of_others(comm: &dyn Comm, links: &Links, numbers: &Runs) -> Result<Vec<(u32, u32)>> {
    let owners = links.receives.iter().flat_map(|&(from, count)| std::iter::repeat_n(from as u32, count));
    let received = links.received(comm, |place| numbers.get(place as usize))?;
    Ok(received.into_iter().zip(owners).collect())
}
