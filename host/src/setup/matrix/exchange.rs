//! Rows of a matrix that ranks send each other: columns go by their numbers, with the ranks that have them.

use std::sync::Arc;

use cuda_std::Real;

use crate::backend::cpu::Cpu;
use crate::comm::{Comm, Numbering, Reader, Runs, Writer, all_to_all, singly};
use crate::error::Result;
use crate::matrix::Csr;
use crate::setup::parts::Parts;

/// Some rows of a matrix, as ranks send them.
pub(in crate::setup) struct SentRows {
    /// The numbers of the rows, where others do not know them.
    pub numbers: Vec<u32>,
    /// The columns that they may have, ascending, each with its number and the rank that has it.
    columns: Vec<[u32; 2]>,
    /// The rows in these columns.
    rows: Arc<Csr<f64>>,
}

impl Default for SentRows {
    /// No rows.
    fn default() -> Self {
        SentRows { numbers: Vec::new(), columns: Vec::new(), rows: Arc::new(Csr::identity(0)) }
    }
}

impl SentRows {
    /// The rows of `a`, whose columns have these numbers and are these ranks'.
    pub fn of<T: Real>(a: &Arc<Csr<T>>, columns: Vec<[u32; 2]>) -> Self {
        SentRows { numbers: Vec::new(), columns, rows: Csr::in_type(a) }
    }

    /// With the numbers of the rows.
    pub fn numbered(self, numbers: Vec<u32>) -> Self {
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
        Writer::new().put(&self.numbers).put(&self.columns).matrix(&self.rows).bytes()
    }

    fn read(message: &[u8]) -> Result<Self> {
        if message.is_empty() {
            return Ok(SentRows::default());
        }
        let mut message = Reader::new(message);
        let (numbers, columns) = (message.take()?, message.take()?);
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
    let all_columns = (0..columns.len() as u32).map(columns.walk()).collect();
    sent[0] = SentRows::of(rows, all_columns).numbered(numbers.expanded());
    let all = Received { parts: SentRows::exchanged(comm, sent)? };
    let mut source = if comm.rank() == 0 { vec![0; n_rows] } else { Vec::new() };
    let numbers = all.parts.iter().flat_map(|part| &part.numbers);
    numbers.zip(0..).for_each(|(&row, k)| source[row as usize] = k);
    let (columns, _) = columns.of_own(comm.rank()).united(comm.rank(), singly(&all.columns()));
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
    pub fn add_diagonal(&mut self, columns: Vec<[u32; 2]>, values: Vec<f64>) {
        let n = values.len();
        let entry = |i: usize| std::iter::once((i as u32, values[i]));
        let rows = Arc::new(Csr::from_entries(n, n, entry));
        self.parts.push(SentRows { numbers: Vec::new(), columns, rows });
    }

    /// All columns, ascending, each with the rank that has it.
    pub fn columns(&self) -> Vec<(u32, u32)> {
        let columns = self.parts.iter().flat_map(|part| &part.columns);
        let mut columns: Vec<(u32, u32)> = columns.map(|&[number, owner]| (number, owner)).collect();
        // What is sorted in parts is merged.
        columns.sort();
        columns.dedup();
        columns
    }

    /// The rows where `backend` computes, those of their entries whose columns are among these.
    pub fn matrix<T: Real, B: Parts<T>>(&self, backend: &B, columns: &Numbering) -> Result<B::Csr> {
        let mut all = backend.without_rows(columns.len())?;
        for SentRows { columns: its, rows, .. } in self.parts.iter().rev() {
            if rows.n_rows() == 0 {
                continue;
            }
            let its = its.iter().map(|&[number, owner]| (number, 1, owner));
            let places = Numbering::of_rows(0, its, columns.total()).places_in(columns);
            let source = Runs::from(0..rows.n_rows() + backend.size(&all).n_rows);
            all = backend.put_together(&source, &backend.csr(&Csr::in_type(rows))?, &places, &all)?;
        }
        Ok(all)
    }
}
