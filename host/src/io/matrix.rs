//! Matrix files of every kind: [Matrix Market](matrix_market), [Harwell-Boeing](harwell_boeing) and [binary].

use std::path::Path;

use super::{binary, harwell_boeing, matrix_market};
use crate::error::{Error, Result};
use crate::matrix::Csr;

pub use super::summary::{Field, Layout, Summary, Symmetry};

/// Reads a matrix file. Its first bytes say whether it is binary, its name whether it is [one of
/// Harwell-Boeing](harwell_boeing::has_its_name). `progress(bytes done, bytes in all)` is called now and
/// then.
///
/// # Errors
/// Those of [`matrix_market::read_matrix`], [`harwell_boeing::read_matrix`] and [`binary::read_matrix`].
pub fn read_matrix(path: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<(Csr<f64>, Summary)> {
    if binary::is_binary(path) {
        binary::read_matrix(path, progress)
    } else if harwell_boeing::has_its_name(path) {
        harwell_boeing::read_matrix(path)
    } else {
        matrix_market::read_matrix(path, progress)
    }
}

/// Writes a matrix in binary when the name ends in `.wsm`, else as Matrix Market text (compressed for `.gz`),
/// with a comment. Of a matrix that is symmetric or skew-symmetric to the last bit, text has one triangle.
///
/// Returns how it was written: [`Summary::layout`] and [`Summary::symmetry`].
///
/// # Errors
/// [`Error::Io`] when the file cannot be written, [`Error::Option`] for the name of a Harwell-Boeing file:
/// these are only read.
pub fn write_matrix(path: &Path, a: &Csr<f64>, comment: &str) -> Result<(Option<Layout>, Symmetry)> {
    if harwell_boeing::has_its_name(path) {
        let name = path.display();
        let message =
            format!("{name}: Harwell-Boeing files are read, not written; name an .mtx, .mtx.gz or .wsm");
        return Err(Error::Option(message));
    }
    let symmetry = matrix_market::symmetry_of(a);
    if binary::has_its_name(path) {
        binary::write_matrix(path, a, symmetry, comment)?;
        Ok((None, symmetry))
    } else {
        matrix_market::write_matrix(path, a, symmetry, comment)?;
        Ok((Some(Layout::Coordinate), symmetry))
    }
}
