//! Rows of a Matrix Market file, of which each rank reads some lines: its entries go to the ranks that have
//! their rows.

use std::ops::Range;
use std::path::Path;

use super::checks::check_size;
use super::source::{RowSource, check_same_matrix};
use crate::comm::{Comm, Ranges, Reader, Writer, agree, all_to_all};
use crate::error::{Error, Result};
use crate::io::matrix_market::{Count, EntryFile, Part};
use crate::job::Device;
use crate::matrix::{Coo, Csr};

/// The rows of an even share of the matrix, each rank its own.
pub struct MarketRows {
    shares: Ranges,
    /// Those of this rank's share.
    rows: Range<usize>,
    a: Csr<f64>,
}

impl MarketRows {
    /// Reads a file of plain text with an entry on each line, of a matrix with `block` unknowns a node. The
    /// threads of the device's host read it. All ranks call this.
    ///
    /// # Errors
    /// Those of [`EntryFile`]; [`Error::Rank`] where another rank has failed.
    pub fn read(comm: &dyn Comm, device: &Device, path: &Path, block: usize) -> Result<Self> {
        device.run(|| Self::together(comm, path, block))
    }

    fn together(comm: &dyn Comm, path: &Path, block: usize) -> Result<Self> {
        let (rank, size) = (comm.rank(), comm.size());
        let opened = EntryFile::open(path).and_then(|file| check_size(comm, file.n_rows()).map(|()| file));
        let file = agree(comm, opened)?;
        check_same_matrix(comm, file.fingerprint())?;
        let part = agree(comm, file.part(rank, size))?;
        let Count { lines, entries } = part.count();
        let counts = comm.all_gather(&[lines as f64, entries as f64])?;
        let count = |count: &[f64]| Count { lines: count[0] as u64, entries: count[1] as u64 };
        let counts: Vec<Count> = counts.chunks_exact(2).map(count).collect();
        agree(comm, file.check(&part, rank, &counts))?;
        let shares = Ranges::even(file.n_rows(), size, block.max(1));
        let rows = shares.of(rank);
        let messages = messages(part, file.mirrored(), &shares);
        let a = assembled(all_to_all(comm, messages)?, &rows, file.n_cols());
        Ok(MarketRows { a: agree(comm, a)?, shares, rows })
    }

    /// Rows of this rank's share.
    fn some(&self, rows: &Range<usize>) -> Csr<f64> {
        let places: Vec<u32> = rows.clone().map(|row| (row - self.rows.start) as u32).collect();
        self.a.chosen_rows(&places)
    }
}

/// The entries, with those that are left out, for each rank those of its rows.
fn messages(part: Part, mirrored: Option<f64>, shares: &Ranges) -> Vec<Vec<u8>> {
    let mut of_ranks: Vec<(Vec<[u32; 2]>, Vec<f64>)> = vec![Default::default(); shares.size()];
    let mut put = |row: u32, column: u32, value: f64| {
        let (places, values) = &mut of_ranks[shares.owner(row as usize)];
        places.push([row, column]);
        values.push(value);
    };
    for ((&row, &column), &value) in part.rows.iter().zip(&part.cols).zip(&part.values) {
        put(row, column, value);
        if let Some(sign) = mirrored.filter(|_| row != column) {
            put(column, row, sign * value);
        }
    }
    drop(part);
    let written = |(places, values): (Vec<[u32; 2]>, Vec<f64>)| match values.is_empty() {
        true => Vec::new(),
        false => Writer::new().put(&places).put(&values).bytes(),
    };
    of_ranks.into_iter().map(written).collect()
}

/// The matrix of these rows; entries of one place are added in the order of the file.
fn assembled(messages: Vec<Vec<u8>>, own: &Range<usize>, n_cols: usize) -> Result<Csr<f64>> {
    let (mut rows, mut columns, mut values) = (Vec::new(), Vec::new(), Vec::new());
    for message in messages.into_iter().filter(|message| !message.is_empty()) {
        let mut message = Reader::new(&message);
        for [row, column] in message.take::<[u32; 2]>()? {
            rows.push(row - own.start as u32);
            columns.push(column);
        }
        values.extend(message.take::<f64>()?);
    }
    Ok(Coo::from_parts(own.len(), n_cols, rows, columns, values)?.into_csr().0)
}

impl RowSource for MarketRows {
    fn n_rows(&self) -> usize {
        self.shares.n_rows()
    }

    fn rows(&self, rows: Range<usize>) -> Result<Csr<f64>> {
        if rows.start < self.rows.start || rows.end > self.rows.end {
            return Err(Error::Option("a rank asks for rows of another: a mistake of this library".into()));
        }
        Ok(self.some(&rows))
    }

    /// What each rank has in its share goes to the ranks that get it.
    fn own_rows(&self, comm: &dyn Comm, ranges: &Ranges) -> Result<Csr<f64>> {
        let message = |rank: usize| {
            let its = ranges.of(rank);
            let rows = its.start.max(self.rows.start)..its.end.min(self.rows.end);
            if rows.is_empty() {
                return Vec::new();
            }
            Writer::new().matrix(&self.some(&rows)).bytes()
        };
        let messages = all_to_all(comm, (0..comm.size()).map(message).collect())?;
        let joined = || {
            let (mut row_ptr, mut col_idx, mut values) = (vec![0], Vec::new(), Vec::new());
            for message in messages.iter().filter(|message| !message.is_empty()) {
                let (a, before) = (Reader::new(message).matrix()?, values.len());
                row_ptr.extend(a.row_ptr().iter().skip(1).map(|p| before + p));
                col_idx.extend_from_slice(a.col_idx());
                values.extend_from_slice(a.values());
            }
            Csr::new(row_ptr.len() - 1, self.a.n_cols(), row_ptr, col_idx, values)
        };
        agree(comm, joined())
    }
}
