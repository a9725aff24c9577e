//! Rows of a matrix that ranks send each other: columns go by their numbers, with the ranks that have them.

use std::sync::Arc;

use cuda_std::Real;

use crate::backend::distributed::Distributed;
use crate::comm::{Numbering, Reader, Row, Runs, Writer, all_to_all};
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::parts::Parts;

/// Some rows of a matrix, as ranks send them.
pub(in crate::setup) struct SentRows<M> {
    /// The numbers of the rows, where others do not know them.
    pub numbers: Runs,
    /// The columns that they may have, ascending.
    columns: Vec<Row>,
    /// How many rows these are, and the rows in these columns; nothing where there are none.
    rows: Option<(usize, M)>,
}

impl<M> Default for SentRows<M> {
    /// No rows.
    fn default() -> Self {
        SentRows { numbers: Runs::default(), columns: Vec::new(), rows: None }
    }
}

impl<M: Clone + Send + 'static> SentRows<M> {
    /// So many rows, whose columns are these.
    pub fn of(n_rows: usize, rows: M, columns: Vec<Row>) -> Self {
        SentRows { numbers: Runs::default(), columns, rows: Some((n_rows, rows)).filter(|_| n_rows > 0) }
    }

    /// With the numbers of the rows.
    pub fn numbered(self, numbers: Runs) -> Self {
        SentRows { numbers, ..self }
    }

    /// So many times no rows.
    pub fn none(size: usize) -> Vec<Self> {
        (0..size).map(|_| SentRows::default()).collect()
    }

    fn n_rows(&self) -> usize {
        self.rows.as_ref().map_or(0, |&(n_rows, _)| n_rows)
    }

    /// As a message; none of no rows.
    fn written<T: Real, B: Parts<T, Csr = M>>(&self, backend: &B) -> Result<Vec<u8>> {
        let Some((_, rows)) = &self.rows else { return Ok(Vec::new()) };
        let columns: Vec<[u32; 3]> =
            self.columns.iter().map(|&(number, count, owner)| [number, count as u32, owner]).collect();
        let rows = Csr::in_type(&backend.csr_to_host(rows)?);
        Ok(Writer::new().put(&self.numbers.sent()).put(&columns).matrix(&rows).bytes())
    }

    fn read<T: Real, B: Parts<T, Csr = M>>(backend: &B, message: &[u8]) -> Result<Self> {
        if message.is_empty() {
            return Ok(SentRows::default());
        }
        let mut message = Reader::new(message);
        let numbers = Runs::received(message.take()?);
        let column = |[number, count, owner]: [u32; 3]| (number, count as usize, owner);
        let columns = message.take()?.into_iter().map(column).collect();
        let rows: Arc<Csr<f64>> = Arc::new(message.matrix()?);
        Ok(SentRows::of(rows.n_rows(), backend.csr(&Csr::in_type(&rows))?, columns).numbered(numbers))
    }

    /// It where other ranks of the same process reach it fast.
    fn shared<T: Real, B: Parts<T, Csr = M>>(self, backend: &B) -> Result<Self> {
        let rows = self.rows.map(|(n_rows, rows)| Ok((n_rows, backend.for_other_ranks(&rows)?)));
        Ok(SentRows { rows: rows.transpose()?, ..self })
    }

    /// It where `backend` computes, of another rank of the same process.
    fn taken_over<T: Real, B: Parts<T, Csr = M>>(self, backend: &B) -> Result<Self> {
        let rows = self.rows.map(|(n_rows, rows)| Ok((n_rows, backend.of_other_rank(&rows)?)));
        Ok(SentRows { rows: rows.transpose()?, ..self })
    }

    /// Sends rows to every rank, and receives from each what it sent. Ranks of one process hand them over as
    /// they are. All ranks call this.
    pub fn exchanged<T: Real, B: Parts<T, Csr = M>>(
        ranks: &Distributed<B>,
        rows: Vec<Self>,
    ) -> Result<Vec<Self>> {
        let (comm, backend) = (&**ranks.comm(), ranks.inner());
        if let Some(process) = comm.one_process() {
            let shared = |(to, rows): (usize, Self)| match ranks.is_connected() && to != comm.rank() {
                true => rows.shared(backend),
                false => Ok(rows),
            };
            let rows: Result<Vec<_>> = rows.into_iter().enumerate().map(shared).collect();
            let rows = ranks.agreed(rows.and_then(|rows| backend.synchronize().map(|()| rows)))?;
            let received = process.hand_over(comm.rank(), rows)?;
            let taken: Result<Vec<_>> = received.into_iter().map(|rows| rows.taken_over(backend)).collect();
            return ranks.agreed(taken);
        }
        let written: Result<Vec<_>> = rows.iter().map(|rows| rows.written(backend)).collect();
        let messages = all_to_all(comm, ranks.agreed(written)?)?;
        ranks.agreed(messages.iter().map(|message| SentRows::read(backend, message)).collect())
    }
}

/// Rows of other ranks.
pub(in crate::setup) struct Received<M> {
    pub parts: Vec<SentRows<M>>,
}

impl<M: Clone + Send + 'static> Received<M> {
    pub fn n_rows(&self) -> usize {
        self.parts.iter().map(SentRows::n_rows).sum()
    }

    /// Which of the rows come one after the other in the order of their numbers.
    pub fn in_order_of_numbers(&self) -> Runs {
        self.parts.iter().flat_map(|part| part.numbers.iter_runs()).collect::<Runs>().order()
    }

    /// Adds rows of one entry each, in these columns, which ascend.
    pub fn add_diagonal<T: Real, B: Parts<T, Csr = M>>(
        &mut self,
        backend: &B,
        columns: Vec<Row>,
        values: &[T],
    ) -> Result<()> {
        let n = values.len();
        let rows = Csr::from_entries(n, n, |i: usize| std::iter::once((i as u32, values[i])));
        self.parts.push(SentRows::of(n, backend.csr(&Arc::new(rows))?, columns));
        Ok(())
    }

    /// These unknowns of `rank`, and all columns; and where each of these is there.
    pub fn united(&self, rank: usize, these: &Numbering) -> (Numbering, Runs) {
        let of_part = |part: &SentRows<M>| part.columns.clone().into_iter();
        let first = these.united(rank, self.parts.first().into_iter().flat_map(of_part));
        self.parts.iter().skip(1).filter(|part| !part.columns.is_empty()).fold(
            first,
            |(all, places), part| {
                let (all, of_all) = all.united(rank, of_part(part));
                (all, places.then(&of_all))
            },
        )
    }

    /// The rows where `backend` computes, those of their entries whose columns are among these.
    pub fn matrix<T: Real, B: Parts<T, Csr = M>>(&self, backend: &B, columns: &Numbering) -> Result<M> {
        let mut all = backend.without_rows(columns.len())?;
        for SentRows { columns: its, rows, .. } in self.parts.iter().rev() {
            let Some((n_rows, rows)) = rows else { continue };
            let places = Numbering::of_rows(0, its.iter().copied(), columns.total()).places_in(columns);
            let source = Runs::from(0..n_rows + backend.size(&all).n_rows);
            all = backend.put_together(&source, rows, &places, &all)?;
        }
        Ok(all)
    }
}
