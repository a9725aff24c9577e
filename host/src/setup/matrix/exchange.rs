//! Rows of a matrix that ranks send each other: columns go by their numbers, with the ranks that have them.

use std::sync::Arc;

use cuda_std::Real;

use crate::comm::{Comm, LookedAt, NOWHERE, Numbering, Reader, Runs, Writer, all_to_all, singly};
use crate::error::Result;
use crate::matrix::Csr;
use crate::parallel::*;

/// Some rows of a matrix, as ranks send them.
#[derive(Default)]
pub(in crate::setup) struct SentRows {
    /// The numbers of the rows, where others do not know them.
    pub numbers: Vec<u32>,
    lengths: Vec<u32>,
    /// The columns that they have, ascending, each with its number and the rank that has it.
    columns: Vec<[u32; 2]>,
    /// For each entry which of those it is in.
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl SentRows {
    /// These rows of `a`, whose columns are `columns`.
    pub fn of<T: Real>(a: &Csr<T>, rows: &[u32], columns: &Numbering) -> Self {
        let sent = a.chosen_rows(rows);
        let (mut there, mut walk) = (Vec::new(), columns.walk());
        let looked_at = LookedAt::by(&sent, |j| {
            there.push(walk(j));
            there.len() as u32 - 1
        });
        let lengths = (0..rows.len()).map(|i| sent.row_len(i) as u32).collect();
        let index = |&j: &u32| looked_at.number(j);
        let indices = sent.col_idx().par_iter().with_min_len(MANY).map(index).collect();
        let values = sent.values().par_iter().with_min_len(MANY).map(|v| v.to_f64()).collect();
        SentRows { numbers: Vec::new(), lengths, columns: there, indices, values }
    }

    /// With the numbers of the rows.
    pub fn numbered(self, numbers: Vec<u32>) -> Self {
        SentRows { numbers, ..self }
    }

    /// As a message; none of no rows.
    fn written(&self) -> Vec<u8> {
        if self.lengths.is_empty() {
            return Vec::new();
        }
        let message = Writer::new().put(&self.numbers).put(&self.lengths).put(&self.columns);
        message.put(&self.indices).put(&self.values).bytes()
    }

    fn read(message: &[u8]) -> Result<Self> {
        if message.is_empty() {
            return Ok(SentRows::default());
        }
        let mut message = Reader::new(message);
        let (numbers, lengths, columns) = (message.take()?, message.take()?, message.take()?);
        Ok(SentRows { numbers, lengths, columns, indices: message.take()?, values: message.take()? })
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
    (rows, numbers): (&Csr<T>, &Runs),
    columns: &Numbering,
    n_rows: usize,
) -> Result<(Csr<T>, Numbering)> {
    let own: Vec<u32> = (0..rows.n_rows() as u32).collect();
    let mut sent: Vec<SentRows> = (0..comm.size()).map(|_| SentRows::default()).collect();
    sent[0] = SentRows::of(rows, &own, columns).numbered(numbers.expanded());
    let all = Received { parts: SentRows::exchanged(comm, sent)? };
    let mut source = if comm.rank() == 0 { vec![0; n_rows] } else { Vec::new() };
    let numbers = all.parts.iter().flat_map(|part| &part.numbers);
    numbers.zip(0..).for_each(|(&row, k)| source[row as usize] = k);
    let (columns, _) = columns.of_own(comm.rank()).united(comm.rank(), singly(&all.columns()));
    Ok((all.matrix(&columns).chosen_rows(&source), columns))
}

/// Rows of other ranks.
pub(in crate::setup) struct Received {
    pub parts: Vec<SentRows>,
}

impl Received {
    pub fn n_rows(&self) -> usize {
        self.parts.iter().map(|part| part.lengths.len()).sum()
    }

    /// Adds rows of one entry each, in these columns, which ascend.
    pub fn add_diagonal(&mut self, columns: Vec<[u32; 2]>, values: Vec<f64>) {
        let (lengths, indices) = (vec![1; values.len()], (0..values.len() as u32).collect());
        self.parts.push(SentRows { numbers: Vec::new(), lengths, columns, indices, values });
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

    /// The rows, those of their entries whose columns are among these.
    pub fn matrix<T: Real>(&self, columns: &Numbering) -> Arc<Csr<T>> {
        let place = |&[number, _]: &[u32; 2]| columns.place(number).map_or(NOWHERE, |place| place as u32);
        let places = |part: &SentRows| part.columns.par_iter().with_min_len(MANY).map(place).collect();
        let places: Vec<Vec<u32>> = self.parts.iter().map(places).collect();
        // Which part each row is of, and its entries there.
        let mut rows = Vec::with_capacity(self.n_rows());
        for (part, SentRows { lengths, .. }) in self.parts.iter().enumerate() {
            let mut end = 0;
            rows.extend(lengths.iter().map(|&length| {
                end += length as usize;
                (part, end - length as usize..end)
            }));
        }
        let entries = |i: usize| {
            let (part, row) = &rows[i];
            let SentRows { indices, values, .. } = &self.parts[*part];
            let of_row = indices[row.clone()].iter().map(|&k| places[*part][k as usize]);
            let of_row = of_row.zip(values[row.clone()].iter().map(|&v| T::from_f64(v)));
            of_row.filter(|&(place, _)| place != NOWHERE)
        };
        Arc::new(Csr::from_entries(rows.len(), columns.len(), entries))
    }
}
