//! Products of parts: the elements that others need are exchanged, and then every rank multiplies its rows.

use std::sync::{Arc, Mutex, PoisonError};

use cuda_std::Real;

use super::Distributed;
use super::border::{BorderRows, Borders};
use super::peers::Peers;
use crate::backend::gpu::{bytes_of, bytes_of_mut};
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
    links: Links,
    /// Bytes of the border's entries.
    border_bytes: u64,
    /// What is sent, and what was received.
    elements: Mutex<(Vec<T>, Vec<T>)>,
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
        let (n, n_cols) = (local.n_rows(), local.n_cols());
        let Border { rows, entries, links } = border;
        let sent: Vec<u32> = links.sends.iter().flat_map(|(_, places)| places).copied().collect();
        let received: usize = links.receives.iter().map(|&(_, count)| count).sum();
        let out_of_range = |places: &[u32], n: usize| places.iter().any(|&i| i as usize >= n);
        if out_of_range(&sent, n_cols) || out_of_range(rows, n) {
            let why = format!("a border has rows beyond {n} or columns beyond {n_cols}");
            return Err(Error::Matrix(why));
        }
        check_lengths("a border", entries.n_cols(), &[("the elements received", received)])?;
        check_lengths("a border", entries.n_rows(), &[("its rows", rows.len())])?;
        let entries: Csr<T> = entries.cast();
        let border_bytes =
            (entries.nnz() * (size_of::<u32>() + size_of::<T>()) + 12 * entries.n_rows()) as u64;
        let border_entries = entries.nnz();
        let rows = BorderRows { rows: rows.clone(), entries, sent };
        Ok(DistributedMatrix {
            local: Arc::new(local),
            border_entries,
            border: self.inner.border(rows, n, links, peers)?,
            links: links.clone(),
            border_bytes,
            elements: Mutex::new((Vec::new(), vec![T::ZERO; received])),
        })
    }

    /// Sends the elements of x that others need, and receives those that are needed here.
    fn exchange<T: Real>(
        &self,
        a: &DistributedMatrix<T, B>,
        x: &B::Vector,
        elements: &mut (Vec<T>, Vec<T>),
    ) -> Result<()>
    where
        B: Borders<T>,
    {
        let (sent, received) = elements;
        let Links { sends, receives } = &a.links;
        self.inner.sent(&a.border, x, sent)?;
        let mut first = 0;
        let messages = sends.iter().map(|(to, places)| {
            let part = &sent[first..first + places.len()];
            first += places.len();
            (*to, bytes_of(part))
        });
        let messages: Vec<_> = messages.collect();
        let mut rest = &mut received[..];
        let mut places = Vec::with_capacity(receives.len());
        for &(from, count) in receives {
            let place;
            (place, rest) = std::mem::take(&mut rest).split_at_mut(count);
            places.push((from, bytes_of_mut(place)));
        }
        self.comm.exchange(&messages, &mut places)?;
        self.count_exchange(size_of_val(&sent[..]));
        Ok(())
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
        let mut elements = a.elements.lock().unwrap_or_else(PoisonError::into_inner);
        let is_put = self.inner.put(&a.border, x)?;
        if !is_put && a.links != Links::default() {
            if self.inner.has_stopped()? {
                return Ok(());
            }
            self.exchange(a, x, &mut elements)?;
        }
        let received = (!is_put).then_some(&elements.1[..]);
        let multiply = |then| self.inner.multiply_with_border(&a.local, &a.border, received, x, then);
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
