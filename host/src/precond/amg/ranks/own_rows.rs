//! The rows of a rank, as the set-up on all ranks begins with them.

use std::sync::Arc;

use cuda_std::Real;

use crate::backend::distributed::{Borders, DistributedMatrix};
use crate::comm::{Comm, Links, Numbering, Piece};
use crate::error::Result;
use crate::matrix::Csr;

/// The rows of a rank, ready to be multiplied too.
pub(crate) struct OwnRows<'a, T: Real, B: Borders<T>> {
    /// In its own columns.
    pub a: &'a Arc<Csr<T>>,
    /// With those of others.
    pub piece: &'a Piece,
    pub product: &'a Arc<DistributedMatrix<T, B>>,
    /// Unknowns of a node.
    pub block: usize,
}

impl<T: Real, B: Borders<T>> OwnRows<'_, T, B> {
    /// The rows, which have these of `total` numbers, with columns in the order of the whole matrix: all
    /// unknowns of the nodes that they need. All ranks call this.
    pub fn numbered(&self, comm: &dyn Comm, numbers: Vec<u32>, total: usize) -> Result<(Csr<T>, Numbering)> {
        let Piece { border_rows, border, links, .. } = self.piece;
        let others = numbers_of_others(comm, links, &numbers)?;
        let block = self.block as u32;
        let node = |&(number, owner): &(u32, u32)| {
            let first = number - number % block;
            (first..first + block).map(move |number| (number, owner))
        };
        let mut needed: Vec<(u32, u32)> = others.iter().flat_map(node).collect();
        needed.sort_unstable();
        needed.dedup();
        let owners = vec![comm.rank() as u32; numbers.len()];
        let own = Numbering::new(comm.rank(), numbers, owners, total);
        let (columns, places) = own.united(comm.rank(), &needed);
        let place = |&(number, _): &(u32, u32)| columns.place(number).unwrap_or(0) as u32;
        let others: Vec<u32> = others.iter().map(place).collect();
        let beside = |i: usize| border_rows.binary_search(&(i as u32)).ok().map(|k| border.row(k));
        let length = |i: usize| self.a.row_len(i) + beside(i).map_or(0, |(columns, _)| columns.len());
        let a = Csr::from_rows(self.a.n_rows(), columns.len(), length, |i, columns, values| {
            let (local, entries) = self.a.row(i);
            let n = local.len();
            columns.iter_mut().zip(local).for_each(|(column, &j)| *column = places[j as usize]);
            values[..n].copy_from_slice(entries);
            let Some((beside, entries)) = beside(i) else { return };
            columns[n..].iter_mut().zip(beside).for_each(|(column, &j)| *column = others[j as usize]);
            values[n..].iter_mut().zip(entries).for_each(|(value, &v)| *value = T::from_f64(v));
            let mut row: Vec<(u32, T)> = columns.iter().copied().zip(values.iter().copied()).collect();
            row.sort_unstable_by_key(|entry| entry.0);
            for ((column, value), (j, v)) in columns.iter_mut().zip(values).zip(row) {
                (*column, *value) = (j, v);
            }
        });
        Ok((a, columns))
    }
}

/// The numbers of what this rank receives, with the ranks that have it.
fn numbers_of_others(comm: &dyn Comm, links: &Links, numbers: &[u32]) -> Result<Vec<(u32, u32)>> {
    let Links { sends, receives } = links;
    let of = |places: &Vec<u32>| places.iter().map(|&place| numbers[place as usize]).collect::<Vec<u32>>();
    let sent: Vec<(usize, Vec<u32>)> = sends.iter().map(|(to, places)| (*to, of(places))).collect();
    let mut received: Vec<(usize, Vec<u32>)> =
        receives.iter().map(|&(from, count)| (from, vec![0; count])).collect();
    let messages: Vec<(usize, &[u8])> =
        sent.iter().map(|(to, numbers)| (*to, bytemuck::cast_slice(numbers))).collect();
    let mut places: Vec<(usize, &mut [u8])> =
        received.iter_mut().map(|(from, numbers)| (*from, bytemuck::cast_slice_mut(numbers))).collect();
    comm.exchange(&messages, &mut places)?;
    let of_rank = |(from, numbers): (usize, Vec<u32>)| numbers.into_iter().map(move |n| (n, from as u32));
    Ok(received.into_iter().flat_map(of_rank).collect())
}
