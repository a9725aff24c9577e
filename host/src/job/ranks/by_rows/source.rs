//! Where ranks have their rows from.

use std::ops::Range;

use super::checks::check_size;
use crate::comm::{Comm, Given, Ranges, agree, check_same};
use crate::error::{Error, Result};
use crate::io::binary::{RowFile, Sums};
use crate::job::Device;
use crate::matrix::Csr;
use crate::problem;

/// A square matrix of which any rows can be had without the others: read, made or assembled by each rank.
pub trait RowSource: Send + Sync {
    /// Rows of the whole matrix.
    fn n_rows(&self) -> usize;

    /// What tells this matrix from another. Ranks whose sources say something else are refused.
    ///
    /// # Errors
    /// Whatever keeps it from being known.
    fn fingerprint(&self) -> Result<String> {
        Ok(format!("one of {} rows", self.n_rows()))
    }

    /// These rows, with the columns of the whole matrix.
    ///
    /// # Errors
    /// Whatever keeps them from being had.
    fn rows(&self, rows: Range<usize>) -> Result<Csr<f64>>;

    /// How many entries each of these rows has, by which rows are shared out. It is asked for an even share
    /// of all rows, which need not be those that a rank gets in the end.
    ///
    /// # Errors
    /// As [`RowSource::rows`], which this asks where there is no shorter way.
    fn lengths(&self, rows: Range<usize>) -> Result<Vec<usize>> {
        let a = self.rows(rows)?;
        Ok((0..a.n_rows()).map(|i| a.row_len(i)).collect())
    }

    /// The rows of this rank. All ranks call this, so that they can also compare what they have.
    ///
    /// # Errors
    /// Those of [`RowSource::rows`]; [`Error::Rank`] where another rank has failed.
    fn own_rows(&self, comm: &dyn Comm, ranges: &Ranges) -> Result<Csr<f64>> {
        agree(comm, self.rows(ranges.of(comm.rank())))
    }
}

/// This rank's rows of a matrix with `block` unknowns a node: blocks of rows as they are numbered, of about
/// as many entries each, those of [`Partitioning::Blocks`](crate::comm::Partitioning::Blocks). The threads of
/// the device's host read or make them. All ranks call this.
///
/// # Errors
/// Those of the source; [`Error::Rank`] where another rank has failed.
pub fn own_rows(comm: &dyn Comm, device: &Device, source: &dyn RowSource, block: usize) -> Result<Csr<f64>> {
    device.run(|| shared_out(comm, source, block))
}

fn shared_out(comm: &dyn Comm, source: &dyn RowSource, block: usize) -> Result<Csr<f64>> {
    let n = source.n_rows();
    check_size(comm, n)?;
    check_same_matrix(comm, source.fingerprint())?;
    let asked = |rows: Range<usize>| {
        let lengths = source.lengths(rows.clone())?;
        check_count(&rows, lengths.len()).map(|()| lengths)
    };
    let ranges = Ranges::by_entries(comm, n, block.max(1), asked)?;
    let a = source.own_rows(comm, &ranges)?;
    agree(comm, check_count(&ranges.of(comm.rank()), a.n_rows()).map(|()| a))
}

/// Refuses another matrix than that of rank 0. All ranks call this.
pub(super) fn check_same_matrix(comm: &dyn Comm, fingerprint: Result<String>) -> Result<()> {
    check_same(comm, &Given::from([("the matrix".into(), agree(comm, fingerprint)?)]))
}

fn check_count(rows: &Range<usize>, found: usize) -> Result<()> {
    if found == rows.len() {
        return Ok(());
    }
    let (first, last) = (rows.start + 1, rows.end);
    Err(Error::Matrix(format!(
        "of rows {first} to {last} there are {found}; a source gives those it is asked for"
    )))
}

impl RowSource for problem::Rows {
    fn n_rows(&self) -> usize {
        problem::Rows::n_rows(self)
    }
    fn rows(&self, rows: Range<usize>) -> Result<Csr<f64>> {
        problem::Rows::rows(self, rows)
    }
    fn lengths(&self, rows: Range<usize>) -> Result<Vec<usize>> {
        Ok(problem::Rows::lengths(self, rows))
    }
}

impl RowSource for RowFile {
    fn n_rows(&self) -> usize {
        RowFile::n_rows(self)
    }
    fn fingerprint(&self) -> Result<String> {
        Ok(RowFile::fingerprint(self))
    }
    fn rows(&self, rows: Range<usize>) -> Result<Csr<f64>> {
        self.matrix(RowFile::rows(self, rows)?.0)
    }
    fn lengths(&self, rows: Range<usize>) -> Result<Vec<usize>> {
        RowFile::lengths(self, rows)
    }

    /// Each rank reads its rows; together they have read the whole file, and compare its checksums.
    fn own_rows(&self, comm: &dyn Comm, ranges: &Ranges) -> Result<Csr<f64>> {
        let (rows, Sums(own)) = agree(comm, RowFile::rows(self, ranges.of(comm.rank())))?;
        let own: Vec<f64> = own.iter().flat_map(|&(sum, bytes)| [f64::from(sum), bytes as f64]).collect();
        let all = comm.all_gather(&own)?;
        let of_rank =
            |sums: &[f64]| Sums(std::array::from_fn(|k| (sums[2 * k] as u32, sums[2 * k + 1] as u64)));
        let sums: Vec<Sums> = all.chunks_exact(own.len()).map(of_rank).collect();
        agree(comm, self.check(&sums).and_then(|()| self.matrix(rows)))
    }
}
