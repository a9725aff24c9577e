//! Vectors of which each rank has a part, from files and to files.

use std::ops::Range;
use std::path::Path;

use crate::comm::{Comm, Given, agree, check_same, sums};
use crate::error::{Error, Result};
use crate::io::binary::{RowFile, is_binary};
use crate::io::matrix_market::{self, write_parts};

/// Writes the vector of which each rank has a part, in the order of ranks, as
/// [`write_vector`](crate::io::matrix_market::write_vector) writes one. Rank 0 writes, and never has more
/// than a part of another rank beside its own. All ranks call this.
///
/// # Errors
/// [`Error::Io`] where it cannot be written, on rank 0; elsewhere [`Error::Rank`] with that.
pub fn write_vector(comm: &dyn Comm, path: &Path, part: Vec<f64>) -> Result<()> {
    let rows = sums(comm, &[part.len() as f64])?[0] as usize;
    if comm.rank() != 0 {
        comm.send(0, bytemuck::cast_slice(&part))?;
        return agree(comm, Ok(()));
    }
    let others = (1..comm.size()).map(|from| Ok(bytemuck::pod_collect_to_vec(&comm.receive(from)?)));
    let mut parts = std::iter::once(Ok(part)).chain(others);
    let written = write_parts(path, rows, parts.by_ref());
    // Nobody waits to send what is not written any more.
    parts.try_for_each(|part| part.map(drop))?;
    agree(comm, written)
}

/// This rank's elements of a vector of `n_rows` in a file: of a binary one each rank reads its own, of a
/// Matrix Market file rank 0 reads all, and sends each rank its own. All ranks call this.
///
/// # Errors
/// [`Error::Io`], [`Error::Parse`] and [`Error::Binary`] where it cannot be read; [`Error::Option`] where it
/// is no such vector; [`Error::Rank`] where another rank has failed.
pub fn read_vector(comm: &dyn Comm, path: &Path, n_rows: usize, rows: Range<usize>) -> Result<Vec<f64>> {
    if is_binary(path) {
        let file = agree(comm, RowFile::open(path))?;
        check_same(comm, &Given::from([("the right-hand side".into(), file.fingerprint())]))?;
        return agree(comm, elements(&file, path, n_rows, rows));
    }
    let ends = comm.all_gather(&[rows.start as f64, rows.end as f64])?;
    if comm.rank() != 0 {
        agree(comm, Ok(()))?;
        return Ok(bytemuck::pod_collect_to_vec(&comm.receive(0)?));
    }
    let whole = matrix_market::read_vector(path)
        .and_then(|whole| check_sizes(path, (whole.len(), 1), n_rows).map(|()| whole));
    let whole = agree(comm, whole)?;
    let its = |rank: usize| &whole[ends[2 * rank] as usize..ends[2 * rank + 1] as usize];
    (1..comm.size()).try_for_each(|rank| comm.send(rank, bytemuck::cast_slice(its(rank))))?;
    Ok(its(0).to_vec())
}

/// These elements of a vector in a binary file: a matrix with one column.
fn elements(file: &RowFile, path: &Path, n_rows: usize, rows: Range<usize>) -> Result<Vec<f64>> {
    check_sizes(path, (file.n_rows(), file.n_cols()), n_rows)?;
    let part = file.matrix(file.rows(rows)?.0)?;
    Ok((0..part.n_rows()).map(|i| part.get(i, 0).unwrap_or(0.0)).collect())
}

fn check_sizes(path: &Path, found: (usize, usize), n_rows: usize) -> Result<()> {
    if found == (n_rows, 1) {
        return Ok(());
    }
    let ((found, columns), path) = (found, path.display());
    Err(Error::Option(format!(
        "{path} has {found} rows and {columns} columns; the right-hand side has {n_rows} rows and 1 column"
    )))
}
