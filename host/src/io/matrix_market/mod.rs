//! Matrix Market files (`.mtx`, `.mtx.gz`), the exchange format of sparse matrices.
//!
//! Format: R. F. Boisvert, R. Pozo, K. Remington, "The Matrix Market exchange formats: initial design",
//! NISTIR 5935 (1996). Read are coordinate and array files; real, integer and pattern; general,
//! symmetric and skew-symmetric; plain or gzip-compressed, whatever the name.
//!
//! Text is parsed in parallel while the next part is read or decompressed. Every fault is reported with its
//! line. The header's sizes are not trusted: memory grows with what has been parsed.

mod body;
mod header;
mod parse;
mod part;
#[cfg(test)]
pub(crate) mod tests;
mod write;

use std::path::Path;

use super::source::Source;
use crate::error::Result;
use crate::matrix::check::{check_finite, check_vector};
use crate::matrix::{Coo, Csr};
use body::{Entries, Pieces};
use header::Header;

pub use super::summary::{Field, Layout, Summary, Symmetry};
pub use part::{Count, EntryFile, Part};
pub use write::{symmetry_of, write_matrix, write_parts, write_vector, write_vectors};

/// Reads a matrix. `progress(bytes done, bytes in all)`, in bytes of the file on disk, is called now and
/// then.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when the file cannot be read; [`Error::Parse`](crate::Error::Parse) with
/// the first faulty line when it is malformed; [`Error::NotFinite`](crate::Error::NotFinite) when duplicates
/// add up to more than `f64` holds.
pub fn read_matrix(path: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<(Csr<f64>, Summary)> {
    matrix_from(Source::open(path)?, Pieces::DEFAULT, progress)
}

/// Reads a matrix from the bytes of a file, compressed or not; `name` is for messages.
///
/// # Errors
/// Those of [`read_matrix`].
pub fn parse_matrix(bytes: &[u8], name: &Path) -> Result<(Csr<f64>, Summary)> {
    matrix_from(Source::from_bytes(bytes, name)?, Pieces::DEFAULT, &mut |_, _| {})
}

/// Reads a vector: an array or coordinate file of one column. Entries that are not listed are zero.
///
/// # Errors
/// Those of [`read_matrix`], and [`Error::Parse`](crate::Error::Parse) when there is not exactly one column.
pub fn read_vector(path: &Path) -> Result<Vec<f64>> {
    vector_from(Source::open(path)?, Pieces::DEFAULT)
}

/// Reads vectors of the same length: the columns of an array or coordinate file. Entries that are not listed
/// are zero.
///
/// # Errors
/// Those of [`read_matrix`], and [`Error::Parse`](crate::Error::Parse) when there is no column, or one
/// triangle stands for both.
pub fn read_vectors(path: &Path) -> Result<Vec<Vec<f64>>> {
    let mut source = Source::open(path)?;
    let header = Header::read(&mut source)?;
    header.require_columns(source.name(), source.line())?;
    columns_from(&mut source, &header, Pieces::DEFAULT)
}

fn matrix_from(
    mut source: Source,
    pieces: Pieces,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<(Csr<f64>, Summary)> {
    let header = Header::read(&mut source)?;
    let mut entries = Entries::read(&mut source, &header, pieces, progress)?;
    entries.locate(&header);
    let Entries { rows, cols, values } = entries;
    let explicit_zeros = values.iter().filter(|&&value| value == 0.0).count() as u64;
    let size = (header.n_rows as usize, header.n_cols as usize);
    let (matrix, duplicates) = assembled(size, (rows, cols, values), header.symmetry)?;
    let summary = Summary {
        layout: Some(header.layout),
        field: header.field,
        symmetry: header.symmetry,
        entries_in_file: header.entries,
        duplicates,
        explicit_zeros,
        bytes: source.bytes(),
        comment: header.comment,
    };
    Ok((matrix, summary))
}

/// The matrix of the entries that a file has, rows, columns and values, which may be those of one triangle;
/// and how many of them were added to an earlier one.
pub(in crate::io) fn assembled(
    (n_rows, n_cols): (usize, usize),
    (rows, cols, values): (Vec<u32>, Vec<u32>, Vec<f64>),
    symmetry: Symmetry,
) -> Result<(Csr<f64>, u64)> {
    let mut coo = Coo::from_parts(n_rows, n_cols, rows, cols, values)?;
    let stored = coo.n_entries();
    match symmetry {
        Symmetry::General => {}
        Symmetry::Symmetric => coo.mirror(1.0),
        Symmetry::Skew => coo.mirror(-1.0),
    }
    let (matrix, summed) = coo.into_csr();
    // Entries of the file after summation: without the mirror images, which are not in the file.
    let kept = match symmetry {
        Symmetry::General => matrix.nnz(),
        _ => (0..matrix.n_rows()).map(|i| matrix.row(i).0.partition_point(|&j| j as usize <= i)).sum(),
    };
    if summed > 0 {
        // Each value was checked when its line was read, but a sum of duplicates may overflow.
        check_finite(&matrix)?;
    }
    Ok((matrix, (stored - kept) as u64))
}

fn vector_from(mut source: Source, pieces: Pieces) -> Result<Vec<f64>> {
    let header = Header::read(&mut source)?;
    header.require_vector(source.name(), source.line())?;
    Ok(columns_from(&mut source, &header, pieces)?.pop().unwrap_or_default())
}

/// The columns of a file whose header was read.
fn columns_from(source: &mut Source, header: &Header, pieces: Pieces) -> Result<Vec<Vec<f64>>> {
    let Entries { rows, cols, mut values } = Entries::read(source, header, pieces, &mut |_, _| {})?;
    let (n_rows, n_cols) = (header.n_rows as usize, header.n_cols as usize);
    if header.layout == Layout::Array {
        let mut columns: Vec<Vec<f64>> =
            (1..n_cols).rev().map(|column| values.split_off(column * n_rows)).collect();
        columns.push(values);
        columns.reverse();
        return Ok(columns);
    }
    let mut columns = vec![vec![0.0; n_rows]; n_cols];
    for ((&row, &col), value) in rows.iter().zip(&cols).zip(values) {
        columns[col as usize][row as usize] += value;
    }
    columns.iter().try_for_each(|column| check_vector("vector", column, n_rows))?;
    Ok(columns)
}
