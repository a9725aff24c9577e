//! Rows of a matrix that ranks send each other: columns go by their numbers, with the ranks that have them.

use std::sync::Arc;

use cuda_std::Real;

use crate::backend::cpu::Cpu;
use crate::comm::{Comm, Numbering, Reader, Row, Runs, Writer, all_to_all};
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::parts::Parts;

/// Some rows of a matrix, as ranks send them.
pub(in crate::setup) struct SentRows {
    /// The numbers of the rows, where others do not know them.
    pub numbers: Runs,
    /// The columns that they may have, ascending.
    columns: Vec<Row>,
    /// The rows in these columns.
    rows: Arc<Csr<f64>>,
}

impl Default for SentRows {
    /// No rows.
    fn default() -> Self {
        SentRows { numbers: Runs::default(), columns: Vec::new(), rows: Arc::new(Csr::identity(0)) }
    }
}

impl SentRows {
    /// The rows of `a`, whose columns are these.
    pub fn of<T: Real>(a: &Arc<Csr<T>>, columns: Vec<Row>) -> Self {
        SentRows { numbers: Runs::default(), columns, rows: Csr::in_type(a) }
    }

    /// With the numbers of the rows.
    pub fn numbered(self, numbers: Runs) -> Self {
        SentRows { numbers, ..self }
    }

    /// So many times no rows.
    pub fn none(size: usize) -> Vec<SentRows> {
        (0..size).map(|_| SentRows::default()).collect()
    }

    /// As a message; none of no rows.
    fn written(&self) -> Vec<u8> {
        if self.rows.n_rows() == 0 {
            return Vec::new();
        }
        let columns: Vec<[u32; 3]> =
            self.columns.iter().map(|&(number, count, owner)| [number, count as u32, owner]).collect();
        Writer::new().put(&self.numbers.sent()).put(&columns).matrix(&self.rows).bytes()
    }

    fn read(message: &[u8]) -> Result<Self> {
        if message.is_empty() {
            return Ok(SentRows::default());
        }
        let mut message = Reader::new(message);
        let numbers = Runs::received(message.take()?);
        let column = |[number, count, owner]: [u32; 3]| (number, count as usize, owner);
        let columns = message.take()?.into_iter().map(column).collect();
        Ok(SentRows { numbers, columns, rows: Arc::new(message.matrix()?) })
    }

    /// Sends rows to every rank, and receives from each what it sent. Ranks of one process hand them over as
    /// they are. All ranks call this.
    pub fn exchanged(comm: &dyn Comm, rows: Vec<SentRows>) -> Result<Vec<SentRows>> {
        if let Some(process) = comm.one_process() {
            return process.hand_over(comm.rank(), rows);
        }
        let messages = all_to_all(comm, rows.iter().map(SentRows::written).collect())?;
        messages.iter().map(|message| SentRows::read(message)).collect()
    }
}

/// All of `n_rows` rows on rank 0, and none elsewhere, of those that each rank has, which have these numbers;
/// and what their columns are there. All ranks call this.
pub(crate) fn rows_at_root<T: Real>(
    comm: &dyn Comm,
    (rows, numbers): (&Arc<Csr<T>>, &Runs),
    columns: &Numbering,
    n_rows: usize,
) -> Result<(Csr<T>, Numbering)> {
    let mut sent = SentRows::none(comm.size());
    sent[0] = SentRows::of(rows, columns.rows().collect()).numbered(Runs::clone(numbers));
    let all = Received { parts: SentRows::exchanged(comm, sent)? };
    let mut source = if comm.rank() == 0 { vec![0; n_rows] } else { Vec::new() };
    let numbers = all.parts.iter().flat_map(|part| part.numbers.iter());
    numbers.zip(0..).for_each(|(row, k)| source[row as usize] = k);
    let (columns, _) = all.united(comm.rank(), &columns.of_own(comm.rank()));
    Ok((all.matrix(&Cpu::shared(), &columns)?.chosen_rows(&source), columns))
}

/// Rows of other ranks.
pub(in crate::setup) struct Received {
    pub parts: Vec<SentRows>,
}

impl Received {
    pub fn n_rows(&self) -> usize {
        self.parts.iter().map(|part| part.rows.n_rows()).sum()
    }

    /// Adds rows of one entry each, in these columns, which ascend.
    pub fn add_diagonal(&mut self, columns: Vec<Row>, values: Vec<f64>) {
        let n = values.len();
        let entry = |i: usize| std::iter::once((i as u32, values[i]));
        let rows = Arc::new(Csr::from_entries(n, n, entry));
        self.parts.push(SentRows { numbers: Runs::default(), columns, rows });
    }

    /// These unknowns of `rank`, and all columns; and where each of these is there.
    pub fn united(&self, rank: usize, these: &Numbering) -> (Numbering, Runs) {
        let of_part = |part: &SentRows| part.columns.clone().into_iter();
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
    pub fn matrix<T: Real, B: Parts<T>>(&self, backend: &B, columns: &Numbering) -> Result<B::Csr> {
        let mut all = backend.without_rows(columns.len())?;
        for SentRows { columns: its, rows, .. } in self.parts.iter().rev() {
            if rows.n_rows() == 0 {
                continue;
            }
            let places = Numbering::of_rows(0, its.iter().copied(), columns.total()).places_in(columns);
            let source = Runs::from(0..rows.n_rows() + backend.size(&all).n_rows);
            all = backend.put_together(&source, &backend.csr(&Csr::in_type(rows))?, &places, &all)?;
        }
        Ok(all)
    }
}
