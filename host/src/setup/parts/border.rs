//! Entries of a rank's rows in columns of others, where it computes.

use std::sync::Arc;

use cuda_std::Real;

use super::Parts;
use crate::backend::distributed::Distributed;
use crate::comm::{Border, Links, Runs};
use crate::error::Result;
use crate::matrix::{BlockCsr, Csr};
use crate::setup::BorderFormat;
use crate::setup::matrix::distributed::DistributedCsr;
use crate::setup::matrix::{Blocks, Matrices, Size};

/// What a rank's rows have in columns of others.
pub(crate) struct PartBorder<M, I> {
    /// The rows with such entries, ascending.
    pub rows: I,
    /// The entries of these rows; column k is the k-th element received.
    pub entries: M,
    /// What is exchanged.
    pub links: Links,
}

impl<M, I> PartBorder<M, I> {
    /// It as it is multiplied, of a matrix of `n` rows; beside it rows and entries.
    pub fn operator<T: Real, S: Real, B>(&self, backend: &B, n: usize) -> Result<(B::Border, [usize; 2])>
    where
        B: BorderFormat<T, S> + Matrices<T, Csr = M, Indices = I>,
    {
        let Size { n_rows, nnz, .. } = Matrices::<T>::size(backend, &self.entries);
        let border = BorderFormat::<T, S>::border_operator(backend, &self.rows, &self.entries, n)?;
        Ok((border, [n_rows, nnz]))
    }
}

/// The border of a matrix of T on B.
pub(crate) type BorderOn<T, B> = PartBorder<<B as Matrices<T>>::Csr, <B as Matrices<T>>::Indices>;

/// Rows of a rank in its own columns, and their border.
pub(crate) type SplitRows<T, B> = (Blocks<<B as Matrices<T>>::Csr>, BorderOn<T, B>);

/// A border of the host, where `backend` computes.
pub(crate) fn border_on<T: Real, B: Parts<T>>(backend: &B, border: &Border) -> Result<BorderOn<T, B>> {
    let Border { rows, entries, links } = border;
    let (rows, entries) = (backend.indices(rows)?, backend.csr(&Arc::new(entries.cast()))?);
    Ok(PartBorder { rows, entries, links: links.clone() })
}

impl<B> Distributed<B> {
    /// The rows of this rank: those in its own columns, and the rest of them. All ranks call this.
    pub(crate) fn split<T: Real>(&self, a: &Blocks<DistributedCsr<B::Csr>>) -> Result<SplitRows<T, B>>
    where
        B: Parts<T>,
    {
        let (rows, columns) = (&a.first().rows, &a.first().columns);
        let places = columns.own().inverse(columns.len());
        let local = a.map(|plane| self.agreed(self.taken_out(rows.own(), &plane.local, &places)))?;
        let border = match a.block() {
            1 => self.border(a.first())?,
            _ => self.border_of_blocks(a)?,
        };
        Ok((local, border))
    }

    fn border<T: Real>(&self, a: &DistributedCsr<B::Csr>) -> Result<BorderOn<T, B>>
    where
        B: Parts<T>,
    {
        let (inner, columns) = (self.inner(), &a.columns);
        let found = inner.rows_outside(&a.local, a.rows.own(), columns.own()).and_then(|(rows, outside)| {
            let used: Runs = inner.columns_with_entries(&outside)?.into_iter().collect();
            Ok((rows, outside, used))
        });
        let (rows, outside, used) = self.agreed(found)?;
        let (links, received) = Links::of_used(&**self.comm(), &used, columns)?;
        let places = used.inverse(columns.others().len()).then(&received);
        let entries = self.agreed(inner.in_places(&outside, &places, used.len()))?;
        Ok(PartBorder { rows, entries, links })
    }

    /// The same of nodes, whose unknowns are written out on the host.
    fn border_of_blocks<T: Real>(&self, a: &Blocks<DistributedCsr<B::Csr>>) -> Result<BorderOn<T, B>>
    where
        B: Parts<T>,
    {
        let (block, inner, rank) = (a.block(), self.inner(), self.comm().rank());
        let (rows, columns) = (&a.first().rows, &a.first().columns);
        let outside = |plane: &DistributedCsr<B::Csr>| -> Result<_> {
            let (nodes, outside) = inner.rows_outside(&plane.local, rows.own(), columns.own())?;
            Ok((inner.indices_to_host(&nodes)?, inner.csr_to_host(&outside)?))
        };
        let found = a.planes().iter().map(outside).collect::<Result<Vec<_>>>();
        // The planes have one pattern.
        let (mut nodes, outside): (Vec<Vec<u32>>, Vec<Arc<Csr<T>>>) = self.agreed(found)?.into_iter().unzip();
        let of_node = |node: u32| block as u32 * node..block as u32 * (node + 1);
        let rows = nodes.swap_remove(0).into_iter().flat_map(of_node).collect();
        let entries: Csr<T> = BlockCsr::from_planes(&outside).to_csr();
        let border = Border::of_rows(&**self.comm(), &entries, rows, &columns.written_out(rank, block))?;
        self.agreed(border_on(inner, &border))
    }
}
