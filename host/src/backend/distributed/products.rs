//! Products of parts: the elements that others need are exchanged, and then every rank multiplies its rows.

use std::sync::Arc;

use cuda_std::Real;

use super::Distributed;
use super::border::{BorderRows, Borders};
use super::exchange::Exchange;
use super::peers::Peers;
use crate::backend::memory::check_lengths;
use crate::backend::{Operator, Products, Then};
use crate::comm::{Border, Links};
use crate::error::{Error, Result};
use crate::matrix::{AnyMatrix, Csr};

/// The rows of one rank, where it computes.
pub struct DistributedMatrix<T: Real, B: Borders<T>> {
    local: Arc<B::Matrix>,
    border: B::Border,
    /// Entries of the border.
    border_entries: usize,
    /// Bytes of the border's entries.
    border_bytes: u64,
    exchange: Exchange<T, B>,
}

impl<B> Distributed<B> {
    /// The rows of this rank: those in its own columns in a format, and their border. All ranks take theirs
    /// together.
    ///
    /// # Errors
    /// [`Error::Length`] where the border is not one of this matrix.
    pub fn rows<T: Real>(&self, local: &Arc<AnyMatrix<T>>, border: &Border) -> Result<DistributedMatrix<T, B>>
    where
        B: Borders<T>,
    {
        self.assembled(self.inner.matrix(local)?, border)
    }

    /// The same with the rows in their own columns where they are computed with. What is exchanged are
    /// elements of vectors as long as this rank has columns.
    pub(crate) fn assembled<T: Real>(
        &self,
        local: B::Matrix,
        border: &Border,
    ) -> Result<DistributedMatrix<T, B>>
    where
        B: Borders<T>,
    {
        self.assembled_among(local, border, self.peers.as_ref())
    }

    fn assembled_among<T: Real>(
        &self,
        local: B::Matrix,
        border: &Border,
        peers: Option<&Arc<Peers>>,
    ) -> Result<DistributedMatrix<T, B>>
    where
        B: Borders<T>,
    {
        let n = local.n_rows();
        let Border { rows, entries, links } = border;
        if rows.iter().any(|&i| i as usize >= n) {
            return Err(Error::Matrix(format!("a border has rows beyond {n}")));
        }
        let received = links.count_received();
        check_lengths("a border", entries.n_cols(), &[("the elements received", received)])?;
        check_lengths("a border", entries.n_rows(), &[("its rows", rows.len())])?;
        let entries: Csr<T> = entries.cast();
        let sizes = [entries.n_rows(), entries.nnz()];
        let border = self.inner.border(BorderRows { rows: rows.clone(), entries }, n)?;
        self.joined(local, (border, sizes), links, peers)
    }

    /// The rows of this rank in its own columns and their border, of so many rows and entries, where they
    /// compute; its columns are elements received. All ranks take theirs together.
    pub(crate) fn assembled_there<T: Real>(
        &self,
        local: B::Matrix,
        border: (B::Border, [usize; 2]),
        links: &Links,
    ) -> Result<DistributedMatrix<T, B>>
    where
        B: Borders<T>,
    {
        self.joined(local, border, links, self.peers.as_ref())
    }

    fn joined<T: Real>(
        &self,
        local: B::Matrix,
        (border, [rows, border_entries]): (B::Border, [usize; 2]),
        links: &Links,
        peers: Option<&Arc<Peers>>,
    ) -> Result<DistributedMatrix<T, B>>
    where
        B: Borders<T>,
    {
        let entry = size_of::<u32>() + size_of::<T>();
        let border_bytes = (border_entries * entry + 2 * size_of::<u32>() * rows) as u64;
        let exchange = Exchange::new(&self.inner, links, local.n_cols(), peers)?;
        Ok(DistributedMatrix { local: Arc::new(local), border, border_entries, border_bytes, exchange })
    }
}

impl<T: Real, B: Borders<T>> DistributedMatrix<T, B> {
    /// The block on the diagonal: rows of this rank in its own columns.
    pub fn local(&self) -> &Arc<B::Matrix> {
        &self.local
    }

    /// Entries in columns of other ranks.
    pub fn border_entries(&self) -> usize {
        self.border_entries
    }
}

impl<T: Real, B: Borders<T>> Operator for DistributedMatrix<T, B> {
    fn n_rows(&self) -> usize {
        self.local.n_rows()
    }
    fn n_cols(&self) -> usize {
        self.local.n_cols()
    }
    fn format(&self) -> String {
        self.local.format()
    }
    fn sigma(&self) -> usize {
        self.local.sigma()
    }
    fn reason(&self) -> Option<&str> {
        self.local.reason()
    }
    fn stored(&self) -> u64 {
        self.local.stored()
    }
    fn bytes(&self) -> u64 {
        self.local.bytes() + self.border_bytes
    }
    fn traffic(&self) -> u64 {
        self.local.traffic() + self.border_bytes
    }
}

impl<T: Real, B: Borders<T>> Products<T> for Distributed<B> {
    type Matrix = DistributedMatrix<T, B>;

    /// A matrix without columns of others: that of a block on the diagonal.
    fn matrix(&self, matrix: &Arc<AnyMatrix<T>>) -> Result<Self::Matrix> {
        let alone = Border::none();
        self.assembled_among(self.inner.matrix(matrix)?, &alone, None)
    }

    fn multiply(&self, a: &Self::Matrix, x: &B::Vector, then: Then<T, Self>) -> Result<()> {
        then.check((a.n_rows(), a.n_cols()), x)?;
        a.exchange
            .around(self, x, |outgoing, received| self.multiply_exchanged(a, outgoing, received, x, then))
    }
}

impl<B> Distributed<B> {
    /// [`Products::multiply`] behind the exchange.
    fn multiply_exchanged<T: Real>(
        &self,
        a: &DistributedMatrix<T, B>,
        outgoing: &B::Outgoing,
        received: Option<&[T]>,
        x: &B::Vector,
        then: Then<T, Self>,
    ) -> Result<()>
    where
        B: Borders<T>,
    {
        let border = (&a.border, outgoing);
        let multiply = |then| self.inner.multiply_with_border(&a.local, border, received, x, then);
        match then {
            Then::Store { y } => multiply(Then::Store { y }),
            Then::Add { y } => multiply(Then::Add { y }),
            Then::Scaled { omega, d, y, z } => multiply(Then::Scaled { omega, d, y, z }),
            Then::Residual { b, r } => multiply(Then::Residual { b, r }),
            Then::Sweep { omega, d, b, y } => multiply(Then::Sweep { omega, d, b, y }),
            Then::SweepAdd { omega, d, b, y } => multiply(Then::SweepAdd { omega, d, b, y }),
            Then::SweepNorm { omega, d, b, y, s, out, monitor } => {
                let silent = &self.inner.silent(monitor);
                multiply(Then::SweepNorm { omega, d, b, y, s, out, monitor: silent })?;
                self.sum_over_ranks(s, out, 1)?;
                self.inner.observe(s, out, monitor)
            }
            Then::Dot { w, y, s, out } => {
                multiply(Then::Dot { w, y, s, out })?;
                self.sum_over_ranks(s, out, 2)
            }
        }
    }
}
