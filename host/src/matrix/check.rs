//! What a solve must know of a matrix before it starts: what it refuses, and what it warns about.
//!
//! Every check is parallel and reports the lowest row at fault, whatever the number of threads.

use super::{Csr, Survey, diagonal_blocks};
use crate::error::{Error, Result};
use crate::parallel::*;
use cuda_std::Real;
use std::fmt;

/// Rows that one task checks.
const BLOCK: usize = 4096;

/// What a diagonal entry is that only f64 can divide by.
pub const TOO_SMALL_FOR_F32: &str = "too small for f32";

/// Refuses a rectangular matrix.
pub fn check_square<T: Real>(a: &Csr<T>) -> Result<()> {
    check_shape((a.n_rows(), a.n_cols()))
}

/// The same of a matrix of so many rows and columns.
pub(crate) fn check_shape((rows, columns): (usize, usize)) -> Result<()> {
    if rows == columns {
        return Ok(());
    }
    Err(Error::Matrix(format!(
        "the matrix is {rows} x {columns}; solving needs as many rows as columns (for least squares, form A^T A first)"
    )))
}

/// Refuses NaN and infinite entries, naming the first.
pub fn check_finite<T: Real>(a: &Csr<T>) -> Result<()> {
    check_rows_finite(a, 0)
}

/// The same of some rows of a matrix, of which `first` is the first.
pub(crate) fn check_rows_finite<T: Real>(a: &Csr<T>, first: usize) -> Result<()> {
    let Some(k) = first_not_finite(a.values()) else { return Ok(()) };
    // The last row that starts at or before entry k; empty rows start there too, so it is the last.
    let row = first + a.row_ptr().partition_point(|&start| start <= k);
    Err(Error::NotFinite {
        what: "matrix entry",
        value: a.values()[k].to_f64(),
        position: format!("row {row}, column {}", a.col_idx()[k] + 1),
    })
}

/// Refuses a vector that is not as long as the matrix has rows, or that holds NaN or an infinity.
/// `what` names it, such as "right-hand side".
pub fn check_vector<T: Real>(what: &'static str, v: &[T], n_rows: usize) -> Result<()> {
    if v.len() != n_rows {
        return Err(Error::Dimension { what, found: v.len(), expected: n_rows });
    }
    match first_not_finite(v) {
        None => Ok(()),
        Some(i) => Err(Error::NotFinite { what, value: v[i].to_f64(), position: format!("entry {}", i + 1) }),
    }
}

fn first_not_finite<T: Real>(values: &[T]) -> Option<usize> {
    let is_fault = |v: &T| !v.to_f64().is_finite();
    // Whole blocks, with vector instructions: a search element by element takes ten times as long.
    let has_fault = |block: &[T]| block.iter().fold(false, |found, v| found | is_fault(v));
    let first = BLOCK * values.par_chunks(BLOCK).position_first(has_fault)?;
    values[first..].iter().position(is_fault).map(|k| first + k)
}

/// Refuses a matrix of which a row or a column vanishes in f32, where it would be singular.
pub(crate) fn check_in_f32(a: &Csr<f64>) -> Result<()> {
    const LEAST: f64 = f32::MIN_POSITIVE as f64;
    let has_small = |values: &[f64]| values.iter().fold(false, |found, v| found | (v.abs() < LEAST));
    if a.values().par_chunks(BLOCK).position_first(has_small).is_none() {
        return Ok(());
    }
    let (mut of_rows, mut of_columns) = (vec![0.0f64; a.n_rows()], vec![0.0f64; a.n_cols()]);
    for (i, of_row) in of_rows.iter_mut().enumerate() {
        for (&j, v) in a.row(i).0.iter().zip(a.row(i).1) {
            for most in [&mut *of_row, &mut of_columns[j as usize]] {
                *most = most.max(v.abs());
            }
        }
    }
    let largest = of_rows.iter().fold(0.0f64, |most, v| most.max(*v));
    for (line, of_lines) in [("row", of_rows), ("column", of_columns)] {
        // A line of zeros is what it was.
        if let Some(k) = of_lines.iter().position(|&most| most > 0.0 && most < LEAST) {
            return Err(Error::Vanishes { line, number: k + 1, ratio: largest / of_lines[k] });
        }
    }
    Ok(())
}

/// Refuses a matrix whose diagonal cannot be divided by, as `method` does: a missing, zero or not
/// finite entry ([`Error::Diagonal`], the first such row).
pub fn check_diagonal<T: Real>(a: &Csr<T>, method: &'static str) -> Result<()> {
    let fault = (0..a.n_rows()).into_par_iter().with_min_len(BLOCK).find_map_first(|i| {
        let what = match a.get(i, i) {
            None => "missing",
            Some(d) if d == T::ZERO => "zero",
            Some(d) if !d.to_f64().is_finite() => "not finite",
            Some(d) if !(T::ONE / d).to_f64().is_finite() => "too small",
            Some(_) => return None,
        };
        Some((i, what))
    });
    match fault {
        None => Ok(()),
        Some((i, what)) => Err(Error::Diagonal { row: i + 1, what, method }),
    }
}

/// Refuses diagonal blocks that cannot be inverted, as `method` does: a singular (or missing) or badly scaled
/// one ([`Error::Block`], the first such node). `blocks` has `b^2` values a node.
pub fn check_diagonal_blocks<T: Real>(blocks: &[T], b: usize, method: &'static str) -> Result<()> {
    use arithmetic::blocks::is_regular;
    fn invertible<T: Real, const B: usize>(v: &[T]) -> bool {
        is_regular::<T, B>(std::array::from_fn(|k| std::array::from_fn(|l| v[k * B + l])))
    }
    let fault = blocks.par_chunks(b * b).with_min_len(BLOCK).position_first(|block| match b {
        2 => !invertible::<T, 2>(block),
        _ => !invertible::<T, 3>(block),
    });
    let Some(i) = fault else { return Ok(()) };
    let missing = blocks[i * b * b..(i + 1) * b * b].iter().all(|&v| v == T::ZERO);
    let what = if missing { "missing or zero" } else { "singular or badly scaled" };
    Err(Error::Block { node: i + 1, first: b * i + 1, last: b * (i + 1), what, method })
}

/// Refuses a matrix whose diagonal, or whose `b x b` blocks on it, cannot be divided by, as `method` does:
/// [`check_diagonal`], or [`check_diagonal_blocks`] for `b > 1`.
pub fn check_divisible<T: Real>(a: &Csr<T>, b: usize, method: &'static str) -> Result<()> {
    match b {
        1 => check_diagonal(a, method),
        b => check_diagonal_blocks(&diagonal_blocks(a, b), b, method),
    }
}

/// Whether a matrix is symmetric, and if not, where.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Symmetry {
    /// Every entry agrees with its mirror image.
    Symmetric,
    /// The matrix is not square.
    Rectangular,
    /// An entry that does not: the first, row by row.
    NotSymmetric {
        /// Its row, counted from 0.
        row: usize,
        /// Its column, counted from 0.
        col: usize,
        /// Its value.
        value: f64,
        /// The value at (col, row), 0 where no entry is stored.
        mirrored: f64,
    },
}

impl Symmetry {
    /// `true` for [`Symmetry::Symmetric`].
    pub fn is_symmetric(&self) -> bool {
        *self == Symmetry::Symmetric
    }
}

impl fmt::Display for Symmetry {
    /// Rows and columns are printed from 1, as in [`Error`].
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match *self {
            Symmetry::Symmetric => write!(f, "symmetric"),
            Symmetry::Rectangular => write!(f, "not square"),
            Symmetry::NotSymmetric { row, col, value, mirrored } => {
                let (i, j) = (row + 1, col + 1);
                write!(f, "not symmetric: entry ({i}, {j}) is {value}, entry ({j}, {i}) is {mirrored}")
            }
        }
    }
}

/// What entries may differ from their mirror images by, where [`Csr::is_symmetric`] is to overlook rounding.
pub const ROUNDING: f64 = 1e-12;

impl<T: Real> Csr<T> {
    /// Whether `|a_ij - a_ji| <= tolerance * min(s_i, s_j)` for all entries, `s_i` being the largest
    /// magnitude in row `i`. A missing entry counts as 0. With `tolerance == 0` every bit must agree
    /// (except for the sign of zero).
    ///
    /// A matrix that is symmetric to the last bit takes one pass over its entries, in parallel. For
    /// another each entry is searched for in its mirror row, up to the first that has no match.
    pub fn is_symmetric(&self, tolerance: f64) -> Symmetry {
        if self.n_rows() != self.n_cols() {
            return Symmetry::Rectangular;
        }
        if Survey::of(self).is_mirrored {
            return Symmetry::Symmetric;
        }
        self.compare_mirrored(tolerance)
    }

    /// [`Csr::is_symmetric`] for a square matrix that is not so to the last bit.
    pub(crate) fn compare_mirrored(&self, tolerance: f64) -> Symmetry {
        let largest = |i: usize| self.row(i).1.iter().fold(0.0f64, |m, v| m.max(v.to_f64().abs()));
        let agree = |i: usize, j: usize, a: f64, b: f64| {
            a == b || (a - b).abs() <= tolerance * largest(i).min(largest(j))
        };
        let fault = (0..self.n_rows()).into_par_iter().with_min_len(BLOCK).find_map_first(|row| {
            let (columns, values) = self.row(row);
            columns.iter().zip(values).find_map(|(&j, a)| {
                let (col, value) = (j as usize, a.to_f64());
                let mirrored = self.get(col, row).map_or(0.0, T::to_f64);
                let fault = Symmetry::NotSymmetric { row, col, value, mirrored };
                (col != row && !agree(row, col, value, mirrored)).then_some(fault)
            })
        });
        fault.unwrap_or(Symmetry::Symmetric)
    }
}
