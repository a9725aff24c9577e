//! Vectors of which each rank has a part, from files and to files.

use std::ops::Range;
use std::path::Path;

use crate::comm::{Comm, agree, sums};
use crate::error::{Error, Result};
use crate::io::binary::RowFile;
use crate::io::matrix_market::write_parts;

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

/// These elements of a vector of `n_rows` in a binary file: a matrix with one column.
///
/// # Errors
/// [`Error::Io`] and [`Error::Binary`] where it cannot be read; [`Error::Option`] where it is no such vector.
pub fn read_vector(path: &Path, n_rows: usize, rows: Range<usize>) -> Result<Vec<f64>> {
    let file = RowFile::open(path)?;
    if (file.n_rows(), file.n_cols()) != (n_rows, 1) {
        let (found, columns, path) = (file.n_rows(), file.n_cols(), path.display());
        return Err(Error::Option(format!(
            "{path} has {found} rows and {columns} columns; the right-hand side has {n_rows} rows and 1 column"
        )));
    }
    let part = file.matrix(file.rows(rows)?.0)?;
    Ok((0..part.n_rows()).map(|i| part.get(i, 0).unwrap_or(0.0)).collect())
}
