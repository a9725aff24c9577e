//! Matrix files of every kind: [Matrix Market](super::matrix_market) and [binary](super::binary).

use std::path::Path;

use super::{binary, matrix_market};
use crate::error::Result;
use crate::matrix::Csr;

/// How the entries of a Matrix Market file are laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Layout {
    /// A line `row column value` for each entry.
    Coordinate,
    /// All values of a dense matrix, column by column.
    Array,
}

/// What kind of numbers a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Decimal numbers.
    Real,
    /// Whole numbers, read as the nearest `f64`.
    Integer,
    /// Positions only; every value is 1.
    Pattern,
}

/// Which entries stand for others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Symmetry {
    /// None.
    General,
    /// Only the lower triangle is stored: `a_ji = a_ij`.
    Symmetric,
    /// Only the strictly lower triangle is stored: `a_ji = -a_ij`, `a_ii = 0`.
    Skew,
}

impl Symmetry {
    /// The word in the banner.
    pub fn word(self) -> &'static str {
        match self {
            Symmetry::General => "general",
            Symmetry::Symmetric => "symmetric",
            Symmetry::Skew => "skew-symmetric",
        }
    }
}

/// What was found in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Summary {
    /// How text lists the entries; `None` in a [binary](super::binary) file.
    pub layout: Option<Layout>,
    /// Kind of numbers.
    pub field: Field,
    /// Which triangle was stored; the matrix returned always has both, and so does a binary file.
    pub symmetry: Symmetry,
    /// Entries listed in the file.
    pub entries_in_file: u64,
    /// Entries of the file that were added to an earlier one at the same position.
    pub duplicates: u64,
    /// Entries listed whose value is zero; they are kept. Zeros of an array are dropped.
    pub explicit_zeros: u64,
    /// Bytes of the file, of text once it is uncompressed.
    pub bytes: u64,
    /// The lines of comment above the sizes, without their `%`; of long ones the beginning.
    pub comment: String,
}

/// Reads a matrix of whatever kind its first bytes say, calling `progress(bytes done, bytes in all)` now and then.
///
/// # Errors
/// Those of [`matrix_market::read_matrix`] and of [`binary::read_matrix`].
pub fn read_matrix(path: &Path, progress: &mut dyn FnMut(u64, u64)) -> Result<(Csr<f64>, Summary)> {
    if binary::is_binary(path) {
        binary::read_matrix(path, progress)
    } else {
        matrix_market::read_matrix(path, progress)
    }
}

/// Writes a matrix in binary when the name ends in `.wsm`, else as Matrix Market text (compressed for `.gz`), with a
/// comment. Text has one triangle of a matrix that is symmetric or skew-symmetric to the last bit.
///
/// Returns how it was written: [`Summary::layout`] and [`Summary::symmetry`].
///
/// # Errors
/// [`Error::Io`](crate::Error::Io) when the file cannot be written.
pub fn write_matrix(path: &Path, a: &Csr<f64>, comment: &str) -> Result<(Option<Layout>, Symmetry)> {
    let symmetry = matrix_market::symmetry_of(a);
    if binary::has_its_name(path) {
        binary::write_matrix(path, a, symmetry, comment)?;
        Ok((None, symmetry))
    } else {
        matrix_market::write_matrix(path, a, symmetry, comment)?;
        Ok((Some(Layout::Coordinate), symmetry))
    }
}
