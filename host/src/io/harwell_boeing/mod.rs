//! Harwell-Boeing and Rutherford-Boeing files (`.hb`, `.rb`, `.rua`, `.rsa` and the like, also `.gz`): sparse
//! matrices in columns, written in lines of fixed width.
//!
//! Formats: I. S. Duff, R. G. Grimes, J. G. Lewis, "Users' guide for the Harwell-Boeing sparse matrix
//! collection (release I)", TR/PA/92/86 (1992), and "The Rutherford-Boeing sparse matrix collection",
//! RAL-TR-97-031 (1997). Read are assembled matrices, real, integer and pattern, unsymmetric, rectangular,
//! symmetric and skew-symmetric. Right-hand sides that follow a matrix are left alone. Every fault is
//! reported with its line.

mod format;
mod header;
#[cfg(test)]
mod tests;
mod text;

use std::path::Path;

use super::matrix_market::assembled;
use super::summary::{Field, Layout, Summary, Symmetry};
use crate::error::Result;
use crate::matrix::Csr;
use header::Header;
use text::Text;

/// Whether a file has such a name: `.hb`, `.rb`, or the three letters of a matrix type, before `.gz`.
pub fn has_its_name(path: &Path) -> bool {
    let is_packed = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"));
    let stem = path.with_extension("");
    let extension = if is_packed { stem.extension() } else { path.extension() };
    let Some(extension) = extension.and_then(|extension| extension.to_str()) else { return false };
    match extension.to_ascii_lowercase().as_bytes() {
        b"hb" | b"rb" => true,
        [numbers, symmetry, form] => {
            b"rcip".contains(numbers) && b"suzrh".contains(symmetry) && b"ae".contains(form)
        }
        _ => false,
    }
}

/// Reads a matrix.
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when the file cannot be read; [`Error::Parse`](crate::Error::Parse) with
/// the first faulty line when it is malformed, or has what is not read.
pub fn read_matrix(path: &Path) -> Result<(Csr<f64>, Summary)> {
    matrix_from(Text::open(path)?)
}

fn matrix_from(mut text: Text) -> Result<(Csr<f64>, Summary)> {
    let header = Header::read(&mut text)?;
    let pointers = pointers(&mut text, &header)?;
    let rows = rows(&mut text, &header, &pointers)?;
    let values = match header.field {
        Field::Pattern => vec![1.0; rows.len()],
        _ => values(&mut text, &header)?,
    };
    let counts = pointers.windows(2).map(|of| of[1] - of[0]);
    let cols = (0u32..).zip(counts).flat_map(|(column, count)| std::iter::repeat_n(column, count)).collect();
    let summary = Summary {
        layout: Some(Layout::Coordinate),
        field: header.field,
        symmetry: header.symmetry,
        entries_in_file: rows.len() as u64,
        duplicates: 0,
        explicit_zeros: values.iter().filter(|&&value| value == 0.0).count() as u64,
        bytes: text.finish()?,
        comment: header.title,
    };
    let (matrix, duplicates) =
        assembled((header.n_rows, header.n_cols), (rows, cols, values), header.symmetry)?;
    Ok((matrix, Summary { duplicates, ..summary }))
}

/// Where columns begin, from 0, and where the last ends.
fn pointers(text: &mut Text, header: &Header) -> Result<Vec<usize>> {
    let mut pointers = Vec::new();
    text.fields(header.pointers, header.n_cols + 1, "column pointer", |field, line| {
        let found = line.whole(field, "column pointer")?;
        let least = pointers.last().map_or(0, |&last| last) + 1;
        if found < least || found > header.entries + 1 || pointers.is_empty() && found != 1 {
            return Err(line.fault(format!(
                "column pointer {found} is outside of {least}..{}; pointers begin with 1 and do not descend",
                header.entries + 1
            )));
        }
        pointers.push(found - 1);
        Ok(())
    })?;
    match pointers.last() {
        Some(&last) if last != header.entries => {
            let (last, entries) = (last + 1, header.entries);
            let should = entries + 1;
            Err(text.fault(format!("the last column pointer is {last}, of {entries} entries it is {should}")))
        }
        _ => Ok(pointers),
    }
}

/// The rows of the entries, from 0.
fn rows(text: &mut Text, header: &Header, pointers: &[usize]) -> Result<Vec<u32>> {
    let (mut rows, mut column) = (Vec::new(), 0);
    text.fields(header.indices, header.entries, "row index", |field, line| {
        let row = line.whole(field, "row index")?;
        while pointers[column + 1] <= rows.len() {
            column += 1;
        }
        let first = match header.symmetry {
            Symmetry::General => 1,
            Symmetry::Symmetric => column + 1,
            Symmetry::Skew => column + 2,
        };
        if row < first || row > header.n_rows {
            let of = match first {
                1 => "",
                _ => ", the lower triangle; a file with both has U in its type, as RUA",
            };
            let n = header.n_rows;
            let column = column + 1;
            return Err(
                line.fault(format!("row index {row} of column {column} is outside of {first}..{n}{of}"))
            );
        }
        rows.push((row - 1) as u32);
        Ok(())
    })?;
    Ok(rows)
}

/// The values of the entries.
fn values(text: &mut Text, header: &Header) -> Result<Vec<f64>> {
    let mut values = Vec::new();
    text.fields(header.values, header.entries, "value", |field, line| {
        values.push(line.number(field)?);
        Ok(())
    })?;
    Ok(values)
}
