//! The factors as they are computed, in the order of elimination: `L U`, L with ones on the diagonal.

use std::ops::Range;

use crate::matrix::Csr;

/// `L U` close to a matrix, both in one: L below the diagonal, without its ones, and U from there on.
pub(super) struct Factors {
    pub whole: Csr<f64>,
    /// Places of the diagonal: the pivots.
    pub diagonal: Vec<usize>,
    /// Pivots that were too small, and changed.
    pub changed: usize,
    /// What was added to the diagonal, as a share of it.
    pub shift: f64,
}

impl Factors {
    /// Places of row i of L, without its diagonal.
    pub fn lower(&self, i: usize) -> Range<usize> {
        self.whole.row_ptr()[i]..self.diagonal[i]
    }

    /// Places of row i of U right of its diagonal.
    pub fn upper(&self, i: usize) -> Range<usize> {
        self.diagonal[i] + 1..self.whole.row_ptr()[i + 1]
    }

    /// Element (i, i) of U.
    pub fn pivot(&self, i: usize) -> f64 {
        self.whole.values()[self.diagonal[i]]
    }
}
