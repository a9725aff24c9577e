//! Rows of a matrix that ranks send each other: columns go by their numbers, with the ranks that have them.

use std::sync::Arc;

use cuda_std::Real;

use crate::comm::{Comm, Numbering, Reader, Runs, Writer, all_to_all, singly};
use crate::error::Result;
use crate::matrix::Csr;

/// Adds these rows of `a`, whose columns are `columns`, to a message.
pub(in crate::setup) fn packed<T: Real>(
    message: Writer,
    a: &Csr<T>,
    rows: &[u32],
    columns: &Numbering,
) -> Writer {
    let rows = || rows.iter().map(|&i| a.row(i as usize));
    let lengths: Vec<u32> = rows().map(|(columns, _)| columns.len() as u32).collect();
    let of = |of_column: &dyn Fn(u32) -> u32| {
        rows().flat_map(|row| row.0).map(|&j| of_column(j)).collect::<Vec<u32>>()
    };
    let values: Vec<f64> = rows().flat_map(|(_, values)| values).map(|v| v.to_f64()).collect();
    let (numbers, owners) = (of(&|j| columns.number(j)), of(&|j| columns.owner(j)));
    message.put(&lengths).put(&numbers).put(&owners).put(&values)
}

/// Rows of other ranks.
pub(in crate::setup) struct Received {
    row_ptr: Vec<usize>,
    /// The number of each entry's column, and the rank that has it.
    columns: Vec<(u32, u32)>,
    values: Vec<f64>,
}

impl Default for Received {
    fn default() -> Self {
        Received { row_ptr: vec![0], columns: Vec::new(), values: Vec::new() }
    }
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
        self.row_ptr.len() - 1
    }

    /// Adds what [`packed`] has put into a message.
    pub fn add(&mut self, message: &mut Reader) -> Result<()> {
        let mut end = self.columns.len();
        for length in message.take::<u32>()? {
            end += length as usize;
            self.row_ptr.push(end);
        }
        let (numbers, owners) = (message.take::<u32>()?, message.take::<u32>()?);
        self.columns.extend(numbers.into_iter().zip(owners));
        self.values.extend(message.take::<f64>()?);
        Ok(())
    }

    /// Adds a row of ((number, rank) of the column, value).
    pub fn add_row(&mut self, entries: impl IntoIterator<Item = ((u32, u32), f64)>) {
        for (column, value) in entries {
            self.columns.push(column);
            self.values.push(value);
        }
        self.row_ptr.push(self.columns.len());
    }

    /// All columns, ascending.
    pub fn columns(&self) -> Vec<(u32, u32)> {
        // As one number each, which are sorted in half the time.
        let joined = |&(number, owner): &(u32, u32)| u64::from(number) << 32 | u64::from(owner);
        let mut columns: Vec<u64> = self.columns.iter().map(joined).collect();
        columns.sort_unstable();
        columns.dedup();
        columns.into_iter().map(|joined| ((joined >> 32) as u32, joined as u32)).collect()
    }

    /// The rows, those of their entries whose columns are among these.
    pub fn matrix<T: Real>(&self, columns: &Numbering) -> Arc<Csr<T>> {
        let (mut row_ptr, mut col_idx, mut values) = (vec![0], Vec::new(), Vec::new());
        for range in self.row_ptr.windows(2).map(|ends| ends[0]..ends[1]) {
            for (&(number, _), &value) in self.columns[range.clone()].iter().zip(&self.values[range]) {
                if let Some(place) = columns.place(number) {
                    col_idx.push(place as u32);
                    values.push(T::from_f64(value));
                }
            }
            row_ptr.push(col_idx.len());
        }
        Arc::new(Csr::from_valid_parts(self.n_rows(), columns.len(), row_ptr, col_idx, values))
    }
}
