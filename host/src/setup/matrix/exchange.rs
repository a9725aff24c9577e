//! Rows of a matrix that ranks send each other: columns go by their numbers, with the ranks that have them.

use std::sync::Arc;

use cuda_std::Real;

use crate::comm::{Comm, NOWHERE, Numbering, Reader, Runs, Writer, all_to_all, singly};
use crate::error::Result;
use crate::matrix::Csr;

/// Adds these rows of `a`, whose columns are `columns`, to a message: their lengths; the columns that they
/// have, ascending, each with its number and the rank that has it; for each entry which of those it is in, and
/// its value.
pub(in crate::setup) fn packed<T: Real>(
    message: Writer,
    a: &Csr<T>,
    rows: &[u32],
    columns: &Numbering,
) -> Writer {
    let rows = || rows.iter().map(|&i| a.row(i as usize));
    let lengths: Vec<u32> = rows().map(|(columns, _)| columns.len() as u32).collect();
    let entries = lengths.iter().map(|&length| length as usize).sum();
    let first = rows().filter_map(|(columns, _)| columns.first()).min().copied().unwrap_or(0);
    let behind = rows().filter_map(|(columns, _)| columns.last()).max().map_or(first, |last| last + 1);
    // Which columns there are, and then which of them each is.
    let mut which = vec![0u32; (behind - first) as usize];
    rows().for_each(|(columns, _)| columns.iter().for_each(|&j| which[(j - first) as usize] = 1));
    let mut there: Vec<[u32; 2]> = Vec::new();
    for (j, which) in (first..behind).zip(&mut which).filter(|(_, which)| **which == 1) {
        *which = there.len() as u32;
        there.push([columns.number(j), columns.owner(j)]);
    }
    let (mut indices, mut values): (Vec<u32>, Vec<f64>) =
        (Vec::with_capacity(entries), Vec::with_capacity(entries));
    for (columns, of_row) in rows() {
        indices.extend(columns.iter().map(|&j| which[(j - first) as usize]));
        values.extend(of_row.iter().map(|v| v.to_f64()));
    }
    message.put(&lengths).put(&there).put(&indices).put(&values)
}

/// Rows of other ranks.
#[derive(Default)]
pub(in crate::setup) struct Received {
    parts: Vec<Part>,
}

/// Some of them, as [`packed`] describes them.
struct Part {
    lengths: Vec<u32>,
    columns: Vec<[u32; 2]>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

/// What ranks send each other: the rows of one after those of another. All ranks call this.
pub(in crate::setup) fn received_rows(comm: &dyn Comm, messages: Vec<Vec<u8>>) -> Result<Received> {
    let mut received = Received::default();
    for message in all_to_all(comm, messages)?.iter().filter(|message| !message.is_empty()) {
        received.add(&mut Reader::new(message))?;
    }
    Ok(received)
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
    let (mut all, mut source) = (Received::default(), Vec::new());
    if let Some(messages) =
        comm.gather(packed(Writer::new().put(&numbers.expanded()), rows, &own, columns).bytes())?
    {
        source.resize(n_rows, 0);
        for message in &messages {
            let mut message = Reader::new(message);
            let numbers = message.take::<u32>()?;
            numbers.into_iter().zip(all.n_rows()..).for_each(|(row, k)| source[row as usize] = k as u32);
            all.add(&mut message)?;
        }
    }
    let (columns, _) = columns.of_own(comm.rank()).united(comm.rank(), singly(&all.columns()));
    Ok((all.matrix(&columns).chosen_rows(&source), columns))
}

impl Received {
    pub fn n_rows(&self) -> usize {
        self.parts.iter().map(|part| part.lengths.len()).sum()
    }

    /// Adds what [`packed`] has put into a message.
    pub fn add(&mut self, message: &mut Reader) -> Result<()> {
        let (lengths, columns) = (message.take()?, message.take()?);
        self.parts.push(Part { lengths, columns, indices: message.take()?, values: message.take()? });
        Ok(())
    }

    /// Adds rows of one entry each, in these columns, which ascend.
    pub fn add_diagonal(&mut self, columns: Vec<[u32; 2]>, values: Vec<f64>) {
        let (lengths, indices) = (vec![1; values.len()], (0..values.len() as u32).collect());
        self.parts.push(Part { lengths, columns, indices, values });
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
        let entries = self.parts.iter().map(|part| part.values.len()).sum();
        let (mut col_idx, mut values) = (Vec::with_capacity(entries), Vec::with_capacity(entries));
        let mut row_ptr = Vec::with_capacity(self.n_rows() + 1);
        row_ptr.push(0);
        for part in &self.parts {
            let place = |&[number, _]: &[u32; 2]| columns.place(number).map_or(NOWHERE, |place| place as u32);
            let places: Vec<u32> = part.columns.iter().map(place).collect();
            let mut first = 0;
            for &length in &part.lengths {
                let row = first..first + length as usize;
                first = row.end;
                let entries = part.indices[row.clone()].iter().map(|&k| places[k as usize]);
                for (place, &value) in entries.zip(&part.values[row]).filter(|&(place, _)| place != NOWHERE) {
                    col_idx.push(place);
                    values.push(T::from_f64(value));
                }
                row_ptr.push(col_idx.len());
            }
        }
        Arc::new(Csr::from_valid_parts(self.n_rows(), columns.len(), row_ptr, col_idx, values))
    }
}
