//! What one pass over the entries leaves open, looked for once more.

use std::convert::Infallible;

use arithmetic::survey::is_indefinite_pair;

use crate::matrix::{Csr, check};
use crate::parallel::*;

/// Rows of one task.
const CHUNK: usize = 4096;

/// How the entries of a square matrix compare with their mirror images.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mirrored {
    /// Whether the matrix is symmetric, to [rounding](check::ROUNDING).
    pub is_symmetric: bool,
    /// The share of entries whose mirror image is stored too; 1 is said of a symmetric matrix.
    pub share: f64,
}

impl Mirrored {
    /// Of a symmetric matrix.
    pub const SYMMETRIC: Mirrored = Mirrored { is_symmetric: true, share: 1.0 };
}

/// Who looks once more.
pub(crate) trait Closer {
    /// Why it cannot.
    type Error;
    /// How entries compare with their mirror images, which are not all the same to the last bit.
    fn mirrored(&self) -> Result<Mirrored, Self::Error>;
    /// Whether there is an x of two unknowns for which `x^T A x` has the other sign than the diagonal:
    /// `a_ij^2 > a_ii a_jj`, which takes a row that is not dominant.
    fn has_indefinite_pair(&self) -> Result<bool, Self::Error>;
}

impl Closer for Csr<f64> {
    type Error = Infallible;

    fn mirrored(&self) -> Result<Mirrored, Infallible> {
        if self.compare_mirrored(check::ROUNDING).is_symmetric() {
            return Ok(Mirrored::SYMMETRIC);
        }
        let images = |i: usize| self.row(i).0.iter().filter(|&&j| self.get(j as usize, i).is_some()).count();
        let count: usize = (0..self.n_rows()).into_par_iter().with_min_len(CHUNK).map(images).sum();
        Ok(Mirrored { is_symmetric: false, share: count as f64 / self.nnz().max(1) as f64 })
    }

    fn has_indefinite_pair(&self) -> Result<bool, Infallible> {
        let diagonal = self.diagonal();
        let is_pair = |i: usize, j: usize, v: f64| i != j && is_indefinite_pair(v, diagonal[i], diagonal[j]);
        let has_pair = |i: usize| {
            let (columns, values) = self.row(i);
            columns.iter().zip(values).any(|(&j, &v)| is_pair(i, j as usize, v))
        };
        let rows = (0..self.n_rows()).into_par_iter().with_min_len(CHUNK);
        Ok(!rows.all(|i| !has_pair(i)))
    }
}
